"""The road graph of a release as arrays: segments and nodes by number.

    ground = Ground.of(release)
    ground.numbered(pl.Series([["a:1:2", "a:2:3"], ["nowhere"]]))
    ->  Ragged(values=[0, 1, -1], starts=[0, 2, 3])

Segments 0 .. segments - 1 are those of ground/roads.parquet, in its order. Higher numbers are
one-way segments driven against their direction, which no id of the roads table names: `way:v:u`
for `way:u:v`. They are no part of the graph; a scorer tells by them what was driven.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import ContractError
from pipeline.tasks.released import Release

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
UNKNOWN = -1


class Ragged(NamedTuple):
    """Lists of numbers of different lengths: list i is `values[starts[i] : starts[i + 1]]`."""

    values: npt.NDArray[Any]
    starts: I64


class Ground(NamedTuple):
    """The road graph.

    Attributes:
        ids: Id of each number: segments, then reversed one-ways.
        segments: How many are segments of the roads table.
        u: Node where each starts.
        v: Node where it ends.
        length_m: Its length, metres.
        cell: Number of its dominant H3 cell, an index of `cells`.
        cells: The H3 cells, as text.
        place: (nodes, 2) longitude and latitude of each node, degrees.
        drawn: Row of `geometry` that draws it: its own, or that of the one-way it reverses.
        geometry: Line of each segment in its driving direction (WKB).
    """

    ids: pl.Series
    segments: int
    u: I32
    v: I32
    length_m: F64
    cell: I32
    cells: pl.Series
    place: F64
    drawn: I32
    geometry: pl.Series

    @classmethod
    def of(cls, release: Release) -> "Ground":
        """Build the graph of a release.

        Raises:
            SourceError: A table of the ground is missing.
            ContractError: A segment has no cells.
        """
        return cls.build(release.roads, release.road_cells)

    @classmethod
    def build(cls, roads: pl.DataFrame, road_cells: pl.DataFrame) -> "Ground":
        """Build the graph from its tables.

        Args:
            roads: Rows of schema road.
            road_cells: Rows of schema road_cell.

        Raises:
            ContractError: A segment has no cells.
        """
        cells = road_cells.select("edge_id", "cell")
        table = roads.join(cells, on="edge_id", how="left", maintain_order="left").with_columns(
            drawn=pl.int_range(pl.len(), dtype=pl.Int32)
        )
        bare = table.filter(pl.col("cell").is_null())
        if bare.height:
            raise ContractError(
                f"ground/road_cells.parquet: expected the cells of every segment, found none of"
                f" {bare['edge_id'][0]} and {bare.height - 1} more; take both tables from one"
                " release"
            )
        reverse = _reversed_one_ways(table)
        both = pl.concat([table.select(reverse.columns), reverse])
        nodes = pl.concat([table["u"], table["v"]]).unique().sort()
        number = pl.DataFrame({"node": nodes}).with_row_index("n")
        u, v = (
            both.select(node=pl.col(end)).join(
                number, on="node", how="left", maintain_order="left"
            )["n"]
            for end in ("u", "v")
        )
        cell_names = both["cell"].unique().sort()
        cell_numbers = pl.int_range(cell_names.len(), dtype=pl.Int32, eager=True)
        place = np.empty((nodes.len(), 2))
        for end, of in (("v", v), ("u", u)):
            at = of.to_numpy()[: table.height]
            place[at] = table.select(f"{end}_lon", f"{end}_lat").to_numpy()
        return cls(
            ids=both["edge_id"],
            segments=table.height,
            u=u.to_numpy().astype(np.int32),
            v=v.to_numpy().astype(np.int32),
            length_m=both["length_m"].to_numpy().copy(),
            cell=both["cell"]
            .replace_strict(cell_names, cell_numbers, return_dtype=pl.Int32)
            .to_numpy()
            .copy(),
            cells=cell_names,
            place=place,
            drawn=both["drawn"].to_numpy().copy(),
            geometry=table["geometry"],
        )

    @property
    def nodes(self) -> int:
        """How many nodes the graph has."""
        return len(self.place)

    def numbered(self, lists: pl.Series) -> Ragged:
        """Replace ids of segments by their numbers.

        Args:
            lists: Lists of ids. A null list counts as empty; an id that is null or names no
                segment becomes `UNKNOWN`.
        """
        lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        flat = lists.filter(lists.list.len() > 0).explode()
        index = pl.DataFrame({"id": self.ids}).with_row_index("n")
        found = flat.to_frame("id").join(index, on="id", how="left", maintain_order="left")["n"]
        values = found.cast(pl.Int32).fill_null(UNKNOWN).to_numpy().astype(np.int32)
        return Ragged(values, np.concatenate(([0], np.cumsum(lengths))))


def _reversed_one_ways(table: pl.DataFrame) -> pl.DataFrame:
    """Return the segments that may not be driven backwards, turned round, with ids of their own.

    A road map with ids of another form has none.
    """
    parts = pl.col("edge_id").str.splitn(":", 4).struct
    way, u, v, again = (parts.field(f"field_{k}") for k in range(4))
    suffix = pl.when(again.is_null()).then(pl.lit("")).otherwise(pl.concat_str(pl.lit(":"), again))
    reverse = table.select(
        edge_id=pl.concat_str(way, pl.lit(":"), v, pl.lit(":"), u, suffix),
        u="v",
        v="u",
        length_m="length_m",
        cell="cell",
        drawn="drawn",
    )
    known = table.select("edge_id")
    return reverse.filter(pl.col("edge_id").is_not_null()).join(known, on="edge_id", how="anti")
