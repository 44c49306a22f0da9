"""Any server that speaks the OpenAI protocol: many requests under way, answers as they finish.

    OpenAISettings(base_url="http://127.0.0.1:8000/v1", concurrency=64, ...)
      -> POST /v1/chat/completions with the schema as `response_format`, streamed
      -> [Answer(status="ok", ...)], [Answer(status="refusal", ...)], ...

Answers are streamed so that a model that loops in white space is cut off at once; reading the
stream costs about 10 microseconds a token. A server that ignores the schema answers in free text:
that shows as `malformed` from the first answer on. One that is busy or down is waited for, see
patience.py; one that takes no request at all ends the run at once.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Self

import msgspec

from pipeline.errors import ModelError
from pipeline.language.engines.patience import PUT_OFF_AFTER, NoAnswer, Patience, wait_in
from pipeline.language.engines.replies import judged, unanswered
from pipeline.language.engines.settings import OpenAISettings, not_installed, one_line
from pipeline.language.engines.streamed import Reply
from pipeline.language.requests import NO_ANSWER, Answer, Request

# What every further request would be answered alike: no key, no money, no access, no such model.
_HOPELESS = {
    401: "accepted no key; put a valid one into the environment variable of engine.api_key_env",
    402: "wants payment; mend the account or name another server",
    403: "gave no access; check the key's rights and engine.model",
    404: "knows no such address or model; check engine.base_url and engine.model",
}
# How servers word that the account is empty: no waiting helps.
_NO_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Statuses below 500 that pass; all others say that this request is not taken as it is.
_PASSING = frozenset({408, 409, 425, 429})
# Statuses that concern every request, though some may still be answered.
_OF_ALL = frozenset({429, 503})
# Time in which a server that was never heard of may begin to listen, seconds.
_KNOCK_S = 5.0
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
            max_retries=0,
        )
        self._patience = Patience(
            f"engine openai, {self._settings.base_url}",
            most_at_once=self._settings.concurrency,
            longest_s=self._settings.patience_s,
            seconds=self._loop.time,
        )
        self._heard_of = False
        self._knocked_s: float | None = None
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
        """Send a request until it is answered, or put off because it fails while others do not."""
        failures, refused = 0, False
        while True:
            async with self._patience.turn():
                await self._spaced()
                sent = self._patience.sent()
                found = await self._once(request, refused=refused)
            if isinstance(found, Answer):
                self._patience.answered()
                return found
            if found is None:
                refused = True
            elif self._patience.failed(sent, found, item=request.item_id):
                failures += 1
                if failures == PUT_OFF_AFTER:
                    return unanswered(request, found.status, found.reason, text=found.text)
                await self._patience.rest(failures, found.wait_s)

    async def _once(self, request: Request, *, refused: bool) -> Answer | NoAnswer | None:
        """Send a request once.

        Args:
            request: What to send.
            refused: It was refused before, and the server takes others like it.

        Returns:
            The answer; or why there is none; or None where it was refused for the first time.
        """
        import httpx2  # noqa: PLC0415
        import openai  # noqa: PLC0415

        reply = Reply()
        try:
            await self._fill(reply, request)
        except openai.APIStatusError as fault:
            self._heard_of = True
            return self._turned_away(request, fault) or await self._refused(request, fault, refused)
        except (
            openai.APIConnectionError,
            httpx2.TransportError,
            TimeoutError,
            msgspec.DecodeError,
        ) as fault:
            return self._lost(fault, reply.raw())
        return self._judged(request, reply)

    async def _fill(self, reply: Reply, request: Request) -> None:
        async with self._opened(request) as response:
            self._heard_of = True
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

    def _opened(self, request: Request) -> Any:
        """Send a request; the response as a context manager, its body still to be read."""
        return self._client.chat.completions.with_streaming_response.create(
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
        )

    def _lost(self, fault: Exception, text: str) -> NoAnswer:
        """Return why no whole answer came.

        Raises:
            ModelError: Nobody listens there and nobody did before.
        """
        import httpx2  # noqa: PLC0415
        import openai  # noqa: PLC0415

        if isinstance(fault.__cause__, httpx2.ConnectTimeout | httpx2.ConnectError):
            return self._not_there(fault.__cause__)
        if isinstance(fault, openai.APITimeoutError | TimeoutError | httpx2.TimeoutException):
            reason = f"no answer in {self._settings.timeout_s:g} s (engine.timeout_s)"
            return NoAnswer("timeout", reason, text)
        if isinstance(fault, openai.APIConnectionError):
            return NoAnswer("failed", f"connection lost: {self._said(fault)}", text)
        return NoAnswer("failed", f"broken off: {self._said(fault)}", text)

    def _judged(self, request: Request, reply: Reply) -> Answer | NoAnswer:
        text = reply.raw()
        if reply.error:
            said = self._said(reply.error)
            if any(words in said for words in _TOO_LONG):
                return unanswered(request, "prompt_too_long", said)
            return NoAnswer("failed", f"the server said in mid-answer: {said}", text)
        if reply.refusal:
            return unanswered(request, "refusal", self._said(reply.refusal), text=text)
        if not (reply.complete or reply.finish_reason or reply.loops()):
            return NoAnswer("failed", "broken off in mid-answer", text)
        answer = judged(
            request,
            text,
            reply.finish_reason,
            prompt_tokens=reply.usage.prompt_tokens,
            output_tokens=reply.usage.completion_tokens,
        )
        return NoAnswer("failed", answer.reason, text) if answer.status in NO_ANSWER else answer

    def _turned_away(self, request: Request, fault: Any) -> Answer | NoAnswer | None:
        """Return what a status means that says so itself; None where the request is refused.

        Raises:
            ModelError: Every request would be turned away.
        """
        said, status = self._said(fault), fault.status_code
        if status in _HOPELESS or _NO_QUOTA & {fault.code, fault.type}:
            found = _HOPELESS.get(status, "has no quota left; mend the account")
            raise self._takes_none(found, said) from fault
        if status in {400, 413, 422} and any(words in str(fault) for words in _TOO_LONG):
            return unanswered(request, "prompt_too_long", said)
        if fault.code == "content_filter":
            return unanswered(request, "refusal", said)
        if status // 100 == 4 and status not in _PASSING:
            return None
        return NoAnswer(
            "failed",
            f"status {status}: {said}",
            wait_s=wait_in(fault.response.headers),
            of_all=status in _OF_ALL,
        )

    async def _refused(
        self, request: Request, fault: Any, refused: bool
    ) -> Answer | NoAnswer | None:
        """Find out whether the server refuses this request or all that are made like it.

        Raises:
            ModelError: It refuses an empty one as well: a parameter or the schema is at fault.
        """
        import httpx2  # noqa: PLC0415
        import openai  # noqa: PLC0415

        said = f"status {fault.status_code}: {self._said(fault)}"
        if refused:
            return unanswered(request, "refusal", said)
        empty = tuple(msgspec.structs.replace(m, content="?") for m in request.messages)
        try:
            async with self._opened(msgspec.structs.replace(request, messages=empty)):
                return None
        except openai.APIStatusError as other:
            if other.status_code == fault.status_code:
                words = "refuses every request; mend engine.strict, engine.extra_body or sampling"
                raise self._takes_none(words, said) from fault
        except (openai.APIError, httpx2.TransportError):
            pass
        return NoAnswer("failed", said)

    def _takes_none(self, found: str, said: str) -> ModelError:
        return ModelError(
            f"engine openai, {self._settings.base_url}, model {self._settings.model}: expected"
            f" answers, found that the server {found} (it said: {said}), then run again: answers so"
            " far are kept and no attempt is used up"
        )

    def _not_there(self, fault: object) -> NoAnswer:
        """Return that nobody listens: a server that was there may come back.

        Raises:
            ModelError: It was never there.
        """
        now_s = self._loop.time()
        self._knocked_s = now_s if self._knocked_s is None else self._knocked_s
        if not self._heard_of and now_s - self._knocked_s >= _KNOCK_S:
            raise ModelError(
                f"engine openai, {self._settings.base_url}: expected a server, found none"
                f" ({self._said(fault)}); start it or mend engine.base_url, then run again: answers"
                " so far are kept and no attempt is used up"
            )
        return NoAnswer("failed", f"no server there: {self._said(fault)}", of_all=True)

    def _said(self, message: object) -> str:
        """Return what a server or library said, in one line and without the key."""
        return one_line(message).replace(self._key, "***")

    async def _spaced(self) -> None:
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
