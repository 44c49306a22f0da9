"""The store opens what a stage declares, validates at the door and leaves nothing half-done."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import geopandas
import polars as pl
import pytest
import shapely

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError, PipelineError, SourceError
from pipeline.schemas import ROWS_PER_GROUP, schema_document
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.tables import TableWriter, read_table, rows_in, write_table

COMPRESS = Stage(
    "compress", "x:y", "", reads=("matched",), writes=("phased",), rejects=True
)  # fmt: skip


def example(schema: str) -> dict:
    return schema_document(schema)["examples"][0]


def frame_of(schema: str, *records: dict) -> pl.DataFrame:
    return pl.DataFrame(list(records) or [example(schema)])


def write_input(root: Path, name: str = "matched", schema: str = "matched_trip") -> None:
    file = root / "data/toy" / ARTIFACTS[name].path / "part-00000.parquet"
    write_table(frame_of(schema), file, ARTIFACTS[name], shown="toy")


def test_what_is_written_is_read_back(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
    back = read_table(tmp_path / "data/toy/phased/part-00000.parquet", ARTIFACTS["phased"])
    assert back.to_dicts() == [example("phased_trip")]


def test_a_failing_stage_leaves_the_old_artifact_and_nothing_else(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
    before = (tmp_path / "data/toy/phased/part-00000.parquet").read_bytes()

    def broken_frames():
        yield frame_of("phased_trip").clear()
        raise RuntimeError

    with pytest.raises(RuntimeError), StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", broken_frames())
    assert (tmp_path / "data/toy/phased/part-00000.parquet").read_bytes() == before
    assert not (tmp_path / "data/toy/.writing").exists()


def test_what_a_killed_run_left_behind_is_removed(tmp_path):
    stale = tmp_path / "data/toy/.writing/compress/phased/part-00009.parquet"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"half")
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
    assert [f.name for f in (tmp_path / "data/toy/phased").iterdir()] == ["part-00000.parquet"]
    assert not (tmp_path / "data/toy/.writing").exists()


def test_a_second_run_of_a_stage_is_refused_and_harms_nothing(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
        second = StageIO(COMPRESS, city="toy", root=tmp_path)
        message = rf"another run of compress@toy is under way \(pid {os.getpid()}\)"
        with pytest.raises(PipelineError, match=message), second:
            pass
        with StageIO(COMPRESS, city="other", root=tmp_path) as other:
            other.write_shards("phased", [])
    assert (tmp_path / "data/toy/phased/part-00000.parquet").exists()
    assert not (tmp_path / "data/toy/.writing").exists()


def run_compress(root: Path) -> str:
    try:
        with StageIO(COMPRESS, city="toy", root=root) as io:
            io.write_shards("phased", [frame_of("phased_trip")])
    except PipelineError:
        return "refused"
    return "done"


def test_of_many_runs_at_once_each_ends_well_or_is_refused(tmp_path):
    with ThreadPoolExecutor(4) as pool:  # the lock belongs to the opened file, not to the process
        ends = list(pool.map(run_compress, [tmp_path] * 200))
    assert set(ends) <= {"done", "refused"}
    assert "done" in ends
    assert [f.name for f in (tmp_path / "data/toy/phased").iterdir()] == ["part-00000.parquet"]
    assert not (tmp_path / "data/toy/.writing").exists()


def test_an_artifact_that_cannot_be_put_in_place_leaves_the_old_one_and_the_true_error(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
    with (
        pytest.raises(FileNotFoundError, match="phased"),
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.path("phased")  # declared as written, and then it is not
    assert (tmp_path / "data/toy/phased/part-00000.parquet").exists()
    assert not (tmp_path / "data/toy/.writing").exists()


def test_a_scratch_folder_lies_beside_the_data_and_goes_with_the_stage(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        one, other = io.scratch(), io.scratch()
        assert one != other
        assert one.is_relative_to(tmp_path / "data/toy")
        assert list(one.iterdir()) == []
        (one / "sorted").write_bytes(b"passing")
        io.write_shards("phased", [])
    assert not one.exists()
    assert not (tmp_path / "data/toy/.writing").exists()


def test_the_same_rows_give_the_same_bytes(tmp_path):
    def digest(folder: str) -> str:
        with StageIO(COMPRESS, city=folder, root=tmp_path) as io:
            io.write_shards("phased", [frame_of("phased_trip")])
        file = tmp_path / "data" / folder / "phased/part-00000.parquet"
        return hashlib.sha256(file.read_bytes()).hexdigest()

    assert digest("one") == digest("two")


def test_a_row_that_breaks_its_schema_names_file_row_id_path_and_rule(tmp_path):
    bad = example("phased_trip") | {"trip_id": "bad"}
    bad["phases"] = [bad["phases"][0] | {"dir": "NNW"}, bad["phases"][1]]
    with (
        pytest.raises(ContractError) as fault,
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.write_shards("phased", [frame_of("phased_trip", example("phased_trip"), bad)])
    message = str(fault.value)
    for fact in ("data/toy/phased/part-00000.parquet", "row 1", "trip_id=bad",
                 "$.phases[0].dir", "'NNW' is not one of", "phased_trip.schema.json#"):  # fmt: skip
        assert fact in message


def test_an_undeclared_artifact_is_refused(tmp_path):
    with (
        pytest.raises(ContractError, match="reads 'roads', expected one of matched"),
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.read("roads")


def test_a_declared_output_that_was_not_written_is_an_error(tmp_path):
    with (
        pytest.raises(ContractError, match="expected it to write phased"),
        StageIO(COMPRESS, city="toy", root=tmp_path),
    ):
        pass


def test_a_missing_input_says_what_to_run(tmp_path):
    with (
        pytest.raises(SourceError, match="dvc repro compress@toy"),
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.read("matched")


def test_an_unreadable_input_is_one_clear_error(tmp_path):
    write_input(tmp_path)
    (tmp_path / "data/toy/matched/part-00000.parquet").write_bytes(b"not parquet")
    with (
        pytest.raises(SourceError, match="expected a Parquet file"),
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.read("matched")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.rename({"route_length_m": "length_m"}), "expected the columns .*route_length"),
        (lambda f: f.with_columns(pl.col("confidence").cast(pl.String)), "Float64, found String"),
        (lambda f: f.with_columns(edge_ids=pl.lit([1])), r"List\(String\), found List\(Int"),
        (lambda f: f.with_columns(trip_id=pl.lit(None, pl.String)), "trip_id: .* 1 rows without"),
        (lambda f: f.with_columns(off_to_m=pl.lit(float("nan"))), "off_to_m: .* found NaN"),
    ],
)
def test_an_input_whose_columns_are_not_the_schemas_is_one_clear_error(tmp_path, change, message):
    write_input(tmp_path)
    file = tmp_path / "data/toy/matched/part-00000.parquet"
    change(pl.read_parquet(file)).write_parquet(file)
    with (
        pytest.raises(ContractError, match=message),
        StageIO(COMPRESS, city="toy", root=tmp_path) as io,
    ):
        io.read("matched")


def test_a_column_that_may_be_null_is_read_as_it_is(tmp_path):
    file = tmp_path / "roads.parquet"
    nameless = example("road") | {"name": None, "geometry": b"\x01\x02"}
    write_table(frame_of("road", nameless), file, ARTIFACTS["roads"], shown="toy")
    assert read_table(file, ARTIFACTS["roads"])["name"].to_list() == [None]


def test_rejections_are_sorted_and_written_even_when_there_are_none(tmp_path):
    rejected = tmp_path / "data/toy/rejected/compress.parquet"
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [])
    assert pl.read_parquet(rejected).height == 0
    refused = pl.DataFrame(
        {"item_id": ["b", "a"], "stage": "compress", "reason": "too_few_phases", "detail": ""}
    )
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [])
        io.reject(refused)
    assert pl.read_parquet(rejected)["item_id"].to_list() == ["a", "b"]


def test_a_run_tells_in_one_line_what_it_made_and_refused(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip"), frame_of("phased_trip")])
    assert io.outcome() == "compress@toy: phased 2; rejected 0"
    reasons = ["too_few_phases", "too_few_phases", "no_cell"]
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip")])
        for number, reason in enumerate(reasons):
            io.reject(
                pl.DataFrame({
                    "item_id": [f"t{number}"], "stage": "compress", "reason": reason, "detail": "",
                })
            )  # fmt: skip
    assert io.outcome() == ("compress@toy: phased 1; rejected 3 (too_few_phases 2, no_cell 1)")


def drives(rows: int) -> pl.DataFrame:
    """Return so many matched trips of one to three segments."""
    frame = pl.concat([frame_of("matched_trip")] * rows)
    edges = [["a", "b", "c"][: 1 + number % 3] for number in range(rows)]
    ids = [f"t{number}" for number in range(rows)]
    return frame.with_columns(pl.Series("trip_id", ids), pl.Series("edge_ids", edges))


@pytest.mark.parametrize("rows", [0, 5, ROWS_PER_GROUP, ROWS_PER_GROUP + 700])
@pytest.mark.parametrize("step", [97, ROWS_PER_GROUP - 1, 2 * ROWS_PER_GROUP])
def test_rows_that_arrive_some_at_a_time_give_the_same_bytes_as_all_at_once(tmp_path, rows, step):
    whole, piecewise = tmp_path / "whole.parquet", tmp_path / "piecewise.parquet"
    frame = drives(rows) if rows else frame_of("matched_trip").clear()
    write_table(frame, whole, ARTIFACTS["matched"], shown="toy")
    with TableWriter(piecewise, ARTIFACTS["matched"], shown="toy") as table:
        for start in range(0, rows, step):
            table.write(frame[start : start + step])
    assert piecewise.read_bytes() == whole.read_bytes()


def test_a_bad_row_that_arrives_late_is_named_by_its_place_in_the_file(tmp_path):
    bad = drives(3).with_columns(confidence=pl.lit(7.0))
    table = TableWriter(tmp_path / "x.parquet", ARTIFACTS["matched"], shown="toy")
    table.write(drives(4))
    with pytest.raises(ContractError, match=r"toy row 4 trip_id=t0: \$.confidence"):
        table.write(bad)


def test_a_table_is_read_shard_by_shard_and_some_rows_at_a_time(tmp_path):
    whole = drives(2500)
    for number, frame in enumerate((whole[:2100], whole.clear(), whole[2100:])):
        file = tmp_path / f"data/toy/matched/part-{number:05d}.parquet"
        write_table(frame, file, ARTIFACTS["matched"], shown="toy")
    io = StageIO(COMPRESS, city="toy", root=tmp_path)
    parts = [[frame.height for frame in part] for part in io.parts("matched")]
    assert parts == [[1024, 1024, 52], [0], [400]]
    assert pl.concat(io.batches("matched")).equals(io.read("matched"))


def test_some_columns_of_a_table_are_read_in_the_order_asked_for(tmp_path):
    write_input(tmp_path)
    io = StageIO(COMPRESS, city="toy", root=tmp_path)
    found = io.columns("matched", ["edge_ids", "trip_id"])
    assert found.equals(io.read("matched").select("edge_ids", "trip_id"))


def test_a_column_that_is_missing_is_a_fault_although_others_are_left_out(tmp_path):
    write_input(tmp_path)
    file = tmp_path / "data/toy/matched/part-00000.parquet"
    pl.read_parquet(file).drop("trip_id").write_parquet(file)
    io = StageIO(COMPRESS, city="toy", root=tmp_path)
    with pytest.raises(ContractError, match="expected the columns trip_id, edge_ids, found edge_i"):
        io.columns("matched", ["trip_id", "edge_ids"])


def test_a_stage_that_refuses_every_trip_warns(tmp_path):
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        io.write_shards("phased", [frame_of("phased_trip").clear()])
        io.reject(
            pl.DataFrame(
                {"item_id": ["t1"], "stage": "compress", "reason": "no_cell", "detail": ""}
            )
        )
    assert io.outcome().splitlines() == [
        "compress@toy: phased 0; rejected 1 (no_cell 1)",
        "warning: no trip is left in phased; data/toy/rejected/compress.parquet has the reasons",
    ]


def test_columns_are_the_schemas_even_when_a_shard_is_empty(tmp_path):
    file = tmp_path / "empty.parquet"
    write_table(frame_of("phased_trip").clear(), file, ARTIFACTS["phased"], shown="toy")
    phases = pl.read_parquet_schema(file)["phases"].inner
    assert "road_names" in [field.name for field in phases.fields]


def test_roads_open_in_geopandas_as_longitude_latitude(tmp_path):
    record = example("road")
    line = shapely.LineString([(7.42, 43.73), (7.43, 43.74)])
    frame = pl.DataFrame([record | {"geometry": shapely.to_wkb(line)}])
    file = tmp_path / "roads.parquet"
    write_table(frame, file, ARTIFACTS["roads"], shown="toy")
    opened = geopandas.read_parquet(file)
    assert opened.crs == "OGC:CRS84"
    assert opened.geometry[0].equals(line)


# ---- stages that ask a model ---------------------------------------------------------------------


def test_rows_are_counted_over_all_shards_without_reading_them(tmp_path):
    write_input(tmp_path)
    folder = tmp_path / "data/toy/matched"
    (folder / "part-00001.parquet").write_bytes((folder / "part-00000.parquet").read_bytes())
    assert StageIO(COMPRESS, city="toy", root=tmp_path).rows("matched") == 2


def test_only_a_stage_that_asks_a_model_is_told_where_the_ledger_lies(tmp_path):
    asking = COMPRESS._replace(asks=True)
    io = StageIO(asking, city="toy", root=tmp_path, ledger=tmp_path / "store")
    assert io.ledger_folder == tmp_path / "store"
    other = StageIO(COMPRESS, city="toy", root=tmp_path, ledger=tmp_path / "store")
    with pytest.raises(ContractError, match="stage compress: wants the response ledger"):
        _ = other.ledger_folder


def test_rows_of_a_broken_file_are_a_fault_that_names_it(tmp_path):
    write_input(tmp_path)
    file = tmp_path / "data/toy/matched/part-00000.parquet"
    with StageIO(COMPRESS, city="toy", root=tmp_path) as io:
        assert io.rows("matched") == 1
        io.write_shards("phased", [frame_of("phased_trip")])
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(SourceError, match=r"part-00000\.parquet: .*no end of a Parquet"):
            io.rows("matched")


@pytest.mark.parametrize(
    ("place", "name", "command"),
    [
        ("data/toy/roads.parquet", "roads", "dvc repro -sf roads@toy"),
        ("data/toy/matched/part-00000.parquet", "matched", "dvc repro -sf match@toy"),
        ("data/toy/rejected/ingest.parquet", "ingest_rejected", "dvc repro -sf ingest@toy"),
        ("data/stride/maps.parquet", "stride_maps", "dvc repro -sf stride_maps"),
        ("elsewhere/roads.parquet", "roads", "dvc repro"),
    ],
)
def test_a_truncated_table_names_the_stage_that_makes_it(tmp_path, place, name, command):
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_bytes(b"PAR1")
    for read in (read_table, rows_in):
        with pytest.raises(SourceError, match=f"rebuild it with `{command}`$"):
            read(file, ARTIFACTS[name])
