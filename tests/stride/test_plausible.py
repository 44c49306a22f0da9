"""What no measure sees: each figure by arithmetic, and the words where one is far off."""

import numpy as np
import pytest

from pipeline.stride.measures.clip import Clip
from pipeline.stride.plausible import doubts_of, plausibility, plausible_of
from tests.stride.crowds import absent, strolling, walkers

STACK = walkers([(1, 1), (1, 1), (5, 5), (9, 9)], [(0, 0)] * 4)


def found(walk, *, n_agents=3, obstacles=None):
    return plausible_of(Clip(walk, obstacles=obstacles), n_agents=n_agents)


def codes(walk, n_agents=3):
    clip = Clip(walk)
    doubts = doubts_of(plausible_of(clip, n_agents=n_agents), clip, n_agents=n_agents)
    return [trap.code for trap in doubts]


def jumping():
    walk = strolling()
    walk.positions[5, 0] += 50.0  # there and back: two steps of 3 agents over 19
    return walk


def test_a_sound_crowd_of_the_size_asked_for_has_nothing_odd():
    sound = found(strolling())
    assert (sound.people, sound.present, sound.stays) == (1.0, 1.0, 1.0)
    assert (sound.jumps, sound.stacked, sound.in_walls) == (0.0, 0.0, None)
    assert codes(strolling()) == []


def test_three_people_of_36_are_a_twelfth_whatever_they_score():
    assert found(strolling(), n_agents=36).people == pytest.approx(1 / 12)
    assert codes(strolling(), n_agents=36) == ["people_differ"]
    assert found(absent(strolling(), (slice(None), 0))).people == pytest.approx(2 / 3)
    assert found(strolling(), n_agents=None).people is None


@pytest.mark.parametrize("n_agents", [39, 41])
def test_one_person_of_40_too_few_or_too_many_is_said(n_agents):
    walk = walkers([(2 * n, 1) for n in range(40)], [(1.2, 0)] * 40)
    assert codes(walk, n_agents=40) == []
    assert codes(walk, n_agents=n_agents) == ["people_differ"]


def test_who_comes_and_goes_is_there_for_less_and_stays_often():
    gone = absent(strolling(), (slice(5, 8), 0), (slice(0, 10), 1))
    assert found(gone).present == pytest.approx((17 + 10 + 20) / 60)
    assert found(gone).stays == pytest.approx(4 / 3)
    flicker = absent(strolling(), (slice(1, None, 2), slice(None)))
    assert found(flicker).stays == 10
    assert codes(flicker) == ["come_and_go"]


def test_a_step_faster_than_10_metres_a_second_is_a_jump():
    assert found(jumping()).jumps == pytest.approx(2 / 57)
    assert codes(jumping()) == ["jumps"]
    assert found(jumping()._replace(dt_s=None)).jumps is None


def test_people_at_one_place_are_a_stack():
    assert found(STACK).stacked == 0.5
    assert codes(STACK, n_agents=4) == ["stacked"]


def test_walls_are_looked_at_where_they_are_known():
    across = np.array([[0.0, 1.7, 1.5, 1.5], [2.0, 2.0, 0.0, 9.0]])
    assert found(strolling(), obstacles=across).in_walls > 0
    assert found(strolling(), obstacles=np.array([[50.0, 51.0, 0.0, 0.0]])).in_walls == 0.0
    nowhere = strolling()._replace(positions=np.full((20, 3, 2), np.nan))
    assert found(nowhere, obstacles=across).in_walls is None


def test_a_short_clip_is_told():
    assert codes(walkers([(1, 1), (2, 2), (3, 3)], [(1, 0)] * 3, frames=19)) == ["few_frames"]


def test_nobody_has_no_figures():
    nobody = found(absent(strolling(), (slice(None), [0, 1, 2])))
    assert (nobody.people, nobody.present, nobody.stays, nobody.stacked) == (0.0, None, None, None)


def test_means_are_over_the_scenarios_that_have_a_figure_and_copies_are_counted():
    all_three, some, unknown = strolling(), absent(strolling(), (slice(None), 0)), STACK
    three = [found(all_three), found(some), found(unknown, n_agents=None), found(all_three)]
    whole = plausibility(three)
    assert whole["people"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert whole["stacked"] == pytest.approx(0.5 / 4)
    assert (whole["in_walls"], whole["copies"]) == (None, 1)
    assert plausibility([]) == {**dict.fromkeys(whole), "copies": 0}
