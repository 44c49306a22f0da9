"""Ways on a map: from any place, how far it is to a goal around all obstacles, and which way to go.

    ways = Ways(crowd_map)
    field = ways.to(12.0, 88.5)
    field.distance(points)          ->  (N,) metres; infinite where no way leads there
    field.heading(points)           ->  (N, 2) unit vectors along the shortest way

A way keeps off the walls where there is room: ground next to a wall counts as slower. Distances
solve the eikonal equation by fast sweeping, so they are round and not in steps of 45 degrees.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from scipy import ndimage

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.maps import ROOM_M, CrowdMap
from pipeline.stride.raster import Grid, connected

# Ground at a wall takes so many times as long, less and less with distance.
_WALL_SLOWNESS, _WALL_FADE_M = 2.0, 0.6
_MOST_SWEEPS = 400
_SETTLED_M = 1e-3


class Field(NamedTuple):
    """How to get to one goal from everywhere.

    Attributes:
        grid: The map's pixels.
        metres: Distance of each pixel, slowness at walls counted in; infinite without a way.
        headings: (rows, columns, 2), where to go next.
        goal: x and y of the goal, metres.
        free_m: Between any two places so near to the goal the straight line is free.
    """

    grid: Grid
    metres: Floats
    headings: Floats
    goal: Floats
    free_m: float

    def distance(self, points: Floats) -> Floats:
        """Return how far points (N, 2) are from the goal, metres."""
        found: Floats = self.metres[self.grid.pixels(points)]
        return found

    def heading(self, points: Floats) -> Floats:
        """Return where to go from points (N, 2), unit vectors."""
        found: Floats = self.headings[self.grid.pixels(points)]
        return found


class Ways:
    """All ways of one map; each goal's field is worked out once."""

    def __init__(self, crowd_map: CrowdMap) -> None:
        self.crowd_map, self.grid = crowd_map, crowd_map.grid
        room = crowd_map.clearance
        widest = np.unravel_index(int(room.argmax()), room.shape)
        self.ground: Bools = connected(room >= ROOM_M, row=int(widest[0]), column=int(widest[1]))
        self._room = room
        self._slowness = 1 + _WALL_SLOWNESS * np.exp(-np.maximum(room - ROOM_M, 0) / _WALL_FADE_M)
        self._fields: dict[tuple[int, int], Field] = {}
        back = ndimage.distance_transform_edt(
            ~self.ground, return_distances=False, return_indices=True
        )
        self._back: Ints = np.asarray(back, dtype=np.int64)  # row and column of the nearest ground

    def passable(self, points: Floats) -> Bools:
        """Tell whether points (..., 2) lie on the map and on ground that all ways share."""
        size = np.array([self.grid.width_m, self.grid.height_m])
        inside = ((points > 0) & (points < size)).all(axis=-1)
        return np.asarray(inside & self.ground[self.grid.pixels(points)])

    def to(self, x: float, y: float) -> Field:
        """Return the field of a goal; a goal off the ground counts as the nearest place on it."""
        row, column = self.grid.pixels(np.array([x, y]))
        place = (int(self._back[0, row, column]), int(self._back[1, row, column]))
        if place not in self._fields:
            self._fields[place] = self._field(*place)
        return self._fields[place]

    def to_anchor(self, anchor_id: str) -> Field:
        """Return the field of an anchor.

        Raises:
            KeyError: There is none of that id.
        """
        anchor = self.crowd_map.anchor(anchor_id)
        return self.to(anchor.x_m, anchor.y_m)

    def _field(self, row: int, column: int) -> Field:
        metres = np.full(self.ground.shape, np.inf)
        metres[row, column] = 0.0
        cost = np.where(self.ground, self._slowness * self.grid.metres_per_px, np.inf)
        _sweeps()(metres, cost, _MOST_SWEEPS, _SETTLED_M)
        goal = self.grid.centres(np.array(row), np.array(column))
        free_m = float(self._room[row, column])
        return Field(self.grid, metres, self._headings(metres), goal, free_m)

    def _headings(self, metres: Floats) -> Floats:
        """Return downhill directions; off the ground, the way back onto it."""
        framed = np.pad(metres, 1, constant_values=np.inf)
        here = framed[1:-1, 1:-1]
        east = _downhill(here, framed[1:-1, :-2], framed[1:-1, 2:])
        north = _downhill(here, framed[:-2, 1:-1], framed[2:, 1:-1])
        row, column = np.indices(metres.shape)
        back_row, back_column = self._back
        east = np.where(self.ground, east, back_column - column)
        north = np.where(self.ground, north, back_row - row)
        length = np.maximum(np.hypot(east, north), 1e-9)
        return np.stack((east / length, north / length), axis=-1)


def _downhill(here: Floats, before: Floats, after: Floats) -> Floats:
    """Return the descent along one axis, from the lower of the two neighbours."""
    lower = np.minimum(before, after)
    with np.errstate(invalid="ignore"):
        drop = np.where(np.isfinite(lower) & np.isfinite(here), here - lower, 0.0)
    drop = np.maximum(drop, 0.0)
    return np.where(after < before, drop, -drop)


def _sweep(metres: Floats, cost: Floats, most: int, settled: float) -> int:
    """Lower distances in place until they settle; return the number of sweeps.

    Each sweep visits all pixels in one of four orders (Zhao 2005). A pixel's distance follows from
    its lower neighbours in x and in y.
    """
    rows, columns = metres.shape
    done = 0
    while done < most:
        largest = 0.0
        for order in range(4):
            for i in range(rows):
                row = i if order < 2 else rows - 1 - i
                for j in range(columns):
                    column = j if order % 2 == 0 else columns - 1 - j
                    step = cost[row, column]
                    if step == np.inf:
                        continue
                    west = metres[row, column - 1] if column > 0 else np.inf
                    east = metres[row, column + 1] if column < columns - 1 else np.inf
                    south = metres[row - 1, column] if row > 0 else np.inf
                    north = metres[row + 1, column] if row < rows - 1 else np.inf
                    a, b = min(west, east), min(south, north)
                    if a == np.inf and b == np.inf:
                        continue
                    if abs(a - b) >= step:
                        new = min(a, b) + step
                    else:
                        new = (a + b + np.sqrt(2 * step * step - (a - b) ** 2)) / 2
                    if new < metres[row, column]:
                        drop = metres[row, column] - new
                        largest = max(largest, drop)
                        metres[row, column] = new
        done += 1
        if largest < settled:
            break
    return done


@functools.cache
def _sweeps() -> Callable[..., Any]:
    """Return the compiled sweep: 2 s the first time on a machine, at once afterwards."""
    compiled: Callable[..., Any] = numba.njit(_sweep, cache=True, error_model="numpy")
    return compiled
