"""A model behind a server writes the questions: retries, a kill, a replay, a text by itself."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import polars as pl
import pytest
import yaml

from pipeline import __main__ as command_line
from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ModelError, ParameterError
from pipeline.language.engines.settings import LocalExecutor, TemplateSettings
from pipeline.language.ledger_command import import_answers
from pipeline.language.requests import Sampling
from pipeline.params import section_of
from pipeline.runner import stage_function, stage_named
from pipeline.store import StageIO, write_table
from pipeline.stride.maps import maps_frame
from pipeline.stride.patterns import FOLDER
from pipeline.stride.scenario_records import scenarios_frame, scenarios_of
from pipeline.stride.scenarios import ScenarioSettings
from pipeline.stride.specs import SpecSettings
from pipeline.stride.writers import WriterSettings
from tests.language.engine_requests import openai_settings
from tests.stride.places import plaza
from tests.stride.writing_server import WritingServer, questions_of, turned

ROOT = FOLDER.parents[1]
TOTAL = 12
FEW = 4  # answers a server gives before it lets a run wait that is then killed
NOBODY = "http://127.0.0.1:9/v1"
STAGE = """
import sys
from pathlib import Path
from tests.stride.test_model_writes import compile_all
compile_all(Path(sys.argv[1]), sys.argv[2])
"""


def writer(url: str, **changes: object) -> WriterSettings:
    settings = WriterSettings(
        openai_settings(url, concurrency=2), LocalExecutor(), Sampling(0.2, 1.0, 3000),
        attempts=3, most_failed_share=0.5,
    )  # fmt: skip
    return msgspec.structs.replace(settings, **changes)


def run(root: Path, name: str, *, replay: bool = False, **given: object) -> None:
    stage = stage_named(name)
    with StageIO(stage, city=None, root=root, ledger=root / "ledger", replay=replay) as io:
        stage_function(stage)(io, **given)


def compile_all(root: Path, url: str, *, replay: bool = False, **changes: object) -> None:
    settings = SpecSettings(writer(url, **changes))
    run(root, "stride_specs", replay=replay, stride_specs=settings)


def scenarios_by_the_bank(root: Path, *, total: int) -> None:
    """Give a project a drawn map and scenarios of the phrase banks, and no questions yet."""
    maps = ARTIFACTS["stride_maps"]
    file = artifact_path(maps, root=root, city=None)
    write_table(maps_frame([plaza().record]), file, maps, shown="toy")
    whole = section_of(ROOT / "params.yaml", "stride_scenarios", ScenarioSettings)
    settings = msgspec.structs.replace(whole, total=total)
    run(root, "stride_scenarios", seed=7, stride_scenarios=settings)


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("texts")
    scenarios_by_the_bank(root, total=TOTAL)
    return root


@pytest.fixture
def project(texts, tmp_path) -> Path:
    shutil.copytree(texts / "data", tmp_path / "data")
    return tmp_path


def descriptions(root: Path) -> list[str]:
    scenarios = scenarios_of(pl.read_parquet(root / "data/stride/scenarios.parquet"))
    return [one.description for one in scenarios]


def outputs(root: Path) -> dict[str, bytes]:
    folder = root / "data/stride"
    names = ("specs.parquet", "spec_responses.parquet", "rejected/stride_specs.parquet")
    return {name: (folder / name).read_bytes() for name in names}


def rows(root: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(root / "data/stride" / name)


# ---- what is sent, what comes back


def test_a_server_is_sent_the_text_with_branches_for_axes_and_no_trajectory(project):
    with WritingServer(lambda record, _: json.dumps(questions_of(record))) as server:
        compile_all(project, server.url)
    assert rows(project, "specs.parquet").height == TOTAL
    assert sorted(server.asked) == sorted(set(descriptions(project)))
    form = server.bodies[0]["response_format"]["json_schema"]
    assert form["name"] == "stride_spec"
    assert sorted(form["schema"]["$defs"]) == ["D", "R", "S", "T", "V"]
    whole = json.dumps(server.bodies)
    assert "states" not in whole
    assert "x_m" not in whole


def test_a_range_the_wrong_way_round_is_asked_for_again_with_another_seed(project):
    seen = set()

    def answering(record, _):
        again = record["text"] in seen
        seen.add(record["text"])
        return json.dumps(questions_of(record) if again else turned(record))

    with WritingServer(answering) as server:
        compile_all(project, server.url)
    assert set(server.asked.values()) == {2}
    assert len({body["seed"] for body in server.bodies}) == len(server.bodies)
    responses = rows(project, "spec_responses.parquet").sort("item_id", "attempt")
    assert responses["status"].to_list() == ["invalid", "ok"] * len(server.asked)
    assert responses["reason"][0].startswith("bad_bounds: Q1 ")
    assert rows(project, "specs.parquet").height == TOTAL


def test_what_stays_wrong_is_rejected_with_its_code_and_the_rest_is_kept(project):
    first, second = descriptions(project)[:2]

    def answering(record, _):
        if record["text"] == first:
            return json.dumps(turned(record))
        return "Sure!" if record["text"] == second else json.dumps(questions_of(record))

    with WritingServer(answering) as server:
        compile_all(project, server.url)
    rejected = rows(project, "rejected/stride_specs.parquet").sort("item_id")
    assert rejected["reason"].to_list() == ["bad_bounds", "malformed"]
    assert "min 1.0 is above max 0.5" in rejected["detail"][0]
    assert rows(project, "specs.parquet").height == TOTAL - 2
    assert (server.asked[first], server.asked[second]) == (3, 3)


def test_a_model_that_gets_everything_wrong_ends_the_stage_with_the_reason(project):
    with (
        WritingServer(lambda record, _: json.dumps(turned(record))) as server,
        pytest.raises(ModelError, match=r"12 of 12 finished \(12 invalid\).*bad_bounds: Q1"),
    ):
        compile_all(project, server.url)


def test_a_models_text_that_the_phrase_bank_does_not_understand_is_rejected_with_the_reason(
    project,
):
    scenarios = scenarios_of(rows(project, "scenarios.parquet"))
    first = msgspec.structs.replace(
        scenarios[0], story=None, pattern=None, description="Nobody can say what goes on here."
    )
    file = project / "data/stride/scenarios.parquet"
    write_table(
        scenarios_frame([first, *scenarios[1:]]), file, ARTIFACTS["stride_scenarios"], shown="toy"
    )
    compile_all(project, NOBODY, engine=TemplateSettings())
    rejected = rows(project, "rejected/stride_specs.parquet")
    assert rejected.select("item_id", "reason").rows() == [(first.scene_id, "refusal")]
    assert "words that tell how people move" in rejected["detail"][0]
    assert rows(project, "specs.parquet").height == TOTAL - 1


def test_where_nothing_was_written_well_there_is_no_benchmark_and_one_line_says_so(project):
    with WritingServer(lambda record, _: json.dumps(turned(record))) as server:
        compile_all(project, server.url, most_failed_share=1.0)
    assert rows(project, "rejected/stride_specs.parquet").height == TOTAL
    with pytest.raises(ParameterError, match="found none among 12 scenarios and 0 specifications"):
        run(project, "stride_lint")


# ---- a kill, and no model at all


def answers_kept(root: Path) -> int:
    with sqlite3.connect(f"file:{root / 'ledger/ledger.sqlite'}?mode=ro", uri=True) as held:
        return held.execute("SELECT count(*) FROM answers").fetchone()[0]


def sometimes_wrong(record, seed):
    return json.dumps(turned(record) if seed % 3 == 0 else questions_of(record))


def test_a_killed_run_goes_on_and_ends_in_the_same_bytes_and_so_does_a_replay(project):
    with WritingServer(sometimes_wrong) as server:
        compile_all(project, server.url)
    undisturbed, sent = outputs(project), len(server.bodies)
    shutil.rmtree(project / "ledger")
    for name in undisturbed:
        (project / "data/stride" / name).unlink()

    with WritingServer(sometimes_wrong) as gated:
        gated.closes_after = FEW
        running = subprocess.Popen(
            [sys.executable, "-c", STAGE, str(project), gated.url],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert gated.closed.wait(120)
        while not answers_kept(project):
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
    kept = answers_kept(project)
    assert 0 < kept <= FEW < sent
    assert not (project / "data/stride/specs.parquet").exists()
    with WritingServer(sometimes_wrong) as server:
        compile_all(project, server.url)
    assert outputs(project) == undisturbed
    assert len(server.bodies) == sent - kept

    compile_all(project, NOBODY, replay=True)
    assert outputs(project) == undisturbed

    shutil.rmtree(project / "ledger")
    responses = project / "data/stride/spec_responses.parquet"
    assert list(import_answers(project / "ledger", [responses]))
    compile_all(project, NOBODY, replay=True)
    assert outputs(project) == undisturbed


def test_a_replay_without_the_answers_says_what_is_missing(project):
    with pytest.raises(ModelError, match="expected every answer in the ledger"):
        compile_all(project, NOBODY, replay=True)


# ---- one text


@pytest.fixture
def compiling(project, monkeypatch):
    """Stand in a project whose questions a server writes; returns its params.yaml's editor."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    monkeypatch.chdir(project)

    def name_server(url: str) -> None:
        engine = {"kind": "openai"} | msgspec.to_builtins(openai_settings(url))
        params["stride_specs"]["writer"]["engine"] = engine
        (project / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")

    return name_server


COMPILE = ["stride", "compile", "--text", "A queue moves on.", "--people", "20"]


def test_compile_asks_the_model_once_and_never_again(compiling, capsys):
    with WritingServer(lambda record, _: json.dumps(questions_of(record))) as server:
        compiling(server.url)
        assert command_line.main([*COMPILE, "--json"]) == 0
        first = capsys.readouterr().out
    assert command_line.main([*COMPILE, "--json"]) == 0  # the server is gone
    assert capsys.readouterr().out == first
    document = json.loads(first)
    assert document["benchmark"]["model"] == "openai/tiny"
    assert len(document["benchmark"]["scenes"][0]["questions"]) >= 5
    assert len(server.bodies) == 1


def test_compile_says_in_one_line_what_a_model_got_wrong(compiling, capsys):
    with WritingServer(lambda record, _: json.dumps(turned(record))) as server:
        compiling(server.url)
        assert command_line.main(COMPILE) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "found none in 3 attempts, the last: invalid (bad_bounds: Q1 " in said
    assert "ledger gc --failed" in said
    assert len(server.bodies) == 3


def test_compile_names_no_pattern_to_a_model(compiling, capsys):
    compiling(NOBODY)
    assert command_line.main([*COMPILE, "--pattern", "queue"]) == 1
    assert "--pattern: expected none, as params.yaml names a model" in capsys.readouterr().err
