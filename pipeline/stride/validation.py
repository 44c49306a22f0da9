"""Check the questions of patterns against recordings of real crowds, side by side.

python -m pipeline stride validate crossing=eth.npz stream=corridor.npz packed=bottleneck.npz
->  pattern stream: most go one way       eth   corridor*  bottleneck
      D flow_alignment                0.412 <       0.961       0.828    0.55 and above
    ...
      corridor, of its kind: 1.000 of 1, passes all

A recording that is named with a pattern is of its kind: where it fails a check, the range may be
wrong. Nothing here changes a range; they rest on publications (prompts/stride/patterns.yaml).
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import SourceError
from pipeline.stride.benchmark import Scenario
from pipeline.stride.checks import Check
from pipeline.stride.importers.states import StatesFile, StatesRead
from pipeline.stride.patterns import PatternBank, patterns
from pipeline.stride.placement import Ground
from pipeline.stride.scoring import ScenarioScore, score_scenario
from pipeline.stride.sources import Settings, check_settings, only_key, read_file
from pipeline.stride.spec_records import numbered, question_of

_NAME, _CELL = 44, 12


class Recording(NamedTuple):
    """A recording: the name of its file, the pattern it is of, if one was named, and its states."""

    name: str
    kind: str | None
    read: StatesRead


def validate(arguments: argparse.Namespace) -> int:
    """Print or write how recordings score on patterns."""
    settings = Settings(
        mode="strict", dt_s=arguments.dt, absent=arguments.absent, velocity=arguments.velocity,
        resample_dt_s=arguments.resample,
    )  # fmt: skip
    check_settings(settings)
    bank = patterns()
    recordings = [recording_of(text, bank, settings) for text in arguments.recordings]
    kinds = dict.fromkeys(one.kind for one in recordings if one.kind is not None)
    names = arguments.pattern or list(kinds) or list(bank.patterns)
    for name in names:
        _known(bank, name, "--pattern")
    records = [record_of(bank, name, recordings) for name in names]
    if arguments.json:
        print(json.dumps(records, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        print("\n".join(line for record in records for line in lines_of(record)))
    return 0


def recording_of(text: str, bank: PatternBank, settings: Settings) -> Recording:
    """Read [PATTERN=]FILE.npz.

    Raises:
        SourceError: There is no such pattern, or the file is none of states.
    """
    kind, sign, path = text.rpartition("=")
    if sign:
        _known(bank, kind, text)
    file = Path(path)
    with StatesFile(file) as states:
        return Recording(
            file.stem, kind or None, read_file(states, only_key(states), settings=settings)
        )


def _known(bank: PatternBank, name: str, where: str) -> None:
    if name not in bank.patterns:
        raise SourceError(
            f"{where}: expected one of {', '.join(bank.patterns)}, found {name!r}; name a pattern"
        )


def scenario_of(bank: PatternBank, name: str) -> Scenario:
    """Return the questions of a pattern as a scenario of no place."""
    asked = bank.specification(name)
    questions = tuple(map(question_of, numbered(asked)))
    return Scenario(
        name, "", bank.patterns[name].title, "", "", None, asked.decomposition_reasoning, questions,
        {},
    )  # fmt: skip


def record_of(bank: PatternBank, name: str, recordings: Sequence[Recording]) -> dict[str, Any]:
    """Return what recordings score on the questions of a pattern.

    Returns:
        pattern, title, recordings (name, of_its_kind, score), and checks: axis, function, min and
        max with the tolerance in `delta`, and by recording value, passed, and `side`, which is
        "below" or "above" where a bound is missed.
    """
    scenario = scenario_of(bank, name)
    scores = [
        score_scenario(scenario, one.read, mode="strict", ground=Ground()) for one in recordings
    ]
    return {
        "pattern": name,
        "title": scenario.description,
        "recordings": [
            {"name": one.name, "of_its_kind": one.kind == name, "score": found.score}
            for one, found in zip(recordings, scores, strict=True)
        ],
        "checks": list(_checks(scores)),
    }


def _checks(scores: Sequence[ScenarioScore]) -> Iterator[dict[str, Any]]:
    of_each = [[check for q in one.questions for check in q.checks] for one in scores]
    for row in zip(*of_each, strict=True):
        yield {
            "axis": row[0].axis,
            "function": row[0].function,
            "min": row[0].expected.get("min"),
            "max": row[0].expected.get("max"),
            "delta": row[0].delta,
            "found": [
                {"value": one.value, "passed": bool(one.passed), "side": side_of(one)}
                for one in row
            ],
        }


def side_of(check: Check) -> str | None:
    """Return which bound a value misses: "below" or "above"; None for neither or no value."""
    if check.passed or check.value is None:
        return None
    low = check.low is not None and check.value < check.low
    return "below" if low else "above"


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    """Yield a record as a table, and what recordings of the kind miss."""
    marks = {None: "  ", "below": " <", "above": " >"}
    own = [f"{one['name']}{'*' if one['of_its_kind'] else ''}" for one in record["recordings"]]
    width = max(_CELL, *(len(name) + 2 for name in own))
    title = f"pattern {record['pattern']}: {record['title']}"
    yield f"{title:<{_NAME}}" + "".join(f"{name + '  ':>{width}}" for name in own)
    for check in record["checks"]:
        label = f"  {check['axis']} {check['function']}"
        cells = (
            ("none" if one["value"] is None else f"{one['value']:.3f}") + marks[one["side"]]
            for one in check["found"]
        )
        yield (
            f"{label:<{_NAME}}" + "".join(f"{cell:>{width}}" for cell in cells) + bounds_text(check)
        )
    for place, one in enumerate(record["recordings"]):
        if one["of_its_kind"]:
            missed = [
                f"{check['function']} {check['found'][place]['side'] or 'without a value'}"
                for check in record["checks"]
                if not check["found"][place]["passed"]
            ]
            told = f"misses {', '.join(missed)}" if missed else "passes all"
            yield f"  {one['name']}, of its kind: {one['score']:.3f} of 1, {told}"
    yield ""


def bounds_text(check: dict[str, Any]) -> str:
    """Return the range of a check in words."""
    low, high = check["min"], check["max"]
    if high is None:
        return f"  {low:g} and above"
    return f"  {high:g} and below" if low is None else f"  {low:g} to {high:g}"
