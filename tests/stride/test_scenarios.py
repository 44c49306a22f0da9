"""Scenarios: stories put to a map's names, dealt out by quota; a model's answer as a draft."""

import json
from collections import Counter

import msgspec
import numpy as np
import pytest

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
from pipeline.stride.scenario_prompt import ScenarioRequests, draft_of
from pipeline.stride.scenario_records import scenarios_frame, scenarios_of
from pipeline.stride.scenarios import ScenarioSettings, dealt, figures_of, wanted
from pipeline.stride.states import initial_state
from pipeline.stride.stories import FOLDER, Ask, bank
from pipeline.stride.ways import Ways
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


def test_an_answer_with_an_unknown_motion_is_invalid():
    request = requests().request(asked("Rushing", 4))
    text = msgspec.json.encode(draft(role("stay"))).decode().replace('"stay"', '"fly"')
    assert judge_text(text, "stop", request.schema)[0] == "invalid"


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
