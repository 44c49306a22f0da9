"""The one raw form every reader yields, and the text blocks the line formats are read from.

A line of Porto's train.csv -> one row raw_trip_id="1372636858620000589", vehicle_id="20000589",
flag=None, t=[1372636858.0, 1372636873.0, ...], lon=[-8.618643, ...], lat=[41.141412, ...],
edge_ids=[]; a line that cannot be read -> one row of `unread` with its file, line and reason.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from pipeline.errors import SourceError

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


def raw_files(folder: Path, pattern: str) -> list[Path]:
    """Return the raw files of a folder, at any depth, sorted by their path within it.

    Raises:
        SourceError: The folder holds no such file.
    """
    files = [path for path in folder.rglob(pattern) if path.is_file()]
    if not files:
        raise SourceError(
            f"{folder}: expected raw trace files named {pattern}, found none; put them there or"
            " change `traces.format` in the city's config, then run `python -m pipeline check`"
        )
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def line_blocks(path: Path, block_bytes: int) -> Iterator[pl.DataFrame]:
    """Yield a text file in frames of whole lines (columns line, from 1, and text).

    Blank lines are left out but keep their number. Bytes that are not UTF-8 are replaced, so that
    one broken line stays one broken line.

    Raises:
        SourceError: The file is empty or binary.
    """
    line, rest = 1, b""
    with path.open("rb") as file:
        while chunk := file.read(block_bytes):
            if b"\x00" in chunk:
                raise SourceError(f"{path}: expected text, found binary bytes; unpack or remove it")
            head, newline, tail = chunk.rpartition(b"\n")
            if not newline:
                rest += chunk
                continue
            text = rest + head + newline
            rest = tail
            yield _lines(text, line)
            line += text.count(b"\n")
    if rest:
        yield _lines(rest, line)
    elif line == 1:
        raise SourceError(f"{path}: expected lines of text, found an empty file; replace it")


def _lines(text: bytes, first: int) -> pl.DataFrame:
    frame = pl.read_csv(
        text,
        has_header=False,
        new_columns=["text"],
        separator="\x01",  # occurs in no text format: the whole line is one field
        quote_char=None,
        infer_schema=False,
        encoding="utf8" if text.isascii() else "utf8-lossy",
    )
    return frame.with_row_index("line", offset=first).filter(pl.col("text").is_not_null())


def check_header(path: Path, found: list[str], expected: tuple[str, ...]) -> None:
    """Raise SourceError when a file's columns are not those of its format."""
    if tuple(found) != expected:
        raise SourceError(
            f"{path}: expected the columns {','.join(expected)}, found"
            f" {','.join(found)[:200]!r}; check `traces.format` in the city's config"
        )
