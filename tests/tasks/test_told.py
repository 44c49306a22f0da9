"""Paths in words: what is told is on the path, and the phases are those of the release."""

import json
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ContractError
from pipeline.schemas import arrow_schema, schema_document
from pipeline.tasks.baselines.told import Teller
from tests.tasks.town import NORTH_DEG, definitions, node_place, road_cells, roads, route

ROADS = roads()
ON_CELLS = road_cells(ROADS)
DEFINED = definitions()
CELL = dict(ON_CELLS.select("edge_id", "cell").iter_rows())
# East along street 1, then north along street 103.
EDGES = route(0, 1, 2, 12, 22)
START = 1402715460.0


def _cell(edge: str, description: str, pois: list[tuple[str, float]]) -> dict[str, Any]:
    """Return a cell with places so many metres north of where a segment ends."""
    row: dict[str, Any] = json.loads(json.dumps(schema_document("cell")["examples"][0]))
    lon, lat = node_place(int(edge.rsplit(":", maxsplit=1)[1]))
    places = [
        {"id": f"n{name}", "name": name, "group": "dining", "category": "cafe", "lon": lon,
         "lat": lat + metres / 100 * NORTH_DEG}
        for name, metres in pois
    ]  # fmt: skip
    return row | {"cell": CELL[edge], "description": description, "pois": places}


def _teller(*cells: dict[str, Any]) -> Teller:
    frame = pl.DataFrame(list(cells), schema=pl.Schema(arrow_schema("cell")), orient="row")
    return Teller(ROADS, ON_CELLS, frame, DEFINED)


def _path(**changes: Any) -> pl.DataFrame:
    row = {
        "trip_id": "t", "edge_ids": EDGES, "t_enter_s": [START + 20 * k for k in range(4)],
        "start_time": "Saturday, Jun 14, 2014 at 4:11 AM", "time_spent_s": 80.0,
        "off_from_m": 0.0, "off_to_m": 100.0,
    }  # fmt: skip
    return pl.DataFrame([row | changes])


def test_ends_headings_roads_pace_and_time_are_told():
    teller = _teller()
    told = teller.course(teller.trips(_path())[0])
    assert told[0] == "from Street 1"
    assert "to Street 103" in told
    assert next(word for word in told if word.startswith("Street")) == "Street 1"
    # 400 m in 80 s are 18 km/h.
    assert told[-5:] == ["1 minute", "steady", "Saturday early morning", "weekend", "4:11 AM"]


@pytest.mark.parametrize(
    ("seconds", "pace"), [(97.0, "slow"), (96.0, "steady"), (49.0, "steady"), (48.0, "brisk")]
)
def test_pace_changes_at_15_and_30_kph(seconds, pace):
    # 400 m: 15 km/h in 96 s, 30 km/h in 48 s.
    teller = _teller()
    path = _path(time_spent_s=seconds, t_enter_s=[START, START + 1, START + 2, START + 3])
    assert pace in teller.course(teller.trips(path)[0])


def test_a_trip_without_a_clock_has_no_time_of_day():
    teller = _teller()
    path = _path(t_enter_s=[0.0, 20.0, 40.0, 60.0], start_time="Thursday, Jan 1, 1970 at 2:00 AM")
    assert teller.course(teller.trips(path)[0])[-1] == "steady"


def test_places_near_the_end_and_words_of_the_areas_are_told():
    desc = "GNN: GREEN/PARK | Facilities: cafe | District: Kluuvi"
    teller = _teller(_cell(EDGES[-1], desc, [("Cafe Near", 1.0), ("Cafe Far", 300.0)]))
    trip = teller.trips(_path())[0]
    told = teller.areas(trip)
    assert "to the parks and gardens" in told
    assert "to a cafe" in told
    assert "Kluuvi" in told
    assert "to Street 103 in Kluuvi" in teller.course(trip)
    assert not any("Far" in word for word in told)
    assert not any(word.startswith("from") for word in told)


def test_a_name_is_told_where_it_lies_in_the_last_cell():
    last = EDGES[-1]
    teller = _teller(_cell(last, "", [("Cafe Near", -20.0)]))
    # The place lies beside the last segment, 20 m before its end, and in its cell.
    assert "to Cafe Near" in teller.areas(teller.trips(_path())[0])


def test_phases_are_those_the_release_tells():
    teller = _teller()
    phases = teller.trips(_path())[0]["phases"]
    cells = [CELL[edge] for edge in EDGES]
    runs = [k for k in range(4) if k == 0 or cells[k] != cells[k - 1]]
    assert [phase["cell"] for phase in phases] == [cells[k] for k in runs]
    assert sum(phase["n"] for phase in phases) == 4
    assert sum(phase["time_spent_s"] for phase in phases) == 80.0


def test_paths_are_told_in_their_order_each_by_itself():
    teller = _teller()
    one, other = _path(), _path(trip_id="u", edge_ids=route(0, 10, 20, 30, 40))
    both = teller.texts(pl.concat([one, other]))
    assert both == [*teller.texts(one), *teller.texts(other)]
    assert teller.texts(pl.concat([other, one])) == both[::-1]
    assert teller.texts(one.clear()) == []


def test_a_segment_the_city_does_not_have_is_told():
    with pytest.raises(ContractError, match="nowhere"):
        _teller().texts(_path(edge_ids=["nowhere", *EDGES[1:]]))
