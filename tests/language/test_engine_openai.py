"""The OpenAI engine against servers on the loopback: a misbehaving one, and vLLM's own."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from itertools import islice

import pytest

from pipeline.errors import ModelError
from pipeline.language.engines import engine_for, openai, patience
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.outcome import json_in
from tests.language.engine_requests import (
    GOOD,
    Pulled,
    answered,
    openai_settings,
    request_to,
    requests_to,
    vllm_settings,
)
from tests.language.odd_server import ENDLESS, OddServer

KEY = "sk-0123456789abcdef"


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


@pytest.fixture
def quick(monkeypatch):
    """Let pauses be a hundredth of what they are."""
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(patience, "_LONGEST_PAUSE_S", 0.3)


def ask(server: OddServer, *wishes: str, **changes):
    """Ask for each wish once; returns the answers by wish."""
    settings = openai_settings(server.url, **changes)
    with engine_for(settings, LocalExecutor()) as engine:
        return answered(engine, [request_to(settings, w, prompt=f"Be {w}") for w in wishes])


# ---- good answers -------------------------------------------------------------------------------


def test_a_streamed_answer_is_put_together_and_its_tokens_are_counted(odd):
    answer = ask(odd, "good")["good"]
    assert (answer.status, answer.text, answer.finish_reason) == ("ok", GOOD, "stop")
    assert (answer.prompt_tokens, answer.output_tokens) == (11, 9)
    assert answer.model.engine == "openai"


def test_the_server_is_sent_messages_schema_sampling_and_seed(odd):
    settings = openai_settings(odd.url, extra_body={"reasoning_effort": "low"}, strict=False)
    request = request_to(settings, "1", temperature=0.7, max_tokens=50)
    with engine_for(settings, LocalExecutor()) as engine:
        answered(engine, [request])
    (body,) = odd.bodies
    assert body["messages"] == [{"role": m.role, "content": m.content} for m in request.messages]
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "annotate", "strict": False, "schema": request.schema},
    }
    assert (body["model"], body["temperature"], body["top_p"]) == ("tiny", 0.7, 1.0)
    assert (body["max_tokens"], body["seed"]) == (50, request.seed)
    assert body["reasoning_effort"] == "low"


def test_a_server_that_does_not_stream_is_understood(odd):
    answer = ask(odd, "whole")["whole"]
    assert (answer.status, answer.text, answer.output_tokens) == ("ok", GOOD, 9)


def test_no_more_requests_are_under_way_than_allowed(odd):
    settings = openai_settings(odd.url, concurrency=3)
    pulled = Pulled(request_to(settings, f"{n}", prompt=f"{n} pause") for n in range(20))
    done = 0
    with engine_for(settings, LocalExecutor()) as engine:
        for answers in engine.answers(pulled):
            done += len(answers)
            assert pulled.count - done <= 3
    assert done == 20
    assert odd.most_at_once <= 3


def test_no_more_requests_begin_in_a_minute_than_allowed(odd):
    settings = openai_settings(odd.url, requests_per_minute=600.0)
    with engine_for(settings, LocalExecutor()) as engine:
        assert len(answered(engine, requests_to(settings, 6))) == 6
    # Six begin over five tenths of a second; a little less between their arrivals.
    assert odd.arrived_s[-1] - odd.arrived_s[0] > 0.4


# ---- faults that pass, and faults of one request ------------------------------------------------


@pytest.mark.parametrize(("wish", "times"), [("busy", 2), ("stumble", 3), ("vanish", 2)])
def test_a_passing_fault_is_tried_again(odd, wish, times):
    assert ask(odd, wish)[wish].status == "ok"
    assert odd.asked[f"Be {wish}"] == times


def test_the_pause_is_the_one_the_server_asks_for(odd):
    ask(odd, "busy")
    assert odd.arrived_s[1] - odd.arrived_s[0] >= 0.3


@pytest.mark.parametrize(
    ("wish", "status", "reason"),
    [("fail", "failed", "status 500: .*oops"),
     ("drop", "failed", "broken off"),
     ("stop", "failed", "broken off in mid-answer"),
     ("crash", "failed", "out of memory"),
     ("page", "failed", "broken off: .*"),
     ("sleep", "timeout", "no answer in 0.3 s"),
     ("trickle", "timeout", "no answer in 0.3 s"),
     ("wrong", "refusal", "status 400: .*maxLength is not permitted"),
     ("overlong", "prompt_too_long", "maximum context length is 8192"),
     ("filter", "refusal", "content_filter"),
     ("refuse", "refusal", "I would rather not"),
     ("chat", "malformed", "no JSON: .*; it begins 'Sure! Here is"),
     ("cut", "length", "cut off"),
     ("spaces", "whitespace", "white spaces")],
)  # fmt: skip
def test_a_fault_of_one_request_costs_itself_alone(odd, quick, wish, status, reason):
    """What a server fails at while it answers others is given back, and is no attempt."""
    settings = openai_settings(odd.url, timeout_s=0.3)
    done = threading.Event()

    def requests():
        yield request_to(settings, wish, prompt=f"Be {wish}")
        number = 0
        while not done.is_set():
            number += 1
            yield request_to(settings, f"{number}", prompt=f"{number} pause")

    found = {}
    with engine_for(settings, LocalExecutor()) as engine:
        for answers in engine.answers(requests()):
            found |= {answer.item_id: answer for answer in answers}
            if wish in found:
                done.set()
    answer = found.pop(wish)
    assert answer.status == status
    assert re.search(reason, answer.reason)
    assert "\n" not in answer.reason
    assert {answer.status for answer in found.values()} == {"ok"}


@pytest.mark.parametrize(
    ("wish", "finish_reason"),
    [("fence", "stop"), ("think", "stop"), ("call", "tool_calls"), ("wholecall", "tool_calls")],
)
def test_an_answer_in_fences_after_thoughts_or_in_a_tool_call_is_read(odd, wish, finish_reason):
    answer = ask(odd, wish)[wish]
    assert (answer.status, answer.finish_reason) == ("ok", finish_reason)
    assert json.loads(json_in(answer.text)) == json.loads(GOOD)
    assert answer.text != GOOD  # kept raw


def test_endless_white_space_is_cut_off_and_the_server_let_go(odd):
    answer = ask(odd, "spaces")["spaces"]
    assert answer.text.startswith('{"text": \n')
    assert odd.left.wait(10)
    assert odd.sent < ENDLESS / 10


# ---- faults of the whole ------------------------------------------------------------------------


def test_a_missing_library_is_one_line_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with (
        pytest.raises(ModelError, match=r"package openai, found none; run `make models`"),
        engine_for(openai_settings("http://127.0.0.1:9/v1"), LocalExecutor()),
    ):
        pytest.fail("it started")


def test_a_server_that_is_not_there_is_named_with_its_address(monkeypatch, quick):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    monkeypatch.setattr(openai, "_KNOCK_S", 0.3)
    settings = openai_settings(url)
    with (
        pytest.raises(ModelError, match=rf"{url}: expected a server, found none .*; start it"),
        engine_for(settings, LocalExecutor()) as engine,
    ):
        answered(engine, requests_to(settings, 3))


@pytest.mark.parametrize(
    ("wish", "told"),
    [("unknown", "knows no such .*`tiny` does not exist"), ("denied", "no key"),
     ("quota", "has no quota left"), ("tomorrow", "asks to wait 86400 s, longer than 60 s")],
)  # fmt: skip
def test_what_no_request_can_pass_ends_the_run_in_one_line(odd, wish, told):
    with pytest.raises(ModelError, match=told) as caught:
        ask(odd, wish)
    assert "\n" not in str(caught.value)
    assert odd.url in str(caught.value)


def test_the_key_comes_from_the_environment_and_is_never_shown(odd, monkeypatch):
    monkeypatch.setenv("TOY_KEY", KEY)
    with pytest.raises(ModelError, match=r"wrong key: Bearer \*\*\*") as caught:
        ask(odd, "denied", api_key_env="TOY_KEY")
    assert odd.keys == {f"Bearer {KEY}"}
    assert KEY not in str(caught.value)


def test_a_key_that_is_not_set_is_named_before_anything_is_sent(odd, monkeypatch):
    monkeypatch.delenv("TOY_KEY", raising=False)
    with pytest.raises(ModelError, match="environment variable TOY_KEY, found nothing"):
        ask(odd, "good", api_key_env="TOY_KEY")
    assert not odd.bodies


# ---- closing early ------------------------------------------------------------------------------


def test_closing_early_lets_the_server_go_and_the_engine_can_be_used_again(odd):
    settings = openai_settings(odd.url)
    wishes = ["good", "trickle", "trickle", "trickle"]
    with engine_for(settings, LocalExecutor()) as engine:
        stream = engine.answers(
            request_to(settings, f"{n}", prompt=f"{n} {wish}") for n, wish in enumerate(wishes)
        )
        assert len(list(islice(stream, 1))) == 1
        stream.close()
        assert odd.left.wait(10)
        assert len(answered(engine, requests_to(settings, 5))) == 5


def test_an_interrupt_ends_what_is_under_way(odd):
    settings = openai_settings(odd.url)

    def interrupted():
        yield from (request_to(settings, f"{n}", prompt=f"{n} trickle") for n in range(3))
        raise KeyboardInterrupt

    with engine_for(settings, LocalExecutor()) as engine:
        with pytest.raises(KeyboardInterrupt):
            answered(engine, interrupted())
        assert len(answered(engine, requests_to(settings, 5))) == 5


def test_leaving_the_engine_with_answers_outstanding_is_quiet(odd):
    settings = openai_settings(odd.url)
    with engine_for(settings, LocalExecutor()) as engine:
        stream = engine.answers(
            request_to(settings, f"{n}", prompt=f"{n} {wish}")
            for n, wish in enumerate(["good", "trickle"])
        )
        assert len(next(stream)) == 1
    stream.close()
    assert odd.left.wait(10)


# ---- vLLM's own server --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vllm_server(tiny_llama, tmp_path_factory) -> Iterator[str]:
    """Start `vllm serve` with the tiny model; returns its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm-server") / "log.txt"
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(tiny_llama),
        "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port),
        "--max-model-len", "1024", "--max-num-seqs", "8", "--dtype", "float32", "--enforce-eager",
        "--distributed-executor-backend", "uni", "--structured-outputs-config",
        '{"backend": "guidance", "disable_any_whitespace": true}',
    ]  # fmt: skip
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, stdout=out, stderr=out, env=os.environ | {"VLLM_HOST_IP": "127.0.0.1"}
        ) as process,
    ):
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_healthy(url: str, process: subprocess.Popen, log) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"no server in time: {log.read_text()[-3000:]}")


def test_vllms_server_answers_as_vllm_in_process_does(vllm_server, tiny_llama):
    settings = openai_settings(vllm_server, concurrency=8)
    requests = [
        *requests_to(settings, 10, temperature=1.0),
        *(request_to(settings, f"cold {n}") for n in range(10)),
    ]
    with engine_for(settings, LocalExecutor()) as engine:
        served = answered(engine, requests)
    with engine_for(vllm_settings(tiny_llama), LocalExecutor()) as engine:
        here = answered(engine, requests)
    assert {answer.status for answer in served.values()} == {"ok"}
    assert served == here


def test_vllms_server_costs_a_bad_request_itself_alone(vllm_server):
    settings = openai_settings(vllm_server)
    requests = [
        request_to(settings, "long", prompt="Left, then right. " * 400),
        request_to(settings, "cut", max_tokens=4),
        *requests_to(settings, 3),
    ]
    with engine_for(settings, LocalExecutor()) as engine:
        found = answered(engine, requests)
    assert (found["long"].status, found["cut"].status) == ("prompt_too_long", "length")
    assert [found[str(n)].status for n in range(3)] == ["ok"] * 3
    assert json.loads(found["0"].text)


def test_vllms_server_says_when_it_does_not_know_the_model(vllm_server):
    settings = openai_settings(vllm_server, model="other")
    with (
        pytest.raises(ModelError, match=r"model other: .*does not exist"),
        engine_for(settings, LocalExecutor()) as engine,
    ):
        answered(engine, requests_to(settings, 1))
