"""The stage `annotate` with the true vLLM: texts from a model, a kill, a resumed run, a replay."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import warnings
from pathlib import Path

import polars as pl
import pytest

from tests.journey.project import Project
from tests.language.models import QUIET_AND_SMALL, write_tiny_llama

TRIPS = 5
CITY = "monaco"
STORE = ".response_store"


@pytest.fixture(scope="module")
def with_model(project, tmp_path_factory):
    """The project with a few planned trips and a tiny random model as its annotator."""
    home = tmp_path_factory.mktemp("with-model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = write_tiny_llama(home / "model", context=16384)
    root = home / "project"
    shutil.copytree(project.root, root, ignore=shutil.ignore_patterns(STORE, "cache", "tmp"))
    small = QUIET_AND_SMALL | {"VLLM_CACHE_ROOT": str(home / "vllm")}
    made = Project(root, project.environment | small)
    _keep_few_trips(root / "data" / CITY / "planned")
    _shorten_answers(root / "prompts/annotate/answer.schema.json")
    made.edit("params.yaml", lambda params: _name_model(params["annotate"], model))
    return made


def _keep_few_trips(folder: Path) -> None:
    for number, file in enumerate(sorted(folder.glob("*.parquet"))):
        rows = pl.read_parquet(file, use_pyarrow=True).to_arrow()
        kept = rows.slice(0, TRIPS if number == 0 else 0).cast(rows.schema)
        pl.from_arrow(kept).write_parquet(file, use_pyarrow=True)


def _shorten_answers(file: Path) -> None:
    """A random model fills whatever a schema allows; a few dozen letters show as much."""
    text = file.read_text("utf-8")
    file.write_text(re.sub(r'"maxLength": \d+', '"maxLength": 40', text), "utf-8")


def _name_model(section: dict, model: Path) -> None:
    section["engine"] = {
        "kind": "vllm", "model": str(model), "revision": "tiny", "dtype": "float32",
        "max_model_len": 16384, "max_num_seqs": 2, "tensor_parallel_size": 1, "quantization": None,
        "gpu_memory_utilization": 0.9, "enforce_eager": True, "chat_template": None,
        "chat_template_kwargs": {}, "window": 2,
    }  # fmt: skip
    section["sampling"] = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 600}
    section["shots"] = 0
    section["most_failed_share"] = 1.0


def _outputs(project: Project) -> dict[str, bytes]:
    folder = project.root / "data" / CITY
    files = [*sorted((folder / "annotated").iterdir()), *sorted((folder / "responses").iterdir())]
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}


def _rows(project: Project) -> int:
    file = project.root / STORE / "ledger.sqlite"
    if not file.exists():
        return 0
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as held:
        try:
            return held.execute("SELECT count(*) FROM answers").fetchone()[0]
        except sqlite3.OperationalError:  # not set up yet
            return 0


@pytest.fixture(scope="module")
def undisturbed(with_model):
    """What a run writes that nothing interrupts; its ledger is taken away again."""
    with_model.pipeline("run", "annotate", CITY)
    outputs = _outputs(with_model)
    shutil.rmtree(with_model.root / STORE)
    return outputs


def test_a_model_writes_texts_that_fit_the_schema_and_every_answer_is_kept(undisturbed, with_model):
    folder = with_model.root / "data" / CITY
    annotated = pl.read_parquet(folder / "annotated/*.parquet")
    responses = pl.read_parquet(folder / "responses/*.parquet")
    refused = pl.read_parquet(folder / "rejected/annotate.parquet")
    assert annotated.height + refused.height == TRIPS
    assert annotated.height > 0
    assert set(annotated["trip_id"]) == set(responses.filter(pl.col("status") == "ok")["item_id"])
    assert set(responses["engine"]) == {"vllm"}
    assert responses["output_tokens"].min() > 10
    for text in responses.filter(pl.col("status") == "ok")["text"]:
        assert list(json.loads(text))[:2] == ["_intent_planning", "_retrieval_planning"]
    assert annotated["provenance"].struct.field("model").str.ends_with("model").all()


def test_a_killed_run_goes_on_where_it_was_and_ends_in_the_same_bytes(undisturbed, with_model):
    running = subprocess.Popen(
        ["python", "-m", "pipeline", "run", "annotate", CITY],
        cwd=with_model.root, env=with_model.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while _rows(with_model) == 0 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    kept = _rows(with_model)
    assert 0 < kept < TRIPS
    with_model.pipeline("run", "annotate", CITY)
    run = json.loads((with_model.root / f"data/{CITY}/metrics/annotation_run.json").read_text())
    assert _outputs(with_model) == undisturbed
    assert _rows(with_model) == kept + run["sent"]


def test_a_versions_responses_replay_its_texts_without_the_model(undisturbed, with_model):
    responses = with_model.root / "out/responses"
    shutil.copytree(with_model.root / f"data/{CITY}/responses", responses)
    shutil.rmtree(with_model.root / STORE)
    with_model.edit("params.yaml", lambda params: params["annotate"].update(shots=0))
    said = with_model.pipeline("run", "annotate", CITY, "--replay", expect=1)
    assert f"{TRIPS} " in said
    with_model.pipeline("ledger", "import", "out/responses")
    model = Path(_model_folder(with_model))
    model.rename(model.with_name("taken-away"))
    with_model.pipeline("run", "annotate", CITY, "--replay")
    assert _outputs(with_model) == undisturbed


def _model_folder(project: Project) -> str:
    found = re.search(r"model: (\S+/model)", (project.root / "params.yaml").read_text("utf-8"))
    assert found
    return found[1]
