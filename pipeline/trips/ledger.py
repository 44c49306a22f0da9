"""The loss ledger: every raw trip ends in exactly one state, and the counts add up.

1372636858620000589  ->  phased, 1 drive
1372637303620000596  ->  rejected, ingest, too_few_points
"""

import polars as pl

STAGES_THAT_REJECT = ("ingest", "match", "compress")


def ledger_of(
    raw_trips: pl.DataFrame,
    cleaned: pl.DataFrame,
    matched: pl.DataFrame,
    phased: pl.DataFrame,
    rejected: pl.DataFrame,
) -> pl.DataFrame:
    """Follow every raw trip to its end.

    Args:
        raw_trips: Column raw_trip_id.
        cleaned: Columns trip_id, raw_trip_id.
        matched: Columns trip_id, cleaned_trip_id.
        phased: Column trip_id.
        rejected: Rejections of all stages: item_id, stage, reason. An item of `ingest` that is no
            raw trip (a row that could not be read) gets an entry of its own.

    Returns:
        Rows of `ledger_entry`, sorted by raw_trip_id: a trip is `phased` when at least one drive
        of it has phases; else it is `rejected` where its furthest piece was refused.
    """
    drives = matched.select("trip_id", "cleaned_trip_id").join(
        cleaned.select("raw_trip_id", cleaned_trip_id="trip_id"), on="cleaned_trip_id", how="left"
    )
    pieces = pl.concat(
        [
            raw_trips.select("raw_trip_id", item_id="raw_trip_id"),
            cleaned.select("raw_trip_id", item_id="trip_id"),
            drives.select("raw_trip_id", item_id="trip_id"),
        ]
    ).unique()
    # A refused drive of a split trip is no matched trip: its id leads back by its cleaned trip.
    refused = rejected.with_columns(base=pl.col("item_id").str.replace(r"_p\d+$", ""))
    origin = pieces.select("raw_trip_id", base="item_id")
    refused = refused.join(origin, on="base", how="left").with_columns(
        pl.coalesce("raw_trip_id", "item_id").alias("raw_trip_id"),
        depth=pl.col("stage").replace_strict(
            {name: i for i, name in enumerate(STAGES_THAT_REJECT)}, return_dtype=pl.Int64
        ),
    )
    furthest = (
        refused.sort("raw_trip_id", "depth", "item_id", descending=[False, True, False])
        .unique("raw_trip_id", keep="first", maintain_order=True)
        .select("raw_trip_id", "stage", "reason")
    )
    ids = pl.concat([raw_trips.select("raw_trip_id"), refused.select("raw_trip_id")]).unique()
    told = drives.join(phased.select("trip_id"), on="trip_id", how="semi")
    counted = (
        ids.join(_count(cleaned, "cleaned"), on="raw_trip_id", how="left")
        .join(_count(drives, "drives"), on="raw_trip_id", how="left")
        .join(_count(told, "phased"), on="raw_trip_id", how="left")
        .join(furthest, on="raw_trip_id", how="left")
        .with_columns(pl.col("cleaned", "drives", "phased").fill_null(0).cast(pl.Int64))
    )
    arrived = pl.col("phased") > 0
    return counted.select(
        "raw_trip_id",
        state=pl.when(arrived).then(pl.lit("phased")).otherwise(pl.lit("rejected")),
        stage=pl.when(arrived).then(pl.lit("compress")).otherwise("stage"),
        reason=pl.when(~arrived).then("reason"),
        cleaned="cleaned",
        drives="drives",
        phased="phased",
    ).sort("raw_trip_id")


def _count(pieces: pl.DataFrame, name: str) -> pl.DataFrame:
    return pieces.group_by("raw_trip_id").agg(pl.len().alias(name))
