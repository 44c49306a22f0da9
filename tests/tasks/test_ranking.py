"""Measures of ranked lists: by hand, and beside a brute force over all orders of tied entries."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tasks.overlap import cell_sets, distinct_overlaps
from pipeline.tasks.ranking import (
    COLUMNS,
    DEPTHS,
    FIRST_RANKS,
    expected,
    expected_by_chance,
    ndcg_at_10,
    ranked,
)


class Entry(NamedTuple):
    """A listed candidate: its score, overlap with the target, and what it is."""

    score: int
    overlap: float
    target: bool = False
    twin: bool = False
    gain: float = 0.0


def measured(*queries: list[Entry], scored: bool = True) -> list[dict[str, float]]:
    starts = np.cumsum([0, *(len(one) for one in queries)])
    entries = [entry for one in queries for entry in one]
    numbers = np.arange(len(entries))
    lists = ranked(starts, numbers, [one.score for one in entries] if scored else None)
    table = expected(
        lists,
        np.array([one.overlap for one in entries])[lists.entries],
        np.array([one.target for one in entries], bool)[lists.entries],
        np.array([one.twin for one in entries], bool)[lists.entries],
    )
    return [dict(zip(COLUMNS, row, strict=True)) for row in table.tolist()]


def plain(order: list[Entry]) -> dict[str, float]:
    """Return the measures of one order without ties, as they are defined."""
    found = {}
    for depth in DEPTHS:
        first = order[:depth]
        found[f"jaccard_best_at_{depth}"] = max((one.overlap for one in first), default=0.0)
        found[f"jaccard_mean_at_{depth}"] = sum(one.overlap for one in first) / depth
        found[f"soft_recall_at_{depth}"] = float(any(one.overlap > 0.8 for one in first))
        found[f"recall_at_{depth}"] = float(any(one.target for one in first))
        found[f"recall_any_twin_at_{depth}"] = float(any(one.twin for one in first))
    rank = next((place for place, one in enumerate(order, 1) if one.target), math.inf)
    found["mrr"] = 1 / rank
    found["mrr_at_10"] = 1 / rank if rank <= 10 else 0.0
    return found


def orders(entries: list[Entry]) -> list[list[Entry]]:
    """Return all orders of the entries that their scores allow."""
    levels = sorted({one.score for one in entries}, reverse=True)
    tied = [itertools.permutations([one for one in entries if one.score == at]) for at in levels]
    return [list(itertools.chain(*parts)) for parts in itertools.product(*tied)]


OVERLAPS = st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.81, 1.0])


@st.composite
def lists(draw, most=6, levels=3):
    entries = [
        Entry(draw(st.integers(1, levels)), draw(OVERLAPS), twin=draw(st.booleans()))
        for _ in range(draw(st.integers(0, most)))
    ]
    if entries and draw(st.booleans()):
        place = draw(st.integers(0, len(entries) - 1))
        entries[place] = entries[place]._replace(target=True, twin=True, overlap=1.0)
    return entries


# ---- by hand -----------------------------------------------------------------------------------


def test_a_list_without_ties_by_hand():
    """Overlaps .25, .5, 1 (the target, at rank 3), then a twin's 1."""
    entries = [Entry(9, 0.25), Entry(8, 0.5), Entry(7, 1.0, True, True), Entry(6, 1.0, twin=True)]
    (found,) = measured(entries)
    assert [found[f"jaccard_best_at_{k}"] for k in DEPTHS] == [0.25, 1, 1, 1]
    assert [found[f"jaccard_mean_at_{k}"] for k in DEPTHS] == pytest.approx(
        [0.25, 0.55, 0.275, 0.055]
    )
    assert [found[f"soft_recall_at_{k}"] for k in DEPTHS] == [0, 1, 1, 1]
    assert [found[f"recall_at_{k}"] for k in DEPTHS] == [0, 1, 1, 1]
    assert [found[f"recall_any_twin_at_{k}"] for k in DEPTHS] == [0, 1, 1, 1]
    assert found["mrr"] == found["mrr_at_10"] == pytest.approx(1 / 3)


def test_three_tied_entries_by_hand():
    """The target, a half and a nothing share ranks 1 to 3."""
    (found,) = measured([Entry(1, 0.0), Entry(1, 1.0, True, True), Entry(1, 0.5)])
    assert found["recall_at_1"] == pytest.approx(1 / 3)
    assert found["jaccard_best_at_1"] == pytest.approx(0.5)
    assert found["jaccard_mean_at_1"] == pytest.approx(0.5)
    assert found["jaccard_best_at_5"] == 1
    assert found["jaccard_mean_at_5"] == pytest.approx(0.3)
    assert found["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_a_tie_across_rank_ten_counts_its_first_ranks_alone_in_mrr_at_10():
    entries = [Entry(20 - place, 0.0) for place in range(9)]
    entries += [Entry(1, 0.0), Entry(1, 1.0, True, True), Entry(1, 0.0)]
    (found,) = measured(entries)
    assert found["mrr"] == pytest.approx((1 / 10 + 1 / 11 + 1 / 12) / 3)
    assert found["mrr_at_10"] == pytest.approx(1 / 30)
    assert found["recall_at_10"] == pytest.approx(1 / 3)


def test_without_scores_the_order_counts():
    entries = [Entry(1, 0.0), Entry(1, 1.0, True, True)]
    (found,) = measured(entries, scored=False)
    assert (found["mrr"], found["recall_at_1"]) == (0.5, 0)
    starts, numbers = [0, 2, 4], [3, 4, 5, 6]
    some = ranked(starts, numbers, [math.nan, math.nan, 1.0, 2.0])
    assert some.entries.tolist() == [3, 4, 6, 5]
    assert some.above.tolist() == [0, 1, 0, 1]


def test_an_overlap_of_the_very_limit_is_not_the_same_way():
    (at,), (over,) = measured([Entry(1, 4 / 5)]), measured([Entry(1, 5 / 6)])
    assert (at["soft_recall_at_1"], over["soft_recall_at_1"]) == (0, 1)


def test_nothing_listed_is_nothing_found():
    for found in measured([], [Entry(1, 1.0, True, True)], [])[::2]:
        assert set(found.values()) == {0.0}
    assert measured() == []


# ---- ties, against all orders ------------------------------------------------------------------


@given(lists())
@settings(deadline=None)
def test_ties_have_the_mean_over_all_their_orders(entries):
    (found,) = measured(entries)
    every = [plain(order) for order in orders(entries)]
    for name in COLUMNS:
        assert found[name] == pytest.approx(np.mean([one[name] for one in every]), abs=1e-12), name


@given(lists(most=60, levels=4))
def test_long_ties_have_the_share_of_all_choices(entries):
    """The best of K of a tie of m, by counting subsets: C(i, t) of C(m, t) have no larger value."""
    (found,) = measured(entries)
    for depth in DEPTHS:
        best, above, mean = 0.0, 0, Fraction(0)
        for level in sorted({one.score for one in entries}, reverse=True):
            tied = sorted(one.overlap for one in entries if one.score == level)
            drawn = min(max(depth - above, 0), len(tied))
            mean += sum(map(Fraction, tied)) * Fraction(drawn, len(tied)) / depth
            if drawn == len(tied):
                best = max(best, tied[-1])
            elif drawn:
                ways = [math.comb(i + 1, drawn) - math.comb(i, drawn) for i in range(len(tied))]
                best = sum(
                    Fraction(way, math.comb(len(tied), drawn)) * Fraction(max(best, value))
                    for way, value in zip(ways, tied, strict=True)
                )
                break
            above += len(tied)
        assert found[f"jaccard_best_at_{depth}"] == pytest.approx(float(best), abs=1e-12)
        assert found[f"jaccard_mean_at_{depth}"] == pytest.approx(float(mean), abs=1e-12)


@given(lists(most=12), st.randoms(use_true_random=False))
def test_the_order_in_which_a_scored_list_is_given_does_not_count(entries, random):
    shuffled = list(entries)
    random.shuffle(shuffled)
    (one,), (other,) = measured(entries), measured(shuffled)
    for name in COLUMNS:
        assert one[name] == pytest.approx(other[name], abs=1e-12)


# ---- properties --------------------------------------------------------------------------------


@given(lists(most=60, levels=30))
def test_measures_are_shares_and_grow_with_k(entries):
    (found,) = measured(entries)
    assert all(-1e-12 <= value <= 1 + 1e-12 for value in found.values())
    for name in ("jaccard_best", "soft_recall", "recall", "recall_any_twin"):
        row = [found[f"{name}_at_{depth}"] for depth in DEPTHS]
        assert all(a <= b + 1e-12 for a, b in itertools.pairwise(row))
    for depth in DEPTHS:
        assert found[f"recall_any_twin_at_{depth}"] >= found[f"recall_at_{depth}"] - 1e-12
        assert found[f"jaccard_best_at_{depth}"] >= found[f"jaccard_mean_at_{depth}"] - 1e-12
    assert found["mrr"] >= found["mrr_at_10"] >= found["recall_at_1"] - 1e-12


@given(lists(most=20, levels=5), st.data())
def test_a_better_candidate_moved_up_lowers_nothing(entries, data):
    """Two entries exchange their scores so that the better one comes higher."""
    if len(entries) < 2:
        return
    i, j = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=2, max_size=2))
    worth = [(one.target, one.twin, one.overlap) for one in entries]
    better, lesser = (i, j) if worth[i] >= worth[j] else (j, i)
    if not all(a >= b for a, b in zip(worth[better], worth[lesser], strict=True)):
        return
    if entries[better].score >= entries[lesser].score:
        return
    swapped = list(entries)
    swapped[better] = entries[better]._replace(score=entries[lesser].score)
    swapped[lesser] = entries[lesser]._replace(score=entries[better].score)
    (before,), (after,) = measured(entries), measured(swapped)
    for name in COLUMNS:
        assert after[name] >= before[name] - 1e-12, name


@given(st.lists(lists(), max_size=6))
def test_queries_do_not_touch_each_other(queries):
    together = measured(*queries)
    assert together == [found for one in queries for found in measured(one)]


# ---- chance ------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7), min_size=1, max_size=6)
)
@settings(deadline=None)
def test_chance_is_the_whole_pool_tied(pool):
    sets = cell_sets(pl.Series(pool))
    twins = [sum(other == one for other in pool) for one in pool]
    found = expected_by_chance(distinct_overlaps(sets, range(len(pool))), twins, len(pool))
    for target, row in enumerate(found.tolist()):
        entries = [
            Entry(
                0,
                len(set(one) & set(pool[target])) / len(set(one) | set(pool[target])),
                place == target,
                one == pool[target],
            )
            for place, one in enumerate(pool)
        ]
        (tied,) = measured(entries)
        every = [plain(order) for order in orders(entries)]
        for name, value in zip(COLUMNS, row, strict=True):
            assert value == pytest.approx(tied[name], abs=1e-12), name
            assert value == pytest.approx(np.mean([one[name] for one in every]), abs=1e-12), name


def test_chance_in_a_pool_of_200_by_hand():
    """Ten trips drive the route of the target, the other 190 share no cell with it."""
    pool = [["a", "b"]] * 10 + [["c"]] * 190
    found = expected_by_chance(distinct_overlaps(cell_sets(pl.Series(pool)), [0]), [10], 200)
    row = dict(zip(COLUMNS, found[0].tolist(), strict=True))
    assert row["recall_at_10"] == pytest.approx(0.05)
    assert row["jaccard_mean_at_10"] == pytest.approx(0.05)
    missed = math.comb(190, 10) / math.comb(200, 10)
    for name in ("jaccard_best", "soft_recall", "recall_any_twin"):
        assert row[f"{name}_at_10"] == pytest.approx(1 - missed)
    assert row["mrr"] == pytest.approx(sum(1 / rank for rank in range(1, 201)) / 200)
    assert row["mrr_at_10"] == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 200)


# ---- gains -------------------------------------------------------------------------------------


def gained(entries: list[Entry], ideal: list[float]) -> float:
    lists_ = ranked([0, len(entries)], np.arange(len(entries)), [one.score for one in entries])
    gains = np.array([one.gain for one in entries])[lists_.entries]
    return float(ndcg_at_10(lists_, gains, [(ideal + [0.0] * FIRST_RANKS)[:FIRST_RANKS]])[0])


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:10], 1))


def test_ndcg_by_hand():
    """Half of the constraints first and all of them second: the wrong order."""
    found = gained([Entry(2, 0, gain=0.5), Entry(1, 0, gain=1.0)], [1.0, 0.5])
    assert found == pytest.approx((0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)))
    assert gained([Entry(2, 0, gain=1.0), Entry(1, 0, gain=0.5)], [1.0, 0.5]) == pytest.approx(1)


def test_ndcg_is_not_decided_where_nothing_has_a_gain_and_0_where_nothing_is_listed():
    assert math.isnan(gained([Entry(1, 0)], []))
    assert math.isnan(gained([Entry(1, 0, gain=math.nan)], [math.nan] * 10))
    assert gained([], [1.0]) == 0


GAINS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(st.lists(st.builds(Entry, st.integers(1, 3), OVERLAPS, gain=GAINS), max_size=6), GAINS)
@settings(deadline=None)
def test_ndcg_of_ties_is_the_mean_over_all_their_orders(entries, unlisted):
    pool = sorted([*(one.gain for one in entries), unlisted], reverse=True)
    if not any(pool):
        return
    every = [dcg([one.gain for one in order]) / dcg(pool) for order in orders(entries)]
    found = gained(entries, pool)
    assert found == pytest.approx(np.mean(every), abs=1e-12)
    assert 0 <= found <= 1 + 1e-12


@given(
    st.lists(st.builds(Entry, st.integers(1, 6), OVERLAPS, gain=GAINS), min_size=11, max_size=30)
)
def test_ndcg_looks_at_the_first_ten_and_the_best_order_has_all(entries):
    pool = sorted((one.gain for one in entries), reverse=True)
    if not any(pool):
        return
    best = [Entry(99 - place, 0, gain=gain) for place, gain in enumerate(pool)]
    assert gained(best, pool) == pytest.approx(1)
    assert gained(best[:10], pool) == pytest.approx(1)
    assert gained(entries, pool) <= 1 + 1e-12
