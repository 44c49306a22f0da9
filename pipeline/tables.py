"""One data file at a time: checked against its schema, read, written, put in place.

    write_table(frame, aside, ARTIFACTS["roads"], shown="data/monaco/roads.parquet")
    swap(aside, target, old=replaced)

Tables are Parquet with the columns of their JSON Schema, fixed row groups, checksums and no
timestamps: the same rows give the same bytes, and a byte that changed since is found.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.artifacts import Artifact
from pipeline.errors import ContractError, SourceError
from pipeline.schemas import (
    ROWS_PER_GROUP,
    arrow_schema,
    check_columns,
    check_record,
    check_table,
    geo_metadata,
)
from pipeline.seals import MARK, check_seal, seal, shards_in
from pipeline.stages import STAGES

# What Arrow and Polars raise on a damaged file; a panic of Polars' own code is no Exception.
_FAULTS = (
    pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError,
    LookupError, TypeError, MemoryError, OverflowError,
)  # fmt: skip
# Rows read at a time where a table need not be held; more of them only wait in memory.
_ROWS_AT_A_TIME = 1024


def _remedy(file: Path, artifact: Artifact) -> str:
    """Name the stage that makes a file anew, where it lies in its place in a project."""
    place = re.escape(artifact.place).replace(re.escape("{city}"), "([^/]+)")
    found = re.search(rf"/{place}(?:/|$)", file.absolute().as_posix())
    for stage in STAGES:
        if found and artifact.name in (*stage.writes, f"{stage.name}_rejected"):
            city = f"@{found[1]}" if stage.scope == "city" else ""
            return f"rebuild it with `dvc repro {stage.name}{city}`"
    return "rebuild it with `dvc repro`"


def remedy_of_damage(file: Path, artifact: Artifact) -> str:
    """Name the command that makes a damaged file anew, though DVC may take it for unchanged.

    Damage leaves a file's time as it was.
    """
    return _remedy(file, artifact).replace("dvc repro ", "dvc repro -sf ")


@contextmanager
def _parquet_in(file: Path, artifact: Artifact, *, pages: bool = True) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; what it cannot give is a SourceError.

    `pages`: whether any of its pages will be read; else only the foot is checked.
    """
    check_seal(file, remedy=remedy_of_damage(file, artifact), body=pages)
    try:
        yield pq.ParquetFile(file, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as fault:
        raise SourceError(
            f"{file}: expected a Parquet file, found {fault}; {_remedy(file, artifact)}"
        ) from fault


def read_any_parquet(file: Path, *, remedy: str) -> pl.DataFrame:
    """Read a Parquet file of any columns, from anywhere: all of it is checked as it is read.

    Raises:
        SourceError: It is no readable Parquet file.
    """
    check_seal(file, remedy=remedy)
    try:
        table = pq.ParquetFile(file, page_checksum_verification=True).read()
        table.validate(full=True)
        return pl.DataFrame(pl.from_arrow(table))
    except _FAULTS as fault:
        raise SourceError(f"{file}: expected a Parquet file, found {fault}; {remedy}") from fault


def files_of(table: Path, artifact: Artifact) -> list[Path]:
    """Return the Parquet files of an artifact, sorted: its shards, or the one file.

    Raises:
        SourceError: A shard is missing, or of another run than the others.
    """
    return shards_in(table, remedy=_remedy(table / "part", artifact))


def rows_in(file: Path, artifact: Artifact) -> int:
    """Count the rows of a Parquet file by its foot.

    Raises:
        SourceError: It is no readable Parquet file.
    """
    with _parquet_in(file, artifact, pages=False) as parquet:
        return int(parquet.metadata.num_rows)


def read_table(
    file: Path, artifact: Artifact, *, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Read one Parquet file, or some columns of it, and hold it to the artifact's schema.

    Names, order and types are compared, and that nothing is missing where nothing may be; what else
    the schema says of single rows was checked as they were written.

    Raises:
        SourceError: It is no readable Parquet file.
        ContractError: Its columns are not those of the schema.
    """
    with _parquet_in(file, artifact) as parquet:
        return _held(parquet.read(columns), file, artifact, columns)


def read_batches(file: Path, artifact: Artifact) -> Iterator[pl.DataFrame]:
    """Read one Parquet file as `read_table` does, but a thousand rows at a time.

    A file without rows gives one table without rows.
    """
    with _parquet_in(file, artifact) as parquet:
        if not parquet.metadata.num_rows:
            yield _held(parquet.read(), file, artifact)
        for batch in parquet.iter_batches(batch_size=_ROWS_AT_A_TIME):
            yield _held(pa.Table.from_batches([batch]), file, artifact)


def _held(
    table: pa.Table, file: Path, artifact: Artifact, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - narrows the type only
    if artifact.schema is not None:
        remedy = _remedy(file, artifact)
        check_columns(artifact.schema, frame, where=str(file), remedy=remedy, only=columns)
    return frame


def sealed_writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a Parquet file with page checksums; `seal` it once the writer is closed."""
    marked = schema.with_metadata(MARK | (schema.metadata or {}))
    return pq.ParquetWriter(file, marked, compression="zstd", write_page_checksum=True)


def write_table(frame: pl.DataFrame, file: Path, artifact: Artifact, *, shown: str) -> None:
    """Check every row against the artifact's schema and write one Parquet file.

    Args:
        frame: The rows; an empty frame gives a file with the schema's columns and no rows.
        file: Where to write; not visible to readers until the caller moves it into place.
        artifact: Row of the artifact table; must have a schema.
        shown: The file's final name, for messages.
    """
    with TableWriter(file, artifact, shown=shown) as table:
        table.write(frame)


class TableWriter:
    """Write one Parquet file whose rows arrive a few at a time; use as a context manager.

    Less than a row group waits in memory. However the rows are dealt out, the bytes are the same.
    """

    def __init__(self, file: Path, artifact: Artifact, *, shown: str) -> None:
        """Open the file.

        Args:
            file: Where to write; not visible to readers until the caller moves it into place.
            artifact: Row of the artifact table; must have a schema.
            shown: The file's final name, for messages.
        """
        if artifact.schema is None:
            raise ContractError(f"{shown}: expected an artifact with a schema, found none")
        self._name, self._key, self._shown = artifact.schema, artifact.key, shown
        empty = arrow_schema(artifact.schema).empty_table()
        self._waiting = empty.replace_schema_metadata(geo_metadata(artifact.schema))
        self._schema = self._waiting.schema
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        self._writer = sealed_writer(file, self._schema)
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._writer:
            if kind is None and (self._waiting.num_rows or not self._rows):
                self._put(self._waiting.num_rows)
        self._waiting = self._schema.empty_table()  # its slices hold on to whole row groups
        if kind is None:
            seal(self._file)

    @property
    def rows(self) -> int:
        """Return how many rows were written."""
        return self._rows

    def write(self, frame: pl.DataFrame) -> None:
        """Check some rows and write them; columns may come in any order."""
        names = self._schema.names
        if sorted(frame.columns) != sorted(names):
            raise ContractError(
                f"{self._shown}: expected the columns {', '.join(names)}, found"
                f" {', '.join(frame.columns)}; mend the stage or schemas/{self._name}.schema.json"
            )
        table = frame.select(names).to_arrow()
        check_table(self._name, table, where=self._shown, key=self._key, first_row=self._rows)
        self._rows += table.num_rows
        self._waiting = pa.concat_tables([self._waiting, table.cast(self._schema)])
        while self._waiting.num_rows >= ROWS_PER_GROUP:
            self._put(ROWS_PER_GROUP)

    def _put(self, rows: int) -> None:
        """Write the next row group."""
        # In one piece: where the pieces meet would show in the pages of the file.
        self._writer.write_table(self._waiting.slice(0, rows).combine_chunks())
        self._waiting = self._waiting.slice(rows)


def read_json(file: Path, artifact: Artifact) -> dict[str, Any]:
    """Read a JSON record and check it against its schema.

    A number that was changed within its bounds is not found here: `written` holds the bytes to what
    was recorded.

    Raises:
        SourceError: It is no JSON.
        ContractError: It breaks its schema.
    """
    remedy = remedy_of_damage(file, artifact)
    try:
        record = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SourceError(f"{file}: expected a JSON record, found {fault}; {remedy}") from fault
    if artifact.schema is not None:
        check_record(artifact.schema, record, where=str(file))
    return dict(record)


def write_json(record: dict[str, Any], file: Path, artifact: Artifact, *, shown: str) -> None:
    """Check a record against its schema and write it as indented JSON with a final newline."""
    if artifact.schema is not None:
        check_record(artifact.schema, record, where=shown)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)
    file.write_text(text + "\n", encoding="utf-8")


def swap(new: Path, target: Path, *, old: Path) -> None:
    """Put `new` in the place of `target`; a folder there is moved to `old`, a file replaced."""
    if target.is_dir() and not target.is_symlink():
        old.parent.mkdir(parents=True, exist_ok=True)
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise
