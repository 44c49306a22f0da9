"""Find the sets that are nearly one of many others: an exact join by Jaccard similarity.

    any_near([{1, 2, 3, 4}], [{1, 2, 3, 4, 5}, {7}], near=0.8)  ->  [True]

The elements of a set are numbers, from the rarest of all to the most frequent. Two sets that share
enough then share one of their first elements (the prefix), so only sets found under those elements
are looked at, of these only sets of a size that fits, and each only until it is clear that it can
not share enough.

Chaudhuri et al. 2006, "A primitive operator for similarity joins in data cleaning" (prefixes); Xiao
et al. 2008, "Efficient similarity joins for near duplicate detection" (positions).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pipeline.trips.matching.compiled import cached_kernel, kernel

Ints = np.ndarray[Any, np.dtype[Any]]

# Sets whose elements are numbered at a time: bounds memory, changes nothing.
_SETS_AT_ONCE = 1 << 16


class Sets(NamedTuple):
    """Sets of numbers: that of row i is `numbers[starts[i] :][: sizes[i]]`, rising.

    Elements that no known set has are all -1: they count for the size, and equal nothing.
    """

    numbers: Ints
    starts: Ints
    sizes: Ints


def any_near(sets: pl.Series, known: pl.Series, *, near: float) -> Ints:
    """Return a mask over `sets`: which have at least `near` in common with one of the known.

    Args:
        sets: Lists of different UInt64.
        known: The same.
        near: Least Jaccard similarity, above 0 to 1; a set at the very limit is near. An empty set
            is near none.
    """
    if not sets.len() or not known.len():
        return np.zeros(sets.len(), dtype=bool)
    counts = pl.concat([part.value_counts() for part in map(_flat, _some(known))])
    elements = counts.group_by("element").sum().sort("count", "element")["element"]
    asked, others = _numbered(sets, elements), _numbered(known, elements)
    by_size = np.argsort(others.sizes, kind="stable")
    others = Sets(others.numbers, others.starts[by_size], others.sizes[by_size])
    return _find(asked, others, elements.len(), near)


def _some(sets: pl.Series) -> Iterator[pl.Series]:
    for start in range(0, sets.len(), _SETS_AT_ONCE):
        yield sets[start : start + _SETS_AT_ONCE]


def _flat(sets: pl.Series) -> pl.Series:
    return sets.explode().drop_nulls().rename("element")  # an empty set explodes to a null


def _numbered(sets: pl.Series, elements: pl.Series) -> Sets:
    """Replace each element by its place in `elements`."""
    places = pl.int_range(elements.len(), dtype=pl.Int32, eager=True)
    place = pl.element().replace_strict(elements, places, default=-1, return_dtype=pl.Int32)
    sizes = sets.list.len().to_numpy().astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    numbers, end = np.empty(sizes.sum(), np.int32), 0
    for some in _some(sets):
        rising = _flat(
            some.to_frame("set").select(pl.col("set").list.eval(place).list.sort())["set"]
        )
        numbers[end : end + rising.len()] = rising
        end += rising.len()
    return Sets(numbers, starts, sizes)


@kernel
def _enough(common: int, one: int, other: int, near: float) -> bool:
    """Tell whether sets of two sizes with so many elements in common are near."""
    return common >= near * (one + other - common) - 1e-9


@kernel
def _least_common(one: int, other: int, near: float) -> int:
    """Return how many elements sets of two sizes must share; more than they have if none do."""
    common = max(1, int(near / (1 + near) * (one + other)) - 1)
    while common <= min(one, other) and not _enough(common, one, other, near):
        common += 1
    return common


@kernel
def _smallest(size: int, near: float) -> int:
    """Return the size of the smallest set that can be near to one of a size."""
    small = max(1, int(near * size) - 1)
    while not _enough(small, small, size, near):
        small += 1
    return small


@kernel
def _prefix(size: int, near: float) -> int:
    """Return how many of its first elements a set must be looked for under."""
    return size - _smallest(size, near) + 1 if size else 0


@kernel
def _postings(known: Sets, elements: int, near: float) -> tuple[Ints, Ints, Ints]:
    """Return the sets under each element of their prefixes, and the place of the element in them.

    Those under element e are `found[first[e] : first[e + 1]]`, in the order of the sets.
    """
    first = np.zeros(elements + 1, np.int64)
    for row in range(known.sizes.size):
        for place in range(_prefix(known.sizes[row], near)):
            first[known.numbers[known.starts[row] + place] + 1] += 1
    first = np.cumsum(first)
    free = first[:-1].copy()
    found, places = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    for row in range(known.sizes.size):
        for place in range(_prefix(known.sizes[row], near)):
            element = known.numbers[known.starts[row] + place]
            found[free[element]], places[free[element]] = row, place
            free[element] += 1
    return first, found, places


@kernel
def _bits(numbers: Ints) -> tuple[np.uint64, np.uint64]:
    """Return 128 bits of a set, each the parity of some of its elements: one more flips one bit."""
    low, high = np.uint64(0), np.uint64(0)
    for number in numbers:
        if number >= 0:
            place = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(57)
            bit = np.uint64(1) << (place & np.uint64(63))
            if place < np.uint64(64):
                low ^= bit
            else:
                high ^= bit
    return low, high


@kernel
def _count(bits: np.uint64) -> np.int64:
    """Return how many of 64 bits are set."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    bits = (bits & fours) + ((bits >> np.uint64(2)) & fours)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _share(one: Ints, other: Ints, wanted: int) -> bool:
    """Tell whether two rising rows of numbers have at least so many in common."""
    i, j = 0, 0
    while wanted > 0:
        if min(one.size - i, other.size - j) < wanted:
            return False
        if one[i] == other[j]:
            i, j, wanted = i + 1, j + 1, wanted - 1
        elif one[i] < other[j]:
            i += 1
        else:
            j += 1
    return True


@kernel
def _set(sets: Sets, row: int) -> Ints:
    return sets.numbers[sets.starts[row] : sets.starts[row] + sets.sizes[row]]


@kernel
def _has_near(
    row: int,
    one: Ints,
    known: Sets,
    bits: Ints,
    postings: tuple[Ints, Ints, Ints],
    looked_at_for: Ints,
    near: float,
) -> bool:
    """Tell whether a set, that of a row, is near to a known one."""
    first, found, places = postings
    low, high = _bits(one)
    unknown = np.searchsorted(one, 0)
    smallest = np.searchsorted(known.sizes, _smallest(one.size, near))
    for place in range(unknown, _prefix(one.size, near)):
        begin, end = first[one[place]], first[one[place] + 1]
        for at in range(begin + np.searchsorted(found[begin:end], smallest), end):
            other, there = found[at], places[at]
            size = known.sizes[other]
            wanted = _least_common(one.size, size, near)
            # Of two sets with an element in common, those before it can be in one of them alone.
            if wanted > one.size - place:
                break  # the others are no smaller
            if wanted > size - there or looked_at_for[other] == row:
                continue
            looked_at_for[other] = row
            differ = unknown + _count(low ^ bits[other, 0]) + _count(high ^ bits[other, 1])
            if differ > one.size + size - 2 * wanted:
                continue
            if _share(one[place + 1 :], _set(known, other)[there + 1 :], wanted - 1):
                return True
    return False


@cached_kernel
def _find(sets: Sets, known: Sets, elements: int, near: float) -> Ints:
    """Return which sets are near to a known one; the known must be sorted by size."""
    postings = _postings(known, elements, near)
    bits = np.empty((known.sizes.size, 2), np.uint64)
    for row in range(known.sizes.size):
        bits[row, 0], bits[row, 1] = _bits(_set(known, row))
    near_one = np.zeros(sets.sizes.size, np.bool_)
    looked_at_for = np.full(known.sizes.size, -1, np.int32)
    for row in range(sets.sizes.size):
        one = _set(sets, row)
        near_one[row] = _has_near(row, one, known, bits, postings, looked_at_for, near)
    return near_one
