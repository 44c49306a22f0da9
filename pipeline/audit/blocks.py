"""A report as a list of blocks, which `markdown` and `page` put into their own form.

    [Heading(1, "v1 -> workspace"), Paragraph("..."), Table(heads, rows, right=(1, 2)), ...]

Everything in a block is plain text: a text of the data may hold anything, and each form escapes it.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Heading(NamedTuple):
    """A heading of level 1, 2 or 3."""

    level: int
    text: str


class Paragraph(NamedTuple):
    """A few sentences."""

    text: str


class Bullets(NamedTuple):
    """A list of short items."""

    items: Sequence[str]


class Table(NamedTuple):
    """Rows of cells.

    Attributes:
        heads: One title a column.
        rows: Cells as text, as many as there are heads.
        right: Columns of numbers, by place.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()


class Difference(NamedTuple):
    """Lines of `diff -u`, under a title."""

    title: str
    lines: Sequence[str]


class BesideEachOther(NamedTuple):
    """Texts before and after, side by side.

    Attributes:
        title: What they are of.
        notes: What to say of it.
        heads: Names of the two sides.
        rows: Name of the text, before, after; None where there is none. Empty: the notes say it.
    """

    title: str
    notes: Sequence[str]
    heads: tuple[str, str]
    rows: Sequence[tuple[str, str | None, str | None]]


Block = Heading | Paragraph | Bullets | Table | Difference | BesideEachOther


def printable(text: str) -> str:
    """Return a text whose control characters, which could command a terminal, are shown as such."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else f"\\x{ord(letter):02x}"
        for letter in text
    )
