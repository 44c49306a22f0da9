"""Overlaps of trips are what Python's own sets give, pair by pair and over a whole pool."""

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.tasks.overlap import (
    CellSets,
    cell_sets,
    distinct_overlaps,
    jaccard,
    most_overlapping,
)

# Few cells, so that equal overlaps and equal sets are frequent; some sets are empty.
POOLS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=12)


def sets_of(pool: list[list[str]]) -> CellSets:
    return cell_sets(pl.Series(pool, dtype=pl.List(pl.String)))


def share(one: list[str], other: list[str]) -> Fraction:
    a, b = set(one), set(other)
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def test_two_of_four_cells_are_half_whatever_their_order_and_repetition():
    sets = sets_of([["a", "b", "c"], ["c", "b", "d", "b"], ["x"], []])
    found = jaccard(sets, [0, 0, 0, 3, 0, -1], [1, 2, 0, 3, -1, 0])
    assert found.tolist() == [0.5, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_no_trips_have_no_overlaps():
    sets = sets_of([])
    assert jaccard(sets, [], []).tolist() == []
    assert distinct_overlaps(sets, []).starts.tolist() == [0]
    assert most_overlapping(sets, [], depth=3).shape == (0, 3)


@given(POOLS)
def test_pairs_are_those_of_pythons_sets(pool):
    rows = [(i, j) for i in range(len(pool)) for j in range(len(pool))]
    found = jaccard(sets_of(pool), *zip(*rows, strict=True))
    assert found.tolist() == [float(share(pool[i], pool[j])) for i, j in rows]


@given(POOLS)
def test_the_different_overlaps_of_a_pool_are_counted(pool):
    asked = list(range(len(pool)))[::-1]
    found = distinct_overlaps(sets_of(pool), asked)
    for place, one in enumerate(asked):
        counted = Counter(share(pool[one], other) for other in pool)
        del counted[Fraction(0)]
        rows = slice(*found.starts[place : place + 2])
        expected = sorted(counted.items(), reverse=True)
        assert found.values[rows].tolist() == [float(value) for value, _ in expected]
        assert found.counts[rows].tolist() == [count for _, count in expected]


@given(POOLS, st.integers(1, 14))
def test_the_most_overlapping_come_by_overlap_and_then_by_number(pool, depth):
    found = most_overlapping(sets_of(pool), range(len(pool)), depth=depth)
    for one, row in enumerate(found.tolist()):
        near = [
            other
            for other in range(len(pool))
            if other != one and share(pool[one], pool[other]) > 0
        ]
        near.sort(key=lambda other: (-share(pool[one], pool[other]), other))
        assert row == ([one, *near] + [-1] * depth)[:depth]


@pytest.mark.parametrize("trips", [1500])
def test_many_different_overlaps_outgrow_the_room_at_the_start(trips):
    pool = [[f"c{n}" for n in range(size + 1)] for size in range(trips)]
    found = distinct_overlaps(sets_of(pool), [trips - 1, 0])
    assert found.values[:trips].tolist() == [size / trips for size in range(trips, 0, -1)]
    assert found.counts.tolist() == [1] * (2 * trips)
