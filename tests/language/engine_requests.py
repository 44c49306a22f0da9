"""Settings and requests for the tests of the engines."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from pipeline.language.engines.settings import (
    EngineSettings,
    OpenAISettings,
    RecordedSettings,
    VllmSettings,
    model_id,
)
from pipeline.language.requests import Answer, Engine, Message, Request, Sampling, request_key

# All bounded: even random weights end inside it, see the module docstring of engines/vllm.py.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 40},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 3},
    },
    "required": ["text", "count", "tags"],
    "additionalProperties": False,
}
GOOD = '{"text":"north","count":7,"tags":["a"]}'


def vllm_settings(folder: Path, **changes: Any) -> VllmSettings:
    settings = VllmSettings(
        model=str(folder), revision="1", dtype="float32", max_model_len=1024, max_num_seqs=8,
        tensor_parallel_size=1, quantization=None, gpu_memory_utilization=0.5, enforce_eager=True,
        chat_template=None, chat_template_kwargs={}, window=8,
    )  # fmt: skip
    return msgspec.structs.replace(settings, **changes)


def openai_settings(base_url: str, **changes: Any) -> OpenAISettings:
    settings = OpenAISettings(
        base_url=base_url, model="tiny", revision="1", concurrency=4, requests_per_minute=None,
        timeout_s=30.0, patience_s=60.0, api_key_env=None, strict=True, extra_body={},
    )  # fmt: skip
    return msgspec.structs.replace(settings, **changes)


def recorded_settings(file: Path, **changes: Any) -> RecordedSettings:
    settings = RecordedSettings(file=str(file), model="tiny", revision="1")
    return msgspec.structs.replace(settings, **changes)


def request_to(
    settings: EngineSettings,
    item_id: str,
    *,
    prompt: str | None = None,
    temperature: float = 0.0,
    max_tokens: int = 200,
) -> Request:
    """Return a request about an item; another item, prompt or sampling has another key."""
    messages = (
        Message("system", "Answer in JSON."),
        Message("user", prompt or f"Tell trip {item_id}."),
    )
    model = model_id(settings)
    sampling = Sampling(temperature=temperature, top_p=1.0, max_tokens=max_tokens)
    key = request_key(
        task="annotate", messages=messages, schema=SCHEMA, model=model, sampling=sampling
    )
    return Request(
        item_id=item_id, task="annotate", messages=messages, schema=SCHEMA, model=model,
        sampling=sampling, facts={"seen": "by the template engine only"}, key=key,
    )  # fmt: skip


def requests_to(settings: EngineSettings, count: int, **changes: Any) -> list[Request]:
    return [request_to(settings, f"{number}", **changes) for number in range(count)]


def answered(engine: Engine, requests: Iterable[Request]) -> dict[str, Answer]:
    """Return all answers by item; fails when an item is answered twice."""
    found: dict[str, Answer] = {}
    for answers in engine.answers(requests):
        for answer in answers:
            assert answer.item_id not in found
            found[answer.item_id] = answer
    return found


class Pulled:
    """An iterable that counts what was taken from it."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests, self.count = requests, 0

    def __iter__(self) -> Iterator[Request]:
        for request in self._requests:
            self.count += 1
            yield request
