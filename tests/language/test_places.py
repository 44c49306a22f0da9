"""Named places beside the route, on an avenue where distances are plain numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.language.places import CityPlaces, named_places
from pipeline.language.route import segments_of
from tests.language.towns import block, drive, matched, phased, poi, town


def beside(blocks, *drives, beside_m=40.0, anchor_m=60.0, places_per_phase=3):
    """Return the places of each trip as {trip: [(phase, name, distance)]}."""
    on, table = town(blocks), matched(drives)
    segments = segments_of(phased(table, on), table, roads=on.roads)
    city = CityPlaces(on.roads, on.cells, beside_m=beside_m, anchor_m=anchor_m)
    found = city.beside(segments, table, places_per_phase=places_per_phase)
    return {
        trip: [(place["phase"], place["name"], place["distance_m"]) for place in places]
        for trip, places in found.iter_rows()
    }


def avenue(*pois):
    """Return three blocks with these places in the middle one."""
    return [block("Rua A"), block("Rua B", pois=pois), block("Rua C")]


WHOLE = drive("t1", [0, 1, 2])


def test_a_place_near_the_road_of_its_phase_lies_beside_the_route():
    found = beside(avenue(poi("Near", 150, 25), poi("Far", 150, 45)), WHOLE)
    assert found == {"t1": [(1, "Near", pytest.approx(25, abs=0.05))]}


def test_the_distance_is_the_nearest_point_of_the_road_not_its_middle():
    found = beside(avenue(poi("Corner", 198, -30)), WHOLE)
    assert found["t1"][0][2] == pytest.approx(30, abs=0.05)


def test_a_place_of_another_cell_is_no_place_of_the_phase():
    blocks = [block("Rua A"), block("Rua B"), block("Rua C", pois=[poi("Next door", 199, 5)])]
    assert beside(blocks, WHOLE) == {}


def test_in_the_first_and_last_phase_the_distance_is_to_the_start_and_end_of_the_drive():
    blocks = [
        block("Rua A", pois=[poi("Home", 50, 30), poi("Behind", 115, 0)]),
        block("Rua B"),
        block("Rua C", pois=[poi("Office", 260, 30), poi("Too far", 250, 70)]),
    ]
    found = beside(blocks, drive("t1", [0, 1, 2], off_from_m=50.0, off_to_m=20.0))
    assert found["t1"] == [
        (0, "Home", pytest.approx(30, abs=0.05)),
        (2, "Office", pytest.approx(50, abs=0.05)),
    ]


def test_the_reach_is_anchor_m_at_the_ends_and_beside_m_between():
    pois = [[poi(f"P{i}", 100 * i + 50, 50)] for i in range(3)]
    blocks = [block(f"Rua {i}", pois=near) for i, near in enumerate(pois)]
    ends = drive("t1", [0, 1, 2], off_from_m=50.0, off_to_m=50.0)
    assert [p[:2] for p in beside(blocks, ends)["t1"]] == [(0, "P0"), (2, "P2")]
    found = beside(blocks, ends, beside_m=55.0, anchor_m=40.0)
    assert [p[:2] for p in found["t1"]] == [(1, "P1")]


def test_the_nearest_are_kept_and_of_equals_the_earlier_id():
    pois = [
        poi("C", 150, 20, id="n3"), poi("A", 130, 20, id="n1"), poi("B", 170, -20, id="n2"),
        poi("D", 150, 5, id="n4"),
    ]  # fmt: skip
    found = beside(avenue(*pois), WHOLE)
    assert [name for _, name, _ in found["t1"]] == ["D", "A", "B"]
    assert [name for _, name, _ in beside(avenue(*pois), WHOLE, places_per_phase=1)["t1"]] == ["D"]


def test_of_two_places_of_one_name_in_a_phase_the_nearest_is_kept():
    found = beside(avenue(poi("Otto", 150, 30, id="n1"), poi("Otto", 150, 10, id="n2")), WHOLE)
    assert found["t1"] == [(1, "Otto", pytest.approx(10, abs=0.05))]


def test_a_cell_driven_twice_has_its_places_in_both_phases():
    found = beside(avenue(poi("Kiosk", 150, 10)), drive("t1", [0, 1, 2, 1, 0]))
    assert [place[:2] for place in found["t1"]] == [(1, "Kiosk"), (3, "Kiosk")]


def test_each_trip_has_its_own_places():
    blocks = avenue(poi("Kiosk", 150, 10))
    found = beside(blocks, WHOLE, drive("t2", [0, 2]), drive("t3", [2, 1, 0]))
    assert set(found) == {"t1", "t3"}


def test_names_are_composed_and_blank_or_missing_ones_are_no_names():
    cells = town(
        [block(pois=[poi("Cafe\u0301  Lisboa ", 0, 0), poi(None, 1, 1), poi("  ", 2, 2, id="b")])]
    ).cells
    assert named_places(cells)["name"].to_list() == ["Caf\u00e9 Lisboa"]


def test_of_several_names_in_one_the_first_is_taken():
    cells = town([block(pois=[poi("Mother; Two children", 0, 0)])]).cells
    assert named_places(cells)["name"].to_list() == ["Mother"]


def test_categories_are_worded_as_in_area_descriptions():
    pois = [poi("A", 0, 0, category="gas_station"), poi("B", 0, 0, category=None)]
    assert named_places(town([block(pois=pois)]).cells)["category"].to_list() == [
        "gas station",
        None,
    ]


def test_a_town_without_places_and_a_day_without_trips_have_none():
    assert beside(avenue(), WHOLE) == {}
    assert beside(avenue(poi("Kiosk", 150, 10))) == {}
    assert beside([]) == {}


reach = st.integers(-60, 60).filter(lambda y: abs(y) != 40)  # just there rounding decides


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(101, 199), reach), max_size=6, unique=True), st.integers(1, 4)
)
def test_the_places_of_a_middle_phase_are_the_nearest_within_reach(spots, most):
    pois = [poi(f"P{i}", x, y, id=f"{i}") for i, (x, y) in enumerate(spots)]
    found = beside(avenue(*pois), WHOLE, places_per_phase=most).get("t1", [])
    within = sorted(abs(y) for _, y in spots if abs(y) < 40)
    assert [distance for _, _, distance in found] == pytest.approx(within[:most], abs=0.05)
