"""The command's body: files of any order in, three files out, or an error that says why."""

import math
import struct

import numba
import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.trips.matching import matcher
from pipeline.trips.matching.match_file import match_file
from tests.matching.towns import chequerboard, degrees, drive, points

TOWN = chequerboard(4)
CORNER = degrees(-80, -80)  # in the box of the town, 113 m from its nearest road
TRACES = [drive((0, 200 * (k % 3)), (600, 200 * (k % 3)), start=7.0 * k) for k in range(9)]


@pytest.fixture
def files(tmp_path):
    TOWN.frame.write_parquet(tmp_path / "net.parquet")
    points(*TRACES).write_parquet(tmp_path / "points.parquet")
    return tmp_path


def run(folder, **changed):
    return match_file(
        folder / "net.parquet",
        folder / "points.parquet",
        folder / "out",
        settings=TOWN.settings,
        workers=1,
        **changed,
    )


def tables(folder):
    return [pl.read_parquet(folder / "out" / f"{n}.parquet") for n in ("path", "points", "trips")]


def test_the_files_hold_what_the_matcher_returns(files):
    counts = run(files)
    expected = TOWN.match(*TRACES)
    assert all(a.equals(b) for a, b in zip(tables(files), expected, strict=True))
    assert counts == (9, expected.points.height, expected.points.height, 9)
    assert sorted(p.name for p in files.iterdir()) == ["net.parquet", "out", "points.parquet"]


def test_scattered_rows_and_small_batches_change_nothing(files):
    frame = points(*TRACES)
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(files / "points.parquet")
    run(files, batch_points=11)
    assert all(a.equals(b) for a, b in zip(tables(files), TOWN.match(*TRACES), strict=True))


def test_an_earlier_result_is_replaced(files):
    run(files)
    overwrite(files, points(*TRACES[:2]))
    run(files)
    assert tables(files)[2].height == 2
    assert sorted(p.name for p in files.iterdir()) == ["net.parquet", "out", "points.parquet"]


def untouched(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
        for p in folder.rglob("*")
    }


def with_other_columns(out):
    pl.DataFrame({"trace_id": [1], "mine": [2]}).write_parquet(out / "trips.parquet")


def with_a_folder_of_a_results_name(out):
    (out / "path.parquet").unlink()
    (out / "path.parquet").mkdir()
    (out / "path.parquet" / "mine").write_text("mine")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda out: (out / "thesis.docx").write_text("years"), r"holds thesis\.docx"),
        (lambda out: (out / "points.csv").write_text("mine"), r"holds points\.csv"),
        (lambda out: (out / ".hidden").write_text("mine"), r"holds \.hidden"),
        (lambda out: (out / "points").mkdir(), "holds points,"),
        (lambda out: (out / "trips.parquet").write_bytes(b"mine"), r"holds trips\.parquet"),
        (lambda out: (out / "trips.parquet").unlink(), r"holds only path\.parquet, points"),
        (with_other_columns, r"holds trips\.parquet, expected .* earlier result"),
        (with_a_folder_of_a_results_name, r"holds path\.parquet"),
    ],
)
def test_a_folder_that_holds_anything_else_is_refused_before_anything_is_read(
    files, change, message
):
    run(files)
    change(files / "out")
    (files / "net.parquet").write_bytes(b"not looked at")
    before = untouched(files)
    with pytest.raises(SourceError, match=message):
        run(files)
    assert untouched(files) == before


def test_a_folder_that_holds_an_input_is_refused(files):
    (files / "out").mkdir()
    (files / "points.parquet").rename(files / "out/points.parquet")
    (files / "points.parquet").symlink_to(files / "out/points.parquet")
    with pytest.raises(SourceError, match=r"holds the input points\.parquet"):
        run(files)
    assert (files / "out/points.parquet").is_file()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("net.parquet", r"net\.parquet: expected a folder, found a file"),
        ("net.parquet/a/b", r"net\.parquet: expected a folder, found a file"),
        ("link", "expected a folder, found a link"),
    ],
)
def test_what_is_no_folder_is_refused(files, out, message):
    (files / "empty").mkdir()
    (files / "link").symlink_to(files / "empty")
    before = untouched(files)
    with pytest.raises(SourceError, match=message):
        match_file(
            files / "net.parquet", files / "points.parquet", files / out, settings=TOWN.settings
        )
    assert untouched(files) == before


def spoil(file):
    """Overwrite the pages of a Parquet file; its footer, at the end, stays readable."""
    content = bytearray(file.read_bytes())
    content[40:140] = b"\xff" * 100
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["net", "points"])
def test_a_file_whose_pages_are_damaged_is_named(files, name):
    spoil(files / f"{name}.parquet")
    with pytest.raises(SourceError, match=rf"{name}\.parquet: cannot be read as Parquet"):
        run(files)
    assert sorted(p.name for p in files.iterdir()) == ["net.parquet", "points.parquet"]


def test_ids_that_no_file_can_hold_are_refused_at_the_start(files):
    overwrite(files, points(*TRACES).with_columns(pl.col("trace_id").cast(pl.Int128)))
    with pytest.raises(ContractError, match="trace_id is Int128, expected strings or integers"):
        run(files)
    overwrite(files, points(*TRACES))
    numbered = TOWN.frame.with_columns(edge_id=pl.int_range(pl.len(), dtype=pl.Int128))
    numbered.write_parquet(files / "net.parquet")
    with pytest.raises(ContractError, match=r"net\.parquet: edge_id is Int128"):
        run(files)


def test_a_coordinate_that_is_no_number_is_refused_without_a_warning(files):
    line = struct.pack("<BII4d", 1, 2, 2, 3.0, 42.0, 3.0, math.nan)  # WKB of a line string
    frame = TOWN.frame.with_columns(geometry=pl.lit(line))
    frame.write_parquet(files / "net.parquet")
    with pytest.raises(ContractError, match=r"net\.parquet: coordinate .*nan"):
        run(files)


@pytest.mark.parametrize("kind", [pl.Null, pl.Float64])
def test_a_column_of_no_times_is_routed_by_geometry_as_the_message_says(files, kind):
    with_times = run(files)
    overwrite(files, points(*TRACES).with_columns(t=pl.lit(None, kind)))
    assert run(files).placed == with_times.placed
    path = pl.read_parquet(files / "out/path.parquet")
    assert path.height
    assert path["t_enter_s"].null_count() == path.height


def overwrite(files, frame):
    frame.write_parquet(files / "points.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f.drop("t"),
            r"points\.parquet: columns \['t'\] are missing.* a column `t` that is null",
        ),
        (lambda f: f.with_columns(pl.col("lon").cast(pl.String)), "lon is String"),
        (lambda f: f.clear(), "no rows"),
        (lambda f: f.rename({"lon": "lat", "lat": "lon"}), "lon and lat are swapped"),
        (lambda f: f.with_columns(pl.col("lon") + 9), "is it the network of another place"),
        (lambda f: f.with_columns(pl.col("lon") + 0.02), "is it the network of another place"),
        (lambda f: f.with_columns(lon=CORNER[0], lat=CORNER[1]), "no road is within 100 m of them"),
        (lambda f: f.with_columns(pl.col("t") * 1000), "is t in seconds"),
        (lambda f: f.head(1), r"none of 1 points .*too_short 1\): traces of too few points"),
        (lambda f: f.with_columns(pl.col("lon") * 1e5), "are these metres"),
        (lambda f: f.with_columns(trace_id=pl.lit(None, pl.Int64)), "have no trace_id"),
        (lambda f: f.with_columns(lat=pl.lit(None, pl.Float64)), "no lon or no lat"),
    ],
)
def test_a_faulty_file_is_refused_and_leaves_nothing_behind(files, change, message):
    overwrite(files, change(points(*TRACES)))
    with pytest.raises(ContractError, match=message):
        run(files)
    assert sorted(p.name for p in files.iterdir()) == ["net.parquet", "points.parquet"]


@pytest.mark.parametrize("name", ["net", "points"])
def test_missing_and_unreadable_files_are_named(files, name):
    path = files / f"{name}.parquet"
    path.write_bytes(b"")
    with pytest.raises(SourceError, match=f"{name}.parquet: expected the bytes that were written"):
        run(files)
    path.unlink()
    with pytest.raises(SourceError, match=f"{name}.parquet: no such file"):
        run(files)
    path.mkdir()
    with pytest.raises(SourceError, match=f"{name}.parquet: a folder is no file"):
        run(files)


def test_compiling_is_announced_once_and_only_when_it_happens(capsys, monkeypatch):
    monkeypatch.setattr(matcher._Announcer, "said", False)
    with matcher.compilation_announced():
        pass
    assert capsys.readouterr().err == ""
    for _ in range(2):
        with matcher.compilation_announced():
            assert numba.njit(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err == "compiling the matcher (once, about a minute) ...\n"
