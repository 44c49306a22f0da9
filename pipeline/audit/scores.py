"""What the judge made of the texts on both sides: ten criteria, paired by trip.

    read_scores(folder)               ->  trip_id, the ten scores, and `score`
    score_measures(pairs, name="...") ->  Measure("judge", "caption_accuracy", "score", n=640, ...)

A trip that a judge did not score is in no figure: it is no low score. Scores of different judges
do not compare; a note says where they differ.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.audit.measures import SEED, measures
from pipeline.audit.report import Measure
from pipeline.audit.rows import BRING_ANEW
from pipeline.paired import compare_means
from pipeline.quality.rubric import CRITERIA
from pipeline.quality.sampling import UNITS
from pipeline.quality.select import scored
from pipeline.seals import sound_files
from pipeline.seeds import rng_for

SCORE = "score"
_JUDGE = ("engine", "model", "revision", "prompt_hash")


def read_scores(folder: Path) -> pl.DataFrame:
    """Return what one side's judge gave: trip_id, the ten criteria, and `score`.

    `score` is the mean of the three tasks, each the mean of its scored criteria, as in the stage
    `select`. Null where none was given.
    """
    judged = pl.read_parquet(_files(folder))
    total = scored(judged).select("trip_id", (pl.col("units") / UNITS).alias(SCORE))
    single = judged.select(
        "trip_id", *(pl.col("scores").struct.field(name).cast(pl.Float64) for name in CRITERIA)
    )
    return single.join(total, on="trip_id")


def judges(folder: Path) -> list[str]:
    """Return who judged, in words; usually one."""
    found = pl.read_parquet(_files(folder), columns=list(_JUDGE)).unique()
    return sorted(
        f"{model} {revision} ({engine}, prompt {(prompt or 'none')[:8]})"
        for engine, model, revision, prompt in found.select(_JUDGE).iter_rows()
    )


def _files(folder: Path) -> list[Path]:
    return sound_files(folder, remedy=BRING_ANEW)


def score_measures(pairs: pl.DataFrame, *, name: str) -> list[Measure]:
    """Compare the scores of paired trips.

    Args:
        pairs: Scores of both sides, those after with the suffix `_after`.
        name: What is audited; decides the random draws.
    """
    columns = [*CRITERIA, SCORE]
    compared = compare_means(
        _numbers(pairs, columns),
        _numbers(pairs, [f"{column}_after" for column in columns]),
        rng_for(SEED, "audit", f"{name} judge"),
    )
    return measures("judge", columns, "score", compared)


def _numbers(frame: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    numbers: np.ndarray = frame.select(
        pl.col(columns).cast(pl.Float64).fill_null(np.nan)
    ).to_numpy()
    return numbers
