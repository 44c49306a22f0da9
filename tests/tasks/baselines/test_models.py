"""All baselines on a town: what they see, what they answer, and how they are called."""

import shutil

import numpy as np
import polars as pl
import pytest

from pipeline.__main__ import main
from pipeline.tasks.baselines import MODELS
from pipeline.tasks.ground import Ground
from pipeline.tasks.predictions import read_predictions
from pipeline.tasks.released import open_release
from tests.tasks.baselines.asking import scramble, write_asking_town

ALL = [(task, model) for task, models in MODELS.items() for model in models]
NAMED = pytest.mark.parametrize(("task", "model"), ALL, ids=[model.name for _, model in ALL])


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return write_asking_town(tmp_path_factory.mktemp("town"))


def answers(folder, task, model, file):
    model.predict(open_release(folder).for_models(task), "test").write_parquet(file)
    return file.read_bytes()


@NAMED
def test_predictions_do_not_depend_on_what_models_may_not_see(town, tmp_path, task, model):
    other = shutil.copytree(town, tmp_path / "other")
    scramble(other, task)
    hidden = ("generation", "retrieval", "captioning")
    hidden += ("candidates",) if task != "retrieval" else ()
    for split in ("val", "test"):
        for table in hidden:
            name = f"{table}/{split}.parquet"
            changed = (town / name).read_bytes() != (other / name).read_bytes()
            assert changed or pl.read_parquet(town / name).height == 1, name
    told = answers(town, task, model, tmp_path / "one.parquet")
    assert answers(other, task, model, tmp_path / "two.parquet") == told
    assert answers(town, task, model, tmp_path / "again.parquet") == told
    assert read_predictions(tmp_path / "one.parquet", task).height > 0


def test_a_view_shows_no_answers(town):
    view = open_release(town).for_models("generation")
    assert view.inputs("test").columns == [
        "instance_id", "instruction", "start_edge", "start_time_s", "start_time"
    ]  # fmt: skip
    assert "target" not in view.inputs("train").columns
    assert "target" in view.train("captioning").columns
    assert view.pool("train").columns == [
        "trip_id", "start_time", "time_spent_s", "length_m", "edge_ids", "t_enter_s", "off_from_m",
        "off_to_m", "cells", "cell_edges",
    ]  # fmt: skip
    for task in ("generation", "captioning"):
        with pytest.raises(LookupError, match="its trips are the answers"):
            open_release(town).for_models(task).pool("test")
    assert open_release(town).for_models("retrieval").pool("test").height == 3


@pytest.mark.parametrize("model", MODELS["generation"], ids=lambda model: model.name)
def test_routes_can_be_driven_and_begin_where_they_should(town, model):
    release = open_release(town)
    found = model.predict(release.for_models("generation"), "test")
    inputs = release.inputs("generation", "test")
    ground = Ground.of(release)
    assert found["instance_id"].to_list() == inputs["instance_id"].to_list()
    assert found["edge_ids"].to_list() == found["candidates"].list.first().to_list()
    for start, routes in zip(inputs["start_edge"], found["candidates"], strict=True):
        numbers = ground.numbered(routes)
        for k, route in enumerate(np.split(numbers.values, numbers.starts[1:-1])):
            assert routes[k][0] == start
            assert (ground.v[route[:-1]] == ground.u[route[1:]]).all()


def test_a_named_place_and_a_described_one_are_reached(town):
    release = open_release(town)
    found = MODELS["generation"][0].predict(release.for_models("generation"), "test")
    last = dict(zip(found["instance_id"], found["edge_ids"].list.last(), strict=True))
    assert {last[f"toy/f/generation/{style}"] for style in ("literal", "chatty")} <= {
        "4:30:31", "4:31:30", "101:30:40", "101:40:30", "101:20:30", "101:30:20"
    }  # fmt: skip
    assert last["toy/e/generation/literal"].startswith("5:")  # Street 5


def test_the_command_lists_predicts_and_is_scored(town, tmp_path, capsys):
    assert main(["tasks", "predict", "--list"]) == 0
    assert "generation destsp_bm25" in capsys.readouterr().out
    out = tmp_path / "routes.parquet"
    asked = ["--release", str(town), "--out", str(out)]
    assert main(["tasks", "predict", "generation", "destsp_bm25", *asked]) == 0
    report = ["--pred", str(out), "--release", str(town), "--out", str(tmp_path / "report.json")]
    assert main(["tasks", "score", "generation", *report]) == 0
    assert "oracle_dist_km" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["generation", "gpt"], "one of its models (destsp_bm25"),
        (["generation", "destsp_bm25"], "--release"),
        (["generation", "destsp_bm25", "--release", "x", "--out", "y.csv"], "ends in .parquet"),
    ],
)
def test_what_cannot_be_done_is_told(arguments, told, capsys):
    assert main(["tasks", "predict", *arguments]) == 1
    assert told in capsys.readouterr().err
