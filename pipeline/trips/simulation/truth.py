"""The truth of simulated trips: what was driven, and where the recorder was at each sample.

sim-000012 -> edge_ids ["7:1:13", ...] with t_enter_s, and for each written sample its true time,
segment and offset; Porto's written clock runs behind the true one after lost samples
"""

import json
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.trips.simulation.driving import Drive
from pipeline.trips.simulation.recording import Recording, recording_twice
from pipeline.trips.simulation.road_graph import RoadGraph
from pipeline.trips.simulation.routes import Route
from pipeline.trips.simulation.settings import CitySimulation, FixedSampling, SimulateSettings

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


class SimulatedTrip(NamedTuple):
    """One trip, driven and recorded; all times in seconds from `departure_s` (UTC epoch)."""

    simulated_id: str
    departure_s: int
    vehicle_wish: int
    route: Route
    drive: Drive
    recording: Recording


def written_times(trip: SimulatedTrip, simulation: CitySimulation) -> list[int]:
    """Return the times a reader of the file will find, UTC epoch seconds.

    Porto's format counts samples: after lost ones its clock runs behind the true one.
    """
    true_s = trip.recording.true_s
    if simulation.format == "porto" and isinstance(simulation.sampling, FixedSampling):
        nominal = simulation.sampling.interval_s * np.arange(true_s.size)
        return [trip.departure_s + int(s) for s in nominal]
    return [trip.departure_s + int(s) for s in true_s]


def truth_row(
    trip: SimulatedTrip, graph: RoadGraph, times: list[int], *, doubled: bool
) -> dict[str, object]:
    """Return the row of `TRUTH_COLUMNS` of a trip, without the ids the file gives it.

    Args:
        trip: The trip.
        graph: The network.
        times: Written times of its samples.
        doubled: Whether the file holds every sample twice in a row.
    """
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
