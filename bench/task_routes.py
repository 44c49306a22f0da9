"""How many predicted routes a core scores a second, beside plain Python and libraries.

    python bench/task_routes.py --pairs 2000
    ->  all measures: 2,000 pairs of 60 segments, 36,956 segments of road: 7,400 pairs/CPU-s, ...

Routes are the first 60 segments of shortest paths on the drivable network of Porto (`--pbf`;
without that file on a grid of streets); the prediction goes from the true start to another end.
Plain Python computes the same by definition, on a few pairs, and must find the same values.
`dtaidistance` and `traj-dist-rs` are asked for the distances they have, in an environment of their
own (`bench/work/env_routes`), with the same points in a plane.
"""

import argparse
import heapq
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import shapely

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.datasets import SHARED
from bench.network import read_osm_network
from bench.peers.point_distances import PEERS
from bench.side_env import venv_python
from pipeline.city.description import describe_cell
from pipeline.city.hexgrid import cell_name, cells_at
from pipeline.city.projection import geodesic
from pipeline.language.intent_settings import IntentsSettings
from pipeline.params import section_of
from pipeline.release.definitions import Definitions, definitions_record
from pipeline.schemas import arrow_schema, schema_document
from pipeline.seeds import rng_for
from pipeline.tasks.distances import point_distances, positions
from pipeline.tasks.generation import KS, GenerationScorer
from pipeline.tasks.ground import Ground
from pipeline.tasks.predictions import Matched
from pipeline.tasks.settings import GenerationSettings
from pipeline.tasks.shortest import shortest_paths

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "bench" / "work"
PACKAGES = ("dtaidistance==2.5.1", "traj-dist-rs==1.0.0rc5", "numpy")
SEGMENTS = 60
CANDIDATES, ENDS_TRIED = 3, 16
_METRES_A_DEGREE = 111_195.0
GRID_SIDE = 90


class MadeRelease:
    """What a scorer reads of a release, made here: a network, and a trip per pair."""

    city, folder = "made", Path("made")

    def __init__(self, roads: pl.DataFrame, routes: pl.Series) -> None:
        middle = shapely.line_interpolate_point(
            shapely.from_wkb(roads["geometry"].to_numpy()), 0.5, normalized=True
        )
        cells = cells_at(shapely.get_x(middle), shapely.get_y(middle), 10)
        names = pl.Series([cell_name(int(one)) for one in cells])
        self.roads = roads
        self.road_cells = pl.DataFrame({"edge_id": roads["edge_id"], "cell": names}).with_columns(
            cells=pl.concat_list("cell")
        )
        self.cells = pl.DataFrame(
            [_cell(one, number) for number, one in enumerate(names.unique().sort())],
            schema=pl.Schema(arrow_schema("cell")),
            orient="row",
        )
        self.definitions = msgspec.convert(
            definitions_record(
                section_of(ROOT / "params.yaml", "intents", IntentsSettings),
                city="bench",
                time_zone="Europe/Lisbon",
                h3_resolution=10,
                near_jaccard=0.8,
            ),
            Definitions,
        )
        cell = pl.element().replace_strict(roads["edge_id"], names)
        self._trips = pl.DataFrame({"edge_ids": routes}).select(
            "edge_ids",
            trip_id=pl.int_range(pl.len()).cast(pl.String),
            cells=pl.col("edge_ids").list.eval(cell),
        )

    def instances(self, _task: str, _split: str) -> pl.DataFrame:
        """Return an instance per trip."""
        draws = pl.struct(pl.lit(["1.1"], pl.List(pl.String)).alias("scenarios"))
        return self._trips.select(
            "trip_id",
            instance_id="trip_id",
            style=pl.lit("literal"),
            input=pl.struct(start_edge=pl.col("edge_ids").list.first()),
            target=pl.struct("edge_ids", "cells"),
            provenance=pl.struct(draws.alias("draws")),
            evidence=pl.lit(self._asked()),
        )

    @staticmethod
    def _asked() -> dict[str, Any]:
        """Return what each text asks for: a zone preferred, a heading, a kind of place passed."""
        empty: dict[str, Any] = {
            "phases": [],
            "names": [],
            "ids": [],
            "feature": "",
            "polarity": "",
        }
        return {
            "constraints": [
                empty
                | {"scenario": "3.1", "kind": "zone", "feature": "green", "polarity": "prefer"},
                empty | {"scenario": "3.2", "kind": "heading", "feature": "north"},
                empty | {"scenario": "2.2", "kind": "facility", "feature": "cafe"},
            ]
        }

    def candidates(self, _split: str) -> pl.DataFrame:
        """Return a few trips, as if they were of train."""
        return self._trips.head(5)


def _cell(cell: str, number: int) -> dict[str, Any]:
    """Return a cell with a cafe in every third and a park in every fourth."""
    description = describe_cell(
        "URBAN/INLAND",
        natural=["park"] if number % 4 == 0 else [],
        commercial=[],
        facilities=["cafe"] if number % 3 == 0 else [],
        district="Middle",
    )
    example: dict[str, Any] = schema_document("cell")["examples"][0]
    return example | {"cell": cell, "pois": [], "description": description}


def main() -> None:
    """Print what the measures take."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--plain", type=int, default=20, help="pairs of plain Python")
    parser.add_argument("--pbf", type=Path, default=SHARED / "porto" / "porto_city_2022.osm.pbf")
    parser.add_argument("--peers", default=",".join(PEERS), help='"" for none')
    asked = parser.parse_args()
    roads = read_roads(asked.pbf)
    truth, predicted, others = _routes(roads, asked.pairs)
    release = MadeRelease(roads, truth)
    settings = section_of(ROOT / "params.yaml", "score_generation", GenerationSettings)
    scorer = GenerationScorer(release, "test", settings, near=0.8)  # type: ignore[arg-type]
    alone = scorer.instances.with_columns(
        edge_ids=predicted,
        candidates=pl.lit(None, pl.List(pl.List(pl.String))),
        predicted=pl.lit(value=True),
    )
    scored, ours = _timed(scorer, alone)
    _, with_others = _timed(scorer, alone.with_columns(candidates=others))
    plain = _Plain(scorer, settings)
    start = time.process_time()
    some = min(asked.plain, asked.pairs)
    found = [plain.measures(predicted[k].to_list(), truth[k].to_list()) for k in range(some)]
    slow = some / (time.process_time() - start)
    for k, values in enumerate(found):
        for name, value in values.items():
            own = scored.rows[name][k]
            if not math.isclose(own, value, rel_tol=1e-6, abs_tol=1e-6):
                sys.exit(f"{name} of pair {k}: ours {own}, plain Python {value}")
    segments = float(truth.list.len().mean())
    print(
        f"all measures: {asked.pairs:,} pairs of {segments:.0f} segments,"
        f" {roads.height:,} segments of road: {ours:,.0f} pairs/CPU-s, {ours / slow:,.0f} x plain"
        f" Python ({slow:.1f}), same values\nwith {CANDIDATES} candidates each and the oracle:"
        f" {with_others:,.0f} pairs/CPU-s"
    )
    plane = scorer.ground.place * (_METRES_A_DEGREE * np.cos(np.radians(41.15)), _METRES_A_DEGREE)
    points, true_points = (
        plane[_nodes(scorer.ground, one)].reshape(asked.pairs, SEGMENTS + 1, 2)
        for one in (predicted, truth)
    )
    _compare_peers(points, true_points, [one for one in asked.peers.split(",") if one])


def _nodes(ground: Ground, routes: pl.Series) -> np.ndarray:
    """Return the nodes of routes of equal length, one after another."""
    edges = ground.numbered(routes).values.reshape(len(routes), SEGMENTS)
    return np.column_stack((ground.u[edges[:, 0]], ground.v[edges])).ravel()


def _timed(scorer: GenerationScorer, rows: pl.DataFrame) -> tuple[Any, float]:
    """Return the scores, and pairs a CPU second in the best of three rounds."""
    best, scored = math.inf, scorer.scored(Matched(rows, 0))  # compiles
    for _ in range(3):
        start = time.process_time()
        scored = scorer.scored(Matched(rows, 0))
        best = min(best, time.process_time() - start)
    return scored, rows.height / best


def read_roads(pbf: Path) -> pl.DataFrame:
    """Return the segments of a network, or of a grid of streets, as a scorer reads them."""
    network = read_osm_network(pbf) if pbf.exists() else _grid()
    lines = shapely.from_wkb(network["geometry"].to_numpy())
    ends = {
        f"{end}_{axis}": get(shapely.get_point(lines, place))
        for end, place in (("u", 0), ("v", -1))
        for axis, get in (("lon", shapely.get_x), ("lat", shapely.get_y))
    }
    east = (ends["v_lon"] - ends["u_lon"]) * np.cos(np.radians(41.15))
    bearing = np.arctan2(east, ends["v_lat"] - ends["u_lat"])
    return network.select("u", "v", "length_m", "geometry").with_columns(
        edge_id=pl.format("{}:{}:{}", pl.int_range(pl.len()), "u", "v"),
        name=pl.format("Street {}", pl.col("u") % 500),
        highway=pl.lit("residential"),
        bearing_deg=pl.Series(np.degrees(bearing) % 360),
        bearing_sin=pl.Series(np.sin(bearing)),
        bearing_cos=pl.Series(np.cos(bearing)),
        **{name: pl.Series(values) for name, values in ends.items()},
    )


def _grid() -> pl.DataFrame:
    at = np.arange(GRID_SIDE * GRID_SIDE).reshape(GRID_SIDE, GRID_SIDE)
    one = np.concatenate((at[:, :-1].ravel(), at[:-1].ravel()))
    other = np.concatenate((at[:, 1:].ravel(), at[1:].ravel()))
    u, v = np.concatenate((one, other)), np.concatenate((other, one))
    row, column = np.divmod(at.ravel(), GRID_SIDE)
    place = np.column_stack((-8.7 + column * 0.00095, 41.1 + row * 0.00072))  # 80 m
    lines = shapely.linestrings(np.stack((place[u], place[v]), axis=1))
    length = geodesic(place[u, 0], place[u, 1], place[v, 0], place[v, 1])[1]
    return pl.DataFrame({
        "u": u, "v": v,
        "length_m": length, "geometry": shapely.to_wkb(lines),
    })  # fmt: skip


def _routes(roads: pl.DataFrame, pairs: int) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Return true routes, predictions from the same starts, and candidates of each."""
    cells = pl.DataFrame({"edge_id": roads["edge_id"], "cell": ["8a1126d338dffff"] * roads.height})
    ground = Ground.build(roads, cells)
    rng = rng_for(7, "bench", "task_routes")
    ids, rows = ground.ids.to_numpy(), []
    while len(rows) < pairs:
        start = np.repeat(rng.integers(ground.nodes, size=64), ENDS_TRIED).astype(np.int32)
        ends = rng.integers(ground.nodes, size=len(start)).astype(np.int32)
        edges = shortest_paths(ground, start, ends).edges
        paths = np.split(edges.values, edges.starts[1:-1])
        for k in range(0, len(paths), ENDS_TRIED):
            long = [one[:SEGMENTS] for one in paths[k : k + ENDS_TRIED] if len(one) >= SEGMENTS]
            if len(long) >= 2 + CANDIDATES:
                rows.append([ids[one].tolist() for one in long[: 2 + CANDIDATES]])
    rows = rows[:pairs]
    return (
        pl.Series([row[0] for row in rows]),
        pl.Series([row[1] for row in rows]),
        pl.Series([row[2:] for row in rows]),
    )


class _Plain:
    """The same measures in plain Python, by their definitions."""

    def __init__(self, scorer: GenerationScorer, settings: GenerationSettings) -> None:
        ground, self._settings = scorer.ground, settings
        self._edges = {
            name: (
                int(ground.u[k]),
                int(ground.v[k]),
                float(ground.length_m[k]),
                int(ground.cell[k]),
            )
            for k, name in enumerate(ground.ids[: ground.segments])
        }
        self._place = [tuple(map(float, one)) for one in positions(ground.place)]
        self._lonlat = ground.place
        self._out: dict[int, list[tuple[int, float]]] = {}
        self._in: dict[int, list[tuple[int, float]]] = {}
        self._near: dict[int, list[tuple[int, float]]] = {}
        for u, v, length, _ in self._edges.values():
            self._out.setdefault(u, []).append((v, length))
            self._in.setdefault(v, []).append((u, length))
            self._near.setdefault(u, []).append((v, length))
            self._near.setdefault(v, []).append((u, length))

    def measures(self, predicted: list[str], true: list[str]) -> dict[str, float]:
        """Return the measures of one pair."""
        one, other = ([self._edges[name] for name in ids] for ids in (predicted, true))
        joined = sum(a[1] == b[0] for a, b in pairwise(one))
        a, b = ([self._place[r[0][0]], *(self._place[e[1]] for e in r)] for r in (one, other))
        dtw, hausdorff, edr = self._distances(a, b)
        cells = [{edge[3] for edge in route} for route in (one, other)]
        last, target = one[-1], other[-1]
        same = predicted[-1] == true[-1]
        near = 0 if same else 1 + self._hops(self._near, target[:2], last[:2])
        ahead = 0 if same else 1 + self._hops(self._in, target[:1], last[1:2])
        driven, length = (sum(edge[2] for edge in route) for route in (one, other))
        ends = self._lonlat[[last[1], target[1]]]
        shortest = one[0][2] + self._dijkstra(one[0][1], last[0]) + last[2]
        return {
            "dest_hit": float(last[3] == target[3]),
            "dist_km": float(geodesic(*ends[:1].T, *ends[1:].T)[1][0]) / 1000,
            **{f"hit_at_{k}": float(near <= k) for k in KS},
            **{f"hit_directed_at_{k}": float(ahead <= k) for k in KS},
            "jaccard": len(cells[0] & cells[1]) / len(cells[0] | cells[1]),
            "dtw_km": dtw / 1000,
            "hausdorff_km": hausdorff / 1000,
            "edr": edr,
            "over_routing": float(driven > self._settings.over_length * length),
            "under_routing": float(driven < self._settings.under_length * length),
            "start_kept": float(predicted[0] == true[0]),
            "joints_touching": joined / (len(one) - 1),
            "one_ways_obeyed": 1.0,
            "length_over_shortest": driven / shortest,
        }

    def _distances(self, a: list[Any], b: list[Any]) -> tuple[float, float, float]:
        inf, limit = math.inf, self._settings.edr_m
        dtw = [[inf] * (len(b) + 1) for _ in range(len(a) + 1)]
        edits = [
            [max(i, j) if 0 in (i, j) else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)
        ]
        dtw[0][0] = 0.0
        to_b, to_a = [inf] * len(a), [inf] * len(b)
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                east, north = (
                    abs(p[0] - q[0]) * (p[2] + q[2]) / 2,
                    abs(p[1] - q[1]) * (p[3] + q[3]) / 2,
                )
                apart = math.sqrt(east * east + north * north)
                dtw[i + 1][j + 1] = apart + min(dtw[i][j], dtw[i][j + 1], dtw[i + 1][j])
                change = 0 if east <= limit and north <= limit else 1
                edits[i + 1][j + 1] = min(
                    edits[i][j] + change, edits[i][j + 1] + 1, edits[i + 1][j] + 1
                )
                to_b[i], to_a[j] = min(to_b[i], apart), min(to_a[j], apart)
        return dtw[-1][-1], max(*to_b, *to_a), edits[-1][-1] / max(len(a), len(b))

    @staticmethod
    def _hops(near: dict[int, list[tuple[int, float]]], sources: Any, asked: Any) -> float:
        depth, queue = dict.fromkeys(sources, 0), deque(sources)
        while queue:
            node = queue.popleft()
            if depth[node] > KS[-1]:
                break
            for there, _ in near.get(node, []):
                if there not in depth:
                    depth[there] = depth[node] + 1
                    queue.append(there)
        return min(depth.get(node, math.inf) for node in asked)

    def _dijkstra(self, source: int, target: int) -> float:
        best, heap = {source: 0.0}, [(0.0, source)]
        while heap:
            length, node = heapq.heappop(heap)
            if node == target:
                return length
            if length > best[node]:
                continue
            for there, more in self._out.get(node, []):
                if length + more < best.get(there, math.inf):
                    best[there] = length + more
                    heapq.heappush(heap, (length + more, there))
        return math.inf


def _compare_peers(points: np.ndarray, others: np.ndarray, peers: list[str]) -> None:
    """Print ours and each library's distances of the same points, in metres of a plane."""
    starts = np.arange(len(points) + 1) * points.shape[1]
    rows, other_rows = (_flat(one) for one in (points, others))
    point_distances(rows, starts, other_rows, starts, edr_m=100.0)
    start = time.process_time()
    ours = point_distances(rows, starts, other_rows, starts, edr_m=100.0)
    taken = time.process_time() - start
    print(f"DTW, Hausdorff and EDR in one pass: {len(points) / taken:,.0f} pairs/CPU-s")
    own = {"dtw": ours.dtw_m, "hausdorff": ours.hausdorff_m, "edr": ours.edr}
    for peer in peers:
        try:
            python = venv_python(WORK / "env_routes", PACKAGES)
            found = _asked(python, peer, points, others)
        except (OSError, subprocess.CalledProcessError) as fault:
            print(f"{peer}: not available ({type(fault).__name__})")
            continue
        for name, one in found.items():
            apart = np.abs(np.array(one["values"]) - own[name]).max()
            print(
                f"{peer} {name}: {len(points) / one['cpu_s']:,.0f} pairs/CPU-s; ours does all three"
                f" in {taken / one['cpu_s']:.2f} of its time; greatest difference {apart:.2g}"
            )


def _flat(points: np.ndarray) -> np.ndarray:
    """Return points of a plane as `positions` would, one metre a metre."""
    ones = np.ones((points.shape[0] * points.shape[1], 2))
    return np.column_stack((points.reshape(-1, 2), ones))


def _asked(python: Path, peer: str, one: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.npz"
        np.savez(file, one=one, other=other)
        command = [str(python), str(ROOT / "bench/peers/point_distances.py"), str(file), peer]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
