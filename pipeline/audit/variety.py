"""How varied a set of texts is, before and after a change: word pairs and first words.

    compare_pairs(before, after, rng)    ->  different word pairs over all word pairs (distinct-2)
    compare_openers(before, after, rng)  ->  different first two words over texts

Both are of a set of texts, not of one, and fall as the set grows: figures of sets of different size
do not compare. So no trip may be drawn twice: the interval is of half samples (delete-d jackknife
with d = n/2, whose spread is that of the whole), the p-value of the swap test of `paired`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.paired import NORMAL_QUANTILE, NOTHING, REPLICATES, Comparison, tail_share

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_OPENER_WORDS = 2
_AT_A_TIME = 200

# The texts of each trip, as many as there are of a kind.
Texts = Sequence[Sequence[str]]


def compare_pairs(before: Texts, after: Texts, rng: np.random.Generator) -> Comparison:
    """Compare distinct-2: different pairs of neighbouring words over all such pairs, 0-1.

    Args:
        before: The texts of each trip.
        after: Those of the same trips after.
        rng: Where the draws come from.
    """
    return _compare(before, after, _word_pairs, rng)


def compare_openers(before: Texts, after: Texts, rng: np.random.Generator) -> Comparison:
    """Compare the number of different first two words over the number of texts, 0-1."""
    return _compare(before, after, _opener, rng)


def _word_pairs(text: str) -> Iterable[tuple[str, ...]]:
    return pairwise(_WORD.findall(text.casefold()))


def _opener(text: str) -> Iterable[tuple[str, ...]]:
    words = text.casefold().split()
    return [tuple(words[:_OPENER_WORDS])] if words else []


class _Side(NamedTuple):
    """What the trips of one side say.

    Attributes:
        says: Things by trips, how often each trip says each (sparse).
        size: How many things each trip says.
    """

    says: Any
    size: npt.NDArray[np.float64]


def _compare(
    before: Texts,
    after: Texts,
    things: Callable[[str], Iterable[tuple[str, ...]]],
    rng: np.random.Generator,
) -> Comparison:
    n = len(before)
    numbers: dict[tuple[str, ...], int] = {}
    listed = [
        [[numbers.setdefault(one, len(numbers)) for text in trip for one in things(text)]
         for trip in side]
        for side in (before, after)
    ]  # fmt: skip
    old, new = (_side(trips, len(numbers)) for trips in listed)
    if not (n and old.size.sum() and new.size.sum()):
        return NOTHING
    everything = np.ones((n, 1), dtype=np.float32)
    first, second = float(_share(old, everything)[0]), float(_share(new, everything)[0])
    low, high = None, None
    if n > 1:
        gaps = [_share(new, kept) - _share(old, kept) for kept in _halves(n, rng)]
        half = NORMAL_QUANTILE * float(np.nanstd(np.concatenate(gaps)))
        low, high = max(-1.0, second - first - half), min(1.0, second - first + half)
    swapped = np.concatenate(
        [
            _share(new, 1 - swap, old) - _share(old, 1 - swap, new)
            for swap in _coins(n, rng)
        ]
    )  # fmt: skip
    return Comparison(
        n=n,
        before=first,
        after=second,
        difference=second - first,
        low=low,
        high=high,
        p=tail_share(swapped, second - first),
    )


def _side(trips: list[list[int]], things: int) -> _Side:
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow import

    size = [len(trip) for trip in trips]
    rows = [number for trip in trips for number in trip]
    columns = np.repeat(np.arange(len(trips)), size)
    ones = np.ones(len(rows), dtype=np.float32)
    says = csr_array((ones, (rows, columns)), shape=(things, len(trips)))
    return _Side(says, np.asarray(size, dtype=np.float64))


def _share(side: _Side, kept: Any, other: _Side | None = None) -> npt.NDArray[np.float64]:
    """Return different things over all things, one share a column; NaN where nothing is said.

    Args:
        side: Where the kept trips are from.
        kept: Trips by samples, 1 or 0.
        other: Where the trips that are not kept are from; None = they are left out.
    """
    said, size = side.says @ kept, side.size @ kept
    if other is not None:
        said, size = said + other.says @ (1 - kept), size + other.size @ (1 - kept)
    different = np.count_nonzero(said, axis=0).astype(np.float64)
    share: npt.NDArray[np.float64] = np.divide(
        different, size, out=np.full(len(size), np.nan), where=size > 0
    )
    return share


def _halves(n: int, rng: np.random.Generator) -> Iterable[Any]:
    """Yield samples of half the trips, none of them twice, some at a time."""
    for some in _batches():
        order = rng.permuted(np.tile(np.arange(n), (some, 1)), axis=1)
        yield (order < n // 2).T.astype(np.float32)


def _coins(n: int, rng: np.random.Generator) -> Iterable[Any]:
    """Yield which trips change sides, some samples at a time."""
    for some in _batches():
        yield rng.integers(2, size=(n, some)).astype(np.float32)


def _batches() -> list[int]:
    return [min(_AT_A_TIME, REPLICATES - start) for start in range(0, REPLICATES, _AT_A_TIME)]
