"""Open the ledger's SQLite file: make it, refuse what is none, word what goes wrong with it.

open_file(Path(".response_store/ledger.sqlite"))  ->  a connection to a file with our tables
open_file(Path("notes.sqlite"))  ->  SourceError: ... found another program's database; ...
"""

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import PipelineError, SourceError

VERSION = 1
# Marks the file as ours: "lbrl", language benchmark response ledger.
_APPLICATION = 0x6C62726C
# A row of 3 kB wastes a third of SQLite's usual page of 4 kB.
_PAGE_BYTES = 16384
_WAIT_S = 60.0

# The unique index of answers is what look-ups read; the text stands last, so that no look-up of
# another column reads it.
_TABLES = (
    """CREATE TABLE answers (
        key TEXT NOT NULL, attempt INTEGER NOT NULL, item_id TEXT NOT NULL, task TEXT NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL, finish_reason TEXT NOT NULL,
        engine TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL,
        prompt_tokens INTEGER, output_tokens INTEGER, created_s REAL NOT NULL, seconds REAL,
        text BLOB NOT NULL, UNIQUE (key, attempt))""",
    """CREATE TABLE runs (
        created_s REAL NOT NULL, task TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL,
        revision TEXT NOT NULL, sent INTEGER NOT NULL, ok INTEGER NOT NULL, failed INTEGER NOT NULL,
        prompt_tokens INTEGER, output_tokens INTEGER, seconds REAL NOT NULL)""",
    """CREATE TABLE fingerprints (
        model TEXT NOT NULL, revision TEXT NOT NULL, fingerprint TEXT NOT NULL,
        PRIMARY KEY (model, revision))""",
)
_UNWRITABLE = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
_DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_HELD = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def open_file(file: Path) -> sqlite3.Connection:
    """Open a ledger's file, and make it and its folder if there is none.

    Raises:
        SourceError: It is no ledger, is damaged, or is of a newer version.
        PipelineError: It cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.with_suffix(".lock").open("a")
    except OSError as fault:
        raise _unwritable(file, fault.strerror) from fault
    with lock, clear_faults(file):
        # Two that make one file at once do not wait for each other: SQLite refuses the second.
        fcntl.flock(lock, fcntl.LOCK_EX)
        # A model's engine may pull requests, and so look answers up, from a thread of its own.
        db = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, file)
        except BaseException:
            db.close()
            raise
        return db


def _prepare(db: sqlite3.Connection, file: Path) -> None:
    """Make the tables in a new file; refuse a file that is not ours before touching it."""
    application, version, tables = _header(db)
    if tables and application != _APPLICATION:
        raise _no_ledger(file, "another program's database")
    if version > VERSION:
        raise SourceError(
            f"{file}: expected a ledger of version {VERSION} or older, found version {version}; use"
            " a newer version of this project or name another folder (`ledger:` in params.yaml)"
        )
    if not tables:
        db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    db.execute("PRAGMA journal_mode = WAL")
    # In WAL mode a commit needs no flush of the disk to survive the end of the process.
    db.execute("PRAGMA synchronous = NORMAL")
    if not tables:
        with transaction(db):
            for table in _TABLES:
                db.execute(table)
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")


def _header(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Return application id, version, and number of tables and indexes."""
    return (
        db.execute("PRAGMA application_id").fetchone()[0],
        db.execute("PRAGMA user_version").fetchone()[0],
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0],
    )


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do all of it or nothing."""
    # Immediate: a lock that is asked for later, in the middle, is refused without waiting.
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def clear_faults(file: Path) -> Iterator[None]:
    """Turn SQLite's faults of the set-up into one line; its other faults are mistakes of ours."""
    try:
        yield
    except sqlite3.Error as fault:
        kind = getattr(fault, "sqlite_errorcode", 0) & 0xFF  # the rest of it is detail
        if kind in _UNWRITABLE:
            raise _unwritable(file, str(fault)) from fault
        if kind in _DAMAGED:
            raise _no_ledger(file, f"'{fault}'") from fault
        if kind in _HELD:
            raise PipelineError(
                f"{file}: expected to have it within {_WAIT_S:.0f} s, found another process that"
                " keeps it; wait for that one or end it, then run again"
            ) from fault
        raise


def _unwritable(file: Path, found: str | None) -> PipelineError:
    return PipelineError(
        f"{file}: expected to write, found '{found}'; free space, mend permissions or name another"
        " folder (`ledger:` in params.yaml) and run again: what was recorded stays"
    )


def _no_ledger(file: Path, found: str) -> SourceError:
    return SourceError(
        f"{file}: expected a response ledger, found {found}; move the file away, and bring back"
        " what was exported with `python -m pipeline ledger import`"
    )
