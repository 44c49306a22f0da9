"""Tables of points and pre-matched trips: mini files with the defects they are known for."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ParameterError, SourceError
from tests.trips.builders import traces
from tests.trips.raw_folders import read

# ---- table --------------------------------------------------------------------------------------

COLUMNS = {"trip": "id", "vehicle": "car", "time": "when", "lon": "x", "lat": "y"}


def table(folder: Path, *lines: str, time: str = "iso", zone: str | None = None, **columns):
    (folder / "points.csv").write_text("\n".join(lines) + "\n", "utf-8")
    settings = traces(
        "table", pattern="*.csv", columns=COLUMNS | columns, time=time, time_zone=zone
    )
    return read(folder, settings)


def test_a_table_of_points_is_gathered_into_trips_in_any_order(tmp_path):
    lines = [
        "y,x,id,when,car,note",
        "41.2,-8.7,7,2024-05-01T07:00:15Z,c1,second",
        "41.1,-8.6,7,2024-05-01T07:00:00Z,c1,first",
        '41.3,-8.8,8,2024-05-01T07:00:00Z,,"a, quoted, note"',
    ]
    trips, unread, *_ = table(tmp_path, *lines)
    assert unread.is_empty()
    assert trips["raw_trip_id"].to_list() == ["8", "c1/7"]
    assert trips["t"].to_list() == [[1714546800.0], [1714546800.0, 1714546815.0]]
    assert trips["lon"][1].to_list() == [-8.6, -8.7]
    assert trips["vehicle_id"].to_list() == [None, "c1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("7,c,2024-05-01T07:00:00Z,-8.6", "row_truncated"),
        ("7,c,2024-05-01T07:00:00Z,-8.6,41.1,extra", "row_truncated"),
        ("7,c,soon,-8.6,41.1", "time_unparsable"),
        ("7,c,2024-05-01T07:00:00Z,west,41.1", "row_unparsable"),
        (",c,2024-05-01T07:00:00Z,-8.6,41.1", "row_unparsable"),
        ("7,c,2024-05-01T07:00:00Z,NaN,41.1", "coordinate_not_finite"),
    ],
)
def test_a_table_names_a_broken_row(tmp_path, text, reason):
    good = "1,c,2024-05-01T07:00:00Z,-8.6,41.1"
    _, unread, _, rows = table(tmp_path, "id,car,when,x,y", good, text)
    assert unread.select("item_id", "reason").rows() == [("points.csv:3", reason)]
    assert rows == 2


ROW = "{},c,2024-05-01T07:00:00Z,24.9,60.1"


def test_an_unclosed_quote_and_a_quoted_line_end_spoil_their_own_rows_only(tmp_path):
    rows = [ROW.format(1), '"open,c,2024-05-01T07:00:00Z,24.9,60.1', ROW.format(2)]
    rows += ['"a', 'b",c,2024-05-01T07:00:00Z,24.9,60.1', ROW.format('"3"')]
    trips, unread, _, seen = table(tmp_path, "id,car,when,x,y", *rows)
    assert trips["raw_trip_id"].to_list() == ["c/1", "c/2", "c/3"]
    assert unread["item_id"].to_list() == ["points.csv:3", "points.csv:5", "points.csv:6"]
    assert set(unread["reason"]) == {"row_truncated"}
    assert seen == 6


def test_a_stray_line_end_in_a_quoted_row_spoils_that_row_only(tmp_path):
    trips, unread, *_ = table(tmp_path, "id,car,when,x,y", ROW.format('"a\rb'), ROW.format('"2"'))
    assert trips["raw_trip_id"].to_list() == ["c/2"]
    assert unread["item_id"].to_list() == ["points.csv:2"]


def test_a_field_may_be_of_any_length(tmp_path):
    long = "z" * 200_000
    trips, *_ = table(tmp_path, "id,car,when,x,y", ROW.format(f'"{long}"'), ROW.format(2))
    assert trips["raw_trip_id"].to_list() == ["c/2", f"c/{long}"]


def test_a_table_may_name_its_columns_as_the_reader_names_its_own(tmp_path):
    names = {"trip": "text", "vehicle": "line", "lon": "lat", "lat": "whole"}
    trips, *_ = table(tmp_path, "text,line,when,lat,whole", ROW.format(7), **names)
    assert trips.select("raw_trip_id", "vehicle_id").rows() == [("c/7", "c")]
    assert (trips["lon"][0][0], trips["lat"][0][0]) == (24.9, 60.1)


def test_a_stated_column_that_comes_twice_is_one_error(tmp_path):
    with pytest.raises(SourceError, match="expected one column id, found 2"):
        table(tmp_path, "id,car,when,x,y,id", ROW.format(7) + ",8")


def test_times_without_a_zone_need_a_stated_one(tmp_path):
    lines = ["id,car,when,x,y", "7,c,2024-05-01 10:00:00,24.9,60.1"]
    with pytest.raises(ParameterError, match=r"traces.time_zone: expected the IANA zone"):
        table(tmp_path, *lines)
    trips, *_ = table(tmp_path, *lines, zone="Europe/Helsinki")
    assert trips["t"].to_list() == [[1714546800.0]]


@pytest.mark.parametrize(("time", "factor"), [("epoch_s", 1), ("epoch_ms", 1000)])
def test_a_table_may_hold_epoch_times(tmp_path, time, factor):
    line = f"7,c,{1714546800 * factor},24.9,60.1"
    trips, *_ = table(tmp_path, "id,car,when,x,y", line, time=time)
    assert trips["t"].to_list() == [[1714546800.0]]


def test_a_table_without_a_stated_column_is_one_error(tmp_path):
    with pytest.raises(SourceError, match="expected the columns when"):
        table(tmp_path, "id,car,x,y", "7,c,1,2")


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_parquet_table_keeps_its_own_types(tmp_path, zone):
    frame = pl.DataFrame({"id": [7, 7], "when": ["2024-05-01T07:00:15", "2024-05-01T07:00:00"]})
    frame = frame.with_columns(
        pl.col("when").str.to_datetime(time_unit="us", time_zone=zone), x=24.9, y=60.1
    )
    frame.write_parquet(tmp_path / "points.parquet")
    columns = COLUMNS | {"vehicle": None}
    keys = {"pattern": "*.parquet", "columns": columns, "time": "iso"}
    trips, *_ = read(tmp_path, traces("table", **keys, time_zone="UTC" if zone is None else None))
    assert trips["t"].to_list() == [[1714546800.0, 1714546815.0]]
    assert trips["raw_trip_id"].to_list() == ["7"]


def test_a_file_that_is_not_parquet_is_one_error(tmp_path):
    (tmp_path / "points.parquet").write_text("id,when\n", "utf-8")
    keys = {"pattern": "*.parquet", "columns": COLUMNS, "time": "iso", "time_zone": None}
    with pytest.raises(SourceError, match="expected Parquet"):
        read(tmp_path, traces("table", **keys))


PARQUET = {"pattern": "*.parquet", "columns": COLUMNS, "time": "epoch_s", "time_zone": None}


def points(rows: int = 3) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": [7] * rows, "car": ["c"] * rows, "when": range(rows), "x": 24.9, "y": 60.1}
    )


def test_a_parquet_file_damaged_inside_is_one_error(tmp_path):
    path = tmp_path / "points[1].parquet"
    frame = points(5000).with_columns(x=pl.col("when") * 1e-5)
    frame.write_parquet(path, compression="zstd", use_pyarrow=False)
    read(tmp_path, traces("table", **PARQUET))
    damaged = bytearray(path.read_bytes())
    damaged[60:160] = b"\xff" * 100
    path.write_bytes(damaged)
    with pytest.raises(SourceError, match="expected Parquet") as fault:
        read(tmp_path, traces("table", **PARQUET))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    "column",
    [
        pl.concat_list("x").alias("x"),
        pl.struct("id").alias("id"),
        pl.lit(b"\xff\xfe").alias("id"),
        pl.concat_list("car").alias("car"),
    ],
)
def test_a_parquet_column_of_lists_structs_or_bytes_is_one_error(tmp_path, column):
    points().with_columns(column).write_parquet(tmp_path / "points.parquet")
    with pytest.raises(SourceError, match="expected text, numbers or times in the column"):
        read(tmp_path, traces("table", **PARQUET))


def test_a_parquet_table_may_use_a_column_twice_and_any_names(tmp_path):
    frame = points().rename({"id": "line", "car": "text", "when": "row"})
    frame.write_parquet(tmp_path / "points.PARQUET")
    columns = {"trip": "line", "vehicle": "line", "time": "row", "lon": "x", "lat": "y"}
    trips, *_ = read(tmp_path, traces("table", **PARQUET | {"columns": columns}))
    assert trips.select("raw_trip_id", "vehicle_id").rows() == [("7", "7")]


# ---- HOSER --------------------------------------------------------------------------------------

GEO = """geo_id,type,coordinates,highway,u,v
4,LineString,"[[0.0,0.0],[0.0,0.002]]",3,1,2
17,LineString,"[[0.0,0.002],[0.002,0.002],[0.002,0.003]]",3,2,3
9,LineString,"[[1.0,1.0],[1.0,1.1]]",3,8,9
"""
REL = "rel_id,type,origin_id,destination_id\n0,geo,4,17\n"


TRAJECTORIES = "mm_id,entity_id,traj_id,rid_list,time_list"


def hoser(
    folder: Path, *rows: str, header: str = TRAJECTORIES, geo: str = GEO, rel: str = REL
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int], int]:
    (folder / "roadmap.geo").write_text(geo, "utf-8")
    (folder / "roadmap.rel").write_text(rel, "utf-8")
    (folder / "traj.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return read(folder, traces("hoser", trajectories="traj*.csv", roadmap="roadmap.geo"))


TIMES = "2013-07-01T00:00:58Z,2013-07-01T00:01:13Z"


def test_prematched_trips_bring_their_roads_and_the_middles_of_these(tmp_path):
    trips, unread, _, rows = hoser(
        tmp_path, f'0,20000589,1626278,"4,17","{TIMES}"', "1,x,2,9,2013-07-01T00:00:58Z"
    )
    assert trips["edge_ids"].to_list() == [["4", "17"], ["9"]]
    assert trips["t"][0].to_list() == [1372636858.0, 1372636873.0]
    assert trips["raw_trip_id"].to_list() == ["20000589/0", "x/1"]
    assert trips["lat"][0].to_list() == pytest.approx([0.001, 0.002])
    assert trips["lon"][0].to_list() == pytest.approx([0.0, 0.0015])
    assert (rows, unread.height) == (2, 0)


@pytest.mark.parametrize(
    ("roads", "times", "reason"),
    [
        ("4,17,4", TIMES, "lists_unequal"),
        ("4,99", TIMES, "unknown_edge"),
        ("17,4", TIMES, "edges_not_adjacent"),
        ("4,__import__('os')", TIMES, "row_unparsable"),
        ("4,17", "2013-07-01T00:00:58Z,noon", "time_unparsable"),
    ],
)
def test_a_prematched_trip_with_a_fault_is_named(tmp_path, roads, times, reason):
    good = f'0,v,1,"4,17","{TIMES}"'
    trips, unread, *_ = hoser(tmp_path, good, f'1,v,1,"{roads}","{times}"')
    assert trips["raw_trip_id"].to_list() == ["v/0"]
    assert unread.select("item_id", "reason").rows() == [("traj.csv:3", reason)]


def test_a_prematched_row_cut_off_is_truncated(tmp_path):
    _, unread, *_ = hoser(tmp_path, '0,v,1,"4,17"')
    assert unread["reason"].to_list() == ["row_truncated"]


def test_prematched_files_need_their_road_map_and_columns(tmp_path):
    with pytest.raises(SourceError, match="expected the columns mm_id"):
        hoser(tmp_path, "0,1", header="mm_id,rid_list")
    (tmp_path / "roadmap.rel").unlink()
    with pytest.raises(SourceError, match="origin_id"):
        read(tmp_path, traces("hoser", trajectories="traj*.csv", roadmap="roadmap.geo"))


def test_a_prematched_row_without_an_id_or_with_a_quoted_line_end_is_named(tmp_path):
    rows = [f' ,v,1,"4,17","{TIMES}"', '1,v,1,"4,', f'17","{TIMES}"', f'2,v,1,"4,017","{TIMES}"']
    trips, unread, _, seen = hoser(tmp_path, *rows)
    assert trips["raw_trip_id"].to_list() == ["v/2"]
    assert trips["edge_ids"].to_list() == [["4", "17"]]
    assert unread["reason"].to_list() == ["row_unparsable", "row_truncated", "row_truncated"]
    assert seen == 4


def test_a_prematched_trip_may_be_of_any_length(tmp_path):
    roads, times = ",".join(["4"] * 90_000), ",".join(["2013-07-01T00:00:58Z"] * 90_000)
    rel = REL + "1,geo,4,4\n"
    trips, *_ = hoser(tmp_path, f'0,v,1,"{roads}","{times}"', rel=rel)
    assert trips["t"].list.len().to_list() == [90_000]


ROAD = "4,LineString,{},3,1,2"
EMPTY_GEO = "geo_id,type,coordinates,highway,u,v\n"


@pytest.mark.parametrize(
    ("coordinates", "found"),
    [
        ("", "none"),
        ("null", "null"),
        ("{}", "{}"),
        ("[]", r"\[\]"),
        ('"[[0,0],[NaN,1]]"', "NaN"),
        ('"[[0,0],[null,1]]"', "null"),
        ('"[[0,0,0],[1,1,1]]"', "0,0,0"),
        ('"[0,0]"', r"\[0,0\]"),
        ('"[[0,0]]"', r"\[\[0,0\]\]"),
        ('"[[0,0],[1]]"', r"\[1\]"),
        ("[" * 100_000, r"\[\["),
    ],
)
def test_a_road_without_a_line_is_one_error(tmp_path, coordinates, found):
    geo = EMPTY_GEO + ROAD.format(coordinates) + "\n"
    with pytest.raises(SourceError, match=rf"expected coordinates .*{found}"):
        hoser(tmp_path, geo=geo)


@pytest.mark.parametrize(
    ("geo", "rel", "message"),
    [
        (GEO.replace("\n9,", "\nzz,"), REL, "whole numbers from 0 in geo_id, found 'zz'"),
        (GEO.replace("\n9,", "\n-9,"), REL, "whole numbers from 0 in geo_id, found '-9'"),
        (GEO.replace("\n9,", "\n4294967296,"), REL, "in geo_id, found '4294967296'"),
        (GEO.replace("\n9,", "\n4,"), REL, "every geo_id once, found 4 again"),
        (GEO, REL + "1,geo,a,b", "in origin_id, found 'a'"),
        (GEO, REL + "1,geo,4", "in destination_id, found None"),
        (GEO[:60], REL, "expected a CSV table"),
    ],
)
def test_a_fault_of_the_road_map_is_one_error_of_one_line(tmp_path, geo, rel, message):
    with pytest.raises(SourceError, match=message) as fault:
        hoser(tmp_path, geo=geo, rel=rel)
    assert "\n" not in str(fault.value)
