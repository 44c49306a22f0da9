"""Measure what lies in each H3 cell: shares of green and water, distances to them, natural words.

    cell 8a3969a40d97fff over the harbour
    -> shares {green: 0.02, built: 0.0, residential: 0.4}, coast_m 0.0, water_m 311.0,
       natural {"water": 1, "tree": 12}

Areas and distances are metric (UTM), overlapping areas of one role count once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.city.categories import area_meaning
from pipeline.city.hexgrid import outline
from pipeline.city.projection import Floats, UtmPlane

AREA_TYPES = ("land_use", "land", "water")
SHARE_ROLES = ("green", "water", "residential", "built")


@dataclass(frozen=True)
class Surroundings:
    """Measured context of C cells, in the order given.

    Attributes:
        share: Role (green, water, residential, built) to share of the cell's area, (C,) 0-1.
        coast_m: Metres from the cell to the sea, a beach or a marina; inf beyond reach, (C,).
        water_m: Metres from the cell to a lake, river or canal; inf beyond reach, (C,).
        natural: Per cell, natural word to number of features.
    """

    share: dict[str, Floats]
    coast_m: Floats
    water_m: Floats
    natural: list[dict[str, int]]


@dataclass(frozen=True)
class _Features:
    """Features with a meaning, in metres: shape, role and natural word, aligned arrays."""

    shape: npt.NDArray[Any]
    role: npt.NDArray[np.str_]
    natural: npt.NDArray[np.str_]


def measure_surroundings(
    cells: list[int],
    areas: dict[str, pl.DataFrame],
    *,
    plane: UtmPlane,
    reach_m: float,
    smallest_water_m2: float,
    smallest_overlap_m2: float,
) -> Surroundings:
    """Measure the land use, land and water around cells.

    Args:
        cells: H3 cells as integers.
        areas: Tables land_use, land and water (class, geometry as WKB); empty ones are fine.
        plane: The city's metric plane.
        reach_m: Beyond this distance water and coast are not looked for, metres.
        smallest_water_m2: Water areas below this make no waterfront.
        smallest_overlap_m2: An area must cover this much of a cell to name its nature.
    """
    import shapely  # noqa: PLC0415 - slow import

    outlines = np.asarray(plane.geometries(np.array([outline(cell) for cell in cells])))
    features = _features(areas, plane)
    size = shapely.area(outlines)
    wide = (shapely.get_dimensions(features.shape) < 2) | (
        shapely.area(features.shape) >= smallest_water_m2
    )
    coast, water = features.role == "coast", (features.role == "water") & wide
    return Surroundings(
        share={
            role: _covered(outlines, features.shape[features.role == role]) / size
            for role in SHARE_ROLES
        },
        coast_m=_distances(outlines, features.shape[coast], reach_m),
        water_m=_distances(outlines, features.shape[water], reach_m),
        natural=_natural_words(outlines, features, smallest_overlap_m2),
    )


def _features(areas: dict[str, pl.DataFrame], plane: UtmPlane) -> _Features:
    import shapely  # noqa: PLC0415 - slow import

    wkb: list[bytes] = []
    meanings: list[tuple[str, str]] = []
    for kind in AREA_TYPES:
        for area_class, geometry in areas[kind].select("class", "geometry").iter_rows():
            meaning = area_meaning(kind, area_class)
            if meaning.natural or meaning.role:
                wkb.append(geometry)
                meanings.append((meaning.natural, meaning.role))
    shapes = np.asarray(shapely.from_wkb(np.array(wkb, dtype=object)))
    metric = shapely.make_valid(plane.geometries(shapes)) if wkb else shapes
    words = np.array(meanings, dtype=np.str_).reshape(-1, 2)
    return _Features(np.asarray(metric), role=words[:, 1], natural=words[:, 0])


def _pairs(outlines: Any, shapes: Any) -> tuple[Any, Any]:
    """Return the (cell index, shape index) pairs that touch, sorted by cell then shape."""
    import shapely  # noqa: PLC0415 - slow import

    cell, shape = shapely.STRtree(shapes).query(outlines, predicate="intersects")
    order = np.lexsort((shape, cell))
    return cell[order], shape[order]


def _covered(outlines: Any, shapes: Any) -> Floats:
    """Return the square metres of each cell under the shapes, overlaps counted once."""
    import shapely  # noqa: PLC0415 - slow import

    covered = np.zeros(len(outlines))
    cell, shape = _pairs(outlines, shapes)
    if not len(cell):
        return covered
    parts = shapely.intersection(outlines[cell], shapes[shape])
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    for first, last in zip(starts, np.append(starts[1:], len(cell)), strict=True):
        covered[cell[first]] = shapely.area(shapely.union_all(parts[first:last]))
    return covered


def _distances(outlines: Any, shapes: Any, reach_m: float) -> Floats:
    import shapely  # noqa: PLC0415 - slow import

    distance = np.full(len(outlines), np.inf)
    if len(shapes):
        (cell, _), metres = shapely.STRtree(shapes).query_nearest(
            outlines, max_distance=reach_m, return_distance=True, all_matches=False
        )
        distance[cell] = metres
    return distance


def _natural_words(
    outlines: Any, features: _Features, smallest_overlap_m2: float
) -> list[dict[str, int]]:
    import shapely  # noqa: PLC0415 - slow import

    named = features.natural != ""
    shapes, word = features.shape[named], features.natural[named]
    found: list[dict[str, int]] = [{} for _ in outlines]
    cell, shape = _pairs(outlines, shapes)
    overlap = shapely.area(shapely.intersection(outlines[cell], shapes[shape]))
    real = (shapely.get_dimensions(shapes[shape]) < 2) | (overlap >= smallest_overlap_m2)
    for index, name in zip(cell[real].tolist(), word[shape[real]].tolist(), strict=True):
        found[index][name] = found[index].get(name, 0) + 1
    return found
