"""Read a file of predictions, and match it with the instances of a split.

    predictions = read_predictions(Path("routes.jsonl"), "generation")
    matched(release, "generation", "test", predictions, file=Path("routes.jsonl"))
    ->  one row per instance of the split, with the columns of its prediction beside it

Parquet or JSONL, one row per instance, columns as in schemas/<task>_prediction.schema.json. NaN
reads as null, which scorers count as wrong; what has the wrong type is refused.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.schemas import arrow_schema, check_rows, schema_document
from pipeline.tables import read_any_parquet
from pipeline.tasks.released import Release

SCHEMAS = {
    "generation": "generation_prediction",
    "retrieval": "retrieval_prediction",
    "captioning": "caption_prediction",
}


class Matched(NamedTuple):
    """The instances of a split with their predictions.

    Attributes:
        rows: One row per instance, in the release's order: its columns, those of the prediction
            (null where there is none) and `predicted`, a Boolean.
        other: Rows of the file about instances of other splits.
    """

    rows: pl.DataFrame
    other: int


def read_predictions(file: Path, task: str) -> pl.DataFrame:
    """Read the predictions of a task.

    Returns:
        One row per prediction with all columns of the schema, null where the file has none. NaN is
        null. A file without rows gives a frame without rows.

    Raises:
        SourceError: It is no readable Parquet or JSONL file, or names an instance twice.
        ContractError: A column is missing, unknown or of another type: names file, row and rule.
    """
    name = SCHEMAS[task]
    if file.suffix == ".parquet":
        frame = _from_parquet(file, name)
    elif file.suffix in {".jsonl", ".ndjson"}:
        frame = _from_jsonl(file, name)
    else:
        raise SourceError(
            f"{file}: expected a file that ends in .parquet or .jsonl, found {file.suffix!r}; see"
            f" schemas/{name}.schema.json for its columns"
        )
    twice = frame.filter(pl.col("instance_id").is_duplicated())
    if twice.height:
        raise SourceError(
            f"{file}: expected each instance_id once, found {twice['instance_id'][0]!r} again"
            f" ({twice['instance_id'].n_unique()} ids are doubled); keep one prediction of each"
        )
    return frame


def matched(
    release: Release, task: str, split: str, predictions: pl.DataFrame, *, file: Path
) -> Matched:
    """Match predictions with the instances of a split.

    Args:
        release: The release that is scored on.
        task: The task.
        split: The split.
        predictions: Result of `read_predictions`.
        file: Where they come from, for messages.

    Raises:
        SourceError: An instance_id is in no split of the release (another city, another task, a
            typing error), or the split has instances and none is predicted.
    """
    splits = release.instance_splits(task)
    known = predictions.join(splits, on="instance_id", how="left", maintain_order="left")
    unknown = known.filter(pl.col("split").is_null())
    if unknown.height:
        raise SourceError(
            f"{file}: expected instances of {task} in the release of {release.city}"
            f" ({_example(splits)}), found {unknown['instance_id'][0]!r}"
            f"{_and_more(unknown.height)}; score it against its own release and task"
        )
    instances = release.instances(task, split)
    here = known.filter(pl.col("split") == split)
    if instances.height and here.is_empty():
        found = "no rows" if known.is_empty() else f"only rows of {_splits_of(known)}"
        raise SourceError(
            f"{file}: expected predictions for the split {split!r}, found {found}; name the split"
            " with --split or predict its instances"
        )
    columns = [column for column in predictions.columns if column != "instance_id"]
    beside = here.select("instance_id", *columns, predicted=pl.lit(value=True))
    rows = instances.join(beside, on="instance_id", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("predicted").fill_null(value=False))
    return Matched(rows, known.height - here.height)


def _example(splits: pl.DataFrame) -> str:
    return f"such as {splits['instance_id'][0]}" if splits.height else "it has none"


def _and_more(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


def _splits_of(known: pl.DataFrame) -> str:
    return ", ".join(known["split"].unique().sort())


def _from_jsonl(file: Path, name: str) -> pl.DataFrame:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(
            f"{file}: expected a JSONL file, found {fault}; name a readable file"
        ) from fault
    rows = []
    # Not splitlines: it also cuts at U+2028, which JSON allows within a string.
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line, parse_constant=lambda _: None))
        except (ValueError, RecursionError) as fault:
            raise SourceError(
                f"{file} line {number + 1}: expected a JSON record, found {fault}; write one record"
                " a line"
            ) from fault
    remedy = f"mend it by schemas/{name}.schema.json"
    check_rows(name, rows, where=str(file), first_row=0, key="instance_id", remedy=remedy)
    # Not strict: a list of numbers may begin with a whole one. The schema has judged the types.
    return pl.DataFrame(rows, schema=_columns(name), orient="row", strict=False)


def _from_parquet(file: Path, name: str) -> pl.DataFrame:
    frame = read_any_parquet(file, remedy="write it anew")
    expected = _columns(name)
    missing = [c for c in schema_document(name)["required"] if c not in frame.columns]
    unknown = [column for column in frame.columns if column not in expected]
    if missing or unknown:
        raise ContractError(
            f"{file}: expected the columns {', '.join(expected)}, found"
            f" {', '.join(frame.columns)}; mend it by schemas/{name}.schema.json"
        )
    for column, kind in frame.schema.items():
        if not _fits(kind, expected[column]):
            raise ContractError(
                f"{file}: {column}: expected {expected[column]}, found {kind}; mend it by"
                f" schemas/{name}.schema.json"
            )
    nulls = frame["instance_id"].is_null()
    if nulls.any():
        raise ContractError(
            f"{file} row {nulls.arg_max()}: instance_id: expected text, found null; mend it by"
            f" schemas/{name}.schema.json"
        )
    absent = [pl.lit(None).alias(column) for column in expected if column not in frame.columns]
    whole = frame.with_columns(absent).select(expected.names()).cast(dict(expected.items()))
    return whole.with_columns(
        pl.col(column).list.eval(pl.element().fill_nan(None))
        for column, kind in expected.items()
        if kind == pl.List(pl.Float64)
    )


def _columns(name: str) -> pl.Schema:
    return pl.Schema(arrow_schema(name))


def _fits(found: Any, expected: Any) -> bool:
    """Tell whether values of one type can be read as another without a change of meaning."""
    if found in (pl.Null, expected):
        return True
    if isinstance(expected, pl.List):
        return isinstance(found, (pl.List, pl.Array)) and _fits(found.inner, expected.inner)
    if expected == pl.Float64:
        return bool(found.is_numeric())
    return isinstance(found, (pl.Categorical, pl.Enum))
