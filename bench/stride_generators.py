"""How long the reference generators take, and how sound their walks are.

    dvc repro stride_maps && python bench/stride_generators.py

On each map of data/stride/maps.parquet, or on the one of --map: 50, 100 and 300 people wander for
1,200 steps of 0.1 s, so that nobody leaves; then 300 people walk to the exits. Printed: CPU
seconds on one core, least distance of a body from a wall (below 0: inside), the fastest step, and
contacts of one person. Medians of the runs for times, the worst of all for the rest.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.params import section_of
from pipeline.seeds import rng_for
from pipeline.stride.generators.crowds import Pace, walk_of
from pipeline.stride.maps import CrowdMap, maps_of
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.physical import contact_rate_per_agent
from pipeline.stride.roles import Draft, Role
from pipeline.stride.simulate import SimulateSettings
from pipeline.stride.states import Fault, initial_state
from pipeline.stride.ways import Ways

ROOT = Path(__file__).resolve().parent.parent
MAPS = "data/stride/maps.parquet"
ROLES = {
    "wander": Role("people", 1.0, "wander", "anywhere", (1.2, 0.25), pause_s=(0.0, 5.0)),
    "walk": Role("people", 1.0, "walk", "anywhere", (1.3, 0.25), to=["exits"]),
}


def main() -> None:
    """Run all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--map", help="map_id; all of them by default")
    parser.add_argument("--people", type=int, nargs="+", default=[50, 100, 300])
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    if not (ROOT / MAPS).exists():
        sys.exit(f"{MAPS}: not there, nothing to measure; `dvc repro stride_maps`")
    cases = [*(("wander", count) for count in asked.people), ("walk", max(asked.people))]
    force = section_of(ROOT / "params.yaml", "stride_simulate", SimulateSettings).force
    maps = maps_of(pl.read_parquet(ROOT / MAPS))
    print(f"{'map':<28} {'case':<11} {'cpu s':>6} {'wall m':>8} {'m/s':>5} {'contacts':>9}")
    for record in maps:
        if asked.map not in {None, record.map_id}:
            continue
        begin = time.process_time()
        ways = Ways(CrowdMap(record))
        for anchor in record.anchors:
            ways.to_anchor(anchor.id)
        ready = time.process_time() - begin
        print(f"{record.map_id:<28} {'ways':<11} {ready:>6.2f} ({len(record.anchors)} anchors)")
        for motion, count in cases:
            figures = case(ways, motion, count, force, steps=asked.steps, runs=asked.runs)
            print(f"{record.map_id:<28} {motion + ' ' + str(count):<11} {figures}")


def case(ways: Ways, motion: str, count: int, force, *, steps: int, runs: int) -> str:
    """Return one line of figures."""
    role = ROLES[motion]
    draft = Draft("bench", count, 120.0, None, [role])
    pace = Pace(steps * force.step_s, force.step_s, 0.0)
    times, room, fastest, contacts = [], np.inf, 0.0, 0.0
    for run in range(runs):
        rng = rng_for(run, "bench", f"{motion} {count}")
        people = initial_state(draft, ways, rng=rng, radius_m=(0.2, 0.25))
        if isinstance(people, Fault):
            return people.detail
        begin = time.process_time()
        walk = walk_of(people, [role], ways, force, pace=pace, rng=rng)
        times.append(time.process_time() - begin)
        here = walk.present
        distance = ways.crowd_map.walls.distance(walk.positions[here]) - walk.radius[here]
        both = here[1:] & here[:-1]
        step = np.hypot(*np.diff(walk.positions, axis=0)[both].T)
        room, fastest = min(room, distance.min()), max(fastest, step.max() / force.step_s)
        contacts = max(contacts, contact_rate_per_agent(Clip(walk)) or 0.0)
    return f"{statistics.median(times):>6.2f} {room:>8.3f} {fastest:>5.2f} {contacts:>9.4f}"


if __name__ == "__main__":
    main()
