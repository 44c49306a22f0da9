"""The social-force model: nobody enters a wall, jumps, or forgets the goal; the same every time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.seeds import rng_for
from pipeline.stride.generators.crowds import Pace, goal_walkers, walk_of
from pipeline.stride.maps import CrowdMap
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.physical import contact_rate_per_agent
from pipeline.stride.social_force import Crowd, Surroundings, simulate
from pipeline.stride.states import initial_state
from pipeline.stride.traps import traps_of
from pipeline.stride.ways import Ways
from tests.stride.places import FORCE, closest, draft, map_of, person, role, square, square_ways

PACE = Pace(60.0, 0.4, 0.0)


def walked(people, *roles, pace: Pace = PACE, seed: int = 7):
    rng = rng_for(seed, "test", "walk")
    return walk_of(people, list(roles), square_ways(), FORCE, pace=pace, rng=rng)


def crowd_of(draft_, seed: int = 7):
    rng = rng_for(seed, "test", "state")
    people = initial_state(draft_, square_ways(), rng=rng, radius_m=(0.2, 0.25))
    assert isinstance(people, list)
    return people


def through(walk, walls) -> int:
    """Count steps of one time step each that lead through a wall."""
    both = walk.present[1:] & walk.present[:-1]
    return int(walls.crossed(walk.positions[:-1][both], walk.positions[1:][both]).sum())


FLEE = role("flee", start="centre_1", start_m=(1.0, 12.0), speed_mps=(2.5, 0.4))
WALK = role("walk", to=["exits"])


@pytest.mark.parametrize(("motion", "event"), [(FLEE, "centre_1"), (WALK, None)])
@pytest.mark.parametrize("count", [5, 120])
def test_nobody_is_ever_in_a_wall(motion, event, count):
    people = crowd_of(draft(motion, crowd_size=count, event=event))
    # Every step of the simulation is looked at, not only each fourth.
    walk = walked(people, motion, pace=Pace(30.0, FORCE.step_s, 0.0))
    here = walk.present
    room = square().walls.distance(walk.positions[here]) - walk.radius[here]
    assert room.min() >= -1e-6
    assert through(walk, square().walls) == 0


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 2 * np.pi), st.floats(1.0, 5.0))
def test_who_is_thrown_at_a_wall_stops_at_it(angle, speed):
    way = np.array([np.cos(angle), np.sin(angle)])
    crowd = Crowd(
        positions=np.array([[45.0, 46.0]]), velocities=speed * way[None],
        radius=np.array([0.25]), speed=np.array([speed]), group=np.array([-1]),
        begin_s=np.zeros(1), spots=(np.array([45.0, 46.0]) + 100 * way)[None, None],
        fields=np.array([[-1]]), reach_m=np.array([[0.5]]), stays_s=np.zeros((1, 1)),
        legs=np.array([1]), leaves=np.array([False]),
    )  # fmt: skip
    walk = simulate(
        crowd, Surroundings(square().walls, []), FORCE,
        rng=rng_for(7, "test", "thrown"), duration_s=30.0, record_s=FORCE.step_s,
    )  # fmt: skip
    assert square().walls.distance(walk.positions[:, 0]).min() >= 0.25 - 1e-6
    assert through(walk, square().walls) == 0


def test_nobody_is_faster_than_people_are():
    people = crowd_of(draft(FLEE, crowd_size=80, event="centre_1"))
    walk = walked(people, FLEE, pace=Pace(20.0, FORCE.step_s, 0.0))
    both = (walk.present[1:] & walk.present[:-1])[..., None]
    step = np.hypot(*np.moveaxis(np.where(both, np.diff(walk.positions, axis=0), 0.0), -1, 0))
    most = FORCE.fastest * max(one.speed_mps for one in people) * FORCE.step_s
    assert step.max() <= most + 1e-9


def test_velocities_are_what_positions_do():
    people = crowd_of(draft(WALK, crowd_size=30))
    assert not [trap for trap in traps_of(walked(people, WALK)) if trap.spoils]


def test_people_reach_their_exits_and_are_gone():
    people = crowd_of(draft(WALK, crowd_size=40))
    walk = walked(people, WALK, pace=Pace(180.0, 0.4, 0.0))
    assert walk.present[-1].sum() == 0


def test_who_gathers_stands_in_the_ring_in_the_end():
    motion = role("gather", start="centre_1", start_m=(12.0, 30.0), to=["centre_1"],
                  ring_m=(3.0, 8.0))  # fmt: skip
    people = crowd_of(draft(motion, crowd_size=40, event="centre_1"))
    walk = walked(people, motion)
    centre = square().anchor("centre_1")
    away = np.hypot(walk.positions[-1, :, 0] - centre.x_m, walk.positions[-1, :, 1] - centre.y_m)
    assert np.quantile(away, 0.95) < 9.0
    assert np.hypot(*walk.velocity[-1].T).mean() < 0.3


def test_who_stays_stays():
    stay = role("stay")
    people = crowd_of(draft(stay, crowd_size=20))
    walk = walked(people, stay)
    moved = np.hypot(*np.moveaxis(walk.positions - walk.positions[0], -1, 0))
    assert moved.max() < 1.5


def test_two_who_meet_pass_each_other():
    left, right = ([45.0, 30.0], [75.0, 30.2])
    people = [
        person(*left, goal_x_m=75.0, goal_y_m=30.1, vx_mps=1.3),
        person(*right, goal_x_m=45.0, goal_y_m=30.1, vx_mps=-1.3),
    ]
    walk = goal_walkers(
        people, square_ways(), FORCE, pace=Pace(40.0, FORCE.step_s, 0.0), speed_mps=(1.3, 0.0),
        rng=rng_for(7, "test", "pair"),
    )  # fmt: skip
    assert walk.positions[-1, 0, 0] > 74
    assert walk.positions[-1, 1, 0] < 46
    assert min(closest(frame) for frame in walk.positions) > 0.4 - 1e-9


def test_a_walking_crowd_hardly_touches_and_a_crush_does():
    people = crowd_of(draft(WALK, crowd_size=60))
    assert contact_rate_per_agent(Clip(walked(people, WALK))) < 0.05
    packed = role("wander", start="centre_1", start_m=(0.0, 5.0), near="centre_1",
                  near_m=(0.0, 5.0), speed_mps=(0.6, 0.1))  # fmt: skip
    people = crowd_of(draft(packed, crowd_size=110))
    crush = Clip(walked(people, packed))
    assert 0.05 < contact_rate_per_agent(crush) < 3


def test_groups_keep_together():
    pairs = role("walk", to=["exits"], group=(3, 3))
    people = crowd_of(draft(pairs, crowd_size=30))
    walk = walked(people, pairs, pace=Pace(20.0, 0.4, 0.0))
    spread = []
    for number in range(10):
        mine = walk.positions[-1, walk.group == number]
        here = walk.present[-1, walk.group == number]
        if here.all():
            spread.append(np.hypot(*(mine - mine.mean(axis=0)).T).mean())
    assert np.median(spread) < 1.5


def test_who_queues_is_served_and_leaves():
    motion = role("queue", start="centre_1", start_m=(4.0, 20.0), to=["centre_1"],
                  ring_m=(2.0, 2.0), pause_s=(2.0, 3.0))  # fmt: skip
    people = crowd_of(draft(motion, crowd_size=8, event="centre_1"))
    walk = walked(people, motion, pace=Pace(180.0, 0.4, 0.0))
    assert walk.present[40].all()
    assert not walk.present[-1].any()


def test_a_clip_ends_when_few_are_left():
    people = crowd_of(draft(WALK, crowd_size=40))
    walk = walked(people, WALK, pace=Pace(180.0, 0.4, 0.5))
    assert walk.frames < 451
    assert walk.present[-1].mean() >= 0.5


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    people = crowd_of(draft(WALK, crowd_size=20))
    first, again, other = (walked(people, WALK, seed=seed).positions for seed in (7, 7, 8))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_an_empty_field_has_walls_at_its_edge():
    ways = Ways(CrowdMap(map_of(30.0, 30.0, [], name="Pen")))
    wander = role("wander", pause_s=(0.0, 1.0))
    people = initial_state(
        draft(wander, crowd_size=30), ways, rng=rng_for(7, "test", "pen"), radius_m=(0.2, 0.25)
    )
    walk = walk_of(people, [wander], ways, FORCE, pace=PACE, rng=rng_for(7, "test", "pen"))
    assert walk.present.all()
    assert walk.positions.min() > 0
    assert walk.positions.max() < 30
