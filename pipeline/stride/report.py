"""The report on one generator: every check with its reason, and the figures above them.

    report = report_of(scores, mode="strict", generator="ours", benchmark=..., ...)
    write_report(report, Path("report.json"))       # held to schemas/stride_report.schema.json

The mean that the mode counts stands beside the mean over what was covered and the one with zeros
for all that was not, so that nobody gains by leaving hard scenarios out; and beside figures that no
measure sees, so that nobody gains unseen by leaving people out.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import ContractError, SourceError
from pipeline.replacing import replace_text
from pipeline.schemas import check_record, describe_fault, fits
from pipeline.stride.benchmark import Benchmark, digest_of, folded
from pipeline.stride.checks import FACTORS, Check
from pipeline.stride.placement import (
    BEYOND_M,
    MOST_OFF_GROUND,
    MOST_OFF_MAP,
    MOST_STRAYED,
    START_M,
)
from pipeline.stride.plausible import FIGURES, plausibility
from pipeline.stride.scoring import QuestionScore, ScenarioScore, State, mean_of
from pipeline.stride.sources import Settings
from pipeline.stride.summary import (
    COVERED,
    RESAMPLES,
    agents_bin,
    by_agents,
    by_axis,
    by_category,
    by_duration,
    counted,
    duration_bin,
    summary_of,
)
from pipeline.stride.traps import SCALED_OVER_S, SCALED_SHARE

SCHEMA = "stride_report"
_LEFT_OUT: tuple[State, ...] = ("missing", "unreadable", "no_crowd", "lost", "uncounted")
RULES = {
    "agents": "Agents of the trajectory that are ever present; 25, 100 and 300 belong to the lower"
    " bin.",
    "duration": "Frames times seconds per frame; bins are half-open: 30 s and 120 s belong to the"
    " upper bin.",
    "interval": f"Bootstrap over scenarios: middle {COVERED:.0%} of {RESAMPLES} means.",
    "plausibility": "Means over scenarios of what no measure sees: people (ever present, over those"
    " asked for), present (share of the frames), stays (of an agent), jumps (steps faster than 10"
    " m/s), stacked (at exactly another's place), in_walls (in or through one). No score is changed"
    " by them.",
    "warnings": f"Velocity columns off by more than {SCALED_SHARE:.0%} from what positions show in"
    f" {SCALED_OVER_S:g} s; more than {MOST_OFF_MAP:.0%} of agent-frames over {BEYOND_M:g} m off"
    f" the map, or {MOST_OFF_GROUND:.0%} off its walkable ground; more than {MOST_STRAYED:.0%} of"
    f" people over {START_M:g} m from the given starts, or all nearer to them in a mirror image;"
    " any other number of people than asked for. What is not known (map, starts, seconds between"
    " frames) is not compared. No score is changed by them.",
    "axis_mean": "Mean of the axes' means; not the mean of scenario scores.",
    "reference": "As the published scorer: values and means rounded to 4 decimals, tolerance at"
    " least 0.01, NaN passes, errors and missing scenarios are left out.",
    "strict": "Values that are not finite, errors, unknown functions, untrusted input and missing"
    " scenarios fail; tolerance as stated; no rounding.",
}


class Scored(NamedTuple):
    """What was scored: a benchmark on one generator's trajectories.

    Attributes:
        generator: Name of what made the trajectories.
        file: The benchmark's file.
        benchmark: What is in it.
        settings: How the trajectories were read.
        ids: Ids there were trajectories of.
        scores: One per scenario.
    """

    generator: str
    file: Path
    benchmark: Benchmark
    settings: Settings
    ids: Sequence[str]
    scores: Sequence[ScenarioScore]


def report_of(scored: Scored) -> dict[str, Any]:
    """Return the report: plain JSON values that keep schemas/stride_report.schema.json."""
    mode, scores = scored.settings.mode, scored.scores
    covered = [one.score for one in scores if one.state == "scored" and one.score is not None]
    filled = [one.score or 0.0 for one in scores]
    questions = [one.score for score in scores for one in score.questions]
    judged = [one.passed for score in scores for one in score.checks()]
    own = summary_of(counted(scores, mode=mode), name="all", mode=mode)
    return {
        "mode": mode,
        "generator": scored.generator,
        "benchmark": {
            "file": scored.file.name,
            "sha256": digest_of(scored.file),
            "model": scored.benchmark.model,
            "shape": scored.benchmark.shape,
        },
        "settings": scored.settings._asdict(),
        "rules": RULES,
        "coverage": _coverage(scored),
        "counts": _counts(scores),
        "mean_scene_score": own["mean"],
        "score": own,
        "covered": summary_of(covered, name="covered", mode=mode),
        "zero_filled": summary_of(filled, name="zero filled", mode=mode),
        "overall_accuracy_by_expected_result": mean_of(questions, mode=mode),
        "checks_passed": mean_of(judged, mode=mode),
        "plausibility": plausibility([one.plausible for one in scores if one.plausible]),
        "by_axis": by_axis(scores, mode=mode),
        "by_category": by_category(scores, mode=mode),
        "by_agents": by_agents(scores, mode=mode),
        "by_duration": by_duration(scores, mode=mode),
        "tolerance": [_tolerance(scored, place) for place in range(len(FACTORS))],
        "scenarios": _scenarios(scores),
    }


def _coverage(scored: Scored) -> dict[str, Any]:
    states = Counter(one.state for one in scored.scores)
    known = {folded(one.scenario.id) for one in scored.scores}
    total = len(scored.scores)
    left_out: dict[str, list[str]] = {
        state: [one.scenario.id for one in scored.scores if one.state == state]
        for state in _LEFT_OUT
    }
    return {
        "scenarios": total,
        "scored": states["scored"],
        "share": states["scored"] / total if total else None,
        **left_out,
        "not_in_benchmark": sorted(set(scored.ids) - known),
    }


def _counts(scores: Sequence[ScenarioScore]) -> dict[str, Any]:
    checks = [one for score in scores for one in score.checks()]
    passed = Counter(one.passed for one in checks)
    return {
        "questions": sum(len(one.scenario.questions) for one in scores),
        "checks": sum(len(q.measurements) for one in scores for q in one.scenario.questions),
        "passed": passed[True],
        "failed": passed[False],
        "uncounted": passed[None],
        "causes": dict(sorted(Counter(one.cause for one in checks if one.cause).items())),
        "traps": dict(sorted(Counter(t.code for one in scores for t in one.traps).items())),
    }


def _tolerance(scored: Scored, place: int) -> dict[str, Any]:
    mode = scored.settings.mode
    scores = [one.score_at[place] for one in scored.scores]
    passed = [one.passed_at[place] for score in scored.scores for one in score.checks()]
    return {
        "factor": FACTORS[place],
        "mean": mean_of(scores, mode=mode),
        "checks_passed": mean_of(passed, mode=mode),
    }


def _scenarios(scores: Sequence[ScenarioScore]) -> list[dict[str, Any]]:
    first: dict[str, str] = {}
    rows = []
    for score in scores:
        own = score.scenario.id
        earlier = first.setdefault(score.plausible.movement, own) if score.plausible else own
        rows.append(_scenario(score, copy_of=None if earlier == own else earlier))
    return rows


def _scenario(score: ScenarioScore, *, copy_of: str | None) -> dict[str, Any]:
    found = score.plausible
    return {
        "id": score.scenario.id,
        "scenario_id": score.scenario.map_name,
        "category": score.scenario.category,
        "description": score.scenario.description,
        "n_agents": score.scenario.n_agents,
        "state": score.state,
        "fault": score.fault,
        "score": score.score,
        "agents": score.agents,
        "frames": score.frames,
        "dt_s": score.dt_s,
        "agents_bin": agents_bin(score),
        "duration_bin": duration_bin(score),
        "warnings": [trap.text for trap in score.traps],
        "plausible": {name: getattr(found, name) for name in FIGURES} if found else None,
        "copy_of": copy_of,
        "questions": [_question(one) for one in score.questions],
    }


def _question(question: QuestionScore) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "score": question.score,
        "checks": [_check(one) for one in question.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "function": check.function,
        "measure": check.measure,
        "axis": check.axis,
        "params": plain(check.params),
        "dropped_params": check.dropped_params,
        "expected_result": plain(check.expected),
        "delta": plain(check.delta),
        "low": plain(check.low),
        "high": plain(check.high),
        "value": plain(check.value),
        "margin": plain(check.margin),
        "passed": check.passed,
        "cause": check.cause,
        "reason": check.reason,
    }


def plain(value: Any) -> Any:
    """Return a value with numbers that JSON has not (NaN, infinities) as None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def write_report(report: dict[str, Any], path: Path) -> None:
    """Hold a report to its schema and write it as JSON.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    check_record(SCHEMA, report, where=str(path))
    text = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    replace_text(path, text + "\n")


def read_report(path: Path) -> dict[str, Any]:
    """Read a report and hold it to its schema.

    Raises:
        SourceError: It is not there or no JSON.
        ContractError: It is no report.
    """
    try:
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SourceError(
            f"{path}: expected a report of `stride score`, found {fault}; make it anew"
        ) from fault
    if not fits(SCHEMA, report):
        raise ContractError(
            f"{path}: not a report of `stride score` ({describe_fault(SCHEMA, report)}); name what"
            " it wrote with --out, or score anew"
        )
    return dict(report)
