"""What is asked of a model and what comes back; the key that makes an answer reusable.

    Request(item_id="1626278", task="annotate", messages=[system, user], ...)
      -> key 5f0c... -> Answer(status="ok", text='{"instruction_literal": ...}', ...)

A request's key is the hash of everything that decides its answer: rendered messages, generation
schema, model and revision, sampling values. What only decides how fast it comes (server, number of
requests at a time, batch, path, time of day) is no part of it.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import Annotated, Any, Literal, Protocol, Self

import msgspec
from msgspec import Meta

# Raise it when the meaning of the fields below changes: no older answer is reused then.
KEY_VERSION = 1

Status = Literal[
    "ok",  # finished, parsed, fits the generation schema
    "length",  # cut off at the token limit; never mended
    "whitespace",  # stopped because it wrote nothing but white space
    "refusal",  # the model or a content filter declined
    "malformed",  # finished, but no JSON
    "invalid",  # JSON that breaks the generation schema
    "empty",  # finished with no text
    "timeout",  # no answer in time; see NO_ANSWER
    "failed",  # the server or the model's program failed (its message is the reason); likewise
    "prompt_too_long",  # the prompt alone is longer than the model reads; asking again is no use
]
# Engines that are no model: what they say comes from stated rules and phrase banks.
NO_MODEL = frozenset({"template", "rules"})
# What is no answer: the ledger keeps none of these, no attempt is used up, and the same attempt is
# made again, with the same seed.
NO_ANSWER = frozenset({"timeout", "failed"})
# Statuses that another attempt cannot change.
FINAL = frozenset({"ok", "prompt_too_long"})


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model samples; part of the key.

    Attributes:
        temperature: 0 picks the likeliest token.
        top_p: Share of probability that is sampled from.
        max_tokens: Longest answer, tokens; a longer one counts as failed (`length`).
    """

    temperature: Annotated[float, Meta(ge=0, le=5)]
    top_p: Annotated[float, Meta(gt=0, le=1)]
    max_tokens: Annotated[int, Meta(ge=1, le=1_000_000)]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class ModelId(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which model answers: part of the key and of every record.

    Attributes:
        engine: What answers; for the reader, not part of the key. `rules` sends no requests.
        model: Hub id, or the name a folder or a server gives it.
        revision: Version of the model as params.yaml pins it.
    """

    engine: Literal["vllm", "openai", "template", "recorded", "rules"]
    model: str
    revision: str


class Request(msgspec.Struct, frozen=True):
    """One question to a model.

    Attributes:
        item_id: Trip or cell it is about; answers are joined by key and item, never by position.
        task: `annotate`, `narrate`, ...
        messages: The rendered prompt.
        schema: Generation schema (JSON Schema) the answer must fit.
        model: Who is asked.
        sampling: How.
        facts: The record the prompt was rendered from; only the template engine reads it.
        key: Hash of what decides the answer.
        attempt: 1 for the first; a later one samples with another seed.
    """

    item_id: str
    task: str
    messages: tuple[Message, ...]
    schema: dict[str, Any]
    model: ModelId
    sampling: Sampling
    facts: Any
    key: str
    attempt: int = 1

    @property
    def seed(self) -> int:
        """Return the sampling seed: from key and attempt, so the batch decides nothing."""
        digest = hashlib.blake2b(f"{self.key}\x1f{self.attempt}".encode(), digest_size=4).digest()
        return int.from_bytes(digest, "little") >> 1  # engines take 31 bits


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came back for one attempt; the ledger's row.

    Attributes:
        key: Key of the request.
        attempt: Number of the attempt, from 1.
        item_id: Item of the request.
        task: Task of the request.
        status: `ok` or what went wrong.
        reason: What went wrong in words; "" for ok.
        text: Raw text as the model gave it, kept whatever the status.
        finish_reason: As the engine told it; "" where it told none.
        model: Who answered.
        prompt_tokens: Tokens read; null where the engine counts none.
        output_tokens: Tokens written; null where the engine counts none.
    """

    key: str
    attempt: int
    item_id: str
    task: str
    status: Status
    reason: str
    text: str
    finish_reason: str
    model: ModelId
    prompt_tokens: int | None
    output_tokens: int | None


class Engine(Protocol):
    """Something that answers requests; entering it loads the model, leaving it frees it."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as they finish, in any order.

        Requests are pulled lazily, a bounded number at a time; each pulled request gives exactly
        one answer. One bad request never raises: its answer's status tells. A status of NO_ANSWER
        gives the request back: it comes again, as the same attempt.

        Raises:
            ModelError: The model or server as a whole cannot answer.
        """
        ...


def new_request(
    item_id: str,
    *,
    task: str,
    messages: tuple[Message, ...],
    schema: dict[str, Any],
    model: ModelId,
    sampling: Sampling,
    facts: Any = None,
) -> Request:
    """Return the first attempt of a request; see `Request` for the arguments."""
    key = request_key(task=task, messages=messages, schema=schema, model=model, sampling=sampling)
    return Request(item_id, task, messages, schema, model, sampling, facts, key)


def request_key(
    *,
    task: str,
    messages: Iterable[Message],
    schema: dict[str, Any],
    model: ModelId,
    sampling: Sampling,
) -> str:
    """Return the key of a request: 64 hexadecimal digits.

    They are those of a JSON object of all that is told here; its lines are put together one by one.

    Raises:
        ValueError: The schema holds NaN or infinity, which JSON cannot say.
    """
    content = {
        "key_version": _json(KEY_VERSION),
        "messages": f"[{', '.join(map(_message_json, messages))}]",
        "model": _json(model.model),
        "revision": _json(model.revision),
        "sampling": _json(msgspec.to_builtins(sampling)),
        "schema": _json(schema),
        "task": _json(task),
    }
    text = ", ".join(f'"{name}": {value}' for name, value in content.items())
    return hashlib.sha256(f"{{{text}}}".encode("utf-8", "surrogatepass")).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


@lru_cache(maxsize=256)
def _message_json(message: Message) -> str:
    """Return a message as JSON; system message and shots are those of many requests."""
    return _json([message.role, message.content])
