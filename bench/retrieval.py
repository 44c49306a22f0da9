"""How long retrieval takes to score, by the number of queries and candidates.

    python bench/retrieval.py --candidates 1000 20000
    ->  20,000 candidates, 60,000 queries of 50 ranked: 9.4 s, 12.1 CPU-s, 1,300 MB at most ...

Trips are generated: walks over a grid of cells towards ends of different popularity, so that most
share cells with thousands of others and some drive the very same. Each trip has three queries; a
ranking holds the trip itself in half of them, and scores of which every fifth is tied. Each size
runs in a process of its own; its time is from the prediction file to the measures, without start
and compilation, floors apart.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.seeds import rng_for
from pipeline.tasks.retrieval import listed, measured, refuse_repeated, searches_of
from pipeline.tasks.retrieval_floors import chance, other_text, truth_first

SIDE = 70
ENDS = 400
RANKED = 50


def main() -> None:
    """Run each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--candidates", type=int, nargs="+", default=[2_000, 20_000])
    asked = parser.parse_args()
    if len(asked.candidates) == 1:
        measure(asked.candidates[0])
        return
    for candidates in asked.candidates:
        command = [sys.executable, __file__, "--candidates", str(candidates)]
        subprocess.run(command, check=True)


def measure(candidates: int) -> None:
    """Print what one size takes."""
    with tempfile.TemporaryDirectory() as folder:
        run(60, Path(folder))  # compiles
        before_mb = peak_mb()
        taken = run(candidates, Path(folder))
    print(
        f"{candidates:,} candidates, {3 * candidates:,} queries of {RANKED} ranked:"
        f" {taken['scored'][0]:.1f} s, {taken['scored'][1]:.1f} CPU-s;"
        f" chance {taken['chance'][1]:.1f}, truth first {taken['truth_first'][1]:.1f},"
        f" other text {taken['other_text'][1]:.1f} CPU-s; {peak_mb():,.0f} MB at most"
        f" ({before_mb:,.0f} before)",
        flush=True,
    )


def run(candidates: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Return seconds and CPU seconds of scoring and of each floor."""
    pool = trips(candidates)
    instances, predictions = queries(pool)
    predictions.write_parquet(folder / "predictions.parquet")
    del predictions
    begin = time.perf_counter(), time.process_time()
    read = pl.read_parquet(folder / "predictions.parquet")
    refuse_repeated(read, shown="predictions")
    searches = searches_of(instances, pool)
    answers = instances.select("instance_id").join(
        read, on="instance_id", how="left", maintain_order="left"
    )
    lists, _ = listed(searches, answers)
    measured(searches, lists)
    taken = {"scored": (time.perf_counter() - begin[0], time.process_time() - begin[1])}
    for name, floor in {
        "chance": lambda: chance(searches),
        "truth_first": lambda: truth_first(searches),
        "other_text": lambda: other_text(searches, lists, instances, seed=7),
    }.items():
        begin = time.perf_counter(), time.process_time()
        floor()
        taken[name] = (time.perf_counter() - begin[0], time.process_time() - begin[1])
    return taken


def trips(count: int) -> pl.DataFrame:
    """Return a pool: trip_id, edge_ids, cells, same_route."""
    rng = rng_for(7, "bench", "retrieval trips")
    ends = rng.integers(0, SIDE, (ENDS, 2))
    weights = 1 / np.arange(1, ENDS + 1)
    picks = rng.choice(ENDS, (count, 2), p=weights / weights.sum())
    cells = []
    for begin, end, detour in zip(
        ends[picks[:, 0]].tolist(), ends[picks[:, 1]].tolist(), rng.random(count), strict=True
    ):
        (x, y), (to_x, to_y) = begin, end
        route = [x * SIDE + y]
        while (x, y) != (to_x, to_y):
            along = x != to_x and (y == to_y or rng.random() < detour)
            x, y = (x + np.sign(to_x - x), y) if along else (x, y + np.sign(to_y - y))
            route.append(int(x * SIDE + y))
        cells.append([f"8a{one:013x}" for one in route])
    pool = pl.DataFrame({"trip_id": [f"{one:012d}" for one in range(count)], "cells": cells})
    twins = pool.group_by("cells").agg(same="trip_id")
    return pool.join(twins, on="cells", maintain_order="left").select(
        "trip_id",
        "cells",
        same_route=pl.col("same").list.set_difference(pl.concat_list("trip_id")).list.sort(),
    )


def queries(pool: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return instances and predictions, three of each trip."""
    rng, count = rng_for(7, "bench", "retrieval queries"), pool.height
    numbers = pl.DataFrame({"number": ["1", "2", "3"]})
    instances = pool.join(numbers, how="cross").select(
        pl.format("town/{}/retrieval/{}", "trip_id", "number").alias("instance_id"),
        "trip_id",
        "number",
        target=pl.struct("trip_id", "same_route"),
    )
    # Steps through the pool from a place: no trip comes twice.
    ranked = min(RANKED, count)
    rows = (rng.integers(0, count, (3 * count, 1)) + np.arange(ranked)) % count
    own = np.repeat(np.arange(count), 3)
    hit = (rng.random(3 * count) < 0.5) & ~(rows == own[:, None]).any(axis=1)
    rows[hit, rng.integers(0, ranked, hit.sum())] = own[hit]
    scores = np.floor(-np.arange(ranked) * 0.8) + np.zeros((3 * count, 1))
    ids = pool["trip_id"].gather(rows.ravel()).to_numpy().reshape(-1, ranked)
    predictions = instances.select(
        "instance_id",
        trip_ids=pl.Series(ids, dtype=pl.Array(pl.String, ranked)).cast(pl.List(pl.String)),
        scores=pl.Series(scores, dtype=pl.Array(pl.Float64, ranked)).cast(pl.List(pl.Float64)),
    )
    return instances, predictions.sample(fraction=1, shuffle=True, seed=7)


def peak_mb() -> float:
    """Return the most memory the process held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
