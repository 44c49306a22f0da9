"""What the commands about the project ask for: run, stages, dvc, check, validate.

    python -m pipeline check porto --json  ->  pipeline.check.check_city

Libraries that are slow to import are imported by the command that runs.
"""

import argparse
from pathlib import Path

Commands = argparse._SubParsersAction


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add run, stages, dvc, check and validate."""
    _add_run(commands)
    _add_stages(commands)
    _add_dvc(commands)
    _add_check(commands)
    _add_validate(commands)


def _add_run(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "run",
        help="run one stage for one city (DVC calls this; `dvc repro STAGE@CITY` is what you want)",
        description="Run one stage for one city, whatever DVC thinks of it. `dvc repro STAGE@CITY`"
        " runs it only when something it depends on has changed, and what comes before it.",
    )
    parser.add_argument("stage", metavar="STAGE", help="a row of `python -m pipeline stages`")
    parser.add_argument(
        "city",
        metavar="CITY",
        nargs="?",
        help="a key under `cities:` in params.yaml; left out for a stage of all cities (publish)",
    )
    parser.add_argument(
        "--replay",
        action="store_true",
        help="start no model: take every answer from the response ledger, or say what is missing",
    )
    parser.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> int:
    from pipeline.runner import run_stage  # noqa: PLC0415 - stage libraries load when needed

    run_stage(arguments.stage, arguments.city, root=Path.cwd(), replay=arguments.replay)
    return 0


def _add_stages(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("stages", help="list the journey: every stage and what it makes")
    parser.set_defaults(command=_stages)


def _stages(_: argparse.Namespace) -> int:
    from pipeline.stages import STAGES  # noqa: PLC0415

    for stage in STAGES:
        print(f"{stage.name:<13} {stage.desc}")
        print(f"{'':<13} {', '.join(stage.reads) or 'nothing'} -> {', '.join(stage.writes)}")
    return 0


def _add_dvc(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "dvc",
        help="write dvc.yaml from the stage table",
        description="Write dvc.yaml from pipeline/stages.py. With --check nothing is written: exit"
        " code 1 and a difference when the committed file is stale.",
    )
    parser.add_argument("--check", action="store_true", help="only tell whether it is stale")
    parser.set_defaults(command=_dvc)


def _dvc(arguments: argparse.Namespace) -> int:
    from pipeline.dvcfile import check_dvcfile, write_dvcfile  # noqa: PLC0415

    if arguments.check:
        check_dvcfile(Path.cwd())
    else:
        write_dvcfile(Path.cwd())
    return 0


def _add_check(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "check",
        help="say what is missing or suspicious in a city before any heavy work",
        description="Look at a city's parameters, raw files and, where they exist already, roads,"
        " places and traces, and list what is missing or suspicious: bounding box, time zone,"
        " swapped coordinates, unnamed roads, POIs per cell, points near a road, sizes. Exit code 1"
        " when something would stop or spoil the run.",
    )
    parser.add_argument("city", metavar="CITY", help="name of configs/CITY.yaml")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    from pipeline.check import check_city, print_findings  # noqa: PLC0415

    findings = check_city(arguments.city, root=Path.cwd())
    print_findings(findings, as_json=arguments.json)
    return int(any(finding.level == "error" for finding in findings))


def _add_validate(commands: "Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "validate",
        help="hold data files against their schemas and checksums, from outside",
        description="Check every record and every byte of the named files. An artifact's schema is"
        " known from its place under data/CITY/; for any other .parquet, .json or .jsonl file name"
        " it with --schema. Bytes are compared with the checksums in Parquet files, with what"
        " dvc.lock and data/.written/ record of all others, and with the SHA256SUMS of a released"
        " folder. Prints one line per sound file, then one per fault; exit code 1 if there is any.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a file or a folder")
    parser.add_argument("--schema", metavar="NAME", help="schema name, such as `phased_trip`")
    parser.set_defaults(command=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    from pipeline.validate import validate_paths  # noqa: PLC0415

    for line in validate_paths(arguments.paths, schema=arguments.schema, root=Path.cwd()):
        print(line)
    return 0
