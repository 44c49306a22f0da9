"""What the stages that ask a model share: where their requests stand, and asking them.

with Ledger(io.ledger_folder) as ledger:
    summary = ask_all(requests, total=651, ledger=ledger, settings=annotate, desc="annotate monaco",
                      replay=False)
    io.write_json("annotation_run", run_figures("monaco", "annotate", model, summary))

standing(sorted_out(requests(), ledger, attempts=3))
->  Standing(total=651, reused=600, exhausted=1, due=50, first_due="1626278")
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol

import polars as pl

from pipeline.errors import ModelError
from pipeline.language.asking import AskingSummary, ask
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import (
    EngineSettings,
    ExecutorSettings,
    model_fingerprint,
    model_id,
)
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Answer, Engine, ModelId, Request
from pipeline.records import Provenance

_CHUNK = 256


class AskSettings(Protocol):
    """The keys of a section that say who is asked and how."""

    @property
    def engine(self) -> EngineSettings:
        """Return which model answers, and how it is reached."""

    @property
    def executor(self) -> ExecutorSettings:
        """Return who runs it."""

    @property
    def attempts(self) -> int:
        """Return the most attempts of one request."""

    @property
    def most_failed_share(self) -> float:
        """Return the largest share of requests without an answer that is borne."""


class Asking(NamedTuple):
    """What a stage asks one model. Each stage that asks has a function `asking` that yields these.

    Attributes:
        task: Task of the requests.
        model: Who is asked; where it is no model but the rules, there are no requests.
        settings: How; null for the rules.
        requests: Gives every request anew, in the same order; nothing is read before.
    """

    task: str
    model: ModelId
    settings: AskSettings | None
    requests: Callable[[], Iterator[Request]]


class Standing(NamedTuple):
    """Where requests stand before a run.

    Attributes:
        total: Requests.
        reused: Have an answer in the ledger.
        exhausted: Have none and are not asked again: all attempts are used up, or it is no use.
        due: Would be sent, for the first time or again.
        first_due: Item of the first of them; "" for none.
    """

    total: int
    reused: int
    exhausted: int
    due: int
    first_due: str


State = Literal["reused", "exhausted", "due"]


def sorted_out(
    requests: Iterable[Request], ledger: Ledger, *, attempts: int
) -> Iterator[tuple[Request, State]]:
    """Yield each request with what a run would do about it; asks nothing."""
    stream = iter(requests)
    while chunk := list(islice(stream, _CHUNK)):
        states = ledger.states(request.key for request in chunk)
        for request in chunk:
            state = states[request.key]
            ended: State = "exhausted" if state.has_ended(attempts) else "due"
            yield request, ended if state.ok is None else "reused"


def standing(sorted_requests: Iterable[tuple[Request, State]]) -> Standing:
    """Count requests as `sorted_out` gives them; those with the same key count each."""
    counts: Counter[State] = Counter()
    first_due = ""
    for request, state in sorted_requests:
        counts[state] += 1
        if state == "due":
            first_due = first_due or request.item_id
    return Standing(counts.total(), counts["reused"], counts["exhausted"], counts["due"], first_due)


def ask_all(
    requests: Callable[[], Iterator[Request]],
    *,
    total: int,
    ledger: Ledger,
    settings: AskSettings,
    desc: str,
    replay: bool,
) -> AskingSummary:
    """Bring every request to its end: an answer in the ledger, or no attempt left.

    Args:
        requests: Gives the stream anew, in the same order.
        total: How many there are.
        ledger: Where answers are looked up and kept.
        settings: Who is asked and how.
        desc: What is being done, such as `annotate porto`.
        replay: Start no model.

    Raises:
        ModelError: The model cannot answer, too many requests failed, or, when replaying, answers
            are missing.
    """
    if replay:
        stands = standing(sorted_out(requests(), ledger, attempts=settings.attempts))
        _check_all_there(stands, desc)
    return ask(
        requests,
        total=total,
        ledger=ledger,
        engine=lambda: started_engine(settings, ledger),
        attempts=settings.attempts,
        most_failed_share=settings.most_failed_share,
        desc=desc,
        replay=replay,
    )


def started_engine(settings: AskSettings, ledger: Ledger) -> Engine:
    """Return the engine of these settings, after noting what lies in a local model's folder."""
    fingerprint = model_fingerprint(settings.engine)
    if fingerprint is not None:
        model = model_id(settings.engine)
        ledger.remember_model(model.model, model.revision, fingerprint=fingerprint)
    return engine_for(settings.engine, settings.executor)


def _check_all_there(stands: Standing, desc: str) -> None:
    if stands.due:
        raise ModelError(
            f"{desc}: expected every answer in the ledger, found {stands.due:,} of"
            f" {stands.total:,} missing, the first for item {stands.first_due}; bring them in"
            " with `python -m pipeline ledger import`, or run it without --replay"
        )


def rejection_rows(stage: str, failed: Iterable[tuple[str, list[Answer]]]) -> pl.DataFrame:
    """Return the rejections of items whose requests have no answer.

    Args:
        stage: The stage.
        failed: Item and all its attempts, at least one; the last one's status is the reason.
    """
    rows = [
        {
            "item_id": item_id,
            "stage": stage,
            "reason": attempts[-1].status,
            "detail": f"no answer in {len(attempts)} attempts, the last: {_why(attempts[-1])}",
        }
        for item_id, attempts in failed
    ]
    schema = dict.fromkeys(("item_id", "stage", "reason", "detail"), pl.String)
    return pl.DataFrame(rows, schema=schema)


def _why(last: Answer) -> str:
    """Word what was wrong; a prompt that is too long is not asked again by itself."""
    if last.status != "prompt_too_long":
        return last.reason
    return f"{last.reason}; for a longer context run `python -m pipeline ledger gc --failed`"


def provenance_of(answer: Answer, prompt_hash: str, shots: list[str]) -> Provenance:
    """Return where a good answer's texts come from."""
    model = answer.model
    return Provenance(
        engine=model.engine,
        model=model.model,
        revision=model.revision,
        prompt_hash=prompt_hash,
        shots=shots,
        response_key=answer.key,
        attempt=answer.attempt,
    )


def run_figures(city: str, task: str, model: ModelId, summary: AskingSummary) -> dict[str, Any]:
    """Return what the run measured, as a record of `asking_run`.

    Null throughout for the template engine, which is no model: its runs have the same bytes.
    """
    counted = model.engine != "template"
    timed = counted and summary.seconds > 0

    def rate(tokens: int | None) -> float | None:
        return round(tokens / summary.seconds, 1) if timed and tokens is not None else None

    return {
        "city": city,
        "task": task,
        "engine": model.engine,
        "model": model.model,
        "revision": model.revision,
        "sent": summary.sent if counted else None,
        "reused": summary.reused if counted else None,
        "seconds": round(summary.seconds, 1) if timed else None,
        "prompt_tokens_per_s": rate(summary.prompt_tokens),
        "output_tokens_per_s": rate(summary.output_tokens),
    }
