"""Texts ranked by how well they fit a query: by the words they share with it (BM25).

    Bm25(["a bar by the sea", "a bank"]).scores("the bank")   ->  [0.0, 0.43]

Words are folded as names are: no case, no accents.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from pipeline.quality.folding import folded_words
from pipeline.tasks.ground import F64


class TextIndex(Protocol):
    """Texts that can be ranked."""

    def scores(self, query: str) -> F64:
        """Return how well each text fits, in their order; 0 or less where it does not."""
        ...


# What makes an index of texts.
Index = Callable[[Sequence[str]], TextIndex]


class Bm25:
    """An index of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index the texts; there may be none, and any may be empty."""
        import bm25s  # noqa: PLC0415 - slow import

        words = [folded_words(text) for text in texts]
        self._count, self._known = len(words), frozenset(word for text in words for word in text)
        self._index = bm25s.BM25()
        if self._known:
            self._index.index(words, show_progress=False)

    def scores(self, query: str) -> F64:
        """Return the score of each text, in their order; 0 for a text that shares no word."""
        words = [word for word in folded_words(query) if word in self._known]
        if not words:
            return np.zeros(self._count)
        return np.asarray(self._index.get_scores(words), np.float64)
