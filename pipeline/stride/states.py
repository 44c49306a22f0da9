"""Give everybody in a draft a place, a speed and a goal on the map: the initial state.

    drawn = initial_state(draft, ways, rng=rng, radius_m=(0.2, 0.25))
    drawn[0]   ->  Person(x_m=44.1, y_m=71.0, vx_mps=0.0, vy_mps=0.0, goal_x_m=48.2, ..., role=0)

Places are drawn from the walkable ground that hangs together, with room for each body between walls
and others; goals can be reached from there. If there is no room, that is a fault of the draft.

Where the text says that people are body to body they start so: those who stand, walk or wander
from one anchor fill the ground next to it at 3.5 people/m2, whatever distance their role names, and
a crowd below 2.5 is a fault.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.cues import says_dense
from pipeline.stride.maps import Anchor
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.physical import physical_density
from pipeline.stride.roles import ANYWHERE, EXITS, Draft, Role, head_counts
from pipeline.stride.scenario_records import Person
from pipeline.stride.spots import Spots
from pipeline.stride.trajectories import trajectory
from pipeline.stride.ways import Ways

_GAP_M = 0.12  # between bodies at the start
_WALL_GAP_M = 0.05
_CLEAR_OF_EVENT_M = 12.0  # who starts anywhere does not start in the middle of it
_SLOWEST = 0.3  # nobody wants to walk slower than this share of the role's mean
_BACK_COSTS = 1.4  # ways straight ahead count 0.4 times, ways back past the event 2.4 times
_TINY = 1e-9
# Body to body: people per square metre at the start, and the least that passes (TrajFacts). In a
# triangular lattice each stands so far from six others; places are shifted by a little of that.
_DENSE_PPM2, LEAST_DENSE_PPM2 = 3.5, 2.5
_DENSE_APART_M = (2 / (3**0.5 * _DENSE_PPM2)) ** 0.5
_DENSE_SHIFT_M = 0.03
_DENSE_NEIGHBOURS = 3  # at the rim of a small crowd a fourth is far
_DENSE_MOTIONS = frozenset({"stay", "walk", "wander"})
_NOT_HERE_M = 25.0  # an exit to walk to is at least so far away
_DECIMALS = 3  # of metres and m/s as they are written


class Fault(NamedTuple):
    """Why a draft cannot be given places: a reason code and words."""

    reason: str
    detail: str


class _Goal(NamedTuple):
    anchor: str | None
    spot: Floats


def initial_state(
    draft: Draft, ways: Ways, *, rng: np.random.Generator, radius_m: tuple[float, float]
) -> list[Person] | Fault:
    """Return the people of a draft at the start.

    Args:
        draft: Its anchors must be those of the map.
        ways: The map's ways.
        rng: Draws everything.
        radius_m: Least and largest half width of a body.
    """
    return _Drawing(draft, ways, rng, radius_m).people()


class _Drawing:
    """One draft being given places."""

    def __init__(
        self, draft: Draft, ways: Ways, rng: np.random.Generator, radius_m: tuple[float, float]
    ) -> None:
        self._draft, self._ways, self._rng, self._radius_m = draft, ways, rng, radius_m
        self._map = ways.crowd_map
        self._spots = Spots(ways, rng)
        self._at = np.zeros((draft.crowd_size, 2))
        self._radius = np.zeros(draft.crowd_size)
        self._placed = 0
        self._groups = 0
        self._dense = self._dense_places() if says_dense(draft.description) else {}

    def people(self) -> list[Person] | Fault:
        """Place role after role."""
        found: list[Person] = []
        for number, (role, count) in enumerate(
            zip(self._draft.roles, head_counts(self._draft), strict=True)
        ):
            people = self._role(number, role, count)
            if isinstance(people, Fault):
                return people
            found += people
        if says_dense(self._draft.description):
            dense = physical_density(_first_frame(self._at), neighbours=_DENSE_NEIGHBOURS)
            if dense is None or dense < LEAST_DENSE_PPM2:
                return Fault(
                    "density",
                    f"starts at {dense or 0:.1f} people/m2, expected {LEAST_DENSE_PPM2} or more as"
                    " the text says body to body",
                )
        return found

    def _role(self, number: int, role: Role, count: int) -> list[Person] | Fault:
        begin = self._placed
        sizes = self._sizes(role, count)
        region = self._region(role)
        order = self._rng.permutation(np.flatnonzero(region.ravel()))
        tries = iter(order)
        groups = np.full(count, -1, np.int64)
        done = 0
        for size in sizes:
            dense = self._is_dense(role)
            if not (self._place_dense(role, size) if dense else self._place(tries, size)):
                return Fault(
                    "density",
                    f"room for {done} of {count} {role.name}, expected room for all around"
                    f" {role.start}",
                )
            if size > 1:
                groups[done : done + size] = self._groups
                self._groups += 1
            done += size
        at = self._at[begin : self._placed]
        goals = self._goals(role, at, sizes)
        if isinstance(goals, Fault):
            return goals
        speeds = self._speeds(role, sizes)
        begins = np.repeat(self._rng.uniform(*role.delay_s, size=len(sizes)), sizes)
        return [
            self._person(number, role, begin + n, goals[n], float(speeds[n]), float(begins[n]),
                         int(groups[n]))
            for n in range(count)
        ]  # fmt: skip

    def _person(
        self, number: int, role: Role, index: int, goal: _Goal, speed: float, begin: float,
        group: int,
    ) -> Person:  # fmt: skip
        at, way = self._at[index], np.zeros(2)
        to_goal = goal.spot - at
        length = float(np.hypot(*to_goal))
        if role.moving and length > 0:
            way = to_goal / length
            if goal.anchor is not None:
                field = self._ways.to_anchor(goal.anchor)
                if np.hypot(*(at - field.goal)) >= field.free_m:
                    way = field.heading(at[None])[0]
            begin = 0.0
        vx, vy = (way * speed).tolist()
        (x, y), (goal_x, goal_y) = at.tolist(), goal.spot.tolist()
        return Person(
            x_m=round(x, _DECIMALS),
            y_m=round(y, _DECIMALS),
            vx_mps=round(vx, _DECIMALS),
            vy_mps=round(vy, _DECIMALS),
            goal_x_m=round(goal_x, _DECIMALS),
            goal_y_m=round(goal_y, _DECIMALS),
            goal=goal.anchor,
            radius_m=round(float(self._radius[index]), _DECIMALS),
            speed_mps=round(speed, _DECIMALS),
            begin_s=round(begin, 2),
            role=number,
            group=group,
        )

    # ---- places ---------------------------------------------------------------------------------

    def _sizes(self, role: Role, count: int) -> list[int]:
        sizes: list[int] = []
        while sum(sizes) < count:
            size = int(self._rng.integers(role.group[0], role.group[1] + 1))
            sizes.append(min(size, count - sum(sizes)))
        return sizes

    def _region(self, role: Role) -> Bools:
        ground = self._ways.ground
        if role.start == ANYWHERE:
            if self._draft.event is None:
                return ground
            event = self._ways.to_anchor(self._draft.event)
            return ground & (event.metres > _CLEAR_OF_EVENT_M)
        metres = self._ways.to_anchor(role.start).metres
        least, most = role.start_m
        return ground & (metres >= least) & (metres <= most + self._map.grid.metres_per_px)

    def _place(self, tries: Any, size: int) -> bool:
        """Place a group around the first free pixel that has room for all of it."""
        grid = self._map.grid
        columns = grid.shape[1]
        for pixel in tries:
            row, column = divmod(int(pixel), columns)
            middle = grid.centres(np.array(row), np.array(column))
            if self._settle(middle, size):
                return True
        return False

    def _is_dense(self, role: Role) -> bool:
        return role.start in self._dense and role.motion in _DENSE_MOTIONS

    def _dense_places(self) -> dict[str, Floats]:
        """Return places body to body around each anchor that people stand or walk from."""
        counts: Counter[str] = Counter()
        for role, count in zip(self._draft.roles, head_counts(self._draft), strict=True):
            if role.start != ANYWHERE and role.motion in _DENSE_MOTIONS:
                counts[role.start] += count
        return {name: self._lattice(name, count) for name, count in counts.items()}

    def _lattice(self, name: str, count: int) -> Floats:
        """Return the places of a triangular lattice nearest to an anchor, on foot, by chance."""
        field, anchor = self._ways.to_anchor(name), self._anchor(name)
        rows = np.arange(-2 * int(count**0.5) - 4, 2 * int(count**0.5) + 5)
        across, up = np.meshgrid(rows, rows)
        places = np.column_stack(
            ((across + 0.5 * (up % 2)).ravel(), (up * 3**0.5 / 2).ravel())
        ) * _DENSE_APART_M + (anchor.x_m, anchor.y_m)
        places += self._rng.uniform(-_DENSE_SHIFT_M, _DENSE_SHIFT_M, size=places.shape)
        places = places[self._ways.passable(places)]
        room = self._map.walls.distance(places) >= self._radius_m[1] + _WALL_GAP_M
        places = places[room]
        metres = field.distance(places)
        near = np.argsort(metres, kind="stable")[:count]
        chosen: Floats = places[self._rng.permutation(near[np.isfinite(metres[near])])]
        return chosen

    def _place_dense(self, role: Role, size: int) -> bool:
        """Place a group on the first free place of the lattice and those next to it."""
        free = self._dense[role.start]
        if len(free) < size:
            return False
        near = np.argsort(np.hypot(*(free - free[0]).T), kind="stable")[:size]
        for place in free[near]:
            self._at[self._placed] = place
            self._radius[self._placed] = float(self._rng.uniform(*self._radius_m))
            self._placed += 1
        self._dense[role.start] = np.delete(free, near, axis=0)
        return True

    def _settle(self, middle: Floats, size: int) -> bool:
        begin = self._placed
        reach = 0.25 if size == 1 else 0.35 + 0.45 * size**0.5
        for _ in range(4 * size + 1):
            if self._placed - begin == size:
                return True
            # Rounded as it will be written: a place that was free before could be in a wall then.
            radius = round(float(self._rng.uniform(*self._radius_m)), _DECIMALS)
            at = (middle + self._rng.uniform(-reach, reach, size=2)).round(_DECIMALS)
            if self._free(at, radius):
                self._at[self._placed], self._radius[self._placed] = at, radius
                self._placed += 1
        if self._placed - begin == size:
            return True
        self._placed = begin
        return False

    def _free(self, at: Floats, radius: float) -> bool:
        others, radii = self._at[: self._placed], self._radius[: self._placed]
        apart = np.hypot(*(others - at).T) - radii - radius
        if (apart < _GAP_M).any() or not self._ways.passable(at[None])[0]:
            return False
        return bool(self._map.walls.distance(at[None])[0] >= radius + _WALL_GAP_M)

    def _speeds(self, role: Role, sizes: list[int]) -> Floats:
        mean, spread = role.speed_mps
        each = np.maximum(self._rng.normal(mean, spread, size=len(sizes)), _SLOWEST * mean)
        return np.repeat(each, sizes)

    # ---- goals ----------------------------------------------------------------------------------

    def _goals(self, role: Role, at: Floats, sizes: list[int]) -> list[_Goal] | Fault:
        match role.motion:
            case "stay":
                return [_Goal(None, place) for place in at]
            case "gather" | "queue":
                return self._meeting(role, at)
            case "circle":
                return self._round(role, at)
            case "wander":
                near = self._anchor(role.near) if role.near else None
                return [_Goal(None, self._spots.stroll(p, near, role.near_m)) for p in at]
            case "flee":
                return self._together(at, sizes, self._way_out)
            case "walk":
                return self._together(at, sizes, lambda first: self._target(role, first))

    def _meeting(self, role: Role, at: Floats) -> list[_Goal] | Fault:
        """Return everybody's place in the ring or the line."""
        target = role.to[0] if role.to else str(self._draft.event)
        anchor, count = self._anchor(target), len(at)
        if role.motion == "gather":
            spots = self._spots.ring(anchor, role.ring_m, count)
        else:
            spots = self._spots.line(anchor, role.ring_m[0], count)
        if len(spots) < count:
            words = f"room at {target} for {len(spots)} of {count} {role.name}"
            return Fault("density", f"{words}, expected room for all")
        if role.motion == "gather":
            return [_Goal(target, spot) for spot in _nearest_first(at, spots)]
        distance = self._ways.to_anchor(target).distance(at)
        rank = np.argsort(np.argsort(distance, kind="stable"), kind="stable")
        return [_Goal(target, spots[k]) for k in rank]

    def _round(self, role: Role, at: Floats) -> list[_Goal] | Fault:
        """Return everybody's next place on the way round the event, which must be free."""
        target = role.to[0] if role.to else str(self._draft.event)
        goals: list[_Goal] = []
        for place in at:
            ring = float(self._rng.uniform(*role.ring_m))
            turns = self._spots.rounds(self._anchor(target), place, ring)
            if not len(turns):
                return Fault("density", f"no free way around {target} at {ring:.1f} m")
            goals.append(_Goal(target, turns[0]))
        return goals

    def _together(self, at: Floats, sizes: list[int], choose: Any) -> list[_Goal]:
        """Let the first of each group choose for all of it."""
        goals: list[_Goal] = []
        begin = 0
        for size in sizes:
            anchor = choose(at[begin])
            goals += [_Goal(anchor.id, self._spots.at(anchor)) for _ in range(size)]
            begin += size
        return goals

    def _target(self, role: Role, start: Floats) -> Anchor:
        exits = self._map.of_kind("exit")
        anchors = [self._anchor(name) for name in role.to if name != EXITS]
        if EXITS in role.to:
            far = [e for e in exits if np.hypot(e.x_m - start[0], e.y_m - start[1]) > _NOT_HERE_M]
            anchors += far or exits
        return anchors[int(self._rng.integers(len(anchors)))]

    def _way_out(self, start: Floats) -> Anchor:
        """Return the exit that is near and lies ahead when one turns away from the event."""
        exits = self._map.of_kind("exit")
        fields = [self._ways.to_anchor(one.id) for one in exits]
        cost = np.array([float(field.distance(start[None])[0]) for field in fields])
        if self._draft.event is not None:
            event = self._anchor(self._draft.event)
            away = start - np.array([event.x_m, event.y_m])
            away /= max(float(np.hypot(*away)), _TINY)
            ahead = np.array([float(field.heading(start[None])[0] @ away) for field in fields])
            cost *= _BACK_COSTS - ahead
        # Not everybody knows the nearest one.
        cost *= self._rng.uniform(0.85, 1.15, size=len(cost))
        return exits[int(cost.argmin())]

    def _anchor(self, name: str) -> Anchor:
        return self._map.anchor(name)


def _first_frame(at: Floats) -> Clip:
    return Clip(trajectory(at[None], np.ones((1, len(at)), np.bool_), dt_s=1.0))


def _nearest_first(at: Floats, spots: Floats) -> Floats:
    """Deal spots out so that nobody crosses the ring: by direction from its middle."""
    middle = spots.mean(axis=0)
    ours = np.arctan2(*(at - middle).T[::-1])
    theirs = np.arctan2(*(spots - middle).T[::-1])
    dealt = np.zeros_like(spots)
    order: Ints = np.argsort(ours, kind="stable")
    dealt[order] = spots[np.argsort(theirs, kind="stable")]
    return dealt
