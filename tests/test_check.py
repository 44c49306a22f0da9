"""The check looks at the user's own files again, whatever has been built from them already."""

import hashlib
import shutil
from pathlib import Path

import pytest
import yaml

from pipeline.check import check_city, print_findings
from pipeline.errors import SourceError
from pipeline.findings import Finding
from tests.city.worlds import BBOX, STEP, at, world
from tests.show.project import CITY, write_project
from tests.trips.raw_folders import HEADER, row

ROOT = Path(__file__).resolve().parent.parent
EXTRACT = b"stands in for an extract: only its bytes count once the ground is built"


@pytest.fixture
def city(tmp_path, monkeypatch):
    """Return the root of a project whose ground is built, with Porto's parameters."""
    write_project(tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copy(ROOT / "configs/porto.yaml", tmp_path / f"configs/{CITY}.yaml")
    (tmp_path / "extract.osm.pbf").write_bytes(EXTRACT)
    digest = hashlib.sha256(EXTRACT).hexdigest()
    source = {"path": "extract.osm.pbf", "sha256": digest}
    change(tmp_path / f"configs/{CITY}.yaml", lambda c: c["network"]["source"].update(source))
    change(tmp_path / f"configs/{CITY}.yaml", lambda c: c["traces"]["source"].update(city=CITY))
    change(tmp_path / "params.yaml", lambda p: p.update(cities={CITY: {"traces": "raw"}}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(file, how):
    content = yaml.safe_load(file.read_text("utf-8"))
    how(content)
    file.write_text(yaml.safe_dump(content), encoding="utf-8")


def errors(root):
    return [one.line() for one in check_city(CITY, root=root) if one.level == "error"]


def test_an_extract_that_changed_after_the_ground_was_built_is_an_error(city):
    assert not [line for line in errors(city) if "pull_osm" in line]
    (city / "extract.osm.pbf").write_bytes(EXTRACT + b".")
    assert [line for line in errors(city) if "expected sha256" in line]
    (city / "extract.osm.pbf").unlink()
    assert [line for line in errors(city) if "found none; put it there" in line]


SIMULATED = {"kind": "simulated", "source": None}
FOLDER = f"data/{CITY}/simulated/traces"


def test_simulated_traces_at_a_place_where_no_stage_writes_are_an_error(city):
    change(city / f"configs/{CITY}.yaml", lambda c: c["traces"].update(SIMULATED))
    [line] = [line for line in errors(city) if "simulated" in line]
    assert f"expected {FOLDER}, which the stage `simulate` writes" in line
    assert "found raw, where no stage writes" in line
    change(city / "params.yaml", lambda p: p["cities"][CITY].update(traces=FOLDER))
    assert not [line for line in errors(city) if "simulated" in line]


def test_a_copied_file_credits_nobody_elses_traces(city):
    shutil.copy(ROOT / "configs/porto.yaml", city / f"configs/{CITY}.yaml")
    [line] = [line for line in errors(city) if "traces.source" in line]
    assert "expected the source of this city's own traces, found that of porto" in line
    assert f"then `city: {CITY}`" in line


@pytest.mark.parametrize(
    ("keys", "folder", "message"),
    [
        ({"kind": "simulated"}, FOLDER, "source: expected null for simulated traces"),
        ({"source": None}, "raw", "source: expected city, name, licence and attribution"),
        ({}, FOLDER, "traces.kind: expected simulated"),
        (
            {"source": {"city": CITY, "name": "Simulated traces", "licence": "x",
                        "attribution": "y"}},
            "raw",
            "source: expected the source of real traces",
        ),
    ],
)  # fmt: skip
def test_a_kind_that_its_source_disagrees_with_is_an_error(city, keys, folder, message):
    change(city / f"configs/{CITY}.yaml", lambda c: c["traces"].update(keys))
    change(city / "params.yaml", lambda p: p["cities"][CITY].update(traces=folder))
    assert [line for line in errors(city) if message in line]


def lines_of(root):
    return {one.what: one.line() for one in check_city(CITY, root=root)}


def test_roads_that_are_not_there_yet_are_said_to_be_missing_for_the_traces(city):
    (city / f"data/{CITY}/roads.parquet").rename(city / "roads.parquet")
    (city / f"data/{CITY}/cells.parquet").unlink()
    (city / "extract.osm.pbf").unlink()
    line = lines_of(city)["distance to roads"]
    assert line.startswith("info")
    assert f"found no roads yet; `dvc repro roads@{CITY}` makes them" in line
    (city / "roads.parquet").rename(city / f"data/{CITY}/roads.parquet")
    assert "distance to roads" not in lines_of(city)  # no trace to compare, yet roads


def test_a_context_to_be_downloaded_hides_nothing_of_the_roads(city):
    for name in ("roads", "cells"):
        (city / f"data/{CITY}/{name}.parquet").unlink()
    square = {1: (0, 0), 2: (2, 0), 3: (2, 2), 4: (0, 2)}
    ways = {9: ([1, 2, 3, 4, 1], {"highway": "residential"})}
    digest = hashlib.sha256(world(city, nodes=square, ways=ways).read_bytes()).hexdigest()
    source = {"path": "world.osm", "sha256": digest}
    overture = {"release": "2026-10-21.0", "licence": "ODbL-1.0", "attribution": "Overture"}
    change(
        city / f"configs/{CITY}.yaml",
        lambda c: (
            c.update(bbox=list(BBOX), time_zone="Europe/Monaco"),
            c["network"]["source"].update(source),
            c["context"].update(source={"kind": "overture", **overture}),
        ),
    )
    lon, lat = at(0, 0)
    drive = ",".join(f"[{lon + i * STEP / 2},{lat}]" for i in range(5))
    (city / "raw").mkdir()
    (city / "raw/t.csv").write_text(f"{HEADER}\n{row(line=f'[{drive}]')}\n", "utf-8")
    found = lines_of(city)
    assert "a source that is downloaded" in found["ground"]
    assert "found 100.0% (within 100 m: 100.0%" in found["distance to roads"]


def test_a_bbox_with_latitude_first_gets_one_mend_and_the_traces_are_held_against_it(city):
    west, south, east, north = BBOX
    change(
        city / f"configs/{CITY}.yaml",
        lambda c: c.update(bbox=list(BBOX), time_zone="Europe/Monaco"),
    )
    lon, lat = at(0, 0)
    drive = ",".join(f"[{lon + i * STEP / 2},{lat}]" for i in range(5))
    (city / "raw").mkdir()
    (city / "raw/t.csv").write_text(f"{HEADER}\n{row(line=f'[{drive}]')}\n", "utf-8")
    sound = {one.what: one.level for one in check_city(CITY, root=city)}
    assert (sound["points in bbox"], "bbox" in sound) == ("info", False)
    change(city / f"configs/{CITY}.yaml", lambda c: c.update(bbox=[south, west, north, east]))
    found = check_city(CITY, root=city)
    mends = [one.remedy for one in found if one.level == "error"]
    assert mends == [f"write `bbox: {list(BBOX)}`"]
    assert {one.what: one.level for one in found}["points in bbox"] == "info"
    assert not [one for one in found if "swapped" in one.remedy]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([], "0 errors, 0 warnings\n"),
        (["error", "warning"], "1 error, 1 warning\n"),
        (["error", "error", "info"], "2 errors, 0 warnings\n"),
    ],
)
def test_the_closing_line_counts_in_words(capsys, levels, said):
    print_findings([Finding(level, "x", "", "y") for level in levels], as_json=False)
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("name", ["roads", "cells"])
def test_a_damaged_table_of_the_ground_is_one_clear_error(city, name, length):
    file = city / f"data/{CITY}/{name}.parquet"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(
        SourceError, match=rf"{name}\.parquet: expected the bytes that were written"
    ):
        check_city(CITY, root=city)
