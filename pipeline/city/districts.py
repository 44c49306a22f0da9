"""Districts of a city from OSM: closed administrative relations, else the nearest suburb node.

    relation 2221178 "La Condamine" closes            -> its polygon, method relation
    relation 5986473 "Jardin Exotique" misses a way   -> node "Jardin Exotique": every place nearer
                                                         to it than to another such node, within
                                                         reach, method nearest_node

Both are division_area rows, so a later stage asks one question: which polygon holds this point?
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline.city.osm_features import Extracted, OsmThing, feature, native_name
from pipeline.city.projection import UtmPlane
from pipeline.city.sources import BBox

# OSM admin_level to Overture subtype; what a level means differs by country, the order does not.
SUBTYPES = {
    2: "country", 3: "macroregion", 4: "region", 5: "macrocounty", 6: "county", 7: "localadmin",
    8: "locality", 9: "macrohood", 10: "neighborhood", 11: "microhood",
}  # fmt: skip
DISC_QUARTER_SEGMENTS = 16


class Districts(NamedTuple):
    """District rows and how they came about.

    Attributes:
        rows: division_area rows (schemas/overture_division.schema.json).
        counts: admin_relations and admin_relations_closed over all levels of the extract;
            district_relations and district_nodes among the rows.
    """

    rows: list[dict[str, Any]]
    counts: dict[str, int]


def build_districts(
    found: Extracted, *, name_tag: str, country: str, places: list[str], reach_m: float, bbox: BBox
) -> Districts:
    """Build every administrative area that closes, and areas around the named place nodes.

    Args:
        found: Tagged objects of the extract.
        name_tag: OSM key of the native name.
        country: ISO 3166 code of the city's country.
        places: Values of `place=*` that stand for a district, for example suburb.
        reach_m: How far from its node a district may reach, metres.
        bbox: West, south, east, north of the city; chooses the metric plane.

    A node whose name a closed relation bears gets no area of its own: that district's extent is
    known. Ends with no rows where the extract has neither.
    """
    closed = [
        thing
        for thing in found.areas
        if thing.id in found.relations and _level(thing.tags) and native_name(thing.tags, name_tag)
    ]
    rows = [_relation_row(thing, name_tag, country) for thing in closed]
    names = {row["names"]["primary"] for row in rows}
    nodes = [
        thing
        for thing in found.points
        if thing.tags.get("place") in places
        and native_name(thing.tags, name_tag) not in {None, *names}
    ]
    nodes.sort(key=lambda thing: thing.id)
    for thing, polygon in zip(nodes, _nearest_areas(nodes, reach_m, bbox), strict=True):
        rows.append(_node_row(thing, polygon, name_tag, country))
    return Districts(
        rows=rows,
        counts={
            "admin_relations": len(found.relations),
            "admin_relations_closed": sum(t.id in found.relations for t in found.areas),
            "district_relations": len(closed),
            "district_nodes": len(nodes),
        },
    )


def _level(tags: dict[str, str]) -> str | None:
    level = tags.get("admin_level", "")
    return SUBTYPES.get(int(level)) if level.isdigit() else None


def _relation_row(thing: OsmThing, name_tag: str, country: str) -> dict[str, Any]:
    return _division(thing, name_tag, country) | {
        "subtype": _level(thing.tags),
        "ext_district_method": "relation",
    }


def _node_row(thing: OsmThing, polygon: bytes, name_tag: str, country: str) -> dict[str, Any]:
    return _division(thing._replace(wkb=polygon), name_tag, country) | {
        "subtype": "neighborhood",
        "ext_district_method": "nearest_node",
    }


def _division(thing: OsmThing, name_tag: str, country: str) -> dict[str, Any]:
    row = feature(thing, "divisions", "division_area", native_name(thing.tags, name_tag))
    return row | {
        "class": "land",
        "is_land": True,
        "is_territorial": True,
        "division_id": thing.id,
        "country": country,
        "region": None,
    }


def _nearest_areas(nodes: list[OsmThing], reach_m: float, bbox: BBox) -> list[bytes]:
    """Return for each node the area nearer to it than to any other node, within reach, as WKB."""
    import shapely  # noqa: PLC0415 - slow import

    if not nodes:
        return []
    plane = UtmPlane.around(bbox)
    points = plane.geometries(shapely.from_wkb([node.wkb for node in nodes]))
    areas = shapely.buffer(points, reach_m, quad_segs=DISC_QUARTER_SEGMENTS)
    if len(nodes) > 1:
        cells = shapely.voronoi_polygons(
            shapely.multipoints(points), extend_to=shapely.union_all(areas)
        )
        parts = np.asarray(shapely.get_parts(cells))
        tree = shapely.STRtree(parts)
        node_index, part_index = tree.query(points, predicate="within")
        order = np.empty(len(nodes), dtype=np.int64)
        order[node_index] = part_index
        areas = shapely.intersection(areas, parts[order])
    degrees = shapely.transform(areas, plane.to_degrees)
    return [bytes(wkb) for wkb in shapely.to_wkb(degrees, byte_order=1)]
