"""The true vLLM engine on a tiny random Llama: valid JSON, bounded window, isolated faults."""

import sys
import warnings
from itertools import islice

import msgspec
import pytest

from pipeline.errors import ModelError, ParameterError
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.engines.vllm import VllmEngine
from tests.language.engine_requests import (
    SCHEMA,
    Pulled,
    answered,
    request_to,
    requests_to,
    vllm_settings,
)
from tests.language.models import write_tiny_llama

WINDOW = 8
TOO_LONG = "Left, then right. " * 400


# ---- before a model is loaded -------------------------------------------------------------------


def start(settings):
    with engine_for(settings, LocalExecutor()):
        pytest.fail("it started")


def test_a_missing_library_is_one_line_with_the_command(monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match=r"package vllm, found none; run `make models`"):
        start(vllm_settings(tmp_path))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere: expected a folder, found none"):
        start(vllm_settings(tmp_path / "nowhere"))


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"expected a model folder with config\.json"):
        start(vllm_settings(tmp_path))


def test_more_tokens_than_the_model_reads_are_refused_with_its_number(tiny_llama):
    with pytest.raises(ParameterError, match=r"engine\.max_model_len: 9999: .*4096") as caught:
        start(vllm_settings(tiny_llama, max_model_len=9999))
    assert "\n" not in str(caught.value)


def test_a_model_without_a_chat_template_is_refused(small_models, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = write_tiny_llama(tmp_path / "base", chat_template=None)
    with pytest.raises(ModelError, match=r"expected a chat template .* engine\.chat_template"):
        start(vllm_settings(folder))


# ---- answers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(tiny_llama):
    with engine_for(vllm_settings(tiny_llama, window=WINDOW), LocalExecutor()) as started:
        yield started


def windowed(engine: VllmEngine, window: int) -> VllmEngine:
    """Return the same loaded model with another window."""
    other = VllmEngine(msgspec.structs.replace(engine._settings, window=window))
    other._llm = engine._llm
    return other


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_random_weights_give_valid_json_of_the_schema(engine, temperature):
    requests = requests_to(engine._settings, 16, temperature=temperature)
    found = answered(engine, requests)
    assert {answer.status for answer in found.values()} == {"ok"}
    for request in requests:
        answer = found[request.item_id]
        value = msgspec.json.decode(answer.text)
        assert set(value) == set(SCHEMA["required"])
        assert (answer.key, answer.finish_reason) == (request.key, "stop")
        assert answer.prompt_tokens > 20
        assert answer.output_tokens > 5
    assert len({answer.text for answer in found.values()}) > 1


def test_forty_requests_pass_through_a_window_of_eight(engine):
    pulled = Pulled(requests_to(engine._settings, 40, temperature=1.0))
    done = 0
    for answers in engine.answers(pulled):
        done += len(answers)
        assert pulled.count - done <= WINDOW
    assert done == pulled.count == 40


def test_an_answer_depends_neither_on_window_nor_on_order(engine):
    requests = [
        *requests_to(engine._settings, 12, temperature=1.0),
        *(request_to(engine._settings, f"cold {n}") for n in range(12)),
    ]
    expected = answered(engine, requests)
    assert answered(windowed(engine, 1), requests[::-1]) == expected
    assert answered(windowed(engine, 100), requests[12:] + requests[:12]) == expected


def test_prompts_that_fill_the_batch_together_are_sampled_by_their_own_seeds(engine):
    filler = "Left, then right. " * 55
    requests = [
        request_to(engine._settings, f"{n}", prompt=f"{n} {filler}", temperature=1.0)
        for n in range(WINDOW)
    ]
    found = answered(engine, requests)
    budget = engine._llm.llm_engine.vllm_config.scheduler_config.max_num_batched_tokens
    assert sum(answer.prompt_tokens for answer in found.values()) > budget
    assert {answer.status for answer in found.values()} == {"ok"}
    assert answered(windowed(engine, 1), requests) == found


def test_another_attempt_samples_anew_and_the_same_attempt_does_not(engine):
    request = request_to(engine._settings, "1", temperature=1.0)
    again = msgspec.structs.replace(request, attempt=2)
    first, second, third = (answered(engine, [r])["1"].text for r in (request, again, request))
    assert first == third != second


def test_a_prompt_that_is_too_long_costs_itself_alone(engine):
    requests = requests_to(engine._settings, 10)
    requests.insert(3, request_to(engine._settings, "long", prompt=TOO_LONG))
    requests.insert(6, request_to(engine._settings, "longer", prompt=TOO_LONG * 20))
    found = answered(engine, requests)
    assert len(found) == 12
    refused = {item: answer for item, answer in found.items() if answer.status != "ok"}
    assert {answer.status for answer in refused.values()} == {"prompt_too_long"}
    assert set(refused) == {"long", "longer"}
    assert "1024" in refused["long"].reason


def test_any_number_of_refused_prompts_stays_within_the_window(engine):
    pulled = Pulled(request_to(engine._settings, f"{n}", prompt=TOO_LONG) for n in range(50))
    for answers in engine.answers(pulled):
        assert len(answers) <= WINDOW
    assert pulled.count == 50


def test_a_truncated_answer_costs_itself_alone_and_is_never_mended(engine):
    requests = [
        *requests_to(engine._settings, 5),
        request_to(engine._settings, "cut", max_tokens=4),
    ]
    found = answered(engine, requests)
    cut = found.pop("cut")
    assert (cut.status, cut.finish_reason, cut.output_tokens) == ("length", "length", 4)
    assert {answer.status for answer in found.values()} == {"ok"}


def test_a_schema_that_no_grammar_can_say_costs_itself_alone(engine):
    odd = msgspec.structs.replace(
        request_to(engine._settings, "odd"), schema={"type": "object", "not": {"required": ["a"]}}
    )
    found = answered(engine, [odd, *requests_to(engine._settings, 3)])
    assert [found[item].status for item in ("odd", "0", "1", "2")] == ["failed", "ok", "ok", "ok"]
    assert "Grammar" in found["odd"].reason


def test_names_of_every_script_reach_the_model_and_come_back(engine):
    names = [
        "São João · 深圳北站 · \u0301e {{ x }} {% y %} <|im_end|> \\ \"' — 🚕",
        "\U0010ffff\x00",
    ]
    requests = [request_to(engine._settings, name, prompt=name) for name in names]
    assert {a.status for a in answered(engine, requests).values()} == {"ok"}


def test_no_requests_give_no_answers(engine):
    assert list(engine.answers([])) == []


def test_closing_early_leaves_nothing_behind(engine):
    stream = engine.answers(requests_to(engine._settings, 30, temperature=1.0))
    assert len(list(islice(stream, 2))) == 2
    stream.close()
    assert not engine._llm.llm_engine.has_unfinished_requests()
    assert len(answered(engine, requests_to(engine._settings, 9))) == 9
