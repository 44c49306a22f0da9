"""Files are held against their schemas from outside: a fault is one line that names its place."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from pipeline.__main__ import main
from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError, SourceError
from pipeline.release.publish import write_sums
from pipeline.schemas import schema_document
from pipeline.stages import Stage
from pipeline.store import StageIO
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
def test_a_parquet_file_that_is_cut_short_is_one_clear_error(tmp_path, content):
    file = put_phased(tmp_path, 0, "1")
    file.write_bytes(file.read_bytes()[:-40] if content is None else content)
    with pytest.raises(SourceError, match=r"found no end of a Parquet file \(cut short"):
        validate(tmp_path)


@pytest.mark.parametrize("from_end", range(1, 9))
def test_damage_at_the_end_of_a_parquet_file_is_called_so_with_the_command(tmp_path, from_end):
    file = put_phased(tmp_path, 0, "1")
    whole = bytearray(file.read_bytes())
    whole[-from_end] ^= 1
    file.write_bytes(whole)
    with pytest.raises(SourceError) as fault:
        validate(tmp_path)
    assert "cut short, or its last bytes changed" in str(fault.value)
    assert str(fault.value).endswith("rebuild it with `dvc repro -sf compress@toy`")


def test_every_damaged_file_is_named_and_every_sound_one(tmp_path, monkeypatch, capsys):
    files = [put_phased(tmp_path, part, f"a{part}", f"b{part}") for part in range(4)]
    for number in (1, 2):
        whole = bytearray(files[number].read_bytes())
        whole[60] ^= 1
        files[number].write_bytes(whole)
    record = tmp_path / "data/toy/metrics/loss.json"
    record.parent.mkdir()
    record.write_text("{", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "data"]) == 1
    said = capsys.readouterr()
    shown = [str(file.relative_to(tmp_path)) for file in files]
    assert [line.partition(":")[0] for line in said.out.splitlines()] == [shown[0], shown[3]]
    first, *lines = said.err.splitlines()
    assert first == "error: expected sound files, found 3 faults"
    assert [line.partition(":")[0] for line in lines] == [
        "data/toy/metrics/loss.json", shown[1], shown[2],
    ]  # fmt: skip
    assert all("`dvc repro -sf " in line for line in lines)


def test_a_key_that_is_there_twice_hides_no_other_fault(tmp_path):
    put_phased(tmp_path, 0, "1", "1")
    put_phased(tmp_path, 1, "2")
    put_phased(tmp_path, 2, "2")
    with pytest.raises(ContractError) as fault:
        validate(tmp_path)
    first, *lines = str(fault.value).splitlines()
    assert first == "expected sound files, found 2 faults"
    assert ["trip_id=1 again" in line for line in lines] == [True, False]
    assert ["trip_id=2 again" in line for line in lines] == [False, True]


def test_each_missing_shard_is_named(tmp_path):
    frames = [pl.DataFrame([PHASED | {"trip_id": one}]) for one in "abcd"]
    writing = Stage("compress", "x:y", "", reads=(), writes=("phased",))
    with StageIO(writing, city="toy", root=tmp_path) as io:
        io.write_shards("phased", frames)
    folder = tmp_path / "data/toy/phased"
    for part in (0, 2):
        (folder / f"part-{part:05d}.parquet").unlink()
    with pytest.raises(SourceError) as fault:
        validate(tmp_path)
    lines = str(fault.value).splitlines()[1:]
    assert [Path(line.partition(":")[0]).name for line in lines] == [
        "part-00000.parquet", "part-00002.parquet",
    ]  # fmt: skip
    assert all("expected this shard of 1 rows" in line for line in lines)


def put_release(folder):
    (folder / "toy/generation").mkdir(parents=True)
    (folder / "toy/generation/test.parquet").write_bytes(b"PAR1 rows PAR1")
    for name in ("README.md", "toy/contents.json"):
        (folder / name).write_text(f"{name}\n", "utf-8")
    write_sums(folder / "toy")
    write_sums(folder)


def test_a_released_folder_is_held_to_its_checksums_wherever_it_lies(tmp_path):
    released = tmp_path / "brought"
    put_release(released)
    assert validate(tmp_path / "project", released) == [
        f"{released}/SHA256SUMS: 4 files as listed",
        f"{released}/toy/SHA256SUMS: 2 files as listed",
    ]


@pytest.mark.parametrize("name", ["README.md", "toy/contents.json", "toy/generation/test.parquet"])
def test_any_byte_of_a_released_folder_that_changed_is_found(tmp_path, name):
    released = tmp_path / "brought"
    put_release(released)
    file = released / name
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1 :])
        with pytest.raises(SourceError, match=re.escape(f"{file}: expected sha256")):
            validate(tmp_path / "project", released)
    file.unlink()
    with pytest.raises(SourceError, match=re.escape(f"{file}: expected") + ".* found nothing"):
        validate(tmp_path / "project", released)
