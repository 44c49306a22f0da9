"""The task instances of a release as rows that can be compared: one digest for each side of them.

    before, after, fields = read_instances(folders_before, folders_after)
    before  ->  instance_id, trip_id, task, text, split, and a digest each of: trip, draws, writer,
                prompt, request, attempt, evidence, quality, judge, scores, pool, other
    fields  ->  [FieldChange("generation", "provenance.judge.score", "added")]

A record says all that is known of it: what may be seen of the trip, the text, where the text came
from, what quality control and judge made of it. Fields that only one side has are compared by their
presence alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from pipeline.audit.rows import BRING_ANEW, parquet_types, projected, shared_type
from pipeline.errors import SourceError
from pipeline.seals import sound_files

TASKS = ("generation", "retrieval", "captioning")
_TEXTS = {
    "generation": "input.instruction",
    "retrieval": "input.query",
    "captioning": "target.caption",
}
# Which aspect of a record a field belongs to: the longest path that fits decides.
_ASPECTS = {
    "simulated": "trip",
    "input": "trip",
    "target": "trip",
    "target.same_route": "pool",
    "provenance.draws": "draws",
    "evidence.targets": "draws",
    "provenance.writer": "writer",
    "provenance.writer.prompt_hash": "prompt",
    "provenance.writer.shots": "prompt",
    "provenance.writer.response_key": "request",
    "provenance.writer.attempt": "attempt",
    "evidence": "evidence",
    "provenance.quality": "quality",
    "provenance.judge": "judge",
    "provenance.judge.scores": "scores",
    "provenance.judge.score": "scores",
}
_KEYS = ("instance_id", "city", "trip_id", "split")
ASPECTS = (
    "trip", "draws", "writer", "prompt", "request", "attempt", "evidence", "quality", "judge",
    "scores", "pool", "other",
)  # fmt: skip


class FieldChange(NamedTuple):
    """A field that one side has and the other has not, or has with another type."""

    task: str
    field: str
    change: Literal["added", "removed", "type"]


class _Leaf(NamedTuple):
    """A field that holds no others, or a list."""

    value: pl.Expr
    kind: Any


def read_instances(
    before: Mapping[str, Path], after: Mapping[str, Path]
) -> tuple[pl.DataFrame, pl.DataFrame, list[FieldChange]]:
    """Read the instances of one city on both sides.

    Args:
        before: Folder of Parquet files of each task.
        after: The same of the other side.

    Returns:
        Rows of both sides, whose digests only compare with each other, and fields that differ.

    Raises:
        SourceError: A file is no table of task instances, or holds an instance twice.
    """
    rows: tuple[list[pl.DataFrame], list[pl.DataFrame]] = ([], [])
    fields: list[FieldChange] = []
    for task in TASKS:
        files = [_files(side[task]) for side in (before, after)]
        leaves = [_leaves_of(side[0], task) for side in files]
        shared = {
            name: shared_type(one.kind, leaves[1][name].kind)
            for name, one in leaves[0].items()
            if name in leaves[1]
        }
        fields += _changes(task, leaves[0], leaves[1])
        for side, found, known in zip(rows, files, leaves, strict=True):
            side += [_read(file, task, known, shared) for file in found]
    return _whole(rows[0], before), _whole(rows[1], after), fields


def _files(folder: Path) -> list[Path]:
    files = sound_files(folder, remedy=BRING_ANEW)
    if not files:
        raise SourceError(
            f"{folder}: expected Parquet files of task instances, found none; run `dvc repro`"
        )
    return files


def _leaves_of(file: Path, task: str) -> dict[str, _Leaf]:
    leaves = {
        name: leaf
        for column, kind in parquet_types(file).items()
        for name, leaf in _leaves(column, pl.col(column), kind)
    }
    missing = sorted({*_KEYS, _TEXTS[task]} - set(leaves))
    if missing:
        raise SourceError(
            f"{file}: expected task instances of {task}, found no {', '.join(missing)}; name a"
            " release of this project"
        )
    return leaves


def _leaves(name: str, value: pl.Expr, kind: Any) -> Iterator[tuple[str, _Leaf]]:
    if isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield from _leaves(f"{name}.{field.name}", value.struct.field(field.name), field.dtype)
    else:
        yield name, _Leaf(value, kind)


def _changes(
    task: str, before: Mapping[str, _Leaf], after: Mapping[str, _Leaf]
) -> Iterator[FieldChange]:
    for name in sorted({*before, *after}):
        if name not in before:
            yield FieldChange(task, name, "added")
        elif name not in after:
            yield FieldChange(task, name, "removed")
        elif before[name].kind != after[name].kind:
            yield FieldChange(task, name, "type")


def _aspect(name: str) -> str:
    fitting = [path for path in _ASPECTS if name == path or name.startswith(f"{path}.")]
    return _ASPECTS[max(fitting, key=len)] if fitting else "other"


def _read(
    file: Path, task: str, leaves: Mapping[str, _Leaf], shared: Mapping[str, Any]
) -> pl.DataFrame:
    text = _TEXTS[task]
    sorts: dict[str, list[pl.Expr]] = {aspect: [] for aspect in ASPECTS}
    for name, kind in shared.items():
        if name not in _KEYS and name != text:
            value = projected(leaves[name].value, kind)
            sorts[_aspect(name)].append(value.alias(name))
    return pl.read_parquet(file).select(
        "instance_id",
        "trip_id",
        pl.lit(task).alias("task"),
        leaves[text].value.alias("text"),
        "split",
        *(_digest(values).alias(aspect) for aspect, values in sorts.items()),
    )


def _digest(values: Sequence[pl.Expr]) -> pl.Expr:
    if not values:
        return pl.lit(0, pl.UInt64)
    return pl.struct(values).struct.json_encode().hash(0)


def _whole(frames: Sequence[pl.DataFrame], folders: Mapping[str, Path]) -> pl.DataFrame:
    frame = pl.concat(frames).sort("instance_id")
    twice = frame.filter(pl.col("instance_id").is_duplicated())
    if twice.height:
        raise SourceError(
            f"{folders[TASKS[0]].parent}: expected each instance once, found"
            f" {twice['instance_id'][0]} again; name a release as it was made"
        )
    return frame
