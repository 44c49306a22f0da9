"""What the page embeds: shared streets in small steps, evidence in words, no word of the model."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ParameterError
from pipeline.review.evidence import claim_words, mention_words
from pipeline.review.page import item_row, page_data, steps
from tests.review.conftest import SETTING
from tests.review.trips import HINTED, IDS, claim, mention
from tests.show.project import NASTY, PLACE

METRES = st.integers(-(10**6), 10**6).map(lambda number: number / 10)


@pytest.fixture(scope="module")
def data(assignment, items, ground):
    return page_data(assignment, items, ground, SETTING)


@given(st.lists(st.tuples(METRES, METRES), min_size=1, max_size=30))
def test_a_line_comes_back_from_its_steps_to_the_decimetre(points):
    line = [number for point in points for number in point]
    walked = steps(line)
    for i in range(2, len(walked)):
        walked[i] += walked[i - 2]
    assert [number / 10 for number in walked] == pytest.approx(line, abs=1e-6)


def test_each_street_is_there_once_for_all_trips_and_far_ones_where_a_text_names_them(data):
    assert len(data["items"]) == len(IDS)
    assert sorted(data["words"][street[0]] or "" for street in data["streets"]) == [
        "", NASTY, "Itäkatu", "Itäkatu", "Kaukotie",
    ]  # fmt: skip


def test_a_trip_more_costs_little(data):
    row = json.dumps(data["items"][1], ensure_ascii=False)
    assert len(row.encode()) < 6000


def test_a_persona_that_was_renamed_is_one_line(items, ground):
    trip = items[0].trip
    intents = msgspec.structs.replace(trip.intents, persona="calm")
    old = items[0]._replace(trip=msgspec.structs.replace(trip, intents=intents))
    with pytest.raises(ParameterError) as fault:
        item_row(old, ground, "Europe/Helsinki")
    assert str(fault.value) == (
        "checked trip 170: expected codes of prompts/vocabulary.yaml, found 'calm', unknown there;"
        " make the texts anew, `dvc repro check@CITY`, or bring the code back"
    )


def test_every_rater_gets_their_trips_by_number(data, assignment):
    trips = [item["trip_id"] for item in data["items"]]
    for share, own in zip(assignment.raters, data["raters"], strict=True):
        assert [trips[i] for i in own["items"]] == share.trip_ids


def test_a_trip_tells_what_a_judge_is_told_and_not_who_wrote(data):
    item = data["items"][0]
    assert item["facts"] == ["Monday, Jul 1, 2013 at 3:00 AM", "2 min 0 sec", "667 m"]
    assert item["persona"]["name"] == "Picky and demanding"
    assert item["phases"][2]["places"] == [[PLACE, "coffee shop"]]
    assert "provenance" not in item
    assert "secret-writer" not in json.dumps(data)


def test_scores_of_models_come_with_their_names(data):
    by_id = {item["trip_id"]: item["models"] for item in data["items"]}
    assert [model["judge"] for model in by_id[HINTED]] == ["vllm judge-one", "vllm judge-two"]
    assert all(not models for trip_id, models in by_id.items() if trip_id != HINTED)


@pytest.mark.parametrize(
    ("kind", "verdict", "where", "words"),
    [
        ("road", "grounded", {"phase": 3}, "Itäkatu: a road of phase 3."),
        ("district", "grounded", {}, "Itäkatu: a district of the trip."),
        ("city", "grounded", {}, "Itäkatu: the city itself."),
        ("place", "off_route", {}, "Itäkatu: a place of this city, but not of this trip."),
        (
            "road",
            "off_route",
            {"phase": 3},
            "Itäkatu: a road of phase 3, but the text puts it elsewhere.",
        ),
        (
            "unknown",
            "invented",
            {},
            "Itäkatu: no road, place or district of this city bears this name.",
        ),
    ],
)
def test_a_name_is_told_by_what_it_rests_on(kind, verdict, where, words):
    assert mention_words(mention("retrieval_query_1", "Itäkatu", kind, verdict, **where)) == words


@pytest.mark.parametrize(
    ("verdict", "expected", "words"),
    [
        ("supported", "E", "The record agrees: E."),
        ("contradicted", "W", "The record says otherwise: W."),
        ("unverified", "", "The record does not settle this."),
    ],
)
def test_a_claim_is_told_by_what_the_record_says(verdict, expected, words):
    own = claim("retrieval_query_3", "heading east", "direction", verdict, expected)
    assert claim_words(own) == words
