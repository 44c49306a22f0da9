"""One ledger, several runs: each request is asked once, and whoever may not write may read."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from pipeline.language import leases
from pipeline.language.asking import ask
from pipeline.language.leases import LEASE_S, this_run
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import export_answers, stats, verify
from tests.language.engines import RuleEngine, ToyServer, answer_to, requests_about, sound

ROOT = Path(__file__).resolve().parent.parent.parent
COUNT = 400
ASKER = """
import sys
from pathlib import Path
from pipeline.language.asking import ask
from pipeline.language.ledger import Ledger
from tests.language.engines import HttpEngine, requests_about

folder, host, port, count = sys.argv[1:]
engine = HttpEngine((host, int(port)), run="all", window=8)
with Ledger(Path(folder)) as ledger:
    summary = ask(lambda: iter(requests_about(int(count))), total=int(count), ledger=ledger,
                  engine=lambda: engine, attempts=3, most_failed_share=0.1, desc="shared")
print(summary.reused, summary.ok, summary.sent)
"""


def start(folder: Path, server: ToyServer) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, str(folder), *map(str, server.place), str(COUNT)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


# ---- asking -------------------------------------------------------------------------------------


def test_two_runs_at_once_ask_each_request_once_and_share_the_work(tmp_path):
    both = threading.Event()  # holds the answers back until both runs ask

    def gate(count: int) -> None:
        if count >= 16:
            both.set()
        both.wait(30)

    with ToyServer(gate) as server:
        runs = [start(tmp_path, server) for _ in range(2)]
        says = [run.communicate()[0].split() for run in runs]
        # Every seventh first answer is cut short and asked for once more.
        assert server.asked["all"] == COUNT + len(range(0, COUNT, 7))
    assert [int(reused) + int(ok) for reused, ok, _ in says] == [COUNT, COUNT]
    assert sum(int(sent) for *_, sent in says) == COUNT + len(range(0, COUNT, 7))
    assert all(int(ok) > 50 for _, ok, _ in says)


def test_what_a_killed_run_was_to_ask_is_asked_at_once_on_its_host(tmp_path):
    asked = threading.Event()
    with ToyServer(lambda count: asked.set() if count >= 50 else None) as server:
        killed = start(tmp_path, server)
        assert asked.wait(60)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        began_s = time.monotonic()
        says = start(tmp_path, server).communicate()[0].split()
    assert int(says[0]) + int(says[1]) == COUNT
    assert time.monotonic() - began_s < LEASE_S


def test_a_lease_of_another_host_ends_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 1.5)
    requests = requests_about(3)
    with Ledger(tmp_path) as ledger:
        _, mine = ledger.claim([requests[1].key], run="elsewhere 1 abc", attempts=3)
        assert mine == {requests[1].key}
        engine = RuleEngine()
        began_s = time.monotonic()
        summary = ask(
            lambda: iter(requests), total=3, ledger=ledger, engine=lambda: engine, attempts=3,
            most_failed_share=0.0, desc="toy",
        )  # fmt: skip
        assert time.monotonic() - began_s > 1.0
    assert (summary.ok, summary.sent) == (3, 3)
    assert engine.sent[-1] == ("item-000001", 1)


def test_a_lease_is_renewed_while_its_run_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 0.6)
    requests = requests_about(2)
    found = Counter[bool]()

    def slow(request):
        with Ledger(tmp_path) as other:
            for _ in range(10):
                time.sleep(0.2)
                found[other.reserved_elsewhere([request.key], "elsewhere 1 abc")] += 1
        return sound(request)

    with Ledger(tmp_path) as ledger:
        ask(
            lambda: iter(requests), total=2, ledger=ledger,
            engine=lambda: RuleEngine(slow, window=1), attempts=3, most_failed_share=0.0,
            desc="toy",
        )  # fmt: skip
        assert not ledger.reserved_elsewhere([r.key for r in requests], "elsewhere 1 abc")
    assert found == {True: 20}


def test_what_another_run_answers_meanwhile_is_reused(tmp_path):
    requests = requests_about(3)
    with Ledger(tmp_path) as ledger, Ledger(tmp_path) as other:
        run = this_run()
        other.claim([requests[1].key], run=run, attempts=3)

        def answer_soon() -> None:
            time.sleep(0.5)
            other.record([answer_to(requests[1], '{"say": "from afar"}')])
            other.release(run)

        thread = threading.Thread(target=answer_soon)
        thread.start()
        engine = RuleEngine()
        summary = ask(
            lambda: iter(requests), total=3, ledger=ledger, engine=lambda: engine, attempts=3,
            most_failed_share=0.0, desc="toy",
        )  # fmt: skip
        thread.join()
    assert (summary.reused, summary.ok, summary.sent, summary.total) == (1, 2, 2, 3)


def test_a_run_that_fails_lets_go_of_what_it_was_to_ask(tmp_path):
    requests = requests_about(300)
    with Ledger(tmp_path) as ledger, Ledger(tmp_path) as other:
        with pytest.raises(ZeroDivisionError):
            ask(
                lambda: iter(requests), total=300, ledger=ledger,
                engine=lambda: RuleEngine(lambda _: 1 / 0), attempts=3, most_failed_share=0.0,
                desc="toy",
            )  # fmt: skip
        assert not other.reserved_elsewhere([r.key for r in requests], "elsewhere 1 abc")


# ---- reading ------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {one.name: (one.stat().st_mtime_ns, one.read_bytes()) for one in folder.iterdir()}


def read_all(folder: Path, out: Path) -> list[str]:
    return [
        *stats(folder, as_json=False),
        *export_answers(folder, out / "out.parquet", task="annotate", model=None),
        *verify(folder),
    ]


@pytest.fixture
def store(tmp_path) -> Path:
    with Ledger(tmp_path / "store") as ledger:
        ledger.record([sound(request) for request in requests_about(20)])
    (tmp_path / "store/ledger.lock").unlink()
    return tmp_path / "store"


def test_reading_leaves_nothing_behind(store, tmp_path):
    before = contents(store)
    assert "20 answers" in " ".join(read_all(store, tmp_path))
    assert contents(store) == before


@pytest.mark.parametrize("unmerged", [False, True])
def test_a_disk_that_cannot_be_written_can_be_read(store, tmp_path, monkeypatch, unmerged):
    """With `unmerged`, as a copy of a ledger that a run has open."""
    if unmerged:
        shutil.rmtree(store)
        with Ledger(tmp_path / "open") as ledger:
            ledger.record([sound(request) for request in requests_about(20)])
            store.mkdir()
            for name in ("ledger.sqlite", "ledger.sqlite-wal"):
                shutil.copy(tmp_path / "open" / name, store)
        assert (store / "ledger.sqlite-wal").stat().st_size > 0
    store.chmod(0o555)
    real = os.access
    monkeypatch.setattr(  # root may write here all the same, on a disk that is read-only it may not
        os, "access", lambda path, mode: real(path, mode) and not Path(path).is_relative_to(store)
    )
    before = contents(store)
    assert "20 answers" in " ".join(read_all(store, tmp_path))
    assert contents(store) == before
    store.chmod(0o755)
