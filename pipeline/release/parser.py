"""What the command `loss` asks for, without what is slow to import.

python -m pipeline loss helsinki --form json  ->  pipeline.release.command.loss_text
"""

import argparse
from pathlib import Path

_LOSS = (
    "Print the loss table: for each city the raw trips, what each stage refused and why, and what"
    " is released; every column adds up. Read from metrics, no data is needed."
)


Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add loss."""
    parser = commands.add_parser(
        "loss",
        help="tell how many trips are released, and where and why the others were lost",
        description=_LOSS,
    )
    parser.add_argument(
        "cities",
        metavar="CITY",
        nargs="*",
        help="keys under `cities:` (default: all with an account)",
    )
    parser.add_argument(
        "--form",
        choices=("plain", "markdown", "json"),
        default="plain",
        help="how to print it (default: %(default)s)",
    )
    parser.set_defaults(command=_loss)


def _loss(arguments: argparse.Namespace) -> int:
    from pipeline.release.command import loss_text  # noqa: PLC0415

    print(loss_text(Path.cwd(), arguments.cities, form=arguments.form))
    return 0
