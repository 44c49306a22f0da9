"""The drive behind the phases: its segments by phase, its roads by length."""

import pytest

from pipeline.errors import ContractError
from pipeline.language.route import drives_of, segments_of
from tests.language.towns import block, drive, matched, phased, town
from tests.language.trips import cell_of

AVENUE = town([block(name) for name in ("Rua A", "Rua B", "Rua B", None)])


def summed(*drives):
    table = matched(drives)
    return drives_of(
        segments_of(phased(table, AVENUE), table, roads=AVENUE.roads), AVENUE.road_cells
    )


def test_segments_lie_under_their_phases_in_the_order_driven():
    table = matched([drive("t1", [0, 1, 2, 3]), drive("t2", [2, 1, 0])])
    rows = segments_of(phased(table, AVENUE), table, roads=AVENUE.roads)
    assert rows.select("trip_id", "p", "last", "edge_id", "name").rows() == [
        ("t1", 0, 3, "0", "Rua A"), ("t1", 1, 3, "1", "Rua B"), ("t1", 2, 3, "2", "Rua B"),
        ("t1", 3, 3, "3", None), ("t2", 0, 2, "2", "Rua B"), ("t2", 1, 2, "1", "Rua B"),
        ("t2", 2, 2, "0", "Rua A"),
    ]  # fmt: skip


def test_trips_are_joined_by_id_whatever_the_order_of_matched():
    table = matched([drive("t1", [0, 1, 2]), drive("t2", [2, 1, 0])])
    trips = phased(table, AVENUE)
    rows = segments_of(trips, table.reverse(), roads=AVENUE.roads)
    assert rows.equals(segments_of(trips, table, roads=AVENUE.roads))


def test_the_main_road_is_the_name_with_most_of_the_length():
    assert summed(drive("t1", [0, 1, 2, 3]))["t1"][:2] == ("Rua B", 0.5)


def test_all_cells_of_a_drive_are_known_once():
    assert sorted(summed(drive("t1", [0, 1, 2, 1]))["t1"].cells) == [cell_of(i) for i in (0, 1, 2)]


def test_of_roads_equally_long_the_first_by_name_is_the_main_one():
    assert summed(drive("t1", [1, 0]))["t1"][:2] == ("Rua A", 0.5)


def test_the_road_of_the_end_is_the_last_one_driven_even_where_it_was_met_before():
    blocks = [block("Rua A"), block("Rua A"), block("Rua B")]
    on = town(blocks)
    one_cell = on.road_cells.with_columns(cell=on.road_cells["cell"].gather([0, 1, 1]))
    on = on._replace(road_cells=one_cell)
    table = matched([drive("t1", [0, 1, 2, 1])])
    trips = phased(table, on)
    assert trips["phases"].to_list()[0][-1]["road_names"] == ["Rua A", "Rua B"]
    assert trips["meta"].to_list()[0]["end_road"] == "Rua A"


def test_a_trip_without_names_has_no_roads():
    nameless = town([block(), block()])
    table = matched([drive("t1", [0, 1])])
    rows = segments_of(phased(table, nameless), table, roads=nameless.roads)
    assert drives_of(rows, nameless.road_cells)["t1"][:2] == (None, 0.0)


def test_no_trips_have_no_segments():
    table = matched([])
    rows = segments_of(phased(table, AVENUE), table, roads=AVENUE.roads)
    assert rows.is_empty()
    assert drives_of(rows, AVENUE.road_cells) == {}


def test_a_phased_trip_that_was_not_matched_is_an_error_that_names_it():
    trips = phased(matched([drive("t1", [0, 1])]), AVENUE)
    with pytest.raises(
        ContractError, match=r"phased trip t1: expected the 2 segments.* no such trip"
    ):
        segments_of(trips, matched([drive("t2", [0, 1])]), roads=AVENUE.roads)


def test_a_trip_matched_to_another_number_of_segments_is_an_error_that_names_it():
    trips = phased(matched([drive("t1", [0, 1])]), AVENUE)
    with pytest.raises(ContractError, match=r"phased trip t1: expected the 2 segments.*found 3"):
        segments_of(trips, matched([drive("t1", [0, 1, 2])]), roads=AVENUE.roads)


def test_a_segment_that_is_no_road_is_an_error_that_names_it():
    table = matched([drive("t1", [0, 1])])
    with pytest.raises(ContractError, match=r"matched trip t1: .*'1'"):
        segments_of(phased(table, AVENUE), table, roads=AVENUE.roads.head(1))
