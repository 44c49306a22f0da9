"""Each format on a tiny file of its own: who is where, when, and what was left out."""

import json
import sqlite3

import numpy as np
import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.stride.importers.formats import FORMATS, ImportOptions, read_recording
from pipeline.stride.importers.mot import on_ground
from pipeline.stride.importers.rows import Clock, Recording, Rows, imported
from pipeline.stride.traps import traps_of
from tests.stride.crowds import value

OPTIONS = ImportOptions(radius_m=0.2)


def read(path, form, **options):
    return read_recording(path, form, options=OPTIONS._replace(**options))


def put(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def four_columns(step=10, speed=1.2, dt_s=0.4):
    """Two people walking along x, at 1.2 m/s if a step is 0.4 s."""
    rows = [
        f"{780 + step * k} {person} {1 + speed * dt_s * k:.3f} {person}"
        for k in range(6)
        for person in (1, 2)
    ]
    return "\n".join(rows) + "\n"


def test_four_columns_give_a_walk_at_its_speed(tmp_path):
    imported = read(put(tmp_path / "z.txt", four_columns()), "four_columns", fps=25.0)
    walk = imported.walk
    assert (walk.frames, walk.agents, imported.first_frame) == (6, 2, 780)
    assert walk.dt_s == pytest.approx(0.4)
    assert imported.agents == ("1", "2")
    assert value(walk, "mean_speed") == pytest.approx(1.2)
    assert walk.goal[0, 0].tolist() == pytest.approx([3.4, 1.0])
    assert (walk.radius == 0.2).all()
    assert "last position as goal" in imported.notes[-1]
    assert traps_of(walk) == []


def test_frames_of_6_told_as_frames_of_10_make_people_run(tmp_path):
    # 6-frame data at 15 fps (0.4 s) under 10-frame numbers, read at 25 fps a second time: 0.4 s;
    # read at ETH's 15 fps they are 0.667 s apart, and under 6-frame numbers at 25 fps 0.24 s.
    imported = read(put(tmp_path / "b.txt", four_columns(step=6)), "four_columns", fps=25.0)
    assert value(imported.walk, "mean_speed") == pytest.approx(2.0)
    fast = read(put(tmp_path / "c.txt", four_columns(step=6, speed=1.3)), "four_columns", fps=25.0)
    assert "fast" in [trap.code for trap in traps_of(fast.walk)]


def test_hidden_coordinates_and_lone_points_are_left_out_and_counted(tmp_path):
    text = four_columns() + "800 3 ? ?\n810 3 5.0 5.0\n"
    imported = read(put(tmp_path / "t.txt", text), "four_columns", fps=25.0)
    assert imported.agents == ("1", "2")
    assert imported.notes[0] == "1 rows without a position left out"
    assert imported.notes[1] == "1 tracks of one point left out"


def test_a_second_row_of_a_person_in_a_frame_is_left_out(tmp_path):
    text = four_columns() + "780 1 99 99\n"
    imported = read(put(tmp_path / "t.txt", text), "four_columns", fps=25.0)
    assert imported.walk.positions[0, 0].tolist() == [1.0, 1.0]
    assert "1 further rows" in imported.notes[0]


def test_obsmat_brings_its_own_velocities(tmp_path):
    rows = [f"{6 * k}. 7 {1 + 0.48 * k} 0 2.0 1.2 0 0.0" for k in range(4)]
    rows += [f"{6 * k}\t8\t{9 - 0.4 * k}\t0\t4.0\t-1.0\t0\t0.0" for k in range(1, 4)]
    walk = read(put(tmp_path / "obsmat.txt", "\n".join(rows)), "eth_obsmat", fps=15.0).walk
    assert walk.dt_s == pytest.approx(0.4)
    assert walk.present[:, 1].tolist() == [False, True, True, True]
    assert walk.velocity[1].tolist() == [[1.2, 0.0], [-1.0, 0.0]]
    assert walk.positions[1, 0].tolist() == [1.48, 2.0]
    assert walk.frame_of_reference == "obsmat world, metres"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("780 1 2.0\n", "line 1: expected 4 numbers, found 3"),
        ("780 1 2.0 0 1.0 0 0 0\n", "line 1: expected 4 numbers, found 8"),
        ("780 1 2.0 x\n", "line 1: expected numbers"),
        ("780 1 2 1\n780.5 1 2.0 1\n", "frame: expected whole numbers.*found 780.5 in row 2"),
        ("780 1e18 2 1\n790 1e18 2 1\n", "id: expected whole numbers below 2\\^53, found 1e"),
        ("1e300 1 2 1\n", "frame: expected whole numbers below 2\\^53, found 1"),
        ("", "expected tracks of 2 points or more, found none; it has no rows"),
        ("780 1 ? ?\n", "found none; 1 rows without a position left out"),
        ("780 1 1 1\n", "expected tracks of 2 points"),
    ],
)
def test_a_text_of_another_format_is_refused_with_its_line(tmp_path, text, words):
    with pytest.raises(SourceError, match=words):
        read(put(tmp_path / "x.txt", text), "four_columns", fps=25.0)


@pytest.mark.parametrize("form", ["four_columns", "eth_obsmat", "mot"])
def test_a_format_that_does_not_say_its_frame_rate_asks_for_it(tmp_path, form):
    boxed = {"homography": put(tmp_path / "h.txt", "1 0 0\n0 1 0\n0 0 1\n"), "pixel_order": "xy"}
    with pytest.raises(SourceError, match="--fps"):
        read(put(tmp_path / "x.txt", four_columns()), form, **(boxed if form == "mot" else {}))


@pytest.mark.parametrize("fps", [0.0, -25.0, float("nan"), float("inf")])
def test_a_frame_rate_is_above_nothing(tmp_path, fps):
    with pytest.raises(SourceError, match="above 0"):
        read(put(tmp_path / "x.txt", four_columns()), "four_columns", fps=fps)


def test_trajnetpp_reads_scenes_and_tracks(tmp_path):
    lines = [{"scene": {"id": 0, "p": 1, "s": 10, "e": 50, "fps": 2.5, "tag": [1, []]}}]
    lines += [
        {"track": {"f": 10 * k, "p": person, "x": 1 + 0.4 * k, "y": person}}
        for k in range(1, 6)
        for person in (1, 2)
    ]
    lines += [{"track": {"f": 10, "p": 1, "x": 9, "y": 9, "prediction_number": 1, "scene_id": 0}}]
    lines += [{"track": {"f": 20, "p": 9, "x": None, "y": None}}]
    file = put(tmp_path / "t.ndjson", "\n".join(map(json.dumps, lines)) + "\n")
    imported = read(file, "trajnetpp")
    assert imported.walk.dt_s == pytest.approx(0.4)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.0)
    assert imported.notes[:2] == (
        "1 points of further predictions left out",
        "1 rows without a position left out",
    )
    assert read(file, "trajnetpp", fps=5.0).walk.dt_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"track": {"f": 1, "p": 1, "x": 1, "y": 1}}\n', "fps"),
        ('{"scene": {"fps": 2.5}}\n{"track": {"f": "1"}}\n', "line 2: f: expected a number"),
        ("[1]\n", "line 1: expected a scene or a track"),
        ("{\n", "line 1: expected JSON"),
        ('{"scene": {"fps": 0}}\n', "above 0"),
        ('{"track": {"f": 1.5, "p": 1}}\n', "line 1: f: expected a whole number"),
        ('{"track": {"f": Infinity, "p": 1}}\n', "line 1: f: expected a whole number"),
        ('{"track": {"f": 1, "p": 9007199254740993}}\n', "line 1: p: expected a whole number"),
        ('{"track": {"f": 1, "p": 1, "x": 1' + "0" * 400 + "}}\n", "line 1: x: expected a number"),
        ('{"scene": {"fps": 2.5}}\n{"scene": {"fps": 25}}\n', "line 2: fps: expected 2.5"),
        ('{"truck": {"f": 1}}\n', "line 1: expected a scene or a track"),
    ],
)
def test_a_trajnetpp_line_that_is_none_is_named(tmp_path, text, words):
    with pytest.raises(SourceError, match=words):
        read(put(tmp_path / "t.ndjson", text), "trajnetpp")


HEAD = "# description: corridor\n# framerate: 25.00\n# id frame x/{unit} y/{unit} z/{unit}\n"


@pytest.mark.parametrize(
    ("told", "fps"), [("25.0.0", 25.0), ("12,5", 12.5), ("16 fps", 16.0), (".", None)]
)
def test_a_frame_rate_is_read_however_it_is_written(tmp_path, told, fps):
    head = HEAD.format(unit="m").replace("25.00", told)
    file = put(tmp_path / "p.txt", head + "1 0 1.0 1.0\n1 1 1.1 1.0\n")
    if fps is None:
        with pytest.raises(SourceError, match="--fps"):
            read(file, "pedpy_text")
    else:
        assert read(file, "pedpy_text").walk.dt_s == pytest.approx(1 / fps)


@pytest.mark.parametrize(("unit", "factor"), [("m", 1), ("cm", 100)])
def test_pedpy_text_is_read_with_rate_and_unit_of_its_head(tmp_path, unit, factor):
    rows = [f"{p} {k} {factor * (1 + 0.04 * k)} {factor * p} 1.7" for p in (1, 2) for k in range(9)]
    file = put(tmp_path / "p.txt", HEAD.format(unit=unit) + "\n".join(rows))
    walk = read(file, "pedpy_text").walk
    assert walk.dt_s == pytest.approx(0.04)
    assert value(walk, "mean_speed") == pytest.approx(1.0)


def test_pedpy_text_that_says_nothing_asks(tmp_path):
    file = put(tmp_path / "p.txt", "1 0 1.0 1.0\n1 1 1.1 1.0\n")
    with pytest.raises(SourceError, match="--fps"):
        read(file, "pedpy_text")
    with pytest.raises(SourceError, match="--unit"):
        read(file, "pedpy_text", fps=10.0)
    assert read(file, "pedpy_text", fps=10.0, unit="m").walk.dt_s == pytest.approx(0.1)


def jupedsim(path, fps="10", *, people=(1, 2), late=0):
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE trajectory_data (frame, id, pos_x REAL, pos_y REAL)")
    base.execute("CREATE TABLE metadata (key TEXT, value TEXT)")
    if fps is not None:
        base.execute("INSERT INTO metadata VALUES ('fps', ?)", (fps,))
    rows = [(k + late, p, 1 + 0.1 * k, float(n)) for k in range(5) for n, p in enumerate(people)]
    base.executemany("INSERT INTO trajectory_data VALUES (?, ?, ?, ?)", rows)
    base.commit()
    base.close()
    return path


def test_jupedsim_is_read_without_touching_the_file(tmp_path):
    file = jupedsim(tmp_path / "run.sqlite")
    before = file.read_bytes()
    walk = read(file, "jupedsim").walk
    assert (walk.dt_s, walk.agents) == (0.1, 2)
    assert value(walk, "mean_speed") == pytest.approx(1.0)
    assert file.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["run.sqlite"]


def test_large_ids_of_jupedsim_stay_two_people(tmp_path):
    file = jupedsim(tmp_path / "run.sqlite", people=(2**60, 2**60 + 1))
    assert read(file, "jupedsim").agents == (str(2**60), str(2**60 + 1))


@pytest.mark.parametrize("wrong", [{"late": 0.5}, {"people": (None,)}, {"people": ("a",)}])
def test_a_frame_or_id_of_jupedsim_that_is_no_whole_number_is_refused(tmp_path, wrong):
    with pytest.raises(SourceError, match="no whole number"):
        read(jupedsim(tmp_path / "run.sqlite", **wrong), "jupedsim")


def test_a_file_that_is_no_jupedsim_file_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        read(tmp_path / "none.sqlite", "jupedsim")
    with pytest.raises(SourceError, match="trajectory_data"):
        read(put(tmp_path / "x.sqlite", "no database, just a text of some length"), "jupedsim")
    with pytest.raises(SourceError, match="frame numbers per second"):
        read(jupedsim(tmp_path / "slow.sqlite", fps=None), "jupedsim")
    assert read(tmp_path / "slow.sqlite", "jupedsim", fps=5.0).walk.dt_s == 0.2


PIXELS_TO_METRES = np.array([[0.02, 0.001, -3.0], [0.002, 0.03, -5.0], [0.0001, 0.0004, 1.0]])


def boxes(ground, matrix, *, row_column):
    """Return MOT rows of people who stand at places on the ground, (T, N, 2) metres."""
    lines = []
    for frame, places in enumerate(ground, start=1):
        for person, place in enumerate(places, start=1):
            pixel = np.linalg.inv(matrix) @ [*place, 1.0]
            u, v = (pixel[:2] / pixel[2])[:: -1 if row_column else 1]
            lines.append(f"{frame},{person},{u - 20},{v - 80},40,80,0.9,-1,-1,-1")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("row_column", [False, True])
def test_feet_of_boxes_come_back_to_the_ground(tmp_path, row_column):
    moments = np.arange(6)[:, None, None] * 0.04
    ground = np.array([[2.0, 3.0], [4.0, 3.5]]) + moments * [1.25, 0.0]
    np.savetxt(tmp_path / "H.txt", PIXELS_TO_METRES)
    text = boxes(ground, PIXELS_TO_METRES, row_column=row_column)
    imported = read(
        put(tmp_path / "t.txt", text + "1,7,0,0,5,5,0,-1,-1,-1\n"), "mot", fps=25.0,
        homography=tmp_path / "H.txt", pixel_order="row_column" if row_column else "xy",
    )  # fmt: skip
    assert imported.walk.positions == pytest.approx(ground)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.25)
    assert imported.notes[0] == "1 boxes of confidence 0 left out"
    assert imported.walk.frame_of_reference == "ground of H.txt, metres"


def test_the_two_orders_of_pixels_give_different_ground():
    pixels = np.array([[100.0, 200.0], [300.0, 50.0]])
    swapped = on_ground(pixels[:, ::-1], PIXELS_TO_METRES, pixel_order="row_column")
    assert on_ground(pixels, PIXELS_TO_METRES, pixel_order="xy") == pytest.approx(swapped)
    horizon = np.array([[-10000.0, 0.0]])
    assert np.isnan(on_ground(horizon, PIXELS_TO_METRES, pixel_order="xy")).all()


@pytest.mark.parametrize(
    "matrix", ["1 0 0\n0 1 0\n", "1 0 0\n2 0 0\n0 0 1\n", "1 0 ?\n0 1 0\n0 0 1"]
)
def test_a_matrix_that_is_no_homography_is_refused(tmp_path, matrix):
    with pytest.raises(SourceError, match="3 x 3"):
        read(put(tmp_path / "t.txt", "1,1,0,0,5,5,1\n"), "mot", fps=25.0,
             homography=put(tmp_path / "H.txt", matrix), pixel_order="xy")  # fmt: skip


def test_boxes_that_are_none_to_consider_say_so(tmp_path):
    matrix = put(tmp_path / "H.txt", "1 0 0\n0 1 0\n0 0 1")
    tracks = put(tmp_path / "t.txt", "1,1,0,0,5,5,0\n2,1,0,0,5,5,0\n")
    with pytest.raises(SourceError, match="in all 2"):
        read(tracks, "mot", fps=25.0, homography=matrix, pixel_order="xy")


@pytest.mark.parametrize("radius_m", [0.0, -0.2, float("nan"), float("inf")])
def test_a_radius_is_above_nothing(tmp_path, radius_m):
    with pytest.raises(SourceError, match="--radius"):
        read(put(tmp_path / "z.txt", four_columns()), "four_columns", fps=25.0, radius_m=radius_m)


def test_boxes_need_a_homography(tmp_path):
    with pytest.raises(SourceError, match="--homography"):
        read(put(tmp_path / "t.txt", "1,1,0,0,5,5,1\n"), "mot", fps=25.0)


@pytest.fixture
def table():
    return pl.DataFrame(
        {
            "who": ["Zoë", "Zoë", "Zoë", "Ann", "Ann", "Ann"],
            "t": [0.0, 0.5, 1.0, 0.0, 0.5, 1.0],
            "n": [0, 1, 2, 0, 1, 2],
            "x": [1.0, 1.5, 2.0, 5.0, None, 6.0],
            "y": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
            "u": [1.0] * 6,
            "v": [0.0] * 6,
        }
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_read_by_a_map_of_its_columns(tmp_path, table, suffix):
    file = tmp_path / f"walk.{suffix}"
    table.write_csv(file) if suffix == "csv" else table.write_parquet(file)
    columns = {"id": "who", "x": "x", "y": "y", "time": "t", "vx": "u", "vy": "v"}
    imported = read(file, "table", columns=columns)
    assert imported.agents == ("Ann", "Zoë")
    assert imported.walk.dt_s == 0.5
    assert imported.walk.present[:, 0].tolist() == [True, False, True]
    assert imported.walk.velocity[1].tolist() == [[0.0, 0.0], [1.0, 0.0]]
    framed = read(file, "table", columns={"id": "who", "x": "x", "y": "y", "frame": "n"}, fps=2.0)
    assert framed.walk.positions == pytest.approx(
        imported.walk.positions * framed.walk.present[:, :, None]
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": "who", "x": "x", "y": "y"}, "one of frame and time"),
        ({"id": "who", "x": "x", "frame": "n", "y": "z"}, "column 'z'"),
        ({"id": "who", "x": "who", "y": "y", "frame": "n"}, "who: expected numbers, found 'Zoë'"),
        ({"id": "who", "x": "x", "y": "y", "frame": "n", "vx": "u"}, "vx, vy"),
        ({"id": "who", "x": "x", "y": "y", "frame": "n", "z": "y"}, "one of frame and time"),
        ({"id": "n", "x": "x", "y": "y", "time": "y"}, "expected each agent seen at even steps"),
    ],
)
def test_a_map_that_does_not_fit_the_table_is_refused(tmp_path, table, columns, words):
    table.with_columns(y=pl.Series([1.0, 1.0, 1.0, 1.5, 2.0, 7.3])).write_csv(tmp_path / "w.csv")
    with pytest.raises(SourceError, match=words):
        read(tmp_path / "w.csv", "table", columns=columns, fps=2.0)


def test_rows_without_an_id_are_nobody_and_counted(tmp_path, table):
    nameless = table.with_columns(who=pl.Series(["Zoë", "Zoë", None, "Ann", "Ann", None]))
    nameless.write_parquet(tmp_path / "w.PARQUET")
    columns = {"id": "who", "x": "x", "y": "y", "frame": "n"}
    imported = read(tmp_path / "w.PARQUET", "table", columns=columns, fps=2.0)
    assert imported.agents == ("Zoë",)
    assert imported.notes[0] == "2 rows without an id left out"


def test_frame_numbers_that_are_times_are_refused():
    frame = np.array([0, 1, 10**15, 10**15 + 1])
    rows = Rows(frame, np.array([1, 1, 2, 2]), np.zeros(4), np.ones(4))
    with pytest.raises(SourceError, match="are these frame numbers"):
        imported(
            Recording(rows, Clock(fps=25.0), ""), radius_m=0.2, resample_dt_s=None, where="x.txt"
        )


def test_every_format_has_a_test_here():
    assert set(FORMATS) == {
        "eth_obsmat", "four_columns", "trajnetpp", "pedpy_text", "jupedsim", "mot", "table",
    }  # fmt: skip
