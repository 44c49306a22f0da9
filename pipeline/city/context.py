"""Pull a city's map context: places, land use, land, water and districts in Overture's shape.

    {kind: osm_tags, country: MC, ...} and the city's OSM extract
    -> context/place.parquet, land_use, land, water, division_area + context/manifest.json

Whether the rows come from Overture or from OSM tags, later stages read the same five tables.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import polars as pl
import pyarrow as pa

from pipeline.city.districts import build_districts
from pipeline.city.osm_features import feature_rows, read_features
from pipeline.city.overture import (
    SCHEMAS,
    TYPES,
    check_rows,
    read_geoparquet,
    read_release,
    rows_of,
)
from pipeline.city.sources import BBox, Sha256, pinned_file, sha256_of
from pipeline.keys import Text
from pipeline.schemas import arrow_schema

OSM_RELEASE = "osm-standin"
OSM_ATTRIBUTION = "(c) OpenStreetMap contributors"


class OsmTagsSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="osm_tags"
):
    """Context from the tags of the city's own OSM extract.

    Attributes:
        country: ISO 3166-1 code of the city's country.
        district_places: Values of OSM's `place` whose nodes name a district.
        district_reach_m: How far a district reaches from such a node, metres.
    """

    country: Annotated[str, msgspec.Meta(pattern="^[A-Z]{2}$")]
    district_places: list[str]
    district_reach_m: Annotated[float, msgspec.Meta(gt=0, le=100_000)]


class OvertureSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="overture"
):
    """Context from a pinned Overture release.

    Attributes:
        release: Overture release, for example 2026-10-21.0.
        licence: Licence of the rows; places, base and divisions differ (see sources[]).
        attribution: Credit line that goes with the data.
    """

    release: str
    licence: str
    attribution: str


class PinnedPath(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A local file and its hash; null is refused with a message that names the value to pin."""

    path: str
    sha256: Sha256 | None


class OvertureFilesSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="overture_files"
):
    """Context from local Overture GeoParquet files.

    Attributes:
        release: Overture release the files were taken from.
        files: Feature type (place, land_use, land, water, division_area) to file, from the
            project's root; a type that is left out gives an empty table.
        licence: Licence of the rows.
        attribution: Credit line that goes with the data.
    """

    release: str
    files: dict[str, PinnedPath]
    licence: str
    attribution: str


class ContextConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `context` key of configs/<city>.yaml."""

    source: OsmTagsSource | OvertureSource | OvertureFilesSource


class RawContext(NamedTuple):
    """Unchecked rows by feature type, unmapped tags or categories, and further counts."""

    rows: dict[str, list[dict[str, Any]]]
    unmapped: Counter[str]
    counts: dict[str, int]


class CityContext(NamedTuple):
    """Checked tables by feature type, the manifest, and the rejected features."""

    tables: dict[str, pl.DataFrame]
    manifest: dict[str, Any]
    rejected: pl.DataFrame


def context_from_osm(
    extract: Path, source: OsmTagsSource, *, name_tag: str, bbox: BBox
) -> RawContext:
    """Read the context out of an OSM extract; what lies outside the bbox is left out."""
    found = read_features(extract)
    rows, unmapped = feature_rows(found, name_tag=name_tag, country=source.country)
    districts = build_districts(
        found,
        name_tag=name_tag,
        country=source.country,
        places=source.district_places,
        reach_m=source.district_reach_m,
        bbox=bbox,
    )
    rows["place"] = _as_points(rows["place"])
    rows["division_area"] = districts.rows
    kept = {kind: _touching(rows[kind], bbox) for kind in TYPES}
    outside = sum(len(rows[kind]) - len(kept[kind]) for kind in TYPES)
    counts = districts.counts | {"areas_not_closed": found.unclosed, "outside_bbox": outside}
    return RawContext(kept, unmapped, counts)


def context_from_overture(
    source: OvertureSource | OvertureFilesSource, *, bbox: BBox
) -> RawContext:
    """Read the context from an Overture release or from files of one."""
    unmapped: Counter[str] = Counter()
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in TYPES}
    for kind in TYPES:
        if isinstance(source, OvertureSource):
            rows[kind] = rows_of(kind, read_release(kind, bbox, source.release), unmapped)
        elif kind in source.files:
            pin = source.files[kind]
            key = f"context.source.files.{kind}.sha256"
            file = pinned_file(Path(pin.path), pin.sha256, key=key)
            rows[kind] = rows_of(kind, read_geoparquet(file, bbox), unmapped)
    return RawContext(rows, unmapped, {})


def checked_context(raw: RawContext, *, manifest: dict[str, Any]) -> CityContext:
    """Hold every row to Overture's models, and complete the manifest with the counts."""
    tables, refused = {}, []
    for kind in TYPES:
        checked = check_rows(kind, raw.rows[kind])
        table = pa.Table.from_pylist(checked.rows, schema=arrow_schema(SCHEMAS[kind]))
        tables[kind] = pl.DataFrame(pl.from_arrow(table))
        refused += [
            (number, "pull_context", str(why), what) for number, why, what in checked.refused
        ]
    counts = {kind: table.height for kind, table in tables.items()}
    counts["named_places"] = tables["place"].filter(pl.col("names").is_not_null()).height
    counts |= raw.counts | {"refused": len(refused), "unmapped": raw.unmapped.total()}
    unmapped = [{"tag": tag, "count": n} for tag, n in sorted(raw.unmapped.items())]
    columns = ["item_id", "stage", "reason", "detail"]
    rejected = pl.DataFrame(refused, schema=dict.fromkeys(columns, pl.String), orient="row")
    return CityContext(tables, manifest | {"counts": counts, "unmapped_tags": unmapped}, rejected)


def context_manifest(source: Any, extract: Path, bbox: BBox) -> dict[str, Any]:
    """Return the manifest without its counts (schemas/manifest.schema.json)."""
    manifest = {
        "artifact": "context",
        "kind": source.__struct_config__.tag,
        "locator": "osm/network.osm.pbf",
        "release": OSM_RELEASE,
        "bbox": list(bbox),
        "sha256": None,
        "bytes": None,
        "licence": "ODbL-1.0",
        "attribution": OSM_ATTRIBUTION,
    }
    if isinstance(source, OsmTagsSource):
        return manifest | {"sha256": sha256_of(extract), "bytes": extract.stat().st_size}
    files = getattr(source, "files", {})
    return manifest | {
        "locator": ", ".join(pin.path for pin in files.values()) or "Overture Maps",
        "release": source.release,
        "licence": source.licence,
        "attribution": source.attribution,
    }


def _as_points(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every place one point: an area's point inside it, a line's middle."""
    import shapely  # noqa: PLC0415 - slow import

    shapes = shapely.from_wkb([row["geometry"] for row in rows])
    points = shapely.to_wkb(shapely.point_on_surface(shapes), byte_order=1)
    return [row | {"geometry": bytes(wkb)} for row, wkb in zip(rows, points, strict=True)]


def _touching(rows: list[dict[str, Any]], bbox: BBox) -> list[dict[str, Any]]:
    import shapely  # noqa: PLC0415 - slow import

    shapes = shapely.from_wkb([row["geometry"] for row in rows])
    near = shapely.intersects(shapes, shapely.box(*bbox))
    return [row for row, keep in zip(rows, near, strict=True) if keep]


def run(io: Any, *, context: ContextConfig, name_tag: Text, bbox: BBox) -> None:
    """Read the context from its source, check it, and write the five tables."""
    source, extract = context.source, io.path("osm")
    if isinstance(source, OsmTagsSource):
        raw = context_from_osm(extract, source, name_tag=name_tag, bbox=bbox)
    else:
        raw = context_from_overture(source, bbox=bbox)
    made = checked_context(raw, manifest=context_manifest(source, extract, bbox))
    for kind, table in made.tables.items():
        io.write(kind, table)
    io.write_json("context_manifest", made.manifest)
    io.reject(made.rejected)
