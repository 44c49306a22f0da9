"""CSV files that people open in a spreadsheet: no cell of text is ever taken for a formula.

    csv_of(pl.DataFrame({"note": ["=1+1", "-0.5", "fine"], "margin": [-0.5, 0.1, 2.0]}))
    ->  note,margin / '=1+1,-0.5 / -0.5,0.1 / fine,2.0

A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or a line's end. Such a text
gets an apostrophe in front, which spreadsheets do not show; `unescaped` takes it away where we read
a file ourselves. Numbers stay numbers, below zero too.
"""

import re
from typing import Any

import polars as pl

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# With apostrophes in front as well, so that taking one away gives back every text there can be.
_FORMULA = r"^'*[=+\-@\t\r\n]"


def escaped(value: Any) -> Any:
    """Return a value as a cell may hold it; what is no text stays as it is."""
    if isinstance(value, str) and re.match(_FORMULA, value) and not re.fullmatch(_NUMBER, value):
        return f"'{value}"
    return value


def unescaped(cell: str) -> str:
    """Return the text of a cell that `escaped` has written; a cell it never touched is as it is."""
    return cell[1:] if cell.startswith("'") and re.match(_FORMULA, cell) else cell


def csv_of(frame: pl.DataFrame) -> str:
    """Return a table as CSV with a head; null is empty."""
    texts = pl.col(pl.String)
    unsafe = texts.str.contains(_FORMULA) & ~texts.str.contains(f"^{_NUMBER}$")
    with_mark = texts.str.replace("^", "'")
    return frame.with_columns(pl.when(unsafe).then(with_mark).otherwise(texts)).write_csv()
