"""The one cleaning contract every raw trip passes, whatever its format.

raw trip "T7" of 40 points, 3 standing at the start, a jump after point 20 -> decisions
["standing", "standing", "standing", "kept", ...], cleaned trips "T7.1" and "T7.2"

Order of the rules: coordinates; times; several vehicles under one id; copies and one vehicle in two
places; impossible speed; gaps; standing; bbox; limits. Conservation: every point is kept or
dropped by one rule; every raw trip gave cleaned trips or has one rejection reason.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.trips.cleaning.coordinate_order import Bbox
from pipeline.trips.cleaning.mixed_vehicles import mixed_trips
from pipeline.trips.cleaning.point_rules import (
    drop_bad_coordinates,
    drop_equal_times,
    drop_spikes,
    drop_unbelievable_times,
    split_gaps,
    thin,
    treat_dwells,
    treat_jumps,
    treat_outside,
    trim_standing,
)
from pipeline.trips.cleaning.settings import (
    CODE,
    DECISIONS,
    NOTE_BIT,
    CleaningSettings,
)
from pipeline.trips.cleaning.track_points import Ints, TrackPoints, explode_trips
from pipeline.trips.cleaning.trip_rules import limit_pieces, number_copies
from pipeline.trips.readers.trip_ids import KEPT_APART

Tally = Counter[tuple[str, str]]


class CleanedTrips(NamedTuple):
    """What cleaning makes of raw trips.

    Attributes:
        raw_trips: One row per raw trip with the decision on each point, its outcome and the ids of
            the cleaned trips made from it; sorted by id.
        cleaned: One row per cleaned trip, sorted by id.
        rejected: One row per raw trip that gave no cleaned trip: item_id, reason, detail.
        tally: Counts by (unit, name); units are points, touched, trips, pieces, events and notes.
    """

    raw_trips: pl.DataFrame
    cleaned: pl.DataFrame
    rejected: pl.DataFrame
    tally: Tally


def clean(
    raw: pl.DataFrame,
    *,
    settings: CleaningSettings,
    bbox: Bbox,
    conflicts: pl.DataFrame,
    simulated: bool,
) -> CleanedTrips:
    """Clean raw trips.

    A raw trip that the rules split gives pieces, numbered in order of time before the limits of
    rule 8 are applied: the pieces of T7 are T7.1, T7.2, ...; a trip in one piece keeps its id. A
    trip of which nothing is left is rejected for the reason that took most of its points, the
    earlier rule winning ties.

    Args:
        raw: Trips in the raw form of the readers; rows with one id are copies of one trip.
        settings: Thresholds.
        bbox: The city's west, south, east, north in degrees.
        conflicts: Result of `trip_rules.vehicle_conflicts` for the whole city.
        simulated: Whether the traces are simulated; each cleaned trip says so.
    """
    trips = number_copies(raw).sort("raw_trip_id")
    points = explode_trips(trips)
    renamed = int(trips["raw_trip_id"].str.contains(KEPT_APART).sum())
    events: Counter[str] = Counter(resorted=_resorted(points), renamed=renamed)
    points.drop_trips(_rows(trips["flag"].is_not_null()), CODE["missing_data"])
    drop_bad_coordinates(points, bbox)
    drop_unbelievable_times(points, settings)
    points.drop_trips(mixed_trips(points, settings), CODE["mixed_vehicles"])
    drop_equal_times(points)
    thin(points, settings)
    _drop_conflicts(points, trips, conflicts)
    drop_spikes(points, settings)
    events["lasting_jump"] = treat_jumps(points, settings)
    drop_unbelievable_times(points, settings)  # retiming moves points, in theory for centuries
    events["gap"] = split_gaps(points, settings)
    trim_standing(points, settings)
    events["dwell"] = treat_dwells(points, settings)
    treat_outside(points, settings, bbox)
    numbered = _number_pieces(points, trips["raw_trip_id"])
    limit_pieces(points, settings)
    cleaned = _cleaned_frame(points, numbered, trips, simulated=simulated)
    raw_trips = _raw_frame(points, trips, cleaned)
    tally = _tally(points, numbered, raw_trips, cleaned)
    tally.update({("events", name): count for name, count in events.items()})
    return CleanedTrips(raw_trips, cleaned, _rejected(raw_trips), tally)


def _rows(mask: pl.Series) -> Ints:
    return mask.arg_true().to_numpy().astype(np.int64)


def _resorted(points: TrackPoints) -> int:
    """Count the trips whose points did not come in order of time."""
    falls = (points.raw_index[1:] < points.raw_index[:-1]) & (points.trip[1:] == points.trip[:-1])
    return int(np.unique(points.trip[1:][falls]).size)


def _drop_conflicts(points: TrackPoints, trips: pl.DataFrame, conflicts: pl.DataFrame) -> None:
    points.drop_trips(_rows(trips["is_copy"]), CODE["duplicate_trip_id"])
    found = trips.select("raw_trip_id").join(
        conflicts.unique("raw_trip_id"), on="raw_trip_id", how="left", maintain_order="left"
    )
    for reason in ("duplicate_vehicle_time", "vehicle_overlap"):
        losers = _rows((found["reason"] == reason).fill_null(value=False))
        points.drop_trips(losers, CODE[reason])


class _Pieces(NamedTuple):
    """The pieces before rule 8: kept points in order, where each piece begins, and its trip id."""

    live: Ints
    starts: Ints
    trip_ids: pl.Series


def _number_pieces(points: TrackPoints, raw_ids: pl.Series) -> _Pieces:
    live = points.live()
    starts = points.piece_starts(live)
    trip = points.trip[live[starts]]
    pieces = pl.DataFrame({"trip": trip, "raw": raw_ids.gather(trip)}).with_columns(
        number=pl.int_range(pl.len()).over("trip") + 1, pieces=pl.len().over("trip")
    )
    ids = pieces.select(
        pl.when(pl.col("pieces") > 1)
        .then(pl.format("{}.{}", "raw", "number"))
        .otherwise("raw")
        .alias("trip_id")
    )
    return _Pieces(live, starts, ids.to_series())


def _cleaned_frame(
    points: TrackPoints, numbered: _Pieces, trips: pl.DataFrame, *, simulated: bool
) -> pl.DataFrame:
    live, starts, trip_ids = numbered
    sizes = np.diff(np.append(starts, live.size))
    piece = np.repeat(np.arange(starts.size), sizes)
    kept = points.reason[live] == 0
    edges = trips["edge_ids"].explode(empty_as_null=False)
    flat = pl.DataFrame(
        {
            "piece": piece[kept],
            "trip": points.trip[live][kept],
            "t": points.t[live][kept],
            "lon": points.lon[live][kept],
            "lat": points.lat[live][kept],
            "raw_index": points.raw_index[live][kept],
            "notes": points.notes[live][kept],
            "edge": edges.gather(_edge_places(points, trips).gather(live[kept])),
        }
    )
    grouped = flat.group_by("piece", maintain_order=True).agg(
        pl.col("trip").first(),
        "t",
        "lon",
        "lat",
        "raw_index",
        pl.col("edge").drop_nulls().alias("edge_ids"),
        *((pl.col("notes") & bit).max().gt(0).alias(note) for note, bit in NOTE_BIT.items()),
    )
    notes = pl.concat_list(
        pl.when(note).then(pl.lit(note)).otherwise(None) for note in NOTE_BIT
    ).list.drop_nulls()
    return grouped.select(
        pl.col("piece").replace_strict(range(len(trip_ids)), trip_ids).alias("trip_id")
        if len(trip_ids)
        else pl.col("piece").cast(pl.String).alias("trip_id"),
        trips["raw_trip_id"].gather(grouped["trip"]),
        trips["vehicle_id"].gather(grouped["trip"]),
        "t",
        "lon",
        "lat",
        pl.col("raw_index").cast(pl.List(pl.Int64)),
        "edge_ids",
        notes=notes,
        simulated=pl.lit(simulated),
    ).sort("trip_id")


def _edge_places(points: TrackPoints, trips: pl.DataFrame) -> pl.Series:
    """Return each point's place in the flat list of edge ids; null where its trip has none."""
    sizes = trips["edge_ids"].list.len().to_numpy().astype(np.int64)
    begins = np.cumsum(sizes) - sizes
    place = begins[points.trip] + points.raw_index
    return pl.select(pl.when(pl.Series(points.prematched)).then(pl.Series(place))).to_series()


def _raw_frame(points: TrackPoints, trips: pl.DataFrame, cleaned: pl.DataFrame) -> pl.DataFrame:
    order = np.lexsort((points.raw_index, points.trip))
    decisions = (
        pl.DataFrame(
            {
                "trip": points.trip[order],
                "decisions": pl.Series(DECISIONS).gather(points.reason[order]),
            }
        )
        .group_by("trip", maintain_order=True)
        .agg("decisions")
    )
    made = cleaned.group_by("raw_trip_id", maintain_order=True).agg(trip_ids="trip_id")
    table = (
        trips.with_row_index("trip")
        .with_columns(pl.col("trip").cast(pl.Int64), outcome=_outcomes(points, trips.height))
        .join(decisions, on="trip", how="left", maintain_order="left")
        .join(made, on="raw_trip_id", how="left", maintain_order="left")
    )
    no_text = pl.lit([], dtype=pl.List(pl.String))
    return table.select(
        "raw_trip_id",
        "vehicle_id",
        "t",
        "lon",
        "lat",
        "edge_ids",
        pl.col("decisions").fill_null(no_text),
        "outcome",
        pl.col("trip_ids").fill_null(no_text),
    )


def _fates(points: TrackPoints, trips: int) -> npt.NDArray[np.int64]:
    """Count each trip's points by decision: an array of trips x decisions."""
    width = len(DECISIONS)
    flat = np.bincount(points.trip * width + points.reason, minlength=trips * width)
    return flat.astype(np.int64).reshape(trips, width)


def _outcomes(points: TrackPoints, trips: int) -> pl.Series:
    fates = _fates(points, trips)
    worst = 1 + np.argmax(fates[:, 1:], axis=1)  # argmax takes the first, so the earlier rule
    worst[fates.sum(axis=1) == 0] = CODE["empty_trip"]
    names = pl.Series("outcome", ("cleaned", *DECISIONS[1:]))
    return names.gather(np.where(fates[:, 0] > 0, 0, worst))


def _rejected(raw_trips: pl.DataFrame) -> pl.DataFrame:
    lost = raw_trips.filter(pl.col("outcome") != "cleaned")
    return lost.select(
        item_id="raw_trip_id",
        reason="outcome",
        detail=pl.format("{} points as read", pl.col("t").list.len()),
    )


def _tally(
    points: TrackPoints, numbered: _Pieces, raw_trips: pl.DataFrame, cleaned: pl.DataFrame
) -> Tally:
    tally: Tally = Counter()
    fates = _fates(points, raw_trips.height)
    verdicts = np.bincount(points.reason[numbered.live[numbered.starts]], minlength=len(DECISIONS))
    for code, name in enumerate(DECISIONS):
        tally["points", name] = int(fates[:, code].sum())
        tally["touched", name] = int(np.count_nonzero(fates[:, code]))
        tally["pieces", name] = int(verdicts[code])
    for name, count in raw_trips["outcome"].value_counts().iter_rows():
        tally["trips", name] = int(count)
    for name, count in cleaned["notes"].list.explode().value_counts().iter_rows():
        tally["notes", name] = int(count)
    return tally
