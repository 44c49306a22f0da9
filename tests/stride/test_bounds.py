"""Every form of expectation, as the published scorer takes it and as strict mode does."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stride.bounds import BoundsError, intervals_of
from pipeline.stride.bounds_reference import LostError, as_published, range_of

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "expected", "delta", "passes"),
    [
        (0.37, {"min": 0.4}, 0.03, True),
        (0.3699, {"min": 0.4}, 0.03, False),
        (0.8, {"max": 0.7}, 0.1, False),  # 0.7 + 0.1 is 0.7999999999999999
        (0.39, {"min": 0.4}, 0.001, True),  # the floor of 0.01
        (0.39, {"min": 0.4}, None, True),
        (0.389, {"min": 0.4}, 0, False),
        (0.36, {"min": 0.4, "delta_value": 0.05}, 0.001, True),  # its own delta wins
        (0.36, {"min": 0.4, "delta_value": 0.001}, 0.5, False),
        (5, {"delta_value": 0.1}, 0.1, True),
        (5.0, {}, 0.1, False),
        (1.0, {"min": 0, "mean": 1}, 0.1, False),
        (1.0, {"min": 2, "max": 0}, 0.01, False),
        (NAN, {"min": 0, "max": 1}, 0.1, True),
        (INF, {"min": 0}, 0.1, True),
        (INF, {"max": 1}, 0.1, False),
        (-INF, {"min": 0}, 0.1, False),
        (1.05, {"value": 1.0}, 0.05, True),
        (1.051, {"approx": 1.0}, 0.05, True),  # abs_tol 0.001 is added
        (1.0521, {"approx": 1.0}, 0.05, False),
        (1.0111, {"approx": 1.0}, 0.0, False),
        (12.0, {"approx": 10.0, "rel_tol": 0.2}, 0.0, True),
        (12.1, {"approx": 10.0, "rel_tol": 0.2}, 0.0, False),
        (1.09, {"approx": 1.0, "abs_tol": 0.09}, 0.01, True),
        (NAN, {"approx": 1.0}, 0.1, False),
        (2.0, {"one_of": [1, {"min": 1.99, "max": 3}]}, 0.0, True),
        (1.5, {"one_of": [1, 2]}, 1.0, False),  # the outer delta is not handed down
        (1.0005, 1, 0.5, True),
        (1.002, 1, 0.5, False),
        (1, 1, 0.0, True),
        (1, 2, 5.0, False),
        (1.0, True, 0.1, False),
        (True, True, 0.1, True),
        (1.0, [1.0], 0.1, False),
        ([1.0, 2.0], [1.0, 2.0005], 0.1, True),
        ([1.0], [1.0, 2.0], 0.1, False),
        ({"a": 1.0, "b": 2.0}, {"a": {"min": 1.0}}, 0.1, True),
        ({"a": 1.0}, {"b": {"min": 1.0}}, 0.1, False),
        (True, {"min": 0}, 0.1, False),
        (1.0, "one", 0.1, False),
    ],
)
def test_every_form_is_judged_as_published(value, expected, delta, passes):
    assert as_published(value, expected, delta=delta) is passes


@pytest.mark.parametrize(
    ("expected", "delta"),
    [
        ({"min": None}, 0.1), ({"max": "1"}, 0.1), ({"min": 0, "max": None}, 0.1),
        ({"max": 10**400}, 0.1), (10**400, 0.1),
        ({"approx": None}, 0.1), ({"min": 0, "delta_value": "x"}, 0.1), ({"min": 0}, "x"),
        ({"one_of": 3}, 0.1), ({"approx": 1, "abs_tol": None}, 0.1),
    ],
)  # fmt: skip
def test_a_bound_that_is_no_number_ends_the_published_scorer(expected, delta):
    with pytest.raises(LostError):
        as_published(0.5, expected, delta=delta)
    assert range_of(expected, delta=delta).low is None


def test_the_range_for_the_report_is_the_one_that_counts():
    assert range_of({"min": 0.4, "max": 0.6}, delta=0.001) == (0.39, 0.61, 0.01)
    assert range_of({"value": 1.0}, delta=0.05) == pytest.approx((0.949, 1.051, 0.05))
    assert range_of({"one_of": [1]}, delta=0.05) == (None, None, None)


def passes(value, expected, delta=None, factor=1):
    spans = intervals_of(expected, delta=delta, factor=Decimal(factor))
    return any(span.margin(value) >= 0 for span in spans)


@pytest.mark.parametrize(
    ("value", "expected", "delta", "inside"),
    [
        (0.8, {"max": 0.7}, 0.1, True),  # decimals, not doubles
        (0.1 + 0.2, {"max": 0.3}, 0, True),  # 0.30000000000000004
        (1.2 - 3e-16, {"min": 1.2}, 0, True),
        (1e-17, {"max": 0}, 0, True),
        (0.3 + 1e-11, {"max": 0.3}, 0, False),
        (1.2 - 1e-11, {"min": 1.2}, 0, False),
        (0.3, {"max": 0.1}, 0.2, True),
        (0.37, {"min": 0.4}, 0.03, True),
        (0.39, {"min": 0.4}, 0.001, False),  # no floor
        (0.4, {"min": 0.4}, None, True),
        (0.35, {"min": 0.4, "delta_value": 0.05}, 0.001, True),
        (1.05, {"value": 1.0}, 0.05, True),
        (1.0505, {"value": 1.0}, 0.05, False),
        (12.0, {"approx": 10, "rel_tol": 0.2}, None, True),
        (1.0, {"one_of": [1, 2]}, 0.5, True),
        (1.1, {"one_of": [1, 2]}, 0.5, False),
        (2.04, {"one_of": [1, {"min": 2.05, "delta_value": 0.01}]}, 0, True),
        (1.0, 1, 0.0, True),
        (1.1, 1, 0.1, True),
    ],
)
def test_sound_forms_are_judged_by_what_they_state(value, expected, delta, inside):
    assert passes(value, expected, delta) is inside


@pytest.mark.parametrize(
    ("expected", "delta", "words"),
    [
        (None, 0.1, "no expected_result"),
        ({}, 0.1, "no bound"),
        ({"delta_value": 0.1}, 0.1, "no bound"),
        ({"min": None}, 0.1, "min is null"),
        ({"max": None, "min": 0}, 0.1, "max is null"),
        ({"min": "0"}, 0.1, "min is '0'"),
        ({"min": True}, 0.1, "min is True"),
        ({"min": NAN}, 0.1, "min is nan"),
        ({"max": INF}, 0.1, "max is inf"),
        ({"max": 10**400}, 0.1, "max is 1000"),
        ({"min": 0.8, "max": 0.2}, 0.5, r"min 0\.8 is above max 0\.2"),
        ({"min": 0}, -0.1, r"delta_value is -0\.1"),
        ({"min": 0}, "x", "delta_value"),
        ({"min": 0}, NAN, "delta_value"),
        ({"min": 0, "delta_value": None}, 0.1, "delta_value is null"),
        ({"min": 0, "mean": 1}, 0.1, "unknown key 'mean'"),
        ({"min": 0, "abs_tol": 1}, 0.1, "without a target"),
        ({"approx": 1, "max": 2}, 0.1, "beside other bounds"),
        ({"approx": None}, 0.1, "target is null"),
        ({"one_of": []}, 0.1, "not empty"),
        ({"one_of": [{}]}, 0.1, "no bound"),
        (True, 0.1, "target is True"),
        ([1.0], 0.1, "target"),
        ("fast", 0.1, "target is 'fast'"),
    ],
)
def test_an_unsound_expectation_is_named(expected, delta, words):
    with pytest.raises(BoundsError, match=words):
        intervals_of(expected, delta=delta)


@given(
    st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(0, 1e3),
    st.floats(-1e7, 1e7),
)  # fmt: skip
def test_a_wider_tolerance_never_fails_what_a_narrower_one_passes(a, b, narrow, more, value):
    expected = {"min": min(a, b), "max": max(a, b)}
    if passes(value, expected, narrow):
        assert passes(value, expected, narrow + more)
        assert passes(value, expected, narrow, factor=2)


@given(st.decimals(-1000, 1000, places=4), st.decimals(0, 10, places=4))
def test_a_printed_bound_passes_the_number_it_is_printed_as(bound, delta):
    assert passes(float(bound + delta), {"max": float(bound)}, float(delta))
    assert passes(float(bound - delta), {"min": float(bound)}, float(delta))


@given(st.floats(0, 1), st.floats(-10, 10), st.floats(0.01, 1))
def test_with_tolerances_above_the_floor_both_modes_agree_but_at_the_edge(low, value, delta):
    expected = {"min": low, "max": low + 1}
    margin = float(intervals_of(expected, delta=delta)[0].margin(value))
    if abs(margin) > 1e-9:
        assert as_published(value, expected, delta=delta) == (margin >= 0)
