"""How long STRIDE takes: the 20 measures on one big crowd, and a benchmark of the released size.

    python bench/stride.py
    python bench/stride.py --crowd 1200 300 --scenarios 936

1. A crowd of 1200 frames and 300 people: the 20 measures and the scoring of a scenario, beside the
   same measures written plainly (`bench/stride_plain.py`: full distance matrices), on one core.
2. 936 scenarios of median size (41 people, 300 frames), read from an .npz and scored.

The walkers are simulated; figures are CPU seconds on one core, medians of the runs.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.stride_plain import plain_measures
from pipeline.seeds import rng_for
from pipeline.stride.benchmark import Benchmark, Measurement, Question, Scenario
from pipeline.stride.importers.states import trajectory_of_states
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.placement import Ground
from pipeline.stride.scoring import score_benchmark, score_scenario
from pipeline.stride.sources import Settings, open_source, read_states

DT_S = 0.2
MEDIAN = (300, 41)


def crowd(name: str, *, frames: int, agents: int) -> np.ndarray:
    """Return states of people who walk their ways with some jitter, 2.5 m2 each at the start."""
    rng = rng_for(0, "bench_stride", name)
    side = np.sqrt(agents * 2.5)
    start = rng.uniform(5.0, 5.0 + side, (agents, 2))
    velocity = rng.normal(0.0, 0.9, (frames, agents, 2)) * 0.1 + rng.normal(0.0, 0.9, (agents, 2))
    states = np.zeros((frames, agents, 7))
    states[:, :, :2] = start + np.cumsum(velocity, axis=0) * DT_S
    states[:, :, 2:4] = velocity
    states[:, :, 4:6] = states[-1, :, :2]
    states[:, :, 6] = rng.uniform(0.15, 0.35, agents)
    return states


def scenario(name: str) -> Scenario:
    """Return a scenario that asks for all 20 measures, in 7 questions."""
    rows = [Measurement(one, {}, {"min": -1.0, "max": 1.0}, 0.05, "", {}) for one in MEASURES]
    questions = tuple(Question(f"Q{n}", "", tuple(rows[n::7]), {}) for n in range(7))
    return Scenario(name, "", "", "", "", None, "", questions, {})


def median_s(work: Callable[[], object], runs: int) -> float:
    """Return the median CPU time of some runs: on one core the wall time of a machine at rest."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def bench_one(frames: int, agents: int, runs: int) -> None:
    """Time one big scenario, and hold the fast measures to the plain ones."""
    states = crowd("big", frames=frames, agents=agents)
    settings = Settings("strict", dt_s=DT_S)
    asked = scenario("big")

    def scored() -> object:
        read = read_states(states, None, settings=settings)
        return score_scenario(asked, read, mode="strict", ground=Ground())

    def fast() -> dict[str, float | None]:
        clip = Clip(trajectory_of_states(states, dt_s=DT_S, absent="zero").walk)
        return {name: one.value(clip, {}) for name, one in MEASURES.items()}

    plain, ours = plain_measures(states), fast()
    apart = max(abs(float(plain[name]) - float(ours[name] or 0.0)) for name in plain)
    plain_s, fast_s = median_s(lambda: plain_measures(states), runs), median_s(fast, runs)
    print(f"{agents} people, {frames} frames, one core")
    print(f"  20 measures, plain   {plain_s:7.3f} s")
    print(f"  20 measures, ours    {fast_s:7.3f} s   {plain_s / fast_s:.1f} x, apart {apart:.1e}")
    print(f"  read, measure, score {median_s(scored, runs):7.3f} s   (wanted: below 0.5 s)")


def bench_many(scenarios: int) -> None:
    """Time a benchmark of the released size."""
    arrays = {
        f"{n:04d}": crowd(str(n), frames=MEDIAN[0], agents=MEDIAN[1]) for n in range(scenarios)
    }
    benchmark = Benchmark("", tuple(map(scenario, arrays)), "released", {})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npz"
        np.savez(file, **arrays)
        start = time.process_time()
        with open_source(file, settings=Settings("strict", dt_s=DT_S)) as source:
            scores = list(score_benchmark(benchmark, source, mode="strict"))
        took_s = time.process_time() - start
    print(f"{len(scores)} scenarios of {MEDIAN[1]} people, {MEDIAN[0]} frames, one core")
    print(f"  read, measure, score {took_s:7.3f} s   (wanted: below 60 s on two cores)")


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--crowd", type=int, nargs=2, default=(1200, 300), metavar=("T", "N"))
    parser.add_argument("--scenarios", type=int, default=936)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    bench_one(*asked.crowd, asked.runs)
    bench_many(asked.scenarios)
