"""Rows at uneven moments brought to even ones, on the straight lines between them.

    at_even_moments(Moments(seconds, agent, values, step_s=0.4), "walk.csv")
    ->  Brought(number=[0, 1, 2], agent=[0, 0, 0], values=..., note="rows at uneven moments ...")

Nothing is made up over a gap: where two rows of an agent are further apart than usual the agent is
absent between them.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats, Ints
from pipeline.stride.trajectories import MOST_PLACES

# A gap is this many times as long as nine of ten intervals.
_GAP, _USUAL = 1.5, 0.9
# A moment this near to a row, in parts of a step, is the row's.
_AT = 1e-6


class Moments(NamedTuple):
    """Rows with their times.

    Attributes:
        seconds: (M,), no two of one agent alike.
        agent: (M,), numbers from 0, each with two rows or more.
        values: (M, K), what lies on straight lines.
        step_s: Seconds wanted from one moment to the next.
    """

    seconds: Floats
    agent: Ints
    values: Floats
    step_s: float


class Brought(NamedTuple):
    """Rows at even moments.

    Attributes:
        number: (L,), steps since the earliest row of all.
        agent: (L,).
        values: (L, K).
        note: What was done, in words.
    """

    number: Ints
    agent: Ints
    values: Floats
    note: str


def at_even_moments(rows: Moments, where: str) -> Brought:
    """Bring rows to even moments.

    Raises:
        SourceError: There would be more moments than memory holds.
    """
    order = np.lexsort((rows.seconds, rows.agent))
    begin = float(rows.seconds.min())
    seconds, agent, values = rows.seconds[order] - begin, rows.agent[order], rows.values[order]
    if float(seconds.max()) / rows.step_s * (int(agent.max()) + 1) > MOST_PLACES:
        raise SourceError(
            f"{where}: --resample: expected one that gives at most {MOST_PLACES} places, found"
            f" {rows.step_s:g}; give a longer one"
        )
    same = np.diff(agent) == 0
    longest = _GAP * float(np.quantile(np.diff(seconds)[same], _USUAL))
    edges = np.flatnonzero(np.concatenate(([True], ~same, [True])))
    parts = [
        _of_agent(seconds[a:b], values[a:b], step_s=rows.step_s, longest=longest)
        for a, b in pairwise(edges.tolist())
    ]
    gaps = int((np.diff(seconds)[same] > longest).sum())
    left_open = f"; {gaps} gaps above {longest:.3g} s left open" if gaps else ""
    return Brought(
        np.concatenate([number for number, _ in parts]),
        np.repeat(agent[edges[:-1]], [len(number) for number, _ in parts]),
        np.concatenate([placed for _, placed in parts]),
        f"rows at uneven moments brought to steps of {rows.step_s:g} s, on straight lines between"
        f" them{left_open}",
    )


def _of_agent(
    seconds: Floats, values: Floats, *, step_s: float, longest: float
) -> tuple[Ints, Floats]:
    """Return the steps one agent is there for, and its values at them."""
    first = int(np.ceil(seconds[0] / step_s - _AT))
    last = int(np.floor(seconds[-1] / step_s + _AT))
    number = np.arange(first, last + 1)
    at = np.clip(number * step_s, seconds[0], seconds[-1])
    before = np.clip(np.searchsorted(seconds, at, side="right") - 1, 0, len(seconds) - 2)
    nearest = np.minimum(at - seconds[before], seconds[before + 1] - at)
    shown = (np.diff(seconds)[before] <= longest) | (nearest <= _AT * step_s)
    columns = [np.interp(at[shown], seconds, column) for column in values.T]
    return number[shown], np.column_stack(columns)
