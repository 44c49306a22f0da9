"""Lay figures out in columns, for the screen.

aligned(["measure", "mean"], [["mrr", "0.412"]])
->  measure   mean
    mrr      0.412
"""

from collections.abc import Sequence


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines: the first and the last column to the left, those between to the right."""
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
    lines = []
    for first, *middle, last in (heads, *rows):
        figures = (cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *figures, last]).rstrip())
    return lines
