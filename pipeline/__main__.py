"""The one command line: run a stage, check a city, look at a trip, validate files.

    python -m pipeline show monaco 1213084687_12
    python -m pipeline check porto

A fault of the set-up ends in one line on standard error and exit code 1; anything else keeps its
traceback, because it is our mistake and not the user's.
"""

import argparse
import errno
import os
import re
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.audit import parser as audit_parser
from pipeline.errors import PipelineError, SourceError
from pipeline.language import ledger_parser
from pipeline.progress import end_bars
from pipeline.quality import qc_parser
from pipeline.release import parser as release_parser
from pipeline.review import parser as review_parser
from pipeline.stride import parser as stride_parser

if TYPE_CHECKING:
    from collections.abc import Callable

EPILOG = """\
typical use:
  make repro                                   rebuild everything that changed (dvc repro)
  python -m pipeline check porto               what is missing before a new city can run
  python -m pipeline show monaco TRIP --page trip.html
  python -m pipeline validate data/monaco      hold files against their schemas
  python -m pipeline loss                      how many trips are released, and where others went
  python -m pipeline match-file --network NET.parquet --points POINTS.parquet --out DIR
  python -m pipeline plan                      what a run would ask of a model, and what changed
  python -m pipeline ledger stats              which answers of models are kept
  python -m pipeline audit HEAD workspace      what a change did to the texts
  python -m pipeline diff v1 v2                what differs between two releases, and why
  python -m pipeline review export porto --raters H1,H2   a page for people to score texts on
  python -m pipeline qc-text porto TRIP --field instruction_literal --text "..."
  python -m pipeline stride score --benchmark BENCH.json --states DIR --out REPORT.json
"""

# The disk is full, the quota or the largest file size reached, or the place is not ours to write.
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS}
# The user named a place where no file can be; elsewhere these are our own mistakes.
NO_PLACE = {errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EPERM}


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, run one command, and return the exit code."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        code = command(arguments)
        sys.stdout.flush()
    except PipelineError as fault:
        return _ended(str(fault))
    except KeyboardInterrupt:
        return _ended("interrupted; nothing half-written is left, run it again", code=130)
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        return 141  # as a tool that the signal ends, such as `cat FILE | head`
    except OSError as fault:
        number = _number(fault)
        if number not in NO_ROOM and not (number in NO_PLACE and _is_named(fault, arguments)):
            raise
        where = f"{fault.filename}: " if fault.filename else ""
        return _ended(
            f"{where}expected to write, found '{fault.strerror or fault}'; nothing half-written is"
            " left; free space or mend permissions and run it again"
        )
    return code


def _ended(message: str, code: int = 1) -> int:
    end_bars()
    print(f"error: {message}", file=sys.stderr)
    return code


def _number(fault: OSError) -> int | None:
    """Return the system's number of a fault; Polars tells it only in words: `(os error 28)`."""
    told = re.search(r"\(os error (\d+)\)", str(fault))
    return int(told[1]) if fault.errno is None and told else fault.errno


def _is_named(fault: OSError, arguments: argparse.Namespace) -> bool:
    """Tell whether a fault is about a file the user named, or one beside it on its way there."""
    named = [value for value in vars(arguments).values() if isinstance(value, Path)]
    quoted = re.search(r"'([^']+)'", str(fault))  # where Arrow names the file
    file = Path(fault.filename or (quoted[1] if quoted else ""))
    return any(file == name or file.parent in {name, name.parent} for name in named)


def _reader_is_gone() -> bool:
    """Tell whether nobody reads standard output any more; if so, let the rest of it go nowhere."""
    pipe = select.poll()
    pipe.register(sys.stdout, 0)  # errors are told whatever is asked for
    if not any(events & (select.POLLERR | select.POLLHUP) for _, events in pipe.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pipeline",
        description="Build and score language-trajectory benchmarks: raw GPS in, a release out.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _add_run, _add_stages, _add_dvc, _add_check, _add_show, _add_validate, _add_match,
        _add_loss, _add_ledger, _add_plan, _add_seed, _add_review, _add_audit, _add_stride,
        _add_diff, _add_qc,
    ):  # fmt: skip
        add(commands)
    return parser


_Commands = argparse._SubParsersAction


def _add_run(commands: "_Commands[argparse.ArgumentParser]") -> None:
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


def _add_stages(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("stages", help="list the journey: every stage and what it makes")
    parser.set_defaults(command=_stages)


def _stages(_: argparse.Namespace) -> int:
    from pipeline.stages import STAGES  # noqa: PLC0415

    for stage in STAGES:
        print(f"{stage.name:<13} {stage.desc}")
        print(f"{'':<13} {', '.join(stage.reads) or 'nothing'} -> {', '.join(stage.writes)}")
    return 0


def _add_dvc(commands: "_Commands[argparse.ArgumentParser]") -> None:
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


def _add_check(commands: "_Commands[argparse.ArgumentParser]") -> None:
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


def _add_show(commands: "_Commands[argparse.ArgumentParser]") -> None:
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
        help="id of a raw, cleaned or matched trip; left out: how trips ended, with ids",
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a map to FILE (.html)")
    parser.add_argument("--json", action="store_true", help="print the life as JSON")
    parser.add_argument("--all", action="store_true", help="do not shorten long lists")
    parser.set_defaults(command=_show)


def _show(arguments: argparse.Namespace) -> int:
    from pipeline.show import overview_of, show  # noqa: PLC0415

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


def _add_plan(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "plan",
        help="say what a run would ask of a model: requests, tokens, time, changed prompts",
        description="Render the requests of every row with the prompts and params.yaml as they are"
        " now and say, for each city and task, how many the ledger can answer, how many are new,"
        " what they would cost in tokens and time (as measured with this model; else unknown), and"
        " which prompts differ from those of a git revision. Starts no model, writes nothing.",
    )
    parser.add_argument(
        "cities", metavar="CITY", nargs="*", help="keys under `cities:`; none = all of them"
    )
    parser.add_argument(
        "--against", metavar="REV", help="git revision to compare with (the default is HEAD)"
    )
    parser.add_argument(
        "--diffs", type=int, default=2, metavar="N", help="changed prompts to show of each task"
    )
    parser.add_argument("--json", action="store_true", help="print the plans as JSON")
    parser.set_defaults(command=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from pipeline.language.plan import plan, print_plans  # noqa: PLC0415

    plans = plan(
        Path.cwd(), arguments.cities, against=arguments.against, diffs=max(arguments.diffs, 0)
    )
    print_plans(plans, as_json=arguments.json)
    return 0


def _add_seed(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "seed",
        help="let a model write seed examples for the prompts of `annotate`",
        description="Draw planned trips that are no seed example yet, ask the model of the section"
        " `seeding` of params.yaml for their nine fields, and add those that keep"
        " schemas/seed.schema.json to prompts/annotate/seeds.jsonl. Prompts change with it: see"
        " `plan`. Answers go to the response ledger.",
    )
    parser.add_argument("city", metavar="CITY", help="a key under `cities:` in params.yaml")
    parser.add_argument("-n", type=int, default=10, metavar="N", help="trips to ask about")
    parser.add_argument("--dry-run", action="store_true", help="print them, add none to the file")
    parser.set_defaults(command=_seed)


def _seed(arguments: argparse.Namespace) -> int:
    from pipeline.language.seeding import more_seeds, print_seeding  # noqa: PLC0415

    if arguments.n < 1:
        raise SourceError(f"-n: expected 1 or more trips, found {arguments.n}")
    seeding = more_seeds(Path.cwd(), arguments.city, n=arguments.n, dry_run=arguments.dry_run)
    print_seeding(seeding, dry_run=arguments.dry_run)
    return 0


def _add_audit(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "audit",
        help="say what a change of prompt, model or parameter did to the texts",
        description=audit_parser.AUDIT,
    )
    audit_parser.add_audit(parser)


def _add_diff(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff",
        help="say which records of two releases differ, and why",
        description=audit_parser.DIFF,
    )
    audit_parser.add_diff(parser)


def _add_loss(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "loss",
        help="tell how many trips are released, and where and why the others were lost",
        description=release_parser.LOSS,
    )
    release_parser.add_loss(parser)


def _add_validate(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "validate",
        help="hold data files against their schemas, from outside",
        description="Check every record of the named files. An artifact's schema is known from its"
        " place under data/CITY/; for any other .parquet, .json or .jsonl file name it with"
        " --schema. Prints one line per file; exit code 1 at the first fault.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a file or a folder")
    parser.add_argument("--schema", metavar="NAME", help="schema name, such as `phased_trip`")
    parser.set_defaults(command=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    from pipeline.validate import validate_paths  # noqa: PLC0415

    for line in validate_paths(arguments.paths, schema=arguments.schema, root=Path.cwd()):
        print(line)
    return 0


def _add_match(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "match-file",
        help="match anybody's GPS points to anybody's road network, without a project",
        description="Match points to a network. NETWORK: edge_id, u, v, length_m, speed_kph (may be"
        " null), geometry (WKB, lon/lat, in driving direction; a two-way street is two rows)."
        " POINTS: trace_id, t (seconds), lon, lat. Writes path.parquet, points.parquet and"
        " trips.parquet to DIR.",
    )
    parser.add_argument("--network", type=Path, required=True, metavar="NET.parquet")
    parser.add_argument("--points", type=Path, required=True, metavar="POINTS.parquet")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="threads; 0 (the default) = all cores"
    )
    parser.add_argument(
        "--params",
        type=Path,
        metavar="FILE",
        help="YAML file whose section `match:` is used (the default is this project's params.yaml)",
    )
    parser.set_defaults(command=_match_file)


def _match_file(arguments: argparse.Namespace) -> int:
    from pipeline.params import section_of  # noqa: PLC0415
    from pipeline.trips.matching.match_file import match_file  # noqa: PLC0415
    from pipeline.trips.matching.settings import MatchSettings  # noqa: PLC0415

    if arguments.workers < 0:
        raise SourceError(
            f"--workers: expected 0 or more, found {arguments.workers}; 0 = all cores"
        )
    file = arguments.params or Path(__file__).resolve().parent.parent / "params.yaml"
    counts = match_file(
        arguments.network,
        arguments.points,
        arguments.out,
        settings=section_of(file, "match", MatchSettings),
        workers=arguments.workers,
    )
    print(
        f"{counts.traces:,} traces, {counts.points:,} points: {counts.placed:,} points on a road,"
        f" {counts.parts:,} connected drives; why not more: trips.parquet, points.parquet"
    )
    return 0


def _add_ledger(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "ledger",
        help="see, carry and tidy the answers of models",
        description="Every answer a model gave is kept by the key of its request (prompt, schema,"
        " model, sampling), so that none is asked for twice.",
        epilog=ledger_parser.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ledger_parser.add_actions(parser)
    parser.set_defaults(command=ledger_parser.run)


def _add_review(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "review",
        help="let people score texts on a page, and bring their scores in",
        description="People score what quality control let pass, by the rubric models judge by, on"
        " a page with the map of each trip. The stage `agree` compares their scores.",
        epilog=review_parser.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    review_parser.add_actions(parser)
    parser.set_defaults(command=review_parser.run)


def _add_qc(commands: "_Commands[argparse.ArgumentParser]") -> None:
    about = "hold any sentence against a trip, as quality control does"
    parser = commands.add_parser("qc-text", help=about, description=qc_parser.DESCRIPTION)
    qc_parser.add_arguments(parser)


def _add_stride(commands: "_Commands[argparse.ArgumentParser]") -> None:
    stride_parser.add_actions(commands.add_parser("stride", help=stride_parser.HELP))


if __name__ == "__main__":
    sys.exit(main())
