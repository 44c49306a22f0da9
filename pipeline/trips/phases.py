"""Compress a matched trip to phases: runs of segments with one dominant H3 cell (paper A.3.2).

    58 segments  ->  16 phases, the first being
    {"p": 0, "role": "O", "dir": "NW", "n": 4, "duration": "55 sec", "time_spent": "1 min 10 sec",
     "road_names": ["Rua Prof. Vicente José de Carvalho"], "desc": "GNN: WATERFRONT | ..."}

A phase is p_k = (h, n, d, dt, rho, m, s): cell, number of segments, heading, duration from the
entry time of its first to that of its last segment, role, road names, area description. The paper's
duration is 0 for a phase of one segment, so the time spent in it, until the next phase is entered
or the drive ends, stands beside it. All trips of a table are compressed at once; nothing here loops
over trips.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
import polars as pl

from pipeline.errors import ContractError
from pipeline.store import StageIO

COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
# Below this length of the mean vector the directions cancel: only rounding noise is left.
NO_HEADING = 1e-9
# Epoch seconds of 1970 and 9999: later ones cannot be worded as a date.
FIRST_S, LAST_S = 0.0, 253_370_764_800.0


class CompressReason(StrEnum):
    """Why a matched trip has no phase sequence."""

    TOO_FEW_PHASES = "too_few_phases"


class CompressSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `compress` of params.yaml.

    Attributes:
        min_phases: Fewest phases a trip must have; at least 2, an origin and a destination.
    """

    min_phases: Annotated[int, msgspec.Meta(ge=2, le=1000)]


def ground_of(roads: pl.DataFrame, road_cells: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Join what phases take from the ground.

    Returns:
        One row per segment: edge_id, name, highway, length_m, bearing_deg, bearing_sin,
        bearing_cos, cell, desc (the cell's area description).
    """
    segments = roads.select(
        "edge_id", "name", "highway", "length_m", "bearing_deg", "bearing_sin", "bearing_cos"
    )
    segments = segments.join(road_cells.select("edge_id", "cell"), on="edge_id", how="left")
    descriptions = cells.select("cell", desc="description")
    return segments.join(descriptions, on="cell", how="left")


def compress_trips(
    matched: pl.DataFrame, ground: pl.DataFrame, *, time_zone: str, settings: CompressSettings
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Turn matched trips into phase sequences.

    Args:
        matched: Rows of `matched_trip`: trip_id, edge_ids, t_enter_s, t_exit_s, simulated, ...
        ground: The city's segments, as `ground_of` joins them.
        time_zone: IANA zone of the city; start times are worded in its local time.
        settings: Section `compress`.

    Returns:
        The rows of `phased_trip`, in the order of `matched`, and the rejections (item_id, stage,
        reason, detail). Both are empty for an empty input.

    Raises:
        ContractError: A matched segment is not a segment of the city, or is entered at no time
            between 1970 and 9999.
    """
    trips = phase_sequences(matched, ground, time_zone=time_zone)
    enough = pl.col("meta").struct.field("n_phases") >= settings.min_phases
    return trips.filter(enough), _rejections(trips.filter(~enough), settings)


def phase_sequences(matched: pl.DataFrame, ground: pl.DataFrame, *, time_zone: str) -> pl.DataFrame:
    """Return the rows of `phased_trip`, however few phases a trip has; otherwise `compress_trips`.

    Raises:
        ContractError: As `compress_trips`.
    """
    trips = _trip_rows(_phase_rows(_segment_rows(matched, ground)), time_zone)
    return _phased(
        matched.select("trip_id", "simulated").join(
            trips, on="trip_id", how="left", maintain_order="left"
        )
    )


def _segment_rows(matched: pl.DataFrame, ground: pl.DataFrame) -> pl.DataFrame:
    """Return one row per driven segment, with what the ground knows of it and its phase number."""
    rows = matched.select("trip_id", edge_id="edge_ids", t="t_enter_s", left_s="t_exit_s").explode(
        "edge_id", "t", "left_s"
    )
    rows = rows.join(ground, on="edge_id", how="left", maintain_order="left")
    lost = rows.filter(pl.col("cell").is_null())
    if lost.height:
        raise ContractError(
            f"matched trip {lost['trip_id'][0]}: expected segments of roads with a cell, found"
            f" {lost['edge_id'][0]!r} without; rerun `dvc repro` for roads, cells and match"
        )
    timeless = rows.filter(~pl.col("t").is_between(FIRST_S, LAST_S).fill_null(value=False))
    if timeless.height:
        raise ContractError(
            f"matched trip {timeless['trip_id'][0]}: expected entry times in UTC epoch seconds,"
            f" found {timeless['t'][0]}; mend the times of the raw traces and rerun `dvc repro`"
        )
    return rows.with_columns(run=pl.struct("trip_id", "cell").rle_id())


def _phase_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per phase."""
    weight = pl.col("length_m")
    longest = pl.col("bearing_deg").get(pl.col("length_m").arg_max())
    phases = rows.group_by("run", maintain_order=True).agg(
        pl.col("trip_id", "cell", "desc").first(),
        n=pl.len(),
        t_first=pl.col("t").first(),
        t_last=pl.col("t").last(),
        left_s=pl.col("left_s").last(),
        first_road=pl.col("name").first(),
        first_class=pl.col("highway").first(),
        last_road=pl.col("name").last(),
        last_class=pl.col("highway").last(),
        length_m=pl.col("length_m").sum(),
        east=(pl.col("bearing_sin") * weight).sum() / weight.sum(),
        north=(pl.col("bearing_cos") * weight).sum() / weight.sum(),
        fallback=longest,
        road_names=pl.col("name").drop_nulls().unique(maintain_order=True),
    )
    strength = (pl.col("east") ** 2 + pl.col("north") ** 2).sqrt()
    mean_deg = pl.arctan2("east", "north").degrees() % 360.0
    heading = pl.when(strength > NO_HEADING).then(mean_deg).otherwise("fallback").round(3) % 360.0
    return phases.with_columns(
        heading_deg=heading,
        heading_strength=strength.clip(0.0, 1.0).round(4),
        p=pl.int_range(pl.len()).over("trip_id"),
        last=pl.len().over("trip_id") - 1,
        duration_s=(pl.col("t_last") - pl.col("t_first")).round(3),
        t_next=pl.col("t_first").shift(-1).over("trip_id").fill_null(pl.col("left_s")),
        t_start=pl.col("t_first").first().over("trip_id"),
    ).with_columns(
        time_spent_s=(pl.col("t_next") - pl.col("t_first")).round(3),
        role=pl.when(pl.col("p") == 0)
        .then(pl.lit("O"))
        .when(pl.col("p") == pl.col("last"))
        .then(pl.lit("D"))
        .otherwise(pl.lit("T")),
        dir=compass_point(pl.col("heading_deg")),
        duration=duration_words(pl.col("duration_s")),
        # Whole seconds of the trip's own clock, so that the words of all phases add up as well.
        time_spent=duration_words(
            (pl.col("t_next") - pl.col("t_start")).round()
            - (pl.col("t_first") - pl.col("t_start")).round()
        ),
        desc=pl.col("desc").fill_null(""),
    )


def _trip_rows(phases: pl.DataFrame, time_zone: str) -> pl.DataFrame:
    """Return one row per trip: the numbers of its head, and its phases as a list."""
    phase = pl.struct(
        "p", "role", "dir", "n", "duration", "time_spent", "road_names", "desc", "cell",
        pl.col("t_first").alias("t_enter_s"),
        "duration_s",
        "time_spent_s",
        pl.col("length_m").round(3),
        "heading_deg",
        "heading_strength",
    )  # fmt: skip
    trips = phases.group_by("trip_id", maintain_order=True).agg(
        n_rids=pl.col("n").sum(),
        n_phases=pl.len(),
        t_start_s=pl.col("t_first").first(),
        start_road=pl.col("first_road").first(),
        start_class=pl.col("first_class").first(),
        end_road=pl.col("last_road").last(),
        end_class=pl.col("last_class").last(),
        duration_s=(pl.col("t_last").last() - pl.col("t_first").first()).round(3),
        time_spent_s=(pl.col("left_s").last() - pl.col("t_first").first()).round(3),
        length_m=pl.col("length_m").sum().round(3),
        phases=phase,
    )
    return trips.with_columns(
        start_time=local_time_words(pl.col("t_start_s"), time_zone),
        total_duration=duration_words(pl.col("duration_s")),
        time_spent=duration_words(pl.col("time_spent_s")),
    )


def _phased(trips: pl.DataFrame) -> pl.DataFrame:
    meta = pl.struct(
        "n_rids", "n_phases", "start_time", "total_duration", "time_spent",
        "start_road", "start_class", "end_road", "end_class",
        "t_start_s", "duration_s", "time_spent_s", "length_m", "simulated",
    )  # fmt: skip
    return trips.select("trip_id", meta.alias("meta"), "phases")


def _rejections(trips: pl.DataFrame, settings: CompressSettings) -> pl.DataFrame:
    return trips.select(
        item_id="trip_id",
        stage=pl.lit("compress"),
        reason=pl.lit(CompressReason.TOO_FEW_PHASES.value),
        detail=pl.format(
            "{} phase, expected at least {}",
            pl.col("meta").struct.field("n_phases"),
            pl.lit(settings.min_phases),
        ),
    )


def compass_point(heading_deg: pl.Expr) -> pl.Expr:
    """Return the nearest of the eight directions; 22.5 degrees goes to NE, as north ends there."""
    sector = ((heading_deg + 22.5) / 45.0).floor().cast(pl.Int64) % 8
    return sector.replace_strict(dict(enumerate(COMPASS)), return_dtype=pl.String)


def duration_words(seconds: pl.Expr) -> pl.Expr:
    """Word a duration as Listing 1 does: `8 min 15 sec`, `0 sec`, `1 h 2 min 5 sec`."""
    whole = seconds.round().cast(pl.Int64)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return (
        pl.when(hours > 0)
        .then(pl.format("{} h {} min {} sec", hours, minutes, rest))
        .when(minutes > 0)
        .then(pl.format("{} min {} sec", minutes, rest))
        .otherwise(pl.format("{} sec", rest))
    )


def local_time_words(epoch_s: pl.Expr, time_zone: str) -> pl.Expr:
    """Word an instant in local time as Listing 1 does: `Saturday, Jun 14, 2014 at 4:11 AM`."""
    instant = (epoch_s * 1e6).cast(pl.Int64).cast(pl.Datetime("us", "UTC"))
    return instant.dt.convert_time_zone(time_zone).dt.strftime("%A, %b %-d, %Y at %-I:%M %p")


def run(io: StageIO, *, compress: CompressSettings, time_zone: str) -> None:
    """Compress every matched trip of a city."""
    ground = ground_of(io.read("roads"), io.read("road_cells"), io.read("cells"))
    with io.open_shards("phased") as phased:
        for shard in io.progress(io.parts("matched"), None, "shard", "compress"):
            with phased.open() as told:
                for matched in shard:
                    trips, rejections = compress_trips(
                        matched, ground, time_zone=time_zone, settings=compress
                    )
                    told.write(trips)
                    io.reject(rejections)
