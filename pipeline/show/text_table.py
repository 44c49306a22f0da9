"""Lay rows out as a plain-text table that fits the screen.

p  role  dir   n  time spent  roads
0  O     NW    4  55 sec      Rua Prof. Vicente
                              José de Carvalho
"""

import sys
import unicodedata
from collections.abc import Iterator, Sequence

WIDTH = 100
LEAST_WIDTH = 12
SHOWN_ROWS = 12
SHOWN_FOLDS = 2  # lines a long cell may take


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int], all_rows: bool
) -> Iterator[str]:
    """Lay rows out in columns, folding the widest cells to fit the screen.

    Args:
        heads: One title per column.
        rows: Cells as text.
        right: Numbers of the columns whose cells are set to the right.
        all_rows: Show all rows and whole cells, instead of the first and last rows and the first
            lines of long cells.
    """
    shown = list(rows)
    if not all_rows and len(rows) > SHOWN_ROWS:
        half = SHOWN_ROWS // 2
        shown = [*rows[:half], *rows[-half:]]
    widths = _widths(heads, shown)
    folds = sys.maxsize if all_rows else SHOWN_FOLDS
    yield from _laid_out(heads, widths, right, folds)
    for number, row in enumerate(shown):
        if len(shown) < len(rows) and number == SHOWN_ROWS // 2:
            yield f"  ... {len(rows) - len(shown)} more rows; --all shows them ..."
        yield from _laid_out(row, widths, right, folds)


def _widths(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return column widths whose sum fits the screen, narrowing the widest columns.

    Words stay whole, so that an id can be copied; only where that does not fit are they cut.
    """
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(columns_of(cell) for cell in column) for column in columns]
    words = [max(columns_of(word) for cell in c for word in cell.split(" ")) for c in columns]
    for floors in (words, [min(LEAST_WIDTH, width) for width in widths]):
        while sum(widths) + 2 * len(widths) > WIDTH:
            spare = [w if w > floor else 0 for w, floor in zip(widths, floors, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths


def _laid_out(
    cells: Sequence[str], widths: list[int], right: Sequence[int], folds: int
) -> Iterator[str]:
    folded = [
        _clip(_fold(cell, width), folds, width) for cell, width in zip(cells, widths, strict=True)
    ]
    for level in range(max(map(len, folded))):
        line = ""
        for i, pieces in enumerate(folded):
            piece = pieces[level] if level < len(pieces) else ""
            padding = " " * (widths[i] - columns_of(piece))
            line += "  " + (padding + piece if i in right else piece + padding)
        yield line.rstrip()


def _clip(lines: list[str], folds: int, width: int) -> list[str]:
    """Keep the first lines; an ellipsis says that more follow."""
    if len(lines) <= folds:
        return lines
    last = lines[folds - 1]
    while columns_of(last) >= width:
        last = last[:-1]
    return [*lines[: folds - 1], last + "…"]


def _fold(text: str, width: int) -> list[str]:
    """Fold text at spaces to a width in screen columns (CJK letters take two)."""
    if columns_of(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _chopped(word, width)
        lines += full
    return [*lines, line]


def _chopped(word: str, width: int) -> list[str]:
    pieces = [""]
    for letter in word:
        if columns_of(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def columns_of(text: str) -> int:
    """Return the screen columns of a text: two for a wide letter, none for a combining mark."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def printable(text: str) -> str:
    """Return a text without control characters, which could command the terminal."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
