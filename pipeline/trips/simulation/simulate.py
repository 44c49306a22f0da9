"""Stage `simulate`: trips on the city's real roads, written as raw files, with the truth beside.

roads.parquet, 720 trips -> data/<city>/simulated/traces/ in the city's raw format and
data/<city>/simulated/truth.parquet: for each trip its segments with entry times, and for each
sample its true segment and offset. "Simulated traces on a real network": say so wherever shown.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.errors import ParameterError, SourceError
from pipeline.seeds import rng_for
from pipeline.store import StageIO
from pipeline.trips.coordinate_order import Bbox
from pipeline.trips.distance import Floats
from pipeline.trips.simulation.demand import departure_s, end_weights
from pipeline.trips.simulation.driving import Drive, drive_route, fix_times_s, sample_drive
from pipeline.trips.simulation.raw_files import (
    WRITERS,
    WrittenTrip,
    assign_vehicles,
    trip_id,
    vehicle_id,
)
from pipeline.trips.simulation.recording import (
    Recording,
    draw_defects,
    record,
    recording_twice,
    spoil,
    with_dwell,
)
from pipeline.trips.simulation.road_graph import RoadGraph
from pipeline.trips.simulation.routes import Perceived, Route, choose_route
from pipeline.trips.simulation.settings import (
    CitySimulation,
    FixedSampling,
    SimulateSettings,
)

_REST_S = 600.0


class World(NamedTuple):
    """What all trips of a city share.

    Attributes:
        graph: The network.
        by_length: The network with lengths for costs.
        weights: How often each segment is an end of a trip.
        area: West, south, east, north of the city in metres of the graph's plane.
        time_zone: The city's IANA zone.
    """

    graph: RoadGraph
    by_length: Perceived
    weights: Floats
    area: Bbox
    time_zone: str


class SimulatedTrip(NamedTuple):
    """One trip, driven and recorded; all times in seconds from `departure_s` (UTC epoch)."""

    simulated_id: str
    departure_s: int
    vehicle_wish: int
    route: Route
    drive: Drive
    recording: Recording


def run(
    io: StageIO,
    *,
    city: str,
    seed: int,
    simulate: SimulateSettings,
    simulation: CitySimulation,
    time_zone: str,
    bbox: Bbox,
) -> None:
    """Simulate a city's trips and write them as raw files, with the truth."""
    roads = io.read("roads")
    weights = end_weights(roads, io.read("road_cells"), places_in_cells(io.read("cells")))
    world = make_world(roads, weights, bbox, time_zone)
    ids = io.progress(trip_ids(simulation.trips), simulation.trips, "trip", "simulate")
    trips = [simulate_trip(name, world, simulate, simulation, seed) for name in ids]
    truth = write_trips(trips, world, simulation, io.path("simulated_traces"))
    io.write("simulated_truth", with_parameters(truth, city, seed, simulate, simulation))


def trip_ids(count: int) -> list[str]:
    """Return the ids of simulated trips, each the name of its own random streams."""
    return [f"sim-{number:06d}" for number in range(1, count + 1)]


def make_world(roads: pl.DataFrame, weights: Floats, bbox: Bbox, time_zone: str) -> World:
    """Prepare a city for driving.

    Args:
        roads: The city's directed segments.
        weights: Weight of each segment as an end of trips, in the order of sorted edge ids.
        bbox: West, south, east, north in degrees.
        time_zone: The city's IANA zone.
    """
    graph = RoadGraph(roads)
    west, south, east, north = bbox
    corners = graph.plane.to_metres(np.array([[west, south], [east, north]]))
    (left, low), (right, high) = corners.tolist()
    area = (left, low, right, high)
    return World(graph, Perceived(graph, graph.length_m), weights, area, time_zone)


def simulate_trip(
    simulated_id: str,
    world: World,
    settings: SimulateSettings,
    simulation: CitySimulation,
    seed: int,
) -> SimulatedTrip:
    """Drive and record one trip; it depends on its id and the seed, not on other trips.

    Each topic has its own stream, so that a share of defects changed redraws no route.

    Raises:
        SourceError: The network holds no route of the least length.
        ParameterError: The Porto format with a sampling that is not fixed.
    """
    topics = ("demand", "route", "drive", "fixes", "error", "defects")
    rng = {topic: rng_for(seed, f"simulate.{topic}", simulated_id) for topic in topics}
    departure = departure_s(simulation.year, world.time_zone, settings, rng["demand"])
    wish = int(rng["demand"].integers(simulation.fleet))
    route = choose_route(
        world.graph,
        world.by_length,
        world.weights,
        settings,
        simulation.via_share,
        rng["route"],
    )
    if route is None:
        raise SourceError(
            f"simulate: expected a network with routes of {settings.shortest_route_m:.0f} m, found"
            " none in many draws; lower `simulate.shortest_route_m` or take a larger network"
        )
    defects = draw_defects(settings.defects, rng["defects"])
    drive = drive_route(world.graph, route, settings, rng["drive"])
    if "dwell" in defects:
        drive = with_dwell(drive, settings.defects, rng["defects"])
    times_s = fix_times_s(simulation.sampling, drive.lasting_s, rng["fixes"])
    samples = sample_drive(world.graph, route, drive, times_s)
    recording = record(world.graph, route, samples, settings, rng["error"])
    first = [name for name in defects if name == "dwell"]
    recording = spoil(
        recording._replace(defects=first),
        defects,
        settings.defects,
        (world.area, _usual_interval_s(simulation)),
        rng["defects"],
    )
    if "copied" in defects and recording.true_s.size >= 3:
        recording = recording._replace(defects=[*recording.defects, "copied"])
    return SimulatedTrip(simulated_id, departure, wish, route, drive, recording)


def _usual_interval_s(simulation: CitySimulation) -> float:
    sampling = simulation.sampling
    if isinstance(sampling, FixedSampling):
        return float(sampling.interval_s)
    if simulation.format == "porto":
        raise ParameterError(
            "simulation.sampling: expected kind `fixed` for the Porto format, whose files state no"
            " times but the first, found `jittered`"
        )
    return float(np.rint(np.interp(0.5, sampling.shares, sampling.intervals_s)))


def write_trips(
    trips: Iterable[SimulatedTrip], world: World, simulation: CitySimulation, folder: Path
) -> pl.DataFrame:
    """Write trips as raw files and return their truth, one row per trip, sorted by raw trip id."""
    trips = list(trips)
    spans = [
        (float(t.departure_s), t.departure_s + max([t.drive.lasting_s, *t.recording.true_s]))
        for t in trips
    ]
    vehicles = assign_vehicles([t.vehicle_wish for t in trips], spans, simulation.fleet, _REST_S)
    written, truth, starts = [], [], {}
    for trip, vehicle in zip(trips, vehicles, strict=True):
        times = written_times(trip, simulation)
        name = trip_id(simulation.format, vehicle, trip.departure_s)
        degrees = world.graph.plane.to_degrees(trip.recording.xy.reshape(-1, 2))
        copied = "copied" in trip.recording.defects
        written.append(WrittenTrip(name, vehicle, times, degrees, copied))
        starts[name] = trip.departure_s
        ids = {"raw_trip_id": name, "vehicle_id": vehicle_id(simulation.format, vehicle)}
        # A copied cab trip has every row twice; Porto's second row is a trip of its own.
        doubled = copied and simulation.format == "cabspotting"
        truth.append(ids | _truth_row(trip, world.graph, times, doubled=doubled))
    WRITERS[simulation.format](written, folder, starts)
    return pl.DataFrame(truth, schema=TRUTH_COLUMNS).sort("raw_trip_id")


def written_times(trip: SimulatedTrip, simulation: CitySimulation) -> list[int]:
    """Return the times a reader of the file will find, UTC epoch seconds.

    Porto's format counts samples: after lost ones its clock runs behind the true one.
    """
    true_s = trip.recording.true_s
    if simulation.format == "porto" and isinstance(simulation.sampling, FixedSampling):
        nominal = simulation.sampling.interval_s * np.arange(true_s.size)
        return [trip.departure_s + int(s) for s in nominal]
    return [trip.departure_s + int(s) for s in true_s]


def _truth_row(
    trip: SimulatedTrip, graph: RoadGraph, times: list[int], *, doubled: bool
) -> dict[str, object]:
    route, recording = trip.route, trip.recording
    if doubled:
        recording, times = recording_twice(recording), [t for t in times for _ in range(2)]
    on_road = recording.step >= 0
    edges = graph.edge_ids.gather(route.edges).to_list()
    return {
        "simulated_id": trip.simulated_id,
        "departure_s": trip.departure_s,
        "defects": recording.defects,
        "edge_ids": edges,
        "t_enter_s": [round(trip.departure_s + float(s), 3) for s in trip.drive.t_enter_s],
        "t_end_s": round(trip.departure_s + trip.drive.lasting_s, 3),
        "off_from_m": round(route.off_from_m, 3),
        "off_to_m": round(route.off_to_m, 3),
        "route_length_m": round(route.length_m, 3),
        "shortest_length_m": round(route.shortest_m, 3),
        "via": route.via,
        "sample_written_s": [float(t) for t in times],
        "sample_true_s": [float(trip.departure_s + s) for s in recording.true_s],
        "sample_edge_id": [
            edges[step] if on else None for step, on in zip(recording.step, on_road, strict=True)
        ],
        "sample_offset_m": [
            round(float(offset), 3) if on else None
            for offset, on in zip(recording.offset_m, on_road, strict=True)
        ],
    }


def with_parameters(
    truth: pl.DataFrame,
    city: str,
    seed: int,
    simulate: SimulateSettings,
    simulation: CitySimulation,
) -> pl.DataFrame:
    """Add what the truth was drawn with: city, seed and both settings as canonical JSON."""
    parameters = json.dumps(
        {"city": city, "simulate": _plain(simulate), "simulation": _plain(simulation)},
        sort_keys=True,
    )
    return truth.with_columns(
        seed=pl.lit(seed, dtype=pl.Int64),
        parameters=pl.lit(parameters),
        simulated=pl.lit(value=True),
    )


def _plain(settings: msgspec.Struct) -> object:
    return msgspec.to_builtins(settings)


TRUTH_COLUMNS = pl.Schema(
    {
        "raw_trip_id": pl.String(),
        "simulated_id": pl.String(),
        "vehicle_id": pl.String(),
        "departure_s": pl.Int64(),
        "defects": pl.List(pl.String()),
        "edge_ids": pl.List(pl.String()),
        "t_enter_s": pl.List(pl.Float64()),
        "t_end_s": pl.Float64(),
        "off_from_m": pl.Float64(),
        "off_to_m": pl.Float64(),
        "route_length_m": pl.Float64(),
        "shortest_length_m": pl.Float64(),
        "via": pl.Boolean(),
        "sample_written_s": pl.List(pl.Float64()),
        "sample_true_s": pl.List(pl.Float64()),
        "sample_edge_id": pl.List(pl.String()),
        "sample_offset_m": pl.List(pl.Float64()),
    }
)


def places_in_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """Return how many places each cell has: columns cell, count."""
    return cells.select("cell", count=pl.col("pois").list.len())
