"""Which trips of a split a model can know by heart, because train holds their routes.

    known_routes(release.candidates("test"), release.candidates("train"))
    ->  trip_id, known_route: "same", "near" or "new"

The release counts the same in its metrics (`pipeline.release.routes`); here each trip has its own,
so that scores can be broken down.
"""

import polars as pl

from pipeline.release.near import any_near
from pipeline.release.routes import routes_of

# Least Jaccard similarity of the sets of segments of a trip that is near one of train.
NEAR = 0.8
KNOWN = ("same", "near", "new")


def known_routes(trips: pl.DataFrame, train: pl.DataFrame, *, near: float = NEAR) -> pl.DataFrame:
    """Return for each trip how far train holds its route.

    Args:
        trips: Candidates of the split that is scored: trip_id, edge_ids, cells.
        train: Candidates of train.
        near: Least similarity of a near route, above 0 to 1.

    Returns:
        trip_id and known_route, in the order of `trips`: `same` where a trip of train drives the
        very segments in their order, else `near` where one has so many in common, else `new`.
    """
    routes, known = routes_of(trips), routes_of(train)
    same = routes["same_segments"].is_in(known["same_segments"].implode())
    different = known.unique("same_segments")["edges"]
    close = pl.Series(any_near(routes["edges"], different, near=near), dtype=pl.Boolean)
    return trips.select(
        "trip_id",
        known_route=pl.when(same)
        .then(pl.lit("same"))
        .when(close)
        .then(pl.lit("near"))
        .otherwise(pl.lit("new")),
    )
