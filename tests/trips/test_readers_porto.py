"""Porto's train.csv and what holds for every text format, in mini files with known defects."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import UNREAD_REASONS, line_blocks
from pipeline.trips.readers.times import epoch_seconds
from tests.trips.builders import traces
from tests.trips.raw_folders import HEADER, read, row


def porto(folder: Path, *rows: str, header: str = HEADER, **keys):
    (folder / "train.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return read(folder, traces("porto", interval_s=15, **keys))


def test_porto_reads_lon_first_and_counts_time_from_the_start(tmp_path):
    trips, unread, _, rows = porto(
        tmp_path, row(line="[[-8.618643,41.141412],[-8.618499,41.141376],[-8.62,41.15]]")
    )
    assert trips.to_dicts() == [
        {
            "raw_trip_id": "20000589/T1",
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


def test_porto_ids_are_told_apart_by_taxi_and_those_of_the_data_set_stay_as_they_are(tmp_path):
    own = "1372636858620000589"
    rows = [row(own), row("0"), row("0", taxi="20000001"), row("0", taxi=""), row(own, taxi="7")]
    trips, *_ = porto(tmp_path, *rows)
    assert trips.select("raw_trip_id", "vehicle_id").rows() == [
        ("0", None),
        (own, "20000589"),
        ("20000001/0", "20000001"),
        ("20000589/0", "20000589"),
        (f"7/{own}", "7"),
    ]


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
        (row("T2", time="yesterday"), "time_unparsable"),
        (row("", line="[]"), "row_unparsable"),
        (row("T2", missing="maybe"), "row_unparsable"),
        (row("T2").removeprefix('"'), "row_unparsable"),
    ],
)
def test_porto_names_a_broken_row_and_reads_on(tmp_path, text, reason):
    trips, unread, _, rows = porto(tmp_path, row("T1"), text, row("T3"))
    assert trips["raw_trip_id"].to_list() == ["20000589/T1", "20000589/T3"]
    assert unread["item_id"].to_list() == ["train.csv:3"]
    assert unread["reason"].to_list() == [reason]
    assert unread["detail"][0] == text[:120]
    assert rows == 3


@pytest.mark.parametrize("time", [2**63 - 1, 2**63 - 8, -(2**63), 253402300800000])
def test_porto_leaves_a_start_that_cannot_be_to_cleaning(tmp_path, time):
    trips, unread, *_ = porto(tmp_path, row("T1"), row("T2", time=str(time), line="[[-8.6,41.1]]"))
    assert trips["t"].to_list() == [[1372636858.0], [float(time)]]
    assert unread.is_empty()


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


def test_blank_lines_keep_their_number(tmp_path):
    (tmp_path / "x.txt").write_text("a\n\n\nb", "utf-8")
    lines = pl.concat(list(line_blocks(tmp_path / "x.txt", 2)))
    assert lines.to_dicts() == [{"line": 1, "text": "a"}, {"line": 4, "text": "b"}]


def test_swapped_coordinates_are_exchanged_when_the_config_says_so(tmp_path):
    trips, *_ = porto(tmp_path, row(line="[[41.1,-8.6]]"), coordinate_order="swapped")
    assert (trips["lon"][0][0], trips["lat"][0][0]) == (-8.6, 41.1)


def test_every_reason_for_an_unread_row_has_a_test_here():
    tests = Path(__file__).parent.glob("test_readers_*.py")
    text = "".join(path.read_text("utf-8") for path in tests)
    assert [name for name in UNREAD_REASONS if f'"{name}"' not in text] == []


def test_an_hour_shown_twice_is_the_first_and_one_never_shown_is_no_time():
    texts = pl.Series(["2024-10-27 03:30:00", "2024-03-31 03:30:00", "2024-07-01 03:00:00"])
    found = epoch_seconds(texts, "Europe/Helsinki").to_list()
    assert found[0] == epoch_seconds(pl.Series(["2024-10-27T00:30:00Z"]), None)[0]
    assert found[1] is None
    assert found[2] == epoch_seconds(pl.Series(["2024-07-01T00:00:00+0000"]), None)[0]
