"""Where trips begin and end, and when: near points of interest, by day and by hour.

a cell with 40 places and 4 km of road -> each 100 m of its segments has weight 1
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from pipeline.trips.distance import Floats
from pipeline.trips.simulation.settings import SimulateSettings


def end_weights(roads: pl.DataFrame, edge_cells: pl.DataFrame, places: pl.DataFrame) -> Floats:
    """Weigh segments as ends of trips: a cell's places, shared out over its road by length.

    Args:
        roads: Columns edge_id, length_m.
        edge_cells: Columns edge_id, cell: the segment's dominant cell.
        places: Columns cell, count: places in a cell; cells without any may be absent.

    Returns:
        One weight per segment in the order of sorted edge ids; the length in metres where no
        segment has a place in its cell.
    """
    table = (
        roads.select("edge_id", "length_m")
        .join(edge_cells.select("edge_id", "cell"), on="edge_id", how="left")
        .join(places.select("cell", "count"), on="cell", how="left")
        .sort("edge_id")
        .with_columns(pl.col("count").fill_null(0))
    )
    share = pl.col("length_m") / pl.col("length_m").sum().over("cell")
    weights = table.select(pl.col("count") * share).to_series().to_numpy().astype(np.float64)
    return weights if weights.sum() > 0 else table["length_m"].to_numpy().astype(np.float64)


def departure_s(
    year: int, time_zone: str, settings: SimulateSettings, rng: np.random.Generator
) -> int:
    """Draw a departure of the year by the weights of weekdays and hours: UTC epoch seconds.

    Args:
        year: Year in local time.
        time_zone: The city's IANA zone, in which weekdays and hours are meant.
        settings: Section `simulate`.
        rng: The trip's own stream for its departure.
    """
    first = datetime(year, 1, 1, tzinfo=UTC)
    days = (datetime(year + 1, 1, 1, tzinfo=UTC) - first).days
    weekday = (first.weekday() + np.arange(days)) % 7
    by_day = np.asarray(settings.weekday_weights)[weekday]
    by_hour = np.asarray(settings.hour_weights)
    day = int(rng.choice(days, p=by_day / by_day.sum()))
    hour = int(rng.choice(24, p=by_hour / by_hour.sum()))
    second = int(rng.integers(3600))
    local = datetime(year, 1, 1, hour, tzinfo=ZoneInfo(time_zone)) + timedelta(days=day)
    return int(local.timestamp()) + second
