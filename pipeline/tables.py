"""One data file at a time: checked against its schema, read, written, put in place.

    write_table(frame, aside, ARTIFACTS["roads"], shown="data/monaco/roads.parquet")
    swap(aside, target, old=replaced)

Tables are Parquet with the columns of their JSON Schema, fixed row groups and no timestamps: the
same rows give the same bytes.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.artifacts import Artifact
from pipeline.errors import ContractError, SourceError
from pipeline.schemas import (
    ROWS_PER_GROUP,
    arrow_schema,
    check_columns,
    check_frame,
    check_record,
    geo_metadata,
)


@contextmanager
def _parquet_in(file: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; what it cannot give is a SourceError."""
    try:
        yield pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as fault:
        raise SourceError(
            f"{file}: expected a Parquet file, found {fault}; rebuild it with `dvc repro`"
        ) from fault


def rows_in(file: Path) -> int:
    """Count the rows of a Parquet file by its foot.

    Raises:
        SourceError: It is no readable Parquet file.
    """
    with _parquet_in(file) as parquet:
        return int(parquet.metadata.num_rows)


def read_table(file: Path, artifact: Artifact) -> pl.DataFrame:
    """Read one Parquet file and hold its columns to the artifact's schema.

    Names, order and types are compared, and that nothing is missing where nothing may be; what else
    the schema says of single rows was checked as they were written.

    Raises:
        SourceError: It is no readable Parquet file.
        ContractError: Its columns are not those of the schema.
    """
    with _parquet_in(file) as parquet:
        frame = pl.from_arrow(parquet.read())
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - narrows the type only
    if artifact.schema is not None:
        check_columns(artifact.schema, frame, where=str(file))
    return frame


def write_table(frame: pl.DataFrame, file: Path, artifact: Artifact, *, shown: str) -> None:
    """Check every row against the artifact's schema and write one Parquet file.

    Args:
        frame: The rows; an empty frame gives a file with the schema's columns and no rows.
        file: Where to write; not visible to readers until the caller moves it into place.
        artifact: Row of the artifact table; must have a schema.
        shown: The file's final name, for messages.
    """
    schema_name = artifact.schema
    if schema_name is None:
        raise ContractError(f"{shown}: expected an artifact with a schema, found none")
    schema = arrow_schema(schema_name)
    if sorted(frame.columns) != sorted(schema.names):
        raise ContractError(
            f"{shown}: expected the columns {', '.join(schema.names)}, found"
            f" {', '.join(frame.columns)}; mend the stage or schemas/{schema_name}.schema.json"
        )
    frame = frame.select(schema.names)
    check_frame(schema_name, frame, where=shown, key=artifact.key)
    table = frame.to_arrow().cast(schema).replace_schema_metadata(geo_metadata(schema_name))
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file, row_group_size=ROWS_PER_GROUP, compression="zstd")


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
