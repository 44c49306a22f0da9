r"""Put blocks into Markdown (GitHub's).

    markdown([Table(["text", "n"], [["a|b", "1"]], right=(1,))])
    ->  | text | n |
        | --- | ---: |
        | a\|b | 1 |

What a text holds is shown, never obeyed: no mark-up, no HTML, no link. Only what stands between
single backticks in a sentence is left as code, so that a command can be copied; cells of tables,
where texts of the data stand, have none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

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

# What means something in the middle of a line: marks, tags, entities, and what GitHub links.
_MARKS = re.compile(
    r"""[\\`*\[|~] | (?<!\w)_ | _(?!\w) | <(?=[a-z/!?]) | &(?=\#|\w+;) | (?=://) | (?<=\bwww)(?=\.)
    | (?=@)""",
    re.VERBOSE | re.IGNORECASE,
)
# Code in a sentence: nothing in it means anything to Markdown, or ends it.
_CODE = re.compile(r"((?<!`)`[^`\n]+`(?!`))")
# What would begin a list, a quotation or a heading.
_FIRST = re.compile(r"^(?=[#+=>-])")
_FENCE = re.compile(r"`{3,}")


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown, with an empty line between them."""
    return "\n\n".join("\n".join(_lines(block)) for block in blocks) + "\n"


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            yield f"{'#' * level} {_inline(text)}"
        case Paragraph(text):
            yield _sentence(text)
        case Bullets(items):
            yield from (f"- {_sentence(item)}" for item in items)
        case Table(heads, rows, right):
            yield from _table(heads, rows, right)
        case Difference(title, lines):
            yield _inline(title)
            yield ""
            yield from _fenced(lines)
        case BesideEachOther(title, notes, heads, rows):
            yield f"**{_inline(title)}**: {_inline('; '.join(notes))}"
            cells = [[name, *("(none)" if one is None else one for one in pair)]
                     for name, *pair in rows]  # fmt: skip
            if cells:
                yield ""
                yield from _table(["text", *heads], cells, ())


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---:" if place in right else "---" for place in range(len(heads))])
    yield from (_row([_inline(cell) for cell in row]) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _inline(text: str) -> str:
    """Return text in which no letter means anything to Markdown or HTML, on one line."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split("\n")))


def _sentence(text: str) -> str:
    """Return a text that stands at the beginning of a line; its code stays as it is."""
    pieces = _CODE.split(" ".join(text.split("\n")))
    shown = (printable(one) if place % 2 else _inline(one) for place, one in enumerate(pieces))
    return _FIRST.sub(r"\\", "".join(shown))


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines as code; the fence is longer than any in them."""
    text = printable("\n".join(lines))
    fence = "`" * max([3, *(len(run) + 1 for run in _FENCE.findall(text))])
    yield f"{fence}diff"
    yield text
    yield fence
