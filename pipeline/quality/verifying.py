"""Who settles what the rules leave open: a model that is asked once a trip, or the stated rules.

    with verifier_for(settings, io, policies) as verifier:
        verifier.ask(batches, desc="verify monaco")
        verifier.settle(batch)  ->  (its trips with claims settled, attempts made for them)

Nobody is asked about a trip that a rule refuses already. What the ledger holds is not asked again.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec
import polars as pl

from pipeline.language.annotation_report import AskingTally
from pipeline.language.asked import Asking, ask_all
from pipeline.language.asking import results
from pipeline.language.engines.settings import AskedModel, EngineSettings
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok
from pipeline.language.requests import Answer, Request
from pipeline.quality.examiner import RULES, VerifierSettings, model_of, nobody_asked
from pipeline.quality.inspection import Inspected
from pipeline.quality.rules import Policies
from pipeline.quality.verification import (
    RULES_REVISION,
    TASK,
    VerifyRequests,
    open_claims,
    rules_verdict,
    said_of,
    settled,
    with_listed,
)
from pipeline.records import AnnotatedTrip
from pipeline.store import StageIO

# Some rows of `annotated_trip`, and what was found in each.
Batch = tuple[pl.DataFrame, list[Inspected]]
# Gives a city's trips anew, in the same order.
Batches = Callable[[], Iterable[Batch]]
Settled = tuple[list[Inspected], list[Answer]]


def trips_of(rows: pl.DataFrame) -> list[AnnotatedTrip]:
    """Return rows of `annotated_trip` as records; by way of JSON, twice as fast as by row."""
    return msgspec.json.Decoder(AnnotatedTrip).decode_lines(rows.write_ndjson())


class Verifier(Protocol):
    """Someone who settles claims; entering it opens what it needs."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def asking(self, batches: Batches) -> Asking:
        """Return what is asked about trips that `batches` gives; nothing is read before."""
        ...

    def ask(self, batches: Batches, *, desc: str) -> None:
        """Bring every request to its end before anything is settled.

        Args:
            batches: The city's trips.
            desc: What is being done, such as `verify monaco`.

        Raises:
            ModelError: The model cannot answer, too many requests failed, or, when replaying,
                answers are missing.
        """
        ...

    def settle(self, batch: Batch) -> Settled:
        """Return some trips with their open claims settled, and every attempt made for them."""
        ...

    def figures(self) -> dict[str, Any]:
        """Return who it is, and what became of what was asked, among the trips settled so far."""
        ...


def verifier_for(
    settings: VerifierSettings, io: StageIO, policies: Policies, *, prompts: Path
) -> Verifier:
    """Return the verifier of these settings.

    Args:
        settings: Key `verify` of section `check`.
        io: The stage's doors, for the ledger.
        policies: What follows from each rule.
        prompts: The folder prompts/ of a project; the rules read none.

    Raises:
        PromptError: A file of the prompt is missing or broken.
    """
    asked = model_of(settings)
    if asked is None:
        return RulesVerifier(policies)
    return ModelVerifier(VerifyRequests(prompts, asked, asks=settings.asks), asked, io, policies)


class RulesVerifier:
    """The stated rules: no model, always labelled `rules`."""

    def __init__(self, policies: Policies) -> None:
        """Keep what follows from each rule."""
        self._policies = policies

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def asking(self, batches: Batches) -> Asking:
        """Return that nobody is asked."""
        del batches
        return nobody_asked(TASK, RULES_REVISION)

    def ask(self, batches: Batches, *, desc: str) -> None:
        """Ask nobody."""

    def settle(self, batch: Batch) -> Settled:
        """Settle by rule."""
        return [self._settled(found) for found in batch[1]], []

    def _settled(self, found: Inspected) -> Inspected:
        waiting = open_claims(found.claims)
        if not waiting or found.rejected:
            return found
        verdicts = [rules_verdict(claim) for claim in waiting]
        return settled(found, verdicts, by=RULES, policies=self._policies)

    def figures(self) -> dict[str, Any]:
        """Return who it is; nobody was asked."""
        return {
            "engine": RULES,
            "model": RULES,
            "revision": RULES_REVISION,
            "asks": None,
            "prompt_hash": None,
            "asked": None,
            "unread": 0,
        }


class ModelVerifier:
    """A model, asked through the ledger."""

    def __init__(
        self,
        asker: VerifyRequests,
        settings: AskedModel[EngineSettings],
        io: StageIO,
        policies: Policies,
    ) -> None:
        """Keep what makes the requests and who is asked."""
        self._asker, self._settings = asker, settings
        self._io, self._policies = io, policies
        self._asked, self._unread = AskingTally(), 0

    def __enter__(self) -> Self:
        self._ledger = Ledger(self._io.ledger_folder).__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ledger.__exit__(kind, error, trace)

    def asking(self, batches: Batches) -> Asking:
        """Return what is asked, of the trips that no rule refuses: see `VerifierSettings.asks`."""
        return Asking(TASK, self._asker.model, self._settings, lambda: self._requests(batches()))

    def ask(self, batches: Batches, *, desc: str) -> None:
        """Ask about the trips that no rule refuses."""
        requests = self.asking(batches).requests
        ask_all(
            requests,
            total=sum(1 for _ in requests()),
            ledger=self._ledger,
            settings=self._settings,
            desc=desc,
            replay=self._io.replay,
        )

    def _requests(self, batches: Iterable[Batch]) -> Iterator[Request]:
        for rows, found in batches:
            for trip, one in zip(trips_of(rows), found, strict=True):
                if self._asker.concerns(one):
                    yield self._asker.request(trip, one)

    def settle(self, batch: Batch) -> Settled:
        """Settle by the answers in the ledger."""
        by_trip = {found.trip_id: found for found in batch[1]}
        by, policies = self._asker.model.model, self._policies
        every: list[Answer] = []
        for request, attempts in results(self._requests([batch]), self._ledger):
            found = by_trip[request.item_id]
            said = said_of(found, attempts, by=by)
            answer = first_ok(attempts)
            self._asked.add(attempts, answer, shared=False)
            self._unread += answer is not None and said is None
            now = settled(found, said and said.verdicts, by=by, policies=policies)
            if said is not None and said.listed:
                now = with_listed(now, said.listed, by=by, policies=policies)
            by_trip[request.item_id] = now
            every += attempts
        return list(by_trip.values()), every

    def figures(self) -> dict[str, Any]:
        """Return who it is and what became of the requests."""
        model = self._asker.model
        return {
            "engine": model.engine,
            "model": model.model,
            "revision": model.revision,
            "asks": self._asker.asks,
            "prompt_hash": self._asker.hash,
            "asked": self._asked.figures(),
            "unread": self._unread,
        }
