"""What a stage wrote without checksums of its own is held to the records, byte for byte."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.hashes import dvc_hash
from pipeline.schemas import schema_document
from pipeline.stages import STAGES, Stage
from pipeline.store import StageIO
from pipeline.validate import validate_paths

WRITING = Stage(
    "simulate", "x:y", "", reads=(), writes=("simulated_traces", "loss_metrics", "loss_plot")
)
READING = Stage("ingest", "x:y", "", reads=("traces", "loss_metrics", "loss_plot"), writes=())
TRACES = "data/toy/simulated/traces"
FILES = {
    "traces": f"{TRACES}/b.csv",
    "loss_metrics": "data/toy/metrics/loss.json",
    "loss_plot": "data/toy/plots/loss.csv",
}


def write(root: Path, *, items: int = 1) -> None:
    with StageIO(WRITING, city="toy", root=root) as io:
        folder = io.path("simulated_traces")
        folder.mkdir(parents=True)
        for name in ("a.csv", "b.csv"):
            (folder / name).write_text(f"{name},{items}\n", "utf-8")
        io.write_json("loss_metrics", schema_document("loss_metrics")["examples"][0])
        io.write_csv("loss_plot", pl.DataFrame({"reason": ["off_route"], "items": [items]}))


def read(root: Path, name: str) -> Path | dict:
    io = StageIO(READING, city="toy", root=root, traces=TRACES)
    return io.read_json(name) if name.endswith("metrics") else io.path(name)


def validate(root: Path) -> list[str]:
    return list(validate_paths([root / "data"], schema=None, root=root))


def lock(root: Path) -> None:
    """Write the dvc.lock of a checkout, which has no records of runs."""
    outs = [
        {"path": path, "md5": dvc_hash(root / path)} for path in (TRACES, *list(FILES.values())[1:])
    ]
    stages = {"simulate@toy": {"cmd": "x", "outs": outs}}
    (root / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}), "utf-8")
    shutil.rmtree(root / "data/.written")


@pytest.fixture(params=["run", "checkout"])
def project(request, tmp_path) -> Path:
    """Return a project in which the stage has run, or into which its data were checked out."""
    write(tmp_path)
    if request.param == "checkout":
        lock(tmp_path)
    return tmp_path


def test_what_is_as_it_was_written_is_read_and_is_a_line_each(project):
    for name in FILES:
        assert read(project, name)
    metrics, plot, traces = FILES["loss_metrics"], FILES["loss_plot"], TRACES
    assert sorted(line.removeprefix(f"{project}/") for line in validate(project)) == [
        f"{metrics}: 1 records keep schemas/loss_metrics.schema.json",
        f"{plot}: 1 file as recorded",
        f"{traces}: 2 files as recorded",
    ]


@pytest.mark.parametrize("name", FILES)
def test_any_changed_byte_is_found_where_it_is_read_and_by_validate(project, name):
    file = project / FILES[name]
    whole = file.read_bytes()
    for place in range(0, len(whole), 1 + len(whole) // 60):
        changed = bytearray(whole)
        changed[place] ^= 1 + place * 7 % 255
        file.write_bytes(changed)
        for look in (lambda: read(project, name), lambda: validate(project)):
            with pytest.raises(SourceError) as fault:
                look()
            assert FILES[name].rpartition("/")[0] in str(fault.value)
            assert "dvc repro -sf " in str(fault.value)


def test_the_files_of_a_folder_that_changed_came_or_went_are_named(tmp_path):
    write(tmp_path)
    folder = tmp_path / TRACES
    (folder / "b.csv").write_text("b.csv,2\n", "utf-8")
    (folder / "a.csv").rename(folder / "c.csv")
    for look in (lambda: read(tmp_path, "traces"), lambda: validate(tmp_path)):
        with pytest.raises(SourceError) as fault:
            look()
        told = str(fault.value).splitlines()[-3:]
        assert [line.partition(":")[0] for line in told] == [
            f"{TRACES}/{name}.csv" for name in "abc"
        ]
        assert "expected md5 " in told[0]
        assert "found nothing; rebuild it with `dvc repro -sf simulate@toy`" in told[0]
        assert "it is damaged or was changed by hand" in told[1]
        assert "expected no such file" in told[2]


def test_a_stage_that_was_started_by_hand_raises_no_false_alarm(project):
    lock_before = (project / "dvc.lock").exists()
    write(project, items=2)  # dvc.lock, if there is one, is of the run before
    assert (project / "dvc.lock").exists() == lock_before
    for name in FILES:
        assert read(project, name)
    assert len(validate(project)) == 3


def test_a_table_has_its_own_checksums_and_is_held_to_no_record(tmp_path):
    place = "data/toy/loss.parquet"
    outs = [{"path": place, "md5": "0" * 32}]  # of another run
    stages = {"account@toy": {"cmd": "x", "outs": outs}}
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"stages": stages}), "utf-8")
    with StageIO(Stage("account", "x:y", "", (), ("loss",)), city="toy", root=tmp_path) as io:
        io.write("loss", pl.DataFrame([schema_document("loss_entry")["examples"][0]]))
    assert validate(tmp_path) == [
        f"{tmp_path}/{place}: 1 records keep schemas/loss_entry.schema.json"
    ]


def test_what_dvc_brings_back_after_a_run_by_hand_raises_no_false_alarm(tmp_path):
    write(tmp_path)
    kept = shutil.copytree(tmp_path / "data/toy", tmp_path / "kept")
    lock(tmp_path)
    write(tmp_path, items=2)
    shutil.rmtree(tmp_path / "data/toy")
    kept.rename(tmp_path / "data/toy")
    for name in FILES:
        assert read(tmp_path, name)
    assert len(validate(tmp_path)) == 3


@pytest.mark.parametrize("name", ["loss_metrics", "loss_plot"])
def test_line_ends_that_git_has_changed_raise_no_false_alarm(project, name):
    file = project / FILES[name]
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert read(project, name)
    assert len(validate(project)) == 3


def test_raw_traces_of_the_user_may_change(tmp_path):
    folder = tmp_path / "data/toy/raw/traces"
    folder.mkdir(parents=True)
    (folder / "mine.csv").write_text("1\n", "utf-8")
    io = StageIO(READING, city="toy", root=tmp_path)
    assert io.path("traces") == folder
    (folder / "mine.csv").write_text("2\n", "utf-8")
    assert StageIO(READING, city="toy", root=tmp_path).path("traces") == folder


@pytest.mark.parametrize("text", ["{", "[]", '{"data/toy/plots/loss.csv": 3}'])
def test_a_damaged_record_is_one_line(tmp_path, text):
    write(tmp_path)
    (tmp_path / "data/.written/simulate@toy.json").write_text(text, "utf-8")
    with pytest.raises(SourceError, match=r"^data/.written/simulate@toy.json: .*; remove it$"):
        read(tmp_path, "traces")


def test_every_artifact_is_sealed_or_recorded(tmp_path):
    makers = {name: stage for stage in STAGES for name in stage.writes}
    for name, stage in makers.items():
        artifact = ARTIFACTS[name]
        if artifact.is_sealed:
            continue
        one = Stage(stage.name, "x:y", "", reads=(), writes=(name,), scope=stage.scope)
        city = "toy" if stage.scope == "city" else None
        with StageIO(one, city=city, root=tmp_path) as io:
            path = io.path(name)
            if artifact.form == "folder":
                path.mkdir(parents=True)
                path = path / "file"
            path.write_bytes(b"content")
        place = tmp_path / artifact.place.format(city=city)
        place = place / "file" if place.is_dir() else place
        place.write_bytes(b"contEnt")
        shown = str(place.relative_to(tmp_path))
        with pytest.raises(SourceError, match=f"(?m)^(.*/)?{shown}: expected"):
            validate(tmp_path)
        place.unlink()


def test_of_a_folder_that_dvc_brought_the_damaged_file_is_named(tmp_path):
    """With real DVC: the list of the folder's files lies in its cache."""
    made = tmp_path / "made"
    made.mkdir()
    for name in ("a.csv", "b.csv"):
        (made / name).write_text(f"{name}\n", "utf-8")
    stage = {
        "cmd": f"mkdir -p data/toy/simulated && cp -r made {TRACES}",
        "deps": ["made"],
        "outs": [TRACES],
    }
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"simulate": stage}}), "utf-8")
    environment = os.environ | {
        "DVC_NO_ANALYTICS": "1", "DVC_SITE_CACHE_DIR": str(tmp_path / "site"),
    }  # fmt: skip
    for command in (
        ["init", "-q", "--no-scm"],
        ["config", "cache.dir", str(tmp_path / "kept elsewhere")],
        ["repro", "-q"],
    ):
        subprocess.run(
            [sys.executable, "-m", "dvc", *command], cwd=tmp_path, env=environment, check=True
        )
    listed = json.loads(next((tmp_path / "kept elsewhere").rglob("*.dir")).read_text("utf-8"))
    assert [one["relpath"] for one in listed] == ["a.csv", "b.csv"]
    assert read(tmp_path, "traces")
    (tmp_path / TRACES / "b.csv").unlink()
    (tmp_path / TRACES / "b.csv").write_text("B.csv\n", "utf-8")
    with pytest.raises(SourceError, match=f"^{TRACES}/b.csv: expected md5 .*`dvc commit simulate`"):
        read(tmp_path, "traces")
