"""How a version is found by its name, and how its data are brought."""

import shutil

import polars as pl
import pytest

from pipeline.audit.audit import audit
from pipeline.audit.diff import diff
from pipeline.audit.versions import Missing, open_version
from pipeline.errors import SourceError
from pipeline.hashes import dvc_hash
from pipeline.lockfile import read_lock
from tests.audit.conftest import NONE
from tests.audit.project import Project, told


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """One city, one trip, two revisions."""
    made = Project(tmp_path_factory.mktemp("small"))
    made.write("monaco", [told("t1", "one")])
    made.keep("v1")
    made.write("monaco", [told("t1", "two")])
    made.keep("v2")
    return made


@pytest.fixture
def small(made_once, tmp_path):
    """Return a copy that a test may change."""
    return made_once.copied(tmp_path / "project")


def test_a_revision_has_its_own_prompts_parameters_lock_and_data(small):
    with open_version(small.root, "v1") as version:
        assert (version.kind, version.cities) == ("revision", ["monaco"])
        assert version.commit == small.git("rev-parse", "v1").strip()
        assert (version.files / "prompts/annotate/user.j2").is_file()
        texts = version.artifact("monaco", "annotated")
        assert dvc_hash(texts) == version.lock["annotate@monaco"].outs["data/monaco/annotated"]
        assert dvc_hash(texts) != dvc_hash(small.path("monaco", "annotated"))
        brought = version.files.parent
    assert not brought.exists()


def test_a_branch_a_tag_and_an_expression_name_revisions(small):
    small.git("branch", "other", "v1")
    commits = set()
    for given in ("other", "v1", "HEAD~1", small.git("rev-parse", "v1").strip()[:12]):
        with open_version(small.root, given) as version:
            commits.add(version.commit)
    assert len(commits) == 1


def test_the_hash_of_data_is_the_one_dvc_records(small):
    outs = read_lock(small.root)["annotate@monaco"].outs
    assert outs == {path: dvc_hash(small.root / path) for path in outs}
    assert any(value.endswith(".dir") for value in outs.values())


def test_what_a_revision_does_not_record_is_missing(small):
    with open_version(small.root, "v1") as version:
        assert version.artifact("monaco", "planned") == Missing(
            "dvc.lock of v1 records no data/monaco/planned"
        )


def test_data_that_are_nowhere_end_in_one_line_with_the_command_that_brings_them(small):
    shutil.rmtree(small.root / ".dvc/cache/files")
    with pytest.raises(SourceError) as fault:
        audit(small.root, "v1", "workspace", options=NONE)
    message = str(fault.value)
    assert "\n" not in message
    assert "data/monaco/annotated of v1 is neither in DVC's cache nor in its remote" in message
    assert message.endswith("run `dvc fetch --all-commits data/monaco/annotated`")


def test_data_are_brought_from_the_remote_when_the_cache_has_them_not(small, tmp_path):
    small.run("dvc", "remote", "add", "-q", "-d", "store", str(tmp_path / "store"))
    small.git("commit", "-qam", "remote")
    small.write("monaco", [told("t1", "three")])
    small.keep("v3")
    small.write("monaco", [told("t1", "four")])
    small.keep("v4")
    small.run("dvc", "push", "-q", "--all-tags")
    shutil.rmtree(small.root / ".dvc/cache/files")
    (city,) = audit(small.root, "v3", "workspace", options=NONE).cities
    assert (city.rows.paired, city.rows.changed) == (1, 1)


def test_a_project_without_data_says_how_to_get_it(small):
    shutil.rmtree(small.root / "data/monaco/annotated")
    with pytest.raises(SourceError, match="run `dvc pull data/monaco/annotated` or `dvc repro`"):
        audit(small.root, "v1", "workspace", options=NONE)


def test_a_copy_may_be_a_project_its_data_or_a_folder_of_cities(small, tmp_path):
    cities = tmp_path / "kept"
    shutil.copytree(small.root / "data", cities)
    for given, files in (
        (small.root, small.root),
        (small.root / "data", small.root),
        (cities, None),
    ):
        with open_version(small.root, str(given)) as version:
            assert (version.kind, version.cities, version.files) == ("folder", ["monaco"], files)
            assert not isinstance(version.artifact("monaco", "annotated"), Missing)


def test_a_folder_that_holds_only_a_copy_of_data_knows_no_prompts(small, tmp_path):
    shutil.copytree(small.root / "data", tmp_path / "kept/data")
    with open_version(small.root, str(tmp_path / "kept")) as version:
        assert (version.cities, version.files) == (["monaco"], None)
    (city,) = audit(small.root, str(tmp_path / "kept"), "workspace", options=NONE).cities
    assert city.inputs is None


def test_a_published_city_says_whose_it_is(small, tmp_path):
    (tmp_path / "generation").mkdir()
    (tmp_path / "contents.json").write_text('{"city": "oslo"}', "utf-8")
    with open_version(small.root, str(tmp_path)) as version:
        assert (version.alone, version.cities) == ("oslo", ["oslo"])
        assert version.folder("oslo") == tmp_path


@pytest.mark.parametrize("within", ["data/monaco", "data/monaco/release"])
def test_a_citys_own_folder_and_its_release_stand_for_that_city_alone(small, within):
    (small.root / "data/monaco/release/generation").mkdir(parents=True)
    with open_version(small.root, str(small.root / within)) as version:
        assert (version.alone, version.cities, version.files) == ("monaco", ["monaco"], small.root)
        assert version.folder("monaco") == small.root / "data/monaco"


def test_the_folders_of_one_city_compare_by_its_texts_whatever_tables_it_holds(small, tmp_path):
    kept = shutil.copytree(small.root / "data/monaco", tmp_path / "monaco")
    for folder in (kept, small.root / "data/monaco"):
        pl.DataFrame({"cell": ["a"]}).write_parquet(folder / "cells.parquet")
    given = (str(kept), str(small.root / "data/monaco"))
    report = audit(small.root, *given, options=NONE)
    assert (report.before.kind, report.after.kind) == ("folder", "folder")
    (city,) = report.cities
    assert city.rows.paired == city.rows.before > 0
    assert city.rows.changed == 0


def test_a_folder_of_cities_may_hold_the_published_release_too(small):
    (small.root / "data/release/monaco/generation").mkdir(parents=True)
    with open_version(small.root, str(small.root / "data")) as version:
        assert (version.alone, version.cities) == ("", ["monaco"])
    with open_version(small.root, str(small.root / "data/release")) as version:
        assert (version.alone, version.cities) == ("", ["monaco"])


def test_folders_of_two_cities_are_not_compared(small):
    shutil.copytree(small.root / "data/monaco", small.root / "data/oslo")
    folders = [str(small.root / "data" / city) for city in ("monaco", "oslo")]
    with pytest.raises(SourceError, match=r"monaco: only in .*/monaco, not compared"):
        audit(small.root, *folders, options=NONE)
    with pytest.raises(SourceError, match=r"^monaco: expected a city that both versions have"):
        diff(small.root, *folders, cities=[])


def test_a_folder_without_a_city_is_refused(small, tmp_path):
    (tmp_path / "empty").mkdir()
    with (
        pytest.raises(SourceError, match=r"or the folder of one city .* without any city"),
        open_version(small.root, str(tmp_path / "empty")),
    ):
        pass


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"city": 3}'])
def test_a_published_city_without_a_name_is_refused(small, tmp_path, text):
    (tmp_path / "contents.json").write_text(text, "utf-8")
    with (
        pytest.raises(SourceError, match=r"contents\.json: "),
        open_version(small.root, str(tmp_path)),
    ):
        pass


def test_no_name_at_all_is_refused(small):
    with pytest.raises(SourceError, match="'': expected `workspace`"):
        audit(small.root, "", "", options=NONE)


def test_a_missing_file_of_answers_is_said_to_be_missing(small, tmp_path):
    (tmp_path / "new.parquet").touch()
    gone, there = str(tmp_path / "old.parquet"), str(tmp_path / "new.parquet")
    with pytest.raises(SourceError, match=r"old\.parquet: expected .* found none of these"):
        audit(small.root, gone, there, options=NONE)


def test_a_name_that_is_nothing_is_one_line(small):
    for given in ("v9", "-x", "no/such/folder", "v1..v2"):
        with (
            pytest.raises(SourceError, match="expected `workspace`, a git revision or a folder"),
            open_version(small.root, given),
        ):
            pass


def test_a_name_that_is_both_a_revision_and_a_folder_is_refused(small, monkeypatch):
    monkeypatch.chdir(small.root)
    (small.root / "v1/monaco/annotated").mkdir(parents=True)
    with pytest.raises(SourceError, match="write refs/tags/v1"), open_version(small.root, "v1"):
        pass
    with open_version(small.root, "refs/tags/v1") as version:
        assert version.kind == "revision"
    with open_version(small.root, "./v1") as version:
        assert version.kind == "folder"


def test_without_git_folders_still_compare(small, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(small.root / "data", bare / "data")
    folder = str(bare / "data")
    (city,) = audit(bare, folder, folder, options=NONE).cities
    assert (city.rows.paired, city.rows.changed) == (1, 0)


def test_a_file_that_is_no_table_is_one_line(small):
    (small.path("monaco", "annotated") / "part-00000.parquet").write_bytes(b"no parquet")
    with pytest.raises(SourceError, match="expected a Parquet file"):
        audit(small.root, "v1", "workspace", options=NONE)
