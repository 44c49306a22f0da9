"""A tiny model on disk, and surroundings in which model libraries are quiet and small."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.language.models import write_tiny_llama

# One thread and a small cache: the tests of the models share the machine with each other.
_SMALL = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "RAY_USAGE_STATS_ENABLED": "0",
}


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _SMALL.items():
            patch.setenv(name, value)
        patch.setenv("VLLM_CACHE_ROOT", str(tmp_path_factory.mktemp("vllm-cache")))
        yield


@pytest.fixture(scope="session")
def tiny_llama(small_models: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama that answers nonsense within a second; its folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' notes on their own coming versions
        return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny")
