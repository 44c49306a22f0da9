"""The response ledger: every answer a model ever gave here, found again by the key of its request.

    with Ledger(folder) as ledger:
        ledger.record([answer])            # one transaction; the first answer of an attempt stands
        ledger.states([answer.key])        # {"5f0c...": State(attempts=1, ok=1, last="ok")}

One SQLite file with a row for each (key, attempt). It lies outside the outputs of DVC, so a stage
that is killed, or whose later code changes, asks no model twice. Processes may share it; what is
recorded survives `kill -9`, and a torn write is undone when the file is next opened. Its
write-ahead log needs a local disk: on a network file system two machines would damage it.
"""

import contextlib
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from pipeline.errors import ParameterError
from pipeline.language.ledger_file import clear_faults, open_file, transaction
from pipeline.language.requests import FINAL, Answer, ModelId, Status

FILE = "ledger.sqlite"
_PER_QUERY = 1000
_ANSWER = (
    "answers.key, attempt, item_id, task, status, reason, finish_reason, engine, model, revision,"
    " prompt_tokens, output_tokens, text"
)


class State(NamedTuple):
    """What the ledger knows of a key.

    Attributes:
        attempts: Number of the highest attempt; 0 when it was never asked.
        ok: Number of the lowest attempt with status ok, the key's answer; None without one.
        last: Status of the highest attempt; None when it was never asked.
    """

    attempts: int
    ok: int | None
    last: Status | None

    def has_ended(self, most_attempts: int) -> bool:
        """Tell whether nothing more is asked: answered, beyond help, or asked often enough."""
        return self.ok is not None or self.last in FINAL or self.attempts >= most_attempts


UNKNOWN = State(0, None, None)


class Run(NamedTuple):
    """What one run asked a model for and how long that took: measured speed, for a plan.

    Attributes:
        task: `annotate`, `narrate`, ...
        model: Who was asked.
        sent: Requests sent, repeated attempts included.
        ok: Answers that were good.
        failed: Answers that were not.
        prompt_tokens: Tokens read; None where the engine counts none.
        output_tokens: Tokens written; None where the engine counts none.
        seconds: From the first request to the last answer, without loading the model.
    """

    task: str
    model: ModelId
    sent: int
    ok: int
    failed: int
    prompt_tokens: int | None
    output_tokens: int | None
    seconds: float


class Forgotten(NamedTuple):
    """How many rows were removed, and the bytes of their raw texts."""

    attempts: int
    text_bytes: int


class Held(NamedTuple):
    """What the ledger holds of one task and model.

    Attributes:
        task: `annotate`, `narrate`, ...
        engine: What ran the model.
        model: Its name.
        revision: Its version.
        requests: Keys, each asked once or more often.
        attempts: Rows.
        prompt_tokens: Tokens read; null where the engine counts none.
        output_tokens: Tokens written; null where the engine counts none.
        text_bytes: Size of the raw texts.
        ok: Rows that are good.
        failed: Rows that are not, by status.
    """

    task: str
    engine: str
    model: str
    revision: str
    requests: int
    attempts: int
    prompt_tokens: int | None
    output_tokens: int | None
    text_bytes: int
    ok: int
    failed: dict[str, int]


class Ledger:
    """The ledger in a folder; use as a context manager. It is made when it is not there.

    Raises:
        SourceError: The file is no ledger, is damaged, or is of a newer version.
        PipelineError: It cannot be written: permissions, a full disk, or a process that keeps it.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    def __enter__(self) -> Self:
        self._db = open_file(self.file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    # ---- answers --------------------------------------------------------------------------------

    def record(
        self, answers: Collection[Answer], *, seconds: Mapping[str, float] | None = None
    ) -> int:
        """Keep answers in one transaction; an attempt that is there already stands as it is.

        Args:
            answers: Any number of them.
            seconds: How long each took, by key, where it was measured.

        Returns:
            How many were new.
        """
        if not answers:
            return 0
        took, now = seconds or {}, time.time()
        rows = [_row(answer, now, took.get(answer.key)) for answer in answers]
        with self._transaction() as db:
            before = db.total_changes
            db.executemany(
                f"INSERT OR IGNORE INTO answers VALUES ({', '.join('?' * 15)})",  # noqa: S608
                rows,
            )
            return db.total_changes - before

    def states(self, keys: Iterable[str]) -> dict[str, State]:
        """Tell how far each key has come, without reading any text; every key is in the result."""
        found: dict[str, State] = dict.fromkeys(keys, UNKNOWN)
        for key, attempt, status in self._of_keys("answers.key, attempt, status", found):
            attempts, ok, last = found[key]
            if status == "ok" and (ok is None or attempt < ok):
                ok = attempt
            if attempt > attempts:
                attempts, last = attempt, status
            found[key] = State(attempts, ok, last)
        return found

    def answers(self, keys: Iterable[str]) -> dict[str, list[Answer]]:
        """Return all attempts of each key, the first one first; empty for a key never asked.

        The texts of all these keys are in memory at once: ask for a few hundred at a time.
        """
        found: dict[str, list[Answer]] = {key: [] for key in keys}
        for row in self._of_keys(_ANSWER, found):
            found[row[0]].append(_answer(row))
        for attempts in found.values():
            attempts.sort(key=lambda answer: answer.attempt)
        return found

    def stored(
        self, *, task: str | None = None, model: str | None = None
    ) -> Iterator[list[Answer]]:
        """Yield all answers, sorted by key and attempt, a thousand at a time.

        Args:
            task: Only those of this task.
            model: Only those of this model, whatever its revision.
        """
        last: tuple[str, int] = ("", 0)
        while True:
            with clear_faults(self.file):
                rows = self._db.execute(
                    f"SELECT {_ANSWER} FROM answers WHERE (key, attempt) > (?, ?)"  # noqa: S608
                    " AND coalesce(?, task) = task AND coalesce(?, model) = model"
                    " ORDER BY key, attempt LIMIT ?",
                    (*last, task, model, _PER_QUERY),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][:2]
            yield [_answer(row) for row in rows]

    # ---- housekeeping ---------------------------------------------------------------------------

    def held(self) -> list[Held]:
        """Count what is there by task and model; reads the whole file."""
        group = "task, engine, model, revision"
        with clear_faults(self.file):
            by_status = self._db.execute(
                f"SELECT {group}, status, count(*) FROM answers"  # noqa: S608
                f" GROUP BY {group}, status ORDER BY {group}, status"
            ).fetchall()
            sums = self._db.execute(
                f"SELECT {group}, count(DISTINCT key), count(*), sum(prompt_tokens),"  # noqa: S608
                f" sum(output_tokens), sum(length(text)) FROM answers GROUP BY {group}"
                f" ORDER BY {group}"
            ).fetchall()
        failed: dict[Any, dict[str, int]] = {row[:4]: {} for row in sums}
        for *who, status, count in by_status:
            failed[tuple(who)][status] = count
        return [Held._make((*row, failed[row[:4]].pop("ok", 0), failed[row[:4]])) for row in sums]

    def forget(self, *, keep: Collection[str] | None, failed: bool, dry_run: bool) -> Forgotten:
        """Remove answers and give their room back to the disk.

        Args:
            keep: Keys that stay while all others go; None lets all stay.
            failed: Also remove the attempts of keys that have no good answer.
            dry_run: Only count.
        """
        doomed = ["key NOT IN (SELECT key FROM kept)"] if keep is not None else []
        doomed += ["key NOT IN (SELECT key FROM answers WHERE status = 'ok')"] if failed else []
        if not doomed:
            return Forgotten(0, 0)
        rows = f"FROM answers WHERE {' OR '.join(doomed)}"
        with self._transaction() as db:
            db.execute("CREATE TEMP TABLE kept (key TEXT PRIMARY KEY) WITHOUT ROWID")
            db.executemany("INSERT OR IGNORE INTO kept VALUES (?)", ((key,) for key in keep or ()))
            counted = db.execute(
                f"SELECT count(*), coalesce(sum(length(text)), 0) {rows}"
            ).fetchone()
            if not dry_run:
                db.execute(f"DELETE {rows}")
            db.execute("DROP TABLE kept")
        if not dry_run:
            with clear_faults(self.file):
                self._db.execute("VACUUM")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Forgotten(*counted)

    # ---- what is known of a model ---------------------------------------------------------------

    def remember_model(self, model: str, revision: str, *, fingerprint: str) -> None:
        """Hold a model's name and revision to its weights.

        Args:
            model: Its name in params.yaml.
            revision: Its revision there.
            fingerprint: Hash of its weights.

        Raises:
            ParameterError: The same name and revision had other weights before: answers of two
                models would be told as one's.
        """
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO fingerprints VALUES (?, ?, ?)",
                (model, revision, fingerprint),
            )
            (known,) = db.execute(
                "SELECT fingerprint FROM fingerprints WHERE model = ? AND revision = ?",
                (model, revision),
            ).fetchone()
        if known != fingerprint:
            raise ParameterError(
                f"params.yaml: model {model}, revision {revision}: expected the weights that"
                f" answered before, fingerprint {known[:12]}, found {fingerprint[:12]}; name a new"
                " revision, or bring the old weights back"
            )

    def record_run(self, run: Run) -> None:
        """Keep what a run sent and how long it took."""
        values = (time.time(), run.task, *msgspec.structs.astuple(run.model), *run[2:])
        with self._transaction() as db:
            db.execute(f"INSERT INTO runs VALUES ({', '.join('?' * 11)})", values)  # noqa: S608

    def throughput(self, task: str, model: ModelId) -> float | None:
        """Return output tokens per second, measured over all runs; None where none was measured.

        A new revision of a model is as fast as the old one; another engine is not.
        """
        return self._one(
            "SELECT sum(output_tokens) / sum(seconds) FROM runs WHERE task = ? AND engine = ?"
            " AND model = ? AND output_tokens > 0 AND seconds > 0",
            (task, model.engine, model.model),
        )

    def mean_output_tokens(self, task: str, model: ModelId) -> float | None:
        """Return the mean number of tokens of an attempt; None where no engine counted them."""
        return self._one(
            "SELECT avg(output_tokens) FROM answers WHERE task = ? AND model = ?",
            (task, model.model),
        )

    # ---- inside ---------------------------------------------------------------------------------

    def _of_keys(self, columns: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of keys, which go as one JSON text: SQLite limits the number of values."""
        asked = iter(keys)
        while some := list(islice(asked, _PER_QUERY)):
            with clear_faults(self.file):
                # CROSS JOIN fixes the order: each key is looked up in the index.
                rows = self._db.execute(
                    f"SELECT {columns} FROM json_each(?) AS asked"  # noqa: S608
                    " CROSS JOIN answers ON answers.key = asked.value",
                    (msgspec.json.encode(some).decode(),),
                ).fetchall()
            yield from rows

    def _one(self, query: str, values: tuple[str, ...]) -> float | None:
        with clear_faults(self.file):
            found: float | None = self._db.execute(query, values).fetchone()[0]
            return found

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with clear_faults(self.file), transaction(self._db):
            yield self._db


def _row(answer: Answer, now: float, seconds: float | None) -> tuple[Any, ...]:
    model = answer.model
    return (
        answer.key, answer.attempt, answer.item_id, answer.task, answer.status, answer.reason,
        answer.finish_reason, model.engine, model.model, model.revision,
        answer.prompt_tokens, answer.output_tokens, now, seconds, answer.text.encode(),
    )  # fmt: skip


def _answer(row: tuple[Any, ...]) -> Answer:
    key, attempt, item_id, task, status, reason, finish_reason, *model, read, written, text = row
    return Answer(
        key=key,
        attempt=attempt,
        item_id=item_id,
        task=task,
        status=status,
        reason=reason,
        text=text.decode(),
        finish_reason=finish_reason,
        model=ModelId(*model),
        prompt_tokens=read,
        output_tokens=written,
    )
