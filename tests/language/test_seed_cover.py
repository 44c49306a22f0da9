"""The seed examples together: everything is covered, nothing said twice, every trip finds its own.

As it takes all seeds there are, a seed that goes may break it; `python -m pipeline seed` adds more.
"""

from collections import Counter
from itertools import combinations, product

import msgspec
import pytest

from pipeline.language.intent_settings import DESTINATIONS, OTHERS
from pipeline.language.prompts import PROMPTS
from pipeline.language.shots import SEEDS, Seed, Shots, read_seeds
from pipeline.language.vocabulary import SCENARIOS, vocabulary
from pipeline.records import Intents
from tests.language.seed_rules import INSTRUCTIONS, QUERIES, TEXTS, masked

EXAMPLES = read_seeds(PROMPTS / "annotate" / SEEDS)
SHOTS = Shots(EXAMPLES)
PERSONAS = [persona.code for persona in vocabulary().personas]
LEAST_SEEDS = 240
# Largest share of the texts of a style that begin with the same two words.
MOST_ALIKE = {"literal": 0.05, "concise": 0.05, "chatty": 0.05, "query": 0.05, "caption": 0.12}


def every_plan() -> list[tuple[tuple[str, ...], str]]:
    """Return each set of scenarios a trip may have, with each persona: 326 times 8."""
    sets = [
        (end, *others)
        for end in DESTINATIONS
        for count in range(5)
        for others in combinations(OTHERS, count)
    ]
    return list(product(sets, PERSONAS))


def planned(codes: tuple[str, ...], persona: str) -> Intents:
    return msgspec.structs.replace(EXAMPLES[0].trip.intents, scenarios=list(codes), persona=persona)


def shown(shots: list[Seed]) -> set[str]:
    return {code for seed in shots for code in seed.trip.intents.scenarios}


def test_there_are_as_many_as_wanted_from_three_cities_each_on_a_trip_of_its_own():
    assert len(EXAMPLES) >= LEAST_SEEDS
    counts = Counter(seed.city for seed in EXAMPLES)
    assert set(counts) == {"helsinki", "monaco", "porto"}
    assert min(counts.values()) >= 60
    assert len({seed.trip.trip_id for seed in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("code", SCENARIOS)
def test_every_persona_speaks_of_every_scenario_at_least_twice(persona, code):
    spoken = [
        seed
        for seed in EXAMPLES
        if seed.trip.intents.persona == persona and code in seed.trip.intents.scenarios
    ]
    assert len(spoken) >= 2


def test_every_form_comes_with_every_length_and_with_every_persona():
    plans = [
        (seed.trip.intents.persona, plan) for seed in EXAMPLES for plan in seed.trip.intents.styles
    ]
    for style in vocabulary().styles:
        own = [(persona, plan) for persona, plan in plans if plan.style == style.code]
        forms, lengths = [one.code for one in style.forms], [one.code for one in style.lengths]
        assert {(plan.form, plan.length) for _, plan in own} == set(product(forms, lengths))
        assert {(persona, plan.form) for persona, plan in own} == set(product(PERSONAS, forms))
        assert {(persona, plan.length) for persona, plan in own} == set(product(PERSONAS, lengths))


def test_one_to_five_scenarios_and_every_deal_of_the_dimensions_are_there():
    intents = [seed.trip.intents for seed in EXAMPLES]
    assert {len(one.scenarios) for one in intents} == {1, 2, 3, 4, 5}
    deals = {tuple(query.dimensions) for one in intents for query in one.queries}
    assert deals == {(1,), (2,), (3,), (4,), *combinations((1, 2, 3, 4), 2)}
    for kind in ("waypoint", "street", "time_context"):
        given = sum(getattr(one, kind) is not None for one in intents)
        assert 40 <= given <= len(intents) - 40


def test_every_three_scenarios_are_together_somewhere():
    together = {
        three for seed in EXAMPLES for three in combinations(sorted(seed.trip.intents.scenarios), 3)
    }
    ends = set(DESTINATIONS)
    assert together == {three for three in combinations(SCENARIOS, 3) if not ends <= set(three)}


def test_two_shots_show_every_plan_its_scenarios_and_its_persona():
    for codes, persona in every_plan():
        shots = SHOTS.chosen("no seed's trip", planned(codes, persona), 2)
        assert shown(shots) >= set(codes), (codes, persona)
        assert shots[-1].trip.intents.persona == persona


def test_a_seeds_own_trip_is_shown_its_scenarios_and_its_persona_by_others():
    for seed in EXAMPLES:
        intents = seed.trip.intents
        shots = SHOTS.chosen(seed.trip.trip_id, intents, 2)
        assert seed not in shots
        assert shown(shots) >= set(intents.scenarios), seed.seed_id
        assert shots[-1].trip.intents.persona == intents.persona


def test_most_seeds_are_shots_of_some_plan():
    used = {
        shot.seed_id
        for number, (codes, persona) in enumerate(every_plan())
        for shot in SHOTS.chosen(f"trip {number}", planned(codes, persona), 2)
    }
    assert len(used) >= 0.9 * len(EXAMPLES)


def test_no_text_occurs_twice():
    texts = Counter(
        " ".join(getattr(seed.answer, field).casefold().split())
        for seed in EXAMPLES
        for field in TEXTS
    )
    assert [text for text, count in texts.items() if count > 1] == []


def test_texts_of_a_style_begin_in_many_ways():
    fields = {
        **{field.removeprefix("instruction_"): (field,) for field in INSTRUCTIONS},
        "query": QUERIES,
        "caption": ("trajectory_caption",),
    }
    for style, names in fields.items():
        begun = Counter(
            tuple(getattr(seed.answer, name).casefold().split()[:2])
            for seed in EXAMPLES
            for name in names
        )
        words, count = begun.most_common(1)[0]
        assert count <= MOST_ALIKE[style] * begun.total(), (style, words)


def test_there_are_instructions_of_one_word_and_of_a_hundred():
    words = {
        field: [len(masked(getattr(seed.answer, field), seed.trip).split()) for seed in EXAMPLES]
        for field in INSTRUCTIONS
    }
    assert min(words["instruction_concise"]) == 1
    assert max(words["instruction_chatty"]) >= 90
    assert sum(count <= 3 for count in words["instruction_concise"]) >= 20
    assert sum(count >= 60 for count in words["instruction_chatty"]) >= 20
