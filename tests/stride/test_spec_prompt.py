"""The request for a specification: what decides its key, what its schema and its check refuse."""

import json
import shutil

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from pipeline.language.engines.replies import judged
from pipeline.language.outcome import judge_text
from pipeline.language.requests import ModelId, Request, Sampling
from pipeline.stride import patterns as patterns_module
from pipeline.stride import spec_prompt
from pipeline.stride.benchmark import Benchmark
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.lint_rules import findings_of
from pipeline.stride.measure_cards import cards
from pipeline.stride.measures.registry import AXES
from pipeline.stride.patterns import FOLDER, patterns
from pipeline.stride.spec_prompt import SpecAsk, SpecRequests, fault_of, shown_map, specification_of
from pipeline.stride.spec_records import scene_of, spec_of
from tests.stride.drawn import answers
from tests.stride.places import PROVENANCE, square
from tests.stride.test_specs import MODEL, SAMPLING, TEXT, ask

PLACE = square().record


def request(*, folder=FOLDER, model=MODEL, sampling=SAMPLING, facts=None, asked=None) -> Request:
    asker = SpecRequests(folder, model, sampling, facts=facts or patterns().facts)
    return asker.request(asked or ask())


# ---- the key


def edited(tmp_path, name: str):
    """Return a copy of the prompts with one word changed in one file."""
    shutil.copytree(FOLDER / "spec", tmp_path / "spec")
    shutil.copy(FOLDER / "trajfacts.yaml", tmp_path)
    file = tmp_path / "spec" / name
    before = file.read_text("utf-8")
    after = before.replace("questions", "queries", 1) if name.endswith(".j2") else before.replace(
        '"maxLength": 300', '"maxLength": 299', 1
    )  # fmt: skip
    assert after != before
    file.write_text(after, "utf-8")
    return tmp_path


def other_card(monkeypatch) -> None:
    first, *more = cards()
    worded = msgspec.structs.replace(first, text=first.text + " Mind the gap.")
    monkeypatch.setattr(spec_prompt, "cards", lambda: (worded, *more))


FACTS = patterns().facts
WIDER = FACTS.bands | {"mean_speed": FACTS.bands["mean_speed"] | {"rushing": (1.5, 2.6)}}
CHANGES = {
    "text": lambda _, __: request(asked=ask(description=TEXT + " They sing.")),
    "map": lambda _, __: request(asked=ask(place=shown_map(
        msgspec.structs.replace(PLACE, anchors=PLACE.anchors[:-1])))),
    "protocol": lambda tmp, _: request(folder=edited(tmp, "system.j2")),
    "prompt": lambda tmp, _: request(folder=edited(tmp, "user.j2")),
    "schema": lambda tmp, _: request(folder=edited(tmp, "answer.schema.json")),
    "measure card": lambda _, patch: (other_card(patch), request())[1],
    "version of the cards": lambda _, patch: (
        patch.setattr(spec_prompt, "cards_version", lambda: "0"), request())[1],
    "band": lambda _, __: request(facts=msgspec.structs.replace(FACTS, bands=WIDER)),
    "version of TrajFacts": lambda _, __: request(
        facts=msgspec.structs.replace(FACTS, version=99)),
    "version of the rules": lambda _, patch: (
        patch.setattr(spec_prompt, "RULES_VERSION", 0), request())[1],
    "model": lambda _, __: request(model=ModelId("openai", "another-model", "1")),
    "revision": lambda _, __: request(model=ModelId("openai", "some-model", "2")),
    "temperature": lambda _, __: request(sampling=Sampling(0.3, 1.0, 3000)),
    "longest answer": lambda _, __: request(sampling=Sampling(0.2, 1.0, 2999)),
    "people": lambda _, __: request(asked=ask(n_agents=31)),
    "seconds": lambda _, __: request(asked=ask(duration_s=61.0)),
    "event": lambda _, __: request(asked=ask(event="House")),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_changes_with(change, tmp_path, monkeypatch):
    before = request().key
    assert CHANGES[change](tmp_path, monkeypatch).key != before


# Without a model what decides is not what a model is shown.
BANK = ModelId("template", "template", "1")
DECIDES = {
    "pattern": lambda: request(model=BANK, asked=ask(pattern="queue")),
    "no pattern": lambda: request(model=BANK, asked=ask(pattern=None)),
    "files and code of the bank": lambda: request(model=ModelId("template", "template", "2")),
}


@pytest.mark.parametrize("change", DECIDES)
def test_without_a_model_the_key_changes_with(change):
    assert DECIDES[change]().key != request(model=BANK).key


def test_the_revision_of_the_bank_changes_with_each_of_its_files_and_its_code(monkeypatch):
    revisions = set()
    for left_out in [None, *patterns_module.pattern_files(), *patterns_module._CODE]:
        files = [file for file in patterns_module.pattern_files() if file != left_out]
        code = [file for file in patterns_module._CODE if file != left_out]
        with monkeypatch.context() as patch:
            patch.setattr(patterns_module, "pattern_files", lambda files=files: files)
            patch.setattr(patterns_module, "_CODE", code)
            patterns_module.patterns_revision.cache_clear()
            revisions.add(patterns_module.patterns_revision())
    patterns_module.patterns_revision.cache_clear()
    assert len(revisions) == 1 + len(patterns_module.pattern_files()) + len(patterns_module._CODE)


def moved(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


SAME = {
    "the scenario's number": lambda _: request(asked=ask(scene_id="0815")),
    "the pattern, which no model is shown": lambda _: request(asked=ask(pattern=None)),
    "how the model is reached": lambda _: request(model=ModelId("vllm", "some-model", "1")),
    "where the prompts lie": lambda tmp: request(folder=moved(tmp)),
}


@pytest.mark.parametrize("change", SAME)
def test_the_key_does_not_change_with(change, tmp_path):
    assert SAME[change](tmp_path).key == request().key


def test_a_map_is_known_by_all_that_it_is():
    assert shown_map(PLACE).sha256 == shown_map(square().record).sha256
    for field in msgspec.structs.fields(type(PLACE)):
        value = getattr(PLACE, field.name)
        if isinstance(value, float):
            other = msgspec.structs.replace(PLACE, **{field.name: value + 1})
            assert shown_map(other).sha256 != shown_map(PLACE).sha256, field.name


# ---- the schema: what no guided model can answer


def bound(**changes) -> dict:
    keys = {
        "function": "mean_speed", "min": 1.5, "max": 2.7, "delta_value": 0.1, "reasoning": "Runs.",
    }  # fmt: skip
    return keys | changes


def answer(*questions: dict, more: int = 4) -> str:
    rest = [asks("V", bound(min=0.1 * n, max=2.0 + n)) for n in range(more)]
    return json.dumps({"decomposition_reasoning": "Fast.", "questions": [*questions, *rest]})


def asks(axis: str, *bounds: dict, words: str = "") -> dict:
    words = words or f"Is it {json.dumps(bounds)[:200]}?"
    return {"axis": axis, "question": words, "measurements": list(bounds)}


def status(text: str) -> str:
    return judge_text(text, "stop", request().schema)[0]


ALIGNED = bound(function="flow_alignment", min=0.5, max=0.9)


def test_an_ordinary_answer_keeps_the_schema():
    assert status(answer(asks("V", bound(), ALIGNED))) == "ok"
    assert status(answer(asks("D", ALIGNED, bound()))) == "ok"
    assert status(answer(asks("V", bound(max=None)))) == "ok"
    assert status(answer(asks("V", bound(min=None)))) == "ok"


@pytest.mark.parametrize(
    "text",
    [
        answer(asks("V", bound(function="median_speed"))),
        answer(asks("V", bound(params={"n_bins": 9}))),
        answer(asks("V", bound(min=None, max=None))),
        answer(asks("V", bound(min=-0.1))),
        answer(asks("V", bound(delta_value=-0.1))),
        answer(asks("V", bound(min="fast"))),
        answer(asks("X", bound())),
        answer(asks("D", bound(), ALIGNED)),
        answer(asks("V")),
        answer(asks("V", bound(), bound(), bound(), bound())),
        answer(more=4),
        answer(more=9),
    ],
    ids=["unknown_measure", "parameters", "no_bound", "below_the_range", "negative_tolerance",
         "words", "unknown_axis", "first_of_another_axis", "no_measure", "four_measures",
         "four_questions", "nine_questions"],
)  # fmt: skip
def test_the_schema_refuses(text):
    assert status(text) == "invalid"


@pytest.mark.parametrize("measure", BINDABLE.values(), ids=BINDABLE)
def test_the_schema_keeps_the_bounds_of_each_measure_within_its_range(measure):
    least, most = measure.bounds(measure.parameters)
    most = min(most, 1000.0)

    def with_ends(low: float, high: float) -> str:
        return answer(asks(measure.axis, bound(function=measure.name, min=low, max=high)))

    assert status(with_ends(least, most)) == "ok"
    assert status(with_ends(least - 0.01, most)) == "invalid"
    assert (status(with_ends(least, most + 0.01)) == "ok") == (most == 1000.0)


def test_the_schema_has_all_axes_and_the_measures_of_each():
    schema = request().schema
    named = {
        axis: {one["properties"]["function"]["const"] for one in schema["$defs"][axis]["anyOf"]}
        for axis in AXES
    }
    assert named == {
        axis: {name for name, one in BINDABLE.items() if one.axis == axis} for axis in AXES
    }


# ---- the check: what no schema can say


def fault(text: str, n_agents: int | None = 101) -> str:
    made = request(asked=ask(n_agents=n_agents))
    return fault_of(made, judged(made, text, "stop"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (answer(asks("V", bound(min=2.0, max=1.0))), "bad_bounds: Q1 mean_speed: min 2.0 is above"),
        (
            answer(asks("S", bound(function="dispersal_score", min=0.15, max=0.8)),
                   asks("S", bound(function="dispersal_score", min=-0.5, max=0.1))),
            "unsatisfiable: Q2 dispersal_score: Q1 wants 0.15 to 0.8",
        ),
        # 0.07 of all pairs among 101 people are 7 contacts of each.
        (answer(asks("R", bound(function="collision_fraction", min=0.07, max=0.2))),
         "impossible_contacts: Q1 collision_fraction: 0.07 of all pairs among 101 people are 7.0"),
        (answer(asks("R", bound(function="lingering_fraction", min=0.05, max=0.95))),
         "vacuous: Q1 lingering_fraction: with tolerance -0.05 to 1.05"),
        (answer(asks("V", bound(), bound(), bound()), asks("D", ALIGNED, bound())),
         "twin_check: 3 of 9 checks repeat another, measure and bounds"),
        (answer(asks("V", bound(), words="Fast?"), asks("D", ALIGNED, words=" fast? ")),
         "twin_question: Q2: the words of Q1"),
    ],
    ids=["bad_bounds", "unsatisfiable", "impossible_contacts", "vacuous", "twin_check",
         "twin_question"],
)  # fmt: skip
def test_an_answer_that_keeps_the_schema_is_refused_with_the_linters_code(text, words):
    assert status(text) == "ok"
    assert fault(text).startswith(words)


def test_a_check_that_stands_twice_by_oversight_is_left_to_the_linter():
    twice = asks("V", bound(), bound()), asks("D", ALIGNED, bound())
    assert fault(answer(*twice, more=4)) == ""  # two of eight are a quarter, and no more
    assert fault(answer(*twice, more=3)).startswith("twin_check: 2 of 7 checks")


def test_contacts_are_not_judged_where_the_number_of_people_is_not_known():
    text = answer(asks("R", bound(function="collision_fraction", min=0.07, max=0.2)))
    assert fault(text, n_agents=None) == ""


@pytest.mark.parametrize("name", list(patterns().patterns))
def test_the_phrase_banks_own_questions_keep_schema_and_check(name):
    made = request(asked=ask(pattern=name))
    text = msgspec.json.encode(patterns().specification(name)).decode()
    assert judged(made, text, "stop").status == "ok"
    assert fault(text) == ""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answers(request().schema))
def test_whatever_keeps_the_schema_is_a_specification_without_an_error_or_has_a_code(value):
    made = request()
    text = json.dumps(value)
    kept = judged(made, text, "stop")
    assert kept.status in {"ok", "whitespace"}
    found = fault_of(made, kept)
    spec = spec_of("0000", specification_of(kept), PROVENANCE)
    scene = scene_of(
        spec, description=TEXT, category="", map_id="", location="", n_agents=made.facts.n_agents
    )
    errors = [
        one.code
        for one in findings_of(Benchmark("", (scene,), "released", {}))
        if one.level == "error"
    ]
    if found:
        assert found.partition(":")[0] in {*errors, "vacuous", "twin_check", "twin_question"}
    else:
        assert not errors


# ---- the words


def test_the_prompts_own_questions_keep_its_rules():
    lines = [line for line in request().messages[0].content.split("\n") if line.startswith('{"')]
    questions = [json.loads(line) for line in lines]
    assert len(questions) == 2
    text = answer(*questions)
    assert status(text) == "ok"
    assert fault(text) == ""


def test_the_prompt_says_what_the_walkers_that_read_nothing_reach():
    words = request().messages[0].content
    for walker in ("RANDOM", "STOP", "STRAIGHT"):
        line = next(line for line in words.split("\n") if line.startswith(f"- {walker}: "))
        for name in FACTS.anti_references[walker]:
            assert f"{name} " in line


def test_an_ask_says_nothing_of_a_walk():
    fields = {field.name for field in msgspec.structs.fields(SpecAsk)}
    assert fields == {
        "scene_id", "description", "category", "n_agents", "duration_s", "place", "event",
        "pattern",
    }  # fmt: skip
