"""What the checksums cost: CPU time of reading with them compared, beside reading without.

    python bench/seals.py --city helsinki --rounds 15
    helsinki, 15 rounds; CPU time with checksums / without, median of pairs (least - most)
    matched            1.2 MB   1.04 (0.99 - 1.11)

Each artifact is read as stages read it (`pipeline.tables.read_table`: the record before the footer,
each page, the schema's columns), and by the same libraries without any checksum. A pair is read in
turn, each time the other one first; only ratios within a pair count.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import polars as pl
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.built import ROOT, built
from pipeline.artifacts import ARTIFACTS, Artifact, artifact_path
from pipeline.schemas import check_columns
from pipeline.tables import files_of, read_table

READ = ("roads", "raw_trips", "cleaned", "matched", "phased", "planned", "annotated", "checked")
LEAST_SECONDS = 0.05  # small files are read so often that the clock can tell


def without_checksums(file: Path, artifact: Artifact) -> pl.DataFrame:
    """Read a table as `read_table` does, and compare no checksum."""
    frame = pl.DataFrame(pl.from_arrow(pq.ParquetFile(file).read()))
    check_columns(str(artifact.schema), frame, where=str(file), remedy="")
    return frame


def cpu_seconds(work: Callable[[], object], times: int) -> float:
    """Return the CPU seconds of doing something so many times."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - begun


def ratios(files: list[Path], artifact: Artifact, rounds: int) -> list[float]:
    """Return CPU time with checksums over that without, of each pair."""

    def compared() -> None:
        for file in files:
            read_table(file, artifact)

    def plain() -> None:
        for file in files:
            without_checksums(file, artifact)

    compared()
    times = 1 + int(LEAST_SECONDS / max(cpu_seconds(plain, 1), 1e-4))
    found = []
    for number in range(rounds):
        if number % 2:
            took = cpu_seconds(compared, times), cpu_seconds(plain, times)
        else:
            took = tuple(reversed([cpu_seconds(plain, times), cpu_seconds(compared, times)]))
        found.append(took[0] / took[1])
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--city", default="helsinki")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    built([arguments.city], *READ)
    print(
        f"{arguments.city}, {arguments.rounds} rounds; CPU time with checksums / without, median of"
        " pairs (least - most)"
    )
    everything = []
    for name in READ:
        artifact = ARTIFACTS[name]
        files = files_of(artifact_path(artifact, root=ROOT, city=arguments.city), artifact)
        size_mb = sum(file.stat().st_size for file in files) / 1e6
        found = ratios(files, artifact, arguments.rounds)
        everything += found
        print(
            f"{name:<12} {size_mb:>9.1f} MB   {median(found):.3f}"
            f" ({min(found):.3f} - {max(found):.3f})"
        )
    print(f"{'all':<12} {'':>12}   {median(everything):.3f}")


if __name__ == "__main__":
    main()
