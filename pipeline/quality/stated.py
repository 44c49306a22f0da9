"""Something a text states, judged: what the rules on claims give, before it is put on record.

Stated(12, 22, "direction", "supported", "northwest within 67 degrees", "roads")
"""

from typing import Literal

import msgspec

from pipeline.quality.folding import folded_words

ClaimVerdict = Literal["supported", "contradicted", "unverified"]
SUPPORTED: ClaimVerdict = "supported"
CONTRADICTED: ClaimVerdict = "contradicted"
UNVERIFIED: ClaimVerdict = "unverified"
# Whole numbers in words, as people write them of minutes and streets.
NUMBERS = {
    word: number
    for number, word in enumerate(
        folded_words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen nineteen twenty"
        )
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
NUMBER = rf"\d+(?:\.\d+)?|{'|'.join(sorted(NUMBERS, key=len, reverse=True))}"


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
    """Return the number that digits or a word say.

    Raises:
        KeyError: It is neither.
    """
    return float(text) if text[0].isdigit() else float(NUMBERS[text.lower()])
