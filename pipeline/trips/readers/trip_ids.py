"""Keep raw trip ids apart from the ids that later steps make of them.

7.1 -> 7.1~, 7.1~ -> 7.1~~, 7 -> 7: made ids end in #2 (copies), .1 (pieces) or _p2 (drives); a raw
id that ends so is given a trailing ~, whatever other ids there are, so that no two trips share one
"""

import polars as pl

_LIKE_MADE = r"(?:#|\.|_p)[1-9][0-9]*~*$"
# Ids that were given a ~.
KEPT_APART = r"(?:#|\.|_p)[1-9][0-9]*~+$"


def keep_apart(raw_id: pl.Expr) -> pl.Expr:
    """Return raw trip ids of which none reads as a made one."""
    return pl.when(raw_id.str.contains(_LIKE_MADE)).then(raw_id + "~").otherwise(raw_id)
