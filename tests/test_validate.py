"""Files are held against their schemas from outside: a fault is one line that names its place."""

import json

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError, SourceError
from pipeline.schemas import schema_document
from pipeline.tables import write_table
from pipeline.validate import validate_paths

REJECTION = schema_document("rejection")["examples"][0]
PHASED = schema_document("phased_trip")["examples"][0]


def validate(root, *paths, schema=None):
    return list(validate_paths(list(paths) or [root / "data"], schema=schema, root=root))


def put_phased(root, part, *trip_ids):
    file = root / f"data/toy/phased/part-{part:05d}.parquet"
    rows = pl.DataFrame([PHASED | {"trip_id": one} for one in trip_ids])
    write_table(rows, file, ARTIFACTS["phased"], shown=file.name)
    return file


def test_a_sound_artifact_is_one_line_a_file(tmp_path):
    files = [put_phased(tmp_path, 0, "1", "2"), put_phased(tmp_path, 1, "3")]
    assert validate(tmp_path) == [
        f"{files[0]}: 2 records keep schemas/phased_trip.schema.json",
        f"{files[1]}: 1 records keep schemas/phased_trip.schema.json",
    ]


def test_a_key_that_is_there_twice_in_a_file_is_named(tmp_path):
    file = put_phased(tmp_path, 0, "1", "2", "1")
    for paths in ([], [file], [file.parent, file]):
        with pytest.raises(ContractError, match="found trip_id=1 again after the same file"):
            validate(tmp_path, *paths)


def test_a_key_that_is_there_twice_over_the_shards_is_named(tmp_path):
    put_phased(tmp_path, 0, "1", "2")
    put_phased(tmp_path, 1, "3", "2")
    with pytest.raises(ContractError, match=r"part-00001.* trip_id=2 again after .*part-00000"):
        validate(tmp_path)


def test_the_same_path_given_twice_is_looked_at_once(tmp_path):
    file = put_phased(tmp_path, 0, "1")
    assert len(validate(tmp_path, file, file, file.parent)) == 1


def test_the_same_item_may_be_rejected_twice(tmp_path):
    file = tmp_path / "data/toy/rejected/compress.parquet"
    rows = pl.DataFrame([REJECTION, REJECTION])
    write_table(rows, file, ARTIFACTS["compress_rejected"], shown=file.name)
    assert len(validate(tmp_path)) == 1


def test_a_path_that_does_not_exist_is_said_so(tmp_path):
    with pytest.raises(SourceError, match="nope: expected a file or folder, found nothing"):
        validate(tmp_path, tmp_path / "nope")


@pytest.mark.parametrize("row", ["[1]", "null", "3", '"text"'])
def test_a_line_that_is_no_object_is_named(tmp_path, row):
    file = tmp_path / "some.jsonl"
    file.write_text(f"{json.dumps(REJECTION)}\n\n{row}\n")
    with pytest.raises(ContractError, match=r"some\.jsonl row 1: .* is not of type 'object'"):
        validate(tmp_path, file, schema="rejection")


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path):
    file = tmp_path / "some.jsonl"
    row = REJECTION | {"detail": "cut here\u2028and here\x85"}
    file.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert len(validate(tmp_path, file, schema="rejection")) == 1


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize("text", ["[" * 200_000, "{", "\ufeff{}"])
def test_what_is_no_json_is_one_clear_error(tmp_path, suffix, text):
    file = tmp_path / f"some{suffix}"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="expected JSON, found"):
        validate(tmp_path, file, schema="rejection")


def test_json_of_a_bearable_depth_breaks_its_schema_and_nothing_else(tmp_path):
    file = tmp_path / "some.json"
    file.write_text("[" * 900 + "]" * 900)
    with pytest.raises((ContractError, SourceError)):
        validate(tmp_path, file, schema="rejection")


@pytest.mark.parametrize("content", [b"", b"PAR1", None])
def test_a_damaged_parquet_file_is_one_clear_error(tmp_path, content):
    file = put_phased(tmp_path, 0, "1")
    file.write_bytes(file.read_bytes()[:-40] if content is None else content)
    with pytest.raises(SourceError, match="expected a Parquet file"):
        validate(tmp_path)
