"""The groups that reports break scores down by, beyond the columns of the instances.

known_routes(test, train, near=0.8)  ->  ["exact", "new", "near", ...]
"""

import polars as pl

from pipeline.release.routes import routes_of

KNOWN = ("exact", "near", "new")


def known_routes(trips: pl.DataFrame, train: pl.DataFrame, *, near: float) -> pl.Series:
    """Tell for each trip whether train holds its route: what a model may know by heart.

    Args:
        trips: Columns edge_ids and cells, in the order driven.
        train: The same of the trips of train.
        near: Least Jaccard similarity of the sets of segments that makes two routes near
            (`near_jaccard` of its definitions).

    Returns:
        `exact`: train has the very segments in order; `near`: it has a route near to it; `new`.
    """
    from pipeline.release.near import any_near  # noqa: PLC0415 - numba is slow to import

    routes, known = routes_of(trips), routes_of(train)
    exact = routes["same_segments"].is_in(known["same_segments"].implode())
    close = pl.Series(
        any_near(routes["edges"], known.unique("same_segments")["edges"], near=near),
        dtype=pl.Boolean,
    )
    told = (
        pl.when("exact")
        .then(pl.lit("exact"))
        .when("close")
        .then(pl.lit("near"))
        .otherwise(pl.lit("new"))
    )
    frame = pl.DataFrame({"exact": exact, "close": close})
    return frame.select(told.alias("known_route"))["known_route"]
