"""How strangers write the same points: other dates, separators, decimals, geometry, gzip, ids."""

import gzip
import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from pipeline.errors import ParameterError, SourceError
from pipeline.trips.readers.trip_ids import of_vehicle
from tests.trips.builders import traces
from tests.trips.raw_folders import HEADER, read, row

COLUMNS = {"trip": "id", "vehicle": "car", "time": "when", "lon": "x", "lat": "y"}
POINT = {"trip": "id", "vehicle": None, "time": "when", "point": "geom"}
SEVEN = 1714546800.0  # 2024-05-01T07:00:00Z


def table(folder: Path, *lines: str, name: str = "points.csv", **keys):
    text = "\n".join(lines) + "\n"
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text, "utf-8")
    keys = {"pattern": "*.csv", "columns": COLUMNS, "time": "iso", "time_zone": None} | keys
    return read(folder, traces("table", **keys))


# ---- ids ----------------------------------------------------------------------------------------


def test_ids_that_restart_with_each_vehicle_are_trips_of_their_own(tmp_path):
    rows = [f"0,c{car},2024-05-01T07:00:0{i}Z,24.9,60.1" for car in (1, 2) for i in range(3)]
    trips, *_ = table(tmp_path, "id,car,when,x,y", *rows)
    assert trips.select("raw_trip_id", "vehicle_id").rows() == [("c1/0", "c1"), ("c2/0", "c2")]
    assert trips["t"].list.len().to_list() == [3, 3]


def test_an_id_depends_on_its_own_row_alone(tmp_path):
    one = "5,c1,2024-05-01T07:00:00Z,24.9,60.1"
    alone, *_ = table(tmp_path, "id,car,when,x,y", one)
    more, *_ = table(tmp_path, "id,car,when,x,y", one, one.replace("c1", "c2"))
    assert alone["raw_trip_id"][0] == more["raw_trip_id"][0] == "c1/5"


def test_no_two_pairs_of_vehicle_and_trip_share_an_id():
    names = [None, "1", "11", "1/1", "1%2F1", "%", "/", "1/"]
    pairs = [(vehicle, trip) for vehicle in names for trip in names if trip]
    frame = pl.DataFrame(pairs, schema={"v": pl.String, "t": pl.String}, orient="row")
    ids = frame.select(of_vehicle(pl.col("v"), pl.col("t"))).to_series()
    assert ids.n_unique() == len(pairs)


def test_an_id_that_is_the_vehicle_is_not_said_twice(tmp_path):
    columns = COLUMNS | {"trip": "car"}
    trips, *_ = table(
        tmp_path, "id,car,when,x,y", "0,c1,2024-05-01T07:00:00Z,24.9,60.1", columns=columns
    )
    assert trips.select("raw_trip_id", "vehicle_id").rows() == [("c1", "c1")]


def test_geolife_users_stay_apart_wherever_their_files_lie(tmp_path):
    head = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255\n0\n"
    for user in ("u1", "u2"):
        (tmp_path / user).mkdir()
        point = "39.9,116.3,0,-777,39298.1,2007-08-04,03:30:32\n"
        (tmp_path / user / "1.plt").write_text(head + point, "utf-8")
    trips, *_ = read(tmp_path, traces("geolife", modes=["car"], unlabelled="keep"))
    assert trips["raw_trip_id"].to_list() == ["u1/1", "u2/1"]


def test_prematched_ids_that_restart_with_each_vehicle_stay_apart(tmp_path):
    (tmp_path / "roadmap.geo").write_text('geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n')
    (tmp_path / "roadmap.rel").write_text("origin_id,destination_id\n")
    rows = [f"0,{car},1,4,2013-07-01T00:00:58Z" for car in ("a", "b")]
    head = "mm_id,entity_id,traj_id,rid_list,time_list"
    (tmp_path / "traj.csv").write_text("\n".join([head, *rows]) + "\n")
    keys = {"trajectories": "traj*.csv", "roadmap": "roadmap.geo"}
    trips, *_ = read(tmp_path, traces("hoser", **keys))
    assert trips["raw_trip_id"].to_list() == ["a/0", "b/0"]


# ---- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%d/%m/%Y %H:%M:%S", "01/05/2024 10:00:00"),
        ("%d/%m/%Y %H:%M:%S", "1/5/2024 10:00:00"),
        ("%m/%d/%Y %I:%M:%S %p", "05/01/2024 10:00:00 AM"),
        ("%d.%m.%Y %H:%M:%S.%f", "01.05.2024 10:00:00.000"),
        ("%d %b %Y %H:%M", "01 May 2024 10:00"),
        ("%Y%m%d%H%M%S", "20240501100000"),
        ("%F %T", "2024-05-01 10:00:00"),
        ("%d/%m/%Y %H:%M:%S%z", "01/05/2024 09:00:00+0200"),
        ("%d/%m/%Y %H:%M:%S%z", "01/05/2024 07:00:00Z"),
    ],
)
def test_times_may_be_written_as_a_pattern_says(tmp_path, pattern, text):
    trips, unread, *_ = table(
        tmp_path, "id,car,when,x,y", f"7,c,{text},24.9,60.1", time=pattern,
        time_zone="Europe/Helsinki",
    )  # fmt: skip
    assert unread.is_empty()
    assert trips["t"].to_list() == [[SEVEN]]


def test_a_fraction_of_a_second_is_read(tmp_path):
    line = "7,c,01/05/2024 07:00:00.250,24.9,60.1"
    keys = {"time": "%d/%m/%Y %H:%M:%S.%f", "time_zone": "UTC"}
    trips, *_ = table(tmp_path, "id,car,when,x,y", line, **keys)
    assert trips["t"].to_list() == [[SEVEN + 0.25]]


def test_a_time_that_does_not_fit_its_pattern_costs_its_own_row(tmp_path):
    lines = ["7,c,01/05/2024 07:00:00,24.9,60.1", "7,c,13/13/2024 07:00:00,24.9,60.1"]
    keys = {"time": "%d/%m/%Y %H:%M:%S", "time_zone": "UTC"}
    _, unread, *_ = table(tmp_path, "id,car,when,x,y", *lines, **keys)
    assert unread.select("item_id", "reason").rows() == [("points.csv:3", "time_unparsable")]


def test_a_pattern_without_a_zone_needs_a_stated_one(tmp_path):
    line = "7,c,01/05/2024 07:00:00,24.9,60.1"
    with pytest.raises(ParameterError, match=r"traces.time_zone: expected the IANA zone"):
        table(tmp_path, "id,car,when,x,y", line, time="%d/%m/%Y %H:%M:%S")


@pytest.mark.parametrize(
    "pattern", ["", "epoch", "%d/%m/%Y", "%H:%M:%S", "%d/%m/%Y %Q", "%F %T%f", "%I:%M %F", "%"]
)
def test_a_pattern_that_names_no_moment_is_refused(pattern):
    with pytest.raises(Exception, match=r"time: expected epoch_s, epoch_ms, iso or a pattern"):
        traces("table", pattern="*.csv", columns=COLUMNS, time=pattern, time_zone=None)


# ---- separators, decimals, gzip -----------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("car", ["c", '"a, quoted; one"'])
def test_fields_may_be_separated_otherwise(tmp_path, delimiter, car):
    fields = (["id", "car", "when", "x", "y"], ["7", car, "2024-05-01T07:00:00Z", "24.9", "60.1"])
    lines = [delimiter.join(row) for row in fields]
    trips, unread, *_ = table(tmp_path, *lines, delimiter=delimiter)
    assert unread.is_empty()
    assert trips.select("vehicle_id", "lon", "lat").rows() == [(car.strip('"'), [24.9], [60.1])]


def test_blanks_beside_the_separators_are_no_part_of_names_or_values(tmp_path):
    lines = ["id, car, when, x, y", "7, c, 2024-05-01T07:00:00Z, 24.9, 60.1"]
    trips, unread, *_ = table(tmp_path, *lines)
    assert unread.is_empty()
    assert trips.select("raw_trip_id", "lon").rows() == [("c/7", [24.9])]


def test_a_decimal_comma_is_read(tmp_path):
    lines = ["id;car;when;x;y", "7;c;1714546800,5;24,94;60,17", "7;c;1714546801,5;24.95;60,17"]
    keys = {"delimiter": ";", "decimal": ",", "time": "epoch_s"}
    trips, unread, *_ = table(tmp_path, *lines, **keys)
    assert trips.select("t", "lon", "lat").rows() == [([SEVEN + 0.5], [24.94], [60.17])]
    # With a decimal comma a point separates thousands: no coordinate.
    assert unread.select("item_id", "reason").rows() == [("points.csv:3", "row_unparsable")]


def test_a_wrong_delimiter_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"`traces.delimiter` \(','\)"):
        table(tmp_path, "id;car;when;x;y", "7;c;2024-05-01T07:00:00Z;24.9;60.1")


def test_a_packed_table_reads_as_the_file_it_holds(tmp_path):
    lines = ["id,car,when,x,y", "7,c,2024-05-01T07:00:00Z,24.9,60.1"]
    trips, unread, *_ = table(tmp_path, *lines, "7,c", name="points.csv.gz")
    assert trips["raw_trip_id"].to_list() == ["c/7"]
    assert unread["item_id"].to_list() == ["points.csv.gz:3"]


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-9], lambda b: b[9:], lambda b: b[:40] + b"x" * 40]
)
def test_a_damaged_packed_file_is_one_error(tmp_path, damage):
    lines = [HEADER, *(row(f"T{i}") for i in range(200))]
    packed = gzip.compress("\n".join(lines).encode(), mtime=0)
    (tmp_path / "train.csv.gz").write_bytes(damage(packed))
    with pytest.raises(SourceError, match="expected a whole gzip file"):
        read(tmp_path, traces("porto", interval_s=15))


CABS = "37.75 -122.39 1 1213000000\n37.76 -122.39 1 1213000060\n"
PLT = (
    "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255\n0\n"
    "39.9,116.3,0,-777,39298.1,2007-08-04,03:30:32\n"
)
GPX = (
    '<gpx><trk><trkseg><trkpt lat="60.17" lon="24.94"><time>2024-05-01T07:00:00Z</time></trkpt>'
    "</trkseg></trk></gpx>"
)
PACKED = {
    "porto": ("train.csv", f"{HEADER}\n{row()}\n", traces("porto", interval_s=15)),
    "cabspotting": ("new_a.txt", CABS, traces("cabspotting", flip_reports=0, run_gap_s=300.0)),
    "tdrive": (
        "1.txt", "1,2008-02-02 15:36:08,116.5,39.9\n", traces("tdrive", time_zone="Asia/Shanghai"),
    ),
    "geolife": ("u/Trajectory/1.plt", PLT, traces("geolife", modes=["car"], unlabelled="keep")),
    "gpx": ("a.gpx", GPX, traces("gpx")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "settings"), PACKED.values(), ids=PACKED)
def test_every_format_is_read_packed_as_it_is_unpacked(tmp_path, name, text, settings):
    plain, packed = tmp_path / "plain" / name, tmp_path / "packed" / f"{name}.gz"
    for path, content in ((plain, text.encode()), (packed, gzip.compress(text.encode()))):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    trips, _, excluded, rows = read(tmp_path / "plain", settings)
    again, _, left_out, seen = read(tmp_path / "packed", settings)
    assert trips.height == 1
    assert again.equals(trips)
    assert (left_out, seen) == (excluded, rows)


def test_an_empty_packed_file_of_tdrive_is_counted(tmp_path):
    (tmp_path / "1.txt.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "2.txt").write_text("2,2008-02-02 15:36:08,116.5,39.9\n", "utf-8")
    _, _, excluded, _ = read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))
    assert excluded == {"empty_file": 1}


# ---- positions in one column --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["POINT (24.94 60.17)", "point(24.94 60.17)", "POINT Z (24.94 60.17 3)",
     "SRID=4326;POINT(24.94 60.17)"],
)  # fmt: skip
def test_positions_may_be_wkt(tmp_path, text):
    trips, unread, *_ = table(
        tmp_path, "id,when,geom", f"7,2024-05-01T07:00:00Z,{text}", columns=POINT
    )
    assert unread.is_empty()
    assert trips.select("lon", "lat").rows() == [([24.94], [60.17])]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("POINT EMPTY", "row_unparsable"),
        ("LINESTRING (1 1 2 2)", "row_unparsable"),
        ("POINT (24.94", "row_unparsable"),
        ("SRID=3857;POINT(24.94 60.17)", "row_unparsable"),
        ("", "row_unparsable"),
        ("POINT (24.94 inf)", "coordinate_not_finite"),
    ],
)
def test_wkt_that_is_no_position_costs_its_own_row(tmp_path, text, reason):
    lines = ["7,2024-05-01T07:00:00Z,POINT (24.94 60.17)", f"7,2024-05-01T07:00:01Z,{text}"]
    _, unread, *_ = table(tmp_path, "id,when,geom", *lines, columns=POINT)
    assert unread.select("item_id", "reason").rows() == [("points.csv:3", reason)]


def geoparquet(path: Path, geometry: pa.Array, **column) -> None:
    frame = pa.table({"id": ["7", "7"], "when": [SEVEN, SEVEN + 1], "geom": geometry})
    geo = {"version": "1.1.0", "primary_column": "geom", "columns": {"geom": column}}
    pq.write_table(frame.replace_schema_metadata({"geo": json.dumps(geo)}), path)


WKB = pa.array(shapely.to_wkb(shapely.points([[24.94, 60.17], [24.95, 60.18]])), pa.binary())
NATIVE = pa.array([{"x": 24.94, "y": 60.17}, {"x": 24.95, "y": 60.18}])
GEO = {"pattern": "*.parquet", "columns": POINT, "time": "epoch_s", "time_zone": None}


@pytest.mark.parametrize(("geometry", "encoding"), [(WKB, "WKB"), (NATIVE, "point")])
def test_positions_may_be_the_geometry_of_a_geoparquet_file(tmp_path, geometry, encoding):
    crs = {"id": {"authority": "EPSG", "code": 4326}}
    geoparquet(tmp_path / "p.parquet", geometry, encoding=encoding, crs=crs)
    trips, unread, *_ = read(tmp_path, traces("table", **GEO))
    assert unread.is_empty()
    assert trips.select("lon", "lat").rows() == [([24.94, 24.95], [60.17, 60.18])]


def test_a_geometry_that_is_no_point_costs_its_own_row(tmp_path):
    shapes = [shapely.Point(24.94, 60.17), shapely.LineString([[0, 0], [1, 1]])]
    geoparquet(tmp_path / "p.parquet", pa.array(shapely.to_wkb(shapes), pa.binary()))
    _, unread, *_ = read(tmp_path, traces("table", **GEO))
    assert unread.select("item_id", "reason").rows() == [("p.parquet:2", "row_unparsable")]


def test_a_geoparquet_file_in_metres_is_one_error(tmp_path):
    crs = {"name": "WGS 84 / UTM 35N", "id": {"authority": "EPSG", "code": 32635}}
    geoparquet(tmp_path / "p.parquet", WKB, encoding="WKB", crs=crs)
    with pytest.raises(SourceError, match=r"in WGS 84 \(EPSG:4326\), found EPSG:32635"):
        read(tmp_path, traces("table", **GEO))


def test_columns_name_lon_and_lat_or_a_point():
    for columns in (COLUMNS | {"point": "geom"}, COLUMNS | {"lat": None}, POINT | {"point": None}):
        with pytest.raises(Exception, match="expected columns for lon and lat, or one for point"):
            traces("table", **GEO | {"columns": columns})


# ---- GPX and zones ------------------------------------------------------------------------------

ROUTE = '<rte><rtept lat="60.1" lon="24.9"/><rtept lat="60.2" lon="24.9"/></rte>'
PLACE = '<wpt lat="60.1" lon="24.9"><name>home</name></wpt>'


def gpx(folder: Path, zone: str | None = None, **texts: str):
    for name, text in texts.items():
        (folder / f"{name}.gpx").write_text(text, "utf-8")
    return read(folder, traces("gpx", time_zone=zone))


def test_routes_and_waypoints_are_counted_as_left_out(tmp_path):
    track = GPX.removeprefix("<gpx>").removesuffix("</gpx>")
    trips, unread, excluded, rows = gpx(
        tmp_path,
        drive=f"<gpx>{PLACE}{ROUTE}{track}</gpx>",
        places=f"<gpx>{PLACE}</gpx>",
        plan=f"<gpx>{ROUTE}</gpx>",
        nothing="<gpx></gpx>",
    )
    assert trips["raw_trip_id"].to_list() == ["drive-1-1"]
    assert unread.is_empty()
    assert excluded == {"waypoint": 2, "route_point": 4, "empty_file": 1}
    assert rows == 7


def test_gpx_times_without_a_zone_need_a_stated_one(tmp_path):
    text = GPX.replace("07:00:00Z", "10:00:00")
    with pytest.raises(ParameterError, match=r"traces.time_zone: expected the IANA zone"):
        gpx(tmp_path, drive=text)
    assert gpx(tmp_path, "Europe/Helsinki", drive=text)[0]["t"].to_list() == [[SEVEN]]


def test_prematched_times_without_a_zone_need_a_stated_one(tmp_path):
    (tmp_path / "roadmap.geo").write_text('geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n')
    (tmp_path / "roadmap.rel").write_text("origin_id,destination_id\n")
    head = "mm_id,entity_id,traj_id,rid_list,time_list"
    (tmp_path / "traj.csv").write_text(f"{head}\n0,a,1,4,2024-05-01T10:00:00\n")
    keys = {"trajectories": "traj*.csv", "roadmap": "roadmap.geo"}
    with pytest.raises(ParameterError, match=r"traces.time_zone: expected the IANA zone"):
        read(tmp_path, traces("hoser", **keys))
    trips, *_ = read(tmp_path, traces("hoser", **keys, time_zone="Europe/Helsinki"))
    assert trips["t"].to_list() == [[SEVEN]]
