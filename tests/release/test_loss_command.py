"""The loss table of cities, of which one may not be built yet."""

import json
import shutil
from pathlib import Path

import pytest

from pipeline.errors import SourceError
from pipeline.release.command import loss_text

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project in which Helsinki is accounted and Monaco is not built."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    shutil.copytree(ROOT / "data/helsinki/metrics", tmp_path / "data/helsinki/metrics")
    return tmp_path


def test_a_city_that_is_not_built_yet_hides_no_other(project):
    assert [one["city"] for one in json.loads(loss_text(project, [], form="json"))] == ["helsinki"]


def test_a_city_that_is_named_must_be_built(project):
    with pytest.raises(SourceError, match=r"monaco.*run `dvc repro account@monaco`"):
        loss_text(project, ["monaco"], form="json")


def test_where_no_city_is_built_the_first_is_named(project):
    shutil.rmtree(project / "data")
    with pytest.raises(SourceError, match="dvc repro account@helsinki"):
        loss_text(project, [], form="plain")
