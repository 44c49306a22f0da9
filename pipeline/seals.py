"""Checksums in our Parquet files: a changed byte is found, and so is a shard that is gone.

    seal(file)                          once it is written: puts the checksums into it
    check_seal(file, remedy="...")      SourceError if any byte of it has changed since
    sound_files(Path("data/monaco/matched"), remedy="...")
    ->  its shards, each compared; SourceError if one is missing that the others list

Parquet's own page checksums cover the pages, but neither their headers nor the footer. So between
the last page and the footer, where readers never look, lies one record more:

    PAR1 | pages | {"body": 27, "footer": 99, "shards": {...}} SEAL length crc | footer | PAR1

CRC-32 finds every changed byte, and every run of them up to four bytes long; longer damage escapes
it once in 4e9. `shards` lists the files of a folder with their rows, so any of them names the
others. A file without a record (of another program or an older version) is read as it is, unless
its footer says that it must have one.
"""

import json
import mmap
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pipeline.errors import SourceError

# Key of a footer's metadata that says: this file has a seal.
MARK = {"pipeline.sealed": "crc32"}
_MAGIC, _TAIL = b"PAR1", 8  # a Parquet file ends with the footer's length and its magic letters
_END = re.compile(rb"SEAL([0-9a-f]{8})([0-9a-f]{8})")  # length of the record, CRC-32 of the record
_END_BYTES = 20
_CHUNK = 1 << 20
_NO_END = "no end of a Parquet file (cut short, or its last bytes changed)"


class Seal(NamedTuple):
    """The checksums of a file.

    Attributes:
        start: Where the record begins, which is where the pages end.
        body: CRC-32 of all bytes before it.
        footer: CRC-32 of all bytes after it.
        shards: Rows of each file of the folder, by name; None where the file is no shard.
    """

    start: int
    body: int
    footer: int
    shards: dict[str, int] | None


class _DamagedError(Exception):
    """A file is not as it was written; says how."""


def seal(file: Path, shards: Mapping[str, int] | None = None) -> None:
    """Put the checksums into a Parquet file that was just written; the same file, the same bytes.

    Args:
        file: A file nobody reads yet.
        shards: Rows of each file of its folder, by name, itself included; None = it is no shard.
    """
    with file.open("r+b") as opened:
        begin = _footer_start(opened)
        assert begin is not None, file  # noqa: S101 - our own writer made it
        footer = _bytes_at(opened, begin)
        old = _seal_before(opened, begin)
        start = old.start if old else begin
        body = old.body if old else _crc(opened, start)
        record = {"body": body, "footer": zlib.crc32(footer)}
        text = json.dumps(record | ({} if shards is None else {"shards": dict(shards)})).encode()
        opened.seek(start)
        opened.write(text + b"SEAL%08x%08x" % (len(text), zlib.crc32(text)) + footer)
        opened.truncate()


def check_seal(file: Path, *, remedy: str, body: bool = True) -> None:
    """Compare a Parquet file with its checksums.

    Args:
        file: A file; one without checksums, or of another kind, passes.
        remedy: What to do about a damaged one, for the message.
        body: False = only the footer, where no more of it is read.

    Raises:
        SourceError: A byte has changed since it was written, or it cannot be opened.
    """
    try:
        with file.open("rb") as opened:
            _compare(opened, body=body)
    except _DamagedError as fault:
        raise SourceError(
            f"{file}: expected the bytes that were written, found {fault}: the file is damaged;"
            f" {remedy}"
        ) from None
    except OSError as fault:
        raise SourceError(
            f"{file}: expected a Parquet file, found '{fault.strerror}'; {remedy}"
        ) from fault


def _compare(opened: BinaryIO, *, body: bool) -> None:
    found = _seal_of(opened)
    if found is not None and body and _crc(opened, found.start) != found.body:
        raise _DamagedError("other bytes")


def shards_in(table: Path, *, remedy: str) -> list[Path]:
    """Return the Parquet files of a table, sorted: those of a folder, or the one file itself.

    Their pages are not looked at: `check_seal` does, as each is read.

    Raises:
        SourceError: A shard is missing that the others list, or one is there that they do not, or
            has other rows: they are of two runs.
    """
    if not table.is_dir():
        return [table]
    faults = list(shard_faults(table, remedy=remedy).values())
    if faults:
        raise SourceError(faults[0], more="\n".join(faults[1:]))
    return sorted(table.glob("*.parquet"))


def shard_faults(table: Path, *, remedy: str) -> dict[Path, str]:
    """Return a message on each shard that `shards_in` would raise for; none where all is well.

    Args:
        table: The folder.
        remedy: What to do about it, for the messages.
    """
    faults: dict[Path, str] = {}
    lists: dict[Path, dict[str, int] | None] = {}
    for file in sorted(table.glob("*.parquet")):
        try:
            lists[file] = _listed(file, remedy)
        except SourceError as fault:
            faults[file] = str(fault)
    for file, listed in lists.items():
        for name, rows in (listed or {}).items():
            other = table / name
            if other not in lists and other not in faults:
                faults[other] = (
                    f"{other}: expected this shard of {rows:,} rows, which {file.name} lists, found"
                    f" nothing; {remedy}"
                )
            elif lists.get(other, listed) != listed:
                faults.setdefault(
                    other,
                    f"{other}: expected a shard of the same run as {file.name}, found one of"
                    f" another; {remedy}",
                )
        if listed is not None and file.name not in listed:
            faults.setdefault(
                file,
                f"{file}: expected the shards {', '.join(listed)}, found one more; {remedy}",
            )
    unlisted = [file for file, listed in lists.items() if listed is None]
    if len(unlisted) < len(lists):
        for file in unlisted:
            faults.setdefault(
                file,
                f"{file}: expected a shard of the same run as the others, found one that lists none"
                f" of them; {remedy}",
            )
    return faults


def sound_files(table: Path, *, remedy: str) -> list[Path]:
    """Return the files as `shards_in` does, each compared with its checksums.

    For readers that look at no checksums themselves, as Polars does.

    Raises:
        SourceError: As `shards_in` and `check_seal`.
    """
    files = shards_in(table, remedy=remedy)
    for file in files:
        check_seal(file, remedy=remedy)
    return files


def _listed(file: Path, remedy: str) -> dict[str, int] | None:
    check_seal(file, remedy=remedy, body=False)
    with file.open("rb") as opened:
        found = _seal_of(opened)
    return found.shards if found else None


def _seal_of(opened: BinaryIO) -> Seal | None:
    """Return the seal of a file, its footer compared; None where it needs none."""
    begin = _footer_start(opened)
    if begin is None:
        if _begins_as_parquet(opened):
            raise _DamagedError(_NO_END)
        return None
    found = _seal_before(opened, begin)
    if found is None:
        if _is_marked(opened):
            raise _DamagedError(f"no checksum before the footer, or {_NO_END}")
        return None
    if zlib.crc32(_bytes_at(opened, begin)) != found.footer:
        raise _DamagedError("another footer")
    return found


def _begins_as_parquet(opened: BinaryIO) -> bool:
    opened.seek(0)
    return opened.read(len(_MAGIC)) in (_MAGIC, b"")


def _is_marked(opened: BinaryIO) -> bool:
    """Tell whether a file says that it has a seal, wherever its footer may begin."""
    with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return any(whole.rfind(key.encode()) >= 0 for key in MARK)


def _footer_start(opened: BinaryIO) -> int | None:
    """Return where the footer of a Parquet file begins; None where it has no end of one."""
    size = opened.seek(0, 2)
    if size < 2 * len(_MAGIC) + _TAIL:
        return None
    tail = _bytes_at(opened, size - _TAIL)
    begin = size - _TAIL - int.from_bytes(tail[:4], "little")
    return begin if tail[4:] == _MAGIC and begin >= len(_MAGIC) else None


def _seal_before(opened: BinaryIO, begin: int) -> Seal | None:
    if begin < _END_BYTES:
        return None
    opened.seek(begin - _END_BYTES)
    end = _END.fullmatch(opened.read(_END_BYTES))
    if end is None:
        return None
    length, crc = (int(part, 16) for part in end.groups())
    start = begin - _END_BYTES - length
    if start < 0:
        raise _DamagedError("a broken checksum")
    opened.seek(start)
    text = opened.read(length)
    if zlib.crc32(text) != crc:
        raise _DamagedError("a broken checksum")
    record = json.loads(text)
    return Seal(start, record["body"], record["footer"], record.get("shards"))


def _bytes_at(opened: BinaryIO, start: int) -> bytes:
    opened.seek(start)
    return opened.read()


def _crc(opened: BinaryIO, end: int) -> int:
    """Return the CRC-32 of the bytes before a place."""
    opened.seek(0)
    crc = 0
    while end > 0:
        some = opened.read(min(end, _CHUNK))
        if not some:
            break
        crc, end = zlib.crc32(some, crc), end - len(some)
    return crc
