"""Spans of characters, and whether one keeps clear of others.

is_free((3, 9), [(0, 3), (9, 12)])  ->  True
"""

from collections.abc import Iterable, Sequence

from pipeline.records import Mention

Span = tuple[int, int]


def is_free(span: Span, others: Iterable[Span]) -> bool:
    """Tell whether a span shares no character with any of some others."""
    start, end = span
    return all(end <= other[0] or other[1] <= start for other in others)


def spans_of(mentions: Sequence[Mention]) -> list[Span]:
    """Return where known names lie; what only looks like a name protects nothing."""
    return [(one.start, one.end) for one in mentions if one.verdict != "invented"]
