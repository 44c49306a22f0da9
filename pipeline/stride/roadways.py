"""Carriageways: where vehicles run, as an area, with gaps where people on foot have their way.

    half_width_m({"highway": "secondary", "lanes": "2"})   ->  3.25
    carriageway([(3.25, <LINESTRING>)], on_foot=[<crossing>], crossings=[])   ->  <POLYGON ...>

OSM draws a road as a line. Its width is the tag `width`, else its lanes of 3.25 m, else the lanes
its class usually has. What lies between carriageway and house is then pavement, mapped or not.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# The usual lane of a town; OSM rarely states widths.
_LANE_M = 3.25
_TRAM_HALF_M = 1.4
_LANES = {
    "motorway": 2, "trunk": 2, "primary": 2, "secondary": 2, "tertiary": 2, "motorway_link": 1,
    "trunk_link": 1, "primary_link": 1, "secondary_link": 1, "tertiary_link": 1,
    "unclassified": 2, "residential": 2, "road": 2, "busway": 1, "service": 1,
}  # fmt: skip
_WIDEST_M = 40.0
_METRES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*m?\s*")
# Half the width of ways on foot where they lie on a carriageway.
FOOT_HALF_M = {
    "footway": 2.0, "path": 2.0, "steps": 2.0, "pedestrian": 3.0, "living_street": 3.0,
    "corridor": 2.0, "platform": 1.5, "cycleway": 2.0,
}  # fmt: skip
_ALLOWED = frozenset({"yes", "designated", "permissive", "official"})
_BEYOND_KERB_M = 1.0  # a crossing reaches so far onto the pavement
_AT_M = 0.5  # a crossing's node lies on the line of its road
_SLIVER_M = 0.6  # what is narrower is no carriageway
_LEAST_M2 = 6.0


def half_width_m(tags: Mapping[str, str]) -> float | None:
    """Return half the width of a carriageway or tram track, metres; None if it is neither."""
    if tags.get("railway") == "tram":
        return _TRAM_HALF_M
    usual = _LANES.get(tags.get("highway", ""))
    if usual is None or tags.get("area") == "yes":
        return None
    stated = _METRES.fullmatch(tags.get("width", ""))
    if stated and 0 < float(stated[1]) <= _WIDEST_M:
        return float(stated[1]) / 2
    lanes = tags.get("lanes", "")
    count = int(lanes) if lanes.isdecimal() and 0 < int(lanes) * _LANE_M <= _WIDEST_M else usual
    return count * _LANE_M / 2


def foot_half_m(tags: Mapping[str, str]) -> float | None:
    """Return half the width of a way on foot, metres; None if it is none."""
    kind = tags.get("highway", "")
    if tags.get("area") == "yes":
        return None
    if kind == "cycleway" and tags.get("foot") not in _ALLOWED:
        return None
    if tags.get("railway") == "platform" or tags.get("public_transport") == "platform":
        kind = "platform"
    return FOOT_HALF_M.get(kind)


def carriageway(
    roads: Sequence[tuple[float, Any]], *, on_foot: Sequence[Any], crossings: Sequence[Any]
) -> Any:
    """Return where vehicles run, as one shapely area; empty without a road.

    Args:
        roads: Half width and line of each road and track, metres.
        on_foot: Areas of people on foot; they have the way wherever they lie on a road.
        crossings: Points on a road's line where people cross it.
    """
    import shapely  # noqa: PLC0415 - slow import

    if not roads:
        return shapely.Polygon()
    areas = [line.buffer(half, cap_style="flat", join_style="mitre") for half, line in roads]
    # A round cap where roads meet fills the corner between them.
    areas += [line.buffer(half, quad_segs=4) for half, line in roads if half > _TRAM_HALF_M]
    gaps = [*on_foot, *(_crossing(point, roads) for point in crossings)]
    whole = shapely.difference(shapely.union_all(areas), shapely.union_all(gaps))
    opened = whole.buffer(-_SLIVER_M / 2).buffer(_SLIVER_M / 2, join_style="mitre")
    parts = [part for part in shapely.get_parts(opened) if part.area >= _LEAST_M2]
    return shapely.union_all(parts) if parts else shapely.Polygon()


def _crossing(point: Any, roads: Sequence[tuple[float, Any]]) -> Any:
    """Return the ground of a crossing that is only a point: round, from kerb to kerb."""
    widest = max((half for half, line in roads if line.distance(point) <= _AT_M), default=0.0)
    return point.buffer(widest + _BEYOND_KERB_M)
