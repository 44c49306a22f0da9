"""The semantic encoder, fine-tuned: queries and cell descriptions, drawn together by training.

    SemModel().predict(view, "test")   ->  rows of schema retrieval_prediction

Sentence embeddings stay as they are; two small networks on them are trained on the queries of train
and on nothing else. A trip is its first cell, the mean of its cells and its last cell. Paper: 4,
Table 4 "Sem."; A.2.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.tasks.baselines.retrieval import nearest
from pipeline.tasks.baselines.semantic import CellVectors, cell_texts
from pipeline.tasks.embedding import BUNDLED, embedder
from pipeline.tasks.reference.contrast import ContrastSettings, Pairs, Towers
from pipeline.tasks.view import ModelView


class SemModel(NamedTuple):
    """The model.

    Attributes:
        name: Its name in tables.
        encoder: Sentence encoder, as `embedding.embedder` names it.
        settings: How it is trained.
        seed: Of training.
    """

    name: str = "sem"
    encoder: str = BUNDLED
    settings: ContrastSettings = ContrastSettings()
    seed: int = 0

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Train, then rank the pool for each query of a split.

        Raises:
            SourceError: The encoder is not to be had, or train has fewer than two trips.
        """
        encoder = embedder(self.encoder)
        areas = CellVectors(cell_texts(view.roads, view.road_cells, view.cells), encoder)
        learnt, known = view.train("retrieval"), view.pool("train")
        towers = Towers.trained(
            encoder.embed(learnt["query"].to_list()),
            areas.with_ends(known["cells"]),
            pairs_of(learnt, known),
            self.settings,
            seed=self.seed,
        )
        queries, pool = view.inputs(split), view.pool(split)
        return nearest(
            queries["instance_id"],
            towers.of_queries(encoder.embed(queries["query"].to_list())),
            pool["trip_id"],
            towers.of_trips(areas.with_ends(pool["cells"])),
        )


def pairs_of(queries: pl.DataFrame, trips: pl.DataFrame) -> Pairs:
    """Number the trips of queries, and the routes of trips.

    Args:
        queries: Inputs of retrieval with their target.
        trips: trip_id and edge_ids, those of the queries among them.
    """
    numbers = trips.select("trip_id").with_row_index("trip")
    target = queries.select(pl.col("target").struct.field("trip_id"))
    found = target.join(numbers, on="trip_id", how="left", maintain_order="left")["trip"]
    route = trips["edge_ids"].list.join(" ").rank("dense")
    return Pairs(found.to_numpy().astype(np.int64), route.to_numpy().astype(np.int64))
