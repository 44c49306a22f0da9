"""Spots where people can end up: in a ring, in a line, at an anchor, or somewhere on a stroll.

    spots = Spots(ways, rng)
    spots.ring(centre, (3, 9), 40)     ->  (40, 2) places between 3 and 9 m from it, in plain view
    spots.line(table, 2.0, 15)         ->  (15, 2) places one behind the other
    spots.stroll(at, None, (0, 0))     ->  the next place of somebody who wanders

Every spot lies on ground that all ways share, and the straight line to it is free.
"""

import numpy as np

from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.maps import Anchor
from pipeline.stride.ways import Ways

_APART_M = 0.62  # between people who stand together
_LOOK_M = 0.4  # a line of sight is looked at so finely
PLACE_M = 0.8  # from one place in a line to the next
_LANE_M = 1.1
_LONGEST_LINE_M = 20.0
_STEPS_M = (5.0, 22.0)  # of somebody who wanders
_TRIES = 60
_ROUND = 16  # places of one round
_WIDER, _MOST_WIDER = 1.5, 8  # a ring without room becomes so many times as wide, so often


class Spots:
    """Draws spots on one map."""

    def __init__(self, ways: Ways, rng: np.random.Generator) -> None:
        self._ways, self._rng = ways, rng

    def at(self, anchor: Anchor) -> Floats:
        """Return a spot at an anchor: anywhere across an exit, next to anything else."""
        middle = np.array([anchor.x_m, anchor.y_m])
        if anchor.kind != "exit":
            reach = min(0.7 * anchor.clearance_m, 1.5)
            return middle + self._rng.uniform(-reach, reach, size=2) * 0.7
        reach = min(0.7 * anchor.clearance_m, 12.0)
        grid = self._ways.grid
        to_side = min(anchor.x_m, grid.width_m - anchor.x_m)
        along = np.array([0.0, 1.0]) if to_side < 3 else np.array([1.0, 0.0])
        spot = middle + along * self._rng.uniform(-reach, reach)
        return spot if self._ways.passable(spot[None])[0] else middle

    def ring(self, anchor: Anchor, ring_m: tuple[float, float], count: int) -> Floats:
        """Return places around an anchor, none too near to another; further out if need be.

        Fewer than `count` where not even a far wider ring has room in plain view.
        """
        middle = np.array([anchor.x_m, anchor.y_m])
        widest = float(np.hypot(self._ways.grid.width_m, self._ways.grid.height_m))
        least, most = (min(metres, widest) for metres in ring_m)
        chosen = np.zeros((0, 2))
        for _ in range(_MOST_WIDER):
            for spot in self._around(middle, least, most, _TRIES * count):
                if len(chosen) == count:
                    return chosen
                if (np.hypot(*(chosen - spot).T) >= _APART_M).all():
                    chosen = np.vstack((chosen, spot))
            most = min(most * _WIDER + 1.0, widest)
        return chosen

    def _around(self, middle: Floats, least: float, most: float, count: int) -> Floats:
        """Draw places evenly over a ring's area; return those in view from its middle."""
        distance = np.sqrt(self._rng.uniform(least**2, most**2, size=count))
        angle = self._rng.uniform(0, 2 * np.pi, size=count)
        spots = middle + distance[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
        spots = spots[self._ways.passable(spots)]
        in_view: Floats = spots[self.seen(middle, spots)]
        return in_view

    def line(self, anchor: Anchor, begin_m: float, count: int) -> Floats:
        """Return places in a line that leads away from an anchor, in lanes where it is long.

        Places come by distance. Where there is no room for a line people stand around the anchor;
        fewer than `count` where there is not even room for that.
        """
        middle = np.array([anchor.x_m, anchor.y_m])
        way, length = self._line_way(anchor)
        side = np.array([-way[1], way[0]])
        each = max(1, int((min(length, _LONGEST_LINE_M) - begin_m) / PLACE_M))
        lanes = -(-count // each)
        offsets = [(lane + 1) // 2 * _LANE_M * (1 if lane % 2 else -1) for lane in range(3 * lanes)]
        spots: list[Floats] = []
        for offset in offsets:  # lanes of their own: nobody crosses another's
            lane = middle + side * offset + way * (begin_m + np.arange(each) * PLACE_M)[:, None]
            spots += list(lane[self.seen(middle, lane)])
        spots = spots[:count]
        if len(spots) < count:
            around = begin_m, max(begin_m, _LONGEST_LINE_M / 2)
            spots += list(self.ring(anchor, around, count - len(spots)))
        away = [float((spot - middle) @ way) for spot in spots]
        order = sorted(range(len(spots)), key=lambda k: (round(away[k], 3), k))
        return np.array([spots[k] for k in order]).reshape(-1, 2)

    def moving_up(self, anchor: Anchor, spot: Floats, begin_m: float) -> list[Floats]:
        """Return the places before one's own in a line, the nearest first."""
        way, _ = self._line_way(anchor)
        away = float((spot - np.array([anchor.x_m, anchor.y_m])) @ way) - begin_m
        places = max(0, round(away / PLACE_M))
        return [spot - way * PLACE_M * (k + 1) for k in range(places)]

    def _line_way(self, anchor: Anchor) -> tuple[Floats, float]:
        """Return the direction in which most ground is in view from an anchor, and how much."""
        middle = np.array([anchor.x_m, anchor.y_m])
        angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
        ways = np.column_stack((np.cos(angles), np.sin(angles)))
        lengths = [self._free_length(middle, way) for way in ways]
        best = int(np.argmax(lengths))
        return ways[best], lengths[best]

    def rounds(self, anchor: Anchor, at: Floats, ring_m: float) -> Floats:
        """Return the places of one round about an anchor, anticlockwise, from the one after `at`.

        Empty where the way round is not free ground.
        """
        middle = np.array([anchor.x_m, anchor.y_m])
        begin = float(np.arctan2(*(at - middle)[::-1]))
        angles = begin + 2 * np.pi * np.arange(1, _ROUND + 1) / _ROUND
        spots = middle + ring_m * np.column_stack((np.cos(angles), np.sin(angles)))
        return spots if self._ways.passable(spots).all() else spots[:0]

    def stroll(self, at: Floats, near: Anchor | None, near_m: tuple[float, float]) -> Floats:
        """Return the next spot of somebody who wanders; the same place where none is in view."""
        for _ in range(_TRIES):
            angle = self._rng.uniform(0, 2 * np.pi)
            step = self._rng.uniform(*_STEPS_M)
            spot = at + step * np.array([np.cos(angle), np.sin(angle)])
            if near is not None:
                away = float(np.hypot(spot[0] - near.x_m, spot[1] - near.y_m))
                if not near_m[0] <= away <= near_m[1]:
                    continue
            if self.seen(at, spot[None])[0]:
                return spot
        return at

    def seen(self, begin: Floats, ends: Floats) -> Bools:
        """Tell to which ends (N, 2) the straight line from a place is free ground."""
        longest = float(np.hypot(*(ends - begin).T).max(initial=0.0))
        shares = np.linspace(0.0, 1.0, max(2, int(longest / _LOOK_M) + 1))
        places = begin + (ends - begin)[:, None, :] * shares[:, None]
        # The place itself may be a door, closer to the wall than ways run.
        return np.asarray(self._ways.passable(places[:, 1:]).all(axis=1))

    def _free_length(self, begin: Floats, way: Floats) -> float:
        lengths = np.arange(1.0, 30.0, 0.5)
        seen = self.seen(begin, begin + lengths[:, None] * way)
        return float(lengths[seen].max(initial=0.0))
