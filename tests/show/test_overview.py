"""A city without a trip id: the rows of its loss table, with ids."""

import shutil

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ParameterError, SourceError
from pipeline.release.loss_table import RELEASED, loss_rows
from pipeline.show.overview import overview_of
from pipeline.tables import write_table
from tests.release.test_loss import LIFE_OF_NINE, REFUSALS, account
from tests.show.project import CITY, put, write_project


def counts_of(lines: list[str]) -> dict[str, int]:
    """Read back what each line counts; ids follow after two blanks."""
    cut = [[part.strip() for part in line.split("  ") if part.strip()] for line in lines]
    return {label: int(count.replace(",", "")) for label, count, *_ in cut}


def test_a_label_counts_in_show_what_it_counts_in_the_loss_table(tmp_path):
    entries, figures = account(LIFE_OF_NINE, REFUSALS)
    file = artifact_path(ARTIFACTS["loss"], root=tmp_path, city="toy")
    write_table(entries, file, ARTIFACTS["loss"], shown="toy")
    shown = counts_of(overview_of(tmp_path, "toy"))
    splits = {split: shown.pop(f"in {split}") for split in ("train", "val", "test")}
    assert list(shown.items()) == [(label, one[0]) for label, one in loss_rows([figures])]
    assert splits == figures["released"]["splits"]
    assert shown["- match: drive_too_short"] == 1  # a piece of a trip that is released


def test_the_ids_are_those_of_the_pieces_that_are_counted(tmp_path):
    def loss(item, raw, reason=None):
        released = reason is None
        return {"item_id": item, "raw_trip_id": raw, "decides": item == raw, "reason": reason,
                "state": "released" if released else "rejected",
                "stage": "release" if released else "check",
                "split": "train" if released else None}  # fmt: skip

    rows = [loss(f"t{i}", f"t{i}") for i in range(5)]
    rows += [loss("t5_p2", "t5"), loss("t6_p2", "t6", "off_route")]
    file = tmp_path / "data/toy/loss.parquet"
    write_table(pl.DataFrame(rows), file, ARTIFACTS["loss"], shown="toy")
    lines = [line.split() for line in overview_of(tmp_path, "toy")]
    assert ["in", "train", "6", "t0", "t1", "t2", "t3", "..."] in lines
    assert ["-", "check:", "off_route", "1", "t6_p2"] in lines


def test_before_the_account_pieces_are_followed_as_far_as_the_phases(tmp_path):
    root = write_project(tmp_path)  # trip 17 drove 17 and 17_p2, which has too few phases
    ends = [("17", "phased", "compress", None), *(
        (str(i), "rejected", "ingest", "too_few_points") for i in (171, 18)
    )]  # fmt: skip
    put(root, "ledger", [
        {"raw_trip_id": raw, "state": state, "stage": stage, "reason": reason,
         "cleaned": 0, "drives": 0, "phased": 0} for raw, state, stage, reason in ends
    ])  # fmt: skip
    lines = overview_of(root, CITY)
    assert counts_of(lines) == {
        "raw trips": 3,
        "+ more, where trips came apart": 1,
        "- ingest: too_few_points": 2,
        "- compress: too_few_phases": 1,
        "= phased trips": 1,
        "raw trips with a phased one": 1,
    }
    assert RELEASED not in counts_of(lines)
    assert lines[2].split()[-2:] == ["171", "18"]


def test_an_unknown_city_is_told_the_known_ones(tmp_path):
    (tmp_path / "params.yaml").write_text("cities: {toy: {traces: x}}\n", "utf-8")
    with pytest.raises(ParameterError, match="expected one of toy, found no entry for 'atlantis'"):
        overview_of(tmp_path, "atlantis")


def test_a_city_without_a_ledger_is_told_what_to_run(tmp_path):
    (tmp_path / "params.yaml").write_text("cities: {toy: {traces: x}}\n", "utf-8")
    with pytest.raises(SourceError) as fault:
        overview_of(tmp_path, "toy")
    assert str(fault.value) == (
        "data/toy/ledger.parquet: expected what report@toy writes, found nothing; run"
        " `dvc repro report@toy`"
    )


@pytest.mark.parametrize(("gone", "maker"), [("phased", "compress"), ("ingest_rejected", "ingest")])
def test_what_is_gone_beside_a_ledger_is_told_with_what_makes_it(tmp_path, gone, maker):
    root = write_project(tmp_path)
    put(root, "ledger", [{"raw_trip_id": "17", "state": "phased", "stage": "compress",
                          "reason": None, "cleaned": 1, "drives": 1, "phased": 1}])  # fmt: skip
    place = artifact_path(ARTIFACTS[gone], root=root, city=CITY)
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    with pytest.raises(SourceError) as fault:
        overview_of(root, CITY)
    assert str(fault.value) == (
        f"{place.relative_to(root)}: expected what {maker}@{CITY} writes, found nothing; run"
        f" `dvc repro {maker}@{CITY}`"
    )
