"""Cut drivable ways at junctions into directed segments, and keep the part that hangs together.

    ways 1: a-b-c and 2: d-b-e (both two-way)  ->  segments a>b, b>a, b>c, c>b, d>b, b>d, b>e, e>b

A junction is a node that drivable ways pass more than once in all, or an end of a way. Parallel
ways, loops and a way that passes the same pair of nodes twice stay separate segments. Nodes that
the extract lacks, or that lie outside the city's bbox, are dropped, and the way is cut there:
where it left the area it does not come back by a straight line.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.city.projection import Floats, geodesic
from pipeline.city.ways import DEGREE, NO_LOCATION, DrivableWays

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Segments:
    """Directed segments between junctions; S segments over K' kept node entries.

    Attributes:
        way: Row in the ways' table, (S,).
        first: Position of the first node entry in digitised order, (S,).
        last: Position of the last one, (S,); the entries between are the shape.
        forward: Whether the segment is driven in the digitised direction, (S,).
        u: OSM node id of the driven start, (S,).
        v: OSM node id of the driven end, (S,).
        length_m: Geodesic length, metres, (S,).
        lon: Longitude of the kept node entries, degrees, (K',).
        lat: Latitude of the kept node entries, degrees, (K',).
        dropped_nodes: Node entries that were missing or outside the bbox.
        zero_length: Pieces left out because their nodes lie on one spot.
    """

    way: Ints
    first: Ints
    last: Ints
    forward: Bools
    u: Ints
    v: Ints
    length_m: Floats
    lon: Floats
    lat: Floats
    dropped_nodes: int
    zero_length: int


def directed_segments(
    ways: DrivableWays, *, bbox: tuple[float, float, float, float], split: bool
) -> Segments:
    """Cut ways into directed segments.

    Args:
        ways: Drivable ways of an extract.
        bbox: West, south, east, north of the city, degrees.
        split: Whether to cut at inner junctions; False for a road map that is cut already.

    Returns:
        Segments in the order of the ways, along each way, forward before backward.
    """
    kept = _inside(ways, bbox)
    way, node, x, y = ways.way[kept], ways.node[kept], ways.x[kept], ways.y[kept]
    run = _runs(way, np.flatnonzero(kept), node)
    moved = np.ones(len(node), dtype=bool)  # a node noted twice in a row is one node
    moved[1:] = (node[1:] != node[:-1]) | (run[1:] != run[:-1])
    way, node, x, y, run = way[moved], node[moved], x[moved], y[moved], run[moved]
    first, last = _cuts(node, run, split=split)
    lon, lat = x / DEGREE, y / DEGREE
    length = _lengths(lon, lat, first, last)
    real = length > 0
    first, last, length = first[real], last[real], length[real]
    direction = ways.table["direction"].to_numpy()[way[first]]
    pick = np.repeat(np.arange(len(first)), 2)
    forward = np.tile(np.array([True, False]), len(first))
    driven = np.where(forward, direction[pick] >= 0, direction[pick] <= 0)
    pick, forward = pick[driven], forward[driven]
    start, end = node[first[pick]], node[last[pick]]
    return Segments(
        way=way[first[pick]],
        first=first[pick],
        last=last[pick],
        forward=forward,
        u=np.where(forward, start, end),
        v=np.where(forward, end, start),
        length_m=length[pick],
        lon=lon,
        lat=lat,
        dropped_nodes=int((~kept).sum()),
        zero_length=int((~real).sum()),
    )


def largest_component(u: Ints, v: Ints) -> Bools:
    """Mark the segments inside the largest strongly connected component.

    Largest by number of nodes; of equals, the one that holds the smallest node id. Segments
    between two components belong to none and are not marked. Empty in, empty out.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not len(u):
        return np.zeros(0, dtype=bool)
    nodes, index = np.unique(np.concatenate((u, v)), return_inverse=True)
    tail, head = index[: len(u)], index[len(u) :]
    ones = np.ones(len(u), dtype=np.int8)
    graph = coo_array((ones, (tail, head)), shape=(len(nodes), len(nodes)))
    _, label = connected_components(graph, directed=True, connection="strong")
    size = np.bincount(label)
    largest = label[np.flatnonzero(size[label] == size.max())[0]]
    inside: Bools = (label[tail] == largest) & (label[head] == largest)
    return inside


def _inside(ways: DrivableWays, bbox: tuple[float, float, float, float]) -> Bools:
    west, south, east, north = bbox
    here = (ways.x != NO_LOCATION) & (ways.y != NO_LOCATION)
    inside: Bools = (
        here & (ways.lon >= west) & (ways.lon <= east) & (ways.lat >= south) & (ways.lat <= north)
    )
    return inside


def _runs(way: Ints, position: Ints, node: Ints) -> Ints:
    """Number the unbroken stretches: a new way or a dropped node starts a new one."""
    if not len(node):
        return np.zeros(0, dtype=np.int64)
    starts = np.ones(len(way), dtype=np.int64)
    starts[1:] = (way[1:] != way[:-1]) | (position[1:] != position[:-1] + 1)
    return np.cumsum(starts)


def _cuts(node: Ints, run: Ints, *, split: bool) -> tuple[Ints, Ints]:
    """Return the first and last positions of the pieces between neighbouring junctions."""
    if not len(node):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    edge = np.ones(len(node), dtype=bool)
    edge[1:-1] = (run[1:-1] != run[:-2]) | (run[1:-1] != run[2:])
    if split:
        _, inverse, count = np.unique(node, return_inverse=True, return_counts=True)
        edge |= count[inverse] > 1
    place = np.flatnonzero(edge)
    within = run[place[:-1]] == run[place[1:]]
    return place[:-1][within], place[1:][within]


def _lengths(lon: Floats, lat: Floats, first: Ints, last: Ints) -> Floats:
    if not len(first):
        return np.zeros(0)
    _, step = geodesic(lon[:-1], lat[:-1], lon[1:], lat[1:])
    # Sums per piece; the closing zero lets the last piece end at the last node.
    sums = np.add.reduceat(np.append(step, 0.0), np.column_stack((first, last)).ravel())
    return np.asarray(sums[::2], dtype=np.float64)
