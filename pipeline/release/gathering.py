"""Gather the released trips of a city in the order of their ids, some at a time.

    gathered = Gathered(io)
    for trips in gathered.of("test"):   ->  rows as `released_trips` joins them, sorted by trip_id

The tables that tell of trips hold them in any order, and a city's texts are too large to be sorted
in memory. Only ids, scores and splits are held of all trips at once.
"""

from collections.abc import Callable, Iterator

import polars as pl

from pipeline.errors import ContractError
from pipeline.release.instances import JUDGED, driven_trips, released_trips, told_trips
from pipeline.release.piles import Piles
from pipeline.release.splits import SPLITS
from pipeline.store import StageIO

# The tables that are too large, and what is kept of their rows.
_LARGE: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "matched": driven_trips,
    "checked": told_trips,
}


class Gathered:
    """The released trips of a city.

    Attributes:
        splits: Columns trip_id and split of every released trip.
    """

    def __init__(self, io: StageIO) -> None:
        """Read the tables of a city.

        Raises:
            ContractError: A trip that the loss ledger calls released is not in a table once.
        """
        entries = io.read("loss").filter(state="released").with_columns(trip_id="item_id")
        selected = io.columns("selected", ["trip_id", "score"])
        judged = io.columns("judged", JUDGED)
        self.splits = entries.select("split", "trip_id")
        order = self.splits.with_columns(number="trip_id")
        self._large = {name: Piles(io.scratch(), order) for name in _LARGE}
        for name, piles in self._large.items():
            for frame in io.batches(name):
                piles.add(_LARGE[name](frame))
        found = {"selected": selected["trip_id"], "judged": judged["trip_id"]}
        found |= {name: piles.ids() for name, piles in self._large.items()}
        for name, ids in found.items():
            _check_each_once(name, ids, self.splits["trip_id"])
        # Joined once and in the order of the piles: a join for each of them is a pass over all.
        in_order = entries.sort("split", "trip_id").select("trip_id")
        self._small = {
            name: in_order.join(table, on="trip_id", maintain_order="left")
            for name, table in (("entries", entries), ("selected", selected), ("judged", judged))
        }

    def of(self, split: str) -> Iterator[pl.DataFrame]:
        """Yield the trips of a split, some at a time by trip_id; one empty table if none."""
        parts = (piles.of(split) for piles in self._large.values())
        splits = self._small["entries"]["split"]
        at = int((splits < split).sum())
        for matched, told in zip(*parts, strict=True):
            small = {name: table[at : at + told.height] for name, table in self._small.items()}
            at += told.height
            entries = small["entries"].drop("trip_id")
            yield released_trips(entries, small["selected"], small["judged"], matched, told)

    def all(self) -> Iterator[pl.DataFrame]:
        """Yield the trips of all splits, one split after another."""
        for split in SPLITS:
            yield from self.of(split)


def _check_each_once(name: str, found: pl.Series, ids: pl.Series) -> None:
    """Check that a table tells of each released trip, once."""
    known = found.filter(found.is_in(ids.implode()))
    lost = ids.filter(~ids.is_in(known.implode()))
    if lost.len() or known.is_duplicated().any():
        raise ContractError(
            f"release: expected each released trip once in {name}, found"
            f" {known.len()} of {ids.len()}"
            f"{f', {lost[0]!r} is missing' if lost.len() else ''}; run `dvc repro`"
        )
