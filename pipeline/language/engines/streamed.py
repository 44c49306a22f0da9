r"""An answer of an OpenAI server, put together from the events of its stream or from one body.

reply = Reply()
reply.add('{"choices": [{"delta": {"content": "{\"caption\": "}}]}')
reply.add('{"choices": [{"delta": {"content": "\"Calm.\"}"}, "finish_reason": "stop"}]}')
reply.raw()  ->  '{"caption": "Calm."}'
"""

import json
from typing import Any

import msgspec

from pipeline.language.outcome import LONGEST_GAP


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(msgspec.Struct):
    function: _Function
    index: int | None = None


class _Part(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None  # the older form of the same


class _Choice(msgspec.Struct):
    delta: _Part | None = None
    message: _Part | None = None  # in place of delta from a server that does not stream
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


class Reply:
    """An answer as far as it has come."""

    def __init__(self) -> None:
        self.text, self.refusal, self.finish_reason = "", "", ""
        self.usage = _Usage()
        self.error: Any = None
        self.complete = False
        self._calls: dict[int, _Function] = {}
        self._gap = 0

    def add(self, data: str | bytes) -> None:
        """Take in one event of the stream, or the whole body."""
        chunk = msgspec.json.decode(data, type=_Chunk)
        self.usage = chunk.usage or self.usage
        self.error = chunk.error or self.error
        for choice in chunk.choices:
            part = choice.delta or choice.message or _Part()
            self.refusal += part.refusal or ""
            self._append(part.content or "")
            for place, call in enumerate(part.tool_calls or []):
                self._call(place if call.index is None else call.index, call.function)
            if part.function_call is not None:
                self._call(0, part.function_call)
            self.finish_reason = choice.finish_reason or self.finish_reason

    def raw(self) -> str:
        """Return all that the model wrote; a tool call as a model without tools writes it."""
        calls = [
            f'<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments":'
            f" {call.arguments}}}\n</tool_call>"
            for call in self._calls.values()
        ]
        return "\n".join([self.text, *calls] if self.text else calls)

    def loops(self) -> bool:
        """Tell whether it ends in so much white space that nothing more is to be expected."""
        return self._gap >= LONGEST_GAP

    def _append(self, text: str) -> None:
        self.text += text
        self._note_gap(text)

    def _call(self, index: int, part: _Function) -> None:
        """Take in a piece of a tool call; one that writes white space only is cut off as a text."""
        call = self._calls.setdefault(index, _Function("", ""))
        call.name = f"{call.name}{part.name or ''}"
        call.arguments = f"{call.arguments}{part.arguments or ''}"
        self._note_gap(part.arguments or "")

    def _note_gap(self, text: str) -> None:
        printed = text.rstrip()
        self._gap = len(text) - len(printed) + (0 if printed else self._gap)
