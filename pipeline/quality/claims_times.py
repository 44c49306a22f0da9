"""Times of the day as texts write them: "4:11 AM", "half past eleven", "between 8 and 9 AM".

    "At half past four"          ->  Moment(3, 17, minute=270, rounding=10, cycle=720)
    "between midnight and 2 AM"  ->  Window(8, 25, first=0, last=120, cycle=1440)

A time without a part of the day comes again after twelve hours. What it means for the trip is in
`claims_clock`.
"""

import re
from bisect import bisect_left
from typing import NamedTuple

import msgspec

from pipeline.quality.folding import word_set
from pipeline.quality.phrases import phrase_tree
from pipeline.quality.reading import Reading
from pipeline.quality.stated import NUMBERS, number_of

_DAY, _LAST_MINUTE = 1440, 59
# Parts of the day as people use the words, minutes of the day: from, to.
PARTS = {
    "early morning": (210, 540), "early hours": (0, 480), "small hours": (0, 360),
    "dawn": (210, 540), "predawn": (0, 420), "sunrise": (210, 540), "late morning": (570, 750),
    "morning": (210, 750),
    "midday": (630, 870), "noon": (630, 870), "lunchtime": (630, 870), "afternoon": (705, 1110),
    "early afternoon": (705, 930), "late afternoon": (870, 1170), "evening": (990, 1440),
    "early evening": (960, 1200), "late evening": (1170, 1440), "tonight": (1050, 1830),
    "dusk": (930, 1380), "sunset": (930, 1380), "late night": (1260, 1740), "night": (1140, 1830),
    "nighttime": (1140, 1830), "overnight": (1260, 1830), "midnight": (1380, 1500),
    "past midnight": (0, 300), "after midnight": (0, 300),
    "daytime": (360, 1260), "middle of the night": (1350, 1740), "rush hour": (390, 1170),
}  # fmt: skip
_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s*(?P<half>[ap])\.?m\b\.?"
    r"|(?P<h24>\d{1,2}):(?P<m24>\d\d)(?!\d)"
    r"|(?P<clock>\w+)\s+o['’]?\s?clock\b"
    r"|(?P<word>\w+)\s+in\s+the\s+(?P<part>morning|afternoon|evening)\b",
    re.IGNORECASE,
)
# "Half past eleven", "ten minutes to nine in the evening", "quarter to midnight"; and hours in
# words with a part of the day: "eleven thirty at night", "four a.m.".
_HOURS = "|".join(sorted((*NUMBERS,)[1:13], key=len, reverse=True))
_SPOKEN = re.compile(
    r"(?:(?P<past>half|quarter|five|ten|twenty[\s-]five|twenty"
    r"|\d{1,2}(?=\s+min|\s+\w+\s+(?:mid|noon)))(?:\s+min(?:ute)?s?)?"
    r"\s+(?P<side>past|after|to|before)\s+)?"
    rf"(?P<hour>{_HOURS}|midnight|noon|\d{{1,2}})\b(?![:.]\d)"
    r"(?:\s+(?P<minute>fifteen|(?:twenty|thirty|forty|fifty)(?:[\s-]five)?|ten)\b)?"
    r"(?:\s+o['’]?\s?clock\b)?"
    r"(?:\s+in\s+the\s+(?P<part>morning|afternoon|evening)\b|\s+at\s+(?P<night>night)\b"
    r"|\s*(?P<m>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_SPOKEN_AFTER = word_set(
    "past after to before morning afternoon evening night in at am pm a p midnight noon"
)
# Words that may follow a time without a part of the day: "ten to nine on a Monday", but not "ten
# to nine minutes".
_AFTER_TIME = word_set(
    "in on at and when already this that sharp or but we i it the from please with"
)
PART_TREE = phrase_tree({part: [part, f"{part}s"] for part in PARTS}, short_form={}, reverse=False)
ROUND = frozenset({"about", "around", "at", "approximately", "roughly"})
# Words that open a stretch of time, and those between its two ends.
OPENERS = frozenset({"between", "from"})
_OPEN = word_set("open opens opened opening closed closes shut works served hours")
_JOINED_BY = {"between": frozenset({"and"}), "from": frozenset({"to", "until", "till"})}
_MOST_HOURS, _HALF_DAY, _HALF_HOUR = 12, 720, 30


class Moment(msgspec.Struct, frozen=True, gc=False):
    """A time in a text.

    Attributes:
        start: First character.
        end: Character after the last.
        minute: Of the day.
        rounding: Minutes it may be rounded by.
        cycle: Minutes after which it comes again.
        is_possible: Whether a clock ever shows it.
    """

    start: int
    end: int
    minute: int
    rounding: float
    cycle: int
    is_possible: bool = True


class Window(msgspec.Struct, frozen=True, gc=False):
    """A stretch of time in a text: where it stands, its first and last minute, and its cycle."""

    start: int
    end: int
    first: int
    last: int
    cycle: int


class _Edge(NamedTuple):
    """One end of a stretch of time: the word after it, from when to when it may be, and its cycle.

    The cycle is 0 where only an hour is told, which the other end makes a time.
    """

    end: int
    low: int
    high: int
    cycle: int
    is_round: bool


def time_at(reading: Reading, number: int) -> Moment | None:
    """Return the time that a text tells from a word on, if it tells one."""
    match = _TIME.match(reading.text, reading.starts[number])
    if match is None:
        after = [word.canonical for word in reading.words[number + 1 : number + 4]]
        if _SPOKEN_AFTER.isdisjoint(after):
            return None
        match = _SPOKEN.match(reading.text, reading.starts[number])
        asked = None if match is None else _spoken(reading, number, match)
    elif _is_of_no_clock(match):
        return Moment(*match.span(), 0, 0.0, _DAY, is_possible=False)
    else:
        asked = _minute_of(match)
    if match is None or asked is None or _is_half(reading, number):
        return None
    return Moment(match.start(), match.end(), *asked)


def window_at(reading: Reading, number: int) -> Window | None:
    """Return the stretch of time that a text tells from a word on: "between 8 and 9 AM".

    From one odd minute to another ("from 8:43 to 8:52") is no stretch in which something lies, but
    when it begins and ends.
    """
    words, begin = reading.words, number
    while begin and words[begin - 1].canonical in ROUND:
        begin -= 1
    opener = words[begin - 1].canonical if begin and not reading.breaks(begin) else ""
    if opener in OPENERS and begin > 1 and words[begin - 2].canonical in _OPEN:
        return None  # "open from ten to noon"
    first = _edge(reading, number)
    if first is None or first.end >= len(words):
        return None
    second = first.end
    if reading.gap(second).strip() not in {"-", "\u2013"}:
        joining = _JOINED_BY.get(opener, _JOINED_BY["from"])
        is_told = opener in OPENERS or bool(first.cycle)
        if words[second].canonical not in joining or not is_told or reading.breaks(second):
            return None
        second += 1
    last = _edge(reading, second)
    if last is None or (opener != "between" and not (first.is_round and last.is_round)):
        return None
    if not first.cycle or not last.cycle:
        return _of_hours(reading, number, first, last)
    cycle = max(first.cycle, last.cycle)
    lasts = (last.high - first.low - 1) % min(first.cycle, last.cycle) + 1
    low = first.low if first.cycle == cycle else last.high - lasts
    return Window(reading.starts[number], reading.end(last.end - 1), low, low + lasts, cycle)


def _of_hours(reading: Reading, number: int, first: _Edge, last: _Edge) -> Window | None:
    """Return a stretch of which one end is an hour alone: "between 8 and 9 AM"."""
    if not last.cycle and not (first.cycle and _may_end(reading, reading.end(last.end - 1))):
        return None  # "between 8 and 9 streets"
    lasts = (last.high - first.low) % _HALF_DAY
    low = first.low if first.cycle else last.high - lasts
    cycle = first.cycle or last.cycle
    return Window(reading.starts[number], reading.end(last.end - 1), low, low + lasts, cycle)


def _edge(reading: Reading, number: int) -> _Edge | None:
    """Return one end of a stretch of time: a time, a part of the day, an hour."""
    words = reading.words
    while number < len(words) and words[number].canonical in ROUND:
        number += 1
    if number >= len(words):
        return None
    part = PART_TREE.after(words, number)
    if part is not None:
        noon = {"midnight": 0, "noon": _HALF_DAY}.get(part[1])
        low, high = PARTS[part[1]] if noon is None else (noon, noon)
        return _Edge(part[0], low, high, _DAY, is_round=True)
    match = _TIME.match(reading.text, reading.starts[number])
    if match is not None:
        asked = None if _is_of_no_clock(match) else _minute_of(match)
        if asked is None:
            return None
        end = bisect_left(reading.starts, match.end(), hi=len(words))
        return _Edge(end, asked[0], asked[0], asked[2], is_round=not asked[0] % _HALF_HOUR)
    word = words[number].canonical
    hour = int(word) if word.isdecimal() else NUMBERS.get(word, 0)
    if not 1 <= hour <= _MOST_HOURS:
        return None
    return _Edge(number + 1, 60 * hour, 60 * hour, 0, is_round=True)


def _is_half(reading: Reading, number: int) -> bool:
    """Tell whether "half" stands before an hour: "half seven" is 6:30 to some, 7:30 to others."""
    return number > 0 and reading.words[number - 1].canonical == "half"


def _is_of_no_clock(match: re.Match[str]) -> bool:
    """Tell whether figures are no time of any day; 24:00 and 0:30 AM are."""
    said_hour, minutes, half, h24, m24, clock, *_ = match.groups()
    if minutes and int(minutes) > _LAST_MINUTE:
        return True
    if said_hour:
        hour = int(said_hour)
        return hour > 12 or (hour == 0 and half in "pP")
    if h24:
        return int(m24) > _LAST_MINUTE or 60 * int(h24) + int(m24) > _DAY
    return bool(clock) and clock.isdecimal() and int(clock) > 24


def _minute_of(match: re.Match[str]) -> tuple[int, float, int] | None:
    """Return the minute of the day, what it is rounded by, and after how many it comes again."""
    said_hour, minutes, half, h24, m24, clock, word, part = match.groups()
    if said_hour:
        hour, minute = int(said_hour), int(minutes or 0)
        asked = hour % 12 * 60 + minute + (720 if half in "pP" else 0)
        return asked, _rounding(minute, exact=bool(minutes)), _DAY
    if h24:
        hour, minute = int(h24), int(m24)
        cycle = _DAY if hour > 12 or h24.startswith("0") else 720
        return hour * 60 + minute, _rounding(minute, exact=True), cycle
    word = (clock or word).lower()
    said = int(word) if word.isdecimal() else NUMBERS.get(word, 0)
    if clock and word.isdecimal() and not 1 <= said <= 12:
        return said * 60, 30, _DAY  # "15 o'clock"
    if not 1 <= said <= 12:
        return None
    if clock:
        return said % 12 * 60, 30, 720
    later = part.lower() != "morning"
    return said % 12 * 60 + 720 * later, 30, _DAY


def _spoken(reading: Reading, number: int, match: re.Match[str]) -> tuple[int, float, int] | None:
    """Return what `_minute_of` does for a time in words; None where they may be none."""
    if not (match["past"] or match["part"] or match["night"] or match["m"]):
        return None
    part = {name: (said or "").lower() for name, said in match.groupdict().items()}
    told = part["part"] or part["night"] or part["m"]
    if number and reading.words[number - 1].canonical in _RANGE:
        return None
    if part["past"] and (part["minute"] or (part["past"] == "half" and part["side"] != "past")):
        return None
    if not told and part["past"] not in {"half", "quarter"} and not _may_end(reading, match.end()):
        return None
    named = {"midnight": 0, "noon": 12}.get(part["hour"])
    hour = int(number_of(part["hour"])) if named is None else named
    if hour > 23 or (told and not 1 <= hour <= 12):
        return None
    away = _MINUTES.get(part["past"]) or (number_of(part["past"]) if part["past"] else 0)
    away = -away if part["side"] in {"to", "before"} else away
    minute = 60 * hour + int(away + (number_of(part["minute"]) if part["minute"] else 0))
    later = part["part"] in {"afternoon", "evening"} or part["m"] == "p"
    later = later or (bool(part["night"]) and hour % 12 >= _NIGHT_FROM)
    if told:
        minute += 720 * later - 720 * (hour == 12)
    is_exact = bool(part["past"] or part["minute"])
    cycle = _DAY if told or named is not None or hour > 12 else 720
    return minute % _DAY, _rounding(minute, exact=is_exact), cycle


_MINUTES = {"half": 30, "quarter": 15}
_RANGE = frozenset({"from", "between", "of", "for", "open"})
# "Six at night" is in the evening, "five at night" before dawn.
_NIGHT_FROM = 6


def _may_end(reading: Reading, end: int) -> bool:
    """Tell whether the words after a time let it be one."""
    after = bisect_left(reading.starts, end)
    if after >= len(reading.words) or reading.breaks(after):
        return True
    return reading.words[after].canonical in _AFTER_TIME


def _rounding(minute: int, *, exact: bool) -> float:
    if not exact:
        return 30
    return 10 if minute % 5 == 0 else 1.5
