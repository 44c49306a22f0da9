"""Points of a map that a crowd can come from, go to, or gather around.

anchors_of(walkable, grid, signs)
->  [Anchor("exit_1", name="Aleksanterinkatu"), ..., Anchor("entrance_1", name="Ateneum"),
     Anchor("stop_1", name="Rautatientori"), Anchor("centre_1", name="Senaatintori")]

All of them hang together: whoever stands on one can walk to any other with room for a body. Names
are those of the map; nothing is named that the map does not name.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import ndimage

from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.raster import Grid, clearance_m, connected

if TYPE_CHECKING:
    from pipeline.stride.maps import Anchor, AnchorKind

_ROOM_M = 0.5  # that a way between anchors has to each side
_EXIT_LEAST_M, _EXIT_MOST_M = 3.0, 40.0  # widths; a wider gap is more than one exit
_INSIDE_M = 1.5  # how far from the edge an exit lies
_DEPTH_M = 8.0  # so far inwards it must go on: a strip along the edge is no exit
_SNAP_M = 12.0  # a door or stop further from walkable ground is not on this map
_NEAR_STREET_M = 20.0
_APART_M = {"exit": 0.0, "entrance": 12.0, "stop": 10.0, "centre": 25.0}
_MOST = {"exit": 12, "entrance": 12, "stop": 4, "centre": 3}
_CENTRE_LEAST_M = 4.0
_NAMED_BONUS = 1.5  # open ground with a name is the likelier stage


class Named(NamedTuple):
    """A shape in the map's metres and its name, null where it has none."""

    name: str | None
    shape: Any


class Signs(NamedTuple):
    """What gives points and names; each list may be empty.

    Attributes:
        streets: Lines.
        areas: Squares, parks, markets.
        landmarks: Buildings and places, as points or areas.
        doors: Entrances, as points.
        stops: Stops of bus and tram, as points.
    """

    streets: list[Named]
    areas: list[Named]
    landmarks: list[Named]
    doors: list[Named]
    stops: list[Named]


class _Spot(NamedTuple):
    name: str | None
    x: float
    y: float


def anchors_of(walkable: Bools, grid: Grid, signs: Signs) -> "list[Anchor]":
    """Return the anchors of a map; exits first, then entrances, stops and centres."""
    room = clearance_m(walkable, grid)
    widest = np.unravel_index(int(room.argmax()), room.shape)
    roomy = connected(room >= _ROOM_M, row=int(widest[0]), column=int(widest[1]))
    if not roomy.any():
        return []
    ground = _Ground(roomy, room, grid)
    found: list[Anchor] = []
    for kind, spots in (
        ("exit", _exits(ground, signs)),
        ("entrance", _entrances(ground, signs)),
        ("stop", _snapped(ground, signs.stops)),
        ("centre", _centres(ground, signs)),
    ):
        found += _numbered(kind, spots, ground)  # type: ignore[arg-type]
    return found


class _Ground:
    """Roomy ground, and the nearest piece of it to any point."""

    def __init__(self, roomy: Bools, room: Floats, grid: Grid) -> None:
        self.roomy, self.room, self.grid = roomy, room, grid
        self._distance, self._index = ndimage.distance_transform_edt(
            ~roomy, sampling=grid.metres_per_px, return_indices=True
        )

    def snapped(self, x: float, y: float) -> tuple[float, float] | None:
        """Return the nearest roomy spot; None where it is too far, or outside the map."""
        if not (0 <= x <= self.grid.width_m and 0 <= y <= self.grid.height_m):
            return None
        row, column = self.grid.pixels(np.array([x, y]))
        if self._distance[row, column] > _SNAP_M:
            return None
        to_row, to_column = self._index[:, row, column]
        east, north = self.grid.centres(to_row, to_column).tolist()
        return east, north

    def clearance(self, x: float, y: float) -> float:
        """Return the distance to the next obstacle, metres."""
        row, column = self.grid.pixels(np.array([x, y]))
        return float(self.room[row, column])


def _numbered(kind: "AnchorKind", spots: Iterable[_Spot], ground: _Ground) -> "list[Anchor]":
    """Keep spots that are far enough from those before them, up to the most of their kind."""
    from pipeline.stride.maps import Anchor  # noqa: PLC0415 - maps.py shows anchors to readers first

    kept: list[Anchor] = []
    for spot in spots:
        if len(kept) == _MOST[kind]:
            break
        if all(np.hypot(spot.x - a.x_m, spot.y - a.y_m) >= _APART_M[kind] for a in kept):
            room = round(ground.clearance(spot.x, spot.y), 2)
            name = f"{kind}_{len(kept) + 1}"
            kept.append(Anchor(name, kind, spot.name, round(spot.x, 2), round(spot.y, 2), room))
    return kept


# ---- where --------------------------------------------------------------------------------------


def _exits(ground: _Ground, signs: Signs) -> list[_Spot]:
    """Return the gaps in the map's edge, widest first."""
    grid, roomy = ground.grid, ground.roomy
    rows, columns = roomy.shape
    inside, deep = (round(m / grid.metres_per_px) for m in (_INSIDE_M, _DEPTH_M))
    edges = (
        (roomy[inside:deep].all(axis=0), lambda k: (inside, k)),
        (roomy[rows - deep : rows - inside].all(axis=0), lambda k: (rows - 1 - inside, k)),
        (roomy[:, inside:deep].all(axis=1), lambda k: (k, inside)),
        (roomy[:, columns - deep : columns - inside].all(axis=1),
         lambda k: (k, columns - 1 - inside)),
    )  # fmt: skip
    found = []
    for line, place in edges:
        for begin, end in _runs(np.asarray(line)):
            width = (end - begin) * grid.metres_per_px
            if width < _EXIT_LEAST_M:
                continue
            parts = int(np.ceil(width / _EXIT_MOST_M))
            for part in range(parts):
                middle = int(begin + (end - begin) * (part + 0.5) / parts)
                row, column = place(middle)
                x, y = grid.centres(np.array(row), np.array(column)).tolist()
                found.append((width / parts, _Spot(_street(signs, x, y), x, y)))
    found.sort(key=lambda one: -one[0])
    return [spot for _, spot in found]


def _runs(line: Bools) -> list[tuple[int, int]]:
    framed = np.concatenate(([0], line.astype(np.int8), [0]))
    change = np.diff(framed)
    begins, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _entrances(ground: _Ground, signs: Signs) -> list[_Spot]:
    """Return doors with a name, then named buildings, the largest first, then other places."""
    doors = [Named(one.name or _building(signs, one.shape), one.shape) for one in signs.doors]
    areas = [one for one in signs.landmarks if one.shape.area > 0]
    areas.sort(key=lambda one: (-one.shape.area, one.name))
    points = [one for one in signs.landmarks if one.shape.area == 0]
    points.sort(key=lambda one: (one.name or "", one.shape.wkb))
    spots = _snapped(ground, [*(one for one in doors if one.name), *areas, *points])
    named = list({spot.name: spot for spot in reversed(spots)}.values())[::-1]
    return [*named, *_snapped(ground, [one for one in doors if not one.name])]


def _building(signs: Signs, door: Any) -> str | None:
    """Return the name of the building a door belongs to."""
    inside = [one for one in signs.landmarks if one.shape.area > 0 and one.shape.distance(door) < 1]
    return min(inside, key=lambda one: one.shape.area).name if inside else None


def _snapped(ground: _Ground, things: Iterable[Named]) -> list[_Spot]:
    spots = []
    for thing in things:
        middle = thing.shape.representative_point()
        place = ground.snapped(middle.x, middle.y)
        if place is None and thing.shape.area > 0:
            # A large building's middle is far from its doors: look from the corner next to us.
            place = _beside(ground, thing.shape)
        if place is not None:
            spots.append(_Spot(thing.name, *place))
    return spots


def _beside(ground: _Ground, shape: Any) -> tuple[float, float] | None:
    """Return the roomiest spot at the outline of an area."""
    places = [
        place
        for x, y in shape.convex_hull.exterior.segmentize(5.0).coords
        if (place := ground.snapped(x, y)) is not None
    ]
    return max(places, key=lambda place: (ground.clearance(*place), place), default=None)


def _centres(ground: _Ground, signs: Signs) -> list[_Spot]:
    """Return the widest open spots, those in a named area before others."""
    grid = ground.grid
    worth = np.where(ground.roomy, ground.room, 0.0)
    # Open ground at the map's edge is not known to be open beyond it.
    row, column = np.indices(worth.shape)
    place = grid.centres(row, column)
    to_edge = np.minimum(place, np.array([grid.width_m, grid.height_m]) - place).min(axis=-1)
    worth = np.minimum(worth, to_edge)
    named = np.zeros_like(ground.roomy)
    for area in signs.areas:
        if area.name and area.shape.area > 0:
            named |= grid.filled(area.shape)
    worth = np.where(named, worth * _NAMED_BONUS, worth)
    found: list[_Spot] = []
    while worth.max() >= _CENTRE_LEAST_M and len(found) < _MOST["centre"]:
        best = np.unravel_index(int(worth.argmax()), worth.shape)
        x, y = grid.centres(np.array(best[0]), np.array(best[1])).tolist()
        found.append(_Spot(_area(signs.areas, x, y) or _street(signs, x, y), x, y))
        worth[np.hypot(place[..., 0] - x, place[..., 1] - y) < _APART_M["centre"]] = 0.0
    return found


def _area(areas: Sequence[Named], x: float, y: float) -> str | None:
    """Return the name of the smallest named area around a point."""
    import shapely  # noqa: PLC0415 - slow import

    around = [a for a in areas if a.name and shapely.contains_xy(a.shape, x, y)]
    return min(around, key=lambda one: one.shape.area).name if around else None


def _street(signs: Signs, x: float, y: float) -> str | None:
    """Return the name of the nearest street, if one is near."""
    import shapely  # noqa: PLC0415 - slow import

    point = shapely.Point(x, y)
    near = [(one.shape.distance(point), one.name or "") for one in signs.streets if one.name]
    distance, name = min(near, default=(np.inf, ""))
    return name if distance <= _NEAR_STREET_M else None
