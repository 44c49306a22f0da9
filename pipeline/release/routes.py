"""Tell how much of a split is driven in another: shared routes are what a model can know by heart.

    shared_routes(test, train, near=0.8)
    ->  {"trips": 151, "same_segments": 3, "same_cells": 9, "near": 17}

A trip of `test` counts as near when some trip of `train` has at least `near` of their segments in
common (Jaccard, over the sets of segments). Nothing is removed: drivers do share routes, and a
split by trip is the paper's. The figures say how far a score can come from memory.
"""

from typing import Any

import numpy as np
import polars as pl

# Rows of one product of matrices: memory stays below rows x trips of the other split.
_ROWS_AT_ONCE = 256


def shared_routes(trips: pl.DataFrame, known: pl.DataFrame, *, near: float) -> dict[str, int]:
    """Count the trips whose route occurs among the known ones.

    Args:
        trips: Columns edge_ids and cells; the split that is scored.
        known: The same of the split that is learnt from.
        near: Least Jaccard similarity of the sets of segments, above 0 to 1.

    Returns:
        `trips`, and of them those with the same segments in order, the same cells in order, and
        those near one of the known; all 0 for empty splits.
    """
    counts = {"trips": trips.height}
    for name, column in (("same_segments", "edge_ids"), ("same_cells", "cells")):
        known_routes = _route(known, column).implode()
        counts[name] = int(_route(trips, column).is_in(known_routes).sum())
    counts["near"] = int(_near(trips["edge_ids"], known["edge_ids"], near).sum())
    return counts


def same_route_ids(pool: pl.DataFrame) -> pl.Series:
    """Return for each trip of a pool the ids of the others that drive its very segments, sorted.

    Args:
        pool: Columns trip_id and edge_ids.
    """
    keyed = pool.select("trip_id", route=_route(pool, "edge_ids"))
    groups = keyed.group_by("route").agg(ids=pl.col("trip_id").sort())
    joined = keyed.join(groups, on="route", how="left", maintain_order="left")
    others = joined["ids"].list.set_difference(joined.select(pl.concat_list("trip_id"))["trip_id"])
    return others.list.sort().alias("same_route")


def _route(trips: pl.DataFrame, column: str) -> pl.Series:
    # Ids of segments and cells hold no unit separator.
    return trips[column].list.join("\x1f")


def _near(trips: pl.Series, known: pl.Series, near: float) -> Any:
    """Return a mask over `trips`: which have a near one among the known."""
    from scipy import sparse  # noqa: PLC0415 - slow to import

    found = np.zeros(trips.len(), dtype=bool)
    if not trips.len() or not known.len():
        return found
    edges = pl.concat([trips.explode(), known.explode()]).unique().sort()
    codes = pl.DataFrame({"edge": edges, "code": np.arange(edges.len())})
    ours, theirs = (_incidence(sparse, routes, codes) for routes in (trips, known))
    sizes, other_sizes = (np.asarray(m.sum(axis=1)).ravel() for m in (ours, theirs))
    columns = theirs.T.tocsc()
    for start in range(0, trips.len(), _ROWS_AT_ONCE):
        common = (ours[start : start + _ROWS_AT_ONCE] @ columns).tocoo()
        union = sizes[start + common.row] + other_sizes[common.col] - common.data
        found[start + common.row[common.data >= near * union - 1e-9]] = True
    return found


def _incidence(sparse: Any, routes: pl.Series, codes: pl.DataFrame) -> Any:
    """Return a sparse matrix, a row per route and a column per segment, 1 where it is driven."""
    rows = (
        pl.DataFrame({"row": np.arange(routes.len()), "edge": routes})
        .explode("edge")
        .unique()
        .join(codes, on="edge")
    )
    ones = np.ones(rows.height)
    shape = (routes.len(), codes.height)
    return sparse.csr_array((ones, (rows["row"].to_numpy(), rows["code"].to_numpy())), shape=shape)
