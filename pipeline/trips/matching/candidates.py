"""The roads near a fix, from a grid of straight pieces of road.

    near(graph, grid, x=531200.0, y=4556100.0, radius=100.0, segments=16, states, base=0)
        ->  edges 812 and 813 (one street, both ways) at 4.2 m, edge 77 at 31.0 m, ...

Only one direction of a two-way street is in the grid; the other is its mirror image.
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline.trips.matching.compiled import cached_kernel, entry_point, kernel
from pipeline.trips.matching.search import F64, I32, I64, Graph, Record, Rows

PIECE = np.dtype(
    [
        ("ax", "f8"),
        ("ay", "f8"),
        ("bx", "f8"),
        ("by", "f8"),
        ("along", "f4"),  # metres of the edge's geometry before the piece
        ("edge", "i4"),
    ]
)
STATE = np.dtype(
    [
        ("cost", "f8"),  # of the best way to arrive here
        ("turned", "f8"),  # when that way last turned round (seconds), -inf = never
        ("edge", "i4"),
        ("back", "i4"),  # code of the state before, see viterbi.pack
        ("distance", "f4"),  # from the fix to the road (metres)
        ("offset", "f4"),  # along the edge (metres)
        ("away", "f4"),  # cost of the distance
        ("pace", "f4"),  # weight of a metre of the edge
    ]
)
"""One directed road near one fix."""


class Grid(NamedTuple):
    """Straight pieces of road and the square cells they touch (metres, local UTM)."""

    pieces: Rows
    piece_start: I32  # pieces of edge e: piece_start[e]:piece_start[e + 1]; none for a mirror image
    scale: F64  # of each edge: length_m / length of its geometry
    cell_start: I64
    cell_piece: I32
    x0: float
    y0: float
    cell: float
    columns: int
    rows: int


@kernel
def _touches(piece: Record, left: float, low: float, cell: float) -> bool:
    """Tell whether the line of a piece passes through a cell (separating axis: its normal)."""
    nx = piece.by - piece.ay
    ny = piece.ax - piece.bx
    cx = left + 0.5 * cell - piece.ax
    cy = low + 0.5 * cell - piece.ay
    return bool(abs(nx * cx + ny * cy) <= (abs(nx) + abs(ny)) * cell * 0.5 + 1e-6)


@entry_point
def compile_fill_cells(sources: str) -> Any:
    """Compile the function that lists for each cell the pieces that touch it."""

    @cached_kernel
    def fill_cells(
        pieces: Rows, x0: float, y0: float, cell: float, columns: int, rows: int
    ) -> tuple[I64, I32]:
        _ = sources
        starts = np.zeros(columns * rows + 1, np.int64)
        flat = np.empty(0, np.int32)
        place = np.empty(0, np.int64)
        for writing in (False, True):
            if writing:
                starts = np.cumsum(starts)
                flat = np.empty(starts[-1], np.int32)
                place = starts[:-1].copy()
            for k in range(len(pieces)):
                piece = pieces[k]
                left = int((min(piece.ax, piece.bx) - x0) / cell)
                right = int((max(piece.ax, piece.bx) - x0) / cell)
                low = int((min(piece.ay, piece.by) - y0) / cell)
                high = int((max(piece.ay, piece.by) - y0) / cell)
                for row in range(low, high + 1):
                    for column in range(left, right + 1):
                        if not _touches(piece, x0 + column * cell, y0 + row * cell, cell):
                            continue
                        at = row * columns + column
                        if writing:
                            flat[place[at]] = k
                            place[at] += 1
                        else:
                            starts[at + 1] += 1
        return starts, flat

    return fill_cells


@kernel
def foot(piece: Record, x: float, y: float) -> tuple[float, float]:
    """Return squared distance to a piece and the geometry metres from its edge's start."""
    dx = piece.bx - piece.ax
    dy = piece.by - piece.ay
    wx = x - piece.ax
    wy = y - piece.ay
    square = dx * dx + dy * dy
    share = 0.0
    if square > 0:
        share = min(1.0, max(0.0, (wx * dx + wy * dy) / square))
    ex = wx - share * dx
    ey = wy - share * dy
    return ex * ex + ey * ey, piece.along + share * np.sqrt(square)


@kernel
def _insert(
    states: Rows, base: int, count: int, most: int, edge: int, square: float, offset: float
) -> int:
    """Put a street into the sorted list of the nearest `most` ones; return the list's length."""
    slot = 0
    while slot < count and states[base + slot].edge != edge:
        slot += 1
    if slot == count:
        if count < most:
            count += 1
        else:
            slot -= 1
            if square >= states[base + slot].distance:
                return count
    elif square >= states[base + slot].distance:
        return count
    while slot > 0 and states[base + slot - 1].distance > square:
        states[base + slot].edge = states[base + slot - 1].edge
        states[base + slot].distance = states[base + slot - 1].distance
        states[base + slot].offset = states[base + slot - 1].offset
        slot -= 1
    states[base + slot].edge = edge
    states[base + slot].distance = square
    states[base + slot].offset = offset
    return count


@kernel
def _both_ways(graph: Graph, grid: Grid, states: Rows, base: int, count: int) -> int:
    """Turn streets into directed states, in place from the back so that nothing is lost."""
    total = count
    for i in range(base, base + count):
        total += graph.edges[states[i].edge].twin >= 0
    write = base + total
    for i in range(base + count - 1, base - 1, -1):
        e = states[i].edge
        edge = graph.edges[e]
        pace = edge.weight / max(edge.length, np.float32(0.01))
        distance = np.sqrt(states[i].distance)
        offset = min(np.float32(states[i].offset * grid.scale[e]), edge.length)
        if edge.twin >= 0:
            other = graph.edges[edge.twin]
            write -= 1
            states[write].edge = edge.twin
            states[write].distance = distance
            states[write].offset = other.length * (1.0 - offset / max(edge.length, 0.01))
            states[write].pace = other.weight / max(other.length, np.float32(0.01))
        write -= 1
        states[write].edge = e
        states[write].distance = distance
        states[write].offset = offset
        states[write].pace = pace
    return total


@kernel
def near(
    graph: Graph,
    grid: Grid,
    place: tuple[float, float],
    radius: float,
    segments: int,
    states: Rows,
    base: int,
) -> int:
    """Write the nearest states of one fix from `base` on, by distance; return their number.

    The list of the nearest `segments` streets is kept sorted while pieces are scanned, and a piece
    beyond its last entry is not looked at: no buffer can overflow however many roads are near.
    """
    x, y = place
    if not (abs(x - grid.x0) < 1e8 and abs(y - grid.y0) < 1e8):
        return 0
    left = max(0, int(np.floor((x - radius - grid.x0) / grid.cell)))
    right = min(grid.columns - 1, int(np.floor((x + radius - grid.x0) / grid.cell)))
    low = max(0, int(np.floor((y - radius - grid.y0) / grid.cell)))
    high = min(grid.rows - 1, int(np.floor((y + radius - grid.y0) / grid.cell)))
    if right < left:
        return 0
    limit = radius * radius
    count = 0
    for row in range(low, high + 1):
        begin = grid.cell_start[row * grid.columns + left]
        end = grid.cell_start[row * grid.columns + right + 1]
        for at in range(begin, end):
            piece = grid.pieces[grid.cell_piece[at]]
            square, offset = foot(piece, x, y)
            if square > limit:
                continue
            count = _insert(states, base, count, segments, piece.edge, square, offset)
            if count == segments:
                limit = min(limit, np.float64(states[base + count - 1].distance))
    return _both_ways(graph, grid, states, base, count)


@kernel
def foot_on_edge(graph: Graph, grid: Grid, e: int, x: float, y: float) -> tuple[float, float]:
    """Return distance and offset (metres) of the point of edge e nearest to (x, y)."""
    owner = e
    if grid.piece_start[e] == grid.piece_start[e + 1]:
        owner = graph.edges[e].twin
    best = np.inf
    along = 0.0
    for k in range(grid.piece_start[owner], grid.piece_start[owner + 1]):
        square, offset = foot(grid.pieces[k], x, y)
        if square < best:
            best = square
            along = offset
    length = np.float64(graph.edges[owner].length)
    share = min(1.0, along * grid.scale[owner] / max(length, 0.01))
    if owner != e:
        share = 1.0 - share
    return np.sqrt(best), share * graph.edges[e].length
