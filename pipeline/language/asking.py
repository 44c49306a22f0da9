"""Ask a model only what the ledger cannot tell: look up, send what is missing, keep, try again.

    summary = ask(requests, total=5000, ledger=ledger, engine=lambda: engine_for(settings),
                  attempts=3, most_failed_share=0.02, desc="annotate porto")
      -> AskingSummary(total=5000, reused=1200, sent=3811, ok=3798, failed={"malformed": 2}, ...)
    for request, answers in results(requests(), ledger): ...

Every answer is in the ledger before the next is waited for, so whatever ends a run - a kill, a dead
server, too many failures - costs only the requests that were on their way. The model is started
when the first request is really missing; when all are there none is needed at all.

What a server or a model's program fails to answer (NO_ANSWER) is no attempt: nothing of it is kept,
and the same attempt is made again, in the next round or the next run. Requests are reserved in the
ledger before they are sent, so of two runs that share it one asks and the other waits for it.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain, islice

import msgspec

from pipeline.errors import ContractError, ModelError
from pipeline.language.asking_tally import OnItsWay, RoundTally
from pipeline.language.asking_words import (
    failure_words,
    missing_words,
    progress_words,
    silence_words,
)
from pipeline.language.leases import renewed, this_run
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_records import Run, State
from pipeline.language.outcome import settled
from pipeline.language.requests import NO_ANSWER, Answer, Engine, Request
from pipeline.progress import ProgressLine

# Requests looked up at a time: few enough that their prompts are no burden in memory.
_CHUNK = 256
# Items that must have come to an end before a high share of failures ends a run early.
_JUDGED_FROM = 200
# How often a run looks whether what another one asks has come, seconds.
_LOOK_S = 1.0


class AskingSummary(msgspec.Struct, frozen=True):
    """What became of a stream of requests.

    Attributes:
        total: Requests in the stream; each is counted in one of `reused`, `ok` and `failed`.
        reused: Had an answer in the ledger before, or were answered by another run meanwhile.
        sent: Attempts made in this run.
        ok: Were answered in this run.
        failed: Have no answer after all attempts, now or in earlier runs, by the last status.
        prompt_tokens: Tokens read in this run; null where the engine told none.
        output_tokens: Tokens written in this run; null where the engine told none.
        seconds: From the first request to the last answer, without loading the model.
        engine_started: Whether a model was started.
    """

    total: int
    reused: int
    sent: int
    ok: int
    failed: dict[str, int]
    prompt_tokens: int | None
    output_tokens: int | None
    seconds: float
    engine_started: bool


def ask(  # noqa: PLR0913 - each is one decision of the stage
    requests: Callable[[], Iterator[Request]],
    *,
    total: int,
    ledger: Ledger,
    engine: Callable[[], Engine],
    attempts: int,
    most_failed_share: float,
    desc: str,
    replay: bool = False,
) -> AskingSummary:
    """Bring every request to its end: an answer in the ledger, or all its attempts failed.

    Requests are sent in rounds: all that are missing, then those that failed, and so on. However
    many there are, only those on their way and a few hundred more are in memory. A round that
    brings nothing but failures of the server ends the run.

    Args:
        requests: Gives the stream anew, in the same order, for each round.
        total: How many requests it has, for the progress shown.
        ledger: Where answers are looked up and kept.
        engine: Makes the engine; called when the first request is really missing.
        attempts: Most attempts of one request, over all runs.
        most_failed_share: Largest share of requests without an answer that is borne, 0 to 1.
        desc: What is being done, such as `annotate porto`.
        replay: Send nothing: a request whose answer is missing is an error.

    Raises:
        ModelError: The model cannot answer at all, or does not answer some requests, or too many
            requests failed.
        ContractError: The engine gave an answer nobody asked for, two for one request, or none.
    """
    with closing(ProgressLine(total=total, desc=desc)) as line, ExitStack() as stack:
        asking = _Asking(
            ledger, line, total=total, attempts=attempts, desc=desc, reserves=not replay
        )
        started: Engine | None = None
        stack.callback(asking.end)
        while True:
            feed = asking.missing(iter(requests()))
            first = next(feed, None)
            if first is not None:
                asking.show(at_once=True)
                if replay:
                    raise ModelError(missing_words(desc, item=first.item_id, key=first.key))
                if started is None:
                    stack.enter_context(renewed(asking.renew))
                    started = stack.enter_context(engine())
                asking.begin()
                for answers in started.answers(chain([first], feed)):
                    asking.take(answers)
                    asking.judge(most_failed_share, early=True)
                asking.check_none_lost(feed)
                asking.check_answered(early=False)
            if not asking.goes_on():
                break
        asking.judge(most_failed_share, early=False)
        return asking.summary()


def results(requests: Iterable[Request], ledger: Ledger) -> Iterator[tuple[Request, list[Answer]]]:
    """Yield each request with all its attempts, the first one first, in the order of the stream.

    The list is empty for a request that was never asked. `outcome.first_ok` picks the answer.
    """
    stream = iter(requests)
    while chunk := list(islice(stream, _CHUNK)):
        found = ledger.answers(request.key for request in chunk)
        for request in chunk:
            yield request, found[request.key]


class _Asking:
    """The state of one run: what is on its way, and how the rest stands.

    An engine may pull requests from a thread of its own, hence the lock: a request is either on its
    way or in the ledger, and never seen in between.
    """

    def __init__(
        self,
        ledger: Ledger,
        line: ProgressLine,
        *,
        total: int,
        attempts: int,
        desc: str,
        reserves: bool,
    ) -> None:
        self._ledger, self._line = ledger, line
        self._total, self._attempts, self._desc = total, attempts, desc
        self._run, self._reserves, self._holds = this_run(), reserves, False
        self._lock = threading.Lock()
        self._on_their_way: dict[str, OnItsWay] = {}
        self._round = 0
        self._expected = total  # requests this round sends at most
        self._answered = 0  # requests that got their answer in this run
        self._silent: tuple[str, str] | None = None  # item without an answer, and why
        self._asked: Request | None = None
        self._sent = self._good = self._bad = self._came = 0
        self._tokens: dict[str, int | None] = {"prompt": None, "output": None}
        self._begun_s: float | None = None
        self._last_s = 0.0
        self.tally = RoundTally()

    # ---- sending --------------------------------------------------------------------------------

    def missing(self, stream: Iterator[Request]) -> Iterator[Request]:
        """Begin a round: yield what has to be sent, count what has not."""
        self._expected = self._open() if self._round else self._total
        self._round += 1
        self._came, self.tally = 0, RoundTally()
        while chunk := list(islice(stream, _CHUNK)):
            with self._lock:
                keys = {request.key for request in chunk} - self._on_their_way.keys()
                found = self._claimed(keys)
            for request in chunk:
                due = self._due(request, found)
                if due is not None:
                    yield due
            self.show()

    def _claimed(self, keys: set[str]) -> dict[str, tuple[State, bool]]:
        """Return how far each key has come, and whether it is this run that asks it."""
        if not self._reserves:
            return {key: (state, True) for key, state in self._ledger.states(keys).items()}
        states, mine = self._ledger.claim(keys, run=self._run, attempts=self._attempts)
        self._holds = self._holds or bool(mine)
        return {key: (state, key in mine) for key, state in states.items()}

    def _due(self, request: Request, found: dict[str, tuple[State, bool]]) -> Request | None:
        """Return the attempt to be sent; None where there is none, or the same is on its way."""
        key = request.key
        with self._lock:
            waiting = self._on_their_way.get(key)
            if waiting is not None:
                waiting.copies += 1
                return None
            # What was on its way when the chunk was looked up, or stood in it before, is news.
            state, mine = found.pop(key) if key in found else self._claimed({key})[key]
            if state.has_ended(self._attempts):
                self.tally.add(request, state, copies=1, ended=True)
                self.tally.cached += state.ok is not None
                return None
            if not mine:
                self.tally.elsewhere.add(key)
                return None
            due = msgspec.structs.replace(request, attempt=state.next)
            self._on_their_way[key] = OnItsWay(due)
            self._sent += 1
            self._asked = self._asked or due
            return due

    def begin(self) -> None:
        """Start the clock, now that the model is loaded."""
        if self._begun_s is None:
            self._begun_s = time.monotonic()
            for waiting in self._on_their_way.values():
                waiting.since_s = self._begun_s

    # ---- taking ---------------------------------------------------------------------------------

    def take(self, answers: Iterable[Answer]) -> None:
        """Keep answers as they come; what is right is kept even if the next one is a fault."""
        came: list[tuple[Answer, OnItsWay]] = []
        with self._lock:
            try:
                for answer in answers:
                    waiting = self._taken(answer)
                    kept = settled(answer, waiting.request.schema)
                    if kept.status in NO_ANSWER:
                        self.tally.unanswered += waiting.copies
                        self._silent = self._silent or (kept.item_id, kept.reason)
                    else:
                        came.append((kept, waiting))
            finally:
                self._keep(came)
        self.check_answered(early=True)
        self.show()

    def _taken(self, answer: Answer) -> OnItsWay:
        waiting = self._on_their_way.get(answer.key)
        if waiting is None or waiting.request.attempt != answer.attempt:
            raise ContractError(
                f"{self._desc}: item {answer.item_id}: expected answers to requests that are on"
                f" their way, each once, found attempt {answer.attempt} of key {answer.key[:12]};"
                " mend the engine"
            )
        return self._on_their_way.pop(answer.key)

    def _keep(self, came: Sequence[tuple[Answer, OnItsWay]]) -> None:
        now = time.monotonic()
        answers = [answer for answer, _ in came]
        seconds = {answer.key: now - waiting.since_s for answer, waiting in came}
        self._ledger.record(answers, seconds=seconds)
        # Another process may have kept this attempt first: what stands in the ledger counts.
        states = self._ledger.states(seconds)
        for answer, waiting in came:
            self._came += 1
            self._good += answer.status == "ok"
            self._bad += answer.status != "ok"
            self._add_tokens("prompt", answer.prompt_tokens)
            self._add_tokens("output", answer.output_tokens)
            state = states[answer.key]
            ended = state.has_ended(self._attempts)
            self._answered += waiting.copies if state.ok is not None else 0
            self.tally.add(waiting.request, state, copies=waiting.copies, ended=ended)
        self._last_s = now

    def _add_tokens(self, kind: str, tokens: int | None) -> None:
        if tokens is not None:
            self._tokens[kind] = (self._tokens[kind] or 0) + tokens

    def check_none_lost(self, feed: Iterator[Request]) -> None:
        """Raise ContractError when the engine ended before every request was answered."""
        next(feed, None)  # one that was not even pulled is on its way then, and found below
        if self._on_their_way:
            lost = next(iter(self._on_their_way.values())).request
            raise ContractError(
                f"{self._desc}: expected one answer to each request, found"
                f" {len(self._on_their_way)} without, the first of item {lost.item_id}; mend the"
                " engine"
            )

    def check_answered(self, *, early: bool) -> None:
        """Raise ModelError when a round brings nothing but failures of what answers."""
        count = self.tally.unanswered
        if self._silent is None or not count or self._came or (early and count < _JUDGED_FROM):
            return
        item, reason = self._silent
        raise ModelError(silence_words(self._desc, count=count, item=item, reason=reason))

    def goes_on(self) -> bool:
        """Tell whether another round is needed, when what other runs are to ask has come."""
        tally = self.tally
        if not tally.again and not tally.unanswered and tally.elsewhere:
            self.show(at_once=True)
            while self._ledger.reserved_elsewhere(tally.elsewhere, self._run):
                time.sleep(_LOOK_S)
        return self._open() > 0

    def _open(self) -> int:
        """Return how many requests have not come to their end after this round."""
        tally = self.tally
        return tally.again.total() + tally.unanswered + len(tally.elsewhere)

    def renew(self) -> None:
        """Say that this run lives; for a thread of its own, so by a connection of its own."""
        with Ledger(self._ledger.file.parent) as ledger:
            ledger.renew(self._run)

    # ---- judging and telling --------------------------------------------------------------------

    def judge(self, most_failed_share: float, *, early: bool) -> None:
        """Raise ModelError when too many requests failed.

        Early, those that will be asked again count as far as they would be lost if every further
        attempt failed as often: a model that never answers is stopped before its third attempt.
        """
        tally = self.tally
        again = tally.again.total()
        finished = tally.ended + again
        if not finished or (early and finished < _JUDGED_FROM):
            return
        lost = tally.failed.total() / finished + (again / finished) ** self._attempts
        if lost > most_failed_share:
            raise ModelError(self._failure(finished, most_failed_share))

    def _failure(self, finished: int, most_failed_share: float) -> str:
        failed = self.tally.failed + self.tally.again
        attempts = self._ledger.answers(self.tally.examples)
        examples = [
            f"{item} ({attempts[key][-1].reason or attempts[key][-1].status})"
            for key, item in self.tally.examples.items()
        ]
        return failure_words(
            self._desc, failed, of=finished, most_share=most_failed_share, examples=examples
        )

    def show(self, *, at_once: bool = False) -> None:
        """Show how the round stands."""
        tally = self.tally
        words = progress_words(
            answered=tally.ok - tally.cached,
            cached=tally.cached,
            failed=tally.failed.total(),
            again=tally.again.total() + tally.unanswered,
            elsewhere=len(tally.elsewhere),
            tokens_per_s=self._rate(self._tokens["output"]),
            seconds_left=self._seconds_left(),
        )
        words = words if self._round == 1 else f"round {self._round}: {words}"
        self._line.show(tally.ended, words, at_once=at_once)

    def _rate(self, count: int | None) -> float | None:
        if not count or self._begun_s is None or self._last_s <= self._begun_s:
            return None
        return count / (self._last_s - self._begun_s)

    def _seconds_left(self) -> float | None:
        """Return the time for the requests still to be sent: what is in the ledger takes none."""
        rate = self._rate(self._good + self._bad)
        if rate is None:
            return None
        unseen = self._expected - self._came
        if self._round == 1:
            unseen = self._total - self.tally.ended - self._open()
        return max(unseen, 0) / rate

    def end(self) -> None:
        """Let go of what this run was to ask, and keep what was measured, however it ended."""
        if self._holds:
            with self._lock:
                self._ledger.release(self._run)
        if self._asked is None or not self._good + self._bad:
            return
        run = Run(
            task=self._asked.task,
            model=self._asked.model,
            sent=self._sent,
            ok=self._good,
            failed=self._bad,
            prompt_tokens=self._tokens["prompt"],
            output_tokens=self._tokens["output"],
            seconds=self._seconds(),
        )
        with self._lock:
            self._ledger.record_run(run)

    def _seconds(self) -> float:
        return max(self._last_s - self._begun_s, 0.0) if self._begun_s is not None else 0.0

    def summary(self) -> AskingSummary:
        """Return what became of all requests, at the end of the last round."""
        failed = self.tally.failed
        return AskingSummary(
            total=self.tally.ended,
            reused=self.tally.ok - self._answered,
            sent=self._sent,
            ok=self._answered,
            failed={status: failed[status] for status in sorted(failed)},
            prompt_tokens=self._tokens["prompt"],
            output_tokens=self._tokens["output"],
            seconds=self._seconds(),
            engine_started=self._begun_s is not None,
        )
