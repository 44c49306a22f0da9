"""Any CSV or Parquet table with a row per agent and moment, by a map of its columns.

    read_table(Path("walk.csv"), columns={"time": "t", "id": "person", "x": "x_m", "y": "y_m"}, ...)

Either `frame` (whole numbers, with fps) or `time` (seconds) is mapped; `vx` and `vy` may be, both.
Rows without x or y count as absent; rows without an id are left out. A CSV may be parted by commas,
semicolons or tabs, with decimal commas where no comma parts it, and may have a row of units under
its head, as those of Pathfinder and JuPedSim do.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats, Ints
from pipeline.stride.importers.rows import Clock, Recording, Rows
from pipeline.stride.importers.texts import MOST_WHOLE, number_of, whole
from pipeline.stride.importers.units import (
    LENGTHS,
    SPEEDS,
    TIMES,
    Unit,
    factor_of,
    stated_in,
)

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("frame", "time", "id", "x", "y", "vx", "vy")
_KNOWN = {"x": LENGTHS, "y": LENGTHS, "time": TIMES, "vx": SPEEDS, "vy": SPEEDS}
_SEPARATORS = (";", "\t", ",")
# Times become whole millionths of a second, which the grid of all formats takes.
_TICKS_A_SECOND = 1_000_000
# How far a time may lie off the grid, in parts of its step: clocks are read and rounded.
_JITTER = 0.05
_DECIMAL_COMMA = r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$"


class _Table(NamedTuple):
    """A table and how it is written.

    Attributes:
        frame: Its rows, without that of units.
        units: Unit by column, where a row under the head states them.
        comma: Whether commas may be decimal ones.
    """

    frame: "pl.DataFrame"
    units: dict[str, str]
    comma: bool


def read_table(
    path: Path, *, columns: Mapping[str, str], fps: float | None, unit: Unit | None
) -> Recording:
    """Read a table.

    Args:
        path: A .csv or .parquet file.
        columns: Names of its columns under `COLUMNS`; empty = those that are called so.
        fps: Frame numbers a second, where `frame` is mapped.
        unit: Of x and y; None = what the table says, else metres.

    Raises:
        SourceError: It cannot be read, or a column is missing or not of numbers.
    """
    if not columns:
        own = {name: name for name in _read(path, {}).frame.columns if name in COLUMNS}
        columns = own if {"id", "x", "y"} <= set(own) else {}
    unknown = sorted(set(columns) - set(COLUMNS))
    needed = {"id", "x", "y"} - set(columns)
    half = ("vx" in columns) != ("vy" in columns)
    if unknown or needed or half or ("frame" in columns) == ("time" in columns):
        its_own = ", ".join(_read(path, {}).frame.columns)
        raise SourceError(
            f"{path}: expected columns for id, x, y and one of frame and time (and vx, vy), found"
            f" {', '.join(columns) or 'none'}; give --columns id=NAME,x=NAME,... of {its_own}"
        )
    table = _read(path, columns)
    nameless = table.frame[columns["id"]].null_count()
    table = table._replace(frame=table.frame.filter(table.frame[columns["id"]].is_not_null()))
    factors = _factors(table, columns, unit, path)
    values = {
        name: _numbers(table, columns[name], path) * factors.get(name, 1.0)
        for name in columns
        if name != "id"
    }
    rows = Rows(
        _ticks(values["time"], path) if "time" in values else whole(values["frame"], "frame", path),
        table.frame[columns["id"]].cast(_text()).to_numpy().astype(str),
        values["x"],
        values["y"],
        np.column_stack((values["vx"], values["vy"])) if "vx" in values else None,
    )
    notes = [f"{nameless} rows without an id left out"] if nameless else []
    if table.units:
        told = ", ".join(f"{name} {unit}" for name, unit in table.units.items())
        notes.append(f"row 1 read as units: {told}")
    clock = Clock(fps=_TICKS_A_SECOND, jitter=_JITTER) if "time" in columns else Clock(fps=fps)
    return Recording(rows, clock, "as the table has it, metres", tuple(notes))


# ---- the file -----------------------------------------------------------------------------------


def _text() -> "type[pl.String]":
    import polars as pl  # noqa: PLC0415 - tables load when needed

    return pl.String


def _read(path: Path, columns: Mapping[str, str]) -> _Table:
    """Return the table, with its row of units taken out."""
    import polars as pl  # noqa: PLC0415 - as above

    comma = False
    try:
        if path.suffix.lower() == ".parquet":
            from pipeline.tables import read_any_parquet  # noqa: PLC0415 - as above

            frame = read_any_parquet(path, remedy="export it again")
        else:
            separator = _separator(path)
            comma = separator != ","
            frame = pl.read_csv(
                path, separator=separator, infer_schema=False, comment_prefix="#"
            ).rename(str.strip)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as fault:
        line = str(fault).splitlines()[0]
        raise SourceError(f"{path}: expected a CSV or Parquet table, found {line}") from fault
    missing = [name for name in columns.values() if name not in frame.columns]
    if missing:
        raise SourceError(
            f"{path}: expected the column {missing[0]!r}, found {', '.join(frame.columns)}"
        )
    units = _units(frame, columns)
    return _Table(frame[1:] if units else frame, units, comma)


def _separator(path: Path) -> str:
    """Return what parts the head's columns: the most frequent of those known."""
    with path.open(encoding="utf-8-sig") as file:
        head = next((line for line in file if line.strip() and not line.startswith("#")), "")
    return max(_SEPARATORS, key=head.count)


def _units(frame: "pl.DataFrame", columns: Mapping[str, str]) -> dict[str, str]:
    """Return the units of a row under the head; empty: the first row is of numbers."""
    if not len(frame):
        return {}
    first = {name: frame[column][0] for name, column in columns.items() if name in _KNOWN}
    texts = {name: one for name, one in first.items() if isinstance(one, str)}
    if not all(name in texts and not _is_number(texts[name]) for name in ("x", "y")):
        return {}
    return {columns[name]: one.strip().strip("[]()") for name, one in texts.items() if one.strip()}


def _is_number(text: str) -> bool:
    try:
        number_of(text.strip())
    except ValueError:
        return False
    return True


def _factors(
    table: _Table, columns: Mapping[str, str], unit: Unit | None, path: Path
) -> dict[str, float]:
    """Return what one of each column's unit is in metres, seconds or m/s.

    Raises:
        SourceError: A row of units has one that is not known.
    """
    factors: dict[str, float] = {}
    for name, known in _KNOWN.items():
        if name not in columns:
            continue
        stated = table.units.get(columns[name])
        factor = factor_of(stated or stated_in(columns[name]), known)
        if stated is not None and factor is None:
            raise SourceError(
                f"{path}: {columns[name]}: expected one of {', '.join(known)} in the row of units,"
                f" found {stated!r}"
            )
        if unit is not None and known is LENGTHS:
            factor = LENGTHS[unit]
        # Of a speed without a unit the lengths are those of the places.
        factors[name] = factor or (factors["x"] if known is SPEEDS else 1.0)
    return factors


# ---- numbers ------------------------------------------------------------------------------------


def _numbers(table: _Table, name: str, path: Path) -> Floats:
    import polars as pl  # noqa: PLC0415 - as above

    column = table.frame[name]
    number = column
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        if table.comma:
            point = text.str.contains(".", literal=True).any()
            if point and text.str.contains(_DECIMAL_COMMA).any():
                raise SourceError(
                    f"{path}: {name}: expected decimal points or decimal commas, found both"
                )
            text = text.str.replace(_DECIMAL_COMMA, "${1}.${2}")
        number = text.cast(pl.Float64, strict=False)
    elif not column.dtype.is_numeric() and column.null_count() < len(column):
        number = pl.Series([None] * len(column), dtype=pl.Float64)
    odd = (column.is_not_null() & number.is_null()).to_numpy()
    if odd.any():
        row = int(odd.argmax())
        raise SourceError(
            f"{path}: {name}: expected numbers, found {str(column[row])[:40]!r} in row {row + 1}"
        )
    return np.asarray(number.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _ticks(seconds: Floats, path: Path) -> Ints:
    """Return times as whole millionths of a second."""
    ticks = np.rint(seconds * _TICKS_A_SECOND)
    bad = ~(np.abs(ticks) < MOST_WHOLE)
    if bad.any():
        row = int(np.argmax(bad))
        raise SourceError(
            f"{path}: time: expected seconds below 2^53 millionths, found {seconds[row]:g} in row"
            f" {row + 1}"
        )
    return ticks.astype(np.int64)
