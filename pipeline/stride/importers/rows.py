"""From rows (frame, agent, x, y) to a trajectory, which all readers of recordings share.

    recording = Recording(Rows(frame, agent, x, y), Clock(fps=25.0), "world, metres", notes=())
    imported(recording, radius_m=0.2, resample_dt_s=None, where="zara.txt")
    ->  Imported(walk, agents=("7", "9"), first_frame=780, notes=("2 tracks of one point ...",))

Where an agent has no row it is absent, and nothing is filled in. An agent's goal is its last
position, for recordings state no other. Velocities that the recording lacks are derived last, from
positions at the frames that are kept: derived before, the jitter of a fast camera would stay in
them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.errors import SourceError
from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.importers.grid import Grid, changes_of, grid_of, step_of
from pipeline.stride.importers.moments import Moments, at_even_moments
from pipeline.stride.trajectories import (
    Trajectory,
    check_dt,
    resampled,
    trajectory,
    with_derived_velocity,
)

# Cells of the grid (frames times agents); beyond it frame numbers are hardly frame numbers.
_MOST_CELLS = 100_000_000


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
    """How frames become seconds.

    Attributes:
        fps: Frame numbers a second; None = not known.
        step_s: Seconds from one row of an agent to the next, whatever their numbers.
        jitter: How far rows may be off their steps and count as on them, in parts of a step.
    """

    fps: float | None = None
    step_s: float | None = None
    jitter: float = 0.0


class Recording(NamedTuple):
    """What a reader finds in a file.

    Attributes:
        rows: Its rows.
        clock: How their frames become seconds.
        reference: What x and y are measured from, in words.
        notes: What the reader left out, with counts.
    """

    rows: Rows
    clock: Clock
    reference: str
    notes: tuple[str, ...] = ()


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


def imported(
    recording: Recording, *, radius_m: float, resample_dt_s: float | None, where: str
) -> Imported:
    """Build a trajectory.

    Rows without finite x and y, a second row of an agent in one frame, and agents with less than 2
    rows are left out and counted. Frames that change phase are brought to a common grid, each by
    less than a step and without moving a position; where frames are wanted at other seconds,
    positions lie on straight lines between rows.

    Args:
        recording: What the file says.
        radius_m: Radius of everybody.
        resample_dt_s: Seconds wanted from one frame to the next; None = the recording's own.
        where: The file, for messages.

    Raises:
        SourceError: Nothing is left, agents are seen at uneven steps and no resampling is wanted,
            or the grid would be of a size that no recording has.
    """
    check_dt(resample_dt_s, "--resample")
    rows, notes = _sound(recording.rows, where)
    agent = _numbers(rows.agent)
    jitter = recording.clock.jitter
    step = step_of(changes_of(rows.frame, agent), jitter=jitter)
    dt_s = _dt_of(recording.clock, step.frames, where)
    grid = grid_of(rows.frame, step.frames, jitter=jitter)
    if step.uneven or (resample_dt_s is not None and grid.moved.any()):
        if resample_dt_s is None:
            raise SourceError(
                f"{where}: expected each agent seen at even steps, found steps of"
                f" {step.least * dt_s / step.frames:g} to {step.most * dt_s / step.frames:g} s;"
                " give --resample S to bring them to steps of S seconds"
            )
        seconds = rows.frame.astype(np.float64) * (dt_s / step.frames)
        moments = Moments(seconds, agent, _values(rows), resample_dt_s)
        brought = at_even_moments(moments, where)
        rows = _of_values(rows, brought.agent, brought.values, brought.number)
        rows, more = _sound(rows, where)
        grid, dt_s = grid_of(rows.frame, 1.0, jitter=0.0), resample_dt_s
        notes = (*notes, brought.note, *more)
    elif grid.moved.any():
        notes = (*notes, _snapped(grid, step.frames, dt_s))
        rows, more = _once_a_step(rows, grid, where)
        grid = grid_of(rows.frame, step.frames, jitter=jitter)
        notes = (*notes, *more)
    names, column = np.unique(rows.agent, return_inverse=True)
    walk = _walk(rows, grid.number, column, dt_s=dt_s, radius_m=radius_m, where=where)
    if resample_dt_s is not None:
        walk = resampled(walk, dt_s=resample_dt_s)
    if walk.velocity is None:
        shown = int(walk.present.sum())
        walk = with_derived_velocity(walk)
        lost = shown - int(walk.present.sum())
        if lost:
            words = f"{lost} positions seen for a single frame have no velocity and are left out"
            notes = (*notes, words)
    supposed = f"radius {radius_m:g} m and the last position as goal, for all"
    return Imported(
        walk._replace(frame_of_reference=recording.reference),
        tuple(map(str, names)),
        grid.first,
        (*recording.notes, *notes, supposed),
    )


# ---- which rows count ---------------------------------------------------------------------------


def _sound(rows: Rows, where: str) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows that count, and what was left out.

    Raises:
        SourceError: None counts.
    """
    finite = np.isfinite(rows.x) & np.isfinite(rows.y)
    notes = []
    if not finite.all():
        notes.append(f"{(~finite).sum()} rows without a position left out")
    once = _first_of(np.stack((_numbers(rows.agent), rows.frame), axis=1), finite)
    twice = int(finite.sum() - once.sum())
    if twice:
        notes.append(f"{twice} further rows of an agent in the same frame left out")
    kept, short = _of_tracks(rows.agent, once)
    notes += short
    if not kept.any():
        left_out = "; ".join(notes) or "it has no rows"
        raise SourceError(f"{where}: expected tracks of 2 points or more, found none; {left_out}")
    return _taken(rows, kept), tuple(notes)


def _once_a_step(rows: Rows, grid: Grid, where: str) -> tuple[Rows, tuple[str, ...]]:
    """Put rows on the grid; of two of one agent on one step the nearer counts.

    Raises:
        SourceError: No track of two steps is left.
    """
    order = np.argsort(np.abs(grid.offset), kind="stable")
    once = np.zeros(len(order), np.bool_)
    keys = np.stack((_numbers(rows.agent), grid.number), axis=1)
    once[order] = _first_of(keys[order], np.ones(len(order), np.bool_))
    notes = []
    if not once.all():
        words = "further rows of an agent on the same step of the grid left out"
        notes.append(f"{(~once).sum()} {words}")
    kept, short = _of_tracks(rows.agent, once)
    if not kept.any():
        raise SourceError(f"{where}: expected tracks of 2 steps or more, found none")
    return _taken(rows._replace(frame=grid.frame), kept), (*notes, *short)


def _first_of(keys: Ints, there: Bools) -> Bools:
    """Return which rows are the first of their key among those that are there."""
    once = np.zeros(len(keys), np.bool_)
    places = np.flatnonzero(there)
    if len(places):
        _, first = np.unique(keys[places], axis=0, return_index=True)
        once[places[first]] = True
    return once


def _of_tracks(agents: npt.NDArray[Any], once: Bools) -> tuple[Bools, list[str]]:
    """Return which rows belong to tracks of two rows or more, and how many tracks do not."""
    agent = _numbers(agents)
    count = np.bincount(agent[once], minlength=int(agent.max(initial=-1)) + 1)
    short = int((count == 1).sum())
    return once & (count[agent] >= 2), [f"{short} tracks of one point left out"] if short else []


def _taken(rows: Rows, kept: Bools) -> Rows:
    return Rows(
        rows.frame[kept], rows.agent[kept], rows.x[kept], rows.y[kept],
        None if rows.velocity is None else rows.velocity[kept],
    )  # fmt: skip


def _numbers(agents: npt.NDArray[Any]) -> Ints:
    _, number = np.unique(agents, return_inverse=True)
    return np.asarray(number, dtype=np.int64)


def _values(rows: Rows) -> Floats:
    parts = [rows.x[:, None], rows.y[:, None]]
    return np.hstack(parts if rows.velocity is None else [*parts, rows.velocity])


def _of_values(rows: Rows, agent: Ints, values: Floats, frame: Ints) -> Rows:
    names = np.unique(rows.agent)
    velocity = None if rows.velocity is None else values[:, 2:]
    return Rows(frame, names[agent], values[:, 0], values[:, 1], velocity)


# ---- the walk -----------------------------------------------------------------------------------


def _snapped(grid: Grid, step: float, dt_s: float) -> str:
    most = float(np.abs(grid.offset).max()) * dt_s / step
    return (
        f"steps of {dt_s:.4g} s change phase: {int(grid.moved.sum())} of {len(grid.moved)} rows"
        f" snapped to a common grid, by at most {most:.3g} s; positions are as recorded"
    )


def _walk(
    rows: Rows, number: Ints, column: Ints, *, dt_s: float, radius_m: float, where: str
) -> Trajectory:
    shape = int(number.max()) + 1, int(column.max()) + 1
    if shape[0] * shape[1] > _MOST_CELLS:
        raise SourceError(
            f"{where}: expected frames of one recording, found {shape[0]} frames of {shape[1]}"
            " agents; are these frame numbers?"
        )
    places, present = _filled(number, column, np.column_stack((rows.x, rows.y)), shape)
    goal = np.zeros((shape[1], 2))
    order = np.argsort(number, kind="stable")
    goal[column[order]] = np.column_stack((rows.x, rows.y))[order]
    velocity = None
    if rows.velocity is not None:
        velocity, _ = _filled(number, column, rows.velocity, shape)
    return trajectory(
        places, present, dt_s=dt_s, velocity=velocity, goal=goal,
        radius=np.full(shape[1], radius_m),
    )  # fmt: skip


def _dt_of(clock: Clock, step: float, where: str) -> float:
    if clock.step_s is not None:
        check_dt(clock.step_s, where)
        return clock.step_s
    if clock.fps is None or not 0 < clock.fps < math.inf:
        raise SourceError(
            f"{where}: expected frame numbers per second above 0, found {clock.fps}; give --fps"
            " (ETH 15, HOTEL and UCY 25)"
        )
    return step / clock.fps


def _filled(
    row: Ints, column: Ints, values: Floats, shape: tuple[int, int]
) -> tuple[Floats, Bools]:
    grid = np.zeros((*shape, 2))
    present = np.zeros(shape, np.bool_)
    grid[row, column] = values
    present[row, column] = True
    return grid, present
