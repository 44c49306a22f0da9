"""Write OSM files (.osm.pbf): from objects made here, or converted from OSM XML.

    write_osm(Path("network.osm.pbf"), OsmObjects([OsmNode(11, 7.42, 43.73, {})], [...], []))

Objects are written nodes first, each kind by id, as every OSM reader expects.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import SourceError


class OsmNode(NamedTuple):
    """A node: id, longitude and latitude in degrees, tags."""

    id: int
    lon: float
    lat: float
    tags: dict[str, str]


class OsmWay(NamedTuple):
    """A way: id, node ids in digitised order, tags."""

    id: int
    nodes: list[int]
    tags: dict[str, str]


class OsmRelation(NamedTuple):
    """A relation: id, members as (type n|w|r, id, role), tags."""

    id: int
    members: list[tuple[str, int, str]]
    tags: dict[str, str]


class OsmObjects(NamedTuple):
    """The objects of an OSM file in memory; each list sorted by id."""

    nodes: list[OsmNode]
    ways: list[OsmWay]
    relations: list[OsmRelation]


@contextmanager
def reading_osm(path: Path, *, form: str = "an OSM file (.osm.pbf or .osm)") -> Iterator[None]:
    """Turn what osmium raises on a damaged or odd OSM file into one line; use around reading it.

    A number, id, version, timestamp or reference that is none, a tag too long, a file cut off.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    import osmium  # noqa: PLC0415 - compiled reader and writer

    try:
        yield
    except (RuntimeError, OSError, ValueError, osmium.InvalidLocationError) as fault:
        raise SourceError(
            f"{path}: expected {form}, found {fault}; mend the file or pull it again"
        ) from fault


def read_osm(source: Path) -> OsmObjects:
    """Read a whole (city-sized) OSM file into memory.

    Raises:
        SourceError: The source is unreadable.
    """
    import osmium  # noqa: PLC0415 - compiled reader and writer

    made = OsmObjects([], [], [])
    with reading_osm(source, form="OSM XML or PBF"):
        for item in osmium.FileProcessor(str(source)):
            tags = dict(item.tags)  # copied: osmium reuses the item's memory
            if isinstance(item, osmium.osm.Node):
                made.nodes.append(OsmNode(item.id, item.lon, item.lat, tags))
            elif isinstance(item, osmium.osm.Way):
                made.ways.append(OsmWay(item.id, [node.ref for node in item.nodes], tags))
            elif isinstance(item, osmium.osm.Relation):
                members = [(member.type, member.ref, member.role) for member in item.members]
                made.relations.append(OsmRelation(item.id, members, tags))
    return OsmObjects(sorted(made.nodes), sorted(made.ways), sorted(made.relations))


def write_osm(target: Path, objects: OsmObjects) -> None:
    """Write objects to an OSM file in the form of the target's name (.osm.pbf, .osm)."""
    import osmium  # noqa: PLC0415 - compiled reader and writer
    from osmium.osm import mutable  # noqa: PLC0415

    with osmium.SimpleWriter(str(target), overwrite=True) as writer:
        for n in objects.nodes:
            writer.add_node(mutable.Node(id=n.id, location=(n.lon, n.lat), tags=n.tags))
        for w in objects.ways:
            writer.add_way(mutable.Way(id=w.id, nodes=w.nodes, tags=w.tags))
        for r in objects.relations:
            writer.add_relation(mutable.Relation(id=r.id, members=r.members, tags=r.tags))


def convert_osm(source: Path, target: Path) -> None:
    """Write an OSM file of any form osmium reads (XML, PBF) in the form of the target's name.

    Raises:
        SourceError: The source is unreadable.
    """
    import osmium  # noqa: PLC0415 - compiled reader and writer

    with (
        reading_osm(source, form="OSM XML or PBF"),
        osmium.SimpleWriter(str(target), overwrite=True) as writer,
    ):
        for item in osmium.FileProcessor(str(source)):
            writer.add(item)
