"""Frame numbers put on one grid: a step that all agents share, and the phase most rows have.

    step_of(changes_of(frame, agent), jitter=0).frames   ->  6.0: each agent is seen every 6 frames
    grid_of(np.array([0, 6, 12, 20, 26]), 6.0, jitter=0)
    ->  numbers 0, 1, 2, 3, 4; offsets 0, 0, 0, -2, -2

A recording that was cut or annotated in parts changes phase: its frames step by 6 all the time, yet
3768 and 4163 are no multiple of 6 apart (ETH); or each track has a phase of its own (PETS). A row
goes to the nearest step, so rows of one phase move alike and no row moves by more than half a step.
"""

from typing import NamedTuple

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints

# Frames are whole: what is less off than this is off by rounding.
_SAME = 1e-3
# More changes than this share that are no multiples of the step: it is none.
_MOST_ODD = 0.1


class Step(NamedTuple):
    """How far apart the rows of an agent are.

    Attributes:
        frames: The usual change from one row of an agent to its next, frames.
        uneven: Whether too many changes are no multiples of it.
        least: The smallest change, frames.
        most: The largest change, frames.
    """

    frames: float
    uneven: bool
    least: int
    most: int


class Grid(NamedTuple):
    """Rows on a grid; arrays are (M,).

    Attributes:
        number: Step each row goes to, from 0.
        frame: Frame number of that step, rounded.
        offset: Frames from the row to that step.
        moved: Whether that is more than a row may be off.
        first: Frame number of step 0, rounded.
    """

    number: Ints
    frame: Ints
    offset: Floats
    moved: Bools
    first: int


def changes_of(frame: Ints, agent: Ints) -> Ints:
    """Return the changes of frame from each row of an agent to its next, (M - agents,)."""
    order = np.lexsort((frame, agent))
    return np.asarray(np.diff(frame[order])[np.diff(agent[order]) == 0])


def step_of(changes: Ints, *, jitter: float) -> Step:
    """Return the step of changes.

    Args:
        changes: All above 0, at least one.
        jitter: How far a change may be off a multiple of the step, in parts of the step.
    """
    ordered = np.sort(changes)
    usual = int(ordered[(len(ordered) - 1) // 2])
    count = np.rint(changes / usual)
    even = (np.abs(changes - count * usual) <= jitter * usual) & (count > 0)
    # Times of a clock that ticks 30 times a second are 33,333 or 33,334 millionths apart.
    frames = float(changes[even].sum() / count[even].sum()) if even.any() else float(usual)
    uneven = bool((~even).mean() > _MOST_ODD)
    return Step(frames, uneven, int(ordered[0]), int(ordered[-1]))


def grid_of(frame: Ints, step: float, *, jitter: float) -> Grid:
    """Return the grid of steps whose phase most rows have.

    Args:
        frame: (M,), at least one.
        step: Frames from one step to the next, above 0.
        jitter: How far a row may be off the grid and count as on it, in parts of the step.
    """
    begin = int(frame.min())
    since = (frame - begin).astype(np.float64)
    phase = since - np.floor(since / step) * step
    width = max(1.0, jitter * step)
    part = np.floor(phase / width).astype(np.int64)
    most = np.bincount(part).argmax()
    own = np.sort(phase[part == most])
    base = float(own[(len(own) - 1) // 2])
    number = np.floor((since - base) / step + 0.5).astype(np.int64)
    at = base + number * step
    first = int(number.min())
    offset = at - since
    return Grid(
        number - first,
        begin + np.rint(at).astype(np.int64),
        offset,
        np.abs(offset) > max(jitter * step, _SAME),
        begin + round(base + first * step),
    )
