"""The cells of a toy city: what each holds, how it reads, with and without context."""

import pytest
import shapely

from pipeline.city.cells import CityCells, city_cells
from pipeline.city.context import OsmTagsSource, checked_context, context_from_osm
from pipeline.city.description import commonest_words, describe_cell, facility_words
from pipeline.city.hexgrid import cell_number, outline
from pipeline.city.roads import city_roads
from pipeline.city.ways import read_drivable_ways
from pipeline.schemas import check_rows
from tests.city.settings_for_tests import CELLS, NETWORK, ROADS
from tests.city.worlds import BBOX, world

SOURCE = OsmTagsSource(country="MC", district_places=["suburb"], district_reach_m=5000.0)
LISTING_1 = (
    "GNN: WATERFRONT | Natural: garden, park, water | Commercial: dining, shopping"
    " | Facilities: bar, coffee shop | District: Cedofeita"
)
NODES = {
    1: (0, 0), 2: (2, 0), 3: (2, 2), 4: (0, 2),
    20: (0.1, 0.1, {"amenity": "cafe", "name": "Café de Paris"}),
    21: (0.1, 0.1, {"amenity": "cafe"}),
    22: (0.11, 0.1, {"shop": "books", "name": "Librairie"}),
    23: (0.1, 0.12, {"amenity": "school", "name": "École"}),
    24: (0.1, 0.11, {"natural": "tree"}),
    25: (0.1, 0.11, {"amenity": "parking"}),
    29: (1, 1, {"place": "suburb", "name": "Larvotto"}),
}  # fmt: skip
WAYS = {
    10: ([1, 2, 3, 4], {"highway": "residential"}),
    11: ([4, 1], {"highway": "primary", "oneway": "yes"}),
}


def city(folder, nodes=None) -> CityCells:
    path = world(folder, nodes=nodes or NODES, ways=WAYS)
    raw = context_from_osm(path, SOURCE, name_tag="name", bbox=BBOX)
    context = checked_context(raw, manifest={}).tables
    ways = read_drivable_ways(path, service_roads=False, name_tag="name")
    roads = city_roads(ways, network=NETWORK, bbox=BBOX, settings=ROADS).roads
    return city_cells(roads, context, bbox=BBOX, h3_resolution=10, settings=CELLS, seed=7)


def the_cell(made: CityCells, poi: str) -> dict:
    return next(row for row in made.cells.to_dicts() if poi in [p["id"] for p in row["pois"]])


def test_a_cell_holds_its_places_with_group_and_category(tmp_path):
    row = the_cell(city(tmp_path), "n20")
    assert [(p["id"], p["name"], p["group"], p["category"]) for p in row["pois"]] == [
        ("n20", "Café de Paris", "dining", "cafe"),
        ("n21", None, "dining", "cafe"),
        ("n22", "Librairie", "shopping", "bookstore"),
        ("n23", "École", "education", "school"),
        ("n25", None, "transport", "parking"),
    ]
    for poi in row["pois"]:
        assert outline(cell_number(row["cell"])).contains(shapely.Point(poi["lon"], poi["lat"]))
    assert row["commercial"] == ["dining", "shopping"]
    assert row["public_facilities"] == ["education", "transport"]
    assert (row["district"], row["district_method"]) == ("Larvotto", "nearest_node")
    assert row["residential"] == "none"
    # Two categories at most, the commonest first (cafe), then by letter; parking is dull.
    assert row["description"] == (
        "GNN: URBAN/INLAND | Natural: tree | Commercial: dining, shopping"
        " | Facilities: bookstore, cafe | District: Larvotto"
    )
    assert row["narrative"] == ""


def test_road_lengths_count_a_two_way_street_once(tmp_path):
    made = city(tmp_path)
    total = {}
    for lengths in made.cells["class_lengths_m"].to_list():
        for item in lengths:
            total[item["highway"]] = total.get(item["highway"], 0.0) + item["length_m"]
    # Ways of 2 + 2 + 2 steps (161.2, 222.2, 161.2 m) and one of 2 steps north (222.2 m).
    assert total["residential"] == pytest.approx(161.2 + 222.2 + 161.2, abs=0.5)
    assert total["primary"] == pytest.approx(222.2, abs=0.3)


def test_every_cell_of_a_segment_has_a_row_and_every_row_keeps_the_schema(tmp_path):
    made = city(tmp_path)
    listed = set(made.road_cells["cells"].explode().to_list())
    assert listed == set(made.cells["cell"].to_list())
    assert set(made.road_cells["cell"].to_list()) <= listed
    check_rows("cell", made.cells.to_dicts(), where="cells", first_row=0, key="cell")
    assert made.cells["cell"].is_sorted()
    assert made.geotag_metrics["cells"] == made.cells.height


def test_a_city_without_any_context_still_has_cells(tmp_path):
    bare = {number: NODES[number] for number in (1, 2, 3, 4)}
    made = city(tmp_path, nodes=bare)
    check_rows("cell", made.cells.to_dicts(), where="cells", first_row=0, key="cell")
    row = made.cells.row(0, named=True)
    assert (row["pois"], row["natural"], row["district"]) == ([], [], None)
    assert row["description"] == "GNN: URBAN/INLAND"
    assert row["geo_tag_confidence"] == 0.5
    assert made.geotag_metrics["undecided"] == made.cells.height


def test_closed_places_are_left_out(tmp_path):
    path = world(tmp_path, nodes=NODES, ways=WAYS)
    raw = context_from_osm(path, SOURCE, name_tag="name", bbox=BBOX)
    raw.rows["place"][0] |= {"operating_status": "permanently_closed"}
    context = checked_context(raw, manifest={}).tables
    ways = read_drivable_ways(path, service_roads=False, name_tag="name")
    roads = city_roads(ways, network=NETWORK, bbox=BBOX, settings=ROADS).roads
    made = city_cells(roads, context, bbox=BBOX, h3_resolution=10, settings=CELLS, seed=7)
    assert "n20" not in [poi["id"] for poi in the_cell(made, "n21")["pois"]]


def test_the_order_of_rows_changes_nothing(tmp_path):
    path = world(tmp_path, nodes=NODES, ways=WAYS)
    raw = context_from_osm(path, SOURCE, name_tag="name", bbox=BBOX)
    context = checked_context(raw, manifest={}).tables
    ways = read_drivable_ways(path, service_roads=False, name_tag="name")
    roads = city_roads(ways, network=NETWORK, bbox=BBOX, settings=ROADS).roads
    given = {"bbox": BBOX, "h3_resolution": 10, "settings": CELLS, "seed": 7}
    first = city_cells(roads, context, **given)
    turned = {kind: table.reverse() for kind, table in context.items()}
    second = city_cells(roads.reverse(), turned, **given)
    assert first.cells.equals(second.cells)
    assert first.road_cells.equals(second.road_cells)


def test_a_residential_cell_is_dense_sparse_or_mixed(tmp_path):
    square = {30: (-3, -3), 31: (5, -3), 32: (5, 5), 33: (-3, 5)}
    path = world(
        tmp_path,
        nodes={**NODES, **square},
        ways={**WAYS, 40: ([30, 31, 32, 33, 30], {"landuse": "residential"})},
    )
    raw = context_from_osm(path, SOURCE, name_tag="name", bbox=BBOX)
    context = checked_context(raw, manifest={}).tables
    ways = read_drivable_ways(path, service_roads=False, name_tag="name")
    roads = city_roads(ways, network=NETWORK, bbox=BBOX, settings=ROADS).roads
    made = city_cells(roads, context, bbox=BBOX, h3_resolution=10, settings=CELLS, seed=7)
    kinds = dict(made.cells.select("cell", "residential").iter_rows())
    shops = the_cell(made, "n20")["cell"]
    assert kinds.pop(shops) == "mixed"  # three commercial places
    assert set(kinds.values()) == {"high-density"}


# ---- the line -----------------------------------------------------------------------------------


def test_a_description_has_exactly_the_form_of_listing_1():
    assert (
        describe_cell(
            "WATERFRONT",
            natural=["garden", "park", "water"],
            commercial=["dining", "shopping"],
            facilities=["bar", "coffee shop"],
            district="Cedofeita",
        )
        == LISTING_1
    )


def test_parts_without_content_are_left_out():
    line = describe_cell(
        "GREEN/PARK", natural=["tree"], commercial=[], facilities=[], district=None
    )
    assert line == "GNN: GREEN/PARK | Natural: tree"


def test_the_commonest_words_are_kept_in_alphabetical_order():
    assert commonest_words({"tree": 9, "rock": 1, "park": 2, "beach": 1}, 3) == [
        "beach", "park", "tree",
    ]  # fmt: skip


def test_categories_are_words_and_dull_ones_are_left_out():
    words = facility_words(["coffee_shop", "coffee_shop", "office", None], dull=["office"])
    assert words == {"coffee shop": 2}
