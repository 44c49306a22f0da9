"""The screen tells the facts of the tiny trip, and fits its width."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ParameterError, SourceError
from pipeline.show.clock import duration_words, length_words, local_clock
from pipeline.show.gather import life_of
from pipeline.show.screen import print_life, screen_of
from pipeline.show.text_table import SHOWN_ROWS, WIDTH, columns_of, text_table
from tests.show.project import CITY


@pytest.fixture(scope="module")
def screen(life):
    return screen_of(life, all_rows=False)


@pytest.mark.parametrize(
    "fact",
    [
        "TRIP 17 · tiny · phased · SIMULATED",
        "RAW  10 points in 2 min 15 sec, Mon 1 Jul 2013, 03:00:58 to 03:03:13 (Europe/Helsinki)",
        "first 24.94000 60.17000   last 24.95000 60.17200   (lon lat)   vehicle taxi 4",
        "CLEANING  kept 9 · spike 1   (10 = 9 + 1)   outcome: cleaned",
        "3  03:01:43    25.30000  60.40000  spike",
        "8 of 9 points on the route (88.9%) in 2 parts: matched 7 · standing 1",
        "told by the matcher: gap_time",
        "5          6  03:02:28    outlier",
        "DRIVE 17  3 segments · 645 m · hmm · confidence 0.93",
        "starts 22 m into the first segment, ends 223 m into the last",
        "1  1:2:3    Itäkatu",
        "222 m  03:01:38  inferred",
        "DRIVE 17_p2  1 segment · 111 m",
        "PHASES  3 from 3 segments · 2 min 0 sec · 667 m",
        "Monday, Jul 1, 2013 at 3:00 AM",
        "0  O     E    1  40 sec      Itäkatu",
        "ENDED  phased: it is told as phases",
        "drive 17_p2: rejected by compress: too_few_phases: 1 phase, expected at least 2",
    ],
)
def test_the_screen_says(screen, fact):
    assert fact in screen


@pytest.mark.parametrize("all_rows", [False, True])
def test_no_line_is_wider_than_the_screen(life, all_rows):
    lines = screen_of(life, all_rows=all_rows).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert all(line == line.rstrip() for line in lines)


def test_a_refused_trip_says_where_and_why(tiny):
    text = screen_of(life_of(tiny, CITY, "18"), all_rows=False)
    assert "TRIP 18 · tiny · rejected" in text
    assert "ENDED  rejected by ingest: too_few_points: 2 points as read" in text
    assert "made 0 cleaned trips: none" in text


def test_another_id_of_the_trip_is_named_as_asked(tiny):
    assert "asked for as 17_p2" in screen_of(life_of(tiny, CITY, "17_p2"), all_rows=False)


def test_points_in_any_order_are_told_in_order_of_time(life):
    backwards = {name: getattr(life.raw, name)[::-1] for name in ("t", "lon", "lat", "decisions")}
    raw = msgspec.structs.replace(life.raw, **backwards)
    text = screen_of(msgspec.structs.replace(life, raw=raw), all_rows=False)
    assert "03:00:58 to 03:03:13" in text
    assert "first 24.94000 60.17000" in text


def test_a_trip_without_points_has_a_screen(life):
    empty = {name: [] for name in ("t", "lon", "lat", "decisions", "trip_ids")}
    raw = msgspec.structs.replace(life.raw, **empty)
    assert "RAW  0 points" in screen_of(msgspec.structs.replace(life, raw=raw), all_rows=False)


def test_control_characters_of_names_do_not_reach_the_terminal(life):
    raw = msgspec.structs.replace(life.raw, vehicle_id="\x1b[31mred")
    assert "\x1b" not in screen_of(msgspec.structs.replace(life, raw=raw), all_rows=False)


def test_print_life_prints_the_screen(life, screen, capsys):
    print_life(life, all_rows=False)
    assert capsys.readouterr().out == screen + "\n"


def rows(count):
    return [[str(i), f"street {i}"] for i in range(count)]


def test_a_long_table_says_how_many_rows_it_leaves_out():
    lines = list(text_table(["n", "road"], rows(50), right=(0,), all_rows=False))
    assert len(lines) == 1 + SHOWN_ROWS + 1
    assert f"... {50 - SHOWN_ROWS} more rows" in lines[1 + SHOWN_ROWS // 2]
    assert lines[-1].endswith("street 49")


def test_all_rows_are_shown_when_asked():
    assert len(list(text_table(["n", "road"], rows(50), right=(0,), all_rows=True))) == 51


def test_a_long_cell_is_folded_and_cut_unless_all_is_asked():
    long = [["1", "word " * 60]]
    short = list(text_table(["n", "text"], long, right=(0,), all_rows=False))
    assert len(short) == 3
    assert short[-1].endswith("…")
    whole = list(text_table(["n", "text"], long, right=(0,), all_rows=True))
    assert " ".join(" ".join(whole).split()).count("word") == 60


def test_ids_stay_whole_while_names_are_folded():
    edge = "1317000785:3232054227:1125194699"
    row = [edge, "Boulevard du Jardin Exotique et de la Princesse", "x " * 40]
    lines = list(text_table(["edge_id", "road", "text"], [row], right=(), all_rows=True))
    assert edge in lines[1]
    assert max(map(len, lines)) <= WIDTH


def test_wide_letters_take_two_columns():
    lines = list(
        text_table(["road", "n"], [["北京路", "1"], ["abcdef", "2"]], right=(), all_rows=True)
    )
    assert lines[1:] == ["  北京路  1", "  abcdef  2"]


WORDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=90)


@given(st.lists(st.lists(WORDS, min_size=5, max_size=5), min_size=1, max_size=4))
def test_any_table_fits_the_screen_and_loses_no_letter(cells):
    lines = list(text_table(list("abcde"), cells, right=(1,), all_rows=True))
    assert all(columns_of(line) <= WIDTH for line in lines)
    shown = Counter("".join(lines[1:]).replace(" ", ""))
    assert shown == Counter("".join(letter for row in cells for cell in row for letter in cell))


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 sec"), (495, "8 min 15 sec"), (3725, "1 h 2 min 5 sec")]
)
def test_durations_are_worded_as_in_the_phases(seconds, words):
    assert duration_words(seconds) == words


@pytest.mark.parametrize(("metres", "words"), [(999, "999 m"), (4412, "4.41 km")])
def test_lengths_are_worded(metres, words):
    assert length_words(metres) == words


@pytest.mark.parametrize("t", [1.7e12, 1e18, -1e12])
def test_a_time_that_no_calendar_has_is_not_blamed_on_the_time_zone(t):
    with pytest.raises(SourceError, match="expected UTC epoch seconds"):
        local_clock(t, "Europe/Lisbon")
    with pytest.raises(ParameterError, match="expected an IANA zone"):
        local_clock(0.0, "Europe/Atlantis")
