"""Texts as vectors, whatever encoder makes them.

    encoder = embedder("minilm")                                       always there, no PyTorch
    encoder = embedder("nomic-ai/nomic-embed-text-v1.5", prefix="search_query: ")
    encoder.embed(["To the harbour.", "Past a park."])                 ->  float32 (2, 384)

The second form takes a folder, or what sentence-transformers finds on a hub; that package is the
extra `encoders`. Results name encoder and revision: vectors of two encoders do not compare.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from pipeline.errors import SourceError
from pipeline.tasks.minilm import Floats, MiniLM

BUNDLED: Final = "minilm"


class Embedder(Protocol):
    """An encoder of texts.

    Attributes:
        model: Its name.
        revision: SHA-256 over its weights.
    """

    model: str
    revision: str

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return a vector of unit length for each text, one a row; no rows for no texts."""
        ...


def embedder(model: str, *, prefix: str = "") -> Embedder:
    """Return an encoder.

    Args:
        model: `minilm` for the one that comes with the set-up; else a folder or a hub's name.
        prefix: What the model wants before each text, such as `search_query: ` of Nomic Embed.

    Raises:
        SourceError: It, or what runs it, is not to be had.
    """
    return MiniLM.bundled() if model == BUNDLED else _OtherEncoder(model, prefix)


class _OtherEncoder:
    """An encoder that sentence-transformers runs."""

    def __init__(self, model: str, prefix: str) -> None:
        try:
            import sentence_transformers  # noqa: PLC0415 - an extra, and slow to import
        except ImportError:
            raise SourceError(
                f"encoder {model}: expected the package sentence-transformers, found none; run"
                f" `make models`, or take the encoder {BUNDLED!r}"
            ) from None
        try:
            # Code of a hub is not run: models that sentence-transformers knows by itself alone.
            found: Any = sentence_transformers.SentenceTransformer(model, device="cpu")
        except (OSError, ValueError, RuntimeError) as fault:
            raise SourceError(
                f"encoder {model}: expected a folder or a hub's model for sentence-transformers,"
                f" found {fault}; give its folder, or take the encoder {BUNDLED!r}"
            ) from fault
        self.model, self._prefix, self._found = model, prefix, found
        digest = hashlib.sha256()
        for name, weight in sorted(found.state_dict().items()):
            digest.update(f"{name} {tuple(weight.shape)} ".encode())
            digest.update(weight.detach().cpu().contiguous().float().numpy().tobytes())
        self.revision = digest.hexdigest()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return a vector of unit length for each text, one a row; no rows for no texts."""
        if not texts:
            return np.empty((0, int(self._found.get_embedding_dimension())), np.float32)
        prefixed = [self._prefix + text for text in texts]
        made = self._found.encode(prefixed, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(made, np.float32)
