"""Look whether the ids of raw trips each name one drive of one vehicle.

8 ids under each of which 7 vehicles drive on other days, no vehicle column named
-> warning  trip ids: expected each id to be one drive, found 7 of 8 ids that come again ...
"""

from datetime import UTC, datetime

import polars as pl

from pipeline.findings import Finding
from pipeline.trips.cleaning.mixed_vehicles import mixed_trips
from pipeline.trips.cleaning.point_rules import drop_unbelievable_times
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.cleaning.track_points import explode_trips
from pipeline.trips.readers.remedies import remedy_for
from pipeline.trips.readers.settings import TableTraces, TracesSettings

EXAMPLES = 3
_PAUSE_S = 3600.0  # a drive that rests for so long has ended
_MOST_COMING_AGAIN = 0.2


def diagnose_ids(
    trips: pl.DataFrame, *, traces: TracesSettings, cleaning: CleaningSettings
) -> list[Finding]:
    """Return what is suspicious about the ids of a sample of raw trips.

    Args:
        trips: Trips in the raw form of the readers, the parts of each put together.
        traces: The key `traces` of the city's config.
        cleaning: The key `cleaning`.

    Returns:
        A finding on ids in two places at once, and of a table without a vehicle column one on ids
        that come again after a pause.
    """
    found = [_mixed(trips, traces, cleaning)]
    if isinstance(traces, TableTraces) and traces.columns.vehicle is None:
        found.append(_coming_again(trips))
    return found


def when_of(t: float) -> str:
    """Word a time in UTC; one beyond the calendar as its number."""
    try:
        return f"{datetime.fromtimestamp(t, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return f"t {t:g} s"


def _mixed(trips: pl.DataFrame, traces: TracesSettings, cleaning: CleaningSettings) -> Finding:
    points = explode_trips(trips)
    drop_unbelievable_times(points, cleaning)
    mixed = trips[mixed_trips(points, cleaning)]
    expected = "each id to be one vehicle's, in one place at a time"
    if mixed.is_empty():
        return Finding("info", "trip ids", expected, f"so in all {trips.height:,}")
    return Finding(
        "error" if mixed.height > trips.height / 20 else "warning",
        "trip ids",
        expected,
        f"{mixed.height:,} of {trips.height:,} in several at once, which `ingest` refuses as"
        " mixed_vehicles",
        remedy_for("mixed_vehicles", traces),
        tuple(
            f"trip {name}: {len(t)} points from {when_of(min(t))} to {when_of(max(t))}"
            for name, t in mixed.head(EXAMPLES).select("raw_trip_id", "t").iter_rows()
        ),
    )


def _coming_again(trips: pl.DataFrame) -> Finding:
    """Look for ids under which drives of different times lie: of vehicles, or of one vehicle."""
    pauses = pl.element().sort().diff() > _PAUSE_S
    rests = trips.select(
        "raw_trip_id",
        first=pl.col("t").list.min(),
        last=pl.col("t").list.max(),
        drives=pl.col("t").list.eval(pauses.sum()).list.first().fill_null(0) + 1,
    )
    again = rests.filter(pl.col("drives") > 1)
    expected = "each id to be one drive"
    if again.height <= _MOST_COMING_AGAIN * trips.height:
        return Finding("info", "ids that come again", expected, f"{again.height:,} that are not")
    return Finding(
        "warning",
        "ids that come again",
        expected,
        f"{again.height:,} of {trips.height:,} that come again after an hour or more",
        "where ids restart with each vehicle, name its column in `traces.columns.vehicle` (now"
        " null); where an id is a vehicle, leave it: pauses split the trips",
        tuple(
            f"trip {name}: {drives} drives from {when_of(first)} to {when_of(last)}"
            for name, first, last, drives in again.head(EXAMPLES).iter_rows()
        ),
    )
