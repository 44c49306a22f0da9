"""A metrics file is a record, or one line with the way to mend it."""

import json

import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError
from pipeline.metrics import read_metrics
from pipeline.release.command import loss_text
from pipeline.show.figures import figures_of
from pipeline.stages import STAGES

DAMAGED = {
    b"": "nothing",
    b"\n \n": "nothing",
    b'{"raw_trips":': "'{\"raw_trips\":'",
    b'"x"': "'\"x\"'",
    b"[]": r"'\[\]'",
    b"3": "'3'",
    b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n": "'<<<<<<< HEAD'",
    b"\xff\xfe\x00": "'utf-8' codec",
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "params.yaml").write_text("cities:\n  toy: {traces: x}\n")
    (tmp_path / "data/toy/metrics").mkdir(parents=True)
    return tmp_path


def test_a_record_is_read_and_a_file_that_is_not_there_is_none(root):
    (root / "data/toy/metrics/loss.json").write_text(json.dumps({"raw_trips": 3}))
    assert read_metrics(root, "toy", "loss_metrics") == {"raw_trips": 3}
    assert read_metrics(root, "toy", "check_metrics") is None


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_says_what_it_holds_and_how_to_mend_it(root, content):
    file = "data/toy/metrics/loss.json"
    (root / file).write_bytes(content)
    line = (
        rf"^{file}: expected a JSON record, found {DAMAGED[content]}.*; run"
        rf" `dvc repro account@toy` or `git checkout HEAD -- {file}`$"
    )
    with pytest.raises(ContractError, match=line):
        loss_text(root, ["toy"], form="plain")
    with pytest.raises(ContractError, match=line):
        figures_of(root, ["toy"], only=["loss"])


def test_a_folder_of_that_name_is_one_line_too(root):
    (root / "data/toy/metrics/loss.json").mkdir()
    with pytest.raises(ContractError, match=r"found .*Is a directory"):
        read_metrics(root, "toy", "loss_metrics")


@pytest.mark.parametrize(
    "name", [one.name for one in ARTIFACTS.values() if one.kind == "metric" and one.form == "json"]
)
def test_every_metrics_file_has_one_stage_that_makes_it(name):
    assert len([stage for stage in STAGES if name in stage.writes]) == 1
