"""All traces of a chunk, one after another, without the interpreter.

match_chunk(roads, costs, x, y, t, sound, start=[0, 40, 97])
    ->  edges of the paths, one result for each point, one for each of the two traces
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.assemble import DRIVEN, assemble, place_points
from pipeline.trips.matching.compiled import entry_point
from pipeline.trips.matching.confidence import margins
from pipeline.trips.matching.lattice import (
    MATCHED,
    POINT,
    Lattice,
    Roads,
    lattice_of,
    weigh_distances,
)
from pipeline.trips.matching.parts import judge, point_reasons
from pipeline.trips.matching.search import F64, I32, I64, Graph, Record, Rows
from pipeline.trips.matching.viterbi import Space, decode, space_for

TRACE = np.dtype(
    [
        ("route", "f8"),  # metres driven
        ("gps", "f8"),  # metres of the straight lines between joined fixes
        ("path_end", "i8"),  # rows of the trail up to the end of this trace
        ("parts", "i4"),
        ("reasons", "i4"),  # bit r set: REASONS[r] holds
        ("u_turns", "i4"),
        ("sigma", "f4"),
        ("cost", "f4"),  # mean cost per fix of the kept parts
        ("confidence", "f4"),  # mean over the points with a road
    ]
)
"""The result for one trace."""


@njit
def _drive_figures(graph: Graph, trail: Rows, begin: int, end: int, trace: Record) -> None:
    """Sum up the driven edges begin..end-1."""
    for k in range(begin, end):
        row = trail[k]
        trace.route += row.end - row.begin
        if k == begin or row.part != trail[k - 1].part:
            trace.parts += 1
        elif graph.edges[row.edge].twin == trail[k - 1].edge:
            trace.u_turns += 1


@njit
def _gps_length(
    lattice: Lattice,
    chosen: I32,
    joined: npt.NDArray[np.bool_],
    verdict: npt.NDArray[np.uint8],
) -> float:
    """Return the length of the straight lines between joined fixes of kept parts (metres)."""
    length = 0.0
    before = -1
    for j in range(len(chosen)):
        if chosen[j] < 0:
            continue
        if joined[j] and verdict[j] == MATCHED:
            a = lattice.fixes[before]
            b = lattice.fixes[j]
            length += np.hypot(b.x - a.x, b.y - a.y)
        before = j
    return length


@njit
def _mean_confidence(points: Rows, begin: int, end: int) -> float:
    total = 0.0
    placed = 0
    for p in range(begin, end):
        if points[p].edge >= 0:
            total += points[p].confidence
            placed += 1
    return total / max(placed, 1)


@njit
def _match_trace(
    roads: Roads, space: Space, costs: Record, lattice: Lattice, trail: Rows, used: int,
    x: F64, y: F64, points: Rows, begin: int, end: int, trace: Record,
) -> tuple[Rows, int]:  # fmt: skip
    """Match one trace that has at least one fix; return the trail and the rows used."""
    sigma = weigh_distances(costs, lattice)
    chosen, joined = decode(roads, space, costs, lattice, sigma)
    verdict, cost = judge(costs, lattice, chosen, joined)
    first = used
    trail, used, row, reasons = assemble(
        roads, space, costs, lattice, chosen, joined, verdict, sigma, trail, used
    )  # fmt: skip
    margin = margins(roads, space, costs, lattice, chosen, joined, sigma)
    place_points(
        roads, lattice, chosen, verdict, margin, trail, row, x, y, points, begin, end
    )  # fmt: skip
    _drive_figures(roads.graph, trail, first, used, trace)
    trace.gps = _gps_length(lattice, chosen, joined, verdict)
    trace.confidence = _mean_confidence(points, begin, end)
    trace.sigma = sigma
    trace.cost = cost
    trace.reasons = reasons
    return trail, used


@entry_point
def compile_match_chunk(sources: str) -> Any:
    """Compile the function that matches the traces of a chunk."""

    @njit(cache=True, nogil=True)
    def match_chunk(
        roads: Roads,
        costs: Record,
        x: F64,
        y: F64,
        t: F64,
        sound: npt.NDArray[np.bool_],
        start: I64,
    ) -> tuple[Rows, Rows, Rows]:
        _ = sources
        points = np.zeros(len(x), POINT)
        for p in range(len(x)):
            points[p].edge = -1
            points[p].offset = np.nan
            points[p].distance = np.nan
        traces = np.zeros(len(start) - 1, TRACE)
        space = space_for(roads, costs.segments)
        trail = np.empty(2 * len(x) + 64, DRIVEN)
        used = 0
        for k in range(len(traces)):
            begin = start[k]
            end = start[k + 1]
            lattice = lattice_of(roads, costs, x, y, t, sound, points, begin, end)
            if len(lattice.fixes) > 0:
                trail, used = _match_trace(
                    roads, space, costs, lattice, trail, used, x, y, points, begin, end, traces[k]
                )  # fmt: skip
            traces[k].reasons |= point_reasons(points, begin, end)
            traces[k].path_end = used
        return trail[:used], points, traces

    return match_chunk
