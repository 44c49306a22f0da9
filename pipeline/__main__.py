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
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import project_parser
from pipeline.audit import parser as audit
from pipeline.errors import PipelineError
from pipeline.language import parser as language
from pipeline.progress import end_bars
from pipeline.quality import parser as quality
from pipeline.release import parser as release
from pipeline.review import parser as review
from pipeline.show import parser as show
from pipeline.stride import parser as stride
from pipeline.tasks import parser as tasks
from pipeline.trips import parser as trips

if TYPE_CHECKING:
    from collections.abc import Callable

# Each says which commands it has; this is their order in `--help`.
CHAPTERS = (project_parser, show, trips, language, quality, review, release, tasks, audit, stride)
EPILOG = """\
typical use:
  make repro                                   rebuild everything that changed (dvc repro)
  python -m pipeline check porto               what is missing before a new city can run
  python -m pipeline show monaco TRIP --page trip.html
  python -m pipeline validate data/monaco      hold files against their schemas
  python -m pipeline metrics                   the figures of all cities, side by side
  python -m pipeline loss                      how many trips are released, and where others went
  python -m pipeline match-file --network NET.parquet --points POINTS.parquet --out DIR
  python -m pipeline plan                      what a run would ask of a model, and what changed
  python -m pipeline ledger stats              which answers of models are kept
  python -m pipeline tasks score generation --release DIR --pred ROUTES.jsonl --out REPORT.json
  python -m pipeline audit HEAD workspace      what a change did to the texts
  python -m pipeline diff v1 v2                what differs between two releases, and why
  python -m pipeline review export porto --raters H1,H2   a page for people to score texts on
  python -m pipeline qc-text porto TRIP --field instruction_literal --text "..."
  python -m pipeline stride score --benchmark BENCH.json --states DIR --out REPORT.json
"""

# The disk is full, the quota or the largest file size reached, or the place is not ours to write.
NO_ROOM = {
    errno.ENOSPC: "free space",
    errno.EDQUOT: "free space",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EACCES: "mend permissions or name another place",
    errno.EROFS: "name another place",
}
# The user named a place where no file can be; elsewhere these are our own mistakes.
NO_PLACE = {
    errno.ENOENT: "name a folder that exists",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "name a place in a folder",
    errno.EEXIST: "name a place in a folder",  # a file where a folder is to be made
    errno.EPERM: "mend permissions or name another place",
    errno.ENAMETOOLONG: "give a shorter name",
}


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
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Polars may raise it once more
        return _ended("interrupted; no file is half-written, run it again", code=130)
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        return 141  # as a tool that the signal ends, such as `cat FILE | head`
    except OSError as fault:
        number = _number(fault)
        remedy = NO_ROOM.get(number)
        if remedy is None and _is_named(fault, arguments):
            remedy = NO_PLACE.get(number)
        if remedy is None:
            raise
        where = f"{fault.filename}: " if fault.filename else ""
        return _ended(
            f"{where}expected to write, found '{fault.strerror or fault}'; no file is half-written;"
            f" {remedy} and run it again"
        )
    return code


def _ended(message: str, code: int = 1) -> int:
    end_bars()
    print(f"error: {message}", file=sys.stderr)
    return code


def _number(fault: OSError) -> int:
    """Return the system's number of a fault, or 0; Polars tells it in words: `(os error 28)`."""
    told = re.search(r"\(os error (\d+)\)", str(fault))
    return fault.errno or (int(told[1]) if told else 0)


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
    for chapter in CHAPTERS:
        chapter.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
