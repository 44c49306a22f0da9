"""How long a trip stands in a place or drives on a road, held against the phases of that place.

    Rua A in phases 2-4 of 10, 200 and 15 seconds
    "stands on Rua A for three minutes"        ->  supported, by phase 3
    "Rua A, where it stands for ten minutes"   ->  contradicted
    "follows Rua A for four minutes"           ->  supported: all its phases together

A phase is no more than some hundred metres, so a long one is one in which the trip stands. Where no
place is named, any phase will do.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Literal

import msgspec

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.reading import Reading
from pipeline.records import Mention, Phase

Bound = Literal["upper", "lower", "near", "another"]
_HALTING = word_set(
    "stand stands standing stood wait waits waiting halt halts halting halted stop stops stopping "
    "stopped pause pauses pausing paused idle idles idling idled rest rests resting linger lingers "
    "lingering sit sits sitting stuck parked held standstill"
)
_STAYING = word_set("stay stays staying remain remains remaining spend spends spending spent")
_VERBS = _HALTING | _STAYING
_HALTS = word_set("halt stop pause wait break standstill stay stopover delay")
_STANDING = _HALTS | _HALTING
# Words that stand between "for" and a number, or between a verb and it.
_FILLING = word_set(
    "about around approximately approx roughly only just some almost nearly a good full whole well "
    "more less than over under at least most up to not quite no longer little bit close exactly "
    "still there another"
)
# Words between a length and the place it is of: "thirteen minutes outside the station".
_AT = word_set(
    "on at in along by near outside beside next to front of opposite over the still there standing "
    "waiting"
)
_AT_FIRST = frozenset({"on", "at", "in"})
_LISTING = frozenset({"and", "or"})
# A wait of these is not the trip's.
_PERSONS = word_set("i my mine she he they been who someone somebody")
_BACK = frozenset({"where", "there", "here"})
_MOST_BEFORE, _MOST_TO_PLACE = 10, 3
# Seconds and metres that a stretch may differ from what is said of it, or that share of it.
_SLACK = {"duration": 30.0, "distance": 80.0}
_SLACK_SHARE = 0.2
# A bound may be missed by rounding.
_BOUND_SHARE = 0.1


class Said(msgspec.Struct, frozen=True, gc=False):
    """A length as a text gives it.

    Attributes:
        kind: `duration` (seconds) or `distance` (metres).
        amount: How much.
        bound: What the words around make of it.
        first: Its first word, "about" and the like included.
        number: The word that says the number.
        end: The word after it.
    """

    kind: Literal["duration", "distance"]
    amount: float
    bound: Bound | None
    first: int
    number: int
    end: int


class Held(msgspec.Struct, frozen=True, gc=False):
    """A length held against phases: whether it fits (None: open), what they show, which decided."""

    fits: bool | None
    expected: str
    phase: int | None = None


def fits_length(said: float, true: float, slack: float, bound: Bound | None) -> bool:
    """Tell whether a true length is what a text says, within a slack."""
    if bound == "upper":
        return true <= said + max(slack / 2, _BOUND_SHARE * said)
    if bound == "lower":
        return true >= said - max(slack / 2, _BOUND_SHARE * said)
    return abs(said - true) <= slack


def lead_of(reading: Reading, number: int) -> int:
    """Return the first word of a length, "about", "more than" and the like included."""
    first = number
    while first and first not in reading.begins and _fills(reading, first):
        first -= 1
    return first


def _fills(reading: Reading, first: int) -> bool:
    return reading.words[first - 1].canonical in _FILLING and not reading.breaks(first)


def halt_claim(
    reading: Reading,
    said: Said,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    caption: bool,
) -> Held | None:
    """Hold a time against the place a text says the trip stands in; None where it says none."""
    halt = _halt(reading, said) if said.kind == "duration" else None
    if halt is None:
        return None
    return _held_halt(reading, halt, said, evidence, mentions, caption=caption)


def drive_claim(
    reading: Reading, said: Said, evidence: Evidence, mentions: Sequence[Mention]
) -> Held | None:
    """Hold a length against the roads it is driven on; None where a text names none."""
    roads = _roads_of(reading, said, mentions)
    return _held_drive(said, evidence, roads) if roads else None


def _halt(reading: Reading, said: Said) -> int | None:
    """Return the word that tells of standing still so long, if one does."""
    words, first, end = reading.words, said.first, said.end
    if end < len(words) and not reading.breaks(end):
        after = end + (words[end].canonical == "of")  # "a 13-minute halt", "3 minutes of waiting"
        if after < len(words) and words[after].canonical in _STANDING:
            return after
    if not first or first in reading.begins:
        return None
    before = words[first - 1].canonical
    if before in _VERBS:
        return first - 1
    if before == "of" and first > 1 and words[first - 2].canonical in _HALTS:
        return first - 2
    if before != "for":
        return None
    lowest = max(reading.sentence(first), first - _MOST_BEFORE)
    back = range(first - 2, lowest - 1, -1)
    return next((here for here in back if words[here].canonical in _VERBS), None)


def _held_halt(
    reading: Reading,
    halt: int,
    said: Said,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    caption: bool,
) -> Held:
    places = _places_of(reading, halt, said, mentions)
    own = _phases_of(evidence, places) if places else evidence.trip.phases
    longest = max((phase.time_spent_s for phase in own), default=0.0)
    where = ", ".join(one.name for one in places) or "a phase"
    expected = f"{where}: at most {longest:,.0f} seconds in one phase"
    begin = max(reading.sentence(halt), halt - _MOST_BEFORE)
    told = {word.canonical for word in reading.words[begin:halt]}
    if not own or not _PERSONS.isdisjoint(told) or not (places or caption):
        return Held(None, expected)
    for phase in own:
        # The halt may lie before the last segment, where the paper's duration ends.
        if _fits(said, phase.time_spent_s) or _fits(said, phase.duration_s):
            return Held(True, expected, phase.p)
    if reading.words[halt].canonical in _STAYING and places:
        return _held_drive(said, evidence, places)
    return Held(False if places or longest < said.amount else None, expected)


def _places_of(
    reading: Reading, halt: int, said: Said, mentions: Sequence[Mention]
) -> list[Mention]:
    """Return the names that a halt is said of: beside it, or those that "where" points back to."""
    starts, words = reading.starts, reading.words
    low, high = sorted((halt, said.number))
    between = [one for one in mentions if starts[low] <= one.start < starts[high]]
    after = between or _listed(reading, max(said.end, halt + 1), mentions)
    if after:
        return after
    begin = reading.sentence(low)
    if words[begin].canonical in _AT_FIRST:  # "On A it stands for two minutes"
        first = _listed(reading, begin, mentions)
        if first and low - bisect_left(starts, first[-1].end) <= _MOST_TO_PLACE:
            return first
    if not any(word.canonical in _BACK for word in words[max(begin, low - 4) : said.end + 2]):
        return []
    before = [one for one in mentions if one.start < starts[low]]
    in_sentence = [one for one in before if one.start >= starts[begin]]
    return (in_sentence or before)[-2:]


def _listed(reading: Reading, end: int, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the names of a list that follows a word: "on A, B and C"."""
    found: list[Mention] = []
    allowed, most = _AT, _MOST_TO_PLACE
    for one in mentions[bisect_left(mentions, reading.starts[end], key=lambda m: m.start) :]:
        first = bisect_right(reading.starts, one.start) - 1
        between = [word.canonical for word in reading.words[end:first]]
        if len(between) > most or not allowed.issuperset(between) or first in reading.begins:
            break
        found.append(one)
        end = bisect_left(reading.starts, one.end)
        allowed, most = _LISTING, 1
    return found


def _roads_of(reading: Reading, said: Said, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the roads that a length is driven on: "two minutes on A", "follows A for 300 m"."""
    words = reading.words
    after = words[said.end].canonical if said.end < len(words) else ""
    if after in {"on", "along"} and not reading.breaks(said.end):
        return _roads(_listed(reading, said.end, mentions))
    if not said.first or words[said.first - 1].canonical != "for":
        return []
    begin = reading.sentence(said.first)
    before = [
        one
        for one in mentions
        if reading.starts[begin] <= one.start and one.end <= reading.starts[said.first - 1]
    ]
    if not before or bisect_left(reading.starts, before[-1].end) < said.first - 2:
        return []
    return _roads(before[-1:])


def _roads(mentions: Iterable[Mention]) -> list[Mention]:
    return list(takewhile(lambda one: one.kind == "road", mentions))


def _held_drive(said: Said, evidence: Evidence, places: Sequence[Mention]) -> Held:
    """Hold a length against all phases of some names; a phase shared with others may be in part."""
    own = _phases_of(evidence, places)
    names = {one.name for one in places}
    where = ", ".join(dict.fromkeys(one.name for one in places))
    if not own:
        return Held(None, where)
    lengths = [one.time_spent_s if said.kind == "duration" else one.length_m for one in own]
    alone = [names.issuperset(one.road_names) for one in own]
    longest = sum(lengths)
    shortest = sum(length for length, whole in zip(lengths, alone, strict=True) if whole)
    expected = f"{where}: {shortest:,.0f} to {longest:,.0f} {_UNITS[said.kind]}"
    true = min(max(said.amount, shortest), longest)
    if said.bound == "upper":
        true = shortest
    elif said.bound == "lower":
        true = longest
    single = any(_fits(said, length) for length in lengths)
    return Held(single or _fits(said, true), expected, own[0].p if len(own) == 1 else None)


_UNITS = {"duration": "seconds", "distance": "metres"}


def _fits(said: Said, true: float) -> bool:
    slack = max(_SLACK[said.kind], _SLACK_SHARE * true)
    return fits_length(said.amount, true, slack, said.bound)


def _phases_of(evidence: Evidence, names: Iterable[Mention]) -> list[Phase]:
    """Return the phases in which some names lie, in order."""
    numbers = {spot[0] for one in names for spot in evidence.spots.get(one.name, ())}
    return [evidence.trip.phases[number] for number in sorted(numbers)]


def passed_by(evidence: Evidence, name: str, said: Said) -> Held:
    """Hold a length "after" which a name is reached or passed against when that is so."""
    meta, phases = evidence.trip.meta, evidence.trip.phases
    way = 0.0
    begins: list[float] = []
    for phase in phases:
        begins.append(phase.t_enter_s - meta.t_start_s if said.kind == "duration" else way)
        way += phase.length_m
    begins.append(meta.time_spent_s if said.kind == "duration" else way)
    spots = evidence.spots.get(name, ())
    expected = ", ".join(f"{begins[spot[0]]:,.0f}" for spot in spots[:3])
    expected = f"{name}: after {expected} {_UNITS[said.kind]}"
    if not spots:
        return Held(None, expected)
    for number, kind, _ in spots:
        latest = begins[number + 1] if kind != "road" else begins[number]
        slack = 2 * max(_SLACK[said.kind], _SLACK_SHARE * begins[number])
        if begins[number] - slack <= said.amount <= latest + slack:
            return Held(True, expected, number)
        if said.bound == "upper" and begins[number] <= said.amount + slack:
            return Held(True, expected, number)
        if said.bound == "lower" and begins[number + 1] >= said.amount - slack:
            return Held(True, expected, number)
    return Held(False, expected)
