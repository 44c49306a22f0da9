"""From rows (frame, agent, x, y) to a trajectory, which all readers of recordings share.

    trajectory_of_rows(Rows(frame, agent, x, y), clock=Clock(fps=25.0), radius_m=0.2)
    ->  Imported(walk, agents=("7", "9"), first_frame=780, notes=("2 tracks of one point ...",))

Frames lie on a grid of their greatest common step; where an agent has no row it is absent, and
nothing is filled in. An agent's goal is its last position, for recordings tell no other.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.errors import SourceError
from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.trajectories import Trajectory, check_dt, trajectory, with_derived_velocity

DEFAULT_RADIUS_M = 0.2
# Cells of the grid (frames times agents); beyond it frame numbers are hardly frame numbers.
_MOST_CELLS = 100_000_000
# Doubles tell whole numbers apart up to here; beyond it two agents could become one.
MOST_WHOLE = 2**53


class Rows(NamedTuple):
    """What a recording says, one entry per row: all arrays are (M,).

    Attributes:
        frame: Number of the frame.
        agent: Who it is; numbers or texts.
        x: Metres.
        y: Metres.
        velocity: (M, 2), m/s; None = not in the recording.
    """

    frame: Ints
    agent: npt.NDArray[Any]
    x: Floats
    y: Floats
    velocity: Floats | None = None


class Clock(NamedTuple):
    """How frames become seconds: frame numbers a second, or seconds of one step of the grid."""

    fps: float | None = None
    step_s: float | None = None


class Imported(NamedTuple):
    """A trajectory and what became of the recording.

    Attributes:
        walk: The trajectory.
        agents: Who the agents are, in the order of the arrays.
        first_frame: Number of the first frame.
        notes: What was left out or supposed, with counts.
    """

    walk: Trajectory
    agents: tuple[str, ...]
    first_frame: int
    notes: tuple[str, ...]


def trajectory_of_rows(rows: Rows, *, clock: Clock, radius_m: float, where: str) -> Imported:
    """Build a trajectory.

    Rows without finite x and y, a second row of an agent in one frame, and agents with less than 2
    rows are left out and counted.

    Args:
        rows: What the recording says.
        clock: How frames become seconds.
        radius_m: Radius of everybody.
        where: The file, for messages.

    Raises:
        SourceError: Nothing is left, agents are not seen in the same frames, or the grid would be
            of a size that no recording has.
    """
    kept, notes = _kept(rows)
    if not kept.any():
        left_out = "; ".join(notes) or "it has no rows"
        raise SourceError(f"{where}: expected tracks of 2 points or more, found none; {left_out}")
    frame, x, y = rows.frame[kept], rows.x[kept], rows.y[kept]
    names, column = np.unique(rows.agent[kept], return_inverse=True)
    step = _step_of(frame, column, where)
    first = int(frame.min())
    row = (frame - first) // step
    count = int(row.max()) + 1
    if count * len(names) > _MOST_CELLS:
        raise SourceError(
            f"{where}: expected frames of one recording, found {count} frames of {len(names)}"
            " agents; are these frame numbers?"
        )
    places, present = _grid(row, column, np.column_stack((x, y)), (count, len(names)))
    goal = np.zeros((len(names), 2))
    order = np.argsort(row, kind="stable")
    goal[column[order]] = np.column_stack((x, y))[order]
    walk = trajectory(
        places,
        present,
        dt_s=_dt_of(clock, step, where),
        goal=goal,
        radius=np.full(len(names), radius_m),
    )
    if rows.velocity is None:
        walk = with_derived_velocity(walk)
    else:
        velocity, _ = _grid(row, column, rows.velocity[kept], (count, len(names)))
        walk = walk._replace(velocity=velocity)
    supposed = f"radius {radius_m:g} m and the last position as goal, for all"
    return Imported(walk, tuple(map(str, names)), first, (*notes, supposed))


def _kept(rows: Rows) -> tuple[Bools, tuple[str, ...]]:
    """Return which rows count, and what was left out."""
    finite = np.isfinite(rows.x) & np.isfinite(rows.y)
    notes = []
    if not finite.all():
        notes.append(f"{(~finite).sum()} rows without a position left out")
    _, agent = np.unique(rows.agent, return_inverse=True)
    keys = np.stack((agent, rows.frame), axis=1)
    once = np.zeros(len(agent), np.bool_)
    there = np.flatnonzero(finite)
    if len(there):
        _, first = np.unique(keys[there], axis=0, return_index=True)
        once[there[first]] = True
    twice = int(finite.sum() - once.sum())
    if twice:
        notes.append(f"{twice} further rows of an agent in the same frame left out")
    count = np.bincount(agent[once], minlength=int(agent.max(initial=-1)) + 1)
    short = int((count == 1).sum())
    if short:
        notes.append(f"{short} tracks of one point left out")
    return once & (count[agent] >= 2), tuple(notes)


def _step_of(frame: Ints, column: Ints, where: str) -> int:
    order = np.lexsort((frame, column))
    change = np.diff(frame[order])[np.diff(column[order]) == 0]
    step = int(np.gcd.reduce(np.diff(np.unique(frame))))
    usual = int(np.median(change))
    if usual > step:
        raise SourceError(
            f"{where}: expected agents seen in the same frames, found each seen every {usual}"
            f" frames but frames {step} apart; bring the tracks to common frames first"
        )
    return step


def _dt_of(clock: Clock, step: int, where: str) -> float:
    if clock.step_s is not None:
        check_dt(clock.step_s, where)
        return clock.step_s
    if clock.fps is None or not 0 < clock.fps < math.inf:
        raise SourceError(
            f"{where}: expected frame numbers per second above 0, found {clock.fps}; give --fps"
            " (ETH 15, HOTEL and UCY 25)"
        )
    return step / clock.fps


def _grid(row: Ints, column: Ints, values: Floats, shape: tuple[int, int]) -> tuple[Floats, Bools]:
    grid = np.zeros((*shape, 2))
    present = np.zeros(shape, np.bool_)
    grid[row, column] = values
    present[row, column] = True
    return grid, present


def number_rows(
    path: Path, *, fewest: int, most: float, hidden: str = "?"
) -> tuple[Floats, list[str]]:
    """Read a text of numbers parted by blanks, tabs or commas.

    Args:
        path: The file.
        fewest: Columns each row must have; further ones are kept if all rows have them.
        most: Columns a row may have.
        hidden: A word for a number that is withheld; it becomes NaN.

    Returns:
        The numbers, (M, K), and the comment lines (those that begin with #).

    Raises:
        SourceError: The file cannot be read, or a row is short, long or no numbers; names the
            line.
    """
    rows: list[list[float]] = []
    comments: list[str] = []
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if line.lstrip().startswith("#"):
            comments.append(line)
            continue
        words = line.replace(",", " ").split()
        if not words:
            continue
        try:
            row = [math.nan if word == hidden else float(word) for word in words]
        except ValueError as fault:
            raise SourceError(f"{path} line {number}: expected numbers, found {fault}") from fault
        if not fewest <= len(row) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} or more"
            raise SourceError(
                f"{path} line {number}: expected {wanted} numbers, found {len(row)}; is it of this"
                " format?"
            )
        rows.append(row)
    width = min(map(len, rows), default=fewest)
    return np.array([row[:width] for row in rows]).reshape(len(rows), width), comments


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        SourceError: It is not there or no UTF-8.
    """
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(f"{path}: expected a text file, found {fault}; name another") from fault


def whole(values: Sequence[float] | Floats, name: str, path: Path) -> Ints:
    """Return numbers as whole ones, as frames and agents are.

    Raises:
        SourceError: One is not whole, or too large to be told from its neighbours.
    """
    array = np.asarray(values, dtype=np.float64)
    bad = ~((np.abs(array) < MOST_WHOLE) & (array == np.rint(array)))
    if bad.any():
        row = int(np.argmax(bad))
        raise SourceError(
            f"{path}: {name}: expected whole numbers below 2^53, found {array[row]:.17g} in row"
            f" {row + 1}; wrong columns?"
        )
    return array.astype(np.int64)
