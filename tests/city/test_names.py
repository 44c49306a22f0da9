"""The list of a city's names: streets driven or not, places, areas, districts; each name once."""

import polars as pl
import pytest
import shapely

from pipeline.city.names import list_names, named_streets
from pipeline.errors import SourceError
from pipeline.schemas import arrow_schema, check_record
from tests.city.worlds import at, world

NODES = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (2, 2), 5: (0, 2)}
TABLES = {
    "place": "overture_place", "land_use": "overture_area", "land": "overture_area",
    "water": "overture_area", "division_area": "overture_division",
}  # fmt: skip


def streets(tmp_path, *tags: dict[str, str], name_tag: str = "name", **more):
    """Return the named streets of a world with one way for each set of tags."""
    ways = {10 + n: ([1, 2, 3], one) for n, one in enumerate(tags)}
    return list(named_streets(world(tmp_path, nodes=NODES, ways=ways | more), name_tag=name_tag))


def context(**features: list[tuple[str, str | None, str, str]]) -> dict[str, pl.DataFrame]:
    """Return context tables: id, name, class and shape (WKT) of each feature."""
    made = {}
    for table, schema in TABLES.items():
        columns = pl.Schema(arrow_schema(schema))
        rows = [
            {"id": number, "names": name and {"primary": name}, "class": kind,
             "geometry": shapely.to_wkb(shapely.from_wkt(shape))}
            for number, name, kind, shape in features.get(table, [])
        ]  # fmt: skip
        shown = [key for key in ("id", "names", "class", "geometry") if key in columns]
        made[table] = pl.DataFrame(rows, schema={key: columns[key] for key in shown})
    return made


@pytest.mark.parametrize(
    "tags",
    [{"highway": "residential"}, {"highway": "pedestrian"}, {"highway": "steps"},
     {"highway": "service", "access": "private"}, {"highway": "footway", "area": "yes"}],
    ids=["driven", "for people", "stairs", "private", "a square"],
)  # fmt: skip
def test_every_street_with_a_name_is_listed_whoever_may_pass_it(tmp_path, tags):
    (one,) = streets(tmp_path, tags | {"name": "Kluuvikatu"})
    assert one == ("Kluuvikatu", "road", "w10", *at(1, 0))  # of three nodes the middle one


@pytest.mark.parametrize(
    "tags",
    [{"highway": "footway"}, {"building": "yes", "name": "Villa"},
     {"highway": "steps", "name": " "}, {"highway": "platform", "name": "Ostende"}],
    ids=["without a name", "no street", "blank", "a stop's platform"],
)  # fmt: skip
def test_other_ways_are_not(tmp_path, tags):
    assert streets(tmp_path, tags) == []


def test_the_citys_own_spelling_counts_and_else_the_name(tmp_path):
    both = {"highway": "footway", "name": "Esplanad", "name:fi": "Esplanadi"}
    found = streets(tmp_path, both, {"highway": "footway", "name": "Baana"}, name_tag="name:fi")
    assert [one.name for one in found] == ["Esplanadi", "Baana"]


def test_two_names_in_one_tag_are_two_and_blanks_within_are_one(tmp_path):
    found = streets(tmp_path, {"highway": "footway", "name": "Rua  A; Cafe\u0301 B;"})
    assert [one.name for one in found] == ["Rua A", "Café B"]


def test_a_street_of_which_the_extract_has_no_node_is_left_out(tmp_path):
    file = world(tmp_path, nodes=NODES, ways={10: ([91, 92], {"highway": "path", "name": "Far"})})
    assert list(named_streets(file, name_tag="name")) == []


def test_what_is_no_extract_is_an_error(tmp_path):
    file = tmp_path / "network.osm"
    file.write_text("no OSM", "utf-8")
    with pytest.raises(SourceError, match="expected an OSM file"):
        list(named_streets(file, name_tag="name"))


def test_areas_waters_and_places_are_places_and_divisions_districts():
    square = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"
    names = list_names(
        [],
        context(
            land_use=[("w1", "Kaisaniemen puisto", "park", square)],
            water=[("n2", "Töölönlahti", "bay", "POINT (3 4)")],
            land=[("n3", "Yew tree", "tree", "POINT (5 6)"), ("w4", None, "grass", square)],
            place=[("n5", "Amos Rex", "-", "POINT (7 8)")],
            division_area=[("r6", "Kluuvi", "-", square)],
        ),
    )
    assert names.rows() == [
        ("Amos Rex", "place", "n5", 7.0, 8.0),
        ("Kaisaniemen puisto", "place", "w1", 1.0, 1.0),
        ("Kluuvi", "district", "r6", 1.0, 1.0),
        ("Töölönlahti", "place", "n2", 3.0, 4.0),
    ]
    for row in names.to_dicts():
        check_record("city_name", row, where="names")


def test_of_things_that_share_a_name_the_street_stands_for_it_then_the_first_id(tmp_path):
    street = {"highway": "pedestrian", "name": "Kluuvi"}
    found = streets(tmp_path, street, street)
    division = context(division_area=[("r6", "Kluuvi", "-", "POINT (1 2)")])
    names = list_names(reversed(found), division)
    assert names.rows() == [("Kluuvi", "road", "w10", *at(1, 0))]


def test_a_city_without_names_has_an_empty_list():
    names = list_names([], context())
    assert names.schema == pl.Schema(arrow_schema("city_name"))
    assert names.height == 0


def test_the_default_cities_have_the_streets_that_no_car_may_take(pulled):
    for city, expected in {
        "helsinki": {"Aleksanterinkatu", "Fredrikinkatu", "Kluuvikatu"},
        "monaco": {"Rue des Lilas", "Place du Casino", "Rue Basse"},
    }.items():
        found = {one.name for one in named_streets(pulled[city].extract, name_tag="name")}
        assert expected <= found
