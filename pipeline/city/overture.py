"""Read Overture features, from its releases or from local GeoParquet, into one form.

    {id, geometry, names, categories: {primary: "thai_restaurant"}, ...}  (the old generation)
    -> place row with taxonomy.hierarchy [food_and_drink, restaurant, thai_restaurant] and
       ext_category_source "categories"; a row that has `taxonomy` keeps it

Each row is then held to Overture's own published models (overture-schema-theme-*); what they
refuse is rejected with the reason, never passed on.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.city.categories import hierarchy_of_old_category
from pipeline.city.sources import BBox
from pipeline.errors import SourceError
from pipeline.schemas import arrow_schema

TYPES = ("place", "land_use", "land", "water", "division_area")
SCHEMAS = {
    "place": "overture_place",
    "land_use": "overture_area",
    "land": "overture_area",
    "water": "overture_area",
    "division_area": "overture_division",
}


class ContextReason(StrEnum):
    """Why a feature is not part of the city's context."""

    INVALID_FEATURE = "invalid_feature"
    TAXONOMY_DISAGREES = "taxonomy_disagrees"
    DUPLICATE_ID = "duplicate_feature_id"


class Checked(NamedTuple):
    """Rows of one type that hold, and (item_id, reason, detail) of those that do not."""

    rows: list[dict[str, Any]]
    refused: list[tuple[str, ContextReason, str]]


def read_release(kind: str, bbox: BBox, release: str) -> Iterator[dict[str, Any]]:
    """Yield the raw features of one type in a bbox from a pinned Overture release.

    Raises:
        SourceError: The release cannot be reached, or does not exist.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    from overturemaps import core  # noqa: PLC0415 - needs the network

    try:
        reader = core.record_batch_reader(kind, bbox, release=release)
        if reader is None:
            raise OSError(f"no {kind} for this bbox")  # noqa: TRY301 - one message for all faults
        for batch in reader:
            yield from batch.to_pylist()
    except (OSError, ValueError, pa.ArrowException) as fault:
        raise SourceError(
            f"Overture release {release}: expected {kind} features in {list(bbox)}, found"
            f" {' '.join(str(fault).split())[:300]}; check the network and context.source.release"
        ) from fault


def read_geoparquet(path: Path, bbox: BBox) -> Iterator[dict[str, Any]]:
    """Yield the raw features of a local GeoParquet file that touch the bbox.

    Raises:
        SourceError: The file is unreadable, or has no id or geometry.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415
    import shapely  # noqa: PLC0415

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            missing = {"id", "geometry"} - set(file.schema_arrow.names)
            if missing:
                raise SourceError(
                    f"{path}: expected Overture GeoParquet, found no column"
                    f" {', '.join(sorted(missing))}; name the right file in context.source.files"
                )
            box = shapely.box(*bbox)
            for batch in file.iter_batches():
                shapes = shapely.from_wkb(batch.column("geometry").to_pylist())
                near = shapely.intersects(shapes, box)
                yield from batch.filter(pa.array(near)).to_pylist()
    except (
        OSError,
        ValueError,
        TypeError,
        pa.ArrowException,
        shapely.errors.ShapelyError,
    ) as fault:
        raise SourceError(f"{path}: expected Overture GeoParquet, found {fault}") from fault


def rows_of(
    kind: str, features: Iterable[dict[str, Any]], unmapped: Counter[str]
) -> list[dict[str, Any]]:
    """Bring raw Overture features to the columns of our schema; old categories are converted.

    Args:
        kind: One of `TYPES`.
        features: Raw features, geometry as WKB.
        unmapped: Old categories without a place in the new taxonomy are counted here.
    """
    names = arrow_schema(SCHEMAS[kind]).names
    rows = []
    for raw in features:
        row = {name: raw.get(name) for name in names}
        row |= {"theme": _THEME[kind], "type": kind, "names": _primary(raw.get("names"))}
        row["sources"] = [_only(source, _SOURCE) for source in raw.get("sources") or []] or None
        rows.append(row | _EXTRA[kind](raw, unmapped))
    return rows


_THEME = dict.fromkeys(TYPES, "base") | {"place": "places", "division_area": "divisions"}
_SOURCE = ("property", "dataset", "license", "record_id", "update_time", "confidence")
_ADDRESS = ("freeform", "locality", "postcode", "region", "country")


def _only(record: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: record.get(key) for key in keys}


def _primary(names: dict[str, Any] | None) -> dict[str, str] | None:
    return {"primary": names["primary"]} if names and names.get("primary") else None


def _place_extra(raw: dict[str, Any], unmapped: Counter[str]) -> dict[str, Any]:
    brand = _primary((raw.get("brand") or {}).get("names"))
    return {
        "addresses": [_only(a, _ADDRESS) for a in raw.get("addresses") or []] or None,
        "brand": {"names": brand} if brand else None,
        **_categories(raw, unmapped),
    }


def _categories(raw: dict[str, Any], unmapped: Counter[str]) -> dict[str, Any]:
    """Return taxonomy, basic category and which generation they came from."""
    taxonomy, old = raw.get("taxonomy"), raw.get("categories")
    if taxonomy and taxonomy.get("primary"):
        kept = _only(taxonomy, ("primary", "hierarchy", "alternates"))
        kept["alternates"] = kept["alternates"] or None
        return {"taxonomy": kept, "ext_category_source": "taxonomy"}
    if not old or not old.get("primary"):
        return {"taxonomy": None, "basic_category": None, "ext_category_source": "none"}
    primary = old["primary"]
    hierarchy = hierarchy_of_old_category(primary)
    if hierarchy is None:
        unmapped[f"categories={primary}"] += 1
    converted = {
        "primary": primary,
        "hierarchy": list(hierarchy or (primary,)),
        "alternates": sorted(set(old.get("alternate") or []) - {primary}) or None,
    }
    return {
        "taxonomy": converted,
        "basic_category": raw.get("basic_category") or primary,
        "ext_category_source": "categories",
    }


def _area_extra(_raw: dict[str, Any], _unmapped: Counter[str]) -> dict[str, Any]:
    return {}


def _division_extra(_raw: dict[str, Any], _unmapped: Counter[str]) -> dict[str, Any]:
    return {"ext_district_method": "overture"}


_EXTRA: dict[str, Callable[[dict[str, Any], Counter[str]], dict[str, Any]]] = {
    "place": _place_extra,
    "land_use": _area_extra,
    "land": _area_extra,
    "water": _area_extra,
    "division_area": _division_extra,
}


def check_rows(kind: str, rows: list[dict[str, Any]]) -> Checked:
    """Hold rows to Overture's published models, and to what those leave unchecked.

    Of rows with one id the first is kept; rows come back sorted by id.
    """
    import pydantic  # noqa: PLC0415 - slow import

    model = overture_models()[kind]
    from overture.schema.system.geometric.geom import Geometry  # noqa: PLC0415 - after its models

    kept: dict[str, dict[str, Any]] = {}
    refused: list[tuple[str, ContextReason, str]] = []
    for row in rows:
        number = str(row["id"])
        taxonomy = row.get("taxonomy")
        if number in kept:
            refused.append((number, ContextReason.DUPLICATE_ID, f"{kind}: the first one is kept"))
        elif taxonomy and list(taxonomy["hierarchy"] or [])[-1:] != [taxonomy["primary"]]:
            detail = f"{kind}: hierarchy {taxonomy['hierarchy']}, primary {taxonomy['primary']}"
            refused.append((number, ContextReason.TAXONOMY_DISAGREES, detail))
        else:
            try:
                model.model_validate(
                    _present(row) | {"geometry": Geometry.from_wkb(row["geometry"])}
                )
                kept[number] = row
            except pydantic.ValidationError as fault:
                first = fault.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                detail = f"{kind}: {where}: {first['msg']}"
                refused.append((number, ContextReason.INVALID_FEATURE, detail))
    return Checked([kept[number] for number in sorted(kept)], refused)


def overture_models() -> dict[str, Any]:
    """Return Overture's own model of each feature type; imports them on the first call."""
    with warnings.catch_warnings():
        # Their packages take a sentinel from where pydantic 2.14 no longer keeps it.
        warnings.simplefilter("ignore", DeprecationWarning)
        from overture.schema.base import Land, LandUse, Water  # noqa: PLC0415 - slow import
        from overture.schema.divisions import DivisionArea  # noqa: PLC0415
        from overture.schema.places import Place  # noqa: PLC0415

    return dict(zip(TYPES, (Place, LandUse, Land, Water, DivisionArea), strict=True))


def _present(value: Any) -> Any:
    """Leave out what is null: Overture's models want absent, not null."""
    if isinstance(value, dict):
        return {key: _present(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_present(item) for item in value]
    return value
