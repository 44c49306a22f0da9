"""cabspotting, T-Drive, GeoLife and GPX: a mini file of each with the defects it is known for."""

from pathlib import Path

import pytest

from pipeline.errors import ParameterError, SourceError
from tests.trips.builders import traces
from tests.trips.raw_folders import read

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


@pytest.mark.parametrize("t", ["1e300", "99999999999999999999", "-1e18"])
def test_a_time_that_cannot_be_is_a_trip_for_cleaning_to_refuse(tmp_path, t):
    trips, unread, *_ = cabs(tmp_path, fix(0), f"37.75 -122.39 1 {t}", fix(60))
    assert sorted(trips["t"].list.len()) == [1, 2]
    assert unread.is_empty()


def test_an_endless_time_is_no_number(tmp_path):
    _, unread, *_ = cabs(tmp_path, fix(0), "37.75 -122.39 1 inf", fix(60))
    assert unread["reason"].to_list() == ["coordinate_not_finite"]


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
        ("1,2008-02-30 15:36:08,116.5,39.9", "time_unparsable"),
        ("1,2008-02-02 15:36:08,116.5,inf", "coordinate_not_finite"),
        (" ,2008-02-02 15:36:08,116.5,39.9", "row_unparsable"),
    ],
)
def test_tdrive_names_a_broken_row(tmp_path, text, reason):
    good = "1,2008-02-02 15:36:08,116.51172,39.92123"
    (tmp_path / "1.txt").write_text(f"{good}\n{text}\n", "utf-8")
    _, unread, *_ = read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))
    assert unread.select("item_id", "reason").rows() == [("1.txt:2", reason)]


def test_a_bad_first_row_spoils_no_file_however_small_the_blocks(tmp_path):
    good = "1,2008-02-02 15:36:08,116.51172,39.92123"
    (tmp_path / "1.txt").write_text(f"{'garbage' * 20}\n{good}\n", "utf-8")
    trips, unread, *_ = read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai", block_bytes=64))
    assert (trips.height, unread.height) == (1, 1)


def test_a_tdrive_file_without_a_good_row_is_one_error(tmp_path):
    (tmp_path / "1.txt").write_text("what this data set is about\n", "utf-8")
    with pytest.raises(SourceError, match="found 'what this data set"):
        read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))


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
    assert trips["raw_trip_id"].to_list() == ["010/20070804033032"]
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
        f"010/20070804033032-{int(AUGUST) + 12000}",
        f"010/20070804033032-{int(AUGUST) + 13200}",
    ]
    assert trips["t"].list.len().to_list() == [2, 1]
    assert excluded == {"other_mode": 1, "unlabelled": 1}
    assert rows == 5


def test_a_point_after_a_nested_label_falls_back_to_the_label_around_it(tmp_path):
    labels = (
        "2007/08/04 03:00:00\t2007/08/04 04:00:00\tcar\n"
        "2007/08/04 03:20:00\t2007/08/04 03:30:00\twalk\n"
        "2007/08/04 03:20:00\t2007/08/04 03:50:00\tbus\n"
    )
    times = ["03:05:00", "03:20:00", "03:30:00", "03:40:00", "03:55:00", "04:00:01"]
    plt(tmp_path, *times, labels=labels)
    trips, _, excluded, _ = read(tmp_path, traces("geolife", **GEOLIFE))
    assert trips["raw_trip_id"].to_list() == [f"010/20070804033032-{int(AUGUST) + 10800}"]
    assert trips["t"].to_list() == [[AUGUST + 11100, AUGUST + 14100]]
    assert excluded == {"other_mode": 3, "unlabelled": 1}


def test_geolife_finds_labels_whatever_the_case_of_their_name(tmp_path):
    plt(tmp_path, "03:05:00", labels="2007/08/04 03:00:00\t2007/08/04 04:00:00\tbus\n")
    labels = tmp_path / "Data" / "010" / "labels.txt"
    labels.rename(labels.with_name("Labels.TXT"))
    assert read(tmp_path, traces("geolife", **GEOLIFE))[2] == {"other_mode": 1, "unlabelled": 0}


def test_geolife_can_skip_users_without_labels(tmp_path):
    plt(tmp_path, "03:30:32")
    trips, _, excluded, _ = read(tmp_path, traces("geolife", modes=["car"], unlabelled="skip"))
    assert trips.is_empty()
    assert excluded == {"unlabelled": 1}


def test_geolife_names_a_broken_row(tmp_path):
    plt(tmp_path, "03:30:32", "26:30:00")
    _, unread, *_ = read(tmp_path, traces("geolife", **GEOLIFE))
    assert unread.select("item_id", "reason").rows() == [
        ("Data/010/Trajectory/20070804033032.plt:8", "time_unparsable")
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


@pytest.mark.parametrize("encoding", ["klingon", "gbk"])
def test_a_gpx_encoding_that_cannot_be_read_is_one_error(tmp_path, encoding):
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    (tmp_path / "drive.gpx").write_text(GPX.replace('<?xml version="1.0"?>', head), "utf-8")
    with pytest.raises(SourceError, match="save it as UTF-8"):
        read(tmp_path, traces("gpx"))


def test_gpx_files_that_differ_by_case_give_trips_of_their_own(tmp_path):
    for name in ("a.gpx", "a.GPX"):
        (tmp_path / name).write_text(GPX, "utf-8")
    trips, *_ = read(tmp_path, traces("gpx"))
    assert trips["raw_trip_id"].to_list() == ["a-1-1", "a-1-2", "a.GPX-1-1", "a.GPX-1-2"]
