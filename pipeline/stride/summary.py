"""Means over scenarios with their spread and a bootstrap interval, whole and by group.

    summary_of([0.2, 0.4, 0.9], name="all", mode="strict")
    ->  {"n": 3, "mean": 0.5, "std": 0.361, "median": 0.4, ..., "low": 0.2, "high": 0.9}

In reference mode every figure is rounded to 4 decimals, as published.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pipeline.seeds import rng_for
from pipeline.stride.checks import DECIMALS, Check
from pipeline.stride.measures.registry import AXES
from pipeline.stride.scoring import ScenarioScore, mean_of
from pipeline.stride.sources import Mode

# The interval: middle 95 % of the means of as many scenarios drawn with replacement.
RESAMPLES, SEED, COVERED = 2000, 0, 0.95
UNKNOWN = "unknown"
_AGENTS = ((25, "1-25"), (100, "26-100"), (300, "101-300"))
_DURATIONS = ((30.0, "0-30 s"), (120.0, "30-120 s"))
_MOST_AGENTS, _LONGEST = "301 and more", "120 s and more"


def summary_of(scores: Sequence[float], *, name: str, mode: Mode) -> dict[str, Any]:
    """Return n, mean, std, median, min, max, quartiles and the bootstrap interval of scores.

    Args:
        scores: One per scenario.
        name: What they are of; its own random stream.
        mode: Whether to round.

    Returns:
        All but n are None for no scores; std (of a sample, n - 1), low and high also for one.
    """
    keys = ("mean", "std", "median", "min", "max", "q25", "q75", "low", "high")
    if not scores:
        return {"n": 0, **dict.fromkeys(keys)}
    values = np.asarray(scores, dtype=np.float64)
    spread = low = high = None
    if len(values) > 1:
        spread = float(values.std(ddof=1))
        low, high = _interval(values, name)
    middle = [float(np.quantile(values, share)) for share in (0.25, 0.5, 0.75)]
    found = {
        "mean": mean_of(scores, mode=mode), "std": spread, "median": middle[1],
        "min": float(values.min()), "max": float(values.max()),
        "q25": middle[0], "q75": middle[2], "low": low, "high": high,
    }  # fmt: skip
    if mode == "reference":
        found = {
            key: None if value is None else round(value, DECIMALS) for key, value in found.items()
        }
    return {"n": len(values), **found}


def _interval(values: np.ndarray[Any, np.dtype[np.float64]], name: str) -> tuple[float, float]:
    rng = rng_for(SEED, "stride_score", name)
    means = values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
    tail = (1 - COVERED) / 2
    return float(np.quantile(means, tail)), float(np.quantile(means, 1 - tail))


def counted(scores: Iterable[ScenarioScore], *, mode: Mode) -> list[float]:
    """Return the scenario scores that make the mean: all in strict mode, else those there are."""
    return (
        [one.score for one in scores if one.score is not None]
        if mode == "reference"
        else [one.score or 0.0 for one in scores]
    )


def by_axis(scores: Sequence[ScenarioScore], *, mode: Mode) -> list[dict[str, Any]]:
    """Return, for each axis, its checks and the summary of the scenarios' means over them."""
    rows = []
    for axis, name in AXES.items():
        checks = [one for score in scores for one in score.checks() if one.axis == axis]
        own = [mean for score in scores if (mean := _axis_mean(score, axis, mode)) is not None]
        rows.append(
            {
                "axis": axis,
                "name": name,
                **_tally(checks),
                "score": summary_of(own, name=f"axis {axis}", mode=mode),
            }
        )
    return rows


def _axis_mean(score: ScenarioScore, axis: str, mode: Mode) -> float | None:
    passed = [one.passed for one in score.checks() if one.axis == axis and one.passed is not None]
    return mean_of(passed, mode=mode) if passed else None


def _tally(checks: Sequence[Check]) -> dict[str, Any]:
    judged = [one.passed for one in checks if one.passed is not None]
    return {
        "checks": len(judged),
        "passed": sum(judged),
        "share": sum(judged) / len(judged) if judged else None,
    }


def by_group(
    scores: Sequence[ScenarioScore],
    group_of: Callable[[ScenarioScore], str],
    *,
    order: Sequence[str],
    mode: Mode,
) -> list[dict[str, Any]]:
    """Return, for each group of scenarios, the summary of their scores and of each axis.

    `axis_mean` is the mean of the axes' means, as the paper's tables by group have it; it is not
    the scenario score.
    """
    groups: dict[str, list[ScenarioScore]] = {name: [] for name in order}
    for score in scores:
        groups.setdefault(group_of(score), []).append(score)
    rows = []
    for name, members in groups.items():
        if not members:
            continue
        axes = {}
        for axis in AXES:
            own = [mean for one in members if (mean := _axis_mean(one, axis, mode)) is not None]
            axes[axis] = mean_of(own, mode=mode) if own else None
        known = [value for value in axes.values() if value is not None]
        rows.append(
            {
                "name": name,
                "scenarios": len(members),
                **_tally([check for one in members for check in one.checks()]),
                "score": summary_of(counted(members, mode=mode), name=name, mode=mode),
                "axes": axes,
                "axis_mean": mean_of(known, mode=mode) if known else None,
            }
        )
    return rows


def by_category(scores: Sequence[ScenarioScore], *, mode: Mode) -> list[dict[str, Any]]:
    """Return the groups by category, in the order of the alphabet."""
    names = sorted({one.scenario.category or UNKNOWN for one in scores})
    return by_group(scores, lambda one: one.scenario.category or UNKNOWN, order=names, mode=mode)


def by_agents(scores: Sequence[ScenarioScore], *, mode: Mode) -> list[dict[str, Any]]:
    """Return the groups by how many agents of the trajectory are ever present."""
    order = [name for _, name in _AGENTS] + [_MOST_AGENTS, UNKNOWN]
    return by_group(scores, agents_bin, order=order, mode=mode)


def by_duration(scores: Sequence[ScenarioScore], *, mode: Mode) -> list[dict[str, Any]]:
    """Return the groups by duration, T * dt_s, bins half-open."""
    order = [name for _, name in _DURATIONS] + [_LONGEST, UNKNOWN]
    return by_group(scores, duration_bin, order=order, mode=mode)


def agents_bin(score: ScenarioScore) -> str:
    """Return the bin of a scenario's ever-present agents; both ends of a bin belong to it."""
    if not score.agents:
        return UNKNOWN
    return next((name for most, name in _AGENTS if score.agents <= most), _MOST_AGENTS)


def duration_bin(score: ScenarioScore) -> str:
    """Return the bin of a scenario's duration: 30 s belong to the second, 120 s to the third."""
    seconds = score.duration_s
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    return next((name for end, name in _DURATIONS if seconds < end), _LONGEST)
