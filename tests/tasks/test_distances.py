"""DTW, Hausdorff, EDR and Jaccard against their plain definitions, and the laws they keep."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.city.projection import geodesic
from pipeline.tasks.distances import jaccard_of_lists, point_distances, positions

LON, LAT = 24.94, 60.17
M_NORTH = 1 / 111420.0  # degrees of a metre there
EDR_M = 100.0
places = st.tuples(st.integers(-900, 900), st.integers(-900, 900))
sequences = st.lists(places, min_size=1, max_size=6)


def at(metres):
    """Return longitude and latitude of places given in metres, roughly."""
    return [(LON + x * 2 * M_NORTH, LAT + y * M_NORTH) for x, y in metres]


def rows_of(*parts):
    """Return the rows of places, longitudes counted from the same one whatever their order."""
    return positions(at([(0, 0), *(place for part in parts for place in part)]))[1:]


def compare(one, other, edr_m=EDR_M):
    both = rows_of(one, other)
    starts = np.array([0, len(one)])
    found = point_distances(
        both[: len(one)], starts, both[len(one) :], np.array([0, len(other)]), edr_m=edr_m
    )
    return tuple(float(values[0]) for values in found)


def apart(a, b):
    """Return metres east-west, north-south and straight between two rows of `positions`."""
    east = abs(a[0] - b[0]) * (a[2] + b[2]) / 2
    north = abs(a[1] - b[1]) * (a[3] + b[3]) / 2
    return east, north, math.hypot(east, north)


def plain(one, other):
    """Return the three by their recursive definitions."""
    rows = rows_of(one, other)
    a, b = rows[: len(one)], rows[len(one) :]

    @cache
    def dtw(i, j):
        if i < 0 or j < 0:
            return 0.0 if i == j == -1 else math.inf
        return apart(a[i], b[j])[2] + min(dtw(i - 1, j), dtw(i, j - 1), dtw(i - 1, j - 1))

    @cache
    def edits(i, j):
        if i == 0 or j == 0:
            return i + j
        east, north, _ = apart(a[i - 1], b[j - 1])
        change = 0 if east <= EDR_M and north <= EDR_M else 1
        return min(edits(i - 1, j) + 1, edits(i, j - 1) + 1, edits(i - 1, j - 1) + change)

    to_b = [min(apart(p, q)[2] for q in b) for p in a]
    to_a = [min(apart(p, q)[2] for q in a) for p in b]
    hausdorff = max(*to_b, *to_a)
    return dtw(len(a) - 1, len(b) - 1), hausdorff, edits(len(a), len(b)) / max(len(a), len(b))


@settings(max_examples=200)
@given(sequences, sequences)
def test_all_three_are_their_definitions(one, other):
    assert compare(one, other) == pytest.approx(plain(one, other), rel=1e-12, abs=1e-9)


@given(sequences, sequences)
def test_symmetry_and_bounds(one, other):
    there, back = compare(one, other), compare(other, one)
    assert there == pytest.approx(back, rel=1e-12, abs=1e-9)
    dtw, hausdorff, edr = there
    assert 0 <= edr <= 1
    # Each point is aligned with some point, so every point's nearest is within the sum.
    assert 0 <= hausdorff <= dtw + 1e-9


@given(sequences)
def test_a_sequence_is_at_no_distance_from_itself(one):
    assert compare(one, one) == (0.0, 0.0, 0.0)


@given(sequences, st.integers(0, 5), st.integers(1, 50))
def test_moving_a_point_away_from_its_only_partner_raises_dtw(one, index, step):
    if len(one) != 1:
        one = one[:1]
    near, far = ([(x + 100 * step * k, y) for x, y in one] for k in (1, 2))
    assert compare(one, far)[0] > compare(one, near)[0]


def test_by_hand():
    # 3-4-5: one point 300 m north and 400 m east of the other.
    dtw, hausdorff, edr = compare([(0, 0)], [(200, 300)])  # a degree is about half as wide there
    assert (dtw, hausdorff, edr) == (dtw, dtw, 1.0)
    line, longer = [(0, 0), (0, 100), (0, 200)], [(0, 0), (0, 100), (0, 200), (0, 700)]
    dtw, hausdorff, edr = compare(line, longer)
    assert dtw == pytest.approx(500, rel=1e-3)
    assert hausdorff == pytest.approx(500, rel=1e-3)
    assert edr == 1 / 4


def test_edr_counts_east_and_north_apart():
    # 90 m and 90 m are 127 m apart, and match; 0 m and 101 m do not.
    assert compare([(0, 0)], [(45, 90)], edr_m=100.0)[2] == 0.0
    assert compare([(0, 0)], [(0, 102)], edr_m=100.0)[2] == 1.0


@pytest.mark.parametrize("lat", [-37.8, 0.0, 41.15, 60.17])
def test_distances_are_those_of_the_geodesic(lat):
    rng = np.random.Generator(np.random.Philox(1))
    here = np.column_stack((179.95 + rng.uniform(0, 0.2, 50), lat + rng.uniform(0, 0.2, 50)))
    there = np.column_stack((179.95 + rng.uniform(0, 0.2, 50), lat + rng.uniform(0, 0.2, 50)))
    wrapped = [np.column_stack(((p[:, 0] + 180) % 360 - 180, p[:, 1])) for p in (here, there)]
    rows = positions(np.concatenate(wrapped))
    ones = np.arange(51)
    found = point_distances(rows[:50], ones, rows[50:], ones, edr_m=1.0).dtw_m
    true = geodesic(here[:, 0], here[:, 1], there[:, 0], there[:, 1])[1]
    assert found == pytest.approx(true, rel=2e-5)


def test_sequences_are_compared_pairwise_and_none_is_empty():
    rows = positions(at([(0, 0), (0, 300), (0, 0)]))
    found = point_distances(rows, np.array([0, 1, 3]), rows, np.array([0, 2, 3]), edr_m=EDR_M)
    assert found.dtw_m == pytest.approx([300, 300], rel=1e-3)
    assert point_distances(rows, np.array([0]), rows, np.array([0]), edr_m=1.0).edr.size == 0
    with pytest.raises(ValueError, match="an empty one"):
        point_distances(rows, np.array([0, 0]), rows, np.array([0, 1]), edr_m=1.0)
    with pytest.raises(ValueError, match="expected 1 other sequences, found 2"):
        point_distances(rows, np.array([0, 1]), rows, np.array([0, 1, 2]), edr_m=1.0)


@given(st.lists(st.tuples(*[st.lists(st.integers(0, 9), max_size=6)] * 2), max_size=4))
def test_jaccard_is_that_of_sets(pairs):
    def ragged(lists):
        flat = [number for one in lists for number in one]
        return np.array(flat, np.int32), np.cumsum([0, *map(len, lists)])

    found = jaccard_of_lists(
        *ragged([one for one, _ in pairs]), *ragged([other for _, other in pairs])
    )
    expected = [len(set(a) & set(b)) / len(set(a) | set(b)) if a or b else 1.0 for a, b in pairs]
    assert found.tolist() == expected
