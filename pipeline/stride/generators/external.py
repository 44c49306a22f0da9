"""The door for generators of others: what they are given, and what they give back.

    write_inputs(scenarios, maps, Path("out/inputs"))
      ->  out/inputs/0204/scene.json     text, people, goals, groups, event, seconds
          out/inputs/0204/map.npz        walls (n, 4): x0, x1, y0, y1; walkable mask; metres a pixel
          out/inputs/0204/map.png        to look at

    a generator writes  walks/0204/sim.npz      `states` (T, N, 7), and `dt_s`
                    or  walks/0204.parquet      columns frame, agent, x_m, y_m and more

    adopt(Path("walks"), Path("out/walks"), dt_s=0.4)     tables become sim.npz, ready for scoring

Nobody is asked how a walk was made. Questions and expected values are in no input: what is scored
must not be seen.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pipeline.errors import SourceError
from pipeline.replacing import replace_text
from pipeline.stride.arrays import Floats
from pipeline.stride.importers.states import write_states
from pipeline.stride.maps import CrowdMap
from pipeline.stride.maps_files import write_map
from pipeline.stride.scenario_records import StrideScenario
from pipeline.stride.trajectories import (
    CANONICAL_DT_S,
    Trajectory,
    trajectory,
    with_derived_velocity,
)
from pipeline.tables import read_any_parquet

_MUST = ("frame", "agent", "x_m", "y_m")
_MAY = ("vx_mps", "vy_mps", "goal_x_m", "goal_y_m", "radius_m")
_USUAL_RADIUS_M = 0.2
# A table may stand for so many frames times agents, of which at least this share is there.
_FREELY, _LEAST_FILLED = 10_000_000, 0.01


def write_inputs(
    scenarios: Iterable[StrideScenario], maps: Mapping[str, CrowdMap], folder: Path
) -> int:
    """Write what a generator may know of every scenario; return how many there are."""
    count = 0
    for scenario in scenarios:
        own = folder / scenario.scene_id
        write_map(maps[scenario.map_id], own)
        text = json.dumps(scene_record(scenario), ensure_ascii=False, indent=1)
        replace_text(own / "scene.json", text + "\n")
        count += 1
    return count


def scene_record(scenario: StrideScenario) -> dict[str, Any]:
    """Return a scenario with the keys of the released scenes, metres and seconds."""
    event = scenario.event
    return {
        "scene_id": scenario.scene_id,
        "scenario": scenario.description,
        "category": scenario.category,
        "map": scenario.map_id,
        "crowd_size": scenario.n_agents,
        "duration_s": scenario.duration_s,
        "dt_s": CANONICAL_DT_S,
        "event_center_m": [event.x_m, event.y_m] if event else None,
        "goals_m": sorted({(one.goal_x_m, one.goal_y_m) for one in scenario.people if one.goal}),
        "initial_state": [
            {
                "position": [one.x_m, one.y_m],
                "velocity": [one.vx_mps, one.vy_mps],
                "goal": [one.goal_x_m, one.goal_y_m],
                "radius": one.radius_m,
            }
            for one in scenario.people
        ],
        "groups": scenario.groups,
    }


def adopt(source: Path, target: Path, *, dt_s: float) -> int:
    """Turn tables of walks into the form that is scored; return how many there were.

    Args:
        source: Folder of <scene_id>.parquet.
        target: Folder for <scene_id>/sim.npz.
        dt_s: Seconds from one frame to the next.

    Raises:
        SourceError: There is no table, or one is broken; names it.
    """
    files = sorted(source.glob("*.parquet"))
    if not files:
        raise SourceError(
            f"{source}: expected tables <scene_id>.parquet, found none; folders <scene_id>/sim.npz"
            " are scored as they are (`stride score --states`)"
        )
    for file in files:
        write_states(read_table_walk(file, dt_s=dt_s), target / file.stem / "sim.npz")
    return len(files)


def read_table_walk(file: Path, *, dt_s: float) -> Trajectory:
    """Read a walk from a table with one row for each frame and agent that is there.

    Columns frame and agent (whole numbers from 0), x_m and y_m; vx_mps and vy_mps (else derived
    from places), goal_x_m and goal_y_m (else the last place), radius_m (else 0.2).

    Raises:
        SourceError: A column is missing or of the wrong kind, or a row is there twice.
    """
    table = read_any_parquet(file, remedy="make it anew")
    _check_columns(file, table)
    frame, agent = table["frame"].to_numpy(), table["agent"].to_numpy()
    frames, agents = int(frame.max()) + 1, int(agent.max()) + 1
    present = np.zeros((frames, agents), np.bool_)
    present[frame, agent] = True

    def filled(names: Sequence[str]) -> Floats:
        values = np.zeros((frames, agents, len(names)))
        values[frame, agent] = table.select(names).to_numpy().astype(np.float64)
        return values

    positions = filled(("x_m", "y_m"))
    has = set(table.columns)
    radius = filled(("radius_m",))[..., 0] if "radius_m" in has else _usual(present)
    last = frames - 1 - present[::-1].argmax(axis=0)
    goal = positions[last, np.arange(agents)]
    if {"goal_x_m", "goal_y_m"} <= has:
        goal = filled(("goal_x_m", "goal_y_m"))
    walk = trajectory(positions, present, dt_s=dt_s, goal=goal, radius=radius)
    if {"vx_mps", "vy_mps"} <= has:
        return walk._replace(velocity=filled(("vx_mps", "vy_mps")))
    return with_derived_velocity(walk)


def _usual(present: np.ndarray[Any, Any]) -> Floats:
    return np.where(present, _USUAL_RADIUS_M, 0.0)


def _check_columns(file: Path, table: pl.DataFrame) -> None:
    missing = [name for name in _MUST if name not in table.columns]
    if missing:
        raise SourceError(f"{file}: expected the columns {', '.join(_MUST)}, found no {missing[0]}")
    for name in (*_MUST, *_MAY):
        if name not in table.columns:
            continue
        whole = name in {"frame", "agent"}
        if not (table.schema[name].is_integer() if whole else table.schema[name].is_numeric()):
            raise SourceError(
                f"{file}: {name}: expected {'whole numbers' if whole else 'numbers'}, found"
                f" {table.schema[name]}"
            )
        if table[name].null_count():
            raise SourceError(f"{file}: {name}: expected a value in each row, found none in some")
    if table.is_empty():
        raise SourceError(f"{file}: expected a row for each frame and agent, found no row")
    low = min(int(str(table["frame"].min())), int(str(table["agent"].min())))
    if low < 0:
        raise SourceError(f"{file}: frame, agent: expected numbers from 0, found {low}")
    places = (int(str(table["frame"].max())) + 1) * (int(str(table["agent"].max())) + 1)
    if places > max(_FREELY, table.height / _LEAST_FILLED):
        raise SourceError(
            f"{file}: frame, agent: expected numbers from 0 with few gaps, found {places:,} frames"
            f" times agents for {table.height:,} rows; number them anew"
        )
    if table.select("frame", "agent").is_duplicated().any():
        raise SourceError(f"{file}: expected each frame and agent once, found some twice")
