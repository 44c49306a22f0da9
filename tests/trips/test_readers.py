"""Readers: a mini file of each format with the defects it is known for."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ParameterError, SourceError
from pipeline.trips.readers.batch import RAW_COLUMNS, UNREAD_REASONS, line_blocks
from pipeline.trips.readers.formats import read_batches
from pipeline.trips.readers.times import epoch_seconds
from tests.trips.builders import traces

HEADER = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE",'
    '"MISSING_DATA","POLYLINE"'
)


def row(trip_id="T1", taxi="20000589", time="1372636858", missing="False", line="[[-8.6,41.1]]"):
    return f'"{trip_id}","C","","","{taxi}","{time}","A","{missing}","{line}"'


def read(folder: Path, settings):
    batches = list(read_batches(settings, folder))
    trips = pl.concat([batch.trips for batch in batches])
    assert trips.schema == RAW_COLUMNS
    unread = pl.concat([batch.unread for batch in batches])
    excluded: dict[str, int] = {}
    for batch in batches:
        for name, count in batch.excluded.items():
            excluded[name] = excluded.get(name, 0) + count
    return trips.sort("raw_trip_id"), unread, excluded, sum(batch.rows for batch in batches)


def porto(folder: Path, *rows: str, header: str = HEADER, **keys):
    (folder / "train.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return read(folder, traces("porto", interval_s=15, **keys))


# ---- Porto --------------------------------------------------------------------------------------


def test_porto_reads_lon_first_and_counts_time_from_the_start(tmp_path):
    trips, unread, _, rows = porto(
        tmp_path, row(line="[[-8.618643,41.141412],[-8.618499,41.141376],[-8.62,41.15]]")
    )
    assert trips.to_dicts() == [
        {
            "raw_trip_id": "T1",
            "vehicle_id": "20000589",
            "flag": None,
            "t": [1372636858.0, 1372636873.0, 1372636888.0],
            "lon": [-8.618643, -8.618499, -8.62],
            "lat": [41.141412, 41.141376, 41.15],
            "edge_ids": [],
        }
    ]
    assert unread.is_empty()
    assert rows == 1


def test_porto_keeps_empty_trips_and_the_flag_of_missing_data(tmp_path):
    trips, *_ = porto(tmp_path, row("A", line="[]"), row("B", missing="True"))
    assert trips["t"].list.len().to_list() == [0, 1]
    assert trips["flag"].to_list() == [None, "missing_data"]


def test_porto_reads_files_saved_again_without_quotes_and_with_blanks(tmp_path):
    plain = 'T1,C,,,20000589,1372636858,A,False,"[[-8.6, 41.1], [-8.7, 41.2]]"\r'
    trips, unread, *_ = porto(tmp_path, plain, header=HEADER.replace('"', "") + "\r")
    assert trips["lon"].to_list() == [[-8.6, -8.7]]
    assert unread.is_empty()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"T2","C","","","2000', "row_truncated"),
        ('"T2","C","","","20000589","1372636858","A","False","[[-8.6,41.1],[-8.', "row_truncated"),
        (row("T2", line="[[-8.6,41.1],[NaN,41.1]]"), "coordinate_not_finite"),
        (row("T2", line="[[-8.6,41.1],[Infinity,41.1]]"), "coordinate_not_finite"),
        (row("T2", line="[[-8.6,41.1],[-8.6]]"), "row_unparsable"),
        (row("T2", line="[[-8.6,41.1,3.0]]"), "row_unparsable"),
        (row("T2", line="[[-8.6;41.1]]"), "row_unparsable"),
        (row("T2", time="yesterday"), "row_unparsable"),
        (row("", line="[]"), "row_unparsable"),
        (row("T2", missing="maybe"), "row_unparsable"),
    ],
)
def test_porto_names_a_broken_row_and_reads_on(tmp_path, text, reason):
    trips, unread, _, rows = porto(tmp_path, row("T1"), text, row("T3"))
    assert trips["raw_trip_id"].to_list() == ["T1", "T3"]
    assert unread["item_id"].to_list() == ["train.csv:3"]
    assert unread["reason"].to_list() == [reason]
    assert unread["detail"][0] == text[:120]
    assert rows == 3


def test_porto_reads_the_same_in_blocks_of_any_size(tmp_path):
    rows = [row(f"T{i}", line="[" + ",".join(["[-8.6,41.1]"] * i) + "]") for i in range(30)]
    whole, *_ = porto(tmp_path, *rows, block_bytes=1 << 20)
    small, *_ = porto(tmp_path, *rows, block_bytes=64)
    assert small.equals(whole)
    assert whole.height == 30


def test_porto_refuses_other_columns(tmp_path):
    with pytest.raises(SourceError, match="expected the columns TRIP_ID,CALL_TYPE"):
        porto(tmp_path, row(), header='"ID","POLYLINE"')


def test_an_empty_file_is_one_error(tmp_path):
    (tmp_path / "train.csv").write_bytes(b"")
    with pytest.raises(SourceError, match="found an empty file"):
        read(tmp_path, traces("porto", interval_s=15))


def test_a_binary_file_is_one_error(tmp_path):
    (tmp_path / "train.csv").write_bytes(b"PK\x03\x04\x00\x00\x00")
    with pytest.raises(SourceError, match="found binary bytes"):
        read(tmp_path, traces("porto", interval_s=15))


def test_a_folder_without_files_of_the_format_is_one_error(tmp_path):
    with pytest.raises(SourceError, match=r"named \*.csv, found none"):
        read(tmp_path, traces("porto", interval_s=15))
    with pytest.raises(SourceError, match="expected the folder"):
        read(tmp_path / "nowhere", traces("porto", interval_s=15))


def test_a_line_that_is_not_utf8_is_one_broken_line(tmp_path):
    rows = [row("T1").encode(), b'"T\xff2",caf\xe9', row("T3").encode()]
    (tmp_path / "train.csv").write_bytes(b"\n".join([HEADER.encode(), *rows]))
    trips, unread, *_ = read(tmp_path, traces("porto", interval_s=15))
    assert trips["raw_trip_id"].to_list() == ["T1", "T3"]
    assert unread["reason"].to_list() == ["row_truncated"]


def test_blank_lines_keep_their_number(tmp_path):
    (tmp_path / "x.txt").write_text("a\n\n\nb", "utf-8")
    lines = pl.concat(list(line_blocks(tmp_path / "x.txt", 2)))
    assert lines.to_dicts() == [{"line": 1, "text": "a"}, {"line": 4, "text": "b"}]


def test_swapped_coordinates_are_exchanged_when_the_config_says_so(tmp_path):
    trips, *_ = porto(tmp_path, row(line="[[41.1,-8.6]]"), coordinate_order="swapped")
    assert (trips["lon"][0][0], trips["lat"][0][0]) == (-8.6, 41.1)


# ---- cabspotting --------------------------------------------------------------------------------


def cabs(folder: Path, *lines: str, flips: int = 0, gap: float = 300.0):
    (folder / "_cabs.txt").write_text('<cab id="abboip" updates="5"/>\n', "utf-8")
    (folder / "new_abboip.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return read(folder, traces("cabspotting", flip_reports=flips, run_gap_s=gap))


def fix(t: int, busy: int = 1) -> str:
    return f"37.75{t % 10} -122.39 {busy} {1_213_000_000 + t}"


def test_cabspotting_is_newest_first_and_lat_first_and_occupied_runs_are_trips(tmp_path):
    lines = [fix(300), fix(240), fix(180, 0), fix(120), fix(60), fix(0, 0)]
    trips, unread, excluded, rows = cabs(tmp_path, *lines)
    assert trips["raw_trip_id"].to_list() == ["abboip-1213000060", "abboip-1213000240"]
    assert trips["t"].to_list() == [[1213000060.0, 1213000120.0], [1213000240.0, 1213000300.0]]
    assert trips["vehicle_id"].unique().to_list() == ["abboip"]
    assert trips["lon"][0][0] == -122.39
    assert excluded == {"unoccupied": 2}
    assert (rows, unread.height) == (6, 0)


def test_cabspotting_in_rising_order_reads_the_same(tmp_path):
    lines = [fix(t, int(t % 180 > 0)) for t in range(0, 900, 60)]
    down, *_ = cabs(tmp_path, *lines[::-1])
    up, *_ = cabs(tmp_path, *lines)
    assert up.equals(down)


def test_a_single_flip_of_occupancy_is_noise(tmp_path):
    lines = [fix(0), fix(60), fix(120, 0), fix(180), fix(240)]
    trips, _, excluded, _ = cabs(tmp_path, *lines, flips=1)
    assert trips["t"].list.len().to_list() == [5]
    assert excluded == {"unoccupied": 0}
    assert cabs(tmp_path, *lines, flips=0)[0].height == 2


def test_alternating_reports_are_not_all_turned_round(tmp_path):
    lines = [fix(60 * i, busy) for i, busy in enumerate([0, 0, 1, 0, 1, 0, 0])]
    assert cabs(tmp_path, *lines, flips=1)[0].height == 2


def test_a_long_pause_ends_an_occupied_run(tmp_path):
    assert cabs(tmp_path, fix(0), fix(60), fix(600), fix(660))[0].height == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("37.75 -122.39 1", "row_truncated"),
        ("37.75 west 1 1213000000", "row_unparsable"),
        ("37.75 -122.39 2 1213000000", "row_unparsable"),
        ("nan -122.39 1 1213000000", "coordinate_not_finite"),
    ],
)
def test_cabspotting_names_a_broken_row(tmp_path, text, reason):
    _, unread, *_ = cabs(tmp_path, fix(0), text, fix(60))
    assert unread["item_id"].to_list() == ["new_abboip.txt:2"]
    assert unread["reason"].to_list() == [reason]


def test_a_cab_file_of_another_format_is_one_error(tmp_path):
    with pytest.raises(SourceError, match="expected lines `lat lon occupancy unix_time`"):
        cabs(tmp_path, "1,2008-02-02 15:36:08,116.51172,39.92123")


# ---- T-Drive ------------------------------------------------------------------------------------


def test_tdrive_is_lon_first_in_beijing_time(tmp_path):
    (tmp_path / "1.txt").write_text(
        "1,2008-02-02 15:36:08,116.51172,39.92123\n1,2008-02-02 15:46:08,116.51,39.93\n", "utf-8"
    )
    (tmp_path / "2.txt").write_bytes(b"")
    trips, _, excluded, rows = read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))
    # 15:36:08 in Beijing is 07:36:08 UTC; 2008-02-02 00:00 UTC is 1201910400.
    first = 1201910400 + 7 * 3600 + 36 * 60 + 8
    assert trips["t"].to_list() == [[first, first + 600]]
    assert (trips["lon"][0][0], trips["lat"][0][0]) == (116.51172, 39.92123)
    assert trips["vehicle_id"].to_list() == trips["raw_trip_id"].to_list() == ["1"]
    assert (excluded, rows) == ({"empty_file": 1}, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2008-02-02 15:36:08,116.5", "row_truncated"),
        ("1,2008-02-30 15:36:08,116.5,39.9", "row_unparsable"),
        ("1,2008-02-02 15:36:08,116.5,inf", "coordinate_not_finite"),
    ],
)
def test_tdrive_names_a_broken_row(tmp_path, text, reason):
    good = "1,2008-02-02 15:36:08,116.51172,39.92123"
    (tmp_path / "1.txt").write_text(f"{good}\n{text}\n", "utf-8")
    _, unread, *_ = read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))
    assert unread.select("item_id", "reason").rows() == [("1.txt:2", reason)]


def test_an_unknown_zone_is_an_error_of_the_config(tmp_path):
    (tmp_path / "1.txt").write_text("1,2008-02-02 15:36:08,116.5,39.9\n", "utf-8")
    with pytest.raises(ParameterError, match=r"traces.time_zone.*Asia/Peking2"):
        read(tmp_path, traces("tdrive", time_zone="Asia/Peking2"))


# ---- GeoLife ------------------------------------------------------------------------------------

PLT_HEAD = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255\n0\n"


def plt(folder: Path, *times: str, labels: str | None = None):
    user = folder / "Data" / "010"
    (user / "Trajectory").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"39.90{i},116.3,0,-777,39298.1,2007-08-04,{t}\n" for i, t in enumerate(times))
    (user / "Trajectory" / "20070804033032.plt").write_text(PLT_HEAD + lines, "utf-8")
    if labels:
        text = "Start Time\tEnd Time\tTransportation Mode\n" + labels
        (user / "labels.txt").write_text(text, "utf-8")


GEOLIFE = {"modes": ["car", "taxi"], "unlabelled": "keep"}
# 2007-08-04 00:00:00 UTC
AUGUST = 1186185600.0


def test_geolife_is_lat_first_in_gmt(tmp_path):
    plt(tmp_path, "03:30:32", "03:30:37")
    trips, *_ = read(tmp_path, traces("geolife", **GEOLIFE))
    assert trips["raw_trip_id"].to_list() == ["010-20070804033032"]
    assert trips["t"].to_list() == [[AUGUST + 12632, AUGUST + 12637]]
    assert (trips["lon"][0][0], trips["lat"][0][0]) == (116.3, 39.9)


def test_geolife_keeps_the_stretches_of_the_modes_asked_for(tmp_path):
    labels = (
        "2007/08/04 03:00:00\t2007/08/04 03:10:00\tbus\n"
        "2007/08/04 03:20:00\t2007/08/04 03:30:00\ttaxi\n"
        "2007/08/04 03:40:00\t2007/08/04 03:50:00\tcar\n"
    )
    times = ["03:05:00", "03:20:00", "03:25:00", "03:35:00", "03:45:00"]
    plt(tmp_path, *times, labels=labels)
    trips, _, excluded, rows = read(tmp_path, traces("geolife", **GEOLIFE))
    assert trips["raw_trip_id"].to_list() == [
        f"010-20070804033032-{int(AUGUST) + 12000}",
        f"010-20070804033032-{int(AUGUST) + 13200}",
    ]
    assert trips["t"].list.len().to_list() == [2, 1]
    assert excluded == {"other_mode": 1, "unlabelled": 1}
    assert rows == 5


def test_geolife_can_skip_users_without_labels(tmp_path):
    plt(tmp_path, "03:30:32")
    trips, _, excluded, _ = read(tmp_path, traces("geolife", modes=["car"], unlabelled="skip"))
    assert trips.is_empty()
    assert excluded == {"unlabelled": 1}


def test_geolife_names_a_broken_row(tmp_path):
    plt(tmp_path, "03:30:32", "26:30:00")
    _, unread, *_ = read(tmp_path, traces("geolife", **GEOLIFE))
    assert unread.select("item_id", "reason").rows() == [
        ("Data/010/Trajectory/20070804033032.plt:8", "row_unparsable")
    ]


def test_a_plt_file_without_its_head_is_one_error(tmp_path):
    (tmp_path / "x.plt").write_text("39.9,116.3,0,0,0,2007-08-04,03:30:32\n", "utf-8")
    with pytest.raises(SourceError, match="expected `Geolife trajectory`"):
        read(tmp_path, traces("geolife", **GEOLIFE))


# ---- GPX ----------------------------------------------------------------------------------------

GPX = """<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><name>x</name><trkseg>
<trkpt lat="60.17" lon="24.94"><ele>3</ele><time>2024-05-01T07:00:00Z</time></trkpt>
<trkpt lat="60.18" lon="24.95"><time>2024-05-01T07:00:10.5Z</time></trkpt>
<trkpt lat="60.18" lon="24.95"></trkpt>
<trkpt lat="north" lon="24.95"><time>2024-05-01T07:00:20Z</time></trkpt>
</trkseg><trkseg>
<trkpt lat="60.19" lon="24.96"><time>2024-05-01T10:00:00+03:00</time></trkpt>
</trkseg></trk></gpx>
"""


def test_a_gpx_segment_is_a_trip(tmp_path):
    (tmp_path / "drive.gpx").write_text(GPX, "utf-8")
    trips, unread, _, rows = read(tmp_path, traces("gpx"))
    assert trips["raw_trip_id"].to_list() == ["drive-1-1", "drive-1-2"]
    assert trips["t"].to_list() == [[1714546800.0, 1714546810.5], [1714546800.0]]
    assert trips["lon"].to_list() == [[24.94, 24.95], [24.96]]
    assert trips["vehicle_id"].null_count() == 2
    assert unread.select("item_id", "reason").rows() == [
        ("drive.gpx:3", "row_truncated"),
        ("drive.gpx:4", "row_unparsable"),
    ]
    assert rows == 5


@pytest.mark.parametrize("text", ["<gpx><trk>", "<kml></kml>", ""])
def test_a_file_that_is_not_gpx_is_one_error(tmp_path, text):
    (tmp_path / "drive.gpx").write_text(text, "utf-8")
    with pytest.raises(SourceError, match="expected"):
        read(tmp_path, traces("gpx"))


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


# ---- all ----------------------------------------------------------------------------------------


def test_every_reason_for_an_unread_row_has_a_test_here():
    text = Path(__file__).read_text("utf-8")
    assert [name for name in UNREAD_REASONS if f'"{name}"' not in text] == []


def test_an_hour_shown_twice_is_the_first_and_one_never_shown_is_no_time():
    texts = pl.Series(["2024-10-27 03:30:00", "2024-03-31 03:30:00", "2024-07-01 03:00:00"])
    found = epoch_seconds(texts, "Europe/Helsinki").to_list()
    assert found[0] == epoch_seconds(pl.Series(["2024-10-27T00:30:00Z"]), None)[0]
    assert found[1] is None
    assert found[2] == epoch_seconds(pl.Series(["2024-07-01T00:00:00+0000"]), None)[0]
