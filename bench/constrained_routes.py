"""How many constrained routes a core finds a second: stages in order, one anywhere, soft weights.

    python bench/constrained_routes.py --routes 1000
    ->  1,000 routes over 36,956 segments of road, 8.2 km each: 547 routes/CPU-s, ...

Each route of the drivable network of Porto (`--pbf`; without that file of a grid of streets) goes
from a segment to another some kilometres off, over two of the sets drawn between them (`--set`
segments each, like the segments of a road), a third set anywhere, a tenth of all segments heavier,
another tenth lighter, and a heading.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.datasets import SHARED
from bench.task_routes import read_roads
from pipeline.city.hexgrid import cell_name, cells_at
from pipeline.seeds import rng_for
from pipeline.tasks.baselines.routing import Routing, Way
from pipeline.tasks.distances import positions
from pipeline.tasks.ground import F64, Ground

NEAREST_M, FARTHEST_M = 1500.0, 6000.0


class Made(NamedTuple):
    """What a router reads of a city."""

    ground: Ground
    plane: F64


def main() -> None:
    """Print what routes take."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--routes", type=int, default=1000)
    parser.add_argument("--set", type=int, default=20, help="segments of a stage")
    parser.add_argument("--pbf", type=Path, default=SHARED / "porto" / "porto_city_2022.osm.pbf")
    asked = parser.parse_args()
    roads = read_roads(asked.pbf)
    middle = cells_at(roads["u_lon"].to_numpy(), roads["u_lat"].to_numpy(), 10)
    cells = roads.select("edge_id").with_columns(cell=np.array([cell_name(int(c)) for c in middle]))
    ground = Ground.build(roads, cells)
    flat = positions(ground.place)
    made = Made(ground, flat[:, :2] * flat[:, 2:].mean(axis=0))
    ways = _ways(made, asked.routes, asked.set)
    _timed(made, ways[:2])  # compiles
    chosen, routed, kilometres = min(_timed(made, ways) for _ in range(3))
    total = chosen + routed
    print(
        f"{len(ways):,} routes over {ground.segments:,} segments of road, {kilometres:.1f} km each:"
        f" {len(ways) / total:,.0f} routes/CPU-s (stages {1000 * chosen / len(ways):.2f} ms, search"
        f" {1000 * routed / len(ways):.2f} ms)"
    )


def _timed(made: Made, ways: list[tuple[int, Way]]) -> tuple[float, float, float]:
    """Return CPU seconds of choosing stages and of searching, and the mean length in kilometres."""
    routing = Routing(made)  # type: ignore[arg-type]
    begun = time.process_time()
    for start, way in ways:
        routing.add(start, way)
    chosen = time.process_time()
    routes = routing.routes()
    routed = time.process_time()
    length = dict(zip(made.ground.ids, made.ground.length_m, strict=True))
    kilometres = sum(length[one] for route in routes for one in route) / len(routes) / 1000
    return chosen - begun, routed - chosen, kilometres


def _ways(made: Made, routes: int, size: int) -> list[tuple[int, Way]]:
    rng = rng_for(7, "bench", "constrained_routes")
    ground, plane = made.ground, made.plane
    segments = ground.segments
    at = plane[ground.u[:segments]]
    tenth = segments // 10
    zones = [np.sort(rng.permutation(segments)[:tenth]).astype(np.int32) for _ in range(4)]
    leads = plane[ground.v[:segments]] - at
    off = np.flatnonzero(leads[:, 1] < 0).astype(np.int32)
    ways: list[tuple[int, Way]] = []
    while len(ways) < routes:
        start, end = rng.integers(segments, size=2)
        apart = float(np.hypot(*(at[end] - at[start])))
        if not NEAREST_M < apart < FARTHEST_M:
            continue
        stages = []
        for share in (0.3, 0.6, 0.5):
            spot = at[start] + share * (at[end] - at[start]) + rng.normal(0, 0.1 * apart, 2)
            near = np.argsort(np.hypot(*(at - spot).T), kind="stable")[:size]
            stages.append(near.astype(np.int32))
        soft = [(zones[len(ways) % 2], 5.0), (zones[2 + len(ways) % 2], 0.7), (off, 1.5)]
        last = np.array([end], np.int32)
        ways.append((int(start), Way([*stages[:2], last], stages[2:], soft)))
    return ways


if __name__ == "__main__":
    main()
