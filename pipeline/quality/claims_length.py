"""Durations, distances and numbers of streets in a text, held against the trip's own measures.

    trip of 8 min 15 sec and 3.1 km over 7 named roads
    "about 8 minutes" supported, "under five minutes" contradicted, "3 km" supported

People round: a minute or a fifth either way, a quarter of the way. What is said of one place or
road is held against it (`claims_stretch`); what is said of a meeting claims nothing of the trip.
"""

import re
from collections.abc import Sequence
from typing import Literal

from pipeline.quality.claims_stretch import (
    Bound,
    Held,
    Said,
    drive_claim,
    fits_length,
    halt_claim,
    lead_of,
    passed_by,
)
from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.phrases import PhraseTree, phrase_tree
from pipeline.quality.reading import CAPITAL, DIGIT, NUMERIC, Reading
from pipeline.quality.stated import (
    CONTRADICTED,
    NUMBER,
    SUPPORTED,
    UNVERIFIED,
    Stated,
    number_of,
)
from pipeline.quality.tables import word_tables
from pipeline.records import Mention

_HALF = r"(?P<half>\s+and\s+(?:a\s+half|a\s+quarter|three\s+quarters))?"
_LENGTH = re.compile(
    rf"(?:(?P<number>{NUMBER}){_HALF}[\s-]*(?:"
    r"(?P<time>minutes?|mins?|hours?|hrs?|seconds?|secs?)"
    rf"(?:\s+(?:and\s+)?(?P<more>{NUMBER})\s*(?P<finer>minutes?|mins?|seconds?|secs?))?"
    r"|(?P<way>kms?|kilomet(?:er|re)s?|met(?:er|re)s?|m|miles?)(?!\s*/|\s*per\b|\s+an\s+hour)"
    r"|(?:(?:different|named|separate|main)\s+)*(?P<count>streets|roads|districts|neighbou?rhoods)"
    r")|(?P<fraction>half|three\s+quarters|quarter)\s+(?:of\s+)?an?\s+"
    r"(?P<whole>hour|minute|kilomet(?:er|re)|km|mile))\b",
    re.IGNORECASE,
)
# Units of which one is told without a number: "an hour and a half", "a mile".
UNITS = frozenset({"hour", "kilometre", "kilometer", "km", "mile"})
_ONE = re.compile(
    rf"(?P<number>an?)\s+(?:(?P<time>hour)|(?P<way>kilomet(?:er|re)|km|mile))\b(?!\s*/){_HALF}"
    rf"(?:\s+(?:and\s+)?(?P<more>{NUMBER})\s*(?P<finer>minutes?|mins?|seconds?|secs?)\b)?"
    r"(?P<whole>(?!))?(?P<fraction>(?!))?(?P<count>(?!))?",
    re.IGNORECASE,
)
_A = frozenset({"a", "an"})
# Words before "an hour" that make a speed, a rate or a fraction of it.
_NOT_ONE = word_set(
    "half quarter quarters of km kms kmh kilometre kilometres kilometer kilometers mile miles "
    "metres meters times once twice such what quite many by"
)
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "three": 0.75}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_METRES = {"k": 1000.0, "m": 1.0, "mile": 1609.344}
_BOUNDS: PhraseTree[Bound] = phrase_tree(
    {
        "upper": ["less than", "under", "within", "at most", "at the most", "no more than",
                  "no longer than", "not more than", "not longer than", "not over", "max",
                  "maximum", "maximum of", "up to", "fewer than", "shorter than", "not even",
                  "inside", "below", "no further than", "no farther than"],
        "lower": ["more than", "over", "at least", "upwards of", "longer than", "no less than",
                  "not less than", "not under", "above", "beyond", "minimum", "minimum of",
                  "further than", "farther than", "exceeding"],
        "near": ["a little over", "a bit over", "just over", "a little under", "just under",
                 "a little more than", "a little less than", "nearly", "almost", "close to",
                 "just short of", "a touch over", "just above", "just below", "a shade over",
                 "a shade under", "not quite"],
        "another": ["every", "each", "per", "wait", "waiting", "waited", "waiting for",
                    "waited for", "been here for", "stop for", "pause for", "pause of",
                    "for the past", "in the past", "for the last", "the last", "the next",
                    "late by", "meeting in", "appointment in", "train in", "flight in",
                    "starts in", "leaves in", "closes in", "opens in", "another", "sleep for",
                    "lose", "losing", "lost", "save", "saves", "kill", "killing", "waste",
                    "wasted", "wasting", "spare"],
    },
    short_form=word_tables().short_form,
    reverse=True,
)  # fmt: skip
_BOUNDS_AFTER: PhraseTree[Bound] = phrase_tree(
    {
        "upper": ["tops", "max", "maximum", "at most", "at the most", "at the outside", "or less",
                  "or fewer", "or under", "or below", "or shorter", "or quicker", "or faster",
                  "and under", "and less", "and below", "or not even that"],
        "lower": ["or more", "or over", "or above", "or two", "or longer", "or upwards", "and more",
                  "and over", "and up", "and upwards", "and longer", "at least", "at the least",
                  "plus", "minimum"],
        "another": ["late", "early", "ago", "away", "behind", "walk", "stop", "break", "pause",
                    "wait", "spare", "ahead", "further", "to kill", "to spare",
                    "to waste", "to burn", "to myself", "to ourselves", "left", "of sleep",
                    "of my life", "s walk"],
    },
    short_form=word_tables().short_form,
    reverse=False,
)  # fmt: skip
_ROUND = frozenset(
    {"about", "around", "approximately", "approx", "roughly", "only", "just", "some"}
)
# "A few hundred metres" and "a hundred miles" are no numbers.
_MANY = frozenset({"hundred", "thousand"})
_VAGUE = frozenset({"few", "several", "many", "of"})
_MANY_STREETS = 100
# What is told "after" a length: the end of the trip, or something passed by then.
_ENDING = word_set(
    "end ends ending ended finish finishes finishing stop stops stopping arrive arrives arriving "
    "arrival over done complete completes last lasts take takes"
)
_PASSING = word_set(
    "turn turns turning pass passes passing reach reaches reaching enter enters entering join "
    "joins joining cross crosses crossing swing swings bear bears bend bends veer veers switch "
    "switches follow follows meet meets"
)
_CLAUSES = frozenset({"and", "then", "before"})
_PART_WORDS = frozenset({"stretch", "section", "part"})
_ALONG = frozenset({"on", "along"})
_SLACK_S, _SLACK_SHARE = 60.0, 0.2
_SLACK_M, _SLACK_WAY = 120.0, 0.25


def length_claim(
    reading: Reading,
    number: int,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    caption: bool,
    asks: bool,
) -> Stated | None:
    """Return what a text states of how long the trip is from a word on, if anything.

    Args:
        reading: The text.
        number: The word: a number, or one of `UNITS` of which there is one.
        evidence: The trip's own record.
        mentions: The names of the text.
        caption: Whether it is the caption.
        asks: Whether it is an instruction, in which "a hundred miles" only says many.
    """
    one = reading.words[number].canonical in UNITS
    match = _one(reading, number) if one else _LENGTH.match(reading.text, reading.starts[number])
    if match is None or _is_vague(reading, number, match, asks=asks):
        return None
    number -= one
    if match["count"]:
        return _count(match, evidence)
    said = _said(reading, number, match)
    meta = evidence.trip.meta
    if said.kind == "duration":
        true, expected = meta.time_spent_s, f"about {meta.time_spent}"
        slack = max(_SLACK_S, _SLACK_SHARE * true)
    else:
        true, expected = meta.length_m, f"about {meta.length_m / 1000:.1f} km"
        slack = max(_SLACK_M, _SLACK_WAY * true)
    halt = halt_claim(reading, said, evidence, mentions, caption=caption)
    if halt is None and said.bound == "another":
        halt = Held(None, expected)
    if halt is not None:
        return _stated(match, said.kind, halt)
    fits = fits_length(said.amount, true, slack, said.bound)
    if said.kind == "duration" and not fits:
        # The paper's total, until the last segment is entered, is as true.
        fits = fits_length(said.amount, meta.duration_s, slack, said.bound)
    part = drive_claim(reading, said, evidence, mentions)
    if part is None and not fits:
        part = _of_part(reading, said, evidence, mentions, most=true + slack)
    of_road = said.first > 0 and reading.words[said.first - 1].canonical == "for"
    if part is not None and (part.fits or not fits or of_road):
        return _stated(match, said.kind, part)
    if one and asks and not (fits or match["half"] or match["more"]):
        return None  # "it feels like an hour"
    return _stated(match, said.kind, Held(fits, expected))


def _one(reading: Reading, number: int) -> re.Match[str] | None:
    """Return what begins with "an hour" or the like, given its unit; None where it is no length."""
    words = reading.words
    if not number or words[number - 1].canonical not in _A:
        return None
    before = words[number - 2] if number > 1 and not reading.breaks(number - 1) else None
    if before is not None and (before.canonical in _NOT_ONE or before.flags & NUMERIC):
        return None  # "50 miles an hour"
    if number + 1 < len(words) and words[number + 1].canonical in _A:
        return None  # "a mile a minute"
    return _ONE.match(reading.text, reading.starts[number - 1])


def _is_vague(reading: Reading, number: int, match: re.Match[str], *, asks: bool) -> bool:
    """Tell whether a number only says "many": "a few hundred metres", "a hundred miles"."""
    if match["number"] is None or match["number"].lower() not in _MANY:
        return False
    before = reading.words[number - 1] if number else reading.words[0]
    if before.canonical in _VAGUE or before.flags & DIGIT:
        return True
    return asks and not (match["way"] or "").lower().startswith("met")


def _said(reading: Reading, number: int, match: re.Match[str]) -> Said:
    """Return a length and what the words around it make of it."""
    words, starts, end, last = reading.words, reading.starts, number, match.end()
    while end < len(words) and starts[end] < last:
        end += 1
    begin = number
    while begin and words[begin - 1].canonical in _ROUND:
        begin -= 1
    bound = _BOUNDS.before(words, begin, max(0, begin - 4))
    if bound is None and begin != number:
        bound = _BOUNDS.before(words, number, max(0, number - 4))
    if end < len(words) and end not in reading.begins:
        after = _BOUNDS_AFTER.after(words, end)
        bound = after[1] if after is not None else bound
        if words[end].canonical == "from" and not _is_capital(reading, end + 1):
            bound = "another"  # "two minutes from the harbour"
    kind: Literal["duration", "distance"] = "duration"
    way = match["way"]
    unit = (way or match["whole"] or "").lower()
    if way or unit[:1] == "k" or unit == "mile":
        kind = "distance"
        amount = _METRES["mile" if unit.startswith("mile") else unit[0]]
        fraction = match["fraction"]
        amount *= _FRACTIONS[fraction.split()[0].lower()] if fraction else _number(match)
    else:
        amount = _seconds(match)
    return Said(kind, amount, bound, lead_of(reading, number), number, end)


def _is_capital(reading: Reading, number: int) -> bool:
    return number >= len(reading.words) or bool(reading.words[number].flags & CAPITAL)


def _stated(match: re.Match[str], kind: str, held: Held) -> Stated:
    if held.fits is None:
        return Stated(*match.span(), kind, UNVERIFIED, "", "of something else")
    verdict = SUPPORTED if held.fits else CONTRADICTED
    return Stated(*match.span(), kind, verdict, held.expected, "measure", held.phase)


def _seconds(match: re.Match[str]) -> float:
    if match["fraction"]:
        return (
            _FRACTIONS[match["fraction"].split()[0].lower()] * _SECONDS[match["whole"][0].lower()]
        )
    seconds = _number(match) * _SECONDS[match["time"][0].lower()]
    if match["more"]:
        seconds += number_of(match["more"]) * _SECONDS[match["finer"][0].lower()]
    return seconds


def _number(match: re.Match[str]) -> float:
    """Return how many units are told, halves included."""
    half = (match["half"] or "").lower()
    more = 0.75 if "three" in half else 0.25 if "quarter" in half else 0.5 if half else 0.0
    number = match["number"].lower()
    return (1.0 if number in _A else number_of(number)) + more


def _of_part(
    reading: Reading,
    said: Said,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    most: float,
) -> Held | None:
    """Return what a length that is not the trip's is as one of a part of it; None for none.

    Args:
        reading: The text.
        said: The length.
        evidence: The trip's own record.
        mentions: The names of the text.
        most: What a part of the trip cannot exceed.
    """
    words = reading.words
    after = [word.canonical for word in words[said.end : said.end + 4]]
    if not _PART_WORDS.isdisjoint(after) or not _ALONG.isdisjoint(after[:2]):
        if said.kind == "duration":
            return _of_phases(said, evidence)
        return Held(None, "") if said.amount <= most else None
    if not said.first or words[said.first - 1].canonical != "after":
        return None
    first, last = _told_after(reading, said)
    told = {word.canonical for word in words[first:last]}
    if not _ENDING.isdisjoint(told) or _PASSING.isdisjoint(told):
        return None
    begin, stop = reading.starts[first], reading.starts[last]
    names = [one.name for one in mentions if begin <= one.start < stop]
    if len(names) == 1:
        return passed_by(evidence, names[0], said)
    return Held(None, "") if said.amount <= most else None


def _of_phases(said: Said, evidence: Evidence) -> Held | None:
    """Hold a duration against single phases; None where none is so long."""
    slack = max(_SLACK_S, _SLACK_SHARE * evidence.trip.meta.time_spent_s)
    for phase in evidence.trip.phases:
        if abs(said.amount - phase.time_spent_s) <= slack:
            return Held(True, f"about {phase.time_spent_s:,.0f} seconds", phase.p)
    return None


def _told_after(reading: Reading, said: Said) -> tuple[int, int]:
    """Return the first word of the clause of "after ..." and the word after its last."""
    count = len(reading.words)
    begin = first = said.first - 1
    while first and first not in reading.begins and not _parts(reading, first):
        first -= 1
    last = said.end
    if begin == first and last < count and "," in reading.gap(last):
        last += 1  # "After 900 metres, it turns"
    while last < count and last not in reading.begins and not _parts(reading, last):
        last += 1
    return first, last


def _parts(reading: Reading, number: int) -> bool:
    """Tell whether a clause ends before a word."""
    return bool(reading.breaks(number)) or reading.words[number - 1].canonical in _CLAUSES


def _count(match: re.Match[str], evidence: Evidence) -> Stated | None:
    said = number_of(match["number"])
    if said >= _MANY_STREETS:
        return None
    roads = match["count"].lower() in {"streets", "roads"}
    count = evidence.named("road" if roads else "district")
    held = Held(said == count, f"{count} by name")
    return _stated(match, "count", held)
