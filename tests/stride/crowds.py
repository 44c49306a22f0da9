"""Crowds whose measures are plain arithmetic, as trajectories and as states."""

import numpy as np

from pipeline.stride.benchmark import Benchmark, Measurement, Question, Scenario
from pipeline.stride.importers.states import states_of_trajectory
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.trajectories import Trajectory, trajectory

DT_S = 0.4


def walkers(starts, velocities, *, frames=20, dt_s=DT_S, radius=0.2):
    """Return people who walk straight on from (x, y), each at its (vx, vy)."""
    start, velocity = np.array(starts, float), np.array(velocities, float)
    moments = np.arange(frames)[:, None, None] * dt_s
    positions = start + velocity * moments
    return trajectory(
        positions,
        np.ones(positions.shape[:2], bool),
        dt_s=dt_s,
        velocity=np.broadcast_to(velocity, positions.shape).copy(),
        goal=positions[-1],
        radius=np.full(len(start), radius),
    )


def absent(walk: Trajectory, *places) -> Trajectory:
    """Take agents out: places are (frames, agent), frames a slice or a number."""
    present = walk.present.copy()
    for frames, agent in places:
        present[frames, agent] = False
    return trajectory(
        walk.positions, present, dt_s=walk.dt_s, velocity=walk.velocity, goal=walk.goal,
        radius=walk.radius,
    )  # fmt: skip


def states(walk: Trajectory) -> np.ndarray:
    return states_of_trajectory(walk).copy()


def value(walk: Trajectory, name: str, **params):
    """Return a published measure of a trajectory; None = no data."""
    return MEASURES[name].value(Clip(walk), params)


def scenario(*measurements, name="0001", n_agents=3, category="Ambulatory"):
    """Return a scenario with one question per given tuple of measurements."""
    questions = tuple(
        Question(f"Q{n}", f"V: question {n}?", tuple(rows), {})
        for n, rows in enumerate(measurements, start=1)
    )
    return Scenario(name, "square", "People walk.", category, "square", n_agents, "", questions, {})


def measurement(function, expected, *, delta=0.05, **params):
    return Measurement(function, params, expected, delta, "", {})


def benchmark(*scenarios):
    return Benchmark("template", tuple(scenarios), "released", {})


def strolling():
    """Three people, 1 m apart, all at 1.2 m/s along x, for 20 frames."""
    return walkers([(1, 1), (1, 2), (1, 3)], [(1.2, 0)] * 3)
