"""A town along one avenue for the tests of intents: a cell and a segment every 100 metres.

    town([block("Rua A"), block("Rua B", pois=[poi("Café", x_m=120, y_m=10)]), block("Rua C")])

Block i holds the segment <i> from x = 100 i to 100 (i + 1) metres at y = 0, and the cell
`cell_of(i)`; x runs east, y north.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import shapely

from pipeline.city.description import describe_cell
from pipeline.city.projection import UtmPlane
from pipeline.language.intent_settings import IntentsSettings
from pipeline.language.vocabulary import SCENARIOS
from pipeline.schemas import arrow_schema, schema_document
from pipeline.trips.phases import CompressSettings, compress_trips, ground_of
from tests.language.trips import START_S, cell_of

PLANE = UtmPlane(-8.6, 41.15)
BLOCK_M = 100.0
_ORIGIN = PLANE.to_metres(np.array([[-8.6, 41.15]]))[0]

SETTINGS = IntentsSettings(
    beside_m=40.0,
    anchor_m=60.0,
    places_per_phase=3,
    prefer_share=0.5,
    stay_share=0.5,
    heading_strength=0.7,
    turn_deg=60.0,
    few_turns_per_km=2.0,
    slow_kph=15.0,
    brisk_kph=30.0,
    counts=[0.15, 0.35, 0.30, 0.15, 0.05],
    weights=dict.fromkeys(SCENARIOS, 1.0),
    street_share=0.3,
    time_share=0.2,
)


class Town(NamedTuple):
    """The tables of a town."""

    roads: pl.DataFrame
    road_cells: pl.DataFrame
    cells: pl.DataFrame


def lon_lat(x_m: float, y_m: float) -> tuple[float, float]:
    """Return the coordinates of a point of the plane."""
    lon, lat = PLANE.to_degrees(np.array([_ORIGIN + np.array([x_m, y_m])]))[0]
    return float(lon), float(lat)


def poi(
    name: str | None,
    x_m: float,
    y_m: float,
    *,
    category: str | None = "cafe",
    id: str = "",  # noqa: A002
) -> dict[str, Any]:
    """Build a place of a cell; its id is its name unless given."""
    lon, lat = lon_lat(x_m, y_m)
    return {
        "id": id or name or "nameless",
        "name": name,
        "group": "dining",
        "category": category,
        "lon": lon,
        "lat": lat,
    }


def block(
    name: str | None = None,
    *,
    geo_tag: str = "URBAN/INLAND",
    natural: Sequence[str] = (),
    commercial: Sequence[str] = (),
    facilities: Sequence[str] = (),
    district: str | None = None,
    pois: Iterable[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Build one block of the avenue: the name of its segment, and its cell."""
    return {
        "name": name,
        "cell": {
            "geo_tag": geo_tag,
            "natural": list(natural),
            "commercial": list(commercial),
            "district": district,
            "district_method": "relation" if district else None,
            "pois": list(pois),
            "description": describe_cell(
                geo_tag,
                natural=natural,
                commercial=commercial,
                facilities=facilities,
                district=district,
            ),
        },
    }


def town(blocks: Sequence[dict[str, Any]]) -> Town:
    """Build the tables of an avenue; all columns of their schemas are there."""
    roads, road_cells, cells = [], [], []
    for i, said in enumerate(blocks):
        ends = [lon_lat(BLOCK_M * i, 0.0), lon_lat(BLOCK_M * (i + 1), 0.0)]
        roads.append(
            {"edge_id": str(i), "name": said["name"], "length_m": BLOCK_M, "bearing_deg": 90.0,
             "bearing_sin": 1.0, "bearing_cos": 0.0, "geometry": shapely.LineString(ends).wkb}
        )  # fmt: skip
        road_cells.append(
            {"edge_id": str(i), "cell": cell_of(i), "cells": [cell_of(i)], "share": 1.0,
             "cell_length_m": [BLOCK_M]}
        )  # fmt: skip
        lon, lat = lon_lat(BLOCK_M * (i + 0.5), 0.0)
        cells.append({"cell": cell_of(i), "lon": lon, "lat": lat, **said["cell"]})
    return Town(_table("road", roads), _table("road_cell", road_cells), _table("cell", cells))


def drive(
    trip_id: str, blocks: Sequence[int], *, off_from_m: float = 0.0, off_to_m: float = BLOCK_M
) -> dict[str, Any]:
    """Drive over blocks, ten seconds each."""
    times = [START_S + 10.0 * i for i in range(len(blocks) + 1)]
    return {
        "trip_id": trip_id,
        "edge_ids": [str(i) for i in blocks],
        "t_enter_s": times[:-1],
        "t_exit_s": times[1:],
        "off_from_m": off_from_m,
        "off_to_m": off_to_m,
    }


def matched(drives: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return drives as rows of `matched_trip`; none give an empty table."""
    return _table("matched_trip", drives)


def phased(drives: pl.DataFrame, on: Town) -> pl.DataFrame:
    """Compress drives as the `compress` stage does."""
    trips, _ = compress_trips(
        drives,
        ground_of(on.roads, on.road_cells, on.cells),
        time_zone="Europe/Lisbon",
        settings=CompressSettings(min_phases=2),
    )
    return trips


def _table(schema: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return a table of a schema, what the rows leave open from the schema's example."""
    example = schema_document(schema)["examples"][0]
    columns = arrow_schema(schema)
    table = pa.Table.from_pylist([example | row for row in rows], schema=columns)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
