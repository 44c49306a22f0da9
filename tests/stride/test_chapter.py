"""STRIDE stands alone: scoring needs nothing but the kernel, and nothing else needs STRIDE."""

import ast
from pathlib import Path

from pipeline.dvcfile import import_closure
from pipeline.stages import STAGES

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


def test_linting_simulating_and_scoring_reach_no_model():
    """Neither engines nor the ledger of their answers can be imported from there."""
    stages = [stage for stage in STAGES if stage.name.startswith("stride_")]
    asking = {stage.name for stage in stages if stage.asks}
    assert asking == {"stride_scenarios", "stride_specs"}
    for stage in stages:
        closure = import_closure(stage.function.partition(":")[0])
        reached = {file for file in closure if file.startswith("pipeline/language/engines/")}
        assert bool(reached) == (stage.name in asking), stage.name
    assert not any("language" in file for file in import_closure("pipeline.stride.command"))


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
