"""What OSM says of the ground crowds walk on: obstacles, open areas, streets, doors, stops.

    ground = read_ground(Path("network.osm.pbf"))
    way 123 {building: yes}                 ->  ground.obstacles: ("building", <POLYGON>)
    node 9 {entrance: main}                 ->  ground.doors: (None, <POINT>)
    way 7 {highway: pedestrian, name: Aleksanterinkatu}  ->  ground.streets: (name, <LINESTRING>)
    way 8 {highway: secondary, lanes: 2}    ->  ground.roads: (None, <LINESTRING>, half_m=3.25)

Geometry is in degrees, as OSM has it. What lies under ground or overhead (layer below 0, tunnels,
roofs) is in nobody's way.
"""

from pathlib import Path
from typing import NamedTuple

from pipeline.city.osm_file import reading_osm
from pipeline.stride.roadways import foot_half_m, half_width_m

KEYS = (
    "amenity", "barrier", "building", "entrance", "harbour", "highway", "historic", "landuse",
    "leisure", "man_made", "natural", "place", "public_transport", "railway", "shop", "tourism",
    "waterway",
)  # fmt: skip
_NO_WALL = frozenset({"no", "roof", "canopy", "carport"})
_WATER = {
    "natural": frozenset({"water", "bay"}),
    "waterway": frozenset({"riverbank", "dock"}),
    "landuse": frozenset({"basin", "reservoir"}),
    "leisure": frozenset({"swimming_pool"}),
}
_CLOSED = {
    "landuse": frozenset({"construction", "railway", "flowerbed"}),
    "amenity": frozenset({"fountain"}),
}
_BARRIERS = frozenset(
    {"wall", "fence", "hedge", "retaining_wall", "city_wall", "guard_rail", "railing"}
)
_RAILS = frozenset({"rail", "light_rail", "narrow_gauge", "subway"})
_OPEN_AREAS = {
    "highway": frozenset({"pedestrian", "footway"}),
    "place": frozenset({"square"}),
    "leisure": frozenset({"park", "garden"}),
    "amenity": frozenset({"marketplace"}),
    "railway": frozenset({"platform"}),
    "public_transport": frozenset({"platform"}),
    "man_made": frozenset({"pier"}),
}
# Of these, where people have the way: a square of OSM may hold streets.
_ON_FOOT = {key: values for key, values in _OPEN_AREAS.items() if key not in {"place", "leisure"}}
_STOPS = {
    "highway": frozenset({"bus_stop"}),
    "railway": frozenset({"tram_stop"}),
}
_DOORS = frozenset({"yes", "main", "shop", "staircase", "entrance"})
_MONUMENTS = frozenset({"monument", "memorial"})
_PLACES = ("amenity", "shop", "tourism")
_NO_STREET = frozenset({"proposed", "construction", "raceway"})  # their names are no addresses
_SHORTEST_NAME = 3
# Too small or too dull to be asked the way to.
_DULL = frozenset(
    {
        "atm", "bench", "bicycle_parking", "bicycle_rental", "charging_station", "information",
        "motorcycle_parking", "parking", "parking_entrance", "parking_space", "post_box",
        "recycling", "taxi", "toilets", "vending_machine", "waste_basket", "artwork", "viewpoint",
    }
)  # fmt: skip


class Thing(NamedTuple):
    """Something on the ground.

    Attributes:
        what: What it is or is called.
        wkb: Its shape, in degrees.
        half_m: Half the width of a line that stands for an area, metres; else 0.
    """

    what: str | None
    wkb: bytes
    half_m: float = 0.0


class Ground(NamedTuple):
    """Everything of an extract that a crowd meets.

    Attributes:
        obstacles: Areas and lines by kind of obstacle.
        coast: Lines with land on their left.
        passages: Ways through buildings.
        open_areas: Squares, parks, markets, platforms, by name.
        streets: Lines by name.
        landmarks: Named places and buildings, by name.
        doors: Entrances by name, null where they have none.
        stops: Stops of bus and tram by name.
        roads: Carriageways and tram tracks, as lines.
        on_foot: Ways and areas of people on foot, who have the way there.
        crossings: Points where people cross a road.
    """

    obstacles: list[Thing]
    coast: list[Thing]
    passages: list[Thing]
    open_areas: list[Thing]
    streets: list[Thing]
    landmarks: list[Thing]
    doors: list[Thing]
    stops: list[Thing]
    roads: list[Thing]
    on_foot: list[Thing]
    crossings: list[Thing]


def read_ground(path: Path, *, name_tag: str) -> Ground:
    """Read an extract.

    Args:
        path: An OSM file.
        name_tag: OSM key of the native name.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    with reading_osm(path):
        return _read(path, name_tag)


def _read(path: Path, name_tag: str) -> Ground:
    import osmium  # noqa: PLC0415 - compiled reader

    ground = Ground(*([] for _ in Ground._fields))
    factory = osmium.geom.WKBFactory()
    keys = osmium.filter.KeyFilter(*KEYS)
    for item in osmium.FileProcessor(str(path)).with_areas(keys).with_filter(keys):
        tags = dict(item.tags)
        if _is_elsewhere(tags):
            continue
        name = (tags.get(name_tag) or tags.get("name") or "").strip() or None
        try:
            if isinstance(item, osmium.osm.Area):
                _keep_area(ground, tags, name, bytes.fromhex(factory.create_multipolygon(item)))
            elif isinstance(item, osmium.osm.Node):
                _keep_point(ground, tags, name, bytes.fromhex(factory.create_point(item)))
            elif isinstance(item, osmium.osm.Way):
                _keep_line(ground, tags, name, bytes.fromhex(factory.create_linestring(item)))
        except (RuntimeError, osmium.InvalidLocationError):
            continue  # a shape the extract cuts off: other shapes say what stands there
    return ground


def _is_elsewhere(tags: dict[str, str]) -> bool:
    """Tell whether a thing lies under the ground or above heads."""
    if tags.get("location") in {"underground", "overhead", "roof"}:
        return True
    if tags.get("tunnel") in {"yes", "culvert"} or tags.get("indoor") == "yes":
        return True
    try:
        return float(tags.get("layer", "0")) < 0
    except ValueError:
        return False


def _is(tags: dict[str, str], table: dict[str, frozenset[str]]) -> bool:
    return any(tags.get(key) in values for key, values in table.items())


def _is_area(tags: dict[str, str]) -> bool:
    """Tell whether a closed way on foot is meant as ground and not as a round walk."""
    return tags.get("area") == "yes" or tags.get("type") == "multipolygon"


def _place_name(tags: dict[str, str], name: str | None) -> str | None:
    """Return the name of what a person may be going to; a letter or two is no name."""
    is_place = any(key in tags and tags[key] not in _DULL for key in _PLACES)
    return name if is_place and name and len(name) >= _SHORTEST_NAME else None


def _keep_area(ground: Ground, tags: dict[str, str], name: str | None, wkb: bytes) -> None:
    if tags.get("building", "no") not in _NO_WALL:
        ground.obstacles.append(Thing("building", wkb))
        if name:
            ground.landmarks.append(Thing(name, wkb))
    elif _is(tags, _WATER):
        ground.obstacles.append(Thing("water", wkb))
    elif _is(tags, _CLOSED):
        ground.obstacles.append(Thing("closed", wkb))
    elif tags.get("area") == "yes" and tags.get("barrier") in _BARRIERS:
        ground.obstacles.append(Thing("barrier", wkb))
    elif _is(tags, _OPEN_AREAS):
        ground.open_areas.append(Thing(name, wkb))
        if _is(tags, _ON_FOOT) and ("highway" not in tags or _is_area(tags)):
            ground.on_foot.append(Thing(name, wkb))
    elif _place_name(tags, name):
        ground.landmarks.append(Thing(name, wkb))


def _keep_point(ground: Ground, tags: dict[str, str], name: str | None, wkb: bytes) -> None:
    if tags.get("highway") == "crossing":
        ground.crossings.append(Thing(None, wkb))
    elif tags.get("entrance") in _DOORS or tags.get("railway") == "subway_entrance":
        ground.doors.append(Thing(name if name and len(name) >= _SHORTEST_NAME else None, wkb))
    elif tags.get("historic") in _MONUMENTS or tags.get("amenity") == "fountain":
        ground.obstacles.append(Thing("barrier", wkb))
    elif _is(tags, _STOPS):
        ground.stops.append(Thing(name, wkb))
    elif _place_name(tags, name):
        ground.landmarks.append(Thing(name, wkb))


def _keep_line(ground: Ground, tags: dict[str, str], name: str | None, wkb: bytes) -> None:
    if tags.get("natural") == "coastline":
        ground.coast.append(Thing(None, wkb))
    if tags.get("barrier") in _BARRIERS or tags.get("natural") == "cliff":
        ground.obstacles.append(Thing("barrier", wkb))
    if tags.get("railway") in _RAILS:
        ground.obstacles.append(Thing("rail", wkb))
    _keep_way(ground, tags, wkb)
    if "highway" in tags:
        if tags.get("tunnel") == "building_passage" or tags.get("covered") == "yes":
            ground.passages.append(Thing(name, wkb))
        if name and tags["highway"] not in _NO_STREET:
            ground.streets.append(Thing(name, wkb))


def _keep_way(ground: Ground, tags: dict[str, str], wkb: bytes) -> None:
    driven, walked = half_width_m(tags), foot_half_m(tags)
    if driven is not None:
        ground.roads.append(Thing(None, wkb, driven))
    elif walked is not None:
        ground.on_foot.append(Thing(None, wkb, walked))
