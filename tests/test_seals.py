"""A changed byte of a Parquet file is found wherever it lies, and a shard that is gone is named."""

import io
import re
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.rows import read_texts
from pipeline.errors import SourceError
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import export_answers, import_answers
from pipeline.schemas import schema_document
from pipeline.seals import check_seal, seal, shards_in
from pipeline.show.gather import life_of
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.tables import read_batches, read_table, rows_in, sealed_writer, write_table
from pipeline.trips.matching.match_file import match_file
from pipeline.validate import validate_paths
from tests.matching.towns import chequerboard, drive, points
from tests.show.project import CITY, write_project

MATCH = Stage("match", "x:y", "", reads=(), writes=("matched",))
COMPRESS = Stage("compress", "x:y", "", reads=("matched",), writes=())
TOWN = chequerboard(4)
WHERE_FOUND = (read_table, lambda file, artifact: list(read_batches(file, artifact)))


def drives(rows: int, mark: str = "t") -> pl.DataFrame:
    frame = pl.concat([pl.DataFrame([schema_document("matched_trip")["examples"][0]])] * rows)
    return frame.with_columns(trip_id=pl.Series([f"{mark}{number}" for number in range(rows)]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "data/toy/matched/part-00000.parquet"
    write_table(drives(40), written, ARTIFACTS["matched"], shown="toy")
    return written


def one_line(fault: pytest.ExceptionInfo[SourceError], file: Path) -> str:
    message = str(fault.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("read", WHERE_FOUND)
def test_a_changed_byte_is_found_wherever_it_lies(file, read):
    whole = file.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 + place * 7 % 255
        file.write_bytes(changed)
        with pytest.raises(SourceError) as fault:
            read(file, ARTIFACTS["matched"])
        one_line(fault, file)


def test_a_changed_length_of_the_footer_is_found_whatever_it_is(file):
    whole = file.read_bytes()
    for place in range(len(whole) - 8, len(whole) - 4):
        for value in set(range(256)) - {whole[place]}:
            file.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with pytest.raises(SourceError):
                read_table(file, ARTIFACTS["matched"])


def test_what_is_cut_off_or_lies_where_the_checksum_was_is_found(file):
    whole = file.read_bytes()
    seal_at = whole.index(b"SEAL")
    damaged = [whole[:-cut] for cut in range(1, 400, 7)]
    damaged += [whole[:place] + bytes(64) + whole[place + 64 :] for place in range(0, seal_at, 50)]
    damaged += [whole[: seal_at - 60] + whole[seal_at + 20 :]]  # the checksum cut out
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(SourceError):
            read_table(file, ARTIFACTS["matched"])


def test_the_message_says_what_to_run_although_dvc_may_see_no_change(file):
    whole = bytearray(file.read_bytes())
    whole[60] ^= 1
    file.write_bytes(whole)
    with pytest.raises(SourceError) as fault:
        read_table(file, ARTIFACTS["matched"])
    assert "found other bytes: the file is damaged" in one_line(fault, file)
    assert "rebuild it with `dvc repro -sf match@toy`" in str(fault.value)


def test_a_count_of_rows_looks_at_the_footer_alone(file):
    whole = bytearray(file.read_bytes())
    whole[60] ^= 1
    file.write_bytes(whole)
    assert rows_in(file, ARTIFACTS["matched"]) == 40
    whole[-20] ^= 1
    file.write_bytes(whole)
    with pytest.raises(SourceError, match="found another footer"):
        rows_in(file, ARTIFACTS["matched"])


def test_other_programs_read_the_file_and_find_damage_in_its_pages_by_themselves(file):
    table = pq.read_table(file, page_checksum_verification=True)
    assert table.num_rows == 40
    assert pl.read_parquet(file).height == 40
    whole = bytearray(file.read_bytes())
    first = pq.ParquetFile(io.BytesIO(whole)).metadata.row_group(0).column(0)
    whole[first.data_page_offset + first.total_compressed_size - 3] ^= 4
    with pytest.raises((OSError, pa.ArrowException)):
        pq.read_table(io.BytesIO(whole), page_checksum_verification=True)


def test_a_file_of_another_program_is_read_and_its_page_checksums_are_compared(tmp_path):
    file = tmp_path / "other.parquet"
    with pq.ParquetWriter(
        file, drives(40).to_arrow().schema, compression="none", write_page_checksum=True
    ) as out:
        out.write_table(drives(40).to_arrow())
    check_seal(file, remedy="none needed")
    assert read_table(file, ARTIFACTS["matched"]).height == 40
    whole = file.read_bytes()
    place = whole.index(b"t7")
    file.write_bytes(whole[:place] + b"t9" + whole[place + 2 :])
    with pytest.raises(SourceError, match="CRC"):
        read_table(file, ARTIFACTS["matched"])


def test_to_seal_a_file_again_changes_nothing_but_its_list(file):
    once = file.read_bytes()
    seal(file)
    assert file.read_bytes() == once
    seal(file, {file.name: 40})
    assert shards_in(file.parent, remedy="") == [file]
    assert read_table(file, ARTIFACTS["matched"]).height == 40
    seal(file)
    assert file.read_bytes() == once


# ---- shards --------------------------------------------------------------------------------------


def write_shards(root: Path, *rows: int) -> Path:
    with StageIO(MATCH, city="toy", root=root) as io:
        io.write_shards("matched", [drives(count, f"s{n}t") for n, count in enumerate(rows)])
    return root / "data/toy/matched"


@pytest.mark.parametrize("number", range(3))
def test_a_shard_that_is_gone_is_named_with_its_rows(tmp_path, number):
    folder = write_shards(tmp_path, 5, 6, 7)
    gone = folder / f"part-{number:05d}.parquet"
    gone.unlink()
    io = StageIO(COMPRESS, city="toy", root=tmp_path)
    for read in (
        lambda: io.read("matched"),
        lambda: list(io.batches("matched")),
        lambda: io.columns("matched", ["trip_id"]),
        lambda: io.rows("matched"),
        lambda: list(validate_paths([tmp_path / "data/toy"], schema=None, root=tmp_path)),
    ):
        with pytest.raises(SourceError) as fault:
            read()
        message = one_line(fault, gone)
        assert f"expected this shard of {5 + number} rows" in message
        assert "found nothing" in message
        assert "dvc repro" in message


def test_shards_of_two_runs_and_shards_too_many_are_named(tmp_path):
    folder = write_shards(tmp_path, 5, 6)
    other = write_shards(tmp_path / "other", 5, 6, 7)
    third = folder / "part-00002.parquet"
    third.write_bytes((other / third.name).read_bytes())
    io = StageIO(COMPRESS, city="toy", root=tmp_path)
    with pytest.raises(SourceError, match=r"part-0000.*of another|found one more"):
        io.read("matched")
    third.unlink()
    write_table(drives(2), third, ARTIFACTS["matched"], shown="toy")
    with pytest.raises(SourceError, match=r"part-00002.*lists none of them"):
        io.read("matched")
    third.unlink()
    (folder / "part-00000.parquet").rename(third)
    with pytest.raises(SourceError, match=r"part-00000.parquet: expected this shard of 5 rows"):
        io.read("matched")


def test_the_same_shards_have_the_same_bytes(tmp_path):
    one, two = (write_shards(tmp_path / name, 5, 1, 7) for name in ("one", "two"))
    for file in sorted(one.iterdir()):
        assert file.read_bytes() == (two / file.name).read_bytes()


# ---- readers that are not the store's ------------------------------------------------------------


def spoilt(file: Path) -> Path:
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 3] ^= 16
    file.write_bytes(whole)
    return file


def test_validate_names_a_damaged_file(file, tmp_path):
    spoilt(file)
    with pytest.raises(SourceError, match=re.escape(str(file)) + r".* the file is damaged"):
        list(validate_paths([tmp_path / "data"], schema=None, root=tmp_path))


@pytest.mark.parametrize("name", ["raw_trips", "cleaned", "matched", "phased", "roads"])
def test_show_shows_nothing_of_a_damaged_file(tmp_path, name):
    root = write_project(tmp_path)
    place = root / f"data/{CITY}" / ARTIFACTS[name].path
    spoilt(place if place.is_file() else place / "part-00000.parquet")
    with pytest.raises(SourceError, match=r"the file is damaged; run `dvc repro -sf \w+@tiny`"):
        life_of(root, CITY, "17")


def test_show_names_a_shard_that_is_gone(tmp_path):
    root = write_project(tmp_path)
    folder = root / f"data/{CITY}/matched"
    rows = {one.name: pl.read_parquet(one).height for one in folder.glob("*.parquet")}
    for one in rows:
        seal(folder / one, rows)
    (folder / "part-00001.parquet").unlink()
    with pytest.raises(SourceError, match=r"part-00001.parquet: expected this shard"):
        life_of(root, CITY, "17")


def test_audit_compares_no_damaged_texts(tmp_path):
    folders = [tmp_path / side for side in ("before", "after")]
    example = pl.DataFrame([schema_document("annotated_trip")["examples"][0]])
    for folder in folders:
        file = folder / "part-00000.parquet"
        write_table(example, file, ARTIFACTS["annotated"], shown="toy")
    spoilt(folders[1] / "part-00000.parquet")
    with pytest.raises(SourceError, match=r"after/part-00000.parquet: .* the file is damaged"):
        read_texts(*folders)


def test_match_file_writes_checksums_and_reads_no_damaged_network(tmp_path):
    TOWN.frame.write_parquet(tmp_path / "net.parquet")
    points(drive((0, 0), (600, 0))).write_parquet(tmp_path / "points.parquet")
    out = tmp_path / "out"
    network, recorded = tmp_path / "net.parquet", tmp_path / "points.parquet"
    match_file(network, recorded, out, settings=TOWN.settings, workers=1)
    for name in ("path", "points", "trips"):
        assert b"SEAL" in (out / f"{name}.parquet").read_bytes()
        check_seal(out / f"{name}.parquet", remedy="")
    with sealed_writer(network, TOWN.frame.to_arrow().schema) as writer:
        writer.write_table(TOWN.frame.to_arrow())
    seal(network)
    spoilt(network)
    with pytest.raises(SourceError, match=r"net.parquet: .* the file is damaged; check --network"):
        match_file(network, recorded, out, settings=TOWN.settings, workers=1)


def test_exported_answers_have_checksums_and_damaged_ones_are_not_imported(tmp_path):
    ledger, exported = tmp_path / "ledger", tmp_path / "answers.parquet"
    with Ledger(ledger):
        pass
    list(export_answers(ledger, exported, task=None, model=None))
    check_seal(exported, remedy="")
    list(import_answers(ledger, [exported]))
    spoilt(exported)
    with pytest.raises(SourceError, match=r"answers.parquet: .* the file is damaged; export it"):
        list(import_answers(ledger, [exported]))


def test_any_writer_of_ours_marks_its_file(tmp_path):
    file = tmp_path / "out.parquet"
    table = drives(3).to_arrow()
    with sealed_writer(file, table.schema) as out:
        out.write_table(table)
    with pytest.raises(SourceError, match="no checksum before the footer"):
        check_seal(file, remedy="seal it")
    seal(file)
    check_seal(file, remedy="")
