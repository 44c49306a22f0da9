"""Hold data files against their schemas from outside, as somebody who received them would.

data/monaco/phased/part-00000.parquet: 651 records keep schemas/phased_trip.schema.json
"""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.artifacts import ARTIFACTS, Artifact
from pipeline.errors import ContractError, SourceError
from pipeline.schemas import arrow_schema, check_frame, check_record, check_rows, schema_document
from pipeline.seals import shards_in
from pipeline.tables import read_any_parquet

_REMEDY = "rebuild it with `dvc repro -sf STAGE@CITY`, or bring it anew"
SUFFIXES = (".parquet", ".json", ".jsonl")
# A source that holds an id three times has it rejected twice; a request has several attempts, a
# trip a verdict of each judge and ratings by each criterion.
REPEATABLE = frozenset({"rejection", "response", "judged_trip", "rating"})


class _KeysSeen:
    """The keys of one artifact, shard after shard, and the file each was first seen in."""

    def __init__(self, key: str) -> None:
        self._key, self._files = key, list[Path]()
        self._seen = pl.DataFrame(schema={"key": pl.String, "file": pl.UInt32})

    def add(self, frame: pl.DataFrame, file: Path) -> None:
        """Raise ContractError for the first key that was there before."""
        self._files.append(file)
        number = pl.lit(len(self._files) - 1, pl.UInt32)
        keys = frame.select(key=pl.col(self._key).cast(pl.String), file=number)
        self._seen = pl.concat([self._seen, keys])
        again = self._seen.filter(~pl.col("key").is_first_distinct())
        if again.height:
            key = again["key"][0]
            first = self._files[self._seen.filter(pl.col("key") == key)["file"][0]]
            where = "the same file" if first == file else str(first)
            raise ContractError(
                f"{file}: expected each {self._key} once, found {self._key}={key} again after"
                f" {where}; rerun the stage that wrote it"
            )


def validate_paths(paths: list[Path], *, schema: str | None, root: Path) -> Iterator[str]:
    """Check every record of the files, and of those below the folders; yield a line per file.

    Args:
        paths: Files or folders.
        schema: Short name of the schema; None = told from the place under data/<city>/.
        root: Root of the project.

    Raises:
        SourceError: A path is missing, holds nothing to check, or no schema is known for it.
            A Parquet file is damaged, or a shard is missing that the others list.
        ContractError: A record breaks its schema: names file, row, id, JSON path and rule; or the
            key of an artifact's row is there twice, in one shard or in two.
    """
    looked_at: set[Path] = set()
    whole: set[Path] = set()
    seen: dict[tuple[Path, str], _KeysSeen] = {}
    for path in paths:
        known = list(_known_files(path, schema, root.resolve()))
        if not known:
            raise SourceError(
                f"{path}: expected an artifact under data/<city>/, found no schema for it; name one"
                " with --schema (schemas/<NAME>.schema.json)"
            )
        for file, name, artifact in known:
            place = file.resolve()
            if place in looked_at:
                continue
            looked_at.add(place)
            keys = None
            if artifact is not None and name not in REPEATABLE and file.suffix == ".parquet":
                keys = seen.setdefault((place.parent, artifact.name), _KeysSeen(artifact.key))
            if artifact is not None and artifact.form == "shards" and place.parent not in whole:
                whole.add(place.parent)
                shards_in(file.parent, remedy=_REMEDY)
            count = _validate_file(file, name, keys)
            yield f"{file}: {count} records keep schemas/{name}.schema.json"


def _known_files(
    path: Path, schema: str | None, root: Path
) -> Iterator[tuple[Path, str, Artifact | None]]:
    """Yield the files at a path with their schema, and the artifact they are of, if of any.

    In a folder, files of somebody else's format lie among ours; a named file must be known.
    """
    for file in _files(path):
        artifact = _artifact_of(file.resolve(), root)
        name = schema or (artifact.schema if artifact else None)
        if name is not None:
            yield file, name, artifact if artifact and artifact.schema == name else None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(
            file
            for file in path.rglob("*")
            if file.suffix in SUFFIXES and ".writing" not in file.parts and file.is_file()
        )
    if not path.is_file():
        raise SourceError(f"{path}: expected a file or folder, found nothing; check the spelling")
    return [path]


def _artifact_of(file: Path, root: Path) -> Artifact | None:
    """Tell the artifact of a file from its place.

    data/release/<city>/ holds copies, laid out as data/<city>/release/ is.
    """
    if not file.is_relative_to(root / "data"):
        return None
    place = file.relative_to(root)
    if place.is_relative_to("data/release") and len(place.parts) > 3:
        place = Path("data", place.parts[2], "release", *place.parts[3:])
    for artifact in ARTIFACTS.values():
        pattern = Path(artifact.place.format(city="*", traces="raw"))
        at = place.parent if artifact.form == "shards" else place
        if len(at.parts) == len(pattern.parts) and at.match(str(pattern)):
            return artifact
    return None


def _validate_file(file: Path, name: str, keys: _KeysSeen | None) -> int:
    key = schema_document(name).get("required", ["id"])[0]
    if file.suffix == ".parquet":
        return _validate_parquet(file, name, key, keys)
    try:
        text = file.read_text("utf-8")
        if file.suffix == ".json":
            check_record(name, json.loads(text), where=str(file))
            return 1
        # Not splitlines: it also cuts at U+2028, which stands in a JSON string as it is.
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise SourceError(f"{file}: expected JSON, found {fault}; rebuild the file") from fault
    check_rows(name, rows, where=str(file), first_row=0, key=key)
    return len(rows)


def _validate_parquet(file: Path, name: str, key: str, keys: _KeysSeen | None) -> int:
    frame = read_any_parquet(file, remedy=_REMEDY)
    missing = sorted(set(arrow_schema(name).names) - set(frame.columns))
    if missing:
        raise SourceError(
            f"{file}: expected the columns of schemas/{name}.schema.json, found no"
            f" {', '.join(missing)}; is --schema right?"
        )
    check_frame(name, frame, where=str(file), key=key)
    if keys is not None:
        keys.add(frame, file)
    return frame.height
