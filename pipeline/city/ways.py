"""Read the drivable ways of an OSM extract in one pass, and say which ways a car may drive.

    way 4217 {highway: residential, oneway: "-1", name: Rue Grimaldi}, nodes 11, 12, 13
    -> one row of `DrivableWays.table` (direction -1) and three entries of the node arrays

Only this module knows OSM's tags for roads. Nodes keep OSM's own integer coordinates (1e-7 deg)
until lengths are needed, so equal places stay equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.city.osm_file import reading_osm
from pipeline.city.projection import Floats

LINK_CLASSES = ("motorway", "trunk", "primary", "secondary", "tertiary")
LINKS = tuple(f"{name}_link" for name in LINK_CLASSES)
DRIVABLE = frozenset(
    (*LINK_CLASSES, *LINKS, "unclassified", "residential", "living_street", "road")
)
# The closed list of the `highway` column; those not drivable never get a row, except from
# a pre-matched road map that says so.
HIGHWAY_CLASSES = (
    *LINK_CLASSES, *LINKS, "unclassified", "residential",
    "living_street", "service", "road", "pedestrian", "track", "busway", "raceway", "escape",
)  # fmt: skip
# Objects made from a pre-matched road map are numbered from here; OSM's own ids are about 1e10.
MADE_IDS = 10**15
NO_LOCATION = 2**31 - 1  # osmium's mark of a node the extract does not hold
DEGREE = 10_000_000  # OSM's integer coordinates per degree


@dataclass(frozen=True)
class DrivableWays:
    """The drivable ways of an extract, as one table and flat node arrays.

    Attributes:
        table: One row per way: way_id, highway, direction (1 with the digitised direction only,
            -1 against it only, 0 both), roundabout, name, name_en, ref, maxspeed (null where
            absent).
        way: Row in `table` of each node entry, (K,) int64, ascending.
        node: OSM node id of each entry, (K,) int64, in digitised order within a way.
        x: Longitude of each entry in 1e-7 degrees, (K,) int64; `NO_LOCATION` where the extract
            lacks the node.
        y: Latitude, likewise.
    """

    table: pl.DataFrame
    way: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    x: npt.NDArray[np.int64]
    y: npt.NDArray[np.int64]

    @property
    def lon(self) -> Floats:
        """Longitudes in degrees, (K,)."""
        return self.x / DEGREE

    @property
    def lat(self) -> Floats:
        """Latitudes in degrees, (K,)."""
        return self.y / DEGREE


def is_drivable(tags: Any, *, service_roads: bool) -> bool:
    """Tell whether a private car may drive a way, by its tags (a mapping with `get`)."""
    highway = tags.get("highway")
    if highway not in DRIVABLE and not (service_roads and highway == "service"):
        return False
    return not (
        tags.get("area") == "yes"
        or tags.get("access") in {"private", "no"}
        or tags.get("motor_vehicle") == "no"
        or tags.get("motorcar") == "no"
    )


def is_roundabout(tags: Any) -> bool:
    """Tell whether a way is a roundabout or another circular junction."""
    return tags.get("junction") in {"roundabout", "circular"}


def driving_direction(tags: Any) -> int:
    """Return 1 (only as digitised), -1 (only against it) or 0 (both ways)."""
    oneway = tags.get("oneway")
    if oneway in {"yes", "true", "1"}:
        return 1
    if oneway in {"-1", "reverse"}:
        return -1
    if is_roundabout(tags):  # a circle is driven one way round, whatever `oneway=no` was meant for
        return 1
    return int(tags.get("highway") in {"motorway", "motorway_link"} and oneway != "no")


def highways(path: Path) -> Iterator[Any]:
    """Yield every way with a `highway` tag of an OSM file, its nodes with their locations.

    A way is osmium's own, and holds good until the next one is asked for.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    import osmium  # noqa: PLC0415 - compiled reader, needed here only

    with reading_osm(path):
        yield from (
            osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
            .with_locations("sparse_mem_array")
            .with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
            .with_filter(osmium.filter.KeyFilter("highway"))
        )


def read_drivable_ways(path: Path, *, service_roads: bool, name_tag: str) -> DrivableWays:
    """Read an OSM file (.osm.pbf or .osm) into drivable ways.

    Args:
        path: The extract.
        service_roads: Whether `highway=service` counts.
        name_tag: OSM key of the native name, usually `name`; where a road lacks it, `name` counts.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    columns: dict[str, list[Any]] = {
        key: [] for key in ("way_id", "highway", "direction", "roundabout", "name", "name_en",
                            "ref", "maxspeed")
    }  # fmt: skip
    sizes: list[int] = []
    entries: list[tuple[int, int, int]] = []
    for way in highways(path):
        made = way.id >= MADE_IDS  # a road map's segments are driven by definition
        if not made and not is_drivable(way.tags, service_roads=service_roads):
            continue
        _append_way(columns, way.id, way.tags, name_tag)
        nodes = way.nodes
        sizes.append(len(nodes))
        entries.extend((node.ref, node.x, node.y) for node in nodes)
    flat = np.array(entries, dtype=np.int64).reshape(-1, 3)
    return DrivableWays(
        table=pl.DataFrame(columns, schema=_TABLE),
        way=np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
        node=flat[:, 0],
        x=flat[:, 1],
        y=flat[:, 2],
    )


_TABLE = {
    "way_id": pl.Int64, "highway": pl.String, "direction": pl.Int64, "roundabout": pl.Boolean,
    "name": pl.String, "name_en": pl.String, "ref": pl.String, "maxspeed": pl.String,
}  # fmt: skip


def _append_way(columns: dict[str, list[Any]], way_id: int, tags: Any, name_tag: str) -> None:
    columns["way_id"].append(way_id)
    columns["highway"].append(tags["highway"])
    columns["direction"].append(driving_direction(tags))
    columns["roundabout"].append(is_roundabout(tags))
    columns["name"].append(tags.get(name_tag) or tags.get("name"))
    columns["name_en"].append(tags.get("name:en"))
    columns["ref"].append(tags.get("ref"))
    columns["maxspeed"].append(tags.get("maxspeed"))
