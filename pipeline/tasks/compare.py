"""Compare the reports of two models on the same instances: which is better, and could it be chance.

    compare_reports(read_report(one), read_report(other), shown=("a.json", "b.json"))
    ->  {"slices": [{"group": "all", "measures": [{"name": "mrr", "a": 0.41, "b": 0.45,
         "difference": 0.04, "low": 0.01, "high": 0.07, "p": 0.004, "p_holm": 0.03, "winner": "b"},
         ...]}, {"group": "scenario", "value": "2.1", ...}, ...], ...}

Instances are paired, and trips are drawn: the texts of a trip are not independent. Intervals are
percentile bootstraps of the difference; p-values are of the paired permutation test, in which the
models exchange their values on whole trips. The measures of a slice, which is all instances or one
value of a group, are one family (Holm); slices are not corrected for each other.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import SourceError
from pipeline.paired import Comparison, Ratio, compare_ratios, holm
from pipeline.replacing import replace_text
from pipeline.schemas import check_record
from pipeline.seeds import rng_for
from pipeline.tasks.plain_table import aligned
from pipeline.tasks.report import Record, read_report

SCHEMA = "task_comparison"
# What two reports must share, and how to make them share it.
_SAME = {
    "task": "compare reports of one task",
    "city": "compare reports of one city",
    "split": "score both on one split",
    "release": "score both on one version of the release",
    "options": "score both with the same options",
}
ALL = "all"
LEVEL = 0.05
_LONGEST = 60  # letters of a value that a message shows


def compare_files(first: Path, second: Path) -> Record:
    """Compare two report files.

    Raises:
        SourceError: One is not there, or they are of different tasks, releases, splits or options.
        ContractError: One is no report.
    """
    return compare_reports(read_report(first), read_report(second), shown=(str(first), str(second)))


def compare_reports(first: Record, second: Record, *, shown: tuple[str, str]) -> Record:
    """Compare two reports.

    Args:
        first: Report A.
        second: Report B; differences are B minus A.
        shown: Names of the files, for messages.

    Returns:
        The comparison, as the schema task_comparison has it.

    Raises:
        SourceError: They are of different tasks, cities, splits, releases or options, or have not
            the same instances.
    """
    expect_same(first, second, shown)
    measures = [one for one in first["measures"] if one["name"] in second["instances"]["values"]]
    names = [one["name"] for one in measures]
    a, b = _frame(first, names), _frame(second, names)
    groups = [name for name in first["instances"]["groups"] if name in _group_names(second)]
    rows = a.join(b, on="instance_id", suffix=_B, maintain_order="left")
    return {
        **{key: first[key] for key in _SAME},
        "seed": first["seed"],
        "a": _side(first, names),
        "b": _side(second, names),
        "slices": [
            _slice(some, measures, first, group, value)
            for group, value, some in _slices(rows, groups)
        ],
    }


def write_comparison(comparison: Record, file: Path) -> None:
    """Check a comparison against its schema and write it as JSON.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    check_record(SCHEMA, comparison, where=str(file))
    replace_text(file, json.dumps(comparison, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def comparison_lines(comparison: Record, *, by: str | None = None) -> list[str]:
    """Return a comparison as lines of text: a table of all instances, and a line per group value.

    Args:
        comparison: Result of `compare_reports`.
        by: A group of which each value has its table, instead of a count of clear differences.

    Raises:
        SourceError: The reports have no such group.
    """
    whole, *parts = comparison["slices"]
    groups = list(dict.fromkeys(one["group"] for one in parts))
    if by is not None and by not in groups:
        raise SourceError(
            f"--by {by}: expected a group of the reports ({', '.join(groups) or 'they have none'})"
        )
    a, b = comparison["a"], comparison["b"]
    lines = [
        f"{comparison['task']} of {comparison['city']}, {comparison['split']}",
        *(_covered(letter, side) for letter, side in (("A", a), ("B", b))),
        "",
        *_table(whole),
    ]
    if by is not None:
        for one in parts:
            if one["group"] == by:
                lines += ["", f"{_titled(one)}: {_counted(one)}", *_table(one)]
        return lines
    if not parts:
        return lines
    heads = ["measures that differ clearly", "instances", "trips", "A wins", "B wins", ""]
    rows = [
        [
            _titled(part),
            f"{part['instances']:,}",
            f"{part['trips']:,}",
            *(str(sum(one["winner"] == side for one in part["measures"])) for side in "ab"),
            "",
        ]
        for part in parts
    ]
    return [*lines, "", *aligned(heads, rows), f"Each in a table: --by {' or '.join(groups)}"]


_B = "_b"


def expect_same(first: Record, second: Record, shown: tuple[str, str]) -> None:
    """Refuse what cannot be compared, naming everything that differs."""
    differing = [key for key in _SAME if first[key] != second[key]]
    if differing:
        found = "; ".join(
            f"{key}: {_short(one)} and {_short(other)}"
            for key in differing
            for one, other in [_differing(first[key], second[key])]
        )
        remedies = ", ".join(_SAME[key] for key in differing)
        raise SourceError(
            f"{shown[0]} and {shown[1]}: expected the same {', '.join(_SAME)}, found {found};"
            f" {remedies}"
        )
    if first["instances"]["instance_id"] != second["instances"]["instance_id"]:
        raise SourceError(
            f"{shown[0]} and {shown[1]}: expected values of the same instances, found others in the"
            " second; score both anew"
        )


def _differing(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two values; of options only those that differ."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return one, other
    keys = [key for key in (one | other) if one.get(key) != other.get(key)]
    return {key: one.get(key) for key in keys}, {key: other.get(key) for key in keys}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _group_names(report: Record) -> Mapping[str, Any]:
    names: Mapping[str, Any] = report["instances"]["groups"]
    return names


def _frame(report: Record, names: Sequence[str]) -> pl.DataFrame:
    """Return the values of a report: a row per instance."""
    columns = report["instances"]
    values = [pl.Series(name, columns["values"][name], dtype=pl.Float64) for name in names]
    return pl.DataFrame(
        [
            pl.Series("instance_id", columns["instance_id"], dtype=pl.String),
            pl.Series("trip_id", columns["trip_id"], dtype=pl.String),
            *(_grouped(f"@{name}", column) for name, column in columns["groups"].items()),
            *values,
        ]
    )


def _grouped(name: str, column: Sequence[Any]) -> pl.Series:
    """Return the values of a group as lists."""
    lists = [one if isinstance(one, list) else [] if one is None else [one] for one in column]
    return pl.Series(name, lists, dtype=pl.List(pl.String))


def _slices(rows: pl.DataFrame, groups: Sequence[str]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield all instances, then those of each value of each group."""
    yield ALL, "", rows
    for group in groups:
        column = pl.col(f"@{group}")
        for value in rows.select(column.explode().drop_nulls().unique().sort()).to_series():
            yield group, value, rows.filter(column.list.contains(pl.lit(value)))


def _slice(
    rows: pl.DataFrame, measures: Sequence[Record], report: Record, group: str, value: str
) -> Record:
    """Compare all measures over some instances."""
    names = [one["name"] for one in measures]
    # An instance counts where both have a value.
    both = {
        name: pl.col(name).is_not_null() & pl.col(f"{name}{_B}").is_not_null() for name in names
    }
    columns = {
        "n": {name: condition.sum() for name, condition in both.items()},
        "a": {name: pl.col(name).filter(condition).sum() for name, condition in both.items()},
        "b": {name: pl.col(f"{name}{_B}").filter(both[name]).sum() for name in names},
    }
    trips = (
        rows.group_by("trip_id")
        .agg(
            expression.cast(pl.Float64).alias(f"{side} {name}")
            for side, of in columns.items()
            for name, expression in of.items()
        )
        .sort("trip_id")
    )
    counts, a, b = (trips.select(f"{side} {name}" for name in names).to_numpy() for side in columns)
    counts = counts.copy()
    counts[counts == 0] = float("nan")  # such a trip has not the figure
    rng = rng_for(report["seed"], "tasks compare", f"{report['task']} {group} {value}")
    found = compare_ratios(Ratio(a, counts), Ratio(b, counts), rng)
    adjusted = holm([one.p for one in found])
    return {
        "group": group,
        "value": value,
        "instances": rows.height,
        "trips": trips.height,
        "measures": [
            _measure(measure, rows.select(both[measure["name"]].sum()).item(), one, p)
            for measure, one, p in zip(measures, found, adjusted, strict=True)
        ],
    }


def _measure(measure: Record, instances: int, found: Comparison, p_holm: float | None) -> Record:
    winner = ""
    if p_holm is not None and p_holm <= LEVEL and measure["better"] and found.difference:
        winner = "b" if (found.difference > 0) == (measure["better"] == "higher") else "a"
    return {
        **{key: measure[key] for key in ("name", "unit", "better")},
        "instances": instances,
        "trips": found.n,
        "a": _rounded(found.before),
        "b": _rounded(found.after),
        "difference": _rounded(found.difference),
        "low": _rounded(found.low),
        "high": _rounded(found.high),
        "p": _rounded(found.p),
        "p_holm": _rounded(p_holm),
        "winner": winner,
    }


def _side(report: Record, names: Sequence[str]) -> Record:
    return {
        "name": report["name"],
        "predictions": report["predictions"],
        "coverage": report["coverage"],
        "not_compared": [one["name"] for one in report["measures"] if one["name"] not in names],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0


def _covered(letter: str, side: Record) -> str:
    coverage = side["coverage"]
    wrong = sum(coverage["invalid"].values())
    left = f"; not compared: {', '.join(side['not_compared'])}" if side["not_compared"] else ""
    return (
        f"{letter}: {side['name']}, {coverage['predicted']:,} of {coverage['instances']:,}"
        f" instances predicted, {wrong:,} invalid{left}"
    )


def _titled(part: Record) -> str:
    return f"{part['group']} {part['value']}".strip()


def _counted(part: Record) -> str:
    return f"{part['instances']:,} instances of {part['trips']:,} trips"


def _table(part: Record) -> list[str]:
    heads = ["measure", "A", "B", "B - A", "95 %", "p", "p (Holm)", "winner"]
    rows = [
        [
            one["name"],
            _figure(one["a"]),
            _figure(one["b"]),
            _figure(one["difference"], "+"),
            _interval(one),
            _figure(one["p"]),
            _figure(one["p_holm"]),
            one["winner"].upper(),
        ]
        for one in part["measures"]
    ]
    return aligned(heads, rows)


def _interval(one: Record) -> str:
    return f"{_figure(one['low'], '+')} to {_figure(one['high'], '+')}"


def _figure(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.3f}"
