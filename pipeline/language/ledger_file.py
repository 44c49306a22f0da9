"""Open the ledger's SQLite file: make it, refuse what is none, word what goes wrong with it.

open_file(Path(".response_store/ledger.sqlite"))  ->  a connection to a file with our tables
open_file(Path("notes.sqlite"))  ->  SourceError: ... found another program's database; ...

A ledger of version 1, without checksums, is brought to version 2 when it is next opened to write:
its answers are taken as they are, and what was no answer (NO_ANSWER) goes.
"""

import contextlib
import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pipeline.errors import PipelineError, SourceError
from pipeline.language.checksums import checksum
from pipeline.language.requests import NO_ANSWER

VERSION = 2
# Marks the file as ours: "lbrl", language benchmark response ledger.
_APPLICATION = 0x6C62726C
# A row of 3 kB wastes a third of SQLite's usual page of 4 kB.
_PAGE_BYTES = 16384
_WAIT_S = 60.0

# What a row says, but for its text; the checksum's first half is of these.
HEAD = (
    "key, attempt, item_id, task, status, reason, finish_reason, engine, model, revision,"
    " prompt_tokens, output_tokens"
)
# The unique index of answers is what look-ups read; the text stands last, so that no look-up of
# another column reads it.
_ANSWERS = """CREATE TABLE answers (
        key TEXT NOT NULL, attempt INTEGER NOT NULL, item_id TEXT NOT NULL, task TEXT NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL, finish_reason TEXT NOT NULL,
        engine TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL,
        prompt_tokens INTEGER, output_tokens INTEGER, created_s REAL NOT NULL, seconds REAL,
        checksum BLOB NOT NULL, text BLOB NOT NULL, UNIQUE (key, attempt))"""
_RESERVED = """CREATE TABLE reserved (
        key TEXT NOT NULL PRIMARY KEY, run TEXT NOT NULL, until_s REAL NOT NULL) WITHOUT ROWID"""
_TABLES = (
    _ANSWERS,
    _RESERVED,
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
        db = _connected(str(file))
        try:
            _prepare(db, file)
        except BaseException:
            db.close()
            raise
        return db


@contextlib.contextmanager
def opened_to_read(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger's file that is there, and change nothing of it.

    A disk that cannot be written is no hindrance. What a writer has not brought into the file yet,
    and a ledger of an older version, are read from a copy that goes again.

    Raises:
        SourceError: It is no ledger, is damaged, or is of a newer version.
        PipelineError: It cannot be read.
    """
    with contextlib.ExitStack() as stack, clear_faults(file):
        aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-")), file.name)
        writable = os.access(file.parent, os.W_OK) and os.access(file, os.W_OK)
        log = file.with_name(f"{file.name}-wal")
        if not writable and log.exists() and log.stat().st_size:
            shutil.copyfile(file, aside)
            shutil.copyfile(log, aside.with_name(log.name))
            place = str(aside)
        else:
            # SQLite's own locks leave nothing behind; a file that nobody can write needs none.
            how = "mode=rw" if writable else "immutable=1"
            place = f"file:{quote(str(file.absolute()))}?{how}"
        db = stack.enter_context(contextlib.closing(_connected(place)))
        if _checked_version(db, file) < VERSION:
            new = stack.enter_context(contextlib.closing(_connected(str(aside))))
            db.backup(new)
            with transaction(new):
                _bring_up(new)
            db = new
        db.execute("PRAGMA query_only = 1")
        yield db


def _connected(place: str) -> sqlite3.Connection:
    """Connect to a file, or to a URI."""
    db = sqlite3.connect(
        place,
        timeout=_WAIT_S,
        isolation_level=None,
        # A model's engine may pull requests, and so look answers up, from a thread of its own.
        check_same_thread=False,
        uri=place.startswith("file:"),
    )
    # A damaged text is to be seen by its checksum, not to end the reading of all.
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _prepare(db: sqlite3.Connection, file: Path) -> None:
    """Make the tables in a new file; refuse a file that is not ours before touching it."""
    version = _checked_version(db, file)
    if not version:
        db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    db.execute("PRAGMA journal_mode = WAL")
    # In WAL mode a commit needs no flush of the disk to survive the end of the process.
    db.execute("PRAGMA synchronous = NORMAL")
    if version == VERSION:
        return
    with transaction(db):
        if version:
            _bring_up(db)
            return
        for table in _TABLES:
            db.execute(table)
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")


def _checked_version(db: sqlite3.Connection, file: Path) -> int:
    """Return the version of a ledger, 0 for a new file; refuse what is none or is newer."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    try:
        tables = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOTNULL")}
    except sqlite3.DatabaseError as fault:
        if not is_damage(fault):
            raise
        raise _no_ledger(file, f"'{fault}'") from fault
    if tables and application != _APPLICATION:
        raise _no_ledger(file, "another program's database")
    if version > VERSION:
        raise SourceError(
            f"{file}: expected a ledger of version {VERSION} or older, found version {version}; use"
            " a newer version of this project or name another folder (`ledger:` in params.yaml)"
        )
    if version == VERSION and tables != set(_TABLES):
        raise _no_ledger(file, "that the description of its tables is damaged")
    return version if tables else 0


def _bring_up(db: sqlite3.Connection) -> None:
    """Bring a ledger of version 1 to version 2, within a transaction."""
    db.create_function("checksum_of", -1, lambda *row: checksum(row[:-1], row[-1]))
    db.execute("ALTER TABLE answers RENAME TO answers_before")
    db.execute(_ANSWERS)
    db.execute(_RESERVED)
    none = ", ".join(f"'{status}'" for status in sorted(NO_ANSWER))
    db.execute(
        f"INSERT INTO answers SELECT {HEAD}, created_s, seconds, checksum_of({HEAD}, text), text"  # noqa: S608
        f" FROM answers_before WHERE status NOT IN ({none})"
    )
    db.execute("DROP TABLE answers_before")
    db.execute(f"PRAGMA user_version = {VERSION}")


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
        if kind == sqlite3.SQLITE_CORRUPT:
            raise SourceError(
                f"{file}: expected a sound file, found '{fault}'; run `python -m pipeline ledger"
                " verify` to see what is lost and `python -m pipeline ledger gc --damaged` to go on"
                " without it: what is dropped is asked again"
            ) from fault
        if kind in _DAMAGED:
            raise _no_ledger(file, f"'{fault}'") from fault
        if kind in _HELD:
            raise PipelineError(
                f"{file}: expected to have it within {_WAIT_S:.0f} s, found another process that"
                " keeps it; wait for that one or end it, then run again"
            ) from fault
        raise


def is_damage(fault: sqlite3.Error) -> bool:
    """Tell whether SQLite found the file damaged."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


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
