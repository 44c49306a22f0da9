"""Measures of ranked lists, exact where entries are tied: their mean over all orders of the tied.

    lists = ranked(starts=[0, 3], entries=[7, 2, 5], scores=[0.9, 0.4, 0.4])
    expected(lists, overlap=[0.2, 1.0, 0.5], is_target=[0, 1, 0], is_twin=[0, 1, 0])
    ->  recall at 1, 5, 10, 50: 0, 1, 1, 1; MRR: (1/2 + 1/3) / 2

A tie of m entries behind a better ones takes the ranks a + 1 ... a + m, each order of them equally
likely: of the first K entries t = K - a are drawn from the m without replacement (McSherry and
Najork 2008, "Computing information retrieval performance measures efficiently in the presence of
tied scores"). What is not listed is at no rank.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.tasks.overlap import Overlaps
from pipeline.trips.matching.compiled import cached_kernel, kernel

Ints = np.ndarray[Any, np.dtype[Any]]
Floats = npt.NDArray[np.float64]

DEPTHS = (1, 5, 10, 50)
# Ranks that MRR@10 and nDCG@10 look at.
FIRST_RANKS = 10
# More than this counts as the same way, for soft recall (paper A.1.2).
SAME_WAY = 0.8
AT_DEPTH = ("jaccard_best", "jaccard_mean", "soft_recall", "recall", "recall_any_twin")
COLUMNS = (
    *(f"{name}_at_{depth}" for name in AT_DEPTH for depth in DEPTHS), "mrr", "mrr_at_10",
)  # fmt: skip


class Rankings(NamedTuple):
    """Listed candidates of queries, best first.

    Attributes:
        starts: Those of query i are `entries[starts[i] : starts[i + 1]]`.
        entries: Numbers of candidates; -1 for one that is not in the pool.
        above: Of each entry how many of its query are ranked strictly higher; tied ones have equal.
    """

    starts: Ints
    entries: Ints
    above: Ints


def ranked(
    starts: npt.ArrayLike, entries: npt.ArrayLike, scores: npt.ArrayLike | None = None
) -> Rankings:
    """Sort the entries of each query by score; equal scores are tied.

    Args:
        starts: Queries + 1: where the entries of each begin and end.
        entries: Numbers of candidates, in the order listed.
        scores: One per entry, higher is better; NaN in all entries of a query that has none: there
            the order counts. None: no query has any.
    """
    bounds, listed = np.asarray(starts, np.int64), np.asarray(entries, np.int64)
    query = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    place = np.arange(len(listed)) - bounds[query]
    value = np.full(len(listed), np.nan) if scores is None else np.asarray(scores, np.float64)
    value = np.where(np.isnan(value), -place.astype(np.float64), value)
    order = np.lexsort((place, -value, query))
    value = value[order]  # `query` and `place` are sorted as they are
    new = np.ones(len(listed), bool)
    new[1:] = (value[1:] != value[:-1]) | (query[1:] != query[:-1])
    above = np.maximum.accumulate(np.where(new, np.arange(len(listed)), 0)) - bounds[query]
    return Rankings(bounds, listed[order], above)


def expected(
    lists: Rankings, overlap: npt.ArrayLike, is_target: npt.ArrayLike, is_twin: npt.ArrayLike
) -> Floats:
    """Return the expected measures of each query: queries by `COLUMNS`, all 0 to 1.

    Args:
        lists: The rankings.
        overlap: Of each entry its Jaccard similarity with the target; 0 for one not in the pool.
        is_target: Whether an entry is the target itself.
        is_twin: Whether it drives the very segments of the target; so does the target.

    Returns:
        For K of `DEPTHS`: the best and the mean (over K) similarity of the first K, and whether one
        of them is more than `SAME_WAY`, is the target, is the target or a twin; then the reciprocal
        rank of the target, and the same with 0 beyond rank 10. 0 for a query without entries.
    """
    columns = (
        np.asarray(overlap, np.float64), np.asarray(is_target, bool), np.asarray(is_twin, bool),
    )  # fmt: skip
    return _expected(lists, *columns, np.asarray(DEPTHS), SAME_WAY, FIRST_RANKS)


def expected_by_chance(overlaps: Overlaps, twins: npt.ArrayLike, pool: int) -> Floats:
    """Return what `expected` has for the whole pool in random order: targets by `COLUMNS`.

    Args:
        overlaps: Similarity of each target with the trips of the pool, itself included.
        twins: Of each target how many trips of the pool drive its very segments; at least 1.
        pool: Trips of the pool.
    """
    values, counts = overlaps.values, overlaps.counts
    target = np.repeat(np.arange(len(overlaps.starts) - 1), np.diff(overlaps.starts))
    targets = len(overlaps.starts) - 1

    def summed(terms: Floats) -> Floats:
        return np.bincount(target, terms, targets).astype(np.float64)

    # Trips that are at least as similar as each value, and those that are more.
    total = np.concatenate([[0], np.cumsum(counts)])
    upto = total[1:] - total[overlaps.starts[:-1]][target]
    more = upto - counts
    same_way = summed(np.where(values > SAME_WAY, counts, 0)).astype(np.int64)
    mean = summed(values * counts) / pool
    found: dict[str, npt.ArrayLike] = {}
    for depth in DEPTHS:
        drawn = min(depth, pool)
        missed = _missed(pool, drawn)
        found[f"jaccard_best_at_{depth}"] = summed(values * (missed[more] - missed[upto]))
        found[f"jaccard_mean_at_{depth}"] = mean * drawn / depth
        found[f"soft_recall_at_{depth}"] = 1 - missed[same_way]
        found[f"recall_at_{depth}"] = drawn / pool
        found[f"recall_any_twin_at_{depth}"] = 1 - missed[np.asarray(twins, np.int64)]
    ranks = 1 / np.arange(1, pool + 1)
    found["mrr"] = ranks.sum() / pool
    found["mrr_at_10"] = ranks[:FIRST_RANKS].sum() / pool
    return np.column_stack([np.broadcast_to(found[name], targets) for name in COLUMNS])


def ndcg_at_10(lists: Rankings, gains: npt.ArrayLike, ideal: npt.ArrayLike) -> Floats:
    """Return the expected normalised discounted cumulative gain of each query, 0 to 1.

    The gain counts as it is (linear), the discount at rank r is log2(r + 1).

    Args:
        lists: The rankings.
        gains: Of each entry its gain, 0 or more; 0 for one not in the pool.
        ideal: Queries by 10: the largest gains in the pool, falling, 0 beyond its size.

    Returns:
        NaN where nothing in the pool has a gain, or the gains of the query are not known (NaN).
    """
    best = np.asarray(ideal, np.float64).reshape(len(lists.starts) - 1, FIRST_RANKS)
    discounts = 1 / np.log2(np.arange(2, FIRST_RANKS + 2))
    reached, limit = _gained(lists, np.asarray(gains, np.float64), discounts), best @ discounts
    limit = np.where(limit > 0, limit, np.nan)
    return np.asarray(reached / limit)


def gained_at(lists: Rankings, gains: npt.ArrayLike, depth: int) -> Floats:
    """Return the expected mean gain of the first `depth` entries of each query, over `depth`.

    Args:
        lists: The rankings.
        gains: Of each entry its gain; 0 for one not in the pool.
        depth: How many count, 1 or more.
    """
    return _gained(lists, np.asarray(gains, np.float64), np.full(depth, 1 / depth))


def _missed(pool: int, drawn: int) -> Floats:
    """Return for 0 ... pool marked trips the chance that none of `drawn` is marked.

    C(pool - marked, drawn) / C(pool, drawn), from one to the next.
    """
    marked = np.arange(pool)
    factors = np.maximum(pool - marked - drawn, 0) / np.maximum(pool - marked, 1)
    return np.concatenate([[1.0], np.cumprod(factors)])


@kernel
def _miss(members: int, marked: int, drawn: int) -> float:
    """Return the chance that of `drawn` members none is marked: C(n - k, t) / C(n, t)."""
    few, many = min(marked, drawn), max(marked, drawn)
    chance = 1.0
    for one in range(few):
        chance *= max(members - many - one, 0) / (members - one)
    return chance


@kernel
def _expected_best(rising: Floats, drawn: int, least: float) -> float:
    """Return the expected largest of `least` and `drawn` of the values, all choices as likely."""
    total, rest = 0.0, 1.0  # the chance that no larger value was drawn
    for place in range(rising.size, drawn - 1, -1):
        share = rest * drawn / place
        total += share * max(least, rising[place - 1])
        rest -= share
    return total


@cached_kernel
def _expected(
    lists: Rankings,
    overlap: Floats,
    is_target: Ints,
    is_twin: Ints,
    depths: Ints,
    same_way: float,
    first_ranks: int,
) -> Floats:
    queries, many = lists.starts.size - 1, depths.size
    found = np.zeros((queries, 5 * many + 2))
    for query in range(queries):
        begin, end = lists.starts[query], lists.starts[query + 1]
        best, soft, twin, at = 0.0, False, False, begin
        while at < end:
            above, after = lists.above[at], at + 1
            while after < end and lists.above[after] == above:
                after += 1
            members = after - at
            rising = np.sort(overlap[at:after])
            total, largest = rising.sum(), rising[-1]
            softs = members - np.searchsorted(rising, same_way, side="right")
            targets, twins = is_target[at:after].sum(), is_twin[at:after].sum()
            for k in range(many):
                drawn = min(depths[k] - above, members)
                if drawn <= 0:
                    continue
                if drawn == members:
                    found[query, k] = max(best, largest)
                else:
                    found[query, k] = _expected_best(rising, drawn, best)
                found[query, many + k] += total * drawn / members / depths[k]
                found[query, 2 * many + k] = 1 if soft else 1 - _miss(members, softs, drawn)
                found[query, 3 * many + k] += targets * drawn / members
                found[query, 4 * many + k] = 1 if twin else 1 - _miss(members, twins, drawn)
            if targets:
                for rank in range(above + 1, above + members + 1):
                    found[query, 5 * many] += targets / rank / members
                    if rank <= first_ranks:
                        found[query, 5 * many + 1] += targets / rank / members
            best, soft, twin = max(best, largest), soft or softs > 0, twin or twins > 0
            at = after
    return found


@cached_kernel
def _gained(lists: Rankings, gains: Floats, discounts: Floats) -> Floats:
    """Return the expected discounted cumulative gain of each query."""
    found = np.zeros(lists.starts.size - 1)
    for query in range(found.size):
        at, end = lists.starts[query], lists.starts[query + 1]
        while at < end:
            above, after = lists.above[at], at + 1
            while after < end and lists.above[after] == above:
                after += 1
            if above >= discounts.size:
                break
            share = discounts[above : above + after - at].sum() / (after - at)
            found[query] += gains[at:after].sum() * share
            at = after
    return found
