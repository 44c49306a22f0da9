"""Walls: straight pieces that nobody passes, with those near any point found by one look-up.

    walls = Walls(segments)                    segments: (n, 4) x0, x1, y0, y1 in metres
    walls.nearest(points)                      ->  Near(distance (N,), away (N, 2))
    walls.crossed(before, after)               ->  (N,) whether a step leads through a wall

Every square of 1 m keeps the list of walls within reach of it, filled up to the longest list. What
lies beyond the reach is "far": its distance is infinite.
"""

from typing import NamedTuple

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints

# Walls further away than this are not seen; a step must be shorter.
REACH_M = 1.5
_SQUARE_M = 1.0
_FLAT = 1e-12


class Near(NamedTuple):
    """The nearest wall of each of N points.

    Attributes:
        distance: (N,), metres; infinite where there is none within reach.
        away: (N, 2), unit vector from the nearest place on the wall to the point; 0 where it lies
            on the wall or there is none.
    """

    distance: Floats
    away: Floats


class Walls:
    """A set of walls and, for each square of ground, which are near."""

    def __init__(self, segments: Floats) -> None:
        """Sort the walls.

        Args:
            segments: (n, 4), x0, x1, y0, y1 in metres; at least one.
        """
        self.begin: Floats = segments[:, [0, 2]]
        self.end: Floats = segments[:, [1, 3]]
        everything = np.concatenate((self.begin, self.end))
        self._origin = everything.min(axis=0) - REACH_M
        size = np.ceil((everything.max(axis=0) + REACH_M - self._origin) / _SQUARE_M)
        self._columns, self._rows = int(size[0]) + 1, int(size[1]) + 1
        self._lists = self._near_lists()

    def _near_lists(self) -> Ints:
        """Return (squares, K) numbers of walls, -1 where a square has fewer."""
        row, column = np.divmod(np.arange(self._rows * self._columns), self._columns)
        middles = self._origin + (np.column_stack((column, row)) + 0.5) * _SQUARE_M
        reach = REACH_M + _SQUARE_M * 0.5**0.5
        lists: list[list[int]] = [[] for _ in middles]
        for number, (begin, end) in enumerate(zip(self.begin, self.end, strict=True)):
            low = np.minimum(begin, end) - reach
            high = np.maximum(begin, end) + reach
            around = np.flatnonzero(((middles >= low) & (middles <= high)).all(axis=1))
            distance, _ = _to_pieces(middles[around], begin, end)
            for square in around[distance <= reach].tolist():
                lists[square].append(number)
        longest = max(1, *map(len, lists))
        table = np.full((len(lists), longest), -1, np.int64)
        for square, numbers in enumerate(lists):
            table[square, : len(numbers)] = numbers
        return table

    def _around(self, points: Floats) -> Ints:
        column, row = ((points - self._origin) / _SQUARE_M).astype(np.int64).T
        column = np.minimum(np.maximum(column, 0), self._columns - 1)
        row = np.minimum(np.maximum(row, 0), self._rows - 1)
        found: Ints = self._lists[row * self._columns + column]
        # Most squares have few walls; the empty rest of the table need not be looked at.
        return found[:, : max(1, int((found >= 0).sum(axis=1).max(initial=0)))]

    def nearest(self, points: Floats) -> Near:
        """Return the nearest wall of points (N, 2), metres."""
        near = Near(np.full(len(points), np.inf), np.zeros((len(points), 2)))
        which = self._around(points)
        some = np.flatnonzero(which[:, 0] >= 0)
        if len(some):
            which = which[some]
            distance, away = _to_pieces(points[some, None], self.begin[which], self.end[which])
            distance[which < 0] = np.inf
            rows, closest = np.arange(len(some)), distance.argmin(axis=1)
            near.distance[some] = distance[rows, closest]
            near.away[some] = away[rows, closest]
        far = near.distance > REACH_M
        near.distance[far], near.away[far] = np.inf, 0.0
        return near

    def distance(self, points: Floats) -> Floats:
        """Return how far the next wall is from each point, metres; infinite beyond the reach."""
        return self.nearest(points).distance

    def crossed(self, before: Floats, after: Floats) -> Bools:
        """Tell for each step, (N, 2) to (N, 2), whether it touches or passes a wall."""
        which = self._around(before)
        begin, end = self.begin[which], self.end[which]
        start, stop = before[:, None, :], after[:, None, :]
        touches = (_left_of(start, stop, begin) * _left_of(start, stop, end) <= 0) & (
            _left_of(begin, end, start) * _left_of(begin, end, stop) <= 0
        )
        return np.asarray((touches & (which >= 0)).any(axis=1))


def _to_pieces(points: Floats, begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return distance to straight pieces and the unit vector away from them."""
    along = end - begin
    length2 = np.maximum((along * along).sum(axis=-1), _FLAT)
    share = np.clip(((points - begin) * along).sum(axis=-1) / length2, 0.0, 1.0)
    offset = points - begin - share[..., None] * along
    distance = np.hypot(offset[..., 0], offset[..., 1])
    return distance, offset / np.maximum(distance, _FLAT)[..., None]


def _left_of(begin: Floats, end: Floats, point: Floats) -> Floats:
    """Return which side of a line a point is on: above 0 left, below 0 right, 0 on it."""
    along, to = end - begin, point - begin
    side: Floats = along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]
    return side
