"""The actions of the command `tasks` and what they ask for, without what is slow to import.

python -m pipeline tasks score generation --release DIR --pred FILE --out REPORT.json
->  pipeline.tasks.command.score
"""

import argparse
from pathlib import Path

_DESCRIPTION = (
    "Score any model on the three tasks of a release: routes from instructions, trips from queries,"
    " captions from trips. Only the files of the release are read."
)
_EPILOG = """\
typical use:
  python -m pipeline tasks score generation --release data/release/helsinki \\
      --pred routes.jsonl --out report.json
  python -m pipeline tasks compare one.json other.json --by scenario
  python -m pipeline tasks board one.json other.json --page board.html \\
      --release data/release/helsinki --pred one.parquet --pred other.jsonl

  python -m pipeline tasks predict generation destsp_bm25 --release data/release/helsinki \\
      --out routes.parquet

Predictions are Parquet or JSONL, one row per instance: schemas/generation_prediction.schema.json,
retrieval_prediction.schema.json, caption_prediction.schema.json.

METEOR needs WordNet: `make wordnet`, or `python -m pipeline.tasks.wordnet FILE FILE` with Debian's
packages wordnet-base and wordnet-sense-index. Without it the measure is `meteor_exact_stem`.

`tasks ACTION --help` says more.
"""
_SCORE = (
    "Score predictions and write a report: every value, means with 95 % intervals over trips,"
    " groups, coverage, floors and ceilings. What is missing or invalid is scored as wrong, never"
    " left out; what cannot be meant (doubled ids, another city, wrong types) is refused."
)
_COMPARE = (
    "Compare two reports on the same instances: differences (B - A) with 95 % intervals over trips,"
    " paired permutation tests, p-values corrected over the measures (Holm), for all instances and"
    " each value of each group. Reports of other tasks, splits, releases or options are refused."
)
_BOARD = (
    "Show reports side by side on one page that opens from disk without a network: a sortable table"
    " with floors and ceilings, breakdowns with charts, and, with --release and --pred, the best, a"
    " middling and the worst example of each model on a map. Each task, city and split has its own"
    " section; reports of one section must share release and options."
)
_PREDICT = (
    "Answer a split with one of the project's own models. A model is handed what models may see"
    " and nothing else: of the split that is answered, the inputs alone."
)
TASKS = ("generation", "retrieval", "captioning")

Actions = argparse._SubParsersAction


def add_commands(commands: "Actions[argparse.ArgumentParser]") -> None:
    """Add tasks."""
    parser = commands.add_parser(
        "tasks",
        help="score a model's routes, retrieved trips or captions on a release",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    _add_score(actions)
    _add_predict(actions)
    _add_compare(actions)
    _add_board(actions)


def _add_score(actions: "Actions[argparse.ArgumentParser]") -> None:
    score = actions.add_parser("score", help="score predictions", description=_SCORE)
    score.add_argument("task", choices=TASKS, help="which task the predictions answer")
    score.add_argument(
        "--release", metavar="DIR", type=Path, required=True,
        help="folder of one city, such as data/release/helsinki",
    )  # fmt: skip
    score.add_argument(
        "--pred", metavar="FILE", type=Path, required=True, help="predictions, .parquet or .jsonl"
    )
    score.add_argument("--out", metavar="REPORT.json", type=Path, required=True)
    score.add_argument(
        "--split", choices=("train", "val", "test"), default="test",
        help="which split is scored (default: %(default)s)",
    )  # fmt: skip
    score.add_argument(
        "--name", help="what the model is called (default: the name of the prediction file)"
    )
    score.add_argument(
        "--option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="another value of a key of `score_<task>` in params.yaml, such as"
        " points=densified; may be repeated (default: the values there)",
    )
    score.set_defaults(command=_score)


def _score(arguments: argparse.Namespace) -> int:
    from pipeline.tasks.command import score  # noqa: PLC0415 - libraries load when needed

    return score(arguments)


def _add_predict(actions: "Actions[argparse.ArgumentParser]") -> None:
    predict = actions.add_parser("predict", help="answer with a baseline", description=_PREDICT)
    predict.add_argument("task", choices=TASKS, nargs="?", help="which task is answered")
    predict.add_argument("model", nargs="?", help="name of a model; --list shows them")
    predict.add_argument("--list", action="store_true", help="list the models of each task")
    predict.add_argument(
        "--release", metavar="DIR", type=Path,
        help="folder of one city, such as data/release/helsinki",
    )  # fmt: skip
    predict.add_argument("--out", metavar="FILE", type=Path, help="predictions, .parquet")
    predict.add_argument(
        "--split", choices=("val", "test"), default="test",
        help="which split is answered (default: %(default)s)",
    )  # fmt: skip
    predict.set_defaults(command=_predict)


def _predict(arguments: argparse.Namespace) -> int:
    from pipeline.tasks.predict import predict  # noqa: PLC0415 - libraries load when needed

    return predict(arguments)


def _add_compare(actions: "Actions[argparse.ArgumentParser]") -> None:
    compare = actions.add_parser("compare", help="compare two reports", description=_COMPARE)
    compare.add_argument("first", metavar="A.json", type=Path, help="a report of `tasks score`")
    compare.add_argument("second", metavar="B.json", type=Path, help="another")
    compare.add_argument("--out", metavar="FILE", type=Path, help="also write it to FILE, as JSON")
    compare.add_argument(
        "--by",
        metavar="GROUP",
        help="print a table for each value of a group, such as scenario (default: only how many"
        " measures differ clearly)",
    )
    compare.set_defaults(command=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    from pipeline.tasks.command import compare  # noqa: PLC0415 - libraries load when needed

    return compare(arguments)


def _add_board(actions: "Actions[argparse.ArgumentParser]") -> None:
    board = actions.add_parser("board", help="show reports on one page", description=_BOARD)
    board.add_argument(
        "reports", metavar="REPORT.json", type=Path, nargs="+", help="reports of `tasks score`"
    )
    board.add_argument("--page", metavar="FILE.html", type=Path, required=True)
    board.add_argument(
        "--release", metavar="DIR", type=Path, action="append", default=[],
        help="folder of a release that was scored on, for examples; one for each city"
        " (default: no examples)",
    )  # fmt: skip
    board.add_argument(
        "--pred", metavar="FILE", type=Path, action="append", default=[],
        help="predictions to take examples from; may be repeated, in any order: a file belongs to"
        " the reports that hold its hash (default: no examples)",
    )  # fmt: skip
    board.add_argument(
        "--citations", action="store_true", help="add the paper's tables of these tasks, apart"
    )
    board.set_defaults(command=_board)


def _board(arguments: argparse.Namespace) -> int:
    from pipeline.tasks.command import board  # noqa: PLC0415 - libraries load when needed

    return board(arguments)
