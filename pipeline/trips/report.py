"""Put a city into numbers: counts, loss by reason, matching, phases; and two plots.

data/<city>/metrics/summary.json   what `dvc metrics show` prints
data/<city>/plots/*.csv            what `dvc plots show` draws

Of every trip only what is counted is held: ids, numbers of points and segments, lengths.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from pipeline.keys import H3Resolution
from pipeline.store import StageIO
from pipeline.trips.distance import distance_m
from pipeline.trips.ledger import STAGES_THAT_REJECT, ledger_of

LONG_ROUTE = 1.5  # a route this much longer than its GPS line is most likely a wrong one


def loss_counts(rejected: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Count rejections by stage and reason, every stage present even when it refused nothing."""
    counts = rejected.group_by("stage", "reason").len().sort("stage", "reason")
    return {
        stage: {row["reason"]: row["len"] for row in counts.filter(stage=stage).to_dicts()}
        for stage in STAGES_THAT_REJECT
    }


def matching_figures(points: pl.DataFrame, matched: pl.DataFrame) -> dict[str, Any]:
    """Summarise matching: shares of points and trips, distances, how drives break.

    Args:
        points: Columns status, distance_m (lists) and parts of `matched_points`.
        matched: Rows of `drive_sizes`.

    Returns:
        The figures; shares are null for a city without trips.
    """
    by_point = points.select("status", "distance_m").explode("status", "distance_m")
    on_route = by_point.filter(pl.col("distance_m").is_not_null())
    status = by_point.group_by("status").len().sort("status")
    return {
        "points": by_point.height,
        "points_on_route_share": _share(on_route.height, by_point.height),
        "points_by_status": {row["status"]: row["len"] for row in status.to_dicts()},
        "distance_m": _quantiles(on_route["distance_m"]),
        "cleaned_trips": points.height,
        "trips_with_a_break_share": _share(
            points.filter(pl.col("parts") > 1).height, points.height
        ),
        "drives": matched.height,
        "drives_per_trip": _round(_ratio(matched.height, matched["cleaned_trip_id"].n_unique())),
        "segments_per_drive": _quantiles(matched["segments"]),
    }


def route_ratio_figures(cleaned: pl.DataFrame, matched: pl.DataFrame) -> dict[str, Any]:
    """Compare the length of each unbroken drive with the line through its GPS points.

    Sound ratios lie between 0.9 and 1.2; broken trips are left out, their parts share one line.

    Args:
        cleaned: Rows of `trip_sizes`.
        matched: Rows of `drive_sizes`.
    """
    whole = matched.filter(pl.len().over("cleaned_trip_id") == 1)
    ratios = whole.join(cleaned, left_on="cleaned_trip_id", right_on="trip_id").filter(
        pl.col("line_m") > 0
    )
    ratio = ratios["route_length_m"] / ratios["line_m"]
    return {
        "drives": ratios.height,
        "ratio": _quantiles(ratio),
        "over_1_5_share": _share(int((ratio > LONG_ROUTE).sum()), ratios.height),
    }


def _lines(cleaned: pl.DataFrame) -> pl.DataFrame:
    """Return `trip_id, line_m`: metres of the straight lines between the points of each trip."""
    points = cleaned.select("trip_id", "lon", "lat").explode("lon", "lat")
    lon, lat = points["lon"].to_numpy(), points["lat"].to_numpy()
    step_m = pl.Series(np.append(distance_m(lon[:-1], lat[:-1], lon[1:], lat[1:]), 0.0))
    within = pl.col("trip_id") == pl.col("trip_id").shift(-1)
    steps = points.select("trip_id", step_m=step_m.head(points.height)).filter(within)
    return steps.group_by("trip_id").agg(line_m=pl.col("step_m").sum())


def phase_figures(phased: pl.DataFrame) -> dict[str, Any]:
    """Summarise phases per trip, segments per phase, and how much of the text has substance.

    Args:
        phased: Rows of `phase_sizes`.
    """
    phases = int(phased["n_phases"].sum())
    return {
        "trips": phased.height,
        "mean_phases_per_trip": _mean(phased["n_phases"]),
        "phases_per_trip": _quantiles(phased["n_phases"]),
        "mean_segments_per_trip": _mean(phased["n_rids"]),
        "phases_with_a_road_name_share": _share(int(phased["named"].sum()), phases),
        "phases_with_a_description_share": _share(int(phased["described"].sum()), phases),
    }


def trip_sizes(cleaned: pl.DataFrame) -> pl.DataFrame:
    """Return `trip_id, raw_trip_id, simulated, points, line_m` of cleaned trips."""
    sizes = cleaned.select("trip_id", "raw_trip_id", "simulated", points=pl.col("t").list.len())
    return sizes.join(_lines(cleaned), on="trip_id", how="left", maintain_order="left")


def drive_sizes(matched: pl.DataFrame) -> pl.DataFrame:
    """Return `trip_id, cleaned_trip_id, route_length_m, segments` of matched trips."""
    segments = pl.col("edge_ids").list.len()
    return matched.select("trip_id", "cleaned_trip_id", "route_length_m", segments=segments)


def phase_sizes(phased: pl.DataFrame) -> pl.DataFrame:
    """Return `trip_id, n_phases, n_rids` of phased trips, and how many phases tell something."""
    meta, phase = pl.col("meta").struct, pl.element().struct
    return phased.select(
        "trip_id",
        meta.field("n_phases", "n_rids"),
        named=pl.col("phases").list.eval(phase.field("road_names").list.len() > 0).list.sum(),
        described=pl.col("phases").list.eval(phase.field("desc") != "").list.sum(),
    )


def _quantiles(values: pl.Series) -> dict[str, float | None]:
    return {
        f"p{percent}": _round(values.quantile(percent / 100, "linear")) for percent in (10, 50, 90)
    }


def _mean(values: pl.Series) -> float | None:
    return _round(values.cast(pl.Float64).mean())


def _round(value: object) -> float | None:
    return round(float(value), 4) if isinstance(value, int | float) else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _share(part: int, whole: int) -> float | None:
    return _round(_ratio(part, whole))


def run(io: StageIO, *, city: str, h3_resolution: H3Resolution) -> None:
    """Write the ledger, the metrics and the plots of a city."""
    number = pl.col("t").list.len()
    raw = _sizes(io, "raw_trips", lambda trips: trips.select("raw_trip_id", points=number))
    cleaned, matched = _sizes(io, "cleaned", trip_sizes), _sizes(io, "matched", drive_sizes)
    points = io.columns("matched_points", ["status", "distance_m", "parts"])
    phased = _sizes(io, "phased", phase_sizes)
    rejected = pl.concat([io.read(f"{stage}_rejected") for stage in STAGES_THAT_REJECT])
    ledger = ledger_of(raw, cleaned, matched, phased, rejected)
    io.write("ledger", ledger)
    io.write_json(
        "metrics",
        {
            "city": city,
            "traces": _trace_kind(cleaned),
            "h3_resolution": h3_resolution,
            "counts": {
                "segments": io.read("roads").height,
                "cells": io.read("cells").height,
                "raw_trips": ledger.height,
                "raw_points": int(raw["points"].sum()),
                "cleaned_trips": cleaned.height,
                "cleaned_points": int(cleaned["points"].sum()),
                "drives": matched.height,
                "phased_trips": phased.height,
                "raw_trips_told": ledger.filter(state="phased").height,
            },
            "loss": loss_counts(rejected),
            "matching": matching_figures(points, matched),
            "route_over_gps": route_ratio_figures(cleaned, matched),
            "phases": phase_figures(phased),
        },
    )
    _write_plots(io, phased, rejected)


def _sizes(io: StageIO, name: str, sizes: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([sizes(trips) for trips in io.batches(name)])


def _trace_kind(cleaned: pl.DataFrame) -> str:
    return "simulated" if cleaned.height and cleaned["simulated"].all() else "real"


def _write_plots(io: StageIO, phased: pl.DataFrame, rejected: pl.DataFrame) -> None:
    per_trip = phased.group_by("n_phases").agg(trips=pl.len()).sort("n_phases")
    io.write_csv("phases_plot", per_trip)
    reason = pl.concat_str("stage", "reason", separator=": ")
    losses = rejected.group_by(reason=reason).agg(pieces=pl.len()).sort("reason")
    io.write_csv("loss_plot", losses)
