"""What the README promises of the release: whole, replayed alike, by city, by version."""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from pipeline.stages import STAGES
from tests.journey.project import Project

CITIES = ("helsinki", "monaco")


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_the_repro_ends_in_a_release_of_both_cities_that_keeps_its_promises(project):
    folder = project.root / "data/release"
    project.run("bash", "-c", "cd data/release && sha256sum --quiet --strict -c SHA256SUMS")
    project.pipeline("validate", "data/release")
    for city in CITIES:
        loss = json.loads((project.root / f"data/{city}/metrics/loss.json").read_text("utf-8"))
        assert loss["released"]["trips"] > 0
        counted = sum(
            pl.read_parquet(folder / city / task / "*.parquet").height
            for task in ("generation", "retrieval", "captioning")
        )
        assert counted == loss["released"]["instances"] == 7 * loss["released"]["trips"]


@pytest.mark.parametrize("city", CITIES)
def test_every_raw_trip_is_in_one_state_at_the_end(project, city):
    folder = project.root / "data" / city
    entries = pl.read_parquet(folder / "loss.parquet")
    raw = pl.read_parquet(folder / "raw_trips/*.parquet")["raw_trip_id"]
    decisive = entries.filter("decides")["raw_trip_id"]
    assert decisive.is_unique().all()
    assert set(raw) <= set(decisive)
    ledger = pl.read_parquet(folder / "ledger.parquet")
    assert set(ledger["raw_trip_id"]) == set(decisive)


def test_a_replay_without_a_model_gives_the_same_release(project):
    before = hashes(project.root / "data/release")
    for city in CITIES:
        project.pipeline("run", "annotate", city, "--replay")
        for stage in ("account", "release"):
            project.pipeline("run", stage, city)
    project.pipeline("run", "publish")
    assert hashes(project.root / "data/release") == before
    assert "up to date" in project.dvc("status")


def test_removing_a_city_takes_it_out_of_the_release_and_reruns_no_other_city(project):
    def remove(params):
        del params["cities"]["monaco"]

    with project.changed("params.yaml", remove):
        ran = project.ran(project.dvc("repro"))
        assert "publish" in ran
        assert ran <= {stage.name for stage in STAGES if stage.scope == "project"}
        assert sorted(f.name for f in (project.root / "data/release").iterdir()) == [
            "README.md", "SHA256SUMS", "croissant.json", "helsinki",
        ]  # fmt: skip
        assert "onaco" not in (project.root / "data/release/README.md").read_text("utf-8")
        assert (project.root / "data/monaco/release/generation").is_dir()
    assert (project.root / "data/release/monaco").is_dir()


def test_a_version_is_tagged_and_one_city_of_it_is_got_or_imported(project, tmp_path):
    project.dvc("remote", "add", "-f", "-d", "store", str(tmp_path / "store"))
    project.dvc("push", "-q")
    project.git("add", "-A")  # what people rate belongs to the version, too
    project.git("commit", "-qm", "release")
    project.git("tag", "-f", "-a", "release@v0.1.0", "-m", "Release 0.1.0")
    here = project.root / "data/release"
    project.dvc(
        "get", str(project.root), "data/release/helsinki", "--rev", "release@v0.1.0",
        "-o", str(tmp_path / "helsinki"),
    )  # fmt: skip
    assert hashes(tmp_path / "helsinki") == hashes(here / "helsinki")
    whole = tmp_path / "whole"
    project.dvc(
        "artifacts", "get", str(project.root), "release", "--rev", "v0.1.0", "-o", str(whole)
    )
    assert hashes(whole) == hashes(here)
    other = Project(tmp_path / "other", project.environment)
    other.root.mkdir()
    other.git("init", "-q")
    other.dvc("init", "-q")
    other.dvc("import", str(project.root), "data/release/monaco", "--rev", "release@v0.1.0")
    assert hashes(other.root / "monaco") == hashes(here / "monaco")
    assert "rev_lock" in (other.root / "monaco.dvc").read_text("utf-8")


def test_a_fresh_clone_is_up_to_date_before_any_data_is_pulled(project, tmp_path):
    clone = tmp_path / "clone"
    project.git("clone", "-q", str(project.root), str(clone))
    fresh = Project(clone, project.environment)
    said = fresh.dvc("repro", "--dry", "--allow-missing")
    assert "Running stage" not in said
    assert "Stage 'publish' didn't change" in said
    shown = fresh.pipeline("loss", "helsinki")
    assert "= released trips" in shown
