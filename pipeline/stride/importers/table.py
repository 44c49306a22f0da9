"""Any CSV or Parquet table with a row per agent and moment, by a map of its columns.

    read_table(Path("walk.csv"), columns={"time": "t", "id": "person", "x": "x_m", "y": "y_m"}, ...)

Either `frame` (whole numbers, with fps) or `time` (seconds, evenly spaced) is mapped; `vx` and `vy`
may be, both. Rows without x or y count as absent; rows without an id are left out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats, Ints
from pipeline.stride.importers.rows import Clock, Imported, Rows, trajectory_of_rows, whole

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("frame", "time", "id", "x", "y", "vx", "vy")
# How far a time may lie off the grid, in parts of its step.
_OFF_GRID = 0.05


def read_table(
    path: Path, *, columns: Mapping[str, str], fps: float | None, radius_m: float
) -> Imported:
    """Read a table.

    Args:
        path: A .csv or .parquet file; metres, seconds and m/s.
        columns: Names of its columns under `COLUMNS`.
        fps: Frame numbers a second, where `frame` is mapped.
        radius_m: Radius of everybody.

    Raises:
        SourceError: It cannot be read, a column is missing or not of numbers, or times are uneven.
    """
    unknown = sorted(set(columns) - set(COLUMNS))
    needed = {"id", "x", "y"} - set(columns)
    half = ("vx" in columns) != ("vy" in columns)
    if unknown or needed or half or ("frame" in columns) == ("time" in columns):
        raise SourceError(
            f"{path}: expected columns for id, x, y and one of frame and time (and vx, vy), found"
            f" {', '.join(columns) or 'none'}; give --columns id=NAME,x=NAME,..."
        )
    frame = _frame(path)
    missing = [name for name in columns.values() if name not in frame.columns]
    if missing:
        raise SourceError(
            f"{path}: expected the column {missing[0]!r}, found {', '.join(frame.columns)}"
        )
    nameless = frame[columns["id"]].null_count()
    frame = frame.filter(frame[columns["id"]].is_not_null())
    velocity = None
    if "vx" in columns:
        velocity = np.column_stack([_numbers(frame, columns[one], path) for one in ("vx", "vy")])
    clock = Clock(fps=fps)
    if "time" in columns:
        number, step_s = _on_grid(_numbers(frame, columns["time"], path), path)
        clock = Clock(step_s=step_s)
    else:
        number = whole(_numbers(frame, columns["frame"], path), "frame", path)
    rows = Rows(
        number,
        frame[columns["id"]].cast(_text()).to_numpy().astype(str),
        _numbers(frame, columns["x"], path),
        _numbers(frame, columns["y"], path),
        velocity,
    )
    read = trajectory_of_rows(rows, clock=clock, radius_m=radius_m, where=str(path))
    notes = (f"{nameless} rows without an id left out",) if nameless else ()
    return read._replace(notes=(*notes, *read.notes))


def _text() -> "type[pl.String]":
    import polars as pl  # noqa: PLC0415 - tables load when needed

    return pl.String


def _frame(path: Path) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415 - as above

    try:
        if path.suffix.lower() == ".parquet":
            return pl.read_parquet(path)
        return pl.read_csv(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as fault:
        line = str(fault).splitlines()[0]
        raise SourceError(f"{path}: expected a CSV or Parquet table, found {line}") from fault


def _numbers(frame: "pl.DataFrame", name: str, path: Path) -> Floats:
    import polars as pl  # noqa: PLC0415 - as above

    column = frame[name]
    if not column.dtype.is_numeric() and column.null_count() < len(column):
        number = column.cast(pl.Float64, strict=False) if column.dtype == pl.String else None
        odd = column.is_not_null() if number is None else column.is_not_null() & number.is_null()
        row = int(odd.to_numpy().argmax())
        raise SourceError(
            f"{path}: {name}: expected numbers, found {str(column[row])[:40]!r} in row {row + 1}"
        )
    return np.asarray(frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _on_grid(times: Floats, path: Path) -> tuple[Ints, float]:
    """Return the number of the step each time lies on, and the seconds of a step."""
    moments = np.unique(times)
    if len(moments) < 2 or not np.isfinite(moments).all():
        raise SourceError(f"{path}: time: expected 2 moments or more in seconds, found others")
    step_s = float(np.median(np.diff(moments)))
    place = (times - moments[0]) / step_s
    if (np.abs(place - np.rint(place)) > _OFF_GRID).any():
        raise SourceError(
            f"{path}: time: expected evenly spaced moments, found steps of"
            f" {np.diff(moments).min():g} to {np.diff(moments).max():g} s; bring them to a grid"
        )
    return np.rint(place).astype(np.int64), step_s
