"""Each trap on the smallest trajectory that falls into it, and none on a sound one."""

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from pipeline.seeds import rng_for
from pipeline.stride.trajectories import with_derived_velocity
from pipeline.stride.traps import crowd_fault, traps_of
from tests.stride.crowds import absent, strolling, walkers


def codes(walk):
    return [trap.code for trap in traps_of(walk)]


def spoils(walk):
    return {field for trap in traps_of(walk) for field in trap.spoils}


def test_a_sound_trajectory_falls_into_no_trap():
    assert codes(strolling()) == []
    assert crowd_fault(strolling()) is None


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e308, -1e9])
@pytest.mark.parametrize("field", ["positions", "velocity", "goal"])
def test_what_is_not_finite_spoils_its_field(field, odd):
    walk = strolling()
    values = getattr(walk, field).copy()
    values[7, 1] = odd, 1.0
    walk = walk._replace(**{field: values})
    assert spoils(walk) == {field}
    assert "frame 7 of agent 1" in traps_of(walk)[0].text


@pytest.mark.parametrize("radius", [0.0, -0.2, np.nan, np.inf])
def test_a_radius_that_no_body_has_spoils_it(radius):
    walk = strolling()
    radii = walk.radius.copy()
    radii[:, 2] = radius
    assert spoils(walk._replace(radius=radii)) == {"radius"}


def test_of_the_absent_nothing_is_asked():
    walk = absent(strolling(), (slice(None), 1))
    radius = np.where(walk.present, 0.2, 0.0)
    assert codes(walk._replace(radius=radius)) == []


@pytest.mark.parametrize("dt_s", [0.4, None])
@pytest.mark.parametrize(
    "factor", [0.0, -1.0, pytest.param(10.0, marks=[]), pytest.param(2.0, marks=[])]
)
def test_velocities_that_contradict_positions_spoil_velocity(factor, dt_s):
    walk = strolling()
    walk = walk._replace(velocity=walk.velocity * factor, dt_s=dt_s)
    # Without seconds between frames a wrong size cannot be told, a wrong way can.
    assert spoils(walk) == ({"velocity"} if dt_s or factor <= 0 else set())


@pytest.mark.parametrize("dt_s", [0.4, None])
def test_velocities_of_people_who_do_not_move_contradict(dt_s):
    still = walkers([(1, 1), (2, 2)], [(0, 0)] * 2)
    walk = still._replace(velocity=still.velocity + 1.0, dt_s=dt_s)
    assert spoils(walk) == {"velocity"}
    assert spoils(still._replace(dt_s=dt_s)) == set()


@pytest.mark.parametrize("dt_s", [0.4, None])
def test_frames_out_of_order_fit_no_time_between_them(dt_s):
    rng = rng_for(7, "test_stride", "order")
    walk = strolling()._replace(dt_s=dt_s)
    order = rng.permutation(walk.frames)
    assert spoils(walk) == set()
    assert spoils(walk._replace(positions=walk.positions[order])) == {"velocity"}


def test_people_who_flicker_show_no_steps_that_bear_out_their_velocities():
    flicker = absent(strolling(), (slice(1, None, 2), slice(None)))
    assert spoils(flicker) == {"velocity"}
    assert "10 of 10" in traps_of(absent(flicker, (slice(None), [0, 1])))[0].text
    assert spoils(absent(strolling(), (slice(1, None, 2), 0))) == set()  # the others show theirs
    assert spoils(walkers([(1, 1), (2, 2)], [(1, 0)] * 2, frames=1)) == set()


@pytest.mark.parametrize("shift", [0, 1])
def test_a_velocity_may_be_that_of_the_step_before_or_of_the_step_after(shift):
    rng = rng_for(5, "test_stride", "turning")
    velocity = rng.normal(0, 2, (50, 4, 2))
    walk = walkers(rng.uniform(20, 30, (4, 2)), np.zeros((4, 2)), frames=50)
    steps = np.concatenate((np.zeros((1, 4, 2)), velocity[1 - shift : 50 - shift]))
    walk = walk._replace(positions=walk.positions + np.cumsum(steps * 0.4, 0), velocity=velocity)
    assert "velocity" not in spoils(walk)


def test_velocities_derived_from_a_jittery_recording_fit_it():
    rng = rng_for(8, "test_stride", "recording")
    walk = walkers([(1, 1), (2, 2)], [(1.2, 0)] * 2, frames=100, dt_s=0.04)
    seen = walk._replace(positions=walk.positions + rng.normal(0, 0.05, (100, 2, 2)))
    assert spoils(with_derived_velocity(seen)) == set()


def test_jitter_of_standing_people_contradicts_nothing():
    rng = rng_for(6, "test_stride", "jitter")
    still = walkers([(1, 1), (2, 2)], [(0, 0)] * 2)
    assert spoils(still._replace(positions=still.positions + rng.normal(0, 0.02, (20, 2, 2)))) == (
        set()
    )


# ---- velocities of another scale


def turning(frames=60, dt_s=0.4):
    """Return people who walk in circles of 3 to 6 m, velocities exact."""
    radius, speed = np.array([3.0, 4.0, 5.0, 6.0]), np.array([0.9, 1.1, 1.3, 1.5])
    angle = speed / radius * np.arange(frames)[:, None] * dt_s
    walk = walkers([(0, 0)] * 4, [(0, 0)] * 4, frames=frames, dt_s=dt_s)
    circle = np.stack((np.cos(angle), np.sin(angle)), axis=2)
    ahead = np.stack((-np.sin(angle), np.cos(angle)), axis=2)
    return walk._replace(positions=20 + radius[:, None] * circle, velocity=speed[:, None] * ahead)


@pytest.mark.parametrize("dt_s", [0.04, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("factor", [0.62, 0.8, 0.94, 1.06, 1.25, 1.39])
def test_velocities_of_another_scale_are_flagged_and_spoil_nothing(factor, dt_s):
    walk = turning(dt_s=dt_s, frames=int(24 / dt_s))
    scaled = walk._replace(velocity=walk.velocity * factor)
    assert "velocity_scaled" in codes(scaled)
    assert spoils(scaled) == set()


@pytest.mark.parametrize("dt_s", [0.04, 0.1, 0.4])
@pytest.mark.parametrize("factor", [0.97, 1.0, 1.03])
def test_velocities_that_fit_within_a_few_percent_are_not(factor, dt_s):
    walk = turning(dt_s=dt_s, frames=int(24 / dt_s))
    assert "velocity_scaled" not in codes(walk._replace(velocity=walk.velocity * factor))


@pytest.mark.parametrize("noise_m", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("dt_s", [0.04, 0.4])
def test_velocities_of_a_smoothed_track_fit_its_noisy_positions(noise_m, dt_s):
    rng = rng_for(9, "test_stride", "smoothed")
    walk = turning(dt_s=dt_s, frames=int(40 / dt_s))
    noisy = walk.positions + rng.normal(0, noise_m, walk.positions.shape)
    smooth = uniform_filter1d(noisy, max(3, round(0.6 / dt_s)), axis=0)
    velocity = np.gradient(smooth, dt_s, axis=0)
    for places in (noisy, smooth):
        track = walk._replace(positions=places, velocity=velocity)
        assert "velocity_scaled" not in codes(track)
        faster = track._replace(velocity=velocity * 1.3)
        assert {"velocity_scaled", "velocity_contradicts"} & set(codes(faster))


def test_noise_of_velocities_is_no_scale():
    rng = rng_for(10, "test_stride", "noisy columns")
    walk = turning()
    noisy = walk.velocity + rng.normal(0, 0.25, walk.velocity.shape)
    assert "velocity_scaled" not in codes(walk._replace(velocity=noisy))


def test_slow_crowds_are_held_to_their_columns_and_swaying_ones_are_not():
    slow = walkers([(1, 1), (2, 2)], [(0.14, 0)] * 2)
    assert codes(slow) == []
    for factor in (0.0, -1.0, 1.5):
        assert codes(slow._replace(velocity=slow.velocity * factor)) == ["velocity_scaled"]
    sway = walkers([(1, 1), (2, 2)], [(0.04, 0)] * 2)
    assert codes(sway._replace(velocity=sway.velocity * 0.0)) == []


def test_seconds_between_frames_that_are_wrong_look_like_a_scale():
    assert codes(strolling()._replace(dt_s=0.5)) == ["velocity_scaled", "dt_not_canonical"]


def test_what_is_absent_in_between_leads_nowhere():
    walk = absent(strolling(), (slice(8, 12), 0), (slice(0, 3), 1))
    assert codes(walk) == []


def test_somebody_near_the_origin_is_told():
    assert codes(walkers([(0.0005, 0.0005), (5, 5)], [(0, 0)] * 2)) == ["near_origin"]


def test_a_gap_of_one_frame_is_told_and_a_longer_one_is_not():
    assert codes(absent(strolling(), (5, 0))) == ["lone_gap"]
    assert codes(absent(strolling(), (slice(5, 8), 0), (0, 1), (19, 2))) == []


def test_radii_of_half_a_metre_may_be_a_time():
    assert codes(walkers([(1, 1), (9, 9)], [(0, 0)] * 2, radius=0.5)) == ["radius_is_tau"]
    assert codes(walkers([(1, 1), (9, 9)], [(0, 0)] * 2, radius=0.7)) == ["radius_unusual"]


def test_time_is_told_when_it_is_not_known_or_not_the_usual():
    assert codes(strolling()._replace(dt_s=None)) == ["dt_unknown"]
    assert codes(walkers([(1, 1), (5, 5)], [(1, 0)] * 2, dt_s=0.1)) == ["dt_not_canonical"]


def test_people_faster_than_2_metres_a_second_hint_at_wrong_frames():
    assert codes(walkers([(1, 1), (5, 5)], [(2.3, 0)] * 2)) == ["fast"]


@pytest.mark.parametrize(("speed_mps", "found"), [(2.9, []), (3.1, ["fast"])])
def test_a_crowd_that_runs_is_in_no_doubt_where_its_own_columns_bear_it_out(speed_mps, found):
    walk = walkers([(1, 1), (5, 5)], [(speed_mps, 0)] * 2)
    own = walk._replace(velocity=walk.velocity * 1.01)
    assert codes(own) == found
    assert codes(with_derived_velocity(walk)) == ["fast"]


@pytest.mark.parametrize(
    ("walk", "words"),
    [
        (walkers([(1, 1), (2, 2)], [(0, 0)] * 2, frames=1), "at least 2 frames, found 1"),
        (walkers([(1, 1)], [(0, 0)]), "found one agent that is ever present"),
        (absent(strolling(), (slice(None), [0, 1])), "found one agent that is ever present"),
        (absent(strolling(), (slice(None), [0, 1, 2])), "found nobody ever present"),
    ],
)
def test_one_frame_or_one_person_is_no_crowd(walk, words):
    assert words in crowd_fault(walk)
