"""How much memory and time the stages take that go through every trip of a city, by its size.

    python bench/release.py --trips 1000 10000 100000
    ->  release     100,098 trips     1,012 trips/CPU-s    612 MB at most

A city of any size is a default one laid out again and again: each copy has ids of its own, a week
of its own, and the city's segments dealt out anew, so that routes meet as different routes do. A
stage runs in a process of its own; memory is the most that process held. Files go to
bench/work/release.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the process that measures stays small: a child's peak starts at its parent's
    from collections.abc import Callable

    import polars as pl

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "bench" / "work" / "release"
# In this order: what one writes the next ones read.
STAGES = ("annotate", "select", "account", "release", "publish")
SHARDS = ("raw_trips", "cleaned", "matched", "phased", "planned", "annotated", "checked", "judged")
COPIED = ("roads", "cells", "osm_manifest", "context_manifest", "simulated_traces")
REFUSING = ("ingest", "match", "compress", "plan_intents", "annotate", "check", "select")
IDS = ("raw_trip_id", "trip_id", "cleaned_trip_id", "item_id")
# As configs/<city>.yaml advises.
TRIPS_PER_SHARD = 30_000
ROWS_PER_GROUP = 4096
WEEK_S = 7 * 24 * 3600.0
# Any step that shares no factor with the number of segments deals them out anew.
STEP = 7919


class Cost(NamedTuple):
    """What a process took: CPU seconds, and the most memory it held, MB."""

    cpu_s: float
    peak_mb: float


def main() -> None:
    """Lay out the cities, run the stages, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--city", default="helsinki")
    parser.add_argument("--trips", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--stages", nargs="+", default=list(STAGES), choices=STAGES)
    parser.add_argument("--work", type=Path, default=WORK)
    asked = parser.parse_args()
    released = json.loads((ROOT / f"data/{asked.city}/metrics/loss.json").read_text("utf-8"))
    base = released["released"]["trips"]
    for trips in asked.trips:
        copies = max(1, round(trips / base))
        root = asked.work / f"{asked.city}-{copies}"
        if not (root / "laid").exists():
            # Not in this process: a child's peak is at least that of the one it came from.
            laying = multiprocessing.get_context("spawn").Process(
                target=lay_out, args=(root, asked.city, copies)
            )
            laying.start()
            laying.join()
            if laying.exitcode:
                sys.exit(f"{root}: expected a city of {copies} copies, found a fault while laying")
        for stage in asked.stages:
            cost = run(stage, None if stage == "publish" else asked.city, root)
            rate = base * copies / cost.cpu_s
            print(
                f"{stage:<9}{base * copies:>9,} trips {rate:>9,.0f} trips/CPU-s"
                f" {cost.peak_mb:>6,.0f} MB at most",
                flush=True,
            )


def run(stage: str, city: str | None, root: Path) -> Cost:
    """Run a stage in a process of its own; no text is known before."""
    shutil.rmtree(root / ".response_store", ignore_errors=True)
    command = [sys.executable, "-m", "pipeline", "run", stage, *([city] if city else [])]
    process = subprocess.Popen(
        command, cwd=root, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    told = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(told)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def lay_out(root: Path, city: str, copies: int) -> None:
    """Write a project whose one city is so many copies of a default one, as far as `judge`."""
    import polars as pl  # noqa: PLC0415 - see above
    import yaml  # noqa: PLC0415

    sys.path.insert(0, str(ROOT))
    from pipeline.artifacts import ARTIFACTS, artifact_path  # noqa: PLC0415

    shutil.rmtree(root, ignore_errors=True)
    (root / "configs").mkdir(parents=True)
    shutil.copy(ROOT / f"configs/{city}.yaml", root / "configs")
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    params["cities"] = {city: params["cities"][city]}
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")
    for name in COPIED:
        old, new = (artifact_path(ARTIFACTS[name], root=one, city=city) for one in (ROOT, root))
        new.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if old.is_dir() else shutil.copy)(old, new)
    edges = pl.read_parquet(root / f"data/{city}/roads.parquet")["edge_id"]
    zone = yaml.safe_load((root / f"configs/{city}.yaml").read_text("utf-8"))["time_zone"]
    changed = _changes(edges, zone)
    for stage in REFUSING:
        file = f"data/{city}/rejected/{stage}.parquet"
        whole = pl.read_parquet(ROOT / file)
        _write([changed(whole, number) for number in range(copies)], root / file)
    for name in SHARDS:
        whole = pl.read_parquet(ROOT / f"data/{city}/{name}/*.parquet")
        shards = 1 + whole.height * copies // TRIPS_PER_SHARD
        for shard in range(shards):
            own = [changed(whole, number) for number in range(shard, copies, shards)]
            _write(own, root / f"data/{city}/{name}/part-{shard:05d}.parquet")
    (root / "laid").touch()


def _changes(edges: "pl.Series", zone: str) -> "Callable[[pl.DataFrame, int], pl.DataFrame]":
    """Return what makes the rows of a copy out of those of the original."""
    import polars as pl  # noqa: PLC0415 - see above

    from pipeline.trips.phases import local_time_words  # noqa: PLC0415

    def changed(frame: pl.DataFrame, number: int) -> pl.DataFrame:
        frame = frame.with_columns(
            pl.format("c{}-{}", pl.lit(number), name).alias(name)
            for name in IDS
            if name in frame.columns
        )
        if "t_enter_s" in frame.columns:
            order = (pl.int_range(edges.len(), eager=True) + STEP * number) % edges.len()
            dealt = dict(zip(edges, edges.gather(order), strict=True))
            frame = frame.with_columns(
                pl.col("edge_ids").list.eval(pl.element().replace_strict(dealt))
            )
        if "meta" in frame.columns:
            start = pl.col("meta").struct.field("t_start_s") + WEEK_S * number
            frame = frame.with_columns(
                pl.col("meta").struct.with_fields(
                    t_start_s=start, start_time=local_time_words(start, zone)
                )
            )
        return frame

    return changed


def _write(frames: "list[pl.DataFrame]", file: Path) -> None:
    import polars as pl  # noqa: PLC0415 - see above
    import pyarrow.parquet as pq  # noqa: PLC0415

    file.parent.mkdir(parents=True, exist_ok=True)
    table = pl.concat(frames).to_arrow()
    pq.write_table(table, file, row_group_size=ROWS_PER_GROUP, compression="zstd")


if __name__ == "__main__":
    main()
