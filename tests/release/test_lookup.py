"""A key is found where a search from the first to the last finds it."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.release.lookup import rows_of

TEXTS = st.text("aé\U0001f600", max_size=3)


@pytest.mark.parametrize("kind", [pl.String, pl.Binary])
@given(keys=st.lists(TEXTS, max_size=9), among=st.sets(TEXTS, max_size=9))
def test_each_key_has_its_row_or_none(kind, keys, among):
    known = pl.Series(list(among), dtype=pl.String).cast(kind).sort()
    asked = pl.Series(keys, dtype=pl.String).cast(kind)
    listed = known.to_list()
    rows = [listed.index(key) if key in listed else None for key in asked]
    assert rows_of(asked, among=known).to_list() == rows
