"""Read the drivable directed network of an OSM file into the frame every matcher is given.

A way 17 "residential, two-way" over nodes 5-6-7 where 6 is a junction becomes four rows:

    edge_id 0: u 5, v 6    edge_id 1: u 6, v 5    edge_id 2: u 6, v 7    edge_id 3: u 7, v 6
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import osmium
import polars as pl
import shapely
from pyproj import CRS, Geod, Transformer
from pyproj.aoi import AreaOfInterest
from pyproj.database import query_utm_crs_info
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

# Speeds a driver keeps in a town, not the legal limits; distinct enough to shape fastest routes.
CLASS_SPEED_KPH = {
    "motorway": 90.0, "motorway_link": 50.0, "trunk": 70.0, "trunk_link": 45.0,
    "primary": 50.0, "primary_link": 40.0, "secondary": 45.0, "secondary_link": 35.0,
    "tertiary": 40.0, "tertiary_link": 30.0, "unclassified": 35.0, "road": 35.0,
    "residential": 30.0, "living_street": 15.0, "service": 15.0,
}  # fmt: skip
NETWORK_COLUMNS = ("edge_id", "u", "v", "length_m", "speed_kph", "geometry")
ONEWAY_CLASSES = ("motorway", "motorway_link")
CLOSED = {("access", "no"), ("access", "private"), ("motor_vehicle", "no"), ("motorcar", "no")}


class Way(NamedTuple):
    """One drivable OSM way: its nodes in order and whether each direction may be driven."""

    highway: str
    nodes: list[int]
    forward: bool
    backward: bool


def read_osm_network(pbf: Path, *, with_service: bool = True) -> pl.DataFrame:
    """Return the largest strongly connected part of the drivable network of an OSM file.

    Args:
        pbf: OSM file (.osm.pbf or .osm).
        with_service: Keep `highway=service`.

    Returns:
        Columns `edge_id, u, v` (OSM node ids), `length_m` (geodesic), `speed_kph`, `geometry`
        (WKB, lon/lat, driving direction) and `highway`; sorted by edge_id.
    """
    ways, location = _read_ways(pbf, with_service=with_service)
    use = _node_use(ways)
    pieces = [
        (way, piece, direction)
        for way in ways
        for piece in _split(way.nodes, use)
        for direction, allowed in enumerate((way.forward, way.backward))
        if allowed
    ]
    chains = [piece[::-1] if backward else piece for _, piece, backward in pieces]
    lines = [shapely.linestrings([location[n] for n in chain]) for chain in chains]
    pair_index = np.cumsum([0] + [a[1] is not b[1] for a, b in pairwise(pieces)])
    frame = pl.DataFrame({
        "edge_id": pair_index * 2 + np.array([backward for _, _, backward in pieces]),
        "u": [chain[0] for chain in chains],
        "v": [chain[-1] for chain in chains],
        "length_m": geodesic_length_m(lines),
        "speed_kph": [CLASS_SPEED_KPH[way.highway] for way, _, _ in pieces],
        "geometry": list(shapely.to_wkb(lines)),
        "highway": [way.highway for way, _, _ in pieces],
    })  # fmt: skip
    return largest_strong_part(frame.filter(pl.col("length_m") > 0)).sort("edge_id")


def geodesic_length_m(lines: list[shapely.LineString]) -> list[float]:
    """Return the length in metres of each (lon, lat) line on the WGS84 ellipsoid."""
    geod = Geod(ellps="WGS84")
    return [geod.line_length(*line.xy) for line in lines]


def largest_strong_part(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the edges whose two ends lie in the strongly connected part with most nodes."""
    nodes = np.unique(np.concatenate([edges["u"].to_numpy(), edges["v"].to_numpy()]))
    u, v = (np.searchsorted(nodes, edges[c].to_numpy()) for c in "uv")
    graph = coo_array((np.ones(len(u)), (u, v)), shape=(len(nodes), len(nodes)))
    _, label = connected_components(graph, directed=True, connection="strong")
    largest = np.bincount(label).argmax()
    return edges.filter((label[u] == largest) & (label[v] == largest))


def metric_projection(lon: np.ndarray, lat: np.ndarray) -> Transformer:
    """Return the transformer from (lon, lat) to metres of the UTM zone at the data's centre."""
    west, east, south, north = lon.min(), lon.max(), lat.min(), lat.max()
    middle = ((west + east) / 2, (south + north) / 2)
    zone = query_utm_crs_info("WGS 84", AreaOfInterest(*middle, *middle))[0]
    return Transformer.from_crs(4326, CRS.from_epsg(zone.code), always_xy=True)


def _read_ways(
    pbf: Path, *, with_service: bool
) -> tuple[list[Way], dict[int, tuple[float, float]]]:
    ways, location = [], {}
    for way in osmium.FileProcessor(str(pbf), osmium.osm.WAY | osmium.osm.NODE).with_locations():
        if not way.is_way() or not _is_drivable(way.tags, with_service=with_service):
            continue
        forward, backward = _directions(way.tags)
        nodes = [n for n in way.nodes if n.location.valid()]
        location.update((n.ref, (n.location.lon, n.location.lat)) for n in nodes)
        refs = [n.ref for n in nodes]
        chain = [ref for i, ref in enumerate(refs) if i == 0 or ref != refs[i - 1]]
        if len(chain) > 1:
            ways.append(Way(way.tags["highway"], chain, forward, backward))
    return ways, location


def _is_drivable(tags: osmium.osm.TagList, *, with_service: bool) -> bool:
    highway = tags.get("highway")
    if highway not in CLASS_SPEED_KPH or (highway == "service" and not with_service):
        return False
    return tags.get("area") != "yes" and not any(tags.get(key) == value for key, value in CLOSED)


def _directions(tags: osmium.osm.TagList) -> tuple[bool, bool]:
    oneway = tags.get("oneway")
    if oneway in ("-1", "reverse"):
        return False, True
    round_ = tags.get("junction") in ("roundabout", "circular")
    if oneway in ("yes", "true", "1") or round_:
        return True, False
    return True, tags.get("highway") not in ONEWAY_CLASSES or oneway == "no"


def _node_use(ways: list[Way]) -> dict[int, int]:
    """Count how often ways pass each node; way ends count twice, so every end is a junction."""
    use: dict[int, int] = {}
    for way in ways:
        for node in (*way.nodes, way.nodes[0], way.nodes[-1]):
            use[node] = use.get(node, 0) + 1
    return use


def _split(nodes: list[int], use: dict[int, int]) -> Iterator[list[int]]:
    start = 0
    for i in range(1, len(nodes)):
        if use[nodes[i]] > 1:
            yield nodes[start : i + 1]
            start = i
