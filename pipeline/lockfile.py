"""What dvc.lock records of a version: with which files and parameters its data was made.

lock = read_lock(folder)
lock["annotate@monaco"].outs["data/monaco/annotated"]     ->  "067a3cc0a494c50c.....dir"
lock["annotate@monaco"].deps["prompts/annotate"]          ->  another such hash
lock["annotate@monaco"].params["params.yaml"]["annotate"] ->  {"engine": ...}
"""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pipeline.errors import ParameterError
from pipeline.params import document_of

LOCK = "dvc.lock"


class Locked(NamedTuple):
    """One stage of one city as it last ran.

    Attributes:
        deps: Hash of each file or folder it read, by path from the root.
        outs: Hash of each it wrote.
        params: Values it was given, by file and dotted key.
    """

    deps: dict[str, str]
    outs: dict[str, str]
    params: dict[str, dict[str, Any]]


class _Item(msgspec.Struct):
    path: str
    md5: str = ""


class _Stage(msgspec.Struct):
    deps: list[_Item] = []
    outs: list[_Item] = []
    params: dict[str, dict[str, Any]] = {}


class _File(msgspec.Struct):
    stages: dict[str, _Stage] = {}


def read_lock(folder: Path) -> dict[str, Locked]:
    """Return the stages of a version's dvc.lock, by name; none where there is no such file.

    Raises:
        ParameterError: The file is no dvc.lock.
    """
    file = folder / LOCK
    if not file.is_file():
        return {}
    try:
        found: _File = document_of(file, _File)
    except ParameterError as fault:
        what = str(fault).rpartition("; ")[0]
        raise ParameterError(
            f"{what}; take it back with `git checkout {LOCK}`, or remove it and run `dvc repro`"
        ) from fault
    return {
        name: Locked(_hashes(stage.deps), _hashes(stage.outs), stage.params)
        for name, stage in found.stages.items()
    }


def _hashes(items: list[_Item]) -> dict[str, str]:
    return {item.path: item.md5 for item in items}
