"""Seed examples are what they preach, and a trip's shots follow the stated rule."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import PromptError
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.prompts import PROMPTS, json_text
from pipeline.language.shots import SEEDS, Seed, Shots, read_seeds
from pipeline.language.vocabulary import vocabulary
from pipeline.records import Intents
from pipeline.schemas import check_record
from tests.language.seed_rules import SCHEMA, faults
from tests.language.trips import planned_trip, target

FOLDER = PROMPTS / "annotate" / SEEDS
EXAMPLES = read_seeds(FOLDER)
PERSONAS = [persona.code for persona in vocabulary().personas]


def seed_param() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("seed", EXAMPLES, ids=lambda seed: seed.seed_id)


# ---- the examples --------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda file: file.name)
def test_each_line_keeps_the_schema(file):
    for line in file.read_text("utf-8").strip().split("\n"):
        record = json.loads(line)
        check_record("seed", record, where=record["seed_id"])
    assert file.stat().st_size < 2**20


@seed_param()
def test_an_example_is_an_answer_the_generation_schema_accepts(seed):
    assert list(json.loads(json_text(seed.answer))) == SCHEMA["required"]


@seed_param()
def test_an_example_keeps_the_rules_of_examples(seed):
    assert list(faults(seed.trip, seed.answer)) == []


# ---- which of them a trip is shown ---------------------------------------------------------------


def intents(*codes: str, persona: str = "relaxed") -> Intents:
    targets = [target(code, "zone", feature="green") for code in codes]
    return planned_trip(targets=targets, persona=persona).intents


def example(seed_id: str, *codes: str, persona: str = "relaxed") -> Seed:
    """Return a seed with other intents; its trip is told by its id."""
    trip = msgspec.structs.replace(
        EXAMPLES[0].trip, trip_id=f"trip of {seed_id}", intents=intents(*codes, persona=persona)
    )
    return msgspec.structs.replace(EXAMPLES[0], seed_id=seed_id, trip=trip)


def chosen_shots(seeds: list[Seed], trip_id: str, wanted: Intents, n: int) -> list[Seed]:
    return Shots(seeds).chosen(trip_id, wanted, n)


def ids(shots: list[Seed]) -> list[str]:
    return [seed.seed_id for seed in shots]


def test_the_seed_that_shares_most_scenarios_stands_last():
    seeds = [example("one", "1.1"), example("two", "1.1", "2.2"), example("none", "1.2")]
    chosen = chosen_shots(seeds, "t1", intents("1.1", "2.2"), n=2)
    assert ids(chosen) == ["one", "two"]


def test_the_last_shot_is_of_the_trips_persona_even_if_others_share_more():
    seeds = [
        example("more", "1.1", "2.2", "3.1", persona="picky"),
        example("own", "1.1", persona="tired"),
        example("less", "1.2", persona="tired"),
    ]
    wanted = intents("1.1", "2.2", "3.1", persona="tired")
    assert ids(chosen_shots(seeds, "t1", wanted, n=2)) == ["more", "own"]


def test_a_further_shot_adds_the_scenarios_that_none_shows_yet():
    seeds = [
        example("first", "1.1", "2.2", "4.1"),
        example("same", "1.1", "2.2", persona="tired"),
        example("adds", "3.1", persona="tired"),
    ]
    wanted = intents("1.1", "2.2", "3.1", "4.1")
    assert ids(chosen_shots(seeds, "t1", wanted, n=2)) == ["adds", "first"]
    assert ids(chosen_shots(seeds, "t1", wanted, n=3)) == ["same", "adds", "first"]


def test_of_equals_the_one_with_fewest_other_scenarios_is_better():
    seeds = [example("more", "1.1", "2.2", "4.1"), example("fewer", "1.1", "3.1")]
    assert ids(chosen_shots(seeds, "t1", intents("1.1"), n=2)) == ["more", "fewer"]


def test_without_a_seed_of_the_persona_others_stand_in():
    seeds = [example("one", "1.1", persona="picky"), example("two", "1.2", persona="picky")]
    assert ids(chosen_shots(seeds, "t1", intents("1.1", persona="tired"), n=1)) == ["one"]


def test_of_equals_the_one_of_the_same_persona_is_better():
    seeds = [example(f"other {n}", "1.1", persona="picky") for n in range(9)]
    seeds.insert(4, example("same", "1.1", persona="tired"))
    assert ids(chosen_shots(seeds, "t1", intents("1.1", persona="tired"), n=1)) == ["same"]


def test_of_equals_a_hash_of_trip_and_seed_decides_so_that_trips_differ():
    seeds = [example(str(n), "1.1") for n in range(10)]
    first = {chosen_shots(seeds, f"t{n}", intents("1.1"), n=1)[0].seed_id for n in range(60)}
    assert len(first) == 10


def test_a_seed_of_the_same_trip_is_never_shown():
    seeds = [example("own", "1.1"), example("other", "1.2")]
    assert ids(chosen_shots(seeds, "trip of own", intents("1.1"), n=2)) == ["other"]


@given(st.permutations([*range(8)]), st.integers(0, 10))
def test_the_choice_depends_on_no_order_and_counts_are_kept(order, n):
    codes = [("1.1",), ("1.2",), ("1.1", "2.2"), ("1.1", "4.1")]
    seeds = [example(str(i), *codes[i % 4]) for i in range(8)]
    wanted = intents("1.1", "2.2")
    chosen = chosen_shots(seeds, "t1", wanted, n=n)
    assert ids(chosen_shots([seeds[i] for i in order], "t1", wanted, n=n)) == ids(chosen)
    assert len(chosen) == min(n, 8)


def test_shots_are_turns_between_the_rules_and_the_question():
    trip = planned_trip()
    messages, shots = AnnotationPrompt(PROMPTS, shots=2).messages(trip)
    roles = [message.role for message in messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    answers = [json.loads(messages[place].content) for place in (2, 4)]
    by_id = {seed.seed_id: json.loads(json_text(seed.answer)) for seed in EXAMPLES}
    assert [by_id[seed_id] for seed_id in shots] == answers
    assert "\n" not in messages[2].content


def test_without_shots_there_are_rules_and_question_alone():
    messages, shots = AnnotationPrompt(PROMPTS, shots=0).messages(planned_trip())
    assert [message.role for message in messages] == ["system", "user"]
    assert shots == []


# ---- faults --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Return a folder for files of seeds."""
    made = tmp_path / "prompts/annotate/seeds"
    made.mkdir(parents=True)
    return made


def a_line(city: str = "monaco") -> str:
    return next(json_text(seed) for seed in EXAMPLES if seed.city == city)


def test_a_line_that_is_no_seed_is_named(folder):
    (folder / "monaco.jsonl").write_text(f"{a_line()}\n{{}}\n", "utf-8")
    with pytest.raises(
        PromptError, match=r"prompts/annotate/seeds/monaco\.jsonl line 2: expected a seed"
    ):
        read_seeds(folder)


def test_an_id_that_occurs_twice_is_named(folder):
    (folder / "monaco.jsonl").write_text(f"{a_line()}\n\n{a_line()}\n", "utf-8")
    with pytest.raises(PromptError, match=r"line 3: expected each seed_id once, found monaco-"):
        read_seeds(folder)


def test_a_seed_in_the_file_of_another_city_is_named(folder):
    (folder / "porto.jsonl").write_text(a_line(), "utf-8")
    with pytest.raises(
        PromptError,
        match=r"porto\.jsonl line 1: expected a seed of porto, .* monaco; move .* monaco\.jsonl",
    ):
        read_seeds(folder)


def test_a_file_that_is_no_text_is_named(folder):
    (folder / "monaco.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(PromptError, match=r"monaco\.jsonl: expected seed examples, found:"):
        read_seeds(folder)


def test_a_folder_without_seeds_is_named(folder):
    with pytest.raises(PromptError, match=r"prompts/annotate/seeds: expected seed examples"):
        read_seeds(folder)
