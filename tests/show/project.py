"""A tiny project on disk: four streets, one trip with a spike and a break, told as three phases.

Nodes 1, 2, 3 lie 222 m apart from west to east, 4 lies 222 m north of 3, 5 is 222 m east of 4.
Trip 17 is driven 1 -> 2 -> 3 -> 4, breaks, and goes on 4 -> 5 as drive 17_p2, which is too short
to be told. Raw point 3 is a spike, raw point 6 is kept but lies on no road.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import shapely

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.city.hexgrid import cell_name, cell_number, cells_at, neighbours
from pipeline.schemas import arrow_schema
from pipeline.tables import write_table

CITY = "tiny"
START_S = 1372636858.0  # 2013-07-01 03:00:58 in Helsinki
LON, LAT, EAST, NORTH = 24.94, 60.17, 0.004, 0.002  # 222 m east and 223 m north
NODES = {
    1: (LON, LAT),
    2: (LON + EAST, LAT),
    3: (LON + 2 * EAST, LAT),
    4: (LON + 2 * EAST, LAT + NORTH),
    5: (LON + 3 * EAST, LAT + NORTH),
    90: (LON + 1.0, LAT),
    91: (LON + 1.01, LAT),
}
NASTY = '<b>Nä & "Kulma"</b></script><script>window.hacked = 1</script>'
STREETS = (  # way, u, v, name, highway
    (1, 1, 2, "Itäkatu", "residential"),
    (1, 2, 1, "Itäkatu", "residential"),
    (1, 2, 3, "Itäkatu", "residential"),
    (2, 3, 4, NASTY, "tertiary"),
    (3, 4, 5, None, "service"),
    (9, 90, 91, "Kaukotie", "motorway"),
)
PLACE = "Café <i>Näkö</i>"
SPIKE, OUTLIER = 3, 6
SPIKE_AT = (25.3, 60.4)


def write_project(root: Path) -> Path:
    """Write params.yaml, configs/tiny.yaml and every artifact; return the project's root."""
    (root / "configs").mkdir()
    (root / "params.yaml").write_text("cities:\n  tiny: {traces: data/tiny/raw/traces}\n")
    (root / "configs/tiny.yaml").write_text("time_zone: Europe/Helsinki\n")
    put(root, "roads", _roads())
    put(root, "cells", _cells())
    put(root, "raw_trips", [raw_trip(), *(_rejected_raw(i) for i in (18, 171))])
    put(root, "cleaned", [cleaned_trip()])
    put(root, "matched", matched_trips())
    put(root, "matched_points", [matched_points()])
    put(root, "phased", [phased_trip()])
    reject(root, "ingest", [(str(i), "too_few_points", "2 points as read") for i in (18, 171)])
    reject(root, "match", [])
    reject(root, "compress", [("17_p2", "too_few_phases", "1 phase, expected at least 2")])
    manifest = root / f"data/{CITY}/osm/manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"attribution": "(c) OpenStreetMap contributors"}))
    return root


def put(root: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Write an artifact through the store's own door, in two shards where it has shards."""
    artifact = ARTIFACTS[name]
    path = artifact_path(artifact, root=root, city=CITY)
    if artifact.form == "shards":
        for number, part in enumerate((rows[:1], rows[1:])):
            file = path / f"part-{number:05d}.parquet"
            write_table(_frame(part, name), file, artifact, shown=file.name)
    else:
        write_table(_frame(rows, name), path, artifact, shown=path.name)


def reject(root: Path, stage: str, rejections: list[tuple[str, str, str]]) -> None:
    """Write what a stage rejected: item_id, reason, detail."""
    rows = [
        {"item_id": item, "stage": stage, "reason": reason, "detail": detail}
        for item, reason, detail in rejections
    ]
    put(root, f"{stage}_rejected", rows)


def _frame(rows: list[dict[str, Any]], name: str) -> pl.DataFrame:
    import pyarrow as pa  # noqa: PLC0415 - only here

    table = pa.Table.from_pylist(rows, schema=arrow_schema(str(ARTIFACTS[name].schema)))
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _roads() -> list[dict[str, Any]]:
    rows = []
    for way, u, v, name, highway in STREETS:
        north = NODES[v][1] > NODES[u][1]
        bearing, sine, cosine = (0.0, 0.0, 1.0) if north else (90.0, 1.0, 0.0)
        rows.append(
            {
                "edge_id": f"{way}:{u}:{v}",
                "way_id": way,
                "u": u,
                "v": v,
                "forward": True,
                "oneway": way != 1,
                "name": name,
                "name_en": None,
                "ref": None,
                "highway": highway,
                "length_m": 223.0 if north else 222.0,
                "bearing_deg": bearing,
                "bearing_sin": sine,
                "bearing_cos": cosine,
                "speed_kph": 30.0,
                "speed_source": "class",
                "u_lon": NODES[u][0],
                "u_lat": NODES[u][1],
                "v_lon": NODES[v][0],
                "v_lat": NODES[v][1],
                "geometry": shapely.to_wkb(shapely.LineString([NODES[u], NODES[v]])),
            }
        )
    return rows


def _cells() -> list[dict[str, Any]]:
    """Return the cells of the phases; the places all lie in the first, for brevity."""
    spots = (("n1", PLACE, NODES[3]), ("n2", "Far away", NODES[90]), ("n3", None, NODES[2]))
    places = [
        {"id": key, "name": name, "group": "dining", "category": "coffee_shop", "lon": x, "lat": y}
        for key, name, (x, y) in spots
    ]
    return [
        {
            "cell": cell,
            "lon": LON,
            "lat": LAT,
            "pois": places if number == 0 else [],
            "natural": [],
            "commercial": ["dining"],
            "public_facilities": [],
            "residential": "none",
            "class_lengths_m": [{"highway": "residential", "length_m": 222.0}],
            "neighbours": [cell_name(near) for near in neighbours(cell_number(cell))],
            "district": None,
            "district_method": None,
            "geo_tag": "URBAN/INLAND",
            "geo_tag_source": "rule",
            "geo_tag_confidence": 0.9,
            "description": "GNN: URBAN/INLAND",
            "narrative": "",
        }
        for number, cell in enumerate(sorted(set(phase_cells())))
    ]


def _track() -> list[tuple[float, float]]:
    """Return ten raw points, 15 s apart: six along the first road, three north, one east."""
    points = [(LON + 0.0016 * i, LAT) for i in range(6)]
    points += [(LON + 2 * EAST, LAT + share * NORTH) for share in (0.2, 0.5, 1.0)]
    points += [(LON + 2.5 * EAST, LAT + NORTH)]
    points[SPIKE] = SPIKE_AT
    return points


def raw_trip() -> dict[str, Any]:
    points = _track()
    decisions = ["spike" if i == SPIKE else "kept" for i in range(len(points))]
    return {
        "raw_trip_id": "17",
        "vehicle_id": "taxi 4",
        "t": [START_S + 15.0 * i for i in range(len(points))],
        "lon": [lon for lon, _ in points],
        "lat": [lat for _, lat in points],
        "edge_ids": [],
        "decisions": decisions,
        "outcome": "cleaned",
        "trip_ids": ["17"],
    }


def _rejected_raw(number: int) -> dict[str, Any]:
    return raw_trip() | {
        "raw_trip_id": str(number),
        "t": [START_S, START_S + 15.0],
        "lon": [LON, LON],
        "lat": [LAT, LAT],
        "decisions": ["too_few_points"] * 2,
        "outcome": "too_few_points",
        "trip_ids": [],
    }


def cleaned_trip() -> dict[str, Any]:
    raw = raw_trip()
    kept = [i for i, decision in enumerate(raw["decisions"]) if decision == "kept"]
    columns = {name: [raw[name][i] for i in kept] for name in ("t", "lon", "lat")}
    return {
        "trip_id": "17",
        "raw_trip_id": "17",
        "vehicle_id": "taxi 4",
        "raw_index": kept,
        "edge_ids": [],
        "notes": [],
        "simulated": True,
        **columns,
    }


def matched_trips() -> list[dict[str, Any]]:
    shared = {"cleaned_trip_id": "17", "confidence": 0.93, "method": "hmm", "simulated": True}
    first = {
        "trip_id": "17",
        "edge_ids": ["1:1:2", "1:2:3", "2:3:4"],
        "t_enter_s": [START_S, START_S + 40.0, START_S + 85.0],
        "t_exit_s": [START_S + 40.0, START_S + 85.0, START_S + 120.0],
        "evidence": [3, 0, 2],
        "off_from_m": 22.0,
        "off_to_m": 223.0,
        "route_length_m": 645.0,
    }
    second = {
        "trip_id": "17_p2",
        "edge_ids": ["3:4:5"],
        "t_enter_s": [START_S + 130.0],
        "t_exit_s": [START_S + 135.0],
        "evidence": [1],
        "off_from_m": 0.0,
        "off_to_m": 111.0,
        "route_length_m": 111.0,
    }
    return [first | shared, second | shared]


def matched_points() -> dict[str, Any]:
    edges = ["1:1:2"] * 3 + ["1:2:3"] * 2 + [None] + ["2:3:4"] * 2 + ["3:4:5"]
    return {
        "trip_id": "17",
        "edge_id": edges,
        "offset_m": [None if edge is None else 10.0 for edge in edges],
        "distance_m": [None if edge is None else 1.5 for edge in edges],
        "status": ["matched", "standing", *["matched"] * 3, "outlier", *["matched"] * 3],
        "matched_share": 8 / 9,
        "parts": 2,
        "reasons": ["gap_time"],
    }


def phase_cells() -> list[str]:
    """Return the cells of the middles of the three segments told."""
    middles = ((LON + EAST / 2, LAT), (LON + 1.5 * EAST, LAT), (LON + 2 * EAST, LAT + NORTH / 2))
    lon, lat = (pl.Series(axis).to_numpy() for axis in zip(*middles, strict=True))
    return [cell_name(int(cell)) for cell in cells_at(lon, lat, 9)]


def phased_trip() -> dict[str, Any]:
    trip = matched_trips()[0]
    names = ("Itäkatu", "Itäkatu", NASTY)
    spent = (("40 sec", 40.0), ("45 sec", 45.0), ("35 sec", 35.0))
    about = ("GNN: WATERFRONT | Commercial: <dining> & shopping", "", "Natural: park")
    phases = [
        {
            "p": p,
            "role": "OTD"[p],
            "dir": ("E", "E", "N")[p],
            "n": 1,
            "duration": "0 sec",
            "time_spent": spent[p][0],
            "road_names": [names[p]],
            "desc": about[p],
            "cell": cell,
            "t_enter_s": trip["t_enter_s"][p],
            "duration_s": 0.0,
            "time_spent_s": spent[p][1],
            "length_m": (222.0, 222.0, 223.0)[p],
            "heading_deg": (90.0, 90.0, 0.0)[p],
            "heading_strength": 1.0,
        }
        for p, cell in enumerate(phase_cells())
    ]
    meta = {
        "n_rids": 3,
        "n_phases": 3,
        "start_time": "Monday, Jul 1, 2013 at 3:00 AM",
        "total_duration": "1 min 25 sec",
        "time_spent": "2 min 0 sec",
        "start_road": names[0],
        "start_class": "residential",
        "end_road": names[2],
        "end_class": "residential",
        "t_start_s": START_S,
        "duration_s": 85.0,
        "time_spent_s": 120.0,
        "length_m": 667.0,
        "simulated": True,
    }
    return {"trip_id": "17", "meta": meta, "phases": phases}
