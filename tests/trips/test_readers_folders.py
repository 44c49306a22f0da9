"""What holds for every format: which files are read, lines of any bytes, ids, bounds."""

import os
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ParameterError, SourceError
from pipeline.trips.readers.batch import line_blocks
from pipeline.trips.readers.trip_ids import keep_apart
from tests.trips.builders import traces
from tests.trips.raw_folders import HEADER, read, row

PORTO = traces("porto", interval_s=15)
COLUMNS = {"trip": "id", "vehicle": None, "time": "t", "lon": "x", "lat": "y"}
TABLE = {"pattern": "*.csv", "columns": COLUMNS, "time": "epoch_s", "time_zone": None}
ROADS = {"trajectories": "traj*.csv", "roadmap": "roadmap.geo"}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_files_are_found_whatever_the_case_of_their_letters(tmp_path):
    put(tmp_path / "t.csv", f"{HEADER}\n{row('A')}\n")
    put(tmp_path / "deep" / "Z.CSV", f"{HEADER}\n{row('B')}\n")
    trips, _, excluded, _ = read(tmp_path, PORTO)
    assert trips["raw_trip_id"].to_list() == ["20000589/A", "20000589/B"]
    assert excluded == {}


def test_files_that_no_reader_takes_are_counted_and_hidden_ones_passed_over(tmp_path):
    put(tmp_path / "t.csv", f"{HEADER}\n{row('A')}\n")
    for name in ("notes.docx", "old/t.csv.bak", ".gitignore", "t.csv.dvc", ".tmp/x.csv", ".t.csv"):
        put(tmp_path / name, "something else")
    trips, _, excluded, rows = read(tmp_path, PORTO)
    assert trips["raw_trip_id"].to_list() == ["20000589/A"]
    assert (excluded, rows) == ({"file_not_read": 2}, 1)


def test_a_road_map_may_lie_beside_the_folder_and_is_no_file_left_over(tmp_path):
    put(tmp_path / "roadmap.geo", 'geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n')
    put(tmp_path / "roadmap.rel", "origin_id,destination_id\n")
    table = "mm_id,entity_id,traj_id,rid_list,time_list\n0,v,1,4,2013-07-01T00:00:58Z\n"
    put(tmp_path / "raw" / "traj.csv", table)
    put(tmp_path / "raw" / "Roadmap.geo", "an older one")
    settings = traces("hoser", **ROADS | {"roadmap": "../roadmap.geo"})
    trips, _, excluded, _ = read(tmp_path / "raw", settings)
    assert (trips.height, excluded) == (1, {})


@pytest.mark.parametrize("pattern", ["/etc/*", "a**b", "**", "../*", "", "."])
def test_a_pattern_that_leaves_the_folder_is_an_error_of_the_config(tmp_path, pattern):
    put(tmp_path / "a.csv", "id,t,x,y\n7,1714546800,24.9,60.1\n")
    with pytest.raises(ParameterError, match="expected a pattern of file names"):
        read(tmp_path, traces("table", **TABLE | {"pattern": pattern}))


@pytest.mark.parametrize("text", ["\n", "\n\n\r\n", ""])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("t.csv", PORTO),
        ("new_a.txt", traces("cabspotting", flip_reports=0, run_gap_s=300)),
        ("1.plt", traces("geolife", modes=["car"], unlabelled="keep")),
        ("p.csv", traces("table", **TABLE)),
        ("traj.csv", traces("hoser", **ROADS)),
    ],
)
def test_a_file_without_a_line_is_one_error(tmp_path, name, settings, text):
    put(tmp_path / name, text)
    put(tmp_path / "roadmap.geo", 'geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n')
    put(tmp_path / "roadmap.rel", "origin_id,destination_id\n")
    with pytest.raises(SourceError, match="found an empty file"):
        read(tmp_path, settings)


def test_a_tdrive_file_of_blank_lines_is_one_error(tmp_path):
    put(tmp_path / "1.txt", "\n\n")
    with pytest.raises(SourceError, match="found an empty file"):
        read(tmp_path, traces("tdrive", time_zone="Asia/Shanghai"))


def test_a_line_with_control_characters_is_one_line(tmp_path):
    put(tmp_path / "t.csv", f"{HEADER}\n{row('A')}\n{row('B')}\x01\x01\n\x02\x1f\x7f\n{row('C')}\n")
    trips, unread, *_ = read(tmp_path, PORTO)
    assert trips["raw_trip_id"].to_list() == ["20000589/A", "20000589/C"]
    assert unread["item_id"].to_list() == ["t.csv:3", "t.csv:4"]


@pytest.mark.parametrize("block", [1, 2, 3, 64])
def test_lines_are_the_same_in_blocks_of_any_size(tmp_path, block):
    (tmp_path / "x.txt").write_bytes(b"\xef\xbb\xbfone\r\n\r\n\nfour \xc3\xa4\nfive")
    lines = pl.concat(list(line_blocks(tmp_path / "x.txt", block)))
    assert lines.rows() == [(1, "one"), (4, "four ä"), (5, "five")]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    put(tmp_path / "new_a.txt", "\ufeff37.7 -122.3 1 1213000000\n37.7 -122.4 1 1213000060\n")
    trips, unread, *_ = read(tmp_path, traces("cabspotting", flip_reports=0, run_gap_s=300))
    assert trips["t"].list.len().to_list() == [2]
    assert unread.is_empty()


GPX = '<gpx><trk><trkseg><trkpt lat="60" lon="24"><time>{}</time></trkpt></trkseg></trk></gpx>'
ROAD = 'geo_id,coordinates\n4,"[[0.0,0.0],[0.0,0.002]]"\n'
LATIN = {
    "t.csv": (PORTO, f"{HEADER}\n{row('Ä1')}\n{row('Ö1')}\n", 2),
    "new_a.txt": (
        traces("cabspotting", flip_reports=0, run_gap_s=300),
        "37.7 -122.3 1 1213000000\n37.7 -122.4 1 12130é\n",
        2,
    ),
    "1.txt": (traces("tdrive", time_zone="UTC"), "\nÄ,2008-02-02 15:36:08,116.5,39.9\n", 2),
    "1.plt": (traces("geolife", modes=["car"], unlabelled="keep"), "Geolife trajectory Ä\n", 1),
    "p.csv": (traces("table", **TABLE), "id,t,x,y\nÄ1,1,24,60\nÖ1,2,24,60\n", 2),
    "traj.csv": (traces("hoser", **ROADS), "mm_id,entity_id,traj_id,rid_list,time_list\n\nÄ", 3),
}


@pytest.mark.parametrize("name", LATIN)
def test_a_file_of_another_encoding_is_one_error_and_no_two_ids_become_one(tmp_path, name):
    settings, text, line = LATIN[name]
    put(tmp_path / "roadmap.geo", ROAD)
    put(tmp_path / "roadmap.rel", "origin_id,destination_id\n")
    (tmp_path / name).write_bytes(text.encode("latin1"))
    with pytest.raises(SourceError, match=f"expected text in UTF-8.* in line {line};.*iconv"):
        read(tmp_path, settings)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf16_is_told_from_a_binary_one(tmp_path, order):
    (tmp_path / "p.csv").write_bytes(("\ufeff" + LATIN["p.csv"][1]).encode(order))
    with pytest.raises(SourceError, match="expected text in UTF-8, found UTF-16"):
        read(tmp_path, traces("table", **TABLE))


def test_the_same_ids_in_utf8_are_two_trips(tmp_path):
    put(tmp_path / "p.csv", "\ufeff" + LATIN["p.csv"][1])
    trips, *_ = read(tmp_path, traces("table", **TABLE))
    assert trips["raw_trip_id"].to_list() == ["Ä1", "Ö1"]


def test_a_road_map_or_labels_of_another_encoding_are_one_error(tmp_path):
    put(tmp_path / "hoser" / "roadmap.geo", "")
    (tmp_path / "hoser" / "roadmap.geo").write_bytes(f"{ROAD}Ä,\n".encode("latin1"))
    put(tmp_path / "hoser" / "traj.csv", "mm_id\n")
    with pytest.raises(SourceError, match=r"roadmap\.geo: expected text in UTF-8.* 0xc4 in line 3"):
        read(tmp_path / "hoser", traces("hoser", **ROADS))
    point = "39.9,116.3,0,492,39744.2,2008-10-23,02:53:04"
    put(tmp_path / "010" / "Trajectory" / "1.plt", "Geolife trajectory\n\n\n\n\n\n" + point)
    (tmp_path / "010" / "labels.txt").write_bytes("Start\tEnd\tMode\nÄ".encode("latin1"))
    with pytest.raises(SourceError, match=r"labels\.txt: expected text in UTF-8"):
        read(tmp_path / "010", LATIN["1.plt"][0])


def test_gpx_keeps_the_encoding_it_states(tmp_path):
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + GPX.format("2024-05-01T07:00:00Z")
    (tmp_path / "a.gpx").write_bytes(text.replace("<trk>", "<trk><name>Ä</name>").encode("latin1"))
    assert read(tmp_path, traces("gpx"))[0]["t"].to_list() == [[1714546800.0]]


def test_a_file_name_that_is_no_utf8_is_one_error(tmp_path):
    name = tmp_path / os.fsdecode(b"\xc4.gpx")
    name.write_text(GPX.format("2024-05-01T07:00:00Z"), "utf-8")
    with pytest.raises(SourceError, match="expected file names in UTF-8, found b'"):
        read(tmp_path, traces("gpx"))


def test_an_id_that_reads_as_a_made_one_is_kept_apart():
    ids = ["1", "1.1", "1.1~", "1#2", "x_p2", "1.1_p3", "1.0", "a.b", "v1.5x", "7_p", "~"]
    kept = pl.select(keep_apart(pl.Series(ids))).to_series().to_list()
    apart = ["1.1~", "1.1~~", "1#2~", "x_p2~", "1.1_p3~"]
    assert kept == ["1", *apart, "1.0", "a.b", "v1.5x", "7_p", "~"]


@pytest.mark.parametrize(
    "keys", [{"shards": 10**18}, {"shards": 4097}, {"block_bytes": 10**18}, {"interval_s": 10**12}]
)
def test_settings_that_would_hang_are_out_of_range(keys):
    with pytest.raises(ValueError, match="Expected `int` <="):
        traces("porto", **{"interval_s": 15} | keys)
