"""Stage 2: what a text is as a whole: English, with words in it, and no longer than its style is.

    "请带我去码头"            ->  hit `not_english`: 6 of 6 letters beside names are not Latin
    "Go to 中央通り, please."    ->  nothing, where 中央通り is a street of the city
    "Go to the harbour. " * 500  ->  hit `too_long`: 9,500 characters, at most 1,000
    "..."                        ->  hit `no_words`

The city's own names may be in any script. Words of another script that are none of them stay open
for the verifier (`name` claims); a text that is mostly of such words is refused. Limits stand in
params.yaml. Paper: A.3.6 (the texts are English, their length is that of Table 11).
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from pipeline.quality.reading import FOREIGN, LETTERS, Reading
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.spans import is_free, spans_of
from pipeline.records import Mention

_Characters = Annotated[int, Meta(ge=1)]


class Longest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Characters a text may have, by style."""

    literal: _Characters
    concise: _Characters
    chatty: _Characters
    query: _Characters
    caption: _Characters

    def of(self, field: str) -> int:
        """Return the limit of one of the seven texts."""
        for style in self.__struct_fields__:
            if style in field:
                limit: int = getattr(self, style)
        return limit


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key `wording` of section `check` in params.yaml.

    Attributes:
        longest: Characters a text may have.
        most_foreign_share: Largest share of the letters beside names that may be of other scripts.
    """

    longest: Longest
    most_foreign_share: Annotated[float, Meta(ge=0, le=1)]


def whole_text(
    reading: Reading, mentions: Sequence[Mention], *, longest: int, most_foreign_share: float
) -> list[Hit]:
    """Return the rules a text breaks as a whole; each hit spans all of it.

    Args:
        reading: The text.
        mentions: Its names; those known may be of any script.
        longest: Characters it may have.
        most_foreign_share: As in `Wording`.
    """
    text, hits = reading.text, []
    if len(text) > longest:
        found = f"{len(text):,} characters, at most {longest:,}"
        hits.append(Hit(Rule.TOO_LONG, 0, len(text), found))
    if not reading.flags & LETTERS:
        hits.append(Hit(Rule.NO_WORDS, 0, len(text), "no word in it"))
    if reading.flags & FOREIGN:
        letters, foreign = _letters(reading, mentions)
        if foreign > most_foreign_share * letters:
            found = f"{foreign:,} of {letters:,} letters beside names are not Latin"
            hits.append(Hit(Rule.NOT_ENGLISH, 0, len(text), found))
    return hits


def _letters(reading: Reading, mentions: Sequence[Mention]) -> tuple[int, int]:
    """Return how many letters stand beside known names, and how many of them are not Latin."""
    names = spans_of(mentions)
    letters = foreign = 0
    for number, word in enumerate(reading.words):
        if word.flags & LETTERS and is_free((reading.starts[number], reading.end(number)), names):
            letters += word.size
            foreign += word.size if word.flags & FOREIGN else 0
    return letters, foreign
