"""The fixes of one trace and the road positions each could be at.

40 points  ->  33 fixes (4 points stand by another one, 3 have no road near), 410 states
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.trips.matching.candidates import STATE, Grid, near
from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.path_table import Table
from pipeline.trips.matching.search import F64, I32, I64, Graph, Record, Rows

FIX = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("arrive", "f8"),
        ("depart", "f8"),  # time of the last point standing by this one
        ("best", "f8"),  # least cost of its states, their distance included
        ("pace", "f8"),  # least of its states
        ("weight", "f8"),  # points it stands for
        ("margin", "f8"),  # how much dearer the best path is that has this fix elsewhere
        ("point", "i8"),  # its number among the points of the chunk
        ("chosen", "i8"),  # its state, -1 = left out
        ("row", "i8"),  # its row of the path, -1 = none
        ("joined", "?"),  # whether a route leads here from the chosen fix before
        ("status", "u1"),
    ]
)

STATUSES = (
    "matched",
    "standing",
    "no_road_near",
    "outlier",
    "invalid",
    "too_short",
    "low_likelihood",
    "stale",
    "no_route",
    "against_one_way",
)
"""What became of a point; only the first two have a road.

    outlier: farther from the roads, or from its neighbours, than noise and speed allow
    stale: where the vehicle was before, or somewhere else at the very time of its neighbour
    no_route: near a road and where its neighbours allow, but no plausible route leads there
    against_one_way: its neighbours show that the street was driven against its direction
"""
(
    MATCHED,
    STANDING,
    NO_ROAD,
    OUTLIER,
    INVALID,
    TOO_SHORT,
    UNLIKELY,
    STALE,
    NO_ROUTE,
    AGAINST,
) = range(len(STATUSES))

POINT = np.dtype(
    [
        ("edge", "i4"),
        ("offset", "f4"),
        ("distance", "f4"),
        ("confidence", "f4"),
        ("fix", "i4"),  # number in its trace of the fix it is or stands by, -1 for none
        ("status", "u1"),
    ]
)
"""The result for one point."""


class Roads(NamedTuple):
    """Everything about the network that matching reads."""

    graph: Graph
    grid: Grid
    table: Table
    component: I32  # of each node: number of its weakly connected part


class Chunk(NamedTuple):
    """The points of a chunk of traces, and where their results go."""

    x: F64
    y: F64
    t: F64
    sound: npt.NDArray[np.bool_]  # whether the place is a place
    points: Rows


class Lattice(NamedTuple):
    """The states of fix j are start[j]:start[j + 1], by distance from the fix."""

    fixes: Rows
    start: I64
    states: Rows
    sigma: float  # GPS noise of the trace (metres)


@kernel
def _new_fix(fix: Record, chunk: Chunk, p: int) -> None:
    fix.x = chunk.x[p]
    fix.y = chunk.y[p]
    fix.arrive = chunk.t[p]
    fix.depart = chunk.t[p]
    fix.best = np.inf
    fix.weight = 1.0
    fix.margin = np.inf
    fix.point = p
    fix.chosen = -1
    fix.row = -1
    fix.joined = False
    fix.status = OUTLIER


@kernel
def _roads_near(
    roads: Roads, costs: Record, place: tuple[float, float], states: Rows, used: int
) -> int:
    """Write the states of a fix from `used` on; return how many."""
    graph, grid = roads.graph, roads.grid
    found = near(graph, grid, place, costs.radius_m, costs.segments, states, used)
    if found == 0 and costs.wide_radius_m > costs.radius_m:
        found = near(graph, grid, place, costs.wide_radius_m, costs.segments, states, used)
    return found


@kernel
def lattice_of(roads: Roads, costs: Record, chunk: Chunk, begin: int, end: int) -> Lattice:
    """Choose the fixes among the points begin..end-1 of one trace and find the roads near them.

    A point close to the last fix is no fix of its own: it stands there. This keeps a waiting car
    from turning round, and makes fast sampling no dearer than slow sampling.
    """
    x, y = chunk.x, chunk.y
    fixes = np.empty(end - begin, FIX)
    start = np.zeros(end - begin + 1, np.int64)
    # Only what is written is ever backed by memory.
    states = np.empty((end - begin) * 2 * costs.segments, STATE)
    used = 0
    total = 0
    close = costs.standing_m * costs.standing_m
    standing = False
    for p in range(begin, end):
        point = chunk.points[p]
        point.fix = -1
        if not (chunk.sound[p] and np.isfinite(chunk.t[p])):
            point.status = INVALID
            continue
        if standing:
            fix = fixes[total - 1]
            if (x[p] - fix.x) ** 2 + (y[p] - fix.y) ** 2 <= close:
                point.status = STANDING
                point.fix = total - 1
                fix.depart = chunk.t[p]
                fix.weight += 1.0
                continue
        found = _roads_near(roads, costs, (x[p], y[p]), states, used)
        standing = found > 0
        if not standing:
            point.status = NO_ROAD
            continue
        _new_fix(fixes[total], chunk, p)
        point.fix = total
        used += found
        total += 1
        start[total] = used
    sigma = _noise(costs, start[: total + 1], states)
    lattice = Lattice(fixes[:total], start[: total + 1], states[:used], sigma)
    lattice = _with_stays(roads, costs, chunk, lattice, begin, end)
    _weigh_distances(costs, lattice)
    used = _drop_hopeless(costs, lattice)
    return Lattice(lattice.fixes, lattice.start, lattice.states[:used], sigma)


@kernel
def _stay_from(
    costs: Record, fixes: Rows, begin: int, radius: float
) -> tuple[int, tuple[float, float]]:
    """Return the last fix of the stay that begins at a fix, and the mean place of its points.

    A stay goes on while the fixes lie around the mean of those so far. Up to four in a row that do
    not are noise, if they lie within twice the radius and the next one lies there again. It lasts
    longer than crossing the circle takes at `stay_mps`, and has three fixes at least: two may as
    well be the ends of a loop.

    Returns:
        `begin` itself where no stay begins.
    """
    x = fixes[begin].x
    y = fixes[begin].y
    weight = fixes[begin].weight
    last = begin
    for j in range(begin + 1, len(fixes)):
        fix = fixes[j]
        if np.hypot(fix.x - x, fix.y - y) <= radius:
            weight += fix.weight
            x += (fix.x - x) * fix.weight / weight
            y += (fix.y - y) * fix.weight / weight
            last = j
            continue
        far = np.hypot(fix.x - x, fix.y - y) > 2.0 * radius
        if far or j - last > 4 or fix.weight > costs.stay_weight:
            break
    lasting = fixes[last].depart - fixes[begin].arrive >= 2.0 * radius / costs.stay_mps
    return (last if lasting and last > begin + 1 else begin), (x, y)


@kernel
def _merge(fixes: Rows, begin: int, last: int, place: tuple[float, float]) -> Record:
    """Make one fix, the first, of the fixes begin..last of a stay."""
    fix = fixes[begin]
    for k in range(begin + 1, last + 1):
        fix.weight += fixes[k].weight
    fix.depart = fixes[last].depart
    fix.x, fix.y = place
    fix.point = -1
    return fix


@kernel
def _gather_stays(roads: Roads, costs: Record, lattice: Lattice, number: I64) -> Lattice:
    """Make one fix of each stay.

    Args:
        roads: The network.
        costs: The settings.
        lattice: The fixes with their states; unchanged where there is no stay.
        number: Room for the new number of each fix.
    """
    fixes = lattice.fixes
    radius = max(costs.stay_m, costs.stay_sigmas * lattice.sigma)
    states = np.empty(len(fixes) * 2 * costs.segments, STATE)
    start = np.zeros(len(fixes) + 1, np.int64)
    used = 0
    total = 0
    j = 0
    while j < len(fixes):
        last, place = _stay_from(costs, fixes, j, radius)
        found = _roads_near(roads, costs, place, states, used) if last > j else 0
        if found > 0:
            _merge(fixes, j, last, place)
        else:
            last = j
            for at in range(lattice.start[j], lattice.start[j + 1]):
                states[used + found] = lattice.states[at]
                found += 1
        number[j : last + 1] = total
        if total != j:
            fixes[total] = fixes[j]
        used += found
        total += 1
        start[total] = used
        j = last + 1
    return Lattice(fixes[:total], start[: total + 1], states[:used], lattice.sigma)


@kernel
def _with_stays(
    roads: Roads, costs: Record, chunk: Chunk, lattice: Lattice, begin: int, end: int
) -> Lattice:
    """Gather the stays, if there are any, and point the points to the new fixes."""
    fixes = lattice.fixes
    radius = max(costs.stay_m, costs.stay_sigmas * lattice.sigma)
    j = 0
    while j < len(fixes) and _stay_from(costs, fixes, j, radius)[0] == j:
        j += 1
    if j == len(fixes):
        return lattice
    number = np.empty(len(fixes), np.int64)
    lattice = _gather_stays(roads, costs, lattice, number)
    for p in range(begin, end):
        point = chunk.points[p]
        if point.fix >= 0:
            point.fix = number[point.fix]
            if lattice.fixes[point.fix].point != p:
                point.status = STANDING
    return lattice


@kernel
def _noise(costs: Record, start: I64, states: Rows) -> float:
    """Estimate the GPS noise of the trace (metres)."""
    fixes = len(start) - 1
    sigma = costs.sigma_few_m
    if fixes >= 5:
        nearest = np.empty(fixes, np.float64)
        for j in range(fixes):
            nearest[j] = states[start[j]].distance
        nearest.sort()
        sigma = costs.sigma_factor * nearest[fixes // 2]
        sigma = min(costs.sigma_max_m, max(costs.sigma_min_m, sigma))
    return float(sigma)


@kernel
def _weigh_distances(costs: Record, lattice: Lattice) -> None:
    """Set what each fix weighs, and the cost of each state's distance."""
    for j in range(len(lattice.fixes)):
        fix = lattice.fixes[j]
        fix.weight = min(fix.weight, costs.stay_weight)
        times = fix.weight if fix.point < 0 else 1.0
        for at in range(lattice.start[j], lattice.start[j + 1]):
            # Beyond four sigma the tail is longer than a Gaussian's.
            z = lattice.states[at].distance / lattice.sigma
            lattice.states[at].away = times * (0.5 * z * z if z < 4.0 else 4.0 * z - 8.0)


@kernel
def _drop_hopeless(costs: Record, lattice: Lattice) -> int:
    """Close the ranks over states too far away to be chosen; return how many are left.

    Of those it sets the least pace of each fix.

    Leaving the fix out is cheaper than such a state by more than the beam. The nearest street
    stays in any case.
    """
    start, states = lattice.start, lattice.states
    left = 0
    begin = 0
    for j in range(len(start) - 1):
        end = start[j + 1]
        limit = max(costs.skip_cost * lattice.fixes[j].weight + costs.beam, states[begin].away)
        lattice.fixes[j].pace = np.inf
        for at in range(begin, end):
            if states[at].away <= limit:
                states[left] = states[at]
                lattice.fixes[j].pace = min(lattice.fixes[j].pace, states[at].pace)
                left += 1
        start[j + 1] = left
        begin = end
    return left
