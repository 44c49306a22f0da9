"""How much memory and time the stages take that go through the trips of a city, by its size.

    python bench/stages.py --trips 1000 10000 100000
    ->  release     100,000 trips       720 trips/CPU-s     806 MB at most

The city is a default one with so many simulated trips on its roads, dealt to shards as its
configuration advises; where its ground is not built yet, it is made first. The stages run in the
order of the journey, each in a process of its own, and each reads what the one before wrote; memory
is the most that process held. Files go to bench/work/stages and stay there, so `--stages` can take
up again at any stage.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pipeline.artifacts import ARTIFACTS, artifact_path  # noqa: E402
from pipeline.stages import STAGES, Stage  # noqa: E402

WORK = ROOT / "bench" / "work" / "stages"
FIRST = "simulate"
# Crowds have no trips, and the ground does not grow with them.
_JOURNEY = [stage for stage in STAGES if not stage.name.startswith("stride_")]
_BEGIN = [stage.name for stage in _JOURNEY].index(FIRST)
GROUND, MEASURED = _JOURNEY[:_BEGIN], _JOURNEY[_BEGIN:]
# As configs/<city>.yaml advises.
TRIPS_PER_SHARD = 30_000


class Cost(NamedTuple):
    """What a process took: CPU seconds, and the most memory it held, MB."""

    cpu_s: float
    peak_mb: float


def main() -> None:
    """Lay out the cities, run the stages, and print a line for each."""
    names = [stage.name for stage in MEASURED]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--city", default="helsinki")
    parser.add_argument("--trips", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--stages", nargs="+", default=names, choices=names)
    parser.add_argument("--work", type=Path, default=WORK)
    asked = parser.parse_args()
    for trips in asked.trips:
        root = asked.work / f"{asked.city}-{trips}"
        if not root.exists():
            lay_out(root, asked.city, trips)
        for stage in MEASURED:
            if stage.name in asked.stages:
                cost = run(stage, asked.city, root)
                print(
                    f"{stage.name:<12}{trips:>9,} trips {trips / cost.cpu_s:>9,.0f} trips/CPU-s"
                    f" {cost.peak_mb:>7,.0f} MB at most",
                    flush=True,
                )


def run(stage: Stage, city: str, root: Path) -> Cost:
    """Run a stage in a process of its own; no text is known before."""
    shutil.rmtree(root / ".response_store", ignore_errors=True)
    where = [city] if stage.scope == "city" else []
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "run", stage.name, *where],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    told = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(told)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def lay_out(root: Path, city: str, trips: int) -> None:
    """Write a project whose one city is a default one with so many simulated trips."""
    config = yaml.safe_load((ROOT / f"configs/{city}.yaml").read_text("utf-8"))
    config["simulation"]["trips"] = trips
    config["traces"]["shards"] = -(-trips // TRIPS_PER_SHARD)
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    params["cities"] = {city: params["cities"][city]}
    (root / "configs").mkdir(parents=True)
    for file, values in ((f"configs/{city}.yaml", config), ("params.yaml", params)):
        (root / file).write_text(yaml.safe_dump(values, sort_keys=False), "utf-8")
    lay_ground(root, city)


def lay_ground(root: Path, city: str) -> None:
    """Copy what the measured stages read of the ground; where it is not built, build it."""
    artifact_path(ARTIFACTS["reviews"], root=root, city=city).mkdir(parents=True)  # by nobody
    made = {name for stage in GROUND for name in stage.writes}
    read = sorted(made & {name for stage in MEASURED for name in stage.reads})
    places = [
        tuple(artifact_path(ARTIFACTS[name], root=one, city=city) for one in (ROOT, root))
        for name in read
    ]
    missing = [old for old, _ in places if not old.exists()]
    if missing:
        print(f"{missing[0].relative_to(ROOT)}: not there; the ground is made first", flush=True)
        for stage in GROUND:
            run(stage, city, root)
        return
    for old, new in places:
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(old, new)


if __name__ == "__main__":
    main()
