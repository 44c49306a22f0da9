"""Traces whose times are none: all null, all the same, or the numbers of the rows.

    150 m apart, t = 0, 1, 2, 3 ...  ->  540 km/h: no times; taken as driven at 36 km/h

Such a trace is routed by geometry alone: times are put in that go with the distance, and none come
out (`timed` is false in the table of trips, entry times are null).
"""

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Chunk
from pipeline.trips.matching.search import Record

_PACE_MPS = 10.0


@kernel
def _any_time(chunk: Chunk, begin: int, end: int) -> bool:
    return bool(np.isfinite(chunk.t[begin:end]).any())


@kernel
def has_times(costs: Record, chunk: Chunk, begin: int, end: int) -> bool:
    """Tell whether the times of the points begin..end-1 can be those of a vehicle.

    They cannot if there are none, if all are equal, or if most steps are faster than any
    vehicle (`jump_mps`; for numbers 0, 1, 2 ... or 1, 2, 3 ... faster than `speed_mps`).
    """
    speeds = np.empty(end - begin, np.float64)
    count = 0
    same = True
    numbered = True
    before = -1
    for p in range(begin, end):
        # Beyond the box of the network a place is infinite.
        if not (chunk.sound[p] and np.isfinite(chunk.t[p]) and np.isfinite(chunk.x[p])):
            continue
        if before >= 0:
            seconds = chunk.t[p] - chunk.t[before]
            metres = np.hypot(chunk.x[p] - chunk.x[before], chunk.y[p] - chunk.y[before])
            same &= seconds == 0
            numbered &= seconds == 1
            if metres > 0:
                speeds[count] = metres / seconds if seconds > 0 else np.inf
                count += 1
        else:
            numbered &= chunk.t[p] in (0.0, 1.0)
        before = p
    if before < 0:
        return _any_time(chunk, begin, end)
    if count == 0:
        return True
    if same:
        return False
    speeds = np.sort(speeds[:count])
    return bool(speeds[(count - 1) // 2] <= (costs.speed_mps if numbered else costs.jump_mps))


@kernel
def take_times(chunk: Chunk, begin: int, end: int) -> None:
    """Give the points begin..end-1 the times of a drive at one speed, along straight lines."""
    time = 0.0
    before = -1
    for p in range(begin, end):
        if not chunk.sound[p]:
            continue
        if before >= 0:
            metres = np.hypot(chunk.x[p] - chunk.x[before], chunk.y[p] - chunk.y[before])
            if np.isfinite(metres):
                time += metres / _PACE_MPS
        chunk.t[p] = time
        before = p
