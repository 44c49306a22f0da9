"""The stage table is true: functions ask for what it declares, dvc.yaml is what it renders."""

from pathlib import Path

import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.dvcfile import import_closure, render
from pipeline.runner import declared_arguments, stage_function
from pipeline.stages import STAGES

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("stage", STAGES, ids=lambda s: s.name)
def test_a_stage_function_asks_for_exactly_the_sections_its_row_declares(stage):
    assert sorted(declared_arguments(stage)) == sorted([*stage.params, *stage.config])


@pytest.mark.parametrize("stage", STAGES, ids=lambda s: s.name)
def test_a_stage_is_documented_and_its_files_exist(stage):
    assert stage_function(stage).__doc__
    for file in stage.files:
        assert (ROOT / file).exists()


def test_an_artifact_is_made_by_one_stage_and_read_only_after_it_is_made():
    made: set[str] = {"traces", "reviews"}  # the user's own, or the simulator's under another name
    for stage in STAGES:
        assert set(stage.reads) <= made, stage.name
        new = {*stage.writes, *([stage.rejections().name] if stage.rejects else [])}
        assert not new & made
        made |= new
    assert made == set(ARTIFACTS)


def test_the_committed_dvc_yaml_is_what_the_stage_table_renders():
    committed = (ROOT / "dvc.yaml").read_text("utf-8")
    assert committed == render(), "run `python -m pipeline dvc`"


def test_a_frozen_stage_is_marked_for_dvc():
    assert render(frozenset({"pull_osm"})).count("frozen: true") == 1


def test_the_closure_of_a_stage_holds_what_it_imports_and_no_other_chapter():
    closure = import_closure("pipeline.trips.phases")
    assert "pipeline/trips/phases.py" in closure
    assert not any(file.startswith("pipeline/show") for file in closure)
    assert "pipeline/trips/matching/trace.py" in import_closure("pipeline.trips.match")
    assert "pipeline/seeds.py" in import_closure("pipeline.trips.simulation.simulate")
