"""A town whose trips are asked for by name and by description, for the tests of baselines."""

from pathlib import Path

import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.schemas import arrow_schema, schema_document
from pipeline.tables import read_table, write_table
from tests.tasks.town import TABLES, Trip, node_place, road_cells, roads, write_release

TRIPS = [
    Trip("a", "train", [0, 1, 2, 3, 13]),
    Trip("b", "train", [20, 21, 11, 1, 2]),
    Trip("c", "train", [40, 30, 20, 21, 22, 23, 24]),
    Trip("d", "val", [4, 3, 13, 23, 33]),
    Trip("e", "test", [0, 10, 20, 30, 40, 41]),
    Trip("f", "test", [44, 34, 33, 32, 31, 30]),
    Trip("g", "test", [2, 12, 22, 21, 20]),
]
SAID = {
    "a": "Along Street 1 to Street 104.",
    "b": "To a bakery, northeast all the way.",
    "c": "To the Corner Bank via Street 3.",
    "d": "Via Street 2 to a bakery, avoiding the park.",
    "e": "To Street 5, past the park.",
    "f": "To the Corner Bank, with a stop at a bakery.",
    "g": "Somewhere green, please.",
}
# What lies in the cell of the segment from a node to the next one east.
_PLACES = {1: ("bakery", "Baker One"), 30: ("bank", "Corner Bank"), 23: ("bakery", "Baker Two")}
_PARKS = (20, 33)


def write_asking_town(folder: Path) -> Path:
    """Write its release; return its folder."""
    write_release(folder, TRIPS)
    table = roads()
    cell_of = dict(road_cells(table).select("edge_id", "cell").iter_rows())
    example = schema_document("cell")["examples"][0]
    rows = {}
    for number, cell in enumerate(sorted(set(cell_of.values()))):
        empty = {"pois": [], "natural": [], "commercial": [], "district": "Middle"}
        rows[cell] = example | empty | {"cell": cell, "description": f"Place {number}"}
    for node, (category, name) in _PLACES.items():
        lon, lat = node_place(node)
        cell = cell_of[f"{1 + node // 10}:{node}:{node + 1}"]
        poi = {"id": f"n{node}", "name": name, "group": "shopping", "category": category}
        rows[cell]["pois"] = [*rows[cell]["pois"], poi | {"lon": lon + 1e-4, "lat": lat}]
        rows[cell]["description"] = f"Facilities: {category} | District: Middle"
    for node in _PARKS:
        cell = cell_of[f"{1 + node // 10}:{node}:{node + 1}"]
        rows[cell]["description"] = "GNN: GREEN/PARK | Natural: park | District: Middle"
    frame = pl.DataFrame(list(rows.values()), schema=pl.Schema(arrow_schema("cell")), orient="row")
    put(frame, folder / "ground/cells.parquet", "cells")
    for split in ("train", "val", "test"):
        file = folder / f"generation/{split}.parquet"
        told = read_table(file, ARTIFACTS["generation"])
        said = pl.col("trip_id").replace_strict(SAID)
        put(
            told.with_columns(pl.col("input").struct.with_fields(instruction=said)),
            file, "generation",
        )  # fmt: skip
    return folder


def put(frame: pl.DataFrame, file: Path, artifact: str) -> None:
    """Write a table in place of another."""
    write_table(frame, file, ARTIFACTS[artifact], shown=file.name)


def scramble(folder: Path, task: str) -> None:
    """Give val and test of a release the answers of other rows; to other tasks than one new inputs.

    The pool is what retrieval is asked about: for that task it stays.

    Args:
        folder: The release.
        task: The task whose inputs stay.
    """
    for table in TABLES if task != "retrieval" else set(TABLES) - {"candidates"}:
        for split in ("val", "test"):
            file = folder / f"{table}/{split}.parquet"
            frame = read_table(file, ARTIFACTS[table])
            kept = {"instance_id", "trip_id", "split", "city"}
            kept |= {"input"} if table == task else set()
            moved = [
                pl.col(one).shift(1).fill_null(pl.col(one).last())
                for one in frame.columns if one not in kept
            ]  # fmt: skip
            put(frame.with_columns(moved), file, table)
