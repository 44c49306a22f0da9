"""A file of predictions is read as it stands, matched by id, refused where it must be."""

import json
import math

import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.tasks.measure import coverage_of
from pipeline.tasks.predictions import matched, read_predictions
from pipeline.tasks.released import open_release
from tests.tasks.town import Trip, route, write_release

TRIPS = [
    Trip("a", "train", [0, 1, 2]),
    Trip("b", "val", [0, 10, 20]),
    Trip("c", "test", [11, 12, 13]),
    Trip("d", "test", [11, 21, 31]),
]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return open_release(write_release(tmp_path_factory.mktemp("toy"), TRIPS))


def instance(trip: str, style: str = "literal") -> str:
    return f"toy/{trip}/generation/{style}"


def jsonl(folder, *rows):
    file = folder / "routes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_parquet_and_jsonl_read_the_same(tmp_path):
    rows = [
        {"instance_id": instance("c"), "edge_ids": route(11, 12), "candidates": [route(11, 21)]},
        {"instance_id": instance("d"), "edge_ids": None, "candidates": None},
    ]
    parquet = tmp_path / "routes.parquet"
    pl.DataFrame(rows).write_parquet(parquet)
    one, other = (read_predictions(f, "generation") for f in (parquet, jsonl(tmp_path, *rows)))
    assert one.equals(other)
    assert one.columns == ["instance_id", "edge_ids", "candidates", "t_enter_s"]
    assert one["t_enter_s"].to_list() == [None, None]


def test_a_file_without_rows_has_the_columns(tmp_path):
    assert read_predictions(jsonl(tmp_path), "retrieval").shape == (0, 3)


def test_nan_reads_as_null(tmp_path):
    row = {"instance_id": "toy/c/retrieval/1", "trip_ids": ["c", "d"], "scores": [math.nan, 0.5]}
    assert read_predictions(jsonl(tmp_path, row), "retrieval")["scores"].to_list() == [[None, 0.5]]
    assert read_predictions(
        jsonl(tmp_path, row | {"trip_ids": math.nan}), "retrieval"
    )["trip_ids"].to_list() == [None]  # fmt: skip
    parquet = tmp_path / "ranks.parquet"
    pl.DataFrame([row]).write_parquet(parquet)
    assert read_predictions(parquet, "retrieval")["scores"].to_list() == [[None, 0.5]]


@pytest.mark.parametrize("scores", [[1, 0.5], [0.5, 1], [1, 10**30, 0.5], [2, None, 0.5]])
def test_whole_numbers_and_others_stand_in_one_list(tmp_path, scores):
    row = {"instance_id": "toy/c/retrieval/1", "trip_ids": ["c"] * len(scores), "scores": scores}
    assert read_predictions(jsonl(tmp_path, row), "retrieval")["scores"].to_list() == [
        [None if one is None else float(one) for one in scores]
    ]


def test_types_that_mean_the_same_are_read(tmp_path):
    file = tmp_path / "ranks.parquet"
    frame = pl.DataFrame(
        {"instance_id": ["x", "y"], "trip_ids": [["c"], ["d"]], "scores": [[1], [2]]},
        schema_overrides={
            "instance_id": pl.Categorical,
            "trip_ids": pl.List(pl.Categorical),
            "scores": pl.List(pl.Float32),
        },
    )
    frame.write_parquet(file)
    read = read_predictions(file, "retrieval")
    assert read.schema["trip_ids"] == pl.List(pl.String)
    assert read.rows() == [("x", ["c"], [1.0]), ("y", ["d"], [2.0])]


REFUSED = {
    "doubled": [{"instance_id": instance("c"), "edge_ids": []}] * 2,
    "numbers": [{"instance_id": instance("c"), "edge_ids": [7]}],
    "no column": [{"instance_id": instance("c")}],
    "misspelt": [{"instance_id": instance("c"), "edge_ids": [], "candidate": []}],
}
SAYS = {
    "doubled": (SourceError, "expected each instance_id once, found 'toy/c/generation/literal'"),
    "numbers": (ContractError, "edge_ids"),
    "no column": (ContractError, "edge_ids"),
    "misspelt": (ContractError, "candidate"),
}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_by_name(tmp_path, form, case):
    file = jsonl(tmp_path, *REFUSED[case])
    if form == "parquet":
        file = tmp_path / "routes.parquet"
        pl.DataFrame(REFUSED[case]).write_parquet(file)
    kind, says = SAYS[case]
    with pytest.raises(kind, match=says) as fault:
        read_predictions(file, "generation")
    assert str(fault.value).startswith(str(file))


def test_a_row_without_an_id_is_refused_with_its_number(tmp_path):
    file = tmp_path / "routes.parquet"
    pl.DataFrame({"instance_id": ["x", None], "edge_ids": [["a"], ["b"]]}).write_parquet(file)
    with pytest.raises(ContractError, match="row 1: instance_id: expected text, found null"):
        read_predictions(file, "generation")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("x.jsonl", "{]", "line 1: expected a JSON record"),
        (
            "x.parquet",
            "PAR1",
            "expected the bytes that were written, found no end of a Parquet file",
        ),
        ("x.csv", "instance_id", "ends in .parquet or .jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(SourceError, match=says):
        read_predictions(tmp_path / name, "generation")


def test_no_file_is_refused(tmp_path):
    for name in ("x.jsonl", "x.parquet"):
        with pytest.raises(SourceError, match=f"{name}: expected a"):
            read_predictions(tmp_path / name, "generation")


def match(release, tmp_path, rows, split="test"):
    file = jsonl(tmp_path, *rows)
    predictions = read_predictions(file, "generation")
    return matched(release, "generation", split, predictions, file=file)


def test_each_instance_of_the_split_has_one_row(release, tmp_path):
    rows = [
        {"instance_id": instance("d", "concise"), "edge_ids": route(11, 21)},
        {"instance_id": instance("a"), "edge_ids": route(0, 1)},
    ]
    found = match(release, tmp_path, rows)
    assert found.other == 1
    assert found.rows["instance_id"].equals(release.instances("generation", "test")["instance_id"])
    assert found.rows.filter("predicted")["edge_ids"].to_list() == [route(11, 21)]
    assert found.rows.filter(~pl.col("predicted"))["edge_ids"].null_count() == 5


@pytest.mark.parametrize(
    "wrong", ["monaco/c/generation/literal", "toy/c/captioning/1", "toy/nobody/generation/literal"]
)
def test_ids_of_another_city_or_task_or_of_nothing_are_refused(release, tmp_path, wrong):
    rows = [{"instance_id": instance("c"), "edge_ids": []}, {"instance_id": wrong, "edge_ids": []}]
    with pytest.raises(SourceError, match=f"release of toy .*, found '{wrong}'"):
        match(release, tmp_path, rows)


def test_predictions_of_another_split_alone_are_refused(release, tmp_path):
    rows = [{"instance_id": instance("a"), "edge_ids": []}]
    with pytest.raises(SourceError, match="for the split 'test', found only rows of train"):
        match(release, tmp_path, rows)
    with pytest.raises(SourceError, match="for the split 'test', found no rows"):
        match(release, tmp_path, [])


def test_coverage_counts_every_instance_once():
    status = pl.Series(["ok", "missing", "empty", "empty", "unknown_segment"])
    found = coverage_of(status, other=7)
    assert found == (5, 4, 1, {"empty": 2, "unknown_segment": 1}, 7)
    assert found.missing + found.predicted == found.instances
