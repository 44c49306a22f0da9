"""The only opener of data files: a stage reads and writes what its row in the table declares.

    with StageIO(stage, city="monaco", root=root, traces="data/monaco/simulated/traces") as io:
        io.write("roads", frame)     ->  validated, written aside, moved into place when the
                                         stage ends well; a failing stage leaves nothing behind

A stage of a city runs once at a time: a second run is refused while the first holds its lock. A
stage of the whole project has no city; it names one to read what belongs to it.
What a stage rejects goes to data/<city>/rejected/<stage>.parquet.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import polars as pl

from pipeline.artifacts import ARTIFACTS, Artifact, artifact_path
from pipeline.csv_files import csv_of
from pipeline.errors import ContractError, SourceError
from pipeline.lock import lock
from pipeline.progress import progress_bar
from pipeline.schemas import arrow_schema
from pipeline.seals import seal
from pipeline.stages import Stage
from pipeline.tables import (
    TableWriter,
    files_of,
    read_batches,
    read_json,
    read_table,
    rows_in,
    swap,
    write_json,
    write_table,
)
from pipeline.written import Written, note_written

_T = TypeVar("_T")


class StageIO:
    """The doors of one run of one stage: declared artifacts only, validated, atomic.

    Use as a context manager: on a clean exit everything written moves into place, on an exception
    it is removed. What a killed run left behind is removed when the stage starts again.

    Raises:
        PipelineError: Another run of the same stage of the same city is under way.
    """

    def __init__(
        self,
        stage: Stage,
        *,
        city: str | None,
        root: Path,
        traces: str | None = None,
        ledger: Path | None = None,
        replay: bool = False,
    ) -> None:
        """Open the doors of a stage.

        Args:
            stage: Its row of the stage table.
            city: Key of the city; None for a stage of the whole project.
            root: Root of the project.
            traces: Folder of the city's raw traces; only the artifact `traces` needs it.
            ledger: Folder of the response ledger; only a stage that asks a model needs it.
            replay: Whether such a stage must find every answer there.
        """
        self._stage, self._city, self._root, self._traces = stage, city, root, traces
        self._ledger, self.replay = ledger, replay
        self._run = f"{stage.name}@{city}" if city else stage.name
        self._aside = root / "data" / (city or "") / ".writing" / stage.name
        self._known = Written(root)
        self._written: set[str] = set()
        self._rejected: list[pl.DataFrame] = []

    def __enter__(self) -> Self:
        lock_file = self._aside.with_name(f"{self._stage.name}.lock")
        self._lock = lock(lock_file, self._run)
        try:
            shutil.rmtree(self._aside, ignore_errors=True)
            self._aside.mkdir()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._write_rejections()
                self._publish()
        finally:
            self._leave()

    def _leave(self) -> None:
        """Remove what lies aside and let the next run in; nothing here hides an earlier error."""
        shutil.rmtree(self._aside, ignore_errors=True)
        with suppress(OSError):
            Path(self._lock.name).unlink()
        self._lock.close()
        with suppress(OSError):  # other stages are still writing
            self._aside.parent.rmdir()

    @property
    def root(self) -> Path:
        """Return the root of the project, where dvc.lock lies."""
        return self._root

    # ---- reading --------------------------------------------------------------------------------

    def path(self, name: str, *, city: str | None = None) -> Path:
        """Return the path of a declared input, or where a declared output is being written.

        Outputs are written aside; parents exist. Use it for files in somebody else's format. Only a
        stage of the whole project names a city.
        """
        if name in self._stage.writes:
            self._written.add(name)
            return self._aside_path(ARTIFACTS[name])
        return self._input(name, city)

    def has(self, name: str) -> bool:
        """Tell whether a declared input is there (a city without a network extract has none)."""
        return self._location(self._declared(name, self._stage.reads, "reads")).exists()

    def read(self, name: str) -> pl.DataFrame:
        """Read a whole table, every shard of it, sorted as it was written."""
        return pl.concat(list(self.shards(name)))

    def read_json(self, name: str, *, city: str | None = None) -> dict[str, Any]:
        """Read a JSON record; only a stage of the whole project names a city."""
        return read_json(self._input(name, city), ARTIFACTS[name])

    def shards(self, name: str) -> Iterator[pl.DataFrame]:
        """Read a table one shard at a time (a plain table is one shard)."""
        for file in self._files(name):
            yield read_table(file, ARTIFACTS[name])

    def parts(self, name: str) -> Iterator[Iterator[pl.DataFrame]]:
        """Read a table shard by shard, and each shard a thousand rows at a time."""
        for file in self._files(name):
            yield read_batches(file, ARTIFACTS[name])

    def batches(self, name: str) -> Iterator[pl.DataFrame]:
        """Read a table a thousand rows at a time, however large its shards are."""
        return chain.from_iterable(self.parts(name))

    def columns(self, name: str, columns: Sequence[str]) -> pl.DataFrame:
        """Read some columns of a whole table, in this order; the others never come into memory."""
        files = self._files(name)
        return pl.concat([read_table(one, ARTIFACTS[name], columns=columns) for one in files])

    def rows(self, name: str) -> int:
        """Count the rows of a table by the feet of its files, without reading it."""
        return sum(rows_in(file, ARTIFACTS[name]) for file in self._files(name))

    def _files(self, name: str) -> list[Path]:
        path = self._input(name)
        files = files_of(path, ARTIFACTS[name])
        if not files:
            raise SourceError(
                f"{self._shown(path)}: expected Parquet shards, found none; run"
                f" `dvc repro {self._run}`"
            )
        return files

    @property
    def ledger_folder(self) -> Path:
        """Return where the response ledger lies, which DVC does not know of."""
        if not self._stage.asks or self._ledger is None:
            raise ContractError(
                f"stage {self._stage.name}: wants the response ledger, expected a stage that asks a"
                " model; set asks=True in its row of pipeline/stages.py"
            )
        return self._ledger

    # ---- writing --------------------------------------------------------------------------------

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Validate a table and write it as one Parquet file; columns may come in any order."""
        artifact = self._output(name, "table")
        write_table(frame, self._aside_path(artifact), artifact, shown=self._shown_final(artifact))

    def write_shards(self, name: str, frames: Iterable[pl.DataFrame]) -> None:
        """Validate and write one Parquet file per frame, as the frames arrive."""
        with self.open_shards(name) as writer:
            for frame in frames:
                writer.write(frame)

    @contextmanager
    def open_shards(self, name: str) -> Iterator["ShardWriter"]:
        """Give a writer for a stage that fills several artifacts at once, shard by shard.

        At the end each shard is told of the others, so that one that goes missing is named.
        """
        artifact = self._output(name, "shards")
        writer = ShardWriter(self._aside_path(artifact), artifact, self._shown_final(artifact))
        yield writer
        writer.list_shards()

    def write_csv(self, name: str, frame: pl.DataFrame) -> None:
        """Write a table for people and plots as CSV; no text of it is taken for a formula."""
        self.path(name).write_text(csv_of(frame), encoding="utf-8")

    def write_json(self, name: str, record: dict[str, Any]) -> None:
        """Validate a record and write it as indented JSON."""
        artifact = self._output(name, "json")
        write_json(record, self._aside_path(artifact), artifact, shown=self._shown_final(artifact))

    def reject(self, rejections: pl.DataFrame) -> None:
        """Record rejected items: columns item_id, stage, reason, detail. May be called often."""
        if not self._stage.rejects:
            raise ContractError(
                f"stage {self._stage.name}: expected no rejections, found {rejections.height};"
                " set rejects=True in its row of pipeline/stages.py"
            )
        if rejections.height:
            self._rejected.append(rejections)

    def scratch(self) -> Path:
        """Return a fresh empty folder for passing files; it is removed when the stage ends.

        It lies beside the data, on the disk the user has chosen to have room on.
        """
        return Path(tempfile.mkdtemp(prefix="scratch-", dir=self._aside))

    def progress(
        self, items: Iterable[_T], total: int | None, unit: str, desc: str
    ) -> Iterable[_T]:
        """Wrap a long loop in a progress bar named after stage and city."""
        name = f"{desc} {self._city or ''}".strip()
        return progress_bar(items, total=total, unit=unit, desc=name)

    def outcome(self) -> str:
        """Tell in one line what a stage that ended well made: rows of its tables, rejections.

        A second line warns where it refused every trip it was given.
        """
        made = {
            artifact: sum(
                rows_in(one, artifact) for one in files_of(self._location(artifact), artifact)
            )
            for artifact in map(ARTIFACTS.__getitem__, self._stage.writes)
            if artifact.form in {"table", "shards"}
        }
        words = [", ".join(f"{artifact.name} {rows:,}" for artifact, rows in made.items())]
        reasons = Counter(row for frame in self._rejected for row in frame["reason"])
        if self._stage.rejects:
            parts = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
            words.append(f"rejected {reasons.total():,}" + (f" ({parts})" if parts else ""))
        told = f"{self._run}: {'; '.join(filter(None, words)) or 'done'}"
        empty = [one.name for one, rows in made.items() if one.key == "trip_id" and not rows]
        if reasons and empty:
            shown = self._shown_final(self._stage.rejections())
            told += f"\nwarning: no trip is left in {', '.join(empty)}; {shown} has the reasons"
        return told

    # ---- inside ---------------------------------------------------------------------------------

    def _write_rejections(self) -> None:
        if not self._stage.rejects:
            return
        artifact = self._stage.rejections()
        columns = [field.name for field in arrow_schema("rejection")]
        empty = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        frame = pl.concat([empty, *(f.select(columns) for f in self._rejected)])
        frame = frame.sort(columns)
        write_table(frame, self._aside_path(artifact), artifact, shown=self._shown_final(artifact))

    def _publish(self) -> None:
        missing = sorted(set(self._stage.writes) - self._written)
        if missing:
            raise ContractError(
                f"stage {self._run}: expected it to write"
                f" {', '.join(missing)}, found nothing written; mend the stage"
            )
        artifacts = [ARTIFACTS[name] for name in self._stage.writes]
        if self._stage.rejects:
            artifacts.append(self._stage.rejections())
        for artifact in artifacts:
            target = self._location(artifact)
            target.parent.mkdir(parents=True, exist_ok=True)
            swap(self._aside_path(artifact), target, old=self._aside / "replaced" / artifact.path)
        unsealed = [self._location(one) for one in artifacts if not one.is_sealed]
        note_written(self._root, self._run, unsealed)

    def _declared(self, name: str, names: tuple[str, ...], verb: str) -> Artifact:
        if name not in names:
            raise ContractError(
                f"stage {self._stage.name}: {verb} {name!r}, expected one of"
                f" {', '.join(names) or 'nothing'}; declare it in pipeline/stages.py"
            )
        return ARTIFACTS[name]

    def _location(self, artifact: Artifact, city: str | None = None) -> Path:
        where = city or self._city
        return artifact_path(artifact, root=self._root, city=where, traces=self._traces)

    def _input(self, name: str, city: str | None = None) -> Path:
        artifact = self._declared(name, self._stage.reads, "reads")
        path = self._location(artifact, city)
        if not path.exists():
            check = f" or `python -m pipeline check {self._city}`" if self._city else ""
            raise SourceError(
                f"{self._shown(path)}: expected the artifact {name!r}, found nothing; run"
                f" `dvc repro {self._run}`{check}"
            )
        if not artifact.is_sealed:
            self._known.hold(path)
        return path

    def _output(self, name: str, form: str) -> Artifact:
        artifact = self._declared(name, self._stage.writes, "writes")
        if artifact.form != form:
            raise ContractError(
                f"stage {self._stage.name}: writes {name!r} as {form}, expected {artifact.form};"
                " see pipeline/artifacts.py"
            )
        self._written.add(name)
        return artifact

    def _aside_path(self, artifact: Artifact) -> Path:
        path = self._aside / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else str(path)

    def _shown_final(self, artifact: Artifact) -> str:
        return self._shown(self._location(artifact))


class ShardWriter:
    """Write the shards of one artifact in turn: part-00000.parquet, part-00001.parquet, ...

    A shard that means something by itself (a split) is given its name.
    """

    def __init__(self, folder: Path, artifact: Artifact, shown: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._artifact, self._shown = folder, artifact, shown
        self._shards: dict[str, TableWriter] = {}

    def write(self, frame: pl.DataFrame, *, part: str | None = None) -> None:
        """Validate one shard and write it."""
        with self.open(part=part) as shard:
            shard.write(frame)

    def open(self, *, part: str | None = None) -> TableWriter:
        """Return a writer of the next shard, for rows that arrive a few at a time."""
        name = f"{part or f'part-{len(self._shards):05d}'}.parquet"
        file, shown = self._folder / name, f"{self._shown}/{name}"
        self._shards[name] = TableWriter(file, self._artifact, shown=shown)
        return self._shards[name]

    def list_shards(self) -> None:
        """Write names and rows of all shards into each of them."""
        rows = {name: shard.rows for name, shard in sorted(self._shards.items())}
        for name in rows:
            seal(self._folder / name, rows)
