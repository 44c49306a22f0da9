"""Two ledgers of answers as the two sides: what a model said of each trip, without the trips.

    side = read_answers(Path("answers-old.parquet"))
    side.texts     ->  trip_id, the seven texts, the model and the request of each good answer
    side.refused   ->  trip_id, stage, reason of those without one

A ledger keeps answers by request, not what was drawn for a trip: draws are unknown. A trip that
several requests of one ledger are about is left out and counted: which of them a data set was made
of, only the data set knows.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.rows import COLUMNS, FIELDS
from pipeline.errors import SourceError
from pipeline.language.annotate import TASK, texts_of
from pipeline.language.ledger import FILE, Ledger
from pipeline.language.outcome import answers_of, first_ok
from pipeline.language.requests import Answer
from pipeline.tables import files_of, read_table


class Answers(NamedTuple):
    """What one ledger holds of the task `annotate`.

    Attributes:
        texts: Columns of `pipeline.audit.rows.COLUMNS`; trip and draws are null.
        refused: trip_id, stage and reason of the trips that got no good answer.
        ambiguous: Trips left out, because several requests are about them.
    """

    texts: pl.DataFrame
    refused: pl.DataFrame
    ambiguous: int


def holds_answers(path: Path) -> bool:
    """Tell whether a path is a ledger, an export of one, or a folder of responses."""
    if path.is_dir():
        of_city = (path / "annotated").is_dir()  # which holds other tables, too
        return (path / FILE).is_file() or (any(path.glob("*.parquet")) and not of_city)
    return path.is_file()


def read_answers(path: Path) -> Answers:
    """Read the answers of the task `annotate`.

    Raises:
        SourceError: The path holds no answers.
        ContractError: A row is no answer, or an answer has not the seven texts.
    """
    by_trip: dict[str, dict[str, list[Answer]]] = {}
    for answer in _answers(path):
        if answer.task == TASK:
            by_trip.setdefault(answer.item_id, {}).setdefault(answer.key, []).append(answer)
    if not by_trip:
        raise SourceError(f"{path}: expected answers of the task {TASK}, found none; name another")
    alone = {trip: next(iter(keys.values())) for trip, keys in by_trip.items() if len(keys) == 1}
    rows, refused = [], []
    for trip, attempts in sorted(alone.items()):
        good = first_ok(attempts)
        if good is None:
            last = max(attempts, key=lambda one: one.attempt)
            refused.append((trip, TASK, last.status))
        else:
            rows.append(_row(good))
    texts = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    reasons = pl.DataFrame(refused, schema=["trip_id", "stage", "reason"], orient="row")
    return Answers(texts, reasons.cast(pl.String), len(by_trip) - len(alone))


_NUMBERS = {"trip": pl.UInt64, "draws": pl.UInt64, "attempt": pl.Int64}
_SCHEMA = {name: _NUMBERS.get(name, pl.String) for name in COLUMNS}


def _row(answer: Answer) -> tuple[str | int | None, ...]:
    texts, model = texts_of(answer), answer.model
    return (
        answer.item_id, *(getattr(texts, field) for field in FIELDS), None, None,
        model.engine, model.model, model.revision, None, None, answer.key, answer.attempt,
    )  # fmt: skip


def _answers(path: Path) -> Iterator[Answer]:
    database = path / FILE if path.is_dir() else path
    if database.name == FILE and database.is_file():
        with Ledger(database.parent, to_read=True) as ledger:
            for some in ledger.stored(task=TASK):
                yield from some
        return
    for file in files_of(path, ARTIFACTS["responses"]):
        yield from answers_of(read_table(file, ARTIFACTS["responses"]))
