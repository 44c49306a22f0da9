"""The command `ledger`: see what is kept, carry it from one machine to another, tidy it.

ledger stats   ->  task, model, requests, good and failed answers, tokens, bytes
ledger import data/porto/responses  ->  Porto's texts can be rebuilt without a model
ledger verify  ->  every answer that is not what was recorded, by key and item
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.language.checksums import Damaged
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_records import Held
from pipeline.language.outcome import answers_of, judge_text, responses_frame
from pipeline.language.requests import NO_ANSWER, Answer
from pipeline.replacing import replaced
from pipeline.schemas import ROWS_PER_GROUP, arrow_schema, check_columns, check_rows
from pipeline.seals import check_seal, seal, shards_in
from pipeline.tables import sealed_writer

_SCHEMA = "response"
_REMEDY = "export it again or leave it out"
_VERIFY = "`python -m pipeline ledger verify` names them"
_DROP = "run `python -m pipeline ledger gc --damaged` to drop what is damaged: it is asked again"
_HEADS = (
    "task", "model", "revision", "requests", "attempts", "ok", "failed", "tokens in", "tokens out",
    "text",
)  # fmt: skip


def stats(folder: Path, *, as_json: bool) -> Iterator[str]:
    """Yield the lines that tell what the ledger holds, a row for each task and model.

    Raises:
        SourceError: There is no ledger yet.
    """
    with _existing(folder, to_read=True) as ledger:
        held, damaged = ledger.held(), ledger.damaged_heads()
    if damaged:
        print(f"{ledger.file}: {_count(damaged)}; {_VERIFY}", file=sys.stderr)
    if as_json:
        yield json.dumps([row._asdict() for row in held], ensure_ascii=False, indent=2)
        return
    lines = [_HEADS, *(_cells(row) for row in held)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        yield "  ".join(cells).rstrip()
    yield f"{ledger.file}: {bytes_words(ledger.file.stat().st_size)}"


def _cells(row: Held) -> tuple[str, ...]:
    failed = ", ".join(f"{count:,} {status}" for status, count in row.failed.items())
    numbers = (row.prompt_tokens, row.output_tokens)
    tokens = ["unknown" if number is None else f"{number:,}" for number in numbers]
    return (
        row.task,
        f"{row.model} ({row.engine})",
        row.revision,
        f"{row.requests:,}",
        f"{row.attempts:,}",
        f"{row.ok:,}",
        failed or "none",
        *tokens,
        bytes_words(row.text_bytes),
    )


def bytes_words(count: int) -> str:
    """Word a size: `812 B`, `3.1 kB`, `250.0 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def export_answers(
    folder: Path, file: Path, *, task: str | None, model: str | None
) -> Iterator[str]:
    """Write answers to a Parquet file, sorted by key and attempt: the same rows, the same bytes.

    Args:
        folder: Folder of the ledger.
        file: Where to write, a name in .parquet; moved into place when it is whole.
        task: Only those of this task.
        model: Only those of this model, whatever its revision.

    Raises:
        ParameterError: The ledger has no answer of that task or model.
        SourceError: The file has another ending or is a folder, or there is no ledger.
    """
    if file.is_dir():
        raise SourceError(f"{file}: expected the name of a file to write, found a folder; name one")
    if file.suffix != ".parquet":
        raise SourceError(f"{file}: expected a name that ends in .parquet; rename it")
    if task is not None or model is not None:
        _expect_held(folder, task=task, model=model)
    count = 0
    damaged: list[Damaged] = []
    with _existing(folder, to_read=True) as ledger, replaced(file) as aside:
        with sealed_writer(aside, arrow_schema(_SCHEMA)) as writer:
            for frame in _full_groups(ledger.stored(task=task, model=model, damaged=damaged)):
                _check(frame, where=str(file), first_row=count)
                writer.write_table(frame.to_arrow().cast(arrow_schema(_SCHEMA)))
                count += frame.height
        seal(aside)
    yield f"{file}: {count:,} answers"
    if damaged:
        yield from _named(damaged)
        yield f"left out: {_count(len(damaged))}; {_DROP}"


def verify(folder: Path) -> Iterator[str]:
    """Compare every answer with its checksum; yield a line for each that is not what was recorded.

    Raises:
        SourceError: There is such a one, or no ledger yet.
    """
    with _existing(folder, to_read=True) as ledger:
        damaged = list[Damaged]()
        sound = sum(len(some) for some in ledger.stored(damaged=damaged))
    yield from _named(damaged)
    if damaged:
        raise SourceError(
            f"{ledger.file}: expected every answer as it was recorded, found {_count(len(damaged))}"
            f" and {sound:,} sound ones; {_DROP}"
        )
    yield f"{ledger.file}: {sound:,} answers, all as they were recorded"


def _named(damaged: Iterable[Damaged]) -> Iterator[str]:
    return (f"damaged: {one.words()}" for one in damaged)


def _count(damaged: int) -> str:
    return f"{damaged:,} damaged answer" + ("" if damaged == 1 else "s")


def _expect_held(folder: Path, *, task: str | None, model: str | None) -> None:
    """Refuse a task that has no answers, or a model that has none of the task."""
    with _existing(folder, to_read=True) as ledger:
        try:
            held = ledger.held()
        except SourceError:  # the file is damaged: what can be read is exported all the same
            return
    tasks = sorted({row.task for row in held})
    if task is not None and task not in tasks:
        raise ParameterError(
            f"ledger export: --task: expected one of {', '.join(tasks) or 'none at all'}, found"
            f" {task!r}; name another"
        )
    models = sorted({row.model for row in held if task in {None, row.task}})
    if model is not None and model not in models:
        raise ParameterError(
            f"ledger export: --model: expected one of {', '.join(models) or 'none at all'}, found"
            f" {model!r}; name another"
        )


def _full_groups(batches: Iterable[list[Answer]]) -> Iterator[pl.DataFrame]:
    """Gather answers to row groups of one size, whatever the size of the batches."""
    waiting: list[Answer] = []
    for batch in batches:
        waiting += batch
        while len(waiting) >= ROWS_PER_GROUP:
            yield responses_frame(waiting[:ROWS_PER_GROUP])
            waiting = waiting[ROWS_PER_GROUP:]
    if waiting:
        yield responses_frame(waiting)


def import_answers(folder: Path, paths: Sequence[Path]) -> Iterator[str]:
    """Bring answers in from exported files or `data/<city>/responses`; rows that exist stand.

    All rows of all files are checked before the first is kept.

    Raises:
        SourceError: A path is missing or no Parquet file.
        ContractError: A row is no response.
    """
    files = _files(paths)
    for file in files:
        row = 0
        for frame in _frames(file):
            _check(frame, where=str(file), first_row=row)
            row += frame.height
    read = new = 0
    none = 0  # of an older version: failures of a server
    with Ledger(folder) as ledger:
        for file in files:
            for frame in _frames(file):
                read += frame.height
                none += frame.filter(pl.col("status").is_in(NO_ANSWER)).height
                new += ledger.record(answers_of(frame))
    yield f"{read:,} answers read: {new:,} new, {read - new - none:,} already there" + (
        f", {none:,} left out as no answer came" if none else ""
    )


def _check(frame: pl.DataFrame, *, where: str, first_row: int) -> None:
    rows = frame.to_dicts()
    check_rows(_SCHEMA, rows, where=where, first_row=first_row, key="key")
    for number, row in enumerate(rows):
        if row["status"] == "ok":
            status, reason = judge_text(row["text"], row["finish_reason"], {})
            if status != "ok":
                raise ContractError(
                    f"{where} row {first_row + number} key={row['key']}: $.text: expected a JSON"
                    f" object, as its status is ok, found {status}: {reason}; leave the file out"
                )


def gc(
    folder: Path, *, keep: Sequence[Path] | None, failed: bool, damaged: bool, dry_run: bool
) -> Iterator[str]:
    """Remove answers nobody needs; yield what was removed, or would be, in lines.

    Args:
        folder: Folder of the ledger.
        keep: Files and folders of responses whose keys stay while all others go.
        failed: Also forget the attempts of requests without an answer.
        damaged: Also drop what is not as it was recorded.
        dry_run: Change nothing.

    Raises:
        ParameterError: None of these was asked for.
    """
    if keep is None and not failed and not damaged:
        raise ParameterError(
            "ledger gc: expected --keep PATH..., --failed or --damaged, found none; run `python -m"
            " pipeline ledger gc --help`"
        )
    keys = None if keep is None else {key for file in _files(keep) for key in _keys(file)}
    ledger = _existing(folder)
    before = ledger.file.stat().st_size
    with ledger:
        dropped = ledger.mend(dry_run=dry_run) if damaged else []
        attempts, text_bytes = ledger.forget(keep=keys, failed=failed, dry_run=dry_run)
    if keys is not None:
        yield f"{len(keys):,} keys to keep"
    verb = "would forget" if dry_run else "forgot"
    if damaged:
        yield from _named(dropped)
        yield f"{verb} {_count(len(dropped))}"
    if keep is not None or failed:
        yield f"{verb} {attempts:,} answers with {bytes_words(text_bytes)} of text"
    if not dry_run:
        after = ledger.file.stat().st_size
        yield f"{ledger.file}: {bytes_words(before)} -> {bytes_words(after)}"


def _existing(folder: Path, *, to_read: bool = False) -> Ledger:
    ledger = Ledger(folder, to_read=to_read)
    if not ledger.file.is_file():
        raise SourceError(
            f"{ledger.file}: expected a ledger, found none; it is made when a model is first asked,"
            " or by `python -m pipeline ledger import`"
        )
    return ledger


def _files(paths: Sequence[Path]) -> list[Path]:
    files: dict[Path, None] = {}
    for path in paths:
        found = shards_in(path, remedy=_REMEDY)
        if not found or not found[0].is_file():
            raise SourceError(
                f"{path}: expected a Parquet file of responses or a folder of such, found none;"
                " check the spelling"
            )
        files.update(dict.fromkeys(found))
    return list(files)


def _frames(file: Path) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file of responses, some at a time."""
    for batch in _batches(file):
        frame: Any = pl.from_arrow(batch)
        remedy = "it is not a file of responses, leave it out"
        check_columns(_SCHEMA, frame, where=str(file), remedy=remedy)
        yield frame


def _keys(file: Path) -> Iterator[str]:
    for frame in _frames(file):
        yield from frame["key"]


def _batches(file: Path) -> Iterator[pa.Table]:
    """Yield the file's batches, and first an empty one: a file without rows has columns too."""
    try:
        check_seal(file, remedy=_REMEDY)
        with pq.ParquetFile(file, page_checksum_verification=True) as table:
            yield table.schema_arrow.empty_table()
            for batch in table.iter_batches(ROWS_PER_GROUP):
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as fault:
        raise SourceError(f"{file}: expected a Parquet file, found {fault}; {_REMEDY}") from fault
