"""What the command `match-file` asks for, without what is slow to import.

python -m pipeline match-file --network NET.parquet --points POINTS.parquet --out DIR
  ->  pipeline.trips.matching.match_file.match_file
"""

import argparse
from pathlib import Path

from pipeline.options import at_least

Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add match-file."""
    _add_match(commands)


def _add_match(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "match-file",
        help="match anybody's GPS points to anybody's road network, without a project",
        description="Match points to a network. NETWORK: edge_id, u, v, length_m, speed_kph (may be"
        " null), geometry (WKB, lon/lat, in driving direction; a two-way street is two rows)."
        " POINTS: trace_id, t (seconds), lon, lat. Writes path.parquet, points.parquet and"
        " trips.parquet to DIR.",
    )
    parser.add_argument("--network", type=Path, required=True, metavar="NET.parquet")
    parser.add_argument("--points", type=Path, required=True, metavar="POINTS.parquet")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="threads; 0 = all cores (default: %(default)s)",
    )
    parser.add_argument(
        "--params",
        type=Path,
        metavar="FILE",
        help="YAML file whose section `match:` is used (default: this project's params.yaml)",
    )
    parser.set_defaults(command=_match_file)


def _match_file(arguments: argparse.Namespace) -> int:
    from pipeline.params import section_of  # noqa: PLC0415
    from pipeline.trips.matching.match_file import match_file  # noqa: PLC0415
    from pipeline.trips.matching.settings import MatchSettings  # noqa: PLC0415

    workers = at_least(0, "--workers", arguments.workers)
    file = arguments.params or Path(__file__).resolve().parents[2] / "params.yaml"
    counts = match_file(
        arguments.network,
        arguments.points,
        arguments.out,
        settings=section_of(file, "match", MatchSettings),
        workers=workers,
    )
    print(
        f"{counts.traces:,} traces, {counts.points:,} points: {counts.placed:,} points on a road,"
        f" {counts.parts:,} connected drives; why not more: trips.parquet, points.parquet"
    )
    return 0
