"""Walkers that read nothing: they show how much of a score comes without the text.

    stop(start, frames=60, dt_s=0.4)
    random_walk(start, frames=1200, dt_s=0.2, rng=rng)    speed U(0, 8) m/s, heading uniform
    straight(start, frames=150, dt_s=0.4, rng=rng)        speed N(1.3, 0.35), heading N(0, 0.6)

They know neither walls nor each other. The paper's own trivial baselines are not released; these
follow the description in its reference values for STOP and RANDOM, Straight is ours.
"""

from typing import NamedTuple

import numpy as np

from pipeline.stride.arrays import Floats
from pipeline.stride.trajectories import Trajectory, trajectory

FASTEST_RANDOM_MPS = 8.0
STRAIGHT_MPS, STRAIGHT_SPREAD_MPS, SLOWEST_STRAIGHT_MPS = 1.3, 0.35, 0.3
STRAIGHT_SPREAD_RAD = 0.6
# Where nothing else is known: the middle 40 % of the canvas of the released maps, bodies of 0.3 m.
CANVAS_M = (301.7, 282.8)
_FROM, _TO = 0.3, 0.7
_RADIUS_M = 0.3


class Start(NamedTuple):
    """N people at first, metres.

    Attributes:
        positions: (N, 2).
        radius: (N,).
        goals: (N, 2), kept with the walk and not looked at.
    """

    positions: Floats
    radius: Floats
    goals: Floats


def canvas_start(agents: int, *, rng: np.random.Generator) -> Start:
    """Return people anywhere in the middle of the released maps' canvas."""
    at = rng.uniform(_FROM, _TO, size=(agents, 2)) * np.array(CANVAS_M)
    return Start(at, np.full(agents, _RADIUS_M), at)


def stop(start: Start, *, frames: int, dt_s: float) -> Trajectory:
    """Return everybody standing where they are."""
    still = np.zeros((frames, *start.positions.shape))
    return _walk(start, still, dt_s)


def random_walk(start: Start, *, frames: int, dt_s: float, rng: np.random.Generator) -> Trajectory:
    """Return everybody taking a new speed and heading in each frame."""
    count = len(start.positions)
    speed = rng.uniform(0.0, FASTEST_RANDOM_MPS, size=(frames, count))
    heading = rng.uniform(-np.pi, np.pi, size=(frames, count))
    return _walk(start, _velocity(speed, heading), dt_s)


def straight(start: Start, *, frames: int, dt_s: float, rng: np.random.Generator) -> Trajectory:
    """Return everybody walking straight on at one speed, about eastwards."""
    count = len(start.positions)
    speed = rng.normal(STRAIGHT_MPS, STRAIGHT_SPREAD_MPS, size=count)
    heading = rng.normal(0.0, STRAIGHT_SPREAD_RAD, size=count)
    each = _velocity(np.maximum(speed, SLOWEST_STRAIGHT_MPS), heading)
    return _walk(start, np.broadcast_to(each, (frames, count, 2)), dt_s)


def _velocity(speed: Floats, heading: Floats) -> Floats:
    return np.stack((speed * np.cos(heading), speed * np.sin(heading)), axis=-1)


def _walk(start: Start, velocity: Floats, dt_s: float) -> Trajectory:
    """Return who moves with these velocities, each held until the next frame."""
    steps = np.cumsum(velocity[:-1] * dt_s, axis=0)
    positions = np.concatenate((start.positions[None], start.positions + steps))
    return trajectory(
        positions,
        np.ones(positions.shape[:2], np.bool_),
        dt_s=dt_s,
        velocity=np.ascontiguousarray(velocity),
        goal=start.goals,
        radius=start.radius,
    )
