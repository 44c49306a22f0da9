"""Texts as vectors of a few latent dimensions: words counted or weighted, then reduced by SVD.

    space = LatentSpace.fitted(texts, weighted=True, seed=7)
    space.vectors(["to the harbour"])   ->  (1, 256) of unit length; zeros where no word is known

Words are folded (no case, no accents); pairs of neighbours count as words too, since "from Rua A"
is not "to Rua A". Paper: 4, TF-IDF + SVD and BoW + SVD.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.errors import SourceError
from pipeline.quality.folding import folded_words

Floats = npt.NDArray[np.float64]

DIMENSIONS = 256


class LatentSpace(NamedTuple):
    """A fitted space.

    Attributes:
        counter: Texts to sparse rows of words (scikit-learn).
        reducer: Those rows to latent dimensions (scikit-learn).
    """

    counter: Any
    reducer: Any

    @classmethod
    def fitted(cls, texts: Sequence[str], *, weighted: bool, seed: int) -> "LatentSpace":
        """Fit a space to some texts.

        Args:
            texts: The texts.
            weighted: Weigh words by TF-IDF with logarithmic counts; else each is there or not: the
                telling of a trip repeats roads and zones phase by phase, a query does not.
            seed: Of the random projection that the decomposition begins with.

        Raises:
            SourceError: There are fewer than two texts, or fewer than two words in them.
        """
        from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 - slow import
        from sklearn.feature_extraction.text import (  # noqa: PLC0415 - slow import
            CountVectorizer,
            TfidfVectorizer,
        )
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where it computes

        known = {word for text in texts for word in words_and_pairs(text)}
        if len(texts) < 2 or len(known) < 2:
            raise SourceError(
                f"expected two texts or more with two words or more to fit on, found"
                f" {len(texts)} with {len(known)}; give the model a release with trips in train"
            )
        counter = (
            TfidfVectorizer(analyzer=words_and_pairs, sublinear_tf=True)
            if weighted
            else CountVectorizer(analyzer=words_and_pairs, binary=True)
        )
        rows = counter.fit_transform(texts)
        reducer = TruncatedSVD(min(DIMENSIONS, *rows.shape), random_state=seed)
        # On one thread sums have one order, whatever the machine; more only wait for each other.
        with threadpool_limits(1):
            return cls(counter, reducer.fit(rows))

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return a vector of unit length for each text, one a row; zeros without known words."""
        if not texts:
            return np.zeros((0, self.reducer.components_.shape[0]))
        found = np.asarray(self.reducer.transform(self.counter.transform(texts)), np.float64)
        return unit(found)


def words_and_pairs(text: str) -> list[str]:
    """Return the folded words of a text and the pairs of neighbours."""
    words = folded_words(text)
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]


def unit(vectors: Floats) -> Floats:
    """Bring each row to unit length; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    made: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return made
