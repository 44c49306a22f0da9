"""The actions of the command `stride` and what they ask for, without what is slow to import.

python -m pipeline stride score --benchmark B.json --states S.npz --out R.json  ->  command.score
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from pipeline.stride.construction_parser import add_construction

_DESCRIPTION = (
    "Measure trajectories of crowds and score them against a STRIDE benchmark, on anybody's files"
    " and without a project."
)
_EPILOG = """\
typical use:
  python -m pipeline stride measure states.npz --dt 0.4 --json
  python -m pipeline stride score --benchmark bench.json --states states.npz --out report.json
  python -m pipeline stride compare ours.json theirs.json --csv table.csv
  python -m pipeline stride page report.json --states states.npz --scenario 0000 --out page.html
  python -m pipeline stride import eth_obsmat obsmat.txt --fps 15 --id 0000 --out states.npz

States are (T, N, 7) arrays: x, y, vx, vy, goal x, goal y, radius; who is absent is at x = y = 0.
`stride ACTION --help` says more.
"""
_MEASURE = (
    "Compute all measures of one array. --mode reference gives the 20 measures exactly as the"
    " published scorer; strict gives no value where there is no data or the input"
    " cannot be trusted, and the corrected measures too."
)
_SCORE = (
    "Score trajectories against a benchmark: an .npz with the scenarios' ids as keys, or a folder"
    " of ID/sim.npz. --mode reference reproduces the published scorer, faults included; in strict"
    " mode what is not finite, unknown, missing or cannot be trusted fails."
)
_COMPARE = (
    "Put reports of several generators on one benchmark side by side. All must be of one mode and"
    " one version of the benchmark."
)
_PAGE = (
    "Write one self-contained HTML file: a scenario's movement, animated over its map, the failed"
    " checks beside it, and the figures of the report (and of further reports, for comparison)."
)
_IMPORT = (
    "Read a recording or simulation and write it as states. Absent stays absent, goals are last"
    " positions, radii are made up; frames that change phase are snapped to one grid; what was left"
    " out or snapped is reported. FORMAT: eth_obsmat, four_columns, trajnetpp, pedpy_text, jupedsim"
    " (sqlite), mot (boxes, with --homography), table (CSV or Parquet, with --columns; also the CSV"
    " of Pathfinder and JuPedSim)."
)
_VALIDATE = (
    "Score recordings of real crowds on the questions of patterns (prompts/stride/patterns.yaml)"
    " and print values next to ranges. Import each recording first (`stride import`); PATTERN=FILE"
    " names the pattern it is of: what it misses then casts doubt on the range, not on the crowd."
    " ETH, HOTEL: crossing; a corridor in one direction: stream; a bottleneck: packed."
)

Actions = argparse._SubParsersAction


def add_commands(commands: "Actions[argparse.ArgumentParser]") -> None:
    """Add stride."""
    parser = commands.add_parser(
        "stride",
        help="score the movement of crowds against what a text says of them (STRIDE)",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    _add_measure(actions)
    _add_score(actions)
    _add_compare(actions)
    _add_page(actions)
    _add_import(actions)
    _add_validate(actions)
    add_construction(actions)


def _add_measure(actions: "Actions[argparse.ArgumentParser]") -> None:
    measure = actions.add_parser("measure", help="all measures of one array", description=_MEASURE)
    measure.add_argument("states", metavar="STATES.npz", type=Path)
    measure.add_argument("--key", metavar="K", help="array in the file, if it holds several")
    measure.add_argument("--map", metavar="MAP.npz", type=Path, help="walls, key `obstacles`")
    measure.add_argument(
        "--param",
        metavar="FUNCTION.NAME=VALUE",
        action="append",
        default=[],
        help="another value of a parameter, such as clustering_trend.eps_mult=2.5; may be repeated"
        " (default: the published values)",
    )
    measure.add_argument("--json", action="store_true", help="print it as JSON")
    _add_reading(measure)
    measure.set_defaults(command=_starter("measure"))


def _add_score(actions: "Actions[argparse.ArgumentParser]") -> None:
    score = actions.add_parser("score", help="score a generator", description=_SCORE)
    score.add_argument("--benchmark", metavar="BENCH.json", type=Path, required=True)
    score.add_argument("--states", metavar="STATES.npz|DIR", type=Path, required=True)
    score.add_argument(
        "--id", metavar="ID", help="the scenario that a file of one array is of, whatever its key"
    )
    score.add_argument("--out", metavar="REPORT.json", type=Path, required=True)
    score.add_argument("--csv", metavar="CHECKS.csv", type=Path, help="also a row per check")
    score.add_argument(
        "--generator", metavar="NAME", help="what made the states (default: the name of their file)"
    )
    score.add_argument(
        "--maps", metavar="DIR", type=Path, help="folder of MAP/map.npz, MAP as in `scenario_id`"
    )
    _add_reading(score)
    score.set_defaults(command=_starter("score"))


def _add_compare(actions: "Actions[argparse.ArgumentParser]") -> None:
    compare = actions.add_parser("compare", help="reports side by side", description=_COMPARE)
    compare.add_argument("reports", metavar="REPORT.json", nargs="+", type=Path)
    compare.add_argument("--csv", metavar="FILE", type=Path, help="write the table as CSV")
    compare.add_argument("--json", action="store_true", help="print it as JSON")
    compare.set_defaults(command=_starter("compare"))


def _add_page(actions: "Actions[argparse.ArgumentParser]") -> None:
    page = actions.add_parser("page", help="look at one scenario", description=_PAGE)
    page.add_argument("reports", metavar="REPORT.json", nargs="+", type=Path)
    page.add_argument("--states", metavar="STATES.npz|DIR", type=Path, required=True)
    page.add_argument("--scenario", metavar="ID", required=True)
    page.add_argument("--map", metavar="MAP.npz", type=Path, help="walls, key `obstacles`")
    page.add_argument("--out", metavar="PAGE.html", type=Path, required=True)
    page.set_defaults(command=_starter("page"))


def _add_import(actions: "Actions[argparse.ArgumentParser]") -> None:
    bring = actions.add_parser("import", help="recordings as states", description=_IMPORT)
    bring.add_argument("format", metavar="FORMAT")
    bring.add_argument("source", metavar="FILE", type=Path)
    bring.add_argument("--out", metavar="STATES.npz", type=Path, required=True)
    bring.add_argument(
        "--id",
        metavar="ID",
        help="the scenario it is of, so that `score` takes the file as it is (default: none, see"
        " `score --id`)",
    )
    bring.add_argument("--fps", metavar="F", type=float, help="frame numbers a second")
    bring.add_argument("--unit", choices=("m", "cm"), help="of x and y, if the file does not say")
    bring.add_argument("--homography", metavar="H.txt", type=Path, help="3 x 3, pixels to metres")
    bring.add_argument(
        "--pixel-order", choices=("xy", "row_column"), help="what the homography takes"
    )
    bring.add_argument(
        "--columns",
        metavar="id=NAME,x=NAME,...",
        help="columns of a table, unless they are called id, x, y, frame or time, vx, vy",
    )
    bring.add_argument(
        "--radius", metavar="M", type=float, default=0.2, help="of everybody (default: %(default)s)"
    )
    bring.add_argument(
        "--resample",
        metavar="S",
        type=float,
        help="seconds between frames wanted; also for times that are uneven",
    )
    bring.set_defaults(command=_starter("bring"))


def _add_validate(actions: "Actions[argparse.ArgumentParser]") -> None:
    validate = actions.add_parser(
        "validate", help="the questions of patterns on real recordings", description=_VALIDATE
    )
    validate.add_argument("recordings", metavar="[PATTERN=]STATES.npz", nargs="+")
    validate.add_argument(
        "--pattern",
        metavar="NAME",
        action="append",
        help="a pattern to score on; may be repeated (default: those of the recordings, else all)",
    )
    validate.add_argument("--json", action="store_true", help="print it as JSON")
    _add_times(validate)
    validate.set_defaults(command=_validate)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how states are read."""
    parser.add_argument(
        "--mode",
        choices=("reference", "strict"),
        default="strict",
        help="how missing and faulty values count, see above (default: %(default)s)",
    )
    _add_times(parser)


def _add_times(parser: argparse.ArgumentParser) -> None:
    """Add how states are read, but for the mode."""
    parser.add_argument(
        "--dt", metavar="S", type=float, help="seconds from one frame to the next, if known"
    )
    parser.add_argument(
        "--absent",
        choices=("zero", "zero_row", "nan"),
        help="who is absent: at x = y = 0, with a row of zeros, with NaN for x and y"
        " (default: zero, and doubtful rows are told)",
    )
    parser.add_argument(
        "--velocity",
        choices=("columns", "positions"),
        default="columns",
        help="take velocities from their columns, or derive them from positions"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--resample", metavar="S", type=float, help="seconds between frames wanted, such as 0.4"
    )


def _validate(arguments: argparse.Namespace) -> int:
    from pipeline.stride.validation import validate  # noqa: PLC0415 - it reads the patterns

    return validate(arguments)


def _starter(action: str) -> Callable[[argparse.Namespace], int]:
    def start(arguments: argparse.Namespace) -> int:
        from pipeline.stride import command  # noqa: PLC0415 - numbers load when needed

        return command.ACTIONS[action](arguments)

    return start
