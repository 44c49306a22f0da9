"""The ledger keeps the first answer of every attempt whole, whoever writes and whatever happens."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pipeline.errors import ParameterError, PipelineError, SourceError
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_records import UNKNOWN, Forgotten, Held, Run, State
from tests.language.engines import MODEL, answer_to, request_about, requests_about, sound

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "store") as opened:
        yield opened


def attempts_at(item: str, *statuses: str):
    """Return answers to one request, with these statuses in turn."""
    return [
        answer_to(replace(request_about(item), attempt=number), f"text {number}", status=status)
        for number, status in enumerate(statuses, start=1)
    ]


def start(program: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def is_sound(folder: Path) -> bool:
    db = sqlite3.connect(folder / "ledger.sqlite")
    found = db.execute("PRAGMA integrity_check").fetchone()
    db.close()
    return found == ("ok",)


# ---- answers ------------------------------------------------------------------------------------


def test_an_answer_comes_back_whole_in_another_session(tmp_path):
    told = replace(
        sound(request_about("Straße \x00 中関村")),
        text='{"say": "a\x00b 👩‍🚀\u2028"}', reason="", prompt_tokens=None, output_tokens=0,
    )  # fmt: skip
    with Ledger(tmp_path) as ledger:
        assert ledger.record([told]) == 1
    with Ledger(tmp_path) as ledger:
        assert ledger.answers([told.key]) == {told.key: [told]}


def test_the_first_answer_of_an_attempt_stands(ledger):
    first = sound(request_about("a"))
    second = replace(first, text='{"say": "late"}')
    other = sound(request_about("b"))
    assert ledger.record([first]) == 1
    assert ledger.record([second, other]) == 1
    assert ledger.answers([first.key])[first.key] == [first]


def test_attempts_come_back_in_order_whenever_they_were_recorded(ledger):
    first, second, third = attempts_at("a", "empty", "malformed", "ok")
    ledger.record([third, first])
    ledger.record([second])
    assert ledger.answers([first.key])[first.key] == [first, second, third]


@pytest.mark.parametrize(
    ("statuses", "state", "ended"),
    [
        ([], UNKNOWN, False),
        (["ok"], State(1, 1, "ok", 2), True),
        (["malformed"], State(1, None, "malformed", 2), False),
        (["malformed", "ok"], State(2, 2, "ok", 3), True),
        (["ok", "ok"], State(2, 1, "ok", 3), True),
        (["ok", "malformed"], State(2, 1, "malformed", 3), True),
        (["empty"] * 3, State(3, None, "empty", 4), True),
        (["prompt_too_long"], State(1, None, "prompt_too_long", 2), True),
        # What a server failed to answer is no attempt: its number comes again, with its seed.
        (["timeout"] * 3, UNKNOWN, False),
        (["failed", "malformed", "timeout"], State(1, None, "malformed", 1), False),
        (["malformed", "failed", "malformed"], State(2, None, "malformed", 2), False),
    ],
)
def test_a_state_tells_attempts_answer_and_whether_to_ask_again(ledger, statuses, state, ended):
    ledger.record(attempts_at("a", *statuses))
    key = request_about("a").key
    assert ledger.states([key]) == {key: state}
    assert state.has_ended(3) == ended


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from(["ok", "malformed"])),
        max_size=20,
    )
)
@settings(max_examples=50, deadline=None)
def test_a_state_is_what_all_attempts_say(tmp_path_factory, rows):
    answers = [
        answer_to(replace(request_about(f"{item}"), attempt=attempt), "x", status=status)
        for item, attempt, status in rows
    ]
    first: dict = {}
    for answer in answers:
        first.setdefault((answer.key, answer.attempt), answer)
    with Ledger(tmp_path_factory.mktemp("store")) as ledger:
        assert sum(ledger.record([answer]) for answer in answers) == len(first)
        for key, state in ledger.states({answer.key for answer in answers}).items():
            attempts = {n: answer.status for (k, n), answer in first.items() if k == key}
            good = [n for n, status in attempts.items() if status == "ok"]
            following = min({1, 2, 3, 4, 5} - attempts.keys())
            assert state == (
                len(attempts), min(good, default=None), attempts[max(attempts)], following,
            )  # fmt: skip


def test_more_keys_than_sqlite_takes_values_are_looked_up_in_one_go(ledger):
    answers = [sound(request) for request in requests_about(40_000)]
    ledger.record(answers)
    keys = [answer.key for answer in answers] + [f"{n:064x}" for n in range(40_000)]
    states = ledger.states(keys)
    assert list(states) == keys
    assert sum(state.ok == 1 for state in states.values()) == 40_000
    assert sum(map(len, ledger.answers(iter(keys)).values())) == 40_000


def test_nothing_asked_is_nothing_found(ledger):
    assert ledger.record([]) == 0
    assert (ledger.states([]), ledger.answers([])) == ({}, {})
    assert list(ledger.stored()) == []
    assert ledger.held() == []


def test_stored_answers_are_sorted_and_can_be_picked_by_task_and_model(ledger):
    answers = [sound(request) for request in requests_about(2500)]
    answers[7] = replace(answers[7], task="narrate")
    answers[8] = replace(answers[8], model=replace(MODEL, model="other"))
    ledger.record(answers)
    stored = [answer for batch in ledger.stored() for answer in batch]
    assert stored == sorted(answers, key=lambda answer: (answer.key, answer.attempt))
    assert [a for batch in ledger.stored(task="narrate") for a in batch] == [answers[7]]
    assert [a for batch in ledger.stored(model="other") for a in batch] == [answers[8]]
    assert list(ledger.stored(task="narrate", model="other")) == []


# ---- housekeeping -------------------------------------------------------------------------------


def test_what_is_held_is_counted_by_task_model_and_revision(ledger):
    newer = replace(MODEL, revision="2")
    untold = replace(
        sound(request_about("c")), model=newer, prompt_tokens=None, output_tokens=None, text="{}"
    )
    ledger.record([*attempts_at("a", "empty", "malformed", "ok"), *attempts_at("b", "empty")])
    ledger.record([untold])
    assert ledger.held() == [
        Held("annotate", "openai", "toy", "1", 2, 4, 40, 8, 24, 1, {"empty": 2, "malformed": 1}),
        Held("annotate", "openai", "toy", "2", 1, 1, None, None, 2, 1, {}),
    ]


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("keep", "failed", "forgotten", "left"),
    [
        (None, False, Forgotten(0, 0), "aabc"),
        (None, True, Forgotten(1, 6), "aac"),
        ("ab", False, Forgotten(1, 6), "aab"),
        ("ab", True, Forgotten(2, 12), "aa"),
        ("", False, Forgotten(4, 24), ""),
    ],
)
def test_what_is_not_to_be_kept_is_forgotten(ledger, keep, failed, forgotten, left, dry_run):
    ledger.record(
        [*attempts_at("a", "empty", "ok"), *attempts_at("b", "empty"), *attempts_at("c", "ok")]
    )
    keys = None if keep is None else {request_about(item).key for item in keep}
    assert ledger.forget(keep=keys, failed=failed, dry_run=dry_run) == forgotten
    stored = sorted(answer.item_id for batch in ledger.stored() for answer in batch)
    assert "".join(stored) == ("aabc" if dry_run else left)


def test_forgetting_gives_room_back(ledger):
    ledger.record([replace(sound(r), text="x" * 3000) for r in requests_about(1000)])
    ledger.forget(keep=set(), failed=False, dry_run=False)
    assert ledger.file.stat().st_size < 200_000


# ---- models -------------------------------------------------------------------------------------


def test_a_revision_whose_weights_were_swapped_is_refused(ledger):
    ledger.remember_model("toy", "1", fingerprint="aaaaaaaaaaaaaa")
    ledger.remember_model("toy", "1", fingerprint="aaaaaaaaaaaaaa")
    ledger.remember_model("toy", "2", fingerprint="bbbbbbbbbbbbbb")
    with pytest.raises(ParameterError, match=r"toy, revision 1: .* found bbbbbbbbbbbb; name a new"):
        ledger.remember_model("toy", "1", fingerprint="bbbbbbbbbbbbbb")


def test_throughput_is_tokens_over_time_of_all_runs_of_a_task_and_model(ledger):
    def run(**changes):
        return Run("annotate", MODEL, 9, 8, 1, 900, 100, 10.0)._replace(**changes)

    ledger.record_run(run())
    ledger.record_run(run(model=replace(MODEL, revision="2"), output_tokens=500))
    ledger.record_run(run(output_tokens=None, prompt_tokens=None, seconds=99.0))
    ledger.record_run(run(task="narrate", output_tokens=7))
    ledger.record_run(run(model=replace(MODEL, engine="vllm"), output_tokens=7))
    assert ledger.throughput("annotate", MODEL) == 30.0
    assert ledger.throughput("annotate", replace(MODEL, model="other")) is None


# ---- faults of the set-up -----------------------------------------------------------------------


def fault_of(folder: Path, kind: type[PipelineError]) -> str:
    with pytest.raises(kind) as fault, Ledger(folder):
        pass
    assert "\n" not in str(fault.value)
    return str(fault.value)


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "ledger.sqlite"
    file.write_text("notes of mine, longer than a header of SQLite " * 4)
    assert "expected a response ledger, found 'file is not a database'" in fault_of(
        tmp_path, SourceError
    )
    assert file.read_text().startswith("notes of mine")


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    db = sqlite3.connect(tmp_path / "ledger.sqlite")
    db.execute("CREATE TABLE photos (id)")
    db.close()
    before = (tmp_path / "ledger.sqlite").read_bytes()
    assert "found another program's database" in fault_of(tmp_path, SourceError)
    assert (tmp_path / "ledger.sqlite").read_bytes() == before


def test_a_ledger_of_a_newer_version_is_refused(tmp_path):
    with Ledger(tmp_path) as ledger:
        file = ledger.file
    db = sqlite3.connect(file)
    db.execute("PRAGMA user_version = 3")
    db.close()
    assert "expected a ledger of version 2 or older, found version 3" in fault_of(
        tmp_path, SourceError
    )


def test_a_damaged_ledger_is_one_clear_error(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.record([replace(sound(r), text="x" * 3000) for r in requests_about(100)])
        file = ledger.file
    with file.open("r+b") as raw:
        raw.seek(16384)
        raw.write(b"\xff" * 200_000)
    fault = pytest.raises(SourceError, match=r"expected a sound file, found .*gc --damaged")
    with fault, Ledger(tmp_path) as ledger:
        ledger.answers([request.key for request in requests_about(100)])


@pytest.mark.parametrize("folder", ["file/store", "/proc/store"])
def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path, folder):
    (tmp_path / "file").write_text("a file is no folder")
    message = fault_of(tmp_path / folder, PipelineError)
    assert "expected to write, found" in message
    assert "`ledger:` in params.yaml" in message


FULL = """
import resource, sys
from pathlib import Path
from pipeline.errors import PipelineError
from pipeline.language.ledger import Ledger
from tests.language.engines import requests_about, sound

with Ledger(Path(sys.argv[1])) as ledger:
    answers = [sound(request) for request in requests_about(20_000)]
    ledger.record(answers[:100])
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
    try:
        ledger.record(answers)
    except PipelineError as fault:
        print(fault)
"""


def test_a_full_disk_is_one_clear_error_and_costs_no_answer(tmp_path):
    with start(FULL, tmp_path) as process:
        told, wrong = process.communicate()
    assert wrong == ""
    assert "ledger.sqlite: expected to write, found" in told
    assert "what was recorded stays" in told
    with Ledger(tmp_path) as ledger:
        assert sum(map(len, ledger.stored())) == 100
    assert is_sound(tmp_path)


# ---- processes ----------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from pipeline.language.ledger import Ledger
from tests.language.engines import requests_about, sound

answers = [sound(request) for request in requests_about(20_000)]
with Ledger(Path(sys.argv[1])) as ledger:
    for start in range(0, len(answers), 100):
        ledger.record(answers[start : start + 100])
        print(start + 100, flush=True)
"""


@pytest.mark.parametrize("batches", [1, 7, 60])
def test_a_writer_that_is_killed_leaves_whole_batches_and_a_sound_file(tmp_path, batches):
    with start(WRITER, tmp_path) as process:
        for _ in range(batches):
            told = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)  # somewhere in a later batch
    assert process.returncode == -signal.SIGKILL
    with Ledger(tmp_path) as ledger:
        rows = sum(map(len, ledger.stored()))
        assert rows >= told
        assert rows % 100 == 0
        ledger.record([sound(request_about("after"))])
    assert is_sound(tmp_path)


ASKER = """
import sys
from dataclasses import dataclass
from pathlib import Path
from pipeline.language.asking import ask
from pipeline.language.ledger import Ledger
from tests.language.engines import RuleEngine, answer_to, requests_about

folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def rule(request):
    wrong = request.attempt == 1 and request.item_id.endswith("7")
    return answer_to(request, "Sure!" if wrong else '{"say": "%s"}' % name)

print("ready", flush=True)
sys.stdin.readline()
with Ledger(folder) as ledger:
    summary = ask(lambda: iter(requests_about(count)), total=count, ledger=ledger,
                  engine=lambda: RuleEngine(rule), attempts=3, most_failed_share=0.5, desc=name)
    print(summary.total, summary.reused + summary.ok, sum(summary.failed.values()))
"""


def test_two_processes_that_ask_the_same_at_once_share_one_sound_ledger(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ASKER, str(tmp_path), name, "500"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        told, wrong = process.communicate()
        assert told == "500 500 0\n", wrong
    with Ledger(tmp_path) as ledger:
        attempts = ledger.answers(request.key for request in requests_about(500))
    assert is_sound(tmp_path)
    for answers in attempts.values():
        wrong = answers[0].item_id.endswith("7")
        assert [answer.status for answer in answers] == (["malformed", "ok"] if wrong else ["ok"])
