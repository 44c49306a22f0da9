"""Compare the same trips under two versions or two models: means, shares, and what chance does.

    compare_means([[4.0], [5.0]], [[4.0], [4.0]], rng)
    ->  [Comparison(n=2, before=4.5, after=4.0, difference=-0.5, low=-1.0, high=0.0, p=1.0)]
    compare_shares([[1], [0], [0]], [[0], [0], [1]])   ->  lost 1, gained 1, p = 1.0
    holm([0.01, 0.04, 0.03])                           ->  [0.03, 0.06, 0.06]
    estimate_ratios(Ratio([[4.0], [5.0]], [[1.0], [1.0]]), rng)
    ->  [Estimate(n=2, value=4.5, low=4.0, high=5.0)]      one version alone

A trip is the unit: its texts are no independent draws. Intervals are of 95 %.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

REPLICATES = 2000
CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959963984540054  # of (1 + CONFIDENCE) / 2
# Replicates held at a time: with 100,000 trips some 50 MB.
_AT_A_TIME = 64


class Comparison(NamedTuple):
    """One figure before and after, over the trips on which both sides have it.

    Attributes:
        n: Those trips.
        before: The figure before; null without trips.
        after: The figure after.
        difference: After minus before.
        low: Lower end of the interval of the difference; null with fewer than two trips.
        high: Upper end.
        p: Two-sided p-value; null without trips.
        lost: Trips that were yes and are no; null where a trip is no yes or no.
        gained: Trips that were no and are yes.
    """

    n: int
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    lost: int | None = None
    gained: int | None = None


NOTHING = Comparison(0, None, None, None, None, None, None)


class Ratio(NamedTuple):
    """A part and the whole it is of, trips by figures: words by texts, true names by all names."""

    part: npt.ArrayLike
    whole: npt.ArrayLike


class Estimate(NamedTuple):
    """One figure over trips.

    Attributes:
        n: Trips that have it.
        value: The figure; null without trips.
        low: Lower end of its interval; null with fewer than two trips.
        high: Upper end.
    """

    n: int
    value: float | None
    low: float | None
    high: float | None


def estimate_ratios(figures: Ratio, rng: np.random.Generator) -> list[Estimate]:
    """Return sums of parts over sums of wholes, column by column, with percentile intervals.

    Args:
        figures: Parts and wholes, trips by figures; a trip counts in a column whose whole is not 0.
        rng: Where the draws come from, trips with replacement; the same draws serve all columns.
    """
    part, whole = _table(figures.part), _table(figures.whole)
    trips = len(part)
    drawn = [np.empty((0, part.shape[1]))]
    for start in range(0, REPLICATES if trips else 0, _AT_A_TIME):
        weights = _weights(trips, min(_AT_A_TIME, REPLICATES - start), rng)
        drawn.append(_over(weights @ part, weights @ whole))
    resampled = np.concatenate(drawn)
    counts = (whole != 0).sum(axis=0)
    return [
        Estimate(
            int(n),
            float(part[:, k].sum() / whole[:, k].sum()) if n else None,
            *(interval(resampled[:, k]) if n > 1 else (None, None)),
        )
        for k, n in enumerate(counts)
    ]


def _weights(trips: int, replicates: int, rng: np.random.Generator) -> Floats:
    """Return how often each trip is drawn in each replicate."""
    picks = rng.integers(trips, size=(replicates, trips))
    return np.stack([np.bincount(row, minlength=trips) for row in picks]).astype(np.float64)


def compare_means(
    before: npt.ArrayLike, after: npt.ArrayLike, rng: np.random.Generator
) -> list[Comparison]:
    """Compare means over trips, column by column; see `compare_ratios`.

    Args:
        before: Trips by figures; NaN where a trip has none.
        after: The same trips after.
        rng: Where the draws come from; the same draws serve all columns.
    """
    old, new = _table(before), _table(after)
    return compare_ratios(Ratio(old, np.ones_like(old)), Ratio(new, np.ones_like(new)), rng)


def compare_ratios(before: Ratio, after: Ratio, rng: np.random.Generator) -> list[Comparison]:
    """Compare sums of parts over sums of wholes, column by column.

    The interval is the percentile bootstrap of the difference, trips drawn with replacement. The
    p-value is of the swap test: before and after of each trip are exchanged at random, and it is
    the share of such exchanges whose difference is as large (paired permutation test).

    Args:
        before: Parts and wholes; a trip counts in a column where neither side is NaN.
        after: The same trips after.
        rng: Where the draws come from; the same draws serve all columns.
    """
    tables = [_table(one) for one in (*before, *after)]
    known = np.isfinite(np.sum(tables, axis=0, dtype=np.float64))
    sums = _Sums(*(np.where(known, table, 0.0) for table in tables))
    drawn, swapped = _resampled(sums, rng)
    whole = np.ones((1, len(known)))
    first, second = sums.weighed(whole)
    return [
        _comparison(int(rows.sum()), first[0, k], second[0, k], drawn[:, k], swapped[:, k])
        for k, rows in enumerate(known.T)
    ]


def _comparison(n: int, before: float, after: float, drawn: Floats, swapped: Floats) -> Comparison:
    difference = float(after - before)
    if n == 0 or np.isnan(difference):
        return NOTHING
    low, high = interval(drawn) if n > 1 else (None, None)
    p = tail_share(swapped, difference)
    return Comparison(n, float(before), float(after), difference, low, high, p)


class _Sums(NamedTuple):
    """Parts and wholes of both sides, trips by figures."""

    part: Floats
    whole: Floats
    part_after: Floats
    whole_after: Floats

    def weighed(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the ratio of each side for each row of weights; NaN where the whole is 0."""
        return (
            _over(weights @ self.part, weights @ self.whole),
            _over(weights @ self.part_after, weights @ self.whole_after),
        )

    def exchanged(self, swap: Floats) -> Floats:
        """Return the difference after exchanging the sides of the trips that `swap` marks by 1."""
        stay = 1 - swap
        before = _over(
            stay @ self.part + swap @ self.part_after, stay @ self.whole + swap @ self.whole_after
        )
        after = _over(
            stay @ self.part_after + swap @ self.part, stay @ self.whole_after + swap @ self.whole
        )
        return after - before


def _over(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)
    return ratio


def _resampled(sums: _Sums, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return differences of resampled trips, and of exchanged ones; a row for each replicate."""
    n = len(sums.part)
    drawn, swapped = [np.empty((0, sums.part.shape[1]))], [np.empty((0, sums.part.shape[1]))]
    for start in range(0, REPLICATES if n else 0, _AT_A_TIME):
        some = min(_AT_A_TIME, REPLICATES - start)
        weights = _weights(n, some, rng)
        first, second = sums.weighed(weights)
        drawn.append(second - first)
        swapped.append(sums.exchanged(rng.integers(2, size=(some, n)).astype(np.float64)))
    return np.concatenate(drawn), np.concatenate(swapped)


def interval(values: Floats) -> tuple[float | None, float | None]:
    """Return the middle 95 % of resampled values; null where there are none."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(known, (tail, 1 - tail))
    return float(low), float(high)


def tail_share(exchanged: Floats, observed: float) -> float:
    """Return the share of exchanges at least as far from 0 as what was observed, itself counted."""
    far = np.abs(exchanged) >= abs(observed) - 1e-9 * (1 + abs(observed))  # NaN is not
    return float((1 + far.sum()) / (1 + len(exchanged)))


def compare_shares(before: npt.ArrayLike, after: npt.ArrayLike) -> list[Comparison]:
    """Compare shares of trips that are yes, column by column.

    The p-value is McNemar's, exact. The interval is Bonett and Price's (2012) for the difference
    of paired shares: it does not collapse where few trips changed.

    Args:
        before: Trips by figures: 1 yes, 0 no, NaN where a trip is neither.
        after: The same trips after.
    """
    old, new = _table(before), _table(after)
    both = ~(np.isnan(old) | np.isnan(new))
    return [_share(old[rows, k], new[rows, k]) for k, rows in enumerate(both.T)]


def _share(old: Floats, new: Floats) -> Comparison:
    n = len(old)
    if n == 0:
        return NOTHING
    lost, gained = int(((old == 1) & (new == 0)).sum()), int(((old == 0) & (new == 1)).sum())
    down, up = (lost + 1) / (n + 2), (gained + 1) / (n + 2)
    half = NORMAL_QUANTILE * float(np.sqrt((down + up - (up - down) ** 2) / (n + 2)))
    return Comparison(
        n=n,
        before=float(old.mean()),
        after=float(new.mean()),
        difference=(gained - lost) / n,
        low=max(-1.0, up - down - half) if n > 1 else None,
        high=min(1.0, up - down + half) if n > 1 else None,
        p=mcnemar_p(lost, gained),
        lost=lost,
        gained=gained,
    )


def mcnemar_p(lost: int, gained: int) -> float:
    """Return McNemar's exact two-sided p-value: twice the smaller binomial tail at one half.

    1.0 where no trip changed.
    """
    from scipy.special import bdtr  # noqa: PLC0415 - slow import

    return min(1.0, 2 * float(bdtr(min(lost, gained), lost + gained, 0.5)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values of one family; null stays null and counts for nothing."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted


def _table(values: npt.ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    return table.reshape(-1, 1) if table.ndim == 1 else table
