"""Rows pair by what both versions say of them, even where their schemas differ."""

import polars as pl
import pytest

from pipeline.audit.rows import FIELDS, paired_rows, projected, read_texts, shared_type
from pipeline.errors import SourceError
from tests.audit.project import told

KIND = pl.Struct({"a": pl.Int64, "b": pl.List(pl.Struct({"c": pl.String, "d": pl.Float64}))})


def write(folder, rows, **columns):
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).with_columns(**columns).write_parquet(folder / "part-00000.parquet")
    return folder


def pairs(before, after) -> list[dict]:
    names = ("trip_id", "in_before", "in_after", "same_trip", "same_draws", "paired", "changed")
    return paired_rows(*read_texts(before, after)).select(names).to_dicts()


def test_the_type_two_sides_share_has_the_fields_of_both_at_any_depth():
    other = pl.Struct({"b": pl.List(pl.Struct({"d": pl.Float64, "e": pl.Int64})), "f": pl.Int64})
    assert shared_type(KIND, other) == pl.Struct({"b": pl.List(pl.Struct({"d": pl.Float64}))})
    assert shared_type(KIND, KIND) == KIND
    assert shared_type(pl.String, pl.Int64) == pl.String


def test_a_value_is_cut_to_the_fields_of_a_type():
    frame = pl.DataFrame({"x": [{"a": 1, "b": [{"c": "p", "d": 0.5}]}]}, schema={"x": KIND})
    kind = pl.Struct({"b": pl.List(pl.Struct({"d": pl.Float64}))})
    assert frame.select(projected(pl.col("x"), kind).alias("x")).item() == {"b": [{"d": 0.5}]}


def test_a_field_that_only_one_version_has_keeps_no_trip_from_being_compared(tmp_path):
    rows = [told("t1"), told("t2")]
    phases = pl.col("phases").list.eval(pl.element().struct.with_fields(lanes=pl.lit(2)))
    before = write(tmp_path / "a", rows)
    after = write(tmp_path / "b", rows, phases=phases, weather=pl.lit("rain"))
    assert [(row["paired"], row["changed"]) for row in pairs(before, after)] == [(True, False)] * 2


def test_one_letter_makes_a_text_another(tmp_path):
    before = write(tmp_path / "a", [told("t1"), told("t2")])
    changed = {"retrieval_query_2": "retrieval_query_2 of t2."}
    after = write(tmp_path / "b", [told("t1"), told("t2", texts=changed)])
    assert [row["changed"] for row in pairs(before, after)] == [False, True]


def test_the_order_of_rows_and_shards_does_not_matter(tmp_path):
    before = write(tmp_path / "a", [told("t1"), told("t2")])
    after = write(tmp_path / "b", [told("t2")])
    pl.DataFrame([told("t1")]).write_parquet(after / "part-00001.parquet")
    assert [row["changed"] for row in pairs(before, after)] == [False, False]


def test_a_trip_that_is_there_twice_is_a_fault(tmp_path):
    before = write(tmp_path / "a", [told("t1")])
    after = write(tmp_path / "b c", [told("t1"), told("t1")])
    again = rf"expected each trip once, found t1 again; run `[^`]* '{tmp_path}/b c'`$"
    with pytest.raises(SourceError, match=again):
        read_texts(before, after)


def test_a_table_without_texts_is_a_fault(tmp_path):
    before = write(tmp_path / "a", [told("t1")])
    row = told("t1")
    del row["texts"][FIELDS[0]]
    after = write(tmp_path / "b", [row])
    with pytest.raises(SourceError, match=f"found no {FIELDS[0]}"):
        read_texts(before, after)
    with pytest.raises(SourceError, match="expected Parquet shards"):
        read_texts(before, tmp_path)
