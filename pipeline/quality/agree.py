"""Measure how far the judges agree: models with models, people with people, people with models.

    judged + rejudged on the random sample, data/reviews/<city>/*.jsonl
    ->  metrics/agreement.json: means, pairs, groups; what the other trips that were drawn showed
        ratings.parquet: the ratings that count; the others are rejections with a reason

Of a person only the first score counts, given before any model's was seen; how often one was
revised after that is told. Only the random sample tells how far judges agree in general: on
selected trips, as in the paper. The trips near the cut, and those on which judge and quality
control disagree, were picked for being hard; they are reported apart. Without people or other
judges the lists are empty. Paper: A.3.5, Tables 13 and 14.
"""

from collections.abc import Iterator
from typing import Any, cast

import polars as pl

from pipeline.keys import Seed
from pipeline.quality.agreement_report import AgreementReport, AgreeSettings, Kind, Panel, Rater
from pipeline.quality.examiner import RULES
from pipeline.quality.ratings import item_hash, rated_trips, ratings_frame, read_ratings
from pipeline.quality.rubric import CRITERIA, rubric
from pipeline.quality.sampling import UNITS
from pipeline.quality.select import scored
from pipeline.quality.verdicts import trips_in
from pipeline.store import StageIO

# What is read of a verdict; of all trips of a city the reasons would be most of the memory.
_OF_VERDICTS = ("trip_id", "engine", "model", "scores", "status", "reason")
_MODELS_ALONE = frozenset({("model", "model"), ("model", "rules")})
_WITH_PEOPLE = frozenset({("person", "person"), ("model", "person"), ("person", "rules")})


def run(io: StageIO, *, seed: Seed, agree: AgreeSettings, city: str) -> None:
    """Measure the agreement of a city's judges."""
    judged, rejudged = (io.columns(name, _OF_VERDICTS) for name in ("judged", "rejudged"))
    sampled = io.read("sampled")
    folder = io.path("reviews") / city
    ratings = read_ratings(
        folder,
        stage="agree",
        hashes=_hashes(io, rated_trips(folder)),
        rubric_hash=rubric().hash,
    )
    kept = ratings_frame(ratings.kept)
    judges = _judges(judged) + _judges(rejudged)
    people = _people(kept)
    panels = [
        Panel("sample", _drawn(sampled, "sample"), judges, _MODELS_ALONE),
        Panel("people", kept["trip_id"].unique().sort(), [*people, *judges], _WITH_PEOPLE),
    ]
    report = AgreementReport([panel for panel in panels if panel.items.len()], agree, seed=seed)
    io.write("ratings", kept)
    io.reject(ratings.rejected)
    reasons = ratings.rejected["reason"].value_counts().sort("reason")
    io.write_json(
        "agreement",
        {
            "city": city,
            "confidence": agree.confidence,
            "resamples": agree.resamples,
            "trips": {panel.name: panel.items.len() for panel in panels},
            "ratings": kept.height,
            "ratings_rejected": dict(zip(reasons["reason"], reasons["count"], strict=True)),
            "people": list(_work_of_people(kept)),
            "means": report.means,
            "pairs": report.pairs,
            "groups": report.groups,
            "near_cut": list(_near_cut(judged, rejudged, sampled)),
            "disagreements": list(_disagreements(judged, rejudged, sampled)),
        },
    )
    io.write_csv("agreement_plot", report.plot_of_agreement())
    io.write_csv("ratings_plot", report.plot_of_scores())


def _hashes(io: StageIO, trips: set[str]) -> dict[str, str]:
    """Return the hash of what is shown now of each of these trips that there is."""
    wanted = pl.Series(sorted(trips), dtype=pl.String).implode()
    return {
        trip.trip_id: item_hash(trip)
        for frame in io.batches("checked")
        for trip in trips_in(frame.filter(pl.col("trip_id").is_in(wanted)))
    }


def _judges(verdicts: pl.DataFrame) -> list[Rater]:
    """Return the judges of a table of verdicts, in the order they come."""
    raters = []
    for (model,), rows in verdicts.group_by("model", maintain_order=True):
        kind: Kind = "rules" if rows["engine"][0] == RULES else "model"
        scores = rows.select("trip_id", pl.col("scores").struct.unnest())
        raters.append(Rater(str(model), kind, scores))
    return raters


def _people(ratings: pl.DataFrame) -> list[Rater]:
    """Return the people who rated, by their code."""
    raters = []
    for (name,), rows in ratings.group_by("rater", maintain_order=True):
        scores = rows.pivot("criterion", index="trip_id", values="score")
        missing = [pl.lit(None, pl.Int64).alias(c) for c in CRITERIA if c not in scores.columns]
        scores = scores.with_columns(missing).select("trip_id", *CRITERIA)
        raters.append(Rater(str(name), "person", scores))
    return raters


def _drawn(sampled: pl.DataFrame, purpose: str) -> pl.Series:
    """Return the trips that were drawn for a purpose."""
    return sampled.filter(pl.col("why").list.contains(purpose))["trip_id"]


def _work_of_people(ratings: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what each person did, what they left open, and second thoughts, which count nowhere."""
    for (name,), rows in ratings.group_by("rater", maintain_order=True):
        trips = rows.group_by("trip_id").agg(pl.col("seconds").max(), pl.col("revealed").any())
        yield {
            "rater": name,
            "trips": trips.height,
            "ratings": rows.height,
            "missing": trips.height * len(CRITERIA) - rows.height,
            "seconds_per_trip": round(cast("float", trips["seconds"].median()), 1),
            "revealed": int(trips["revealed"].sum()),
            "revised": rows["revised"].count(),
        }


def _near_cut(
    judged: pl.DataFrame, rejudged: pl.DataFrame, sampled: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield how every judge scores the trips on either side of the cut.

    A judge whose means are alike on both sides would have drawn the cut elsewhere.
    """
    near = sampled.filter(pl.col("why").list.contains("near_cut")).select("trip_id", "selected")
    for verdicts in (judged, rejudged):
        for (model,), rows in verdicts.group_by("model", maintain_order=True):
            trips = near.join(scored(rows), on="trip_id").drop_nulls("units")
            yield {
                "judge": model,
                **{
                    side: _score_of(trips.filter(pl.col("selected") == taken))
                    for side, taken in (("taken", True), ("left_out", False))
                },
            }


def _score_of(trips: pl.DataFrame) -> dict[str, Any]:
    return {"trips": trips.height, "mean": _mean(trips["units"] / UNITS)}


def _disagreements(
    judged: pl.DataFrame, rejudged: pl.DataFrame, sampled: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield how every judge scores the criteria in which the first and quality control disagree."""
    disputed = {
        purpose: sampled.filter(pl.col("why").list.contains(purpose))
        .select("trip_id", criterion=purpose)
        .explode("criterion")
        for purpose in ("judge_milder", "judge_stricter")
    }
    for verdicts in (judged, rejudged):
        for (model,), rows in verdicts.group_by("model", maintain_order=True):
            scores = rows.select("trip_id", pl.col("scores").struct.unnest()).unpivot(
                CRITERIA, index="trip_id", variable_name="criterion", value_name="score"
            )
            told: dict[str, Any] = {"judge": model}
            for purpose, pairs in disputed.items():
                found = pairs.join(scores, on=["trip_id", "criterion"]).drop_nulls("score")
                told[purpose] = {"scores": found.height, "mean": _mean(found["score"])}
            yield told


def _mean(values: pl.Series) -> float | None:
    mean = values.mean()
    return None if mean is None else round(cast("float", mean), 4)
