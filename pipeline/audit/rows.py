"""The texts of two versions, trip by trip: the same, changed, or on one side only.

    before, after = read_texts(folder_before, folder_after)
    pairs = paired_rows(before, after)
    ->  trip_id, instruction_literal, instruction_literal_after, ..., same_trip, same_draws

Texts compare only where all that decided them but the change is equal: the trip as the writer saw
it (meta, phases, places) and what was drawn for it (intents). Where a schema differs between the
versions, the fields that both have are compared.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import SourceError
from pipeline.options import argument
from pipeline.records import Provenance, Texts
from pipeline.seals import sound_files

# What to do about a damaged file of a version, which may be a copy from anywhere.
BRING_ANEW = "bring it anew, or make it with `dvc repro -sf STAGE@CITY`"
FIELDS = Texts.__struct_fields__
TRIP_COLUMNS = ("meta", "phases", "places")
DRAW_COLUMNS = ("intents",)
SOURCE = Provenance.__struct_fields__
# What the frames of one side hold beside trip_id and the seven texts.
COLUMNS = ("trip_id", *FIELDS, "trip", "draws", *SOURCE)


def read_texts(before: Path, after: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read the annotated trips of one city on both sides.

    Args:
        before: Folder of shards.
        after: The other.

    Returns:
        Frames with COLUMNS, sorted by trip_id; `trip` and `draws` are digests that only compare
        with those of the same call.

    Raises:
        SourceError: A file is no table of annotated trips, or holds a trip twice.
    """
    files = [_shards(folder) for folder in (before, after)]
    columns = _common([_types(side[0]) for side in files])
    return _read(files[0], columns), _read(files[1], columns)


def _shards(folder: Path) -> list[Path]:
    files = sound_files(folder, remedy=BRING_ANEW)
    if not files:
        raise SourceError(
            f"{folder}: expected Parquet shards of annotated trips, found none; run `dvc repro`"
        )
    return files


def _types(file: Path) -> dict[str, Any]:
    types = dict(parquet_types(file))
    missing = sorted({"trip_id", "texts", "provenance"} - set(types))
    texts = types.get("texts")
    if not missing and isinstance(texts, pl.Struct):
        missing = sorted(set(FIELDS) - {field.name for field in texts.fields})
    if missing:
        raise SourceError(
            f"{file}: expected a table of annotated trips, found no {', '.join(missing)}; name"
            " versions that hold texts"
        )
    return types


def parquet_types(file: Path) -> dict[str, Any]:
    """Return the columns of a Parquet file with their types.

    Raises:
        SourceError: It is no readable Parquet file.
    """
    try:
        return dict(pl.read_parquet_schema(file))
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise SourceError(
            f"{file}: expected a Parquet file, found {str(fault).splitlines()[0]}; bring it anew"
        ) from fault


def _common(sides: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the columns both sides have, as far as their fields are the same."""
    first, second = sides
    return {name: shared_type(first[name], second[name]) for name in first if name in second}


def shared_type(first: Any, second: Any) -> Any:
    """Return a type with the fields that two types share, at any depth."""
    if first == second:
        return first
    if isinstance(first, pl.List) and isinstance(second, pl.List):
        return pl.List(shared_type(first.inner, second.inner))
    if isinstance(first, pl.Struct) and isinstance(second, pl.Struct):
        others = {field.name: field.dtype for field in second.fields}
        return pl.Struct(
            {
                field.name: shared_type(field.dtype, others[field.name])
                for field in first.fields
                if field.name in others
            }
        )
    return first


def projected(value: pl.Expr, kind: Any) -> pl.Expr:
    """Return a value with the fields of a type only, in that order."""
    if isinstance(kind, pl.Struct):
        return pl.struct(
            projected(value.struct.field(field.name), field.dtype).alias(field.name)
            for field in kind.fields
        )
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct | pl.List):
        return value.list.eval(projected(pl.element(), kind.inner))
    return value


def digest(columns: Sequence[str], kinds: dict[str, Any]) -> pl.Expr:
    """Return a number that is the same where the columns are; 0 where none of them is shared."""
    shared = [projected(pl.col(name), kinds[name]).alias(name) for name in columns if name in kinds]
    if not shared:
        return pl.lit(0, pl.UInt64)
    return pl.struct(shared).struct.json_encode().hash(0)


def _read(files: Sequence[Path], columns: dict[str, Any]) -> pl.DataFrame:
    frames = [_slim(pl.read_parquet(file, columns=list(columns)), columns) for file in files]
    frame = pl.concat(frames).sort("trip_id")
    twice = frame.filter(pl.col("trip_id").is_duplicated())
    if twice.height:
        raise SourceError(
            f"{files[0].parent}: expected each trip once, found {twice['trip_id'][0]} again; run"
            f" `python -m pipeline validate {argument(str(files[0].parent))}`"
        )
    return frame


def _slim(frame: pl.DataFrame, columns: dict[str, Any]) -> pl.DataFrame:
    """Keep texts and provenance of a shard; of trip and draws only digests."""
    known = {field.name for field in columns["provenance"].fields}
    provenance = pl.col("provenance").struct
    return frame.select(
        "trip_id",
        *(pl.col("texts").struct.field(name) for name in FIELDS),
        digest(TRIP_COLUMNS, columns).alias("trip"),
        digest(DRAW_COLUMNS, columns).alias("draws"),
        *(provenance.field(name) if name in known else pl.lit(None).alias(name) for name in SOURCE),
    ).with_columns(
        pl.col("shots").cast(pl.List(pl.String)).list.join(" ")
        if "shots" in known
        else pl.col("shots")
    )


def paired_rows(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Lay the trips of two frames side by side; those of one side only have nulls on the other.

    Returns:
        trip_id, the columns before, those after with the suffix `_after`, and: in_before, in_after,
        same_trip, same_draws (null where that is unknown), paired (in both, and neither is known to
        differ), changed (a text differs; null where the trip is on one side only).
    """
    joined = before.with_columns(in_before=True).join(
        after.with_columns(in_after=True),
        on="trip_id",
        how="full",
        suffix="_after",
        coalesce=True,
    )
    both = pl.col("in_before") & pl.col("in_after")
    differs = pl.any_horizontal(pl.col(name) != pl.col(f"{name}_after") for name in FIELDS)
    return (
        joined.with_columns(pl.col("in_before", "in_after").fill_null(False))
        .with_columns(
            same_trip=pl.col("trip") == pl.col("trip_after"),
            same_draws=pl.col("draws") == pl.col("draws_after"),
            changed=pl.when(both).then(differs),
        )
        .with_columns(
            paired=both & pl.col("same_trip").fill_null(True) & pl.col("same_draws").fill_null(True)
        )
        .sort("trip_id")
    )
