"""Lay figures out as Markdown for the card.

grid(["city", "trips"], [["toy", 1200]])  ->  | city | trips |
                                              | --- | --- |
                                              | toy | 1,200 |
"""

from typing import Any


def grid(heads: list[str], rows: list[list[Any]]) -> str:
    """Return a table; whole numbers get their thousands apart, bars in text are escaped."""
    lines = [heads, ["---"] * len(heads)]
    lines += [
        [f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|") for cell in row]
        for row in rows
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def part_of(part: int, whole: int) -> str:
    """Return a part with its share of a whole; "none" of nothing."""
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else "none"


def figure(value: float | None) -> str:
    """Return a number as a cell; "-" where there is none."""
    return "-" if value is None else f"{value:,.6g}"
