"""Turn each released trip into its seven task instances, and into a candidate for retrieval.

    trip 1626278  ->  helsinki/1626278/generation/{literal,concise,chatty}
                          input: instruction, start segment, start time    target: the path
                      helsinki/1626278/retrieval/{1,2,3}
                          input: query                                     target: the trip
                      helsinki/1626278/captioning/1
                          input: the path                                  target: caption

`input` is all that a model may see. What was planned stays out, but for the draws; evidence and
provenance stand beside each text. All trips of a split are turned at once. Paper: 3.1, 4.2.
"""

from collections.abc import Callable

import polars as pl

from pipeline.quality.rubric import CRITERIA, task_of
from pipeline.release.stated import stated_column
from pipeline.schemas import arrow_schema

STYLES = ("literal", "concise", "chatty")
NUMBERS = ("1", "2", "3")
JUDGED = ("trip_id", "engine", "model", "revision", "prompt_hash", "scores")
_DRIVEN = ("edge_ids", "t_enter_s", "off_from_m", "off_to_m")
_PATH = (*_DRIVEN, "cells", "cell_edges")


def released_trips(
    entries: pl.DataFrame,
    selected: pl.DataFrame,
    judged: pl.DataFrame,
    matched: pl.DataFrame,
    told: pl.DataFrame,
) -> pl.DataFrame:
    """Join what the instances of released trips are made of.

    Args:
        entries: Rows of `loss_entry`: they say which trips are released, and their splits.
        selected: Rows of `selected_trip`.
        judged: Columns `JUDGED` of `judged_trip`, one a trip.
        matched: What `driven_trips` keeps of `matched_trip`; any trips beside the released ones.
        told: What `told_trips` keeps of `checked_trip`, likewise.

    Returns:
        One row per released trip, sorted by trip_id.
    """
    released = entries.filter(state="released").select("split", trip_id="item_id")
    judge = pl.struct(JUDGED[1:]).alias("judge")
    return (
        released.join(selected.select("trip_id", "score"), on="trip_id")
        .join(judged.select("trip_id", judge), on="trip_id")
        .join(matched.select("trip_id", *_DRIVEN), on="trip_id")
        .join(told, on="trip_id")
        .sort("trip_id")
    )


def told_trips(checked: pl.DataFrame) -> pl.DataFrame:
    """Keep of checked trips what a release needs: of the phases only their cells.

    Args:
        checked: Rows of `checked_trip`; a city's are too large to be held together.
    """
    phase = pl.element().struct
    return checked.select(
        pl.exclude("phases", "places"),
        cells=pl.col("phases").list.eval(phase.field("cell")),
        cell_edges=pl.col("phases").list.eval(phase.field("n")),
    )


def driven_trips(matched: pl.DataFrame) -> pl.DataFrame:
    """Keep of matched trips what a release needs: where they went, and when."""
    return matched.select("trip_id", *_DRIVEN)


def generation_instances(trips: pl.DataFrame, *, city: str) -> pl.DataFrame:
    """Return three instances a trip: predict the path from an instruction, start and time."""

    def one(style: str) -> pl.DataFrame:
        field = f"instruction_{style}"
        intents = pl.col("intents").struct
        plan = pl.element().struct
        styles = intents.field("styles").list
        planned = styles.eval(pl.element().filter(plan.field("style") == style)).list.first().struct
        draws = pl.struct(
            *(intents.field(name) for name in ("drawn", "scenarios", "persona")),
            planned.field("form"),
            planned.field("length"),
            *(intents.field(name) for name in ("street", "time_context")),
        )
        return trips.select(
            *_head(city, "generation", "style", style),
            pl.struct(
                _text(field).alias("instruction"),
                pl.col("edge_ids").list.first().alias("start_edge"),
                pl.col("t_enter_s").list.first().alias("start_time_s"),
                _meta("start_time"),
            ).alias("input"),
            pl.struct(_PATH).alias("target"),
            _evidence(trips, field, intents.field("targets")),
            pl.struct(
                _writer(), draws.alias("draws"), _quality(field), _judge("instructions")
            ).alias("provenance"),
        )

    return _gathered("generation_instance", trips, STYLES, one)


def retrieval_instances(trips: pl.DataFrame, *, city: str) -> pl.DataFrame:
    """Return three instances a trip: find the trip in the pool of its split from a query.

    `trips` also have `same_route`: the ids of those in the pool that drive the very same segments.
    """

    def one(number: str) -> pl.DataFrame:
        field = f"retrieval_query_{number}"
        plan = pl.col("intents").struct.field("queries").list.get(int(number) - 1).struct
        draws = pl.struct(plan.field("dimensions"))
        return trips.select(
            *_head(city, "retrieval", "number", number),
            pl.struct(_text(field).alias("query")).alias("input"),
            pl.struct("trip_id", "same_route", *_PATH).alias("target"),
            _evidence(trips, field, plan.field("targets")),
            pl.struct(_writer(), draws.alias("draws"), _quality(field), _judge("queries")).alias(
                "provenance"
            ),
        )

    return _gathered("retrieval_instance", trips, NUMBERS, one)


def caption_instances(trips: pl.DataFrame, *, city: str) -> pl.DataFrame:
    """Return one instance a trip: write the caption from the path."""

    def one(number: str) -> pl.DataFrame:
        field = "trajectory_caption"
        return trips.select(
            *_head(city, "captioning", "number", number),
            pl.struct(*_PATH, _meta("start_time"), _meta("time_spent_s")).alias("input"),
            pl.struct(_text(field).alias("caption")).alias("target"),
            _evidence(trips, field, None),
            pl.struct(_writer(), _quality(field), _judge("caption")).alias("provenance"),
        )

    return _gathered("caption_instance", trips, NUMBERS[:1], one)


def candidates(trips: pl.DataFrame, *, city: str) -> pl.DataFrame:
    """Return the pool of one split: its trips, without any text."""
    return trips.select(
        "trip_id",
        pl.lit(city).alias("city"),
        "split",
        _meta("simulated"),
        *(_meta(name) for name in ("start_time", "time_spent_s", "length_m")),
        *_PATH,
    )


def _gathered(
    schema: str,
    trips: pl.DataFrame,
    variants: tuple[str, ...],
    one: Callable[[str], pl.DataFrame],
) -> pl.DataFrame:
    """Return the instances of all variants, those of one trip together."""
    if trips.is_empty():  # nested columns of no rows would lose their types
        return pl.DataFrame(schema=pl.Schema(arrow_schema(schema)))
    return pl.concat([one(variant) for variant in variants]).sort("trip_id", maintain_order=True)


def _head(city: str, task: str, key: str, variant: str) -> list[pl.Expr]:
    return [
        pl.format(f"{{}}/{{}}/{task}/{variant}", pl.lit(city), "trip_id").alias("instance_id"),
        pl.lit(city).alias("city"),
        pl.col("trip_id", "split"),
        pl.lit(variant).alias(key),
        _meta("simulated"),
    ]


def _meta(name: str) -> pl.Expr:
    return pl.col("meta").struct.field(name)


def _text(field: str) -> pl.Expr:
    return pl.col("texts").struct.field(field)


def _writer() -> pl.Expr:
    return pl.col("provenance").alias("writer")


def _of_text(column: str, field: str, *keys: str) -> pl.Expr:
    """Return the entries of a list that are about one text, with some of their keys."""
    entry = pl.element().struct
    chosen = pl.element().filter(entry.field("field") == field)
    return (
        pl.col(column)
        .list.eval(chosen)
        .list.eval(pl.struct(*(entry.field(key) for key in keys)))
        .alias(column)
    )


def _evidence(trips: pl.DataFrame, field: str, targets: pl.Expr | None) -> pl.Expr:
    place, held = ("name", "phase", "id", "lon", "lat", "method"), ("phase", "expected", "method")
    mentions = _of_text("mentions", field, "start", "end", "text", "kind", "verdict", *place)
    parts: list[pl.Expr | pl.Series] = [
        mentions,
        _of_text("claims", field, "start", "end", "text", "kind", "verdict", *held),
    ]
    if targets is not None:
        told = trips.select(_text(field).alias("text"), mentions, targets.alias("targets"))
        parts += [targets.alias("targets"), stated_column(told)]
    return pl.struct(parts).alias("evidence")


def _quality(field: str) -> pl.Expr:
    return pl.struct(
        _of_text("findings", field, "stage", "rule", "action", "detail"),
        _of_text("repairs", field, "stage", "rule"),
    ).alias("quality")


def _judge(task: str) -> pl.Expr:
    judge = pl.col("judge").struct
    scores = [
        judge.field("scores").struct.field(code).alias(code.removeprefix(f"{task}_"))
        for code in CRITERIA
        if task_of(code) == task
    ]
    return pl.struct(
        *(judge.field(name) for name in ("engine", "model", "revision", "prompt_hash")),
        pl.struct(scores).alias("scores"),
        "score",
    ).alias("judge")
