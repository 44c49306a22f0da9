"""Seed examples are what they preach, and a trip's shots follow the stated rule."""

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import PromptError
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.prompts import PROMPTS, json_text
from pipeline.language.shots import Seed, chosen_shots, read_seeds
from pipeline.language.vocabulary import SCENARIOS, vocabulary
from pipeline.records import Intents
from pipeline.schemas import check_record
from tests.language.trips import planned_trip, target

FILE = PROMPTS / "annotate/seeds.jsonl"
SEEDS = read_seeds(FILE)
SCHEMA = json.loads((PROMPTS / "annotate/answer.schema.json").read_text("utf-8"))
INSTRUCTIONS = ("instruction_literal", "instruction_concise", "instruction_chatty")
QUERIES = ("retrieval_query_1", "retrieval_query_2", "retrieval_query_3")
TEXTS = (*INSTRUCTIONS, *QUERIES, "trajectory_caption")
DAYS = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
LABELS = re.compile(
    r"GNN|URBAN/INLAND|WATERFRONT|COASTAL/BEACH|GREEN/PARK|Commercial|Facilities|phase|segment"
)


def texts_of(seed: Seed) -> dict[str, str]:
    return {field: getattr(seed.answer, field) for field in TEXTS}


def seed_param() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.seed_id)


# ---- the examples --------------------------------------------------------------------------------


def test_each_line_keeps_the_schema():
    for line in FILE.read_text("utf-8").strip().split("\n"):
        record = json.loads(line)
        check_record("seed", record, where=record["seed_id"])


def test_there_are_examples_of_everything():
    words = vocabulary()
    assert 24 <= len(SEEDS) <= 30
    assert len({seed.trip.traj_id for seed in SEEDS}) == len(SEEDS)
    assert {seed.city for seed in SEEDS} == {"helsinki", "monaco"}
    assert {code for seed in SEEDS for code in seed.intents.scenarios} == set(SCENARIOS)
    assert {len(seed.intents.scenarios) for seed in SEEDS} == {1, 2, 3, 4, 5}
    assert {seed.intents.persona for seed in SEEDS} == {one.code for one in words.personas}
    plans = [plan for seed in SEEDS for plan in seed.intents.styles]
    for style in words.styles:
        forms = {plan.form for plan in plans if plan.style == style.code}
        lengths = {plan.length for plan in plans if plan.style == style.code}
        assert forms == {form.code for form in style.forms}
        assert lengths == {length.code for length in style.lengths}


@seed_param()
def test_an_example_is_an_answer_the_generation_schema_accepts(seed):
    answer = json.loads(json_text(seed.answer))
    assert list(answer) == SCHEMA["required"]
    for field, text in answer.items():
        assert 1 <= len(text) <= SCHEMA["properties"][field]["maxLength"]


@seed_param()
def test_an_example_names_only_what_its_trip_shows(seed):
    """Every capitalised word that begins no sentence is a name of the trip, a day or a clock's."""
    shown = json_text(seed.trip)
    for field, text in texts_of(seed).items():
        words = re.sub(r"(?:^|(?<=[.!?] ))\S+", "", text)
        for word in re.findall(r"\b[A-ZÀ-Ž][\w.'’-]*", words):
            bare = word.rstrip(".'")
            if bare.removesuffix("'s") not in DAYS | {"AM", "PM"} and bare.split("'")[0] != "I":
                assert bare in shown, (field, word)


@seed_param()
def test_an_example_says_what_it_was_asked_to_say(seed):
    literal = seed.answer.instruction_literal
    for wanted in seed.intents.targets:
        places = [literal.find(name) for name in wanted.names if wanted.scenario in ("1.1", "2.1")]
        assert places == sorted(places), "names in the order driven"
        assert -1 not in places
    spoken = " ".join(texts_of(seed)[field] for field in INSTRUCTIONS)
    if seed.intents.street:
        assert seed.intents.street in spoken
    if seed.intents.time_context:
        assert seed.intents.time_context.split()[0] in spoken
    for query, field in zip(seed.intents.queries, QUERIES, strict=True):
        for wanted in query.targets:
            for name in wanted.names:
                assert name in texts_of(seed)[field]


@seed_param()
def test_an_example_keeps_the_rules_of_style(seed):
    texts = texts_of(seed)
    for field, text in texts.items():
        assert not set("–—;\n") & set(text), field
        assert not LABELS.search(text), field
        assert text[0] == text[0].upper()
    assert len({texts[field].split()[0].strip(",.").lower() for field in INSTRUCTIONS}) == 3
    assert len({texts[field].split()[0] for field in QUERIES}) == 3
    assert "?" not in texts["instruction_concise"]
    assert len(texts["instruction_concise"].split()) <= 12
    for field in QUERIES:
        assert re.search(r"\b(trips?|drives?|routes?|journeys?)\b", texts[field], re.IGNORECASE)
        assert not re.search(r"\b(you|please|take me|me)\b", texts[field], re.IGNORECASE)
    caption = texts["trajectory_caption"]
    assert not re.search(r"\b(you|I|wants?|likes?|lovely|beautiful|hopes?)\b", caption)
    assert seed.trip.meta.start_time.split(" at ")[1] in caption
    assert seed.trip.meta.start_time.split(",")[0] in caption


@seed_param()
def test_every_style_that_shall_ask_asks(seed):
    plan = next(plan for plan in seed.intents.styles if plan.style == "chatty")
    if plan.form == "question":
        assert "?" in seed.answer.instruction_chatty


# ---- which of them a trip is shown ---------------------------------------------------------------


def intents(*codes: str, persona: str = "relaxed") -> Intents:
    targets = [target(code, "zone", feature="green") for code in codes]
    return planned_trip(targets=targets, persona=persona).intents


def example(seed_id: str, *codes: str, persona: str = "relaxed") -> Seed:
    """Return a seed with other intents; its trip is told by its id."""
    shown = msgspec.structs.replace(SEEDS[0].trip, traj_id=f"trip of {seed_id}")
    return msgspec.structs.replace(
        SEEDS[0], seed_id=seed_id, trip=shown, intents=intents(*codes, persona=persona)
    )


def ids(shots: list[Seed]) -> list[str]:
    return [seed.seed_id for seed in shots]


def test_the_seed_that_shares_most_scenarios_stands_last():
    seeds = [example("one", "1.1"), example("two", "1.1", "2.2"), example("none", "1.2")]
    chosen = chosen_shots(seeds, "t1", intents("1.1", "2.2"), n=2)
    assert ids(chosen) == ["one", "two"]


def test_of_equals_the_one_with_fewest_other_scenarios_is_better():
    seeds = [example("more", "1.1", "2.2", "4.1"), example("fewer", "1.1", "3.1")]
    assert ids(chosen_shots(seeds, "t1", intents("1.1"), n=2)) == ["more", "fewer"]


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
    by_id = {seed.seed_id: json.loads(json_text(seed.answer)) for seed in SEEDS}
    assert [by_id[seed_id] for seed_id in shots] == answers
    assert "\n" not in messages[2].content


def test_without_shots_there_are_rules_and_question_alone():
    messages, shots = AnnotationPrompt(PROMPTS, shots=0).messages(planned_trip())
    assert [message.role for message in messages] == ["system", "user"]
    assert shots == []


# ---- faults --------------------------------------------------------------------------------------


def test_a_line_that_is_no_seed_is_named(tmp_path):
    lines = FILE.read_text("utf-8").split("\n")
    (tmp_path / "seeds.jsonl").write_text(f"{lines[0]}\n{{}}\n", "utf-8")
    with pytest.raises(PromptError, match=r"seeds\.jsonl line 2: expected a seed"):
        read_seeds(tmp_path / "seeds.jsonl")


def test_an_id_that_stands_twice_is_named(tmp_path):
    line = FILE.read_text("utf-8").split("\n")[0]
    (tmp_path / "seeds.jsonl").write_text(f"{line}\n\n{line}\n", "utf-8")
    with pytest.raises(PromptError, match=r"line 3: expected each seed_id once, found helsinki-01"):
        read_seeds(tmp_path / "seeds.jsonl")


def test_a_missing_file_of_seeds_is_named(tmp_path):
    with pytest.raises(PromptError, match=r"seeds\.jsonl: expected seed examples"):
        read_seeds(tmp_path / "seeds.jsonl")
