"""Ingest: two passes over shards give the same bytes whatever the order of files and rows."""

import json
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.schemas import check_record, fast_validator
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.trips import ingest
from pipeline.trips.cleaning.audit import Reading, cleaning_audit
from pipeline.trips.cleaning.settings import REASONS
from pipeline.trips.provenance import source_of
from pipeline.trips.readers.settings import TracesSettings
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


def run(root: Path, config, *, folder: str = "raw", **changes) -> Path:
    with StageIO(STAGE, city="toy", root=root, traces=folder) as io:
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
    assert sorted(cleaned["trip_id"]) == ["1/A", "1/B", "1/E.1", "1/E.2"]
    assert dict(raw.select("raw_trip_id", "outcome").iter_rows()) == {
        "1/A": "cleaned",
        "1/A#2": "duplicate_trip_id",
        "1/B": "cleaned",
        "1/C": "vehicle_overlap",
        "1/D": "empty_trip",
        "1/E": "cleaned",
    }
    rejected = pl.read_parquet(out / "rejected" / "ingest.parquet")
    assert rejected.select("item_id", "stage", "reason").rows() == [
        ("1/A#2", "ingest", "duplicate_trip_id"),
        ("1/C", "ingest", "vehicle_overlap"),
        ("1/D", "ingest", "empty_trip"),
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
    assert many == sorted(f"9/T{i}" for i in range(0, 12, 2))


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
    write_porto(tmp_path / SIMULATED / "train.csv", ROWS[:1])
    settings = traces("porto", interval_s=15, kind="simulated")
    out = run(tmp_path, settings, folder=SIMULATED)
    assert table(out / "cleaned")["simulated"].to_list() == [True]


SIMULATED = "data/toy/simulated/traces"
OTHERS = {"city": "porto", "name": "Taxis of Porto", "licence": "CC BY", "attribution": "M."}


@pytest.mark.parametrize(
    ("keys", "folder", "message"),
    [
        ({"source": OTHERS}, "raw", r"configs/toy.yaml: traces.source: .*that of porto \(Taxis of"),
        ({"kind": "simulated"}, "raw", r"cities.toy.traces: expected data/toy/simulated/traces"),
        ({}, SIMULATED, r"configs/toy.yaml: traces.kind: expected simulated"),
    ],
)
def test_traces_that_are_not_what_their_source_says_are_refused(tmp_path, keys, folder, message):
    write_porto(tmp_path / folder / "train.csv", ROWS[:1])
    with pytest.raises(ParameterError, match=message):
        run(tmp_path, traces("porto", interval_s=15, **keys), folder=folder)
    assert not list((tmp_path / "data" / "toy").glob("cleaned*"))


def test_simulated_traces_have_the_licence_and_the_credit_of_the_network():
    network = {"licence": "ODbL-1.0", "attribution": "(c) OpenStreetMap contributors"}
    simulated = traces("porto", interval_s=15, kind="simulated")
    assert source_of("toy", simulated, network) == {
        "name": "simulated traces on a real network",
        "licence": "ODbL-1.0 (derived from the network)",
        "attribution": "(c) OpenStreetMap contributors",
    }
    real = {"name": "made by hand", "licence": "none", "attribution": ""}
    assert source_of("toy", traces("porto", interval_s=15), network) == real
    with pytest.raises(ParameterError, match="expected the source of this city's own traces"):
        source_of("town", traces("porto", interval_s=15), network)


def test_an_input_of_another_city_is_refused_and_nothing_is_written(tmp_path):
    write_porto(tmp_path / "raw" / "train.csv", [porto_row("A", drive(5, first_m=90_000))])
    with pytest.raises(SourceError, match="expected at least 50% of 5 points in the bbox"):
        run(tmp_path, traces("porto", interval_s=15), least_share_in_bbox=0.5)
    assert not list((tmp_path / "data" / "toy").glob("cleaned*"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one point, found none in 0 rows; check the files"),
        ([porto_row("A", [])], "at least one point, found none in 1 rows; check the files"),
        (
            ['"F","C"', porto_row("G", drive(2)).replace("], [", "];["), "H,C"],
            r"found none in 3 rows \(2 are row_truncated, such as train.csv:2 '\"F\",\"C\"'\)",
        ),
        ([porto_row("A", drive(5), start=START * 1000)], "expected times between"),
    ],
)
def test_an_input_that_yields_nothing_is_refused_with_the_reason_of_most_rows(
    tmp_path, rows, message
):
    write_porto(tmp_path / "raw" / "train.csv", rows)
    with pytest.raises(SourceError, match=message):
        run(tmp_path, traces("porto", interval_s=15))


def points_table(folder: Path, rows: list[str], **keys) -> TracesSettings:
    folder.mkdir(parents=True)
    (folder / "points.csv").write_text("\n".join(["id,when,x,y", *rows]) + "\n", "utf-8")
    columns = {"trip": "id", "vehicle": None, "time": "when", "lon": "x", "lat": "y"}
    keys = {"pattern": "*.csv", "time": "epoch_s", "time_zone": None, "shards": 3} | keys
    return traces("table", columns=columns, **keys)


def test_a_wrong_time_setting_is_refused_and_named(tmp_path):
    settings = points_table(tmp_path / "raw", [point_row("T", i) for i in range(6)], time="iso")
    with pytest.raises(SourceError, match=r"6 are time_unparsable.*`traces.time`"):
        run(tmp_path, settings)


def test_modes_that_keep_nothing_are_refused_and_named(tmp_path):
    user = tmp_path / "raw" / "010"
    (user / "Trajectory").mkdir(parents=True)
    head = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255\n0\n"
    point = "41.15,-8.6,0,-777,39298.1,2007-08-04,03:30:32\n"
    (user / "Trajectory" / "1.plt").write_text(head + point, "utf-8")
    label = "Start\tEnd\tMode\n2007/08/04 03:00:00\t2007/08/04 04:00:00\tcar\n"
    (user / "labels.txt").write_text(label, "utf-8")
    with pytest.raises(SourceError, match=r"1 are other_mode.*`traces.modes`"):
        run(tmp_path, traces("geolife", modes=[], unlabelled="keep"))


@pytest.mark.parametrize(
    ("name", "text", "settings"),
    [
        ("1.txt", "", traces("tdrive", time_zone="Asia/Shanghai")),
        ("a.gpx", "<gpx></gpx>", traces("gpx")),
    ],
)
def test_files_without_a_row_are_refused(tmp_path, name, text, settings):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / name).write_text(text, "utf-8")
    with pytest.raises(SourceError, match="at least one point, found none in 0 rows"):
        run(tmp_path, settings)


def test_a_time_that_cannot_be_costs_its_own_point_and_no_other(tmp_path):
    rows = [point_row("T", i) for i in range(6)]
    broken = ["T,1e300,-8.6,41.15", "T,99999999999999999999,-8.6,41.15", "T,inf,-8.6,41.15"]
    out = run(tmp_path, points_table(tmp_path / "raw", [*rows, *broken]))
    assert table(out / "cleaned")["t"].list.len().to_list() == [6]
    audit = json.loads((out / "cleaning_audit.json").read_text("utf-8"))
    assert audit["points"]["dropped"]["time_not_believable"] == 2
    assert audit["reading"]["unread"]["coordinate_not_finite"] == 1


def test_an_id_that_reads_as_a_piece_or_a_copy_is_merged_with_none(tmp_path):
    jump = [
        f"1,{START + 15 * i},{lon},{lat}"
        for i, (lon, lat) in enumerate(lon_lat(x) for x in [*drive(4), *drive(4, first_m=5000)])
    ]
    others = [point_row(name, i) for name in ("1.1", "1#2", "1.2_p2") for i in range(5)]
    out = run(tmp_path, points_table(tmp_path / "raw", [*jump, *others]))
    ids = sorted(table(out / "cleaned")["trip_id"])
    assert ids == ["1#2~", "1.1", "1.1~", "1.2", "1.2_p2~"]
    audit = json.loads((out / "cleaning_audit.json").read_text("utf-8"))
    assert audit["events"]["renamed"] == 3


def test_files_that_no_reader_takes_stand_in_the_audit(tmp_path):
    write_porto(tmp_path / "raw" / "train.csv", ROWS[:1])
    (tmp_path / "raw" / "train.csv.zip").write_bytes(b"PK")
    (tmp_path / "raw" / ".gitignore").write_text("/train.csv\n", "utf-8")
    out = run(tmp_path, traces("porto", interval_s=15))
    audit = json.loads((out / "cleaning_audit.json").read_text("utf-8"))
    assert audit["reading"]["excluded"] == [{"reason": "file_not_read", "rows": 1}]


def test_trips_are_dealt_out_beside_the_data_and_nothing_of_it_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "nowhere"))
    write_porto(tmp_path / "raw" / "train.csv", ROWS[:1])
    out = run(tmp_path, traces("porto", interval_s=15))
    assert not [path for path in out.rglob("*") if "scratch" in path.name]


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
