"""The default set: sizes, lengths, measures and questions it covers; dense texts are dense."""

from collections import Counter
from itertools import combinations

import msgspec
import numpy as np
import pytest

from pipeline.params import section_of
from pipeline.seeds import rng_for
from pipeline.stride.benchmark import Benchmark
from pipeline.stride.cues import own_cues, says_dense
from pipeline.stride.lint_rules import findings_of
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.physical import physical_density
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.patterns import FOLDER, patterns
from pipeline.stride.roles import Draft
from pipeline.stride.scenario_records import Person
from pipeline.stride.scenarios import ScenarioSettings, dealt
from pipeline.stride.spec_records import Specification, scene_of, spec_of
from pipeline.stride.states import LEAST_DENSE_PPM2, Fault, initial_state
from pipeline.stride.stories import Ask, Told, bank
from pipeline.stride.trajectories import trajectory
from tests.stride.places import PROVENANCE, draft, plaza, plaza_ways, role

ROOT = FOLDER.parents[1]
KINDS = ("square", "station", "market", "park", "street", "waterfront")
RADIUS = (0.2, 0.25)
DENSE_TEXT = "After the fireworks a packed crowd shuffles off, shoulder to shoulder."


def default_set() -> list[Told]:
    """Return the stories of the default number of scenarios, on places of every kind in turn."""
    settings = section_of(ROOT / "params.yaml", "stride_scenarios", ScenarioSettings)
    told = []
    quotas = dealt(settings.total, settings.quotas, list(bank().categories))
    for number, (code, count) in enumerate(quotas.items()):
        for slot in range(count):
            kind = KINDS[(number + slot) % len(KINDS)]
            place = msgspec.structs.replace(plaza().record, kind=kind)
            told.append(bank().tell(Ask(f"{number * 200 + slot:04d}", bank().categories[code],
                                        slot, place)))  # fmt: skip
    return told


def specification(told: Told) -> Specification:
    pattern, reading = patterns().pattern_for(told.draft.description, told.pattern)
    return patterns().specification(pattern, reading)


TOLD = default_set()
SPECS = [specification(told) for told in TOLD]


def checks(spec: Specification):
    return [bound for question in spec.questions for bound in question.measurements]


def test_the_default_set_covers_every_length_of_the_paper():
    lengths = Counter(
        "short"
        if one.draft.duration_s < 30
        else "long"
        if one.draft.duration_s >= 120
        else "middle"
        for one in TOLD
    )
    assert lengths["short"] >= 5
    assert lengths["middle"] >= 20
    assert lengths["long"] >= 3


def test_the_default_set_covers_every_size_of_the_paper():
    sizes = [one.draft.crowd_size for one in TOLD]
    for least, most, count in ((1, 25, 3), (26, 100, 20), (101, 300, 5), (301, 2000, 2)):
        assert sum(least <= size <= most for size in sizes) >= count, (least, most)


def test_the_default_set_binds_all_measures():
    bound = {one.function for spec in SPECS for one in checks(spec)}
    assert bound >= {*MEASURES, "physical_density"}


def test_the_default_set_has_at_least_sixty_sets_of_questions():
    sets = {tuple((one.function, one.min, one.max) for one in checks(spec)) for spec in SPECS}
    assert len(sets) >= 60


def test_every_pattern_is_told_by_a_story_and_no_question_of_a_story_is_impossible():
    assert {story.pattern for some in bank().stories.values() for story in some} == set(
        patterns().patterns
    )
    for told, spec in zip(TOLD, SPECS, strict=True):
        scene = scene_of(
            spec_of("0000", spec, PROVENANCE), description=told.draft.description, category="",
            map_id="", location="", n_agents=told.draft.crowd_size,
        )  # fmt: skip
        found = list(findings_of(Benchmark("", (scene,), "released", {})))
        assert not [one for one in found if one.level == "error"], told
        assert not [one for one in found if one.code in {"vacuous", "opposed"}], told


def test_pairs_of_details_come_all_before_one_comes_again():
    story = bank().stories["Violent"][0]
    pairs = set()
    for turn in range(len(list(combinations(story.details, 2)))):
        slot = turn * len(bank().suits("Violent", plaza().record))
        told = bank().tell(Ask("0200", bank().categories["Violent"], slot, plaza().record))
        said = frozenset(one for one in story.details if _words(one) <= _words(told))
        pairs.add(said)
    assert len(pairs) == 6


def _words(one: object) -> set[str]:
    text = one.draft.description if isinstance(one, Told) else str(one)
    return set(text.replace("{ground}", "the square").replace(".", "").split())


# ---- dense is dense


def density(people: list[Person], neighbours: int = 5) -> float:
    at = np.array([[[one.x_m, one.y_m] for one in people]])
    clip = Clip(trajectory(at, np.ones(at.shape[:2], np.bool_), dt_s=1.0))
    return physical_density(clip, neighbours=neighbours)


def started(draft_: Draft):
    return initial_state(draft_, plaza_ways(), rng=rng_for(7, "test", "dense"), radius_m=RADIUS)


def test_every_text_of_the_bank_that_says_body_to_body_starts_so_and_is_asked_for_it():
    dense = [
        (told, spec) for told, spec in zip(TOLD, SPECS, strict=True)
        if says_dense(told.draft.description)
    ]  # fmt: skip
    assert len(dense) >= 6
    assert {told.pattern for told, _ in dense} >= {"packed", "crush"}
    for told, spec in dense:
        people = started(told.draft)
        assert not isinstance(people, Fault), people
        assert density(people) >= LEAST_DENSE_PPM2
        (bound,) = [one for one in checks(spec) if one.function == "physical_density"]
        assert bound.min == LEAST_DENSE_PPM2
        assert "mean_local_density" not in {one.function for one in checks(spec)}


def test_every_story_of_dense_crowds_says_body_to_body_in_each_first_sentence():
    for story in bank().stories["Dense"]:
        for lead in story.leads:
            assert says_dense(lead), lead


@pytest.mark.parametrize("count", [20, 80, 300])
def test_who_is_said_to_be_body_to_body_starts_at_that_density_whatever_the_role_says(count):
    motion = role("walk", start="centre_1", start_m=(0.0, 30.0), to=["exits"])
    thin = started(draft(motion, crowd_size=count))
    dense = started(draft(motion, crowd_size=count, description=DENSE_TEXT))
    assert density(thin) < 1.5
    assert density(dense, 3) >= LEAST_DENSE_PPM2
    at, radius = np.array([[p.x_m, p.y_m] for p in dense]), np.array([p.radius_m for p in dense])
    apart = np.hypot(*(at[:, None] - at).T)
    np.fill_diagonal(apart, np.inf)
    assert (apart > radius[:, None] + radius).all()
    assert plaza_ways().passable(at).all()


def test_groups_of_a_dense_crowd_start_together_and_roles_share_the_ground():
    walk = role("walk", start="centre_1", share=0.8, to=["exits"], group=(3, 3))
    stay = role("stay", start="centre_1", share=0.2)
    people = started(draft(walk, stay, crowd_size=75, description=DENSE_TEXT))
    assert density(people) >= LEAST_DENSE_PPM2
    groups = Counter(one.group for one in people if one.group >= 0)
    assert set(groups.values()) == {3}
    for number in groups:
        at = np.array([[p.x_m, p.y_m] for p in people if p.group == number])
        assert np.ptp(at, axis=0).max() < 6.0


def test_a_dense_text_whose_people_come_from_afar_is_a_fault():
    gather = role("gather", start="centre_1", start_m=(20.0, 45.0), to=["centre_1"],
                  ring_m=(3.0, 8.0))  # fmt: skip
    fault = started(draft(gather, crowd_size=40, event="centre_1", description=DENSE_TEXT))
    assert fault.reason == "density"
    assert "expected 2.5 or more as the text says body to body" in fault.detail


def test_the_same_text_without_such_words_or_with_their_denial_is_as_before():
    motion = role("walk", start="centre_1", start_m=(0.0, 20.0), to=["exits"])
    plain = started(draft(motion, crowd_size=40))
    denied = started(draft(motion, crowd_size=40, description="It is not packed at all here."))
    assert [one.x_m for one in plain] == [one.x_m for one in denied]
    assert own_cues().sheet.cues["body to body"].phrases


def test_rounds_lead_round_the_event():
    motion = role("circle", start="centre_1", start_m=(6.0, 9.0), to=["centre_1"],
                  ring_m=(6.0, 9.0), moving=True)  # fmt: skip
    people = started(draft(motion, crowd_size=12, event="centre_1"))
    middle = plaza().anchor("centre_1")
    for one in people:
        away = np.hypot(one.goal_x_m - middle.x_m, one.goal_y_m - middle.y_m)
        assert 5.9 <= away <= 9.1
