"""What the commands show and metrics ask for, without what is slow to import.

python -m pipeline show monaco TRIP --page trip.html  ->  pipeline.show.show
"""

import argparse
from pathlib import Path

Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add show and metrics."""
    _add_show(commands)
    _add_metrics(commands)


def _add_show(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "show",
        help="print one trip's life: raw points, cleaning, matched segments, phases",
        description="Print one trip's life from raw points to phases. TRIP_ID may be the id of the"
        " raw, the cleaned or the matched trip. With --page, also write one self-contained HTML"
        " map of it that opens without a network.",
    )
    parser.add_argument("city", metavar="CITY", help="a key under `cities:` in params.yaml")
    parser.add_argument(
        "trip_id",
        metavar="TRIP_ID",
        nargs="?",
        help="id of a raw, cleaned or matched trip; left out: the loss table of the city, with ids",
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a map to FILE (.html)")
    parser.add_argument("--json", action="store_true", help="print the life as JSON")
    parser.add_argument("--all", action="store_true", help="do not shorten long lists")
    parser.set_defaults(command=_show)


def _show(arguments: argparse.Namespace) -> int:
    from pipeline.show.command import show  # noqa: PLC0415 - tables load when needed
    from pipeline.show.overview import overview_of  # noqa: PLC0415

    if arguments.trip_id is None:
        print("\n".join(overview_of(Path.cwd(), arguments.city)))
        return 0
    show(
        Path.cwd(),
        arguments.city,
        arguments.trip_id,
        page=arguments.page,
        as_json=arguments.json,
        all_rows=arguments.all,
    )
    return 0


def _add_metrics(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "metrics",
        help="print the metrics of the cities side by side",
        description="Print every metric, a figure a line and a city a column. They lie in git: no"
        " data is needed. `dvc metrics diff` says which of them a change has moved.",
    )
    parser.add_argument(
        "cities", metavar="CITY", nargs="*", help="keys under `cities:` (default: all of them)"
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="only the metrics file of this name, such as `check`; may be repeated (default: all)",
    )
    parser.set_defaults(command=_metrics)


def _metrics(arguments: argparse.Namespace) -> int:
    from pipeline.show.figures import figures_of  # noqa: PLC0415

    print("\n".join(figures_of(Path.cwd(), arguments.cities, only=arguments.only)))
    return 0
