"""Jaccard similarity of trips over their sets of H3 cells: of given pairs, and with a whole pool.

    sets = cell_sets(pl.Series([["a", "b"], ["b", "c"], ["d"]]))
    jaccard(sets, [0, 0], [1, 2])          ->  [1/3, 0.0]
    distinct_overlaps(sets, [0])           ->  of trip 0: 1.0 once, 1/3 once (and 0.0 for the rest)
    most_overlapping(sets, [0], depth=3)   ->  [[0, 1, -1]]

A pool is searched through an inverted index, so only candidates that share a cell are looked at.
The quotient of equal fractions is the same float, so that equal overlaps compare equal.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.trips.matching.compiled import cached_kernel, kernel

Ints = np.ndarray[Any, np.dtype[Any]]
Floats = npt.NDArray[np.float64]


class CellSets(NamedTuple):
    """Sets of numbered cells: that of trip i is `cells[starts[i] : starts[i + 1]]`, rising."""

    starts: Ints
    cells: Ints


class Overlaps(NamedTuple):
    """How much each asked trip has in common with the trips of a pool, itself included.

    Attributes:
        starts: Those of asked trip i are `values[starts[i] : starts[i + 1]]`.
        values: The different Jaccard similarities above 0, falling.
        counts: How many trips of the pool have each; all others have 0.
    """

    starts: Ints
    values: Floats
    counts: Ints


def cell_sets(cells: pl.Series) -> CellSets:
    """Number the cells of trips.

    Args:
        cells: Lists of cell ids; order and repetition do not count, an empty list is an empty set.
    """
    flat = pl.DataFrame({"row": np.arange(cells.len()), "cell": cells}).explode("cell").drop_nulls()
    numbered = (
        flat.with_columns(pl.col("cell").rank("dense").cast(pl.Int32)).unique().sort("row", "cell")
    )
    sizes = np.bincount(numbered["row"].to_numpy(), minlength=cells.len())
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return CellSets(starts, numbered["cell"].to_numpy().astype(np.int32) - 1)


def jaccard(sets: CellSets, one: npt.ArrayLike, other: npt.ArrayLike) -> Floats:
    """Return the Jaccard similarity of pairs of trips.

    Args:
        sets: Cells of the trips.
        one: Numbers of trips; -1 for one that is unknown, which has nothing in common with any.
        other: The same, of equal length.

    Returns:
        Shares of 0 to 1; 0 where both sets are empty.
    """
    return _pairs(sets, np.asarray(one, np.int64), np.asarray(other, np.int64))


def distinct_overlaps(sets: CellSets, asked: npt.ArrayLike) -> Overlaps:
    """Return for each asked trip the different similarities in the pool of all sets, and counts."""
    return Overlaps(*_distinct(sets, _under_cells(sets), np.asarray(asked, np.int64)))


def most_overlapping(sets: CellSets, asked: npt.ArrayLike, *, depth: int) -> Ints:
    """Rank for each asked trip the trips it has most in common with, itself first.

    Args:
        sets: Cells of the pool.
        asked: Numbers of trips of the pool.
        depth: How many to list.

    Returns:
        Asked trips by `depth`: numbers of trips by falling similarity, equal ones by their number;
        -1 where no other trip shares a cell.
    """
    return _most(sets, _under_cells(sets), np.asarray(asked, np.int64), depth)


def _under_cells(sets: CellSets) -> CellSets:
    """Return the inverted index: the trips under each cell, rising."""
    rows = np.repeat(np.arange(len(sets.starts) - 1, dtype=np.int32), np.diff(sets.starts))
    order = np.argsort(sets.cells, kind="stable")
    counts = np.bincount(sets.cells) if sets.cells.size else np.zeros(0, np.int64)
    return CellSets(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows[order])


@cached_kernel
def _pairs(sets: CellSets, one: Ints, other: Ints) -> Floats:
    found = np.zeros(one.size)
    for pair in range(one.size):
        if one[pair] < 0 or other[pair] < 0:
            continue
        i, i_end = sets.starts[one[pair]], sets.starts[one[pair] + 1]
        j, j_end = sets.starts[other[pair]], sets.starts[other[pair] + 1]
        size, common = i_end - i + j_end - j, 0
        while i < i_end and j < j_end:
            if sets.cells[i] == sets.cells[j]:
                common, i, j = common + 1, i + 1, j + 1
            elif sets.cells[i] < sets.cells[j]:
                i += 1
            else:
                j += 1
        if common:
            found[pair] = common / (size - common)
    return found


@kernel
def _count_common(sets: CellSets, under: CellSets, row: int, common: Ints) -> None:
    """Count for each trip of the pool the cells it shares with one."""
    common[:] = 0
    for at in range(sets.starts[row], sets.starts[row + 1]):
        cell = sets.cells[at]
        for place in range(under.starts[cell], under.starts[cell + 1]):
            common[under.cells[place]] += 1


@cached_kernel
def _distinct(sets: CellSets, under: CellSets, asked: Ints) -> tuple[Ints, Floats, Ints]:
    sizes = np.diff(sets.starts)
    largest = sizes.max() if sizes.size else 0
    common = np.zeros(sizes.size, np.int32)
    # How many trips share so many cells and have so many: few pairs are different.
    tally = np.zeros((largest + 1, largest + 1), np.int64)
    starts = np.zeros(asked.size + 1, np.int64)
    values, counts = np.empty(1024), np.empty(1024, np.int64)
    used = np.empty((sizes.size, 2), np.int64)
    for query in range(asked.size):
        own = sizes[asked[query]]
        _count_common(sets, under, asked[query], common)
        different = 0
        for row in range(sizes.size):
            shared = common[row]
            if not shared:
                continue
            if not tally[shared, sizes[row]]:
                used[different, 0], used[different, 1] = shared, sizes[row]
                different += 1
            tally[shared, sizes[row]] += 1
        shares = used[:different, 0] / (own + used[:different, 1] - used[:different, 0])
        end = starts[query]
        if end + different > values.size:
            room = max(2 * values.size, end + different)
            values = np.append(values[:end], np.empty(room - end))
            counts = np.append(counts[:end], np.empty(room - end, np.int64))
        for place in np.argsort(-shares):
            if end == starts[query] or shares[place] != values[end - 1]:
                values[end], counts[end] = shares[place], 0
                end += 1
            shared, size = used[place]
            counts[end - 1] += tally[shared, size]
            tally[shared, size] = 0
        starts[query + 1] = end
    return starts, values[: starts[-1]].copy(), counts[: starts[-1]].copy()


@cached_kernel
def _most(sets: CellSets, under: CellSets, asked: Ints, depth: int) -> Ints:
    sizes = np.diff(sets.starts)
    common = np.zeros(sizes.size, np.int32)
    found = np.full((asked.size, depth), -1, np.int64)
    # The best so far, falling; a later trip that is no better comes behind its equals.
    shares = np.empty(depth + 1)
    rows = np.empty(depth + 1, np.int64)
    for query in range(asked.size):
        target = asked[query]
        _count_common(sets, under, target, common)
        shares[0], rows[0], listed = np.inf, target, 1
        for row in range(sizes.size):
            shared = common[row]
            if not shared or row == target:
                continue
            share = shared / (sizes[target] + sizes[row] - shared)
            if listed == depth and share <= shares[depth - 1]:
                continue
            place = listed
            while shares[place - 1] < share:
                shares[place], rows[place] = shares[place - 1], rows[place - 1]
                place -= 1
            shares[place], rows[place] = share, row
            listed = min(listed + 1, depth)
        found[query, :listed] = rows[:listed]
    return found
