"""All traces of a chunk, one after another, without the interpreter.

match_chunk(roads, costs, x, y, t, sound, start=[0, 40, 97])
    ->  edges of the paths, one result for each point, one for each of the two traces
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.trips.matching.assemble import DRIVEN, assemble, place_points
from pipeline.trips.matching.compiled import cached_kernel, entry_point, kernel
from pipeline.trips.matching.confidence import set_margins
from pipeline.trips.matching.lattice import MATCHED, POINT, Chunk, Lattice, Roads, lattice_of
from pipeline.trips.matching.links import Kit, scratch_for
from pipeline.trips.matching.parts import judge, point_reasons
from pipeline.trips.matching.search import F64, I64, Graph, Record, Rows, search_space
from pipeline.trips.matching.times import has_times, take_times
from pipeline.trips.matching.viterbi import decode

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
        ("timed", "?"),  # whether the times of its points can be those of a vehicle
    ]
)
"""The result for one trace."""


@kernel
def _drive_figures(graph: Graph, trail: Rows, begin: int, end: int, trace: Record) -> None:
    """Sum up the driven edges begin..end-1."""
    for k in range(begin, end):
        row = trail[k]
        trace.route += row.end - row.begin
        if k == begin or row.part != trail[k - 1].part:
            trace.parts += 1
        elif graph.edges[row.edge].twin == trail[k - 1].edge:
            trace.u_turns += 1


@kernel
def _gps_length(fixes: Rows) -> float:
    """Return the length of the straight lines between joined fixes of kept parts (metres)."""
    length = 0.0
    before = fixes[0]
    for j in range(len(fixes)):
        fix = fixes[j]
        if fix.chosen < 0:
            continue
        if fix.joined and fix.status == MATCHED:
            length += np.hypot(fix.x - before.x, fix.y - before.y)
        before = fix
    return length


@kernel
def _mean_confidence(points: Rows, begin: int, end: int) -> float:
    total = 0.0
    placed = 0
    for p in range(begin, end):
        if points[p].edge >= 0:
            total += points[p].confidence
            placed += 1
    return total / max(placed, 1)


@kernel
def _match_trace(
    kit: Kit, lattice: Lattice, trail: Rows, used: int, trace: Record
) -> tuple[Rows, int]:
    """Match one trace that has at least one fix; return the trail and the rows used."""
    decode(kit, lattice)
    trace.cost = judge(kit, lattice)
    first = used
    trail, used, reasons = assemble(kit, lattice, trail, used)
    set_margins(kit, lattice)
    _drive_figures(kit.roads.graph, trail, first, used, trace)
    trace.gps = _gps_length(lattice.fixes)
    trace.sigma = lattice.sigma
    trace.reasons = reasons
    return trail, used


@entry_point
def compile_match_chunk(sources: str) -> Any:
    """Compile the function that matches the traces of a chunk."""

    @cached_kernel
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
        chunk = Chunk(x, y, t, sound, points)
        kit = Kit(roads, costs, search_space(roads.graph), scratch_for(roads, costs.segments))
        trail = np.empty(2 * len(x) + 64, DRIVEN)
        used = 0
        for k in range(len(traces)):
            trace = traces[k]
            trace.timed = has_times(costs, chunk, start[k], start[k + 1])
            if not trace.timed:
                take_times(chunk, start[k], start[k + 1])
            lattice = lattice_of(roads, costs, chunk, start[k], start[k + 1])
            if len(lattice.fixes) > 0:
                trail, used = _match_trace(kit, lattice, trail, used, trace)
                place_points(roads, lattice, trail, chunk, start[k], start[k + 1])
            trace.confidence = _mean_confidence(points, start[k], start[k + 1])
            trace.reasons |= point_reasons(points, start[k], start[k + 1])
            trace.path_end = used
        return trail[:used], points, traces

    return match_chunk
