"""A trajectory keeps its shapes, derives velocities inside stays, and makes nobody up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.seeds import rng_for
from pipeline.stride.trajectories import resampled, trajectory, with_derived_velocity
from tests.stride.crowds import absent, strolling, value, walkers


def test_what_is_said_of_the_absent_is_nothing():
    walk = absent(strolling(), (slice(5, None), 1))
    assert (walk.positions[5:, 1] == 0).all()
    assert (walk.velocity[5:, 1] == 0).all()
    assert (walk.agents, walk.frames, walk.ever_present) == (3, 20, 3)
    assert walk.duration_s == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("name", "given_as"),
    [
        ("velocity", np.zeros((4, 2))), ("goal", np.zeros((4, 3, 2))), ("radius", np.zeros(3)),
        ("group", np.zeros(3, np.int64)),
    ],
)  # fmt: skip
def test_a_shape_that_does_not_fit_is_named(name, given_as):
    with pytest.raises(SourceError, match=name):
        trajectory(np.zeros((4, 2, 2)), np.ones((4, 2), bool), dt_s=0.4, **{name: given_as})


def test_positions_and_presence_have_their_shapes():
    with pytest.raises(SourceError, match="positions"):
        trajectory(np.zeros((4, 2)), np.ones((4, 2), bool), dt_s=0.4)
    with pytest.raises(SourceError, match="present"):
        trajectory(np.zeros((4, 2, 2)), np.ones((2, 4), bool), dt_s=0.4)


@pytest.mark.parametrize("dt_s", [0.0, -0.4, np.nan, np.inf])
def test_a_frame_lasts_some_time(dt_s):
    with pytest.raises(SourceError, match="dt_s"):
        trajectory(np.zeros((4, 2, 2)), np.ones((4, 2), bool), dt_s=dt_s)


def test_velocities_derived_from_a_straight_walk_are_its_own():
    walk = strolling()
    derived = with_derived_velocity(walk._replace(velocity=None))
    assert derived.velocity == pytest.approx(walk.velocity)
    assert value(derived, "mean_speed") == pytest.approx(1.2)


def test_derived_velocities_are_central_inside_and_one_sided_at_ends():
    walk = walkers([(0, 1)], [(0, 0)], frames=4, dt_s=1.0)
    walk.positions[:, 0, 0] = [1, 2, 5, 9]
    assert with_derived_velocity(walk).velocity[:, 0, 0].tolist() == [1.0, 2.0, 3.5, 4.0]


def test_nothing_is_derived_over_a_gap_and_a_single_frame_has_no_velocity():
    walk = walkers([(1, 1)], [(0, 0)], frames=6, dt_s=1.0)
    walk.positions[:, 0, 0] = [1, 2, 99, 50, 99, 60]
    gappy = with_derived_velocity(absent(walk, ([2, 4], 0)))
    assert gappy.present[:, 0].tolist() == [True, True, False, False, False, False]
    assert gappy.velocity[:, 0, 0].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_deriving_and_resampling_need_seconds():
    walk = strolling()._replace(dt_s=None)
    for work in (with_derived_velocity, lambda one: resampled(one, dt_s=0.4)):
        with pytest.raises(SourceError, match="--dt"):
            work(walk)


def test_resampling_lies_on_the_straight_line_between_frames():
    walk = strolling()
    half = resampled(walk, dt_s=0.2)
    assert half.frames == 39
    assert half.positions[1, 0].tolist() == pytest.approx([1.24, 1.0])
    assert value(half, "path_linearity") == pytest.approx(1.0)
    assert resampled(half, dt_s=0.4).positions == pytest.approx(walk.positions)


def test_resampling_makes_nobody_up():
    walk = absent(strolling(), (slice(3, 6), 0))
    fine = resampled(walk, dt_s=0.1)
    moments = np.arange(fine.frames) * 0.1
    shown = moments[fine.present[:, 0]]
    assert not ((shown > 0.8 + 1e-9) & (shown < 2.4 - 1e-9)).any()
    assert (fine.positions[~fine.present] == 0).all()


@given(st.integers(1, 60), st.sampled_from([0.1, 0.2, 0.25, 0.4, 1.0]), st.integers(1, 8))
def test_resampling_keeps_the_first_frame_and_never_goes_past_the_last(frames, dt_s, ratio):
    walk = walkers([(1, 1), (2, 5)], [(1, 0), (0, 1)], frames=frames, dt_s=dt_s)
    coarse = resampled(walk, dt_s=dt_s * ratio)
    assert coarse.frames == (frames - 1) // ratio + 1
    assert coarse.positions == pytest.approx(walk.positions[::ratio])


def test_resampling_keeps_goals_and_radii_of_the_earlier_frame():
    walk = strolling()
    radius = np.repeat(np.arange(20)[:, None] / 10 + 0.1, 3, axis=1)
    half = resampled(walk._replace(radius=radius), dt_s=0.2)
    assert half.radius[:3, 0].tolist() == pytest.approx([0.1, 0.1, 0.2])
    assert resampled(walk, dt_s=0.4) is walk


def standing(frames=250, people=8, sway_m=0.02):
    """Return a crowd that stands, as a camera of 25 frames a second sees it."""
    rng = rng_for(3, "test_stride", "standing")
    starts = rng.uniform(0, 10, (people, 2))
    walk = walkers(starts, np.zeros((people, 2)), frames=frames, dt_s=0.04)
    jitter = rng.normal(0, sway_m, walk.positions.shape)
    return walk._replace(positions=walk.positions + jitter)


def displacement_speeds(positions, dt_s):
    """Return the speeds of central differences, one-sided at the ends, (T, N)."""
    velocity = np.gradient(positions, dt_s, axis=0)
    return np.hypot(velocity[:, :, 0], velocity[:, :, 1])


def test_derived_velocities_are_derived_anew_at_the_new_rate():
    fast = with_derived_velocity(standing())
    slow = resampled(fast, dt_s=0.4)
    expected = displacement_speeds(fast.positions[::10], 0.4)
    assert value(slow, "mean_speed") == pytest.approx(expected.mean())
    # 2 cm of sway: 0.6 m/s at 25 frames a second, 0.06 m/s over 0.4 s.
    assert value(slow, "mean_speed") < 0.12 * value(fast, "mean_speed")


def test_single_precision_hides_no_derived_velocities():
    fast = with_derived_velocity(standing())
    coarse = fast._replace(
        positions=fast.positions.astype(np.float32).astype(np.float64),
        velocity=fast.velocity.astype(np.float32).astype(np.float64),
    )
    expected = displacement_speeds(fast.positions[::10], 0.4)
    assert value(resampled(coarse, dt_s=0.4), "mean_speed") == pytest.approx(expected.mean(), 1e-4)


def test_velocities_a_generator_states_lie_between_its_own():
    walk = standing()
    walk = walk._replace(velocity=np.full_like(walk.positions, 0.3))
    assert resampled(walk, dt_s=0.4).velocity == pytest.approx(0.3)
