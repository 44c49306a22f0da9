"""Who writes scenarios and specifications: a model, or the phrase banks; asked by the same key.

written = ask_writer(requests, settings=stride_specs, bank=answer_of, fault=fault_of, ...)
written[0]   ->  (Request(item_id="0812", ...), [Answer(status="ok", text='{"questions": ...}')])

Whatever was answered once is in the response ledger under the hash of prompt, schema, model and
sampling, and is not asked again: that is the cache of specifications. An answer that keeps its
schema and is wrong all the same (two ranges that no value fits, an anchor the map has not) is
`invalid` with a reason code, and is asked for again with another seed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import polars as pl

from pipeline.errors import ParameterError
from pipeline.language.asked import rejection_rows, started_engine
from pipeline.language.asking import ask, results
from pipeline.language.engines.replies import judged, unanswered
from pipeline.language.engines.settings import (
    WINDOW,
    AskedModel,
    EngineSettings,
    TemplateSettings,
    model_id,
)
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Answer, Engine, ModelId, Request

# Answers a request from the phrase banks, as plain JSON values; ParameterError: they know none.
BankAnswer = Callable[[Request], Any]
# Says what is wrong with an answer that keeps its schema, as "code: words"; "" if nothing is. It
# may look at nothing but request and answer: what it says is kept with the answer.
AnswerFault = Callable[[Request, Answer], str]
# Who the phrase banks are, as an engine and as a model.
TEMPLATE: Final = "template"
_CODE = re.compile(r"([a-z][a-z0-9_]*): ")


# Key `writer` of a section of params.yaml; `template` is the phrase banks.
WriterSettings = AskedModel[EngineSettings]


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
            yield [self._answered(one) for one in some]

    def _answered(self, request: Request) -> Answer:
        try:
            value = self._answer(request)
        except ParameterError as fault:  # a text of a model's in words that no bank knows
            return unanswered(request, "refusal", str(fault))
        return judged(request, msgspec.json.encode(value).decode("utf-8"), "stop")


class HeldEngine:
    """An `Engine` whose answers are also held to what no schema can say."""

    def __init__(self, engine: Engine, fault: AnswerFault) -> None:
        """Wrap an engine.

        Args:
            engine: Answers.
            fault: Says what is wrong with an answer; such a one becomes `invalid`.
        """
        self._engine, self._fault = engine, fault

    def __enter__(self) -> Self:
        self._engine.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._engine.__exit__(kind, error, trace)

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says."""
        pulled: dict[str, Request] = {}

        def noted() -> Iterator[Request]:
            for one in requests:
                pulled[one.key] = one
                yield one

        for some in self._engine.answers(noted()):
            yield [self._held(pulled.pop(one.key), one) for one in some]

    def _held(self, request: Request, answer: Answer) -> Answer:
        if answer.status != "ok":
            return answer
        fault = self._fault(request, answer)
        if not fault:
            return answer
        return msgspec.structs.replace(answer, status="invalid", reason=fault)


def writer_id(settings: WriterSettings, *, bank_revision: str) -> ModelId:
    """Return who writes; the phrase banks are `template` with their own revision."""
    if isinstance(settings.engine, TemplateSettings):
        return ModelId(TEMPLATE, TEMPLATE, bank_revision)
    return model_id(settings.engine)


def ask_writer(
    requests: Sequence[Request],
    *,
    settings: WriterSettings,
    bank: BankAnswer,
    fault: AnswerFault,
    ledger: Ledger,
    desc: str,
    replay: bool,
) -> list[tuple[Request, list[Answer]]]:
    """Bring every request to its end and return it with all its attempts.

    Raises:
        ModelError: The model cannot answer, too many requests failed, or, when replaying, answers
            are missing.
    """

    def engine() -> Engine:
        if isinstance(settings.engine, TemplateSettings):
            return HeldEngine(BankEngine(bank), fault)
        return HeldEngine(started_engine(settings, ledger), fault)

    ask(
        lambda: iter(requests),
        total=len(requests),
        ledger=ledger,
        engine=engine,
        attempts=settings.attempts,
        most_failed_share=settings.most_failed_share,
        desc=desc,
        replay=replay,
    )
    return list(results(requests, ledger))


def unanswered_rows(stage: str, failed: Sequence[tuple[str, list[Answer]]]) -> pl.DataFrame:
    """Return the rejections of items without an answer; the reason is the last attempt's code.

    That is the code of what was wrong with an answer that kept its schema, else the status.

    Args:
        stage: The stage.
        failed: Item and all its attempts, at least one.
    """
    codes = {item_id: _CODE.match(attempts[-1].reason) for item_id, attempts in failed}
    rows = rejection_rows(stage, failed)
    reasons = [
        code[1] if status == "invalid" and (code := codes[item_id]) else status
        for item_id, status in rows.select("item_id", "reason").iter_rows()
    ]
    return rows.with_columns(pl.Series("reason", reasons, dtype=pl.String))
