"""Whether a crowd is where its scenario has it: on the map, the right way round, at its start.

    place = place_of(scenario)      what the benchmark states: starts_m, map_size_m
    list(doubts_of_place(walk, place, ground))
    ->  [Trap("flipped", "positions: people start 31.2 m on average from where the scenario
         has them, and 0.0 m mirrored north to south: axes are flipped")]

No measure looks at the map: a crowd that walks 500 m off it, or in a mirror image of it, scores
like one that does not. Nothing of this changes a score; each report has it in words.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.benchmark import Scenario
from pipeline.stride.importers.states import StatesFile, read_obstacles
from pipeline.stride.trajectories import Trajectory
from pipeline.stride.traps import Trap

# A first frame may lie a step after the start: 0.4 s at a run are 1.6 m.
START_M = 2.0
# People who leave by an exit may take a few steps more.
BEYOND_M = 5.0
# Where only walls are known the map may reach further than they do.
BEYOND_WALLS_M = 20.0
# Shares that are still no matter: of people off their start, of agent-frames off map and ground. Of
# the reference walkers, who keep to the ground, 3 % of agent-frames in the fullest crowd are on a
# pixel that a wall touches.
MOST_STRAYED, MOST_OFF_MAP, MOST_OFF_GROUND = 0.1, 0.05, 0.1
# A crowd is flipped if its starts fit so many times better then; closer than this they fit anyway.
_CLEARLY, _SOME_M = 4.0, 0.3
# Distances of so many pairs are compared one to one; of more each start has its nearest person.
_MOST_PAIRS = 4_000_000
_FORM = "starts_m a list of [x, y] and map_size_m [width, height], in metres"


class Place(NamedTuple):
    """What a scenario states of its place.

    Attributes:
        starts: (N, 2), where people start, metres; None = not stated.
        size: Width and height of the map, metres; None = not stated.
    """

    starts: Floats | None
    size: Floats | None


class Ground(NamedTuple):
    """What is known of a scenario's map.

    Attributes:
        walls: (n, 4), x0, x1, y0, y1 in metres; None = not known.
        walkable: Mask, row 0 at the south edge; None = not known.
        metres_per_px: Side of its pixels.
    """

    walls: Floats | None = None
    walkable: Bools | None = None
    metres_per_px: float = 1.0


def place_of(scenario: Scenario) -> Place:
    """Return what a scenario states of its place, under its keys `starts_m` and `map_size_m`.

    Raises:
        SourceError: They are not of their form.
    """
    try:
        starts, size = (
            None if scenario.extra.get(key) is None else np.asarray(scenario.extra[key], np.float64)
            for key in ("starts_m", "map_size_m")
        )
    except (ValueError, TypeError) as fault:
        raise SourceError(f"scenario {scenario.id}: expected {_FORM}, found others") from fault
    if starts is not None and not (
        starts.ndim == 2 and starts.shape[1] == 2 and np.isfinite(starts).all()
    ):
        raise SourceError(f"scenario {scenario.id}: expected {_FORM}, found {starts.shape}")
    if size is not None and not (size.shape == (2,) and (size > 0).all()):
        raise SourceError(f"scenario {scenario.id}: expected {_FORM}, found {size.shape}")
    return Place(starts, size)


def read_map_ground(path: Path) -> Ground:
    """Read a `map.npz`: its walls, and where it has one the mask of walkable ground.

    Raises:
        SourceError: There is no such file, or a member is not of its form.
    """
    walls = read_obstacles(path)
    with StatesFile(path) as file:
        if not {"walkable", "metres_per_px"} <= set(file.keys):
            return Ground(walls)
        walkable, scale = file.array("walkable"), file.array("metres_per_px")
    if walkable.ndim != 2 or scale.size != 1 or not 0 < float(scale.reshape(())) < np.inf:
        raise SourceError(
            f"{path}: expected walkable of two dimensions and metres_per_px above 0, found"
            f" {walkable.shape} and {scale.shape}"
        )
    return Ground(walls, walkable != 0, float(scale.reshape(())))


def doubts_of_place(walk: Trajectory, place: Place, ground: Ground) -> Iterator[Trap]:
    """Return what is far off; nothing where nobody is there or positions are not finite."""
    at = walk.positions[walk.present]
    if not len(at) or not np.isfinite(at).all():
        return
    yield from _off_map(at, place, ground)
    yield from _off_ground(at, place, ground)
    if place.starts is not None and len(place.starts):
        yield from _off_start(walk, place.starts, place)


def _off_map(at: Floats, place: Place, ground: Ground) -> Iterator[Trap]:
    if place.size is not None:
        low, high, words = np.zeros(2) - BEYOND_M, place.size + BEYOND_M, "the map"
    elif ground.walls is not None and len(ground.walls):
        x, y = ground.walls[:, :2], ground.walls[:, 2:]
        low = np.array([x.min(), y.min()]) - BEYOND_WALLS_M
        high, words = np.array([x.max(), y.max()]) + BEYOND_WALLS_M, "all walls of the map"
    else:
        return
    share = float(((at < low) | (at > high)).any(axis=1).mean())
    if share > MOST_OFF_MAP:
        beyond = BEYOND_M if place.size is not None else BEYOND_WALLS_M
        yield Trap(
            "off_map",
            f"positions: {share:.0%} of agent-frames more than {beyond:g} m outside {words}",
        )


def _off_ground(at: Floats, place: Place, ground: Ground) -> Iterator[Trap]:
    if ground.walkable is None:
        return
    share = _share_off(at, ground.walkable, ground.metres_per_px)
    if share <= MOST_OFF_GROUND:
        return
    rows, columns = ground.walkable.shape
    size = np.array([columns, rows]) * ground.metres_per_px if place.size is None else place.size
    better = min(
        (_share_off(turned, ground.walkable, ground.metres_per_px), words)
        for words, turned in _turns(at, size)
    )
    hint = f"; {better[0]:.0%} {better[1]}" if better[0] < share / 2 else ""
    yield Trap(
        "off_ground",
        f"positions: {share:.0%} of agent-frames where the map has no walkable ground{hint}",
    )


def _share_off(at: Floats, walkable: Bools, metres_per_px: float) -> float:
    """Return the share of places that are off the mask, or on a pixel of it nobody can walk on."""
    rows, columns = walkable.shape
    scaled = np.clip(at / metres_per_px, -1, max(rows, columns))
    column, row = np.floor(scaled).astype(np.int64).T
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    return 1 - float(walkable[row[inside], column[inside]].sum()) / len(at)


def _off_start(walk: Trajectory, starts: Floats, place: Place) -> Iterator[Trap]:
    ever = np.flatnonzero(walk.present.any(axis=0))
    first = walk.positions[walk.present[:, ever].argmax(axis=0), ever]
    apart = _apart(starts, first)
    far = apart > START_M
    if apart.mean() > _SOME_M:
        better = min(
            (float(_apart(starts, turned).mean()), words)
            for words, turned in _turns(first, place.size)
        )
        if better[0] < apart.mean() / _CLEARLY:
            yield Trap(
                "flipped",
                f"positions: people start {apart.mean():.1f} m on average from where the scenario"
                f" has them, and {better[0]:.1f} m {better[1]}: axes are flipped",
            )
            return
    if far.mean() > MOST_STRAYED:
        yield Trap(
            "far_from_starts",
            f"positions: {int(far.sum())} of {len(far)} people start more than {START_M:g} m from"
            f" where the scenario has them, {apart.mean():.0f} m on average",
        )


def _apart(starts: Floats, first: Floats) -> Floats:
    """Return how far apart starts and first places are, each with one other: in all the nearest."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - needed where starts are known
    from scipy.spatial import KDTree  # noqa: PLC0415 - as above

    if len(starts) * len(first) > _MOST_PAIRS:
        return np.asarray(KDTree(first).query(starts)[0])
    east = starts[:, None, 0] - first[None, :, 0]
    north = starts[:, None, 1] - first[None, :, 1]
    distance = np.hypot(east, north)
    row, column = linear_sum_assignment(distance)
    return np.asarray(distance[row, column])


def _turns(at: Floats, size: Floats | None) -> Iterator[tuple[str, Floats]]:
    """Yield places as they are when axes are mirrored or swapped, and what was done."""
    x, y = at[:, 0], at[:, 1]
    if size is not None:
        west, south = size[0] - x, size[1] - y
        yield "mirrored north to south", np.column_stack((x, south))
        yield "mirrored east to west", np.column_stack((west, y))
        yield "turned by 180 degrees", np.column_stack((west, south))
    yield "with x and y swapped", np.column_stack((y, x))
    yield "with the sign of y turned", np.column_stack((x, -y))
    yield "with the sign of x turned", np.column_stack((-x, y))
    yield "with both signs turned", -at
