"""How long a release takes to count the routes that splits share, by the number of its trips.

    python bench/routes.py --trips 17000 170000 1700000
    ->  170,000 trips,   138,515 routes of 81 segments      2.1 CPU-s     700 MB at most ...

Routes lie on the drivable network of Porto (`--pbf`; without that file on a grid of streets): each
driver sees streets a little differently, ends are popular to different degrees, so that popular
routes come as many near-duplicates and most others once. A route has 30-120 segments. The trips are
dealt to train, val and test 70/10/20, and each of val and test is compared with train and with the
other, as the stage `release` does. Each size runs in a process of its own on one core.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numba
import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.datasets import SHARED
from bench.network import read_osm_network
from pipeline.release.figures import scored_sharing_figures, sharing_figures
from pipeline.release.routes import routes_of
from pipeline.seeds import rng_for

SEGMENTS = (30, 120)
TRIPS_A_DRIVER, DRIVERS_AT_ONCE = 100, 100
NEAR = 0.8
GRID_SIDE = 120


def main() -> None:
    """Run each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trips", type=int, nargs="+", default=[17_000, 170_000, 1_700_000])
    parser.add_argument("--pbf", type=Path, default=SHARED / "porto" / "porto_city_2022.osm.pbf")
    asked = parser.parse_args()
    if len(asked.trips) == 1:
        measure(asked.trips[0], asked.pbf)
        return
    for trips in asked.trips:
        command = [sys.executable, __file__, "--trips", str(trips), "--pbf", str(asked.pbf)]
        subprocess.run(command, check=True)


def measure(trips: int, pbf: Path) -> None:
    """Print what one size takes."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    sharing(pl.concat(batches(100, *grid(40))))  # compiles
    if pbf.exists():
        network = streets(pbf)
    else:
        print(f"{pbf}: not there; the streets are a grid of {GRID_SIDE} x {GRID_SIDE} junctions")
        network = grid(GRID_SIDE)
    traits = pl.concat(batches(trips, *network))
    segments = traits["edges"].list.len().mean()
    before_mb, begin = peak_mb(), time.process_time()
    figures = sharing(traits)
    cpu_s, known = time.process_time() - begin, figures["test"]
    print(
        f"{trips:>9,} trips, {traits['same_segments'].n_unique():>9,} routes of {segments:.0f}"
        f" segments {cpu_s:>8.1f} CPU-s {peak_mb():>7,.0f} MB at most ({before_mb:,.0f} before);"
        f" of {known['trips']:,} test trips {known['same_segments']:,} are driven in train and"
        f" {known['near']:,} near",
        flush=True,
    )


def sharing(traits: pl.DataFrame) -> dict:
    """Count what the splits share, as the stage does."""
    known = sharing_figures(traits, near=NEAR)
    return known | {"scored": scored_sharing_figures(traits, near=NEAR)}


def peak_mb() -> float:
    """Return the most memory this process has held, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


Ints = np.ndarray
Network = tuple[Ints, Ints, Ints]


def streets(pbf: Path) -> Network:
    """Return the two junctions of each directed segment of an OSM file, and its metres."""
    network = read_osm_network(pbf).sort("length_m")
    network = network.unique(["u", "v"], keep="first", maintain_order=True)
    _, ends = np.unique(np.concatenate([network["u"], network["v"]]), return_inverse=True)
    return *np.split(ends, 2), network["length_m"].to_numpy()


def grid(side: int) -> Network:
    """Return the two-way streets of a square of junctions, 80 m apart."""
    at = np.arange(side * side).reshape(side, side)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    u, v = (np.concatenate([one.ravel() for one in some]) for some in zip(*pairs, strict=True))
    return np.concatenate([u, v]), np.concatenate([v, u]), np.full(2 * u.size, 80.0)


def batches(trips: int, u: Ints, v: Ints, length_m: Ints) -> Iterator[pl.DataFrame]:
    """Yield what a release keeps of trips, some at a time; trip k is the same in every size."""
    order = np.lexsort((v, u))
    u, v, length_m = u[order], v[order], length_m[order]
    nodes = int(v.max()) + 1
    popular = rng_for(0, "bench_routes", "junctions").pareto(1.2, nodes) + 0.05
    names = pl.Series([f"w{row}_{a}_{b}" for row, (a, b) in enumerate(zip(u, v, strict=True))])
    cells = pl.Series([f"c{a // 16}" for a in u])
    drivers = range(-(-trips // TRIPS_A_DRIVER))
    for some in (drivers[at : at + DRIVERS_AT_ONCE] for at in drivers[::DRIVERS_AT_ONCE]):
        rows, ends = [], []
        for driver in some:
            rng = rng_for(0, "bench_routes", str(driver))
            seen_m = length_m * rng.lognormal(0.0, 0.35, u.size)
            graph = csr_array((seen_m, (u, v)), shape=(nodes, nodes))
            start = rng.choice(nodes, p=popular / popular.sum())
            away_m, before = dijkstra(graph, indices=start, return_predecessors=True)
            into = np.searchsorted(
                u * nodes + v, before.astype(np.int64) * nodes + np.arange(nodes)
            )
            depth = _depths(np.argsort(away_m, kind="stable"), before)
            far = popular * ((depth >= SEGMENTS[0]) & (depth <= SEGMENTS[1]))
            goals = rng.choice(nodes, TRIPS_A_DRIVER, p=far / far.sum())
            rows.append(_routes(goals, depth, before, into))
            ends.append(depth[goals])
        lengths = np.concatenate(ends)
        route = pl.Series(np.concatenate(rows))
        frame = (
            pl.DataFrame(
                {
                    "edge_ids": names.gather(route),
                    "cells": cells.gather(route),
                    "trip": np.repeat(np.arange(lengths.size), lengths),
                }
            )
            .group_by("trip", maintain_order=True)
            .all()
        )
        draws = rng_for(0, "bench_routes", f"split {some[0]}").random(lengths.size)
        split = pl.Series(np.select([draws < 0.7, draws < 0.8], ["train", "val"], "test"))
        yield (
            frame.select(split=split)
            .hstack(routes_of(frame))
            .head(trips - some[0] * TRIPS_A_DRIVER)
        )


@numba.njit
def _depths(order: Ints, before: Ints) -> Ints:
    """Return the segments to each junction; 0 where no way leads."""
    depth = np.zeros(order.size, np.int64)
    for node in order:
        if before[node] >= 0:
            depth[node] = depth[before[node]] + 1
    return depth


@numba.njit
def _routes(goals: Ints, depth: Ints, before: Ints, into: Ints) -> Ints:
    """Return the segments to each goal, one route after another."""
    rows = np.empty(depth[goals].sum(), np.int64)
    end = 0
    for goal in goals:
        end += depth[goal]
        node, at = goal, end
        while before[node] >= 0:
            at -= 1
            rows[at] = into[node]
            node = before[node]
    return rows


if __name__ == "__main__":
    main()
