"""Lay out what was lost, city by city, so that a reader can add it up.

                                helsinki  monaco
raw trips                            764     749
+ more, where trips came apart        12      23
- ingest: too_few_points              12      20
...
= released trips                     700     690
task instances                     4,900   4,830
"""

from collections.abc import Sequence
from typing import Any

ARRIVED = "raw trips"
GAINED = "+ more, where trips came apart"
RELEASED = "= released trips"
INSTANCES = "task instances, seven a trip"
RAW_RELEASED = "raw trips with a released one"


def rejected_label(stage: str, reason: str) -> str:
    """Return the label of the pieces that a stage rejected for a reason."""
    return f"- {stage}: {reason}"


def loss_rows(cities: Sequence[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    """Return the rows of the table: what is counted, and one number per city.

    The first row, plus the second, minus those that begin with `-`, is the row that begins with
    `=`: in each column. A reason no city has is left out.

    Args:
        cities: Records of `loss_metrics`.
    """
    rows = [
        (ARRIVED, [one["raw_trips"]["arrived"] for one in cities]),
        (GAINED, [sum(step["gained"] for step in one["flow"].values()) for one in cities]),
    ]
    for stage in cities[0]["flow"] if cities else ():
        losses = [one["flow"][stage]["reasons"] for one in cities]
        rows += [
            (rejected_label(stage, reason), [loss.get(reason, 0) for loss in losses])
            for reason in sorted({reason for loss in losses for reason in loss})
        ]
    rows += [
        (RELEASED, [one["released"]["trips"] for one in cities]),
        (RAW_RELEASED, [one["raw_trips"]["released"] for one in cities]),
        (INSTANCES, [one["released"]["instances"] for one in cities]),
    ]
    return rows


def markdown_table(cities: Sequence[dict[str, Any]]) -> str:
    """Return the table in Markdown; the last rows stand out."""
    names = [one["city"] for one in cities]
    lines = [
        "| what became of them | " + " | ".join(names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for name, counts in loss_rows(cities):
        bold = "**" if name == RELEASED else ""
        cells = " | ".join(f"{bold}{count:,}{bold}" for count in counts)
        lines.append(f"| {bold}{name}{bold} | {cells} |")
    return "\n".join(lines)


def plain_table(cities: Sequence[dict[str, Any]]) -> str:
    """Return the table in plain text, columns set to the right."""
    rows = [("", [one["city"] for one in cities])]
    rows += [(name, [f"{count:,}" for count in counts]) for name, counts in loss_rows(cities)]
    first = max(len(name) for name, _ in rows)
    widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(cities))]
    return "\n".join(
        name.ljust(first)
        + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for name, cells in rows
    )
