"""The roads near a fix, from a grid of straight pieces of road.

    near(graph, grid, x=531200.0, y=4556100.0, radius=100.0, segments=16, ...)
        ->  edges 812 and 813 (one street, both ways) at 4.2 m, edge 77 at 31.0 m, ...

Only one direction of a two-way street is in the grid; the other is its mirror image.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.search import F32, I32, Graph

F64 = npt.NDArray[np.float64]


class Grid(NamedTuple):
    """Straight pieces of road and the square cells they touch (metres, local UTM)."""

    ax: F64
    ay: F64
    bx: F64
    by: F64
    edge: I32  # the edge a piece belongs to
    along: F32  # length of the edge before the piece, in metres of its geometry
    piece_start: I32  # pieces of edge e: piece_start[e]:piece_start[e + 1]; none for a mirror image
    scale: F32  # length_m of the edge / length of its geometry
    cell_start: npt.NDArray[np.int64]
    cell_piece: I32
    x0: float
    y0: float
    cell: float
    columns: int
    rows: int


@njit(cache=True)
def fill_cells(
    pieces: tuple[F64, F64, F64, F64], x0: float, y0: float, cell: float, columns: int, rows: int
) -> tuple[npt.NDArray[np.int64], I32]:
    """Return for each cell the pieces that touch it, as starts and a flat list."""
    ax, ay, bx, by = pieces
    starts = np.zeros(columns * rows + 1, np.int64)
    flat = np.empty(0, np.int32)
    place = np.empty(0, np.int64)
    for writing in (False, True):
        if writing:
            starts = np.cumsum(starts)
            flat = np.empty(starts[-1], np.int32)
            place = starts[:-1].copy()
        for k in range(len(ax)):
            left = int((min(ax[k], bx[k]) - x0) / cell)
            right = int((max(ax[k], bx[k]) - x0) / cell)
            low = int((min(ay[k], by[k]) - y0) / cell)
            high = int((max(ay[k], by[k]) - y0) / cell)
            for row in range(low, high + 1):
                for column in range(left, right + 1):
                    if right > left and high > low:
                        # Separating axis: do all corners lie on one side of the piece's line?
                        nx = by[k] - ay[k]
                        ny = ax[k] - bx[k]
                        cx = x0 + (column + 0.5) * cell - ax[k]
                        cy = y0 + (row + 0.5) * cell - ay[k]
                        if abs(nx * cx + ny * cy) > (abs(nx) + abs(ny)) * cell * 0.5 + 1e-6:
                            continue
                    at = row * columns + column
                    if writing:
                        flat[place[at]] = k
                        place[at] += 1
                    else:
                        starts[at + 1] += 1
    return starts, flat


@njit(inline="always")
def foot(grid: Grid, k: int, x: float, y: float) -> tuple[float, float]:
    """Return squared distance to piece k and the geometry metres from its edge's start."""
    dx = grid.bx[k] - grid.ax[k]
    dy = grid.by[k] - grid.ay[k]
    wx = x - grid.ax[k]
    wy = y - grid.ay[k]
    square = dx * dx + dy * dy
    share = 0.0
    if square > 0:
        share = min(1.0, max(0.0, (wx * dx + wy * dy) / square))
    ex = wx - share * dx
    ey = wy - share * dy
    return ex * ex + ey * ey, share * np.sqrt(square)


@njit(cache=True, nogil=True)
def near(
    graph: Graph,
    grid: Grid,
    x: float,
    y: float,
    radius: float,
    segments: int,
    edge: I32,
    distance: F32,
    offset: F32,
    base: int,
) -> int:
    """Write the nearest candidates of one fix from `base` on, by distance; return their number.

    The list of the nearest `segments` streets is kept sorted while pieces are scanned, and a piece
    beyond its last entry is not looked at: no buffer can overflow however many roads are near.
    """
    left = max(0, int(np.floor((x - radius - grid.x0) / grid.cell)))
    right = min(grid.columns - 1, int(np.floor((x + radius - grid.x0) / grid.cell)))
    low = max(0, int(np.floor((y - radius - grid.y0) / grid.cell)))
    high = min(grid.rows - 1, int(np.floor((y + radius - grid.y0) / grid.cell)))
    limit = radius * radius
    count = 0
    if right < left:
        return 0
    for row in range(low, high + 1):
        begin = grid.cell_start[row * grid.columns + left]
        end = grid.cell_start[row * grid.columns + right + 1]
        for at in range(begin, end):
            k = grid.cell_piece[at]
            square, share = foot(grid, k, x, y)
            if square > limit:
                continue
            e = grid.edge[k]
            slot = 0
            while slot < count and edge[base + slot] != e:
                slot += 1
            if slot < count:
                if square >= distance[base + slot]:
                    continue
            elif count < segments:
                count += 1
            else:
                slot = segments - 1
                if square >= distance[base + slot]:
                    continue
            while slot > 0 and distance[base + slot - 1] > square:
                edge[base + slot] = edge[base + slot - 1]
                distance[base + slot] = distance[base + slot - 1]
                offset[base + slot] = offset[base + slot - 1]
                slot -= 1
            edge[base + slot] = e
            distance[base + slot] = square
            offset[base + slot] = grid.along[k] + share
            if count == segments:
                limit = min(limit, np.float64(distance[base + count - 1]))
    return _both_ways(graph, grid, edge, distance, offset, base, count)


@njit(inline="always")
def _both_ways(
    graph: Graph, grid: Grid, edge: I32, distance: F32, offset: F32, base: int, count: int
) -> int:
    """Turn streets into directed candidates, in place from the back so that nothing is lost."""
    total = 0
    for i in range(count):
        total += 2 if graph.twin[edge[base + i]] >= 0 else 1
    write = base + total
    for i in range(base + count - 1, base - 1, -1):
        e = edge[i]
        d = np.float32(np.sqrt(distance[i]))
        o = min(offset[i] * grid.scale[e], graph.length[e])
        twin = graph.twin[e]
        if twin >= 0:
            write -= 1
            edge[write] = twin
            distance[write] = d
            offset[write] = graph.length[twin] - o
        write -= 1
        edge[write] = e
        distance[write] = d
        offset[write] = o
    return total


@njit(cache=True, nogil=True)
def foot_on_edge(graph: Graph, grid: Grid, e: int, x: float, y: float) -> tuple[float, float]:
    """Return distance and offset (metres) of the point of edge e nearest to (x, y)."""
    owner = e
    if grid.piece_start[e] == grid.piece_start[e + 1]:
        owner = graph.twin[e]
    best = np.inf
    offset = 0.0
    for k in range(grid.piece_start[owner], grid.piece_start[owner + 1]):
        square, share = foot(grid, k, x, y)
        if square < best:
            best = square
            offset = grid.along[k] + share
    offset = min(offset * grid.scale[owner], np.float64(graph.length[owner]))
    if owner != e:
        offset = graph.length[e] - offset
    return np.sqrt(best), offset
