"""Any server that speaks the OpenAI protocol: many requests under way, answers as they finish.

    OpenAISettings(base_url="http://127.0.0.1:8000/v1", concurrency=64, ...)
      -> POST /v1/chat/completions with the schema as `response_format`, streamed
      -> [Answer(status="ok", ...)], [Answer(status="refusal", ...)], ...

Answers are streamed so that a model that loops in white space is cut off at once; reading the
stream costs about 10 microseconds a token. A server that ignores the schema answers in free text:
that shows as `malformed` from the first answer on.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Self

import msgspec

from pipeline.errors import ModelError
from pipeline.language.engines.replies import judged, unanswered
from pipeline.language.engines.settings import OpenAISettings, not_installed, one_line
from pipeline.language.outcome import LONGEST_GAP
from pipeline.language.requests import Answer, Request

# What every further request would be answered alike: no key, no money, no access, no such model.
_HOPELESS = {
    401: "accepted no key; put a valid one into the environment variable of engine.api_key_env",
    402: "wants payment; mend the account or name another server",
    403: "gave no access; check the key's rights and engine.model",
    404: "knows no such address or model; check engine.base_url and engine.model",
}
# How servers word a prompt that is longer than the model reads; the first is OpenAI's code for it.
_TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "maximum model length",
    "context window",
    "context size",
    "prompt is too long",
)
# The library insists on a key; a server without one takes any.
_NO_KEY = "no-key-needed"


class _Part(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


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


class _Reply:
    """An answer as far as it has come."""

    def __init__(self) -> None:
        self.text, self.refusal, self.finish_reason = "", "", ""
        self.usage = _Usage()
        self.error: Any = None
        self.complete = False
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
            self.finish_reason = choice.finish_reason or self.finish_reason

    def loops(self) -> bool:
        """Tell whether it ends in so much white space that nothing more is to be expected."""
        return self._gap >= LONGEST_GAP

    def _append(self, text: str) -> None:
        self.text += text
        printed = text.rstrip()
        self._gap = len(text) - len(printed) + (0 if printed else self._gap)


class OpenAIEngine:
    """An `Engine` on a server; holds no thread: its event loop runs while answers are awaited."""

    def __init__(self, settings: OpenAISettings) -> None:
        self._settings = settings
        self._tasks: set[asyncio.Task[Answer]] = set()
        self._next_start = 0.0

    def __enter__(self) -> Self:
        try:
            import openai  # noqa: PLC0415
        except ImportError as fault:
            raise not_installed("openai", "openai") from fault
        self._key = _key(self._settings)
        self._loop = asyncio.new_event_loop()
        self._client = openai.AsyncOpenAI(
            base_url=self._settings.base_url,
            api_key=self._key,
            timeout=self._settings.timeout_s,
            max_retries=self._settings.tries - 1,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cancel()
        self._loop.run_until_complete(self._client.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says; at most `concurrency` are under way.

        Raises:
            ModelError: The server is not there, takes no key, or does not know the model.
        """
        source, more = iter(requests), True
        try:
            while more or self._tasks:
                while more and len(self._tasks) < self._settings.concurrency:
                    request = next(source, None)
                    if request is None:
                        more = False
                    else:
                        self._tasks.add(self._loop.create_task(self._answer(request)))
                if not self._tasks:
                    return
                done, self._tasks = self._loop.run_until_complete(
                    asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                )
                faults = [fault for task in done if (fault := task.exception())]
                finished = [task.result() for task in done if not task.exception()]
                if finished:
                    yield finished
                if faults:
                    raise faults[0]
        finally:
            self._cancel()

    def _cancel(self) -> None:
        """End what is under way; a connection is closed, so the server stops working on it."""
        tasks, self._tasks = self._tasks, set()
        if tasks:
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _answer(self, request: Request) -> Answer:
        import httpx2  # noqa: PLC0415
        import openai  # noqa: PLC0415

        await self._turn()
        reply = _Reply()
        try:
            await self._fill(reply, request)
        except (openai.APITimeoutError, TimeoutError, httpx2.TimeoutException) as fault:
            if isinstance(fault.__cause__, httpx2.ConnectTimeout):
                raise self._not_there(fault) from fault
            reason = f"no answer in {self._settings.timeout_s:g} s"
            return unanswered(request, "timeout", reason, text=reply.text)
        except openai.APIConnectionError as fault:
            if isinstance(fault.__cause__, httpx2.ConnectError):
                raise self._not_there(fault.__cause__) from fault
            return unanswered(request, "failed", f"connection lost: {self._said(fault)}")
        except openai.APIStatusError as fault:
            return self._refused(request, fault)
        except (httpx2.TransportError, msgspec.DecodeError) as fault:
            reason = f"broken off: {self._said(fault)}"
            return unanswered(request, "failed", reason, text=reply.text)
        return self._judged(request, reply)

    async def _fill(self, reply: _Reply, request: Request) -> None:
        async with self._client.chat.completions.with_streaming_response.create(
            model=self._settings.model,
            messages=[{"role": m.role, "content": m.content} for m in request.messages],
            temperature=request.sampling.temperature,
            top_p=request.sampling.top_p,
            max_tokens=request.sampling.max_tokens,
            seed=request.seed,
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": request.task,
                    "strict": self._settings.strict,
                    "schema": request.schema,
                },
            },
            stream=True,
            stream_options={"include_usage": True},
            extra_body=self._settings.extra_body,
        ) as response:
            async with asyncio.timeout(self._settings.timeout_s):
                if "event-stream" not in response.headers.get("content-type", ""):
                    reply.add(await response.read())
                    reply.complete = True
                    return
                async for line in response.iter_lines():
                    data = line.removeprefix("data:").strip()
                    if data == "[DONE]":
                        reply.complete = True
                        return
                    if data.startswith("{"):
                        reply.add(data)
                        if reply.loops():
                            return

    def _judged(self, request: Request, reply: _Reply) -> Answer:
        if reply.error:
            reason = f"the server said in mid-answer: {self._said(reply.error)}"
            return unanswered(request, "failed", reason, text=reply.text)
        if reply.refusal:
            return unanswered(request, "refusal", self._said(reply.refusal), text=reply.text)
        if not (reply.complete or reply.finish_reason or reply.loops()):
            return unanswered(request, "failed", "broken off in mid-answer", text=reply.text)
        return judged(
            request,
            reply.text,
            reply.finish_reason,
            prompt_tokens=reply.usage.prompt_tokens,
            output_tokens=reply.usage.completion_tokens,
        )

    def _refused(self, request: Request, fault: Any) -> Answer:
        """Return the answer to a request that was refused; raise where all would be."""
        said = self._said(fault)
        status = fault.status_code
        if status in _HOPELESS:
            raise ModelError(
                f"engine openai, {self._settings.base_url}, model {self._settings.model}: expected"
                f" answers, found that the server {_HOPELESS[status]} (it said: {said})"
            ) from fault
        if status in {400, 413, 422} and any(words in str(fault) for words in _TOO_LONG):
            return unanswered(request, "prompt_too_long", said)
        if fault.code == "content_filter":
            return unanswered(request, "refusal", said)
        return unanswered(request, "failed", f"status {status}: {said}")

    def _not_there(self, fault: object) -> ModelError:
        return ModelError(
            f"engine openai, {self._settings.base_url}: expected a server, found none"
            f" ({self._said(fault)}, {self._settings.tries} tries); start it or mend"
            " engine.base_url, then rerun (answers so far are kept)"
        )

    def _said(self, message: object) -> str:
        """Return what a server or library said, in one line and without the key."""
        return one_line(message).replace(self._key, "***")

    async def _turn(self) -> None:
        """Wait until the rate allows one more request to begin."""
        if self._settings.requests_per_minute is None:
            return
        now = self._loop.time()
        start = max(now, self._next_start)
        self._next_start = start + 60 / self._settings.requests_per_minute
        await asyncio.sleep(start - now)


def _key(settings: OpenAISettings) -> str:
    if settings.api_key_env is None:
        return _NO_KEY
    key = os.environ.get(settings.api_key_env, "")
    if not key:
        raise ModelError(
            f"engine.api_key_env: expected a key in the environment variable"
            f" {settings.api_key_env}, found nothing; run `export {settings.api_key_env}=...`, or"
            " set null for a server that wants none"
        )
    return key
