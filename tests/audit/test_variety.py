"""Word pairs and first words: counted by hand, and intervals that fit what chance does."""

import numpy as np
import pytest

from pipeline.audit.variety import compare_openers, compare_pairs
from pipeline.paired import NOTHING
from pipeline.seeds import rng_for


def rng(name: str = "t") -> np.random.Generator:
    return rng_for(0, "test", name)


def test_distinct_2_counts_different_pairs_over_all_pairs_of_the_set():
    """Before: go on, on now, go on, on then: 3 of 4. After: a b, b a, a-b a, a b, b c: 4 of 5."""
    before, after = [["Go on, now!"], ["go on then"]], [["a b a"], ["A-b a", "a b, c"]]
    found = compare_pairs(before, after, rng())
    assert (found.n, found.before, found.after) == (2, 3 / 4, 4 / 5)
    assert found.difference == pytest.approx(0.05)


def test_pairs_do_not_reach_from_one_text_into_the_next():
    found = compare_pairs([["one two", "three four"]], [["one two three", "four"]], rng())
    assert (found.before, found.after) == (1.0, 1.0)
    assert (found.low, found.high) == (None, None)


def test_openers_are_the_first_two_words_whatever_their_case():
    before = [["Take me home"], ["take me there"], ["Now go"]]
    after = [["Take me home"], ["Drive me there"], ["Now go"]]
    found = compare_openers(before, after, rng())
    assert (found.before, found.after) == (2 / 3, 3 / 3)


def test_a_set_of_copies_is_less_varied_and_the_test_says_so():
    before = [[f"street {k} then alley {k + 1}"] for k in range(60)]
    after = [["street 1 then alley 2"]] * 60
    found = compare_pairs(before, after, rng())
    assert found.difference < -0.5
    assert found.high < 0
    assert found.p < 0.01


def test_the_same_texts_differ_in_nothing():
    texts = [[f"go to place {k}"] for k in range(20)]
    for compare in (compare_pairs, compare_openers):
        found = compare(texts, texts, rng())
        assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_texts_without_words_or_pairs_have_no_variety():
    assert compare_pairs([["one"]], [["two"]], rng()) == NOTHING
    assert compare_openers([[""]], [["  "]], rng()) == NOTHING
    assert compare_openers([], [], rng()) == NOTHING


@pytest.mark.parametrize("compare", [compare_pairs, compare_openers])
def test_the_interval_is_as_wide_as_differences_of_fresh_sets_spread(compare):
    """Sets from one source, a third of whose words are drawn anew: the truth is no difference."""
    differences, halves = [], []
    for seed in range(30):
        found = compare(*_drawn(seed, trips=120), rng(str(seed)))
        differences.append(found.difference)
        halves.append((found.high - found.low) / 2 / 1.96)
    assert np.mean(halves) == pytest.approx(np.std(differences), rel=0.25)
    assert sum(abs(d) < 1.96 * np.mean(halves) for d in differences) >= 26


def _drawn(seed: int, trips: int) -> tuple[list[list[str]], list[list[str]]]:
    draws = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 400) ** 1.1
    weights /= weights.sum()
    before, after = [], []
    for _ in range(trips):
        old, other = (draws.choice(399, size=12, p=weights) for _ in range(2))
        new = np.where(draws.random(12) < 0.7, old, other)
        before.append([" ".join(f"w{word}" for word in old)])
        after.append([" ".join(f"w{word}" for word in new)])
    return before, after
