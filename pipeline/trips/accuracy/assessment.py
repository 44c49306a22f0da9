"""Stage `assess`: how right is matching? Scored on simulated trips, whose truth is known.

713 cleaned simulated trips -> assessment.json: point-edge accuracy, route mismatch, precision and
recall by length, entry-time error, each beside the nearest-edge baseline

The limit, to be stated wherever these figures are shown: accuracy on one's own noise is
optimistic, since there is no systematic multipath and the network is the truth.
"""

from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.store import StageIO
from pipeline.trips.accuracy.nearest_edge import nearest_edges
from pipeline.trips.accuracy.route_scores import ROUTE_COLUMNS, RouteScores, quantiles
from pipeline.trips.cleaning.coordinate_order import Bbox
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.distance import Floats, distance_m
from pipeline.trips.ingest import ingest_folder
from pipeline.trips.match import matcher_for
from pipeline.trips.matching.settings import MatchSettings
from pipeline.trips.readers.settings import (
    CabspottingTraces,
    PortoTraces,
    TracesSettings,
)
from pipeline.trips.simulation.road_graph import RoadGraph
from pipeline.trips.simulation.settings import CitySimulation, FixedSampling

LIMIT = (
    "Accuracy on simulated noise is optimistic: no systematic multipath, and the network is the"
    " truth."
)

# Trips in memory with their points and segments at a time.
_TRIPS_AT_A_TIME = 2048
_STATE_COLUMNS = pl.Schema(
    {
        "trip_id": pl.String(),
        "i": pl.List(pl.Int64()),
        "t": pl.List(pl.Float64()),
        "lon": pl.List(pl.Float64()),
        "lat": pl.List(pl.Float64()),
        "true_edge": pl.List(pl.String()),
        "true_offset_m": pl.List(pl.Float64()),
    }
)


def run(
    io: StageIO,
    *,
    city: str,
    match: MatchSettings,
    simulation: CitySimulation,
    traces: TracesSettings,
    cleaning: CleaningSettings,
    bbox: Bbox,
) -> None:
    """Clean and match a city's simulated traces and score them against their truth."""
    roads, truth = io.read("roads"), io.read("simulated_truth")
    files = simulated_traces(simulation, traces)
    cleaned = ingest_folder(
        io.path("simulated_traces"), traces=files, cleaning=cleaning, bbox=bbox
    ).cleaned
    io.write_json("assessment", {"city": city} | assess(cleaned, truth, roads, match))


def simulated_traces(simulation: CitySimulation, traces: TracesSettings) -> TracesSettings:
    """Return how the simulator's files are to be read.

    As the city reads its own traces where those are of the format that was simulated, else by the
    plain rules of that format.
    """
    sampling = simulation.sampling
    if isinstance(sampling, FixedSampling) and simulation.format == "porto":
        return PortoTraces(**_reading(traces), interval_s=sampling.interval_s)
    if isinstance(traces, CabspottingTraces):
        return msgspec.structs.replace(
            traces, kind="simulated", source=None, coordinate_order="as_format"
        )
    # An endless pause: the cleaning rule for gaps is the one to split.
    return CabspottingTraces(**_reading(traces), flip_reports=1, run_gap_s=float("inf"))


def _reading(traces: TracesSettings) -> dict[str, Any]:
    return {
        "kind": "simulated",
        "source": None,
        "coordinate_order": "as_format",
        "shards": traces.shards,
        "block_bytes": traces.block_bytes,
    }


def assess(
    cleaned: pl.DataFrame, truth: pl.DataFrame, roads: pl.DataFrame, match: MatchSettings
) -> dict[str, Any]:
    """Match cleaned simulated trips and score them, beside the nearest-edge baseline.

    Trips with a sample off the roads (they left the area on purpose) have no true route to the
    end and are left out, as is a trip that truth does not know; both are counted.

    Args:
        cleaned: Rows of `cleaned_trip`.
        truth: Rows of `simulated_truth`.
        roads: The city's directed segments.
        match: Section `match`.
    """
    matcher, graph = matcher_for(roads, match), RoadGraph(roads)
    twins = _twins(graph)
    scores = {"matcher": RouteScores(twins), "nearest_edge": RouteScores(twins)}
    assessed = 0
    samples = [_Samples(*(np.zeros(0) for _ in _Samples._fields))]
    for some in cleaned.iter_slices(_TRIPS_AT_A_TIME):
        points, true = true_states(some, truth, roads)
        found = matcher.match(points.select("t", "lon", "lat", trace_id="trip_id"))
        at = ["trip_id", "i"]
        where = found.points.select(
            trip_id="trace_id",
            i=pl.col("i").cast(pl.Int64),
            found_edge=pl.col("edge_id").cast(pl.String),
        )
        scores["matcher"].add_points(points.join(where, on=at, how="left", maintain_order="left"))
        scores["matcher"].add_routes(true, matched_routes(found.path))
        nearest = points.with_columns(nearest_edges(points, roads).alias("found_edge"))
        scores["nearest_edge"].add_points(nearest)
        scores["nearest_edge"].add_routes(true, nearest_routes(nearest, roads))
        assessed += points["trip_id"].n_unique()
        samples.append(_samples(points, roads, graph))
    return {
        "simulated": True,
        "limit": LIMIT,
        "trips": {
            "simulated": truth.height,
            "cleaned": cleaned.height,
            "assessed": assessed,
        },
        **{name: one.figures() for name, one in scores.items()},
        "simulation": _simulation_figures(truth, samples),
    }


def true_states(
    cleaned: pl.DataFrame, truth: pl.DataFrame, roads: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Join cleaned trips to their truth.

    Returns:
        points: trip_id, i, t, lon, lat, true_edge, true_offset_m of every kept sample; routes:
        `ROUTE_COLUMNS`, the segments driven between the first and the last kept sample, entry
        times told by the clock of the file (which runs behind after unflagged lost samples).
    """
    length_m = dict(roads.select("edge_id", "length_m").iter_rows())
    kept = cleaned.select("trip_id", "raw_trip_id", "t", "lon", "lat", "raw_index")
    known = kept.join(truth, on="raw_trip_id", maintain_order="left")
    points, routes = [], []
    for trip in known.iter_rows(named=True):
        index = trip["raw_index"]
        edges = [trip["sample_edge_id"][i] for i in index]
        if None in edges:
            continue
        points.append(
            {
                "trip_id": trip["trip_id"],
                "i": list(range(len(index))),
                "t": trip["t"],
                "lon": trip["lon"],
                "lat": trip["lat"],
                "true_edge": edges,
                "true_offset_m": [trip["sample_offset_m"][i] for i in index],
            }
        )
        routes.append(_true_route(trip, index, length_m))
    table = pl.DataFrame(points, schema=_STATE_COLUMNS).explode(*_STATE_COLUMNS.names()[1:])
    return table, pl.concat([pl.DataFrame(schema=ROUTE_COLUMNS), *routes])


def _true_route(trip: dict[str, Any], index: list[int], length_m: dict[str, float]) -> pl.DataFrame:
    true_s = np.asarray(trip["sample_true_s"])[index]
    enter_s = np.asarray(trip["t_enter_s"])
    first, last = np.searchsorted(enter_s, true_s[[0, -1]], side="right") - 1
    edges = trip["edge_ids"][first : last + 1]
    lengths = [length_m[edge] for edge in edges]
    lengths[-1] = trip["sample_offset_m"][index[-1]]
    lengths[0] -= trip["sample_offset_m"][index[0]]
    entered = np.maximum(enter_s[first : last + 1], true_s[0])
    return pl.DataFrame(
        {
            "trip_id": [trip["trip_id"]] * len(edges),
            "edge_id": edges,
            "t_enter_s": np.interp(entered, true_s, trip["t"]),
            "length_m": lengths,
        },
        schema=ROUTE_COLUMNS,
    )


def matched_routes(path: pl.DataFrame) -> pl.DataFrame:
    """Return the matcher's path as `ROUTE_COLUMNS`, the parts of a broken trip in turn."""
    return path.sort("trace_id", "part", "seq").select(
        trip_id="trace_id",
        edge_id=pl.col("edge_id").cast(pl.String),
        t_enter_s="t_enter_s",
        length_m=pl.col("off_to_m").cast(pl.Float64) - pl.col("off_from_m").cast(pl.Float64),
    )


def nearest_routes(points: pl.DataFrame, roads: pl.DataFrame) -> pl.DataFrame:
    """Return the baseline's route as `ROUTE_COLUMNS`: the nearest segments one after another.

    Each counts in full and is entered at its first point; segments between points are missing.
    """
    fresh = (pl.col("found_edge") != pl.col("found_edge").shift().over("trip_id")).fill_null(
        value=True
    )
    return (
        points.filter(fresh)
        .join(
            roads.select("edge_id", "length_m"),
            left_on="found_edge",
            right_on="edge_id",
            how="left",
            maintain_order="left",
        )
        .select("trip_id", edge_id="found_edge", t_enter_s="t", length_m="length_m")
    )


def _twins(graph: RoadGraph) -> dict[str, str]:
    names = graph.edge_ids.to_list()
    return {names[a]: names[b] for a, b in enumerate(graph.twin.tolist()) if b >= 0}


class _Samples(NamedTuple):
    """What kept samples came out as.

    Attributes:
        length_m: The straight line between neighbouring ones.
        interval_s: The time between them by the file's clock.
        error_m: The distance of each to its true segment.
    """

    length_m: Floats
    interval_s: Floats
    error_m: Floats


def _samples(points: pl.DataFrame, roads: pl.DataFrame, graph: RoadGraph) -> _Samples:
    step = points.select(
        same=pl.col("trip_id") == pl.col("trip_id").shift(),
        dt=pl.col("t").diff(),
    )
    kept = step["same"].fill_null(value=False)
    return _Samples(
        _straight_m(points)[kept.to_numpy()],
        step.filter(kept)["dt"].to_numpy(),
        _distance_to_true_edge_m(points, roads, graph),
    )


def _simulation_figures(truth: pl.DataFrame, samples: list[_Samples]) -> dict[str, Any]:
    """Tell what the simulation came out as, beside what it aimed at."""
    length_m, interval_s, error_m = map(np.concatenate, zip(*samples, strict=True))
    ratio = truth["route_length_m"] / truth["shortest_length_m"]
    counts = truth["defects"].list.explode(empty_as_null=False).value_counts().sort("defects")
    return {
        "route_over_shortest": quantiles(ratio.to_numpy()),
        "via_share": round(truth["via"].sum() / max(truth.height, 1), 4),
        "route_length_m": quantiles(truth["route_length_m"].to_numpy()),
        "step_speed_kph": quantiles(length_m / interval_s * 3.6),
        "interval_s": quantiles(interval_s),
        "error_m": quantiles(error_m),
        "defects": [{"defect": name, "trips": count} for name, count in counts.iter_rows()],
    }


def _straight_m(points: pl.DataFrame) -> Floats:
    lon, lat = points["lon"].to_numpy(), points["lat"].to_numpy()
    return np.concatenate([[0.0], distance_m(lon[:-1], lat[:-1], lon[1:], lat[1:])])[: lon.size]


def _distance_to_true_edge_m(points: pl.DataFrame, roads: pl.DataFrame, graph: RoadGraph) -> Floats:
    import shapely  # noqa: PLC0415 - slow import

    plane = graph.plane
    table = points.join(
        roads.select("edge_id", "geometry"),
        left_on="true_edge",
        right_on="edge_id",
        maintain_order="left",
    )
    lines = plane.geometries(shapely.from_wkb(table["geometry"].to_numpy()))
    xy = plane.to_metres(table.select("lon", "lat").to_numpy())
    distance: Floats = shapely.distance(shapely.points(xy), lines)
    return distance
