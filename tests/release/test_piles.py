"""Rows come back in the order asked for, however they were dealt out."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.release import piles
from pipeline.release.piles import Piles

SPLITS = ("train", "val", "test")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    trips=st.dictionaries(st.integers(0, 99), st.sampled_from(SPLITS), max_size=30),
    step=st.integers(1, 9),
    held=st.integers(1, 9),
    pile=st.integers(1, 9),
)
def test_each_split_comes_in_its_order_without_rows_of_other_trips(
    tmp_path_factory, monkeypatch, trips, step, held, pile
):
    monkeypatch.setattr(piles, "TRIPS_AT_A_TIME", held)
    monkeypatch.setattr(piles, "TRIPS_A_PILE", pile)
    order = pl.DataFrame(
        {"trip_id": [f"t{n}" for n in trips], "split": list(trips.values()), "number": list(trips)},
        schema={"trip_id": pl.String, "split": pl.String, "number": pl.Int64},
    )
    dealt = Piles(tmp_path_factory.mktemp("piles"), order)
    rows = pl.DataFrame({"trip_id": [f"t{n}" for n in range(99, -1, -1)]}).with_columns(
        told=pl.concat_list(pl.lit("of"), "trip_id")
    )
    for some in rows.iter_slices(step):
        dealt.add(some)
    assert sorted(dealt.ids()) == sorted(order["trip_id"])
    for split in SPLITS:
        parts = list(dealt.of(split))
        assert all(part.height <= held and part.schema == rows.schema for part in parts)
        wanted = [f"t{n}" for n in sorted(trips) if trips[n] == split]
        assert pl.concat(parts).rows() == [(one, ["of", one]) for one in wanted]


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_without_trips_is_one_table_without_rows(tmp_path, split):
    schema = {"trip_id": pl.String, "split": pl.String, "number": pl.Int64}
    dealt = Piles(tmp_path, pl.DataFrame(schema=schema))
    dealt.add(pl.DataFrame({"trip_id": ["t1"], "n": [1]}))
    (only,) = dealt.of(split)
    assert (only.columns, only.height) == (["trip_id", "n"], 0)
