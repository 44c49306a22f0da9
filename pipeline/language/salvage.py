"""Read all of a ledger, and what is left of one that is damaged.

    for row in all_rows(db, file): ...
      ->  a row of HEAD, checksum, text and times as it was recorded, sorted by key and attempt; or
          Damaged("5f0c...", "1626278", 1) where it is not, or cannot be read

In a sound file the index gives the order. In a damaged one each row is looked for by its number, in
the table and in the index, so that a page that is lost takes nothing with it but its own rows.
"""

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from pipeline.language.checksums import Damaged, is_sound
from pipeline.language.ledger_file import HEAD, clear_faults, is_damage, open_file, transaction

Row = tuple[Any, ...]
_COLUMNS = f"{HEAD}, checksum, text, created_s, seconds"
_WIDTH = len(HEAD.split(", "))
_KEY, _ATTEMPT, _ITEM = 0, 1, 2
_BY_INDEX = "answers INDEXED BY sqlite_autoindex_answers_1"


def row_is_sound(row: Row) -> bool:
    """Tell whether a row is what was recorded: HEAD, checksum, and the text or None."""
    return is_sound(row[:_WIDTH], row[_WIDTH + 1], row[_WIDTH])


def damage_of(row: Row) -> Damaged:
    """Return what names a row that is not what was recorded."""
    key, item = (_printable(row[place]) for place in (_KEY, _ITEM))
    attempt = row[_ATTEMPT] if isinstance(row[_ATTEMPT], int) else 0
    return Damaged(key, item, attempt)


def all_rows(db: sqlite3.Connection, file: Path) -> Iterator[Row | Damaged]:
    """Yield every row, sorted by key and attempt; what is damaged may come last."""
    if not _is_whole(db, file):
        yield from _salvaged(db)
        return
    with clear_faults(file):
        for row in db.execute(f"SELECT {_COLUMNS} FROM answers ORDER BY key, attempt"):  # noqa: S608
            yield row if row_is_sound(row) else damage_of(row)


def mended(db: sqlite3.Connection, file: Path) -> list[Damaged]:
    """Write a ledger anew from what is sound of it, if anything is not; returns what is dropped.

    It changes all at once: other processes see the old content or the new.
    """
    damaged: list[Damaged] = []
    with (
        tempfile.TemporaryDirectory(dir=file.parent, prefix="mended-") as folder,
        clear_faults(file),
        closing(open_file(Path(folder, file.name))) as new,
    ):
        with transaction(new):
            for row in all_rows(db, file):
                if isinstance(row, Damaged):
                    damaged.append(row)
                else:
                    _insert(new, "answers", (*row[:_WIDTH], *row[-2:], *row[_WIDTH : _WIDTH + 2]))
            for table in ("runs", "fingerprints"):
                for row in _until_damage(db, f"SELECT * FROM {table}"):  # noqa: S608
                    _insert(new, table, row)
        if damaged or not _is_whole(db, file):
            new.backup(db)
    return damaged


def _insert(db: sqlite3.Connection, table: str, row: Row) -> None:
    db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608


def _is_whole(db: sqlite3.Connection, file: Path) -> bool:
    """Tell whether every page and every entry of the index is in its place."""
    with clear_faults(file):
        return list(_until_damage(db, "PRAGMA integrity_check(1)")) == [("ok",)]


def _salvaged(db: sqlite3.Connection) -> Iterator[Row | Damaged]:
    sound: dict[tuple[str, int], int] = {}
    damaged: list[Damaged] = []
    named = _named_by_index(db)
    for number in sorted(named.keys() | set(_numbers(db))):
        row = _row(db, number)
        if row is None:
            key, attempt = named.get(number, ("", 0))
            damaged.append(Damaged(_printable(key), "", attempt))
        elif row_is_sound(row):
            sound.setdefault((row[_KEY], row[_ATTEMPT]), number)
        else:
            damaged.append(damage_of(row))
    for _, number in sorted(sound.items()):
        again = _row(db, number)
        if again is not None:
            yield again
    yield from (one for one in damaged if (one.key, one.attempt) not in sound)


def _named_by_index(db: sqlite3.Connection) -> dict[int, tuple[str, int]]:
    """Return key and attempt of each row's number, as far as the index can be read."""
    named: dict[Any, tuple[str, int]] = {}
    for way in ("ASC", "DESC"):  # from both ends as far as the damage
        query = f"SELECT rowid, key, attempt FROM {_BY_INDEX} ORDER BY key {way}, attempt {way}"  # noqa: S608
        rows = _until_damage(db, query)
        named |= {number: (key, attempt) for number, key, attempt in rows}
    return {number: name for number, name in named.items() if isinstance(number, int)}


def _numbers(db: sqlite3.Connection) -> Iterable[int]:
    """Return the numbers that rows of the table have, or may have where it cannot be read."""
    ways = []
    for way in ("ASC", "DESC"):
        query = f"SELECT rowid FROM answers NOT INDEXED ORDER BY rowid {way}"  # noqa: S608
        ways.append([number for (number,) in _until_damage(db, query)])
    up, down = ways
    between = range(up[-1], down[-1]) if up and down else ()
    readable = (number for number in between if _row(db, number) is not None)
    return {*up, *down, *readable}


def _row(db: sqlite3.Connection, number: int) -> Row | None:
    """Return the row with a number; None where there is none or it cannot be read."""
    query = f"SELECT {_COLUMNS} FROM answers NOT INDEXED WHERE rowid = ?"  # noqa: S608
    return next(_until_damage(db, query, number), None)


def _until_damage(db: sqlite3.Connection, query: str, *values: int) -> Iterator[Row]:
    """Yield the rows of a query until there are no more or the file is damaged."""
    try:
        yield from db.execute(query, values)
    except sqlite3.DatabaseError as fault:
        if not is_damage(fault):
            raise


def _printable(value: Any) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in str(value))
