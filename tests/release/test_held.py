"""A release is held to what dvc.lock records of the stages before it; shown with real DVC."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from pipeline.artifacts import ARTIFACTS
from pipeline.hashes import dvc_hash
from pipeline.stages import STAGES
from tests.journey.project import Project
from tests.release.project import ROOT, lay_city, make_project, set_cities

CITIES = ("east", "west")
TRIPS = {"west": range(9), "east": range(4)}
# Stages that only bring what lies ready below made/, and those that are the real ones.
BRINGING = (
    "simulate", "pull_osm", "pull_context", "roads", "cells", "names", "ingest", "match",
    "annotate", "check", "judge", "select", "agree",
)  # fmt: skip
REAL = ("account", "release", "publish")
TABLE = {stage.name: stage for stage in STAGES}
READ = TABLE["release"].reads


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two cities, brought as far as the published release by `dvc repro` from nothing."""
    root = make_project(tmp_path_factory.mktemp("held") / "project", **TRIPS)
    for city in CITIES:
        make_ready(root, city)
    (root / "dvc.yaml").write_text(dvcfile(), "utf-8")
    site_cache = tmp_path_factory.mktemp("site-cache")
    made = Project(root, environment(site_cache))
    start_git(made)
    made.dvc("init", "-q")
    made.first_repro = made.dvc("repro")
    made.git("add", "-A")
    made.git("commit", "-qm", "first data")
    return made


@pytest.fixture
def own(done, tmp_path) -> Project:
    """A copy that a test may change."""
    root = shutil.copytree(done.root, tmp_path / "project", symlinks=True)
    return Project(root, environment(tmp_path / "site-cache"))


def environment(site_cache: Path) -> dict[str, str]:
    who = {"NAME": "test", "EMAIL": "test@example.invalid"}
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(site_cache),
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in who.items()},
    }  # fmt: skip


def start_git(project: Project) -> None:
    project.git("init", "-q")
    project.git("add", "-A")
    project.git("commit", "-qm", "start")


def make_ready(root: Path, city: str) -> None:
    """Move what the stages of a city bring from data/ to made/."""
    for name in BRINGING:
        for path in brought(name):
            source, target = root / "data" / city / path, root / "made" / city / path
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)


def brought(name: str) -> list[str]:
    """Return what a stage brings: what the stages after it read."""
    stage = TABLE[name]
    wanted = {one for real in REAL for one in TABLE[real].reads}
    if name == "simulate":
        return ["simulated/traces"]
    made = [*stage.writes, *([stage.rejections().name] if stage.rejects else [])]
    return [ARTIFACTS[one].path for one in made if one in wanted]


def dvcfile() -> str:
    """Return a dvc.yaml of the same stages and data as the true one, without the code."""
    true = yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"]
    stages = {name: true[name] for name in REAL}
    for name in BRINGING:
        paths = brought(name)
        reads = [place for one in TABLE[name].reads for place in places(one)]
        stages[name] = {"foreach": "${cities}", "do": {
            "cmd": f"mkdir -p data/${{key}} && cd made/${{key}} && cp -r --parents"
                   f" {' '.join(paths)} ../../data/${{key}}",
            "deps": [*(f"made/${{key}}/{path}" for path in paths), *reads],
            "outs": [f"data/${{key}}/{path}" for path in paths],
        }}  # fmt: skip
    for name in REAL:
        body = stages[name].get("do", stages[name])
        body["deps"] = [one for one in body["deps"] if one.startswith(("data", "${item"))]
    return yaml.safe_dump({"stages": stages}, sort_keys=False)


def places(name: str) -> list[str]:
    """Return the place of an artifact that a bringing stage may wait for."""
    if name == "traces":
        return ["${item.traces}"]
    path = ARTIFACTS[name].path
    return [f"data/${{key}}/{path}"] if any(path in brought(one) for one in BRINGING) else []


def locked(project: Project) -> dict[str, dict[str, dict[str, str]]]:
    """Return deps and outs of each stage in dvc.lock: hash by path."""
    stages = yaml.safe_load((project.root / "dvc.lock").read_text("utf-8"))["stages"]
    return {
        name: {
            kind: {one["path"]: one["md5"] for one in stage.get(kind, [])}
            for kind in ("deps", "outs")
        }
        for name, stage in stages.items()
    }


def contents(project: Project, city: str) -> dict:
    return json.loads((project.root / f"data/contents/{city}.json").read_text("utf-8"))


def card(project: Project, city: str = "") -> str:
    return (project.root / "data/release" / city / "README.md").read_text("utf-8")


def released(project: Project) -> dict[str, bytes]:
    """Return every file of the release as a city has it, its contents, and the published folder."""
    folders = [f"data/{city}/release" for city in CITIES] + ["data/contents", "data/release"]
    return {
        file.relative_to(project.root).as_posix(): file.read_bytes()
        for folder in folders
        for file in sorted((project.root / folder).rglob("*"))
        if file.is_file() and file.name != ".gitignore"
    }


def change_by_hand(project: Project, city: str = "west") -> Path:
    """Let one trip fewer be matched in what lies there, without DVC; return the table's folder."""
    folder = project.root / f"data/{city}/judged"
    file = folder / "part-00000.parquet"
    content = file.read_bytes()
    file.unlink()  # it may be a link into the cache
    file.write_bytes(content)
    (folder / "part-00001.parquet").write_bytes(content)
    return folder


def refused(project: Project, *command: str) -> str:
    """Run a command that must fail; return the one line in which the stage says why."""
    said = project.run(*command, expect=255 if command[0] == "dvc" else 1)
    (line,) = (one for one in said.splitlines() if one.startswith("error: "))
    return line


RUN = ("python", "-m", "pipeline", "run")


@pytest.mark.parametrize("city", CITIES)
def test_from_nothing_each_entry_is_there_before_the_release_reads_it(done, city):
    assert {"release@west", "release@east", "publish"} <= done.ran(done.first_repro)
    lock = locked(done)
    stated = contents(done, city)["recorded"]
    assert {one["path"] for one in stated} == lock[f"release@{city}"]["deps"].keys()
    for one in stated:
        entry = lock[f"{one['stage']}@{city}"]
        kind = "deps" if one["path"].endswith("traces") else "outs"
        assert entry[kind][one["path"]] == one["md5"] == dvc_hash(done.root / one["path"])
    traces = contents(done, city)["sources"][2]["hash"]
    assert traces == f"md5:{lock[f'ingest@{city}']['deps'][f'data/{city}/simulated/traces']}"


def test_the_card_tells_what_dvc_lock_records(done):
    text = card(done)
    assert "is what `dvc.lock` records." in text
    assert "not held to" not in text
    for city in CITIES:
        outs = {path: md5 for entry in locked(done).values() for path, md5 in entry["outs"].items()}
        cells = [f"`{outs[f'data/{city}/{name}'][:12]}`"
                 for name in ("matched", "checked", "judged", "selected.parquet", "loss.parquet")
                 ]  # fmt: skip
        assert f"| {city} | {' | '.join(cells)} |" in text
        assert f"| {city} | {cells[0]} |" in card(done, city)


@pytest.mark.parametrize(
    "again",
    [("dvc", "repro", "--force"), ("dvc", "repro", "-s", "-f", "release@west", "publish")],
)
def test_made_again_by_dvc_it_is_the_same_bytes(own, again):
    before, lock = released(own), (own.root / "dvc.lock").read_bytes()
    assert "release@west" in own.ran(own.run(*again))
    assert released(own) == before
    assert (own.root / "dvc.lock").read_bytes() == lock


def test_made_again_by_hand_it_is_the_same_bytes(own):
    before = released(own)
    own.pipeline("run", "release", "west")
    own.pipeline("run", "publish")
    assert released(own) == before
    assert "up to date" in own.dvc("status")


def test_after_stages_that_come_from_the_run_cache_it_is_the_same_bytes(own):
    before = released(own)
    (own.root / "dvc.lock").unlink()
    shutil.rmtree(own.root / "data/west/release")
    said = own.dvc("repro")
    assert "Stage 'judge@west' is cached" in said
    assert own.ran(said) <= {"release@west", "release@east", "publish"}  # whose records lie in git
    assert released(own) == before


def test_an_experiment_states_what_its_own_dvc_lock_records(own):
    own.edit(
        "params.yaml", lambda p: p["account"].update(splits={"train": 0.5, "val": 0.1, "test": 0.4})
    )
    own.dvc("exp", "run")
    outs = locked(own)["account@west"]["outs"]
    stated = {one["path"]: one["md5"] for one in contents(own, "west")["recorded"]}
    assert stated["data/west/loss.parquet"] == outs["data/west/loss.parquet"]
    assert "up to date" in own.dvc("status")


def test_a_stage_that_failed_before_one_city_does_not_stop_another(own):
    lay_city(own.root, "east", [*range(5)])
    shutil.rmtree(own.root / "made/east")
    make_ready(own.root, "east")
    (own.root / "made/west/checked/part-00000.parquet").write_bytes(b"changed")
    (own.root / "made/west/roads.parquet").unlink()
    own.run("dvc", "repro", "--keep-going", expect=255)
    outs = locked(own)["check@east"]["outs"]
    stated = {one["path"]: one["md5"] for one in contents(own, "east")["recorded"]}
    assert stated["data/east/checked"] == outs["data/east/checked"]
    assert contents(own, "east")["loss"]["released"]["trips"] == 5


def test_a_city_that_is_added_is_recorded_and_one_that_is_removed_is_not_asked_for(own):
    before = contents(own, "west")
    shutil.copy(own.root / "configs/west.yaml", own.root / "configs/north.yaml")
    lay_city(own.root, "north", [*range(3)])
    make_ready(own.root, "north")
    set_cities(own.root, ["west", "north"])
    ran = own.ran(own.dvc("repro"))
    assert {one.partition("@")[2] for one in ran - {"publish"}} == {"north"}
    assert contents(own, "west") == before
    assert len(contents(own, "north")["recorded"]) == len(READ)
    assert "| north | `" in card(own)
    assert "| east |" not in card(own)


@pytest.mark.parametrize("command", [RUN, ("dvc", "repro", "-s")])
def test_what_is_not_what_dvc_lock_records_is_refused_in_one_line(own, command):
    before = released(own)
    wanted = locked(own)["judge@west"]["outs"]["data/west/judged"]
    found = dvc_hash(change_by_hand(own))
    by_hand = command == RUN
    line = refused(own, *command, *(["release", "west"] if by_hand else ["release@west"]))
    assert line == (
        f"error: data/west/judged: expected md5 {wanted}, which dvc.lock says that judge@west"
        f" wrote, found {found}; run `dvc repro judge@west release@west`"
    )
    # DVC removes what a stage is to make before it starts it; the stage itself changes nothing.
    gone = () if by_hand else ("data/west/release/", "data/contents/west.json")
    kept = {path: content for path, content in before.items() if not path.startswith(gone)}
    assert released(own) == kept
    assert not (own.root / "data/west/.writing").exists()
    own.dvc("repro", "judge@west", "release@west")
    assert released(own) == before


def test_traces_that_were_not_those_that_were_read_are_refused(own):
    traces = own.root / "data/west/simulated/traces/trips.csv"
    traces.unlink()
    traces.write_text("t0\n", "utf-8")
    line = refused(own, *RUN, "release", "west")
    assert "data/west/simulated/traces/trips.csv: expected md5 " in line
    assert "which dvc.lock says that simulate@west wrote, found " in line


def test_by_hand_without_dvc_lock_the_hashes_are_the_same_and_nothing_more_is_claimed(own):
    before, sources = released(own), contents(own, "west")["sources"]
    (own.root / "dvc.lock").unlink()
    own.pipeline("run", "release", "west")
    own.pipeline("run", "publish")
    assert contents(own, "west")["recorded"] is None
    assert contents(own, "west")["sources"] == sources
    tables = [path for path in before if path.endswith(".parquet")]
    assert [released(own)[path] for path in tables] == [before[path] for path in tables]
    assert "dvc.lock` records" not in card(own, "west")
    assert "The release of `west` was not held to a `dvc.lock`." in card(own)
    assert "| east | `" in card(own)
    own.dvc("repro")  # what is made by hand is not what DVC made
    assert released(own) == before


def test_by_hand_one_entry_that_is_missing_is_enough_to_claim_nothing(own):
    own.edit("dvc.lock", lambda lock: lock["stages"].pop("judge@west"))
    own.pipeline("run", "release", "west")
    assert contents(own, "west")["recorded"] is None


def test_dvc_itself_makes_no_release_without_the_entries(own):
    own.edit("dvc.lock", lambda lock: lock["stages"].pop("judge@west"))
    line = refused(own, "dvc", "repro", "-s", "-f", "release@west")
    assert line == (
        "error: dvc.lock: expected data/west/judged in the entry of judge@west, found none; run"
        " `dvc repro judge@west release@west`"
    )
    own.dvc("repro", "judge@west", "release@west")
    assert len(contents(own, "west")["recorded"]) == len(READ)


def test_a_broken_dvc_lock_is_one_line(own):
    (own.root / "dvc.lock").write_text("stages: [", "utf-8")
    assert refused(own, *RUN, "release", "west").startswith("error: dvc.lock: expected YAML, found")


def test_a_folder_of_traces_may_be_written_with_a_slash_at_its_end(own):
    own.edit("params.yaml", lambda params: params["cities"]["west"].update(
        traces="./data/west/simulated/traces/"))  # fmt: skip
    own.dvc("repro", "--force", "-s", "ingest@west", "account@west", "release@west")
    assert len(contents(own, "west")["recorded"]) == len(READ)
