"""Agreement is what the textbooks say: hand-computed cases, scikit-learn, and brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from bench.agreement import flattest, paper_rows
from pipeline.quality.agreement import (
    ScoreTable,
    exact,
    interval,
    mean_score,
    ordinal_alpha,
    weighted_kappa,
    within_one,
    within_one_by_chance,
)
from pipeline.seeds import rng_for

# Krippendorff's own example: four observers, twelve units, some without a value (0).
TEXTBOOK = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
).T

tables = st.integers(1, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(0, 5), min_size=raters, max_size=raters), max_size=25
    ).map(lambda rows: np.array(rows, dtype=np.int64).reshape(-1, raters))
)
pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=40)


def confusion_of(rows):
    return ScoreTable(np.array(rows)).confusion(0, 1)


def alpha_of(scores) -> float:
    return float(ordinal_alpha(ScoreTable(scores).coincidences()))


def alpha_by_hand(scores) -> float:
    """Compute alpha as it is defined: over all pairs of scores within an item, and all at all."""
    items = [[int(score) for score in row if score] for row in scores]
    items = [item for item in items if len(item) > 1]
    values = [score for item in items for score in item]
    often = [values.count(level) for level in range(1, 6)]

    def distance(one: int, other: int) -> float:
        low, high = sorted((one, other))
        between = sum(often[low - 1 : high]) - (often[low - 1] + often[high - 1]) / 2
        return between**2

    observed = sum(
        distance(*pair) / (len(item) - 1)
        for item in items
        for pair in itertools.permutations(item, 2)
    )
    expected = sum(distance(*pair) for pair in itertools.permutations(values, 2))
    if not expected:
        return math.nan
    return 1 - (observed / len(values)) / (expected / (len(values) * (len(values) - 1)))


# ---- two raters ----------------------------------------------------------------------------------


def test_a_confusion_matrix_counts_the_items_that_both_scored():
    confusion = confusion_of([[5, 4], [5, 4], [1, 5], [0, 3], [2, 0]])
    assert confusion.sum() == 3
    assert confusion[4, 3] == 2
    assert confusion[0, 4] == 1


def test_exact_and_within_one_are_shares_of_the_common_items():
    confusion = confusion_of([[5, 5], [5, 4], [5, 3], [2, 0]])
    assert exact(confusion) == pytest.approx(1 / 3)
    assert within_one(confusion) == pytest.approx(2 / 3)


def test_chance_of_within_one_is_that_of_the_two_raters_own_marginals():
    # p = (.5 at 4, .5 at 5), q = (.25 at 1, .75 at 5): only 4-5 and 5-5 lie within one.
    confusion = confusion_of([[4, 1], [4, 5], [5, 5], [5, 5]])
    assert within_one_by_chance(confusion) == pytest.approx(0.75)


def test_raters_that_give_nothing_but_fives_agree_by_chance_alone():
    confusion = confusion_of([[5, 5]] * 10)
    assert within_one(confusion) == within_one_by_chance(confusion) == 1
    assert np.isnan(weighted_kappa(confusion))


def test_raters_one_apart_throughout_agree_within_one_and_no_better_than_chance():
    confusion = confusion_of([[5, 4]] * 10)
    assert within_one(confusion) == within_one_by_chance(confusion) == 1
    assert weighted_kappa(confusion) == 0
    assert exact(confusion) == 0


def test_nothing_in_common_leaves_every_measure_undefined():
    confusion = confusion_of([[5, 0], [0, 4]])
    for measure in (exact, within_one, within_one_by_chance, weighted_kappa):
        assert np.isnan(measure(confusion))


@given(pairs)
def test_weighted_kappa_is_scikit_learns(rows):
    first, second = zip(*rows, strict=True)
    found = weighted_kappa(confusion_of(rows))
    if len({*first, *second}) == 1:
        assert np.isnan(found)
    else:
        expected = cohen_kappa_score(first, second, weights="quadratic", labels=[1, 2, 3, 4, 5])
        assert found == pytest.approx(expected, abs=1e-12)


@given(pairs)
def test_chance_of_within_one_is_the_share_over_all_pairings(rows):
    first, second = zip(*rows, strict=True)
    near = [abs(one - other) <= 1 for one in first for other in second]
    found = within_one_by_chance(confusion_of(rows))
    assert found == pytest.approx(sum(near) / len(near))


@given(pairs)
def test_exchanging_the_raters_changes_no_measure(rows):
    confusion = confusion_of(rows)
    for measure in (exact, within_one, within_one_by_chance, weighted_kappa):
        np.testing.assert_allclose(measure(confusion), measure(confusion.T), atol=1e-12)


# Four items scored 5-5, 5-4, 3-4 and 1-2, worked through with pencil and paper.
WORKED = [[5, 5], [5, 4], [3, 4], [1, 2]]


def test_the_worked_example_exact_and_within_one():
    assert exact(confusion_of(WORKED)) == pytest.approx(1 / 4)
    assert within_one(confusion_of(WORKED)) == 1


def test_the_worked_example_within_one_by_chance():
    # The first gives 5 5 3 1, the second 5 4 4 2. Of the 16 pairings near are, for each 5: 5 4 4,
    # for 3: 4 4 2, for 1: 2 - ten.
    assert within_one_by_chance(confusion_of(WORKED)) == pytest.approx(10 / 16)


def test_the_worked_example_kappa():
    # Squared differences: 0 + 1 + 1 + 1 = 3 where they met; over the 16 pairings, for each 5:
    # 0 + 1 + 1 + 9, for 3: 4 + 1 + 1 + 1, for 1: 16 + 9 + 9 + 1, in all 64, or 16 in four meetings.
    assert weighted_kappa(confusion_of(WORKED)) == pytest.approx(1 - 3 / 16)


def test_the_worked_example_alpha():
    # All eight scores: 1 2 3 4 4 5 5 5, whose middles lie at .5 1.5 2.5 4 6.5. Squared distances
    # where they met: 0 + 2.5^2 + 1.5^2 + 1 = 9.5, both ways 19, over 8 scores. Of any two scores:
    # 1-2 1, 1-3 4, 1-4 2 x 12.25, 1-5 3 x 36, 2-3 1, 2-4 2 x 6.25, 2-5 3 x 25, 3-4 2 x 2.25,
    # 3-5 3 x 16, 4-5 6 x 6.25, in all 316, both ways 632, over 8 x 7 pairs.
    assert alpha_of(WORKED) == pytest.approx(1 - (19 / 8) / (632 / 56))


def test_a_third_rater_who_left_some_out_adds_only_the_pairs_there_are():
    # Scores 1-1, 1-2-2 and a lone 5. Values that can be paired: 1 1 1 2 2, middles 1.5 and 4, so
    # 1 and 2 lie 2.5 apart. Met: of the three in the second item two pairs differ, each both ways
    # and weighing 1/2: 2 x 6.25 over 5 scores. Any: 3 x 2 pairs, both ways, over 5 x 4.
    found = alpha_of([[1, 1, 0], [1, 2, 2], [0, 0, 5]])
    assert found == pytest.approx(1 - (2 * 6.25 / 5) / (12 * 6.25 / 20))


def test_one_who_gives_the_same_to_all_agrees_no_better_than_chance():
    confusion = confusion_of([[4, 5], [4, 3], [4, 1]])
    assert weighted_kappa(confusion) == pytest.approx(0)
    assert within_one(confusion) == within_one_by_chance(confusion) == pytest.approx(2 / 3)


# ---- many raters ---------------------------------------------------------------------------------


def test_ordinal_alpha_of_the_textbook_example_is_the_books():
    assert alpha_of(TEXTBOOK) == pytest.approx(0.815, abs=5e-4)


def test_coincidences_of_the_textbook_example_are_the_books():
    found = ScoreTable(TEXTBOOK).coincidences()
    assert found.sum() == pytest.approx(40)
    assert found[0] == pytest.approx([7, 4 / 3, 1 / 3, 1 / 3, 0])


@given(tables)
@settings(deadline=None)
def test_ordinal_alpha_is_what_its_definition_gives(scores):
    assert alpha_of(scores) == pytest.approx(alpha_by_hand(scores), abs=1e-9, nan_ok=True)


def test_alpha_is_one_for_raters_that_never_differ_and_undefined_where_nothing_varies():
    assert alpha_of(np.array([[1, 1, 1], [3, 3, 0], [5, 5, 5]])) == 1
    assert np.isnan(alpha_of(np.array([[5, 5], [5, 5]])))
    assert np.isnan(alpha_of(np.array([[5, 0], [0, 4]])))


@given(tables, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_items_and_raters_changes_nothing(scores, random):
    items, raters = list(range(len(scores))), list(range(scores.shape[1]))
    random.shuffle(items)
    random.shuffle(raters)
    shuffled = scores[items][:, raters]
    assert alpha_of(shuffled) == pytest.approx(alpha_of(scores), nan_ok=True, abs=1e-12)


# ---- one rater -----------------------------------------------------------------------------------


def test_a_mean_leaves_out_what_was_not_scored():
    histogram = ScoreTable(np.array([[5], [0], [2], [5]])).histogram(0)
    assert list(histogram) == [0, 1, 0, 0, 2]
    assert mean_score(histogram) == 4
    assert np.isnan(mean_score(ScoreTable(np.zeros((3, 1))).histogram(0)))


@pytest.mark.parametrize("scores", [[[6]], [[-1]], [1, 2]])
def test_what_is_no_table_of_scores_is_refused(scores):
    with pytest.raises(ValueError, match="expected"):
        ScoreTable(np.array(scores))


# ---- resampling ----------------------------------------------------------------------------------


def test_a_resample_has_as_many_items_and_only_patterns_that_occur():
    table = ScoreTable(np.array([[5, 4], [5, 4], [1, 2], [3, 0]]))
    draws = table.draws(rng_for(7, "agree", "x"), 50)
    assert (draws.sum(axis=1) == 4).all()
    confusions = table.confusion(0, 1, draws)
    assert confusions.shape == (50, 5, 5)
    assert confusions[:, 4, 3].sum() + confusions[:, 0, 1].sum() == confusions.sum()


def test_resampling_patterns_spreads_as_resampling_items_does():
    rng = np.random.default_rng(3)
    first = rng.integers(2, 6, 200)
    scores = np.stack([first, np.clip(first + rng.integers(-2, 3, 200), 1, 5)], axis=1)
    table = ScoreTable(scores)
    fast = weighted_kappa(table.confusion(0, 1, table.draws(rng_for(7, "agree", "x"), 2000)))
    slow = [
        float(weighted_kappa(ScoreTable(scores[rng.integers(0, 200, 200)]).confusion(0, 1)))
        for _ in range(2000)
    ]
    assert np.mean(fast) == pytest.approx(np.mean(slow), abs=0.005)
    assert np.std(fast) == pytest.approx(np.std(slow), rel=0.1)


def test_a_stack_of_tables_gives_what_each_gives_alone():
    table = ScoreTable(TEXTBOOK)
    draws = table.draws(rng_for(7, "agree", "x"), 20)
    alphas = ordinal_alpha(table.coincidences(draws))
    kappas = weighted_kappa(table.confusion(1, 3, draws))
    for number, counts in enumerate(draws):
        alone = (
            ordinal_alpha(table.coincidences(counts)),
            weighted_kappa(table.confusion(1, 3, counts)),
        )
        assert (alphas[number], kappas[number]) == pytest.approx(alone, nan_ok=True)


def test_an_interval_holds_the_middle_share_and_ignores_what_is_undefined():
    values = np.append(np.arange(101, dtype=np.float64), np.nan)
    assert interval(values, 0.9) == pytest.approx((5, 95))
    assert np.isnan(interval(np.array([np.nan]), 0.9)).all()
    assert np.isnan(interval(np.array([]), 0.9)).all()


def test_an_empty_table_resamples_to_empty_ones():
    table = ScoreTable(np.zeros((0, 2), dtype=np.int64))
    assert table.draws(rng_for(7, "agree", "x"), 3).shape == (3, 0)
    assert np.isnan(ordinal_alpha(table.coincidences(table.draws(rng_for(7, "a", "x"), 3)))).all()


# ---- the paper's figures beside chance -----------------------------------------------------------


@given(st.floats(1, 5))
def test_the_flattest_marginal_has_the_mean_it_is_asked_for(mean):
    marginal = flattest(mean)
    assert marginal.sum() == pytest.approx(1)
    assert marginal @ np.arange(1, 6) == pytest.approx(mean, abs=1e-6)


def test_of_the_papers_ten_figures_for_g_and_p_nine_lie_at_or_below_chance():
    rows = [row for row in paper_rows() if row.pair == "G-P"]
    assert len(rows) == 10
    assert sum(row.published <= row.chance for row in rows) == 9


@pytest.mark.parametrize(
    ("pair", "criterion", "published", "chance"),
    [
        ("G-P", "instructions_correctness", 81.7, 82.2),
        ("P-Q", "instructions_correctness", 99.3, 75.0),
        ("H1-H2", "queries_no_hallucination", 96.0, 59.2),
        ("H2-H3", "caption_accuracy", 74.7, 64.7),
    ],
)
def test_the_papers_figures_stand_beside_their_chance(pair, criterion, published, chance):
    (row,) = (row for row in paper_rows() if (row.pair, row.criterion) == (pair, criterion))
    assert row.published == published
    assert row.chance == pytest.approx(chance, abs=0.1)
