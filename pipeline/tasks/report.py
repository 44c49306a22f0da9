"""The report of one prediction file: means with intervals, groups, references, every value.

    report = report_of(scored, references, source)    any task: `Scored` is all it needs
    write_report(report, Path("report.json"))          schemas/task_report.schema.json
    table_lines(report)                                 what `tasks score` prints

Intervals are percentile bootstraps of 95 %. Trips are drawn, not instances: the three texts of a
trip are not independent. All means of a report use the same draws.
"""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.paired import Ratio, estimate_ratios
from pipeline.replacing import replace_text
from pipeline.schemas import check_record, describe_fault, fits
from pipeline.seeds import rng_for
from pipeline.tasks.measure import Measure, Reference, Scored
from pipeline.tasks.plain_table import aligned

SCHEMA = "task_report"
Record = dict[str, Any]


class Source(NamedTuple):
    """What was scored.

    Attributes:
        task: The task.
        city: Key of the city.
        split: The split.
        name: What the model is called.
        release_hash: `Release.hash()`.
        predictions_hash: SHA-256 of the prediction file.
        seed: Seed of the draws.
    """

    task: str
    city: str
    split: str
    name: str
    release_hash: str
    predictions_hash: str
    seed: int


def report_of(scored: Scored, references: Sequence[Reference], source: Source) -> Record:
    """Return the report on a prediction file, as the schema task_report has it.

    Args:
        scored: Its scores.
        references: Floors, guides and ceilings on the same instances.
        source: What was scored.
    """
    own = _means(scored.rows, scored.measures, source)
    others = [
        {
            "name": one.name,
            "kind": one.kind,
            "sentence": one.sentence,
            "means": _means(one.scored.rows, one.scored.measures, source),
        }
        for one in references
    ]
    return {
        "task": source.task,
        "city": source.city,
        "split": source.split,
        "name": source.name,
        "release": source.release_hash,
        "predictions": source.predictions_hash,
        "seed": source.seed,
        "options": scored.options,
        "coverage": scored.coverage._asdict(),
        "measures": [
            {**one._asdict(), **own[one.name], **_separation(one.name, others)}
            for one in scored.measures
        ],
        "references": others,
        "groups": list(_groups(scored, source)),
        "instances": _values(scored),
    }


def _means(rows: pl.DataFrame, measures: Sequence[Measure], source: Source) -> dict[str, Record]:
    """Return mean, interval and count of each measure over some instances."""
    names = [one.name for one in measures]
    known = [pl.col(name).is_not_null().sum().cast(pl.Float64).alias(f"#{name}") for name in names]
    trips = rows.group_by("trip_id").agg(pl.col(names).sum(), *known).sort("trip_id")
    figures = Ratio(
        trips.select(names).to_numpy(), trips.select(f"#{name}" for name in names).to_numpy()
    )
    rng = rng_for(source.seed, "tasks report", f"{source.city} {source.task} {source.split}")
    return {
        name: {
            "mean": _rounded(one.value),
            "low": _rounded(one.low),
            "high": _rounded(one.high),
            "instances": rows.height - rows[name].null_count(),
            "trips": one.n,
        }
        for name, one in zip(names, estimate_ratios(figures, rng), strict=True)
    }


def _separation(name: str, references: Sequence[Record]) -> Record:
    """Tell whether a measure tells the ceiling from the floors: whether no intervals overlap.

    `overlaps` names the floors and guides whose interval overlaps the ceiling's. Null where there
    is no ceiling, no floor, or no interval.
    """
    of_kind: dict[str, list[Record]] = {"floor": [], "guide": [], "ceiling": []}
    for one in references:
        if name in one["means"] and one["means"][name]["low"] is not None:
            of_kind[one["kind"]].append(one)
    if not of_kind["ceiling"] or not of_kind["floor"]:
        return {"separates": None, "overlaps": []}
    top = of_kind["ceiling"][0]["means"][name]
    overlaps = [
        one
        for one in (*of_kind["floor"], *of_kind["guide"])
        if one["means"][name]["low"] <= top["high"] and top["low"] <= one["means"][name]["high"]
    ]
    return {
        "separates": all(one["kind"] != "floor" for one in overlaps),
        "overlaps": [one["name"] for one in overlaps],
    }


def _groups(scored: Scored, source: Source) -> Iterator[Record]:
    """Yield the means of every value of every group; an instance may have several scenarios."""
    for group, column in scored.groups.items():
        rows = scored.rows
        if isinstance(rows.schema[column], pl.List):
            rows = rows.explode(column)
        rows = rows.drop_nulls(column)
        for value in rows[column].unique().sort():
            some = rows.filter(pl.col(column) == value)
            yield {
                "group": group,
                "value": value,
                "instances": some.height,
                "trips": some["trip_id"].n_unique(),
                "means": _means(some, scored.measures, source),
            }


def _values(scored: Scored) -> Record:
    """Return every value by column, in the release's order."""
    rows = scored.rows
    return {
        "instance_id": rows["instance_id"].to_list(),
        "trip_id": rows["trip_id"].to_list(),
        "status": rows["status"].to_list(),
        "groups": {name: rows[column].to_list() for name, column in scored.groups.items()},
        "values": {
            one.name: [_rounded(value) for value in rows[one.name]] for one in scored.measures
        },
    }


def _rounded(value: float | None) -> float | None:
    """Round: the last digits of sums are the machine's. No minus zero."""
    return None if value is None or math.isnan(value) else round(value, 6) + 0.0


def write_report(report: Record, file: Path) -> None:
    """Check a report against its schema and write it as JSON, each list of values on one line.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    check_record(SCHEMA, report, where=str(file))
    parts = [
        f" {_text(key)}: {_text(value)}" for key, value in report.items() if key != "instances"
    ]
    columns = report["instances"]
    lines = [f"  {_text(key)}: {_text(value)}" for key, value in columns.items() if key != "values"]
    values = [f"   {_text(key)}: {_text(value)}" for key, value in columns["values"].items()]
    lines.append('  "values": {\n' + ",\n".join(values) + "\n  }")
    parts.append(' "instances": {\n' + ",\n".join(lines) + "\n }")
    replace_text(file, "{\n" + ",\n".join(parts) + "\n}\n")


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_report(file: Path) -> Record:
    """Read a report and check it against its schema.

    Raises:
        SourceError: It is not there or no JSON.
        ContractError: It is no report.
    """
    try:
        report = json.loads(file.read_text("utf-8"), parse_float=_finite, parse_constant=_finite)
    except (OSError, ValueError, RecursionError) as fault:
        raise SourceError(
            f"{file}: expected a report of `tasks score`, found {fault}; score the predictions anew"
        ) from fault
    if not fits(SCHEMA, report):
        raise ContractError(
            f"{file}: {describe_fault(SCHEMA, report)}; score the predictions anew with `tasks"
            " score`"
        )
    _expect_parallel(report["instances"], file)
    return dict(report)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text}")
    return value


def _expect_parallel(columns: Record, file: Path) -> None:
    """Refuse columns of different lengths."""
    expected = len(columns["instance_id"])
    named = {key: columns[key] for key in ("trip_id", "status")}
    for name, column in {**named, **columns["groups"], **columns["values"]}.items():
        if len(column) != expected:
            raise ContractError(
                f"{file}: instances.{name}: expected {expected} values, one per instance_id, found"
                f" {len(column)}; score the predictions anew with `tasks score`"
            )


_ARROWS = {"higher": "↑", "lower": "↓", "": ""}


def table_lines(report: Record) -> list[str]:
    """Return a report as lines of text: coverage, then a row per measure with its references."""
    coverage = report["coverage"]
    invalid = ", ".join(f"{count} {reason}" for reason, count in coverage["invalid"].items())
    covered = (
        f"{coverage['predicted']:,} of {coverage['instances']:,} instances predicted"
        f" ({coverage['missing']:,} missing); invalid: {invalid or 'none'}; rows of other splits:"
        f" {coverage['other']:,}"
    )
    title = f"{report['task']} of {report['city']}, {report['split']}: {report['name']}"
    lines = [title, covered]
    references = report["references"]
    heads = ["measure", "mean", "95 %", *(one["name"] for one in references), ""]
    rows = [
        [
            f"{one['name']} {_ARROWS[one['better']]}".strip(),
            _figure(one["mean"]),
            f"{_figure(one['low'])} - {_figure(one['high'])}",
            *(_figure(other["means"].get(one["name"], {}).get("mean")) for other in references),
            "does not separate" if one["separates"] is False else "",
        ]
        for one in report["measures"]
    ]
    return [*lines, *aligned(heads, rows)]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
