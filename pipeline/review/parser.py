"""The actions of the command `review` and what they ask for, without what is slow to import.

python -m pipeline review export helsinki --raters H1,H2  ->  pipeline.review.export.export
"""

import argparse
from pathlib import Path

_EPILOG = """\
typical use:
  python -m pipeline review export helsinki --raters H1,H2,H3      the trips that `select` chose
  python -m pipeline review export helsinki --raters H1 -n 20      twenty of all checked trips
  python -m pipeline review import helsinki-H1.jsonl               what a rater sent back
  python -m pipeline review import *.jsonl --dry-run               what would be merged

`review ACTION --help` says more.
"""
_EXPORT = (
    "Write data/reviews/CITY/assignment.json, which says who rates which trips in which order, and"
    " one HTML page for all raters. It opens from disk without a network, asks who rates, keeps"
    " every step in the browser, and exports a file for `review import`."
)
_IMPORT = (
    "Check exported files line by line against the assignments and merge them into"
    " data/reviews/CITY/RATER.jsonl. One faulty line stops the import before anything is written."
    " What is there already stands; the same file may come twice."
)


Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add review."""
    parser = commands.add_parser(
        "review",
        help="let people score texts on a page, and bring their scores in",
        description="People score what quality control let pass, by the rubric models judge by, on"
        " a page with the map of each trip. The stage `agree` compares their scores.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=_run)
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    export = actions.add_parser("export", help="write assignment and page", description=_EXPORT)
    export.add_argument("city", metavar="CITY", help="a key under `cities:` in params.yaml")
    export.add_argument(
        "--raters", required=True, metavar="A,B,C", help="codes of the raters; no names"
    )
    export.add_argument(
        "--overlap",
        type=int,
        metavar="N",
        help="trips that all rate, the others are dealt out (default: all rate all)",
    )
    which = export.add_mutually_exclusive_group()
    which.add_argument(
        "--trips",
        type=Path,
        metavar="FILE",
        help="trips to rate, one id a line (default: those that `select` chose)",
    )
    which.add_argument("-n", type=int, metavar="N", help="draw N checked trips by a hash of the id")
    export.add_argument(
        "--page", type=Path, metavar="FILE", help="page to write (default: out/review-CITY.html)"
    )
    export.add_argument(
        "--replace",
        action="store_true",
        help="allow to withdraw what was asked before, or to replace a broken assignment",
    )
    bring = actions.add_parser("import", help="merge what raters sent", description=_IMPORT)
    bring.add_argument("files", metavar="FILE", nargs="+", type=Path, help="an exported file")
    bring.add_argument(
        "--update",
        action="store_true",
        help="a new score replaces another one of the same rater; the other is set aside",
    )
    bring.add_argument(
        "--set-aside",
        action="store_true",
        help="ratings of other texts or another rubric go to data/reviews/CITY/set_aside",
    )
    bring.add_argument("--dry-run", action="store_true", help="write nothing, list every fault")
    bring.add_argument("--all", action="store_true", help="name every trip without all scores")


def _run(arguments: argparse.Namespace) -> int:
    """Do one action in the project in the current folder; 1 where a dry run finds a fault."""
    from pipeline.review import export, merge  # noqa: PLC0415 - tables load when needed

    if arguments.action == "export":
        wish = export.ExportWish(
            raters=[rater.strip() for rater in arguments.raters.split(",")],
            overlap=arguments.overlap,
            named=arguments.trips,
            drawn=arguments.n,
            page=arguments.page,
            replace=arguments.replace,
        )
        lines = list(export.export(Path.cwd(), arguments.city, wish))
    else:
        asked = merge.ImportWish(
            update=arguments.update,
            set_aside=arguments.set_aside,
            dry_run=arguments.dry_run,
            all_rows=arguments.all,
        )
        lines = list(merge.import_files(Path.cwd(), arguments.files, asked))
    print("\n".join(lines))
    return int(any(line.startswith(merge.WOULD_STOP) for line in lines))
