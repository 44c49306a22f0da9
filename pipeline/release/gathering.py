"""Gather the released trips of a city in the order of their ids, some at a time.

    gathered = Gathered(io)
    for trips in gathered.of("test"):   ->  rows as `released_trips` joins them, sorted by trip_id

The tables that tell of trips hold them in any order, and a city's texts are too large to be sorted
in memory. So their rows are dealt out into files of neighbouring ids, and each file is joined and
sorted by itself. Only ids, scores and splits are held of all trips at once.
"""

from collections.abc import Callable, Iterator

import polars as pl

from pipeline.errors import ContractError
from pipeline.release.instances import JUDGED, driven_trips, released_trips, told_trips
from pipeline.release.splits import SPLITS
from pipeline.store import StageIO

# Trips in memory at a time; what is written does not depend on it.
TRIPS_AT_A_TIME = 1024
# The tables that are too large, and what is kept of their rows.
_LARGE: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "matched": driven_trips,
    "checked": told_trips,
}


class Gathered:
    """The released trips, dealt out into files of neighbouring ids.

    Attributes:
        splits: Columns trip_id and split of every released trip, sorted by trip_id.
    """

    def __init__(self, io: StageIO) -> None:
        """Deal out the tables of a city.

        Raises:
            ContractError: A trip that the loss ledger calls released is not in a table once.
        """
        self._folder = io.scratch()
        self._entries = io.read("loss").filter(state="released")
        self._selected = io.columns("selected", ["trip_id", "score"])
        self._judged = io.columns("judged", JUDGED)
        self._batches = _batches(self._entries)
        self._empty: dict[str, pl.DataFrame] = {}
        self.splits = self._batches.select("trip_id", "split")
        found = {"selected": self._selected["trip_id"], "judged": self._judged["trip_id"]}
        for name, kept in _LARGE.items():
            found[name] = self._deal(name, map(kept, io.batches(name)))
        for name, ids in found.items():
            _check_each_once(name, ids, self.splits["trip_id"])

    def of(self, split: str) -> Iterator[pl.DataFrame]:
        """Yield the trips of a split, some at a time by trip_id; one empty table if none."""
        ids = self._batches.filter(split=split)
        for some in ids.partition_by("batch", maintain_order=True) or [ids]:
            entries = self._entries.filter(pl.col("item_id").is_in(some["trip_id"].implode()))
            large = (self._dealt(name, some["batch"].first()) for name in _LARGE)
            yield released_trips(entries, self._selected, self._judged, *large)

    def all(self) -> Iterator[pl.DataFrame]:
        """Yield the trips of all splits, one split after another."""
        for split in SPLITS:
            yield from self.of(split)

    def _deal(self, name: str, frames: Iterator[pl.DataFrame]) -> pl.Series:
        """Put the rows of released trips into the files of their batches; return their ids."""
        found = []
        for number, frame in enumerate(frames):
            self._empty[name] = frame.clear()
            rows = frame.join(self._batches.select("trip_id", "batch"), on="trip_id")
            found.append(rows["trip_id"])
            for (batch,), some in rows.group_by("batch"):
                folder = self._folder / f"{name}-{batch}"
                folder.mkdir(exist_ok=True)
                some.drop("batch").write_ipc(folder / f"{number}.arrow", compression="lz4")
        return pl.concat(found)

    def _dealt(self, name: str, batch: object) -> pl.DataFrame:
        files = (self._folder / f"{name}-{batch}").glob("*.arrow")
        return pl.concat([self._empty[name], *map(pl.read_ipc, files)])


def _batches(entries: pl.DataFrame) -> pl.DataFrame:
    """Name the file of each released trip: trip_id, split, batch; sorted by trip_id."""
    number = pl.int_range(pl.len()).over("split") // TRIPS_AT_A_TIME
    trips = entries.select("split", trip_id="item_id").sort("trip_id")
    return trips.select("trip_id", "split", batch=pl.format("{}-{}", "split", number))


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
