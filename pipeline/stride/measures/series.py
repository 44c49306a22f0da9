"""How the published scorer picks frames, cuts a clip into bins, and reads a trend.

    sample(1200, 100)        ->  frames 0, 12, 24, ... 1188
    bins(7, 5)               ->  (0, 1), (1, 2), (2, 4), (4, 5), (5, 7)
    trend([1.0, 1.5, 2.0])   ->  0.333: each bin one third of the mean more than the one before

All three are kept as they are, odd ones included: published scores depend on them.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from pipeline.stride.arrays import Ints
from pipeline.stride.measures.undefined import whole_number

_TINY = 1e-8
_MOST_BINS = 100_000


def sample(frames: int, wanted: int) -> Ints:
    """Return about `wanted` evenly spaced frames: 0, step, 2 * step, ... below `frames`.

    step = max(1, floor(frames / wanted)), so between `wanted` and 2 * wanted - 1 frames are used
    where there are as many (199 of 199, but 100 of 200).
    """
    return np.arange(0, frames, max(1, frames // wanted), dtype=np.int64)


def bins(frames: int, n_bins: object) -> list[tuple[int, int]]:
    """Return the half-open bins of a clip, empty ones left out.

    Edges are the whole parts of a double-precision linspace, which now and then differ from exact
    fractions (14 bins of 122 frames). No bins for n_bins of 0 or below.

    Raises:
        UndefinedError: n_bins is no whole number.
    """
    count = max(whole_number("n_bins", n_bins, most=_MOST_BINS), 0)
    edges = [int(edge) for edge in np.linspace(0, frames, count + 1)]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def sampled_bins(frames: int, n_bins: object, wanted: int) -> list[Ints]:
    """Return the sampled frames of each bin: those of `sample`, counted from the bin's start."""
    return [start + sample(end - start, wanted) for start, end in bins(frames, n_bins)]


def trend(values: Sequence[float], places: Sequence[int] | None = None) -> float:
    """Return the least-squares slope of the values over their mean size.

    slope(y against 0, 1, 2, ...) / (mean |y| + 1e-8): the change from one bin to the next as a
    fraction of the mean. 0 for fewer than 2 values. For values that are not negative it lies within
    +-6 / (n + 1).

    Args:
        values: One per bin.
        places: Where the values lie on the axis, if not at 0, 1, 2, ...
    """
    if len(values) < 2:
        return 0.0
    y = np.asarray(values, dtype=np.float64)
    x = np.arange(len(y), dtype=np.float64) if places is None else np.asarray(places, np.float64)
    off = x - x.mean()
    slope = (off * (y - y.mean())).sum() / (off * off).sum()
    return float(slope / (np.abs(y).mean() + _TINY))


def trend_of_bins(values: Sequence[float | None]) -> float | None:
    """Return the published trend: a bin without data counts as 0.0. None if no bin has data."""
    if len(values) < 2 or all(value is None for value in values):
        return None
    return trend([0.0 if value is None else value for value in values])
