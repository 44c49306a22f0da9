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
import sysconfig
import tempfile
import time
import uuid
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from pipeline.dvcfile import import_closure
from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.quality.compiled import FOLDER, LIST, compiled_modules

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
    "rules of quality control: not compiled; {}. Nothing depends on it: the sources are read"
    " instead, in half as long again. To compile them later, run `make rules`"
)
_NO_COMPILER = (
    "expected a C compiler and the headers of Python, found: {} (on Debian: apt-get install gcc"
    " libc6-dev python3-dev)"
)


def compile_rules() -> bool:
    """Compile the rules, unless they are compiled from the sources as they are.

    Returns:
        Whether there was anything to compile.

    Raises:
        SourceError: There is no C compiler, it or mypyc finds a fault in a module, or a source was
            edited meanwhile.
    """
    if compiled_modules(ROOT):
        return False
    _expect_compiler()
    print("compiling the rules of quality control (less than a minute)", flush=True)
    sources = _sources()
    aside = ROOT / f"{FOLDER}.{uuid.uuid4().hex[:8]}"
    try:
        aside.mkdir()
        with tempfile.TemporaryDirectory() as passing:
            _build(sorted(rules()), Path(passing), into=aside)
        if _sources() != sources:
            raise SourceError(_NOT_DONE.format("a source was edited meanwhile"))
        made = sorted(file.relative_to(aside).as_posix() for file in aside.rglob("*.so"))
        (aside / LIST).write_text(json.dumps({"sources": sources, "made": made}), "utf-8")
        # A process that runs keeps what it has opened of the old ones.
        shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
        with suppress(OSError):  # another process was faster, with the same
            aside.rename(ROOT / FOLDER)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return True


def _sources() -> dict[str, str]:
    """Return the hash of every file that decides what is compiled, by its path from the root."""
    needed = {*import_closure(_FIRST), str(Path(__file__).relative_to(ROOT))}
    return {file: sha256_of(ROOT / file) for file in sorted(needed)}


def rules() -> frozenset[str]:
    """Return the modules that are compiled, as paths from the root."""
    needed = import_closure(_FIRST) - _NOT_COMPILED
    return frozenset(file for file in needed if file.startswith("pipeline/quality/"))


def _build(files: list[str], passing: Path, *, into: Path) -> None:
    """Translate modules to C and compile them.

    Args:
        files: The modules.
        passing: A folder for files that nobody needs afterwards.
        into: Where the compiled modules go, below the folders of their packages.
    """
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
                [*files, f"--cache-dir={passing / 'types'}"],
                opt_level="1",  # this code is as fast as with 3, and made sooner
                debug_level="0",
                target_dir=str(passing / "c"),
                group_name="pipeline.quality.rules_compiled",
            )
            command = build_ext(Distribution({"ext_modules": extensions}))
            command.build_lib, command.build_temp = str(into), str(passing / "objects")
            command.finalize_options()
            command.run()
    except SystemExit as fault:
        print(said.getvalue(), file=sys.stderr)
        raise SourceError(_NOT_DONE.format("mypyc finds the faults above in them")) from fault
    except (BaseError, CCompilerError) as fault:
        raise SourceError(_NOT_DONE.format(_NO_COMPILER.format(fault))) from fault


def _expect_compiler() -> None:
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if shutil.which(command.split()[0]) is None:
        raise SourceError(_NOT_DONE.format(_NO_COMPILER.format(f"no {command}")))


def main() -> None:
    """Compile and say so; a fault is one line."""
    began = time.monotonic()
    try:
        done = compile_rules()
    except SourceError as told:
        sys.exit(str(told))
    except SyntaxError as fault:
        sys.exit(_NOT_DONE.format(f"{fault.filename}, line {fault.lineno}: {fault.msg}"))
    except OSError as fault:
        sys.exit(_NOT_DONE.format(f"{fault.filename}: {fault.strerror}"))
    except KeyboardInterrupt:
        sys.exit(_NOT_DONE.format("interrupted"))
    took = f"compiled in {time.monotonic() - began:.0f} s" if done else "compiled already"
    print(f"rules of quality control: {took}")


if __name__ == "__main__":
    main()
