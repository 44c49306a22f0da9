"""Put blocks into one HTML page that opens from disk, without a script and without a network.

write_page("v1 -> workspace", blocks, Path("out/audit.html"))

All text is escaped. Where texts stand side by side, the words that one has and the other has not
are marked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from importlib.resources import files
from pathlib import Path

from pipeline.audit.blocks import (
    BesideEachOther,
    Block,
    Bullets,
    Difference,
    Heading,
    Paragraph,
    Table,
    printable,
)
from pipeline.replacing import replace_text

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
# That of all pages: nothing is fetched from anywhere, whatever a text holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_SIGNS = {"+": "add", "-": "del", "@": "at"}


def write_page(title: str, blocks: Iterable[Block], path: Path) -> None:
    """Write a page; its folder is made, a file of that name is replaced.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    replace_text(path, page(title, blocks))


def page(title: str, blocks: Iterable[Block]) -> str:
    """Return the page: the same blocks give the same text."""
    style = (files("pipeline.audit") / "page.css").read_text("utf-8")
    body = "\n".join(line for block in blocks for line in _lines(block))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            yield f"<h{level}>{_text(text)}</h{level}>"
        case Paragraph(text):
            yield f"<p>{_text(text)}</p>"
        case Bullets(items):
            yield f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in items)}</ul>"
        case Table(heads, rows, right):
            yield _table(heads, [[_text(cell) for cell in row] for row in rows], right)
        case Difference(title, lines):
            yield f"<details><summary>{_text(title)}</summary>"
            yield f"<pre>{''.join(map(_diff_line, lines))}</pre></details>"
        case BesideEachOther(title, notes, heads, rows):
            yield f"<h4>{_text(title)}</h4>"
            yield f"<p>{_text('; '.join(notes))}</p>"
            cells = [[_text(name), *_marked(old, new)] for name, old, new in rows]
            if cells:
                yield _table(["text", *heads], cells, (), kind="texts")


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], kind: str = "figures"
) -> str:
    """Return a table; its cells are HTML already."""
    marks = [' class="right"' if place in right else "" for place in range(len(heads))]
    head = "".join(f"<th{mark}>{_text(one)}</th>" for mark, one in zip(marks, heads, strict=True))
    body = "\n".join(
        f"<tr>{''.join(f'<td{m}>{one}</td>' for m, one in zip(marks, row, strict=True))}</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _diff_line(line: str) -> str:
    return f'<span class="{_SIGNS.get(line[:1], "same")}">{_text(line)}\n</span>'


def _marked(old: str | None, new: str | None) -> tuple[str, str]:
    """Return both texts, with what the other has not within <del> and <ins>."""
    if old is None or new is None:
        none = '<span class="none">none</span>'
        return none if old is None else _text(old), none if new is None else _text(new)
    first, second = _PIECES.findall(old), _PIECES.findall(new)
    left, right = [], []
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        gone, come = _text("".join(first[a:b])), _text("".join(second[c:d]))
        left.append(gone if kind == "equal" or not gone else f"<del>{gone}</del>")
        right.append(come if kind == "equal" or not come else f"<ins>{come}</ins>")
    return "".join(left), "".join(right)


def _text(text: str) -> str:
    return escape(printable(text))
