"""Initial states: everybody has a place with room, a goal that can be reached, and a share."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.seeds import rng_for
from pipeline.stride.maps import Anchor, CrowdMap
from pipeline.stride.roles import head_counts
from pipeline.stride.states import Fault, initial_state
from pipeline.stride.ways import Ways
from tests.stride.places import draft, role, square, square_ways

RADIUS = (0.2, 0.25)


def drawn(draft_, seed: int = 7):
    return initial_state(
        draft_, square_ways(), rng=rng_for(seed, "test", "states"), radius_m=RADIUS
    )


def places(people) -> np.ndarray:
    return np.array([[one.x_m, one.y_m] for one in people])


MOTIONS = [
    role("walk", to=["exits"]),
    role("flee", start="centre_1", start_m=(1.0, 15.0)),
    role("gather", start="centre_1", start_m=(10.0, 40.0), to=["centre_1"], ring_m=(3.0, 8.0)),
    role("queue", start="centre_1", start_m=(5.0, 25.0), to=["entrance_1"], ring_m=(2.0, 2.0)),
    role("wander", group=(2, 4)),
    role("stay", start="stop_1", start_m=(0.0, 12.0)),
]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(MOTIONS), st.integers(2, 60), st.integers(0, 10_000))
def test_nobody_stands_in_a_wall_or_in_another_and_every_goal_can_be_reached(motion, count, seed):
    people = drawn(draft(motion, crowd_size=count, event="centre_1"), seed)
    assert len(people) == count
    at, radius = places(people), np.array([one.radius_m for one in people])
    assert square_ways().passable(at).all()
    assert (square().walls.distance(at) >= radius).all()
    apart = np.hypot(*(at[:, None] - at).T)
    np.fill_diagonal(apart, np.inf)
    assert (apart > radius[:, None] + radius).all()
    for one in people:
        if one.goal is not None:
            field = square_ways().to_anchor(one.goal)
            assert np.isfinite(field.distance(np.array([[one.x_m, one.y_m]])))[0]


def test_people_start_where_their_role_says():
    motion = role("stay", start="stop_1", start_m=(3.0, 9.0))
    people = drawn(draft(motion, crowd_size=40))
    away = square_ways().to_anchor("stop_1").distance(places(people))
    assert away.min() > 2.0
    assert away.max() < 10.5


def test_who_starts_anywhere_starts_clear_of_the_event():
    people = drawn(draft(role("walk", to=["exits"]), crowd_size=60, event="centre_1"))
    assert square_ways().to_anchor("centre_1").distance(places(people)).min() > 11.0


def test_groups_have_the_size_their_role_says_and_one_goal():
    people = drawn(draft(role("walk", to=["exits"], group=(3, 3)), crowd_size=30))
    groups = [[one for one in people if one.group == number] for number in range(10)]
    assert {len(group) for group in groups} == {3}
    assert all(len({one.goal for one in group}) == 1 for group in groups)
    assert all(len({one.speed_mps for one in group}) == 1 for group in groups)


def test_who_flees_runs_for_an_exit_ahead():
    flee = role("flee", start="centre_1", start_m=(3.0, 12.0))
    people = drawn(draft(flee, crowd_size=60, event="centre_1"))
    centre = np.array([square().anchor("centre_1").x_m, square().anchor("centre_1").y_m])
    away = places(people) - centre
    fields = [square_ways().to_anchor(one.goal) for one in people]
    ways = np.array([f.heading(np.array([[one.x_m, one.y_m]]))[0]
                     for f, one in zip(fields, people, strict=True)])  # fmt: skip
    ahead = (ways * away).sum(axis=1) / np.hypot(*away.T)
    assert np.mean(ahead > 0) > 0.85
    assert len({one.goal for one in people}) >= 3


def test_who_is_under_way_moves_at_the_speed_wanted():
    people = drawn(draft(role("walk", to=["exits"], moving=True, delay_s=(5.0, 9.0))))
    for one in people:
        assert np.hypot(one.vx_mps, one.vy_mps) == pytest.approx(one.speed_mps, abs=0.002)
        assert one.begin_s == 0.0


def test_who_waits_stands_until_then():
    people = drawn(draft(role("walk", to=["exits"], delay_s=(5.0, 9.0))))
    assert all(5.0 <= one.begin_s <= 9.0 and one.vx_mps == 0.0 for one in people)


def test_without_room_for_all_the_fault_is_density():
    crowded = role("stay", start="stop_1", start_m=(0.0, 2.0))
    fault = drawn(draft(crowded, crowd_size=200))
    assert isinstance(fault, Fault)
    assert fault.reason == "density"
    assert "of 200 people, expected room for all around stop_1" in fault.detail


def test_without_room_around_the_event_the_fault_is_density_too():
    walled_in = Anchor("entrance_9", "entrance", None, 56.0, 46.0, 0.0)
    record = square().record
    anchors = [*record.anchors, walled_in]
    ways = Ways(CrowdMap(msgspec.structs.replace(record, anchors=anchors)))
    for motion in ("gather", "queue"):
        meet = role(motion, start="stop_1", start_m=(1.0, 20.0), to=["entrance_9"])
        fault = initial_state(
            draft(meet, crowd_size=10), ways, rng=rng_for(7, "test", "narrow"), radius_m=RADIUS
        )
        expected = "room at entrance_9 for 0 of 10 people, expected room for all"
        assert fault == ("density", expected)


def test_another_person_changes_no_earlier_draw():
    few = drawn(draft(role("stay"), crowd_size=10))
    more = drawn(draft(role("stay"), crowd_size=11))
    assert places(more)[:10].tolist() == places(few).tolist()


def test_shares_deal_out_everybody():
    roles = [role("stay", share=0.5), role("stay", share=0.3), role("stay", share=0.2)]
    assert head_counts(draft(*roles, crowd_size=10)) == [5, 3, 2]
    assert head_counts(draft(*roles, crowd_size=11)) == [6, 3, 2]
    assert head_counts(draft(*roles, crowd_size=12)) == [6, 4, 2]


@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.integers(2, 500))
def test_head_counts_add_up(weights, count):
    roles = [role("stay", share=weight / sum(weights)) for weight in weights]
    counts = head_counts(draft(*roles, crowd_size=count))
    assert sum(counts) == count
    assert all(abs(n - r.share * count) < 1 for n, r in zip(counts, roles, strict=True))
