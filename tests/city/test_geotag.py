"""Geo-tags: what the rules say at, between and beyond their thresholds, and the classifier."""

import numpy as np
import polars as pl
import pytest
import shapely

from pipeline.city.geotag import (
    COASTAL,
    GREEN,
    URBAN,
    WATERFRONT,
    apply_rules,
    propagate,
    rule_strengths,
    tag_cells,
)
from pipeline.city.hexgrid import cells_at, centre, neighbours, outline
from pipeline.city.projection import UtmPlane
from pipeline.city.surroundings import SHARE_ROLES, Surroundings, measure_surroundings
from pipeline.schemas import check_record
from tests.city.settings_for_tests import CLASSIFIER, RULES
from tests.city.worlds import ORIGIN

PLANE = UtmPlane(*ORIGIN)
HOME = int(cells_at(np.array([ORIGIN[0]]), np.array([ORIGIN[1]]), 10)[0])
NOTHING = pl.DataFrame(schema={"class": pl.String, "geometry": pl.Binary})


def around(*, green=0.0, coast=np.inf, water=np.inf) -> Surroundings:
    share = {role: np.zeros(1) for role in SHARE_ROLES} | {"green": np.array([green])}
    return Surroundings(share, np.array([coast]), np.array([water]), [{}])


def decided(*, built=True, **context: float):
    made = apply_rules(rule_strengths(around(**context), RULES), np.array([built]))
    return int(made.tag[0]), bool(made.clear[0]), float(made.confidence[0])


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, (URBAN, True, 1.0)),
        ({"green": 0.3}, (GREEN, True, 1.0)),
        ({"green": 0.1}, (URBAN, True, 1.0)),  # at the weak threshold the rule is still silent
        ({"green": 0.2}, (GREEN, False, 0.5)),  # half way: not clear
        ({"green": 0.15}, (URBAN, False, 0.75)),
        ({"coast": 0.0}, (COASTAL, True, 1.0)),
        ({"coast": 20.0}, (COASTAL, True, 1.0)),
        ({"coast": 40.0}, (COASTAL, False, 0.75)),
        ({"coast": 100.0}, (URBAN, True, 1.0)),
        ({"water": 10.0}, (WATERFRONT, True, 1.0)),
        ({"water": 10.0, "coast": 10.0}, (COASTAL, True, 0.5)),  # seaside comes first
        ({"water": 10.0, "green": 0.2}, (WATERFRONT, True, 0.75)),
        ({"green": 0.9, "water": 35.0}, (GREEN, True, 0.75)),
        ({"built": False}, (URBAN, False, 0.5)),  # nothing is known
    ],
)
def test_rules_are_silent_then_weak_then_clear(context, expected):
    tag, clear, confidence = decided(**context)
    assert (tag, clear) == expected[:2]
    assert confidence == pytest.approx(expected[2])


def table(*features: tuple[str, shapely.Geometry]) -> pl.DataFrame:
    rows = [{"class": c, "geometry": bytes(shapely.to_wkb(_degrees(g)))} for c, g in features]
    return pl.DataFrame(rows, schema=NOTHING.schema)


def _degrees(shape: shapely.Geometry) -> shapely.Geometry:
    return shapely.transform(shape, PLANE.to_degrees)


def measured(**tables: pl.DataFrame) -> Surroundings:
    areas = {kind: tables.get(kind, NOTHING) for kind in ("land_use", "land", "water")}
    return measure_surroundings(
        [HOME],
        areas,
        plane=PLANE,
        reach_m=100.0,
        smallest_water_m2=1000.0,
        smallest_overlap_m2=25.0,
    )


def cell_box() -> tuple[float, float, float, float]:
    """Return west, south, east, north of the home cell in metres."""
    west, south, east, north = shapely.bounds(PLANE.geometries(outline(HOME)))
    return float(west), float(south), float(east), float(north)


def test_overlapping_green_counts_once():
    west, south, east, north = cell_box()
    whole = shapely.box(west, south, east, north)
    west_half = shapely.box(west, south, (west + east) / 2, north)
    made = measured(land_use=table(("park", west_half), ("grass", west_half)))
    assert made.share["green"][0] == pytest.approx(0.5, abs=0.02)
    made = measured(land_use=table(("park", whole)), land=table(("wood", west_half)))
    assert made.share["green"][0] == pytest.approx(1.0)
    assert made.natural == [{"park": 1, "forest": 1}]


def test_distances_are_metres_from_the_cells_edge_and_end_at_the_reach():
    west, south, east, north = cell_box()
    middle = (south + north) / 2
    shore = shapely.LineString([(east + 40, middle - 200), (east + 40, middle + 200)])
    assert measured(water=table(("ocean", shore))).coast_m[0] == pytest.approx(40.0, abs=0.5)
    far = shapely.LineString([(east + 140, middle - 200), (east + 140, middle + 200)])
    assert measured(water=table(("ocean", far))).coast_m[0] == np.inf
    river = shapely.LineString([(west, middle), (east, middle)])
    assert measured(water=table(("river", river))).water_m[0] == 0.0


def test_small_ponds_and_swimming_pools_make_no_waterfront():
    west, south, *_ = cell_box()
    pond = shapely.box(west + 40, south + 40, west + 60, south + 60)
    assert measured(water=table(("pond", pond))).water_m[0] == np.inf
    assert measured(water=table(("swimming_pool", pond))).natural == [{}]


def test_an_area_that_only_grazes_a_cell_does_not_name_its_nature():
    west, _, _, north = cell_box()
    south_east = shapely.box(west, north - 1.0, west + 400, north + 100)
    assert measured(land_use=table(("park", south_east))).natural == [{}]


def test_a_cell_without_any_context_is_measured_as_empty():
    made = measured()
    assert made.natural == [{}]
    assert made.coast_m[0] == made.water_m[0] == np.inf
    assert all(share[0] == 0.0 for share in made.share.values())


# ---- the classifier -----------------------------------------------------------------------------


def disc(rings: int) -> list[int]:
    """Return the cells within some rings of home, ascending."""
    found, edge = {HOME}, {HOME}
    for _ in range(rings):
        edge = {other for cell in edge for other in neighbours(cell)} - found
        found |= edge
    return sorted(found)


def half_and_half(cells: list[int], *, weak: int) -> tuple[Surroundings, np.ndarray]:
    """Return surroundings green in the west and built in the east; `weak` cells are in doubt."""
    west = np.array([centre(cell)[0] < ORIGIN[0] for cell in cells])
    green = np.where(west, 0.8, 0.0)
    green[:weak] = np.where(west[:weak], 0.19, 0.11)
    share = {role: np.zeros(len(cells)) for role in SHARE_ROLES} | {"green": green}
    none = np.full(len(cells), np.inf)
    return Surroundings(share, none, none, [{} for _ in cells]), west


def tagged(cells: list[int], surroundings: Surroundings, **changes):
    return tag_cells(
        cells,
        around=surroundings,
        built=np.ones(len(cells), dtype=bool),
        features=np.zeros((len(cells), 1)),
        settings=(RULES, changes.get("classifier", CLASSIFIER)),
        seed=changes.get("seed", 7),
    )


def test_the_classifier_gives_weak_cells_the_tag_of_their_surroundings():
    cells = disc(6)
    surroundings, west = half_and_half(cells, weak=12)
    made = tagged(cells, surroundings)
    assert not made.by_rule[:12].any()
    assert made.by_rule[12:].all()
    expected = np.where(west[:12], GREEN, URBAN)
    assert (made.tag[:12] == expected).mean() >= 0.75
    assert made.metrics["classified"] == 12
    assert made.metrics["ruled"] == len(cells) - 12
    assert made.metrics["training_cells"] + made.metrics["held_out_cells"] == len(cells) - 12
    assert made.metrics["held_out_accuracy"] > made.metrics["majority_accuracy"]
    check_record("geotag_metrics", made.metrics, where="metrics")


def test_the_same_seed_gives_the_same_tags_and_another_other_held_out_cells():
    cells = disc(6)
    surroundings, _ = half_and_half(cells, weak=12)
    first, again, other = (tagged(cells, surroundings, seed=s) for s in (7, 7, 8))
    assert first.metrics == again.metrics
    assert np.array_equal(first.confidence, again.confidence)
    assert first.metrics["held_out_cells"] != other.metrics["held_out_cells"]


def test_too_few_clear_cells_train_nothing_and_the_stronger_rule_decides():
    cells = disc(1)
    surroundings, _ = half_and_half(cells, weak=3)
    made = tagged(cells, surroundings)
    assert made.by_rule.all()
    assert (made.metrics["trained"], made.metrics["undecided"]) == (False, 3)
    assert made.metrics["held_out_accuracy"] is None
    check_record("geotag_metrics", made.metrics, where="metrics")


def test_cells_of_one_tag_only_train_nothing():
    cells = disc(4)
    none = np.full(len(cells), np.inf)
    share = {role: np.zeros(len(cells)) for role in SHARE_ROLES}
    made = tagged(cells, Surroundings(share, none, none, [{} for _ in cells]))
    assert not made.metrics["trained"]
    assert (made.tag == URBAN).all()


def test_one_round_averages_a_cell_with_its_neighbours_in_the_table():
    cells = sorted([HOME, *neighbours(HOME)])
    value = np.array([[1.0 if cell == HOME else 0.0] for cell in cells])
    scaled = (value - value.mean()) / value.std()
    made = propagate(value, cells, 1)
    assert made[cells.index(HOME), 0] == pytest.approx(scaled.mean())
    # A neighbour sees itself, home and the two neighbours beside it.
    other = cells.index(neighbours(HOME)[0])
    rim, hub = scaled[other, 0], scaled[cells.index(HOME), 0]
    assert made[other, 0] == pytest.approx((3 * rim + hub) / 4)
    assert np.allclose(propagate(value, cells, 0), scaled)
