"""Models of the project's own, by task, in the order of the paper's tables.

    MODELS["generation"][0].predict(release.for_models("generation"), "test")
    ->  rows of schemas/generation_prediction.schema.json

A model is handed a `ModelView`, never a release, so it can read no target of what is scored.
"""

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from pipeline.tasks.baselines.captioning import NearestCaption, TemplateCaptioner
from pipeline.tasks.baselines.generation import ConstrSP, DestSP, TrajAnchor
from pipeline.tasks.baselines.retrieval import TextModel, WordModel, ZeroShotModel
from pipeline.tasks.text_index import Bm25, Embedded
from pipeline.tasks.view import ModelView


class Model(Protocol):
    """What answers a task."""

    @property
    def name(self) -> str:
        """Its name in tables and on the command line."""
        ...

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Answer the instances of a split: rows by the task's prediction schema."""
        ...


MODELS: dict[str, Sequence[Model]] = {
    "generation": (
        DestSP("destsp_bm25", Bm25),
        DestSP("destsp_embed", Embedded),
        ConstrSP("constrsp_bm25", Bm25),
        TrajAnchor("trajanchor_bm25", Bm25),
        TrajAnchor("trajanchor_embed", Embedded),
    ),
    "retrieval": (
        TextModel("tfidf_svd", weighted=True),
        TextModel("bow_svd", weighted=False),
        WordModel(),
        ZeroShotModel(),
    ),
    "captioning": (TemplateCaptioner(), NearestCaption()),
}
