"""Deal trips into train, val and test by a hash of their raw trip's id.

    assign_splits(["1372636858620000589", ...], shares=shares, seed=7)  ->  ["train", ...]

The hash alone decides: added trips move no other, and the drives a raw trip came apart into share
its split. The shares are therefore met only about: of 1,000 trips 700 +- 15 train. Paper: 4.2.
"""

from typing import Annotated

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.quality.sampling import draws

SPLITS = ("train", "val", "test")
_DRAWS = 2.0**64

Share = Annotated[float, Meta(ge=0, le=1)]


class SplitShares(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Shares of the trips in each split; they add up to 1."""

    train: Share
    val: Share
    test: Share

    def __post_init__(self) -> None:
        """Refuse shares that do not add up to 1."""
        total = self.train + self.val + self.test
        if abs(total - 1) > 1e-9:
            raise ValueError(f"shares of train, val and test that add up to 1, found {total:g}")


def assign_splits(raw_trip_ids: pl.Series, *, shares: SplitShares, seed: int) -> pl.Series:
    """Return the split of each raw trip.

    Args:
        raw_trip_ids: Ids; equal ids get equal splits, an empty series an empty one.
        shares: How much each split gets.
        seed: The data set's seed: a trip's number is the blake2b-64 of seed, 'split' and id, joined
            by 0x1f, over 2^64.
    """
    number = draws(seed, "split", raw_trip_ids).cast(pl.Float64) / _DRAWS
    frame = pl.DataFrame({"number": number})
    split = (
        pl.when(pl.col("number") < shares.train)
        .then(pl.lit("train"))
        .when(pl.col("number") < shares.train + shares.val)
        .then(pl.lit("val"))
        .otherwise(pl.lit("test"))
    )
    return frame.select(split.alias("split"))["split"]
