"""Who writes scenarios and specifications: a model, or the phrase banks; asked by the same key.

written = ask_writer(requests, settings=stride_specs, bank=answer_of, ledger=ledger, ...)
written[0]   ->  (Request(item_id="0812", ...), [Answer(status="ok", text='{"questions": ...}')])

Whatever was answered once is in the response ledger under the hash of prompt, schema, model and
sampling, and is not asked again: that is the cache of specifications.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

from pipeline.language.asked import ask_all
from pipeline.language.asking import ask, results
from pipeline.language.engines.replies import judged
from pipeline.language.engines.settings import (
    WINDOW,
    EngineSettings,
    ExecutorSettings,
    TemplateSettings,
    model_id,
)
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Answer, ModelId, Request, Sampling

# Answers a request from the phrase banks, as plain JSON values.
BankAnswer = Callable[[Request], Any]


class WriterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is asked and how.

    Attributes:
        engine: Which model answers, and how it is reached; `template` is no model.
        executor: Who runs it.
        sampling: How it samples.
        attempts: Most attempts of one request; a later one samples with another seed.
        most_failed_share: Largest share of requests without an answer that is borne.
    """

    engine: EngineSettings
    executor: ExecutorSettings
    sampling: Sampling
    attempts: Annotated[int, Meta(ge=1, le=20)]
    most_failed_share: Annotated[float, Meta(ge=0, le=1)]


class BankEngine:
    """An `Engine` that answers from the phrase banks of this chapter."""

    def __init__(self, answer: BankAnswer) -> None:
        self._answer = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says, in the order given."""
        source = iter(requests)
        while some := list(islice(source, WINDOW)):
            yield [
                judged(one, msgspec.json.encode(self._answer(one)).decode("utf-8"), "stop")
                for one in some
            ]


def writer_id(settings: WriterSettings, *, bank_revision: str) -> ModelId:
    """Return who writes; the phrase banks are `template` with their own revision."""
    if isinstance(settings.engine, TemplateSettings):
        return ModelId("template", "template", bank_revision)
    return model_id(settings.engine)


def ask_writer(
    requests: Sequence[Request],
    *,
    settings: WriterSettings,
    bank: BankAnswer,
    ledger: Ledger,
    desc: str,
    replay: bool,
) -> list[tuple[Request, list[Answer]]]:
    """Bring every request to its end and return it with all its attempts.

    Raises:
        ModelError: The model cannot answer, too many requests failed, or, when replaying, answers
            are missing.
    """
    if isinstance(settings.engine, TemplateSettings):
        ask(
            lambda: iter(requests),
            total=len(requests),
            ledger=ledger,
            engine=lambda: BankEngine(bank),
            attempts=settings.attempts,
            most_failed_share=settings.most_failed_share,
            desc=desc,
            replay=replay,
        )
    else:
        ask_all(
            lambda: iter(requests),
            total=len(requests),
            ledger=ledger,
            settings=settings,
            desc=desc,
            replay=replay,
        )
    return list(results(requests, ledger))
