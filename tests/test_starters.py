"""The starters of configs/starters: each is a whole city's file, and reads files of its format."""

import hashlib
import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest
import yaml

from pipeline.check import check_city
from pipeline.errors import ParameterError
from pipeline.params import Parameters
from pipeline.runner import check_keys, stage_arguments
from pipeline.stages import STAGES
from pipeline.trips.provenance import check_credit
from pipeline.trips.readers.formats import READERS, read_batches
from pipeline.trips.readers.settings import TracesSettings
from tests.city.worlds import BBOX, world
from tests.trips.raw_folders import HEADER, row

ROOT = Path(__file__).resolve().parent.parent
STARTERS = {path.stem: path for path in sorted((ROOT / "configs/starters").glob("*.yaml"))}
each_starter = pytest.mark.parametrize("name", STARTERS)


def project(root: Path, name: str) -> Parameters:
    """Return the parameters of a project that has a starter as its city `my_city`."""
    (root / "configs").mkdir()
    shutil.copy(ROOT / "params.yaml", root)
    shutil.copy(STARTERS[name], root / "configs/my_city.yaml")
    return Parameters(root)


def traces_of(name: str) -> TracesSettings:
    return msgspec.convert(
        yaml.safe_load(STARTERS[name].read_text("utf-8"))["traces"], TracesSettings
    )


def test_there_is_a_starter_for_every_format_and_one_for_simulated_traces():
    formats = {kind.__struct_config__.tag for kind in READERS}
    assert set(STARTERS) == formats | {"simulated"}
    assert all(traces_of(name).__struct_config__.tag == name for name in formats)
    assert {name for name in STARTERS if traces_of(name).kind == "simulated"} == {"simulated"}


@each_starter
def test_a_starter_holds_every_key_a_city_needs_and_no_other(tmp_path, name):
    parameters = project(tmp_path, name)
    for stage in STAGES:
        if stage.scope == "city":
            stage_arguments(stage, "my_city", parameters)
    check_keys("my_city", parameters)
    assert "my_city" not in parameters.cities


def sentences(path: Path) -> list[str]:
    """Return the lines from `cleaning` on, without values and what came out of a simulation."""
    text = path.read_text("utf-8")
    lines = text[text.index("# The one cleaning contract") :].splitlines()
    return [
        line.partition("; 1.0")[0].rstrip(".") if line.lstrip().startswith("#")
        else line.partition(":")[0]
        for line in lines
    ]  # fmt: skip


@each_starter
def test_what_is_the_same_for_all_cities_is_explained_in_the_same_words(name):
    assert sentences(STARTERS[name]) == sentences(ROOT / "configs/porto.yaml")


@each_starter
def test_a_starter_that_is_not_edited_credits_nobody(name):
    traces = traces_of(name)
    if traces.kind == "simulated":
        assert traces.source is None
        return
    with pytest.raises(ParameterError, match=r"then `city: lisbon`"):
        check_credit("lisbon", traces)


@pytest.mark.parametrize("file", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda f: f.stem)
def test_every_city_of_the_project_credits_its_own_traces(file):
    traces = msgspec.convert(yaml.safe_load(file.read_text("utf-8"))["traces"], TracesSettings)
    check_credit(file.stem, traces)


FILES = {
    "porto": {"train.csv": f"{HEADER}\n{row()}\n"},
    "simulated": {"simulated_train.csv": f"{HEADER}\n{row()}\n"},
    "cabspotting": {"new_a.txt": "37.75 -122.39 1 1213000000\n"},
    "tdrive": {"1.txt": "1,2008-02-02 15:36:08,116.5,39.9\n"},
    "geolife": {
        "010/Trajectory/1.plt": "Geolife trajectory\n" + "\n" * 5
        + "39.9,116.3,0,-777,39298.1,2007-08-04,03:30:32\n",
        "010/labels.txt": "Start\tEnd\tMode\n2007/08/04 03:00:00\t2007/08/04 04:00:00\tcar\n",
    },
    "gpx": {
        "a.gpx": '<gpx><trk><trkseg><trkpt lat="60.17" lon="24.94">'
        "<time>2024-05-01T07:00:00Z</time></trkpt></trkseg></trk></gpx>"
    },
    "table": {
        "points.csv": "trip_id,vehicle_id,time,lon,lat\n7,c,2024-05-01T07:00:00Z,24.94,60.17\n"
    },
    "hoser": {
        "traj.csv": "mm_id,entity_id,traj_id,rid_list,time_list\n0,v,1,4,2013-07-01T00:00:58Z\n",
        "roadmap.geo": 'geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n',
        "roadmap.rel": "origin_id,destination_id\n",
    },
}  # fmt: skip


@each_starter
def test_a_starter_reads_files_of_its_format(tmp_path, name):
    for file, text in FILES[name].items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    batches = list(read_batches(traces_of(name), tmp_path))
    assert pl.concat([batch.trips for batch in batches])["t"].list.len().to_list() == [1]
    assert all(batch.unread.is_empty() for batch in batches)


def test_a_city_of_simulated_traces_needs_an_extract_and_a_bbox_and_nothing_else(
    tmp_path, monkeypatch
):
    project(tmp_path, "simulated")
    square = {1: (0, 0), 2: (2, 0), 3: (2, 2), 4: (0, 2)}
    ways = {9: ([1, 2, 3, 4, 1], {"highway": "residential"})}
    file = tmp_path / "configs/my_city.yaml"
    config = yaml.safe_load(file.read_text("utf-8"))
    extract = world(tmp_path, nodes=square, ways=ways)
    config["bbox"], config["time_zone"] = list(BBOX), "Europe/Monaco"
    config["network"]["source"]["path"] = extract.name
    file.write_text(yaml.safe_dump(config), "utf-8")
    monkeypatch.chdir(tmp_path)
    digest = hashlib.sha256(extract.read_bytes()).hexdigest()
    assert [f"write `sha256: {digest}`" in line for line in errors(tmp_path)] == [True]
    config["network"]["source"]["sha256"] = digest
    file.write_text(yaml.safe_dump(config), "utf-8")
    assert errors(tmp_path) == []
    findings = check_city("my_city", root=tmp_path)
    assert "simulated, not made yet" in {one.found for one in findings}


def errors(root: Path) -> list[str]:
    return [one.line() for one in check_city("my_city", root=root) if one.level == "error"]
