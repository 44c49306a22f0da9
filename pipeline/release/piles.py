"""Sort rows that are too many to be held: deal them into piles on disk, sort each by itself.

piles = Piles(folder, order)        # order: trip_id, split, number
piles.add(frame)                    # any rows, in any order; those of other trips are left out
for rows in piles.of("test"):       # the rows of a split by their number, some at a time
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

# Trips in memory at a time; what is written does not depend on it.
TRIPS_AT_A_TIME = 1024


class Piles:
    """Rows on their way into an order, in a folder of their own."""

    def __init__(self, folder: Path, order: pl.DataFrame) -> None:
        """Make empty piles.

        Args:
            folder: An empty folder.
            order: trip_id, split, and the column `number` that sorts the trips of a split.
        """
        self._folder = folder
        pile = pl.int_range(pl.len()).over("split") // TRIPS_AT_A_TIME
        self._order = order.sort("split", "number").with_columns(
            pile=pl.format("{}-{}", "split", pile)
        )
        self._found: list[pl.Series] = [order["trip_id"].clear()]
        self._empty = pl.DataFrame()

    def add(self, frame: pl.DataFrame) -> None:
        """Deal out some rows, which have a trip_id."""
        self._empty = frame.clear()
        rows = frame.join(self._order.select("trip_id", "pile"), on="trip_id")
        for (pile,), some in rows.group_by("pile"):
            place = self._folder / str(pile)
            place.mkdir(exist_ok=True)
            some.drop("pile").write_ipc(place / f"{len(self._found)}.arrow", compression="lz4")
        self._found.append(rows["trip_id"])

    def ids(self) -> pl.Series:
        """Return the trip ids of all rows that were dealt out."""
        return pl.concat(self._found)

    def of(self, split: str) -> Iterator[pl.DataFrame]:
        """Yield the rows of a split by number, some at a time; one empty table if it has none."""
        trips = self._order.filter(split=split)
        for some in trips.partition_by("pile", maintain_order=True) or [trips]:
            files = (self._folder / str(some["pile"].first())).glob("*.arrow")
            rows = pl.concat([self._empty, *map(pl.read_ipc, files)])
            yield some.select("trip_id").join(rows, on="trip_id", maintain_order="left")
