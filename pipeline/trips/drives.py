"""Turn what the matcher found into matched trips: one connected drive each, or a rejection.

    cleaned trip 17 (a ferry in the middle)  ->  drives 17 and 17_p2, or, with
    `on_break: reject`, the rejection (17, match, broken_path, "2 parts: gap_time")

A break is never bridged: each drive's segments touch end to start.
"""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
import polars as pl

from pipeline.trips.cleaning.settings import CleaningSettings

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class MatchReason(StrEnum):
    """Why a cleaned trip, or one drive of it, does not become a matched trip."""

    NOT_MATCHED = "not_matched"
    BROKEN_PATH = "broken_path"
    FEW_POINTS_MATCHED = "few_points_matched"
    DRIVE_TOO_SHORT = "drive_too_short"
    DRIVE_TOO_BRIEF = "drive_too_brief"
    DETOUR = "detour"
    NO_TIMES = "no_times"


class DriveSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Section `drives` of params.yaml: which drives are good enough to be told.

    Attributes:
        on_break: `split` makes each part of a broken trip a drive; `reject` refuses the trip.
        min_length_m: Shortest drive, metres along the segments; a drive of a broken trip also
            obeys `shortest_m` and `shortest_s` of the city's `cleaning`.
        min_segments: Fewest segments of a drive.
        min_matched_share: Smallest share of a trip's points that must lie on its route.
        max_detour_ratio: Largest length of a trip's route over the length of its GPS line.
    """

    on_break: Literal["split", "reject"]
    min_length_m: NotNegative
    min_segments: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    min_matched_share: Share
    max_detour_ratio: Annotated[float, msgspec.Meta(gt=1)]


def drives_of(
    path: pl.DataFrame, trips: pl.DataFrame, *, method: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Gather the rows of a path table into one row per drive.

    Args:
        path: trace_id, part, seq, edge_id, t_enter_s, t_exit_s, evidence, off_from_m, off_to_m,
            in the order driven.
        trips: trace_id, confidence and what else is known of each cleaned trip.
        method: `hmm` or `prematched`.

    Returns:
        The drives (columns of `matched_trip` but `simulated`, and `part`, `parts`), sorted by trip
        and part, and the trips that have none.
    """
    drives = path.group_by("trace_id", "part", maintain_order=True).agg(
        edge_ids=pl.col("edge_id").cast(pl.String),
        t_enter_s=pl.col("t_enter_s").round(3),
        t_exit_s=pl.col("t_exit_s").round(3),
        evidence=pl.col("evidence").cast(pl.Int64),
        off_from_m=pl.col("off_from_m").first().cast(pl.Float64).round(3),
        off_to_m=pl.col("off_to_m").last().cast(pl.Float64).round(3),
        route_length_m=(pl.col("off_to_m") - pl.col("off_from_m")).sum().cast(pl.Float64).round(3),
    )
    drives = drives.join(trips.select("trace_id", "confidence"), on="trace_id", how="left")
    part = pl.int_range(pl.len()).over("trace_id")
    suffix = pl.when(part == 0).then(pl.lit("")).otherwise(pl.format("_p{}", part + 1))
    drives = drives.sort("trace_id", "part").with_columns(
        cleaned_trip_id="trace_id",
        trip_id=pl.concat_str("trace_id", suffix),
        parts=pl.len().over("trace_id"),
        method=pl.lit(method),
        confidence=pl.col("confidence").cast(pl.Float64).clip(0.0, 1.0).round(4),
    )
    return drives, trips.join(drives, on="trace_id", how="anti")


def keep_good_drives(
    drives: pl.DataFrame,
    trips: pl.DataFrame,
    without: pl.DataFrame,
    settings: DriveSettings,
    cleaning: CleaningSettings,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Apply the section `drives`; every cleaned trip and every drive ends kept or rejected once.

    A break makes two trips of one, so each drive of a broken trip also obeys the least length and
    duration of a cleaned trip.

    Args:
        drives: As `drives_of` gives them.
        trips: trace_id, matched_share, route_length_m, gps_length_m, reasons (list).
        without: The trips of `trips` that have no drive.
        settings: Section `drives`.
        cleaning: The city's `cleaning`: the least length and duration of a trip.

    Returns:
        The drives kept, and the rejections. A trip refused as a whole is rejected under its own
        id; one refused drive of a split trip under the drive's id.
    """
    joined = drives.join(
        trips.select(
            "trace_id",
            "matched_share",
            reasons=pl.col("reasons").list.join(", "),
            ratio=pl.col("route_length_m") / pl.col("gps_length_m"),
        ),
        on="trace_id",
        how="left",
        maintain_order="left",
    )
    verdict = joined.with_columns(_reason(settings, cleaning), _detail(settings, cleaning))
    kept = verdict.filter(pl.col("reason").is_null())
    refused = verdict.filter(pl.col("reason").is_not_null())
    whole_trip = pl.col("reason").is_in([r.value for r in _WHOLE_TRIP])
    refused = refused.with_columns(
        item_id=pl.when(whole_trip).then("trace_id").otherwise("trip_id")
    ).unique("item_id", keep="first", maintain_order=True)
    unmatched = without.select(
        item_id="trace_id",
        reason=pl.lit(MatchReason.NOT_MATCHED.value),
        detail=pl.col("reasons").list.join(", "),
    )
    columns = ["item_id", "reason", "detail"]
    rejections = pl.concat([unmatched.select(columns), refused.select(columns)])
    return kept, rejections.with_columns(stage=pl.lit("match"))


_WHOLE_TRIP = (
    MatchReason.BROKEN_PATH,
    MatchReason.NO_TIMES,
    MatchReason.FEW_POINTS_MATCHED,
    MatchReason.DETOUR,
)


def _faults(
    settings: DriveSettings, cleaning: CleaningSettings
) -> tuple[tuple[MatchReason, pl.Expr, pl.Expr], ...]:
    """Return (reason, test, detail) in the order they are asked; the first that holds counts."""
    segments = pl.col("edge_ids").list.len()
    cut = pl.col("parts") > 1
    shortest_m = (
        pl.when(cut)
        .then(max(settings.min_length_m, cleaning.shortest_m))
        .otherwise(settings.min_length_m)
    )
    lasting_s = pl.col("t_exit_s").list.last() - pl.col("t_enter_s").list.first()
    return (
        (
            MatchReason.BROKEN_PATH,
            cut & (settings.on_break == "reject"),
            pl.format("{} parts: {}", "parts", "reasons"),
        ),
        (
            MatchReason.NO_TIMES,
            pl.col("t_enter_s").list.drop_nulls().list.len() < segments,
            pl.lit("its times are none: all equal, or the numbers of the rows"),
        ),
        (
            MatchReason.FEW_POINTS_MATCHED,
            pl.col("matched_share") < settings.min_matched_share,
            pl.format(
                "{} of the points, expected at least {}",
                pl.col("matched_share").round(3),
                pl.lit(settings.min_matched_share),
            ),
        ),
        (
            MatchReason.DETOUR,
            pl.col("ratio") > settings.max_detour_ratio,
            pl.format(
                "route is {} x the GPS line, expected at most {}",
                pl.col("ratio").round(2),
                pl.lit(settings.max_detour_ratio),
            ),
        ),
        (
            MatchReason.DRIVE_TOO_SHORT,
            (pl.col("route_length_m") < shortest_m) | (segments < settings.min_segments),
            pl.format(
                "{} m over {} segments, expected at least {} m and {}",
                pl.col("route_length_m").round(1),
                segments,
                shortest_m,
                pl.lit(settings.min_segments),
            ),
        ),
        (
            MatchReason.DRIVE_TOO_BRIEF,
            cut & (lasting_s < cleaning.shortest_s),
            pl.format(
                "{} s, expected at least {} s of a drive cut by a break",
                lasting_s.round(1),
                pl.lit(cleaning.shortest_s),
            ),
        ),
    )


def _reason(settings: DriveSettings, cleaning: CleaningSettings) -> pl.Expr:
    tests = [pl.when(test).then(pl.lit(r.value)) for r, test, _ in _faults(settings, cleaning)]
    return pl.coalesce(tests).alias("reason")


def _detail(settings: DriveSettings, cleaning: CleaningSettings) -> pl.Expr:
    tests = [pl.when(test).then(detail) for _, test, detail in _faults(settings, cleaning)]
    return pl.coalesce(tests).alias("detail")
