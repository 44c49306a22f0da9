"""Have trips judged by one judge: the rules, or a model that is asked once a trip.

    judge = judge_for(settings, seed=7, prompts=PROMPTS)
    judge.id                       ->  JudgeId("vllm", "Qwen/Qwen3.5-27B", "b5c939d", "3f3f...")
    with judge.sitting(frames, total=651, desc="judge monaco", io=io, tally=tally) as judged:
        judged(frame).verdicts     ->  rows of `judged_trip`, one a trip, in the order of the frame
        judged(frame).responses    ->  rows of `response`; none for the rules

A model's answer that is none (prose, cut off, refused) leaves the trip unscored, with the reason:
it is no low score. What the ledger holds is not asked again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl

from pipeline.language.annotation_report import AskingTally
from pipeline.language.asked import Asking, ask_all
from pipeline.language.asking import results
from pipeline.language.engines.settings import AskedModel, EngineSettings, model_id
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, responses_frame
from pipeline.language.requests import Answer, Request, new_request
from pipeline.quality.examiner import RULES, ExaminerSettings, model_of, nobody_asked
from pipeline.quality.judge_prompt import TASK, JudgePrompt, shown_order, verdict_of
from pipeline.quality.judge_rules import RulesJudge
from pipeline.quality.rubric import CRITERIA, SCORES
from pipeline.quality.verdicts import trips_in, verdicts_frame
from pipeline.records import CheckedTrip, JudgedTrip, Rationales, Scores
from pipeline.store import StageIO

_UNSCORED = Scores(*(None for _ in CRITERIA))
_SILENT = Rationales("", "", "")

# Gives the tables of checked trips anew, in the same order.
Frames = Callable[[], Iterator[pl.DataFrame]]


class JudgeId(NamedTuple):
    """Who judges; `prompt_hash` is null for the rules, which read no prompt."""

    engine: str
    model: str
    revision: str
    prompt_hash: str | None


class Judged(NamedTuple):
    """The verdicts on the trips of one frame, and every attempt made for them."""

    verdicts: pl.DataFrame
    responses: pl.DataFrame


# Gives the verdicts on the trips of a frame of checked trips.
Sitting = Callable[[pl.DataFrame], Judged]


class JudgingTally:
    """Counts over the verdicts of one judge."""

    def __init__(self) -> None:
        self.asked = AskingTally()
        self.trips = 0
        self._unscored: Counter[str] = Counter()
        self._scores: dict[str, Counter[int | None]] = {code: Counter() for code in CRITERIA}

    def add(self, verdict: JudgedTrip) -> None:
        """Count one verdict."""
        self.trips += 1
        if verdict.status != "ok":
            self._unscored[verdict.status] += 1
        for code, counts in self._scores.items():
            counts[getattr(verdict.scores, code)] += 1

    def figures(self) -> dict[str, Any]:
        """Return the counts; a mean without scores is null."""
        return {
            "trips": self.trips,
            "without_verdict": sum(self._unscored.values()),
            "without_verdict_by_status": dict(sorted(self._unscored.items())),
            "asked": self.asked.figures(),
            "criteria": [_criterion(code, self._scores[code]) for code in CRITERIA],
        }


class Judge(Protocol):
    """Someone who judges trips."""

    @property
    def id(self) -> JudgeId:
        """Return who it is; no model is loaded for it."""

    def asking(self, frames: Frames) -> Asking:
        """Return what is asked about the trips of some tables; nothing is read before."""
        ...

    def sitting(
        self, frames: Frames, *, total: int, desc: str, io: StageIO, tally: JudgingTally
    ) -> AbstractContextManager[Sitting]:
        """Ask about all trips, then give the verdicts on those of any frame.

        Args:
            frames: Rows of `checked_trip`, all there are.
            total: How many there are.
            desc: What is being done, such as `judge monaco`.
            io: The stage's doors, for the ledger.
            tally: Counts what comes.

        Raises:
            ModelError: The model cannot answer, too many requests failed, or, when replaying,
                answers are missing.
        """
        ...


def judge_for(settings: ExaminerSettings, *, seed: int, prompts: Path) -> Judge:
    """Return the judge of these settings.

    Args:
        settings: Section `judge`, or a judge of section `rejudge`.
        seed: The data set's seed; the order of the texts in a prompt comes from it.
        prompts: The folder prompts/ of a project; the rules read none.

    Raises:
        PromptError: A file of the prompt is missing or broken.
        ParameterError: The rubric, the vocabulary, the rules' table or a chat template is.
    """
    asked = model_of(settings)
    return RulesPanel() if asked is None else ModelPanel(prompts, asked, seed)


class RulesPanel:
    """The rules as a judge."""

    def __init__(self) -> None:
        self._rules = RulesJudge()
        self.id = JudgeId(RULES, RULES, self._rules.revision, None)

    def asking(self, frames: Frames) -> Asking:
        """Return that nobody is asked."""
        del frames
        return nobody_asked(TASK, self.id.revision)

    @contextmanager
    def sitting(
        self, frames: Frames, *, total: int, desc: str, io: StageIO, tally: JudgingTally
    ) -> Iterator[Sitting]:
        """Give verdicts, as `Judge.sitting` says; nobody is asked."""
        del frames, total, desc, io

        def judged(frame: pl.DataFrame) -> Judged:
            verdicts = [self._verdict(trip) for trip in trips_in(frame)]
            for verdict in verdicts:
                tally.add(verdict)
            return Judged(verdicts_frame(verdicts), responses_frame([]))

        yield judged

    def _verdict(self, trip: CheckedTrip) -> JudgedTrip:
        scores, rationales = self._rules.verdict(trip)
        return JudgedTrip(
            trip_id=trip.trip_id,
            **self.id._asdict(),
            shown=[],
            scores=scores,
            rationales=rationales,
            status="ok",
            reason="",
            attempts=0,
            response_key=None,
        )


class ModelPanel:
    """A model as a judge: makes the request for a trip, and a verdict of its answer."""

    def __init__(self, prompts: Path, asked: AskedModel[EngineSettings], seed: int) -> None:
        """Read the prompt files."""
        self._prompt, self._asked, self._seed = JudgePrompt(prompts), asked, seed
        self._model = model_id(asked.engine)
        self.id = JudgeId(
            self._model.engine, self._model.model, self._model.revision, self._prompt.hash
        )

    def asking(self, frames: Frames) -> Asking:
        """Return what is asked: one request for each trip."""

        def requests() -> Iterator[Request]:
            return (self.request(trip) for frame in frames() for trip in trips_in(frame))

        return Asking(TASK, self._model, self._asked, requests)

    @contextmanager
    def sitting(
        self, frames: Frames, *, total: int, desc: str, io: StageIO, tally: JudgingTally
    ) -> Iterator[Sitting]:
        """Give verdicts, as `Judge.sitting` says, by the answers in the ledger."""
        with Ledger(io.ledger_folder) as ledger:
            ask_all(self.asking(frames).requests, total=total, ledger=ledger, settings=self._asked,
                    desc=desc, replay=io.replay)  # fmt: skip

            def judged(frame: pl.DataFrame) -> Judged:
                verdicts: list[JudgedTrip] = []
                every: list[Answer] = []
                for request, attempts in results(map(self.request, trips_in(frame)), ledger):
                    verdicts.append(self._verdict(request, attempts))
                    tally.asked.add(attempts, first_ok(attempts), shared=False)
                    tally.add(verdicts[-1])
                    every += attempts
                return Judged(verdicts_frame(verdicts), responses_frame(every))

            yield judged

    def request(self, trip: CheckedTrip) -> Request:
        """Return the request for a verdict on a trip."""
        return new_request(
            trip.trip_id,
            task=TASK,
            messages=self._prompt.messages(trip, shown_order(self._seed, trip.trip_id)),
            schema=self._prompt.schema,
            model=self._model,
            sampling=self._asked.sampling,
        )

    def _verdict(self, request: Request, attempts: Sequence[Answer]) -> JudgedTrip:
        answer, last = first_ok(attempts), attempts[-1]
        scores, rationales = verdict_of(answer) if answer else (_UNSCORED, _SILENT)
        # The same answer may have come by way of another engine; the record says which.
        who = self.id._replace(engine=(answer or last).model.engine)
        return JudgedTrip(
            trip_id=request.item_id,
            **who._asdict(),
            shown=shown_order(self._seed, request.item_id),
            scores=scores,
            rationales=rationales,
            status="ok" if answer else last.status,
            reason="" if answer else f"no answer in {len(attempts)} attempts: {last.reason}",
            attempts=len(attempts),
            response_key=request.key,
        )


def _criterion(code: str, counts: Counter[int | None]) -> dict[str, Any]:
    scored = sum(counts[score] for score in SCORES)
    total = sum(counts[score] * score for score in SCORES)
    return {
        "criterion": code,
        "scored": scored,
        "unscored": counts[None],
        "mean": round(total / scored, 4) if scored else None,
        "histogram": [counts[score] for score in SCORES],
    }
