"""Write a network frame as an OSM file, for matchers that read nothing else.

    edges 6 (5 -> 7) and 7 (7 -> 5, the same line backwards)  ->  way 1, two-way, nodes 1 2 3
    edge 8 (7 -> 9)                                           ->  way 2, oneway=yes, nodes 3 4

A two-way street becomes one way, as in real OSM data, so that these matchers see what they were
made for. Inner nodes belong to one way only: a pair of neighbouring nodes names one directed edge.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import osmium
import polars as pl
import shapely


class OsmWay(NamedTuple):
    """One way as written: its node ids and the edge driven along and against it (-1: none)."""

    way_id: int
    nodes: list[int]
    forward_edge: int
    backward_edge: int


def write_osm_file(network: pl.DataFrame, file: Path) -> list[OsmWay]:
    """Write the network and return its ways; way ids count from 1 in order of appearance.

    Args:
        network: `edge_id, u, v, speed_kph, geometry, highway`.
        file: A `.osm.pbf` path; replaced where it exists.
    """
    lines = [shapely.get_coordinates(g) for g in shapely.from_wkb(network["geometry"].to_numpy())]
    keys = [(u, v, line.tobytes()) for (u, v), line in zip(_ends(network), lines, strict=True)]
    row_of = {key: row for row, key in enumerate(keys)}
    node_id: dict[int, int] = {}
    position: list[np.ndarray] = []
    ways, tags = [], []
    edge_ids = network["edge_id"].to_list()
    described = network.select("highway", "speed_kph").rows()
    for row, (u, v, _) in enumerate(keys):
        back = row_of.get((v, u, lines[row][::-1].tobytes()), -1)
        if row_of[keys[row]] != row or -1 < back < row:
            continue
        nodes = _nodes(u, v, lines[row], node_id, position)
        against = -1 if back in (-1, row) else edge_ids[back]
        ways.append(OsmWay(len(ways) + 1, nodes, edge_ids[row], against))
        tags.append(_tags(*described[row], oneway=against == -1))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with osmium.SimpleWriter(str(file)) as writer:
        for index, (lon, lat) in enumerate(position):
            writer.add_node(osmium.osm.mutable.Node(id=index + 1, location=(lon, lat), version=1))
        for way, tag in zip(ways, tags, strict=True):
            writer.add_way(
                osmium.osm.mutable.Way(id=way.way_id, nodes=way.nodes, tags=tag, version=1)
            )
    return ways


def _ends(network: pl.DataFrame) -> list[tuple[int, int]]:
    return network.select("u", "v").rows()


def _nodes(
    u: int, v: int, line: np.ndarray, node_id: dict[int, int], position: list[np.ndarray]
) -> list[int]:
    nodes = []
    for place, lonlat in enumerate(line):
        end = u if place == 0 else v if place == len(line) - 1 else None
        known = node_id.get(end) if end is not None else None
        if known is None:
            position.append(lonlat)
            known = len(position)
            if end is not None:
                node_id[end] = known
        nodes.append(known)
    return nodes


def _tags(highway: str, speed_kph: float | None, *, oneway: bool) -> dict[str, str]:
    tags = {"highway": highway, "oneway": "yes" if oneway else "no"}
    return tags if speed_kph is None else tags | {"maxspeed": f"{speed_kph:.0f}"}
