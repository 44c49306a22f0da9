"""What the commands `audit` and `diff` ask for, without what is slow to import.

python -m pipeline audit HEAD workspace --page out/audit.html
"""

import argparse
import sys
from pathlib import Path

from pipeline.options import at_least

_AUDIT = (
    "Compare the texts of two versions, trip by trip, on the trips that are told with the same"
    " draws: which inputs differ, the rendered prompts of a few trips, rows that changed, came or"
    " went, length, questions, variety, grounding, quality control and scores with intervals and"
    " tests, and the trips that got worse. A version is `workspace`, a git revision (its data come"
    " from DVC's cache or remote), or a folder with a copy of data/ or of one city's; or both are"
    " ledgers of answers (an export, or a folder of responses). Prints Markdown; changes nothing."
)
_DIFF = (
    "Compare two releases, record by record (the task instances of data/CITY/release): which are"
    " new, gone or changed, and why: trip, draws, model, prompt, parameters, check, judge,"
    " selection, schema. A version is named as for `audit`; a folder may also be a published"
    " release, or a city's folder in one. Prints Markdown; changes nothing."
)


Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add audit and diff."""
    _add_audit(commands)
    _add_diff(commands)


def _add_audit(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "audit",
        help="say what a change of prompt, model or parameter did to the texts",
        description=_AUDIT,
    )
    parser.add_argument("before", metavar="A", help="version before, such as HEAD or v1")
    parser.add_argument("after", metavar="B", help="version after, such as workspace")
    parser.add_argument(
        "--city",
        action="append",
        default=[],
        metavar="CITY",
        help="only this city; may be repeated (default: all of both)",
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write it to FILE (.html)")
    parser.add_argument("--json", action="store_true", help="print it as one JSON record")
    parser.add_argument(
        "--prompts",
        type=int,
        default=2,
        metavar="N",
        help="trips whose prompts are compared (default: %(default)s)",
    )
    parser.add_argument(
        "--worse",
        type=int,
        default=10,
        metavar="N",
        help="trips that got worse to show of a city (default: %(default)s)",
    )
    parser.set_defaults(command=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    """Compare two versions and tell what was found."""
    from pipeline.audit.audit import Options, audit  # noqa: PLC0415 - tables load when needed
    from pipeline.audit.printed import print_audit  # noqa: PLC0415

    options = Options(
        cities=arguments.city,
        prompts=at_least(0, "--prompts", arguments.prompts),
        worse=at_least(0, "--worse", arguments.worse),
    )
    report = audit(Path.cwd(), arguments.before, arguments.after, options=options)
    print_audit(report, page=arguments.page, as_json=arguments.json)
    if arguments.page:
        print(f"wrote {arguments.page}", file=sys.stderr)
    return 0


def _add_diff(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff",
        help="say which records of two releases differ, and why",
        description=_DIFF,
    )
    parser.add_argument("before", metavar="A", help="version before, such as v1")
    parser.add_argument("after", metavar="B", help="version after, such as v2")
    parser.add_argument(
        "--city",
        action="append",
        default=[],
        metavar="CITY",
        help="only this city; may be repeated (default: all of both)",
    )
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="also write every such record to FILE (.csv)"
    )
    parser.add_argument("--json", action="store_true", help="print it as one JSON record")
    parser.set_defaults(command=_diff)


def _diff(arguments: argparse.Namespace) -> int:
    """Compare two releases and tell what was found."""
    from pipeline.audit.diff import diff  # noqa: PLC0415 - tables load when needed
    from pipeline.audit.printed import print_diff  # noqa: PLC0415

    compared = diff(Path.cwd(), arguments.before, arguments.after, cities=arguments.city)
    print_diff(compared, records=arguments.records, as_json=arguments.json)
    if arguments.records:
        print(f"wrote {arguments.records}", file=sys.stderr)
    return 0
