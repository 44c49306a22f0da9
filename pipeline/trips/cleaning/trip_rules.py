"""Rules that judge whole trips: copies, one vehicle in two places, and the limits of a piece.

two trips of taxi 20000589 from 10:00 to 10:20 and from 10:10 to 10:15 -> the second, with fewer
points, is rejected as vehicle_overlap
"""

import numpy as np
import polars as pl

from pipeline.trips.cleaning.settings import CODE, CleaningSettings
from pipeline.trips.cleaning.track_points import TrackPoints

INDEX_COLUMNS = pl.Schema(
    {
        "raw_trip_id": pl.String(),
        "vehicle_id": pl.String(),
        "points": pl.Int64(),
        "start": pl.Float64(),
        "end": pl.Float64(),
    }
)


def trip_index(raw: pl.DataFrame, settings: CleaningSettings) -> pl.DataFrame:
    """Return the few facts of each trip that rule 3 needs of the whole city at once.

    Trips without points of a believable time, without a vehicle or flagged by their source are
    left out: they can stand in nobody's way.
    """
    first, end = settings.believable_s()
    # Most batches have nothing to filter, and a look at the least and the last time is cheap.
    unbelievable = (pl.col("t").list.min() < first) | (pl.col("t").list.max() >= end)
    if raw.select(unbelievable.any()).item():
        believable = pl.element().filter(pl.element().is_between(first, end, closed="left"))
        raw = raw.with_columns(pl.col("t").list.eval(believable))
    usable = raw.filter(
        pl.col("vehicle_id").is_not_null() & pl.col("flag").is_null() & (pl.col("t").list.len() > 0)
    )
    return usable.select(
        "raw_trip_id",
        "vehicle_id",
        points=pl.col("t").list.len().cast(pl.Int64),
        start=pl.col("t").list.min(),
        end=pl.col("t").list.max(),
    )


def vehicle_conflicts(index: pl.DataFrame, *, fragments: bool) -> pl.DataFrame:
    """Find trips of one vehicle that cannot both be true: columns raw_trip_id, reason.

    Of trips that overlap in time (or start at the same time) the one with more points stays, then
    the longer lasting, the earlier, the smaller id. A trip may begin in the second in which the
    one before ends.

    Args:
        index: Rows of `trip_index` of the whole city, in any order.
        fragments: Whether rows with one id are parts of one trip (else copies of it).
    """
    longest = (pl.col("end") - pl.col("start")).alias("lasting")
    if fragments:
        trips = index.group_by("raw_trip_id").agg(
            pl.col("vehicle_id").min(),
            pl.col("points").sum(),
            pl.col("start").min(),
            pl.col("end").max(),
        )
    else:
        best = index.with_columns(longest).sort(
            "raw_trip_id", "points", "lasting", "start", descending=[False, True, True, False]
        )
        trips = best.unique("raw_trip_id", keep="first", maintain_order=True)
    trips = trips.with_columns(longest).sort("vehicle_id", "start", "raw_trip_id")
    # Only runs of trips that touch can conflict; there are few, so they are settled one by one.
    reached = pl.col("end").cum_max().shift(1).over("vehicle_id")
    trips = trips.with_columns(
        cluster=(reached.is_null() | (pl.col("start") > reached)).cum_sum()
    ).filter(pl.len().over("cluster") > 1)
    order = ["cluster", "points", "lasting", "start", "raw_trip_id"]
    ranked = trips.sort(order, descending=[False, True, True, False, False])
    losers: list[tuple[str, str]] = []
    kept: list[tuple[float, float]] = []
    current = None
    for trip_id, start, end, cluster in ranked.select(
        "raw_trip_id", "start", "end", "cluster"
    ).iter_rows():
        if cluster != current:
            current, kept = cluster, []
        reason = _conflict(start, end, kept)
        if reason is None:
            kept.append((start, end))
        else:
            losers.append((trip_id, reason))
    return pl.DataFrame(
        losers, schema={"raw_trip_id": pl.String, "reason": pl.String}, orient="row"
    )


def _conflict(start: float, end: float, kept: list[tuple[float, float]]) -> str | None:
    if any(start == other for other, _ in kept):
        return "duplicate_vehicle_time"
    if any(start < last and first < end for first, last in kept):
        return "vehicle_overlap"
    return None


def number_copies(raw: pl.DataFrame) -> pl.DataFrame:
    """Give copies of a trip id an id of their own, "<id>#2", "<id>#3", and the column `is_copy`.

    The trip with more points keeps the id, then the longer lasting, the earlier, and in the end
    the one whose numbers come first as text: the order of the files decides nothing.
    """
    shared = pl.len().over("raw_trip_id") > 1
    single = raw.filter(~shared).with_columns(is_copy=pl.lit(value=False))
    several = raw.filter(shared)
    if several.is_empty():
        return single
    words = [pl.col(name).cast(pl.List(pl.String)).list.join(",") for name in ("t", "lon", "lat")]
    ranked = several.with_columns(
        size=pl.col("t").list.len().cast(pl.Int64),
        start=pl.col("t").list.min(),
        lasting=pl.col("t").list.max() - pl.col("t").list.min(),
        written=pl.concat_str(words, separator="|"),
    ).sort(
        ["raw_trip_id", "flag", "size", "lasting", "start", "vehicle_id", "written"],
        descending=[False, False, True, True, False, False, False],
        nulls_last=False,
    )
    rank = pl.int_range(pl.len()).over("raw_trip_id") + 1
    ranked = ranked.with_columns(
        is_copy=rank > 1,
        raw_trip_id=pl.when(rank > 1)
        .then(pl.format("{}#{}", "raw_trip_id", rank))
        .otherwise("raw_trip_id"),
    )
    return pl.concat([single, ranked.select(single.columns)])


def limit_pieces(points: TrackPoints, settings: CleaningSettings) -> None:
    """Rule 8: drop pieces with too few points, too short or long a way or time, or a detour."""
    live = points.live()
    starts = points.piece_starts(live)
    if not starts.size:
        return
    sizes = np.diff(np.append(starts, live.size))
    first, last = live[starts], live[starts + sizes - 1]
    way_m = piece_length_m(points)
    straight_m = points.step_length_m(first, last)
    lasting_s = points.t[last] - points.t[first]
    rules = (
        (sizes < settings.fewest_points, "too_few_points"),
        (way_m < settings.shortest_m, "too_short"),
        (way_m > settings.longest_m, "too_long"),
        (lasting_s < settings.shortest_s, "too_brief"),
        (lasting_s > settings.longest_s, "too_lasting"),
        (way_m > settings.most_detour * straight_m, "detour"),
    )
    verdict = np.select([rule for rule, _ in rules], [CODE[name] for _, name in rules], default=0)
    points.reason[live] = np.repeat(verdict, sizes)


def piece_length_m(points: TrackPoints) -> np.ndarray:
    """Return the way along the points of each piece, in the order of the pieces."""
    live = points.live()
    starts = points.piece_starts(live)
    legs = np.zeros(live.size)
    legs[1:] = points.step_length_m(live[:-1], live[1:])
    legs[starts] = 0.0
    return np.add.reduceat(legs, starts) if starts.size else np.zeros(0)
