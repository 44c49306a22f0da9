"""Hold data files against their schemas from outside, as somebody who received them would.

data/monaco/phased/part-00000.parquet: 651 records keep schemas/phased_trip.schema.json
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.schemas import arrow_schema, check_record, check_rows, schema_document
from pipeline.store import check_frame

SUFFIXES = (".parquet", ".json", ".jsonl")


def validate_paths(paths: list[Path], *, schema: str | None, root: Path) -> Iterator[str]:
    """Check every record of the files, and of those below the folders; yield a line per file.

    Args:
        paths: Files or folders.
        schema: Short name of the schema; None = told from the place under data/<city>/.
        root: Root of the project.

    Raises:
        SourceError: A path is missing, holds nothing to check, or no schema is known for it.
        ContractError: A record breaks its schema; names file, row, id, JSON path and rule.
    """
    for path in paths:
        files = _files(path)
        named = [(file, schema or _schema_of(file.resolve(), root.resolve())) for file in files]
        # In a folder, files of somebody else's format lie among ours; a named file must be known.
        known = [(file, name) for file, name in named if name is not None]
        if not known:
            raise SourceError(
                f"{path}: expected an artifact under data/<city>/, found no schema for it; name one"
                " with --schema (schemas/<NAME>.schema.json)"
            )
        for file, name in known:
            count = _validate_file(file, name)
            yield f"{file}: {count} records keep schemas/{name}.schema.json"


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(
            file
            for file in path.rglob("*")
            if file.suffix in SUFFIXES and ".writing" not in file.parts
        )
    if not path.is_file():
        raise SourceError(f"{path}: expected a file or folder, found nothing; check the spelling")
    return [path]


def _schema_of(file: Path, root: Path) -> str | None:
    """Tell the schema of an artifact from its place: data/<city>/<artifact path>."""
    if not file.is_relative_to(root / "data"):
        return None
    inner = Path(*file.relative_to(root / "data").parts[1:])
    for artifact in ARTIFACTS.values():
        place = Path(artifact.path)
        if inner == place or (artifact.form == "shards" and inner.parent == place):
            return artifact.schema
    return None


def _validate_file(file: Path, name: str) -> int:
    key = schema_document(name).get("required", ["id"])[0]
    if file.suffix == ".parquet":
        return _validate_parquet(file, name, key)
    try:
        text = file.read_text("utf-8")
        if file.suffix == ".json":
            check_record(name, json.loads(text), where=str(file))
            return 1
        rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line]
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise SourceError(f"{file}: expected JSON, found {fault}; rebuild the file") from fault
    check_rows(name, rows, where=str(file), first_row=0, key=key)
    return len(rows)


def _validate_parquet(file: Path, name: str, key: str) -> int:
    try:
        frame = pl.read_parquet(file, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise SourceError(
            f"{file}: expected a Parquet file, found {fault}; rebuild it with `dvc repro`"
        ) from fault
    missing = sorted(set(arrow_schema(name).names) - set(frame.columns))
    if missing:
        raise SourceError(
            f"{file}: expected the columns of schemas/{name}.schema.json, found no"
            f" {', '.join(missing)}; is --schema right?"
        )
    check_frame(frame, name, key=key, shown=str(file))
    return frame.height
