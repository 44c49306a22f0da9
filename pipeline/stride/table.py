"""Score every generator on the benchmark and put the means side by side, as Table 1 of the paper.

    | generator    | STRIDE mean ± std | 95 % of the mean | ...
    | social_force | 0.978 ± 0.051     | 0.966-0.989      | ...

Published means stand in a table of their own: they are of other scenarios and specifications, and
no difference between the two tables means anything.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline.keys import Seed
from pipeline.seeds import rng_for
from pipeline.store import StageIO
from pipeline.stride.benchmark import Benchmark, benchmark_of
from pipeline.stride.generators.trivial import Start, random_walk, stop, straight
from pipeline.stride.maps import CrowdMap, maps_of
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.plausibility import goal_reaching
from pipeline.stride.pictures import Line, draw_walk, walk_signs, with_legend, with_panel
from pipeline.stride.placement import Ground
from pipeline.stride.report import Scored, report_of, write_report
from pipeline.stride.scenario_records import StrideScenario, scenarios_of
from pipeline.stride.scoring import score_benchmark
from pipeline.stride.simulate import GENERATORS
from pipeline.stride.sources import MemorySource, Settings, Source, open_source
from pipeline.stride.trajectories import CANONICAL_DT_S, Trajectory

STAGE = "stride_score"
# Means and standard deviations over the 936 published scenarios (STRIDE, Table 1), as quoted.
PUBLISHED = (
    ("Text-Crowd", 0.645, 0.233),
    ("LLM-SFM", 0.434, 0.231),
    ("SingularTrajectory", 0.421, 0.177),
    ("Random", 0.311, 0.117),
    ("Stop", 0.221, 0.105),
)
SOURCE = "STRIDE, arXiv 2609.34799, Table 1 (936 published scenarios)"
# Whose walk is drawn.
EXAMPLE = "social_force"
AT_GOAL_M = 5.0  # an exit is a few metres wide
_AXES = ("V", "R", "D", "S", "T")
NOTE = (
    "In walls: share of people and frames in or through a wall or a carriageway with traffic; at"
    " goal: share of people who end within 5 m of theirs. social_force is told the roles behind the"
    " text, with speeds and pauses, by the text's own author: it shows what the told story scores,"
    " and is no rival of generators that read text. goal_walkers is the same model that knows"
    " everybody's first goal and no more. Ranges of questions are those of TrajFacts, publications"
    " and arithmetic, as each reason says; that from a third to two thirds of a mixed crowd's time"
    " is spent standing is assumed. No range was set by a walk; measures and bands were chosen by"
    " hand, with earlier walks known."
)


class _Ready(NamedTuple):
    """What all generators are scored on."""

    benchmark: Benchmark
    file: Path
    scenarios: dict[str, StrideScenario]
    grounds: dict[str, Ground]


def run(io: StageIO, *, seed: Seed) -> None:
    """Score the generators, write their reports, the table and a picture."""
    maps = {one.map_id: CrowdMap(one) for one in maps_of(io.read("stride_maps"))}
    ready = _Ready(
        benchmark_of(io.read_json("stride_benchmark"), where="data/stride/benchmark.json"),
        io.path("stride_benchmark"),
        {one.scene_id: one for one in scenarios_of(io.read("stride_scenarios"))},
        {name: _ground(crowd_map) for name, crowd_map in maps.items()},
    )
    reports, rows = io.path("stride_reports"), list[dict[str, Any]]()
    names = [*GENERATORS, "straight", "random", "stop"]
    firsts: dict[str, Mapping[str, Any]] = {}
    for name in io.progress(names, len(names), "generator", STAGE):
        with _source(io, ready, name, seed=seed) as source:
            report = _scored(ready, name, source)
            write_report(report, reports / f"{name}.json")
            rows.append(_row(report, _at_goal(ready, source)))
            firsts[name] = report["scenarios"][0]
            if name == EXAMPLE:
                walk = source.read(firsts[name]["id"]).walk
    _picture(ready, maps, walk, firsts).save(io.path("stride_picture"))
    rows.sort(key=lambda row: -row["mean"])
    io.write_json("stride_scores", {"generators": rows, "published": published()})
    io.path("stride_table").write_text(markdown(rows), "utf-8")


def _ground(crowd_map: CrowdMap) -> Ground:
    return Ground(crowd_map.segments, crowd_map.walkable, crowd_map.grid.metres_per_px)


def published() -> list[dict[str, Any]]:
    """Return the published means, as citations."""
    return [
        {"generator": name, "mean": mean, "std": std, "source": SOURCE}
        for name, mean, std in PUBLISHED
    ]


# ---- generators ---------------------------------------------------------------------------------


@contextmanager
def _source(io: StageIO, ready: _Ready, name: str, *, seed: int) -> Iterator[Source]:
    if name in GENERATORS:
        with open_source(io.path("stride_trajectories") / name, settings=SETTINGS) as source:
            yield source
        return
    yield MemorySource(
        {
            scene.id: trivial_walk(name, ready.scenarios[scene.id], seed=seed)
            for scene in ready.benchmark.scenarios
        }
    )


SETTINGS = Settings(mode="strict")


def trivial_walk(name: str, scenario: StrideScenario, *, seed: int) -> Trajectory:
    """Return a walker that reads nothing, from the scenario's own initial state and length."""
    start = Start(
        np.array([[one.x_m, one.y_m] for one in scenario.people]),
        np.array([one.radius_m for one in scenario.people]),
        np.array([[one.goal_x_m, one.goal_y_m] for one in scenario.people]),
    )
    frames = int(scenario.duration_s / CANONICAL_DT_S) + 1
    rng = rng_for(seed, f"{STAGE} {name}", scenario.scene_id)
    match name:
        case "stop":
            return stop(start, frames=frames, dt_s=CANONICAL_DT_S)
        case "random":
            return random_walk(start, frames=frames, dt_s=CANONICAL_DT_S, rng=rng)
        case _:
            return straight(start, frames=frames, dt_s=CANONICAL_DT_S, rng=rng)


def _scored(ready: _Ready, name: str, source: Source) -> dict[str, Any]:
    scores = list(
        score_benchmark(
            ready.benchmark,
            source,
            mode="strict",
            ground=lambda scenario: ready.grounds[scenario.map_name],
        )
    )
    return report_of(Scored(name, ready.file, ready.benchmark, SETTINGS, source.ids, scores))


def _at_goal(ready: _Ready, source: Source) -> float | None:
    """Return the share of people who get to their goal, mean over the scenarios that have one."""
    values = [
        value
        for scene in ready.benchmark.scenarios
        if (value := goal_reaching(Clip(source.read(scene.id).walk), within_m=AT_GOAL_M))
        is not None
    ]
    return sum(values) / len(values) if values else None


# ---- the table ----------------------------------------------------------------------------------


def _row(report: Mapping[str, Any], at_goal: float | None) -> dict[str, Any]:
    """Return a generator's figures: its score, and beside it what the 20 measures are blind to."""
    score, blind = report["score"], report["plausibility"]
    axes = {one["axis"]: one["score"]["mean"] for one in report["by_axis"]}
    return {
        "generator": report["generator"],
        "scenarios": report["coverage"]["scenarios"],
        "scored": report["coverage"]["scored"],
        **{key: _rounded(score[key]) for key in ("mean", "std", "median", "low", "high")},
        "axes": {axis: _rounded(axes.get(axis)) for axis in _AXES},
        "physical": {
            "obstacle_penetration": _rounded(blind["in_walls"]),
            "goal_reaching": _rounded(at_goal),
            "teleport_fraction": _rounded(blind["jumps"]),
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def markdown(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the table in Markdown, the published one below it."""
    lines = [
        "Mean STRIDE score over the scenarios of data/stride/benchmark.json, strict mode.",
        "",
        "| generator | mean ± std | 95 % of the mean | V | R | D | S | T | in walls | at goal |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        axes = " | ".join(_told(row["axes"][axis], 2) for axis in _AXES)
        low, high = _told(row["low"], 3), _told(row["high"], 3)
        walls = _told(row["physical"]["obstacle_penetration"], 3)
        goal = _told(row["physical"]["goal_reaching"], 2)
        lines.append(
            f"| {row['generator']} | {_told(row['mean'], 3)} ± {_told(row['std'], 3)} |"
            f" {low} to {high} | {axes} | {walls} | {goal} |"
        )
    lines += [
        "",
        NOTE,
        "",
        f"As published, on other scenarios, not comparable with the above ({SOURCE}):",
        "",
        "| generator | mean ± std |",
        "|---|---|",
        *(f"| {name} | {mean:.3f} ± {std:.3f} |" for name, mean, std in PUBLISHED),
    ]
    return "\n".join(lines) + "\n"


def _told(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


def _range(low: float | None, high: float | None) -> str:
    """Word a range of values; None = no bound on that side."""
    if high is None:
        return f"{_told(low, 3)} or more"
    if low is None:
        return f"{_told(high, 3)} or less"
    return f"{_told(low, 3)} to {_told(high, 3)}"


def _picture(
    ready: _Ready,
    maps: Mapping[str, CrowdMap],
    walk: Trajectory,
    firsts: Mapping[str, Mapping[str, Any]],
) -> Any:
    """Return the first scenario as one generator walks it, with its questions and their answers."""
    scored = firsts[EXAMPLE]
    scenario = ready.scenarios[scored["id"]]
    event = scenario.event
    image = draw_walk(
        maps[scenario.map_id], walk.positions, walk.present,
        event=(event.x_m, event.y_m) if event else None,
    )  # fmt: skip
    lines = [
        Line(f"{scenario.scene_id}, {scenario.category}, {scenario.n_agents} people"),
        Line(scenario.description),
        Line(", ".join(f"{name} {_told(one['score'], 2)}" for name, one in firsts.items())),
    ]
    for question in scored["questions"]:
        lines.append(Line(f"{question['id']} {question['question']}"))
        lines += [
            Line(
                f"    {one['function']} {_told(one['value'], 3)}, expected"
                f" {_range(one['low'], one['high'])}: {'yes' if one['passed'] else 'no'}",
                one["passed"],
            )
            for one in question["checks"]
        ]
    signs = walk_signs(maps[scenario.map_id], event=event is not None)
    return with_panel(with_legend(image, signs), lines)
