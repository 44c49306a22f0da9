"""A city without a trip id: how its trips ended, the most common end first."""

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.show.overview import overview_of
from pipeline.store import write_table


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


def test_a_city_without_a_ledger_is_told_what_to_run(tmp_path):
    with pytest.raises(SourceError, match="dvc repro report@toy"):
        overview_of(tmp_path, "toy")
