"""Trips by the meaning of the cells they pass: sentence embeddings of area descriptions.

    areas = CellVectors(roads, road_cells, cells, encoder)
    areas.means(pl.Series([["8a11...", "8a12..."]]))   ->  (1, 384): the mean over the path

A cell is told as its description and the roads that lie in it, since the paper's descriptions hold
"POIs, land use, and road context". Paper: 4, "Sem."; A.2, Sem Encoder of TrajFuse.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.language.areas import SEPARATOR
from pipeline.tasks.embedding import Embedder

Floats = npt.NDArray[np.float64]


def cell_texts(roads: pl.DataFrame, road_cells: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Tell each cell of the road network.

    Args:
        roads: Rows of schema road.
        road_cells: Rows of schema road_cell.
        cells: Rows of schema cell.

    Returns:
        cell and text, by cell: every cell that is dominant for a segment; "" where nothing is
        known of it. The roads come first, those with most length in it before others.
    """
    named = (
        road_cells.select("edge_id", "cell")
        .join(roads.select("edge_id", "name", "length_m"), on="edge_id")
        .group_by("cell", "name")
        .agg(pl.col("length_m").sum())
        .sort("cell", "length_m", "name", descending=[False, True, False], nulls_last=True)
        .group_by("cell", maintain_order=True)
        .agg(roads=pl.col("name").drop_nulls())
    )
    parts = named.join(
        cells.select("cell", "description"), on="cell", how="left", maintain_order="left"
    ).select(
        "cell",
        roads=pl.when(pl.col("roads").list.len() > 0).then(
            pl.format("Roads: {}", pl.col("roads").list.join(", "))
        ),
        areas=pl.when(pl.col("description") != "").then("description"),
    )
    return parts.select(
        "cell", text=pl.concat_str("roads", "areas", separator=SEPARATOR, ignore_nulls=True)
    )


class CellVectors:
    """The cells of a city as vectors."""

    def __init__(self, texts: pl.DataFrame, encoder: Embedder) -> None:
        """Embed each text once.

        Args:
            texts: Result of `cell_texts`.
            encoder: The encoder.
        """
        self._numbers = texts.select("cell").with_row_index("number")
        self._vectors = np.asarray(encoder.embed(texts["text"].to_list()), np.float64)

    def means(self, paths: pl.Series) -> Floats:
        """Return the mean vector of the cells of each path, one a row.

        Args:
            paths: Lists of cells, phase by phase; a cell that is entered twice counts twice, one
                without a road or a text of its own counts for nothing.
        """
        rows = (
            paths.to_frame("cell")
            .with_row_index("path")
            .explode("cell")
            .join(self._numbers, on="cell", maintain_order="left")
        )
        means = np.zeros((len(paths), self._vectors.shape[1]))
        np.add.at(means, rows["path"].to_numpy(), self._vectors[rows["number"].to_numpy()])
        counts = np.bincount(rows["path"].to_numpy(), minlength=len(paths))
        means /= np.maximum(counts, 1)[:, None]
        return means

    def with_ends(self, paths: pl.Series) -> Floats:
        """Return beside each other the vectors of the first cell, of the mean and of the last."""
        first, last = (paths.list.head(1), paths.list.tail(1))
        return np.hstack([self.means(one) for one in (first, paths, last)])
