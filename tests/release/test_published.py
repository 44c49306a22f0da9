"""The release is complete, true to its ledger, and the same bytes whenever it is made again."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.release import piles
from pipeline.release.command import loss_text
from pipeline.release.loss_table import markdown_table
from pipeline.runner import run_stage
from pipeline.validate import validate_paths
from tests.release.project import (
    MANIFEST,
    ROOT,
    lay_city,
    make_project,
    place,
    read,
    release,
    set_cities,
)

TASKS = {"generation": 3, "retrieval": 3, "captioning": 1}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Two cities; in `east` two trips are refused."""
    root = make_project(tmp_path_factory.mktemp("release") / "project", west=range(30), east=[])
    lay_city(root, "east", list(range(12)), {"ingest": [0], "check": [3]})
    release(root, "west", "east")
    return root


@pytest.fixture
def own(project, tmp_path) -> Path:
    """A copy of the project that a test may change."""
    return shutil.copytree(project, tmp_path / "project")


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize(("city", "trips"), [("west", 30), ("east", 10)])
def test_every_released_trip_is_there_seven_times_in_one_split(project, city, trips):
    folder = project / "data/release" / city
    split_of = dict(read(folder, "candidates").select("trip_id", "split").iter_rows())
    assert len(split_of) == trips
    ids = []
    for task, number in TASKS.items():
        instances = read(folder, task)
        assert instances.height == number * trips
        assert all(split_of[row["trip_id"]] == row["split"] for row in instances.to_dicts())
        ids += instances["instance_id"].to_list()
    assert len(set(ids)) == 7 * trips


def test_where_a_candidate_stands_in_its_pool_says_nothing_of_the_query(project):
    asked = read_split(project, "west", "retrieval", "train")["trip_id"].unique(maintain_order=True)
    pool = read_split(project, "west", "candidates", "train")["trip_id"]
    assert set(asked) == set(pool)
    at_its_place = sum(one == other for one, other in zip(asked, pool, strict=True))
    assert at_its_place < len(pool) / 4
    assert asked.is_sorted()


@pytest.mark.parametrize("task", [*TASKS, "candidates"])
def test_a_file_holds_the_trips_of_its_split_alone(project, task):
    import polars as pl  # noqa: PLC0415

    for split in ("train", "val", "test"):
        frame = pl.read_parquet(project / f"data/release/west/{task}/{split}.parquet")
        assert set(frame["split"]) <= {split}


def test_the_checksums_hold_for_all_and_for_a_city_by_itself(project):
    for folder in ("data/release", "data/release/east"):
        done = subprocess.run(
            ["sha256sum", "--strict", "-c", "SHA256SUMS"],
            cwd=project / folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        lines = (project / folder / "SHA256SUMS").read_text("utf-8").splitlines()
        listed = {line.split("  ")[1] for line in lines}
        assert listed == files_of(project / folder).keys() - {"SHA256SUMS"}


def test_every_published_table_keeps_its_schema_when_checked_from_outside(project):
    lines = list(validate_paths([project / "data/release/west"], schema=None, root=project))
    checked = {line.rsplit("/", 1)[1] for line in lines}
    assert {
        "generation_instance.schema.json", "retrieval_instance.schema.json",
        "caption_instance.schema.json", "retrieval_candidate.schema.json", "road.schema.json",
        "road_cell.schema.json", "cell.schema.json", "city_name.schema.json",
    } <= checked  # fmt: skip


@pytest.mark.parametrize("table", ["roads", "road_cells", "cells", "names"])
def test_the_ground_is_the_whole_citys_driven_or_not(project, table):
    import polars as pl  # noqa: PLC0415

    released = pl.read_parquet(project / f"data/release/west/ground/{table}.parquet")
    made = pl.read_parquet(place(project, "west", table))
    assert made.height  # a segment that no trip of the fixture drives
    assert released.equals(made)


def test_making_it_again_gives_the_same_bytes_whatever_the_order_of_the_cities(own):
    before = files_of(own / "data/release")
    set_cities(own, ["east", "west"])
    release(own, "east", "west")
    assert files_of(own / "data/release") == before


def test_neither_the_order_of_rows_nor_how_many_are_held_at_a_time_changes_a_byte(own, monkeypatch):
    import polars as pl  # noqa: PLC0415

    before = files_of(own / "data/release")
    for name in ("checked", "matched", "judged", "selected"):
        path = place(own, "west", name)
        file = path / "part-00000.parquet" if path.is_dir() else path
        rows = pl.read_parquet(file).sample(fraction=1, shuffle=True, seed=1)
        rows[:11].write_parquet(file)
        rest = file.with_name("part-00001.parquet") if path.is_dir() else file
        (rows[11:] if path.is_dir() else rows).write_parquet(rest)
    monkeypatch.setattr(piles, "TRIPS_AT_A_TIME", 4)
    monkeypatch.setattr(piles, "TRIPS_A_PILE", 6)
    release(own, "west", "east")
    assert files_of(own / "data/release") == before


def test_a_trip_that_a_table_holds_twice_is_an_error(own):
    file = place(own, "west", "checked") / "part-00000.parquet"
    shutil.copy(file, file.with_name("part-00001.parquet"))
    with pytest.raises(ContractError, match="once in checked, found 60 of 30; run"):
        run_stage("release", "west", root=own)


def test_the_card_tells_the_numbers_of_the_metrics(project):
    text = (project / "data/release/README.md").read_text("utf-8")
    losses = [
        json.loads((project / f"data/{city}/metrics/loss.json").read_text("utf-8"))
        for city in ("east", "west")
    ]
    assert markdown_table(losses) in text
    assert "40 trips through Monaco and Monaco as 280 task instances" in text
    for city in ("east", "west"):
        for task in TASKS:
            cells = [
                read_split(project, city, task, split).height for split in ("train", "val", "test")
            ]
            row = " | ".join(f"{n:,}" for n in cells)
            assert f"| `{city}-{task}` | {row} |" in text


def test_the_card_tells_what_val_and_test_share_with_train_and_with_one_another(own):
    import polars as pl  # noqa: PLC0415

    file = place(own, "west", "matched") / "part-00000.parquet"
    split_of = dict(read(own / "data/release/west", "candidates")["trip_id", "split"].iter_rows())
    one, other = (next(k for k, s in split_of.items() if s == split) for split in ("val", "test"))
    rows = {row["trip_id"]: row for row in pl.read_parquet(file).to_dicts()}
    for name in ("edge_ids", "t_enter_s"):
        rows[one][name] = rows[other][name]
    pl.DataFrame(list(rows.values()), schema=pl.read_parquet_schema(file)).write_parquet(file)
    text = (release(own, "west") / "west/README.md").read_text("utf-8")
    lines = [
        line for line in text.splitlines() if line.startswith(("| west | val |", "| west | test |"))
    ]
    told = {(cells[1], cells[3]): cells[4].partition(" ")[0] for cells in map(cells_of, lines)}
    assert told == {
        ("val", "train"): "0", ("val", "test"): "1", ("test", "train"): "0", ("test", "val"): "1",
    }  # fmt: skip


def cells_of(line: str) -> list[str]:
    return line.removeprefix("| ").split(" | ")


def read_split(project: Path, city: str, task: str, split: str):
    import polars as pl  # noqa: PLC0415

    return pl.read_parquet(project / f"data/release/{city}/{task}/{split}.parquet")


def test_the_card_says_that_traces_are_simulated_and_texts_are_no_models(project):
    text = (project / "data/release/README.md").read_text("utf-8")
    assert "**The GPS traces of Monaco and Monaco are SIMULATED on the real roads.**" in text
    assert "**Texts of the engine `template` are written by a grammar, not by a model.**" in text
    assert "(c) OpenStreetMap contributors" in text
    assert "[ODbL-1.0](https://opendatacommons.org" in text


def test_the_card_and_the_metadata_name_version_and_hash_of_every_source(project):
    lines = "".join(f"t{k}\n" for k in range(30)).encode()
    listed = [{"md5": md5(lines), "relpath": "trips.csv"}]
    traces = f"md5:{md5(json.dumps(listed).encode())}.dir"
    pulled = f"sha256:{MANIFEST['sha256']}"
    text = (project / "data/release/west/README.md").read_text("utf-8")
    assert text.count(f"| {MANIFEST['release']} | `{pulled}` | {MANIFEST['licence']} |") == 2
    assert f"|  | `{traces}` |" in text
    document = json.loads((project / "data/release/west/croissant.json").read_text("utf-8"))
    found = [(one.get("version"), one["identifier"]) for one in document["prov:wasDerivedFrom"]]
    assert found == [(MANIFEST["release"], pulled)] * 2 + [(None, traces)]


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("city", ["helsinki", "monaco"])
def test_a_default_city_names_the_traces_that_dvc_lock_records(city):
    lock = yaml.safe_load((ROOT / "dvc.lock").read_text("utf-8"))
    read = {one["path"]: one["md5"] for one in lock["stages"][f"ingest@{city}"]["deps"]}
    contents = json.loads((ROOT / f"data/contents/{city}.json").read_text("utf-8"))
    (traces,) = (one for one in contents["sources"] if one["what"] == "traces")
    assert traces["hash"] == f"md5:{read[f'data/{city}/simulated/traces']}"


def test_no_placeholder_is_left_in_the_card(project):
    for folder in ("", "east"):
        text = (project / "data/release" / folder / "README.md").read_text("utf-8")
        assert not re.search(r"\$[a-z_]+|\bNone\b|\bnan\b", text)


def test_the_table_on_the_screen_is_that_of_the_metrics(project):
    assert "= released trips" in loss_text(project, [], form="plain")
    assert json.loads(loss_text(project, ["east"], form="json"))[0]["released"]["trips"] == 10
    with pytest.raises(ParameterError, match="expected one of west, east"):
        loss_text(project, ["north"], form="plain")


def test_a_city_that_was_removed_leaves_the_release_although_its_files_stay(own):
    set_cities(own, ["west"])
    run_stage("publish", None, root=own)
    assert place(own, "east", "contents").exists()
    found = files_of(own / "data/release")
    assert not any(name.startswith("east/") for name in found)
    # In definitions.json east is a direction.
    no_texts = (".parquet", "/definitions.json")
    texts = [content for name, content in found.items() if not name.endswith(no_texts)]
    assert not any(re.search(rb"\beast\b", content) for content in texts)


def test_a_city_without_a_released_trip_is_counted_and_offers_nothing_to_load(own):
    lay_city(own, "east", [1, 2], {"check": [1, 2]})
    folder = release(own, "east")
    text = (folder / "README.md").read_text("utf-8")
    assert "config_name: east" not in text
    assert "config_name: west-generation" in text
    assert "`east-" not in text
    assert "No trip of `east` was released, so there is no table of it to load." in text
    alone = (folder / "east/README.md").read_text("utf-8")
    assert "No trip was released, so there is nothing to load." in alone
    assert "load_dataset" not in alone
    assert "| - check: because | 2 | 0 |" in text
    assert read(folder / "east", "generation").is_empty()


def test_a_city_without_a_trip_is_counted_as_nothing(own):
    lay_city(own, "east", [])
    text = (release(own, "east") / "README.md").read_text("utf-8")
    assert "| raw trips | 0 | 30 |" in text
    assert "recorded by real vehicles" not in text  # its configuration says so, not its trips


def test_a_release_of_no_trip_at_all_is_an_error(own):
    for city in ("west", "east"):
        lay_city(own, city, [1], {"select": [1]})
    with pytest.raises(SourceError, match="expected a released trip in east, west, found none"):
        release(own, "west", "east")


def test_a_file_that_was_changed_behind_its_citys_back_is_not_published(own):
    file = own / "data/west/release/generation/train.parquet"
    file.write_bytes(file.read_bytes() + b"\0")
    before = files_of(own / "data/release")
    with pytest.raises(ContractError, match=r"train.parquet: .*data/contents/west.json names"):
        run_stage("publish", None, root=own)
    assert files_of(own / "data/release") == before


def test_a_city_that_was_never_released_is_an_error_with_the_command(own):
    set_cities(own, ["west", "north"])
    shutil.copy(own / "configs/west.yaml", own / "configs/north.yaml")
    with pytest.raises(SourceError, match=r"data/contents/north.json: .*run `dvc repro publish`"):
        run_stage("publish", None, root=own)


def test_a_trip_that_a_table_lost_is_an_error_with_its_id(own):
    entries = json.loads(loss_text(own, ["east"], form="json"))[0]["released"]["trips"]
    assert entries == 10
    lay_city(own, "east", list(range(12)), {"ingest": [0], "check": [3], "select": [5]})
    with pytest.raises(ContractError, match=r"once in selected, found 9 of 10, 't5' is missing"):
        run_stage("release", "east", root=own)


def test_trips_that_are_added_move_no_other_to_another_split(own):
    before = read(own / "data/release/east", "candidates").select("trip_id", "split")
    lay_city(own, "east", list(range(40)), {"ingest": [0], "check": [3]})
    after = read(release(own, "east") / "east", "candidates").select("trip_id", "split")
    assert set(before.rows()) < set(after.rows())


@pytest.mark.parametrize(
    ("name", "city", "message"),
    [
        ("publish", "west", "expected no city, it is run once for all, found west"),
        ("release", None, "expected a city, found none"),
    ],
)
def test_a_stage_is_run_for_what_it_is_for(project, name, city, message):
    with pytest.raises(ParameterError, match=message):
        run_stage(name, city, root=project)


def test_a_city_may_not_take_the_name_of_the_releases_folders(own):
    set_cities(own, ["west", "release"])
    with pytest.raises(
        ParameterError, match="expected a name other than contents, release, reviews"
    ):
        run_stage("publish", None, root=own)
