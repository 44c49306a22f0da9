"""How numbers are written in texts and tables: separators, decimal commas, units."""

import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.stride.importers.formats import FORMATS, ImportOptions, read_recording
from pipeline.stride.importers.texts import number_rows
from pipeline.stride.importers.units import LENGTHS, factor_of, stated_in
from tests.stride.crowds import value

OPTIONS = ImportOptions(radius_m=0.2)


def read(path, form, **options):
    return read_recording(path, form, options=OPTIONS._replace(**options))


def put(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "line",
    [
        "780 1 2.5 -3.25", "780\t1\t2.5\t-3.25", "780,1,2.5,-3.25", "780, 1, 2.5, -3.25",
        "780;1;2.5;-3.25", "780; 1; 2.5; -3.25", "780;1;2,5;-3,25", "780 1 2,5 -3,25",
        "780\t1\t2,5\t-3,25", "780;1;2,5;-3,25;", " 780 1 2,5e0 -,325e1 ", "780,1,2.5,-3.25,",
    ],
)  # fmt: skip
def test_a_row_has_its_numbers_however_it_is_parted(tmp_path, line):
    rows, _ = number_rows(put(tmp_path / "r.txt", line), fewest=4, most=4)
    assert rows.tolist() == [[780.0, 1.0, 2.5, -3.25]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("780 1 2,5 3.25", "parted by one of blank, semicolon and comma.*write decimals with a"),
        ("780 1,2 2,5,3 3", "parted by one of blank"),
        ("780,1,,2.5,3", "expected numbers"),
        ("780;1;;2,5", "expected numbers"),
        ("780;1;1.234,5;2", "expected numbers"),
    ],
)
def test_a_row_that_can_be_read_two_ways_is_refused(tmp_path, line, words):
    with pytest.raises(SourceError, match=f"line 1: .*{words}"):
        number_rows(put(tmp_path / "r.txt", line), fewest=4, most=9)


def test_decimal_commas_of_a_juelich_text_make_no_further_columns(tmp_path):
    rows = [f"{p} {k} {1 + 0.04 * k:.2f} {p:.2f} 1.76" for p in (1, 2) for k in range(9)]
    text = "# framerate: 25,00\n# id frame x/m y/m z/m\n" + "\n".join(rows).replace(".", ",")
    walk = read(put(tmp_path / "p.txt", text), "pedpy_text").walk
    assert walk.dt_s == pytest.approx(0.04)
    assert value(walk, "mean_speed") == pytest.approx(1.0)


# ---- tables

COLUMNS = {"time": "t", "id": "name", "x": "x", "y": "y"}


def pathfinder(*, units="s,,m,m", scale=1.0, rows=6):
    """Return a CSV of two people at 1.2 m/s with a row of units under its head."""
    lines = ["t,name,x,y"] + ([units] if units else [])
    lines += [
        f"{0.4 * k:.1f},{who},{scale * (1 + 0.48 * k):.3f},{scale * 2:.3f}"
        for k in range(rows)
        for who in ("Ann", "Bo")
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("units", ["s,,m,m", "[s],[-],[m],[m]", "(s),,(m),(m)", " s , , m , m "])
def test_a_row_of_units_is_no_row_of_numbers(tmp_path, units):
    imported = read(put(tmp_path / "p.csv", pathfinder(units=units)), "table", columns=COLUMNS)
    assert imported.agents == ("Ann", "Bo")
    assert imported.walk.dt_s == pytest.approx(0.4)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2)
    assert "row 1 read as units: t s, x m, y m" in imported.notes


@pytest.mark.parametrize(("unit", "scale"), [("cm", 100.0), ("mm", 1000.0), ("ft", 1 / 0.3048)])
def test_units_of_the_row_count(tmp_path, unit, scale):
    text = pathfinder(units=f"s,,{unit},{unit}", scale=scale)
    imported = read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2, rel=1e-3)


def test_units_of_the_head_and_of_the_option_count(tmp_path):
    text = pathfinder(units="", scale=100.0)
    given = read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS, unit="cm")
    assert value(given.walk, "mean_speed") == pytest.approx(1.2)
    head = put(tmp_path / "h.csv", text.replace("t,name,x,y", "t [s],name,x [cm],y_cm"))
    named = read(head, "table", columns={"time": "t [s]", "id": "name", "x": "x [cm]", "y": "y_cm"})
    assert value(named.walk, "mean_speed") == pytest.approx(1.2)


def test_a_speed_without_a_unit_has_the_one_of_its_places(tmp_path):
    text = "t,name,x,y,u,v\n" + "\n".join(f"{0.4 * k},A,{100 + 48 * k},5,120,0" for k in range(5))
    columns = {**COLUMNS, "vx": "u", "vy": "v"}
    imported = read(put(tmp_path / "p.csv", text), "table", columns=columns, unit="cm")
    assert imported.walk.velocity[2, 0].tolist() == pytest.approx([1.2, 0.0])


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ("fortnight,,m,m", "t: expected one of s, sec, ms, min in the row of units"),
        (
            "s,,furlong,furlong",
            "x: expected one of m, cm, mm, ft in the row of units, found 'furlong'",
        ),
    ],
)
def test_a_unit_that_is_not_known_is_named(tmp_path, units, words):
    with pytest.raises(SourceError, match=words):
        read(put(tmp_path / "p.csv", pathfinder(units=units)), "table", columns=COLUMNS)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_table_with_decimal_commas_is_read(tmp_path, separator):
    text = pathfinder(units="").replace(",", separator).replace(".", ",")
    imported = read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2)
    assert imported.walk.dt_s == pytest.approx(0.4)


def test_decimal_points_and_commas_in_one_column_are_refused(tmp_path):
    text = pathfinder(units="").replace(",", ";").replace("1.480", "1,480")
    with pytest.raises(SourceError, match="x: expected decimal points or decimal commas, found"):
        read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS)


def test_a_comma_in_a_cell_of_a_table_parted_by_commas_is_no_number(tmp_path):
    text = pathfinder(units="").replace("1.480", '"1,480"')
    with pytest.raises(SourceError, match="x: expected numbers, found '1,480' in row 3"):
        read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS)


def test_a_table_without_a_time_in_some_row_is_refused(tmp_path):
    text = pathfinder(units="").replace("0.4,Ann", ",Ann")
    with pytest.raises(SourceError, match=r"time: expected seconds .* found nan in row 3"):
        read(put(tmp_path / "p.csv", text), "table", columns=COLUMNS)


def test_who_names_no_columns_is_shown_those_of_the_file(tmp_path):
    with pytest.raises(SourceError, match=r"found none; give --columns .* of t, name, x, y"):
        read(put(tmp_path / "p.csv", pathfinder()), "table")


def test_a_row_of_units_may_stand_over_frames(tmp_path):
    text = "n;who;x;y\n;;cm;cm\n" + "\n".join(f"{k};A;{100 + 48 * k},0;7,5" for k in range(5))
    columns = {"frame": "n", "id": "who", "x": "x", "y": "y"}
    imported = read(put(tmp_path / "p.csv", text), "table", columns=columns, fps=2.5)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2)


def test_a_parquet_table_has_no_row_of_units(tmp_path):
    frame = pl.DataFrame({"t": [0.0, 0.4], "name": ["A", "A"], "x": [1.0, 1.48], "y": [2.0, 2.0]})
    frame.write_parquet(tmp_path / "p.parquet")
    imported = read(tmp_path / "p.parquet", "table", columns=COLUMNS)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("text", "unit"),
    [("x/cm", "cm"), ("x [m]", "m"), ("x_m", "m"), ("pos (in mm)", "mm"), ("v [m/s]", "m/s"),
     ("x", None)],
)  # fmt: skip
def test_the_unit_that_ends_a_name_is_read(text, unit):
    assert stated_in(text) == unit


def test_a_unit_has_its_factor_in_brackets_or_without():
    assert [factor_of(one, LENGTHS) for one in ("cm", "[cm]", "(CM)", "", None, "s")] == [
        0.01, 0.01, 0.01, None, None, None,
    ]  # fmt: skip


# ---- what is unread


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_that_is_not_read_is_refused_by_its_name(tmp_path, form):
    file = put(tmp_path / "zara01.vsp", "3 - the number of splines\n")
    with pytest.raises(SourceError) as told:
        read(file, form)
    assert "found .vsp: UCY's control points of splines" in str(told.value)
    assert "take the scene's obsmat or 4 columns" in str(told.value)


@pytest.mark.parametrize("ending", ["mat", "h5", "xlsx", "xml", "npz", "VSP"])
def test_each_ending_that_is_not_read_is_named(tmp_path, ending):
    with pytest.raises(SourceError, match=f"found .{ending.lower()}: "):
        read(put(tmp_path / f"walk.{ending}", "x"), "four_columns", fps=25.0)


@pytest.mark.parametrize("form", ["vsp", "sdd", "shapefile"])
def test_a_name_that_is_no_format_is_refused(tmp_path, form):
    with pytest.raises(SourceError, match=f"FORMAT: expected one of .*found '{form}'"):
        read(tmp_path / "none.txt", form)


@pytest.mark.parametrize(
    ("form", "option"),
    [("four_columns", {"unit": "cm"}), ("eth_obsmat", {"columns": {"x": "x"}}),
     ("jupedsim", {"pixel_order": "xy"}), ("table", {"pixel_order": "xy"})],
)  # fmt: skip
def test_an_option_of_another_format_is_refused_and_not_passed_over(tmp_path, form, option):
    (name,) = option
    with pytest.raises(SourceError, match=f"--{name.replace('_', '-')}: expected none for {form}"):
        read(put(tmp_path / "z.txt", "0 1 1 1\n1 1 2 1\n"), form, fps=25.0, **option)


def test_columns_that_are_called_as_ours_need_no_names(tmp_path):
    text = "id,x,y,time\n" + "\n".join(f"A,{0.48 * k},5,{0.4 * k}" for k in range(5))
    imported = read(put(tmp_path / "p.csv", text), "table", columns={})
    assert value(imported.walk, "mean_speed") == pytest.approx(1.2)
