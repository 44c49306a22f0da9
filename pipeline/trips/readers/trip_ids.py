"""Make raw trip ids: unique over vehicles, and apart from the ids that later steps make of them.

vehicle c1, trip 7 -> c1/7, so that ids that restart with each vehicle stay apart; 7.1 -> 7.1~,
7.1~ -> 7.1~~, 7 -> 7: made ids end in #2 (copies), .1 (pieces) or _p2 (drives); a raw id that ends
so is given a trailing ~, whatever other ids there are, so that no two trips share one
"""

import polars as pl

_LIKE_MADE = r"(?:#|\.|_p)[1-9][0-9]*~*$"
# Ids that were given a ~.
KEPT_APART = r"(?:#|\.|_p)[1-9][0-9]*~+$"


def of_vehicle(vehicle: pl.Expr, trip: pl.Expr) -> pl.Expr:
    """Return the id of a trip in a format that states its vehicle: "<vehicle>/<trip>".

    An id depends on its own row alone: rows, files and shards that are added change none, also
    where trips are numbered through the whole city. Two ids are equal only where vehicle and trip
    are: a slash within a vehicle's name is written %2F. A trip of no vehicle keeps its own id, a
    slash in it written so as well.
    """
    named = pl.concat_str(_escaped(vehicle), trip, separator="/")
    return pl.when(vehicle.is_null()).then(_escaped(trip)).otherwise(named)


def _escaped(text: pl.Expr) -> pl.Expr:
    percent = text.str.replace_all("%", "%25", literal=True)
    return percent.str.replace_all("/", "%2F", literal=True)


def keep_apart(raw_id: pl.Expr) -> pl.Expr:
    """Return raw trip ids of which none reads as a made one."""
    return pl.when(raw_id.str.contains(_LIKE_MADE)).then(raw_id + "~").otherwise(raw_id)
