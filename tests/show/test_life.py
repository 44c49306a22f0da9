"""A trip is found by any of its ids, and ends in exactly one state."""

import shlex
import shutil

import msgspec
import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.show.command import life_json, show
from pipeline.show.endings import final_of
from pipeline.show.gather import life_of
from pipeline.show.life import Ending, TripLife
from pipeline.show.shards import CityTables
from pipeline.stages import STAGES
from pipeline.tables import read_table
from pipeline.trips.ledger import ledger_of
from tests.show.project import CITY, cleaned_trip, put, raw_trip, reject


def remove(root, name):
    path = artifact_path(ARTIFACTS[name], root=root, city=CITY)
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def endings(root, trip_id="17"):
    found = life_of(root, CITY, trip_id).endings
    return [(one.item_id, one.kind, one.state, one.stage, one.reason) for one in found]


@pytest.mark.parametrize("asked", ["17", "17_p2"])
def test_the_same_life_is_found_by_the_raw_the_cleaned_and_the_drive_id(tiny, life, asked):
    found = life_of(tiny, CITY, asked)
    assert found.asked_id == asked
    assert msgspec.structs.replace(found, asked_id="17") == life


def test_a_life_holds_what_every_stage_made(life):
    assert len(life.raw.t) == 10
    assert [one.trip.raw_index for one in life.cleaned] == [[0, 1, 2, 4, 5, 6, 7, 8, 9]]
    assert [drive.trip.trip_id for drive in life.drives] == ["17", "17_p2"]
    assert [road.highway for road in life.drives[0].roads] == ["residential"] * 2 + ["tertiary"]
    assert [phase.role for phase in life.drives[0].phased.phases] == ["O", "T", "D"]
    assert life.drives[1].phased is None
    assert [one.reason for one in life.rejections] == ["too_few_phases"]
    assert life.simulated


def test_a_piece_of_a_split_trip_leads_to_the_whole_trip(own_project):
    pieces = [cleaned_trip() | {"trip_id": f"17.{i}"} for i in (1, 2)]
    put(own_project, "cleaned", pieces)
    put(own_project, "raw_trips", [raw_trip() | {"trip_ids": ["17.1", "17.2"]}])
    reject(own_project, "match", [("17.2", "not_matched", "no road near")])
    found = life_of(own_project, CITY, "17.2")
    assert [one.trip.trip_id for one in found.cleaned] == ["17.1", "17.2"]
    assert found.rejections[0].item_id == "17.2"


def test_each_drive_of_a_split_trip_has_one_ending(tiny):
    assert endings(tiny) == [
        ("17", "drive", "phased", "compress", ""),
        ("17_p2", "drive", "rejected", "compress", "too_few_phases"),
    ]


def test_a_trip_that_cleaning_refused_ends_there(tiny):
    assert endings(tiny, "18") == [("18", "raw trip", "rejected", "ingest", "too_few_points")]


def test_a_trip_that_matching_refused_ends_there(own_project):
    put(own_project, "matched", [])
    reject(own_project, "match", [("17", "not_matched", "no_road_near")])
    assert endings(own_project) == [("17", "cleaned trip", "rejected", "match", "not_matched")]


def test_a_later_drive_that_matching_refused_is_found_by_its_own_id(own_project):
    reject(own_project, "match", [("17_p3", "drive_too_short", "40 m")])
    found = endings(own_project, "17_p3")
    assert found[-1] == ("17_p3", "drive", "rejected", "match", "drive_too_short")
    assert len(found) == 3


def test_a_row_that_could_not_be_read_has_a_life_of_one_line(own_project):
    reject(own_project, "ingest", [("train.csv:9", "row_truncated", "1372636")])
    found = life_of(own_project, CITY, "train.csv:9")
    assert found.raw is None
    assert (found.final.kind, found.final.reason) == ("row", "row_truncated")


def test_a_trip_before_matching_waits_for_it(own_project):
    for name in ("matched", "matched_points", "phased"):
        remove(own_project, name)
    assert endings(own_project) == [("17", "cleaned trip", "waiting", "match", "")]


def test_a_drive_that_no_stage_accounts_for_is_called_lost(own_project):
    reject(own_project, "compress", [])
    assert endings(own_project)[1][2] == "lost"


def test_a_drive_both_kept_and_refused_is_called_contradictory(own_project):
    reject(own_project, "compress", [("17", "too_few_phases", "")])
    assert endings(own_project)[0][2] == "contradictory"


def test_a_drive_both_matched_and_refused_is_called_contradictory(own_project):
    reject(own_project, "match", [("17_p2", "drive_too_short", "")])
    assert endings(own_project)[1][2:4] == ("contradictory", "match")


def test_the_final_state_is_the_one_the_loss_ledger_counts(tiny):
    def table(name):
        artifact = ARTIFACTS[name]
        return pl.concat([read_table(f, artifact) for f in CityTables(tiny, CITY).files(name)])

    rejected = pl.concat([table(f"{stage}_rejected") for stage in ("ingest", "match", "compress")])
    tables = [table(name) for name in ("raw_trips", "cleaned", "matched", "phased")]
    ledger = ledger_of(*tables, rejected)
    for entry in ledger.to_dicts():
        final = life_of(tiny, CITY, entry["raw_trip_id"]).final
        assert (final.state, final.stage) == (entry["state"], entry["stage"])
        assert (final.reason or None) == entry["reason"]


def test_of_refused_pieces_the_furthest_says_where_the_trip_ended():
    pieces = [
        Ending("a", "drive", "rejected", "match", "detour", ""),
        Ending("b", "drive", "rejected", "compress", "too_few_phases", ""),
    ]
    assert final_of(pieces).item_id == "b"


def test_an_unknown_id_names_the_nearest_and_the_next_command(tiny):
    with pytest.raises(SourceError, match="expected trip '172'") as fault:
        life_of(tiny, CITY, "172")
    assert "nearest: 17, 17_p2, 171" in str(fault.value)
    assert f"`python -m pipeline show {CITY} 17`" in str(fault.value)


@pytest.mark.parametrize("trip_id", ["trip 0 ä/0", "it's", "17"])
def test_the_next_command_can_be_copied_whatever_an_id_holds(own_project, trip_id):
    for name in ("cleaned", "matched"):
        put(own_project, name, [])
    put(own_project, "raw_trips", [raw_trip() | {"raw_trip_id": trip_id}])
    with pytest.raises(SourceError) as fault:
        life_of(own_project, CITY, "nope")
    command = str(fault.value).split("`")[1]
    assert shlex.split(command) == ["python", "-m", "pipeline", "show", CITY, trip_id]


def test_an_id_like_no_other_still_names_some_that_exist(tiny):
    with pytest.raises(SourceError, match="nearest: 1"):
        life_of(tiny, CITY, "zzz")


def test_a_city_without_trips_says_so(own_project):
    for name in ("raw_trips", "cleaned", "matched"):
        put(own_project, name, [])
    with pytest.raises(SourceError, match="found no trip at all"):
        life_of(own_project, CITY, "17")


@pytest.mark.parametrize("name", ["raw_trips", "cleaned"])
def test_a_missing_artifact_names_the_stage_to_run(own_project, name):
    remove(own_project, name)
    [stage] = [stage.name for stage in STAGES if name in stage.writes]
    with pytest.raises(SourceError, match=f"run `dvc repro {stage}@{CITY}`"):
        life_of(own_project, CITY, "17")


def test_a_page_without_roads_names_the_stage_to_run(own_project, capsys):
    remove(own_project, "roads")
    with pytest.raises(SourceError, match=f"run `dvc repro roads@{CITY}`"):
        show(own_project, CITY, "17", page=own_project / "p.html", as_json=False, all_rows=False)


def test_an_unknown_city_is_an_error_that_names_the_known(tiny):
    with pytest.raises(ParameterError, match="tiny"):
        life_of(tiny, "atlantis", "17")


def test_an_unknown_time_zone_is_an_error(own_project):
    (own_project / f"configs/{CITY}.yaml").write_text("time_zone: Mars/Olympus\n")
    with pytest.raises(ParameterError, match="Mars/Olympus"):
        show(own_project, CITY, "17", page=None, as_json=False, all_rows=False)


def test_a_table_of_another_version_is_refused(own_project):
    file = artifact_path(ARTIFACTS["phased"], root=own_project, city=CITY) / "part-00000.parquet"
    pl.DataFrame({"trip_id": ["17"], "old": [1]}).write_parquet(file)
    with pytest.raises(ContractError, match="PhasedTrip"):
        life_of(own_project, CITY, "17")


def test_a_broken_file_names_the_stage_that_makes_it(own_project):
    file = artifact_path(ARTIFACTS["matched"], root=own_project, city=CITY) / "part-00001.parquet"
    file.write_bytes(b"not Parquet at all")
    with pytest.raises(SourceError, match=f"dvc repro match@{CITY}"):
        life_of(own_project, CITY, "17")


def test_the_whole_life_survives_a_round_trip_through_json(life):
    assert msgspec.json.decode(life_json(life), type=TripLife) == life


def test_show_prints_json_when_asked(tiny, life, capsys):
    show(tiny, CITY, "17", page=None, as_json=True, all_rows=False)
    assert msgspec.json.decode(capsys.readouterr().out, type=TripLife) == life


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("name", ["raw_trips", "cleaned", "matched", "phased", "roads", "cells"])
def test_a_damaged_file_is_one_clear_error_that_names_the_stage_to_run(own_project, name, length):
    path = artifact_path(ARTIFACTS[name], root=own_project, city=CITY)
    file = path / "part-00000.parquet" if path.is_dir() else path
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(
        SourceError,
        match=f"{name}.*: expected the bytes that were written.*`dvc repro ",
    ):
        show(own_project, CITY, "17", page=own_project / "p.html", as_json=False, all_rows=False)


def test_roads_without_a_column_are_one_clear_error(own_project):
    file = artifact_path(ARTIFACTS["roads"], root=own_project, city=CITY)
    pl.read_parquet(file).drop("highway").write_parquet(file)
    with pytest.raises(ContractError, match="roads: expected the columns of its schema"):
        life_of(own_project, CITY, "17")
