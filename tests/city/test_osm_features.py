"""OSM tags as the stand-in for Overture: what becomes a place, an area, a district."""

import csv

import pytest
import shapely

from pipeline.city.categories import (
    COMMERCIAL,
    OTHER_GROUP,
    PUBLIC_FACILITIES,
    TABLES,
    area_meaning,
    area_meaning_of_tags,
    category_group,
    hierarchy_of_old_category,
    place_meaning,
)
from pipeline.city.context import OsmTagsSource, checked_context, context_from_osm
from pipeline.city.districts import build_districts
from pipeline.city.osm_features import feature_rows, read_features
from pipeline.city.overture import overture_models
from pipeline.errors import SourceError
from tests.city.worlds import BBOX, at, world

SOURCE = OsmTagsSource(country="MC", district_places=["suburb"], district_reach_m=500.0)
MANIFEST = {"artifact": "context"}
SQUARE = {1: (0, 0), 2: (2, 0), 3: (2, 2), 4: (0, 2)}


def rows_of(folder, *, name_tag="name", **things):
    rows, unmapped = feature_rows(
        read_features(world(folder, **things)), name_tag=name_tag, country="MC"
    )
    return rows, dict(unmapped)


def test_a_node_with_a_place_tag_is_a_place_with_its_hierarchy(tmp_path):
    tags = {
        "amenity": "cafe",
        "name": "Café",
        "name:sv": "Kafé",
        "addr:street": "Rue",
        "brand": "X",
    }
    rows, _ = rows_of(tmp_path, nodes={8: (0, 0, tags)}, name_tag="name:sv")
    (place,) = rows["place"]
    assert (place["id"], place["names"], place["basic_category"]) == (
        "n8", {"primary": "Kafé"}, "cafe",
    )  # fmt: skip
    assert place["taxonomy"]["hierarchy"] == ["food_and_drink", "cafe"]
    assert place["sources"][0]["dataset"] == "OpenStreetMap"
    assert place["sources"][0]["record_id"] == "n8@1"
    assert place["confidence"] is None
    assert place["addresses"][0]["freeform"] == "Rue"


def test_of_several_place_tags_the_first_key_decides_and_the_others_are_alternates(tmp_path):
    tags = {"tourism": "hotel", "amenity": "restaurant"}
    rows, _ = rows_of(tmp_path, nodes={8: (0, 0, tags)})
    assert rows["place"][0]["taxonomy"]["primary"] == "restaurant"
    assert rows["place"][0]["taxonomy"]["alternates"] == ["hotel"]


def test_a_closed_way_is_an_area_and_a_park_is_place_and_land_use_both(tmp_path):
    rows, _ = rows_of(tmp_path, nodes=SQUARE, ways={7: ([1, 2, 3, 4, 1], {"leisure": "park"})})
    assert [row["id"] for row in rows["place"]] == ["w7"]
    (park,) = rows["land_use"]
    assert (park["subtype"], park["class"]) == ("park", "park")
    assert shapely.from_wkb(park["geometry"]).geom_type == "MultiPolygon"


def test_a_closed_coastline_is_a_line_since_its_inside_is_an_island(tmp_path):
    rows, _ = rows_of(tmp_path, nodes=SQUARE, ways={7: ([1, 2, 3, 4, 1], {"natural": "coastline"})})
    (coast,) = rows["water"]
    assert (coast["class"], shapely.from_wkb(coast["geometry"]).geom_type) == (
        "ocean",
        "LineString",
    )


def test_a_cut_line_keeps_its_longest_known_stretch(tmp_path):
    nodes = {1: (0, 0), 3: (2, 0), 4: (3, 0), 5: (4, 0)}
    ways = {7: ([1, 2, 3, 4, 5], {"waterway": "river"})}
    rows, _ = rows_of(tmp_path, nodes=nodes, ways=ways)
    line = shapely.from_wkb(rows["water"][0]["geometry"])
    assert list(line.coords) == [at(2, 0), at(3, 0), at(4, 0)]


def test_water_is_refined_by_its_water_tag():
    lake, _ = area_meaning_of_tags({"natural": "water", "water": "lake"})
    fountain, _ = area_meaning_of_tags({"natural": "water", "water": "fountain"})
    plain, _ = area_meaning_of_tags({"natural": "water", "water": "unheard_of"})
    assert [m.area_class for m in (lake, fountain, plain)] == ["lake", "reflecting_pool", "water"]


def test_a_bench_is_no_context_and_an_unheard_of_tag_is_counted(tmp_path):
    nodes = {
        1: (0, 0, {"amenity": "bench"}),
        2: (0, 1, {"amenity": "spring_board"}),
        3: (0, 2, {"amenity": "spring_board"}),
    }
    rows, unmapped = rows_of(tmp_path, nodes=nodes)
    assert not any(rows.values())
    assert unmapped == {"amenity=spring_board": 2}


def test_an_unlisted_shop_is_a_store_and_the_first_of_two_values_counts():
    store, _, _ = place_meaning({"shop": "unheard_of"})
    bar, _, _ = place_meaning({"amenity": "bar;restaurant"})
    assert store.basic_category == "store"
    assert bar.basic_category == "bar"


def test_a_place_of_an_area_gets_a_point_inside_it(tmp_path):
    path = world(tmp_path, nodes=SQUARE, ways={7: ([1, 2, 3, 4, 1], {"amenity": "school"})})
    raw = context_from_osm(path, SOURCE, name_tag="name", bbox=BBOX)
    point = shapely.from_wkb(raw.rows["place"][0]["geometry"])
    assert shapely.box(*at(0, 0), *at(2, 2)).contains(point)


def test_what_lies_outside_the_bbox_is_left_out_and_counted(tmp_path):
    nodes = {1: (0, 0, {"amenity": "cafe"}), 2: (500, 0, {"amenity": "cafe"})}
    raw = context_from_osm(world(tmp_path, nodes=nodes), SOURCE, name_tag="name", bbox=BBOX)
    assert [row["id"] for row in raw.rows["place"]] == ["n1"]
    assert raw.counts["outside_bbox"] == 1


def test_a_city_without_any_context_gives_five_empty_tables(tmp_path):
    raw = context_from_osm(world(tmp_path, nodes={1: (0, 0)}), SOURCE, name_tag="name", bbox=BBOX)
    made = checked_context(raw, manifest=MANIFEST)
    assert {kind: table.height for kind, table in made.tables.items()} == dict.fromkeys(
        ("place", "land_use", "land", "water", "division_area"), 0
    )


def test_an_unreadable_extract_is_a_source_error(tmp_path):
    bad = tmp_path / "bad.osm.pbf"
    bad.write_bytes(b"nothing" * 50)
    with pytest.raises(SourceError, match=r"bad\.osm\.pbf"):
        read_features(bad)


# ---- districts ----------------------------------------------------------------------------------

QUARTER = {
    "type": "boundary",
    "boundary": "administrative",
    "admin_level": "10",
    "name": "Alpha",
}
SUBURB = {"place": "suburb"}


def districts_of(folder, reach_m=500.0, **things):
    return build_districts(
        read_features(world(folder, **things)), name_tag="name", country="MC", places=["suburb"],
        reach_m=reach_m, bbox=BBOX,
    )  # fmt: skip


def test_a_relation_that_closes_is_a_district_and_a_cut_one_is_counted_only(tmp_path):
    made = districts_of(
        tmp_path,
        nodes={**SQUARE, 5: (9, 9), 6: (8, 9)},
        ways={70: ([1, 2, 3], {}), 71: ([3, 4, 1], {}), 72: ([5, 6], {})},
        relations={
            90: ([("way", 70, "outer"), ("way", 71, "outer")], QUARTER),
            91: ([("way", 72, "outer"), ("way", 73, "outer")], QUARTER | {"name": "Beta"}),
        },
    )
    assert made.counts == {
        "admin_relations": 2,
        "admin_relations_closed": 1,
        "district_relations": 1,
        "district_nodes": 0,
    }
    (alpha,) = made.rows
    assert (alpha["names"]["primary"], alpha["subtype"]) == ("Alpha", "neighborhood")
    assert alpha["ext_district_method"] == "relation"


def test_a_suburb_node_holds_all_that_is_nearer_to_it_than_to_another_within_reach(tmp_path):
    nodes = {1: (0, 0, SUBURB | {"name": "West"}), 2: (4, 0, SUBURB | {"name": "East"})}
    west, east = districts_of(tmp_path, nodes=nodes).rows
    shapes = {row["names"]["primary"]: shapely.from_wkb(row["geometry"]) for row in (west, east)}
    for step in range(-6, 11):
        point = shapely.Point(at(step, 0.1))
        within = [name for name, shape in shapes.items() if shape.contains(point)]
        # Nodes are 322 m apart, so 2 is the middle; 500 m are 6.2 steps.
        if step != 2:
            assert within == (["West"] if step < 2 else ["East"]), step
    assert not shapes["West"].contains(shapely.Point(at(-6.5, 0)))
    assert west["ext_district_method"] == "nearest_node"


def test_a_lone_suburb_node_holds_the_disc_around_it(tmp_path):
    (row,) = districts_of(tmp_path, nodes={1: (0, 0, SUBURB | {"name": "Only"})}).rows
    shape = shapely.from_wkb(row["geometry"])
    assert shape.contains(shapely.Point(at(6, 0)))
    assert not shape.contains(shapely.Point(at(6.5, 0)))


def test_a_node_whose_district_closes_gets_no_area_of_its_own(tmp_path):
    made = districts_of(
        tmp_path,
        nodes={**SQUARE, 8: (1, 1, SUBURB | {"name": "Alpha"})},
        ways={70: ([1, 2, 3], {}), 71: ([3, 4, 1], {})},
        relations={90: ([("way", 70, "outer"), ("way", 71, "outer")], QUARTER)},
    )
    assert [row["id"] for row in made.rows] == ["r90"]


def test_nodes_without_a_name_name_nothing(tmp_path):
    assert districts_of(tmp_path, nodes={1: (0, 0, SUBURB)}).rows == []


# ---- the tables ---------------------------------------------------------------------------------


def table(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_area_of_the_tag_table_is_one_overture_knows():
    models = overture_models()
    for row in table("tag_categories.csv"):
        if row["type"] in {"land_use", "land", "water"}:
            fields = models[row["type"]].model_fields
            assert row["subtype"] in {e.value for e in fields["subtype"].annotation}, row
            assert row["class"] in {e.value for e in fields["class_"].annotation}, row


def test_every_place_of_the_tag_table_has_a_group_and_each_key_stands_once():
    rows = table("tag_categories.csv")
    keys = [(row["key"], row["value"], row["type"]) for row in rows]
    assert len(keys) == len(set(keys))
    for row in rows:
        if row["type"] == "place":
            group = category_group(row["hierarchy"].split(">"), row["basic_category"])
            assert group in (*COMMERCIAL, *PUBLIC_FACILITIES, OTHER_GROUP)


@pytest.mark.parametrize(
    ("hierarchy", "basic", "group"),
    [
        (["food_and_drink", "restaurant", "thai_restaurant"], "restaurant", "dining"),
        (["shopping", "bookstore"], "bookstore", "shopping"),
        (["services_and_business", "financial_service", "bank"], "bank", "services"),
        (["arts_and_entertainment", "museum"], "museum", "entertainment"),
        (["education", "school"], "school", "education"),
        (["community_and_government", "town_hall"], "town_hall", "government"),
        (["community_and_government", "library"], "library", "education"),
        (["health_care", "pharmacy"], "pharmacy", "healthcare"),
        (["travel_and_transportation", "transit_station", "bus_station"], None, "transport"),
        (["cultural_and_historic", "monument"], "monument", "other"),
        ([], None, "other"),
    ],
)
def test_a_category_belongs_to_a_group_of_table_9(hierarchy, basic, group):
    assert category_group(hierarchy, basic) == group


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("thai_restaurant", ("food_and_drink", "restaurant", "thai_restaurant")),
        ("restaurant", ("food_and_drink", "restaurant")),
        ("shoe_store", ("shopping", "shoe_store")),
        ("hospital", ("health_care", "hospital")),
        ("eat_and_drink", ("food_and_drink", "eat_and_drink")),
        ("unheard_of", None),
    ],
)
def test_an_old_category_finds_its_place_in_the_new_taxonomy(old, new):
    assert hierarchy_of_old_category(old) == new


def test_an_unlisted_area_class_means_nothing():
    assert area_meaning("land", "plateau") == ("", "")
    assert area_meaning("land_use", "park") == ("park", "green")
