"""Hold what a text states of direction, time, length and things against the trip's own record.

    "heads north-west on Rua B around 4 AM, 8 minutes, past a pharmacy"
    ->  Claim("north-west", direction, supported), Claim("4 AM", clock, supported),
        Claim("8 minutes", duration, supported), Claim("pharmacy", noun, unverified)

A claim is supported or contradicted where a rule can tell, with room for how people round; what no
rule can tell is unverified and goes to the verifier (stage 3). Paper: A.3.5, "Accuracy".
"""

from collections.abc import Sequence

import msgspec

from pipeline.quality.claims_clock import CLOCK_WORDS, IMPOSSIBLE, clock_claim
from pipeline.quality.claims_course import COURSE_WORDS, course_claim
from pipeline.quality.claims_length import UNITS, length_claim
from pipeline.quality.claims_nouns import NounClaims
from pipeline.quality.claims_speed import speed_claim
from pipeline.quality.claims_turn import TURN_WORDS, turn_claim
from pipeline.quality.evidence import Evidence
from pipeline.quality.reading import (
    ANY_CLAIM,
    HINT_COURSE,
    HINT_DAY,
    HINT_MONTH,
    HINT_NOUN,
    HINT_PART,
    HINT_REFUSAL,
    HINT_TURN,
    NUMERIC,
    Reading,
)
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.stated import CONTRADICTED, NUMBERS, Stated
from pipeline.records import Claim, Mention

_RULES = {
    "direction": Rule.WRONG_DIRECTION,
    "clock": Rule.WRONG_TIME,
    "part_of_day": Rule.WRONG_TIME,
    "day": Rule.WRONG_TIME,
    "date": Rule.WRONG_TIME,
    "duration": Rule.WRONG_DURATION,
    "distance": Rule.WRONG_DISTANCE,
    "count": Rule.WRONG_COUNT,
}


_OF_CLOCK = NUMERIC | HINT_MONTH | HINT_PART | HINT_DAY


class Claimed(msgspec.Struct, frozen=True, gc=False):
    """The claims of one text and what is wrong with them."""

    claims: list[Claim]
    hits: list[Hit]


def _hit(claim: Claim) -> Hit:
    impossible = claim.method == IMPOSSIBLE
    rule = Rule.IMPOSSIBLE_TIME if impossible else _RULES[claim.kind]
    return Hit(rule, claim.start, claim.end, f"expected {claim.expected}")


class ClaimChecker:
    """Checks the claims of texts."""

    def __init__(self, nouns: NounClaims) -> None:
        """Keep the nouns that claim something."""
        self._nouns = nouns

    @property
    def hints(self) -> dict[str, int]:
        """Return the flag of each word that may begin a claim."""
        found: dict[str, int] = {}
        for words, hint in (
            (self._nouns.tree.root, HINT_NOUN),
            (self._nouns.refusing, HINT_REFUSAL),
            (COURSE_WORDS, HINT_COURSE),
            (TURN_WORDS, HINT_TURN),
            (CLOCK_WORDS.parts, HINT_PART),
            (CLOCK_WORDS.days, HINT_DAY),
            (CLOCK_WORDS.months, HINT_MONTH),
            ((*NUMBERS, *UNITS, "half", "quarter"), NUMERIC),
        ):
            for word in words:
                found[word] = found.get(word, 0) | hint
        return found

    def check(
        self, reading: Reading, evidence: Evidence, mentions: Sequence[Mention], *, field: str
    ) -> Claimed:
        """Find and judge the claims of a text.

        Args:
            reading: The text.
            evidence: The trip's own record.
            mentions: Its names, whose words claim nothing by themselves.
            field: Which of the seven texts it is.
        """
        if not reading.claims:
            return Claimed([], [])
        caption, asks = field == "trajectory_caption", field.startswith("instruction")
        claims: list[Claim] = []
        done = 0  # characters
        text, starts, words = reading.text, reading.starts, reading.words
        names = iter(mentions)
        name = next(names, None)
        for number in reading.claims:
            start = starts[number]
            if start < done:
                continue
            while name is not None and name.end <= start:
                name = next(names, None)
            if name is not None and name.start <= start:
                continue
            if words[number].flags & ANY_CLAIM == HINT_NOUN:
                stated = self._nouns.noun_claim(reading, number, evidence, mentions)
            else:
                stated = self._stated(reading, number, evidence, mentions, caption, asks)
            if stated is None:
                continue
            start, done = stated.start, stated.end
            claims.append(
                Claim(
                    field,
                    start,
                    done,
                    text[start:done],
                    stated.kind,
                    stated.verdict,
                    stated.phase,
                    stated.expected,
                    stated.method,
                )
            )
        return Claimed(claims, [_hit(one) for one in claims if one.verdict == CONTRADICTED])

    def _stated(
        self,
        reading: Reading,
        number: int,
        evidence: Evidence,
        mentions: Sequence[Mention],
        caption: bool,
        asks: bool,
    ) -> Stated | None:
        """Return what is stated from a word on, whatever kind of claim it is."""
        flags = reading.words[number].flags
        if flags & HINT_COURSE:
            stated = course_claim(reading, number, evidence, mentions, caption=caption)
            if stated is not None:
                return stated
        if flags & HINT_TURN:
            return turn_claim(reading, number, evidence, mentions)
        if flags & _OF_CLOCK:
            stated = clock_claim(reading, number, evidence, asks=asks)
            if stated is not None:
                return stated
        if flags & NUMERIC:
            stated = length_claim(reading, number, evidence, mentions, caption=caption, asks=asks)
            stated = stated or speed_claim(reading, number, evidence, asks=asks)
            if stated is not None:
                return stated
        if flags & HINT_NOUN:
            return self._nouns.noun_claim(reading, number, evidence, mentions)
        return None
