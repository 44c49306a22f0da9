"""A trip's life tells its plan and its seven texts, where there are any."""

import json

import msgspec
import pytest

from pipeline.show.command import life_json
from pipeline.show.gather import life_of
from pipeline.show.life import TripLife
from pipeline.show.page import page_data, write_page
from pipeline.show.said import said_rows
from pipeline.show.screen import screen_of
from pipeline.show.survey import ground_of
from pipeline.show.text_table import WIDTH
from tests.language.trips import planned_trip, target
from tests.show.project import CITY, NASTY, phased_trip, put, reject

TEXTS = {
    "instruction_literal": "Take Itäkatu " + "and then more of it " * 12 + "to the end.",
    "instruction_concise": NASTY,
    "instruction_chatty": "Could you, perhaps, bring me there?",
    "retrieval_query_1": "Trips on Itäkatu",
    "retrieval_query_2": "Drives at night",
    "retrieval_query_3": "Routes heading east",
    "trajectory_caption": "The drive takes Itäkatu.",
}
SOURCE = {
    "engine": "vllm", "model": "smol", "revision": "7", "prompt_hash": "3f" * 32,
    "shots": ["monaco-04"], "response_key": "9f" * 32, "attempt": 2,
}  # fmt: skip


def planned() -> dict:
    """Return the tiny trip with a plan: end at a place, avoid the coast, on a weekday morning."""
    targets = [
        target("1.1", "place", phases=[2], names=["Café <i>Näkö</i>"], ids=["n1"]),
        target("3.1", "zone", feature="coast", polarity="avoid"),
        target("4.1", "clock", feature="weekday+morning"),
    ]
    intents = planned_trip(
        targets=targets, persona="picky", street="Itäkatu", time_context="Monday morning"
    ).intents
    return phased_trip() | {"places": [], "intents": msgspec.to_builtins(intents)}


@pytest.fixture
def annotated_project(own_project):
    put(own_project, "planned", [planned()])
    put(own_project, "annotated", [planned() | {"texts": TEXTS, "provenance": SOURCE}])
    return own_project


def test_a_trip_that_was_never_planned_says_nothing_of_texts(life):
    assert life.drives[0].said is None
    assert "SAID" not in screen_of(life, all_rows=False)


def test_plan_texts_and_their_origin_are_told_in_order(annotated_project):
    said = life_of(annotated_project, CITY, "17").drives[0].said
    rows = list(said_rows(said))
    assert rows[:4] == [
        ("1.1", "place Café <i>Näkö</i>, phase 2"),
        ("3.1", "avoid zone coast"),
        ("4.1", "clock weekday and morning"),
        ("persona", "picky"),
    ]
    assert ("query 1 on", "1.1 place Café <i>Näkö</i>, phase 2") in rows
    assert ("street", "Itäkatu") in rows
    assert ("time", "Monday morning") in rows
    assert rows[-8:-1] == list(
        zip(
            ["literal", "concise", "chatty", "query 1", "query 2", "query 3", "caption"],
            TEXTS.values(),
            strict=True,
        )
    )
    assert rows[-1] == ("written by", "vllm smol 7, attempt 2, shots monaco-04")


def test_the_screen_shows_whole_texts_within_its_width(annotated_project):
    screen = screen_of(life_of(annotated_project, CITY, "17"), all_rows=False)
    assert max(map(len, screen.splitlines())) <= WIDTH
    assert " ".join(TEXTS["instruction_literal"].split()) in " ".join(screen.split())
    assert "\nSAID\n  1.1 " in screen


def test_a_trip_without_texts_says_why(own_project):
    put(own_project, "planned", [planned()])
    assert "\nSAID  no texts\n" in screen_of(life_of(own_project, CITY, "17"), all_rows=False)
    put(own_project, "annotated", [])
    reject(own_project, "annotate", [("17", "length", "no answer in 3 attempts")])
    screen = screen_of(life_of(own_project, CITY, "17"), all_rows=False)
    assert "SAID  no texts, rejected by annotate: length: no answer in 3 attempts\n" in screen
    assert "literal  " not in screen.partition("SAID")[2].partition("styles")[0]


def test_the_life_as_json_can_be_read_back(annotated_project):
    life = life_of(annotated_project, CITY, "17")
    assert msgspec.json.decode(life_json(life), type=TripLife) == life
    said = json.loads(life_json(life))["cleaned"][0]["drives"][0]["said"]
    assert said["texts"] == TEXTS


def test_the_page_shows_the_texts_as_text(annotated_project, chromium, tmp_path):
    life = life_of(annotated_project, CITY, "17")
    ground = ground_of(annotated_project, CITY, life)
    said = {drive["title"]: drive["said"] for drive in page_data(life, ground)["drives"]}
    assert said["Phases of 17_p2"] == []
    assert dict(said["Phases of 17"])["chatty"] == TEXTS["instruction_chatty"]
    write_page(life, ground, tmp_path / "17.html")
    chromium.complaints.clear()
    chromium.open(tmp_path / "17.html")
    shown = chromium.run("[...document.querySelectorAll('#panel dd')].map((e) => e.textContent)")
    assert all(text in shown for text in TEXTS.values())
    assert chromium.run("window.hacked === undefined")
    assert chromium.complaints == []
