"""Tell how much of a split is driven in another: shared routes are what a model can know by heart.

    shared_routes(routes_of(test), routes_of(train), near=0.8)
    ->  {"trips": 151, "same_segments": 3, "same_cells": 9, "near": 17}

A trip of `test` counts as near when some trip of `train` has at least `near` of their segments in
common (Jaccard, over the sets of segments). Nothing is removed: drivers do share routes, and a
split by trip is the paper's. The figures say how far a score can come from memory.
"""

from hashlib import blake2b

import polars as pl

from pipeline.release.lookup import rows_of

# What `routes_of` keeps of a route.
ROUTE = ("same_segments", "same_cells", "edges")


def routes_of(trips: pl.DataFrame) -> pl.DataFrame:
    """Keep of routes what they are compared by, about a tenth of their size.

    Args:
        trips: Columns edge_ids and cells, in the order driven.

    Returns:
        same_segments and same_cells, equal for equal routes (hashes of 128 bits), and edges: the
        different segments of each, as hashes of 64 bits.
    """
    return trips.select(
        _digest(trips["edge_ids"]).alias("same_segments"),
        _digest(trips["cells"]).alias("same_cells"),
        pl.col("edge_ids").list.unique().list.eval(pl.element().hash()).alias("edges"),
    )


def _digest(paths: pl.Series) -> pl.Series:
    # Ids of segments and cells hold no unit separator.
    joined = paths.list.join("\x1f")
    digests = [blake2b(path.encode(), digest_size=16).digest() for path in joined]
    return pl.Series(digests, dtype=pl.Binary)


def shared_routes(trips: pl.DataFrame, known: pl.DataFrame, *, near: float) -> dict[str, int]:
    """Count the trips whose route occurs among the known ones.

    Args:
        trips: Result of `routes_of` for the split that is scored.
        known: The same of the split that is learnt from.
        near: Least Jaccard similarity of the sets of segments, above 0 to 1.

    Returns:
        `trips`, and of them those with the same segments in order, the same cells in order, and
        those near one of the known; all 0 for empty splits.
    """
    counts = {"trips": trips.height}
    for name in ("same_segments", "same_cells"):
        counts[name] = int(trips[name].is_in(known[name].implode()).sum())
    counts["near"] = _near(trips, known, near)
    return counts


def twins_of(pool: pl.DataFrame) -> pl.DataFrame:
    """Return the routes that several trips of a pool drive: same_segments (sorted), ids (sorted).

    Args:
        pool: trip_id, and same_segments as `routes_of` gives it.
    """
    twins = pool.select("same_segments", "trip_id").filter(pl.col("same_segments").is_duplicated())
    groups = twins.group_by("same_segments").agg(ids=pl.col("trip_id").sort())
    return groups.sort("same_segments").rechunk()


def same_route_ids(trips: pl.DataFrame, twins: pl.DataFrame) -> pl.Series:
    """Return for each trip of a pool the ids of the others that drive its very segments, sorted.

    Args:
        trips: Columns trip_id and edge_ids; some of the pool.
        twins: Result of `twins_of` for the whole pool.
    """
    route = rows_of(_digest(trips["edge_ids"]), among=twins["same_segments"])
    ids = twins["ids"].gather(route).fill_null([])
    others = ids.list.set_difference(trips.select(pl.concat_list("trip_id"))["trip_id"])
    return others.list.sort().alias("same_route")


def _near(trips: pl.DataFrame, known: pl.DataFrame, near: float) -> int:
    """Count the trips near one of the known; a route that many drive is compared once."""
    from pipeline.release.near import any_near  # noqa: PLC0415 - numba is slow to import

    routes = trips.group_by("same_segments").agg(pl.col("edges").first(), pl.len())
    known_routes = known.unique("same_segments")
    found = any_near(routes["edges"], known_routes["edges"], near=near)
    return int(routes["len"].filter(pl.Series(found, dtype=pl.Boolean)).sum())
