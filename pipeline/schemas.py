"""Check records against their JSON Schema, and derive each table's Parquet columns from it.

    check_rows("road", rows, where="data/monaco/roads.parquet", first_row=0, key="edge_id")
    -> ContractError: data/monaco/roads.parquet row 7 edge_id=12:3:4: $.length_m: -1 is less than
       the minimum of 0 (schemas/road.schema.json#/properties/length_m/minimum); ...

The schema files are the single statement of every column: name, unit, bounds, order. jsonschema-rs
judges every row (volume); jsonschema words the message for the first one that fails.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import polars as pl
import pyarrow as pa

from pipeline.errors import ContractError

SCHEMA_DIR = Path(__file__).resolve().parent.parent / "schemas"
ROWS_PER_GROUP = 4096
# Rows turned into Python values at a time; more of them only wait in memory, and take longer.
_ROWS_AT_A_TIME = 64
_SCALARS: dict[str, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
}


# What a broken schema file makes JSON, Arrow and the validator raise.
_FAULTS_OF_SCHEMAS = (
    jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, pa.ArrowException, OSError,
    ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError,
)  # fmt: skip


@lru_cache(maxsize=1)
def schema_documents() -> dict[str, dict[str, Any]]:
    """Return every schema by its short name (`road` for schemas/road.schema.json)."""
    documents = {}
    for path in sorted(SCHEMA_DIR.glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        with _usable(name):
            documents[name] = json.loads(path.read_text("utf-8"))
            jsonschema_rs.meta.validate(documents[name])
            documents[name]["$id"].encode()
    return documents


@contextmanager
def _usable(name: str) -> Iterator[None]:
    """Turn what a broken schema file makes its readers raise into one line; use around them.

    Raises:
        ContractError: The file is no JSON, or no JSON Schema of a table or record.
    """
    try:
        yield
    except _FAULTS_OF_SCHEMAS as fault:
        found = f"{type(fault).__name__} {' '.join(str(fault).split())[:200]}"
        raise ContractError(
            f"schemas/{name}.schema.json: expected a JSON Schema, found {found}; take it back with"
            f" `git checkout schemas/{name}.schema.json`"
        ) from fault


def schema_document(name: str) -> dict[str, Any]:
    """Return one schema; an unknown name is a ContractError that lists the known ones."""
    documents = schema_documents()
    if name not in documents:
        raise ContractError(
            f"schemas/{name}.schema.json: expected one of {', '.join(documents)}, found no such"
            " file; name one of them"
        )
    return documents[name]


@lru_cache(maxsize=1)
def _registry() -> Any:
    """Return the closed registry: references resolve among our own files, never on the network."""
    documents = schema_documents()
    with _usable("*"):
        return jsonschema_rs.Registry([(doc["$id"], doc) for doc in documents.values()])


@lru_cache(maxsize=64)
def fast_validator(name: str) -> Any:
    """Return the compiled jsonschema-rs validator of a schema, built once."""
    with _usable(name):
        return jsonschema_rs.validator_for(schema_document(name), registry=_registry())


def fits(name: str, record: object) -> bool:
    """Tell whether a record keeps its schema; half a character (a lone surrogate) breaks any."""
    try:
        return bool(fast_validator(name).is_valid(record))
    except UnicodeEncodeError:
        return False


def describe_fault(name: str, record: object) -> str:
    """Word the first fault of a record: JSON path, what is wrong, and the rule it breaks."""
    import jsonschema  # noqa: PLC0415 - slow; needed only when something is wrong
    from referencing import Registry, Resource  # noqa: PLC0415

    registry: Registry[Any] = Registry().with_resources(
        [(d["$id"], Resource.from_contents(d)) for d in schema_documents().values()]
    )
    validator = jsonschema.Draft202012Validator(schema_document(name), registry=registry)
    errors = sorted(validator.iter_errors(record), key=lambda e: [str(p) for p in e.absolute_path])
    if not errors:
        return f"$: refused by the compiled validator (schemas/{name}.schema.json)"
    error = errors[0]
    rule = "/".join(str(part) for part in error.absolute_schema_path)
    where = _json_path(error.absolute_path)
    return f"{where}: {_shortened(error.message)} (schemas/{name}.schema.json#/{rule})"


def fault_against(schema: dict[str, Any], record: object) -> str | None:
    """Word the first fault of a record against a schema that is no file of ours; None: it fits.

    Raises:
        ContractError: The schema itself is none, or refers to another file.
    """
    validator = _validator_of(json.dumps(schema, sort_keys=True))
    if validator.is_valid(record):
        return None
    errors = sorted(validator.iter_errors(record), key=lambda e: [str(p) for p in e.instance_path])
    return f"{_json_path(errors[0].instance_path)}: {_shortened(errors[0].message)}"


def fault_of_schema(schema: dict[str, Any]) -> str | None:
    """Word why a document is no JSON Schema by itself; None: it is one."""
    try:
        jsonschema_rs.validator_for(schema, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as fault:
        return str(fault).splitlines()[0]
    return None


@lru_cache(maxsize=64)
def _validator_of(schema: str) -> Any:
    try:
        return jsonschema_rs.validator_for(json.loads(schema), offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as fault:
        raise ContractError(
            "generation schema: expected a JSON Schema without references to other files,"
            f" found {str(fault).splitlines()[0]}; mend it (prompts/<task>/answer.schema.json)"
        ) from fault


def _json_path(parts: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _shortened(message: str) -> str:
    """Cut a message that quotes a whole value; what is wrong with it stands at the end."""
    return message if len(message) <= 300 else f"{message[:140]} ... {message[-140:]}"


def check_record(name: str, record: object, *, where: str) -> None:
    """Raise ContractError when one record breaks its schema."""
    if not fits(name, record):
        raise ContractError(
            f"{where}: {describe_fault(name, record)}; mend the data or the stage that wrote it"
        )


def check_rows(
    name: str,
    rows: Sequence[object],
    *,
    where: str,
    first_row: int,
    key: str,
    remedy: str = "rerun the stage that wrote it",
) -> None:
    """Raise ContractError for the first row that breaks its schema.

    Args:
        name: Short name of the schema.
        rows: Records as plain Python values (binary columns as hexadecimal text).
        where: The file, for the message.
        first_row: Number of the first row within the file, for the message.
        key: Name of the key column, for the message.
        remedy: What to do about it, for the message.
    """
    for number, row in enumerate(rows):
        if not fits(name, row):
            item = f" {key}={row.get(key)}" if isinstance(row, dict) else ""
            raise ContractError(
                f"{where} row {first_row + number}{item}: {describe_fault(name, row)}; {remedy}"
            )


def check_frame(
    name: str, frame: pl.DataFrame, *, where: str, key: str, first_row: int = 0
) -> None:
    """Raise ContractError for the first row of a table that breaks its schema.

    `first_row` is the number of the frame's first row within the file, for the message.
    """
    check_table(name, frame.to_arrow(), where=where, key=key, first_row=first_row)


def check_table(name: str, table: pa.Table, *, where: str, key: str, first_row: int = 0) -> None:
    """Do the same for a table of Arrow, whose rows become Python values three times as fast."""
    binary = binary_columns(name)
    for start in range(0, table.num_rows, _ROWS_AT_A_TIME):
        rows = table.slice(start, _ROWS_AT_A_TIME).to_pylist()
        for column in binary:
            for row in rows:
                row[column] = None if row[column] is None else row[column].hex()
        check_rows(name, rows, where=where, first_row=first_row + start, key=key)


def check_columns(
    name: str,
    frame: pl.DataFrame,
    *,
    where: str,
    remedy: str = "rebuild it with `dvc repro`",
    only: Sequence[str] | None = None,
) -> None:
    """Raise ContractError when a table's columns are not the schema's, without a look at each row.

    Names, order and types; no null in a column that may hold none, and no NaN in any. `only`: the
    columns that were read, where others were left out.
    """
    expected: dict[str, pl.DataType] = dict(_frame_schema(name))
    if only is not None:
        expected = {column: expected[column] for column in only}
    found: dict[str, object] = dict(frame.schema)
    if list(found) != list(expected):
        raise ContractError(
            f"{where}: expected the columns {', '.join(expected)}, found {', '.join(found)};"
            f" {remedy}"
        )
    for column, kind in expected.items():
        if found[column] != kind:
            raise ContractError(
                f"{where}: {column}: expected {kind}, found {found[column]}; {remedy}"
            )
        missing = 0 if _may_be_null(name, column) else frame[column].null_count()
        if missing or (kind.is_float() and frame[column].is_nan().any()):
            what = f"{missing} rows without a value" if missing else "NaN"
            raise ContractError(
                f"{where}: {column}: expected a value in each row, found {what}; {remedy}"
            )


def _arrow_type(spec: dict[str, Any], name: str) -> pa.DataType:
    """Translate one property; `$ref` is followed within our own files."""
    spec, name = followed(spec, name)
    kinds = spec.get("type", "string")  # an enum without a type lists strings
    kind = next(k for k in (kinds if isinstance(kinds, list) else [kinds]) if k != "null")
    if kind == "string" and spec.get("contentEncoding") == "base16":
        return pa.binary()
    if kind == "array":
        return pa.list_(_arrow_type(spec["items"], name))
    if kind == "object":
        return pa.struct(_fields(spec, name))
    return _SCALARS[kind]


def followed(spec: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    """Follow `$ref` until a property says itself what it is.

    Args:
        spec: A property, as a schema states it.
        name: Short name of that schema.

    Returns:
        The property, and the short name of the schema it stands in.
    """
    while "$ref" in spec:
        file = spec["$ref"].partition("#")[0].removesuffix(".schema.json")
        spec, name = _resolve(spec["$ref"], name), file or name
    return spec, name


def _resolve(reference: str, name: str) -> dict[str, Any]:
    """Follow `other.schema.json#/$defs/x` or `#/$defs/x` to the schema it names."""
    file, _, pointer = reference.partition("#")
    document: Any = schema_document(file.removesuffix(".schema.json") if file else name)
    for part in pointer.strip("/").split("/") if pointer.strip("/") else []:
        document = document[part]
    return dict(document)


def _fields(spec: dict[str, Any], name: str) -> list[pa.Field]:
    return [pa.field(key, _arrow_type(value, name)) for key, value in spec["properties"].items()]


@lru_cache(maxsize=64)
def arrow_schema(name: str) -> pa.Schema:
    """Return the Parquet columns of a table: order, names and types as the JSON Schema states.

    Never inferred from the rows: a column that is empty in one shard keeps its type.
    """
    with _usable(name):
        return pa.schema(_fields(schema_document(name), name))


@lru_cache(maxsize=64)
def _frame_schema(name: str) -> pl.Schema:
    """Return the same columns as Polars reads them back."""
    return pl.Schema(arrow_schema(name))


def _may_be_null(name: str, column: str) -> bool:
    """Tell whether a column of a table may be null."""
    spec, _ = followed(schema_document(name)["properties"][column], name)
    return "null" in spec.get("type", []) or None in spec.get("enum", [])


def binary_columns(name: str) -> list[str]:
    """Return the columns stored as bytes and checked as hexadecimal text (WKB geometry)."""
    return [field.name for field in arrow_schema(name) if pa.types.is_binary(field.type)]


def geo_metadata(name: str) -> dict[str, str] | None:
    """Return the GeoParquet header, so that geopandas and QGIS open our tables as they are."""
    if "geometry" not in binary_columns(name):
        return None
    # No "crs" key: by the standard that means longitude/latitude on WGS84 (OGC:CRS84).
    column = {"encoding": "WKB", "geometry_types": []}
    header = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    return {"geo": json.dumps(header, sort_keys=True)}
