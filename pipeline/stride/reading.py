"""Read a plain text: which way of moving it tells, by which of its words, and what it denies.

    reader.read("No one queues; 200 people walk at 1 m/s across the square, all the same way.")
    ->  Reading(pattern="stream", decided=(Sign("same way", "same way", 2.0), ...),
                denied=("queues",), stated=Stated(people=Number(200, 200, ...), ...), refused="")

Cues point to patterns with weights (`signs` in prompts/stride/patterns.yaml). What a text denies
speaks against a pattern half as strongly as it would speak for it, and is evidence of its own (`not
CUE`). A pattern is possible where one of its `needs` is said in full and nothing that rules it out
(`against`). The reading is
refused, with the nearest patterns, where none is possible, where the evidence is weak, where a
second pattern has nearly as much, and where a stated pace does not fit: a wrong answer costs more
than none.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pipeline.stride.cues import Cues, Found
from pipeline.stride.stated import Stated, stated_in

# Evidence that a reading needs, and the share of it that a second pattern may have.
LEAST, MOST_SECOND = 3.0, 0.75
_OF_FEW = 0.5  # what is said of a few only counts half
_OF_DENIED = 0.5  # what is denied counts half, the other way
_NEAREST = 3
# A stated pace fits bounds from their least less a sixth to twice their largest.
_SLOWER, _FASTER = 1.2, 2.0
NOT = "not "  # before a cue that a text denies
# First this, then that: most measures see one mean over both.
_PHASES = re.compile(
    r"\b(?:then|afterwards|later|at first|first|finally|eventually|at last)\b", re.IGNORECASE
)


class Signed(Protocol):
    """What a pattern says of its words."""

    @property
    def signs(self) -> dict[str, float]:
        """Cues that speak for it, and how strongly."""

    @property
    def needs(self) -> list[list[str]]:
        """Cues of which one list must be said in full."""

    @property
    def against(self) -> list[str]:
        """Cues that rule it out, said or (`not CUE`) denied."""


class Sign(NamedTuple):
    """A cue that speaks for a pattern, by which words, and how strongly."""

    cue: str
    words: str
    weight: float


class Reading(NamedTuple):
    """What a text was read as.

    Attributes:
        pattern: The way of moving; None where the reading is refused.
        decided: What spoke for it, strongest first.
        denied: Words that the text denies or puts before or after what it tells.
        also: Everything the text says, by cue, in its order.
        without: What it says does not happen, and nowhere that it does, by cue, in its order.
        stated: Numbers.
        nearest: Patterns that come nearest, at most three, where it is refused.
        refused: Why; "" where it is not.
    """

    pattern: str | None
    decided: tuple[Sign, ...]
    denied: tuple[str, ...]
    also: tuple[str, ...]
    without: tuple[str, ...]
    stated: Stated
    nearest: tuple[str, ...]
    refused: str


class Reader:
    """Reads texts by the cues of a sheet and the signs of patterns."""

    def __init__(self, cues: Cues, patterns: Mapping[str, Signed]) -> None:
        """Hold cues and patterns.

        Raises:
            ValueError: A pattern names a cue that is not there.
        """
        self._cues, self._patterns = cues, patterns
        for name, pattern in patterns.items():
            named = [
                *pattern.signs,
                *pattern.against,
                *(cue for need in pattern.needs for cue in need),
            ]
            unknown = sorted({cue for cue in named if cue.removeprefix(NOT) not in cues.sheet.cues})
            if unknown:
                raise ValueError(
                    f"patterns: {name}: expected cues of cues.yaml, found {unknown[0]!r}"
                )

    def read(self, text: str) -> Reading:
        """Return what a text was read as; an empty text is refused."""
        found = self._cues.found_in(text)
        said = [one for one in found if not one.denied]
        also = tuple(dict.fromkeys(one.cue for one in said))
        refuted = tuple(dict.fromkeys(one.cue for one in found if one.refuted))
        without = tuple(cue for cue in refuted if cue not in also)
        signs = {name: _signs(pattern, said) for name, pattern in self._patterns.items()}
        weight = {
            name: sum(sign.weight for sign in mine)
            - _OF_DENIED * sum(self._patterns[name].signs.get(cue, 0.0) for cue in refuted)
            for name, mine in signs.items()
        }
        order = sorted(self._patterns, key=lambda name: -weight[name])
        named = {*also, *(NOT + cue for cue in without)}
        possible = [name for name in order if _possible(self._patterns[name], named)]
        best = possible[0] if possible else None
        reading = Reading(
            best,
            tuple(signs[best]) if best else (),
            tuple(one.words for one in found if one.denied),
            also,
            without,
            stated_in(text, people=self._cues.sheet.people),
            tuple(name for name in order if weight[name] > 0)[:_NEAREST],
            "",
        )
        refused = self._refused(reading, possible, weight)
        if not refused and _PHASES.search(text):
            refused = self._phases(reading, said)
        return reading._replace(pattern=None, refused=refused) if refused else reading

    def _refused(self, reading: Reading, possible: Sequence[str], weight: dict[str, float]) -> str:
        if reading.pattern is None:
            against = self._against(reading)
            if against:
                return against
            return "words that tell how people move, found " + (
                "too few of them" if reading.also else "none of them"
            )
        if weight[reading.pattern] < LEAST:
            words = ", ".join(f"{sign.words!r}" for sign in reading.decided)
            denied = ", ".join(f"{one!r}" for one in reading.denied)
            return f"words that tell one way of moving for certain, found only {words}" + (
                f", denied {denied}" if denied else ""
            )
        if len(possible) > 1 and weight[possible[1]] >= MOST_SECOND * weight[reading.pattern]:
            return f"one way of moving, found words of {possible[0]} and of {possible[1]}"
        return ""

    def _phases(self, reading: Reading, said: Sequence[Found]) -> str:
        """Say which other way of moving a text tells before or after; "" for none."""
        mine = self._patterns[str(reading.pattern)].signs
        rest = [one for one in said if one.cue not in mine]
        named = {one.cue for one in rest}
        for name, pattern in self._patterns.items():
            enough = sum(sign.weight for sign in _signs(pattern, rest)) >= LEAST - _OF_FEW
            if enough and any(set(need) <= named for need in pattern.needs):
                return f"one way of moving, found {reading.pattern} and {name} one after the other"
        return ""

    def _against(self, reading: Reading) -> str:
        """Say which words rule out each other; "" where none do."""
        for name in reading.nearest:
            pattern = self._patterns[name]
            met = any(set(need) <= set(reading.also) for need in pattern.needs)
            named = {*reading.also, *(NOT + cue for cue in reading.without)}
            other = next((cue for cue in pattern.against if cue in named), None)
            if met and other is not None:
                says = self._cues.sheet.cues[other.removeprefix(NOT)].says
                denied = "a denial that" if other.startswith(NOT) else "that"
                return f"words that fit each other, found those of {name} and {denied} {says}"
        return ""


def pace_fault(stated: Stated, low: float | None, high: float | None) -> str:
    """Say why a stated pace cannot be that of a pattern; "" where it can or none is stated.

    Args:
        stated: Numbers of the text.
        low: Least mean speed of the pattern, m/s; None for none.
        high: Largest; None for none.
    """
    pace = stated.speed_mps
    if pace is None:
        return ""
    slow = low is not None and pace.most * _SLOWER < low
    fast = high is not None and pace.least > _FASTER * high
    return f"a pace that fits the rest of the text, found {pace.words!r}" if slow or fast else ""


def _signs(pattern: Signed, said: Sequence[Found]) -> list[Sign]:
    """Return what speaks for a pattern, each cue once, by its strongest mention."""
    best: dict[str, Sign] = {}
    for one in said:
        weight = pattern.signs.get(one.cue, 0.0) * (_OF_FEW if one.few else 1.0)
        if weight > best.get(one.cue, Sign("", "", 0.0)).weight:
            best[one.cue] = Sign(one.cue, one.words, weight)
    return sorted(best.values(), key=lambda sign: -sign.weight)


def _possible(pattern: Signed, named: set[str]) -> bool:
    met = any(set(need) <= named for need in pattern.needs)
    return met and not named & set(pattern.against)
