"""Have every checked trip judged by the primary judge: ten scores from 1 to 5, with the reasons.

    checked trip 1626278 with its seven texts
    ->  judged: Scores(instructions_correctness=4, ..., caption_objectivity=5), three rationales,
        the judge's model, revision and prompt
        or the same without scores: status `malformed`, no answer in 3 attempts: no JSON

No trip is refused here: what follows from the scores is the next stage's. Paper: 3.3, A.3.5.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from msgspec import Meta

from pipeline.keys import Seed, Text
from pipeline.language.asked import Asking
from pipeline.language.prompts import PROMPTS
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.judging import JudgeId, JudgingTally, judge_for
from pipeline.quality.kinship import Kinship, writers_of
from pipeline.quality.rubric import SCORES
from pipeline.store import StageIO

# Family of models by a word of their name, in lower case.
Families = dict[Annotated[str, Meta(pattern="^[a-z0-9._-]+$")], Text]


def run(io: StageIO, *, seed: Seed, families: Families, judge: ExaminerSettings, city: str) -> None:
    """Judge every checked trip of a city."""
    primary = judge_for(judge, seed=seed, prompts=PROMPTS)
    kinship = kinship_of(primary.id, io, families)
    tell(kinship)
    tally = JudgingTally()
    sitting = primary.sitting(
        lambda: io.batches("checked"),
        total=io.rows("checked"),
        desc=f"judge {city}",
        io=io,
        tally=tally,
    )
    with (
        sitting as judged,
        io.open_shards("judged") as made,
        io.open_shards("judge_responses") as asked,
    ):
        for shard in io.parts("checked"):
            with made.open() as verdicts, asked.open() as attempts:
                for frame in shard:
                    part = judged(frame)
                    verdicts.write(part.verdicts)
                    attempts.write(part.responses)
    figures = judge_figures(primary.id, kinship, tally)
    io.write_json("judge_metrics", {"city": city, **figures})
    io.write_csv("judge_scores_plot", scores_plot([figures]))


def asking(io: StageIO, *, prompts: Path, seed: Seed, judge: ExaminerSettings) -> Iterator[Asking]:
    """Yield what the stage asks: the judge, about every checked trip."""
    yield judge_for(judge, seed=seed, prompts=prompts).asking(lambda: io.batches("checked"))


def kinship_of(judge: JudgeId, io: StageIO, families: Families) -> Kinship:
    """Return how a judge is related to those who wrote a city's checked texts."""
    writers = writers_of(io.columns("checked", ["provenance"])["provenance"])
    return Kinship(engine=judge.engine, model=judge.model, writers=writers, families=families)


def tell(kinship: Kinship) -> None:
    """Print the warning, if there is one, before anything is asked."""
    warning = kinship.warning()
    if warning:
        print(warning, file=sys.stderr)


def judge_figures(judge: JudgeId, kinship: Kinship, tally: JudgingTally) -> dict[str, Any]:
    """Return what metrics say of one judge."""
    return {**judge._asdict(), **kinship.figures(), **tally.figures()}


def scores_plot(judges: list[dict[str, Any]]) -> pl.DataFrame:
    """Return how often each judge gave each score: criterion, rater, score, share.

    Args:
        judges: As `judge_figures` gives them; shares are of the scored trips, null without any.
    """
    rows = [
        (one["criterion"], judge["model"], score, count / one["scored"] if one["scored"] else None)
        for judge in judges
        for one in judge["criteria"]
        for score, count in zip(SCORES, one["histogram"], strict=True)
    ]
    columns = {"criterion": pl.String, "rater": pl.String, "score": pl.Int64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("share").round(4))
