"""How many segments lie between the end of a route and the true one, up to ten.

    hops(ground, ends=[4, 7], targets=[4, 9])  ->  Hops(undirected=[0, 2], directed=[0, 11])

0: the very segment; 1: the two touch (directed: the predicted one leads into the true one).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.tasks.ground import I32, I64, Ground
from pipeline.tasks.shortest import neighbours
from pipeline.trips.matching.compiled import cached_kernel

MOST_HOPS = 10


class Hops(NamedTuple):
    """Hops from segment to segment; `MOST_HOPS + 1` stands for more.

    Attributes:
        undirected: Either end of the one to either end of the other, over streets in any direction.
        directed: From the end of the predicted to the start of the true one, as one may drive.
    """

    undirected: I64
    directed: I64


def hops(ground: Ground, ends: npt.ArrayLike, targets: npt.ArrayLike) -> Hops:
    """Count hops from predicted last segments to true last segments.

    Args:
        ground: The road graph.
        ends: Numbers of segments; reversed one-ways among them.
        targets: Numbers of segments, as many.
    """
    last, true = np.asarray(ends, np.int64), np.asarray(targets, np.int64)
    u, v = ground.u[: ground.segments], ground.v[: ground.segments]
    distinct, number = np.unique(true, return_inverse=True)
    order = np.argsort(number, kind="stable")

    def counted(begin: I32, end: I32, sources: I32, asked: I32) -> I64:
        out, edge = neighbours(begin, ground.nodes)
        found = np.empty(len(last), np.int64)
        found[order] = _node_hops(out, end[edge], sources, number[order], asked[order], MOST_HOPS)
        found[last == true] = 0
        return found

    both = np.concatenate((u, v)), np.concatenate((v, u))
    of_true = np.column_stack((ground.u[distinct], ground.v[distinct]))
    asked = np.column_stack((ground.u[last], ground.v[last]))
    return Hops(
        undirected=counted(*both, of_true, asked),
        directed=counted(v, u, of_true[:, :1], asked[:, 1:]),  # backwards, from the true one
    )


@cached_kernel
def _node_hops(out: I64, neighbour: I32, sources: I32, number: I64, asked: I32, most: int) -> I64:
    """Return 1 + the least node hops from any source of a search to any node asked for.

    Args:
        out: Neighbours of node n are `neighbour[out[n] : out[n + 1]]`.
        neighbour: See `out`.
        sources: (searches, k) nodes each search begins at.
        number: Search that each question is about, rising.
        asked: (questions, k) nodes.
        most: Greatest count; `most + 1` stands for more.
    """
    nodes = len(out) - 1
    depth, stamp = np.empty(nodes, np.int64), np.full(nodes, -1, np.int64)
    queue = np.empty(nodes, np.int32)
    found = np.full(len(number), most + 1, np.int64)
    current = -1
    for k in range(len(number)):
        if number[k] != current:
            current = number[k]
            size = 0
            for source in sources[current]:
                if stamp[source] != current:
                    stamp[source], depth[source], queue[size] = current, 1, source
                    size += 1
            done = 0
            while done < size and depth[queue[done]] < most:
                node = queue[done]
                done += 1
                for there in neighbour[out[node] : out[node + 1]]:
                    if stamp[there] != current:
                        stamp[there], depth[there] = current, depth[node] + 1
                        queue[size] = there
                        size += 1
        for node in asked[k]:
            if stamp[node] == current:
                found[k] = min(found[k], depth[node])
    return found
