"""BERTScore: how near the tokens of two texts lie to each other (Zhang et al., 2020).

    bert_score(tokens_of_reference, tokens_of_caption)  ->  0.69

Each token of a text takes the most similar token of the other, by cosine; precision is the mean
over the caption, recall over the reference. As in the package bert-score the two marks around a
text may be taken but are not averaged; no weights by rarity, no rescaling. Figures compare only
where the encoder is the same, so it is part of every result; the paper does not name its own.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.tasks.minilm import Floats, MiniLM

# Pairs whose tokens are held at a time.
_PAIRS_AT_A_TIME = 256


def bert_score(reference: Floats, caption: Floats) -> float:
    """Return the F1 of two texts, -1 to 1; 0 where one has no token but the marks.

    Args:
        reference: Vectors of its tokens, one a row, of any length; the first and last are marks.
        caption: Likewise.
    """
    if len(reference) < 3 or len(caption) < 3:
        return 0.0
    likeness = _unit(caption) @ _unit(reference).T
    precision = float(likeness.max(1)[1:-1].mean())
    recall = float(likeness.max(0)[1:-1].mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def bert_scores(
    references: Sequence[str], captions: Sequence[str], encoder: MiniLM
) -> Iterator[float]:
    """Yield the F1 of each caption with its reference."""
    for first in range(0, len(references), _PAIRS_AT_A_TIME):
        pairs = slice(first, first + _PAIRS_AT_A_TIME)
        texts = list(dict.fromkeys([*references[pairs], *captions[pairs]]))
        vectors = dict(zip(texts, encoder.tokens(texts), strict=True))
        for reference, caption in zip(references[pairs], captions[pairs], strict=True):
            yield bert_score(vectors[reference], vectors[caption])


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
