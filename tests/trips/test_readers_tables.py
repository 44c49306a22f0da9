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
    assert trips["raw_trip_id"].to_list() == ["7", "8"]
    assert trips["t"].to_list() == [[1714546800.0, 1714546815.0], [1714546800.0]]
    assert trips["lon"][0].to_list() == [-8.6, -8.7]
    assert trips["vehicle_id"].to_list() == ["c1", None]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("7,c,2024-05-01T07:00:00Z,-8.6", "row_truncated"),
        ("7,c,2024-05-01T07:00:00Z,-8.6,41.1,extra", "row_truncated"),
        ("7,c,soon,-8.6,41.1", "row_unparsable"),
        (",c,2024-05-01T07:00:00Z,-8.6,41.1", "row_unparsable"),
        ("7,c,2024-05-01T07:00:00Z,NaN,41.1", "coordinate_not_finite"),
    ],
)
def test_a_table_names_a_broken_row(tmp_path, text, reason):
    good = "1,c,2024-05-01T07:00:00Z,-8.6,41.1"
    _, unread, _, rows = table(tmp_path, "id,car,when,x,y", good, text)
    assert unread.select("item_id", "reason").rows() == [("points.csv:3", reason)]
    assert rows == 2


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


# ---- HOSER --------------------------------------------------------------------------------------

GEO = """geo_id,type,coordinates,highway,u,v
4,LineString,"[[0.0,0.0],[0.0,0.002]]",3,1,2
17,LineString,"[[0.0,0.002],[0.002,0.002],[0.002,0.003]]",3,2,3
9,LineString,"[[1.0,1.0],[1.0,1.1]]",3,8,9
"""
REL = "rel_id,type,origin_id,destination_id\n0,geo,4,17\n"


def hoser(folder: Path, *rows: str, header: str = "mm_id,entity_id,traj_id,rid_list,time_list"):
    (folder / "roadmap.geo").write_text(GEO, "utf-8")
    (folder / "roadmap.rel").write_text(REL, "utf-8")
    (folder / "traj.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return read(folder, traces("hoser", trajectories="traj*.csv", roadmap="roadmap.geo"))


TIMES = "2013-07-01T00:00:58Z,2013-07-01T00:01:13Z"


def test_prematched_trips_bring_their_roads_and_the_middles_of_these(tmp_path):
    trips, unread, _, rows = hoser(
        tmp_path, f'0,20000589,1626278,"4,17","{TIMES}"', "1,x,2,9,2013-07-01T00:00:58Z"
    )
    assert trips["edge_ids"].to_list() == [["4", "17"], ["9"]]
    assert trips["t"][0].to_list() == [1372636858.0, 1372636873.0]
    assert trips["raw_trip_id"].to_list() == ["0", "1"]
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
        ("4,17", "2013-07-01T00:00:58Z,noon", "row_unparsable"),
    ],
)
def test_a_prematched_trip_with_a_fault_is_named(tmp_path, roads, times, reason):
    good = f'0,v,1,"4,17","{TIMES}"'
    trips, unread, *_ = hoser(tmp_path, good, f'1,v,1,"{roads}","{times}"')
    assert trips["raw_trip_id"].to_list() == ["0"]
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
