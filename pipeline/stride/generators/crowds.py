"""From a scenario to the walk of the social-force model: roles become itineraries.

    walk = walk_of(people, roles, ways, force, pace=Pace(60.0, 0.4, 0.3), rng=rng)
    "gather" -> a spot in the ring, where they stay;   "flee" -> an exit, where they are gone
    "wander" -> spot after spot with stops;            "queue" -> up the line, served, and away
    "circle" -> round after round

It knows the scenario's roles and goals; it never sees the questions that are asked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from pipeline.stride.arrays import Floats
from pipeline.stride.roles import Role
from pipeline.stride.scenario_records import Person
from pipeline.stride.social_force import Crowd, ForceSettings, Surroundings, simulate
from pipeline.stride.spots import Spots
from pipeline.stride.trajectories import Trajectory
from pipeline.stride.ways import Ways

_STROLLS = 12  # spots of somebody who wanders: more than a clip is long
_ROUNDS = 12  # of somebody who circles: more than a clip is long
_REACH_M = 0.6
_TURN_REACH_M = 1.0
_EXIT_REACH_M = (1.5, 5.0)
_STRAIGHT = -1  # number of the field of who walks straight to a spot
_SHORTEST_S = 10.0
_SLOWEST = 0.3  # nobody wants to walk slower than this share of the mean


class Leg(msgspec.Struct, frozen=True):
    """One stretch of an itinerary.

    Attributes:
        spot: Where it ends, metres.
        anchor: Whose field leads there; None = straight ahead.
        reach_m: So near to the spot it is over.
        stays_s: Seconds at the spot.
        leaves: Whether the person is gone then.
    """

    spot: Floats
    anchor: str | None
    reach_m: float
    stays_s: float
    leaves: bool = False


class Pace(NamedTuple):
    """How long a clip is.

    Attributes:
        duration_s: At most so long.
        record_s: From one recorded frame to the next.
        least_present: It ends when a smaller share of the people is left, 0 to 1.
    """

    duration_s: float
    record_s: float
    least_present: float


def walk_of(
    people: Sequence[Person],
    roles: Sequence[Role],
    ways: Ways,
    force: ForceSettings,
    *,
    pace: Pace,
    rng: np.random.Generator,
) -> Trajectory:
    """Return how the social-force model moves people who play roles.

    Args:
        people: The initial state.
        roles: What their role numbers mean.
        ways: The map's ways.
        force: Settings of the model.
        pace: How long the clip is.
        rng: Draws itineraries and random pushes.
    """
    planner = _Planner(ways, rng)
    return _walked(people, [planner.legs(p, roles[p.role]) for p in people], ways, force, pace, rng)


def goal_walkers(
    people: Sequence[Person],
    ways: Ways,
    force: ForceSettings,
    *,
    pace: Pace,
    speed_mps: tuple[float, float],
    rng: np.random.Generator,
) -> Trajectory:
    """Return people who walk to their first goal, whatever their roles; no groups, no waiting.

    Args:
        people: The initial state.
        ways: The map's ways.
        force: Settings of the model.
        pace: How long the clip is.
        speed_mps: Mean and standard deviation of the speed they want.
        rng: Draws speeds and random pushes.
    """
    plain, plans = to_first_goals(people, ways, speed_mps=speed_mps, rng=rng)
    return _walked(plain, plans, ways, force, pace, rng)


def to_first_goals(
    people: Sequence[Person],
    ways: Ways,
    *,
    speed_mps: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[list[Person], list[list[Leg]]]:
    """Return people without roles, and each one's way to the first goal; none for who has none."""
    planner = _Planner(ways, rng)
    mean, spread = speed_mps
    speeds = np.maximum(rng.normal(mean, spread, size=len(people)), _SLOWEST * mean)
    plain = [
        person._replace(speed_mps=float(speed), begin_s=0.0, group=-1)
        for person, speed in zip(people, speeds, strict=True)
    ]
    return plain, [planner.to_goal(person) for person in plain]


def _walked(
    people: Sequence[Person],
    plans: Sequence[list[Leg]],
    ways: Ways,
    force: ForceSettings,
    pace: Pace,
    rng: np.random.Generator,
) -> Trajectory:
    fields = sorted({leg.anchor for legs in plans for leg in legs if leg.anchor is not None})
    crowd = _crowd(people, plans, {name: k for k, name in enumerate(fields)})
    ground = Surroundings(ways.crowd_map.walls, [ways.to_anchor(name) for name in fields])
    walk = simulate(
        crowd, ground, force, rng=rng, duration_s=pace.duration_s, record_s=pace.record_s
    )
    return until_left(walk, pace.least_present)


def until_left(walk: Trajectory, least_present: float) -> Trajectory:
    """End a clip when its story is over: hardly anybody is left."""
    shares = walk.present.mean(axis=1)
    enough = int((shares >= least_present).sum())  # nobody comes back, so these come first
    least = int(_SHORTEST_S / (walk.dt_s or 1.0)) + 1
    end = min(max(enough, least), walk.frames)
    return walk._replace(
        positions=walk.positions[:end],
        present=walk.present[:end],
        velocity=None if walk.velocity is None else walk.velocity[:end],
        goal=None if walk.goal is None else walk.goal[:end],
        radius=None if walk.radius is None else walk.radius[:end],
    )


class _Planner:
    """Writes itineraries."""

    def __init__(self, ways: Ways, rng: np.random.Generator) -> None:
        self._ways, self._rng, self._spots = ways, rng, Spots(ways, rng)
        self._map = ways.crowd_map

    def legs(self, person: Person, role: Role) -> list[Leg]:
        """Return the itinerary of one person."""
        goal = np.array([person.goal_x_m, person.goal_y_m])
        match role.motion:
            case "stay":
                return []
            case "wander":
                return self._strolls(goal, role)
            case "circle":
                return self._rounds(person)
            case "queue":
                return self._line(goal, person.goal, role)
            case "gather":
                return [Leg(goal, person.goal, _REACH_M, 0.0)]
            case "walk" | "flee":
                return [self._to(goal, person.goal)]

    def to_goal(self, person: Person) -> list[Leg]:
        """Return the way to the first goal; none for who has none."""
        if person.goal is None and (person.x_m, person.y_m) == (person.goal_x_m, person.goal_y_m):
            return []
        return [self._to(np.array([person.goal_x_m, person.goal_y_m]), person.goal)]

    def _to(self, goal: Floats, anchor_id: str | None) -> Leg:
        """Return the way to a goal: out of the map, or to the middle of a place and no further."""
        if anchor_id is None:
            return Leg(goal, None, _REACH_M, 0.0)
        anchor = self._map.anchor(anchor_id)
        reach = _REACH_M
        if anchor.kind == "exit":
            reach = float(np.clip(0.5 * anchor.clearance_m, *_EXIT_REACH_M))
        return Leg(goal, anchor_id, reach, 0.0, leaves=anchor.kind != "centre")

    def _strolls(self, first: Floats, role: Role) -> list[Leg]:
        near = self._map.anchor(role.near) if role.near else None
        legs = [Leg(first, None, _REACH_M, float(self._rng.uniform(*role.pause_s)))]
        for _ in range(_STROLLS - 1):
            spot = self._spots.stroll(legs[-1].spot, near, role.near_m)
            legs.append(Leg(spot, None, _REACH_M, float(self._rng.uniform(*role.pause_s))))
        return legs

    def _rounds(self, person: Person) -> list[Leg]:
        """Return rounds about the goal's anchor at the distance of the goal, without a stop."""
        anchor = self._map.anchor(str(person.goal))
        goal = np.array([person.goal_x_m, person.goal_y_m])
        ring = float(np.hypot(goal[0] - anchor.x_m, goal[1] - anchor.y_m))
        turns = self._spots.rounds(anchor, np.array([person.x_m, person.y_m]), ring)
        return [Leg(spot, None, _TURN_REACH_M, 0.0) for spot in turns] * _ROUNDS

    def _line(self, spot: Floats, anchor_id: str | None, role: Role) -> list[Leg]:
        """Return the way up a line: to the next place when somebody has been served, then away."""
        legs = [Leg(spot, anchor_id, _REACH_M, float(self._rng.uniform(*role.pause_s)))]
        if anchor_id is None:
            return legs
        legs += [
            Leg(place, None, _REACH_M, float(self._rng.uniform(*role.pause_s)))
            for place in self._spots.moving_up(self._map.anchor(anchor_id), spot, role.ring_m[0])
        ]
        exits = self._map.of_kind("exit")
        away = exits[int(self._rng.integers(len(exits)))]
        return [*legs, self._to(self._spots.at(away), away.id)]


def _crowd(people: Sequence[Person], plans: Sequence[list[Leg]], fields: dict[str, int]) -> Crowd:
    count, longest = len(people), max(1, *(len(legs) for legs in plans))
    spots, which = np.zeros((count, longest, 2)), np.full((count, longest), _STRAIGHT)
    reach, stays = np.full((count, longest), _REACH_M), np.zeros((count, longest))
    for number, legs in enumerate(plans):
        for place, leg in enumerate(legs):
            spots[number, place], reach[number, place] = leg.spot, leg.reach_m
            stays[number, place] = leg.stays_s
            if leg.anchor is not None:
                which[number, place] = fields[leg.anchor]
    return Crowd(
        positions=np.array([[one.x_m, one.y_m] for one in people]),
        velocities=np.array([[one.vx_mps, one.vy_mps] for one in people]),
        radius=np.array([one.radius_m for one in people]),
        speed=np.array([one.speed_mps for one in people]),
        group=np.array([one.group for one in people]),
        begin_s=np.array([one.begin_s for one in people]),
        spots=spots,
        fields=which,
        reach_m=reach,
        stays_s=stays,
        legs=np.array([len(legs) for legs in plans]),
        leaves=np.array([bool(legs) and legs[-1].leaves for legs in plans]),
    )
