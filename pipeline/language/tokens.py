"""How many tokens prompts have: by the model's own tokenizer where it is at hand, else an estimate.

    count = TokenCount(VllmSettings(model="models/smol", ...))
    for request, state in count.counting(sorted_requests): ...
    count.total, count.how  ->  88310, "tokenizer"

The tokenizer is at hand when a local folder holds the model and `transformers` is installed.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pipeline.language.engines.settings import EngineSettings, TemplateSettings, VllmSettings
from pipeline.language.requests import Message, Request

# Prompts that a tokenizer reads in full; the rest are scaled by their characters.
MOST_TOKENIZED = 400
# Characters of a token where no tokenizer is at hand: rules in English, records in JSON, names.
CHARACTERS_PER_TOKEN = 3.5
_S = TypeVar("_S")


class TokenCount:
    """Counts the tokens of requests that would be sent."""

    def __init__(self, engine: EngineSettings) -> None:
        self._counts = not isinstance(engine, TemplateSettings)
        self._tokenize = _tokenizer(engine)
        self._characters = self._read_characters = self._read_tokens = self._read = self._due = 0

    def counting(
        self, sorted_requests: Iterable[tuple[Request, _S]]
    ) -> Iterator[tuple[Request, _S]]:
        """Pass requests on and count those that are due."""
        for request, state in sorted_requests:
            if state == "due" and self._counts:
                self._add(request)
            yield request, state

    def _add(self, request: Request) -> None:
        characters = sum(len(message.content) for message in request.messages)
        self._due += 1
        self._characters += characters
        if self._tokenize is not None and self._read < MOST_TOKENIZED:
            self._read += 1
            self._read_characters += characters
            self._read_tokens += self._tokenize(request.messages)

    @property
    def total(self) -> int | None:
        """Return the tokens of all due requests; None for an engine that reads no prompt."""
        if not self._counts:
            return None
        per_character = 1 / CHARACTERS_PER_TOKEN
        if self._read_characters:
            per_character = self._read_tokens / self._read_characters
        return round(self._characters * per_character)

    @property
    def how(self) -> str | None:
        """Return how they were counted; None for an engine that reads no prompt."""
        if not self._counts:
            return None
        if self._tokenize is None:
            return f"estimate: {CHARACTERS_PER_TOKEN:g} characters a token"
        if self._due <= MOST_TOKENIZED:
            return "tokenizer"
        return f"tokenizer on {MOST_TOKENIZED}, the rest scaled by characters"


def _tokenizer(engine: EngineSettings) -> Callable[[tuple[Message, ...]], int] | None:
    """Return what counts the tokens of a chat as the model reads it, or None."""
    if not isinstance(engine, VllmSettings) or not Path(engine.model).is_dir():
        return None
    try:
        from transformers import AutoTokenizer  # noqa: PLC0415 - slow, and not always installed
    except ImportError:
        return None
    tokenizer = AutoTokenizer.from_pretrained(engine.model)
    template = Path(engine.chat_template).read_text("utf-8") if engine.chat_template else None

    def tokens(messages: tuple[Message, ...]) -> int:
        chat = [{"role": message.role, "content": message.content} for message in messages]
        read = tokenizer.apply_chat_template(
            chat,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            chat_template=template,
            **engine.chat_template_kwargs,
        )
        return len(read["input_ids"])

    return tokens
