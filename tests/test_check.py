"""The check looks at the user's own files again, whatever has been built from them already."""

import hashlib
import shutil
from pathlib import Path

import pytest
import yaml

from pipeline.check import check_city
from pipeline.errors import SourceError
from tests.show.project import CITY, write_project

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


def test_simulated_traces_at_a_place_where_no_stage_writes_are_an_error(city):
    change(city / f"configs/{CITY}.yaml", lambda c: c["traces"].update(kind="simulated"))
    simulated = f"data/{CITY}/simulated/traces"
    [line] = [line for line in errors(city) if "simulated" in line]
    assert f"expected {simulated}, found raw, where nothing is" in line
    assert f"set `cities.{CITY}.traces: {simulated}`" in line
    change(city / "params.yaml", lambda p: p["cities"][CITY].update(traces=simulated))
    assert not [line for line in errors(city) if "simulated" in line]


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("name", ["roads", "cells"])
def test_a_damaged_table_of_the_ground_is_one_clear_error(city, name, length):
    file = city / f"data/{CITY}/{name}.parquet"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(SourceError, match=rf"{name}\.parquet: expected a Parquet file"):
        check_city(CITY, root=city)
