"""Ingest: two passes over shards give the same bytes whatever the order of files and rows."""

import json
import zipfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import ContractError, SourceError
from pipeline.schemas import check_record, fast_validator
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.trips import ingest
from pipeline.trips.cleaning.audit import Reading, cleaning_audit
from pipeline.trips.cleaning.settings import REASONS
from tests.trips.builders import BBOX, CLEANING, START, cleaning, drive, lon_lat, traces, trip
from tests.trips.raw_folders import HEADER

STAGE = Stage(
    "ingest",
    "pipeline.trips.ingest:run",
    "test",
    reads=("traces",),
    writes=("raw_trips", "cleaned", "cleaning_audit"),
    rejects=True,
)


def porto_row(trip_id: str, x_m: list[float], *, start: float = START, taxi: str = "1") -> str:
    line = json.dumps([lon_lat(x) for x in x_m])
    return f'"{trip_id}","C","","","{taxi}","{int(start)}","A","False","{line}"'


def write_porto(path: Path, rows: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")


def run(root: Path, config, **changes) -> Path:
    with StageIO(STAGE, city="toy", root=root, traces="raw") as io:
        ingest.run(io, city="toy", traces=config, cleaning=cleaning(**changes), bbox=BBOX)
    return root / "data" / "toy"


def table(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(file) for file in sorted(folder.glob("*.parquet"))])


def hours(number: int) -> float:
    return START + 3600.0 * number


ROWS = [
    porto_row("A", drive(5), start=hours(1)),
    porto_row("A", drive(7), start=hours(1)),
    porto_row("B", drive(6), start=hours(2)),
    porto_row("C", drive(4), start=hours(2) + 15),
    porto_row("D", [], start=hours(4)),
    porto_row("E", [*drive(4), *drive(4, first_m=5000)], start=hours(5)),
    '"F","C",""',
]


def test_a_run_writes_valid_tables_and_an_audit_that_adds_up(tmp_path):
    write_porto(tmp_path / "raw" / "train.csv", ROWS)
    out = run(tmp_path, traces("porto", interval_s=15))
    cleaned, raw = table(out / "cleaned"), table(out / "raw_trips")
    assert sorted(cleaned["trip_id"]) == ["A", "B", "E.1", "E.2"]
    assert dict(raw.select("raw_trip_id", "outcome").iter_rows()) == {
        "A": "cleaned",
        "A#2": "duplicate_trip_id",
        "B": "cleaned",
        "C": "vehicle_overlap",
        "D": "empty_trip",
        "E": "cleaned",
    }
    rejected = pl.read_parquet(out / "rejected" / "ingest.parquet")
    assert rejected.select("item_id", "stage", "reason").rows() == [
        ("A#2", "ingest", "duplicate_trip_id"),
        ("C", "ingest", "vehicle_overlap"),
        ("D", "ingest", "empty_trip"),
        ("train.csv:8", "ingest", "row_truncated"),
    ]
    audit = json.loads((out / "cleaning_audit.json").read_text("utf-8"))
    assert audit["reading"]["rows"] == 7
    assert audit["trips"]["in"] == 6
    assert audit["trips"]["cleaned"] == 3
    assert audit["trips"]["in"] == 3 + sum(audit["trips"]["rejected"].values())
    assert audit["points"]["in"] == 5 + 7 + 6 + 4 + 0 + 8
    assert audit["events"]["lasting_jump"] == 1
    assert not cleaned["simulated"].any()


def test_the_conflicts_of_a_vehicle_are_found_across_shards(tmp_path):
    rows = [porto_row(f"T{i}", drive(4), start=hours(1) + 30 * i, taxi="9") for i in range(12)]
    write_porto(tmp_path / "raw" / "train.csv", rows)
    shards = run(tmp_path, traces("porto", interval_s=15, shards=5))
    many = table(shards / "cleaned")["trip_id"].sort().to_list()
    # Trips last 45 s and begin 30 s apart: every second one can have happened.
    assert many == sorted(f"T{i}" for i in range(0, 12, 2))


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.permutations(ROWS[:6]), st.integers(1, 5), st.sampled_from([64, 4096]))
def test_the_order_of_rows_and_files_and_the_blocks_change_no_byte(
    tmp_path_factory, rows, cut, block
):
    reference, other = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    write_porto(reference / "raw" / "train.csv", ROWS[:6])
    write_porto(other / "raw" / "one.csv", rows[:cut])
    write_porto(other / "raw" / "two" / "a.csv", rows[cut:])
    first = run(reference, traces("porto", interval_s=15))
    second = run(other, traces("porto", interval_s=15, block_bytes=block))
    names = sorted(p.relative_to(first) for p in first.rglob("*.parquet"))
    assert len(names) == 5
    for name in [*names, Path("cleaning_audit.json")]:
        assert (first / name).read_bytes() == (second / name).read_bytes()


def point_row(trip_id: str, index: int) -> str:
    lon, lat = lon_lat(100.0 * index)
    return f"{trip_id},{START + 15 * index},{lon},{lat}"


def test_the_points_of_a_trip_meet_from_several_files(tmp_path):
    points = [point_row("T", i) for i in range(6)]
    for number, part in enumerate((points[::2], points[1::2])):
        path = tmp_path / "raw" / f"{number}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(["id,when,x,y", *part]) + "\n", "utf-8")
    columns = {"trip": "id", "vehicle": None, "time": "when", "lon": "x", "lat": "y"}
    keys = {"pattern": "*.csv", "columns": columns, "time": "epoch_s", "time_zone": None}
    cleaned = table(run(tmp_path, traces("table", **keys)) / "cleaned")
    assert cleaned["trip_id"].to_list() == ["T"]
    assert cleaned["raw_index"].to_list() == [[0, 1, 2, 3, 4, 5]]


def test_simulated_traces_say_so_in_every_cleaned_trip(tmp_path):
    write_porto(tmp_path / "raw" / "train.csv", ROWS[:1])
    out = run(tmp_path, traces("porto", interval_s=15, kind="simulated"))
    assert table(out / "cleaned")["simulated"].to_list() == [True]


def test_an_input_of_another_city_is_refused_and_nothing_is_written(tmp_path):
    write_porto(tmp_path / "raw" / "train.csv", [porto_row("A", drive(5, first_m=90_000))])
    with pytest.raises(SourceError, match="expected at least 50% of 5 points in the bbox"):
        run(tmp_path, traces("porto", interval_s=15), least_share_in_bbox=0.5)
    assert not list((tmp_path / "data" / "toy").glob("cleaned*"))


def test_an_audit_that_does_not_add_up_is_a_fault_of_the_program():
    reading = Reading("trip", rows=3, fragments=1)
    with pytest.raises(ContractError, match="expected 3 rows"):
        cleaning_audit("toy", traces("porto", interval_s=15), reading, Counter(), Counter())


def test_a_zipped_file_under_a_csv_name_is_one_error(tmp_path):
    (tmp_path / "raw").mkdir()
    with zipfile.ZipFile(tmp_path / "raw" / "train.csv", "w") as archive:
        archive.writestr("train.csv", HEADER)
    with pytest.raises(SourceError, match="unpack or remove it"):
        run(tmp_path, traces("porto", interval_s=15))


SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "porto"
# What the notes measured in the first 999 rows: 268 lasting jumps, one empty trip.
REAL = [SHARED] if SHARED.is_dir() else []


@pytest.mark.parametrize("folder", [*REAL, None], ids=lambda f: "real" if f else "made")
def test_jumps_of_dropped_samples_are_counted(folder, tmp_path):
    if folder is None:
        folder, expected = tmp_path, (1, 1, 6)
        write_porto(tmp_path / "train.csv", ROWS[:6])
    else:
        expected = (268, 1, 999)
    result = ingest.ingest_folder(
        folder,
        traces=traces("porto", interval_s=15),
        cleaning=cleaning(most_speed_mps=140 / 3.6),
        bbox=BBOX,
    )
    assert result.tally["events", "lasting_jump"] == expected[0]
    assert result.tally["trips", "empty_trip"] == expected[1]
    assert sum(result.tally["trips", name] for name in ("cleaned", *REASONS)) == expected[2]
    row = result.raw_trips.row(0, named=True)
    assert fast_validator("raw_trip").is_valid(row)
    check_record("cleaned_trip", result.cleaned.row(0, named=True), where="first cleaned trip")


def test_builders_and_files_mean_the_same_trip(tmp_path):
    write_porto(tmp_path / "train.csv", [porto_row("T", drive(5))])
    result = ingest.ingest_folder(
        tmp_path, traces=traces("porto", interval_s=15), cleaning=CLEANING, bbox=BBOX
    )
    assert result.raw_trips["t"].to_list() == [trip("T", drive(5))["t"]]
