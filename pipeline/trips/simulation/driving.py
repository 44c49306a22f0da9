"""Drive a route in time and take fixes: speeds, stops, dwells, sampling.

a route of 40 segments -> entry time of each, and the segment and offset at 0, 15, 30, ... s
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.distance import Floats
from pipeline.trips.simulation.road_graph import Ints, RoadGraph
from pipeline.trips.simulation.routes import Route
from pipeline.trips.simulation.settings import FixedSampling, JitteredSampling, SimulateSettings

SLOWEST_MPS, FASTEST_MPS = 1.5, 38.0
STOP_LINE_M = 8.0  # a vehicle waits short of the junction, not on it


class Drive(NamedTuple):
    """When a route is driven, in seconds from 0, one value per segment.

    A segment is entered at `t_enter_s`, driven up to its stop line (offset `stop_m`) until
    `t_stop_s`, stood at until `t_go_s` and left at `t_leave_s`, when the next one is entered.
    """

    t_enter_s: Floats
    t_stop_s: Floats
    t_go_s: Floats
    t_leave_s: Floats
    stop_m: Floats

    @property
    def lasting_s(self) -> float:
        """Return the duration of the drive."""
        return float(self.t_leave_s[-1])


class Samples(NamedTuple):
    """True states at the fixes: seconds from departure, row of the segment in the route, offset."""

    t_s: Floats
    step: Ints
    offset_m: Floats


def drive_route(
    graph: RoadGraph, route: Route, settings: SimulateSettings, rng: np.random.Generator
) -> Drive:
    """Draw a speed for each segment and stops at junctions.

    Args:
        graph: The network.
        route: The way.
        settings: Section `simulate`.
        rng: The trip's own stream for its driving.
    """
    count = route.edges.size
    spread = np.exp(rng.normal(0.0, settings.speed_sigma, count))
    speed = np.clip(
        graph.speed_mps[route.edges] * settings.speed_factor * spread, SLOWEST_MPS, FASTEST_MPS
    )
    begin_m, end_m = driven_span_m(graph, route)
    stop_m = np.maximum(end_m - STOP_LINE_M, (begin_m + end_m) / 2)
    stops = (rng.random(count) < settings.stop_share) & graph.is_junction[graph.v[route.edges]]
    waits_s = np.where(stops, rng.exponential(settings.stop_mean_s, count), 0.0)
    waits_s[-1] = 0.0  # the drive is over on arrival
    to_line_s, from_line_s = (stop_m - begin_m) / speed, (end_m - stop_m) / speed
    t_leave_s = np.cumsum(to_line_s + waits_s + from_line_s)
    t_enter_s = np.concatenate([[0.0], t_leave_s[:-1]])
    t_stop_s = t_enter_s + to_line_s
    return Drive(t_enter_s, t_stop_s, t_stop_s + waits_s, t_leave_s, stop_m)


def driven_span_m(graph: RoadGraph, route: Route) -> tuple[Floats, Floats]:
    """Return from where to where each segment of a route is driven, metres from its start."""
    begin_m = np.zeros(route.edges.size)
    end_m = graph.length_m[route.edges].copy()
    begin_m[0], end_m[-1] = route.off_from_m, route.off_to_m
    return begin_m, end_m


def stand_at(drive: Drive, step: int, lasting_s: float) -> Drive:
    """Let the vehicle stand for longer at the stop line of one segment of its route."""
    later = (np.arange(drive.t_enter_s.size) > step) * lasting_s
    here = (np.arange(drive.t_enter_s.size) >= step) * lasting_s
    return Drive(
        drive.t_enter_s + later,
        drive.t_stop_s + later,
        drive.t_go_s + here,
        drive.t_leave_s + here,
        drive.stop_m,
    )


def fix_times_s(
    sampling: FixedSampling | JitteredSampling, lasting_s: float, rng: np.random.Generator
) -> Floats:
    """Return the whole seconds from departure at which fixes are taken, the first at 0.

    Args:
        sampling: The city's profile.
        lasting_s: Duration of the drive.
        rng: The trip's own stream for its recorder.
    """
    if isinstance(sampling, FixedSampling):
        every: Floats = np.arange(0.0, lasting_s, float(sampling.interval_s)).astype(np.float64)
        return every
    # Enough draws for the shortest intervals; the number never depends on anything but the drive.
    draws = int(lasting_s / min(sampling.intervals_s)) + 1
    steps = np.interp(rng.random(draws), sampling.shares, sampling.intervals_s)
    times: Floats = np.concatenate([[0.0], np.cumsum(np.maximum(np.rint(steps), 1.0))])
    within: Floats = times[times < lasting_s]
    return within


def sample_drive(graph: RoadGraph, route: Route, drive: Drive, t_s: Floats) -> Samples:
    """Return the true segment and offset at each time."""
    step = np.clip(np.searchsorted(drive.t_enter_s, t_s, side="right") - 1, 0, None)
    begin_m, end_m = driven_span_m(graph, route)
    to_line = _part(t_s, drive.t_enter_s[step], drive.t_stop_s[step])
    from_line = _part(t_s, drive.t_go_s[step], drive.t_leave_s[step])
    stop_m = drive.stop_m[step]
    offset_m = (
        begin_m[step] + to_line * (stop_m - begin_m[step]) + from_line * (end_m[step] - stop_m)
    )
    return Samples(t_s, step, offset_m)


def _part(t_s: Floats, begin_s: Floats, end_s: Floats) -> Floats:
    """Return how much of a span of time has passed, 0 to 1."""
    lasting_s = end_s - begin_s
    part: Floats = np.clip((t_s - begin_s) / np.where(lasting_s > 0, lasting_s, 1.0), 0.0, 1.0)
    return part
