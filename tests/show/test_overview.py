"""A city without a trip id: how its trips ended, the most common end first."""

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ParameterError, SourceError
from pipeline.show.overview import overview_of
from pipeline.tables import write_table


def entry(number: int, state: str, reason: str | None) -> dict:
    stage = "compress" if state == "phased" else "ingest"
    return {"raw_trip_id": f"t{number}", "state": state, "stage": stage, "reason": reason,
            "cleaned": 0, "drives": 0, "phased": 0}  # fmt: skip


def test_each_end_is_one_line_with_its_count_and_the_first_ids(tmp_path):
    rows = [entry(i, "phased", None) for i in range(6)]
    rows += [entry(i, "rejected", "too_short") for i in (7, 8)]
    file = tmp_path / "data/toy/ledger.parquet"
    write_table(pl.DataFrame(rows), file, ARTIFACTS["ledger"], shown="toy")
    told = [line.split() for line in overview_of(tmp_path, "toy")]
    assert told[0] == ["phased", "6", "t0", "t1", "t2", "t3", "..."]
    assert told[1] == ["rejected", "by", "ingest:", "too_short", "2", "t7", "t8"]


def test_the_loss_ledger_tells_the_end_of_each_raw_trip_once(tmp_path):
    def loss(item, raw, stage, reason, split, *, decides=True):
        state = "released" if reason is None else "rejected"
        return {"item_id": item, "raw_trip_id": raw, "state": state, "stage": stage,
                "reason": reason, "decides": decides, "split": split}  # fmt: skip

    rows = [loss(f"t{i}", f"t{i}", "release", None, "train") for i in range(3)]
    rows.append(loss("t0_p2", "t0", "check", "off_route", None, decides=False))
    rows.append(loss("t9", "t9", "check", "near_duplicate", None))
    file = tmp_path / "data/toy/loss.parquet"
    write_table(pl.DataFrame(rows), file, ARTIFACTS["loss"], shown="toy")
    assert [line.split() for line in overview_of(tmp_path, "toy")] == [
        ["released,", "split", "train", "3", "t0", "t1", "t2"],
        ["rejected", "by", "check:", "near_duplicate", "1", "t9"],
    ]


def test_an_unknown_city_is_told_the_known_ones(tmp_path):
    (tmp_path / "params.yaml").write_text("cities: {toy: {traces: x}}\n", "utf-8")
    with pytest.raises(ParameterError, match="expected one of toy, found no entry for 'atlantis'"):
        overview_of(tmp_path, "atlantis")


def test_a_city_without_a_ledger_is_told_what_to_run(tmp_path):
    (tmp_path / "params.yaml").write_text("cities: {toy: {traces: x}}\n", "utf-8")
    with pytest.raises(SourceError, match="dvc repro report@toy"):
        overview_of(tmp_path, "toy")
