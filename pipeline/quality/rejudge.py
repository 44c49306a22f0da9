"""Have the sampled trips judged by other judges, by the same rubric and the same prompt.

    sampled trip 1626278 (why: sample, people), judges G and P
    ->  rejudged: one verdict of G and one of P, rows like those of `judged`

What they say is measured by the stage `agree`; it moves no cut. Without other judges the tables are
there and empty. Paper: 3.3 (2,000 trips by two more models).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from pipeline.errors import ParameterError
from pipeline.keys import Seed
from pipeline.language.asked import Asking
from pipeline.language.outcome import responses_frame
from pipeline.language.prompts import PROMPTS
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.judge import Families, judge_figures, kinship_of, tell
from pipeline.quality.judging import Judge, JudgeId, JudgingTally, judge_for
from pipeline.quality.verdicts import verdicts_frame
from pipeline.store import StageIO


class RejudgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `rejudge` of params.yaml.

    Attributes:
        judges: Who judges the sampled trips too; none is fine.
    """

    judges: list[ExaminerSettings]


def run(
    io: StageIO,
    *,
    seed: Seed,
    families: Families,
    judge: ExaminerSettings,
    rejudge: RejudgeSettings,
    city: str,
) -> None:
    """Have a city's sampled trips judged by every other judge."""
    others = _others(judge, rejudge, seed=seed, prompts=PROMPTS)
    trips = io.rows("sampled")
    verdicts, responses = [verdicts_frame([])], [responses_frame([])]
    figures: list[dict[str, Any]] = []
    for other in others:
        kinship, tally = kinship_of(other.id, io, families), JudgingTally()
        tell(kinship)
        sitting = other.sitting(
            lambda: _sampled_trips(io),
            total=trips,
            desc=f"rejudge {city} {other.id.model}",
            io=io,
            tally=tally,
        )
        with sitting as judged:
            for part in map(judged, _sampled_trips(io)):
                verdicts.append(part.verdicts)
                responses.append(part.responses)
        figures.append(judge_figures(other.id, kinship, tally))
    io.write("rejudged", pl.concat(verdicts))
    io.write("rejudge_responses", pl.concat(responses))
    io.write_json("rejudge_metrics", {"city": city, "trips": trips, "judges": figures})


def asking(
    io: StageIO, *, prompts: Path, seed: Seed, judge: ExaminerSettings, rejudge: RejudgeSettings
) -> Iterator[Asking]:
    """Yield what the stage asks: every other judge, about every sampled trip."""
    for other in _others(judge, rejudge, seed=seed, prompts=prompts):
        yield other.asking(lambda: _sampled_trips(io))


def _others(
    judge: ExaminerSettings, rejudge: RejudgeSettings, *, seed: int, prompts: Path
) -> list[Judge]:
    primary = judge_for(judge, seed=seed, prompts=prompts)
    others = [judge_for(settings, seed=seed, prompts=prompts) for settings in rejudge.judges]
    check_names([primary.id, *(one.id for one in others)])
    return others


def _sampled_trips(io: StageIO) -> Iterator[pl.DataFrame]:
    """Yield the checked trips that were drawn, a thousand of all trips at a time."""
    trips = io.read("sampled").select("trip_id")
    for frame in io.batches("checked"):
        yield frame.join(trips, on="trip_id", how="semi", maintain_order="left")


def check_names(judges: Sequence[JudgeId]) -> None:
    """Refuse two judges of one name, which no table could tell apart.

    Raises:
        ParameterError: Two judges have the same model.
    """
    names = [judge.model for judge in judges]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                "params.yaml: rejudge.judges: expected models that differ from each other and from"
                f" the one of `judge`, found {name!r} twice; remove one of them"
            )
