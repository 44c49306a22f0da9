"""Score a matched path against the true one, or against plain sense where there is no truth.

    true edges of trip 7: a(100 m) b(50 m) a(100 m)     matched: a b c(30 m)
    common 150 m, missing 100 m, wrong 30 m  ->  precision 0.83, recall 0.60, RMF 0.52

Rules, the same for every matcher:
- An edge counts with its whole length, once for every passage; the same edge twice in a row (where
  one part ends and the next begins) is one passage.
- F1, precision, recall and RMF are pooled: metres are summed over all trips first.
- `exact` is the share of trips with RMF < 1 %.

    python -m bench.accuracy --network NET.parquet --case FOLDER --result DIR
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import shapely

from bench.network import metric_projection

NEAR_ROAD_M = 100.0
ON_ROAD_M = 10.0
SHORTEST_JUDGED_M = 300.0
PAIR_S = 5.0


class Ground(NamedTuple):
    """What of a real set lies on the network: `near` for each point, `gps_m` for each trip."""

    near: pl.Series
    gps_m: pl.DataFrame


def passages(path: pl.DataFrame) -> pl.DataFrame:
    """Return `trace_id, edge_id` in driving order without immediate repeats of an edge."""
    same = (pl.col("edge_id") == pl.col("edge_id").shift(1)) & (
        pl.col("trace_id") == pl.col("trace_id").shift(1)
    )
    return path.filter(~same.fill_null(value=False)).select("trace_id", "edge_id")


def trip_metres(truth: pl.DataFrame, path: pl.DataFrame, network: pl.DataFrame) -> pl.DataFrame:
    """Return for each true trip `true_m, found_m, common_m`, edges counted as a multiset.

    Args:
        truth: True path in driving order: `trace_id, edge_id`.
        path: Matched path in driving order; trips it lacks score zero.
        network: `edge_id, length_m`.
    """
    key = ["trace_id", "edge_id"]
    true_count = passages(truth).group_by(key).agg(pl.len().cast(pl.Int64).alias("true"))
    found_count = passages(path).group_by(key).agg(pl.len().cast(pl.Int64).alias("found"))
    both = (
        true_count.join(found_count, on=key, how="full", coalesce=True)
        .with_columns(pl.col("true", "found").fill_null(0))
        .join(network.select("edge_id", "length_m"), on="edge_id", how="left")
    )
    per_trip = both.group_by("trace_id").agg(
        (pl.col("true") * pl.col("length_m")).sum().alias("true_m"),
        (pl.col("found") * pl.col("length_m")).sum().alias("found_m"),
        (pl.min_horizontal("true", "found") * pl.col("length_m")).sum().alias("common_m"),
    )
    return per_trip.filter(pl.col("true_m") > 0).sort("trace_id")


def route_scores(metres: pl.DataFrame) -> dict[str, float]:
    """Return pooled `f1, precision, recall, rmf`, `exact` and the number of `trips`.

    Args:
        metres: Frame of `trip_metres`; an empty one gives NaN scores.
    """
    true_m, found_m, common_m = (float(metres[c].sum()) for c in ("true_m", "found_m", "common_m"))
    rmf = (pl.col("true_m") + pl.col("found_m") - 2 * pl.col("common_m")) / pl.col("true_m")
    return {
        "trips": len(metres),
        "f1": _ratio(2 * common_m, true_m + found_m),
        "precision": _ratio(common_m, found_m),
        "recall": _ratio(common_m, true_m),
        "rmf": _ratio(true_m + found_m - 2 * common_m, true_m),
        "exact": _ratio(float(metres.select((rmf < 0.01).sum()).item()), len(metres)),
    }


def point_edge_accuracy(fixes: pl.DataFrame, points: pl.DataFrame) -> float:
    """Return the share of all fixes, thrown ones included, put on the directed edge driven."""
    joined = fixes.select("trace_id", "i", "edge_id").join(
        points.select("trace_id", pl.col("i").cast(pl.Int64), pl.col("edge_id").alias("found")),
        on=["trace_id", "i"],
        how="left",
    )
    hit = (pl.col("edge_id") == pl.col("found")).fill_null(value=False)
    return _ratio(float(joined.select(hit.sum()).item()), len(joined))


def entry_time_error_s(truth: pl.DataFrame, path: pl.DataFrame) -> dict[str, float]:
    """Return median and 90 % point of |entry time error| over correctly matched segments.

    The n-th passage of an edge is compared with its n-th true passage; the first edge of a trip,
    which nobody saw being entered, is left out.
    """
    if "t_enter_s" not in path.columns or path["t_enter_s"].null_count() == len(path):
        return {"entry_s_p50": float("nan"), "entry_s_p90": float("nan"), "entry_n": 0}
    key = ["trace_id", "edge_id", "nth"]
    true, found = (_numbered_passages(frame) for frame in (truth, path))
    both = true.filter(pl.col("place") > 0).join(
        found.filter(pl.col("place") > 0), on=key, how="inner", suffix="_found"
    )
    error = (both["t_enter_s"] - both["t_enter_s_found"]).abs().drop_nulls().to_numpy()
    p50, p90 = np.percentile(error, [50, 90]) if len(error) else (float("nan"),) * 2
    return {"entry_s_p50": float(p50), "entry_s_p90": float(p90), "entry_n": len(error)}


def _numbered_passages(path: pl.DataFrame) -> pl.DataFrame:
    same = (pl.col("edge_id") == pl.col("edge_id").shift(1).over("trace_id")).fill_null(value=False)
    one = pl.int_range(pl.len())
    return (
        path.filter(~same)
        .select("trace_id", "edge_id", "t_enter_s")
        .with_columns(
            one.over("trace_id").alias("place"), one.over("trace_id", "edge_id").alias("nth")
        )
    )


def noise_class(trips: pl.DataFrame) -> pl.DataFrame:
    """Return `trace_id, kind`: sigma5/10/20 when clean, else `outliers`, else `gaps`.

    A trip with both counts under `outliers`, so that `gaps` shows gaps alone.
    """
    clean = pl.concat_str(pl.lit("sigma"), pl.col("sigma_m").cast(pl.Int64).cast(pl.String))
    kind = (
        pl.when(pl.col("outliers") > 0)
        .then(pl.lit("outliers"))
        .when(pl.col("lost") > 0)
        .then(pl.lit("gaps"))
        .otherwise(clean)
    )
    return trips.select("trace_id", kind.alias("kind"))


def truth_scores(
    truth: dict[str, pl.DataFrame],
    path: pl.DataFrame,
    points: pl.DataFrame,
    network: pl.DataFrame,
) -> dict[str, Any]:
    """Return all scores of one set with truth, `by_class` among them where noise is known."""
    metres = trip_metres(truth["path"], path, network)
    scores: dict[str, Any] = route_scores(metres)
    parts = path.select(pl.struct("trace_id", "part").n_unique()).item()
    scores["parts_per_trip"] = _ratio(parts, len(metres))
    if "fixes" in truth:
        scores["point_edge"] = point_edge_accuracy(truth["fixes"], points)
        scores |= entry_time_error_s(truth["path"], path)
    if "trips" in truth:
        kinds = metres.join(noise_class(truth["trips"]), on="trace_id")
        scores["by_class"] = {
            kind: route_scores(part) for (kind,), part in sorted(kinds.group_by("kind"))
        }
    return scores | joint_faults(path, network)


def joint_faults(path: pl.DataFrame, network: pl.DataFrame) -> dict[str, float]:
    """Count joints inside a part where the edges do not touch, trips with one, and U-turns."""
    inner = _joints(path, network)
    jumps = inner.filter(~pl.col("touches"))
    return {
        "jumps": len(jumps),
        "trips_with_jump": jumps["trace_id"].n_unique(),
        "u_turns": int(inner["turns"].sum()),
    }


def u_turn_pairs(path: pl.DataFrame, network: pl.DataFrame) -> int:
    """Count U-turns that follow another one of the same part within 5 s, which nobody drives.

    Three in a row are two pairs. A trace without times has none, as does an empty path.

    Args:
        path: Matched path in driving order: `trace_id, part, edge_id, t_enter_s` (seconds; that
            of the edge after the U-turn is its time).
        network: `edge_id, u, v`.
    """
    turns = _joints(path, network).filter("turns")
    soon = pl.col("t_enter_s") - pl.col("t_enter_s").shift(1) <= PAIR_S
    same_part = pl.struct("trace_id", "part") == pl.struct("trace_id", "part").shift(1)
    return int(turns.select((same_part & soon).fill_null(value=False).sum()).item())


def _joints(path: pl.DataFrame, network: pl.DataFrame) -> pl.DataFrame:
    """Return the edges that follow another one of their part, and how they are joined to it.

    Returns:
        The columns of `path` with `touches` (the edge begins where the last one ended) and `turns`
        (it also ends where that one began).
    """
    ends = path.join(
        network.select("edge_id", "u", "v"), on="edge_id", how="left", maintain_order="left"
    )
    touches = pl.col("u") == pl.col("v").shift(1)
    inner = (pl.col("trace_id") == pl.col("trace_id").shift(1)) & (
        pl.col("part") == pl.col("part").shift(1)
    )
    return ends.with_columns(
        touches=touches, turns=touches & (pl.col("v") == pl.col("u").shift(1)), inner=inner
    ).filter("inner")


def plausibility_scores(
    ground: Ground, path: pl.DataFrame, points: pl.DataFrame, network: pl.DataFrame
) -> dict[str, Any]:
    """Return what can be said of real trips without truth.

    Args:
        ground: What of the set lies on the network, by `on_network`.
        path: Matched path with `part` and, where known, `off_from_m, off_to_m`.
        points: Matched points with `edge_id` and `status`, in the order of the input.
        network: Network frame.
    """
    trips = len(ground.gps_m)
    driven = path.join(network.select("edge_id", "length_m"), on="edge_id", how="left").select(
        "trace_id",
        metres=(
            pl.col("off_to_m").fill_null(pl.col("length_m")) - pl.col("off_from_m").fill_null(0.0)
        ).clip(lower_bound=0.0),
    )
    judged = ground.gps_m.filter(pl.col("gps_m") >= SHORTEST_JUDGED_M).join(
        driven.group_by("trace_id").agg(pl.col("metres").sum()), on="trace_id", how="inner"
    )
    ratio = (judged["metres"] / judged["gps_m"]).to_numpy()
    status = points["status"].fill_null("(none)").value_counts(sort=True)
    matched = points["edge_id"].is_not_null()
    explained = matched | points["status"].is_not_null()
    parts = path.select(pl.struct("trace_id", "part").n_unique()).item()
    return {
        "trips": trips,
        "parts_per_trip": _ratio(parts, trips),
        "judged": len(judged),
        **{f"length_p{p}": float(np.percentile(ratio, p)) for p in (10, 50, 90) if len(ratio)},
        "over_1.5": _ratio(float((ratio > 1.5).sum()), len(judged)),
        "points_matched": _ratio(float(matched.sum()), len(points)),
        "near_matched": _ratio(float((matched & ground.near).sum()), float(ground.near.sum())),
        "points_explained": _ratio(float(explained.sum()), len(points)),
        "status": dict(status.iter_rows()),
        **joint_faults(path, network),
    }  # fmt: skip


def on_network(points: pl.DataFrame, network: pl.DataFrame) -> Ground:
    """Return which points have a road within 100 m, and the straight metres from one to the next.

    What was driven outside the network nobody can match; counting its metres would make an honest
    break look like lost route.
    """
    x, y, near = _near_road(points, network, NEAR_ROAD_M)
    step_m = (pl.col("x").diff() ** 2 + pl.col("y").diff() ** 2).sqrt()
    known = pl.DataFrame({"trace_id": points["trace_id"], "x": x, "y": y}).filter(near)
    driven = known.group_by("trace_id").agg(gps_m=step_m.sum())
    trips = points.select(pl.col("trace_id").unique(maintain_order=True))
    return Ground(
        pl.Series("near", near),
        trips.join(driven, on="trace_id", how="left").with_columns(pl.col("gps_m").fill_null(0.0)),
    )


def outliers_near_road(fixes: pl.DataFrame, points: pl.DataFrame, network: pl.DataFrame) -> float:
    """Return the share of `outlier` fixes with a road within 10 m, NaN where no fix is one.

    A fix of noise or a jump lies anywhere; one on a street is more likely a visit that was missed.

    Args:
        fixes: The points as they were matched: `lon, lat` (degrees).
        points: What became of each of them, in the same order: `edge_id, status`.
        network: `geometry` (WKB, lon/lat).
    """
    out = fixes.filter(points["status"] == "outlier")
    *_, near = _near_road(out, network, ON_ROAD_M)
    return _ratio(float(near.sum()), len(out))


def lost_near_road(fixes: pl.DataFrame, points: pl.DataFrame, network: pl.DataFrame) -> float:
    """Return the share of fixes with a road within 10 m that were put on none, NaN without any.

    Unlike `outliers_near_road` it does not depend on which status such a fix is given. Arguments as
    there.
    """
    *_, near = _near_road(fixes, network, ON_ROAD_M)
    lost = points["edge_id"].is_null().to_numpy()
    return _ratio(float((near & lost).sum()), float(near.sum()))


def _near_road(
    points: pl.DataFrame, network: pl.DataFrame, within_m: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x and y of points in metres, and which of them have a road within some metres."""
    lines = shapely.from_wkb(network["geometry"].to_numpy())
    projection = metric_projection(*shapely.get_coordinates(lines).T)
    x, y = projection.transform(*points.select("lon", "lat").to_numpy().T)
    tree = shapely.STRtree(shapely.transform(lines, projection.transform, interleaved=False))
    near = np.zeros(len(points), dtype=bool)
    near[tree.query(shapely.points(x, y), predicate="dwithin", distance=within_m)[0]] = True
    return x, y, near


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def main() -> None:
    """Score the output of `match-file` (path.parquet, points.parquet) for one case."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    for name in ("network", "case", "result"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    asked = parser.parse_args()
    network = pl.read_parquet(asked.network)
    path, points = (pl.read_parquet(asked.result / f"{n}.parquet") for n in ("path", "points"))
    truth = {
        name: pl.read_parquet(asked.case / f"{name}.parquet")
        for name in ("path", "fixes", "trips")
        if (asked.case / f"{name}.parquet").exists()
    }
    if truth:
        scores = truth_scores(truth, path, points, network)
    else:
        ground = on_network(pl.read_parquet(asked.case / "points.parquet"), network)
        scores = plausibility_scores(ground, path, points, network)
    print(json.dumps(scores, indent=2))


if __name__ == "__main__":
    main()
