"""Something a text states, judged: what the rules on claims give, before it is put on record.

Stated(12, 22, "direction", "supported", "northwest within 67 degrees", "roads")
number_of("two hundred and fifty")  ->  250.0
"""

import re
from typing import Literal

import msgspec

from pipeline.quality.folding import folded_words

ClaimVerdict = Literal["supported", "contradicted", "unverified"]
SUPPORTED: ClaimVerdict = "supported"
CONTRADICTED: ClaimVerdict = "contradicted"
UNVERIFIED: ClaimVerdict = "unverified"
# Numbers in words, as people write them of minutes, metres and streets.
_SMALL = {
    word: number
    for number, word in enumerate(
        folded_words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen nineteen twenty"
        )
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
NUMBERS = _SMALL | {"hundred": 100, "thousand": 1000}
_WORD = "|".join(sorted(_SMALL, key=len, reverse=True))
_TENS = "|".join(word for word, number in _SMALL.items() if number >= 20)
_BELOW_100 = rf"(?:(?:{_TENS})[\s-](?:one|two|three|four|five|six|seven|eight|nine)\b|(?:{_WORD}))"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}\s+)?hundred(?:\s+(?:and\s+)?{_BELOW_100})?|{_BELOW_100})"
NUMBER = (
    r"\d{1,3}(?:,\d{3})+|\d+(?:[.,]\d+)?"
    rf"|(?:{_BELOW_100}\s+)?thousand(?:\s+(?:and\s+)?{_BELOW_1000})?|{_BELOW_1000}"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")


class Stated(msgspec.Struct, frozen=True, gc=False):
    """One statement.

    Attributes:
        start: First character.
        end: Character after the last.
        kind: Kind of claim.
        verdict: What the record makes of it.
        expected: What the record shows, in words.
        method: How it was judged.
        phase: Phase it was held against; None where it is of the whole trip, or of several phases.
    """

    start: int
    end: int
    kind: str
    verdict: ClaimVerdict
    expected: str
    method: str
    phase: int | None = None


def number_of(text: str) -> float:
    """Return the number that digits or words say: "2.5", "1,200", "fifty-five", "two hundred".

    Raises:
        KeyError: It is neither.
    """
    if text[0].isdigit():
        return float(text.replace(",", "" if _GROUPED.fullmatch(text) else "."))
    thousands = below = 0
    for word in re.split(r"[\s-]+", text.lower()):
        if word == "thousand":
            thousands, below = 1000 * max(below, 1), 0
        elif word == "hundred":
            below = 100 * max(below, 1)
        elif word != "and":
            below += NUMBERS[word]
    return float(thousands + below)
