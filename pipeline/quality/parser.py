"""What the command `qc-text` asks for, without what is slow to import.

python -m pipeline qc-text monaco TRIP --field instruction_literal --text "..."
  ->  pipeline.quality.qc_command.check_sentence
"""

import argparse
from pathlib import Path

_DESCRIPTION = (
    "Hold any sentence against a trip: every name with what it rests on, every statement, what"
    " would be mended and what refused. Variety is a matter of all texts and is not looked at; what"
    " no rule settles is settled by the stated rules, no model is asked. Exit code 1 when the text"
    " would be refused."
)


Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add qc-text."""
    parser = commands.add_parser(
        "qc-text",
        help="hold any sentence against a trip, as quality control does",
        description=_DESCRIPTION,
    )
    parser.add_argument("city", metavar="CITY", help="a key under `cities:` in params.yaml")
    parser.add_argument("trip_id", metavar="TRIP_ID", help="id of a planned trip")
    parser.add_argument(
        "--field",
        required=True,
        metavar="FIELD",
        help="which of the seven texts it shall be, such as instruction_literal",
    )
    parser.add_argument("--text", required=True, metavar="TEXT", help="the text")
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    parser.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Check the text and print what was found."""
    from pipeline.quality.qc_command import check_sentence, print_verdict  # noqa: PLC0415

    said = check_sentence(
        Path.cwd(),
        arguments.city,
        arguments.trip_id,
        field=arguments.field,
        text=arguments.text,
    )
    print_verdict(said, as_json=arguments.json)
    return int(said["verdict"] == "reject")
