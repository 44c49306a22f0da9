"""Checks, questions and scenarios in both modes; strictly, what cannot be scored never passes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.stride.checks import check
from pipeline.stride.importers.states import StatesRead
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.placement import Ground
from pipeline.stride.scoring import score_benchmark, score_scenario
from pipeline.stride.sources import MemorySource, Settings, read_states
from pipeline.stride.traps import traps_of
from tests.stride.crowds import (
    absent,
    benchmark,
    measurement,
    scenario,
    states,
    strolling,
    walkers,
)

PASSES = measurement("mean_speed", {"min": 1.0, "max": 1.4})
FAILS = measurement("mean_speed", {"min": 2.0})
ANY = {"min": -1e9, "max": 1e9}


def scored(asked, walk, *, mode="strict"):
    return score_scenario(asked, StatesRead(walk, traps_of(walk)), mode=mode, ground=Ground())


def judged(row, walk=None, *, mode="strict"):
    return scored(scenario([row]), walk or strolling(), mode=mode).questions[0].checks[0]


def test_a_question_is_the_mean_of_its_checks_and_a_scenario_of_its_questions():
    result = scored(scenario([PASSES, FAILS], [PASSES], [FAILS, FAILS, PASSES]), strolling())
    assert [one.score for one in result.questions] == [0.5, 1.0, 1 / 3]
    assert result.score == (0.5 + 1.0 + 1 / 3) / 3


def test_reference_mode_rounds_at_every_level():
    result = scored(
        scenario([PASSES, FAILS], [PASSES], [FAILS, FAILS, PASSES]), strolling(), mode="reference"
    )
    assert [one.score for one in result.questions] == [0.5, 1.0, 0.3333]
    assert result.score == 0.6111


def test_a_check_tells_value_bounds_margin_and_reason():
    row = judged(measurement("a.b.Mean-Speed", {"min": 0.5, "max": 1.1}, delta=0.05))
    assert (row.measure, row.axis) == ("mean_speed", "V")
    assert (row.low, row.high, row.delta) == (0.45, 1.15, 0.05)
    assert row.margin == pytest.approx(-0.05)
    assert row.passed is False
    assert row.reason == "1.2 is above 1.15"
    assert judged(PASSES).reason == ""
    assert judged(PASSES).margin == pytest.approx(0.25)


def test_a_value_is_rounded_before_it_is_compared_in_reference_mode_alone():
    row = measurement("mean_speed", {"min": 1.20004}, delta=0.0)
    fast = walkers([(1, 1), (1, 3), (1, 5)], [(1.20004, 0)] * 3)
    assert judged(row, fast).passed
    assert judged(row, fast, mode="reference").value == 1.2
    narrow = measurement("mean_speed", {"min": 1.20004, "delta_value": 0.01})
    assert judged(narrow, walkers([(1, 1)] * 3, [(1.19004, 0)] * 3), mode="reference").passed is (
        False
    )


def test_the_floor_of_the_tolerance_is_of_reference_mode_alone():
    row = measurement("collision_fraction", {"min": 0.005}, delta=0.001)
    assert judged(row, mode="reference").passed
    assert not judged(row).passed


def test_tolerances_are_tried_times_0_1_and_2():
    row = measurement("mean_speed", {"min": 1.25}, delta=0.04)
    assert judged(row).passed_at == (False, False, True)
    assert judged(row, mode="reference").passed_at == (False, False, True)
    result = scored(scenario([row], [PASSES]), strolling())
    assert result.score_at == (0.5, 0.5, 1.0)


UNSOUND = [
    ("unknown_function", measurement("mean_velocity", ANY)),
    ("unknown_parameter", measurement("speed_trend", ANY, bins=5)),
    ("error", measurement("speed_trend", ANY, n_bins=5.0)),
    ("error", measurement("speed_trend", ANY)._replace(params=[5])),
    ("no_data", measurement("speed_trend", ANY, n_bins=1)),
    ("bad_bounds", measurement("mean_speed", {"min": None})),
    ("bad_bounds", measurement("mean_speed", {"min": 1.4, "max": 1.0}, delta=5)),
    ("bad_bounds", measurement("mean_speed", None)),
    ("bad_bounds", measurement("mean_speed", {})),
    ("bad_bounds", measurement("mean_speed", {"min": 1.0}, delta=-1)),
]


@pytest.mark.parametrize(("cause", "row"), UNSOUND)
def test_what_is_unsound_fails_with_its_cause_and_a_reason(cause, row):
    result = judged(row)
    assert (result.passed, result.cause) == (False, cause)
    assert result.passed_at == (False, False, False)
    assert result.reason


@pytest.mark.parametrize(
    "row",
    [
        measurement("mean_velocity", ANY),
        measurement("speed_trend", ANY, n_bins=5.0),
        measurement("mean_speed", None),
        measurement("physical_density", ANY),  # ours, not published
    ],
)
def test_reference_mode_does_not_count_errors_unknown_names_and_missing_bounds(row):
    result = scored(scenario([row, PASSES], [row]), strolling(), mode="reference")
    assert result.questions[0].checks[0].passed is None
    assert result.questions[0].checks[0].reason.startswith("not counted")
    assert [one.score for one in result.questions] == [1.0, None]
    assert result.score == 1.0


def test_reference_mode_drops_unknown_parameters_and_lists_them():
    row = judged(measurement("speed_trend", {"min": -0.1}, nBins=4, k=1), mode="reference")
    assert (row.passed, row.params, row.dropped_params) == (True, {"n_bins": 4}, ["k"])


def test_a_null_bound_loses_the_whole_scenario_in_reference_mode():
    result = scored(
        scenario([PASSES], [measurement("mean_speed", {"min": None})]), strolling(),
        mode="reference",
    )  # fmt: skip
    assert (result.state, result.score) == ("lost", None)


def test_a_null_bound_of_an_unknown_function_loses_nothing():
    row = measurement("mean_velocity", {"min": None})
    assert scored(scenario([PASSES, row]), strolling(), mode="reference").score == 1.0


def test_a_scenario_in_which_nothing_counts_has_no_score_in_reference_mode():
    row = measurement("mean_velocity", ANY)
    result = scored(scenario([row]), strolling(), mode="reference")
    assert (result.state, result.score) == ("uncounted", None)
    assert scored(scenario([row]), strolling()).score == 0.0
    assert scored(scenario(), strolling()).score == 0.0
    assert scored(scenario([]), strolling()).score == 0.0


def test_a_corrected_measure_may_be_asked_for_in_strict_mode():
    row = judged(measurement("contact_rate_per_agent", {"max": 0.0}, delta=0.0))
    assert (row.passed, row.axis) == (True, "R")


def test_missing_scenarios_fail_in_strict_mode_and_are_left_out_in_reference_mode():
    asked = benchmark(scenario([PASSES], name="0001"), scenario([PASSES, FAILS], name="0002"))
    source = MemorySource({"0001": strolling()})
    strict = list(score_benchmark(asked, source, mode="strict"))
    assert [(one.state, one.score) for one in strict] == [("scored", 1.0), ("missing", 0.0)]
    assert [one.cause for one in strict[1].checks()] == ["missing", "missing"]
    assert all(one.reason for one in strict[1].checks())
    published = list(score_benchmark(asked, source, mode="reference"))
    assert [(one.state, one.score) for one in published] == [("scored", 1.0), ("missing", None)]


ALL = scenario(*([measurement(name, ANY)] for name in MEASURES))


def spoilt(column, odd, frame=slice(None), agent=slice(None)):
    rows = states(strolling())
    rows[frame, agent, column] = odd
    return rows


BAD = {
    "NaN everywhere": np.full((20, 4, 7), np.nan),
    "one NaN position": spoilt(0, np.nan, 7, 1),
    "an infinite position": spoilt(1, np.inf, 7, 1),
    "all absent": np.zeros((20, 3, 7)),
    "one agent": states(walkers([(1, 1)], [(1.2, 0)])),
    "one frame": states(walkers([(1, 1), (1, 2), (1, 3)], [(1.2, 0)] * 3, frames=1)),
    "no frames": np.zeros((0, 3, 7)),
    "no agents": np.zeros((20, 0, 7)),
    "people on the origin": spoilt(slice(0, 2), 0.0, slice(None), 1),
    "six columns": states(strolling())[:, :, :6],
    "two dimensions": states(strolling())[:, 0],
}


@pytest.mark.parametrize("dt_s", [None, 0.4])
@pytest.mark.parametrize("name", BAD)
def test_no_check_passes_on_bad_input_in_strict_mode(name, dt_s):
    class Source:
        ids = ("0001",)

        def read(self, _):
            return read_states(BAD[name], dt_s, settings=Settings("strict"))

    (result,) = score_benchmark(benchmark(ALL), Source(), mode="strict")
    assert result.score == 0.0
    assert [one.passed for one in result.checks()] == [False] * 20
    assert all(one.reason and one.cause for one in result.checks())


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        (spoilt(2, np.nan, 3, 1), "velocity"),
        (spoilt(slice(2, 4), 0.0), "velocity"),  # stale columns
        (spoilt(2, -1.2), "velocity"),
        (spoilt(6, np.nan, 3, 1), "radius"),
        (spoilt(6, 0.0), "radius"),
    ],
)
def test_measures_that_read_a_spoilt_column_fail_and_others_do_not(rows, field):
    read = read_states(rows, None, settings=Settings("strict"))
    result = score_scenario(ALL, read, mode="strict", ground=Ground())
    failed = {one.measure for one in result.checks() if not one.passed}
    assert failed == {name for name, one in MEASURES.items() if field in one.reads}
    assert {one.cause for one in result.checks() if not one.passed} == {"untrusted_input"}


def test_in_reference_mode_nan_passes_as_published_and_says_so():
    read = read_states(BAD["NaN everywhere"], None, settings=Settings("reference"))
    row = score_scenario(ALL, read, mode="reference", ground=Ground()).questions[0].checks[0]
    assert row.passed
    assert row.reason == "NaN passes every range here"


def test_six_columns_drop_the_collision_checks_in_reference_mode():
    read = read_states(BAD["six columns"], None, settings=Settings("reference"))
    result = score_scenario(ALL, read, mode="reference", ground=Ground())
    uncounted = {one.measure for one in result.checks() if one.passed is None}
    assert uncounted == {"collision_fraction", "collision_trend"}


def test_an_array_of_no_shape_is_left_out_in_reference_mode():
    class Source:
        ids = ("0001",)

        def read(self, _):
            return read_states(BAD["two dimensions"], None, settings=Settings("reference"))

    (result,) = score_benchmark(benchmark(ALL), Source(), mode="reference")
    assert (result.state, result.score) == ("unreadable", None)


@st.composite
def odd_states(draw):
    """States with NaN, infinities, zeros and huge numbers anywhere."""
    frames, agents = draw(st.integers(0, 8)), draw(st.integers(0, 4))
    odd = st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan, np.inf, -np.inf, 1e308, 1e-308, -3.0])
    cells = draw(st.lists(odd, min_size=frames * agents * 7, max_size=frames * agents * 7))
    return np.array(cells).reshape(frames, agents, 7)


@settings(max_examples=200, deadline=None)
@given(odd_states(), st.sampled_from([None, 0.4]))
def test_a_check_that_passes_strictly_has_a_finite_value_inside_its_bounds(rows, dt_s):
    read = read_states(rows, dt_s, settings=Settings("strict"))
    bounds = {"min": -1e308, "max": 1e308}
    asked = scenario(*([measurement(name, bounds, delta=0.0)] for name in MEASURES))
    for row in score_scenario(asked, read, mode="strict", ground=Ground()).checks():
        if row.passed:
            assert row.value is not None
            assert np.isfinite(row.value)
            assert np.isfinite(read.walk.positions).all()
            reads = MEASURES[row.measure].reads
            assert "velocity" not in reads or np.isfinite(read.walk.velocity).all()
            assert "radius" not in reads or (read.walk.radius[read.walk.present] > 0).all()
        else:
            assert row.reason


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from([PASSES, FAILS]), min_size=1, max_size=3), min_size=1))
def test_a_score_is_between_0_and_1_and_rises_with_passed_checks(questions):
    result = scored(scenario(*questions), strolling())
    assert 0.0 <= result.score <= 1.0
    better = [[PASSES, *rows[1:]] for rows in questions]
    assert scored(scenario(*better), strolling()).score >= result.score - 1e-12


def test_a_check_does_not_depend_on_those_before_it():
    rows = [measurement(name, ANY) for name in MEASURES]
    alone = [judged(row).value for row in rows]
    clip = Clip(strolling())
    together = [check(row, clip, mode="strict", spoilt={}).value for row in reversed(rows)]
    assert together[::-1] == alone


def test_absent_agents_are_not_counted_among_those_of_the_trajectory():
    result = scored(scenario([PASSES]), absent(strolling(), (slice(None), 2)))
    assert (result.agents, result.frames, result.duration_s) == (2, 20, 8.0)
