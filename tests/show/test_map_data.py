"""What a page embeds: metres, each street once, the path in parts, and never more than the caps."""

import json

import numpy as np
import pytest

from pipeline.show import page as page_module
from pipeline.show import survey
from pipeline.show.gather import life_of
from pipeline.show.page import page_data
from pipeline.show.survey import ground_of
from tests.show.project import CITY, LAT, LON, NASTY, PLACE


def test_distances_on_the_map_are_metres_with_north_up(ground):
    first, across, up = ground.metres([LON, LON + 0.004, LON], [LAT, LAT, LAT + 0.002])
    assert across - first == pytest.approx([222.0, 0.0], abs=0.5)
    assert up - first == pytest.approx([0.0, 222.8], abs=0.5)


def test_a_two_way_street_is_drawn_once_and_far_streets_are_not(ground):
    assert sorted((s.name or "", len(s.line)) for s in ground.streets) == [
        ("", 4), (NASTY, 4), ("Itäkatu", 4), ("Itäkatu", 4),
    ]  # fmt: skip


def test_the_path_is_cut_into_the_phases_and_to_what_was_driven(ground):
    legs = {(leg.drive_id, leg.phase): np.reshape(leg.line, (-1, 2)) for leg in ground.legs}
    lengths = {key: float(np.hypot(*np.diff(line, axis=0).T).sum()) for key, line in legs.items()}
    assert lengths == pytest.approx(
        {("17", 0): 200, ("17", 1): 222, ("17", 2): 223, ("17_p2", None): 111}, abs=1
    )


def test_only_named_places_of_the_phases_cells_are_embedded(ground):
    assert {place.name for place in ground.places} == {PLACE, "Far away"}
    assert ground.places[0].name == PLACE


def test_caps_bound_the_page_and_the_page_says_so(tiny, life, monkeypatch):
    monkeypatch.setattr(survey, "MOST_STREETS", 1)
    monkeypatch.setattr(survey, "MOST_PLACES", 1)
    ground = ground_of(tiny, CITY, life)
    assert (len(ground.streets), ground.streets_left_out) == (1, 3)
    assert (len(ground.places), ground.places_left_out) == (1, 1)
    notes = page_data(life, ground)["notes"]
    assert "Left out to bound the page: 3 streets further away." in notes


def test_the_number_of_coordinates_is_bounded_too(tiny, life, monkeypatch):
    monkeypatch.setattr(survey, "MOST_COORDINATES", 9)
    assert len(ground_of(tiny, CITY, life).streets) == 2


def test_of_very_many_points_every_nth_is_embedded(life, ground, monkeypatch):
    monkeypatch.setattr(page_module, "MOST_POINTS", 4)
    data = page_data(life, ground)
    assert [point["index"] for point in data["points"]] == [0, 3, 6, 9]
    assert "Of the 10 GPS points every 3th is drawn." in data["notes"]


def test_points_that_lie_on_no_road_say_so(life, ground):
    data = page_data(life, ground)
    words = {point["index"]: point["words"] for point in data["points"]}
    assert words[3] == "spike"
    assert words[6] == "kept, not matched: outlier"
    assert {one["name"]: one["count"] for one in data["decisions"]}["kept"] == 8


def test_the_credit_comes_from_the_manifests(own_project):
    manifest = own_project / f"data/{CITY}/context/manifest.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"attribution": "Overture Maps Foundation"}))
    ground = ground_of(own_project, CITY, life_of(own_project, CITY, "17"))
    assert ground.attributions == ["(c) OpenStreetMap contributors", "Overture Maps Foundation"]


def test_the_streets_credit_is_there_without_any_manifest(own_project):
    (own_project / f"data/{CITY}/osm/manifest.json").unlink()
    ground = ground_of(own_project, CITY, life_of(own_project, CITY, "17"))
    assert ground.attributions == ["(c) OpenStreetMap contributors"]


def test_the_credit_of_the_traces_is_given_too(own_project):
    config = own_project / f"configs/{CITY}.yaml"
    traces = "traces: {source: {attribution: A. Driver}}\n"
    config.write_text(config.read_text("utf-8") + traces, "utf-8")
    ground = ground_of(own_project, CITY, life_of(own_project, CITY, "17"))
    assert ground.attributions[-1] == "A. Driver"


def test_simulated_traces_need_no_credit_of_their_own(own_project):
    config = own_project / f"configs/{CITY}.yaml"
    config.write_text(config.read_text("utf-8") + "traces: {source: null}\n", "utf-8")
    ground = ground_of(own_project, CITY, life_of(own_project, CITY, "17"))
    assert ground.attributions == ["(c) OpenStreetMap contributors"]
