"""STRIDE stands alone: scoring needs nothing but the kernel, and nothing else needs STRIDE."""

import ast
from pathlib import Path

from pipeline.dvcfile import import_closure

ROOT = Path(__file__).resolve().parents[2]


def pipeline_imports(file):
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_measuring_and_scoring_import_only_the_kernel():
    closure = import_closure("pipeline.stride.command")
    assert "pipeline/stride/measures/spatial.py" in closure
    chapters = {file.split("/")[1] for file in closure if file.count("/") > 1}
    assert chapters == {"stride"}


def test_no_other_chapter_imports_stride():
    for file in (ROOT / "pipeline").rglob("*.py"):
        if "stride" not in file.parts and file.name != "__main__.py":
            assert not any(one.startswith("pipeline.stride") for one in pipeline_imports(file)), (
                file
            )


def test_nothing_here_ever_reads_a_pickle():
    for file in (ROOT / "pipeline" / "stride").rglob("*.py"):
        text = file.read_text("utf-8")
        assert "allow_pickle=True" not in text
        assert text.count("np.load(") == text.count("allow_pickle=False")
