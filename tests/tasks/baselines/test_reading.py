"""What the rules read from instructions: kinds of sentences, and texts of the seeds.

`read_labels.jsonl` holds, for every seventh text of the seeds that states its destination and for
all that shun something, what its plan asks for and the text says.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from pipeline.quality.gazetteer import Gazetteer, Site
from pipeline.quality.tables import word_tables
from pipeline.tasks.baselines.reading import RuleReader, Wishes

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT / "prompts/annotate/seeds"
LABELS = [
    json.loads(line)
    for line in Path(__file__).with_name("read_labels.jsonl").read_text("utf-8").splitlines()
]
NOWHERE = Site("x", 0.0, 0.0)


def seeds(city):
    lines = (SEEDS / f"{city}.jsonl").read_text("utf-8").splitlines()
    return {row["seed_id"]: row for row in map(json.loads, lines)}


@cache
def reader_of(city):
    names = Gazetteer(city.title(), word_tables())
    for row in seeds(city).values():
        trip = row["trip"]
        for phase in trip["phases"]:
            for road in phase["road_names"]:
                names.add(road, "road", NOWHERE)
            names.add(phase["desc"].rpartition("District: ")[2], "district", NOWHERE)
        for place in trip["places"]:
            names.add(place["name"], "place", NOWHERE)
    return RuleReader(names), seeds(city)


def read_as_labelled():
    for label in LABELS:
        reader, of_city = reader_of(label["seed_id"].split("-")[0])
        text = of_city[label["seed_id"]]["answer"][f"instruction_{label['style']}"]
        yield label, reader, reader.read(text)


def codes(reader, phrases):
    return {code for phrase in phrases for code in reader.features_of(phrase)}


def share(hits):
    found = list(hits)
    assert len(found) >= 5
    return sum(found) / len(found)


def test_the_destination_of_seeds_is_read():
    assert len(LABELS) >= 60
    assert share(
        label["destination"] in {wishes.destination, *codes(reader, [wishes.destination])}
        for label, reader, wishes in read_as_labelled()
    ) > 0.9  # fmt: skip


def test_the_roads_of_seeds_are_read_in_order():
    assert share(
        [road for road in wishes.roads if road in label["roads"]] == label["roads"]
        for label, _, wishes in read_as_labelled()
        if "roads" in label
    ) > 0.75  # fmt: skip


def test_the_headings_stops_and_dislikes_of_seeds_are_read():
    rows = list(read_as_labelled())
    assert all(w.heading == one["heading"] for one, _, w in rows if "heading" in one)
    assert share(
        set(one["stops"]) <= codes(reader, wishes.stops)
        for one, reader, wishes in rows
        if "stops" in one
    ) > 0.85  # fmt: skip
    assert share(
        set(one["avoid"]) <= codes(reader, wishes.avoid)
        for one, reader, wishes in rows
        if "avoid" in one
    ) > 0.75  # fmt: skip


@pytest.fixture(scope="module")
def reader():
    names = Gazetteer("Town", word_tables())
    for road in ("Bulevardi", "Annankatu", "Rue du Port", "Mannerheimintie"):
        names.add(road, "road", NOWHERE)
    for place in ("Café Ceuta", "Stop"):
        names.add(place, "place", NOWHERE)
    names.add("Kluuvi", "district", NOWHERE)
    return RuleReader(names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("To Café Ceuta.", {"destination": "Café Ceuta"}),
        ("cafe ceuta", {}),  # words of a language, without a capital
        ("Café Ceuta", {"destination": "Café Ceuta"}),
        ("To CAFÉ CEUTA in Kluuvi.", {"destination": "Café Ceuta", "beside": "Kluuvi"}),
        (
            "From Bulevardi via Annankatu and Rue du Port to a bank.",
            {"destination": "bank", "roads": ["Annankatu", "Rue du Port"]},
        ),
        ("Bulevardi, by Annankatu, Rue du Port.", {"destination": "Bulevardi"}),
        ("Annankatu, then Rue du Port, and then Bulevardi.", {"destination": "Bulevardi"}),
        (
            "To somewhere green, with a stop at a bakery on the way.",
            {"destination": "green", "stops": ["bakery"]},
        ),
        (
            "A bank first, then a place among the going-out streets.",
            {"destination": "going-out streets", "stops": ["bank"]},
        ),
        (
            "To a hotel through Kluuvi, past the shops, avoiding the park, heading NE.",
            {
                "destination": "hotel",
                "through": ["Kluuvi", "shops"],
                "avoid": ["park"],
                "heading": "northeast",
            },
        ),
        ("Keep to Bulevardi and drop me at a hotel.", {"stay_on": ["Bulevardi"]}),
        (
            "Somewhere among the shops. And one stop, please, at a bank.",
            {"destination": "shops", "stops": ["bank"]},
        ),
        ("Stop here, please.", {"destination": ""}),  # no name: an ordinary word
        ("", {"destination": ""}),
    ],
)
def test_kinds_of_sentences(reader, text, expected):
    wishes = reader.read(text)
    assert {field: getattr(wishes, field) for field in expected} == expected


def test_nothing_is_read_from_nothing(reader):
    assert reader.read("Good morning!") == Wishes()
