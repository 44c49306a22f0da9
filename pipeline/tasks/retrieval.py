"""Score retrieval: ranked trips for each query, against the trip it was written about.

    scorer = RetrievalScorer(release, "test", near=0.8)
    scorer.score(read_predictions(file, "retrieval"), file=file)   ->  Scored

The pool is every trip of the split. A trip that is not in it takes its rank and is wrong. Equal
scores are tied, and a tie counts with the mean over all orders of the tied (`ranking`); without
scores the order counts. Paper: 3.1, A.1.2; its J@K rises with K, so it is the best of the first K.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.tasks.groups import known_routes
from pipeline.tasks.measure import MISSING, OK, Measure, Scored, coverage_of
from pipeline.tasks.overlap import CellSets, cell_sets, jaccard
from pipeline.tasks.predictions import Matched, matched
from pipeline.tasks.ranking import (
    COLUMNS,
    DEPTHS,
    SAME_WAY,
    Rankings,
    expected,
    gained_at,
    ndcg_at_10,
    ranked,
)
from pipeline.tasks.released import Release

Ints = np.ndarray[Any, np.dtype[Any]]
Floats = npt.NDArray[np.float64]

# Why a ranking counts as wrong, or in part.
NOTHING, MISFIT, UNKNOWN = "no_trip_ids", "scores_do_not_fit", "unknown_trip_ids"

GROUPS = ("scenario", "dimension", "known_route", "same_route")

_AT_DEPTH = {
    "jaccard_best": "Best Jaccard similarity, over H3 cells, of the first {k} trips with the trip"
    " of the query (the paper's J@{k}).",
    "jaccard_mean": "Mean Jaccard similarity of the first {k} trips with the trip of the query;"
    " always divided by {k}, also where fewer are listed.",
    "soft_recall": "Share of queries with a trip among the first {k} whose Jaccard similarity is"
    " more than 0.8.",
    "recall": "Share of queries whose very trip is among the first {k}; one that drives the same"
    " segments does not count.",
    "recall_any_twin": "Share of queries with a trip among the first {k} that drives the very"
    " segments of the trip of the query: itself, or another.",
}
_OF_CONSTRAINTS = (
    *(
        Measure(
            f"constraints_met_at_{k}", "share", "higher",
            f"Share of the constraints the query states that the first {k} trips meet, on average;"
            " undefined where it states none.",
        )
        for k in (1, 10)
    ),
    Measure(
    "ndcg_at_10",
    "share",
    "higher",
    "Normalised discounted cumulative gain of the first 10 trips; gain: the share of the query's"
    " constraints that a trip meets; undecided where no trip of the pool meets any.",
    ),
)  # fmt: skip
MEASURES = (
    *(
        Measure(f"{name}_at_{k}", "share", "higher", sentence.format(k=k))
        for name, sentence in _AT_DEPTH.items()
        for k in DEPTHS
    ),
    Measure("mrr", "share", "higher", "Mean of 1 / rank of the query's trip; 0 if not listed."),
    Measure("mrr_at_10", "share", "higher", "The same, with 0 beyond rank 10."),
)


class Searches(NamedTuple):
    """Queries and the pool they search, as numbers: trips are rows of the pool.

    Attributes:
        ids: trip_id and candidate (its number) of the pool.
        sets: Cells of each trip of the pool.
        routes: Number of the route of each trip of the pool; equal for the very same segments.
        targets: The trip of each query.
    """

    ids: pl.DataFrame
    sets: CellSets
    routes: Ints
    targets: Ints


class Gains(NamedTuple):
    """How much each candidate is worth to each query, 0 or more: the gains of nDCG@10.

    Attributes:
        of: Gains of pairs, from the numbers of queries and of candidates; NaN where a query has
            nothing that could be met.
        ideal: Queries by 10: the largest gains in the pool, falling, 0 beyond its size.
        mean: Of each query the mean gain of the pool: what a candidate is worth by chance.
    """

    of: Callable[[Ints, Ints], Floats]
    ideal: Floats
    mean: Floats


class RetrievalScorer:
    """The queries and the pool of a split, made ready once for any number of prediction files."""

    def __init__(
        self, release: Release, split: str, *, near: float, gains: Gains | None = None
    ) -> None:
        """Read instances and candidates.

        Args:
            release: The release.
            split: Its split that is scored.
            near: Least Jaccard similarity that makes a route of train near.
            gains: What candidates are worth, for `ndcg_at_10`; without them it is left out.

        Raises:
            SourceError: A table of the release is missing, or the split has no queries.
            ContractError: A query looks for a trip that is not in the pool.
        """
        self.release, self.split, self.gains, self._near = release, split, gains, near
        self.instances = release.instances("retrieval", split)
        if self.instances.is_empty():
            raise SourceError(
                f"{release.folder}/retrieval/{split}.parquet: expected instances, found none; name"
                " another split with --split"
            )
        self._pool = release.candidates(split)
        self.searches = searches_of(self.instances, self._pool)

    def score(self, predictions: pl.DataFrame, *, file: Path) -> Scored:
        """Score the predictions of a file.

        Args:
            predictions: Result of `read_predictions`.
            file: Where they come from, for messages.

        Raises:
            SourceError: As `matched`; or a ranking lists a trip twice.
        """
        return self.scored(self.matched(predictions, file=file))

    def matched(self, predictions: pl.DataFrame, *, file: Path) -> Matched:
        """Match the predictions of a file with the queries.

        Raises:
            SourceError: As `score`.
        """
        refuse_repeated(predictions, shown=str(file))
        return matched(self.release, "retrieval", self.split, predictions, file=file)

    def scored(self, found: Matched) -> Scored:
        """Score predictions that are matched with the instances: columns trip_ids, scores."""
        lists, why = listed(self.searches, found.rows)
        told = pl.when("predicted").then(why.fill_null(OK)).otherwise(pl.lit(MISSING))
        status = found.rows.select(status=told)["status"]
        return self.of(measured(self.searches, lists, self.gains), status, other=found.other)

    def of(self, table: pl.DataFrame, status: pl.Series | None = None, *, other: int = 0) -> Scored:
        """Put measures of all queries together with what they are reported with.

        Args:
            table: Result of `measured`, or a table like it.
            status: Of each query; none: all are ok.
            other: Rows of the file about other splits.
        """
        stated = pl.Series("status", [OK] * table.height) if status is None else status
        return Scored(
            rows=pl.concat([self._heads.with_columns(stated), table], how="horizontal"),
            measures=measures(self.gains),
            groups={name: name for name in GROUPS},
            coverage=coverage_of(stated, other=other),
            options={
                "pool": self._pool.height,
                "depths": list(DEPTHS),
                "soft_recall_above": SAME_WAY,
                "ties": "mean over all orders of equal scores",
                "jaccard_mean": "divided by K",
            },
        )

    @cached_property
    def _heads(self) -> pl.DataFrame:
        train = self.release.candidates("train")
        known = self._pool.select("trip_id", known_routes(self._pool, train, near=self._near))
        targets = pl.col("evidence").struct.field("targets")
        dimensions = pl.col("provenance").struct.field("draws").struct.field("dimensions")
        alone = pl.col("target").struct.field("same_route").list.len() == 0
        return self.instances.join(known, on="trip_id", how="left", maintain_order="left").select(
            "instance_id",
            "trip_id",
            scenario=targets.list.eval(pl.element().struct.field("scenario").unique().sort()),
            dimension=dimensions.cast(pl.List(pl.String)),
            known_route="known_route",
            same_route=pl.when(alone).then(pl.lit("alone")).otherwise(pl.lit("shared")),
        )


def searches_of(instances: pl.DataFrame, pool: pl.DataFrame) -> Searches:
    """Number the trips of a pool and the targets of queries.

    Args:
        instances: Retrieval instances of one split; no rows are no searches.
        pool: Candidates of the same split: trip_id and cells.

    Raises:
        ContractError: A query looks for a trip that is not in the pool.
    """
    ids = pool.select("trip_id").with_row_index("candidate")
    target = instances.select(
        "instance_id",
        pl.col("target").struct.field("trip_id"),
        pl.col("target").struct.field("same_route"),
    ).join(ids, on="trip_id", how="left", maintain_order="left")
    lost = target.filter(pl.col("candidate").is_null())
    if not lost.is_empty():
        instance, trip = lost.row(0)[:2]
        raise ContractError(
            f"candidates: expected trip {trip}, which {instance} looks for, found {pool.height}"
            " others; take instances and candidates of one split of one release"
        )
    targets = target["candidate"].to_numpy().astype(np.int64)
    routes = np.arange(pool.height)
    # The route of trips that drive the same is the least of their numbers.
    same = (
        target.select(
            "candidate", trip_id=pl.concat_list("trip_id", pl.col("same_route").fill_null([]))
        )
        .explode("trip_id")
        .join(ids.rename({"candidate": "twin"}), on="trip_id")
        .select("twin", least=pl.col("twin").min().over("candidate"))
    )
    np.minimum.at(routes, same["twin"].to_numpy(), same["least"].to_numpy())
    return Searches(ids, cell_sets(pool["cells"]), routes, targets)


def refuse_repeated(predictions: pl.DataFrame, *, shown: str) -> None:
    """Refuse predictions that list a trip twice for one query.

    Args:
        predictions: instance_id and trip_ids.
        shown: Name of the file, for messages.

    Raises:
        SourceError: Names file, query and trip.
    """
    listed_ids = pl.col("trip_ids").list
    listed_ids = listed_ids.drop_nulls().list
    twice = predictions.filter(listed_ids.n_unique() < listed_ids.len())
    if twice.is_empty():
        return
    instance, trips = twice.select("instance_id", "trip_ids").row(0)
    trip = next(trip for place, trip in enumerate(trips) if trip and trip in trips[:place])
    raise SourceError(
        f"{shown}: expected each trip once in a ranking, found {trip} twice for {instance}; rank"
        " each candidate once"
    )


def listed(searches: Searches, answers: pl.DataFrame) -> tuple[Rankings, pl.Series]:
    """Turn answers into rankings.

    Args:
        searches: The queries.
        answers: One row per query, in their order: trip_ids, best first (null: no answer), and
            scores, if any: as many numbers, higher is better.

    Returns:
        The rankings, and of each query why it counts as wrong, or in part; null where nothing is
        to be said. A list of scores of another length, or with a null or NaN, makes a ranking
        empty; a trip that is not in the pool makes that rank wrong.
    """
    given = pl.col("scores") if "scores" in answers.columns else pl.lit(None)
    table = answers.select(
        pl.col("trip_ids").cast(pl.List(pl.String)).fill_null([]),
        scores=given.cast(pl.List(pl.Float64)),
    )
    numbers = pl.col("scores").list.eval(pl.element().filter(pl.element().is_not_nan()))
    misfit = (pl.col("scores").list.len() != pl.col("trip_ids").list.len()) | (
        numbers.list.len() < pl.col("scores").list.len()
    )
    table = table.with_columns(misfit=misfit.fill_null(value=False)).with_columns(
        trip_ids=pl.when("misfit").then(pl.lit([], pl.List(pl.String))).otherwise("trip_ids"),
        scores=pl.when("misfit").then(pl.lit([], pl.List(pl.Float64))).otherwise("scores"),
    )
    sizes = table["trip_ids"].list.len().to_numpy()
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = (
        table.select(trip_id=pl.col("trip_ids").list.explode())
        .join(searches.ids, on="trip_id", how="left", maintain_order="left")["candidate"]
        .cast(pl.Int64)
        .fill_null(-1)
        .to_numpy()
    )
    scores = table.select(
        pl.when(pl.col("scores").is_null())
        .then(pl.lit(np.nan).repeat_by(pl.col("trip_ids").list.len()))
        .otherwise("scores")
        .alias("score")
    )["score"].list.explode()
    lists = ranked(starts, entries, scores.to_numpy())
    unknown = np.bincount(_queries(lists)[lists.entries < 0], minlength=len(sizes)) > 0
    why = (
        pl.when(table["misfit"])
        .then(pl.lit(MISFIT))
        .when(pl.lit(pl.Series(sizes == 0)))
        .then(pl.lit(NOTHING))
        .when(pl.lit(pl.Series(unknown)))
        .then(pl.lit(UNKNOWN))
    )
    return lists, pl.select(why.alias("why")).to_series()


def measured(searches: Searches, lists: Rankings, gains: Gains | None = None) -> pl.DataFrame:
    """Return the measures of rankings: one row per query, columns as `MEASURES`.

    Args:
        searches: The queries.
        lists: Their rankings.
        gains: What candidates are worth; adds `ndcg_at_10`, null where it is undecided.
    """
    query = _queries(lists)
    target = searches.targets[query]
    known = lists.entries >= 0
    table = expected(
        lists,
        jaccard(searches.sets, lists.entries, target),
        lists.entries == target,
        known & (searches.routes[lists.entries] == searches.routes[target]),
    )
    frame = pl.DataFrame(table, schema=list(COLUMNS))
    if gains is None:
        return frame
    worth = np.zeros(len(query))
    worth[known] = gains.of(query[known], lists.entries[known])
    asks = np.where(np.isnan(gains.mean), np.nan, 1.0)
    return frame.with_columns(
        pl.Series("constraints_met_at_1", gained_at(lists, worth, 1) * asks, nan_to_null=True),
        pl.Series("constraints_met_at_10", gained_at(lists, worth, 10) * asks, nan_to_null=True),
        pl.Series("ndcg_at_10", ndcg_at_10(lists, worth, gains.ideal), nan_to_null=True),
    )


def measures(gains: Gains | None = None) -> tuple[Measure, ...]:
    """Return the measures that `measured` gives."""
    return MEASURES if gains is None else (*MEASURES, *_OF_CONSTRAINTS)


def _queries(lists: Rankings) -> Ints:
    """Return the query of each entry."""
    return np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
