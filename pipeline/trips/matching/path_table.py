"""A bounded table of fastest paths between nodes, so that most steps need no search.

    PathTable.build(network, bound_m=3000.0, max_mb=600.0)  ->  18 M rows, 230 MiB, 3 s (Porto)

Row (source, target) keeps the length of the path, the slot of its first edge among the edges that
leave the source, and its last edge, from which the whole path can be walked back. Rows of one
source are sorted by target. The size is predicted before anything is built.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.errors import ParameterError
from pipeline.trips.matching.search import F32, I32, Graph, SearchSpace, search, search_space

if TYPE_CHECKING:
    from pipeline.trips.matching.network import Network

ROW_BYTES = 17
_SAMPLE_NODES = 256
_CHUNK_NODES = 512
_NO_SLOT = 255


class Table(NamedTuple):
    """The table as the compiled code sees it."""

    row_start: npt.NDArray[np.int64]
    target: I32
    length: F32
    weight: F32
    first: npt.NDArray[np.uint8]
    last: I32
    bound: float


@njit(inline="always")
def look_up(table: Table, source: int, target: int) -> int:
    """Return the row of the path from source to target, -1 when the table has none."""
    low = table.row_start[source]
    count = table.row_start[source + 1] - low
    if count == 0:
        return -1
    while count > 1:
        half = count >> 1
        if table.target[low + half] <= target:
            low += half
        count -= half
    return low if table.target[low] == target else -1


@njit(inline="always")
def first_edge(graph: Graph, table: Table, source: int, row: int) -> int:
    """Return the first edge of a row's path, -1 when the path is empty or its slot unknown."""
    slot = table.first[row]
    if slot == 255:
        return -1
    return graph.out_edge[graph.out_start[source] + slot]


@njit(cache=True, nogil=True)
def _count_rows(graph: Graph, sources: I32, bound: float) -> int:
    space = search_space(graph)
    total = 0
    for source in sources:
        total += search(graph, space, source, bound, sources, 0)
    return total


@njit(inline="always")
def _slot(graph: Graph, source: int, edge: int) -> int:
    for k in range(graph.out_start[source], graph.out_start[source + 1]):
        if graph.out_edge[k] == edge:
            return min(k - graph.out_start[source], _NO_SLOT)
    return _NO_SLOT


@njit(cache=True, nogil=True)
def _rows_of(
    graph: Graph, begin: int, end: int, bound: float
) -> tuple[npt.NDArray[np.int64], I32, F32, F32, npt.NDArray[np.uint8], I32]:
    """Return counts, targets, lengths, first slots and last edges of the sources begin..end-1."""
    space: SearchSpace = search_space(graph)
    counts = np.empty(end - begin, np.int64)
    capacity = 1 << 16
    target = np.empty(capacity, np.int32)
    length = np.empty(capacity, np.float32)
    weight = np.empty(capacity, np.float32)
    first = np.empty(capacity, np.uint8)
    last = np.empty(capacity, np.int32)
    used = 0
    for source in range(begin, end):
        settled = search(graph, space, source, bound, space.settled, 0)
        if used + settled > capacity:
            grown = max(2 * capacity, used + settled)
            target = np.concatenate((target[:used], np.empty(grown - used, np.int32)))
            length = np.concatenate((length[:used], np.empty(grown - used, np.float32)))
            weight = np.concatenate((weight[:used], np.empty(grown - used, np.float32)))
            first = np.concatenate((first[:used], np.empty(grown - used, np.uint8)))
            last = np.concatenate((last[:used], np.empty(grown - used, np.int32)))
            capacity = grown
        for node in np.sort(space.settled[:settled]):
            target[used] = node
            length[used] = space.length[node]
            weight[used] = space.weight[node]
            first[used] = _slot(graph, source, space.first[node])
            last[used] = space.last[node]
            used += 1
        counts[source - begin] = settled
    return counts, target[:used], length[:used], weight[:used], first[:used], last[:used]


class PathTable:
    """Fastest paths between all node pairs within a bound; read-only, shared by all threads."""

    def __init__(self, table: Table, network_hash: str) -> None:
        """Wrap built arrays; use `build`, `open` or `empty`."""
        self.table = table
        self.network_hash = network_hash

    @property
    def rows(self) -> int:
        """Number of node pairs in the table."""
        return len(self.table.target)

    @property
    def bound_m(self) -> float:
        """Reach of the table (metres at mean speed), 0 for an empty one."""
        return self.table.bound

    @property
    def size_mb(self) -> float:
        """Memory of the arrays in MiB."""
        return (self.rows * ROW_BYTES + self.table.row_start.nbytes) / 2**20

    @classmethod
    def empty(cls, network: Network) -> PathTable:
        """Return a table without rows: the matcher then searches for every step."""
        none = np.empty(0, np.int32)
        nothing = np.empty(0, np.float32)
        starts = np.zeros(network.nodes + 1, np.int64)
        return cls(
            Table(starts, none, nothing, nothing, np.empty(0, np.uint8), none, 0.0),
            network.content_hash,
        )

    @classmethod
    def build(
        cls, network: Network, *, bound_m: float, max_mb: float, workers: int = 0
    ) -> PathTable:
        """Build the table with the greatest bound up to `bound_m` that stays within `max_mb`.

        Args:
            network: The road network.
            bound_m: Wanted reach of the paths (metres at mean speed); 0 gives an empty table.
            max_mb: Memory limit in MiB, never exceeded: the bound is made smaller until the
                predicted size fits, and the arrays are allocated once at that size.
            workers: Threads; 0 = one for each CPU.

        Raises:
            ParameterError: The bound is negative or not a number.
        """
        if not bound_m >= 0:
            raise ParameterError(f"match.table_bound_m is {bound_m}, expected metres >= 0")
        capacity = int(max_mb * 2**20 / ROW_BYTES)
        bound, predicted = fitting_bound(network, bound_m, capacity)
        if bound <= 0:
            return cls.empty(network)
        arrays = _fill(network, bound, min(capacity, int(predicted * 1.2) + 4096), workers)
        return cls(Table(*arrays, float(bound)), network.content_hash)

    def save(self, folder: Path) -> None:
        """Write the arrays to `folder`, so that `open` can map them into memory."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("row_start", "target", "length", "weight", "first", "last"):
            np.save(folder / f"{name}.npy", getattr(self.table, name))
        (folder / "key.txt").write_text(f"{self.network_hash} {self.bound_m!r}\n")

    @classmethod
    def open(cls, folder: Path, network: Network) -> PathTable:
        """Map a saved table into memory, shared by all processes that open it.

        Raises:
            ParameterError: There is no table in the folder, or it belongs to another network.
        """
        key = folder / "key.txt"
        if not key.exists():
            raise ParameterError(f"{folder}: no path table here, expected key.txt; save one first")
        found, bound = key.read_text().split()
        if found != network.content_hash:
            raise ParameterError(
                f"{folder}: path table of network {found[:12]}, expected "
                f"{network.content_hash[:12]}; remove the folder and build it again"
            )
        arrays = [
            np.load(folder / f"{name}.npy", mmap_mode="r")
            for name in ("row_start", "target", "length", "weight", "first", "last")
        ]
        return cls(Table(*(np.asarray(a) for a in arrays), float(bound)), found)


def predicted_rows(network: Network, bound_m: float) -> int:
    """Return the expected number of rows at this bound, from evenly spread sample nodes."""
    sample = np.unique(np.linspace(0, network.nodes - 1, _SAMPLE_NODES).astype(np.int32))
    return int(_count_rows(network.graph, sample, float(bound_m)) / len(sample) * network.nodes)


def fitting_bound(network: Network, bound_m: float, capacity: int) -> tuple[float, int]:
    """Return the greatest bound whose predicted rows, plus a tenth, fit, and that prediction.

    The area within a bound grows with its square, so each try shrinks it by the root of the excess.
    """
    bound = bound_m
    while bound > 0:
        # A doubling start keeps a mistaken bound of 1e6 m from settling a whole country 256 times.
        probe = min(bound, 500.0)
        rows = predicted_rows(network, probe)
        while probe < bound and rows * 1.1 <= capacity:
            probe = min(bound, probe * 1.5)
            rows = predicted_rows(network, probe)
        if rows * 1.1 <= capacity:
            return probe, rows
        bound = math.floor(probe * math.sqrt(capacity / (rows * 1.1)) * 0.98)
        if bound < 50:
            return 0.0, 0
    return 0.0, 0


def _fill(
    network: Network, bound: float, capacity: int, workers: int
) -> tuple[npt.NDArray[np.int64], I32, F32, F32, npt.NDArray[np.uint8], I32]:
    """Build all rows in chunks of sources; sources that no longer fit keep no rows."""
    starts = np.zeros(network.nodes + 1, np.int64)
    target = np.empty(capacity, np.int32)
    length = np.empty(capacity, np.float32)
    weight = np.empty(capacity, np.float32)
    first = np.empty(capacity, np.uint8)
    last = np.empty(capacity, np.int32)
    begins = range(0, network.nodes, _CHUNK_NODES)
    used = 0
    threads = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        for wave in range(0, len(begins), 4 * threads):
            tasks = [
                pool.submit(_rows_of, network.graph, b, min(b + _CHUNK_NODES, network.nodes), bound)
                for b in begins[wave : wave + 4 * threads]
            ]
            for begin, task in zip(begins[wave : wave + 4 * threads], tasks, strict=True):
                counts, *rows = task.result()
                fits = int(np.searchsorted(used + np.cumsum(counts), capacity, side="right"))
                counts[fits:] = 0
                kept = int(counts.sum())
                for whole, part in zip((target, length, weight, first, last), rows, strict=True):
                    whole[used : used + kept] = part[:kept]
                starts[begin + 1 : begin + 1 + len(counts)] = used + np.cumsum(counts)
                used += kept
    return starts, target[:used], length[:used], weight[:used], first[:used], last[:used]
