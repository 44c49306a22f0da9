"""Means and shares of the same trips before and after: by hand, and beside SciPy's own tests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pipeline.paired import (
    NOTHING,
    REPLICATES,
    Ratio,
    compare_means,
    compare_ratios,
    compare_shares,
    estimate_ratios,
    holm,
    mcnemar_p,
)
from pipeline.seeds import rng_for

NAN = float("nan")


def rng(name: str = "t") -> np.random.Generator:
    return rng_for(0, "test", name)


def means(before: list[float], after: list[float]):
    (found,) = compare_means(before, after, rng())
    return found


# ---- means -------------------------------------------------------------------------------------


def test_two_trips_have_a_bootstrap_of_three_values():
    """Of the pairs of two draws a quarter are both gaps of -1, a quarter both of 0, half mixed."""
    found = means([4.0, 5.0], [4.0, 4.0])
    assert (found.n, found.before, found.after, found.difference) == (2, 4.5, 4.0, -0.5)
    assert (found.low, found.high) == (-1.0, 0.0)
    # Exchanging trip 1 changes nothing, exchanging trip 2 turns the sign: always as far from 0.
    assert found.p == 1.0


def test_the_same_on_both_sides_is_no_difference():
    found = means([1.0, 2.0, 7.0], [1.0, 2.0, 7.0])
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_a_single_trip_has_no_interval_and_proves_nothing():
    found = means([1.0], [3.0])
    assert (found.n, found.difference, found.low, found.high, found.p) == (1, 2.0, None, None, 1.0)


def test_without_trips_nothing_is_known():
    assert compare_means(np.empty((0, 2)), np.empty((0, 2)), rng()) == [NOTHING, NOTHING]
    assert means([NAN, 1.0], [1.0, NAN]) == NOTHING


def test_a_trip_without_the_figure_on_one_side_is_left_out_of_that_column_alone():
    first, second = compare_means([[1.0, NAN], [2.0, 5.0]], [[2.0, 4.0], [2.0, 7.0]], rng())
    assert (first.n, first.difference) == (2, 0.5)
    assert (second.n, second.before, second.after) == (1, 5.0, 7.0)


def test_a_gap_that_every_trip_has_is_as_sure_as_the_replicates_allow():
    found = means([0.0] * 30, [1.0] * 30)
    assert (found.low, found.high) == (1.0, 1.0)
    assert found.p == pytest.approx(1 / (REPLICATES + 1))


def test_the_swap_test_is_scipys_paired_permutation_test():
    old = np.array([14.0, 11.0, 19.0, 12.0, 15.0, 13.0, 18.0, 17.0, 12.0, 16.0])
    new = np.array([15.0, 14.0, 18.0, 16.0, 15.0, 15.0, 20.0, 16.0, 15.0, 19.0])
    exact = stats.permutation_test(
        (old, new), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    found = means(list(old), list(new))
    assert found.p == pytest.approx(exact.pvalue, abs=0.01)


def test_the_interval_is_scipys_percentile_bootstrap():
    draws = np.random.default_rng(4)
    old = draws.normal(10, 2, 80)
    new = old + draws.normal(0.5, 1, 80)
    theirs = stats.bootstrap(
        (new - old,), np.mean, method="percentile", n_resamples=20_000, rng=draws
    ).confidence_interval
    found = means(list(old), list(new))
    assert found.low == pytest.approx(theirs.low, abs=0.03)
    assert found.high == pytest.approx(theirs.high, abs=0.03)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_turning_the_sides_round_turns_the_signs(pairs):
    old, new = (list(map(float, side)) for side in zip(*pairs, strict=True))
    one, other = means(old, new), means(new, old)
    assert one.difference == pytest.approx(-other.difference)
    assert one.p == other.p
    if one.n > 1:
        assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))


def test_the_same_trips_give_the_same_figures_and_others_do_not_move_them():
    table = np.random.default_rng(1).normal(size=(40, 2))
    both = compare_means(table, table + 0.1, rng())
    again = compare_means(table, table + 0.1, rng())
    assert both == again
    (alone,) = compare_means(table[:, :1], table[:, :1] + 0.1, rng())
    assert alone[:-2] == pytest.approx(both[0][:-2])


# ---- ratios ------------------------------------------------------------------------------------


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios():
    """3 of 4 names are true before (1 of 2 and 2 of 2), 4 of 8 after."""
    before = Ratio([1.0, 2.0], [2.0, 2.0])
    after = Ratio([4.0, 0.0], [6.0, 2.0])
    (found,) = compare_ratios(before, after, rng())
    assert (found.n, found.before, found.after, found.difference) == (2, 0.75, 0.5, -0.25)
    # Drawn twice: trip 1 gives 4/6 - 1/2, trip 2 gives 0/2 - 2/2.
    assert found.low == pytest.approx(-1.0)
    assert found.high == pytest.approx(4 / 6 - 1 / 2)


def test_a_ratio_of_nothing_is_unknown():
    assert compare_ratios(Ratio([0.0], [0.0]), Ratio([1.0], [1.0]), rng()) == [NOTHING]


# ---- shares ------------------------------------------------------------------------------------


def test_mcnemar_by_hand():
    """One of six trips that changed went one way: 2 (C(6,0) + C(6,1)) / 2^6."""
    assert mcnemar_p(5, 1) == pytest.approx(14 / 64)
    assert mcnemar_p(1, 5) == pytest.approx(14 / 64)
    assert mcnemar_p(0, 0) == 1.0
    assert mcnemar_p(3, 3) == 1.0
    assert mcnemar_p(0, 5) == pytest.approx(2 / 32)


def test_mcnemar_of_the_textbook_table():
    """The 121 and 59 that changed, as statsmodels documents its exact test."""
    assert mcnemar_p(121, 59) == pytest.approx(4.434449e-06, rel=1e-5)


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_scipys_two_sided_binomial_test(lost, gained):
    if lost + gained:
        theirs = stats.binomtest(lost, lost + gained, 0.5).pvalue
        assert mcnemar_p(lost, gained) == pytest.approx(theirs, rel=1e-6, abs=1e-200)


def test_shares_count_who_changed_and_in_which_direction():
    """Of 8 trips 1 went from yes to no, 3 from no to yes; Bonett and Price add 1, 1 and 2."""
    old = [1, 1, 1, 0, 0, 0, 0, 0]
    new = [1, 1, 0, 1, 1, 1, 0, 0]
    (found,) = compare_shares(old, new)
    assert (found.n, found.before, found.after, found.difference) == (8, 3 / 8, 5 / 8, 2 / 8)
    assert (found.lost, found.gained) == (1, 3)
    down, up = 2 / 10, 4 / 10
    half = 1.959964 * ((down + up - (up - down) ** 2) / 10) ** 0.5
    assert found.low == pytest.approx(0.2 - half, abs=1e-5)
    assert found.high == pytest.approx(0.2 + half, abs=1e-5)
    assert found.p == pytest.approx(2 * (1 + 4) / 16)


def test_an_interval_of_shares_does_not_collapse_where_nobody_changed():
    (found,) = compare_shares([1, 0, 0], [1, 0, 0])
    assert (found.difference, found.p, found.lost, found.gained) == (0.0, 1.0, 0, 0)
    assert found.low == pytest.approx(-found.high)
    assert found.high > 0.1


def test_a_trip_that_is_neither_yes_nor_no_is_left_out():
    (found,) = compare_shares([1, NAN, 0], [0, 1, NAN])
    assert (found.n, found.lost, found.gained) == (1, 1, 0)
    assert compare_shares([NAN], [1]) == [NOTHING]


# ---- many at once ------------------------------------------------------------------------------


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_unknown_p_values_stay_unknown_and_count_for_nothing():
    assert holm([0.02, None, 0.04]) == [0.04, None, 0.04]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_its_definition(p_values):
    """The i-th smallest of m is the largest of (m - j + 1) p_j over j up to i, at most 1."""
    adjusted = holm(p_values)
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    for place, index in enumerate(order):
        steps = [(m - j) * p_values[order[j]] for j in range(place + 1)]
        assert adjusted[index] == pytest.approx(min(1.0, max(steps)))


def test_an_estimate_of_one_version_is_a_ratio_of_sums():
    figures = Ratio([[4.0, 1.0, 0.0], [5.0, 0.0, 0.0]], [[1.0, 3.0, 0.0], [1.0, 0.0, 0.0]])
    mean, single, nothing = estimate_ratios(figures, rng())
    assert mean == (2, 4.5, 4.0, 5.0)  # both draws the same trip in half of the replicates
    assert single == (1, 1 / 3, None, None)
    assert nothing == (0, None, None, None)
    assert estimate_ratios(Ratio(np.empty((0, 1)), np.empty((0, 1))), rng()) == [
        (0, None, None, None)
    ]


def test_an_interval_of_an_estimate_is_that_of_the_mean():
    values = rng().normal(10.0, 2.0, size=(400, 1))
    (found,) = estimate_ratios(Ratio(values, np.ones_like(values)), rng())
    half = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.03)
    assert found.high == pytest.approx(values.mean() + half, abs=0.03)
