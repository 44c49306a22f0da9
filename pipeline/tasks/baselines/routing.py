"""Routes that pass what an instruction asks for: stages in order, the rest by soft weights.

    routing = Routing(grounding)
    routing.add(start, Way(stages=[sets of segments], anywhere=[...], soft=[(segments, 0.5)]))
    routing.routes()                      ->  a list of segment ids for each way added

A stage is a set of segments, any of which will do: the chain of one of each that is shortest as the
crow flies is found by dynamic programming, and the legs by search (`shortest.chained_paths`). What
may be passed anywhere is put where it makes the chain longest by least. Paper: 4.1, step 3.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pipeline.tasks.baselines.grounding import Grounding
from pipeline.tasks.ground import F64, I32, Ragged
from pipeline.tasks.routes import ids_of
from pipeline.tasks.shortest import Soft, chained_paths

# Of a large set, such as a zone, so many segments are tried as a stage: those least off the way.
MOST_TRIED = 200


class Way(NamedTuple):
    """What a route from a start is to pass.

    Attributes:
        stages: Sets of segments, one of each to be driven over in this order; none is empty. The
            last is the destination.
        anywhere: Sets to be passed before the last stage, in any order.
        soft: Segments and the factor on their length.
    """

    stages: Sequence[I32]
    anywhere: Sequence[I32] = ()
    soft: Sequence[tuple[I32, float]] = ()


class Routing:
    """Collects ways, and routes them all at once."""

    def __init__(self, grounding: Grounding) -> None:
        """Begin with none."""
        self._ground, self._plane = grounding.ground, grounding.plane
        self._chains: list[list[int]] = []
        self._lists: list[I32] = []
        self._factors: list[float] = []
        self._number: dict[tuple[int, float], int] = {}
        self._of_chain: list[list[int]] = []

    def add(self, start: int, way: Way) -> None:
        """Add a way from a segment."""
        first = np.array([start], np.int32)
        stages = [first, *(self._thinned(one, start, way.stages[-1]) for one in way.stages)]
        chain = self._shortest(stages)[0]
        for every in way.anywhere:
            some = self._thinned(every, start, way.stages[-1])
            longer = []
            for at in range(1, len(stages)):
                tried = [*stages[:at], some, *stages[at:]]
                longer.append((*self._shortest(tried)[::-1], at))
            _, chain, at = min(longer, key=lambda one: one[0])
            stages.insert(at, some)
        self._chains.append(chain)
        self._of_chain.append(list(dict.fromkeys(self._listed(*one) for one in way.soft)))

    def _thinned(self, segments: I32, start: int, last: I32) -> I32:
        """Return the segments of a set that are least off the way, if it is a large one."""
        if len(segments) <= MOST_TRIED:
            return segments
        u, v = self._ground.u, self._ground.v
        ends = self._plane[v[[start]]], self._plane[u[last]].mean(axis=0)
        off = sum(np.hypot(*(self._plane[u[segments]] - end).T) for end in ends)
        return segments[np.sort(np.argsort(off, kind="stable")[:MOST_TRIED])]

    def _listed(self, segments: I32, factor: float) -> int:
        """Return the number of a list; one array is kept once however often it is used."""
        key = (id(segments), factor)
        if key not in self._number:
            self._number[key] = len(self._lists)
            self._lists.append(segments)
            self._factors.append(factor)
        return self._number[key]

    def _shortest(self, stages: Sequence[I32]) -> tuple[list[int], float]:
        """Return one segment of each stage, and how long their chain is as the crow flies."""
        u, v, length = self._ground.u, self._ground.v, self._ground.length_m
        sums: list[F64] = [length[stages[0]]]
        before = []
        for one, following in pairwise(stages):
            there, here = self._plane[u[following]], self._plane[v[one]]
            apart = np.hypot(*(there[None] - here[:, None]).transpose(2, 0, 1))
            apart[one[:, None] == following[None]] = -np.inf  # it is there already
            sums_there = sums[-1][:, None] + np.where(np.isinf(apart), 0, apart + length[following])
            before.append(sums_there.argmin(axis=0))
            sums.append(sums_there.min(axis=0))
        at = int(sums[-1].argmin())
        shortest, chain = float(sums[-1][at]), [int(stages[-1][at])]
        for one, back in zip(reversed(stages[:-1]), reversed(before), strict=True):
            at = int(back[at])
            chain.append(int(one[at]))
        return chain[::-1], shortest

    def routes(self) -> list[list[str]]:
        """Return the ids of the segments of each route, in the order added.

        Where no drive leads to the end, the route ends at the last stage that was reached.
        """
        soft = Soft(_ragged(self._lists), np.array(self._factors), _ragged(self._of_chain))
        found = chained_paths(self._ground, _ragged(self._chains), soft)
        return ids_of(found.edges, self._ground).to_list()


def _ragged(lists: Sequence[Sequence[int] | I32]) -> Ragged:
    sizes = [len(one) for one in lists]
    flat = np.concatenate([np.asarray(one, np.int32) for one in lists]) if lists else np.empty(0)
    return Ragged(flat.astype(np.int32), np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))
