"""A bounded table of fastest paths between nodes, so that most steps need no search.

    PathTable.build(network, bound_m=3000.0, max_mb=600.0)  ->  18 M rows, 230 MiB, 3 s (Porto)

Row (source, target) keeps length and weight of the path and its first and last edge; the whole path
is walked back from the last one. Rows of one source are sorted by target. The size is predicted
before anything is built.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pipeline.errors import ParameterError
from pipeline.trips.matching.compiled import cached_kernel, entry_point, kernel
from pipeline.trips.matching.search import (
    ANYWHERE,
    I32,
    I64,
    Graph,
    Rows,
    SearchSpace,
    search,
    search_space,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.trips.matching.network import Network

PATH = np.dtype(
    [("length", "f4"), ("weight", "f4"), ("turning", "f4"), ("first", "i4"), ("last", "i4")]
)
ROW_BYTES = 4 + PATH.itemsize
_SAMPLE_NODES = 256
_CHUNK_NODES = 512


class Table(NamedTuple):
    """The table as the compiled code sees it: the paths from node n are start[n]:start[n + 1]."""

    start: I64
    target: I32
    paths: Rows
    bound: float


@kernel
def look_up(table: Table, source: int, target: int) -> int:
    """Return the row of the path from source to target, -1 when the table has none."""
    low = table.start[source]
    count = table.start[source + 1] - low
    if count == 0:
        return -1
    low = _last_not_above(table.target, low, count, target)
    return low if table.target[low] == target else -1


@kernel
def _last_not_above(values: I32, low: int, count: int, value: int) -> int:
    """Return the last of `count` rising places from `low` on whose value is not above `value`."""
    while count > 1:
        half = count >> 1
        if values[low + half] <= value:
            low += half
        count -= half
    return low


@kernel
def look_near(table: Table, source: int, target: int, hint: int) -> tuple[int, bool]:
    """Find a path as `look_up` does, from a row of the source that is likely near.

    Nodes are numbered along a space-filling curve, so the targets of one step lie close together:
    a few doubling strides from the last one found replace a search of the whole row.

    Returns:
        The row where the search ended, which is the next hint, and whether it is the path.
    """
    begin = table.start[source]
    end = table.start[source + 1]
    if begin == end:
        return begin, False
    values = table.target
    low = max(begin, min(hint, end - 1))
    stride = 1
    if values[low] <= target:
        while low + stride < end and values[low + stride] <= target:
            low += stride
            stride <<= 1
        low = _last_not_above(values, low, min(stride, end - low), target)
    else:
        high = low
        while low > begin and values[low] > target:
            high = low
            low = max(begin, low - stride)
            stride <<= 1
        low = _last_not_above(values, low, high - low, target)
    return low, values[low] == target


@kernel
def _write_paths(space: SearchSpace, settled: int, target: I32, paths: Rows, used: int) -> None:
    for node in np.sort(space.settled[:settled]):
        label = space.labels[node]
        target[used] = node
        path = paths[used]
        path.length = label.length
        path.weight = label.weight
        path.turning = label.turning
        path.first = label.first
        path.last = label.last
        used += 1


@entry_point
def _compile_counting(sources: str) -> Any:
    @cached_kernel
    def count_rows(graph: Graph, nodes: I32, bound: float) -> int:
        _ = sources
        space = search_space(graph)
        total = 0
        for node in nodes:
            total += search(graph, space, node, bound, ANYWHERE, nodes, 0)
        return total

    return count_rows


@entry_point
def _compile_rows(sources: str) -> Any:
    @cached_kernel
    def rows_of(graph: Graph, begin: int, end: int, bound: float) -> tuple[I64, I32, Rows]:
        _ = sources
        space = search_space(graph)
        counts = np.empty(end - begin, np.int64)
        target = np.empty(1 << 16, np.int32)
        paths = np.empty(1 << 16, PATH)
        used = 0
        for source in range(begin, end):
            settled = search(graph, space, source, bound, ANYWHERE, space.settled, 0)
            if used + settled > len(target):
                more = np.empty(max(2 * len(target), used + settled), np.int32)
                more[:used] = target[:used]
                target = more
                wider = np.empty(len(more), PATH)
                wider[:used] = paths[:used]
                paths = wider
            _write_paths(space, settled, target, paths, used)
            used += settled
            counts[source - begin] = settled
        return counts, target[:used], paths[:used]

    return rows_of


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
        """Reach of the table (metres at 30 km/h), 0 for an empty one."""
        return self.table.bound

    @property
    def size_mb(self) -> float:
        """Memory of the arrays in MiB."""
        return (self.rows * ROW_BYTES + self.table.start.nbytes) / 2**20

    @classmethod
    def empty(cls, network: Network) -> PathTable:
        """Return a table without rows: the matcher then searches for every step."""
        starts = np.zeros(network.nodes + 1, np.int64)
        return cls(
            Table(starts, np.empty(0, np.int32), np.empty(0, PATH), 0.0), network.content_hash
        )

    @classmethod
    def build(
        cls, network: Network, *, bound_m: float, max_mb: float, workers: int = 0
    ) -> PathTable:
        """Build the table with the greatest bound up to `bound_m` that stays within `max_mb`.

        Args:
            network: The road network.
            bound_m: Wanted reach of the paths (metres at 30 km/h); 0 gives an empty table.
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
        for name in ("start", "target", "paths"):
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
        # Copy on write: read-only arrays would be another type, and compile everything anew.
        start, target, paths = (
            np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c"))
            for name in ("start", "target", "paths")
        )
        return cls(Table(start, target, paths, float(bound)), found)


def predicted_rows(network: Network, bound_m: float) -> int:
    """Return the expected number of rows at this bound, from evenly spread sample nodes."""
    sample = np.unique(np.linspace(0, network.nodes - 1, _SAMPLE_NODES).astype(np.int32))
    return int(
        _compile_counting()(network.graph, sample, float(bound_m)) / len(sample) * network.nodes
    )


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


def _fill(network: Network, bound: float, capacity: int, workers: int) -> tuple[I64, I32, Rows]:
    """Build all rows in chunks of sources; sources that no longer fit keep no rows."""
    starts = np.zeros(network.nodes + 1, np.int64)
    target = np.empty(capacity, np.int32)
    paths = np.empty(capacity, PATH)
    begins = range(0, network.nodes, _CHUNK_NODES)
    rows_of = _compile_rows()
    used = 0
    threads = workers or os.cpu_count() or 1

    def rows(begin: int) -> tuple[I64, I32, Rows]:
        end = min(begin + _CHUNK_NODES, network.nodes)
        found: tuple[I64, I32, Rows] = rows_of(network.graph, begin, end, bound)
        return found

    with ThreadPoolExecutor(threads) as pool:
        # In waves, so that few finished chunks wait in memory beside the table.
        for wave in range(0, len(begins), 2 * threads):
            now = begins[wave : wave + 2 * threads]
            for begin, (counts, new_target, new_paths) in zip(
                now, pool.map(rows, now), strict=True
            ):
                counts[used + np.cumsum(counts) > capacity] = 0
                kept = int(counts.sum())
                target[used : used + kept] = new_target[:kept]
                paths[used : used + kept] = new_paths[:kept]
                starts[begin + 1 : begin + 1 + len(counts)] = used + np.cumsum(counts)
                used += kept
    return starts, target[:used], paths[:used]
