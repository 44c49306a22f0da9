"""The response ledger: every answer a model ever gave here, found again by the key of its request.

    with Ledger(folder) as ledger:
        ledger.record([answer])            # one transaction; the first answer of an attempt stands
        ledger.states([answer.key])        # {"5f0c...": State(attempts=1, ok=1, last="ok", next=2)}

One SQLite file with a row for each (key, attempt). It lies outside the outputs of DVC, so a stage
that is killed, or whose later code changes, asks no model twice. Processes may share it, and ask
each request once (leases.py); what is recorded survives `kill -9`, and a torn write is undone when
the file is next opened. Every row that is read is compared with its checksum. Its write-ahead log
needs a local disk: on a network file system two machines would damage it.
"""

import contextlib
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from pipeline.errors import ParameterError, SourceError
from pipeline.language import leases
from pipeline.language.checksums import Damaged, checksum
from pipeline.language.ledger_file import (
    HEAD,
    clear_faults,
    open_file,
    opened_to_read,
    transaction,
)
from pipeline.language.ledger_records import Forgotten, Held, Run, State, state_of
from pipeline.language.requests import NO_ANSWER, Answer, ModelId, Status
from pipeline.language.salvage import Row, all_rows, damage_of, mended, row_is_sound

FILE = "ledger.sqlite"
_PER_QUERY = 1000
# Both as `row_is_sound` takes them.
_STATE = f"answers.{HEAD}, checksum, NULL"
_ANSWER = f"answers.{HEAD}, checksum, text"
_KEY, _ATTEMPT, _STATUS, _TEXT = 0, 1, 4, 13


class Ledger:
    """The ledger in a folder; use as a context manager. It is made when it is not there.

    Opened to read, it must be there and nothing of it changes, so that its disk need not be one
    that can be written.

    Raises:
        SourceError: The file is no ledger, is damaged, or is of a newer version; or, while it is
            read, an answer is not what was recorded.
        PipelineError: It cannot be written: permissions, a full disk, or a process that keeps it.
    """

    def __init__(self, folder: Path, *, to_read: bool = False) -> None:
        self.file, self._to_read = folder / FILE, to_read

    def __enter__(self) -> Self:
        opened = opened_to_read if self._to_read else _opened_to_write
        self._stack = contextlib.ExitStack()
        self._db = self._stack.enter_context(opened(self.file))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    # ---- answers --------------------------------------------------------------------------------

    def record(
        self, answers: Collection[Answer], *, seconds: Mapping[str, float] | None = None
    ) -> int:
        """Keep answers in one transaction; an attempt that is there already stands as it is.

        What is no answer (NO_ANSWER) is left out. Leases on the keys end.

        Args:
            answers: Any number of them.
            seconds: How long each took, by key, where it was measured.

        Returns:
            How many were new.
        """
        took, now = seconds or {}, time.time()
        rows = [
            _row(answer, now, took.get(answer.key))
            for answer in answers
            if answer.status not in NO_ANSWER
        ]
        if not rows:
            return 0
        with self._transaction() as db:
            leases.end_leases_of(db, {row[_KEY] for row in rows})
            before = db.total_changes
            db.executemany(
                f"INSERT OR IGNORE INTO answers VALUES ({', '.join('?' * 16)})",  # noqa: S608
                rows,
            )
            return db.total_changes - before

    def states(self, keys: Iterable[str]) -> dict[str, State]:
        """Tell how far each key has come, without reading any text; every key is in the result."""
        made: dict[str, dict[int, Status]] = {key: {} for key in keys}
        for row in self._of_keys(_STATE, made):
            if not row_is_sound(row):
                raise self._damage(damage_of(row))
            made[row[_KEY]][row[_ATTEMPT]] = row[_STATUS]
        return {key: state_of(attempts) for key, attempts in made.items()}

    def claim(
        self, keys: Iterable[str], *, run: str, attempts: int
    ) -> tuple[dict[str, State], set[str]]:
        """Tell how far each key has come, and reserve those that may be asked again.

        Args:
            keys: Keys.
            run: Who asks, see `leases.this_run`.
            attempts: Most attempts of one request.

        Returns:
            The states, and the keys that this run is to ask; the others that have not ended are
            asked by another run.
        """
        states = self.states(keys)
        due = [key for key, state in states.items() if not state.has_ended(attempts)]
        if not due:
            return states, set()
        with self._transaction() as db:
            mine = leases.reserve(db, due, run, now_s=time.time())
            # Another run may have recorded an answer, and ended its lease, since they were read.
            states |= self.states(due)
        return states, mine

    def renew(self, run: str) -> None:
        """Let a run's leases last from now on."""
        with self._transaction() as db:
            leases.renew(db, run, now_s=time.time())

    def release(self, run: str) -> None:
        """End all leases of a run."""
        with self._transaction() as db:
            leases.release(db, run)

    def reserved_elsewhere(self, keys: Collection[str], run: str) -> bool:
        """Tell whether another run that lives is to ask any of these keys."""
        with self._transaction() as db:
            return leases.reserved_elsewhere(db, keys, run, now_s=time.time())

    def answers(self, keys: Iterable[str]) -> dict[str, list[Answer]]:
        """Return all attempts of each key, the first one first; empty for a key never asked.

        The texts of all these keys are in memory at once: ask for a few hundred at a time.
        """
        found: dict[str, list[Answer]] = {key: [] for key in keys}
        for row in self._of_keys(_ANSWER, found):
            if not row_is_sound(row):
                raise self._damage(damage_of(row))
            found[row[_KEY]].append(_answer(row))
        for attempts in found.values():
            attempts.sort(key=lambda answer: answer.attempt)
        return found

    def stored(
        self,
        *,
        task: str | None = None,
        model: str | None = None,
        damaged: list[Damaged] | None = None,
    ) -> Iterator[list[Answer]]:
        """Yield all answers, sorted by key and attempt, a thousand at a time.

        Args:
            task: Only those of this task.
            model: Only those of this model, whatever its revision.
            damaged: Takes what is damaged, all of the ledger, which is left out then; without it
                the first one is an error.
        """
        rows = all_rows(self._db, self.file)
        while some := list(islice(rows, _PER_QUERY)):
            answers = []
            for row in some:
                if isinstance(row, Damaged):
                    if damaged is None:
                        raise self._damage(row)
                    damaged.append(row)
                    continue
                answer = _answer(row)
                if task in {None, answer.task} and model in {None, answer.model.model}:
                    answers.append(answer)
            if answers:
                yield answers

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

    def damaged_heads(self) -> int:
        """Count rows whose columns but for the text are not what was recorded."""
        with clear_faults(self.file):
            rows = self._db.execute(f"SELECT {_STATE} FROM answers NOT INDEXED")  # noqa: S608
            return sum(not row_is_sound(row) for row in rows)

    def mend(self, *, dry_run: bool) -> list[Damaged]:
        """Drop what is damaged, so that it is asked again; returns what it was.

        Args:
            dry_run: Only find it.
        """
        if dry_run:
            return [row for row in all_rows(self._db, self.file) if isinstance(row, Damaged)]
        return mended(self._db, self.file)

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

    def _damage(self, damaged: Damaged) -> SourceError:
        return SourceError(
            f"{self.file}: {damaged.words()}: expected the answer as it was recorded, found another"
            " (its checksum differs); run `python -m pipeline ledger gc --damaged` to drop what is"
            " damaged: it is asked again"
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with clear_faults(self.file), transaction(self._db):
            yield self._db


def _opened_to_write(file: Path) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    return contextlib.closing(open_file(file))


def _row(answer: Answer, now: float, seconds: float | None) -> Row:
    model, text = answer.model, answer.text.encode()
    head = (
        answer.key, answer.attempt, answer.item_id, answer.task, answer.status, answer.reason,
        answer.finish_reason, model.engine, model.model, model.revision,
        answer.prompt_tokens, answer.output_tokens,
    )  # fmt: skip
    return (*head, now, seconds, checksum(head, text), text)


def _answer(row: Row) -> Answer:
    key, attempt, item_id, task, status, reason, finish_reason, *model = row[:10]
    return Answer(
        key=key,
        attempt=attempt,
        item_id=item_id,
        task=task,
        status=status,
        reason=reason,
        text=row[_TEXT].decode(),
        finish_reason=finish_reason,
        model=ModelId(*model),
        prompt_tokens=row[10],
        output_tokens=row[11],
    )
