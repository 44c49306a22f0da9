"""Frames, bins and trends are picked as the published scorer picks them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stride.measures.series import bins, sample, trend, trend_of_bins
from pipeline.stride.measures.undefined import UndefinedError


@pytest.mark.parametrize(
    ("frames", "wanted", "count"),
    [(199, 100, 199), (200, 100, 100), (250, 100, 125), (999, 100, 111), (1001, 100, 101)],
)
def test_a_sample_has_as_many_frames_as_the_published_one(frames, wanted, count):
    assert len(sample(frames, wanted)) == count


@given(st.integers(1, 3000), st.integers(1, 200))
def test_a_sample_begins_at_the_first_frame_and_is_even(frames, wanted):
    taken = sample(frames, wanted)
    assert taken[0] == 0
    assert taken[-1] < frames
    assert len(set(np.diff(taken))) <= 1
    assert frames < wanted or wanted <= len(taken) <= 2 * wanted - 1


def test_bins_are_half_open_and_empty_ones_are_left_out():
    assert bins(7, 5) == [(0, 1), (1, 2), (2, 4), (4, 5), (5, 7)]
    assert len(bins(3, 5)) == 3
    assert bins(9, 0) == bins(0, 5) == []


def test_bins_follow_doubles_and_not_whole_division():
    edges = [start for start, _ in bins(122, 14)]
    assert edges == [int(k * (122 / 14)) for k in range(14)]
    assert edges != [k * 122 // 14 for k in range(14)]


@pytest.mark.parametrize("n_bins", [5.0, "5", None, 10**9])
def test_a_number_of_bins_that_is_no_whole_one_is_refused(n_bins):
    with pytest.raises(UndefinedError, match="n_bins"):
        bins(20, n_bins)


def test_a_trend_is_the_slope_over_the_mean():
    assert trend([1.0, 1.1, 1.2, 1.3, 1.4]) == pytest.approx(0.1 / 1.2, rel=1e-7)
    assert trend([3.0]) == trend([]) == 0.0


def test_a_trend_skips_places_but_keeps_them_on_the_axis():
    assert trend([1.0, 2.0, 5.0], [0, 1, 4]) == pytest.approx(1.0 / (8 / 3), rel=1e-7)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=12))
def test_the_trend_of_what_is_not_negative_is_within_its_bounds(values):
    assert abs(trend(values)) <= 6 / (len(values) + 1) + 1e-6


def test_a_bin_without_data_counts_as_nothing_and_no_data_at_all_is_none():
    assert trend_of_bins([1.0, None]) == trend([1.0, 0.0])
    assert trend_of_bins([None, None]) is None
    assert trend_of_bins([1.0]) is None
