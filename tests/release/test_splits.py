"""Splits follow from a trip's id alone."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ParameterError
from pipeline.params import Parameters
from pipeline.release.account import AccountSettings
from pipeline.release.splits import SPLITS, SplitShares, assign_splits

SHARES = SplitShares(train=0.7, val=0.1, test=0.2)
IDS = [f"trip-{number}" for number in range(20_000)]


def split_of(ids: list[str], *, shares: SplitShares = SHARES, seed: int = 7) -> dict[str, str]:
    series = pl.Series("id", ids, dtype=pl.String)
    return dict(zip(ids, assign_splits(series, shares=shares, seed=seed), strict=True))


def test_the_shares_are_met_within_four_standard_deviations():
    counts = pl.Series(list(split_of(IDS).values())).value_counts()
    found = dict(counts.iter_rows())
    for split, share in zip(SPLITS, (0.7, 0.1, 0.2), strict=True):
        spread = (20_000 * share * (1 - share)) ** 0.5
        assert abs(found[split] - 20_000 * share) < 4 * spread


@given(st.lists(st.text(min_size=1), unique=True), st.lists(st.text(min_size=1), unique=True))
def test_added_or_reordered_trips_move_no_other(ids, more):
    alone = split_of(ids)
    together = split_of([*reversed(ids), *(one for one in more if one not in ids)])
    assert alone == {one: together[one] for one in ids}


def test_another_seed_deals_anew():
    assert split_of(IDS[:200]) != split_of(IDS[:200], seed=8)


def test_a_larger_train_takes_from_val_and_test_and_gives_none_back():
    before = split_of(IDS[:2000])
    after = split_of(IDS[:2000], shares=SplitShares(train=0.8, val=0.1, test=0.1))
    assert all(after[one] == "train" for one in before if before[one] == "train")


def test_a_split_may_be_left_out():
    only = split_of(IDS[:500], shares=SplitShares(train=1.0, val=0.0, test=0.0))
    assert set(only.values()) == {"train"}


def test_shares_that_do_not_add_up_are_an_error_with_their_place(tmp_path):
    text = "account: {splits: {train: 0.7, val: 0.1, test: 0.3}}\n"
    (tmp_path / "params.yaml").write_text(text, "utf-8")
    with pytest.raises(ParameterError, match=r"params.yaml: account.*add up to 1, found 1.1"):
        Parameters(tmp_path).section("account", AccountSettings)
