"""Build the city's H3 cells: which segments pass them, what lies in them, how they read.

    roads + context tables -> road_cells (segment -> cells with lengths) and cells, for example
    {cell: 8a39.., pois: [..], commercial: [dining], geo_tag: WATERFRONT, district: Larvotto,
     description: "GNN: WATERFRONT | Natural: water | Commercial: dining | District: Larvotto"}

Paper: Appendix A.3.1, Table 9, "H3 Cell" and "H3 Road Net.".
"""

from collections import Counter
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa

from pipeline.city.categories import COMMERCIAL, OTHER_GROUP, PUBLIC_FACILITIES, category_group
from pipeline.city.cover import cover_segments, road_cells
from pipeline.city.description import commonest_words, describe_cell, facility_words
from pipeline.city.geotag import GEO_TAGS, GeoTagClassifier, GeoTagRules, GeoTags, tag_cells
from pipeline.city.hexgrid import cell_name, cells_at, centre, neighbours
from pipeline.city.projection import Floats, UtmPlane
from pipeline.city.sources import BBox
from pipeline.city.surroundings import AREA_TYPES, Surroundings, measure_surroundings
from pipeline.keys import H3Resolution, Seed
from pipeline.schemas import arrow_schema

GROUPS = (*COMMERCIAL, *PUBLIC_FACILITIES, OTHER_GROUP)
DISTRICT_METHODS = ("relation", "overture", "nearest_node")  # the surer way first
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class CellsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `cells` section of params.yaml.

    Attributes:
        cut_tolerance_m: Longest stretch of road that may be put into the wrong of two
            neighbouring cells, metres.
        overlap_m2: How much of a cell an area must cover to name its nature, square metres.
        geo_tag: Thresholds of the geo-tag rules.
        classifier: The classifier for cells whose rules are weak.
        residential_low: Share of residential land from which on a cell is residential at all.
        residential_high: Share from which on it counts as high-density.
        mixed_places: Commercial places from which on a residential cell is mixed.
        natural_words: Most natural words in a description.
        facility_words: Most place categories in a description.
        dull_categories: Place categories that tell a reader nothing; never in a description.
        district_subtypes: Overture subtypes of an area that may be a cell's district; the first
            that holds the centre wins.
    """

    cut_tolerance_m: Annotated[float, msgspec.Meta(ge=0.001, le=1000)]
    overlap_m2: Annotated[float, msgspec.Meta(ge=0)]
    geo_tag: GeoTagRules
    classifier: GeoTagClassifier
    residential_low: Share
    residential_high: Share
    mixed_places: Annotated[int, msgspec.Meta(ge=1)]
    natural_words: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    facility_words: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    dull_categories: list[str]
    district_subtypes: list[str]

    def __post_init__(self) -> None:
        low, high = self.residential_low, self.residential_high
        if low > high:
            expected = f"at most residential_high, {high:g}"
            raise ValueError(f"residential_low: expected {expected}, found {low:g}")


class CityCells(NamedTuple):
    """Tables of the cells stage and the record of its geo-tags."""

    road_cells: pl.DataFrame
    cells: pl.DataFrame
    geotag_metrics: dict[str, Any]


def city_cells(
    roads: pl.DataFrame,
    context: dict[str, pl.DataFrame],
    *,
    bbox: BBox,
    h3_resolution: int,
    settings: CellsSettings,
    seed: int,
) -> CityCells:
    """Lay roads over the grid and describe every cell they pass.

    Args:
        roads: Directed segments (schemas/road.schema.json).
        context: Tables place, land_use, land, water, division_area; each may be empty.
        bbox: West, south, east, north, degrees; chooses the metric plane.
        h3_resolution: Resolution of the grid.
        settings: Thresholds and word counts.
        seed: The data set's seed.
    """
    covered = cover_segments(roads, resolution=h3_resolution, tolerance_m=settings.cut_tolerance_m)
    cells = sorted(covered["cell"].unique().to_list())
    plane = UtmPlane.around(bbox)
    places = _places_by_cell(context["place"], cells, h3_resolution)
    lengths = _class_lengths(covered, roads, cells)
    around = measure_surroundings(
        cells,
        {kind: context[kind] for kind in AREA_TYPES},
        plane=plane,
        reach_m=max(settings.geo_tag.coast_m.weak, settings.geo_tag.water_m.weak),
        smallest_water_m2=settings.geo_tag.smallest_water_m2,
        smallest_overlap_m2=settings.overlap_m2,
    )
    counts = np.array([[group.count(g) for g in GROUPS] for group in _groups(places)], dtype=float)
    built = (around.share["built"] + around.share["residential"] > 0) | (
        counts.sum(axis=1) >= settings.geo_tag.built_places
    )
    tags = tag_cells(
        cells,
        around=around,
        built=built,
        features=_features(around, counts, lengths),
        settings=(settings.geo_tag, settings.classifier),
        seed=seed,
    )
    districts = _districts(cells, context["division_area"], settings.district_subtypes)
    rows = [
        _row(i, cells[i], places[i], lengths[i], (around, tags, districts), settings)
        for i in range(len(cells))
    ]
    table = pa.Table.from_pylist(rows, schema=arrow_schema("cell"))
    return CityCells(
        road_cells=road_cells(covered, tolerance_m=settings.cut_tolerance_m),
        cells=pl.DataFrame(pl.from_arrow(table)).sort("cell"),
        geotag_metrics=tags.metrics,
    )


def _places_by_cell(
    places: pl.DataFrame, cells: list[int], resolution: int
) -> list[list[dict[str, Any]]]:
    """Return the places of each cell, by id; closed ones and those in other cells are left out."""
    import shapely  # noqa: PLC0415 - slow import

    index = {cell: i for i, cell in enumerate(cells)}
    found: list[list[dict[str, Any]]] = [[] for _ in cells]
    alive = places.filter(pl.col("operating_status").ne_missing("permanently_closed")).sort("id")
    points = shapely.get_coordinates(shapely.from_wkb(alive["geometry"].to_numpy()))
    at = cells_at(points[:, 0], points[:, 1], resolution).tolist()
    for row, cell, (lon, lat) in zip(alive.iter_rows(named=True), at, points.tolist(), strict=True):
        if cell not in index:
            continue
        hierarchy = (row["taxonomy"] or {}).get("hierarchy") or []
        poi = {
            "id": row["id"],
            "name": (row["names"] or {}).get("primary"),
            "group": category_group(hierarchy, row["basic_category"]),
            "category": row["basic_category"],
            "lon": lon,
            "lat": lat,
        }
        found[index[cell]].append(poi)
    return found


def _groups(places: list[list[dict[str, Any]]]) -> list[list[str]]:
    return [[poi["group"] for poi in pois] for pois in places]


def _class_lengths(
    covered: pl.DataFrame, roads: pl.DataFrame, cells: list[int]
) -> list[dict[str, float]]:
    """Return road metres per class in each cell; a two-way street, two rows, counts once."""
    weight = pl.when("oneway").then(1.0).otherwise(0.5)
    sums = (
        covered.join(roads.select("edge_id", "highway", "oneway"), on="edge_id")
        .group_by("cell", "highway")
        .agg(length_m=(pl.col("length_m") * weight).sort().sum())
        .sort("cell", "highway")
    )
    found: dict[int, dict[str, float]] = {cell: {} for cell in cells}
    for cell, highway, length in sums.iter_rows():
        found[cell][highway] = round(length, 3)
    return [found[cell] for cell in cells]


def _features(around: Surroundings, counts: Floats, lengths: list[dict[str, float]]) -> Floats:
    """Return what the classifier sees of each cell beside the rules' own strengths, (C, F)."""
    road = np.array([[sum(by_class.values()), len(by_class)] for by_class in lengths], dtype=float)
    trees = np.array([sum(words.values()) for words in around.natural], dtype=float)
    shares = np.column_stack(list(around.share.values()))
    return np.column_stack((shares, np.log1p(counts), np.log1p(road), np.log1p(trees)))


def _districts(
    cells: list[int], areas: pl.DataFrame, subtypes: list[str]
) -> list[tuple[str | None, str | None]]:
    """Return name and method of the district that holds each cell's centre, or two Nones.

    Surer methods come first, then the order of `subtypes`, then the smaller area, then the id.
    """
    import shapely  # noqa: PLC0415 - slow import

    usable = areas.filter(pl.col("subtype").is_in(subtypes))
    shapes = np.asarray(shapely.from_wkb(usable["geometry"].to_numpy()))
    rank = [
        (DISTRICT_METHODS.index(row["ext_district_method"]), subtypes.index(row["subtype"]), size,
         row["id"])
        for row, size in zip(usable.iter_rows(named=True), shapely.area(shapes), strict=True)
    ]  # fmt: skip
    names = [row["primary"] for row in usable["names"].to_list()]
    centres = shapely.points([centre(cell) for cell in cells])
    found: dict[int, int] = {}
    for i, j in zip(*shapely.STRtree(shapes).query(centres, predicate="within"), strict=True):
        if i not in found or rank[j] < rank[found[i]]:
            found[i] = j
    methods = usable["ext_district_method"].to_list()
    return [
        (names[found[i]], methods[found[i]]) if i in found else (None, None)
        for i in range(len(cells))
    ]


def _residential(share: float, commercial: int, settings: CellsSettings) -> str:
    if share < settings.residential_low:
        return "none"
    if commercial >= settings.mixed_places:
        return "mixed"
    return "high-density" if share >= settings.residential_high else "low-density"


def _row(
    i: int,
    cell: int,
    pois: list[dict[str, Any]],
    lengths: dict[str, float],
    measured: tuple[Surroundings, GeoTags, list[tuple[str | None, str | None]]],
    settings: CellsSettings,
) -> dict[str, Any]:
    """Return one row of cell.schema.json."""
    around, tags, districts = measured
    groups = Counter(poi["group"] for poi in pois)
    lon, lat = centre(cell)
    geo_tag = GEO_TAGS[tags.tag[i]]
    commercial = [name for name in COMMERCIAL if groups[name]]
    words = facility_words((poi["category"] for poi in pois), dull=settings.dull_categories)
    district, method = districts[i]
    return {
        "cell": cell_name(cell),
        "lon": lon,
        "lat": lat,
        "pois": pois,
        "natural": sorted(around.natural[i]),
        "commercial": commercial,
        "public_facilities": [name for name in PUBLIC_FACILITIES if groups[name]],
        "residential": _residential(
            float(around.share["residential"][i]), sum(groups[g] for g in COMMERCIAL), settings
        ),
        "class_lengths_m": [{"highway": k, "length_m": v} for k, v in lengths.items()],
        "neighbours": [cell_name(other) for other in neighbours(cell)],
        "district": district,
        "district_method": method,
        "geo_tag": geo_tag,
        "geo_tag_source": "rule" if tags.by_rule[i] else "classifier",
        "geo_tag_confidence": round(float(tags.confidence[i]), 4),
        "description": describe_cell(
            geo_tag,
            natural=commonest_words(around.natural[i], settings.natural_words),
            commercial=commercial,
            facilities=commonest_words(words, settings.facility_words),
            district=district,
        ),
        "narrative": "",
    }


def run(
    io: Any, *, bbox: BBox, h3_resolution: H3Resolution, cells: CellsSettings, seed: Seed
) -> None:
    """Read roads and context, write road_cells, cells and the geo-tags' metrics."""
    context = {kind: io.read(kind) for kind in ("place", *AREA_TYPES, "division_area")}
    made = city_cells(
        io.read("roads"), context, bbox=bbox, h3_resolution=h3_resolution, settings=cells, seed=seed
    )
    io.write("road_cells", made.road_cells)
    io.write("cells", made.cells)
    io.write_json("geotag_metrics", made.geotag_metrics)
