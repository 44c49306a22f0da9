"""Which inputs of the texts differ between two versions: files, parameters, code, upstream data.

    differing_inputs(before, after, "monaco")
    ->  Input("prompt", "prompts/annotate/system.j2", note="+1 -1 lines", stages=["annotate"])
        Input("params", "annotate.sampling.temperature", before="0.8", after="1.0", ...)
        Input("code", "pipeline/language/prompts.py", before="1f0c2d...", after="9ab3...", ...)

Files of prompts and parameters are compared as each version holds them; code, schemas and data by
the hashes its dvc.lock records for the run that made the data. Only what stands before the texts,
their checks and their scores in the stage table is looked at.
"""

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.versions import Version
from pipeline.params import Parameters
from pipeline.stages import STAGES, Stage

Kind = Literal[
    "prompt", "seeds", "vocabulary", "phrases", "table", "params", "config", "code", "schema",
    "data",
]  # fmt: skip
# The stages whose results an audit compares.
AUDITED = ("annotate", "check", "judge")
_PARAMS, _HASH = "params.yaml", 12


class Input(msgspec.Struct, frozen=True):
    """One input that differs.

    Attributes:
        kind: What it is.
        name: A path, or a dotted key.
        before: Its value, or the start of its hash; null where the version has none.
        after: The same of the other version.
        note: Size of the change of a file; "" where there is none to tell.
        stages: Stages that read it.
    """

    kind: Kind
    name: str
    before: str | None
    after: str | None
    note: str
    stages: list[str]


def upstream_of(names: Iterable[str]) -> list[Stage]:
    """Return the named stages and all that stand before them, in the order of the table."""
    makers = {
        artifact: stage
        for stage in STAGES
        for artifact in (*stage.writes, *([stage.rejections().name] if stage.rejects else []))
    }
    found: set[str] = set()
    todo = [stage for stage in STAGES if stage.name in set(names)]
    while todo:
        stage = todo.pop()
        if stage.name not in found:
            found.add(stage.name)
            todo += [makers[name] for name in stage.reads if name in makers]
    return [stage for stage in STAGES if stage.name in found]


def differing_inputs(before: Version, after: Version, city: str) -> list[Input]:
    """Return every input that differs, files first; those that neither version tells are left out.

    Raises:
        ParameterError: A version's params.yaml, city file or dvc.lock is broken.
    """
    stages = upstream_of(AUDITED)
    return [
        *_files(before, after, stages),
        *_values(before, after, city, stages),
        *_recorded(before, after, city, stages),
    ]


# ---- files -------------------------------------------------------------------------------------


def _files(before: Version, after: Version, stages: list[Stage]) -> Iterator[Input]:
    if before.files is None or after.files is None:
        return
    readers: dict[str, list[str]] = {}
    for stage in stages:
        for path in stage.files:
            if path.startswith("prompts/"):
                for name in _below(path, before.files, after.files):
                    readers.setdefault(name, []).append(stage.name)
    for name, reading in sorted(readers.items()):
        old, new = _text(before.files / name), _text(after.files / name)
        if old != new:
            yield Input(
                kind=_kind(name),
                name=name,
                before=None if old is None else "there",
                after=None if new is None else "there",
                note=_lines_changed(old or "", new or ""),
                stages=reading,
            )


def _below(path: str, *folders: Path) -> set[str]:
    """Return the files at or below a path in any of the folders, from the folder's root."""
    found = set()
    for folder in folders:
        place = folder / path
        files = [file for file in place.rglob("*") if file.is_file()] if place.is_dir() else [place]
        found |= {file.relative_to(folder).as_posix() for file in files if file.is_file()}
    return found


def _text(file: Path) -> str | None:
    return file.read_text("utf-8", errors="backslashreplace") if file.is_file() else None


def _kind(name: str) -> Kind:
    if name == "prompts/vocabulary.yaml":
        return "vocabulary"
    if name.startswith("prompts/annotate/seeds"):
        return "seeds"
    return "phrases" if name.startswith("prompts/template/") else "prompt"


def _lines_changed(old: str, new: str) -> str:
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0))[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"+{added} -{removed} lines"


# ---- parameters --------------------------------------------------------------------------------


def _values(before: Version, after: Version, city: str, stages: list[Stage]) -> Iterator[Input]:
    if before.files is None or after.files is None:
        return
    sides = [_values_of(side, city) for side in (before.files, after.files)]
    for kind, names in (("params", "params"), ("config", "config")):
        readers: dict[str, list[str]] = {}
        for stage in stages:
            for name in getattr(stage, names):
                readers.setdefault(name, []).append(stage.name)
        for section, reading in readers.items():
            old, new = (side[kind].get(section, {}) for side in sides)
            head = f"configs/{city}.yaml: " if kind == "config" else ""
            for key in sorted({*old, *new}):
                if old.get(key) != new.get(key):
                    name = f"{head}{section}.{key}" if key else f"{head}{section}"
                    yield Input(
                        "params" if kind == "params" else "config",
                        name, old.get(key), new.get(key), "", reading,
                    )  # fmt: skip


def _values_of(files: Path, city: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return each section of params.yaml and of the city's file as dotted keys and JSON values."""
    parameters = Parameters(files)
    found: dict[str, dict[str, dict[str, str]]] = {"params": {}, "config": {}}
    if (files / _PARAMS).is_file():
        for name in parameters.shared_keys:
            found["params"][name] = flat(parameters.section(name, Any))
    if (files / "configs" / f"{city}.yaml").is_file():
        for name in parameters.config_keys(city):
            found["config"][name] = flat(parameters.config(city, name, Any))
    return found


def flat(value: Any, path: str = "") -> dict[str, str]:
    """Return a value as dotted keys with JSON values; a list is one value, so is an empty mapping.

    flat({"a": {"b": 1}, "c": [2]})  ->  {"a.b": "1", "c": "[2]"}
    """
    if isinstance(value, dict) and value:
        return {
            key: text
            for name, item in value.items()
            for key, text in flat(item, f"{path}.{name}" if path else name).items()
        }
    return {path: json.dumps(value, ensure_ascii=False, default=str)}


# ---- what dvc.lock records ---------------------------------------------------------------------


def _recorded(before: Version, after: Version, city: str, stages: list[Stage]) -> Iterator[Input]:
    # What the audited stages made is what the audit compares, and no input of it.
    made = {
        f"data/{city}/{ARTIFACTS[name].path}"
        for stage in stages
        if stage.name in AUDITED
        for name in stage.writes
    }
    found: dict[str, tuple[str | None, str | None, list[str]]] = {}
    for stage in stages:
        name = f"{stage.name}@{city}"
        if name not in before.lock or name not in after.lock:
            continue
        old, new = before.lock[name].deps, after.lock[name].deps
        for path in sorted({*old, *new}):
            told = path.startswith("prompts/") or path in made
            if old.get(path) != new.get(path) and not told:
                found.setdefault(path, (old.get(path), new.get(path), []))[2].append(stage.name)
    for path, (first, second, reading) in sorted(found.items()):
        short = [None if one is None else one[:_HASH] for one in (first, second)]
        yield Input(_recorded_kind(path), path, short[0], short[1], "", reading)


def _recorded_kind(path: str) -> Kind:
    if path.startswith("schemas/"):
        return "schema"
    if path.startswith("pipeline/"):
        return "code" if path.endswith(".py") else "table"
    return "data"
