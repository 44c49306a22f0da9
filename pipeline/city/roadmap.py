"""Turn a pre-matched data set's road map (LibCity roadmap.geo / .rel) into an OSM extract.

    geo_id 17, highway 4, [[-8.61, 41.15], [-8.60, 41.15]], u 111, v 222, maxspeed 50
    -> way 1000000000000017 {highway: residential, oneway: yes, maxspeed: "50", name: from OSM},
       nodes 111 -> 222; the road stage gives it back as edge_id "17"

So the later stages read one kind of extract. Nothing is ever evaluated: coordinates are JSON.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline.city.osm_file import OsmNode, OsmObjects, OsmWay, read_osm
from pipeline.city.ways import HIGHWAY_CLASSES, MADE_IDS, read_drivable_ways
from pipeline.errors import SourceError

GEO_COLUMNS = ("geo_id", "coordinates", "highway", "u", "v")
REL_COLUMNS = ("origin_id", "destination_id")


class RoadmapSegment(NamedTuple):
    """One directed segment of a road map; coordinates are (lon, lat) degrees, driven order."""

    geo_id: int
    u: int
    v: int
    highway: str
    maxspeed: str | None
    coordinates: tuple[tuple[float, float], ...]


def geo_id(way_id: int) -> int:
    """Return the road map's own id of a way made by `roadmap_objects`."""
    return way_id - MADE_IDS


def read_roadmap(geo: Path, rel: Path, highway_codes: dict[str, str]) -> list[RoadmapSegment]:
    """Read and check a road map.

    Args:
        geo: `roadmap.geo`, CSV with the columns geo_id, coordinates, highway, u, v and, where
            known, maxspeed.
        rel: `roadmap.rel`, CSV with origin_id, destination_id: which segment may follow which.
        highway_codes: Integer class, as text, to OSM highway value.

    Raises:
        SourceError: A column is missing, a code unknown, a geometry unreadable, an id repeated,
            or a relation names a segment that is not there or does not join end to start.
    """
    table = _read_csv(geo, GEO_COLUMNS)
    segments = [_segment(row, geo, highway_codes) for row in table.iter_rows(named=True)]
    by_id = {segment.geo_id: segment for segment in segments}
    if len(by_id) != len(segments):
        raise SourceError(f"{geo}: expected every geo_id once, found a repeated one; mend the file")
    pairs = _read_csv(rel, REL_COLUMNS)
    try:
        numbers = pairs.select(pl.col(REL_COLUMNS).cast(pl.Int64))
    except pl.exceptions.InvalidOperationError as fault:
        found = " ".join(str(fault).split())
        raise SourceError(f"{rel}: expected whole numbers, found {found}; mend the file") from fault
    for origin, destination in numbers.iter_rows():
        if origin not in by_id or destination not in by_id:
            raise SourceError(
                f"{rel}: expected segments of {geo.name}, found the pair {origin}, {destination};"
                " the two files are not of one data set"
            )
        if by_id[origin].v != by_id[destination].u:
            raise SourceError(
                f"{rel}: expected segment {destination} to start where {origin} ends (node"
                f" {by_id[origin].v}), found node {by_id[destination].u}; mend the file"
            )
    return segments


class RoadNames:
    """Road names of an OSM extract, asked for by the end nodes of a road map's segment."""

    def __init__(self, path: Path, name_tag: str) -> None:
        ways = read_drivable_ways(path, service_roads=True, name_tag=name_tag)
        self._names: list[str | None] = ways.table["name"].to_list()
        self._ways: dict[int, set[int]] = {}
        for way, node in zip(ways.way.tolist(), ways.node.tolist(), strict=True):
            if self._names[way] is not None:
                self._ways.setdefault(node, set()).add(way)

    def between(self, u: int, v: int) -> str | None:
        """Return the name of the way that passes both nodes, in whichever order.

        Where no single way does, the one name that ways at both ends share; None where there is
        no such name, or more than one.
        """
        at_u, at_v = self._ways.get(u, set()), self._ways.get(v, set())
        if at_u & at_v:
            return self._names[min(at_u & at_v)]
        shared = {self._names[way] for way in at_u} & {self._names[way] for way in at_v}
        return shared.pop() if len(shared) == 1 else None


def roadmap_objects(
    segments: list[RoadmapSegment], *, extract: Path | None, name_tag: str
) -> OsmObjects:
    """Return a road map as OSM objects: a one-way way per segment.

    Args:
        segments: The road map.
        extract: OSM extract that lends names and all that is not a road, or None.
        name_tag: OSM key of the native name.
    """
    names = RoadNames(extract, name_tag) if extract else None
    nodes: dict[int, OsmNode] = {}
    ways: list[OsmWay] = []
    made = MADE_IDS
    for segment in segments:
        inner = range(made, made + len(segment.coordinates) - 2)
        made += len(inner)
        path = [segment.u, *inner, segment.v]
        for node, (lon, lat) in zip(path, segment.coordinates, strict=True):
            nodes.setdefault(node, OsmNode(node, lon, lat, {}))
        tags = {"highway": segment.highway, "oneway": "yes"}
        name = names.between(segment.u, segment.v) if names else None
        tags |= {name_tag: name} if name else {}
        tags |= {"maxspeed": segment.maxspeed} if segment.maxspeed else {}
        ways.append(OsmWay(MADE_IDS + segment.geo_id, path, tags))
    lent = read_osm(extract) if extract else OsmObjects([], [], [])
    nodes |= {node.id: node for node in lent.nodes if node.id not in nodes}
    ways += [way for way in lent.ways if "highway" not in way.tags]
    return OsmObjects(sorted(nodes.values()), sorted(ways), lent.relations)


def _segment(row: dict[str, Any], path: Path, highway_codes: dict[str, str]) -> RoadmapSegment:
    number = row["geo_id"]
    code = str(row["highway"]).removesuffix(".0")
    highway = highway_codes.get(code)
    if highway not in HIGHWAY_CLASSES:
        raise SourceError(
            f"{path}: geo_id {number}: expected a highway code of network.source.highway_codes"
            f" that names an OSM class, found {code!r} -> {highway!r}; add it"
        )
    try:
        line = tuple((float(lon), float(lat)) for lon, lat in json.loads(row["coordinates"]))
        u, v = int(row["u"]), int(row["v"])
    except (ValueError, TypeError) as fault:
        raise SourceError(
            f"{path}: geo_id {number}: expected coordinates [[lon, lat], ...] and node ids u, v,"
            f" found {fault}; mend the file"
        ) from fault
    if len(line) < 2:
        raise SourceError(f"{path}: geo_id {number}: expected two points, found {len(line)}")
    maxspeed = row.get("maxspeed")
    return RoadmapSegment(int(number), u, v, highway, maxspeed or None, line)


def _read_csv(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    try:
        content = path.read_bytes()
        content.decode("utf-8")
        table = pl.read_csv(content, infer_schema=False)
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise SourceError(
            f"{path}: expected text in UTF-8, found the byte {content[fault.start]:#04x} in line"
            f" {line}; convert the file, such as with `iconv -f latin1 -t utf-8`, or mend the line"
        ) from fault
    except (OSError, pl.exceptions.PolarsError) as fault:
        found = " ".join(str(fault).split())
        raise SourceError(f"{path}: expected a CSV file, found {found}; replace it") from fault
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise SourceError(
            f"{path}: expected the columns {', '.join(columns)}, found no {', '.join(missing)}"
        )
    return table
