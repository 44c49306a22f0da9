"""Drive simulated trips over a network and record them badly, keeping the truth.

Trip 12 enters edge 408 at 0 s, edge 77 at 9.3 s, ...; the fixes at 0, 15, 30 s lie 10 m off the
road on average, the third one 240 m off, and the eighth to the eleventh are lost.
Written for the benchmark alone; the matcher and the pipeline's simulator share no code with it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
import shapely
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from bench.network import metric_projection
from pipeline.seeds import rng_for

START_S = 1_400_000_000.0
MAX_ATTEMPTS = 500


class Plan(NamedTuple):
    """How a set is recorded: seconds between fixes, noise of each trip in turn, share of dirt."""

    interval_s: float
    sigma_m: tuple[float, ...]
    outlier_share: float
    gap_share: float


PLANS = {
    "sim15": Plan(15.0, (5.0, 10.0, 20.0), 0.25, 0.25),
    "sim60": Plan(60.0, (10.0,), 0.0, 0.0),
    "sim5": Plan(5.0, (10.0,), 0.0, 0.0),
}


class Drive(NamedTuple):
    """One trip driven: row of each edge, entry times and driving time of each, ends in mid-edge."""

    edge: np.ndarray
    enter_s: np.ndarray
    moving_s: np.ndarray
    off_from_m: np.ndarray
    off_to_m: np.ndarray
    end_s: float


class Simulation(NamedTuple):
    """Frames of a set: `points` for the matcher; `path`, `fixes` and `trips` are the truth."""

    points: pl.DataFrame
    path: pl.DataFrame
    fixes: pl.DataFrame
    trips: pl.DataFrame


class Ground:
    """A network prepared for driving: metric geometry, node positions, one weight per node pair."""

    def __init__(self, network: pl.DataFrame) -> None:
        self.edge_id = network["edge_id"].to_numpy()
        self.length_m = network["length_m"].to_numpy()
        self.speed_mps = network["speed_kph"].to_numpy() / 3.6
        nodes, ends = np.unique(
            np.concatenate([network["u"].to_numpy(), network["v"].to_numpy()]), return_inverse=True
        )
        self.u, self.v = np.split(ends, 2)
        lines = shapely.from_wkb(network["geometry"].to_numpy())
        lonlat = shapely.get_coordinates(lines)
        self.projection = metric_projection(*lonlat.T)
        self.lines = shapely.transform(lines, self.projection.transform, interleaved=False)
        start = shapely.get_coordinates(shapely.line_interpolate_point(self.lines, 0.0))
        self.node_xy = np.zeros((len(nodes), 2))
        self.node_xy[self.u] = start
        self.centre_xy = (self.node_xy.min(axis=0) + self.node_xy.max(axis=0)) / 2
        self.degree = np.bincount(ends, minlength=len(nodes))
        self.tree = cKDTree(self.node_xy)
        self._by_pair = np.lexsort((self.v, self.u))
        pair = np.stack([self.u, self.v])[:, self._by_pair]
        self._first = np.flatnonzero(np.any(np.diff(pair, prepend=-1), axis=0))
        self._pair = pair[:, self._first]
        self._pair_key = self._pair[0] * len(nodes) + self._pair[1]

    def route(self, stops: list[int], cost: np.ndarray) -> np.ndarray | None:
        """Return the rows of the edges of the cheapest route through the nodes, None if cut off."""
        ordered = cost[self._by_pair]
        cheapest = np.minimum.reduceat(ordered, self._first)
        count = len(self.node_xy)
        graph = csr_array((cheapest, tuple(self._pair)), shape=(count, count))
        _, before = dijkstra(graph, indices=stops[:-1], return_predecessors=True)
        legs = [
            self._leg(before[leg], start, end, cost)
            for leg, (start, end) in enumerate(pairwise(stops))
        ]
        if any(leg is None for leg in legs):
            return None
        return np.concatenate([np.array(leg, dtype=np.int64) for leg in legs])

    def _leg(self, before: np.ndarray, start: int, end: int, cost: np.ndarray) -> list[int] | None:
        rows: list[int] = []
        node = end
        while node != start:
            previous = before[node]
            if previous < 0:
                return None
            rows.append(self._edge_between(previous, node, cost))
            node = previous
        return rows[::-1]

    def _edge_between(self, u: int, v: int, cost: np.ndarray) -> int:
        at = np.searchsorted(self._pair_key, u * len(self.node_xy) + v)
        end = self._first[at + 1] if at + 1 < len(self._first) else len(self._by_pair)
        parallel = self._by_pair[self._first[at] : end]
        return int(parallel[np.argmin(cost[parallel])])


def simulate(network: pl.DataFrame, plan: Plan, *, trips: int, seed: int) -> Simulation:
    """Return `trips` simulated trips, the same ones for the same network, plan and seed.

    Args:
        network: Frame of `bench.network.read_osm_network`, strongly connected.
        plan: Sampling and dirt.
        trips: Number of trips; trip k does not depend on it.
        seed: Seed of all draws.
    """
    ground = Ground(network)
    recorded = []
    for k in range(trips):
        drive = drive_one(ground, rng_for(seed, "bench-drive", str(k)))
        sigma_m = plan.sigma_m[k % len(plan.sigma_m)]
        recorded.append(
            _record(ground, drive, plan, sigma_m, rng_for(seed, "bench-record", str(k)), k)
        )
    return Simulation(*(pl.concat(frames) for frames in zip(*recorded, strict=True)))


def drive_one(ground: Ground, rng: np.random.Generator) -> Drive:
    """Draw ends, way points, perceived costs, speeds and stops until a trip lasts 225-1,650 s."""
    for _ in range(MAX_ATTEMPTS):
        ends = _draw_ends(ground, rng)
        cost = ground.length_m / ground.speed_mps * rng.lognormal(0.0, 0.25, len(ground.u))
        if ends is None:
            continue
        rows = ground.route(ends, cost)
        if rows is None:
            continue
        drive = _drive_along(ground, rows, rng)
        if 225 <= drive.end_s <= 1650:
            return drive
    raise ValueError(f"no trip of 225-1650 s found in {MAX_ATTEMPTS} attempts: network too small?")


def _draw_ends(ground: Ground, rng: np.random.Generator) -> list[int] | None:
    """Draw the nodes to pass: origin, 0, 1 or 2 way points off the straight line, destination."""
    xy = ground.node_xy
    near = np.linalg.norm(xy - ground.centre_xy, axis=1) <= 6000
    origin = int(rng.choice(np.flatnonzero(near)))
    distance_m = np.linalg.norm(xy - xy[origin], axis=1)
    reachable = np.flatnonzero((distance_m >= 1500) & (distance_m <= 7000))
    if len(reachable) == 0:
        return None
    destination = int(rng.choice(reachable))
    along = xy[destination] - xy[origin]
    across = np.array([-along[1], along[0]])
    share = np.sort(rng.uniform(0.25, 0.75, rng.choice(3, p=(0.6, 0.3, 0.1))))
    aside = rng.choice((-1.0, 1.0), len(share)) * rng.uniform(0.2, 0.5, len(share))
    via = xy[origin] + share[:, None] * along + aside[:, None] * across
    return [origin, *(int(ground.tree.query(point)[1]) for point in via), destination]


def _drive_along(ground: Ground, rows: np.ndarray, rng: np.random.Generator) -> Drive:
    # Ends lie within the first and the last edge: nobody parks exactly on a junction.
    length_m = ground.length_m[rows]
    off_from_m, off_to_m = np.zeros(len(rows)), length_m.copy()
    off_from_m[0] = rng.uniform(0, length_m[0])
    off_to_m[-1] = rng.uniform(0, length_m[-1])
    speed_mps = ground.speed_mps[rows] * rng.uniform(0.6, 1.0) * rng.uniform(0.7, 1.1, len(rows))
    moving_s = (off_to_m - off_from_m) / speed_mps
    stops = (ground.degree[ground.v[rows]] >= 5) & (rng.random(len(rows)) < 0.15)
    stops[-1] = False
    standing_s = np.where(stops, rng.exponential(15.0, len(rows)), 0.0)
    enter_s = np.concatenate([[0.0], np.cumsum(moving_s + standing_s)])
    return Drive(rows, enter_s[:-1], moving_s, off_from_m, off_to_m, float(enter_s[-1]))


def _record(
    ground: Ground, drive: Drive, plan: Plan, sigma_m: float, rng: np.random.Generator, k: int
) -> Simulation:
    """Sample a drive, add noise and dirt; the truth ends where the last fix was taken."""
    t = np.arange(0.0, drive.end_s, plan.interval_s)
    at = np.searchsorted(drive.enter_s, t, side="right") - 1
    share = np.minimum((t - drive.enter_s[at]) / np.maximum(drive.moving_s[at], 1e-9), 1.0)
    offset_m = drive.off_from_m[at] + share * (drive.off_to_m[at] - drive.off_from_m[at])
    fraction = offset_m / ground.length_m[drive.edge[at]]
    on_road = shapely.line_interpolate_point(
        ground.lines[drive.edge[at]], fraction, normalized=True
    )
    xy = shapely.get_coordinates(on_road) + rng.normal(0.0, sigma_m, (len(t), 2))
    gap = _gap(len(t), rng) if rng.random() < plan.gap_share else np.zeros(0, dtype=np.int64)
    kept = np.setdiff1d(np.arange(len(t)), gap)
    thrown = _outliers(kept, rng) if rng.random() < plan.outlier_share else kept[:0]
    angle, reach_m = rng.uniform(0, 2 * np.pi, len(thrown)), rng.uniform(100, 500, len(thrown))
    xy[thrown] += reach_m[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lon, lat = ground.projection.transform(*xy[kept].T, direction="INVERSE")
    last = at[-1] + 1
    t0 = START_S + 3600.0 * k
    exit_s = np.append(drive.enter_s[1:last], t[-1])
    off_to_m = np.append(drive.off_to_m[: last - 1], offset_m[-1])
    trace = pl.lit(k, dtype=pl.Int64).alias("trace_id")
    return Simulation(
        pl.DataFrame({"t": t0 + t[kept], "lon": lon, "lat": lat}).select(trace, pl.all()),
        pl.DataFrame({
            "seq": np.arange(last),
            "edge_id": ground.edge_id[drive.edge[:last]],
            "t_enter_s": t0 + drive.enter_s[:last],
            "t_exit_s": t0 + exit_s,
            "off_from_m": drive.off_from_m[:last],
            "off_to_m": off_to_m,
        }).select(trace, pl.all()),
        pl.DataFrame({
            "i": np.arange(len(kept)),
            "edge_id": ground.edge_id[drive.edge[at[kept]]],
            "offset_m": offset_m[kept],
            "outlier": np.isin(kept, thrown),
        }).select(trace, pl.all()),
        pl.DataFrame({
            "sigma_m": [sigma_m], "outliers": [len(thrown)], "lost": [len(gap)]
        }).select(trace, pl.all()),
    )  # fmt: skip


def _gap(count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw 4-12 neighbouring inner points to lose; a trip too short to lose them keeps all."""
    length = int(rng.integers(4, 13))
    if count < length + 4:
        return np.zeros(0, dtype=np.int64)
    return np.arange(length) + rng.integers(1, count - length)


def _outliers(kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw each inner point with p = 0.03, and one in any case."""
    inner = kept[1:-1]
    drawn = inner[rng.random(len(inner)) < 0.03]
    return drawn if len(drawn) else rng.choice(inner, 1)
