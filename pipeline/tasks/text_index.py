"""Texts ranked by how well they fit a query: by words they share (BM25), or by their meaning.

    Bm25(["a bar by the sea", "a bank"]).scores("the bank")       ->  [0.0, 0.43]
    Embedded(["a bar by the sea", "a bank"]).scores("some cash")  ->  cosines of sentence vectors

For BM25 words are folded as names are: no case, no accents.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from pipeline.quality.folding import folded_words
from pipeline.tasks.embedding import BUNDLED, embedder
from pipeline.tasks.ground import F64


class TextIndex(Protocol):
    """Texts that can be ranked.

    Attributes:
        equal_share: Texts that score this share of the best one's score fit as well.
    """

    equal_share: float

    def scores(self, query: str) -> F64:
        """Return how well each text fits, in their order; 0 or less where it does not."""
        ...


# What makes an index of texts.
Index = Callable[[Sequence[str]], TextIndex]


class Bm25:
    """Texts by their words."""

    equal_share = 0.7  # it also tells long from short

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


class Embedded:
    """Texts by their meaning, as the bundled sentence encoder sees it."""

    equal_share = 0.95

    def __init__(self, texts: Sequence[str]) -> None:
        """Encode the texts; there may be none."""
        self._encoder = embedder(BUNDLED)
        self._vectors = self._encoder.embed(texts)

    def scores(self, query: str) -> F64:
        """Return the cosine of each text with the query, in their order."""
        return np.asarray(self._vectors @ self._encoder.embed([query])[0], np.float64)
