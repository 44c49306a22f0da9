"""Publish the release: the cities of params.yaml, with card, metadata and checksums.

data/release/
  README.md, croissant.json, SHA256SUMS     of all cities
  <city>/                                   a copy of data/<city>/release/, and the same three of
                                            this city alone, so that it can be fetched by itself

Run once for the whole project. A city that was removed from params.yaml is not in it, whatever
still lies on the disk; every copied file is held to the hash its city's contents state.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from pipeline.errors import ContractError, SourceError
from pipeline.hashes import sha256_of
from pipeline.params import CityEntry
from pipeline.release.card import card
from pipeline.release.croissant import TABLES, croissant
from pipeline.release.publication import Publication, PublishSettings
from pipeline.store import StageIO

# Artifact that holds each folder or file of a city's release.
_ARTIFACTS = {
    "ground/roads.parquet": "released_roads",
    "ground/road_cells.parquet": "released_road_cells",
    "ground/cells.parquet": "released_cells",
    "ground/names.parquet": "released_names",
    "ground/definitions.json": "released_definitions",
}


def run(io: StageIO, *, cities: dict[str, CityEntry], publish: PublishSettings) -> None:
    """Copy the releases of all cities together and describe them."""
    folder = io.path("published")
    # Sorted: DVC compares mappings without regard to order, so order must change nothing.
    records = [io.read_json("contents", city=city) for city in sorted(cities)]
    if not any(record["loss"]["released"]["trips"] for record in records):
        raise SourceError(
            f"publish: expected a released trip in {', '.join(sorted(cities))}, found none; see"
            " `python -m pipeline loss` for where they went"
        )
    for record in io.progress(records, len(records), "city", "publish"):
        city = record["city"]
        for file in record["files"]:
            _copy(_original(io, city, file["path"]), folder / city / file["path"], file["sha256"])
        _write_json(folder / city / "contents.json", record)
        _describe(folder / city, Publication(publish, [record], alone=True))
    _describe(folder, Publication(publish, records, alone=False))


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS over every other file of a folder, as `sha256sum -c` reads it."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    lines = [f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


def _original(io: StageIO, city: str, path: str) -> Path:
    tables = (*TABLES, *_ARTIFACTS)
    table = next(one for one in tables if path == one or path.startswith(f"{one}/"))
    place = io.path(_ARTIFACTS.get(table, table), city=city)
    return place / path.removeprefix(f"{table}/") if place.is_dir() else place


def _copy(original: Path, copy: Path, sha256: str) -> None:
    """Copy a file that must have the hash its city's contents state."""
    if not original.is_file() or sha256_of(original) != sha256:
        raise ContractError(
            f"{original}: expected the file that data/contents/{copy.parts[-3]}.json names, found"
            f" {'another' if original.is_file() else 'none'}; run `dvc checkout`, or `dvc repro`"
        )
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(original, copy)


def _describe(folder: Path, publication: Publication) -> None:
    (folder / "README.md").write_text(card(publication), "utf-8")
    _write_json(folder / "croissant.json", croissant(publication))
    write_sums(folder)


def _write_json(file: Path, record: dict[str, Any]) -> None:
    file.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
