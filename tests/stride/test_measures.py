"""Each measure on a crowd whose answer is arithmetic, and what it says of no data."""

import math

import numpy as np
import pytest

from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import AXES, MEASURES, found_name, taken_params
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.trajectories import trajectory
from tests.stride.crowds import absent, strolling, value, walkers

NOBODY = absent(strolling(), (slice(None), [0, 1, 2]))


def test_a_walker_at_1_2_metres_a_second_has_mean_speed_1_2():
    assert value(walkers([(1, 1)], [(1.2, 0)]), "mean_speed") == pytest.approx(1.2)


def test_mean_speed_weighs_agents_by_the_frames_they_stay():
    both = walkers([(1, 1), (1, 5)], [(1.0, 0), (2.0, 0)])
    assert value(absent(both, (slice(5, None), 1)), "mean_speed") == pytest.approx(30 / 25)


def test_speed_comes_from_the_velocity_columns_alone():
    still = walkers([(1, 1)], [(0, 0)])
    assert value(still._replace(velocity=still.velocity + 1.0), "mean_speed") == pytest.approx(
        2**0.5
    )


def test_speed_variation_is_the_spread_over_the_mean():
    both = walkers([(1, 1), (1, 5)], [(1.0, 0), (1.4, 0)])
    assert value(both, "speed_variation_coeff") == pytest.approx(0.2 / 1.2)
    assert value(walkers([(1, 1)], [(0, 0)]), "speed_variation_coeff") == 0.0


def test_collisions_are_overlapping_pairs_over_all_pairs():
    three = walkers([(1, 1), (1.3, 1), (9, 9)], [(0, 0)] * 3)  # 0.3 m < 0.2 + 0.2
    assert value(three, "collision_fraction") == pytest.approx(1 / 3)


def test_discs_that_just_touch_do_not_collide():
    pair = walkers([(1, 1), (1.5, 1)], [(0, 0)] * 2, radius=0.25)
    assert value(pair, "collision_fraction") == 0.0


def test_collisions_use_the_radius_of_the_frame():
    pair = walkers([(1, 1), (2, 1)], [(0, 0)] * 2, frames=4)
    radius = np.full((4, 2), 0.2)
    radius[:2] = 0.6
    assert value(pair._replace(radius=radius), "collision_fraction") == 0.5


def test_lingering_is_the_share_of_slow_agents_by_their_own_mean():
    crowd = walkers([(1, 1), (1, 5), (1, 9), (1, 13)], [(0.2, 0), (0.3, 0), (1, 0), (0, 0)])
    crowd.velocity[:, 1] = (0.3000001, 0)
    assert value(crowd, "lingering_fraction") == 0.5
    assert value(crowd, "lingering_fraction", speed_threshold=0.31) == 0.75


def test_flow_alignment_is_the_length_of_the_mean_direction():
    crowd = walkers([(1, 1), (1, 5), (40, 9)], [(1, 0), (2, 0), (-1, 0)])
    assert value(crowd, "flow_alignment") == pytest.approx(1 / 3)


def test_alignment_leaves_out_who_is_not_faster_than_5_centimetres_a_second():
    crowd = walkers([(1, 1), (1, 5), (9, 9)], [(1, 0), (1, 0), (0, 0.05)])
    assert value(crowd, "flow_alignment") == pytest.approx(1.0)


def test_entropy_of_one_heading_is_0_and_of_two_equal_ones_is_1_over_log_36():
    one = walkers([(1, 1), (1, 5)], [(1, 0.1)] * 2)
    two = walkers([(1, 1), (1, 5)], [(1, 0.1), (-1, 0.1)])
    assert value(one, "directional_entropy_normalized") == 0.0
    assert value(two, "directional_entropy_normalized") == pytest.approx(1 / math.log2(36))


def test_entropy_of_headings_in_all_36_bins_is_1():
    angle = np.deg2rad(np.arange(36) * 10 + 5 - 180)
    ways = np.column_stack((np.cos(angle), np.sin(angle)))
    crowd = walkers(100 + 10 * ways, ways)
    assert value(crowd, "directional_entropy_normalized") == pytest.approx(1.0)


@pytest.mark.parametrize("way", [(1, 0), (-1, 0), (0, 1), (0, -1), (-1, -0.0), (1, -0.0)])
def test_headings_on_the_edge_of_a_bin_are_counted_once(way):
    counts = Clip(walkers([(50, 50)], [way], frames=3)).heading_counts
    expected, _ = np.histogram([math.atan2(way[1], way[0])] * 3, 36, (-math.pi, math.pi))
    assert counts.sum(axis=0).tolist() == expected.tolist()


def test_linearity_of_three_metres_east_and_four_north_is_5_over_7():
    bent = walkers([(1, 1)], [(0, 0)], frames=8)
    bent.positions[:, 0] = [(1 + min(k, 3), 1 + max(k - 3, 0)) for k in range(8)]
    assert value(bent, "path_linearity") == pytest.approx(5 / 7)


def test_linearity_bridges_a_gap_straight():
    bent = walkers([(1, 1)], [(0, 0)], frames=5)
    bent.positions[:, 0] = [(1, 1), (4, 1), (9, 9), (4, 5), (4, 5)]
    assert value(absent(bent, (2, 0)), "path_linearity") == pytest.approx(5 / 7)


def test_linearity_skips_who_does_not_move():
    crowd = walkers([(1, 1), (1, 5)], [(1, 0), (0, 0)])
    assert value(crowd, "path_linearity") == pytest.approx(1.0)
    assert value(walkers([(1, 1)], [(0, 0)]), "path_linearity") == 0.0


def test_everybody_on_one_spot_is_as_concentrated_as_the_grid_allows():
    spot = walkers([(5, 5)] * 4, [(0, 0)] * 4)
    assert value(spot, "spatial_concentration") == pytest.approx(0.96)
    assert value(spot, "spatial_concentration", n_grid=2) == pytest.approx(0.75)


def test_one_person_in_each_cell_is_not_concentrated():
    centres = [(x + 1, y + 1) for x in range(5) for y in range(5)]
    assert value(walkers(centres, [(0, 0)] * 25), "spatial_concentration") == pytest.approx(0.0)


def test_a_point_on_an_inner_edge_belongs_to_the_lower_cell():
    # Box 0..2 in two columns: 1.0 lies on the inner edge. Counts 3 and 1 in two of four cells.
    row = walkers([(1, 1), (2, 1), (2, 1), (3, 1)], [(0, 0)] * 4)
    counts = [0, 0, 1, 3]
    gini = 2 * sum((k + 1) * c for k, c in enumerate(counts)) / (4 * 4) - 5 / 4
    assert value(row, "spatial_concentration", n_grid=2) == pytest.approx(gini)


def test_nobody_in_sampled_frames_leaves_concentration_undefined():
    with pytest.raises(UndefinedError, match="nobody"):
        value(NOBODY, "spatial_concentration")


def test_local_density_counts_others_within_the_crowds_own_spacing():
    # A row 1 m apart: within 1.5 m the two ends have one neighbour, the other three two.
    row = walkers([(1 + k, 1) for k in range(5)], [(0, 0)] * 5)
    assert value(row, "mean_local_density") == pytest.approx(8 / 5)
    assert value(row, "peak_local_density") == pytest.approx(2 / (8 / 5))
    assert value(row, "mean_local_density", radius_mult=2.0) == pytest.approx(14 / 5)


def test_local_density_does_not_see_the_size_of_a_layout():
    near = [(1 + x, 1 + y) for x in range(4) for y in range(4)]
    far = [(10 * x, 10 * y) for x, y in near]
    densities = [value(walkers(w, [(0, 0)] * 16), "mean_local_density") for w in (near, far)]
    assert densities[0] == pytest.approx(densities[1])


def test_who_leaves_the_middle_disperses_and_who_comes_to_it_converges():
    corners = [(10, 10), (20, 10), (20, 20), (10, 20)]
    out = walkers(corners, [(-1, -1), (1, -1), (1, 1), (-1, 1)])
    back = walkers(corners, [(0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.2, -0.2)])
    assert value(out, "dispersal_score") == pytest.approx(1.0)
    assert value(back, "convergence_score") == pytest.approx(1.0)
    assert value(back, "dispersal_score") == pytest.approx(-1.0)


def test_fewer_than_three_have_no_direction_out():
    assert value(walkers([(1, 1), (2, 2)], [(1, 0)] * 2), "dispersal_score") is None
    assert value(walkers([(1, 1), (2, 2), (5, 1)], [(0, 0)] * 3), "dispersal_score") == 0.0


def speeding(factors, **kwargs):
    """Three people whose speed in each fifth of 20 frames is 1 m/s times a factor."""
    walk = walkers([(1, 1), (1, 3), (1, 5)], [(1, 0)] * 3)
    velocity = walk.velocity * np.repeat(factors, 4)[:, None, None]
    return walk._replace(velocity=velocity)


def test_speed_trend_is_the_slope_of_the_bins_over_the_mean():
    walk = speeding([1.0, 1.1, 1.2, 1.3, 1.4])
    assert value(walk, "speed_trend") == pytest.approx(0.1 / 1.2, rel=1e-7)
    assert value(walk, "speed_trend", n_bins=1) is None


def test_lingering_trend_judges_each_bin_by_itself():
    walk = speeding([1, 1, 1, 0.1, 0.1])
    assert value(walk, "lingering_trend") == pytest.approx(0.3 / 0.4, rel=1e-6)


def test_spread_trend_is_that_of_the_distance_to_the_centroid():
    walk = walkers([(10, 10), (20, 10)], [(0, 0)] * 2, frames=20)
    half = 5 + np.repeat(np.arange(5), 4)
    walk.positions[:, 0, 0], walk.positions[:, 1, 0] = 50 - half, 50 + half
    assert value(walk, "spread_trend") == pytest.approx(1 / 7, rel=1e-7)


def test_alignment_and_entropy_trends_of_a_standing_crowd_are_0():
    still = walkers([(1, 1), (2, 1)], [(0, 0)] * 2)
    assert value(still, "flow_alignment_trend") == value(still, "entropy_trend") == 0.0


def test_collision_trend_goes_up_when_people_meet_in_the_end():
    pair = walkers([(1, 1), (9, 1)], [(0, 0)] * 2)
    pair.positions[16:, 1, 0] = 1.1
    assert value(pair, "collision_trend") == pytest.approx(0.2 / 0.2, rel=1e-6)


def test_density_trend_measures_all_bins_with_one_radius():
    row = walkers([(1 + k, 1) for k in range(5)], [(0, 0)] * 5)
    row.positions[16:] *= 10
    values = [1.6, 1.6, 1.6, 1.6, 0.0]
    slope = np.polyfit(range(5), values, 1)[0]
    assert value(row, "density_trend") == pytest.approx(slope / (np.mean(values) + 1e-8))


def test_clusters_are_of_three_by_places_averaged_over_the_bin():
    three = walkers([(1, 1), (2, 1), (3, 1), (30, 1)], [(0, 0)] * 4)
    assert value(three, "clustering_trend") == pytest.approx(0.0, abs=1e-9)
    three.positions[16:, 2, 0] = 60
    values = [0.75, 0.75, 0.75, 0.75, 0.0]
    slope = np.polyfit(range(5), values, 1)[0]
    assert value(three, "clustering_trend") == pytest.approx(slope / (np.mean(values) + 1e-8))


def test_clustering_is_undefined_where_most_coincide():
    spot = walkers([(5, 5)] * 4, [(0, 0)] * 4)
    with pytest.raises(UndefinedError, match="coincide"):
        value(spot, "clustering_trend")
    assert value(walkers([(5, 5)] * 2, [(0, 0)] * 2), "clustering_trend") is None


@pytest.mark.parametrize("name", set(MEASURES) - {"spatial_concentration"})
def test_nobody_present_is_no_data(name):
    assert value(NOBODY, name) is None


@pytest.mark.parametrize("name", MEASURES)
def test_no_frames_are_no_data(name):
    assert value(trajectory(np.zeros((0, 3, 2)), np.zeros((0, 3), bool), dt_s=None,
        velocity=np.zeros((0, 3, 2)), radius=np.zeros((0, 3))), name) is None  # fmt: skip


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("speed_trend", {"n_bins": 5.0}),
        ("spatial_concentration", {"n_grid": 0}),
        ("spatial_concentration", {"n_grid": 2.5}),
        ("mean_local_density", {"radius_mult": "1.5"}),
        ("mean_local_density", {"radius_mult": 10**400}),
        ("lingering_fraction", {"speed_threshold": [0.3]}),
        ("clustering_trend", {"eps_mult": "wide"}),
    ],
)
def test_a_parameter_of_the_wrong_kind_leaves_a_measure_undefined(name, params):
    with pytest.raises(UndefinedError, match=next(iter(params))):
        value(strolling(), name, **params)


@pytest.mark.parametrize(
    ("field", "names"),
    [("velocity", {"V"}), ("radius", {"collision_fraction", "collision_trend"})],
)
def test_a_measure_reads_the_fields_its_row_names(field, names):
    without = Clip(strolling()._replace(**{field: None}))
    undefined = set()
    for name, measure in MEASURES.items():
        try:
            measure.value(without, {})
        except UndefinedError:
            undefined.add(name)
    assert undefined == {name for name, one in MEASURES.items() if field in one.reads}
    assert names & (undefined | {MEASURES[name].axis for name in undefined})


def test_there_are_20_measures_on_five_axes():
    axes = [one.axis for one in MEASURES.values()]
    assert {axis: axes.count(axis) for axis in AXES} == {"V": 2, "R": 2, "D": 3, "S": 5, "T": 8}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_documented(name):
    assert "Return" in MEASURES[name].function.__doc__


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("mean_speed", "mean_speed"), ("dmt.velocity.mean_speed", "mean_speed"),
        ("Speed-Trend", "speed_trend"), ("a.Flow Alignment", "flow_alignment"),
        ("mean_speeds", None), ("", None), ("mean_speed.", None),
    ],
)  # fmt: skip
def test_names_are_read_as_the_published_scorer_reads_them(written, found):
    assert found_name(written, MEASURES) == found


def test_parameters_are_matched_dropped_and_left_out_when_none():
    taken = taken_params({"nBins": 4, "radius_mult": None, "k": 1}, MEASURES["density_trend"])
    assert taken.params == {"n_bins": 4}
    assert taken.dropped == ["k"]


def test_ranges_follow_the_parameters():
    assert MEASURES["spatial_concentration"].bounds({"n_grid": 5}) == (0.0, 0.96)
    assert MEASURES["speed_trend"].bounds({}) == (-1.0, 1.0)
    assert MEASURES["speed_trend"].bounds({"n_bins": 11}) == (-0.5, 0.5)
    assert MEASURES["peak_local_density"].bounds({}) == (1.0, math.inf)
