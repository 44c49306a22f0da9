"""How an engine behaves to a server that does not answer: one pause for all, and how long it waits.

    patience = Patience("engine openai, URL", most_at_once=64, longest_s=1800, seconds=loop.time)
    async with patience.turn():    # waits while there is a pause, or no room
        sent = patience.sent()
        ...
    patience.answered()            # the pause begins anew; one more may be under way
    patience.failed(sent, NoAnswer("failed", "status 503: busy"), item="1626278")
      -> all wait: 1, 2, 4, ... 30 s, or as long as the server says; half as many then begin at once
      -> ModelError after `longest_s` without any answer

A server that only allows so many requests a second is met in the same way: what it turns away is
sent again, and fewer go at a time.
"""

import asyncio
import email.utils
import math
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Literal, NamedTuple

from pipeline.errors import ModelError

# The pause after a failure, seconds; it doubles until a request is answered.
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
# Pauses from here on are said; shorter ones are how a limit on requests a second shows.
_SAID_FROM_S = 4.0
# Failures of one request while others were answered, after which it is put off.
PUT_OFF_AFTER = 5


class NoAnswer(NamedTuple):
    """What came instead of an answer.

    Attributes:
        status: As in requests.NO_ANSWER.
        reason: What happened, in words.
        text: What had come of an answer.
        wait_s: The pause that the server asks for, seconds; None where it states none.
        of_all: Whether it concerns every request, whatever else is answered meanwhile.
    """

    status: Literal["timeout", "failed"]
    reason: str
    text: str = ""
    wait_s: float | None = None
    of_all: bool = False


class Sent(NamedTuple):
    """When a request was sent, and how many answers had come by then."""

    at_s: float
    answered: int


class Patience:
    """The pause that all requests of an engine share, and the room for them."""

    def __init__(
        self,
        server: str,
        *,
        most_at_once: int,
        longest_s: float,
        seconds: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin without a pause.

        Args:
            server: What is asked, as messages name it.
            most_at_once: Most requests under way.
            longest_s: Longest time without any answer, seconds.
            seconds: Tells the time.
            sleep: Waits.
        """
        self._server, self._most, self._longest_s = server, most_at_once, longest_s
        self._seconds, self._sleep = seconds, sleep
        self._answered = self._under_way = 0
        self._allowed = most_at_once
        self._pause_s = 0.0
        self._paused_at_s = self._until_s = float("-inf")
        self._silent_since_s: float | None = None
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a request may be sent, and count it as under way for as long as it is."""
        while True:
            pause_s = self._until_s - self._seconds()
            if pause_s > 0:
                await self._sleep(pause_s)
            elif self._under_way >= self._allowed:
                self._changed.clear()
                await self._changed.wait()
            else:
                break
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._changed.set()

    def sent(self) -> Sent:
        """Return what `failed` has to know of a request that is sent now."""
        return Sent(self._seconds(), self._answered)

    def answered(self) -> None:
        """Note that the server answers."""
        self._answered += 1
        self._pause_s, self._silent_since_s = 0.0, None
        self._allowed = min(self._most, self._allowed + 1)
        self._changed.set()

    def failed(self, sent: Sent, why: NoAnswer, *, item: str) -> bool:
        """Note that the request about an item got no answer; let all wait if that concerns all.

        Returns:
            Whether it is this request's own trouble: others were answered while it was under way.

        Raises:
            ModelError: No request was answered for too long, or the server asks for too long a
                pause.
        """
        now_s = self._seconds()
        if why.wait_s is not None and why.wait_s > self._longest_s:
            raise self._gave_up(f"asks to wait {why.wait_s:.0f} s, longer than", why, item)
        if self._answered > sent.answered and not why.of_all:
            return True
        if self._silent_since_s is None:
            self._silent_since_s = sent.at_s
        if now_s - self._silent_since_s > self._longest_s:
            raise self._gave_up("answered no request for", why, item)
        if sent.at_s >= self._paused_at_s:  # what was under way together fails together
            self._pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, 2 * self._pause_s))
            self._allowed = max(1, self._allowed // 2)
            self._paused_at_s = now_s
            self._until_s = max(self._until_s, now_s + self._pause_s)
            if max(self._pause_s, why.wait_s or 0) >= _SAID_FROM_S:
                self._say(why, now_s)
        self._until_s = max(self._until_s, now_s + (why.wait_s or 0))
        return False

    async def rest(self, failures: int, wait_s: float | None) -> None:
        """Wait before a request that fails by itself is sent again."""
        pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (failures - 1))
        await self._sleep(max(pause_s, wait_s or 0))

    def _say(self, why: NoAnswer, now_s: float) -> None:
        wait_s = max(self._pause_s, why.wait_s or 0)
        silent_s = now_s - (self._silent_since_s or now_s)
        print(
            f"{self._server}: no answer for {silent_s:.0f} s ({why.reason}); asking again in"
            f" {wait_s:.0f} s, for {self._longest_s:.0f} s at most (engine.patience_s)",
            file=sys.stderr,
            flush=True,
        )

    def _gave_up(self, found: str, why: NoAnswer, item: str) -> ModelError:
        return ModelError(
            f"{self._server}: expected answers, found that the server {found}"
            f" {self._longest_s:g} s (engine.patience_s), the last about item {item}: {why.reason};"
            " when it answers run again: answers so far are kept and no attempt is used up"
        )


def wait_in(headers: Mapping[str, str]) -> float | None:
    """Return the pause that a server asks for, seconds, or None: Retry-After in either form."""
    wait_s = math.nan
    stated = headers.get("retry-after", "")
    with suppress(ValueError, TypeError):
        wait_s = email.utils.parsedate_to_datetime(stated).timestamp() - time.time()
    with suppress(ValueError):
        wait_s = float(stated)
    with suppress(ValueError):
        wait_s = float(headers.get("retry-after-ms", "")) / 1000
    return max(0.0, wait_s) if math.isfinite(wait_s) else None
