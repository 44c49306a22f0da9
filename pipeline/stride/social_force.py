"""The social-force model: people steer to their goals, keep apart, and respect walls.

walk = simulate(crowd, ground, force, rng=rng, duration_s=60.0, record_s=0.4)
->  Trajectory of 150 frames, velocities, goals and radii included

Each person is driven to a wanted velocity within a relaxation time and pushed away from others by
the elliptical potential of Helbing and Molnar (1995), from the nearest wall by its exponential, and
towards the middle of the own group (Moussaid et al. 2010). Forces alone cannot keep bodies out of
walls, so a step is also corrected: out of walls, half out of other bodies, and a step that would
still touch or pass a wall is not made. Hence nobody is ever inside an obstacle.

Itineraries: every person has legs, one after another: a spot, how long to stay there, and the field
that leads to it. Who has no leg left stands, or leaves the map.
"""

from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from scipy.spatial import cKDTree

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.trajectories import Trajectory, trajectory
from pipeline.stride.walls import Near, Walls
from pipeline.stride.ways import Field

FRAME = "metres from the map's south-west corner"
_SEEN_M = 3.0  # others further away push no more
_LEAST_B_M = 0.05
_MOST_PUSH = 12.0  # m/s^2: of one other person, however near
_STRAIGHT_M = 1.0  # so near to a spot people walk straight to it
_SETTLE_S = 1.0  # standing people drift back to their spot within about this time
_DRIFT_MPS = 0.4
_GROUP_ROOM_M = 0.4
_SKIN_M = 0.001  # kept between bodies and walls, so that rounding makes no overlap
_TINY = 1e-9

Positive = Annotated[float, Meta(gt=0, le=100)]
Share = Annotated[float, Meta(ge=0, le=1)]


class ForceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How people push and are pushed; Helbing and Molnar's values unless said otherwise.

    Attributes:
        step_s: Time step, seconds.
        relax_s: Time in which people reach the velocity they want, seconds.
        pair_m2ps2: Strength of the potential around another person, m^2/s^2.
        pair_range_m: Distance over which it falls to 1/e, metres.
        look_ahead_s: How far ahead people see others' next step, seconds.
        behind: Weight of those who are out of sight, 0 to 1.
        wall_m2ps2: Strength of the potential of a wall, m^2/s^2.
        wall_range_m: Distance over which it falls to 1/e, metres.
        group_mps2: Pull towards the middle of the own group, m/s^2.
        noise_mps2: Size of random pushes, m/s^2.
        fastest: Nobody is faster than so many times the own wanted speed.
    """

    step_s: Annotated[float, Meta(gt=0, le=0.25)]
    relax_s: Positive
    pair_m2ps2: Annotated[float, Meta(ge=0, le=100)]
    pair_range_m: Positive
    look_ahead_s: Annotated[float, Meta(ge=0, le=10)]
    behind: Share
    wall_m2ps2: Annotated[float, Meta(ge=0, le=100)]
    wall_range_m: Positive
    group_mps2: Annotated[float, Meta(ge=0, le=10)]
    noise_mps2: Annotated[float, Meta(ge=0, le=10)]
    fastest: Annotated[float, Meta(ge=1, le=3)]


class Crowd(NamedTuple):
    """N people and what they are about to do, L legs each.

    Attributes:
        positions: (N, 2), metres; at least their radius from every wall.
        velocities: (N, 2), m/s.
        radius: (N,), metres.
        speed: (N,), the speed each wants to walk at, m/s.
        group: (N,), -1 for who is alone.
        begin_s: (N,), stands until then.
        spots: (N, L, 2), metres.
        fields: (N, L), number of the field that leads there; -1 for straight ahead.
        reach_m: (N, L), so near to the spot it counts as reached.
        stays_s: (N, L), seconds at the spot before the next leg.
        legs: (N,), how many legs each has; 0 stands where they are.
        leaves: (N,), whether they are gone after the last leg.
    """

    positions: Floats
    velocities: Floats
    radius: Floats
    speed: Floats
    group: Ints
    begin_s: Floats
    spots: Floats
    fields: Ints
    reach_m: Floats
    stays_s: Floats
    legs: Ints
    leaves: Bools


class Surroundings(NamedTuple):
    """What a crowd walks on: walls, and fields by number."""

    walls: Walls
    fields: list[Field]


def simulate(
    crowd: Crowd,
    ground: Surroundings,
    force: ForceSettings,
    *,
    rng: np.random.Generator,
    duration_s: float,
    record_s: float,
) -> Trajectory:
    """Return how a crowd moves.

    Args:
        crowd: Who, from where, to where.
        ground: What they walk on.
        force: How they push.
        rng: Draws the random pushes.
        duration_s: How long; the first frame is the start.
        record_s: Seconds from one recorded frame to the next, a multiple of the step.
    """
    walk = _Walk(crowd, ground, force)
    every = max(1, round(record_s / force.step_s))
    frames = int(duration_s / (every * force.step_s) + _TINY) + 1
    count = len(crowd.positions)
    places, speeds = np.zeros((frames, count, 2)), np.zeros((frames, count, 2))
    goals, present = np.zeros((frames, count, 2)), np.zeros((frames, count), np.bool_)
    for frame in range(frames):
        places[frame], speeds[frame], present[frame] = walk.at, walk.speed, walk.here
        goals[frame] = walk.goal()
        if frame < frames - 1:
            for _ in range(every):
                walk.step(rng)
    radius = np.broadcast_to(crowd.radius, (frames, count))
    made = trajectory(
        places, present, dt_s=every * force.step_s, velocity=speeds, goal=goals, radius=radius,
        group=crowd.group,
    )  # fmt: skip
    return made._replace(frame_of_reference=FRAME)


class _Walk:
    """The state of a simulation."""

    def __init__(self, crowd: Crowd, ground: Surroundings, force: ForceSettings) -> None:
        self._crowd, self._walls, self._force = crowd, ground.walls, force
        count = len(crowd.positions)
        self.at, self.speed = crowd.positions.copy(), crowd.velocities.copy()
        self.here: Bools = np.ones(count, np.bool_)
        self._time_s = 0.0
        self._leg: Ints = np.zeros(count, np.int64)
        # When the next leg begins: at the start, then after each stay.
        self._until_s: Floats = crowd.begin_s.copy()
        self._anchor = crowd.positions.copy()  # where standing people stand
        self._fields = ground.fields
        self._groups = _Groups(crowd.group)

    def goal(self) -> Floats:
        """Return where each is heading, (N, 2)."""
        spot = self._crowd.spots[np.arange(len(self.at)), self._current()]
        return np.where((self._crowd.legs > 0)[:, None], spot, self._anchor)

    def _current(self) -> Ints:
        """Return the number of the leg each is on, the last one for who has ended it."""
        leg: Ints = np.minimum(self._leg, np.maximum(self._crowd.legs - 1, 0))
        return leg

    def step(self, rng: np.random.Generator) -> None:
        """Move everybody on by one time step."""
        who = np.flatnonzero(self.here)
        if len(who):
            near = self._walls.nearest(self.at[who])
            force = self._drive(who) + self._apart(who) + self._off_walls(who, near)
            force += self._groups.pull(self.at, self.here, self._force.group_mps2)[who]
            force += rng.normal(size=(len(self.at), 2))[who] * self._force.noise_mps2
            self._move(who, force, near.distance)
        self._time_s += self._force.step_s
        self._arrive()

    # ---- what pushes ----------------------------------------------------------------------------

    def _drive(self, who: Ints) -> Floats:
        """Return the push towards the wanted velocity, (n, 2), m/s^2."""
        crowd = self._crowd
        leg = self._current()[who]
        at, wanted = self.at[who], np.zeros((len(who), 2))
        walking = self._walking(who)
        spot = crowd.spots[who, leg]
        to_spot = spot - at
        distance = np.hypot(*to_spot.T)
        straight = to_spot / np.maximum(distance, _TINY)[:, None]
        wanted[walking] = straight[walking]
        far = walking & (distance > _STRAIGHT_M)
        which = crowd.fields[who, leg]
        for number in np.unique(which[far & (which >= 0)]):
            field = self._fields[number]
            mine = far & (which == number)
            mine &= np.hypot(*(at - field.goal).T) >= field.free_m
            wanted[mine] = field.heading(at[mine])
        pace = crowd.speed[who]
        # People slow down over the last step to a spot where they will stand.
        stops = (leg < crowd.legs[who] - 1) | ~crowd.leaves[who]
        pace = np.where(stops, pace * np.minimum(1.0, 0.3 + distance), pace)
        wanted *= pace[:, None]
        standing = ~walking
        drift = (self._anchor[who] - at) / _SETTLE_S
        length = np.hypot(*drift.T)
        drift *= (np.minimum(length, _DRIFT_MPS) / np.maximum(length, _TINY))[:, None]
        wanted[standing] = drift[standing]
        return (wanted - self.speed[who]) / self._force.relax_s

    def _walking(self, who: Ints) -> Bools:
        under_way: Bools = self._leg[who] < self._crowd.legs[who]
        return under_way & (self._time_s >= self._until_s[who])

    def _apart(self, who: Ints) -> Floats:
        """Return the pushes of others, (n, 2), m/s^2."""
        force, at, speed = self._force, self.at[who], self.speed[who]
        pairs = cKDTree(at).query_pairs(_SEEN_M, output_type="ndarray")
        total = np.zeros_like(at)
        if not len(pairs):
            return total
        # Both directions: the second of each pair pushes the first.
        first, second = np.concatenate((pairs, pairs[:, ::-1])).T
        between = at[first] - at[second]
        step = speed[second] * force.look_ahead_s
        near, next_ = np.hypot(*between.T), np.hypot(*(between - step).T)
        minor2 = (near + next_) ** 2 - (step * step).sum(axis=1)
        b = np.maximum(np.sqrt(np.maximum(minor2, 0.0)) / 2, _LEAST_B_M)
        slope = force.pair_m2ps2 / force.pair_range_m * np.exp(-b / force.pair_range_m)
        slope *= np.minimum((near + next_) / (4 * b), 2.0)
        way = between / np.maximum(near, _TINY)[:, None]
        way = way + (between - step) / np.maximum(next_, _TINY)[:, None]
        push = slope[:, None] * way
        size = np.hypot(*push.T)
        push *= (np.minimum(size, _MOST_PUSH) / np.maximum(size, _TINY))[:, None]
        behind = (push * speed[first]).sum(axis=1) > 0  # pushed forward: by who is behind
        same = (self._crowd.group[who][first] == self._crowd.group[who][second]) & (
            self._crowd.group[who][first] >= 0
        )
        weight = np.where(behind, force.behind, 1.0) * np.where(same, _GROUP_ROOM_M, 1.0)
        push *= weight[:, None]
        for axis in (0, 1):
            total[:, axis] = np.bincount(first, weights=push[:, axis], minlength=len(at))
        return total

    def _off_walls(self, who: Ints, near: Near) -> Floats:
        """Return the push of the nearest wall, (n, 2), m/s^2."""
        force, distance = self._force, near.distance - self._crowd.radius[who]
        size = force.wall_m2ps2 / force.wall_range_m * np.exp(-distance / force.wall_range_m)
        push: Floats = np.minimum(size, _MOST_PUSH)[:, None] * near.away
        return push

    # ---- the step -------------------------------------------------------------------------------

    def _move(self, who: Ints, force: Floats, room: Floats) -> None:
        """Make the step of those `who`, whose walls are `room` metres away."""
        dt = self._force.step_s
        before, radius = self.at[who], self._crowd.radius[who]
        speed = self.speed[who] + force * dt
        most = self._force.fastest * np.maximum(self._crowd.speed[who], _DRIFT_MPS)
        size = np.hypot(*speed.T)
        speed *= np.minimum(1.0, most / np.maximum(size, _TINY))[:, None]
        after = _half_apart(before + speed * dt, radius)
        # Only who is next to a wall can reach it in one step.
        close = np.flatnonzero(room < radius + most * dt + _SKIN_M)
        after[close] = _out_of_walls(after[close], radius[close], self._walls)
        # Overlaps and walls may push by more than a step: nobody moves faster for that.
        moved = after - before
        size = np.hypot(*moved.T)
        after = before + moved * np.minimum(1.0, most * dt / np.maximum(size, _TINY))[:, None]
        if len(close):
            least = np.minimum(radius, room)[close] - _TINY
            refused = self._walls.distance(after[close]) < least
            refused |= self._walls.crossed(before[close], after[close])
            after[close[refused]] = before[close[refused]]
        self.at[who], self.speed[who] = after, (after - before) / dt

    def _arrive(self) -> None:
        """Begin stays, next legs and departures."""
        crowd, everybody = self._crowd, np.arange(len(self.at))
        walking = self.here & self._walking(everybody)
        leg = self._current()
        spot = crowd.spots[everybody, leg]
        last = leg == crowd.legs - 1
        near = np.hypot(*(spot - self.at).T) < crowd.reach_m[everybody, leg]
        arrived = walking & near
        gone = arrived & last & crowd.leaves
        self.here[gone] = False
        self._until_s[arrived] = self._time_s + crowd.stays_s[arrived, leg[arrived]]
        self._anchor[arrived] = np.where(last[arrived, None], spot[arrived], self.at[arrived])
        self._leg[arrived] += 1
        waiting = self.here & ~walking
        # Who is pushed far off while waiting waits there.
        drifted = waiting & (np.hypot(*(self._anchor - self.at).T) > 2.0)
        self._anchor[drifted] = self.at[drifted]


class _Groups:
    """Which people belong together."""

    def __init__(self, group: Ints) -> None:
        self._group = group
        self._count = int(group.max(initial=-1)) + 1

    def pull(self, at: Floats, here: Bools, strength: float) -> Floats:
        """Return the pull of each to the middle of the own group, (N, 2), m/s^2."""
        total = np.zeros_like(at)
        mine = here & (self._group >= 0)
        if not mine.any() or strength == 0:
            return total
        group = self._group[mine]
        size = np.bincount(group, minlength=self._count)
        sums = np.zeros((self._count, 2))
        np.add.at(sums, group, at[mine])
        to_middle = (sums / np.maximum(size, 1)[:, None])[group] - at[mine]
        distance = np.hypot(*to_middle.T)
        room = _GROUP_ROOM_M * np.sqrt(size[group])  # a group needs its own room
        excess = np.clip(distance - room, 0.0, 1.0)
        total[mine] = to_middle * (strength * excess / np.maximum(distance, _TINY))[:, None]
        return total


def _half_apart(at: Floats, radius: Floats) -> Floats:
    """Move overlapping bodies apart by half their overlap: contacts last, but do not grow."""
    pairs = cKDTree(at).query_pairs(2 * float(radius.max()), output_type="ndarray")
    if not len(pairs):
        return at
    first, second = pairs.T
    between = at[first] - at[second]
    distance = np.hypot(*between.T)
    overlap = np.maximum(radius[first] + radius[second] - distance, 0.0)
    push = between * (overlap / 4 / np.maximum(distance, _TINY))[:, None]
    moved = at.copy()
    for axis in (0, 1):
        moved[:, axis] += np.bincount(first, weights=push[:, axis], minlength=len(at))
        moved[:, axis] -= np.bincount(second, weights=push[:, axis], minlength=len(at))
    return moved


def _out_of_walls(at: Floats, radius: Floats, walls: Walls) -> Floats:
    """Move bodies off the nearest wall they overlap; twice, for corners."""
    for _ in range(2):
        near = walls.nearest(at)
        overlap = np.maximum(radius + _SKIN_M - near.distance, 0.0)
        if not overlap.any():
            break
        at = at + near.away * overlap[:, None]
    return at
