"""Draws depend on seed, item and purpose, and on nothing else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.draws import Draws, pick, pick_weighted, weighted_order

number = st.floats(0, 1, exclude_min=True, exclude_max=True)


@given(st.text(max_size=20), st.text(max_size=20), st.integers(1, 8))
def test_numbers_are_even_within_0_and_1_and_the_same_each_time(item, purpose, count):
    numbers = Draws(7, "s", item).numbers(purpose, count)
    assert numbers == Draws(7, "s", item).numbers(purpose, count)
    assert len(numbers) == count
    assert all(0 < each < 1 for each in numbers)


def test_another_seed_stage_item_or_purpose_gives_another_number():
    first = Draws(7, "s", "t").number("p")
    others = [Draws(8, "s", "t"), Draws(7, "r", "t"), Draws(7, "s", "u")]
    assert len({first, Draws(7, "s", "t").number("q"), *(d.number("p") for d in others)}) == 5


def test_ten_thousand_numbers_have_the_mean_and_spread_of_even_ones():
    numbers = [Draws(7, "s", str(i)).number("p") for i in range(10_000)]
    mean = sum(numbers) / 10_000
    assert mean == pytest.approx(0.5, abs=4 * math.sqrt(1 / 12 / 10_000))
    assert sum(n < 0.1 for n in numbers) == pytest.approx(1000, abs=4 * 30)


@given(st.lists(st.integers(), min_size=1, max_size=20), number)
def test_a_pick_is_one_of_the_options(options, drawn):
    assert pick(options, drawn) in options


def test_a_pick_falls_on_each_option_over_its_part_of_the_line():
    assert [pick("abcd", n) for n in (0.1, 0.3, 0.5, 0.99)] == list("abcd")


def test_a_weighted_pick_falls_on_each_index_over_its_weight():
    assert [pick_weighted([1, 2, 1], n) for n in (0.2, 0.26, 0.7, 0.8)] == [0, 1, 1, 2]


@given(number)
def test_a_weight_of_zero_is_never_picked(drawn):
    assert pick_weighted([0, 1, 0, 1, 0], drawn) in {1, 3}


@given(st.lists(number, min_size=5, max_size=5), st.sampled_from("abcde"))
def test_leaving_one_out_keeps_the_order_of_the_others(numbers, gone):
    weights = dict(zip("abcde", (1.0, 2.0, 0.5, 3.0, 1.0), strict=True))
    order = weighted_order(weights, numbers)
    without = weighted_order(weights | {gone: 0.0}, numbers)
    assert without == [item for item in order if item != gone]


def test_an_item_comes_first_as_often_as_its_weight_says():
    weights = {"a": 1.0, "b": 2.0, "c": 1.0}
    orders = [weighted_order(weights, Draws(7, "s", str(i)).numbers("o", 3)) for i in range(4000)]
    assert sum(order[0] == "b" for order in orders) == pytest.approx(2000, abs=4 * 32)
