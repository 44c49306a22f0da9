"""A release that was made of other results than lie beside it is said to be older than they are."""

import json

import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.diff import diff
from pipeline.audit.stale import stale_release
from pipeline.audit.versions import WORKSPACE, Version
from pipeline.hashes import dvc_hash
from pipeline.lockfile import Locked
from pipeline.stages import STAGES
from tests.audit.test_diff import release

CITY = "toy"
CHAIN = ("check", "judge", "select", "account", "release")
NOTE = "workspace: its release is older than its {}; run `dvc repro release@toy`"


def recorded(root, names):
    """Return the hashes of artifacts as they lie there, as dvc.lock has them."""
    paths = {f"data/{CITY}/{ARTIFACTS[name].path}" for name in names}
    return {path: dvc_hash(root / path) for path in paths if (root / path).exists()}


@pytest.fixture
def version(tmp_path):
    """A city of which dvc.lock records what each stage to the release read and wrote."""
    stages = [stage for stage in STAGES if stage.name in CHAIN]
    for name in sorted({name for stage in stages for name in (*stage.reads, *stage.writes)}):
        rerun(tmp_path, name, "as it was")
    made = Version(WORKSPACE, WORKSPACE, files=tmp_path, data=tmp_path / "data")
    made.__dict__["lock"] = {
        f"{stage.name}@{CITY}": Locked(
            recorded(tmp_path, stage.reads), recorded(tmp_path, stage.writes), {}
        )
        for stage in stages
    }
    return made


def rerun(root, name, what):
    path = root / "data" / CITY / ARTIFACTS[name].path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{name} {what}")


def test_a_release_of_what_lies_beside_it_has_no_note(version):
    assert stale_release(version, CITY) == []


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("annotated", "annotate"),
        ("checked", "check"),
        ("check_rejected", "check"),
        ("judged", "judge"),
        ("selected", "select"),
        ("loss", "account"),
    ],
)
def test_what_was_made_anew_alone_is_what_the_release_is_older_than(version, name, maker):
    rerun(version.files, name, "anew")
    version.lock[f"{maker}@{CITY}"] = Locked({}, recorded(version.files, [name]), {})
    assert stale_release(version, CITY) == [NOTE.format(maker)]


def test_the_ground_is_no_part_of_it(version):
    rerun(version.files, "roads", "anew")
    assert stale_release(version, CITY) == []


def test_a_release_that_the_lock_does_not_record_is_not_judged(version):
    for name in next(stage for stage in STAGES if stage.name == "release").writes:
        rerun(version.files, name, "by hand")
    rerun(version.files, "loss", "by hand")
    version.lock[f"account@{CITY}"] = Locked({}, recorded(version.files, ["loss"]), {})
    assert stale_release(version, CITY) == []


def test_only_the_working_tree_is_held_to_its_lock(version):
    rerun(version.files, "checked", "anew")
    kept = Version("kept", "folder", files=version.files, data=version.data)
    kept.__dict__["lock"] = version.lock
    assert stale_release(kept, CITY) == []


def test_a_diff_tells_of_it(tmp_path):
    release(tmp_path / "data")
    rerun(tmp_path, "checked", "anew")
    (tmp_path / "params.yaml").write_text("cities: {toy: {traces: x}}\n")
    lock = {
        "stages": {
            "release@toy": {
                "cmd": "",
                "deps": [{"path": "data/toy/checked", "md5": "0" * 32}],
                "outs": [],
            }
        }
    }
    (tmp_path / "dvc.lock").write_text(json.dumps(lock))
    (city,) = diff(tmp_path, "workspace", str(tmp_path / "data"), cities=[]).report.cities
    assert city.notes == [NOTE.format("check")]
