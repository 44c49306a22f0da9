"""Only what is missing is asked, every answer is kept, and too many failures end a run."""

import json
import os
import subprocess
import sys
import termios
from itertools import islice
from pathlib import Path

import pytest

from pipeline.errors import ContractError, ModelError
from pipeline.language.asking import ask, results
from pipeline.language.asking_words import progress_words
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok
from pipeline.language.requests import Request
from tests.language.engines import (
    RuleEngine,
    answer_to,
    request_about,
    requests_about,
    sound,
)

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "store") as opened:
        yield opened


def ask_for(requests, ledger, engine, *, attempts=3, most_failed_share=1.0, replay=False):
    return ask(
        lambda: iter(requests), total=len(requests), ledger=ledger, engine=lambda: engine,
        attempts=attempts, most_failed_share=most_failed_share, desc="annotate toy", replay=replay,
    )  # fmt: skip


def failing(*items: str, until: int = 99):
    """Return a rule by which some items answer no JSON in their first attempts."""

    def rule(request: Request):
        if request.item_id in items and request.attempt <= until:
            return answer_to(request, "Sure!")
        return sound(request)

    return rule


def kept(ledger):
    return [answer for batch in ledger.stored() for answer in batch]


# ---- what is sent -------------------------------------------------------------------------------


def test_every_request_is_answered_and_the_next_run_starts_no_model(ledger):
    requests, engine = requests_about(600), RuleEngine()
    first = ask_for(requests, ledger, engine)
    assert (first.total, first.reused, first.sent, first.ok, first.failed) == (600, 0, 600, 600, {})
    assert (first.prompt_tokens, first.output_tokens) == (6000, 1800)
    assert (engine.started, engine.ended, first.engine_started) == (1, 1, True)
    second = ask_for(requests, ledger, None)
    assert (second.total, second.reused, second.sent, second.ok) == (600, 600, 0, 0)
    assert (second.prompt_tokens, second.seconds, second.engine_started) == (None, 0.0, False)


def test_no_requests_start_no_model(ledger):
    summary = ask_for([], ledger, None)
    assert (summary.total, summary.engine_started) == (0, False)


def test_only_what_is_missing_is_sent(ledger):
    requests = requests_about(300)
    ledger.record([sound(request) for request in requests[::3]])
    engine = RuleEngine()
    summary = ask_for(requests, ledger, engine)
    assert (summary.reused, summary.ok, summary.sent) == (100, 200, 200)
    answered = {item for item, _ in engine.sent}
    assert answered == {r.item_id for n, r in enumerate(requests) if n % 3}


def test_a_failed_request_is_asked_again_in_the_next_round_with_another_seed(ledger):
    requests, engine = requests_about(20), RuleEngine(failing("item-000003", until=1))
    summary = ask_for(requests, ledger, engine)
    assert engine.sent[20:] == [("item-000003", 2)]
    assert (summary.ok, summary.sent, summary.failed) == (20, 21, {})
    first, second = ledger.answers([requests[3].key])[requests[3].key]
    assert (first.status, first.text, second.status) == ("malformed", "Sure!", "ok")


def test_a_request_that_never_succeeds_ends_as_a_failure_with_all_attempts_kept(ledger):
    requests, engine = requests_about(20), RuleEngine(failing("item-000003"))
    summary = ask_for(requests, ledger, engine)
    assert (summary.ok, summary.failed, summary.sent) == (19, {"malformed": 1}, 22)
    attempts = ledger.answers([requests[3].key])[requests[3].key]
    assert [(a.attempt, a.status, a.text) for a in attempts] == [
        (1, "malformed", "Sure!"), (2, "malformed", "Sure!"), (3, "malformed", "Sure!"),
    ]  # fmt: skip
    again = ask_for(requests, ledger, None)
    assert (again.sent, again.reused, again.failed) == (0, 19, {"malformed": 1})


def test_a_raised_cap_goes_on_where_the_attempts_ended(ledger):
    requests = requests_about(5)
    ask_for(requests, ledger, RuleEngine(failing("item-000003")), attempts=2)
    engine = RuleEngine(failing("item-000003", until=3))
    assert ask_for(requests, ledger, engine, attempts=5).failed == {}
    assert engine.sent == [("item-000003", 3), ("item-000003", 4)]


def test_bad_requests_of_every_kind_leave_the_others_unharmed(ledger):
    bad = {
        "item-000001": lambda r: answer_to(r, "", finish_reason="", status="prompt_too_long"),
        "item-000002": lambda r: answer_to(r, "I cannot.", finish_reason="content_filter"),
        "item-000003": lambda r: answer_to(r, '{"say": "x"} Done!'),
        "item-000004": lambda r: answer_to(r, '{"say": "x', finish_reason="length"),
        "item-000005": lambda r: answer_to(r, '{"tell": "x"}'),
        "item-000006": lambda r: answer_to(r, ""),
    }
    requests = requests_about(30)
    engine = RuleEngine(lambda r: bad.get(r.item_id, sound)(r))
    summary = ask_for(requests, ledger, engine)
    assert (summary.ok, summary.total) == (24, 30)
    assert summary.failed == dict.fromkeys(
        ["empty", "invalid", "length", "malformed", "prompt_too_long", "refusal"], 1
    )
    tries = {r.item_id: len(attempts) for r, attempts in results(requests, ledger)}
    # An over-long prompt stays so; asking again is no use.
    assert tries == {r.item_id: 1 for r in requests} | {
        "item-000002": 3, "item-000003": 3, "item-000004": 3, "item-000005": 3, "item-000006": 3,
    }  # fmt: skip


def test_what_an_engine_calls_good_is_judged_all_the_same(ledger):
    wrong = {
        "item-000000": '{"say": "x"',
        "item-000001": '{"say": 7}',
        "item-000002": '{"say": "\\ud800"}',
        "item-000003": '{"say": "\ud800"}',
        "item-000004": " \n" * 50,
    }
    requests = requests_about(6)
    engine = RuleEngine(lambda r: answer_to(r, wrong.get(r.item_id, '{"say": "x"}'), status="ok"))
    summary = ask_for(requests, ledger, engine, attempts=1)
    assert summary.failed == {"invalid": 1, "malformed": 3, "whitespace": 1}
    texts = [attempts[0].text for _, attempts in results(requests, ledger)]
    assert texts[2:4] == ['{"say": "\\ud800"}', '{"say": "\\ud800"}']  # half a letter as escape


def test_the_same_prompt_is_sent_once_however_far_apart_it_stands(ledger):
    places = [0, 1, 7, 9, 200, 255, 256, 400, 899]
    requests = [
        request_about(f"item-{n:06d}", "One for all." if n in places else None) for n in range(900)
    ]
    engine = RuleEngine(window=3)
    summary = ask_for(requests, ledger, engine)
    assert len(engine.sent) == len(set(engine.sent)) == 892
    assert (summary.total, summary.reused + summary.ok) == (900, 900)
    found = dict(enumerate(results(requests, ledger)))
    assert {first_ok(found[n][1]).item_id for n in places} == {"item-000000"}


def test_a_prompt_shared_by_many_that_fails_counts_for_each_of_them(ledger):
    requests = [request_about(f"item-{n:06d}", "One for all.") for n in range(40)]
    engine = RuleEngine(failing("item-000000"))
    summary = ask_for(requests, ledger, engine, attempts=2)
    assert (summary.total, summary.failed, summary.sent) == (40, {"malformed": 40}, 2)


def test_an_answer_another_process_kept_first_is_the_one_that_counts(ledger):
    requests = requests_about(3)

    def rule(request):
        if request.attempt == 1:  # another process was faster, and failed
            ledger.record([answer_to(request, "Sure!")])
        return sound(request)

    engine = RuleEngine(rule)
    summary = ask_for(requests, ledger, engine)
    assert (summary.ok, summary.sent) == (3, 6)
    assert [a.status for a in kept(ledger)] == ["malformed", "ok"] * 3


def test_what_came_is_kept_before_more_is_pulled(ledger):
    requests = requests_about(50)
    seen = []

    class Watching(RuleEngine):
        def answers(self, requests):
            stream = iter(requests)
            while some := list(islice(stream, 5)):
                seen.append(len(kept(ledger)))
                yield [sound(request) for request in some]

    ask_for(requests, ledger, Watching())
    assert seen == list(range(0, 50, 5))


# ---- faults -------------------------------------------------------------------------------------


class Ending(RuleEngine):
    """An engine whose answers a test bends."""

    def __init__(self, bend):
        super().__init__()
        self.bend = bend

    def answers(self, requests):
        yield from self.bend(list(requests))


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        (lambda rs: [[sound(r) for r in rs], [sound(rs[0])]], "each once, found attempt 1 of key"),
        (lambda rs: [[sound(r) for r in [*rs, rs[0]]]], "item item-000000: expected answers"),
        (lambda rs: [[sound(r) for r in rs], [sound(request_about("x"))]], "item x: expected"),
        (lambda rs: [[sound(r) for r in rs[1:]]], "found 1 without, the first of item item-000000"),
        (lambda _: [[]], "found 9 without"),
    ],
)
def test_an_engine_that_gives_too_many_or_too_few_answers_is_a_fault(ledger, bend, message):
    with pytest.raises(ContractError, match=message):
        ask_for(requests_about(9), ledger, Ending(bend))
    assert len(kept(ledger)) in {0, 8, 9}  # what was right is kept


def test_an_engine_that_stops_pulling_is_a_fault(ledger):
    class Lazy(RuleEngine):
        def answers(self, requests):
            yield [sound(next(iter(requests)))]

    with pytest.raises(ContractError, match="found 1 without, the first of item item-000001"):
        ask_for(requests_about(9), ledger, Lazy())


def test_a_model_that_fails_as_a_whole_costs_no_answer_that_came(ledger):
    class Dying(RuleEngine):
        def answers(self, requests):
            yield from islice(super().answers(requests), 5)
            raise ModelError("http://127.0.0.1:1: expected a server, found none")

    engine = Dying()
    with pytest.raises(ModelError, match="expected a server"):
        ask_for(requests_about(90), ledger, engine)
    assert (len(kept(ledger)), engine.ended) == (40, 1)
    assert ask_for(requests_about(90), ledger, RuleEngine()).reused == 40


def test_replay_sends_nothing(ledger):
    requests = requests_about(9)
    ledger.record([sound(request) for request in requests[:8]])
    with pytest.raises(ModelError, match="found none for item item-000008"):
        ask_for(requests, ledger, RuleEngine(), replay=True)
    assert ask_for(requests[:8], ledger, RuleEngine(), replay=True).reused == 8


# ---- too many failures --------------------------------------------------------------------------


def test_too_many_failures_are_an_error_with_counts_examples_and_remedy(ledger):
    requests = requests_about(100)
    engine = RuleEngine(failing(*(f"item-{n:06d}" for n in range(5))))
    with pytest.raises(ModelError) as fault:
        ask_for(requests, ledger, engine, most_failed_share=0.04)
    message = str(fault.value)
    assert "expected at most 4.0% of requests without an answer, found 5 of 100" in message
    assert "(5 malformed)" in message
    assert message.count("no JSON: Expecting value") == 3
    assert "run again" in message
    assert "\n" not in message
    assert len(kept(ledger)) == 110  # nothing is lost


def test_a_share_of_failures_that_is_borne_is_none(ledger):
    engine = RuleEngine(failing(*(f"item-{n:06d}" for n in range(5))))
    summary = ask_for(requests_about(100), ledger, engine, most_failed_share=0.05)
    assert summary.failed == {"malformed": 5}


def test_failures_of_earlier_runs_still_count(ledger):
    requests, engine = requests_about(10), RuleEngine(failing("item-000003"))
    ask_for(requests, ledger, engine)
    with pytest.raises(ModelError, match="found 1 of 10"):
        ask_for(requests, ledger, None, most_failed_share=0.05)


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_model_that_never_answers_is_stopped_after_200_requests(ledger, attempts):
    requests = requests_about(5000)
    engine = RuleEngine(lambda request: answer_to(request, "Sure!"))
    with pytest.raises(ModelError, match="found 200 of 200 finished"):
        ask_for(requests, ledger, engine, attempts=attempts, most_failed_share=0.5)
    assert (len(engine.sent), len(kept(ledger)), engine.ended) == (200, 200, 1)


def test_failures_that_another_attempt_may_cure_stop_no_run(ledger):
    requests = requests_about(1000)
    engine = RuleEngine(failing(*(r.item_id for r in requests[::4]), until=1))
    summary = ask_for(requests, ledger, engine, most_failed_share=0.05)
    assert (summary.ok, summary.sent) == (1000, 1250)


# ---- the ledger's view --------------------------------------------------------------------------


def test_results_are_in_the_order_of_the_stream_with_all_attempts(ledger):
    requests = requests_about(700)
    ask_for(requests, ledger, RuleEngine(failing("item-000650", until=2)))
    found = list(results(iter(reversed(requests)), ledger))
    assert [request.item_id for request, _ in found] == [r.item_id for r in reversed(requests)]
    tries = {request.item_id: [a.attempt for a in attempts] for request, attempts in found}
    assert tries["item-000650"] == [1, 2, 3]
    assert sum(map(len, tries.values())) == 702
    assert next(results([request_about("new")], ledger))[1] == []


def test_a_run_is_measured(ledger):
    requests = requests_about(50)
    assert ledger.throughput("annotate", requests[0].model) is None
    assert ledger.mean_output_tokens("annotate", requests[0].model) is None
    summary = ask_for(requests, ledger, RuleEngine())
    assert ledger.mean_output_tokens("annotate", requests[0].model) == 3.0
    speed = ledger.throughput("annotate", requests[0].model)
    assert speed == pytest.approx(summary.output_tokens / summary.seconds)
    assert ledger.throughput("narrate", requests[0].model) is None


# ---- progress -----------------------------------------------------------------------------------


def test_progress_tells_what_was_there_before_anything_is_sent(ledger, capsys):
    requests = requests_about(1000)
    ledger.record([sound(request) for request in requests[:900]])
    told = []

    class Watching(RuleEngine):
        def __enter__(self):
            told.append(capsys.readouterr().err)
            return super().__enter__()

    ask_for(requests, ledger, Watching())
    assert told == ["annotate toy: 900 of 1,000, 0 answered, 900 cached, 0 failed\n"]
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("annotate toy: 1,000 of 1,000, 100 answered, 900 cached, 0 failed")


def test_progress_on_a_terminal_is_a_bar_with_the_same_words(ledger, monkeypatch):
    screen, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 120))
    with os.fdopen(terminal, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        ask_for(requests_about(10), ledger, RuleEngine())
        stream.flush()
        shown = ""
        while "10/10, 10 answered" not in shown:  # a terminal hands on what it has
            shown += os.read(screen, 10_000).decode()
    os.close(screen)
    assert "annotate toy: 100%|" in shown
    assert "10/10, 10 answered, 0 cached, 0 failed" in shown


def test_progress_is_worded_with_speed_and_the_time_of_what_is_still_to_be_sent():
    words = progress_words(
        answered=1300, cached=900, failed=3, again=2, elsewhere=7, tokens_per_s=310.4,
        seconds_left=725.0,
    )  # fmt: skip
    assert words == (
        "1,300 answered, 900 cached, 3 failed, 2 to ask again, 7 asked by another run,"
        " 310 tokens/s, 12 min left"
    )
    for seconds, shown in [(0.4, "0 s"), (89, "89 s"), (5399, "1 h 30 min"), (7260, "2 h 1 min")]:
        words = progress_words(
            answered=1, cached=0, failed=0, again=0, elsewhere=0, tokens_per_s=None,
            seconds_left=seconds,
        )  # fmt: skip
        assert words == f"1 answered, 0 cached, 0 failed, {shown} left"


# ---- memory -------------------------------------------------------------------------------------

PEAK = """
import resource, sys
from pathlib import Path
from pipeline.language.asking import ask, results
from pipeline.language.ledger import Ledger
from tests.language.engines import RuleEngine, answer_to, request_about

count, folder = int(sys.argv[1]), Path(sys.argv[2])
def requests():
    return (request_about(f"item-{n}", f"{n} " + "long " * 400) for n in range(count))
rule = lambda r: answer_to(r, '{"say": "' + "word " * 200 + '"}')
with Ledger(folder) as ledger:
    ask(requests, total=count, ledger=ledger, engine=lambda: RuleEngine(rule), attempts=2,
        most_failed_share=0.1, desc="peak")
    assert sum(len(attempts) for _, attempts in results(requests(), ledger)) == count
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_does_not_grow_with_the_number_of_requests(tmp_path):
    peak_mb = {}
    for count in (1_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(count), str(tmp_path / str(count))],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        peak_mb[count] = float(done.stdout)
    # The prompts and answers of 99,000 more requests are 300 MB.
    assert peak_mb[100_000] < peak_mb[1_000] + 10, json.dumps(peak_mb)
