"""The check of raw traces: each fault of a set-up is named with its remedy."""

import gzip
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from pipeline.trips.diagnose import diagnose_traces
from tests.trips.builders import BBOX, CLEANING, START, drive, lon_lat, traces
from tests.trips.raw_folders import HEADER, row
from tests.trips.test_ingest import porto_row, write_porto
from tests.trips.towns import grid_roads

PORTO = traces("porto", interval_s=15)
ROWS = [porto_row(f"T{i}", drive(12), start=START + 3600 * i, taxi=str(i)) for i in range(20)]


def check(folder, rows, *, bbox=BBOX, roads=None, settings=PORTO):
    write_porto(folder / "train.csv", rows)
    return diagnose_traces(folder, traces=settings, cleaning=CLEANING, bbox=bbox, roads=roads)


def worst(findings, what):
    return next(f for f in findings if f.what == what)


def test_sound_traces_give_only_good_news(tmp_path):
    findings = check(tmp_path, ROWS, roads=grid_roads())
    assert {f.level for f in findings} == {"info"}
    assert (
        "1 file, 0.0 MB, format porto, about 20 rows (trips)" in worst(findings, "raw traces").found
    )
    assert worst(findings, "time between points").found == "a median of 15 s"
    assert worst(findings, "time span").found == "2013-07-01 to 2013-07-01"
    assert worst(findings, "points per trip").found == "a median of 12"
    assert worst(findings, "distance to roads").found.startswith("100.0%")


def test_lines_before_the_first_row_and_files_without_rows_are_no_rows(tmp_path):
    lon, lat = lon_lat(0)
    head = "Geolife trajectory\n" + "\n" * 5
    for user in ("010", "011"):
        folder = tmp_path / user / "Trajectory"
        folder.mkdir(parents=True)
        rows = [f"{lat},{lon},0,0,41455.0,2013-07-01,00:00:{i:02}" for i in range(9)]
        (folder / "1.plt").write_text(head + "\n".join(rows), "utf-8")  # the last does not end
    labels = "Start Time\tEnd Time\tMode\n2013/07/01 00:00:00\t2013/07/01 01:00:00\tcar\n"
    (tmp_path / "010" / "labels.txt").write_text(labels, "utf-8")
    findings = diagnose_traces(
        tmp_path,
        traces=traces("geolife", modes=["car"], unlabelled="keep"),
        cleaning=CLEANING,
        bbox=BBOX,
        roads=None,
    )
    assert "3 files, 0.0 MB, format geolife, about 18 rows" in worst(findings, "raw traces").found


def test_a_missing_folder_is_one_error(tmp_path):
    findings = diagnose_traces(
        tmp_path / "raw", traces=PORTO, cleaning=CLEANING, bbox=BBOX, roads=None
    )
    assert [(f.level, f.what) for f in findings] == [("error", "raw traces")]
    assert "found none" in findings[0].found


def test_files_of_another_format_are_one_error(tmp_path):
    (tmp_path / "train.csv").write_text("lat,lon\n1,2\n", "utf-8")
    findings = diagnose_traces(tmp_path, traces=PORTO, cleaning=CLEANING, bbox=BBOX, roads=None)
    assert findings[0].level == "error"
    assert "check `traces.format`" in findings[0].found


def test_a_byte_that_is_no_utf8_far_behind_the_sample_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.trips.diagnose.SAMPLE_POINTS", 1)
    settings = traces("porto", interval_s=15, block_bytes=64)
    (tmp_path / "notes.txt").write_bytes(b"\xc4")  # no file of the format
    assert "error" not in {f.level for f in check(tmp_path, ROWS, settings=settings)}
    path = tmp_path / "train.csv"
    path.write_bytes(path.read_bytes() + b"\xc4\n")
    [found] = diagnose_traces(tmp_path, traces=settings, cleaning=CLEANING, bbox=BBOX, roads=None)
    assert found.level == "error"
    assert "train.csv: expected text in UTF-8, found the byte 0xc4 in line 22" in found.found


def test_a_bbox_with_latitude_first_is_found(tmp_path):
    west, south, east, north = BBOX
    found = worst(check(tmp_path, ROWS, bbox=(south, west, north, east)), "coordinate order")
    assert found.level == "error"
    assert found.remedy.startswith("set `traces.coordinate_order: swapped`, or, if it is `bbox`")
    assert f"write `bbox: {list(BBOX)}`" in found.remedy


def test_a_lost_sign_is_found(tmp_path):
    west, south, east, north = BBOX
    found = worst(check(tmp_path, ROWS, bbox=(-east, south, -west, north)), "sign of coordinates")
    assert found.level == "error"


def test_traces_of_another_city_are_found(tmp_path):
    found = worst(check(tmp_path, ROWS, bbox=(24.9, 60.1, 25.0, 60.2)), "points in bbox")
    assert (found.level, found.remedy) == ("error", "check `bbox` and `traces.format`")


def test_traces_that_mostly_fit_are_suspicious(tmp_path):
    rows = [*ROWS, *[porto_row(f"X{i}", drive(12, first_m=20_000)) for i in range(5)]]
    assert worst(check(tmp_path, rows), "points in bbox").level == "warning"


def test_many_unreadable_rows_are_suspicious(tmp_path):
    found = worst(check(tmp_path, [*ROWS, '"cut']), "rows")
    assert found.level == "warning"
    assert "row_truncated 1" in found.found


def point_table(folder, *rows, vehicle=None, **keys):
    """Check a table of points: id, car, when, x, y."""
    (folder / "points.csv").write_text("\n".join(["id,car,when,x,y", *rows]) + "\n", "utf-8")
    columns = {"trip": "id", "vehicle": vehicle, "time": "when", "lon": "x", "lat": "y"}
    keys = {"pattern": "*.csv", "columns": columns, "time": "epoch_s", "time_zone": None} | keys
    return diagnose_traces(
        folder, traces=traces("table", **keys), cleaning=CLEANING, bbox=BBOX, roads=None
    )


def point_rows(trip_id, car, first_m=0.0, *, start=START, count=12):
    places = [lon_lat(100.0 * i, first_m) for i in range(count)]
    return [f"{trip_id},{car},{start + 15 * i},{x},{y}" for i, (x, y) in enumerate(places)]


@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda row: row.replace(",", ";"), "`traces.delimiter` (now ',')"),
        (lambda row: row.replace(",13", ",1/5/", 1), "set `traces.time` (now epoch_s)"),
        (lambda row: row.replace("-8.", "west"), "`traces.decimal` (now '.')"),
        (lambda row: f"{row.rpartition(',')[0]},nan", "no key reads such a number"),
    ],
)
def test_rows_that_cannot_be_read_are_shown_with_the_key_to_change(tmp_path, spoil, key):
    good, bad = point_rows("A", "c"), point_rows("B", "c")
    found = worst(point_table(tmp_path, *good, *map(spoil, bad)), "rows")
    assert (found.level, key in found.remedy) == ("warning", True), found
    assert [one.partition(" ")[0] for one in found.examples] == [
        "points.csv:14", "points.csv:15", "points.csv:16"
    ]  # fmt: skip
    assert found.text().count("\n         such as points.csv:") == 3


def dated_rows(days, form):
    """Return a trip a day in May 2014, its times as a form writes them."""
    for day in days:
        when = datetime(2014, 5, day, 7, tzinfo=UTC)
        for i, point in enumerate(point_rows(f"T{day}", "c")):
            _, car, _, x, y = point.split(",")
            yield f"T{day},{car},{when + timedelta(seconds=15 * i):{form}},{x},{y}"


@pytest.mark.parametrize(
    ("days", "form", "time"),
    [
        (range(1, 29), "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"),  # 57 % lost
        (range(1, 15), "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"),  # 14 % lost, the rest misdated
        (range(20, 25), "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S"),  # all lost
        (range(1, 10), "%Y-%m-%dT%H:%M:%SZ", "%d/%m/%Y %H:%M:%S"),
    ],
)
def test_a_pattern_of_times_that_loses_rows_is_an_error_that_names_the_one_that_reads_them(
    tmp_path, days, form, time
):
    findings = point_table(tmp_path, *dated_rows(days, form), time=time, time_zone="UTC")
    right = form if form.startswith(("%d", "%m")) else "iso"
    for found in findings:
        if found.what in {"rows", "raw traces"} and found.level != "info":
            assert found.level == "error"
            assert f"set `traces.time: {right!r}`, which reads nearly all" in found.remedy
    assert any(found.level == "error" and found.what == "rows" for found in findings)
    right_one = point_table(tmp_path, *dated_rows(days, form), time=right, time_zone="UTC")
    assert worst(right_one, "rows").level == "info"


def test_most_rows_lost_are_an_error_and_no_pattern_is_named_that_reads_no_better(tmp_path):
    lost = [row.replace(",13", ",x", 1) for row in point_rows("B", "c", count=40)]
    found = worst(point_table(tmp_path, *point_rows("A", "c"), *lost), "rows")
    assert (found.level, "set `traces.time` (now epoch_s)" in found.remedy) == ("error", True)


def test_a_table_of_which_no_row_can_be_read_names_the_key(tmp_path):
    found = worst(point_table(tmp_path, *point_rows("A", "c"), time="iso"), "raw traces")
    assert (found.level, found.expected) == ("error", "at least one point")
    assert "set `traces.time` (now iso)" in found.remedy


def test_findings_about_points_show_three_of_them(tmp_path):
    west, south, east, north = BBOX
    boxes = {
        "coordinate order": (south, west, north, east),
        "sign of coordinates": (-east, south, -west, north),
        "points in bbox": (24.9, 60.1, 25.0, 60.2),
    }
    for what, bbox in boxes.items():
        found = worst(check(tmp_path, ROWS, bbox=bbox), what)
        assert len(found.examples) == 3
        assert found.examples[0].startswith("trip 0/T0: lon -8.6")


def test_ids_of_several_vehicles_at_once_are_an_error_that_names_the_key(tmp_path):
    rows = [*point_rows("A", "c1"), *point_rows("A", "c2", 5000.0, start=START + 7)]
    found = worst(point_table(tmp_path, *rows), "trip ids")
    assert (found.level, found.examples[0].partition(":")[0]) == ("error", "trip A")
    assert "1 of 1 in several at once, which `ingest` refuses as mixed_vehicles" in found.found
    assert "name the column of the vehicle in `traces.columns.vehicle` (now null)" in found.remedy
    told_apart = worst(point_table(tmp_path, *rows, vehicle="car"), "trip ids")
    assert (told_apart.level, told_apart.found) == ("info", "so in all 2")


def test_ids_that_come_again_are_suspicious_in_a_table_without_vehicles(tmp_path):
    rows = [row for day in range(3) for row in point_rows("A", "c", start=START + 86_400 * day)]
    found = worst(point_table(tmp_path, *rows), "ids that come again")
    assert (found.level, found.examples) == (
        "warning", ("trip A: 3 drives from 2013-07-01T00:00:00Z to 2013-07-03T00:02:45Z",)
    )  # fmt: skip
    assert "`traces.columns.vehicle` (now null)" in found.remedy


def test_rows_left_out_are_counted(tmp_path):
    (tmp_path / "a.gpx").write_text('<gpx><wpt lat="41.1" lon="-8.6"/></gpx>', "utf-8")
    findings = diagnose_traces(
        tmp_path, traces=traces("gpx"), cleaning=CLEANING, bbox=BBOX, roads=None
    )
    assert worst(findings, "rows").found.endswith("; left out: waypoint 1")
    assert "`traces.format: gpx` reads tracks" in worst(findings, "raw traces").remedy


def test_packed_files_are_estimated_by_what_they_hold(tmp_path):
    text = "\n".join([HEADER, *ROWS])
    (tmp_path / "train.csv.gz").write_bytes(gzip.compress(text.encode()))
    findings = diagnose_traces(tmp_path, traces=PORTO, cleaning=CLEANING, bbox=BBOX, roads=None)
    assert "about 20 rows (trips)" in worst(findings, "raw traces").found


def test_trips_far_from_roads_are_suspicious(tmp_path):
    rows = [porto_row("T", [-3000.0 - 60 * i for i in range(20)])]
    found = worst(check(tmp_path, rows, roads=grid_roads()), "distance to roads")
    assert found.level == "warning"
    assert found.found.startswith("0.0% (within 100 m: 0.0%")


def test_roads_that_are_not_there_cannot_be_compared(tmp_path):
    found = worst(check(tmp_path, ROWS, roads=grid_roads().clear()), "distance to roads")
    assert found.level == "warning"


def test_trips_of_few_points_are_suspicious(tmp_path):
    rows = [porto_row(f"T{i}", drive(2)) for i in range(5)]
    assert worst(check(tmp_path, rows), "points per trip").level == "warning"


@pytest.mark.parametrize("time", ["epoch_s"])
def test_milliseconds_taken_for_seconds_are_found(tmp_path, time):
    lon, lat = lon_lat(0)
    lines = [f"T,{1_372_636_800_000 + 15_000 * i},{lon},{lat}" for i in range(9)]
    (tmp_path / "points.csv").write_text("\n".join(["id,when,x,y", *lines]) + "\n", "utf-8")
    columns = {"trip": "id", "vehicle": None, "time": "when", "lon": "x", "lat": "y"}
    keys = {"pattern": "*.csv", "columns": columns, "time": time, "time_zone": None}
    findings = diagnose_traces(
        tmp_path, traces=traces("table", **keys), cleaning=CLEANING, bbox=BBOX, roads=None
    )
    found = worst(findings, "time span")
    assert found.level == "error"
    assert "`traces.time`" in found.remedy
    assert worst(findings, "time between points").level == "warning"


def test_a_file_without_points_is_an_error(tmp_path):
    findings = check(tmp_path, [row("T", line="[]")])
    assert worst(findings, "raw traces").level == "error"


def test_parquet_traces_are_looked_at_too(tmp_path):
    lon, lat = lon_lat(0)
    frame = pl.DataFrame({"id": ["T"] * 9, "when": [START + i for i in range(9)]})
    frame.with_columns(x=lon, y=lat).write_parquet(tmp_path / "points.parquet")
    columns = {"trip": "id", "vehicle": None, "time": "when", "lon": "x", "lat": "y"}
    keys = {"pattern": "*.parquet", "columns": columns, "time": "epoch_s", "time_zone": None}
    findings = diagnose_traces(
        tmp_path, traces=traces("table", **keys), cleaning=CLEANING, bbox=BBOX, roads=None
    )
    assert {f.level for f in findings} == {"info"}
