"""Specifications: patterns, TrajFacts, measure cards, prompt and cache, the released shape."""

import json
from pathlib import Path

import msgspec
import pytest

from pipeline.errors import ModelError, ParameterError
from pipeline.language.engines.settings import LocalExecutor, TemplateSettings
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, judge_text
from pipeline.language.requests import ModelId, Sampling
from pipeline.schemas import check_frame, check_record
from pipeline.stride.benchmark import benchmark_of, document_of, read_benchmark, write_benchmark
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.lint import lint
from pipeline.stride.measure_cards import cards, cards_version
from pipeline.stride.pattern_records import Check
from pipeline.stride.patterns import FOLDER, patterns
from pipeline.stride.spec_prompt import (
    SpecAsk,
    SpecRequests,
    fault_of,
    map_hash,
    shown_map,
    specification_of,
)
from pipeline.stride.spec_records import (
    Bound,
    Specification,
    benchmark_of_specs,
    spec_of,
    specs_frame,
    specs_of,
)
from pipeline.stride.specs import ask_of, compiled
from pipeline.stride.trajfacts import TrajFacts
from pipeline.stride.writers import WriterSettings, ask_writer
from tests.stride.places import PROVENANCE, person, role, scenario, square

# A benchmark of our own in the released shape, and the released sample where somebody has it.
VECTORS = Path(__file__).parent / "vectors" / "benchmark.json"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "stride" / "benchmark_sample.json"
RELEASED = [file for file in (VECTORS, SHARED) if file.exists()]
SAMPLING = Sampling(0.2, 1.0, 3000)
MODEL = ModelId("openai", "some-model", "1")
TEXT = "A school class follows its teacher across Toy Square, from North Street to the House."


def ask(**changes: object) -> SpecAsk:
    keys: dict = {
        "scene_id": "0000", "description": TEXT, "category": "Cohesive", "n_agents": 30,
        "duration_s": 60.0, "place": shown_map(square().record), "event": None, "pattern": "pack",
    }  # fmt: skip
    return SpecAsk(**(keys | changes))


def requests(model: ModelId = MODEL, facts: TrajFacts | None = None) -> SpecRequests:
    return SpecRequests(FOLDER, model, SAMPLING, facts=facts or patterns().facts)


# ---- patterns

EVERY = list(patterns().patterns)


@pytest.mark.parametrize("name", EVERY)
def test_a_pattern_asks_at_least_five_questions_within_what_measures_can_be(name):
    found = patterns().specification(name)
    assert len(found.questions) >= 5
    for question in found.questions:
        for bound in question.measurements:
            measure = BINDABLE[bound.function]
            least, most = measure.bounds(measure.parameters)
            low = least if bound.min is None else bound.min
            high = most if bound.max is None else bound.max
            assert least <= low < high <= most, bound
            assert 0 < bound.delta_value < high - low
            assert (bound.min, bound.max) != (None, None)


def test_every_range_is_the_hull_of_named_bands_or_has_a_source():
    facts = patterns().facts
    for name, pattern in patterns().patterns.items():
        made = patterns().specification(name)
        for question, asked in zip(pattern.questions, made.questions, strict=True):
            for check, bound in zip(question.checks, asked.measurements, strict=True):
                bands = [facts.bands[check.function][band] for band in check.bands]
                if not bands:
                    assert check.source in bound.reasoning
                    low, high = check.range
                else:
                    low, high = facts.hull(check.function, check.bands)
                    assert low in {None, min(one[0] for one in bands)}
                    assert high in {None, max(one[1] for one in bands)}
                assert bound.min == (None if check.open == "down" else low)
                assert bound.max == (None if check.open == "up" else high)
                assert check.why in bound.reasoning


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"bands": ["viewing"], "range": (0.0, 1.0)}, "either bands or a range"),
        ({}, "either bands or a range"),
        ({"range": (0.0, 1.0)}, "expected where a range comes from"),
        ({"bands": ["viewing"], "source": "me"}, "and none beside bands"),
        ({"range": (0.0, 1.0), "source": "me", "open": "up"}, "expected bands beside it"),
        ({"function": "charm", "bands": ["viewing"]}, "expected a measure, found 'charm'"),
    ],
)
def test_a_check_without_a_source_for_its_range_is_refused(keys, words):
    with pytest.raises(ValueError, match=words):
        msgspec.convert({"function": "mean_speed", "why": "so"} | keys, Check)


@pytest.mark.parametrize("name", EVERY)
def test_the_first_measure_of_a_question_is_of_its_axis(name):
    for question in patterns().specification(name).questions:
        assert question.axis == BINDABLE[question.measurements[0].function].axis


@pytest.mark.parametrize("name", EVERY)
def test_a_pattern_covers_at_least_three_axes(name):
    measured = {
        BINDABLE[one.function].axis
        for question in patterns().specification(name).questions
        for one in question.measurements
    }
    assert {"V", "D", "S"} <= measured or {"V", "D", "T"} <= measured


def test_an_unknown_pattern_is_refused():
    with pytest.raises(ParameterError, match="expected one of crossing, stream"):
        patterns().specification("moonwalk")


@pytest.mark.parametrize("name", EVERY)
def test_no_question_is_met_by_every_walker_that_reads_nothing(name):
    facts = patterns().facts
    for question in patterns().specification(name).questions:
        assert not all(facts.idle(bound) for bound in question.measurements), question.question


def test_what_every_walker_passes_that_reads_nothing_is_told_from_what_one_fails():
    facts = patterns().facts
    assert facts.idle(Bound("collision_fraction", 0.0, 0.001, 0.0005, ""))
    assert facts.idle(Bound("speed_trend", -0.05, 0.05, 0.01, ""))  # not listed: 0
    assert not facts.idle(Bound("spread_trend", -0.05, 0.05, 0.01, ""))  # STRAIGHT: up to 0.11
    assert not facts.idle(Bound("flow_alignment", None, 0.3, 0.01, ""))
    assert not facts.idle(Bound("lingering_fraction", None, 0.1, 0.01, ""))  # STOP: 1


@pytest.mark.parametrize("name", EVERY)
def test_what_every_walker_passes_is_added_beside_two_other_checks_or_not_at_all(name):
    bank = patterns()
    plain = bank.specification(name)
    told = bank.specification(name, bank.read("")._replace(also=("keep apart", "even pace")))
    assert len(told.questions) == len(plain.questions)
    for before, after in zip(plain.questions, told.questions, strict=True):
        more = after.measurements[len(before.measurements) :]
        assert after.measurements[: len(before.measurements)] == before.measurements
        assert len(more) <= 1
        assert not more or (bank.facts.idle(more[0]) and len(before.measurements) == 2)


# ---- TrajFacts and cards


def test_a_band_is_found_by_measure_and_situation():
    assert patterns().facts.band("mean_speed", "urban transit") == (0.8, 1.3)
    with pytest.raises(ParameterError, match="mean_speed: expected one of viewing"):
        patterns().facts.band("mean_speed", "on the moon")


def test_every_measure_has_a_tolerance():
    assert set(patterns().facts.tolerance) == set(BINDABLE)


def test_bands_lie_within_what_measures_can_be():
    for name, bands in patterns().facts.bands.items():
        least, most = BINDABLE[name].bounds(BINDABLE[name].parameters)
        for low, high in bands.values():
            assert least <= low < high <= most, name


def test_a_card_says_what_the_measure_is_computed_from_and_its_range():
    by_name = {card.name: card for card in cards()}
    assert list(by_name) == list(BINDABLE)
    card = by_name["collision_fraction"]
    assert "pairs" in card.text
    assert "Formula:" in card.text
    assert (card.least, card.most) == (0.0, 1.0)
    assert by_name["physical_density"].unit == "people/m2"
    assert by_name["mean_speed"].most is None
    assert len(cards_version()) == 12


# ---- the prompt and its cache


def test_the_prompt_shows_text_place_cards_and_bands_and_no_trajectory():
    system, user = (message.content for message in requests().request(ask()).messages)
    for name in BINDABLE:
        assert f"### {name} (" in system
    assert "urban transit 0.8 to 1.3" in system
    shown = json.loads(user.partition("\n\n")[2])
    assert shown["text"] == TEXT
    assert shown["place"]["sha256"] == map_hash(square().record)
    assert set(shown) == {
        "text", "category", "people", "seconds", "place", "event_at", "versions",
    }  # fmt: skip


WRITER = WriterSettings(TemplateSettings(), LocalExecutor(), SAMPLING, 2, 0.1)


def answered(tmp_path, *, replay: bool = False, calls: list | None = None):
    def bank(request):
        (calls if calls is not None else []).append(request.item_id)
        return compiled(request, patterns())

    made = [requests(ModelId("template", "template", "1")).request(ask())]
    with Ledger(tmp_path) as ledger:
        return ask_writer(
            made,
            settings=WRITER,
            bank=bank,
            fault=fault_of,
            ledger=ledger,
            desc="test",
            replay=replay,
        )


def test_what_was_compiled_once_is_not_compiled_again(tmp_path):
    calls: list[str] = []
    first = answered(tmp_path, calls=calls)
    second = answered(tmp_path, replay=True, calls=calls)
    assert calls == ["0000"]
    assert first_ok(first[0][1]) == first_ok(second[0][1])


def test_replaying_without_an_answer_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="expected every answer in the ledger"):
        answered(tmp_path, replay=True)


def test_the_answer_of_the_bank_keeps_the_generation_schema(tmp_path):
    ((request, attempts),) = answered(tmp_path)
    answer = first_ok(attempts)
    assert judge_text(answer.text, "stop", request.schema) == ("ok", "")
    assert specification_of(answer) == patterns().specification("pack", patterns().read(TEXT))


def test_the_generation_schema_names_the_measures_there_are():
    schema = json.loads((FOLDER / "spec" / "answer.schema.json").read_text("utf-8"))
    question = schema["properties"]["questions"]["items"]
    bound = question["properties"]["measurements"]["items"]
    assert bound["properties"]["function"]["enum"] == list(BINDABLE)
    assert set(schema["properties"]) == set(Specification.__struct_fields__)


# ---- records and the released shape

SCENARIO = scenario([person(45.0, 30.0)], role("stay"), pattern="pack", description=TEXT)
SPEC = spec_of("0000", patterns().specification("pack"), PROVENANCE)


def test_a_specification_comes_back_from_its_table_as_it_was():
    frame = specs_frame([SPEC])
    check_frame("stride_spec", frame, where="test", key="scene_id")
    assert specs_of(frame) == [SPEC]


def test_what_is_asked_of_a_scenario_names_its_event_and_pattern():
    assert ask_of(SCENARIO, square().record).pattern == "pack"
    assert ask_of(SCENARIO, square().record).event is None


def released():
    record = square().record
    return benchmark_of_specs([SPEC], {"0000": SCENARIO}, {record.map_id: record})


def test_the_benchmark_keeps_the_released_shape_and_spells_parameters_out():
    document = document_of(released())
    check_record("stride_benchmark", document, where="test")
    scene = document["scenes"][0]
    assert scene["scenario_id"] == square().record.map_id
    assert scene["n_agents"] == 1
    checks = [one for question in scene["questions"] for one in question["measurements"]]
    trend = next(one for one in checks if one["function"] == "spread_trend")
    assert trend["params"] == {"n_bins": 5}
    assert scene["questions"][0]["question"].startswith("V: ")


def test_the_benchmark_comes_back_from_its_file_as_it_was(tmp_path):
    for name in ("bench.json", "bench.jsonl"):
        write_benchmark(released(), tmp_path / name)
        assert read_benchmark(tmp_path / name) == released()


@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.stem)
def test_a_benchmark_in_the_released_shape_goes_out_as_it_came_in(file, tmp_path):
    before = json.loads(file.read_text("utf-8"))
    write_benchmark(read_benchmark(file), tmp_path / "out.json")
    after = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert after == before


def test_the_default_patterns_have_no_error_and_are_not_passed_by_who_reads_nothing():
    specs = [
        spec_of(f"{number:04d}", patterns().specification(name), PROVENANCE)
        for number, name in enumerate(EVERY)
    ]
    scenarios = {
        one.scene_id: scenario(
            [person(45.0, 30.0 + 0.1 * k) for k in range(60)], role("stay"), scene_id=one.scene_id
        )
        for one in specs
    }
    record = square().record
    found = lint(benchmark_of_specs(specs, scenarios, {record.map_id: record}))
    assert found["errors"] == 0
    assert not [one for one in found["findings"] if one["code"] == "toothless"]
    means = found["walker_means"]
    assert means["stop"] < 0.3
    assert means["random"] < 0.3
    assert means["straight"] < 0.4
    assert benchmark_of(document_of(benchmark_of_specs(specs, scenarios, {record.map_id: record})),
                        where="test").shape == "released"  # fmt: skip
