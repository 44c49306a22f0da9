"""Retrieval without training of networks: queries and trips as vectors, nearest first.

    TextModel("tfidf_svd", weighted=True).predict(view, "test")
    ->  instance_id, trip_ids (the 50 nearest trips of the pool), scores (cosines)

A trip is the words of its path (`told`), or the mean of its cells' sentence embeddings
(`semantic`). Nothing is read of val and test but queries and the pool. Paper: 4, Table 4.
"""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.release.definitions import Definitions
from pipeline.tasks.baselines.latent import LatentSpace, unit
from pipeline.tasks.baselines.semantic import CellVectors, cell_texts
from pipeline.tasks.baselines.told import Teller
from pipeline.tasks.embedding import BUNDLED, embedder

Floats = npt.NDArray[np.floating]

# Trips of a ranking: the deepest measure looks at so many.
DEPTH = 50
# Cosines are told to so many digits: what differs beyond is rounding of the machine, and tied.
DIGITS = 6


class View(Protocol):
    """What a model of retrieval may see of a release."""

    def train(self, task: str) -> pl.DataFrame:
        """Return the instances of train: instance_id, the fields of the input, target."""
        ...

    def inputs(self, split: str) -> pl.DataFrame:
        """Return the queries of a split: instance_id and query."""
        ...

    def pool(self, split: str) -> pl.DataFrame:
        """Return the trips of a split, paths and times."""
        ...

    @property
    def roads(self) -> pl.DataFrame:
        """Return the directed road segments (schema road)."""
        ...

    @property
    def road_cells(self) -> pl.DataFrame:
        """Return the H3 cells of each segment (schema road_cell)."""
        ...

    @property
    def cells(self) -> pl.DataFrame:
        """Return what lies in each H3 cell (schema cell)."""
        ...

    @property
    def definitions(self) -> Definitions:
        """Return what the words of the release mean (schema definitions)."""
        ...


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

    def predict(self, view: View, split: str) -> pl.DataFrame:
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


class ZeroShotModel(NamedTuple):
    """Queries against the mean of the descriptions of the cells on a path; nothing is fitted.

    Attributes:
        name: Its name in tables.
        encoder: Sentence encoder, as `embedding.embedder` names it.
    """

    name: str = "sem_zero_shot"
    encoder: str = BUNDLED

    def predict(self, view: View, split: str) -> pl.DataFrame:
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
    """Rank trips by the cosine of their vectors with those of queries.

    Args:
        instances: Id of each query.
        queries: Their vectors, one a row, of any length.
        trips: Id of each trip of the pool.
        pool: Their vectors.

    Returns:
        Rows of schema retrieval_prediction, in the order of `instances`: trip_ids, at most
        `DEPTH`, and their cosines, rounded. Of equals the earlier id comes first, so that the
        order of the pool decides nothing; a vector of zeros is equally far from all.
    """
    order = trips.arg_sort()
    ids = trips.gather(order).to_numpy()
    cosines = unit(queries.astype(np.float64)) @ unit(pool.astype(np.float64))[order.to_numpy()].T
    # Adding 0 turns -0.0 into 0.0: equal numbers shall be equal bytes.
    cosines = np.round(cosines, DIGITS) + 0.0
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :DEPTH]
    return pl.DataFrame(
        {
            "instance_id": instances,
            "trip_ids": ids[best].tolist(),
            "scores": np.take_along_axis(cosines, best, axis=1).tolist(),
        },
        schema={
            "instance_id": pl.String,
            "trip_ids": pl.List(pl.String),
            "scores": pl.List(pl.Float64),
        },
    )


# In the order of the paper's tables.
MODELS = (
    TextModel("tfidf_svd", weighted=True),
    TextModel("bow_svd", weighted=False),
    ZeroShotModel(),
)
