"""Floors and ceilings of retrieval: rankings that know nothing, and rankings that know all.

    score_floors(release, "test", found, seed=7)   ->  {"chance": Scored(...), ...}

    chance(searches)             the pool in random order: exact expectation, nothing is drawn
    other_text(searches, ...)    the model's ranking for the text of another trip
    truth(searches)              the query's trip alone
    most_overlapping(searches)   the query's trip, then others by their overlap with it

A measure in which floor and ceiling lie close says little about a model.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.seeds import rng_for
from pipeline.tasks.measure import Scored, coverage_of
from pipeline.tasks.overlap import distinct_overlaps
from pipeline.tasks.overlap import most_overlapping as most_overlapping_trips
from pipeline.tasks.predictions import Matched
from pipeline.tasks.ranking import (
    COLUMNS,
    DEPTHS,
    FIRST_RANKS,
    Rankings,
    expected_by_chance,
    ranked,
)
from pipeline.tasks.released import Release
from pipeline.tasks.retrieval import (
    GROUPS,
    Gains,
    Searches,
    listed,
    measured,
    measures,
    options_of,
    rows_of,
    searches_of,
)


def score_floors(
    release: Release, split: str, found: Matched, *, seed: int, gains: Gains | None = None
) -> dict[str, Scored]:
    """Score floors and ceilings on the queries that predictions were made for.

    Args:
        release: The release.
        split: The split.
        found: Its instances with the predictions whose text is exchanged for `other_text`.
        seed: Seed of that exchange.
        gains: What candidates are worth.

    Returns:
        `chance`, `other_text`, `truth` and `most_overlapping`, from floor to ceiling.
    """
    pool = release.candidates(split)
    searches = searches_of(found.rows, pool)
    rows = rows_of(release, found.rows, pool)
    lists, _ = listed(searches, found.rows)
    tables = {
        "chance": chance(searches, gains),
        "other_text": other_text(searches, lists, found.rows, seed=seed, gains=gains),
        "truth": truth(searches, gains),
        "most_overlapping": most_overlapping(searches, gains),
    }
    return {
        name: Scored(
            rows=pl.concat([rows, table], how="horizontal"),
            measures=measures(gains),
            groups={group: group for group in GROUPS},
            coverage=coverage_of(rows["status"], other=0),
            options=options_of(pool),
        )
        for name, table in tables.items()
    }


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
    return frame.with_columns(pl.Series("ndcg_at_10", share, nan_to_null=True))


def truth(searches: Searches, gains: Gains | None = None) -> pl.DataFrame:
    """Return what a list of the query's trip alone scores."""
    return measured(searches, _in_order(searches.targets[:, None]), gains)


def most_overlapping(searches: Searches, gains: Gains | None = None) -> pl.DataFrame:
    """Return what the query's trip scores, followed by those most like it."""
    targets, query = np.unique(searches.targets, return_inverse=True)
    rows = most_overlapping_trips(searches.sets, targets, depth=max(DEPTHS))
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
