"""The command's body: files of any order in, three files out, or an error that says why."""

import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.trips.matching.match_file import match_file
from tests.matching.towns import chequerboard, drive, points

TOWN = chequerboard(4)
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


def test_an_earlier_result_is_replaced_and_a_strange_folder_is_not(files):
    run(files)
    run(files)
    (files / "out" / "thesis.docx").write_text("years of work")
    with pytest.raises(SourceError, match=r"holds thesis\.docx"):
        run(files)
    assert (files / "out" / "thesis.docx").exists()


def overwrite(files, frame):
    frame.write_parquet(files / "points.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("t"), r"points\.parquet: points: columns \['t'\] are missing"),
        (lambda f: f.with_columns(pl.col("lon").cast(pl.String)), "lon is String"),
        (lambda f: f.clear(), "no rows"),
        (lambda f: f.rename({"lon": "lat", "lat": "lon"}), "lon and lat are swapped"),
        (lambda f: f.with_columns(pl.col("lon") + 9), "is it the network of another place"),
        (lambda f: f.with_columns(pl.col("lon") + 0.02), "is it the network of another place"),
        (lambda f: f.with_columns(lat=42.0029, lon=3.001), "none of .* points is within 100 m"),
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
    with pytest.raises(SourceError, match=f"{name}.parquet: cannot be read as Parquet"):
        run(files)
    path.unlink()
    with pytest.raises(SourceError, match=f"{name}.parquet: no such file"):
        run(files)
