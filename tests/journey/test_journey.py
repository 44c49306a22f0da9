"""What the README promises of `dvc repro`, shown by doing it."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from pipeline import tables
from pipeline.runner import run_stage
from pipeline.stages import STAGES
from tests.journey.project import after

CITIES = ("helsinki", "monaco")
ALL = [stage.name for stage in STAGES]


def test_the_first_repro_runs_every_stage_of_every_city(project):
    assert project.ran(project.first_repro) == project.runs(ALL, *CITIES)


def test_a_second_repro_runs_nothing_and_the_status_is_clean(project):
    assert project.ran(project.dvc("repro")) == set()
    assert "up to date" in project.dvc("status")


def test_no_data_file_is_offered_to_git(project):
    assert project.git("status", "--porcelain", "-uall") == ""


def test_every_artifact_keeps_its_schema_when_checked_from_outside(project):
    for city in CITIES:
        lines = project.pipeline("validate", f"data/{city}").splitlines()
        checked = {line.rsplit("/", 1)[1].removesuffix(".schema.json") for line in lines}
        assert {"road", "cleaned_trip", "matched_trip", "phased_trip"} <= checked
        assert {"planned_trip", "annotated_trip", "checked_trip", "response"} <= checked


def test_changing_one_parameter_reruns_what_depends_on_it_and_nothing_else(project):
    with project.changed("params.yaml", lambda p: p["compress"].update(min_phases=12)):
        ran = project.ran(project.dvc("repro"))
    # A stage whose output comes out the same stops what follows it.
    assert {"compress@monaco", "plan_intents@monaco", "annotate@monaco", "report@monaco"} <= ran
    assert ran <= project.runs(after("compress"), *CITIES)


def test_changing_one_citys_setting_leaves_the_other_city_alone(project):
    def change(config):
        config["cleaning"]["fewest_points"] += 5

    with project.changed("configs/monaco.yaml", change):
        ran = project.ran(project.dvc("repro"))
    assert ran <= project.runs(ALL, "monaco")
    assert "ingest@monaco" in ran
    assert not ran & {"pull_osm@monaco", "roads@monaco", "cells@monaco", "simulate@monaco"}


def test_adding_a_city_runs_only_that_city(project):
    """The new city is the small extract of the same package, under a name of its own."""
    config = project.root / "configs/toy.yaml"
    config.write_text((project.root / "configs/monaco.yaml").read_text("utf-8"), "utf-8")
    with project.changed(
        "params.yaml", lambda p: p["cities"].update(toy={"traces": "data/toy/simulated/traces"})
    ):
        ran = project.ran(project.dvc("repro"))
    of_city = {f"{stage.name}@toy" for stage in STAGES if stage.scope == "city"}
    # What is of the whole project stops where the new city changes nothing.
    assert of_city | {"publish"} <= ran <= project.runs(ALL, "toy")


def test_a_forced_rerun_gives_the_same_bytes(project):
    before = (project.root / "dvc.lock").read_text("utf-8")
    project.dvc("repro", "--force", "--single-item", "simulate@monaco", "match@monaco")
    assert (project.root / "dvc.lock").read_text("utf-8") == before


def test_how_many_trips_are_held_at_a_time_changes_no_byte(project, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS_AT_A_TIME", 7)
    names = [stage.name for stage in STAGES]
    for stage in STAGES[names.index("match") : names.index("publish")]:
        run_stage(stage.name, "monaco", root=project.root)
    assert "up to date" in project.dvc("status")


def test_metrics_and_plots_show_every_city(project):
    shown = json.loads(project.dvc("metrics", "show", "--json"))
    figures = shown[""]["data"]
    for city in CITIES:
        metrics = figures[f"data/{city}/metrics/summary.json"]["data"]
        assert metrics["traces"] == "simulated"
        assert metrics["counts"]["phased_trips"] > 0
    project.dvc("plots", "show", "-o", "plots-page")
    page = (project.root / "plots-page/index.html").read_text("utf-8")
    assert "phases_per_trip" in page
    assert "loss" in page


@pytest.mark.parametrize("city", CITIES)
def test_every_raw_trip_ends_in_one_state_and_the_counts_add_up(project, city):
    folder = project.root / "data" / city
    ledger = pl.read_parquet(folder / "ledger.parquet")
    raw = pl.read_parquet(folder / "raw_trips/*.parquet")
    assert ledger["raw_trip_id"].is_unique().all()
    assert set(raw["raw_trip_id"]) <= set(ledger["raw_trip_id"])
    assert ledger.filter(pl.col("state") == "phased")["phased"].min() >= 1
    phased = pl.read_parquet(folder / "phased/*.parquet")
    assert ledger["phased"].sum() == phased.height
    assert ledger.filter(pl.col("state") == "rejected")["reason"].null_count() == 0


@pytest.mark.parametrize("city", CITIES)
def test_each_stage_accounts_for_everything_it_read(project, city):
    folder = project.root / "data" / city
    read = {
        name: pl.read_parquet(folder / name / "*.parquet")
        for name in ("cleaned", "matched", "matched_points", "phased")
    }
    refused = {
        name: set(pl.read_parquet(folder / f"rejected/{name}.parquet")["item_id"])
        for name in ("match", "compress")
    }
    assert set(read["matched_points"]["trip_id"]) == set(read["cleaned"]["trip_id"])
    arrived = set(read["matched"]["cleaned_trip_id"])
    for trip in read["cleaned"]["trip_id"]:
        drives = {r for r in refused["match"] if r == trip or r.startswith(f"{trip}_p")}
        assert trip in arrived or drives
    assert set(read["matched"]["trip_id"]) == set(read["phased"]["trip_id"]) | refused["compress"]
    assert not set(read["phased"]["trip_id"]) & refused["compress"]


def test_a_killed_stage_leaves_nothing_half_written_and_the_next_repro_mends_it(project):
    folder = project.root / "data/monaco"
    before = {f.name: f.read_bytes() for f in (folder / "matched").iterdir()}
    running = subprocess.Popen(
        ["python", "-m", "pipeline", "run", "match", "monaco"],
        cwd=project.root, env=project.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    aside = folder / ".writing"
    while not aside.exists() and running.poll() is None:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert {f.name: f.read_bytes() for f in (folder / "matched").iterdir()} == before
    project.pipeline("run", "match", "monaco")
    assert {f.name: f.read_bytes() for f in (folder / "matched").iterdir()} == before
    assert not aside.exists()
    assert "up to date" in project.dvc("status")


def test_a_version_is_pushed_pulled_and_got_by_its_revision(project, tmp_path):
    project.dvc("remote", "add", "-f", "-d", "store", str(tmp_path / "store"))
    project.dvc("push", "-q")
    project.git("commit", "-qam", "remote")
    project.git("tag", "-f", "v1")
    got = tmp_path / "roads.parquet"
    project.dvc(
        "get", str(project.root), "data/monaco/roads.parquet", "--rev", "v1", "-o", str(got)
    )
    assert got.read_bytes() == (project.root / "data/monaco/roads.parquet").read_bytes()
    clone = tmp_path / "clone"
    project.git("clone", "-q", str(project.root), str(clone))
    project.run("dvc", "--cd", str(clone), "pull", "-q", "data/monaco/phased")
    parts = [f.name for f in (clone / "data/monaco/phased").iterdir()]
    assert parts == [f.name for f in (project.root / "data/monaco/phased").iterdir()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "mtach", "monaco"), "expected one of pull_osm"),
        (("run", "match", "atlantis"), "expected one of helsinki, monaco"),
        (("show", "monaco", "no-such-trip"), "no-such-trip"),
        (("validate", "data/atlantis"), "found nothing"),
        (("check", "atlantis"), "configs/atlantis.yaml"),
    ],
)
def test_a_wrong_word_is_one_line_and_exit_code_1(project, arguments, message):
    said = project.pipeline(*arguments, expect=1)
    assert said.startswith("error: ")
    assert len(said.strip().splitlines()) == 1
    assert message in said


README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
EXAMPLES = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


def test_the_readmes_python_and_commands_run_as_printed(project):
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        project.run("python", "-c", code)
    assert len(EXAMPLES) >= 5
    for line in EXAMPLES:
        project.run(*line.split())
    assert (project.root / "out/trip.html").stat().st_size > 10_000
    assert pl.read_parquet(project.root / "out/matched/trips.parquet").height > 0


def test_a_check_finds_nothing_wrong_with_a_default_city_and_names_what_is_wrong(project):
    said = project.pipeline("check", "monaco")
    assert "0 errors, 0 warnings" in said
    with project.changed("configs/monaco.yaml", lambda c: c.update(time_zone="Asia/Tokyo")):
        said = project.pipeline("check", "monaco", expect=1)
    assert "time zone" in said


def test_an_unknown_parameter_key_stops_the_run_with_its_name(project):
    with project.changed("params.yaml", lambda p: p["compress"].update(min_phasess=2)):
        said = project.pipeline("run", "compress", "monaco", expect=1)
    assert "params.yaml: compress" in said
    assert "min_phasess" in said


def test_a_full_disk_is_one_line_and_leaves_the_old_artifacts(project):
    """A file-size limit is the full disk every machine can have: writing fails half-way."""
    folder = project.root / "data/monaco/matched"
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    said = project.run(
        "bash", "-c", "trap '' XFSZ; ulimit -f 8; python -m pipeline run match monaco", expect=1
    )
    assert "error: " in said
    assert "Traceback" not in said
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before
