"""The stages that ask, and `compile`, with the true vLLM: what a model without any sense answers.

A random model writes whatever the schema allows, so every answer must parse, and whatever is wrong
with it must be counted.
"""

import json
import re
import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest
import yaml

from pipeline import __main__ as command_line
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.requests import Sampling
from pipeline.params import section_of
from pipeline.stride.patterns import FOLDER
from pipeline.stride.scenarios import ScenarioSettings
from pipeline.stride.spec_records import specs_of
from pipeline.stride.specs import SpecSettings
from pipeline.stride.writers import WriterSettings
from tests.language.conftest import small_models, tiny_llama  # noqa: F401 - fixtures
from tests.language.engine_requests import vllm_settings
from tests.language.models import CONTEXT
from tests.stride.test_model_writes import ROOT, rows, run, scenarios_by_the_bank

TOTAL = 3
LETTERS = 30  # a random model fills whatever a schema allows; so many of a text show as much
CODES = {"implausible", "unknown_anchor", "unreachable", "density", "length"}


@pytest.fixture(scope="module")
def writer(tiny_llama) -> WriterSettings:  # noqa: F811
    return WriterSettings(
        vllm_settings(tiny_llama, max_model_len=CONTEXT, max_num_seqs=4), LocalExecutor(),
        Sampling(1.0, 1.0, 1000), attempts=2, most_failed_share=1.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("project")
    scenarios_by_the_bank(root, total=TOTAL)
    return root


@pytest.fixture(scope="module", autouse=True)
def short_prompts(project, tmp_path_factory):
    """Let the stages read prompts that say less and allow less: nobody here makes sense of them."""
    prompts = tmp_path_factory.mktemp("prompts") / "stride"
    shutil.copytree(FOLDER, prompts)
    for file in prompts.glob("*/answer.schema.json"):
        text = re.sub(r'"maxLength": \d+', f'"maxLength": {LETTERS}', file.read_text("utf-8"))
        for most, fewer in ((12, 1), (8, 5), (4, 1), (3, 1)):
            text = text.replace(f'"maxItems": {most}', f'"maxItems": {fewer}')
        file.write_text(text, "utf-8")
    for file in prompts.glob("*/system.j2"):
        file.write_text(file.read_text("utf-8").partition("\n## ")[0], "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for module in ("scenarios", "specs", "construction"):
            patch.setattr(f"pipeline.stride.{module}.FOLDER", prompts)
        yield


def counted(responses: pl.DataFrame, kept: int, rejected: pl.DataFrame) -> None:
    """Check that every request came to one end, and that what came back is JSON of the schema."""
    assert set(responses["engine"]) == {"vllm"}
    assert responses["output_tokens"].min() > 10
    items = responses["item_id"].n_unique()
    assert kept + rejected.height == items
    ended = responses.filter(pl.col("finish_reason") == "stop")
    assert ended.height > 0
    for text, status, reason in ended.select("text", "status", "reason").iter_rows():
        assert isinstance(json.loads(text), dict)
        assert (status, reason) == ("ok", "") or re.match("[a-z_]+: ", reason), reason
    assert set(responses["status"]) <= {"ok", "invalid", "length"}


def test_scenarios_of_a_model_parse_and_are_kept_or_counted_with_a_code(writer, project, tmp_path):
    shutil.copytree(project / "data", tmp_path / "data")
    whole = section_of(ROOT / "params.yaml", "stride_scenarios", ScenarioSettings)
    settings = msgspec.structs.replace(whole, writer=writer, total=TOTAL)
    run(tmp_path, "stride_scenarios", seed=7, stride_scenarios=settings)
    figures = json.loads((tmp_path / "data/stride/metrics/scenarios.json").read_text("utf-8"))
    rejected = rows(tmp_path, "rejected/stride_scenarios.parquet")
    counted(rows(tmp_path, "scenario_responses.parquet"), figures["scenarios"], rejected)
    assert sum(figures["rejected_by_reason"].values()) == rejected.height
    assert set(figures["rejected_by_reason"]) <= CODES


def test_questions_of_a_model_parse_and_are_kept_or_counted_with_a_code(writer, project):
    run(project, "stride_specs", stride_specs=SpecSettings(writer))
    specs = specs_of(rows(project, "specs.parquet"))
    responses = rows(project, "spec_responses.parquet")
    counted(responses, len(specs), rows(project, "rejected/stride_specs.parquet"))
    assert responses["item_id"].n_unique() == TOTAL
    for spec in specs:
        assert 5 <= len(spec.questions) <= 8


def test_compile_with_a_model_writes_a_benchmark_or_says_in_one_line_what_was_wrong(
    writer, tmp_path, monkeypatch, capsys
):
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    params["stride_specs"]["writer"] = msgspec.to_builtins(writer)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["--text", "A queue moves on.", "--out", "open.json"]
    code = command_line.main(["stride", "compile", *words])
    said = capsys.readouterr()
    if code == 0:
        (scene,) = json.loads((tmp_path / "open.json").read_text("utf-8"))["scenes"]
        assert len(scene["questions"]) >= 5
    else:
        assert not (tmp_path / "open.json").exists()
        last = said.err.strip().splitlines()[-1]
        assert re.search(r"found none in 2 attempts, the last: (invalid \([a-z_]+: |length)", last)
