"""What `account` and `release` take by the number of trips, without the stages before them.

    python bench/release.py --trips 20000 80000 320000
    ->  release        80,000 trips      ... CPU-s  grows with trips^1.02     ... MB at most

Each trip has the texts, scores and cells of one of Helsinki's (`dvc repro select@helsinki`) and a
route of as many segments on a grid of streets. Seven trips of ten are alone on theirs; the others'
are more or less popular, the most popular driven about as often as the square root of all trips.
All trips are released. Ids come in another order than they sort in. Of the tables that `account`
reads ids from alone, there are only the ids. Each stage runs in a process of its own; memory is the
most it held.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from math import log
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.built import built
from bench.stages import ROOT, WORK, lay_out, run
from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.release.loss import LIFE
from pipeline.schemas import arrow_schema
from pipeline.seeds import rng_for
from pipeline.stages import STAGES

CITY = "helsinki"
TRIPS_A_SHARD = 16_384
GRID_SIDE = 120
MEASURED = ("account", "release")
RECORDS = (
    "osm_manifest", "context_manifest", "annotation_metrics", "check_metrics", "selection_metrics",
    "agreement",
)  # fmt: skip


def main() -> None:
    """Lay out the sizes that are not there yet, run the two stages on each, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trips", type=int, nargs="+", default=[20_000, 80_000, 320_000])
    parser.add_argument("--work", type=Path, default=WORK.with_name("release"))
    asked = parser.parse_args()
    built([CITY], "checked", "matched", "judged", "selected", *RECORDS)
    before: dict[str, tuple[int, float]] = {}
    for trips in asked.trips:
        root = asked.work / str(trips)
        if not root.exists():
            # A process of its own: the stages' peak counts what this one held when it began them.
            laid = get_context("spawn").Process(target=lay_trips, args=(root, trips))
            laid.start()
            laid.join()
        for stage in (one for one in STAGES if one.name in MEASURED):
            cost = run(stage, CITY, root)
            fewer, then_s = before.get(stage.name, (0, 0.0))
            power = log(cost.cpu_s / then_s) / log(trips / fewer) if fewer else None
            before[stage.name] = trips, cost.cpu_s
            print(
                f"{stage.name:<9}{trips:>11,} trips {cost.cpu_s:>9,.1f} CPU-s"
                f"{f'  grows with trips^{power:.2f}' if power is not None else '':<26}"
                f"{cost.peak_mb:>7,.0f} MB at most",
                flush=True,
            )


def lay_trips(root: Path, trips: int) -> None:
    """Write what `account` and `release` read of so many trips; a half-written project is none."""
    aside = root.with_name(f"{root.name}.writing")
    shutil.rmtree(aside, ignore_errors=True)
    lay_out(aside, CITY, trips)
    for name in RECORDS:
        _place(aside, name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_place(ROOT, name), _place(aside, name))
    traces = _place(aside, "simulated_traces")
    traces.mkdir(parents=True)
    (traces / "trips.csv").write_text("", "utf-8")
    for stage in LIFE:
        _write(aside, f"{stage}_rejected", pl.DataFrame(schema=_columns("rejection")), 0)
    selected = []
    for shard, tables in enumerate(shards(trips)):
        selected.append(tables.pop("selected"))
        for name, table in tables.items():
            _write(aside, name, table, shard)
    _write(aside, "selected", pl.concat(selected), 0)
    aside.rename(root)


def shards(trips: int) -> Iterator[dict[str, pl.DataFrame]]:
    """Yield the tables of some trips at a time, by name."""
    told = {name: _read(name) for name in ("checked", "matched", "judged", "selected")}
    ids = told["selected"].select("trip_id").sort("trip_id")
    kept = {name: ids.join(told[name], on="trip_id", maintain_order="left") for name in told}
    for first in range(0, trips, TRIPS_A_SHARD):
        number = np.arange(first, min(first + TRIPS_A_SHARD, trips))
        # Odd times a number, modulo a power of two, is another order of the same numbers.
        trip_id = pl.Series("trip_id", number * 2_654_435_761 % 2**32).cast(pl.String).str.zfill(10)
        route = routes_driven(number, trips)
        frames = {
            name: table[route % ids.height].with_columns(trip_id) for name, table in kept.items()
        }
        segments = frames["matched"]["edge_ids"].list.len().to_numpy()
        frames["matched"] = frames["matched"].with_columns(
            edge_ids=paths(route, segments), cleaned_trip_id=trip_id
        )
        only = trip_id.to_frame()
        frames |= {"raw_trips": only.rename({"trip_id": "raw_trip_id"})}
        frames |= {"cleaned": only.with_columns(raw_trip_id=trip_id)}
        yield frames | dict.fromkeys(("phased", "planned", "annotated"), only)


def routes_driven(number: np.ndarray, trips: int) -> np.ndarray:
    """Return the number of each trip's route: 7 of 10 its own, else a more or less popular one."""
    rng = rng_for(0, "bench_release", f"{trips} {number[0]}")
    popular = (rng.random(number.size) ** 2 * trips / 10).astype(np.int64)
    return np.where(rng.random(number.size) < 0.3, popular, trips + number)


def paths(route: np.ndarray, segments: np.ndarray) -> pl.Series:
    """Return the path of each route, of so many segments.

    It starts at a junction and goes some blocks east or west, some north or south, and so on;
    at the rim of the grid it enters on the other side.
    """
    mixed = route.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    drawn = [(mixed >> np.uint64(shift)).astype(np.int64) for shift in (8, 18, 28, 38, 48, 52)]
    of = np.repeat(np.arange(segments.size), segments)
    step = np.arange(of.size) - np.repeat(np.cumsum(segments) - segments, segments)
    east, north = (drawn[k] % 2 * 2 - 1 for k in (0, 1))
    a, b = drawn[4][of] % 9 + 2, drawn[5][of] % 9 + 2
    rest, rounds = step % (a + b), step // (a + b)
    x = drawn[2][of] + east[of] * (rounds * a + np.minimum(rest, a))
    y = drawn[3][of] + north[of] * (rounds * b + np.maximum(rest - a, 0))
    way = np.where(rest < a, 1 + east[of], 2 + north[of])  # 0 or 2 along a street, 1 or 3 across
    edge = (x % GRID_SIDE * GRID_SIDE + y % GRID_SIDE) * 4 + way
    names = pl.Series([f"w{n // 4}_{n % 4}" for n in range(GRID_SIDE**2 * 4)])
    frame = pl.DataFrame({"edge_ids": names.gather(edge), "of": of})
    return frame.group_by("of", maintain_order=True).all()["edge_ids"]


def _place(root: Path, name: str) -> Path:
    return artifact_path(ARTIFACTS[name], root=root, city=CITY)


def _read(name: str) -> pl.DataFrame:
    place = _place(ROOT, name)
    return pl.read_parquet(sorted(place.glob("*.parquet")) if place.is_dir() else place)


def _columns(schema: str) -> pl.Schema:
    return pl.Schema(arrow_schema(schema))


def _write(root: Path, name: str, table: pl.DataFrame, shard: int) -> None:
    place = _place(root, name)
    file = place / f"part-{shard:05d}.parquet" if ARTIFACTS[name].form == "shards" else place
    file.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(file, row_group_size=4096)


if __name__ == "__main__":
    main()
