"""Which questions walkers pass that read nothing: the test of whether a question asks anything.

    pass_table(benchmark)
    ->  [{"scene": "0000", "question": "Q1", "stop": 0.0, "random": 0.0, "straight": 0.5}, ...]

Walkers start anywhere in the middle of the released maps' canvas, as many as the scenario has
people, each scenario with its own random stream. Shares are those of strict scoring.
"""

from collections.abc import Callable, Iterator
from typing import Any

from pipeline.seeds import rng_for
from pipeline.stride.benchmark import Benchmark, Scenario
from pipeline.stride.checks import NOTHING, check
from pipeline.stride.generators.trivial import canvas_start, random_walk, stop, straight
from pipeline.stride.measures.clip import Clip
from pipeline.stride.trajectories import Trajectory

WALKERS = ("stop", "random", "straight")
# Where a scenario does not say how many people it has.
_USUAL_AGENTS = 40
# Walkers are at most so many, whatever a scenario says.
_MOST_AGENTS = 2000
_SEED = 0
# Frames and seconds between them.
_STOP, _RANDOM, _STRAIGHT = (60, 0.4), (1200, 0.2), (150, 0.4)


def pass_table(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    """Yield one row per question: the share of its checks each walker passes."""
    for scenario in benchmark.scenarios:
        clips = {name: Clip(make(scenario)) for name, make in _MAKERS.items()}
        for question in scenario.questions:
            row: dict[str, Any] = {"scene": scenario.id, "question": question.id}
            for name, clip in clips.items():
                passed = [
                    bool(check(one, clip, mode="strict", spoilt=NOTHING).passed)
                    for one in question.measurements
                ]
                row[name] = sum(passed) / len(passed) if passed else 0.0
            yield row


def _agents(scenario: Scenario) -> int:
    return min(max(2, scenario.n_agents or _USUAL_AGENTS), _MOST_AGENTS)


def _stopped(scenario: Scenario) -> Trajectory:
    rng = rng_for(_SEED, "stride_lint stop", scenario.id)
    frames, dt_s = _STOP
    return stop(canvas_start(_agents(scenario), rng=rng), frames=frames, dt_s=dt_s)


def _random(scenario: Scenario) -> Trajectory:
    rng = rng_for(_SEED, "stride_lint random", scenario.id)
    frames, dt_s = _RANDOM
    start = canvas_start(_agents(scenario), rng=rng)
    return random_walk(start, frames=frames, dt_s=dt_s, rng=rng)


def _straight(scenario: Scenario) -> Trajectory:
    rng = rng_for(_SEED, "stride_lint straight", scenario.id)
    frames, dt_s = _STRAIGHT
    start = canvas_start(_agents(scenario), rng=rng)
    return straight(start, frames=frames, dt_s=dt_s, rng=rng)


_MAKERS: dict[str, Callable[[Scenario], Trajectory]] = {
    "stop": _stopped, "random": _random, "straight": _straight,
}  # fmt: skip
