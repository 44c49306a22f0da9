"""Sort rows that are too many to be held: deal them into piles on disk, sort each by itself.

piles = Piles(folder, order)        # order: trip_id, split, number
piles.add(frame)                    # any rows, in any order; those of other trips are left out
for rows in piles.of("test"):       # the rows of a split by their number, some at a time
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.release.lookup import rows_of

# Trips handed out at a time; what is written does not depend on it, nor on the next.
TRIPS_AT_A_TIME = 1024
# Trips of a pile, and rows that wait until they are dealt: few together, and a file holds few rows.
TRIPS_A_PILE = 16 * 1024


class Piles:
    """Rows on their way into an order, in a folder of their own."""

    def __init__(self, folder: Path, order: pl.DataFrame) -> None:
        """Make empty piles.

        Args:
            folder: An empty folder.
            order: trip_id, split, and the column `number` that sorts the trips of a split.
        """
        self._folder = folder
        pile = pl.int_range(pl.len()).over("split") // TRIPS_A_PILE
        self._order = order.sort("split", "number").select(
            "trip_id", "split", pile=pl.format("{}-{}", "split", pile)
        )
        self._by_id = self._order.select("trip_id", "pile").sort("trip_id").rechunk()
        self._found: list[pl.Series] = [order["trip_id"].clear()]
        self._empty = pl.DataFrame()
        self._waiting: list[pl.DataFrame] = []
        self._dealt = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take some rows, which have a trip_id."""
        self._empty = frame.clear()
        row = rows_of(frame["trip_id"], among=self._by_id["trip_id"])
        rows = frame.with_columns(self._by_id["pile"].gather(row)).drop_nulls("pile")
        self._found.append(rows["trip_id"])
        self._waiting.append(rows)
        if sum(some.height for some in self._waiting) >= TRIPS_A_PILE:
            self._deal()

    def _deal(self) -> None:
        """Write the rows that wait, a file for each pile they are of."""
        for (pile,), some in pl.concat(self._waiting).group_by("pile"):
            place = self._folder / str(pile)
            place.mkdir(exist_ok=True)
            some.drop("pile").write_ipc(place / f"{self._dealt}.arrow", compression="lz4")
        self._dealt += 1
        self._waiting = []

    def ids(self) -> pl.Series:
        """Return the trip ids of all rows that were taken."""
        return pl.concat(self._found)

    def of(self, split: str) -> Iterator[pl.DataFrame]:
        """Yield the rows of a split by number, some at a time; one empty table if it has none."""
        if self._waiting:
            self._deal()
        trips = self._order.filter(split=split)
        for some in trips.partition_by("pile", maintain_order=True) or [trips]:
            rows = self._sorted(some)
            yield from rows.iter_slices(TRIPS_AT_A_TIME) if rows.height else [rows]

    def _sorted(self, trips: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a pile in the order of its trips."""
        files = (self._folder / str(trips["pile"].first())).glob("*.arrow")
        rows = pl.concat([self._empty, *map(pl.read_ipc, files)])
        return trips.select("trip_id").join(rows, on="trip_id", maintain_order="left")
