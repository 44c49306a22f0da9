"""The actions of the command `ledger` and what they ask for, without what is slow to import.

python -m pipeline ledger stats --json  ->  pipeline.language.ledger_command.print_stats
"""

import argparse
from pathlib import Path

EPILOG = """\
typical use:
  python -m pipeline ledger stats                        what is kept, what failed and why
  python -m pipeline ledger export answers.parquet --task annotate
  python -m pipeline ledger import answers.parquet       on another machine
  python -m pipeline ledger import data/porto/responses  rebuild Porto's texts without a model
  python -m pipeline ledger gc --failed                  ask again what has no answer
  python -m pipeline ledger gc --keep data/*/*responses --dry-run

`ledger ACTION --help` says more. The ledger lies where `ledger:` in params.yaml says.
"""
_STATS = (
    "Print for each task and model how many requests were asked and attempts made, how many answers"
    " are good and why the others are not, tokens and bytes. A failed attempt is kept with its"
    " text."
)
_EXPORT = (
    "Write answers to FILE, sorted, in the form of schemas/response.schema.json. Times are left"
    " out: the same answers give the same bytes. Whoever imports the file runs every later step"
    " without a model."
)
_IMPORT = (
    "Bring answers in. All rows are checked before the first is kept; a row that is there already"
    " stands as it is. After `ledger import data/CITY/responses` the stage that made them finds"
    " every answer and starts no model."
)
_GC = (
    "Forget answers and give their room back. With --keep every answer goes whose key is in none of"
    " the files. With --failed the attempts of requests without an answer go, so that they are"
    " asked again from the first, with the same seeds (after a timeout, say); to go on with new"
    " seeds raise `attempts` in params.yaml instead."
)


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add stats, export, import and gc to the parser of `ledger`."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    stats = actions.add_parser("stats", help="what is kept, by task and model", description=_STATS)
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    export = actions.add_parser("export", help="write answers to a file", description=_EXPORT)
    export.add_argument("file", metavar="FILE.parquet", type=Path, help="is replaced if it exists")
    export.add_argument("--task", help="only answers of this task, such as `annotate`")
    export.add_argument("--model", help="only answers of this model, whatever its revision")
    bring = actions.add_parser("import", help="bring answers in", description=_IMPORT)
    bring.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="an exported file, or a folder of such"
    )
    gc = actions.add_parser("gc", help="forget what nothing needs", description=_GC)
    gc.add_argument(
        "--keep", metavar="PATH", nargs="+", type=Path, help="responses whose keys stay"
    )
    gc.add_argument("--failed", action="store_true", help="forget requests without an answer")
    gc.add_argument("--dry-run", action="store_true", help="only say what would go")


def run(arguments: argparse.Namespace) -> int:
    """Do one action on the ledger of the project in the current folder."""
    from pipeline.language import ledger_command  # noqa: PLC0415 - tables load when needed
    from pipeline.params import Parameters  # noqa: PLC0415
    from pipeline.runner import ledger_folder  # noqa: PLC0415

    folder = ledger_folder(Path.cwd(), Parameters(Path.cwd()))
    if arguments.action == "stats":
        lines = ledger_command.stats(folder, as_json=arguments.json)
    elif arguments.action == "export":
        lines = ledger_command.export_answers(
            folder, arguments.file, task=arguments.task, model=arguments.model
        )
    elif arguments.action == "import":
        lines = ledger_command.import_answers(folder, arguments.paths)
    else:
        lines = ledger_command.gc(
            folder, keep=arguments.keep, failed=arguments.failed, dry_run=arguments.dry_run
        )
    for line in lines:
        print(line)
    return 0
