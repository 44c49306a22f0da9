"""Open the release of one city: what a model may see of it, and what only a scorer may.

    release = open_release(Path("data/release/helsinki"))
    release.inputs("generation", "test")      instance_id, instruction, start_edge, ...; no target
    release.instances("generation", "test")   all columns: for scorers
    release.roads, release.road_cells, release.cells, release.names

The folder is data/release/<city> of a published data set or data/<city>/release of a built one.
Files are read when they are first needed, so a task that needs no names runs without them.
"""

import hashlib
import json
from functools import cached_property
from pathlib import Path

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.release.definitions import Definitions
from pipeline.release.splits import SPLITS
from pipeline.tables import read_json, read_table
from pipeline.tasks.view import ModelView

TASKS = ("generation", "retrieval", "captioning")
_POOL = "candidates"
_GROUND = ("roads", "road_cells", "cells", "names")
_DEFINITIONS = "ground/definitions.json"


def open_release(folder: Path) -> "Release":
    """Return the release in a folder.

    Raises:
        SourceError: The folder or one of its tables of instances or candidates is missing, the
            release is empty, or it mixes cities.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder}: expected the folder of a release, such as data/release/helsinki, found"
            " none; get it with `dvc pull` or build it with `dvc repro`"
        )
    for table in (*TASKS, _POOL):
        for split in SPLITS:
            _existing(folder / table / f"{split}.parquet", folder)
    cities: set[str] = set()
    for split in SPLITS:
        pool = read_table(folder / _POOL / f"{split}.parquet", ARTIFACTS[_POOL], columns=["city"])
        cities |= set(pool["city"].unique())
    if len(cities) != 1:
        found = ", ".join(sorted(cities)) or "no trip"
        raise SourceError(
            f"{folder}: expected the released trips of one city, found {found}; name the folder of"
            " one city"
        )
    return Release(folder, cities.pop())


class Release:
    """A release of one city, read from its files alone."""

    def __init__(self, folder: Path, city: str) -> None:
        self.folder, self.city = folder, city

    def instances(self, task: str, split: str) -> pl.DataFrame:
        """Read the instances of a task and split with all columns: targets are for scorers."""
        return self._read(f"{task}/{split}", task)

    def inputs(self, task: str, split: str) -> pl.DataFrame:
        """Read what a model may see of the instances.

        Returns:
            instance_id and the fields of `input`; of the split train also `target`, which a model
            may learn from. Nothing else, whatever the split.
        """
        shown = ["input", "target"] if split == "train" else ["input"]
        table = self._read(f"{task}/{split}", task, columns=["instance_id", *shown])
        return table.unnest("input")

    def for_models(self, task: str) -> ModelView:
        """Return what models of a task may see: all that a baseline is ever handed."""
        return ModelView(self, task)

    def candidates(self, split: str) -> pl.DataFrame:
        """Read the trips of a split: paths and times, no text.

        A model may see them as the pool of retrieval alone; those of train it may see always.
        """
        return self._read(f"{_POOL}/{split}", _POOL)

    def instance_splits(self, task: str) -> pl.DataFrame:
        """Read instance_id and split of all instances of a task."""
        columns = ["instance_id", "split"]
        return pl.concat(self._read(f"{task}/{split}", task, columns=columns) for split in SPLITS)

    @cached_property
    def name(self) -> str:
        """The city's name in texts, as its contents tell it.

        Raises:
            SourceError: There is no contents.json: beside the tables of a published release, in
                data/contents/ of a built one.
        """
        published = self.folder / "contents.json"
        built = self.folder.resolve().parent.parent / "contents" / f"{self.city}.json"
        for file in (published, built):
            if file.is_file():
                return str(json.loads(file.read_bytes())["name"])
        raise SourceError(
            f"{published}: expected the contents of the release, found neither this file nor"
            f" {built}; get it with `dvc pull`, or build it with `dvc repro publish`"
        )

    @cached_property
    def roads(self) -> pl.DataFrame:
        """The directed road segments (schema road)."""
        return self._read("ground/roads", "roads")

    @cached_property
    def road_cells(self) -> pl.DataFrame:
        """The H3 cells of each segment (schema road_cell)."""
        return self._read("ground/road_cells", "road_cells")

    @cached_property
    def cells(self) -> pl.DataFrame:
        """What lies in each H3 cell (schema cell)."""
        return self._read("ground/cells", "cells")

    @cached_property
    def names(self) -> pl.DataFrame:
        """The names of the city (schema city_name)."""
        return self._read("ground/names", "names")

    @cached_property
    def definitions(self) -> Definitions:
        """What its constraints mean: thresholds and word lists (schema definitions)."""
        file = _existing(self.folder / _DEFINITIONS, self.folder)
        record = read_json(file, ARTIFACTS["released_definitions"])
        return msgspec.convert(record, Definitions)

    def hash(self) -> str:
        """Return the SHA-256 over paths and hashes of all tables, so that a report can name them.

        Equal for a built and a published copy of the same tables.
        """
        return self._hash

    @cached_property
    def _hash(self) -> str:
        tables = [f"{table}/{split}.parquet" for table in (*TASKS, _POOL) for split in SPLITS]
        tables += [*(f"ground/{name}.parquet" for name in _GROUND), _DEFINITIONS]
        digest = hashlib.sha256()
        for table in sorted(tables):
            file = self.folder / table
            if file.exists():
                digest.update(f"{table}\0{sha256_of(file)}\n".encode())
        return digest.hexdigest()

    def _read(self, table: str, artifact: str, *, columns: list[str] | None = None) -> pl.DataFrame:
        file = _existing(self.folder / f"{table}.parquet", self.folder)
        return read_table(file, ARTIFACTS[artifact], columns=columns)


def _existing(file: Path, folder: Path) -> Path:
    if not file.is_file():
        raise SourceError(
            f"{file}: expected this table of the release {folder}, found none; get it with `dvc"
            " pull`, or build it with `dvc repro release@CITY` and `dvc repro publish`"
        )
    return file
