"""Ways: distances around obstacles and where to go next; spots that can be seen."""

import numpy as np
import pytest

from pipeline.seeds import rng_for
from pipeline.stride.maps import CrowdMap
from pipeline.stride.spots import Spots
from pipeline.stride.ways import Ways
from tests.stride.places import closest, map_of, square, square_ways


def open_field() -> Ways:
    return Ways(CrowdMap(map_of(60.0, 60.0, [], name="Field")))


def test_on_open_ground_a_way_is_as_long_as_the_straight_line():
    field = open_field().to(30.25, 30.25)
    around = np.array([[50.25, 30.25], [30.25, 10.25], [44.35, 44.35], [10.25, 40.25]])
    straight = np.hypot(*(around - 30.25).T)
    # First-order sweeping is a little long between the axes.
    assert field.distance(around) == pytest.approx(straight, rel=0.06)


def test_on_open_ground_people_head_straight_for_the_goal():
    field = open_field().to(30.25, 30.25)
    around = np.array([[50.0, 35.0], [10.0, 20.0], [35.0, 5.0]])
    to_goal = 30.25 - around
    to_goal /= np.hypot(*to_goal.T)[:, None]
    assert (field.heading(around) * to_goal).sum(axis=1).min() > np.cos(np.radians(8))


def test_a_way_around_a_house_is_longer_than_through_it():
    field = square_ways().to(56.0, 60.0)
    assert field.distance(np.array([[56.0, 36.0]]))[0] > 24 + 5


def test_following_the_headings_leads_to_the_goal_without_touching_a_wall():
    field, at = square_ways().to_anchor("exit_1"), np.array([[56.0, 36.0]])
    walls, goal = square().walls, square().anchor("exit_1")
    for _ in range(600):
        at = at + 0.25 * field.heading(at)
        assert walls.distance(at)[0] > 0.3
        if np.hypot(at[0, 0] - goal.x_m, at[0, 1] - goal.y_m) < 1:
            break
    assert np.hypot(at[0, 0] - goal.x_m, at[0, 1] - goal.y_m) < 1


def test_where_no_way_leads_the_distance_is_infinite():
    field = square_ways().to_anchor("exit_1")
    assert field.distance(np.array([[56.0, 46.0]]))[0] == np.inf


def test_ground_off_the_map_is_not_passable():
    points = np.array([[-0.1, 50.0], [60.0, 100.1], [60.0, 50.0], [45.0, 30.0]])
    assert square_ways().passable(points).tolist() == [False, False, False, True]


# ---- spots ------------------------------------------------------------------------------------

CENTRE = square().of_kind("centre")[0]


def spots() -> Spots:
    return Spots(square_ways(), rng_for(7, "test", "spots"))


def test_a_ring_has_its_distances_and_nobody_stands_in_another():
    found = spots().ring(CENTRE, (3.0, 8.0), 40)
    away = np.hypot(found[:, 0] - CENTRE.x_m, found[:, 1] - CENTRE.y_m)
    assert away.min() >= 3.0
    assert away.max() <= 8.0
    assert closest(found) >= 0.62
    assert square_ways().passable(found).all()


def test_a_ring_without_room_grows():
    found = spots().ring(CENTRE, (0.5, 1.0), 30)
    assert len(found) == 30
    assert closest(found) >= 0.62


def test_a_line_leads_away_from_its_table_in_steps():
    found = spots().line(CENTRE, 2.0, 12)
    away = np.hypot(found[:, 0] - CENTRE.x_m, found[:, 1] - CENTRE.y_m)
    assert away[0] == pytest.approx(2.0, abs=0.05)
    assert (np.diff(away) > -0.5).all()
    assert closest(found) >= 0.79


def test_moving_up_goes_from_ones_place_to_the_first():
    spots_ = spots()
    line = spots_.line(CENTRE, 2.0, 8)
    steps = spots_.moving_up(CENTRE, line[3], 2.0)
    assert len(steps) == 3
    assert steps[-1] == pytest.approx(line[0], abs=0.01)


def test_who_wanders_sees_the_next_spot():
    spots_, at = spots(), np.array([CENTRE.x_m, CENTRE.y_m])
    for _ in range(30):
        spot = spots_.stroll(at, None, (0.0, 0.0))
        assert spots_.seen(at, spot[None])[0]
        assert 5.0 <= np.hypot(*(spot - at)) <= 22.0
        at = spot


def test_a_house_hides_what_is_behind_it():
    seen = spots().seen(np.array([56.0, 36.0]), np.array([[56.0, 56.0], [45.0, 36.0]]))
    assert seen.tolist() == [False, True]
