"""Find the few rows of one trip in a city's tables without reading the tables.

    rows_where(tables, "matched", pl.col("trip_id") == "17", MatchedTrip)  ->  [MatchedTrip(...)]

Filters are pushed down into the Parquet files: sorted ids let whole row groups be passed over.
"""

from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ContractError, SourceError
from pipeline.seals import sound_files
from pipeline.stages import STAGES

_Record = TypeVar("_Record")
CLOSE_IDS_COMPARED = 5000


class CityTables(NamedTuple):
    """The data folder of one city of a project."""

    root: Path
    city: str

    def files(self, name: str) -> list[Path]:
        """Return the Parquet files of an artifact, in order; none where it was never made."""
        path = artifact_path(ARTIFACTS[name], root=self.root, city=self.city)
        if path.is_dir():
            return sorted(path.glob("*.parquet"))
        return [path] if path.is_file() else []

    def rejection_files(self) -> list[Path]:
        """Return the files of rejections, one per stage that has run and can reject."""
        return sorted((self.root / "data" / self.city / "rejected").glob("*.parquet"))

    def maker_command(self, name: str, *, force: bool = False) -> str:
        """Return the command that makes an artifact: `dvc repro match@monaco`.

        `force`: even if DVC takes it for unchanged, as a damaged file may keep its time.
        """
        makers = [
            stage.name for stage in STAGES if name in (*stage.writes, f"{stage.name}_rejected")
        ]
        verb = "dvc repro -sf" if force and makers else "dvc repro"
        return f"{verb} {makers[0]}@{self.city}" if makers else verb

    def require(self, name: str) -> None:
        """Raise SourceError, naming the stage to run, when an artifact is not there."""
        if not self.files(name):
            command = self.maker_command(name)
            maker = command.rpartition(" ")[2]
            raise SourceError(
                f"data/{self.city}/{ARTIFACTS[name].path}: expected what {maker} writes, found"
                f" nothing; run `{command}`"
            )

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a lazy frame over all shards of an artifact that exists.

        Raises:
            SourceError: A shard is missing, or a byte of one has changed since it was written.
        """
        self.require(name)
        place = artifact_path(ARTIFACTS[name], root=self.root, city=self.city)
        files = sound_files(place, remedy=f"run `{self.maker_command(name, force=True)}`")
        # Only the rows the filter keeps are decoded; lists of points are most of a shard.
        return pl.scan_parquet(files, parallel="prefiltered")

    def collect(self, frame: pl.LazyFrame, name: str) -> pl.DataFrame:
        """Return the rows of a query on an artifact.

        Raises:
            SourceError: A file is unreadable, or went away while it was being read.
            ContractError: It lacks a column: it is of another version.
        """
        try:
            return frame.collect()
        except (OSError, pl.exceptions.ComputeError) as fault:
            raise SourceError(
                f"data/{self.city}/{name}: expected readable Parquet files, found"
                f" {' '.join(str(fault).split())}; if a stage is just writing them, try again, else"
                f" run `{self.maker_command(name)}`"
            ) from fault
        except pl.exceptions.PolarsError as fault:  # another column, or one of another type
            raise ContractError(
                f"data/{self.city}/{name}: expected the columns of its schema, found"
                f" {' '.join(str(fault).split())}; rebuild it with `{self.maker_command(name)}`"
            ) from fault


def rows_where(
    tables: CityTables, name: str, predicate: pl.Expr, record: type[_Record]
) -> list[_Record]:
    """Return the rows of an artifact that satisfy a predicate, as records.

    Returns:
        The records in the order of the shards; none when the artifact was never made.

    Raises:
        ContractError: A row does not fit its record: the artifact is from another version.
        SourceError: A file is unreadable, or went away while it was being read.
    """
    if not tables.files(name):
        return []
    return _records(tables.scan(name).filter(predicate), name, tables, record)


def rejections_where(
    tables: CityTables, predicate: pl.Expr, record: type[_Record]
) -> list[_Record]:
    """Return the rejections, of all stages, that satisfy a predicate."""
    files = tables.rejection_files()
    if not files:
        return []
    for file in files:
        sound_files(file, remedy=f"run `dvc repro -sf {file.stem}@{tables.city}`")
    return _records(pl.scan_parquet(files).filter(predicate), "rejected", tables, record)


def _records(
    frame: pl.LazyFrame, name: str, tables: CityTables, record: type[_Record]
) -> list[_Record]:
    rows = tables.collect(frame, name).to_dicts()
    try:
        return msgspec.convert(rows, list[record])  # type: ignore[valid-type]
    except msgspec.ValidationError as fault:
        raise ContractError(
            f"data/{tables.city}/{name}: expected rows of {record.__name__}, found {fault}; rebuild"
            f" it with `{tables.maker_command(name)}`"
        ) from fault


def close_ids(tables: CityTables, asked: str, *, columns: dict[str, str], limit: int) -> list[str]:
    """Return existing ids that resemble an id nobody knows, most alike first.

    Args:
        tables: The city.
        asked: The unknown id.
        columns: Artifact -> its id column; artifacts that were never made are passed over.
        limit: Most ids to return. Fewer when the city has fewer; none when it has none.
    """
    known = [
        tables.collect(tables.scan(name).select(id=column), name)
        for name, column in columns.items()
        if tables.files(name)
    ]
    if not known:
        return []
    ids = pl.concat(known).unique()
    head = pl.lit(False)
    for length in {len(asked), len(asked) * 3 // 4, len(asked) // 2, 3} - {0}:
        head = head | pl.col("id").str.starts_with(asked[:length])
    alike = head | pl.col("id").str.contains(asked, literal=True)
    found = ids.filter(alike).sort("id").head(CLOSE_IDS_COMPARED)["id"].to_list()
    if not found:
        found = ids.sort("id").head(CLOSE_IDS_COMPARED)["id"].to_list()
    matcher = SequenceMatcher(b=asked)
    return sorted(found, key=lambda one: (-_likeness(matcher, one), one))[:limit]


def _likeness(matcher: "SequenceMatcher[str]", one: str) -> float:
    matcher.set_seq1(one)
    return matcher.ratio()
