"""Score found routes against the true ones: edges of points, lengths of routes, entry times.

true: a (100 m), b (50 m); found: a (100 m), c (20 m) -> missed 50 m, added 20 m, mismatch 70 / 150,
precision 100 / 120, recall 100 / 150
"""

from typing import Any

import numpy as np
import polars as pl

from pipeline.trips.distance import Floats

ROUTE_COLUMNS = pl.Schema(
    {
        "trip_id": pl.String(),
        "edge_id": pl.String(),
        "t_enter_s": pl.Float64(),
        "length_m": pl.Float64(),
    }
)


def point_accuracy(points: pl.DataFrame, twins: dict[str, str]) -> dict[str, Any]:
    """Score the edge of each point.

    Args:
        points: Columns true_edge, found_edge (null where none was found).
        twins: The segment back along the same street, where there is one.

    Returns:
        `edge_share`: points on their true directed segment over all points; `street_share`: the
        same, the other direction of the street forgiven. Null without points.
    """
    right = pl.col("true_edge") == pl.col("found_edge")
    back = pl.col("found_edge").replace_strict(twins, default=None, return_dtype=pl.String)
    scored = points.select(
        edge=right.fill_null(value=False),
        street=(right | (pl.col("true_edge") == back).fill_null(value=False)).fill_null(
            value=False
        ),
    )
    return {
        "points": points.height,
        "edge_share": _number(scored["edge"].mean()),
        "street_share": _number(scored["street"].mean()),
    }


def length_scores(true: pl.DataFrame, found: pl.DataFrame) -> dict[str, Any]:
    """Score routes by the length on each segment (Newson and Krumm 2009, section 5).

    A segment driven twice counts twice its length. Where a trip begins and ends within a segment,
    the lengths are compared, not the places.

    Args:
        true: Rows of `ROUTE_COLUMNS`, one per segment driven.
        found: The same of the routes found.

    Returns:
        `route_mismatch`: added plus missed length over true length, of all trips together (0 is
        best, may exceed 1); `route_mismatch_median`: its median over trips; `length_precision`,
        `length_recall`, `length_f1`. Null where nothing is driven.
    """
    by_edge = [
        frame.group_by("trip_id", "edge_id").agg(pl.col("length_m").sum().alias(name))
        for frame, name in ((true, "true_m"), (found, "found_m"))
    ]
    both = (
        by_edge[0]
        .join(by_edge[1], on=["trip_id", "edge_id"], how="full", coalesce=True)
        .with_columns(pl.col("true_m", "found_m").fill_null(0.0))
        .with_columns(right_m=pl.min_horizontal("true_m", "found_m"))
        .sort("trip_id", "edge_id")
    )
    wrong = pl.col("true_m").sum() + pl.col("found_m").sum() - 2 * pl.col("right_m").sum()
    trips = both.group_by("trip_id").agg(mismatch=wrong / pl.col("true_m").sum())
    trips = trips.filter(pl.col("mismatch").is_finite())
    totals = both.select(pl.col("true_m", "found_m", "right_m").sum()).row(0, named=True)
    precision = _ratio(totals["right_m"], totals["found_m"])
    recall = _ratio(totals["right_m"], totals["true_m"])
    added_and_missed = totals["true_m"] + totals["found_m"] - 2 * totals["right_m"]
    return {
        "trips": true["trip_id"].n_unique(),
        "true_length_m": _number(totals["true_m"]),
        "route_mismatch": _ratio(added_and_missed, totals["true_m"]),
        "route_mismatch_median": _number(trips["mismatch"].median()),
        "length_precision": precision,
        "length_recall": recall,
        "length_f1": _ratio(2 * totals["right_m"], totals["true_m"] + totals["found_m"]),
    }


def entry_time_error(true: pl.DataFrame, found: pl.DataFrame) -> dict[str, Any]:
    """Compare when segments were entered, visit by visit; the first segment of a trip is left out.

    A trip begins within its first segment, so nobody entered it.

    Returns:
        `entries`: true entries; `entries_found_share`: of these, found on the route at all; median
        and 90th percentile of the absolute error of those found, in seconds. Null where none is.
    """
    keys = ["trip_id", "edge_id", "visit"]
    visits = [
        frame.with_columns(
            first=pl.int_range(pl.len()).over("trip_id") == 0,
            visit=pl.int_range(pl.len()).over("trip_id", "edge_id"),
        )
        for frame in (true, found)
    ]
    entered = visits[0].filter(~pl.col("first"))
    met = entered.join(visits[1], on=keys, suffix="_found", maintain_order="left")
    error = (met["t_enter_s"] - met["t_enter_s_found"]).abs()
    return {
        "entries": entered.height,
        "entries_found_share": _ratio(met.height, entered.height),
        "error_median_s": _number(error.median()),
        "error_p90_s": _number(error.quantile(0.9, interpolation="linear")),
    }


def quantiles(values: Floats) -> dict[str, float | None]:
    """Return the quantiles p10, p25, p50, p75, p90, p95 and p99; null where there is no value."""
    names = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
    if not values.size:
        return dict.fromkeys(names)
    return {name: _number(float(np.quantile(values, q))) for name, q in names.items()}


def _ratio(part: float, whole: float) -> float | None:
    return _number(part / whole) if whole else None


def _number(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)
