"""How far raters agree, by measures that see chance and measures that do not.

    table = ScoreTable(np.array([[5, 4], [4, 4], [2, 0]]))    # three items, two raters, 0 = none
    confusion = table.confusion(0, 1)                         # 5 x 5 counts, here of two items
    within_one(confusion), within_one_by_chance(confusion)    ->  1.0, 1.0
    weighted_kappa(confusion), ordinal_alpha(table.coincidences())

Scores are whole numbers from 1 to 5. Every measure takes one table of counts or a stack of them, so
that a bootstrap is one call; where a measure is not defined it is NaN. Paper: A.3.5, Table 14.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEVELS = 5
_LEVEL = np.arange(LEVELS)
_APART = np.abs(_LEVEL[:, None] - _LEVEL[None, :])
_NEAR = (_APART <= 1).astype(np.float64)
_SQUARED = (_APART / (LEVELS - 1)) ** 2


class ScoreTable:
    """What several raters gave the same items by one criterion.

    Items that were scored alike are one pattern with a count: a hundred thousand items by three
    raters are at most 216 patterns, and resampling items means drawing how often each occurs.

    Attributes:
        items: Number of items, those without any score included.
        counts: Items of each pattern; `draws` gives others in their place.
    """

    def __init__(self, scores: npt.ArrayLike) -> None:
        """Group items.

        Args:
            scores: Items by raters, whole numbers 1 to 5, 0 where a rater gave none.

        Raises:
            ValueError: A score is outside 0 to 5, or there are no two dimensions.
        """
        given = np.asarray(scores, dtype=np.int64)
        if given.ndim != 2:
            raise ValueError(f"expected items by raters, found {given.ndim} dimensions")
        if given.size and not (given.min() >= 0 and given.max() <= LEVELS):
            raise ValueError(f"expected scores from 0 to {LEVELS}, found others")
        self.items = len(given)
        self._patterns, self.counts = _grouped(given)
        self.counts.setflags(write=False)

    def draws(self, rng: np.random.Generator, number: int) -> Counts:
        """Resample the items with replacement.

        Args:
            rng: Where the draws come from.
            number: How many samples, each as large as the table.

        Returns:
            Samples by patterns: counts in the place of `counts`.
        """
        if not self.items:
            return np.zeros((number, 0), dtype=np.int64)
        return rng.multinomial(self.items, self.counts / self.items, size=number)

    def histogram(self, rater: int, counts: Counts | None = None) -> Counts:
        """Return how often a rater gave each score: 5 counts, from score 1 to 5."""
        return self._weighted(_one_hot(self._patterns[:, rater]), counts)

    def confusion(self, first: int, second: int, counts: Counts | None = None) -> Counts:
        """Return how often two raters gave each pair of scores, over items that both scored.

        Returns:
            5 x 5 counts (a stack of them for a stack of counts): row = score of the first minus 1,
            column = score of the second minus 1.
        """
        one, other = _one_hot(self._patterns[:, first]), _one_hot(self._patterns[:, second])
        pairs = (one[:, :, None] * other[:, None, :]).reshape(-1, LEVELS * LEVELS)
        found = self._weighted(pairs, counts)
        return found.reshape(*found.shape[:-1], LEVELS, LEVELS)

    def coincidences(
        self, counts: Counts | None = None, *, raters: Sequence[int] | None = None
    ) -> Floats:
        """Return Krippendorff's coincidences of some raters, or of all: 5 x 5, symmetric.

        An item with m scores gives m (m - 1) ordered pairs, each weighing 1 / (m - 1); an item with
        fewer than two gives none.
        """
        rows = self._patterns if raters is None else self._patterns[:, list(raters)]
        given = np.stack([(rows == level + 1).sum(axis=1) for level in _LEVEL], axis=-1)
        scores = given.sum(axis=1)
        pairs = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(LEVELS)
        weight = np.where(scores > 1, 1 / np.maximum(scores - 1, 1), 0.0)
        units = (pairs * weight[:, None, None]).reshape(-1, LEVELS * LEVELS)
        found: Floats = (self.counts if counts is None else counts) @ units
        return found.reshape(*found.shape[:-1], LEVELS, LEVELS)

    def _weighted(self, rows: Counts, counts: Counts | None) -> Counts:
        found: Counts = (self.counts if counts is None else counts) @ rows
        return found


def mean_score(histogram: Counts) -> Floats:
    """Return the mean of a histogram of scores; NaN for none."""
    return _ratio((histogram * (_LEVEL + 1)).sum(axis=-1), histogram.sum(axis=-1))


def exact(confusion: Counts) -> Floats:
    """Return the share of items with the same score; NaN without items."""
    return _ratio(np.trace(confusion, axis1=-2, axis2=-1), _total(confusion))


def within_one(confusion: Counts) -> Floats:
    """Return the share of items whose scores differ by at most 1; NaN without items."""
    return _ratio((confusion * _NEAR).sum(axis=(-2, -1)), _total(confusion))


def within_one_by_chance(confusion: Counts) -> Floats:
    """Return the share that two raters with these marginals would reach without looking.

    The sum of p_i q_j over |i - j| <= 1, with p and q the shares of each score of the two raters;
    NaN without items.
    """
    return _ratio(_by_chance(confusion, _NEAR), _total(confusion))


def weighted_kappa(confusion: Counts) -> Floats:
    """Return Cohen's kappa with quadratic weights: 1 = same scores, 0 = as by chance.

    NaN without items, and where both raters gave one and the same score throughout: then chance
    leaves no disagreement to beat.
    """
    observed = (confusion * _SQUARED).sum(axis=(-2, -1))
    expected = _by_chance(confusion, _SQUARED)
    return 1 - _ratio(observed, expected)


def ordinal_alpha(coincidences: Floats) -> Floats:
    """Return Krippendorff's alpha for ordinal scores: 1 = same scores, 0 = as by chance.

    NaN where fewer than two scores can be paired, and where all are the same.
    """
    totals = coincidences.sum(axis=-1)
    distance = _ordinal_distance(totals)
    observed = (coincidences * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - _ratio(observed * (totals.sum(axis=-1) - 1), expected)


def interval(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the middle share of resampled values, as low and high end.

    Samples in which a measure is not defined are left out; NaN where it is in none.
    """
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    return float(low), float(high)


def _grouped(scores: Counts) -> tuple[Counts, Counts]:
    """Return the different rows, and how often each occurs."""
    if not scores.size:
        return scores[:0], np.zeros(0, dtype=np.int64)
    patterns, counts = np.unique(scores, axis=0, return_counts=True)
    return patterns, counts.astype(np.int64)


def _one_hot(scores: Counts) -> Counts:
    """Return a row for each score with 1 at its level; a missing one has none."""
    rows: Counts = (scores[:, None] == _LEVEL[None, :] + 1).astype(np.int64)
    return rows


def _by_chance(confusion: Counts, weights: Floats) -> Floats:
    """Return the weighted count that independent raters with the same marginals would have."""
    rows, columns = confusion.sum(axis=-1), confusion.sum(axis=-2)
    outer = rows[..., :, None] * columns[..., None, :]
    return _ratio((outer * weights).sum(axis=(-2, -1)), _total(confusion))


def _ordinal_distance(totals: Floats) -> Floats:
    """Return the squared ordinal distance of each two levels, given how often each occurs.

    The number of scores from one level to the other, each end counted by half.
    """
    upto = np.cumsum(totals, axis=-1)
    middle = upto - totals / 2
    distance: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return distance


def _total(confusion: Counts) -> Counts:
    total: Counts = np.asarray(confusion.sum(axis=(-2, -1)))
    return total


def _ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    ratio: Floats = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
    return ratio
