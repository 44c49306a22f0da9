"""Scenarios: stories put to a map's names, dealt out by quota; a model's answer as a draft."""

import json
import re
from collections import Counter

import hypothesis
import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given

from pipeline.errors import ParameterError
from pipeline.language.engines.replies import judged
from pipeline.language.outcome import judge_text
from pipeline.language.requests import ModelId, Sampling
from pipeline.params import section_of
from pipeline.schemas import check_frame
from pipeline.seeds import rng_for
from pipeline.stride.filters import fault_of_draft, fault_of_people
from pipeline.stride.maps import CrowdMap
from pipeline.stride.patterns import patterns
from pipeline.stride.roles import Draft
from pipeline.stride.scenario_prompt import ScenarioRequests, draft_of, fault_of
from pipeline.stride.scenario_records import scenarios_frame, scenarios_of
from pipeline.stride.scenarios import ScenarioSettings, dealt, figures_of, wanted
from pipeline.stride.states import initial_state
from pipeline.stride.stories import FOLDER, Ask, bank
from pipeline.stride.ways import Ways
from tests.stride.drawn import answers
from tests.stride.places import draft, person, plaza, plaza_ways, role, scenario

ROOT = FOLDER.parents[1]
KINDS = ("square", "station", "market", "park", "street", "waterfront")


def settings() -> ScenarioSettings:
    return section_of(ROOT / "params.yaml", "stride_scenarios", ScenarioSettings)


def place(kind: str = "square"):
    return msgspec.structs.replace(plaza().record, kind=kind)


def asked(category: str, slot: int, kind: str = "square") -> Ask:
    number = list(bank().categories).index(category) * 200 + slot
    return Ask(f"{number:04d}", bank().categories[category], slot, place(kind))


EVERY = [(category, slot) for category in bank().categories for slot in range(9)]


@pytest.mark.parametrize(("category", "slot"), EVERY)
def test_every_story_passes_its_own_filters_and_gives_everybody_a_place(category, slot):
    ask = asked(category, slot)
    told = bank().tell(ask)
    assert fault_of_draft(told.draft, ask.category, plaza_ways()) is None
    people = initial_state(
        told.draft, plaza_ways(), rng=rng_for(7, "test", ask.scene_id), radius_m=(0.2, 0.25)
    )
    assert isinstance(people, list), people
    assert fault_of_people(people, plaza_ways()) is None


@pytest.mark.parametrize(("category", "slot"), EVERY)
def test_a_text_is_whole_sentences_without_open_slots(category, slot):
    text = bank().tell(asked(category, slot)).draft.description
    assert "{" not in text
    assert "  " not in text
    assert text[0].isupper()
    assert text.endswith(".")
    assert len(text.split()) >= 12


def test_every_story_has_a_pattern_with_questions():
    known = patterns().patterns
    stories = [story for stories in bank().stories.values() for story in stories]
    assert {story.pattern for story in stories} == set(known)


def test_every_category_can_happen_on_every_kind_of_place_that_has_what_it_needs():
    for category in bank().categories:
        assert any(bank().suits(category, place(kind)) for kind in KINDS)


def test_shares_of_a_storys_roles_add_up_to_one():
    for stories in bank().stories.values():
        for story in stories:
            assert sum(role.share for role in story.roles) == pytest.approx(1.0)


def test_neighbouring_slots_tell_different_texts():
    for category in bank().categories:
        texts = {bank().tell(asked(category, slot)).draft.description for slot in range(12)}
        assert len(texts) == 12, category


def test_the_same_slot_tells_the_same():
    assert bank().tell(asked("Violent", 3)) == bank().tell(asked("Violent", 3))


# ---- from a place to another


def namesakes(names: tuple[str | None, ...], kind: str = "square"):
    """Return the plaza with only so many names for all its anchors, dealt out in turn."""
    record = place(kind)
    anchors = [
        msgspec.structs.replace(one, name=names[number % len(names)])
        for number, one in enumerate(record.anchors)
    ]
    return msgspec.structs.replace(record, anchors=anchors)


LEADS_BACK = re.compile(r"\bfrom ((?:the )?[A-Z][^,.;]*?|the [^,.;]+?)\b[^.;]*? to(?:wards)? \1\b")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("Quay Road", "Mill Lane"), ("Quay Road", None), (None,)])
def test_nobody_goes_from_a_place_to_itself_where_exits_share_a_name(names, kind):
    here, told = namesakes(names, kind), 0
    for number, category in enumerate(bank().categories.values()):
        stories = bank().suits(category.code, here)
        for slot in range(3 * len(stories)):
            ask = Ask(f"{number * 200 + slot:04d}", category, slot, here)
            text = bank().tell(ask).draft.description
            assert not LEADS_BACK.search(text), text
            told += " from " in text and " to" in text
    assert told or kind in {"market", "park"}


def test_a_story_of_two_places_does_not_happen_where_all_have_one_name():
    stories = {
        story.id
        for code in bank().categories
        for story in bank().suits(code, namesakes(("Quay Road",)))
        if len(story.anchors) > 1
    }
    assert stories <= {
        story.id
        for stories in bank().stories.values()
        for story in stories
        if any("centre" in wish.kind or "stop" in wish.kind for wish in story.anchors.values())
    }


# The scenarios of the project's own benchmark, where they are built.
BUILT = [file for file in [ROOT / "data" / "stride" / "scenarios.parquet"] if file.exists()]


@pytest.mark.parametrize("file", [None, *BUILT])
def test_no_text_leads_from_a_place_to_itself(file):
    texts = (
        [bank().tell(asked(*one)).draft.description for one in EVERY]
        if file is None
        else [one.description for one in scenarios_of(pl.read_parquet(file))]
    )
    assert [text for text in texts if LEADS_BACK.search(text)] == []


# ---- how many


def test_the_total_is_dealt_out_by_weight():
    assert dealt(10, {"a": 1, "b": 2, "c": 2}, ["a", "b", "c"]) == {"a": 2, "b": 4, "c": 4}
    assert dealt(4, {"a": 1, "b": 1, "c": 1}, ["a", "b", "c"]) == {"a": 2, "b": 1, "c": 1}


def test_the_default_covers_every_category_by_the_published_numbers():
    mine = settings()
    counts = dealt(mine.total, mine.quotas, list(bank().categories))
    assert sum(counts.values()) == mine.total >= 60
    assert min(counts.values()) >= 2
    assert sum(mine.quotas.values()) == 936
    assert counts["Escaping"] == max(counts.values())


def test_a_category_that_is_not_known_or_not_named_is_refused():
    with pytest.raises(ParameterError, match="name each kind of crowd once"):
        dealt(10, {"a": 1}, ["a", "b"])


def test_without_any_weight_nothing_can_be_dealt():
    with pytest.raises(ParameterError, match="expected a weight above 0"):
        dealt(10, {"a": 0}, ["a"])


def test_spare_ones_are_asked_for_and_more_of_one_kind_move_no_other():
    mine = settings()
    few = list(wanted(dict.fromkeys(bank().categories, 2), [place()], bank(), mine))
    assert len(few) == 11 * 3  # two and a third of two, rounded up
    more = dict.fromkeys(bank().categories, 2) | {"Escaping": 5}
    many = list(wanted(more, [place()], bank(), mine))
    assert {ask.scene_id for ask in few} < {ask.scene_id for ask in many}


def test_the_published_number_fits_and_twice_as_many_do_not():
    mine = settings()
    whole = dealt(936, mine.quotas, list(bank().categories))
    assert whole == {code: int(weight) for code, weight in mine.quotas.items()}
    assert len(list(wanted(whole, [place()], bank(), mine))) > 936
    twice = {code: 2 * count for code, count in whole.items()}
    with pytest.raises(ParameterError, match="at most 200 scenarios of one kind of crowd"):
        list(wanted(twice, [place()], bank(), mine))


def test_without_a_map_for_a_category_the_error_says_so():
    lonely = msgspec.structs.replace(place(), anchors=[])
    with pytest.raises(ParameterError, match="expected a map on which a story of Escaping"):
        list(wanted(dict.fromkeys(bank().categories, 1), [lonely], bank(), settings()))


# ---- a model


MODEL = ModelId("openai", "some-model", "1")
SAMPLING = Sampling(0.9, 0.95, 1500)


def requests() -> ScenarioRequests:
    categories = list(bank().categories.values())
    total = dict.fromkeys(bank().categories, 9)
    return ScenarioRequests(FOLDER, MODEL, SAMPLING, categories=categories, total=total)


def test_the_prompt_shows_the_place_its_anchors_and_the_number_and_no_answer():
    request = requests().request(asked("Rushing", 4))
    system, user = (message.content for message in request.messages)
    assert "Kind of crowd: Rushing" in user
    assert "Number: 5 of 9" in user
    shown = json.loads(user.partition("Place: ")[2])
    assert {one["id"] for one in shown["anchors"]} == {a.id for a in plaza().record.anchors}
    for category in bank().categories.values():
        assert f"- {category.code}: {category.meaning}" in system


def test_the_key_changes_with_place_category_and_number():
    keys = {
        requests().request(ask).key
        for ask in (asked("Rushing", 4), asked("Rushing", 5), asked("Violent", 4),
                    asked("Rushing", 4, "station"))
    }  # fmt: skip
    assert len(keys) == 4


def test_the_generation_schema_has_the_fields_of_a_draft():
    schema = json.loads((FOLDER / "scenario" / "answer.schema.json").read_text("utf-8"))
    assert list(schema["properties"]) == list(Draft.__struct_fields__)
    role_schema = schema["properties"]["roles"]["items"]
    assert set(role_schema["properties"]) == set(role("stay").__struct_fields__)


def test_a_models_answer_becomes_a_draft():
    request = requests().request(asked("Rushing", 4))
    meant = draft(role("gather", to=["centre_1"], ring_m=(2.0, 6.0)), event="centre_1")
    text = msgspec.json.encode(meant).decode()
    assert judge_text(text, "stop", request.schema) == ("ok", "")
    assert draft_of(judged(request, text, "stop")) == meant


def answered(value, request):
    return judged(request, json.dumps(value), "stop")


@pytest.mark.parametrize(
    ("key", "value"),
    [("motion", "fly"), ("start", "exit_77"), ("to", ["anywhere"]), ("near", "exits"),
     ("speed_mps", [0.0, 0.2]), ("speed_mps", [1.3, 0.2, 0.1]), ("share", 0.0), ("pause", 3)],
)  # fmt: skip
def test_the_schema_of_a_request_refuses_what_its_place_does_not_have(key, value):
    request = requests().request(asked("Rushing", 4))
    good = msgspec.to_builtins(draft(role("stay")))
    assert answered(good, request).status == "ok"
    good["roles"][0][key] = value
    assert answered(good, request).status == "invalid"


def test_the_schema_names_the_anchors_of_its_own_place():
    few = msgspec.structs.replace(place(), anchors=place().anchors[:2])
    ask = asked("Rushing", 4)
    here, there = (requests().request(one) for one in (ask, ask._replace(place=few)))
    meant = msgspec.to_builtins(draft(role("stay", start=place().anchors[2].id)))
    assert answered(meant, here).status == "ok"
    assert answered(meant, there).status == "invalid"


def test_what_the_writer_could_have_known_has_a_code_and_the_ground_is_not_judged():
    request = requests().request(asked("Rushing", 4))

    def fault(*roles, **changes):
        return fault_of(request, answered(msgspec.to_builtins(draft(*roles, **changes)), request))

    assert fault(role("stay")) == ""
    assert fault(role("stay"), crowd_size=400).startswith(
        "implausible: 400 people, expected about 25 to 110"
    )
    assert fault(role("walk")).startswith("implausible: people: walk without a goal")
    # No room for thirty people within a metre: found when they are given places.
    assert fault(role("stay", start="centre_1", start_m=(0.0, 1.0))) == ""


def test_a_number_of_people_with_a_point_is_a_fault_and_no_crash():
    request = requests().request(asked("Rushing", 4))
    answer = answered(msgspec.to_builtins(draft(role("stay"))) | {"crowd_size": 30.0}, request)
    assert answer.status == "ok"  # 30.0 is an integer to JSON Schema
    assert fault_of(request, answer) == (
        "implausible: Expected `int`, got `float` - at `$.crowd_size`"
    )


def test_the_prompts_own_scene_passes_what_is_asked_of_scenes():
    request = requests().request(asked("Expressive", 4))
    (line,) = (x for x in request.messages[0].content.split("\n") if x.startswith('{"'))
    answer = judged(request, line, "stop")
    assert answer.status == "ok"
    assert fault_of(request, answer) == ""
    meant = draft_of(answer)
    assert fault_of_draft(meant, bank().categories["Expressive"], plaza_ways()) is None
    people = initial_state(meant, plaza_ways(), rng=rng_for(7, "test", "0"), radius_m=(0.2, 0.25))
    assert len(people) == meant.crowd_size


def sensible(value: dict) -> dict:
    """Return an answer with text, size, shares and order mended, so that the rest is reached."""
    value |= {"description": draft().description, "crowd_size": 12 + int(value["crowd_size"]) % 90}
    whole = sum(one["share"] for one in value["roles"])
    for one in value["roles"]:
        one["share"] /= whole
        for key in ("start_m", "ring_m", "near_m", "delay_s", "pause_s"):
            one[key] = sorted(one[key])
        one["group"] = sorted(map(int, one["group"]))
    return value


WILD = requests().request(asked("Rushing", 4))


@hypothesis.settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers(WILD.schema).map(sensible))
def test_whatever_keeps_the_schema_is_a_crowd_or_has_a_reason(value):
    answer = answered(value, WILD)
    if answer.status == "ok" and not fault_of(WILD, answer):
        meant = draft_of(answer)
        found = fault_of_draft(meant, WILD.facts.category, plaza_ways()) or initial_state(
            meant, plaza_ways(), rng=rng_for(7, "test", "0"), radius_m=(0.2, 0.25)
        )
        if isinstance(found, list):
            assert len(found) == meant.crowd_size
            fault = fault_of_people(found, plaza_ways())
            assert fault is None or fault.reason in {"obstacle_conflict", "unreachable"}
        else:
            assert found.reason in {"density", "unreachable"}


# ---- records


def test_a_scenario_comes_back_from_its_table_as_it_was():
    one = scenario([person(45.0, 30.0), person(46.0, 30.0, group=0)], role("stay"))
    frame = scenarios_frame([one])
    check_frame("stride_scenario", frame, where="test", key="scene_id")
    assert scenarios_of(frame) == [one]


def test_groups_are_those_of_two_or_more():
    people = [person(45.0, 30.0 + k, group=group) for k, group in enumerate((-1, 0, 0, 1))]
    assert scenario(people, role("stay")).groups == [[1, 2]]


def test_figures_count_what_is_there():
    scenarios = [scenario([person(45.0, 30.0)], role("stay"), scene_id=f"000{k}") for k in range(3)]
    figures = figures_of(scenarios, ["manual"])
    assert figures["scenarios"] == figures["people"] == 3
    assert figures["rejected_by_reason"] == {"manual": 1}
    assert Counter(figures["by_pattern"]) == {"crossing": 3}


def test_ways_of_a_map_are_made_from_its_record():
    assert np.array_equal(Ways(CrowdMap(plaza().record)).ground, plaza_ways().ground)


def test_radii_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="expected the least before the largest"):
        msgspec.structs.replace(settings(), radius_m=(0.3, 0.2))


@pytest.mark.parametrize("category", list(bank().categories))
def test_a_story_happens_on_ground_whose_carriageways_it_says_and_on_any_without(category):
    every = bank().suits(category, place())
    for roads in ("driven", "walked"):
        there = msgspec.structs.replace(place(), roads=roads)
        assert bank().suits(category, there) == [one for one in every if one.roads == roads]


def test_flight_and_crowds_that_fill_a_street_have_the_carriageways_and_walkers_have_not():
    roads = {name: {one.roads for one in stories} for name, stories in bank().stories.items()}
    for name in ("Escaping", "Violent", "Demonstrator", "Dense"):
        assert roads[name] == {"walked"}, name
    for name in ("Ambulatory", "Cohesive", "Disability", "Rushing", "Participatory"):
        assert roads[name] == {"driven"}, name
