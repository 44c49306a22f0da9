"""A run that is killed costs only what was on its way: the next run asks for the rest."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pipeline.language.asking import results
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import responses_frame
from tests.language.engines import ToyServer, requests_about

ROOT = Path(__file__).resolve().parent.parent.parent
COUNT, WINDOW = 400, 8
# The server cuts every seventh first answer short; each is asked once more.
ATTEMPTS = COUNT + len(range(0, COUNT, 7))
ASKER = """
import sys
from pathlib import Path
from pipeline.language.asking import ask
from pipeline.language.ledger import Ledger
from tests.language.engines import HttpEngine, requests_about

folder, host, port, run, count, window = sys.argv[1:]
engine = HttpEngine((host, int(port)), run=run, window=int(window))
with Ledger(Path(folder)) as ledger:
    summary = ask(lambda: iter(requests_about(int(count))), total=int(count), ledger=ledger,
                  engine=lambda: engine, attempts=3, most_failed_share=0.1, desc=run)
assert (summary.reused + summary.ok, summary.failed) == (int(count), {})
"""


def start(folder: Path, server: ToyServer, run: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, str(folder), *map(str, server.place), run, str(COUNT),
         str(WINDOW)],
        cwd=ROOT,
    )  # fmt: skip


def rows_of(folder: Path) -> int:
    with Ledger(folder) as ledger:
        return sum(map(len, ledger.stored()))


def written(folder: Path, file: Path) -> bytes:
    """Write the outcome of all requests as a stage would, and return the file's bytes."""
    with Ledger(folder) as ledger:
        answers = [
            a for _, attempts in results(iter(requests_about(COUNT)), ledger) for a in attempts
        ]
    responses_frame(answers).write_parquet(file)
    return file.read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    with ToyServer() as server:
        assert start(folder / "store", server, "only").wait() == 0
        assert server.asked["only"] == ATTEMPTS == rows_of(folder / "store")
    return written(folder / "store", folder / "out.parquet")


@pytest.mark.parametrize("seed", range(4))
def test_killed_runs_and_the_last_one_send_each_attempt_once_but_for_those_on_their_way(
    tmp_path, undisturbed, seed
):
    moments = sorted(random.Random(seed).sample(range(2, ATTEMPTS - WINDOW), 2))
    reached = [threading.Event() for _ in moments]

    def gate(count: int) -> None:
        for moment, event in zip(moments, reached, strict=True):
            if count >= moment:
                event.set()

    with ToyServer(gate) as server:
        kept: list[int] = []
        for number, event in enumerate(reached):
            before = rows_of(tmp_path / "store")
            process = start(tmp_path / "store", server, f"killed {number}")
            assert event.wait(60)
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            kept.append(rows_of(tmp_path / "store") - before)
        before = rows_of(tmp_path / "store")
        assert start(tmp_path / "store", server, "last").wait() == 0
        assert rows_of(tmp_path / "store") == ATTEMPTS
        assert server.asked["last"] == ATTEMPTS - before
        on_their_way = [server.asked[f"killed {number}"] - rows for number, rows in enumerate(kept)]
        assert all(0 <= count <= WINDOW for count in on_their_way)
        assert server.asked.total() == ATTEMPTS + sum(on_their_way)
    assert written(tmp_path / "store", tmp_path / "out.parquet") == undisturbed
