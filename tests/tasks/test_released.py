"""What a release gives to models and to scorers, and what it says when a part is missing."""

import shutil

import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.tasks.released import open_release
from tests.tasks.town import Trip, route, write_release

TRIPS = [
    Trip("a", "train", [0, 1, 2]),
    Trip("b", "val", [0, 10, 20]),
    Trip("c", "test", [11, 12, 13]),
]
HIDDEN = {"target", "evidence", "provenance", "trip_id", "split", "style", "simulated", "number"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("toy"), TRIPS)


@pytest.mark.parametrize("task", ["generation", "retrieval", "captioning"])
@pytest.mark.parametrize("split", ["val", "test"])
def test_a_model_sees_of_scored_instances_only_the_input(folder, task, split):
    release = open_release(folder)
    shown, whole = release.inputs(task, split), release.instances(task, split)
    assert shown.columns == ["instance_id", *(f.name for f in whole.schema["input"].fields)]
    assert not HIDDEN & set(shown.columns)
    assert shown["instance_id"].equals(whole["instance_id"])


@pytest.mark.parametrize("task", ["generation", "retrieval", "captioning"])
def test_of_train_a_model_sees_the_targets_too(folder, task):
    release = open_release(folder)
    assert "target" in release.inputs(task, "train").columns
    assert not (HIDDEN - {"target"}) & set(release.inputs(task, "train").columns)


def test_candidates_hold_paths_and_no_text(folder):
    pool = open_release(folder).candidates("test")
    assert pool["edge_ids"].to_list() == [route(11, 12, 13)]
    assert not {"caption", "query", "instruction", "evidence"} & set(pool.columns)


def test_all_instances_are_known_with_their_splits(folder):
    splits = open_release(folder).instance_splits("generation")
    assert splits.group_by("split").len().sort("split").rows() == [
        ("test", 3), ("train", 3), ("val", 3)
    ]  # fmt: skip


def test_the_hash_is_of_the_content_alone(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "elsewhere")
    assert open_release(copy).hash() == open_release(folder).hash()
    other = write_release(tmp_path / "other", TRIPS[:2])
    assert open_release(other).hash() != open_release(folder).hash()


@pytest.mark.parametrize("part", ["generation/test.parquet", "candidates/val.parquet"])
def test_a_missing_table_is_named(folder, tmp_path, part):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / part).unlink()
    with pytest.raises(SourceError, match=rf"{part}: expected this table .* `dvc pull`"):
        open_release(copy)


@pytest.mark.parametrize("name", ["roads", "road_cells", "cells", "names"])
def test_a_missing_table_of_the_ground_is_named_when_it_is_needed(folder, tmp_path, name):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / f"ground/{name}.parquet").unlink()
    release = open_release(copy)
    with pytest.raises(SourceError, match=rf"ground/{name}.parquet: expected this table"):
        getattr(release, name)


def test_no_folder_is_no_release(tmp_path):
    with pytest.raises(SourceError, match="expected the folder of a release"):
        open_release(tmp_path / "nowhere")


def test_a_release_is_of_one_city(folder, tmp_path):
    mixed = shutil.copytree(folder, tmp_path / "mixed")
    other = write_release(tmp_path / "other", TRIPS, city="elsewhere")
    shutil.copy(other / "candidates/val.parquet", mixed / "candidates/val.parquet")
    with pytest.raises(SourceError, match="one city, found elsewhere, toy"):
        open_release(mixed)


def test_the_ground_is_there(folder):
    release = open_release(folder)
    assert release.roads.height == release.road_cells.height == 80
    assert release.names["kind"].unique().to_list() == ["road"]
    assert isinstance(release.cells, pl.DataFrame)
