"""Tiny hand-made OSM worlds: a few nodes and ways as OSM XML.

    world(tmp_path, nodes={1: (0, 0), 2: (1, 0)}, ways={10: ([1, 2], {"highway": "residential"})})

Node places are steps of 0.001 degree from `ORIGIN`: about 80 m east, 111 m north.
"""

from pathlib import Path
from xml.sax.saxutils import quoteattr

ORIGIN = (7.420, 43.730)
STEP = 0.001
BBOX = (7.40, 43.71, 7.46, 43.77)
Node = tuple[float, float] | tuple[float, float, dict[str, str]]
Way = tuple[list[int], dict[str, str]]
Relation = tuple[list[tuple[str, int, str]], dict[str, str]]


def at(east: float, north: float) -> tuple[float, float]:
    """Return the (lon, lat) of a place in steps; OSM keeps seven decimals."""
    return round(ORIGIN[0] + east * STEP, 7), round(ORIGIN[1] + north * STEP, 7)


def world(
    folder: Path,
    *,
    nodes: dict[int, Node],
    ways: dict[int, Way] | None = None,
    relations: dict[int, Relation] | None = None,
) -> Path:
    """Write a world as OSM XML and return the file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<osm version="0.6" generator="test">']
    for number, (east, north, *rest) in nodes.items():
        lon, lat = at(east, north)
        lines.append(f'<node id="{number}" version="1" lon="{lon:.7f}" lat="{lat:.7f}">')
        lines += [*_tags(rest[0] if rest else {}), "</node>"]
    for number, (refs, tags) in (ways or {}).items():
        lines.append(f'<way id="{number}" version="1">')
        lines += [f'<nd ref="{ref}"/>' for ref in refs]
        lines += [*_tags(tags), "</way>"]
    for number, (members, tags) in (relations or {}).items():
        lines.append(f'<relation id="{number}" version="1">')
        lines += [f'<member type="{k}" ref="{ref}" role="{role}"/>' for k, ref, role in members]
        lines += [*_tags(tags), "</relation>"]
    file = folder / "world.osm"
    file.write_text("\n".join([*lines, "</osm>"]), encoding="utf-8")
    return file


def _tags(tags: dict[str, str]) -> list[str]:
    return [f"<tag k={quoteattr(k)} v={quoteattr(v)}/>" for k, v in tags.items()]
