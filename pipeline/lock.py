"""One run at a time: a file that only one process holds.

lock(Path("data/monaco/.writing/roads.lock"), "roads@monaco")
->  the open file; or: another run of roads@monaco is under way (pid 4711); ...
"""

import fcntl
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TextIO

from pipeline.errors import PipelineError


def lock(file: Path, run: str) -> TextIO:
    """Return a file that only this process holds; the system lets go of it when the process ends.

    Raises:
        PipelineError: Another process holds it; names its number.
    """
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        # The run before may just be removing the file, or the folder: then make it anew.
        with suppress(FileNotFoundError), ExitStack() as unless_held:
            held = unless_held.enter_context(file.open("a+", encoding="utf-8"))
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                held.seek(0)
                raise PipelineError(
                    f"another run of {run} is under way (pid {held.read().strip() or 'unknown'});"
                    " wait for it or end it, then run again"
                ) from fault
            if os.path.samestat(os.fstat(held.fileno()), file.stat()):
                held.truncate(0)
                held.write(f"{os.getpid()}\n")
                held.flush()
                unless_held.pop_all()
                return held
