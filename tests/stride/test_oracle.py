"""The fast measures agree with the plain ones; odd values do what is published."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

from bench.stride_plain import PLAIN, plain_measures
from pipeline.seeds import rng_for
from pipeline.stride.corrected import CORRECTED
from pipeline.stride.importers.states import trajectory_of_states
from pipeline.stride.measures import neighbours, temporal
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.measures.undefined import UndefinedError


def clip_of(states):
    return Clip(trajectory_of_states(states, dt_s=None, absent="zero").walk)


def fast_measures(states, **params):
    clip = clip_of(states)
    values = {}
    for name, measure in MEASURES.items():
        try:
            value = measure.value(clip, {})
            values[name] = measure.empty if value is None else value
        except UndefinedError:
            values[name] = None
    return values


@st.composite
def crowds(draw):
    """Crowds of all sizes, on a lattice of 1/8 m or anywhere, with people who come and go."""
    frames, agents = draw(st.integers(1, 45)), draw(st.integers(0, 12))
    rng = rng_for(draw(st.integers(0, 10**6)), "test_stride", "crowd")
    states = np.zeros((frames, agents, 7))
    places = rng.normal(6.0, draw(st.sampled_from([0.2, 2.0, 20.0])), (frames, agents, 2))
    if draw(st.booleans()):
        places = np.round(places * 8) / 8  # exact in doubles: ties are ties for everybody
    states[:, :, :2] = places
    states[:, :, 2:4] = rng.normal(0.0, draw(st.sampled_from([0.0, 0.05, 1.0])), places.shape)
    states[:, :, 6] = rng.uniform(0.1, 0.5, (frames, agents))
    gone = rng.random((frames, agents)) < draw(st.sampled_from([0.0, 0.3, 0.9]))
    states[gone] = 0.0
    return states


@settings(max_examples=150, deadline=None)
@given(crowds())
def test_every_measure_agrees_with_its_plain_form(states):
    fast = fast_measures(states)
    for name, plain in plain_measures(states).items():
        if plain is None:
            assert fast[name] is None, name
        else:
            assert fast[name] == pytest.approx(plain, rel=1e-9, abs=1e-12), name


def big(frames=130, agents=60):
    rng = rng_for(1, "test_stride", "big")
    states = np.zeros((frames, agents, 7))
    states[:, :, :2] = rng.uniform(1, 12, (agents, 2)) + rng.normal(0, 0.3, (frames, agents, 2))
    states[:, :, 2:4] = rng.normal(0, 1, (frames, agents, 2))
    states[:, :, 6] = rng.uniform(0.1, 0.4, agents)
    return states


@pytest.mark.parametrize("points", [1, 60, 61, 10**6])
@pytest.mark.parametrize("pairs", [1, 10**6])
def test_how_frames_are_put_together_in_trees_changes_nothing(monkeypatch, points, pairs):
    monkeypatch.setattr(neighbours, "_TREE_POINTS", points)
    monkeypatch.setattr(neighbours, "_MOST_PAIRS", pairs)
    states = big()
    for name in ("collision_fraction", "mean_local_density", "peak_local_density", "density_trend"):
        value = MEASURES[name].value(clip_of(states), {})
        assert value == pytest.approx(PLAIN[name](states), rel=1e-12), name


def test_a_frame_asked_for_twice_is_measured_once_and_alike():
    clip = clip_of(big())
    first = [MEASURES[name].value(clip, {}) for name in MEASURES]
    assert [MEASURES[name].value(clip, {}) for name in MEASURES] == first
    assert [MEASURES[name].value(clip_of(big()), {}) for name in reversed(MEASURES)] == first[::-1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 3.0))
@example(0, 1.0)
def test_clusters_are_those_of_scikit_learn(seed, eps):
    places = rng_for(seed, "test_stride", "clusters").normal(0, 2, (40, 2))
    labels = DBSCAN(eps=eps, min_samples=3).fit(places).labels_
    assert temporal._clustered(places, eps) == pytest.approx((labels >= 0).mean())


@settings(max_examples=40, deadline=None)
@given(crowds(), st.integers(0, 10**6))
def test_measures_do_not_depend_on_the_order_of_agents(states, seed):
    order = rng_for(seed, "test_stride", "order").permutation(states.shape[1])
    one, other = fast_measures(states), fast_measures(states[:, order])
    for name, value in one.items():
        if value is None:
            assert other[name] is None, name
        else:
            assert other[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@settings(max_examples=60, deadline=None)
@given(crowds())
def test_values_lie_within_the_ranges_of_the_table(states):
    clip = clip_of(states)
    clip.walk = clip.walk._replace(dt_s=0.4, group=np.arange(states.shape[1]) // 2)
    for name, measure in {**MEASURES, **CORRECTED}.items():
        if clip.frames < 5 or name == "obstacle_penetration":
            continue
        low, high = measure.bounds({})
        try:
            value = measure.value(clip, {})
        except UndefinedError:
            continue
        assert value is None or low - 1e-9 <= value <= high + 1e-9, name


def test_one_agent_of_enormous_radius_collides_with_all():
    states = big(agents=20)
    states[:, 0, 6] = 1e4
    value = MEASURES["collision_fraction"].value(clip_of(states), {})
    assert value == pytest.approx(PLAIN["collision_fraction"](states), rel=1e-12)
    assert value > 0.1


def test_an_array_of_nan_gives_what_is_published():
    values = fast_measures(np.full((20, 4, 7), np.nan))
    nan = {"mean_speed", "speed_variation_coeff", "speed_trend", "path_linearity", "spread_trend"}
    assert {name for name, one in values.items() if one is not None and np.isnan(one)} == nan
    assert values["clustering_trend"] is None
    assert values["spatial_concentration"] == pytest.approx(0.96)
    assert values["peak_local_density"] == 1.0
    rest = set(values) - nan - {"clustering_trend", "spatial_concentration", "peak_local_density"}
    assert len(rest) == 12
    assert all(values[name] == 0.0 for name in rest)


def test_one_nan_position_in_a_sampled_frame_spoils_what_is_published():
    states = big()
    states[0, 0, 0] = np.nan
    values = fast_measures(states)
    assert np.isnan(values["path_linearity"])
    assert np.isnan(values["spread_trend"])
    # The frame's 60 distances are NaN and so is their median.
    assert values["mean_local_density"] == 0.0
    assert values["peak_local_density"] == 1.0
    assert values["clustering_trend"] is None


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("column", range(7))
def test_an_odd_number_anywhere_neither_crashes_nor_warns(odd, column):
    states = big(frames=30, agents=8)
    states[3, 2, column] = odd
    assert len(fast_measures(states)) == 20
