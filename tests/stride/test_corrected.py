"""The corrected measures: what each mends, by arithmetic, and that the published ones stay."""

import numpy as np
import pytest

from pipeline.seeds import rng_for
from pipeline.stride.corrected import CORRECTED
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.trajectories import trajectory
from tests.stride.crowds import absent, strolling, value, walkers


def corrected(walk, name, *, obstacles=None, **params):
    return CORRECTED[name].value(Clip(walk, obstacles=obstacles), params)


def headed(agents, seed):
    """People with random headings at 1 m/s, one frame apart from each other's directions."""
    rng = rng_for(seed, "test_stride", "headed")
    angle = rng.uniform(-np.pi, np.pi, (100, agents))
    walk = walkers(rng.uniform(1, 50, (agents, 2)), np.zeros((agents, 2)), frames=100)
    return walk._replace(velocity=np.stack((np.cos(angle), np.sin(angle)), axis=2))


def test_names_are_new_ones_and_no_published_measure_is_replaced():
    assert not set(CORRECTED) & set(MEASURES)
    assert all("Return" in one.function.__doc__ for one in CORRECTED.values())
    assert len({one.function for one in (*MEASURES.values(), *CORRECTED.values())}) == 38


def test_density_of_a_square_lattice_is_k_over_the_circle_to_the_kth_neighbour():
    lattice = [(x, y) for x in range(1, 21) for y in range(1, 21)]
    walk = walkers(lattice, np.zeros((400, 2)), frames=2)
    assert corrected(walk, "physical_density", neighbours=4) == pytest.approx(4 / np.pi)


def test_density_sees_the_size_of_a_layout_as_the_published_one_does_not():
    rng = rng_for(3, "test_stride", "density")
    places = rng.uniform(1, 21, (200, 2))
    near, far = (walkers(places * k, np.zeros((200, 2)), frames=2) for k in (1, 3))
    assert corrected(near, "physical_density") == pytest.approx(
        9 * corrected(far, "physical_density")
    )
    assert 0.3 < corrected(near, "physical_density") < 0.7  # 200 people on 400 m2
    assert value(near, "mean_local_density") == pytest.approx(value(far, "mean_local_density"))


def test_density_needs_as_many_others_as_it_looks_at():
    assert corrected(strolling(), "physical_density") is None
    spot = walkers([(5, 5)] * 7, np.zeros((7, 2)))
    assert corrected(spot, "physical_density") == np.inf
    with pytest.raises(UndefinedError, match="neighbours"):
        corrected(spot, "physical_density", neighbours=0)


def test_contacts_per_agent_do_not_fall_with_the_size_of_the_crowd():
    def pairs(count):
        places = [(10 * k + side * 0.3, 1) for k in range(1, count + 1) for side in (0, 1)]
        return walkers(places, np.zeros((2 * count, 2)))

    for count in (2, 20):
        assert corrected(pairs(count), "contact_rate_per_agent") == pytest.approx(1.0)
        fraction = value(pairs(count), "collision_fraction")
        assert fraction * (2 * count - 1) == pytest.approx(1.0)


def test_alignment_of_random_headings_is_near_nothing_at_any_size():
    published = [value(headed(n, 1), "flow_alignment") for n in (3, 25, 300)]
    assert published[0] > 3 * published[2]
    squares = []
    for n in (3, 25, 300):
        walk = headed(n, 2)
        resultant = np.hypot(*walk.velocity.mean(axis=1).T)
        squares.append(((n * resultant**2 - 1) / (n - 1)).mean())
        assert corrected(walk, "flow_alignment_n_corrected") == pytest.approx(
            np.sqrt(np.maximum(0, (n * resultant**2 - 1) / (n - 1))).mean()
        )
    assert np.abs(squares).max() < 0.1


def test_alignment_of_one_direction_stays_1_and_of_nobody_is_no_data():
    assert corrected(strolling(), "flow_alignment_n_corrected") == pytest.approx(1.0)
    still = walkers([(1, 1), (2, 2)], np.zeros((2, 2)))
    assert corrected(still, "flow_alignment_n_corrected") == 0.0
    assert corrected(walkers([(1, 1)], [(1, 0)]), "flow_alignment_n_corrected") is None


def test_windows_do_not_take_entering_and_leaving_for_scattering():
    # Two streams along x through a picture of 20 m: each of 30 people crosses it in 50 frames.
    ways = [1 if k % 2 else -1 for k in range(30)]
    enters = [(1 if way > 0 else 21) - way * 1.2 * k for k, way in enumerate(ways)]
    streams = walkers(
        [(x, 1 + k % 5) for k, x in enumerate(enters)], [(way, 0) for way in ways], frames=137
    )
    gone = [(slice(0, 3 * k), k) for k in range(30)]
    gone += [(slice(3 * k + 50, None), k) for k in range(30)]
    passing = absent(streams, *gone)
    assert value(passing, "dispersal_score") < -0.95
    assert value(passing, "convergence_score") > 0.95
    assert abs(corrected(passing, "dispersal_windowed", window_s=2.0)) < 0.2
    assert abs(corrected(passing, "convergence_windowed", window_s=2.0)) < 0.2


def test_a_window_measures_who_is_there_all_through_it():
    corners = [(10, 10), (20, 10), (20, 20), (10, 20)]
    out = walkers(corners, [(-1, -1), (1, -1), (1, 1), (-1, 1)], frames=21)
    assert corrected(out, "dispersal_windowed", window_s=4.0) == pytest.approx(1.0)
    assert corrected(out, "convergence_windowed", window_s=4.0) == pytest.approx(-1.0)
    assert corrected(out, "dispersal_windowed", window_s=8.0) == pytest.approx(1.0)
    flicker = absent(out, (slice(5, None, 10), [0, 1]))
    assert corrected(flicker, "dispersal_windowed", window_s=4.0) is None


def test_a_window_needs_seconds():
    with pytest.raises(UndefinedError, match="dt_s"):
        corrected(strolling()._replace(dt_s=None), "dispersal_windowed")
    with pytest.raises(UndefinedError, match="window_s"):
        corrected(strolling(), "dispersal_windowed", window_s=0)


def test_a_crowd_that_leaves_does_not_slow_down():
    leaving = absent(strolling(), (slice(12, None), [0, 1, 2]))
    assert value(leaving, "speed_trend") == pytest.approx(-0.5, rel=1e-6)
    assert corrected(leaving, "speed_trend_observed") == pytest.approx(0.0, abs=1e-9)
    for name in CORRECTED:
        if name.endswith("_observed") and "clustering" not in name:
            assert corrected(leaving, name) == pytest.approx(0.0, abs=1e-6) or "entropy" in name


def test_an_observed_trend_keeps_its_bins_in_their_places():
    walk = strolling()
    walk = walk._replace(velocity=walk.velocity * np.repeat([1, 2, 9, 9, 5], 4)[:, None, None])
    walk = absent(walk, (slice(8, 16), [0, 1, 2]))
    assert corrected(walk, "speed_trend_observed") == pytest.approx(1 / (8 / 3), rel=1e-6)


def test_an_observed_trend_of_one_bin_is_no_data():
    leaving = absent(strolling(), (slice(4, None), [0, 1, 2]))
    assert corrected(leaving, "speed_trend_observed") is None


WALL = np.array([[5.0, 5.0, -10.0, 10.0]])  # x0, x1, y0, y1: a wall at x = 5


def test_who_stands_nearer_to_a_wall_than_its_radius_is_in_it():
    two = walkers([(4.9, 1), (4.5, 1)], np.zeros((2, 2)))
    assert corrected(two, "obstacle_penetration", obstacles=WALL) == pytest.approx(0.5)


def test_a_step_through_a_wall_counts_in_the_frame_it_leads_to():
    through = walkers([(1, 1)], [(5, 0)], frames=4)  # 1, 3, 5, 7: on it once, past it once
    assert corrected(through, "obstacle_penetration", obstacles=WALL) == pytest.approx(2 / 4)
    jump = walkers([(1, 1)], [(20, 0)], frames=2)
    assert corrected(jump, "obstacle_penetration", obstacles=WALL) == pytest.approx(1 / 2)


def test_walls_must_be_known_and_may_be_none():
    with pytest.raises(UndefinedError, match="no map"):
        corrected(strolling(), "obstacle_penetration")
    assert corrected(strolling(), "obstacle_penetration", obstacles=np.zeros((0, 4))) == 0.0


def test_goals_are_reached_by_who_comes_near_them():
    two = walkers([(1, 1), (1, 5)], [(1, 0), (1, 0)], frames=11)  # 4 m
    two = two._replace(goal=np.broadcast_to([[5.5, 1], [9, 5]], (11, 2, 2)))
    assert corrected(two, "goal_reaching") == pytest.approx(0.5)
    assert corrected(two, "goal_reaching", within_m=0.4) == 0.0
    with pytest.raises(UndefinedError, match="goals"):
        corrected(two._replace(goal=None), "goal_reaching")


def test_one_jump_in_59_steps_is_one_teleport():
    walk = walkers([(1, 1)], [(1, 0)], frames=60)
    walk.positions[30:, 0, 0] += 30
    assert corrected(walk, "teleport_fraction") == pytest.approx(1 / 59)
    assert corrected(absent(walk, (30, 0)), "teleport_fraction") == 0.0
    assert corrected(walkers([(1, 1)], [(1, 0)], frames=1), "teleport_fraction") is None


def test_a_start_from_0_to_4_metres_a_second_in_a_frame_is_no_plausible_acceleration():
    walk = walkers([(1, 1)], [(0, 0)], frames=12)
    walk.positions[5:, 0, 0] += 4 * 0.4 * np.arange(1, 8)  # 4 m/s within 0.4 s: 10 m/s2
    assert corrected(walk, "plausible_acceleration_fraction") == pytest.approx(9 / 10)
    assert corrected(
        walk, "plausible_acceleration_fraction", max_acceleration_mps2=11
    ) == pytest.approx(1.0)
    assert corrected(walkers([(1, 1)], [(1, 0)], frames=2), "plausible_acceleration_fraction") is (
        None
    )


def test_cohesion_is_the_distance_to_the_middle_of_ones_group():
    four = walkers([(1, 1), (3, 1), (9, 9), (50, 50)], np.zeros((4, 2)))
    grouped = four._replace(group=np.array([0, 0, -1, 7]))
    assert corrected(grouped, "group_cohesion") == pytest.approx(1.0)
    with pytest.raises(UndefinedError, match="groups"):
        corrected(four, "group_cohesion")
    assert corrected(four._replace(group=np.full(4, -1)), "group_cohesion") is None


def test_cohesion_counts_moments_at_which_two_of_a_group_are_there():
    pair = walkers([(1, 1), (5, 1)], np.zeros((2, 2)))._replace(group=np.array([3, 3]))
    half = absent(pair, (slice(10, None), 1))._replace(group=pair.group)
    assert corrected(half, "group_cohesion") == pytest.approx(2.0)


@pytest.mark.parametrize("name", CORRECTED)
def test_nobody_present_is_no_data_for_a_corrected_measure(name):
    nobody = trajectory(
        np.zeros((5, 2, 2)), np.zeros((5, 2), bool), dt_s=0.4, velocity=np.zeros((5, 2, 2)),
        goal=np.zeros((2, 2)), radius=np.zeros(2), group=np.zeros(2, np.int64),
    )  # fmt: skip
    assert corrected(nobody, name, obstacles=WALL) is None


@pytest.mark.parametrize("name", CORRECTED)
def test_a_parameter_of_a_corrected_measure_must_be_a_number(name):
    for parameter in CORRECTED[name].parameters:
        with pytest.raises(UndefinedError, match=parameter):
            corrected(walkers([(k, k) for k in range(1, 9)], np.zeros((8, 2))), name,
                      **{parameter: "1"})  # fmt: skip
