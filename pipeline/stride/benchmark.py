"""The benchmark file: scenarios, their questions, and the measurements each question binds.

    benchmark = read_benchmark(Path("benchmark.json"))      # or .jsonl, one scenario a line
    benchmark.scenarios[0].questions[0].measurements[0].function  ->  "mean_speed"

Reading takes what scoring needs and keeps the rest as it was, so that odd bounds and names reach
the checks that judge them. The older shape (`functions` with `name`) is read as the released one.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pipeline.errors import SourceError
from pipeline.replacing import replace_text

Shape = Literal["released", "old"]


class Measurement(NamedTuple):
    """One check: what is measured and what is expected.

    Attributes:
        function: Name of the measure, as written.
        params: Its parameters, as written; a mapping in a sound file.
        expected: `expected_result` as written, usually {"min": ..., "max": ...}; None = none.
        delta: `delta_value` as written, the tolerance beyond each bound; None = none.
        reasoning: Why, in words.
        extra: Further keys.
    """

    function: str
    params: Any
    expected: Any
    delta: Any
    reasoning: str
    extra: dict[str, Any]


class Question(NamedTuple):
    """One question on a scenario, answered by the mean of its checks."""

    id: str
    text: str
    measurements: tuple[Measurement, ...]
    extra: dict[str, Any]


class Scenario(NamedTuple):
    """One scenario.

    Attributes:
        id: `source_scene_id`, unique; joins scenario, trajectory and map.
        map_name: `scenario_id`, which names the map.
        description: The text the movement should fit.
        category: One of the kinds of crowd.
        location: As released: the first word of the map's name.
        n_agents: Agents the text is about; None = no whole number above 0.
        reasoning: `decomposition_reasoning`.
        questions: In the order of the file.
        extra: Further keys.
    """

    id: str
    map_name: str
    description: str
    category: str
    location: str
    n_agents: int | None
    reasoning: str
    questions: tuple[Question, ...]
    extra: dict[str, Any]


class Benchmark(NamedTuple):
    """A whole benchmark.

    Attributes:
        model: Who wrote the questions.
        scenarios: In the order of the file; ids are unique.
        shape: `old` where the first question has `functions` instead of `measurements`.
        extra: Further keys of the top level.
    """

    model: str
    scenarios: tuple[Scenario, ...]
    shape: Shape
    extra: dict[str, Any]


_TOP = {"model", "n_scenes", "scenes"}
_SCENARIO = {
    "source_scene_id", "scenario_id", "description", "category", "location", "n_agents",
    "decomposition_reasoning", "questions",
}  # fmt: skip
_QUESTION = {"id", "question", "measurements"}
_MEASUREMENT = {
    "function", "params", "expected_result", "expected_result_reasoning", "delta_value",
}  # fmt: skip


def read_benchmark(path: Path) -> Benchmark:
    """Read a benchmark from JSON, or from JSONL with one scenario a line.

    Raises:
        SourceError: It is not readable, not of the shape, or an id is there twice; says where.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as fault:
        raise SourceError(f"{path}: expected a benchmark, found no such file") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(f"{path}: expected UTF-8 text, found {fault}") from fault
    if path.suffix == ".jsonl":
        lines = [line for line in text.split("\n") if line.strip()]
        scenes = [_json(line, f"{path} line {n}") for n, line in enumerate(lines, start=1)]
        first = scenes[0] if scenes and isinstance(scenes[0], dict) else {}
        document: Any = {"model": first.get("_model", ""), "scenes": scenes}
    else:
        document = _json(text, str(path))
    return benchmark_of(document, where=str(path))


def benchmark_of(document: Any, *, where: str) -> Benchmark:
    """Build a benchmark from decoded JSON.

    Raises:
        SourceError: It is not of the shape, or an id is there twice.
    """
    top = _object(document, where)
    scenes = _list(top.get("scenes"), f"{where}: scenes")
    scenarios = tuple(_scenario(one, f"{where}: scenes[{n}]") for n, one in enumerate(scenes))
    seen: dict[str, int] = {}
    for number, scenario in enumerate(scenarios):
        key = folded(scenario.id)
        if key in seen:
            raise SourceError(
                f"{where}: scenes[{number}].source_scene_id: expected each id once, found"
                f" {scenario.id!r} again after scenes[{seen[key]}]; remove one of them"
            )
        seen[key] = number
    return Benchmark(_text(top.get("model")), scenarios, _shape(scenes), _extra(top, _TOP))


def folded(scenario_id: str) -> str:
    """Return an id in the form of Unicode that ids are compared in; folders may use another."""
    return unicodedata.normalize("NFC", scenario_id)


def _scenario(value: Any, where: str) -> Scenario:
    scene = _object(value, where)
    scene = {key: one for key, one in scene.items() if key not in {"_model", "_n_scenes"}}
    scene_id = scene.get("source_scene_id")
    if not isinstance(scene_id, str) or not scene_id:
        raise SourceError(
            f"{where}.source_scene_id: expected a text that names the scenario, found {scene_id!r}"
        )
    where = f"{where} ({scene_id})"
    n_agents = scene.get("n_agents")
    return Scenario(
        id=scene_id,
        map_name=_text(scene.get("scenario_id")),
        description=_text(scene.get("description")),
        category=_text(scene.get("category")),
        location=_text(scene.get("location")),
        n_agents=n_agents if type(n_agents) is int and n_agents > 0 else None,
        reasoning=_text(scene.get("decomposition_reasoning")),
        questions=tuple(
            _question(one, f"{where}: questions[{n}]")
            for n, one in enumerate(_list(scene.get("questions"), f"{where}: questions"))
        ),
        extra=_extra(scene, _SCENARIO),
    )


def _question(value: Any, where: str) -> Question:
    question = _object(value, where)
    old = "measurements" not in question and "functions" in question
    key = "functions" if old else "measurements"
    rows = _list(question.get(key), f"{where}.{key}")
    return Question(
        id=_text(question.get("id")),
        text=_text(question.get("question")),
        measurements=tuple(
            _measurement(one, f"{where}.{key}[{n}]", name="name" if old else "function")
            for n, one in enumerate(rows)
        ),
        extra=_extra(question, _QUESTION | {key}),
    )


def _measurement(value: Any, where: str, *, name: str) -> Measurement:
    row = _object(value, where)
    return Measurement(
        function=_text(row.get(name)),
        params={} if row.get("params") is None else row["params"],
        expected=row.get("expected_result"),
        delta=row.get("delta_value"),
        reasoning=_text(row.get("expected_result_reasoning")),
        extra=_extra(row, (_MEASUREMENT - {"function"}) | {name}),
    )


def _shape(scenes: list[Any]) -> Shape:
    """Tell the shape by the first question there is, as the published reader does."""
    for scene in scenes:
        for question in scene.get("questions") or ():
            return (
                "old" if "measurements" not in question and "functions" in question else "released"
            )
    return "released"


def _json(text: str, where: str) -> Any:
    try:
        document = json.loads(text, object_pairs_hook=_without_twins)
        if "\\u" in text:  # half a character, such as \ud800, could not be written to a report
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as fault:
        raise SourceError(f"{where}: expected JSON, found {fault}; mend the file") from fault
    return document


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} twice in one object")
    return record


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SourceError(f"{where}: expected an object, found {_kind(value)}; mend the file")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise SourceError(f"{where}: expected a list, found {_kind(value)}; mend the file")
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _extra(record: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in known}


def document_of(benchmark: Benchmark) -> dict[str, Any]:
    """Return a benchmark in the released shape, as plain JSON values."""
    return {
        "model": benchmark.model,
        "n_scenes": len(benchmark.scenarios),
        "scenes": [_scene(scenario) for scenario in benchmark.scenarios],
        **benchmark.extra,
    }


def _scene(scenario: Scenario) -> dict[str, Any]:
    return {
        "source_scene_id": scenario.id,
        "scenario_id": scenario.map_name,
        "description": scenario.description,
        "category": scenario.category,
        "location": scenario.location,
        "n_agents": scenario.n_agents,
        "decomposition_reasoning": scenario.reasoning,
        "questions": [
            {
                "id": question.id,
                "question": question.text,
                "measurements": [
                    {
                        "function": one.function,
                        "params": one.params,
                        "expected_result": one.expected,
                        "expected_result_reasoning": one.reasoning,
                        "delta_value": one.delta,
                        **one.extra,
                    }
                    for one in question.measurements
                ],
                **question.extra,
            }
            for question in scenario.questions
        ],
        **scenario.extra,
    }


def write_benchmark(benchmark: Benchmark, path: Path) -> None:
    """Write a benchmark in the released shape: JSON, or JSONL if the name ends in .jsonl."""
    document = document_of(benchmark)
    if path.suffix != ".jsonl":
        replace_text(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return
    marks = {"_model": benchmark.model, "_n_scenes": len(benchmark.scenarios)}
    lines = [json.dumps({**scene, **marks}, ensure_ascii=False) for scene in document["scenes"]]
    replace_text(path, "".join(f"{line}\n" for line in lines))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, which names the version that was scored."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
