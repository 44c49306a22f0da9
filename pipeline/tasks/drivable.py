"""Can a route be driven, and how far round does it go?

    length_over_shortest(scored, ground)   ->  [1.0, 1.35]

The shares of touching joints and obeyed one-ways are found where routes are read (`routes_of`).
"""

import numpy as np

from pipeline.tasks.ground import F64, I32, Ground, Ragged
from pipeline.tasks.measure import Measure
from pipeline.tasks.routes import first_number_of, last_of, lengths_m
from pipeline.tasks.shortest import shortest_paths

MEASURES = (
    Measure(
        "joints_touching", "share", "higher",
        "Share of the joints of the whole prediction at which a segment begins where the one before"
        " ends.",
    ),
    Measure(
        "one_ways_obeyed", "share", "higher",
        "Share of the segments of the whole prediction that are driven in an allowed direction.",
    ),
    Measure(
        "length_over_shortest", "ratio", "",
        "Length of the scored route over that of the shortest drive from its first to its last"
        " segment; null where no drive leads there.",
    ),
)  # fmt: skip


def shortest_drive_m(firsts: I32, lasts: I32, ground: Ground) -> F64:
    """Return the length of the shortest drive from one segment to another, both driven whole.

    Args:
        firsts: Numbers of segments.
        lasts: Numbers of segments, as many.
        ground: The road graph.

    Returns:
        Metres; the segment's own length where both are one, infinite where no drive leads there.
    """
    first, last = np.asarray(firsts), np.asarray(lasts)
    ends = np.column_stack((ground.v[first], ground.u[last]))
    distinct, number = np.unique(ends, axis=0, return_inverse=True)
    between = shortest_paths(ground, distinct[:, 0], distinct[:, 1]).weight[number.ravel()]
    whole = ground.length_m[first] + between + ground.length_m[last]
    return np.asarray(np.where(first == last, ground.length_m[first], whole), np.float64)


def length_over_shortest(routes: Ragged, ground: Ground) -> F64:
    """Return the length of each route over that of the shortest drive between its own ends.

    1 at least, but for routes with gaps or driven against a one-way. NaN where no drive leads
    there. No route may be empty.
    """
    shortest = shortest_drive_m(first_number_of(routes), last_of(routes), ground)
    return np.where(np.isinf(shortest), np.nan, lengths_m(routes, ground) / shortest)
