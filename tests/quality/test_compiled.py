"""The rules find the same compiled as from their sources, and an edited source is what counts."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.quality import compiling
from pipeline.quality.compiled import FOLDER, LIST, compiled_modules
from pipeline.quality.compiling import rules

ROOT = Path(__file__).resolve().parents[2]
COMPILE = ("-m", "pipeline.quality.compiling")
# Leaves the folder of compiled modules out before any is imported.
FROM_SOURCES = "import pipeline.quality as q; q.__path__ = q.__path__[-1:]; import runpy; "
WHICH = "import pipeline.quality.grounding as g; print(g.__file__)"


def python(*arguments: str, root: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a project."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the rules, if `make test` has not done it or one was edited since."""
    done = python(*COMPILE)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the program with its compiled rules."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline", ignore=ignored)
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def edit(file: Path, more: str) -> None:
    file.write_text(f"{file.read_text('utf-8')}\n{more}\n", "utf-8")


def test_the_rules_find_the_same_compiled_as_from_their_sources():
    module = "tests.quality.every_finding"
    by_compiled = python("-m", module)
    run = f"runpy.run_module({module!r}, run_name='__main__')"
    by_sources = python("-c", FROM_SOURCES + run)
    assert by_compiled.returncode == by_sources.returncode == 0, by_compiled.stderr
    which, *found = by_compiled.stdout.splitlines()
    source, *expected = by_sources.stdout.splitlines()
    assert Path(which).suffix == ".so"
    assert Path(source) == ROOT / "pipeline/quality/grounding.py"
    assert len(found) > 10_000
    assert found == expected


def test_every_rule_is_compiled_and_what_is_read_from_files_is_not():
    made = {file.name.partition(".")[0] for file in (ROOT / FOLDER / "pipeline/quality").iterdir()}
    assert {Path(file).stem for file in rules()} == made - {"rules_compiled__mypyc"}
    assert {"grounding", "mentions", "reading", "claims", "claims_length"} < made
    assert not made & {"tables", "rules", "terminology"}


def test_the_second_time_there_is_nothing_to_do():
    before = {file: file.stat().st_mtime_ns for file in (ROOT / FOLDER).rglob("*")}
    assert python(*COMPILE).returncode == 0
    assert {file: file.stat().st_mtime_ns for file in (ROOT / FOLDER).rglob("*")} == before


@pytest.mark.parametrize("source", ["quality/order.py", "quality/rules.py", "records.py"])
def test_an_edited_source_is_read(copy: Path, source: str):
    assert Path(python("-c", WHICH, root=copy).stdout.strip()).suffix == ".so"
    edit(copy / "pipeline" / source, "# Edited.")
    assert python("-c", WHICH, root=copy).stdout.strip() == str(
        copy / "pipeline/quality/grounding.py"
    )


def test_a_fault_in_a_rule_is_told_and_the_source_is_read(copy: Path):
    edit(copy / "pipeline/quality/order.py", 'FAULTY: int = "one"')
    done = python(*COMPILE, root=copy)
    assert done.returncode == 1
    assert "order.py:" in done.stderr
    assert "rules of quality control: not compiled; mypyc finds the faults above" in done.stderr
    assert python("-c", WHICH, root=copy).stdout.strip().endswith(".py")


def test_a_source_that_is_no_python_is_told_with_its_line(copy: Path):
    edit(copy / "pipeline/quality/order.py", "FAULTY = (")
    done = python(*COMPILE, root=copy)
    assert done.returncode == 1
    (told,) = done.stderr.strip().splitlines()
    assert re.search(r"order\.py, line \d+:", told)


def test_without_a_compiler_one_line_says_so_and_the_sources_are_read(copy: Path):
    shutil.rmtree(copy / FOLDER)
    done = python(*COMPILE, root=copy, CC="no-such-compiler")
    assert done.returncode == 1
    assert done.stdout == ""
    (told,) = done.stderr.strip().splitlines()
    assert "expected a C compiler and the headers of Python" in told
    assert "no-such-compiler" in told
    assert "make rules" in told
    assert python("-c", WHICH, root=copy).stdout.strip().endswith(".py")


def test_a_source_that_is_edited_while_it_is_compiled_leaves_nothing_behind(copy, monkeypatch):
    shutil.rmtree(copy / FOLDER)
    monkeypatch.setattr(compiling, "ROOT", copy)
    monkeypatch.setattr(compiling, "__file__", str(copy / "pipeline/quality/compiling.py"))

    def build_and_edit(files, passing, *, into):
        (into / "pipeline/quality").mkdir(parents=True)
        edit(copy / "pipeline/quality/order.py", "# Edited.")

    monkeypatch.setattr(compiling, "_build", build_and_edit)
    with pytest.raises(SourceError, match="a source was edited meanwhile"):
        compiling.compile_rules()
    assert not list(copy.glob(f"{FOLDER}*"))


def test_if_a_compiled_module_is_gone_the_sources_are_read(copy: Path):
    next((copy / FOLDER).rglob("phrases*.so")).unlink()
    assert python("-c", WHICH, root=copy).stdout.strip().endswith(".py")


@pytest.mark.parametrize(
    ("sources", "made", "found"),
    [
        pytest.param({"rule.py": "hash of it"}, ["rule.so"], True, id="same"),
        pytest.param({"rule.py": "00"}, ["rule.so"], False, id="edited"),
        pytest.param({"rule.py": 1}, ["rule.so"], False, id="no hash"),
        pytest.param({"gone.py": "00"}, ["rule.so"], False, id="source gone"),
        pytest.param({"rule.py": "hash of it"}, ["gone.so"], False, id="module gone"),
        pytest.param({"rule.py": "hash of it"}, None, False, id="no modules"),
        pytest.param({}, ["rule.so"], False, id="no sources"),
        pytest.param([], ["rule.so"], False, id="no record"),
    ],
)
def test_the_list_decides(tmp_path: Path, sources, made, found: bool):
    rule, folder = tmp_path / "rule.py", tmp_path / FOLDER
    rule.write_text("RULE = 1\n", "utf-8")
    folder.mkdir()
    (folder / "rule.so").touch()
    if sources == {"rule.py": "hash of it"}:
        sources = {"rule.py": sha256_of(rule)}
    (folder / LIST).write_text(json.dumps({"sources": sources, "made": made}), "utf-8")
    assert compiled_modules(tmp_path) == ([str(folder / "pipeline/quality")] if found else [])


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "1"])
def test_a_list_that_cannot_be_read_is_none(tmp_path: Path, text: str):
    (tmp_path / FOLDER).mkdir()
    assert compiled_modules(tmp_path) == []
    (tmp_path / FOLDER / LIST).write_text(text, "utf-8")
    assert compiled_modules(tmp_path) == []
