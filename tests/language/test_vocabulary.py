"""The vocabulary holds the paper's taxonomy, and a wrong word in its file is one clear line."""

import csv
from pathlib import Path

import msgspec
import pytest
import yaml

from pipeline.city.categories import COMMERCIAL, TABLES
from pipeline.city.geotag import GEO_TAGS
from pipeline.errors import ParameterError
from pipeline.language.vocabulary import (
    SCENARIOS,
    VOCABULARY_FILE,
    read_vocabulary,
    vocabulary,
)
from pipeline.records import QueryPlan
from tests.language.trips import planned_trip, target

WORDS = vocabulary()


def edited(folder: Path, change) -> Path:
    """Write the vocabulary with one change."""
    content = yaml.safe_load(VOCABULARY_FILE.read_text("utf-8"))
    change(content)
    file = folder / "vocabulary.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    return file


def test_the_taxonomy_is_table_10_and_the_pools_are_those_of_table_11_and_figure_11():
    assert [scenario.code for scenario in WORDS.scenarios] == list(SCENARIOS)
    assert [sum(s.dimension == d for s in WORDS.scenarios) for d in (1, 2, 3, 4)] == [2, 3, 3, 2]
    assert len(WORDS.personas) == 8
    assert [len(style.forms) for style in WORDS.styles] == [6, 5, 6]
    assert [len(style.lengths) for style in WORDS.styles] == [3, 3, 3]


def test_what_a_code_means_can_be_asked_for():
    assert WORDS.scenario("2.2").name == "Flexible / Feature"
    assert WORDS.persona("tired").name == "Tired and indifferent"
    assert WORDS.style("chatty").form_words("question") == "question"
    assert WORDS.style("literal").length_words("brief").startswith("brief")
    assert WORDS.feature_words("green+north") == ("the parks and gardens", "north")
    assert WORDS.feature_words("") == ()
    with pytest.raises(KeyError):
        WORDS.feature_words("volcano")


@pytest.mark.parametrize(
    ("key", "old"),
    [("personas", "tired"), ("zones", "green"), ("parts_of_day", "midday"), ("facilities", "cafe")],
)
@pytest.mark.parametrize("where", ["targets", "queries", "waypoint"])
def test_a_plan_with_a_code_that_was_renamed_is_one_line(tmp_path, key, old, where):
    def rename(content):
        (entry,) = (one for one in content[key] if one["code"] == old)
        entry["code"] = "renamed"

    feature = "" if key == "personas" else old
    wish = target("2.2", "stop", phases=[1], feature=feature)
    intents = planned_trip(
        targets=[target("1.1", "road", phases=[2], names=["C"])],
        persona="tired",
        **({"waypoint": wish} if where == "waypoint" else {}),
        **(
            {"queries": [QueryPlan(dimensions=[2], targets=[wish])] * 3}
            if where == "queries"
            else {}
        ),
    ).intents
    if where == "targets":
        intents = msgspec.structs.replace(intents, targets=[*intents.targets, wish])
    WORDS.expect_codes(intents, "trip 7", remedy="plan anew")
    words = read_vocabulary(edited(tmp_path, rename))
    with pytest.raises(ParameterError) as fault:
        words.expect_codes(intents, "trip 7", remedy="plan anew")
    assert str(fault.value) == (
        f"trip 7: expected codes of prompts/vocabulary.yaml, found {old!r}, unknown there;"
        " plan anew"
    )


@pytest.mark.parametrize("key", ["forms", "lengths"])
def test_a_plan_with_a_form_or_length_that_was_renamed_is_refused(tmp_path, key):
    intents = planned_trip().intents

    def rename(content):
        for style in content["styles"]:
            for number, entry in enumerate(style[key]):
                entry["code"] = f"renamed_{number}"

    words = read_vocabulary(edited(tmp_path, rename))
    with pytest.raises(ParameterError, match=r"prompts/vocabulary\.yaml, found '\w+', unknown"):
        words.expect_codes(intents, "trip 7", remedy="plan anew")


@pytest.mark.parametrize(
    ("hour", "part"),
    [
        (0, "small_hours"),
        (3, "small_hours"),
        (4, "early_morning"),
        (6, "morning"),
        (13, "midday"),
        (23, "night"),
    ],
)
def test_a_part_of_the_day_begins_at_its_hour(hour, part):
    assert WORDS.part_of_day(hour).code == part


def test_zones_name_only_words_that_area_descriptions_can_hold():
    with (TABLES / "area_meaning.csv").open(encoding="utf-8", newline="") as file:
        natural = {row["natural"] for row in csv.DictReader(file)}
    for zone in WORDS.zones:
        assert set(zone.geo_tags) <= set(GEO_TAGS)
        assert set(zone.natural) <= natural
        assert set(zone.commercial) <= set(COMMERCIAL)
        assert set(zone.touches) <= natural | set(COMMERCIAL) | set(GEO_TAGS)


def test_each_geo_tag_is_some_zone():
    assert {tag for zone in WORDS.zones for tag in zone.geo_tags} == set(GEO_TAGS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["scenarios"].pop(), "scenarios: expected the codes 1.1, 1.2"),
        (lambda v: v["scenarios"][2].update(dimension=3), "found 2.1 in dimension 3"),
        (lambda v: v["dimensions"].pop(), "dimensions: expected the codes 1, 2, 3, 4, found 1, 2"),
        (lambda v: v["styles"].reverse(), "styles: expected the codes literal, concise, chatty"),
        (lambda v: v["styles"][0]["forms"].append(v["styles"][0]["forms"][0]), "imperative twice"),
        (lambda v: v["styles"][1].update(lengths=[]), "styles[1].lengths"),
        (lambda v: v["personas"].append(v["personas"][0]), "personas: expected each code"),
        (lambda v: v["personas"][0].update(code="Relaxed!"), "personas[0].code"),
        (lambda v: v["personas"][0].update(mood="calm"), "mood"),
        (lambda v: v["zones"][0].update(geo_tags=[]), "zones[0].geo_tags: expected one here"),
        (lambda v: v["zones"][0].update(code="cafe"), "cafe twice"),
        (lambda v: v["facilities"][0]["categories"].append("cafe"), "cafe twice"),
        (lambda v: v["headings"][0].update(code="up"), "headings: expected the codes north"),
        (lambda v: v["parts_of_day"].reverse(), "parts_of_day: expected rising hours from 0 on"),
        (lambda v: v.pop("paces"), "paces"),
        (lambda v: v.update(moods=[]), "moods"),
    ],
)
def test_a_fault_in_the_file_is_one_line_that_names_the_place(tmp_path, change, message):
    with pytest.raises(ParameterError) as fault:
        read_vocabulary(edited(tmp_path, change))
    text = str(fault.value)
    assert text.startswith("prompts/vocabulary.yaml: vocabulary")
    assert message in text
    assert "\n" not in text
