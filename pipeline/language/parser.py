"""What the commands plan, seed and ledger ask for, without what is slow to import.

python -m pipeline ledger stats --json  ->  pipeline.language.ledger_command.stats
"""

import argparse
from pathlib import Path

from pipeline.options import at_least

_LEDGER = """\
typical use:
  python -m pipeline ledger stats                        what is kept, what failed and why
  python -m pipeline ledger export answers.parquet --task annotate
  python -m pipeline ledger import answers.parquet       on another machine
  python -m pipeline ledger import data/porto/responses  rebuild Porto's texts without a model
  python -m pipeline ledger verify                       is every answer what was recorded?
  python -m pipeline ledger gc --damaged                 drop what is not: it is asked again
  python -m pipeline ledger gc --failed                  ask again what has no answer
  python -m pipeline ledger gc --keep data/*/*responses --dry-run

`ledger ACTION --help` says more. The ledger lies where `ledger:` in params.yaml says.
"""
_STATS = (
    "Print for each task and model how many requests were asked and attempts made, how many answers"
    " are good and why the others are not, tokens and bytes. A failed attempt is kept with its"
    " text; what a server failed to answer is no attempt."
)
_EXPORT = (
    "Write answers to FILE, sorted, in the form of schemas/response.schema.json. Times are left"
    " out: the same answers give the same bytes. Whoever imports the file runs every later step"
    " without a model. What is damaged is left out and named."
)
_VERIFY = (
    "Compare every answer with the checksum it was recorded with, and print key, item and attempt"
    " of each that is another now or cannot be read. Exits 1 if there is one."
)
_IMPORT = (
    "Bring answers in. All rows are checked before the first is kept; a row that is there already"
    " stands as it is. After `ledger import data/CITY/responses` the stage that made them finds"
    " every answer and starts no model."
)
_GC = (
    "Forget answers and give their room back. With --keep every answer goes whose key is in none of"
    " the files. With --failed the attempts of requests without an answer go, so that they are"
    " asked again from the first, with the same seeds; to go on with new seeds raise `attempts` in"
    " params.yaml instead. With --damaged what `verify` finds goes, and a file that is damaged as a"
    " whole is written anew from what can be read."
)

Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add plan, seed and ledger."""
    _add_plan(commands)
    _add_seed(commands)
    _add_ledger(commands)


def _add_plan(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "plan",
        help="say what a run would ask of a model: requests, tokens, time, changed prompts",
        description="Render the requests of every stage that asks a model, with prompts and"
        " params.yaml as they are now, and say for each how many the ledger can answer, how many"
        " are new, what they would cost in tokens and time (as measured with this model; else"
        " unknown), and which prompts differ from those of a git revision. `template` is no model,"
        " reads no prompt and costs nothing; `rules` have no requests. Starts no model, writes"
        " nothing.",
    )
    parser.add_argument(
        "cities",
        metavar="CITY",
        nargs="*",
        help="keys under `cities:` (default: all of them, and the stages of the whole project)",
    )
    parser.add_argument(
        "--against",
        metavar="REV",
        help="git revision to compare with (default: HEAD)",
    )
    parser.add_argument(
        "--diffs",
        type=int,
        default=2,
        metavar="N",
        help="changed prompts to show of each task (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the plans as JSON")
    parser.set_defaults(command=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from pipeline.language.plan import plan, print_plans  # noqa: PLC0415

    diffs = at_least(0, "--diffs", arguments.diffs)
    plans = plan(Path.cwd(), arguments.cities, against=arguments.against, diffs=diffs)
    print_plans(plans, as_json=arguments.json)
    return 0


def _add_seed(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "seed",
        help="let a model write seed examples for the prompts of `annotate`",
        description="Draw planned trips that are no seed example yet, ask the model of the section"
        " `seeding` of params.yaml for their nine fields, and add those that keep"
        " schemas/seed.schema.json to prompts/annotate/seeds/CITY.jsonl. Prompts change with them:"
        " see `plan`. Answers go to the response ledger.",
    )
    parser.add_argument("city", metavar="CITY", help="a key under `cities:` in params.yaml")
    parser.add_argument(
        "-n",
        type=int,
        default=10,
        metavar="N",
        help="trips to ask about (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print them, add none to the file")
    parser.set_defaults(command=_seed)


def _seed(arguments: argparse.Namespace) -> int:
    from pipeline.language.seeding import more_seeds, print_seeding  # noqa: PLC0415

    number = at_least(1, "-n", arguments.n)
    seeding = more_seeds(Path.cwd(), arguments.city, n=number, dry_run=arguments.dry_run)
    print_seeding(seeding, dry_run=arguments.dry_run)
    return 0


def _add_ledger(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "ledger",
        help="see, carry and tidy the answers of models",
        description="Every answer a model gave is kept by the key of its request (prompt, schema,"
        " model, sampling), so that none is asked for twice.",
        epilog=_LEDGER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_ledger_actions(parser)
    parser.set_defaults(command=_ledger)


def _add_ledger_actions(parser: argparse.ArgumentParser) -> None:
    """Add stats, export, import, verify and gc to the parser of `ledger`."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    stats = actions.add_parser("stats", help="what is kept, by task and model", description=_STATS)
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    export = actions.add_parser("export", help="write answers to a file", description=_EXPORT)
    export.add_argument("file", metavar="FILE.parquet", type=Path, help="is replaced if it exists")
    export.add_argument(
        "--task", help="only answers of this task, such as `annotate` (default: of all)"
    )
    export.add_argument(
        "--model", help="only answers of this model, whatever its revision (default: of all)"
    )
    bring = actions.add_parser("import", help="bring answers in", description=_IMPORT)
    bring.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="an exported file, or a folder of such"
    )
    actions.add_parser("verify", help="find damaged answers", description=_VERIFY)
    gc = actions.add_parser("gc", help="forget what nothing needs", description=_GC)
    gc.add_argument(
        "--keep", metavar="PATH", nargs="+", type=Path, help="responses whose keys stay"
    )
    gc.add_argument("--failed", action="store_true", help="forget requests without an answer")
    gc.add_argument("--damaged", action="store_true", help="forget what is damaged")
    gc.add_argument("--dry-run", action="store_true", help="only say what would go")


def _ledger(arguments: argparse.Namespace) -> int:
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
    elif arguments.action == "verify":
        lines = ledger_command.verify(folder)
    else:
        lines = ledger_command.gc(
            folder,
            keep=arguments.keep,
            failed=arguments.failed,
            damaged=arguments.damaged,
            dry_run=arguments.dry_run,
        )
    for line in lines:
        print(line)
    return 0
