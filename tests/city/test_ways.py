"""Which ways are driven, in which direction, and at what speed."""

import pytest

from pipeline.city.speeds import tag_speed_kph
from pipeline.city.ways import driving_direction, is_drivable, read_drivable_ways
from pipeline.errors import SourceError
from tests.city.worlds import world


@pytest.mark.parametrize(
    ("tags", "driven"),
    [
        ({"highway": "residential"}, True),
        ({"highway": "motorway_link"}, True),
        ({"highway": "road"}, True),
        ({"highway": "footway"}, False),
        ({"highway": "pedestrian"}, False),
        ({"building": "yes"}, False),
        ({"highway": "residential", "area": "yes"}, False),
        ({"highway": "residential", "access": "private"}, False),
        ({"highway": "residential", "access": "no"}, False),
        ({"highway": "residential", "access": "destination"}, True),
        ({"highway": "residential", "motor_vehicle": "no"}, False),
        ({"highway": "residential", "motorcar": "no"}, False),
    ],
)
def test_a_way_is_driven_by_its_class_and_access(tags, driven):
    assert is_drivable(tags, service_roads=False) is driven


def test_service_roads_are_driven_where_the_city_says_so():
    assert is_drivable({"highway": "service"}, service_roads=True)
    assert not is_drivable({"highway": "service"}, service_roads=False)


@pytest.mark.parametrize(
    ("tags", "direction"),
    [
        ({}, 0),
        ({"oneway": "no"}, 0),
        ({"oneway": "reversible"}, 0),
        ({"oneway": "yes"}, 1),
        ({"oneway": "true"}, 1),
        ({"oneway": "1"}, 1),
        ({"oneway": "-1"}, -1),
        ({"oneway": "reverse"}, -1),
        ({"junction": "roundabout"}, 1),
        ({"junction": "circular"}, 1),
        ({"junction": "roundabout", "oneway": "-1"}, -1),
        ({"junction": "roundabout", "oneway": "no"}, 1),
        ({"highway": "motorway"}, 1),
        ({"highway": "motorway_link"}, 1),
        ({"highway": "motorway_link", "oneway": "no"}, 0),
        ({"highway": "trunk"}, 0),
    ],
)
def test_a_direction_follows_the_counting_rules(tags, direction):
    assert driving_direction(tags) == direction


@pytest.mark.parametrize(
    ("tag", "speed"),
    [
        (None, None),
        ("50", 50.0),
        ("50 km/h", 50.0),
        ("30 mph", 30 * 1.609344),
        ("50;30", 30.0),
        ("FR:urban", None),
        ("none", None),
        ("walk", None),
        ("0", None),
    ],
)
def test_a_speed_is_read_where_a_number_stands(tag, speed):
    assert tag_speed_kph(tag) == speed


def test_names_come_from_the_citys_own_tag(tmp_path):
    tags = {"highway": "tertiary", "name": "Fabianinkatu", "name:sv": "Fabiansgatan", "ref": "3"}
    file = world(tmp_path, nodes={1: (0, 0), 2: (1, 0)}, ways={10: ([1, 2], tags)})
    found = read_drivable_ways(file, service_roads=False, name_tag="name:sv").table.to_dicts()
    assert [(row["way_id"], row["name"], row["ref"]) for row in found] == [
        (10, "Fabiansgatan", "3")
    ]


def test_a_file_that_is_not_osm_is_one_source_error(tmp_path):
    file = tmp_path / "bad.osm.pbf"
    file.write_bytes(b"not a pbf at all" * 100)
    with pytest.raises(SourceError, match=r"bad\.osm\.pbf: expected an OSM file"):
        read_drivable_ways(file, service_roads=False, name_tag="name")


def test_an_extract_without_roads_gives_empty_arrays(tmp_path):
    file = world(tmp_path, nodes={1: (0, 0)})
    ways = read_drivable_ways(file, service_roads=False, name_tag="name")
    assert ways.table.is_empty()
    assert len(ways.node) == len(ways.x) == 0
