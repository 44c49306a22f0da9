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
_TRIP_COLUMNS = pl.Schema(
    {
        "true_m": pl.Float64(),
        "found_m": pl.Float64(),
        "right_m": pl.Float64(),
        "driven": pl.Boolean(),
    }
)


class RouteScores:
    """Scores of one way to find routes, over trips that come some at a time.

    Of each trip only sums are held, of each point whether it is right, of each entry its error.
    """

    def __init__(self, twins: dict[str, str]) -> None:
        """Begin with no trip.

        Args:
            twins: The segment back along the same street, where there is one.
        """
        self._twins = twins
        self._points = [pl.DataFrame(schema={"edge": pl.Boolean, "street": pl.Boolean})]
        self._trips = [pl.DataFrame(schema=_TRIP_COLUMNS)]
        self._errors = [pl.Series("error_s", dtype=pl.Float64)]

    def add_points(self, points: pl.DataFrame) -> None:
        """Score the edge of each point.

        Args:
            points: Columns true_edge, found_edge (null where none was found).
        """
        right = pl.col("true_edge") == pl.col("found_edge")
        back = pl.col("found_edge").replace_strict(
            self._twins, default=None, return_dtype=pl.String
        )
        scored = points.select(
            edge=right.fill_null(value=False),
            street=(right | (pl.col("true_edge") == back).fill_null(value=False)).fill_null(
                value=False
            ),
        )
        self._points.append(scored)

    def add_routes(self, true: pl.DataFrame, found: pl.DataFrame) -> None:
        """Score routes by the length on each segment (Newson and Krumm 2009, section 5).

        A segment driven twice counts twice its length. Where a trip begins and ends within a
        segment, the lengths are compared, not the places.

        Args:
            true: Rows of `ROUTE_COLUMNS`, one per segment driven; all of a trip at once.
            found: The same of the routes found.
        """
        by_edge = [
            frame.group_by("trip_id", "edge_id").agg(pl.col("length_m").sum().alias(name))
            for frame, name in ((true, "true_m"), (found, "found_m"))
        ]
        both = (
            by_edge[0]
            .join(by_edge[1], on=["trip_id", "edge_id"], how="full", coalesce=True)
            .with_columns(driven=pl.col("true_m").is_not_null())
            .with_columns(pl.col("true_m", "found_m").fill_null(0.0))
            .with_columns(right_m=pl.min_horizontal("true_m", "found_m"))
            .sort("trip_id", "edge_id")
        )
        sums = pl.col("true_m", "found_m", "right_m").sum()
        trips = both.group_by("trip_id", maintain_order=True).agg(sums, pl.col("driven").any())
        self._trips.append(trips.select(_TRIP_COLUMNS.names()))
        self._errors.append(_entry_errors(true, found))

    def figures(self) -> dict[str, Any]:
        """Return the scores of all trips together; null where there is nothing.

        points: `edge_share`: points on their true directed segment over all points; `street_share`:
        the same, the other direction of the street forgiven.

        routes: `route_mismatch`: added plus missed length over true length, of all trips together
        (0 is best, may exceed 1); `route_mismatch_median`: its median over trips;
        `length_precision`, `length_recall`, `length_f1`.

        entry_times: when segments were entered, visit by visit; the first of a trip is left out, as
        the trip begins within it. `entries`: true entries; `entries_found_share`: of these, found
        on the route at all; median and 90th percentile of the absolute error of those, in seconds.
        """
        points, errors = pl.concat(self._points), pl.concat(self._errors)
        return {
            "points": {
                "points": points.height,
                "edge_share": _number(points["edge"].mean()),
                "street_share": _number(points["street"].mean()),
            },
            "routes": _length_scores(pl.concat(self._trips)),
            "entry_times": {
                "entries": errors.len(),
                "entries_found_share": _ratio(errors.count(), errors.len()),
                "error_median_s": _number(errors.median()),
                "error_p90_s": _number(errors.quantile(0.9, interpolation="linear")),
            },
        }


def _length_scores(trips: pl.DataFrame) -> dict[str, Any]:
    wrong = pl.col("true_m") + pl.col("found_m") - 2 * pl.col("right_m")
    mismatch = trips.select(mismatch=wrong / pl.col("true_m"))["mismatch"]
    totals = trips.select(pl.col("true_m", "found_m", "right_m").sum()).row(0, named=True)
    added_and_missed = totals["true_m"] + totals["found_m"] - 2 * totals["right_m"]
    return {
        "trips": int(trips["driven"].sum()),
        "true_length_m": _number(totals["true_m"]),
        "route_mismatch": _ratio(added_and_missed, totals["true_m"]),
        "route_mismatch_median": _number(mismatch.filter(mismatch.is_finite()).median()),
        "length_precision": _ratio(totals["right_m"], totals["found_m"]),
        "length_recall": _ratio(totals["right_m"], totals["true_m"]),
        "length_f1": _ratio(2 * totals["right_m"], totals["true_m"] + totals["found_m"]),
    }


def _entry_errors(true: pl.DataFrame, found: pl.DataFrame) -> pl.Series:
    """Return for each true entry but a trip's first the absolute error; null where not found."""
    keys = ["trip_id", "edge_id", "visit"]
    visits = [
        frame.with_columns(
            first=pl.int_range(pl.len()).over("trip_id") == 0,
            visit=pl.int_range(pl.len()).over("trip_id", "edge_id"),
        )
        for frame in (true, found)
    ]
    entered = visits[0].filter(~pl.col("first"))
    met = entered.join(visits[1], on=keys, suffix="_found", how="left", maintain_order="left")
    return (met["t_enter_s"] - met["t_enter_s_found"]).abs().alias("error_s")


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
