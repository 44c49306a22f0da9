"""A tiny model on disk, and surroundings in which model libraries are quiet and small."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.language.models import QUIET_AND_SMALL, write_tiny_llama


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUIET_AND_SMALL.items():
            patch.setenv(name, value)
        patch.setenv("VLLM_CACHE_ROOT", str(tmp_path_factory.mktemp("vllm-cache")))
        yield


@pytest.fixture(scope="session")
def tiny_llama(small_models: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama that answers nonsense within a second; its folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' notes on their own coming versions
        return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny")
