"""Retrieval without training of networks: queries and trips as vectors, nearest first.

    TextModel("tfidf_svd", weighted=True).predict(view, "test")
    ->  instance_id, trip_ids (the 50 nearest trips of the pool), scores (cosines)

A trip is the words of its path (`told`), or the mean of its cells' sentence embeddings
(`semantic`). Nothing is read of val and test but queries and the pool. Paper: 4, Table 4.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.tasks.baselines.latent import LatentSpace, unit
from pipeline.tasks.baselines.semantic import CellVectors, cell_texts
from pipeline.tasks.baselines.told import Teller
from pipeline.tasks.embedding import BUNDLED, embedder
from pipeline.tasks.text_index import Bm25
from pipeline.tasks.view import ModelView

Floats = npt.NDArray[np.floating]

# Trips of a ranking: the deepest measure looks at so many.
DEPTH = 50
# Scores are told to so many digits: what differs beyond is rounding of the machine, and tied.
DIGITS = 6


class TextModel(NamedTuple):
    """Queries and told trips in one latent space, fitted on those of train.

    Attributes:
        name: Its name in tables.
        weighted: Weigh words by TF-IDF; else each is there or not.
        seed: Of the decomposition.
    """

    name: str
    weighted: bool
    seed: int = 0

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Rank the pool for each query of a split: rows of schema retrieval_prediction.

        Raises:
            SourceError: Train has fewer than two texts to fit on.
        """
        teller = Teller(view.roads, view.road_cells, view.cells, view.definitions)
        train = [
            *view.train("retrieval")["query"],
            *teller.texts(view.pool("train")),
        ]
        space = LatentSpace.fitted(train, weighted=self.weighted, seed=self.seed)
        queries, pool = view.inputs(split), view.pool(split)
        return nearest(
            queries["instance_id"],
            space.vectors(queries["query"].to_list()),
            pool["trip_id"],
            space.vectors(teller.texts(pool)),
        )


class WordModel(NamedTuple):
    """The told trips of the pool by BM25; nothing is learnt from train.

    Attributes:
        name: Its name in tables.
    """

    name: str = "bm25"

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Rank the pool for each query of a split: rows of schema retrieval_prediction."""
        teller = Teller(view.roads, view.road_cells, view.cells, view.definitions)
        queries, pool = view.inputs(split), view.pool(split)
        index = Bm25(teller.texts(pool))
        scores = [index.scores(query) for query in queries["query"]]
        found = np.array(scores).reshape(queries.height, pool.height)
        return best_first(queries["instance_id"], pool["trip_id"], found)


class ZeroShotModel(NamedTuple):
    """Queries against the mean of the descriptions of the cells on a path; nothing is fitted.

    Attributes:
        name: Its name in tables.
        encoder: Sentence encoder, as `embedding.embedder` names it.
    """

    name: str = "sem_zero_shot"
    encoder: str = BUNDLED

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Rank the pool for each query of a split: rows of schema retrieval_prediction.

        Raises:
            SourceError: The encoder is not to be had.
        """
        encoder = embedder(self.encoder)
        areas = CellVectors(cell_texts(view.roads, view.road_cells, view.cells), encoder)
        queries, pool = view.inputs(split), view.pool(split)
        return nearest(
            queries["instance_id"],
            encoder.embed(queries["query"].to_list()),
            pool["trip_id"],
            areas.means(pool["cells"]),
        )


def nearest(instances: pl.Series, queries: Floats, trips: pl.Series, pool: Floats) -> pl.DataFrame:
    """Rank trips by the cosine of their vectors with those of queries; see `best_first`.

    Args:
        instances: Id of each query.
        queries: Their vectors, one a row, of any length; one of zeros is equally far from all.
        trips: Id of each trip of the pool.
        pool: Their vectors.
    """
    cosines = unit(queries.astype(np.float64)) @ unit(pool.astype(np.float64)).T
    return best_first(instances, trips, cosines)


def best_first(instances: pl.Series, trips: pl.Series, scores: Floats) -> pl.DataFrame:
    """Rank trips by their scores.

    Args:
        instances: Id of each query.
        trips: Id of each trip of the pool.
        scores: Queries by trips, higher is better.

    Returns:
        Rows of schema retrieval_prediction, in the order of `instances`: trip_ids, at most
        `DEPTH`, and their scores, rounded. Of equals the earlier id comes first, so that the order
        of the pool decides nothing.
    """
    order = trips.arg_sort()
    ids = trips.gather(order).to_numpy()
    # Adding 0 turns -0.0 into 0.0: equal numbers shall be equal bytes.
    told = np.round(scores[:, order.to_numpy()], DIGITS) + 0.0
    best = np.argsort(-told, axis=1, kind="stable")[:, :DEPTH]
    return pl.DataFrame(
        {
            "instance_id": instances,
            "trip_ids": ids[best].tolist(),
            "scores": np.take_along_axis(told, best, axis=1).tolist(),
        },
        schema={
            "instance_id": pl.String,
            "trip_ids": pl.List(pl.String),
            "scores": pl.List(pl.Float64),
        },
    )
