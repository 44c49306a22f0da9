"""A server that gives no answer uses up nothing: it is waited for, and the next run goes on."""

import asyncio
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pipeline.errors import ModelError
from pipeline.language.asking import AskingSummary, ask, results
from pipeline.language.engines import engine_for, patience
from pipeline.language.engines.openai import OpenAIEngine
from pipeline.language.engines.patience import NoAnswer, wait_in
from pipeline.language.engines.replies import judged
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import import_answers
from pipeline.language.ledger_records import State
from pipeline.language.outcome import responses_frame
from pipeline.language.requests import Answer, Request
from tests.language.engine_requests import GOOD, openai_settings, request_to, requests_to
from tests.language.engines import RuleEngine, answer_to, requests_about, sound
from tests.language.odd_server import OddServer

ROOT = Path(__file__).resolve().parent.parent.parent
COUNT = 80


@pytest.fixture
def quick(monkeypatch):
    """Let pauses be a twentieth of what they are."""
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(patience, "_LONGEST_PAUSE_S", 0.5)


def ask_with(settings, requests, folder: Path, *, attempts=2):
    with Ledger(folder) as ledger:
        return ask(
            lambda: iter(requests), total=len(requests), ledger=ledger,
            engine=lambda: engine_for(settings, LocalExecutor()), attempts=attempts,
            most_failed_share=0.0, desc="annotate toy",
        )  # fmt: skip


def written(requests, folder: Path) -> bytes:
    """Return the bytes of what a stage would write of all attempts."""
    with Ledger(folder) as ledger:
        every = [one for _, attempts in results(iter(requests), ledger) for one in attempts]
    responses_frame(every).write_parquet(folder / "out.parquet")
    return (folder / "out.parquet").read_bytes()


def undisturbed(folder: Path) -> bytes:
    with OddServer() as server:
        settings = openai_settings(server.url, concurrency=16)
        ask_with(settings, requests_to(settings, COUNT), folder)
        return written(requests_to(settings, COUNT), folder)


# ---- a server that is down for a while ----------------------------------------------------------

BUSY = (429, {"message": "slow down"})
DOWN = (503, {"message": "overloaded"})
BROKEN = (500, {"message": "oops"})
GATEWAY = (502, {"message": "<html>bad gateway</html>"})


@pytest.mark.parametrize("fault", [BUSY, DOWN, BROKEN, GATEWAY], ids=lambda fault: str(fault[0]))
@pytest.mark.parametrize("answered_before", [0, 40, COUNT - 3])
def test_an_outage_leaves_no_trace_wherever_it_falls(tmp_path, quick, fault, answered_before):
    """Also at the very end, where only the last trips are under way."""
    ends_s: list[float] = []
    good = 0

    def turns_away(_count: int, _body: dict[str, Any]):
        nonlocal good
        if good >= answered_before:
            if not ends_s:
                ends_s.append(time.monotonic() + 1.0)
            if time.monotonic() < ends_s[0]:
                return fault
        good += 1
        return None

    with OddServer(turns_away) as server:
        settings = openai_settings(server.url, concurrency=16)
        summary = ask_with(settings, requests_to(settings, COUNT), tmp_path)
        during = len(server.bodies) - COUNT
    assert (summary.ok, summary.failed) == (COUNT, {})
    assert written(requests_to(settings, COUNT), tmp_path) == undisturbed(tmp_path / "undisturbed")
    # One pause for all: those under way together are turned away once, then few at a time knock.
    assert 0 < during < 80


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (DOWN, r"answered no request for 0\.5 s \(engine\.patience_s\), the last about item \d+"),
        ((401, {"message": "no"}), "accepted no key"),
        ((403, {"message": "no"}), "gave no access"),
        ((404, {"message": "no"}), "knows no such"),
        ((429, {"message": "no", "code": "insufficient_quota"}), "has no quota left"),
        ((400, {"message": "no `seed`", "code": "unsupported_parameter"}), "refuses every request"),
        ((422, {"message": "no `seed`"}), r"refuses every request; mend engine\.strict"),
    ],
)
@pytest.mark.parametrize("answered_before", [0, 40])
def test_what_goes_on_ends_the_run_in_one_line_and_the_next_one_goes_on(
    tmp_path, quick, fault, told, answered_before
):
    healthy = False

    def turns_away(count: int, _body: dict[str, Any]):
        return None if healthy or count <= answered_before else fault

    with OddServer(turns_away) as server:
        settings = openai_settings(server.url, concurrency=16, patience_s=0.5)
        requests = requests_to(settings, COUNT)
        for _ in range(4):  # more runs than attempts
            with pytest.raises(ModelError, match=told) as fault_of_run:
                ask_with(settings, requests, tmp_path)
            assert "\n" not in str(fault_of_run.value)
            assert "no attempt is used up" in str(fault_of_run.value)
        healthy = True
        summary = ask_with(settings, requests, tmp_path)
    assert summary.reused + summary.ok == COUNT
    assert written(requests, tmp_path) == undisturbed(tmp_path / "undisturbed")


def test_time_outs_use_up_nothing(tmp_path, quick):
    with OddServer() as server:
        settings = openai_settings(server.url, timeout_s=0.2, patience_s=0.5)
        requests = [request_to(settings, "0", prompt="0 sleep"), request_to(settings, "1")]
        for _ in range(3):
            with pytest.raises(ModelError, match=r"about item 0: no answer in 0\.2 s"):
                ask_with(settings, requests, tmp_path)
        patient = replace(settings, timeout_s=30.0)
        assert ask_with(patient, requests, tmp_path).ok == 1
    with Ledger(tmp_path) as ledger:
        states = ledger.states(request.key for request in requests)
        assert set(states.values()) == {State(1, 1, "ok", 2)}


SERVER = """
import os, sys, time
from tests.language.odd_server import OddServer

port, dies_at = int(sys.argv[1]), int(sys.argv[2])
with OddServer(lambda count, _: os._exit(9) if count == dies_at else None, port=port):
    print("up", flush=True)
    time.sleep(600)
"""


def start_server(port: int, *, dies_at: int) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), str(dies_at)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def test_a_server_that_dies_and_comes_back_at_its_address_is_waited_for(tmp_path, quick):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    first = start_server(port, dies_at=30)
    second: list[subprocess.Popen] = []

    def bring_back() -> None:
        first.wait()
        second.append(start_server(port, dies_at=-1))

    watch = threading.Thread(target=bring_back)
    watch.start()
    settings = openai_settings(f"http://127.0.0.1:{port}/v1", concurrency=16)
    try:
        assert ask_with(settings, requests_to(settings, COUNT), tmp_path).ok == COUNT
    finally:
        watch.join()
        for process in (first, *second):
            process.kill()
            process.communicate()
    assert written(requests_to(settings, COUNT), tmp_path) == undisturbed(tmp_path / "undisturbed")


def test_a_server_that_allows_some_requests_a_second_beside_many_at_once_fails_none(tmp_path):
    """With the pauses as they are: 10 requests a second, 64 at once."""
    begun: list[float] = []

    def turns_away(_count: int, _body: dict[str, Any]):
        now = time.monotonic()
        if sum(now - at < 1.0 for at in begun) >= 10:
            return (429, {"message": "10 requests a second"})
        begun.append(now)
        return None

    with OddServer(turns_away) as server:
        settings = openai_settings(server.url, concurrency=64)
        summary = ask_with(settings, requests_to(settings, COUNT), tmp_path, attempts=1)
    assert (summary.ok, summary.failed) == (COUNT, {})
    assert written(requests_to(settings, COUNT), tmp_path) == undisturbed(tmp_path / "undisturbed")


# ---- the same in a time that is only counted ----------------------------------------------------


class CountedTime(asyncio.SelectorEventLoop):
    """An event loop in which waiting takes no time: its clock jumps to what comes next."""

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__()
        select = self._selector.select  # type: ignore[attr-defined]

        def jump(timeout: float | None):
            self.now_s += timeout or 0.0
            return select(0)

        self._selector.select = jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now_s


class SimulatedServer:
    """A server in counted time: answers in some seconds, or says why it does not."""

    def __init__(
        self, monkeypatch, why_not: Callable[["SimulatedServer"], NoAnswer | None]
    ) -> None:
        self.why_not, self.sent, self.turned_away = why_not, 0, list[float]()
        self.answered_s = list[float]()
        monkeypatch.setattr(asyncio, "new_event_loop", self._loop)
        server = self

        async def once(_engine, request: Request, *, refused: bool) -> Answer | NoAnswer:
            del refused
            why = server.why_not(server)
            server.sent += 1
            if why is not None:
                server.turned_away.append(server.now_s)
                return why
            await asyncio.sleep(2.0 + request.seed % 7)
            server.answered_s.append(server.now_s)
            return judged(request, GOOD, "stop")

        monkeypatch.setattr(OpenAIEngine, "_once", once)

    def _loop(self) -> CountedTime:
        self.loop = CountedTime()
        return self.loop

    @property
    def now_s(self) -> float:
        return self.loop.now_s


def test_ten_minutes_of_503_are_waited_out_by_few_that_knock(tmp_path, monkeypatch, capsys):
    server = SimulatedServer(
        monkeypatch,
        lambda one: (
            NoAnswer("failed", "status 503: busy", of_all=True) if 20 < one.now_s < 620 else None
        ),
    )
    settings = openai_settings("http://nowhere/v1", concurrency=64, patience_s=1800.0)
    summary = ask_with(settings, requests_to(settings, 1000), tmp_path)
    assert (summary.ok, summary.failed) == (1000, {})
    assert len(server.turned_away) < 120
    # Half a minute after the end of it answers come again, and soon as many as before.
    assert min(at for at in server.answered_s if at > 620) < 660
    assert server.now_s < 620 + 150
    told = capsys.readouterr().err
    assert "no answer for" in told
    assert "for 1800 s at most (engine.patience_s)" in told


@pytest.mark.parametrize("wait_s", [None, 5.0])
def test_a_limit_on_requests_a_second_is_kept_without_a_failure(tmp_path, monkeypatch, wait_s):
    begun: list[float] = []

    def limited(one: SimulatedServer) -> NoAnswer | None:
        if sum(one.now_s - at < 1.0 for at in begun) >= 10:
            return NoAnswer("failed", "status 429: slow down", wait_s=wait_s, of_all=True)
        begun.append(one.now_s)
        return None

    server = SimulatedServer(monkeypatch, limited)
    settings = openai_settings("http://nowhere/v1", concurrency=64, patience_s=1800.0)
    summary = ask_with(settings, requests_to(settings, 1000), tmp_path, attempts=1)
    assert (summary.ok, summary.failed) == (1000, {})
    if wait_s is None:
        assert server.now_s < 1000 / 10 * 2  # at least half of what the server allows
    assert server.sent < 2000


def test_the_pause_a_server_states_is_kept_by_all(tmp_path, monkeypatch):
    stated: list[float] = []

    def why_not(one: SimulatedServer) -> NoAnswer | None:
        if one.sent == 10:
            stated.append(one.now_s + 40)
            return NoAnswer("failed", "status 429: slow down", wait_s=40.0, of_all=True)
        assert not stated or one.now_s >= stated[0] or one.now_s == stated[0] - 40
        return None

    SimulatedServer(monkeypatch, why_not)
    settings = openai_settings("http://nowhere/v1", concurrency=4, patience_s=1800.0)
    assert ask_with(settings, requests_to(settings, 50), tmp_path).ok == 50


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [({}, None), ({"retry-after": "2.5"}, 2.5), ({"retry-after-ms": "1500"}, 1.5),
     ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.0), ({"retry-after": "soon"}, None),
     ({"retry-after": "nan"}, None), ({"retry-after": "-3"}, 0.0)],
)  # fmt: skip
def test_retry_after_is_read_in_every_form(headers, wait_s):
    assert wait_in(headers) == wait_s


# ---- whatever the engine ------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["timeout", "failed"])
def test_what_an_engine_gives_back_is_the_same_attempt_again(tmp_path, status):
    requests = requests_about(50)
    given_back: list[int] = []

    def rule(request: Request) -> Answer:
        if request.item_id == "item-000003" and len(given_back) < 4:
            given_back.append(request.attempt)
            # Others come in each round, as some answers are none.
            return answer_to(request, "", status=status)
        if request.item_id == f"item-{len(given_back) + 9:06d}" and request.attempt == 1:
            return answer_to(request, "Sure!")
        return sound(request)

    def run(ledger: Ledger) -> AskingSummary:
        return ask(
            lambda: iter(requests), total=50, ledger=ledger, engine=lambda: RuleEngine(rule),
            attempts=2, most_failed_share=0.0, desc="toy",
        )  # fmt: skip

    with Ledger(tmp_path) as ledger:
        for _ in range(2):
            with suppress(ModelError):
                run(ledger)
        summary = run(ledger)
        assert (summary.reused + summary.ok, summary.failed) == (50, {})
        (kept,) = ledger.answers([requests[3].key])[requests[3].key]
    assert given_back == [1, 1, 1, 1]
    assert kept == sound(requests[3])


def test_a_model_that_gives_back_everything_is_stopped_early_and_nothing_is_kept(tmp_path):
    engine = RuleEngine(lambda request: answer_to(request, "", status="failed"))
    with Ledger(tmp_path) as ledger:
        with pytest.raises(ModelError, match="found none to 200 requests"):
            ask(
                lambda: iter(requests_about(5000)), total=5000, ledger=ledger,
                engine=lambda: engine, attempts=1, most_failed_share=0.0, desc="toy",
            )  # fmt: skip
        assert list(ledger.stored()) == []


# ---- ledgers of before --------------------------------------------------------------------------


def as_version_1(folder: Path, answers: list[Answer]) -> None:
    """Write a ledger as the first version did: no checksums, a server's failures as attempts."""
    folder.mkdir(parents=True)
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.executescript(VERSION_1)
    db.executemany(
        f"INSERT INTO answers VALUES ({', '.join('?' * 15)})",  # noqa: S608
        [
            (a.key, a.attempt, a.item_id, a.task, a.status, a.reason, a.finish_reason,
             a.model.engine, a.model.model, a.model.revision, a.prompt_tokens, a.output_tokens,
             1.0, None, a.text.encode())
            for a in answers
        ],
    )  # fmt: skip
    db.commit()
    db.close()


VERSION_1 = """
CREATE TABLE answers (
        key TEXT NOT NULL, attempt INTEGER NOT NULL, item_id TEXT NOT NULL, task TEXT NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL, finish_reason TEXT NOT NULL,
        engine TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL,
        prompt_tokens INTEGER, output_tokens INTEGER, created_s REAL NOT NULL, seconds REAL,
        text BLOB NOT NULL, UNIQUE (key, attempt));
CREATE TABLE runs (
        created_s REAL NOT NULL, task TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL,
        revision TEXT NOT NULL, sent INTEGER NOT NULL, ok INTEGER NOT NULL, failed INTEGER NOT NULL,
        prompt_tokens INTEGER, output_tokens INTEGER, seconds REAL NOT NULL);
CREATE TABLE fingerprints (
        model TEXT NOT NULL, revision TEXT NOT NULL, fingerprint TEXT NOT NULL,
        PRIMARY KEY (model, revision));
PRAGMA application_id = 1818391148;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""


def test_an_old_ledger_whose_attempts_a_server_used_up_simply_goes_on(tmp_path):
    requests = requests_about(4)

    def attempts(number: int, *statuses: str) -> list[Answer]:
        return [
            sound(replace(requests[number], attempt=n))
            if status == "ok"
            else answer_to(replace(requests[number], attempt=n), "", status=status)
            for n, status in enumerate(statuses, start=1)
        ]

    good = attempts(3, "ok")
    used_up = [*attempts(0, "timeout", "timeout", "timeout"),
               *attempts(1, "failed", "malformed", "failed"),
               *attempts(2, "timeout", "ok"), *good]  # fmt: skip
    as_version_1(tmp_path / "store", used_up)
    engine = RuleEngine()
    with Ledger(tmp_path / "store", to_read=True) as ledger:  # read before it is brought up
        assert ledger.answers([requests[3].key])[requests[3].key] == good
        assert ledger.states([requests[0].key])[requests[0].key] == State(0, None, None, 1)
    with Ledger(tmp_path / "store") as ledger:
        summary = ask(
            lambda: iter(requests), total=4, ledger=ledger, engine=lambda: engine, attempts=3,
            most_failed_share=0.0, desc="toy",
        )  # fmt: skip
        found = ledger.answers(request.key for request in requests)
    assert (summary.reused, summary.ok) == (2, 2)
    assert sorted(engine.sent) == [("item-000000", 1), ("item-000001", 1)]
    assert found[requests[0].key] == [sound(requests[0])]  # as if nothing had been
    assert found[requests[3].key] == good
    assert [one.attempt for one in found[requests[2].key]] == [2]


def test_answers_of_before_are_imported_without_what_was_none(tmp_path):
    answers = [sound(requests_about(2)[0]), answer_to(requests_about(2)[1], "", status="timeout")]
    responses_frame(answers).write_parquet(tmp_path / "old.parquet")
    assert list(import_answers(tmp_path / "store", [tmp_path / "old.parquet"])) == [
        "2 answers read: 1 new, 0 already there, 1 left out as no answer came"
    ]
