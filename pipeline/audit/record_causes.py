"""Why each record of a release is new, gone, or not what it was.

    compared(before, after)  ->  instance_id, state, aspects, beside both texts
    with_causes(records, ended_before, ended_after, other_fields=[])  ->  causes, detail beside

The provenance of a record decides. Another path is another trip; another model, prompt or draw
says so itself; another request with all of these equal was sampled otherwise; another answer to the
same request was asked anew; another text of the same answer was mended otherwise. A record that is
new or gone has the cause of the stage where its trip ended on the other side; `refused` looks for
one that comes before it.
"""

from collections.abc import Collection

import polars as pl

from pipeline.audit.instances import ASPECTS

# Where a trip ends, and what that makes of a record that is not there.
STAGES = {
    "ingest": "trip",
    "match": "trip",
    "compress": "trip",
    "plan_intents": "draws",
    "annotate": "answer",
    "check": "check",
    "select": "selection",
}
UNKNOWN = "unknown"
NOT_THERE = "no such trip there"
CAUSES = (
    "trip", "draws", "model", "prompt", "params", "answer", "code", "check", "judge", "split",
    "pool", "schema", "selection", "city", UNKNOWN,
)  # fmt: skip


def compared(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Lay the records of both sides side by side.

    Returns:
        instance_id, trip_id, task, text, text_after, state (same, changed, added, removed) and
        aspects: in what a changed record differs, with `text` and `split` among them.
    """
    parts = ("text", "split", *ASPECTS)
    joined = before.with_columns(in_before=True).join(
        after.with_columns(in_after=True), on="instance_id", how="full", suffix="_after",
        coalesce=True,
    )  # fmt: skip
    differing = pl.concat_list(
        pl.when(pl.col(part) != pl.col(f"{part}_after")).then(pl.lit(part)) for part in parts
    ).list.drop_nulls()
    state = (
        pl.when(pl.col("in_after").is_null())
        .then(pl.lit("removed"))
        .when(pl.col("in_before").is_null())
        .then(pl.lit("added"))
        .when(pl.col("aspects").list.len() > 0)
        .then(pl.lit("changed"))
        .otherwise(pl.lit("same"))
    )
    return (
        joined.with_columns(
            pl.coalesce("trip_id", "trip_id_after").alias("trip_id"),
            pl.coalesce("task", "task_after").alias("task"),
            aspects=differing,
        )
        .with_columns(state=state)
        .select("instance_id", "trip_id", "task", "text", "text_after", "state", "aspects")
        .sort("instance_id")
    )


def with_causes(
    records: pl.DataFrame,
    ended_before: pl.DataFrame | None,
    ended_after: pl.DataFrame | None,
    *,
    other_fields: Collection[str],
) -> pl.DataFrame:
    """Add why a record is not what it was.

    Args:
        records: As `compared` gives them.
        ended_before: Where each trip ended before: trip_id, stage, reason; None where unknown.
        ended_after: The same after.
        other_fields: Tasks whose schemas differ: a record that is the same otherwise changed.

    Returns:
        The records with causes (of CAUSES, in that order; none for the same) and detail.
    """
    wider = (pl.col("state") == "same") & pl.col("task").is_in(list(other_fields))
    records = records.with_columns(
        state=pl.when(wider).then(pl.lit("changed")).otherwise("state"),
        aspects=pl.when(wider).then(pl.lit(["schema"])).otherwise("aspects"),
    )
    changed = records.filter(pl.col("state").is_in(["changed", "same"])).with_columns(
        causes=_of_changed(), detail=pl.lit("")
    )
    absent = [
        _of_absent(records.filter(state=state), ended)
        for state, ended in (("removed", ended_after), ("added", ended_before))
    ]
    return pl.concat([changed, *absent]).sort("instance_id")


def with_cause(records: pl.DataFrame, cause: str) -> pl.DataFrame:
    """Give records that have a cause another one, the same for all; none to those that are same."""
    alone = pl.when(pl.col("state") != "same").then(pl.lit([cause])).otherwise("causes")
    return records.with_columns(causes=alone, detail=pl.lit(""))


def _of_changed() -> pl.Expr:
    """Return the causes of a record on both sides."""

    def differs(aspect: str) -> pl.Expr:
        return pl.col("aspects").list.contains(aspect)

    text = differs("text")
    # The request tells all of a trip's draws; an instance only its own.
    drawn = differs("draws").any().over("trip_id")
    of_request = {
        "trip": differs("trip"),
        "draws": differs("draws") | (differs("request") & drawn),
        "model": differs("writer"),
        "prompt": differs("prompt"),
    }
    asked = pl.any_horizontal(of_request.values())
    params = differs("request") & ~asked
    answer = differs("attempt") & ~differs("request")
    told = asked | params | answer
    made = differs("quality") | differs("evidence")
    found = of_request | {
        "params": params,
        "answer": answer,
        "code": (text & ~told & ~made) | differs("other"),
        "check": made & ~(text & told) & ~differs("trip"),
        "judge": differs("judge") | (differs("scores") & ~text & ~told & ~made),
        "split": differs("split"),
        "pool": differs("pool"),
        "schema": differs("schema"),
    }
    causes = pl.concat_list(
        pl.when(found[cause]).then(pl.lit(cause)) for cause in CAUSES if cause in found
    ).list.drop_nulls()
    return (
        pl.when((pl.col("state") == "changed") & (causes.list.len() == 0))
        .then(pl.lit([UNKNOWN]))
        .otherwise(causes)
    )


def _of_absent(records: pl.DataFrame, ended: pl.DataFrame | None) -> pl.DataFrame:
    """Say where the trips of new or gone records ended on the side that has them not."""
    if ended is None:
        return records.with_columns(causes=pl.lit([UNKNOWN]), detail=pl.lit(""))
    joined = records.join(ended, on="trip_id", how="left")
    cause = pl.col("stage").replace_strict(STAGES, default=UNKNOWN)
    return joined.with_columns(
        causes=pl.concat_list(
            pl.when(pl.col("stage").is_null()).then(pl.lit("trip")).otherwise(cause)
        ),
        detail=pl.when(pl.col("stage").is_null())
        .then(pl.lit(NOT_THERE))
        .otherwise(pl.format("{}: {}", "stage", pl.col("reason").fill_null(""))),
    ).drop("stage", "reason")
