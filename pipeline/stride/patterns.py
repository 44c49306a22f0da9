"""Questions without a model: each way a crowd moves has its own, with ranges that have a source.

    bank = read_patterns(PROMPTS / "stride")
    bank.read("A school class follows its teacher across the square.").pattern   ->  "pack"
    bank.specification("pack", reading)
    ->  Specification(questions=[Asked(axis="V", question="Does the group walk ...?",
                                       measurements=[Bound("mean_speed", 0.8, 1.5, ...)]), ...])

Ranges are hulls of TrajFacts bands, or rest on a publication or on arithmetic that stands beside
them. What the text says beyond its way of moving adds questions (`more`): a pace in m/s, people
body to body, a crowd that thins out. The bank knows the text alone; it never sees a trajectory.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from pipeline.errors import ParameterError
from pipeline.language.prompts import PROMPTS, files_hash
from pipeline.params import document_of
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.cues import DENSE, Cues, read_cues
from pipeline.stride.pattern_records import (
    MOST_QUESTIONS,
    Check,
    Denied,
    More,
    Pattern,
    PatternSheet,
)
from pipeline.stride.reading import Reader, Reading, pace_fault
from pipeline.stride.spec_records import Asked, Bound, Specification
from pipeline.stride.trajfacts import TrajFacts, read_trajfacts

FOLDER = PROMPTS / "stride"
_CHECKS = 3  # of one question
_SPEED = "mean_speed"
# Paces of people spread by so much of their mean; who walks and stands in turn walks half the time.
_PACE_SPREAD, _STANDING = 0.2, 0.5
_VERSION = 4
_CODE = [
    Path(__file__).with_name(f"{name}.py")
    for name in ("patterns", "pattern_records", "reading", "cues", "stated")
]


class PatternBank:
    """All patterns, with the table their bands are in and the cues that point to them."""

    def __init__(self, sheet: PatternSheet, facts: TrajFacts, cues: Cues) -> None:
        self.patterns = {pattern.id: pattern for pattern in sheet.patterns}
        self.facts, self.more, self._dense = facts, sheet.more, sheet.dense
        self.denied, self._cues = sheet.denied, cues.sheet.cues
        try:
            self._reader = Reader(cues, self.patterns)
        except ValueError as fault:
            raise ParameterError(
                f"prompts/stride/patterns.yaml: {fault}; mend the pattern"
            ) from None
        named = [one.cue for one in self.more] + [cue for one in self.denied for cue in one.cues]
        for cue in named:
            if cue not in self._cues:
                raise ParameterError(
                    f"prompts/stride/patterns.yaml: more, denied: expected cues of cues.yaml, found"
                    f" {cue!r}; mend it"
                )
        for pattern in self.patterns:
            self.specification(pattern)  # a band that is not there is found now

    def read(self, text: str) -> Reading:
        """Return what a text was read as; refused where no pattern is certain."""
        reading = self._reader.read(text)
        if reading.pattern is None:
            return reading
        fault = self.fault(reading, reading.pattern)
        return reading._replace(pattern=None, refused=fault) if fault else reading

    def fault(self, reading: Reading, name: str) -> str:
        """Say what a text states, denies or says besides that is not of a pattern; "" for nothing.

        That is a pace, or a thing whose measures lie apart from those of the pattern: an audience
        of which nobody stops, people who flee and slow down.
        """
        low, high = self._pace(name)
        pace = pace_fault(reading.stated, low, high)
        if pace:
            return pace
        checks = [check for question in self.patterns[name].questions for check in question.checks]
        bounds = [self.bound(check) for check in checks]
        told: list[tuple[str, More | Denied]] = [
            (f"a denial that {self._cues[cue].says}", one) for one, cue in self._denials(reading)
        ]
        said = [one for one in self.more if one.cue in reading.also and not one.instead]
        told += [(f"that {self._cues[one.cue].says}", one) for one in said]
        for words, one in told:
            other = {check.function: self.bound(check) for check in one.checks}
            if any(apart(mine, other.get(mine.function)) for mine in bounds):
                return f"words that fit each other, found those of {name} and {words}"
        return ""

    def _denials(self, reading: Reading) -> list[tuple[Denied, str]]:
        """Return what a text denies, each with the cue it does so by."""
        return [
            (one, next(cue for cue in one.cues if cue in reading.without))
            for one in self.denied
            if set(one.cues) & set(reading.without)
        ]

    def pattern_for(self, text: str, named: str | None) -> tuple[str, Reading]:
        """Return the pattern of a text, the one named if one is, and what the text was read as.

        Raises:
            ParameterError: The text tells none for certain, or what cannot be of the one named.
        """
        reading = self.read(text)
        if named is None:
            if reading.pattern is None:
                raise ParameterError(self._refusal(reading))
            return reading.pattern, reading
        self._known(named)
        fault = self.fault(reading, named)
        if fault:
            raise ParameterError(f"pattern {named}: expected {fault}; name another pattern")
        return named, reading

    def _refusal(self, reading: Reading) -> str:
        near = ", ".join(f"{name} ({self.patterns[name].title})" for name in reading.nearest)
        where = f"nearest are {near}" if near else f"patterns are {', '.join(self.patterns)}"
        return (
            f"stride compile: expected {reading.refused}; {where}; name one with --pattern, or a"
            " model in params.yaml: stride_specs.writer.engine"
        )

    def _known(self, name: str) -> Pattern:
        if name not in self.patterns:
            raise ParameterError(
                f"pattern: expected one of {', '.join(self.patterns)}, found {name!r}; mend the"
                " story"
            )
        return self.patterns[name]

    def specification(self, name: str, reading: Reading | None = None) -> Specification:
        """Return the questions of a pattern, with those that a text asks for beyond it.

        Args:
            name: The pattern.
            reading: Of the text; its pace, density and further cues change and add questions.

        Raises:
            ParameterError: There is no such pattern, or one of its bands is not there.
        """
        pattern = self._known(name)
        asked = [
            Asked(one.axis, one.ask, [self.bound(check) for check in one.checks])
            for one in pattern.questions
        ]
        why = (
            f"The text tells that {pattern.title}. Each reason names where its range comes from:"
            " bands of TrajFacts, a publication, or arithmetic."
        )
        if reading is None:
            return Specification(why, asked)
        if reading.pattern == name:
            words = ", ".join(f'"{sign.words}"' for sign in reading.decided)
            why += f" Words that decided: {words}."
        for denied, _ in self._denials(reading):
            asked = self._without(asked, denied)
        asked = self._at_pace(asked, reading, pauses=pattern.pauses)
        asked = self._as_dense(asked, reading)
        for one in self.more:
            if one.cue in reading.also:
                asked = self._instead(asked, one) if one.instead else self._added(asked, one)
        return Specification(why, asked)

    def _instead(self, asked: list[Asked], one: More) -> list[Asked]:
        """Put checks in the place of those of the same measures, and ask for the others."""
        asked = self._added(asked, one)
        mine = {check.function: self.bound(check) for check in one.checks}
        return [
            msgspec.structs.replace(
                question,
                measurements=[mine.get(bound.function, bound) for bound in question.measurements],
            )
            for question in asked
        ]

    def _without(self, asked: list[Asked], one: Denied) -> list[Asked]:
        """Narrow what would be met by what a text denies, and ask for that in its words."""
        without = {check.function: self.bound(check) for check in one.checks}
        instead = {check.function: self.bound(check) for check in one.instead or one.checks}
        made = []
        for question in asked:
            mine = [
                instead[bound.function] if beyond(bound, without.get(bound.function)) else bound
                for bound in question.measurements
            ]
            if mine != question.measurements:
                lost = mine[0] != question.measurements[0]
                words = one.ask if lost else f"{question.question} {one.ask}"
                made.append(Asked(question.axis, words, mine))
            else:
                made.append(question)
        return made

    def _added(self, asked: list[Asked], one: More) -> list[Asked]:
        """Put checks to a question that has room, or ask one more.

        What all walkers pass that read nothing, such as an even pace, tells nothing by itself: it
        stands beside two other checks, or is left out. Everything else goes into a question of its
        axis, or into one of its own.
        """
        bound = {check.function for question in asked for check in question.measurements}
        checks = [self.bound(check) for check in one.checks if check.function not in bound]
        telling = [check for check in checks if not self.facts.idle(check)]
        for check in checks:
            if check not in telling:
                asked = self._beside_two(asked, one, check)
        if not telling:
            return asked
        for number, question in enumerate(asked):
            if question.axis == one.axis and len(question.measurements) + len(telling) <= _CHECKS:
                return _joined(asked, number, one, telling)
        if len(asked) >= MOST_QUESTIONS or BINDABLE[telling[0].function].axis != one.axis:
            return asked
        return [*asked, Asked(one.axis, one.ask, telling)]

    def _beside_two(self, asked: list[Asked], one: More, check: Bound) -> list[Asked]:
        """Put a check to the two that these walkers pass most, where it gives away least."""
        axis = BINDABLE[check.function].axis

        def given(number: int) -> tuple[int, bool]:
            mine = asked[number]
            return -sum(len(self.facts.passing(b)) for b in mine.measurements), mine.axis != axis

        room = [
            number
            for number, question in enumerate(asked)
            if len(question.measurements) == _CHECKS - 1
            and not any(self.facts.idle(mine) for mine in question.measurements)
        ]
        return _joined(asked, min(room, key=given), one, [check]) if room else asked

    def _pace(self, name: str) -> tuple[float | None, float | None]:
        bounds = [
            self.bound(check)
            for question in self.patterns[name].questions
            for check in question.checks
            if check.function == _SPEED
        ]
        return (bounds[0].min, bounds[0].max) if bounds else (None, None)

    def _at_pace(self, asked: list[Asked], reading: Reading, *, pauses: bool) -> list[Asked]:
        """Bind the mean speed to the pace a text states."""
        pace = reading.stated.speed_mps
        if pace is None:
            return asked
        low = pace.least * (_STANDING if pauses else 1 - _PACE_SPREAD)
        high = pace.most * (1 + _PACE_SPREAD)
        spread = "walkers' own paces spread by a fifth: Weidmann 1993, 0.26 of 1.34 m/s"
        half = ", and half of it where half the time is standing" if pauses else ""
        return [
            msgspec.structs.replace(
                question,
                measurements=[
                    msgspec.structs.replace(
                        bound,
                        min=round(low, 3),
                        max=round(high, 3),
                        reasoning=f'The text says "{pace.words}" ({spread}{half})',
                    )
                    if bound.function == _SPEED
                    else bound
                    for bound in question.measurements
                ],
            )
            for question in asked
        ]

    def _as_dense(self, asked: list[Asked], reading: Reading) -> list[Asked]:
        """Bind people per square metre where a text says body to body, or states a density."""
        stated = reading.stated.density_ppm2
        if stated is None and DENSE not in reading.also:
            return asked
        dense = Asked(
            self._dense.axis, self._dense.ask, [self.bound(check) for check in self._dense.checks]
        )
        if stated is not None:
            (bound,) = dense.measurements
            bound = msgspec.structs.replace(
                bound,
                min=round(stated.least * (1 - _PACE_SPREAD), 3),
                max=round(stated.most * (1 + _PACE_SPREAD), 3),
                reasoning=f'The text says "{stated.words}" (a fifth off either way)',
            )
            dense = msgspec.structs.replace(dense, measurements=[bound])
        (mine,) = dense.measurements
        if not any(one.function == mine.function for q in asked for one in q.measurements):
            return [*asked[: MOST_QUESTIONS - 1], dense]
        return [
            msgspec.structs.replace(
                question,
                measurements=[
                    mine if bound.function == mine.function else bound
                    for bound in question.measurements
                ],
            )
            for question in asked
        ]

    def bound(self, check: Check) -> Bound:
        """Return a check with its range in numbers."""
        low: float | None
        high: float | None
        if check.range is not None:
            (low, high), source = check.range, str(check.source)
        else:
            low, high = self.facts.hull(check.function, check.bands)
            source = f"TrajFacts, {' to '.join(check.bands)}"
        low = None if check.open == "down" else low
        high = None if check.open == "up" else high
        beyond = " and above" if high is None else " and below" if low is None else ""
        return Bound(
            check.function,
            low,
            high,
            self.facts.tolerance[check.function],
            f"{check.why} ({source}{beyond})",
        )


def _joined(asked: list[Asked], number: int, one: More, checks: list[Bound]) -> list[Asked]:
    """Return questions with checks put to one of them."""
    mine = asked[number]
    words = mine.question if mine.question.endswith(one.ask) else f"{mine.question} {one.ask}"
    joined = Asked(mine.axis, words, [*mine.measurements, *checks])
    return [*asked[:number], joined, *asked[number + 1 :]]


def _ends(bound: Bound) -> tuple[float, float]:
    low = -math.inf if bound.min is None else bound.min
    return low, math.inf if bound.max is None else bound.max


def apart(one: Bound, other: Bound | None) -> bool:
    """Tell whether no value but an end is in both ranges; not where there is no other."""
    if other is None:
        return False
    (low, high), (least, most) = _ends(one), _ends(other)
    return low >= most or high <= least


def beyond(one: Bound, other: Bound | None) -> bool:
    """Tell whether a range holds values outside another; not where there is no other."""
    if other is None:
        return False
    (low, high), (least, most) = _ends(one), _ends(other)
    return low < least or high > most


def read_patterns(folder: Path) -> PatternBank:
    """Read patterns, TrajFacts and cues.

    Raises:
        ParameterError: A file is missing or broken, or a band is not there.
    """
    sheet: PatternSheet = document_of(folder / "patterns.yaml", PatternSheet)
    facts, cues = read_trajfacts(folder / "trajfacts.yaml"), read_cues(folder / "cues.yaml")
    return PatternBank(sheet, facts, cues)


@cache
def patterns() -> PatternBank:
    """Return the project's own bank, read once."""
    return read_patterns(FOLDER)


def pattern_files(folder: Path = FOLDER) -> Sequence[Path]:
    """Return the files that decide what the bank asks."""
    return folder / "patterns.yaml", folder / "trajfacts.yaml", folder / "cues.yaml"


@cache
def patterns_revision() -> str:
    """Return the version of what decides what is asked: the bank's files and its code.

    The code counts by its bytes, so that no answer of an older program is taken for this one's.
    """
    return f"{_VERSION}+banks={files_hash([*pattern_files(), *_CODE])[:12]}"
