"""The one raw form every reader yields, and the text blocks the line formats are read from.

A line of Porto's train.csv -> one row raw_trip_id="1372636858620000589", vehicle_id="20000589",
flag=None, t=[1372636858.0, 1372636873.0, ...], lon=[-8.618643, ...], lat=[41.141412, ...],
edge_ids=[]; a line that cannot be read -> one row of `unread` with its file, line and reason.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO, NamedTuple, cast

import polars as pl

from pipeline.errors import ParameterError, SourceError

RAW_COLUMNS = pl.Schema(
    {
        "raw_trip_id": pl.String(),
        "vehicle_id": pl.String(),
        "flag": pl.String(),
        "t": pl.List(pl.Float64()),
        "lon": pl.List(pl.Float64()),
        "lat": pl.List(pl.Float64()),
        "edge_ids": pl.List(pl.String()),
    }
)
UNREAD_COLUMNS = pl.Schema({"item_id": pl.String(), "reason": pl.String(), "detail": pl.String()})

# Why a row of a raw file was not read; each such row is counted and named, never skipped silently.
UNREAD_REASONS = (
    "row_truncated",
    "time_unparsable",
    "row_unparsable",
    "coordinate_not_finite",
    "lists_unequal",
    "unknown_edge",
    "edges_not_adjacent",
)
# The source itself says samples are missing (Porto's MISSING_DATA).
MISSING_DATA = "missing_data"
DETAIL_CHARACTERS = 120


class Batch(NamedTuple):
    """Some trips of one raw file.

    Attributes:
        trips: One row per trip, or per fragment of a trip, with `RAW_COLUMNS`.
        unread: One row per row of the file that could not be read: item_id "<file>:<line>",
            reason (one of `UNREAD_REASONS`), detail (the start of the text).
        rows: Rows seen: trips or points, whatever a row of the format is.
        excluded: Rows read well but not asked for, by reason (such as `unoccupied`).
    """

    trips: pl.DataFrame
    unread: pl.DataFrame
    rows: int
    excluded: dict[str, int]


def empty_unread() -> pl.DataFrame:
    """Return the table of unread rows, with no rows."""
    return pl.DataFrame(schema=UNREAD_COLUMNS)


def unread_rows(frame: pl.DataFrame, shown: str) -> pl.DataFrame:
    """Turn rows with the columns line, text and reason (null where all is well) into `unread`."""
    return frame.filter(pl.col("reason").is_not_null()).select(
        item_id=pl.format("{}:{}", pl.lit(shown), pl.col("line")),
        reason=pl.col("reason"),
        detail=pl.col("text").str.head(DETAIL_CHARACTERS),
    )


def data_files(folder: Path) -> list[Path]:
    """Return the files of a folder, at any depth, sorted by their path within it.

    Hidden files and folders (`.gitignore`) and DVC's `*.dvc` files are no data: they are passed
    over.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    shown = {path: path.relative_to(folder) for path in files}
    data = [
        path
        for path in files
        if path.suffix != ".dvc" and not any(part.startswith(".") for part in shown[path].parts)
    ]
    return sorted(data, key=lambda path: shown[path].as_posix())


def unpacked_name(path: PurePath) -> str:
    """Return the name of a file as it is after `gunzip`: any raw file may be compressed."""
    return path.name[:-3] if _is_gzip(path) else path.name


def _is_gzip(path: PurePath) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def open_raw(path: Path) -> Iterator[BinaryIO]:
    """Open a raw file for reading its bytes, those of a gzip file (*.gz) decompressed.

    Raises:
        SourceError: A gzip file is damaged or cut off; raised by what reads it.
    """
    if not _is_gzip(path):
        with path.open("rb") as file:
            yield file
        return
    try:
        with gzip.open(path) as packed:
            yield cast("BinaryIO", packed)
    except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
        raise SourceError(
            f"{path}: expected a whole gzip file, found {fault}; copy or pack it again"
        ) from fault


def fits(shown: PurePath, pattern: str) -> bool:
    """Tell whether a path within the folder ends as a pattern says, whatever the case of letters.

    A gzip file fits as `x.csv.gz` and as the `x.csv` it holds.

    Raises:
        ParameterError: The pattern is empty, absolute, or has `**` or `..`.
    """
    wanted = PurePosixPath(pattern.lower())
    if not wanted.parts or wanted.is_absolute() or "**" in pattern or ".." in wanted.parts:
        raise ParameterError(
            f"traces: expected a pattern of file names such as *.csv, found {pattern!r}; name files"
            " within the folder of raw traces (it is searched at any depth)"
        )
    names = {shown.name, unpacked_name(shown)}
    paths = (PurePosixPath(shown.with_name(name).as_posix().lower()) for name in names)
    return any(path.match(str(wanted)) for path in paths)


def raw_files(folder: Path, pattern: str) -> list[Path]:
    """Return the data files of a folder that fit a pattern, sorted by their path within it.

    Raises:
        SourceError: The folder holds no such file, or one whose name is no UTF-8: names become ids.
        ParameterError: As `fits`.
    """
    files = [path for path in data_files(folder) if fits(path.relative_to(folder), pattern)]
    if not files:
        raise SourceError(
            f"{folder}: expected raw trace files named {pattern}, found none; put them there or"
            " change `traces.format` in the city's config, then run `python -m pipeline check`"
        )
    for path in files:
        name = os.fsencode(path.name)
        if name.decode("utf-8", "replace") != path.name:
            raise SourceError(f"{folder}: expected file names in UTF-8, found {name!r}; rename it")
    return files


def line_blocks(path: Path, block_bytes: int) -> Iterator[pl.DataFrame]:
    """Yield a text file in frames of one or more whole lines (columns line, from 1, and text).

    Blank lines are left out but keep their number. A byte that is no UTF-8 stops the whole file:
    it may be damage of one row, but as likely all names are in another encoding, and with the byte
    dropped or replaced two ids could become one.

    Raises:
        SourceError: The file is empty, blank, binary, or not UTF-8.
    """
    seen = False
    for line, text in _texts(path, block_bytes):
        lines = _lines(text, line)
        if lines.height:
            seen = True
            yield lines
    if not seen:
        raise SourceError(f"{path}: expected lines of text, found an empty file; replace it")


def check_text(path: Path, block_bytes: int) -> None:
    """Read a text file through, whatever its lines say.

    Raises:
        SourceError: The file is binary, or not UTF-8.
    """
    for _ in _texts(path, block_bytes):
        pass


def _texts(path: Path, block_bytes: int) -> Iterator[tuple[int, str]]:
    """Yield a file's text in whole lines, each block with the number of its first line."""
    line = 1
    for block in _whole_lines(path, block_bytes):
        if line == 1 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise SourceError(
                f"{path}: expected text in UTF-8, found UTF-16; convert the file with"
                " `iconv -f utf-16 -t utf-8`"
            )
        if b"\x00" in block:
            raise SourceError(f"{path}: expected text, found binary bytes; unpack or remove it")
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as fault:
            number = line + block.count(b"\n", 0, fault.start)
            raise SourceError(
                f"{path}: expected text in UTF-8, found the byte {block[fault.start]:#04x} in line"
                f" {number}; convert the file, such as with `iconv -f latin1 -t utf-8`, or mend the"
                " line"
            ) from fault
        yield line, text.removeprefix("\ufeff") if line == 1 else text
        line += block.count(b"\n")


def _whole_lines(path: Path, block_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a file cut behind line ends, about `block_bytes` at a time."""
    begun: list[bytes] = []
    with open_raw(path) as file:
        while chunk := file.read(block_bytes):
            head, newline, tail = chunk.rpartition(b"\n")
            if newline:
                yield b"".join([*begun, head, newline])
                begun = []
            begun.append(tail)
    if rest := b"".join(begun):
        yield rest


def _lines(text: str, first: int) -> pl.DataFrame:
    lines = pl.Series("text", [text]).str.split("\n").explode()
    if "\r" in text:
        lines = lines.str.strip_suffix("\r")
    return lines.to_frame().with_row_index("line", offset=first).filter(pl.col("text") != "")


def check_header(path: Path, found: list[str], expected: tuple[str, ...]) -> None:
    """Raise SourceError when a file's columns are not those of its format."""
    if tuple(found) != expected:
        raise SourceError(
            f"{path}: expected the columns {','.join(expected)}, found"
            f" {','.join(found)[:200]!r}; check `traces.format` in the city's config"
        )
