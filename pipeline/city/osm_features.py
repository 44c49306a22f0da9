"""Read places, land use, land, water and districts out of an OSM extract, in Overture's shape.

    node 8 {amenity: cafe, name: "Café de Paris"}
    -> place row {id: "n8", names: {primary: "Café de Paris"}, basic_category: "cafe", taxonomy:
                  {hierarchy: [food_and_drink, cafe], ...}, sources: [{dataset: OpenStreetMap}]}

The stand-in for Overture where it cannot be reached: later stages never know the difference.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.city.categories import (
    AREA_KEYS,
    PLACE_KEYS,
    Meaning,
    area_meaning_of_tags,
    place_meaning,
)
from pipeline.city.osm_file import reading_osm

FEATURE_KEYS = frozenset((*PLACE_KEYS, *AREA_KEYS, "place", "boundary"))
# Lines even where they close: the inside of a closed coastline is an island, not the sea.
LINE_CLASSES = frozenset({"ocean", "stream", "ditch", "drain", "tree_row", "cliff", "ridge"})
THEMES = {"place": "places", "land_use": "base", "land": "base", "water": "base"}
OSM_LICENCE = "ODbL-1.0"


class OsmThing(NamedTuple):
    """One tagged object with its geometry: id ("n8", "w8", "r8"), version, tags, WKB in degrees."""

    id: str
    version: int
    tags: dict[str, str]
    wkb: bytes


@dataclass
class Extracted:
    """Everything of an extract that is context.

    Attributes:
        points: Tagged nodes.
        lines: Tagged ways, closed ones among them.
        areas: Tagged closed ways and multipolygon relations that could be assembled.
        relations: id to name of every administrative relation in the file, by admin level.
        unclosed: Tagged area relations and closed ways that could not be assembled.
    """

    points: list[OsmThing] = field(default_factory=list)
    lines: list[OsmThing] = field(default_factory=list)
    areas: list[OsmThing] = field(default_factory=list)
    relations: dict[str, dict[str, str]] = field(default_factory=dict)
    unclosed: int = 0


def read_features(path: Path) -> Extracted:
    """Read all objects with a context tag, with point, line or multipolygon geometry.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    with reading_osm(path):
        return _read(path)


def _read(path: Path) -> Extracted:
    import osmium  # noqa: PLC0415 - compiled reader

    found = Extracted()
    factory = osmium.geom.WKBFactory()
    wanted: set[str] = set()
    keys = osmium.filter.KeyFilter(*sorted(FEATURE_KEYS))
    for item in osmium.FileProcessor(str(path)).with_areas(keys).with_filter(keys):
        if isinstance(item, osmium.osm.Area):
            number = f"{'w' if item.from_way() else 'r'}{item.orig_id()}"
            wanted.discard(number)
            _keep(found.areas, item, number, factory.create_multipolygon)
        elif isinstance(item, osmium.osm.Node):
            _keep(found.points, item, f"n{item.id}", factory.create_point)
        elif isinstance(item, osmium.osm.Way):
            _keep_line(found.lines, item)
            wanted |= {f"w{item.id}"} if item.is_closed() else set()
        elif isinstance(item, osmium.osm.Relation):
            _note_relation(found, item, wanted)
    found.unclosed = len(wanted)
    return found


def _keep(things: list[OsmThing], item: Any, number: str, make: Any) -> None:
    """Append an object whose geometry can be made; a line needs two known nodes, say."""
    import osmium  # noqa: PLC0415 - compiled reader

    try:
        wkb = bytes.fromhex(make(item))
    except (RuntimeError, osmium.InvalidLocationError):
        return
    things.append(OsmThing(number, item.version, dict(item.tags), wkb))


def _keep_line(things: list[OsmThing], way: Any) -> None:
    """Append a way by its longest stretch of known nodes: extracts cut coasts and rivers."""
    import shapely  # noqa: PLC0415 - slow import

    stretches: list[list[tuple[float, float]]] = [[]]
    for node in way.nodes:
        if node.location.valid():
            stretches[-1].append((node.lon, node.lat))
        elif stretches[-1]:
            stretches.append([])
    longest = max(stretches, key=len)
    if len(longest) > 1:
        wkb = shapely.to_wkb(shapely.LineString(longest), byte_order=1)
        things.append(OsmThing(f"w{way.id}", way.version, dict(way.tags), bytes(wkb)))


def _note_relation(found: Extracted, item: Any, wanted: set[str]) -> None:
    if item.tags.get("type") in {"multipolygon", "boundary"}:
        wanted.add(f"r{item.id}")
    if item.tags.get("boundary") == "administrative":
        found.relations[f"r{item.id}"] = dict(item.tags)


def feature_rows(
    found: Extracted, *, name_tag: str, country: str
) -> tuple[dict[str, list[dict[str, Any]]], Counter[str]]:
    """Return rows of place, land_use, land and water, and the unmapped tags with their counts.

    Args:
        found: What `read_features` found.
        name_tag: OSM key of the native name.
        country: ISO 3166 code for addresses.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in THEMES}
    unmapped: Counter[str] = Counter()
    assembled = {thing.id for thing in found.areas}
    for thing, is_area in _things(found, assembled):
        place, others, unknown = place_meaning(thing.tags)
        area, unknown_areas = area_meaning_of_tags(thing.tags)
        # A tag that means something to either reading is mapped.
        mapped_keys = {key for key in PLACE_KEYS if place} | {key for key in AREA_KEYS if area}
        unmapped.update(
            {tag for tag in (*unknown, *unknown_areas) if tag.partition("=")[0] not in mapped_keys}
        )
        if place:
            rows["place"].append(_place_row(thing, place, others, name_tag, country))
        if area and (area.area_class in LINE_CLASSES) <= (not is_area):
            rows[area.type].append(_area_row(thing, area, name_tag))
    return rows, unmapped


def _things(found: Extracted, assembled: set[str]) -> Iterator[tuple[OsmThing, bool]]:
    """Yield every object once as a place, closed lines also as lines; True marks an area."""
    for thing in found.points:
        yield thing, False
    for thing in found.areas:
        yield thing, True
    for thing in found.lines:
        if thing.id not in assembled:
            yield thing, False
        else:
            area, _ = area_meaning_of_tags(thing.tags)
            if area and area.area_class in LINE_CLASSES:
                bare = {k: v for k, v in thing.tags.items() if k not in PLACE_KEYS}
                yield thing._replace(tags=bare), False


def feature(thing: OsmThing, theme: str, kind: str, name: str | None) -> dict[str, Any]:
    """Return the fields every Overture feature has."""
    source = {
        "property": "",
        "dataset": "OpenStreetMap",
        "license": OSM_LICENCE,
        "record_id": f"{thing.id}@{thing.version}",
        "update_time": None,
        "confidence": None,
    }
    return {
        "id": thing.id,
        "theme": theme,
        "type": kind,
        "version": thing.version,
        "geometry": thing.wkb,
        "names": {"primary": name} if name else None,
        "sources": [source],
    }


def native_name(tags: dict[str, str], name_tag: str) -> str | None:
    """Return the name in the city's own spelling, or None; blanks around it are dropped."""
    return (tags.get(name_tag) or tags.get("name") or "").strip() or None


def _place_row(
    thing: OsmThing, meaning: Meaning, others: list[str], name_tag: str, country: str
) -> dict[str, Any]:
    tags = thing.tags
    street, number = tags.get("addr:street"), tags.get("addr:housenumber")
    address = {
        "freeform": " ".join(part for part in (street, number) if part) or None,
        "locality": tags.get("addr:city"),
        "postcode": tags.get("addr:postcode"),
        "region": None,
        "country": country,
    }
    brand = (tags.get("brand") or "").strip()
    return feature(thing, "places", "place", native_name(tags, name_tag)) | {
        "basic_category": meaning.basic_category,
        "taxonomy": {
            "primary": meaning.hierarchy[-1],
            "hierarchy": list(meaning.hierarchy),
            "alternates": others or None,
        },
        "confidence": None,
        "operating_status": None,
        "addresses": [address] if address["freeform"] else None,
        "brand": {"names": {"primary": brand}} if brand else None,
        "ext_category_source": "osm_tags",
    }


def _area_row(thing: OsmThing, meaning: Meaning, name_tag: str) -> dict[str, Any]:
    row = feature(thing, THEMES[meaning.type], meaning.type, native_name(thing.tags, name_tag))
    return row | {"subtype": meaning.subtype, "class": meaning.area_class}
