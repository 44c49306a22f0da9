"""Hold data files against their schemas and checksums, as somebody who received them would.

    data/monaco/phased/part-00000.parquet: 651 records keep schemas/phased_trip.schema.json
    data/monaco/simulated/traces: 3 files as recorded
    release/SHA256SUMS: 19 files as listed

Parquet files hold their own checksums. What else a project's stages have written is held to their
records (`written`), and a released folder, wherever it lies, to its SHA256SUMS.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.artifacts import ARTIFACTS, Artifact
from pipeline.errors import ContractError, PipelineError, SourceError
from pipeline.hashes import sha256_of
from pipeline.schemas import arrow_schema, check_frame, check_record, check_rows, schema_document
from pipeline.seals import shard_faults
from pipeline.tables import read_any_parquet, remedy_of_damage
from pipeline.written import FOLDER, Written

SUMS = "SHA256SUMS"
SUFFIXES = (".parquet", ".json", ".jsonl")
# What is being written, and the records of runs.
_HIDDEN = frozenset({".writing", FOLDER})
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
            self._seen = self._seen.filter(pl.col("key").is_first_distinct())
            where = "the same file" if first == file else str(first)
            raise ContractError(
                f"{file}: expected each {self._key} once, found {self._key}={key} again after"
                f" {where}; rerun the stage that wrote it"
            )


def validate_paths(paths: list[Path], *, schema: str | None, root: Path) -> Iterator[str]:
    """Check the files, and those below the folders, to the last one; yield a line per sound file.

    Args:
        paths: Files or folders.
        schema: Short name of the schema; None = told from the place under data/<city>/.
        root: Root of the project.

    Raises:
        SourceError: A path is missing, or holds nothing to check. After all files: of each that is
            damaged, or another than was recorded, and of each shard that is missing, a line.
        ContractError: The same where a record breaks its schema: names file, row, id, JSON path and
            rule; or the key of an artifact's row is there twice, in one shard or in two.
    """
    checks = _Checks(root.resolve())
    for path in paths:
        yield from checks.path(path, schema)
    checks.end()


class _Checks:
    """The checks of one call: each file once, its faults kept until all have been looked at."""

    def __init__(self, root: Path) -> None:
        self._root, self._written = root, Written(root)
        self._looked_at: set[Path] = set()
        self._seen: dict[tuple[Path, str], _KeysSeen] = {}
        self._faults: dict[Path, PipelineError] = {}

    def path(self, path: Path, schema: str | None) -> Iterator[str]:
        """Check what lies at a path; yield a line on what is sound."""
        known = list(_known_files(path, schema, self._root))
        recorded = [place for place in self._written.paths() if _overlap(place, path.resolve())]
        sums = sorted(path.rglob(SUMS)) if path.is_dir() else []
        if not (known or recorded or sums):
            raise SourceError(
                f"{path}: expected an artifact under data/<city>/, found no schema for it; name one"
                " with --schema (schemas/<NAME>.schema.json)"
            )
        for file, name, artifact in known:
            if self._is_new(file):
                yield from self._records(file, name, artifact)
        for file in filter(self._is_new, sums):
            yield from self._listed(file)
        for place in filter(self._is_new, recorded):
            yield from self._recorded(place)

    def end(self) -> None:
        """Raise the one fault that was found, or one error with a line for each."""
        faults = list(self._faults.values())
        if len(faults) > 1:
            count = f"expected sound files, found {len(faults)} faults"
            raise type(faults[0])(count, more="\n".join(map(str, faults)))
        for fault in faults:
            raise fault

    def _is_new(self, file: Path) -> bool:
        place = file.resolve()
        new = place not in self._looked_at
        self._looked_at.add(place)
        return new

    def _is_damaged(self, place: Path) -> bool:
        return any(file.is_relative_to(place.resolve()) for file in self._faults)

    def _fault(self, file: Path, fault: PipelineError) -> None:
        self._faults.setdefault(file.resolve(), fault)

    def _records(self, file: Path, name: str, artifact: Artifact | None) -> Iterator[str]:
        place, keys = file.resolve(), None
        if artifact is not None and name not in REPEATABLE and file.suffix == ".parquet":
            keys = self._seen.setdefault((place.parent, artifact.name), _KeysSeen(artifact.key))
        remedy = "bring it anew" if artifact is None else remedy_of_damage(file, artifact)
        if artifact is not None and artifact.form == "shards" and self._is_new(file.parent):
            for shard, message in shard_faults(file.parent, remedy=remedy).items():
                self._fault(shard, SourceError(message))
        if place in self._faults:
            return
        try:
            if file.suffix != ".parquet":
                self._written.hold(place)
            count = _validate_file(file, name, keys, remedy)
        except (SourceError, ContractError) as fault:
            self._fault(file, fault)
        else:
            yield f"{file}: {count} records keep schemas/{name}.schema.json"

    def _listed(self, sums: Path) -> Iterator[str]:
        """Compare the files of a released folder with its list."""
        lines = [line.partition("  ") for line in sums.read_text("utf-8").splitlines()]
        for sha256, _, name in lines:
            file = sums.parent / name
            found = sha256_of(file) if file.is_file() else "nothing"
            if found != sha256:
                self._fault(
                    file,
                    SourceError(
                        f"{file}: expected sha256 {sha256}, which {sums} lists, found {found};"
                        " bring the folder anew, or make it with `dvc repro -sf publish`"
                    ),
                )
        if not self._is_damaged(sums.parent):
            yield f"{sums}: {len(lines)} files as listed"

    def _recorded(self, place: Path) -> Iterator[str]:
        """Compare what has no schema, or no single one, with the records of the run."""
        if self._is_damaged(place):
            return
        for file, message in self._written.faults(place).items():
            self._fault(file, SourceError(message))
        if not self._is_damaged(place):
            shown = place.relative_to(self._root)
            files = sum(file.is_file() for file in place.rglob("*")) if place.is_dir() else 1
            yield f"{shown}: {files} file{'' if files == 1 else 's'} as recorded"


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


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
            if file.suffix in SUFFIXES and not _HIDDEN & {*file.parts} and file.is_file()
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


def _validate_file(file: Path, name: str, keys: _KeysSeen | None, remedy: str) -> int:
    key = schema_document(name).get("required", ["id"])[0]
    if file.suffix == ".parquet":
        return _validate_parquet(file, name, key, keys, remedy)
    try:
        text = file.read_text("utf-8")
        if file.suffix == ".json":
            check_record(name, json.loads(text), where=str(file))
            return 1
        # Not splitlines: it also cuts at U+2028, which stands in a JSON string as it is.
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise SourceError(f"{file}: expected JSON, found {fault}; {remedy}") from fault
    check_rows(name, rows, where=str(file), first_row=0, key=key)
    return len(rows)


def _validate_parquet(file: Path, name: str, key: str, keys: _KeysSeen | None, remedy: str) -> int:
    frame = read_any_parquet(file, remedy=remedy)
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
