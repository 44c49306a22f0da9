"""Who asks what: keys that one run has reserved, so that no other run of the same ledger asks them.

    run = this_run()                                          ->  "host 4711 5f0c2a9e"
    reserve(db, ["5f0c...", "77aa..."], run, now_s=0.0)       ->  {"5f0c..."}: another has 77aa...
    reserved_elsewhere(db, ["77aa..."], "host 4712 ...", now_s=1.0)  ->  True

A run renews its leases as long as it lives. After a crash they end by themselves within LEASE_S, at
once where the process is seen to be gone (same host). Which run asks decides nothing about an
answer, so a lease that is lost costs a request that is sent twice and nothing else.
"""

import os
import socket
import sqlite3
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

import msgspec

from pipeline.errors import PipelineError

# How long a lease outlives a run that died, seconds.
LEASE_S = 60.0
_IN = "key IN (SELECT value FROM json_each(?))"


def this_run() -> str:
    """Return a name for a run: its host, its process, and what tells it from others there."""
    return f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex[:8]}"


def reserve(db: sqlite3.Connection, keys: Collection[str], run: str, *, now_s: float) -> set[str]:
    """Reserve keys, within a transaction; returns those that are this run's now."""
    _end_leases(db, now_s)
    asked = _json(keys)
    db.execute(
        "INSERT OR IGNORE INTO reserved SELECT value, ?, ? FROM json_each(?)",
        (run, now_s + LEASE_S, asked),
    )
    rows = db.execute(f"SELECT key FROM reserved WHERE run = ? AND {_IN}", (run, asked))  # noqa: S608
    return {key for (key,) in rows}


def renew(db: sqlite3.Connection, run: str, *, now_s: float) -> None:
    """Let a run's leases last from now on."""
    db.execute("UPDATE reserved SET until_s = ? WHERE run = ?", (now_s + LEASE_S, run))


def release(db: sqlite3.Connection, run: str) -> None:
    """End all leases of a run."""
    db.execute("DELETE FROM reserved WHERE run = ?", (run,))


def end_leases_of(db: sqlite3.Connection, keys: Collection[str]) -> None:
    """End the leases of keys that were answered, whoever holds them."""
    db.execute(f"DELETE FROM reserved WHERE {_IN}", (_json(keys),))  # noqa: S608


def reserved_elsewhere(
    db: sqlite3.Connection, keys: Collection[str], run: str, *, now_s: float
) -> bool:
    """Tell whether another run that lives holds any of these keys; within a transaction."""
    _end_leases(db, now_s)
    (count,) = db.execute(
        f"SELECT count(*) FROM reserved WHERE run != ? AND {_IN}",  # noqa: S608
        (run, _json(keys)),
    ).fetchone()
    return bool(count)


@contextmanager
def renewed(renew_now: Callable[[], None]) -> Iterator[None]:
    """Call a function three times a lease, from a thread of its own, until the block is left."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(LEASE_S / 3):
            with suppress(PipelineError):  # a lease that ends is no fault, and the next beat comes
                renew_now()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _end_leases(db: sqlite3.Connection, now_s: float) -> None:
    """Drop leases that have run out, and those of processes of this host that are gone."""
    db.execute("DELETE FROM reserved WHERE until_s < ?", (now_s,))
    for (run,) in db.execute("SELECT DISTINCT run FROM reserved").fetchall():
        if _is_gone(run):
            release(db, run)


def _is_gone(run: str) -> bool:
    host, pid, *_ = run.split(" ")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, as somebody else's
        return False
    return False


def _json(keys: Collection[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()
