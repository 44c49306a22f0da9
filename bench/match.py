"""Run our matcher and its peers on the same sets, in turns on one core, and print one table.

    python bench/match.py --trips 400 --rounds 3 --sets sim15,porto --peers fastmm,valhalla

Speeds are points per CPU-second, frame in to frame out, median of the rounds; only ratios within
one run mean anything. All figures also go to bench/work/match.json.
"""

import argparse
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import report
from bench.accuracy import (
    joint_faults,
    on_network,
    plausibility_scores,
    route_scores,
    trip_metres,
    truth_scores,
)
from bench.datasets import ROOT, WORK, Case, add_set_arguments, build_cases
from bench.processes import Process, UnavailableError

PEERS = ("fastmm", "valhalla", "osrm")
# A matcher this slow is timed once a set: its figure is far from any decision.
REPEATED_BELOW_S = 30.0


def main() -> None:
    """Compare our matcher with its peers and write the table."""
    asked = _arguments()
    cases = list(build_cases(tuple(asked.sets.split(",")), trips=asked.trips, pbf=asked.pbf))
    options = {"ours": {"variants": _variants(asked)}}
    results: dict[str, Any] = {"sets": {}, "startup": {}, "missing": {}, "scaling": {}}
    with ExitStack() as stack:
        processes = []
        for tool in ("ours", *(name for name in asked.peers.split(",") if name)):
            try:
                processes.append(stack.enter_context(Process(tool, WORK, options.get(tool, {}))))
            except UnavailableError as fault:
                results["missing"][tool] = str(fault)
        _compare(cases, processes, asked, results)
    print(report.render(results))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_set_arguments(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS), help="empty for ours alone")
    parser.add_argument("--core", type=int, default=0, help="core the matchers run on, in turns")
    parser.add_argument("--params", type=Path, default=ROOT / "params.yaml")
    parser.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="our matcher once more, with the section `match:` of FILE laid over that of --params",
    )
    return parser.parse_args()


def _variants(asked: argparse.Namespace) -> dict[str, dict[str, Any]]:
    section = yaml.safe_load(asked.params.read_text())["match"]
    variants = {"ours": section}
    for pair in asked.variant:
        name, _, file = pair.partition("=")
        variants[name] = section | yaml.safe_load(Path(file).read_text())["match"]
    return variants


def _compare(
    cases: list[Case],
    processes: list[Process],
    asked: argparse.Namespace,
    results: dict[str, Any],
) -> None:
    """Run case after case, one network at a time; a set is scored when its last case is done."""
    costs: dict[str, dict[str, list[list[float]]]] = {}
    last = {case.set_name: at for at, case in enumerate(cases)}
    for at, case in enumerate(cases):
        cost = costs.setdefault(case.set_name, {})
        for label, seconds in _rounds(case, processes, asked, results).items():
            cost.setdefault(label, []).append(seconds)
        if case.set_name == "sim15" and len(os.sched_getaffinity(0)) > 1:
            results["scaling"] = _scaling(case, processes[0], asked.core)
        if last[case.set_name] == at:
            same = [other for other in cases if other.set_name == case.set_name]
            results["sets"][case.set_name] = _set_result(same, cost)
            (WORK / "match.json").write_text(json.dumps(results, indent=1))
        print(f"{case.folder}: done", file=sys.stderr)


def _set_result(cases: list[Case], cost: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Return speed and scores of each matcher that got through all cases of a set."""
    points = sum(len(case.points()) for case in cases)
    return {
        label: {
            "points": points,
            "rounds": min(map(len, per_case)),
            "points_per_cpu_s": points / sum(median(seconds) for seconds in per_case),
        }
        | _scores(cases, label)
        for label, per_case in cost.items()
        if len(per_case) == len(cases)
    }


def _rounds(
    case: Case, processes: list[Process], asked: argparse.Namespace, results: dict[str, Any]
) -> dict[str, list[float]]:
    """Return the CPU seconds of each matcher by round; one that fails leaves the comparison."""
    taken: dict[str, list[float]] = {}
    for turn in range(asked.rounds):
        for process in list(processes):
            try:
                process.load(case, (asked.core,))
                _one_turn(case, process, turn, asked.core, taken)
            except UnavailableError as fault:
                results["missing"][process.tool] = f"failed on {case.folder.name}: {fault}"
                processes.remove(process)
            results["startup"].setdefault(case.network.parent.name, {})[process.tool] = (
                process.startup
            )
    return taken


def _one_turn(
    case: Case, process: Process, turn: int, core: int, taken: dict[str, list[float]]
) -> None:
    for variant in process.variants:
        label = _label(process.tool, variant)
        if turn and taken[label][0] > REPEATED_BELOW_S:
            continue
        out = None if turn else _output(case, label)
        told = process.match(case, variant, cores=(core,), out=out)
        taken.setdefault(label, []).append(told["cpu_s"])


def _label(tool: str, variant: str) -> str:
    return variant if tool == "ours" else f"{tool} {variant}"


def _output(case: Case, label: str) -> Path:
    return case.folder / "matched" / label.replace(" ", "-")


def _scores(cases: list[Case], label: str) -> dict[str, Any]:
    """Score one matcher on a set; the metres of several networks are pooled."""
    results = [_result(case, label) for case in cases]
    if not cases[0].truth():
        network = pl.read_parquet(cases[0].network)
        ground = on_network(cases[0].points(), network)
        return plausibility_scores(ground, *results[0], network)
    if len(cases) == 1:
        return truth_scores(cases[0].truth(), *results[0], pl.read_parquet(cases[0].network))
    metres, parts, faults = [], 0, []
    for case, (path, _) in zip(cases, results, strict=True):
        network = pl.read_parquet(case.network)
        metres.append(trip_metres(case.truth()["path"], path, network))
        parts += path.select(pl.struct("trace_id", "part").n_unique()).item()
        faults.append(joint_faults(path, network))
    pooled = {key: sum(fault[key] for fault in faults) for key in faults[0]}
    return route_scores(pl.concat(metres)) | {"parts_per_trip": parts / len(cases)} | pooled


def _result(case: Case, label: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    folder = _output(case, label)
    return pl.read_parquet(folder / "path.parquet"), pl.read_parquet(folder / "points.parquet")


def _scaling(case: Case, ours: Process, core: int) -> dict[str, float]:
    """Return wall seconds of our matcher with one worker and with two.

    The least of eight rounds each, in turns: on a shared machine whatever is above it is waiting.
    """
    other = next(c for c in sorted(os.sched_getaffinity(0)) if c != core)
    wall: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(8):
        for cores in ((core,), (core, other)):
            wall[len(cores)].append(ours.match(case, ours.variants[0], cores=cores)["wall_s"])
    one, two = min(wall[1]), min(wall[2])
    return {"wall_s_1": one, "wall_s_2": two, "gain": one / two}


if __name__ == "__main__":
    main()
