"""Stage `simulate`: trips on the city's real roads, written as raw files, with the truth beside.

roads.parquet, 720 trips -> data/<city>/simulated/traces/ in the city's raw format and
data/<city>/simulated/truth.parquet: for each trip its segments with entry times, and for each
sample its true segment and offset. "Simulated traces on a real network": say so wherever shown.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import ParameterError, SourceError
from pipeline.keys import Seed
from pipeline.seeds import rng_for
from pipeline.store import StageIO
from pipeline.trips.cleaning.coordinate_order import Bbox
from pipeline.trips.distance import Floats
from pipeline.trips.simulation.demand import departure_s, end_weights
from pipeline.trips.simulation.driving import drive_route, fix_times_s, sample_drive
from pipeline.trips.simulation.raw_files import (
    WRITERS,
    Fleet,
    WrittenTrip,
    trip_id,
    vehicle_id,
)
from pipeline.trips.simulation.recording import draw_defects, record, spoil, with_dwell
from pipeline.trips.simulation.road_graph import RoadGraph
from pipeline.trips.simulation.routes import Perceived, choose_route
from pipeline.trips.simulation.settings import (
    CitySimulation,
    FixedSampling,
    SimulateSettings,
)
from pipeline.trips.simulation.truth import (
    TRUTH_COLUMNS,
    SimulatedTrip,
    truth_row,
    with_parameters,
    written_times,
)

_REST_S = 600.0
# Trips in memory as records at a time.
_TRIPS_AT_A_TIME = 256


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


def run(
    io: StageIO,
    *,
    city: str,
    seed: Seed,
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
    trips = (simulate_trip(name, world, simulate, simulation, seed) for name in ids)
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
    tables = [pl.DataFrame(schema=TRUTH_COLUMNS)]

    def written() -> Iterator[WrittenTrip]:
        fleet = Fleet(simulation.fleet, _REST_S)
        stream = iter(trips)
        while some := list(islice(stream, _TRIPS_AT_A_TIME)):
            made = [_written(trip, fleet, world, simulation) for trip in some]
            tables.append(pl.DataFrame([row for _, row in made], schema=TRUTH_COLUMNS))
            yield from (trip for trip, _ in made)

    WRITERS[simulation.format](written(), folder)
    return pl.concat(tables).sort("raw_trip_id")


def _written(
    trip: SimulatedTrip, fleet: Fleet, world: World, simulation: CitySimulation
) -> tuple[WrittenTrip, dict[str, object]]:
    """Give a trip a vehicle; return what a raw file holds of it, and its truth."""
    begin_s = float(trip.departure_s)
    end_s = trip.departure_s + max([trip.drive.lasting_s, *trip.recording.true_s])
    vehicle = fleet.vehicle(trip.vehicle_wish, begin_s, end_s)
    times = written_times(trip, simulation)
    name = trip_id(simulation.format, vehicle, trip.departure_s)
    degrees = world.graph.plane.to_degrees(trip.recording.xy.reshape(-1, 2))
    copied = "copied" in trip.recording.defects
    ids = {"raw_trip_id": name, "vehicle_id": vehicle_id(simulation.format, vehicle)}
    # A copied cab trip has every row twice; Porto's second row is a trip of its own.
    doubled = copied and simulation.format == "cabspotting"
    truth = ids | truth_row(trip, world.graph, times, doubled=doubled)
    return WrittenTrip(name, vehicle, trip.departure_s, times, degrees, copied), truth


def places_in_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """Return how many places each cell has: columns cell, count."""
    return cells.select("cell", count=pl.col("pois").list.len())
