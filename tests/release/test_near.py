"""The join finds what a brute force finds, whatever is compared at a time."""

import time
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.release import near as module
from pipeline.release.near import any_near
from pipeline.seeds import rng_for

LIMITS = ["1/100", "1/5", "1/3", "1/2", "3/5", "2/3", "7/10", "3/4", "4/5", "9/10", "1"]
SETS = st.lists(st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=12), max_size=14)


def column(sets: list[set[int]]) -> pl.Series:
    return pl.Series([list(one) for one in sets], dtype=pl.List(pl.UInt64))


def brute_force(sets: list[set[int]], known: list[set[int]], limit: Fraction) -> list[bool]:
    """Compare each with each, in fractions; an empty set is near none."""
    return [
        any(
            one & other and Fraction(len(one & other), len(one | other)) >= limit for other in known
        )
        for one in sets
    ]


@given(SETS, SETS, st.sampled_from(LIMITS))
def test_each_set_is_near_where_a_brute_force_says_so(sets, known, limit):
    found = any_near(column(sets), column(known), near=float(Fraction(limit)))
    assert found.tolist() == brute_force(sets, known, Fraction(limit))


@pytest.mark.parametrize("limit", LIMITS)
def test_long_sets_at_the_very_limit_and_one_below_it(limit):
    # b of size n shares k with a of size m: k / (m + n - k) is the limit itself, or just below it.
    share = Fraction(limit)
    whole = set(range(300))
    for size in range(1, 301):
        inside = set(range(size))
        expected = Fraction(size, 300) >= share
        assert any_near(column([inside]), column([whole]), near=float(share)).tolist() == [expected]
        assert any_near(column([whole]), column([inside]), near=float(share)).tolist() == [expected]


def routes(count: int, name: str) -> list[set[int]]:
    """Return sets as routes are: runs of a long street, some of whose segments are others."""
    rng = rng_for(3, "test_near", name)
    made = []
    for start, length in zip(
        rng.integers(0, 5000, count).tolist(), rng.integers(30, 120, count).tolist(), strict=True
    ):
        odd = rng.random(length) < rng.choice([0.0, 0.02, 0.1])
        made.append({(start + n) * 2 + int(other) for n, other in enumerate(odd)})
    return made


def test_near_duplicates_of_realistic_length_are_found_as_by_a_brute_force(monkeypatch):
    sets, known = routes(150, "asked"), routes(600, "known")
    sets += [set(), known[0], known[0]]
    expected = brute_force(sets, known, Fraction("4/5"))
    assert 20 < sum(expected) < 130
    assert any_near(column(sets), column(known), near=0.8).tolist() == expected
    monkeypatch.setattr(module, "_SETS_AT_ONCE", 7)
    assert any_near(column(sets), column(known), near=0.8).tolist() == expected


def test_time_grows_with_the_sets_and_not_with_the_pairs():
    def cpu_s(count: int) -> float:
        sets, known = column(routes(count, "asked")), column(routes(4 * count, "known"))
        taken = []
        for _ in range(3):
            begin = time.process_time()
            any_near(sets, known, near=0.8)
            taken.append(time.process_time() - begin)
        return min(taken)

    cpu_s(10)  # compiles
    small, large = cpu_s(500), cpu_s(8000)
    assert large < 80 * small  # 16 times the sets, 256 times the pairs
