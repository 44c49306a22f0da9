"""How our matcher does on the kinds of traces matchers get wrong, and on real ones.

    python bench/cases.py
    | case          | traces | right | share | U-turns | in truth |
    | standing      |     30 |    30 | 1.000 |       0 |        0 |

Four tables: the made cases, of which the right outcome is known; the real taxi trips on roads with
the speed of their class and on the same roads without speeds; the recorded tracks, whose roads
have no class, thinned to 1 to 60 s. What is not there is one line "not available".

When a case is right:

- `frontage_slow`, `frontage_fast`: every edge of `route` is in the path, in whatever parts, and
  no edge of the road next to it. An edge id is `NNN:fK` on the slow road, `NNN:mK` on the fast one.
- every other case: one part, whose edges are exactly `route` in order (an edge twice in a row
  counts once).
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.accuracy import (
    joint_faults,
    lost_near_road,
    on_network,
    outliers_near_road,
    passages,
    plausibility_scores,
    route_scores,
    trip_metres,
    u_turn_pairs,
)
from bench.datasets import ROOT, SHARED
from bench.network import NETWORK_COLUMNS, read_osm_network
from bench.report import table
from bench.tracks import read_taxi_trips, read_track, read_track_network
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings

INTERVALS_S = (1, 5, 15, 30, 60)
NEXT_TO = {"frontage_slow": "m", "frontage_fast": "f"}


def main() -> None:
    """Match the made cases and the real traces with the settings of params.yaml."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    for name, place in (
        ("cases", SHARED.parent / "cases" / "matching"),
        ("pbf", SHARED / "porto" / "porto_city_2022.osm.pbf"),
        ("taxi", SHARED / "porto" / "train_first999.csv"),
        ("tracks", SHARED / "kubicka"),
        ("params", ROOT / "params.yaml"),
    ):
        parser.add_argument(f"--{name}", type=Path, default=place, metavar="PATH")
    asked = parser.parse_args()
    section = yaml.safe_load(asked.params.read_text("utf-8"))["match"]
    settings = msgspec.convert(section, MatchSettings)
    _print("Made cases", lambda: made_cases(asked.cases, settings), asked.cases)
    _print("Taxi trips", lambda: taxi_trips(asked.taxi, asked.pbf, settings), asked.taxi, asked.pbf)
    _print("Recorded tracks", lambda: tracks(asked.tracks, settings), asked.tracks)


def _print(title: str, make: Callable[[], str], *needs: Path) -> None:
    missing = [place for place in needs if not place.exists()]
    if missing:
        print(f"{title}: not available ({missing[0]} is not there)\n", flush=True)
    else:
        print(f"### {title}\n\n{make()}", flush=True)


def matcher(network: pl.DataFrame, settings: MatchSettings) -> Matcher:
    """Return a matcher on a network frame, with its path table."""
    roads = Network.from_frame(network.select(NETWORK_COLUMNS))
    reach = PathTable.build(roads, bound_m=settings.table_bound_m, max_mb=settings.table_max_mb)
    return Matcher(roads, settings, reach)


def made_cases(folder: Path, settings: MatchSettings) -> str:
    """Return the table of the traces made to be hard, one row a case.

    Args:
        folder: `network.parquet`, `points.parquet` and `truth.parquet` (`trace_id, case, route,
            u_turns`).
        settings: Those of the matcher.
    """
    network, points, truth = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("network", "points", "truth")
    )
    found = matcher(network, settings).match(points)
    per_case = (
        right(truth, found.path)
        .join(found.trips.select("trace_id", found="u_turns"), on="trace_id", how="left")
        .group_by("case", maintain_order=True)
        .agg(pl.len(), pl.col("right", "found", "u_turns").sum())
    )
    rows = [
        [case, f"{traces}", f"{good}", f"{good / traces:.3f}", f"{turns}", f"{true_turns}"]
        for case, traces, good, turns, true_turns in per_case.iter_rows()
    ]
    return table(["case", "traces", "right", "share", "U-turns", "in truth"], rows)


def right(truth: pl.DataFrame, path: pl.DataFrame) -> pl.DataFrame:
    """Add to the truth whether the path of each trace is `right`, by the rules of this file.

    Args:
        truth: `trace_id, case, route` (edge ids in driving order).
        path: Matched path in driving order: `trace_id, part, edge_id`; a trace it lacks is wrong.
    """
    driven = dict(
        passages(path).group_by("trace_id", maintain_order=True).agg("edge_id").iter_rows()
    )
    parts = dict(path.group_by("trace_id").agg(pl.col("part").n_unique()).iter_rows())
    verdicts = []
    for trace_id, case, route in truth.select("trace_id", "case", "route").iter_rows():
        edges = driven.get(trace_id, [])
        if case in NEXT_TO:
            strayed = any(edge.split(":")[1].startswith(NEXT_TO[case]) for edge in edges)
            verdicts.append(set(route) <= set(edges) and not strayed)
        else:
            verdicts.append(edges == route and parts.get(trace_id) == 1)
    return truth.with_columns(right=pl.Series(verdicts, dtype=pl.Boolean))


def taxi_trips(csv: Path, pbf: Path, settings: MatchSettings) -> str:
    """Return the table of the real taxi trips: with the speeds of road classes, and without."""
    points, network = read_taxi_trips(csv), read_osm_network(pbf)
    bare = network.with_columns(speed_kph=pl.lit(None, dtype=pl.Float64))
    columns = [_taxi_figures(points, roads, settings) for roads in (network, bare)]
    # A status that only one of the two runs gives is 0 in the other.
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [[name, *(column.get(name, "0") for column in columns)] for name in names]
    return table([f"{len(points):,} points", "class speeds", "no speeds"], rows)


def _taxi_figures(
    points: pl.DataFrame, network: pl.DataFrame, settings: MatchSettings
) -> dict[str, str]:
    found = matcher(network, settings).match(points)
    ground = on_network(points, network)
    outliers, lost = (
        share(points, found.points, network) for share in (outliers_near_road, lost_near_road)
    )
    scores: dict[str, Any] = plausibility_scores(ground, found.path, found.points, network)
    return {
        "trips": f"{scores['trips']:,}",
        "route / GPS > 1.5, share of trips": f"{scores['over_1.5']:.4f}",
        "points matched, share": f"{scores['points_matched']:.4f}",
        "of those with a road within 100 m, share": f"{scores['near_matched']:.4f}",
        "outliers within 10 m of a road, share": f"{outliers:.4f}",
        "points within 10 m of a road on none, share": f"{lost:.4f}",
        "parts a trip": f"{scores['parts_per_trip']:.3f}",
        "jumps": f"{scores['jumps']}",
        "U-turns": f"{scores['u_turns']}",
        "U-turn pairs within 5 s": f"{u_turn_pairs(found.path, network)}",
        **{f"status `{name}`": f"{count:,}" for name, count in scores["status"].items()},
    }


def tracks(folder: Path, settings: MatchSettings) -> str:
    """Return the table of the recorded tracks, one row an interval, metres pooled over tracks."""
    metres: dict[int, list[pl.DataFrame]] = {interval: [] for interval in INTERVALS_S}
    turns = {interval: [0, 0] for interval in INTERVALS_S}
    for trace_id, source in enumerate(sorted(folder.iterdir())):
        network = read_track_network(source)
        ours = matcher(network, settings)
        for interval in INTERVALS_S:
            points, route = read_track(source, interval_s=interval, trace_id=trace_id)
            truth = route.to_frame().select(trace_id=pl.lit(trace_id, pl.Int64), edge_id="edge_id")
            path = ours.match(points).path
            metres[interval].append(trip_metres(truth, path, network))
            turns[interval][0] += int(joint_faults(path, network)["u_turns"])
            turns[interval][1] += u_turn_pairs(path, network)
    rows = []
    for interval, of_tracks in metres.items():
        scores = route_scores(pl.concat(of_tracks))
        named = (f"{scores[name]:.4f}" for name in ("f1", "precision", "recall"))
        rows.append([f"{interval} s", *named, *map(str, turns[interval])])
    return table(["interval", "F1", "P", "R", "U-turns", "pairs within 5 s"], rows)


if __name__ == "__main__":
    main()
