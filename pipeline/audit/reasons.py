"""Why a trip has texts on one side only: what the other side rejected, and why.

    rejected(version, "monaco")         ->  trip_id, stage, reason: the last stage that refused each
    with_reasons(trips, before, after)  ->  gone_stage, gone_reason, new_stage, new_reason beside

A trip that no stage of the other version knows never got there: its drive is another one, or none.
"""

import polars as pl

from pipeline.audit.report import Reason
from pipeline.audit.rows import BRING_ANEW
from pipeline.audit.versions import Missing, Version
from pipeline.seals import sound_files

# The stages that refuse what may become a trip with texts, the last first.
_STAGES = ("annotate", "plan_intents", "compress", "match")
NOT_THERE = "no such trip there"
COLUMNS = ("trip_id", "stage", "reason")


def rejected(version: Version, city: str) -> pl.DataFrame:
    """Return what a version rejected, one row a trip: trip_id, stage, reason.

    Rejections the version has not are left out: their trips then count as never there.
    """
    frames = [pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))]
    for stage in _STAGES:
        path = version.artifact(city, f"{stage}_rejected")
        if not isinstance(path, Missing):
            (file,) = sound_files(path, remedy=BRING_ANEW)
            frame = pl.read_parquet(file, columns=["item_id", "stage", "reason"])
            frames.append(frame.rename({"item_id": "trip_id"}))
    return pl.concat(frames).unique("trip_id", keep="first", maintain_order=True)


def with_reasons(trips: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Say of the trips on one side only what became of them on the other.

    Args:
        trips: As `paired_rows` lays them out.
        before: What was rejected before.
        after: What was rejected after.

    Returns:
        The trips with gone_stage and gone_reason (in no text after), new_stage and new_reason (in
        none before); null where there are texts.
    """
    for name, refused, there in (("gone", after, "in_after"), ("new", before, "in_before")):
        told = refused.rename({"stage": f"{name}_stage", "reason": f"{name}_reason"})
        trips = trips.join(told, on="trip_id", how="left").with_columns(
            pl.when(~pl.col(there)).then(pl.col(f"{name}_stage").fill_null("")),
            pl.when(~pl.col(there)).then(pl.col(f"{name}_reason").fill_null(NOT_THERE)),
        )
    return trips


def counted_reasons(trips: pl.DataFrame, name: str) -> list[Reason]:
    """Count the reasons of trips that are gone, or new; the most frequent first."""
    stage, reason = f"{name}_stage", f"{name}_reason"
    counts = (
        trips.drop_nulls(reason)
        .group_by(stage, reason)
        .len()
        .sort("len", stage, reason, descending=[True, False, False])
    )
    return [Reason(stage, reason, trips) for stage, reason, trips in counts.iter_rows()]
