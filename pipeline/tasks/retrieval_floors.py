"""Floors and ceilings of retrieval: rankings that know nothing, and rankings that know all.

    retrieval_references(scorer, found, seed=7)
    ->  chance (floor), other_text (floor), truth_first (ceiling)

A measure in which floor and ceiling lie close says little about a model.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.seeds import rng_for
from pipeline.tasks.measure import Reference
from pipeline.tasks.overlap import distinct_overlaps, most_overlapping
from pipeline.tasks.predictions import Matched
from pipeline.tasks.ranking import (
    COLUMNS,
    DEPTHS,
    FIRST_RANKS,
    Rankings,
    expected_by_chance,
    ranked,
)
from pipeline.tasks.retrieval import (
    Gains,
    RetrievalScorer,
    Searches,
    listed,
    measured,
)


def retrieval_references(
    scorer: RetrievalScorer, found: Matched, *, seed: int
) -> tuple[Reference, ...]:
    """Score the references of retrieval on the split of a scorer.

    Args:
        scorer: The scorer of the predictions they are compared with.
        found: Those predictions; `other_text` exchanges their texts.
        seed: The data set's seed, of that exchange.

    Returns:
        chance, other_text, truth_first; without other_text where the split has a single trip.
    """
    searches, gains = scorer.searches, scorer.gains
    references = [
        Reference(
            "chance", "floor", "The pool in random order, its exact expectation.",
            scorer.of(chance(searches, gains)),
        )
    ]  # fmt: skip
    if scorer.instances["trip_id"].n_unique() > 1:
        lists, _ = listed(searches, found.rows)
        other = other_text(searches, lists, scorer.instances, seed=seed, gains=gains)
        references.append(
            Reference(
                "other_text", "floor", "The model's ranking for the text of a random other trip.",
                scorer.of(other),
            )
        )  # fmt: skip
    return (
        *references,
        Reference(
            "truth_first", "ceiling",
            "The query's trip, then the others by their overlap with it.",
            scorer.of(truth_first(searches, gains)),
        ),
    )  # fmt: skip


def chance(searches: Searches, gains: Gains | None = None) -> pl.DataFrame:
    """Return what the pool in random order scores on average, without drawing any."""
    targets, query = np.unique(searches.targets, return_inverse=True)
    pool = len(searches.routes)
    drivers = np.bincount(searches.routes, minlength=pool)[searches.routes[targets]]
    table = expected_by_chance(distinct_overlaps(searches.sets, targets), drivers, pool)
    frame = pl.DataFrame(table[query], schema=list(COLUMNS))
    if gains is None:
        return frame
    discounts = 1 / np.log2(np.arange(2, FIRST_RANKS + 2))
    limit = gains.ideal @ discounts
    limit = np.where(limit > 0, limit, np.nan)
    share = gains.mean * discounts[:pool].sum() / limit
    return frame.with_columns(
        pl.Series("constraints_met_at_1", gains.mean, nan_to_null=True),
        pl.Series("constraints_met_at_10", gains.mean * min(pool, 10) / 10, nan_to_null=True),
        pl.Series("ndcg_at_10", share, nan_to_null=True),
    )


def truth_first(searches: Searches, gains: Gains | None = None) -> pl.DataFrame:
    """Return what the query's trip scores, followed by those that overlap it most."""
    targets, query = np.unique(searches.targets, return_inverse=True)
    rows = most_overlapping(searches.sets, targets, depth=max(DEPTHS))
    return measured(searches, _in_order(rows[query]), gains)


def other_text(
    searches: Searches,
    lists: Rankings,
    instances: pl.DataFrame,
    *,
    seed: int,
    gains: Gains | None = None,
) -> pl.DataFrame:
    """Return what the model's rankings score for queries they were not made for.

    Trips are put in a circle at random; each query is answered by the ranking for the query of the
    same number of the next trip. What this scores does not come from the text.

    Args:
        searches: The queries.
        lists: The model's rankings.
        instances: Their rows: trip_id and number.
        seed: Seed of the circle.
        gains: What candidates are worth.
    """
    trips = instances["trip_id"].unique().sort()
    place = rng_for(seed, "tasks", "other_text").permutation(len(trips))
    circle = pl.DataFrame({"trip_id": trips, "place": place})
    around = (
        instances.select("trip_id", "number")
        .with_row_index("query")
        .join(circle, on="trip_id")
        .sort("number", "place")
        .with_columns(
            other=pl.col("query")
            .shift(-1)
            .over("number")
            .fill_null(pl.col("query").first().over("number"))
        )
        .sort("query")
    )
    return measured(searches, taken(lists, around["other"].to_numpy()), gains)


def taken(lists: Rankings, queries: npt.ArrayLike) -> Rankings:
    """Return the rankings of some queries, in the order named."""
    rows = np.asarray(queries, np.int64)
    sizes = np.diff(lists.starts)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(starts[-1]) + np.repeat(lists.starts[rows] - starts[:-1], sizes)
    return Rankings(starts, lists.entries[places], lists.above[places])


def _in_order(rows: npt.ArrayLike) -> Rankings:
    """Return rankings from queries by ranks: numbers of candidates, -1 behind the last."""
    table = np.asarray(rows, np.int64)
    there = table >= 0
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return ranked(starts, table[there])
