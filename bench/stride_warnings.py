"""Which faults of a walk a report on crowds flags, and how often it flags a sound one.

    dvc repro stride_simulate && python bench/stride_warnings.py --every 3

Each walk of the reference generators is left as it is, and then changed: velocity columns are
multiplied, axes mirrored or swapped, the crowd moved, one person taken out. Printed, for each
change: walks, and how many of them have a warning of each kind.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.stride.arrays import Floats
from pipeline.stride.maps import CrowdMap, maps_of
from pipeline.stride.measures.clip import Clip
from pipeline.stride.placement import Ground, Place, doubts_of_place
from pipeline.stride.plausible import doubts_of, plausible_of
from pipeline.stride.scenario_records import StrideScenario, scenarios_of
from pipeline.stride.simulate import GENERATORS
from pipeline.stride.sources import Settings, open_source
from pipeline.stride.trajectories import Trajectory, trajectory
from pipeline.stride.traps import traps_of

DATA = Path(__file__).resolve().parent.parent / "data" / "stride"


class Case(NamedTuple):
    """A walk, and what its scenario states."""

    walk: Trajectory
    place: Place
    ground: Ground
    n_agents: int


def turned(case: Case, change: Callable[[Floats, Floats], Floats]) -> Case:
    """Return a case whose positions are changed by a function of them and of the map's size."""
    walk, size = case.walk, np.zeros(2) if case.place.size is None else case.place.size
    there = walk.present[:, :, None]
    origin = change(np.zeros_like(walk.positions), size)
    velocity = None if walk.velocity is None else change(walk.velocity, size) - origin
    positions = np.where(there, change(walk.positions, size), 0.0)
    return case._replace(
        walk=walk._replace(
            positions=positions,
            velocity=None if velocity is None else np.where(there, velocity, 0.0),
        )
    )


def scaled(case: Case, factor: float) -> Case:
    """Return a case whose velocity columns are multiplied."""
    own = case.walk.velocity
    return case._replace(walk=case.walk._replace(velocity=None if own is None else own * factor))


def without_one(case: Case) -> Case:
    """Return a case without its first person."""
    walk = case.walk
    present = walk.present.copy()
    present[:, 0] = False
    return case._replace(
        walk=trajectory(
            walk.positions, present, dt_s=walk.dt_s, velocity=walk.velocity, goal=walk.goal,
            radius=walk.radius, group=walk.group,
        )
    )  # fmt: skip


CHANGES: dict[str, Callable[[Case], Case]] = {
    "as it is": lambda case: case,
    "velocity x 0.62": lambda case: scaled(case, 0.62),
    "velocity x 0.94": lambda case: scaled(case, 0.94),
    "velocity x 0.97": lambda case: scaled(case, 0.97),
    "velocity x 1.03": lambda case: scaled(case, 1.03),
    "velocity x 1.06": lambda case: scaled(case, 1.06),
    "velocity x 1.40": lambda case: scaled(case, 1.40),
    "north to south": lambda case: turned(case, lambda at, size: size * [0, 1] + at * [1, -1]),
    "east to west": lambda case: turned(case, lambda at, size: size * [1, 0] + at * [-1, 1]),
    "x and y swapped": lambda case: turned(case, lambda at, _: at[..., ::-1]),
    "sign of y": lambda case: turned(case, lambda at, _: at * [1, -1]),
    "moved by 1 m": lambda case: turned(case, lambda at, _: at + 0.7),
    "moved by 3 m": lambda case: turned(case, lambda at, _: at + 2.2),
    "moved by 500 m": lambda case: turned(case, lambda at, _: at + 354.0),
    "one missing": without_one,
}


def codes(case: Case) -> Iterator[str]:
    """Yield the kinds of warning a report has of a case."""
    clip = Clip(case.walk, obstacles=case.ground.walls)
    found = plausible_of(clip, n_agents=case.n_agents)
    for warning in (
        *traps_of(case.walk),
        *doubts_of_place(case.walk, case.place, case.ground),
        *doubts_of(found, clip, n_agents=case.n_agents),
    ):
        yield warning.code


def table(cases: Iterable[Case]) -> Iterator[str]:
    """Yield a line for each change."""
    ready = list(cases)
    for name, change in CHANGES.items():
        counts = Counter(code for case in ready for code in set(codes(change(case))))
        told = ", ".join(f"{code} {count}" for code, count in sorted(counts.items()))
        yield f"{name:<16} {len(ready):>5}  {told or '-'}"


def built(generator: str, every: int) -> Iterator[Case]:
    """Yield every n-th walk of a generator of the stage `stride_simulate`."""
    maps = {one.map_id: CrowdMap(one) for one in maps_of(pl.read_parquet(DATA / "maps.parquet"))}
    scenarios: dict[str, StrideScenario] = {
        one.scene_id: one for one in scenarios_of(pl.read_parquet(DATA / "scenarios.parquet"))
    }
    folder = DATA / "trajectories" / generator
    with open_source(folder, settings=Settings("strict")) as source:
        for scene_id in source.ids[::every]:
            scenario = scenarios[scene_id]
            crowd_map = maps[scenario.map_id]
            grid = crowd_map.grid
            yield Case(
                source.read(scene_id).walk,
                Place(
                    np.array([[one.x_m, one.y_m] for one in scenario.people]),
                    np.array([grid.width_m, grid.height_m]),
                ),
                Ground(crowd_map.segments, crowd_map.walkable, grid.metres_per_px),
                scenario.n_agents,
            )


def main() -> None:
    """Print a table for each generator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every n-th walk (default: 1)")
    every = parser.parse_args().every
    if not (DATA / "trajectories").exists():
        sys.exit(
            "data/stride/trajectories: not there, nothing to measure; `dvc repro stride_simulate`"
        )
    for generator in GENERATORS:
        print(generator)
        for line in table(built(generator, every)):
            print(f"  {line}")


if __name__ == "__main__":
    main()
