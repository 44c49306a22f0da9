"""The trips that fare worse than before, the worst first, and in which ways.

    worse_trips(trips, most=20)
    ->  57, [Worse("monaco", "1626278", ["check rejects it: invented_name", "judge 4.42 -> 3.5"],
                   [TextPair("instruction_chatty", "...", "...")]), ...]

Ranked by: no text was got for it; quality control rejects it now; how far the judge's score fell;
how many more names are not grounded; how many new rules it breaks; its id. A trip that was lost
before it came to the writer is no matter of texts. Better and worse texts
happen by chance alone where a model samples: the list is for reading, the tests are for concluding.
"""

from typing import Any

import polars as pl

from pipeline.audit.report import TextPair, Worse
from pipeline.audit.rows import FIELDS

# What may be known of a trip beside its texts; each also with the suffix `_after`.
OUTCOMES: dict[str, Any] = {
    "passed": pl.Boolean,
    "reason": pl.String,
    "rules": pl.List(pl.String),
    "ungrounded": pl.Int64,
    "bad_texts": pl.Int64,
    "names": pl.Int64,
    "grounded": pl.Int64,
    "score": pl.Float64,
}


def worse_trips(trips: pl.DataFrame, *, most: int) -> tuple[int, list[Worse]]:
    """Find the trips that fare worse.

    Args:
        trips: What `paired_rows` gives, with the city, the reasons of `with_reasons`, and the
            columns of OUTCOMES on both sides, null where unknown.
        most: Most trips to return.

    Returns:
        How many there are, and the worst of them.
    """
    judged = trips.with_columns(
        gone=pl.col("gone_stage") == "annotate",
        refused=pl.col("paired") & pl.col("passed") & ~pl.col("passed_after"),
        drop=pl.when("paired").then(pl.col("score") - pl.col("score_after")),
        more=pl.when("paired").then(pl.col("ungrounded_after") - pl.col("ungrounded")),
        # Of a trip that was refused before not all rules are known.
        new=pl.when(pl.col("paired") & pl.col("passed")).then(
            pl.col("rules_after").list.set_difference(pl.col("rules")).list.sort()
        ),
    ).with_columns(
        pl.col("gone", "refused").fill_null(False),
        pl.col("drop", "more").fill_null(0),
        pl.col("new").fill_null([]),
    )
    # Scores are sums of fractions: less than a thousandth is no fall.
    found = judged.filter(
        pl.any_horizontal("gone", "refused", pl.col("drop") > 1e-3, pl.col("more") > 0,
                          pl.col("new").list.len() > 0)
    ).sort(
        "gone", "refused", "drop", "more", pl.col("new").list.len(), "city", "trip_id",
        descending=[True, True, True, True, True, False, False],
    )  # fmt: skip
    return found.height, [_worse(row) for row in found.head(most).iter_rows(named=True)]


def _worse(row: dict[str, Any]) -> Worse:
    why = []
    if row["gone"]:
        why.append(f"no texts any more: {row['gone_reason']}")
    if row["refused"]:
        why.append(f"quality control rejects it: {row['reason_after']}")
    if row["drop"] > 1e-3:
        why.append(f"judge's score {row['score']:.2f} -> {row['score_after']:.2f}")
    if row["more"] > 0:
        why.append(f"names not grounded {row['ungrounded']} -> {row['ungrounded_after']}")
    if row["new"]:
        why.append(f"new findings: {', '.join(row['new'])}")
    texts = [
        TextPair(field, row[field], row[f"{field}_after"])
        for field in FIELDS
        if row[field] != row[f"{field}_after"]
    ]
    if not texts:
        why.append("its texts are the same: checks or judge changed")
    return Worse(row["city"], row["trip_id"], why, texts)
