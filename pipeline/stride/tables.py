"""Reports as flat tables: one row per check, and one row per generator.

check_rows(report)                 ->  scenario, question, function, value, low, high, ...
comparison([ours, theirs])         ->  a row each: coverage, mean, interval, axes, tolerance
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.csv_files import escaped
from pipeline.errors import SourceError

CHECK_COLUMNS = (
    "scenario", "scenario_id", "category", "state", "question_id", "question", "function", "axis",
    "params", "value", "low", "high", "delta", "margin", "passed", "cause", "reason",
)  # fmt: skip
_AXES = ("V", "R", "D", "S", "T")


def check_rows(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return one flat row per check of a report."""
    for scenario in report["scenarios"]:
        for question in scenario["questions"]:
            for check in question["checks"]:
                yield {
                    "scenario": scenario["id"],
                    "scenario_id": scenario["scenario_id"],
                    "category": scenario["category"],
                    "state": scenario["state"],
                    "question_id": question["id"],
                    "question": question["question"],
                    **{key: check[key] for key in CHECK_COLUMNS if key in check},
                    "params": json.dumps(check["params"], ensure_ascii=False),
                }


def comparison(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per report, the best mean first.

    Raises:
        SourceError: They are not of one benchmark and one mode.
    """
    for key in ("mode", "benchmark"):
        if any(one[key] != reports[0][key] for one in reports):
            raise SourceError(
                f"reports: expected one {key} in all, found"
                f" {_told(reports[0][key])} ({reports[0]['generator']}) and others; score all"
                " generators alike"
            )
    rows = [_row(one) for one in reports]
    return sorted(rows, key=lambda row: -(row["mean"] or 0.0))


def _told(value: Any) -> str:
    return f"{value['file']} {value['sha256'][:8]}" if isinstance(value, Mapping) else str(value)


def _row(report: Mapping[str, Any]) -> dict[str, Any]:
    score = report["score"]
    axes = {row["axis"]: row["score"]["mean"] for row in report["by_axis"]}
    return {
        "generator": report["generator"],
        "mode": report["mode"],
        "scenarios": report["coverage"]["scenarios"],
        "scored": report["coverage"]["scored"],
        "mean": score["mean"],
        "std": score["std"],
        "low": score["low"],
        "high": score["high"],
        "covered_mean": report["covered"]["mean"],
        "zero_filled_mean": report["zero_filled"]["mean"],
        "micro": report["overall_accuracy_by_expected_result"],
        "checks_passed": report["checks_passed"],
        **{axis: axes.get(axis) for axis in _AXES},
        **report["plausibility"],
        **{f"tolerance_x{row['factor']}": row["mean"] for row in report["tolerance"]},
    }


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return rows as CSV with a head; None is empty, and no text is taken for a formula."""
    lines = [{name: name for name in columns}, *rows]
    return "".join(_csv_line([escaped(line.get(name)) for name in columns]) for line in lines)


def _csv_line(cells: Sequence[Any]) -> str:
    """Return one row; a carriage return is quoted only where the lines end in one."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


def table_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return rows as lines of a Markdown table; fractions have 3 decimals, None is a dash."""
    heads = list(rows[0])
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(_cell(row[head]) for head in heads)} |" for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
