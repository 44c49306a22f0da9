"""Why a trip that is released on one side was refused on the other: what differs first.

    with_refusals(records, before, after, "monaco")
    ->  the records, where ["check"] has become ["model", "prompt"], with the refused texts; notes

The stage that refused a trip is not the cause where what it refused is another text. Causes stand
in a chain: the trip, its draws, model and prompt; sampling; the answer; the program; then quality
control, the judge, the selection. What differs first is the cause. The annotated trips of both
sides tell it; where they are not at hand, the stage stays the cause and a note says so.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.audit.rows import (
    BRING_ANEW,
    FIELDS,
    digest,
    paired_rows,
    parquet_types,
    read_texts,
    shared_type,
)
from pipeline.audit.versions import Missing, Version
from pipeline.errors import SourceError
from pipeline.seals import sound_files

# Causes that say no more than which stage refused a trip that had its draws.
_REFUSED = ("answer", "check", "selection")
_WRITER = ("engine", "model", "revision", "prompt_hash")
# What the stages behind the texts made of a trip, and the cause where that differs.
_MADE = {
    "check": ("checked", ("texts", "mentions", "claims", "repairs", "findings")),
    "judge": ("judged", ("engine", "model", "revision", "prompt_hash", "scores")),
}


def with_refusals(
    records: pl.DataFrame, before: Version, after: Version, city: str
) -> tuple[pl.DataFrame, list[str]]:
    """Give the records of refused trips the cause that comes first, and the text that was refused.

    Args:
        records: As `with_causes` gives them.
        before: The version before.
        after: The version after.
        city: Key of the city.

    Returns:
        The records, and a note where the causes cannot be had.
    """
    refused = records.filter(_is_refused())
    if refused.is_empty():
        return records, []
    ids = refused["trip_id"].unique()
    places = [version.artifact(city, "annotated") for version in (before, after)]
    missing = [place.why for place in places if isinstance(place, Missing)]
    folders = [place for place in places if not isinstance(place, Missing)]
    try:
        records = _with_texts(records, before, after, city)
        first = None if missing else _firsts(folders, before, after, city, ids)
    except (SourceError, pl.exceptions.PolarsError) as fault:  # of another time, with other columns
        missing, first = [str(fault).splitlines()[0]], None
    if first is None:
        why = "; ".join(missing)
        return records, [f"refused trips have the stage that refused them as their cause: {why}"]
    joined = records.join(first, on="trip_id", how="left", maintain_order="left")
    known = _is_refused() & (pl.col("first").list.len() > 0)
    causes = pl.when(known).then("first").otherwise("causes")
    return joined.with_columns(causes=causes).drop("first"), []


def _firsts(
    folders: Sequence[Path], before: Version, after: Version, city: str, ids: pl.Series
) -> pl.DataFrame:
    """Return trip_id and first, the causes that come first."""
    pairs = _pairs(folders, ids)
    for cause, (name, columns) in _MADE.items():
        differing = _differing(before, after, city, name, columns, ids)
        pairs = pairs.join(differing.rename({"differs": cause}), on="trip_id", how="left")
    return pairs.select("trip_id", first=_first())


def _is_refused() -> pl.Expr:
    alone = pl.col("state").is_in(["added", "removed"])
    return alone & pl.col("causes").list.first().is_in(_REFUSED)


def _pairs(folders: Sequence[Path], ids: pl.Series) -> pl.DataFrame:
    """Lay the trips side by side; one without texts has the writer of all others of its side."""
    sides = read_texts(*folders)
    pairs = paired_rows(*sides).filter(pl.col("trip_id").is_in(ids.implode()))
    writers = []
    for side, suffix in zip(sides, ("", "_after"), strict=True):
        for name in _WRITER:
            values = side[name].unique()
            if values.len() == 1:
                writers.append(pl.col(f"{name}{suffix}").fill_null(values[0]))
    return pairs.with_columns(writers)


def _first() -> pl.Expr:
    """Return the causes that come first; none where nothing is known to differ."""

    def differs(*names: str) -> pl.Expr:
        return pl.any_horizontal(
            (pl.col(name) != pl.col(f"{name}_after")).fill_null(False) for name in names
        )

    levels = [
        {
            "trip": differs("trip"),
            "draws": differs("draws"),
            "model": differs("engine", "model", "revision"),
            "prompt": differs("prompt_hash", "shots"),
        },
        {"params": differs("response_key")},
        {"answer": differs("attempt")},
        {"code": differs(*FIELDS)},
        *({cause: pl.col(cause).fill_null(False)} for cause in _MADE),
    ]
    earlier = pl.lit(False)
    found = []
    for level in levels:
        found += [pl.when(is_it & ~earlier).then(pl.lit(cause)) for cause, is_it in level.items()]
        earlier = earlier | pl.any_horizontal(level.values())
    return pl.concat_list(found).list.drop_nulls()


def _differing(
    before: Version, after: Version, city: str, name: str, columns: Sequence[str], ids: pl.Series
) -> pl.DataFrame:
    """Tell of the trips that both sides have in an artifact whether it says the same of them."""
    files = [_files(version, city, name) for version in (before, after)]
    if not all(files):
        return pl.DataFrame(schema={"trip_id": pl.String, "differs": pl.Boolean})
    first, second = (parquet_types(some[0]) for some in files)
    kinds = {one: shared_type(first[one], second[one]) for one in first if one in second}
    old, new = (
        pl.scan_parquet(some)
        .filter(pl.col("trip_id").is_in(ids.implode()))
        .select("trip_id", made=digest(columns, kinds))
        .collect()
        for some in files
    )
    return old.join(new, on="trip_id").select(
        "trip_id", differs=pl.col("made") != pl.col("made_right")
    )


def _with_texts(records: pl.DataFrame, before: Version, after: Version, city: str) -> pl.DataFrame:
    """Fill in the text of the side that refused it, as it was checked or else as it was written."""
    for version, state, text in ((before, "added", "text"), (after, "removed", "text_after")):
        here = _is_refused() & (pl.col("state") == state)
        ids = records.filter(here)["trip_id"].unique()
        if ids.is_empty():
            continue
        joined = records.with_columns(field=_field()).join(
            _texts(version, city, ids), on=["trip_id", "field"], how="left", maintain_order="left"
        )
        told = pl.when(here).then("told").otherwise(text)
        records = joined.with_columns(told.alias(text)).drop("field", "told")
    return records


def _texts(version: Version, city: str, ids: pl.Series) -> pl.DataFrame:
    """Return trip_id, field and told: the texts of trips, as far as they are at hand."""
    frames = [pl.DataFrame(schema=dict.fromkeys(("trip_id", "field", "told"), pl.String))]
    for name in ("checked", "annotated"):
        if files := _files(version, city, name):
            texts = pl.col("texts").struct
            rows = pl.scan_parquet(files).filter(pl.col("trip_id").is_in(ids.implode()))
            wide = rows.select("trip_id", *(texts.field(one) for one in FIELDS)).collect()
            frames.append(wide.unpivot(FIELDS, index="trip_id", variable_name="field",
                                       value_name="told"))  # fmt: skip
    return pl.concat(frames).unique(["trip_id", "field"], keep="first", maintain_order=True)


def _files(version: Version, city: str, name: str) -> list[Path]:
    """Return the shards of an artifact; none where it is not at hand."""
    place = version.artifact(city, name)
    return [] if isinstance(place, Missing) else sound_files(place, remedy=BRING_ANEW)


def _field() -> pl.Expr:
    """Return which of a trip's seven texts a record tells of."""
    variant = pl.col("instance_id").str.split("/").list.last()
    return (
        pl.when(task="generation")
        .then(pl.format("instruction_{}", variant))
        .when(task="retrieval")
        .then(pl.format("retrieval_query_{}", variant))
        .otherwise(pl.lit("trajectory_caption"))
    )
