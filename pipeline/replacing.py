"""Write a file of the user's: the old one stays whole until the new one is.

with replaced(Path("out/page.html")) as aside:
    aside.write_text(page)
->  out/page.html; if the disk is full, the page of before, and a fault that names it
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import SourceError


@contextmanager
def replaced(file: Path) -> Iterator[Path]:
    """Yield a place beside a file, and put what was written there in the file's place at the end.

    The file's folder is made. A link is followed, the rights of an earlier file are kept. What is
    no ordinary file, such as /dev/stdout, cannot be replaced: it is written to as it is.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
        OSError: It cannot be written, with the name of the file; nothing has changed then.
    """
    if file.exists() and not file.is_file() and not file.is_dir():
        yield file
        return
    target = file.resolve()
    _expect_place(file, target)
    aside = target.with_name(f".{uuid.uuid4().hex[:8]}{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as fault:
        ours = {None, str(aside), *map(str, target.parents)}
        if fault.errno is None or fault.filename not in ours:
            raise
        raise OSError(fault.errno, os.strerror(fault.errno), str(file)) from fault
    finally:
        aside.unlink(missing_ok=True)


def replace_text(file: Path, text: str) -> None:
    """Write a text in UTF-8 as `replaced` does.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
        OSError: It cannot be written; an earlier file is as it was.
    """
    with replaced(file) as aside:
        aside.write_text(text, encoding="utf-8")


def _expect_place(file: Path, target: Path) -> None:
    if target.is_dir():
        raise SourceError(
            f"{file}: expected the name of a file to write, found a folder; give another name"
        )
    for folder in target.parents:
        if folder.exists() and not folder.is_dir():
            raise SourceError(
                f"{file}: expected the name of a file to write, but {folder} is a file and no"
                " folder; give another name"
            )
