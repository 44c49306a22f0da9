"""A town of straight streets and its release: all that a scorer reads, made by arithmetic.

Node 10 * row + column lies 100 m east and north of its neighbours. Street r runs along row r (ways
1, 2, ...), street c along column c (ways 101, 102, ...); all are driven both ways but those of
`one_way`, which run east or north. `way:u:v` is the segment from u to v.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
import shapely

from pipeline.artifacts import ARTIFACTS
from pipeline.city.hexgrid import cell_name, cells_at
from pipeline.language.intent_settings import IntentsSettings
from pipeline.params import Parameters
from pipeline.release.definitions import Definitions, definitions_record
from pipeline.release.instances import NUMBERS, STYLES
from pipeline.release.splits import SPLITS
from pipeline.schemas import arrow_schema, schema_document
from pipeline.tables import write_table

ROOT = Path(__file__).resolve().parents[2]
CITY = "toy"
LON, LAT = 24.94, 60.17
BLOCK_M = 100.0
# Degrees of 100 m there: WGS84 radii at 60.17 degrees north.
EAST_DEG, NORTH_DEG = BLOCK_M / 55510.0, BLOCK_M / 111420.0
TABLES = {
    "generation": "generation_instance",
    "retrieval": "retrieval_instance",
    "captioning": "caption_instance",
    "candidates": "retrieval_candidate",
}


class Trip(NamedTuple):
    """A trip of the town: nodes it passes, in order."""

    trip_id: str
    split: str
    nodes: Sequence[int]
    scenarios: Sequence[str] = ("1.1",)


def node_place(node: int) -> tuple[float, float]:
    """Return longitude and latitude of a node."""
    return LON + node % 10 * EAST_DEG, LAT + node // 10 * NORTH_DEG


def segment(u: int, v: int) -> str:
    """Return the id of the segment between two neighbours."""
    way = 1 + u // 10 if u // 10 == v // 10 else 101 + u % 10
    return f"{way}:{u}:{v}"


def route(*nodes: int) -> list[str]:
    """Return the segments from node to node."""
    return [segment(u, v) for u, v in pairwise(nodes)]


def roads(size: int = 5, one_way: Sequence[int] = ()) -> pl.DataFrame:
    """Return the roads of a town of size x size nodes; `one_way` lists ways."""
    at = [10 * row + column for row in range(size) for column in range(size)]
    forward = [(n, n + 1) for n in at if n % 10 < size - 1]
    forward += [(n, n + 10) for n in at if n // 10 < size - 1]
    rows = []
    for u, v in forward:
        alone = int(segment(u, v).split(":")[0]) in one_way
        rows.append(_road(u, v, oneway=alone))
        if not alone:
            rows.append(_road(v, u, oneway=False))
    return pl.DataFrame(rows, schema=_schema("road"), orient="row").sort("edge_id")


def _road(u: int, v: int, *, oneway: bool) -> dict[str, Any]:
    edge_id, (u_place, v_place) = segment(u, v), map(node_place, (u, v))
    return {
        "edge_id": edge_id, "way_id": int(edge_id.split(":")[0]), "u": u, "v": v,
        "forward": u < v, "oneway": oneway, "name": f"Street {edge_id.split(':')[0]}",
        "name_en": None, "ref": None, "highway": "residential", "length_m": BLOCK_M,
        "bearing_deg": 0.0, "bearing_sin": 0.0, "bearing_cos": 1.0, "speed_kph": 30.0,
        "speed_source": "class", "u_lon": u_place[0], "u_lat": u_place[1],
        "v_lon": v_place[0], "v_lat": v_place[1],
        "geometry": shapely.to_wkb(shapely.LineString([u_place, v_place])),
    }  # fmt: skip


def road_cells(table: pl.DataFrame) -> pl.DataFrame:
    """Return the cell of each segment: that of its middle."""
    middle = table.select(
        lon=(pl.col("u_lon") + pl.col("v_lon")) / 2, lat=(pl.col("u_lat") + pl.col("v_lat")) / 2
    )
    found = cells_at(middle["lon"].to_numpy(), middle["lat"].to_numpy(), 10)
    names = [cell_name(int(one)) for one in found]
    return pl.DataFrame(
        {
            "edge_id": table["edge_id"], "cell": names, "share": [1.0] * len(names),
            "cells": [[one] for one in names], "cell_length_m": [[BLOCK_M]] * len(names),
        },
        schema=_schema("road_cell"),
    )  # fmt: skip


def definitions(city: str = CITY) -> Definitions:
    """Return what the words of the town's releases mean."""
    record = definitions_record(
        Parameters(ROOT).section("intents", IntentsSettings),
        city=city,
        time_zone="Europe/Helsinki",
        h3_resolution=10,
        near_jaccard=0.8,
    )
    return msgspec.convert(record, Definitions)


def write_release(
    folder: Path, trips: Sequence[Trip], *, one_way: Sequence[int] = (), city: str = CITY
) -> Path:
    """Write a release of some trips; return its folder."""
    table = roads(one_way=one_way)
    cells = road_cells(table)
    cell_of = dict(zip(cells["edge_id"], cells["cell"], strict=True))
    for artifact in TABLES:
        for split in SPLITS:
            of_split = [one for one in trips if one.split == split]
            rows = [row for trip in of_split for row in _rows(artifact, trip, city, cell_of)]
            _write(folder / artifact / f"{split}.parquet", artifact, rows)
    _write(folder / "ground/roads.parquet", "roads", table)
    _write(folder / "ground/road_cells.parquet", "road_cells", cells)
    _write(folder / "ground/cells.parquet", "cells", [])
    names = [
        {"name": one, "kind": "road", "id": f"w{k}", "lon": LON, "lat": LAT}
        for k, one in enumerate(table["name"].unique().sort())
    ]
    _write(folder / "ground/names.parquet", "names", names)
    defined = msgspec.to_builtins(definitions(city))
    (folder / "ground/definitions.json").write_text(json.dumps(defined), "utf-8")
    return folder


def _rows(artifact: str, trip: Trip, city: str, cell_of: dict[str, str]) -> list[dict[str, Any]]:
    edges = route(*trip.nodes)
    cells = [cell_of[one] for one in edges]
    changes = [k for k in range(len(cells)) if k == 0 or cells[k] != cells[k - 1]]
    path = {
        "edge_ids": edges,
        "t_enter_s": [1402715460.0 + 12 * k for k in range(len(edges))],
        "off_from_m": 0.0,
        "off_to_m": BLOCK_M,
        "cells": [cells[k] for k in changes],
        "cell_edges": np.diff([*changes, len(cells)]).tolist(),
    }
    row: dict[str, Any] = json.loads(json.dumps(schema_document(TABLES[artifact])["examples"][0]))
    row |= {"city": city, "trip_id": trip.trip_id, "split": trip.split}
    if artifact == "candidates":
        return [row | path | {"length_m": BLOCK_M * len(edges)}]
    if artifact != "captioning":
        last = f"Street {edges[-1].split(':')[0]}"
        target = row["evidence"]["targets"][0] | {"kind": "road", "names": [last], "ids": []}
        targets = [target | {"scenario": one} for one in trip.scenarios]
        row["evidence"] = row["evidence"] | {"targets": targets, "constraints": targets}
    rows = []
    for key in {"generation": STYLES, "retrieval": NUMBERS, "captioning": NUMBERS[:1]}[artifact]:
        named = {"instance_id": f"{city}/{trip.trip_id}/{artifact}/{key}"}
        named |= {"style" if artifact == "generation" else "number": key}
        rows.append(row | named | _task(artifact, row, trip, path))
    return rows


def _task(artifact: str, row: dict[str, Any], trip: Trip, path: dict[str, Any]) -> dict[str, Any]:
    """Return input and target of one instance, and the scenarios drawn for it."""
    if artifact == "generation":
        start = {"start_edge": path["edge_ids"][0], "start_time_s": path["t_enter_s"][0]}
        draws = row["provenance"]["draws"] | {"scenarios": list(trip.scenarios)}
        return {
            "input": row["input"] | start,
            "target": path,
            "provenance": row["provenance"] | {"draws": draws},
        }
    if artifact == "retrieval":
        return {"target": {"trip_id": trip.trip_id, "same_route": [], **path}}
    return {"input": row["input"] | path, "target": {"caption": f"Trip {trip.trip_id}."}}


def _schema(name: str) -> pl.Schema:
    return pl.Schema(arrow_schema(name))


def _write(file: Path, artifact: str, rows: Any) -> None:
    kept = ARTIFACTS[artifact]
    assert kept.schema is not None
    frame = pl.DataFrame(rows, schema=_schema(kept.schema), orient="row")
    write_table(frame, file, kept, shown=file.name)
