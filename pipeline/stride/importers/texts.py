"""Texts of numbers: rows of columns parted by blanks, tabs, semicolons or commas.

    number_rows(Path("zara.txt"), fewest=4, most=4)    ->  (M, 4) numbers, comment lines
    number_of("2,5")                                   ->  2.5: a comma that parts no columns

A comma within a word of a row that blanks part is a decimal one: `780 1 2,5 3,1` has 4 numbers, and
`780, 1, 2.5, 3.1` and `780,1,2.5,3.1` have, too. A row that can be read both ways is refused.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats, Ints

# Doubles tell whole numbers apart up to here; beyond it two agents could become one.
MOST_WHOLE = 2**53
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


def number_rows(
    path: Path, *, fewest: int, most: float, hidden: str = "?"
) -> tuple[Floats, list[str]]:
    """Read a text of numbers.

    Args:
        path: The file.
        fewest: Columns each row must have; further ones are kept if all rows have them.
        most: Columns a row may have.
        hidden: A word for a number that is withheld; it becomes NaN.

    Returns:
        The numbers, (M, K), and the comment lines (those that begin with #).

    Raises:
        SourceError: The file cannot be read, or a row is short, long or no numbers; names the
            line.
    """
    rows: list[list[float]] = []
    comments: list[str] = []
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if line.lstrip().startswith("#"):
            comments.append(line)
            continue
        words = _words(line, f"{path} line {number}")
        if not words:
            continue
        try:
            row = [math.nan if word == hidden else number_of(word) for word in words]
        except ValueError as fault:
            raise SourceError(f"{path} line {number}: expected numbers, found {fault}") from fault
        if not fewest <= len(row) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} or more"
            raise SourceError(
                f"{path} line {number}: expected {wanted} numbers, found {len(row)}; is it of this"
                " format?"
            )
        rows.append(row)
    width = min(map(len, rows), default=fewest)
    return np.array([row[:width] for row in rows]).reshape(len(rows), width), comments


def _words(line: str, where: str) -> list[str]:
    """Return the columns of a row as words, decimal commas still in them."""
    if ";" in line:
        return [word.strip() for word in line.strip().rstrip(";").split(";")]
    words = line.split()
    inside = [word for word in words if "," in word.strip(",")]
    if not inside:
        return [word.strip(",") for word in words if word != ","]
    if len(words) == 1:
        return words[0].rstrip(",").split(",")
    if all(_DECIMAL_COMMA.fullmatch(word) for word in inside) and "." not in line:
        return words
    raise SourceError(
        f"{where}: expected columns parted by one of blank, semicolon and comma, found"
        f" {line.strip()[:60]!r}; write decimals with a point"
    )


def number_of(word: str) -> float:
    """Return the number a word is, its decimal comma or point read alike.

    Raises:
        ValueError: It is none.
    """
    return float(word.replace(",", ".") if _DECIMAL_COMMA.fullmatch(word) else word)


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        SourceError: It is not there or no UTF-8.
    """
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(f"{path}: expected a text file, found {fault}; name another") from fault


def whole(values: Sequence[float] | Floats, name: str, path: Path) -> Ints:
    """Return numbers as whole ones, as frames and agents are.

    Raises:
        SourceError: One is not whole, or too large to be told from its neighbours.
    """
    array = np.asarray(values, dtype=np.float64)
    bad = ~((np.abs(array) < MOST_WHOLE) & (array == np.rint(array)))
    if bad.any():
        row = int(np.argmax(bad))
        raise SourceError(
            f"{path}: {name}: expected whole numbers below 2^53, found {array[row]:.17g} in row"
            f" {row + 1}; wrong columns?"
        )
    return array.astype(np.int64)
