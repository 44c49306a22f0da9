"""Compile the rules of quality control: `python -m pipeline.quality.compiling`.

Takes less than a minute and a C compiler; the rules then see through half as many trips again in a
second, and find the same. mypyc, which comes with mypy, translates the modules by their types; what
it makes lies beside a list of the sources it was made from. Once one of them is edited, Python
reads the sources again (`compiled.py`): an edited rule needs no compiling.
"""

import io
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from pipeline.dvcfile import import_closure
from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.quality.compiled import FOLDER, SOURCES, compiled_modules
from pipeline.replacing import replace_text

ROOT = Path(__file__).resolve().parents[2]
# What inspects a text. All that it imports of this package is compiled, new modules as well.
_FIRST = "pipeline.quality.inspection"
# These hold types that are read from files: msgspec goes by annotations, and compiled classes have
# none.
_NOT_COMPILED = frozenset(
    f"pipeline/quality/{name}.py"
    for name in (
        "__init__", "claims_nouns", "compiled", "inspection", "rules", "tables", "terminology",
        "wording",
    )
)  # fmt: skip

_NOT_DONE = (
    "rules of quality control: not compiled; {}. Nothing depends on it: the sources find the same,"
    " in half as long again. To compile them later, run `python -m pipeline.quality.compiling`"
)


def compile_rules() -> None:
    """Compile the rules; nothing is done where they are compiled from the sources as they are.

    Raises:
        SourceError: There is no C compiler, or it or mypyc finds a fault in a module.
    """
    if compiled_modules(ROOT):
        return
    needed = import_closure(_FIRST)
    sources = {file: sha256_of(ROOT / file) for file in sorted(needed)}
    with tempfile.TemporaryDirectory() as aside:
        _build(sorted(rules()), Path(aside))
        # A process that runs keeps what it has opened. The list comes last: without it Python
        # reads the sources.
        shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
        shutil.copytree(Path(aside) / "made", ROOT / FOLDER)
    replace_text(ROOT / FOLDER / SOURCES, json.dumps(sources, indent=1))


def rules() -> frozenset[str]:
    """Return the modules that are compiled, as paths from the root."""
    needed = import_closure(_FIRST) - _NOT_COMPILED
    return frozenset(file for file in needed if file.startswith("pipeline/quality/"))


def _build(files: list[str], aside: Path) -> None:
    """Translate modules to C and compile them into `made` of a folder for passing use."""
    # setuptools changes what is imported after it, so no other module may open it.
    from mypyc.build import mypycify  # noqa: PLC0415
    from setuptools import Distribution  # noqa: PLC0415
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415
    from setuptools.errors import BaseError, CCompilerError  # noqa: PLC0415

    os.chdir(ROOT)  # mypy names modules by their paths from here
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            extensions = mypycify(
                [*files, f"--cache-dir={aside / 'types'}"],
                opt_level="1",  # this code is as fast as with 3, and made sooner
                debug_level="0",
                target_dir=str(aside / "c"),
                group_name="pipeline.quality.rules_compiled",
            )
            command = build_ext(Distribution({"ext_modules": extensions}))
            command.build_lib, command.build_temp = str(aside / "made"), str(aside / "objects")
            command.finalize_options()
            command.run()
    except SystemExit as fault:
        print(said.getvalue(), file=sys.stderr)
        raise SourceError(_NOT_DONE.format("mypyc finds the faults above in them")) from fault
    except (BaseError, CCompilerError) as fault:
        expected = (
            f"expected a C compiler and the headers of Python, found: {fault} (on Debian:"
            " apt-get install gcc libc6-dev python3-dev)"
        )
        raise SourceError(_NOT_DONE.format(expected)) from fault


if __name__ == "__main__":
    began = time.monotonic()
    try:
        compile_rules()
    except SourceError as told:
        sys.exit(str(told))
    print(f"rules of quality control compiled in {time.monotonic() - began:.0f} s")
