"""Times, days and parts of the day in a text, held against the start and end of the trip.

    trip from Saturday 4:11 AM to 4:19 AM
    "around 4 AM on a weekday"  ->  clock supported, day contradicted (expected Saturday)

People round: "4 AM" stands for half an hour either way, "4:10" for ten minutes, "4:11" for one.
Seasons and named days are in `claims_calendar`. What no clock or calendar shows ("25:70", "13 PM",
"June 31") is contradicted whatever the trip.
"""

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Literal, NamedTuple

from pipeline.quality.claims_calendar import CALENDAR_WORDS, calendar_claim
from pipeline.quality.evidence import MONTHS, WEEKDAYS, Clock, Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.phrases import phrase_tree
from pipeline.quality.reading import CAPITAL, HINT_DAY, HINT_MONTH, HINT_PART, NUMERIC, Reading
from pipeline.quality.stated import (
    CONTRADICTED,
    NUMBERS,
    SUPPORTED,
    UNVERIFIED,
    Stated,
    number_of,
)
from pipeline.quality.tables import word_tables

_DAY, _LAST_MINUTE = 1440, 59
_MOST_DAYS = 31
_DAYS = dict.fromkeys(MONTHS, _MOST_DAYS) | {"feb": 29, "apr": 30, "jun": 30, "sep": 30, "nov": 30}
# How a time is judged that no clock or calendar shows.
IMPOSSIBLE = "impossible"
# Parts of the day as people use the words, minutes of the day: from, to.
_PARTS = {
    "early morning": (0, 540), "early hours": (0, 480), "small hours": (0, 360), "dawn": (210, 540),
    "predawn": (0, 420), "sunrise": (210, 540), "late morning": (570, 750), "morning": (0, 750),
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
_YEAR = r"(?:,?\s+(?P<{0}>(?:19|20)\d\d)\b)"
_DATE = re.compile(
    rf"(?P<m1>[A-Za-z]{{3,9}})\.?(?:\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR.format('y1')}?"
    rf"|\s+(?P<y3>(?:19|20)\d\d)\b)"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>[A-Za-z]{{3,9}})\b{_YEAR.format('y2')}?",
)
_MONTH_NAMES = word_set(
    "january february march april may june july august september october november december sept"
) | frozenset(MONTHS)
_KINDS_OF_DAY = {"weekend": (5, 6), "weekday": (0, 1, 2, 3, 4), "workday": (0, 1, 2, 3, 4)}
_Bound = Literal["before", "after", "another"]
_SHORT = word_tables().short_form
_BOUNDS = phrase_tree(
    {
        "before": ["by", "before", "until", "till", "no later than", "not later than", "latest"],
        "after": ["after", "past", "from", "since", "later than"],
    },
    short_form=_SHORT,
    reverse=True,
)
# Words before a part of the day or a day that make it another one, or a greeting.
_OTHER = phrase_tree(
    {
        True: ["good", "last", "tomorrow", "yesterday", "next", "every", "each", "all", "before",
               "until", "till", "by", "since", "any", "not", "no", "per", "the other", "previous",
               "rather than", "not on a", "instead of", "happy", "merry", "like"]
    },
    short_form=_SHORT,
    reverse=True,
)  # fmt: skip
_ROUND = frozenset({"about", "around", "at", "approximately", "roughly"})
_NO_PART_AFTER = frozenset({"club", "clubs", "life", "bus", "shift", "out", "person", "market"})
_BETWEEN_PART = frozenset({"weekday", "weekend", "on", "of", *WEEKDAYS})
# Minutes: how far off a bound may be and still say something, and what rounding it bears.
_FURTHEST_BOUND, _BOUND_SLACK = 180, 5
_PART_TREE = phrase_tree(
    {part: [part, f"{part}s"] for part in _PARTS}, short_form={}, reverse=False
)


class ClockWords(NamedTuple):
    """Words that hint at a claim on the clock."""

    parts: frozenset[str]
    days: frozenset[str]
    months: frozenset[str]


CLOCK_WORDS = ClockWords(
    parts=frozenset(_PART_TREE.root),
    days=frozenset(f"{day}{s}" for day in (*WEEKDAYS, *_KINDS_OF_DAY, "week", "work")
                   for s in ("", "s")) | CALENDAR_WORDS,
    months=_MONTH_NAMES,
)  # fmt: skip


def clock_claim(reading: Reading, number: int, evidence: Evidence, *, asks: bool) -> Stated | None:
    """Return what a text states of the time of the trip from a word on, if anything.

    Where the trip's trace has no clock nothing can be told, and all is unverified.

    Args:
        reading: The text.
        number: The word.
        evidence: The trip's own record.
        asks: Whether it is an instruction.
    """
    flags = reading.words[number].flags
    if flags & (NUMERIC | HINT_MONTH):
        found = _time(reading, number, evidence) or _date(reading, number, evidence)
        if found is not None:
            return found
    if flags & HINT_PART:
        found = _part(reading, number, evidence)
        if found is not None:
            return found
    if not flags & HINT_DAY:
        return None
    return _day(reading, number, evidence) or _year(reading, number, evidence, asks=asks)


def _judged(
    span: tuple[int, int],
    kind: str,
    clock: Clock | None,
    fits: bool | None,
    *,
    phase: int | None = None,
) -> Stated:
    if clock is None or fits is None:
        return Stated(*span, kind, UNVERIFIED, "", "no_clock" if clock is None else "open")
    verdict = SUPPORTED if fits else CONTRADICTED
    return Stated(*span, kind, verdict, _shown(clock), "clock", phase)


@lru_cache(maxsize=16)
def _shown(clock: Clock) -> str:
    day, month = WEEKDAYS[clock.weekday].capitalize(), MONTHS[clock.month - 1].capitalize()
    hour, minute = divmod(clock.minute, 60)
    return f"a start on {day}, {month} {clock.day}, {clock.year} at {hour}:{minute:02d}"


def _time(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    match = _TIME.match(reading.text, reading.starts[number])
    if match is None:
        after = [word.canonical for word in reading.words[number + 1 : number + 4]]
        if _SPOKEN_AFTER.isdisjoint(after):
            return None
        match = _SPOKEN.match(reading.text, reading.starts[number])
        asked = None if match is None else _spoken(reading, number, match)
    elif _is_of_no_clock(match):
        return Stated(*match.span(), "clock", CONTRADICTED, "a time of some day", IMPOSSIBLE)
    else:
        asked = _minute_of(match)
    if match is None or asked is None or _is_half(reading, number):
        return None
    minute, tolerance, cycle = asked
    phase: int | None = None
    clock = evidence.clock
    if clock is None:
        return _judged(match.span(), "clock", None, None)
    start, lasts = clock.minute, evidence.trip.meta.duration_s / 60
    end = number
    while end and reading.words[end - 1].canonical in _ROUND:
        end -= 1
    match _BOUNDS.before(reading.words, end, max(0, end - 3)):
        case "before":
            slack = min(tolerance, _BOUND_SLACK)
            fits = (minute + slack - start - lasts) % cycle <= _FURTHEST_BOUND + slack
            phase = evidence.last
        case "after":
            slack = min(tolerance, _BOUND_SLACK)
            fits = (start - minute + slack) % cycle <= _FURTHEST_BOUND + slack
            phase = 0
        case _:
            fits = (minute - start + tolerance) % cycle <= lasts + 2 * tolerance
    return _judged(match.span(), "clock", clock, fits, phase=phase)


def _is_half(reading: Reading, number: int) -> bool:
    """Tell whether "half" stands before an hour: "half seven" is 6:30 to some, 7:30 to others."""
    return number > 0 and reading.words[number - 1].canonical == "half"


def _is_of_no_clock(match: re.Match[str]) -> bool:
    """Tell whether figures are no time of any day; 24:00 and 0:30 AM are."""
    if match["minute"] and int(match["minute"]) > _LAST_MINUTE:
        return True
    if match["hour"]:
        hour = int(match["hour"])
        return hour > 12 or (hour == 0 and match["half"].lower() == "p")
    if match["h24"]:
        hour, minute = int(match["h24"]), int(match["m24"])
        return minute > _LAST_MINUTE or 60 * hour + minute > _DAY
    return bool(match["clock"]) and match["clock"].isdecimal() and int(match["clock"]) > 24


def _minute_of(match: re.Match[str]) -> tuple[int, float, int] | None:
    """Return the minute of the day, what it is rounded by, and after how many it comes again."""
    part = match.groupdict()
    if part["hour"]:
        hour, minute = int(part["hour"]), int(part["minute"] or 0)
        asked = hour % 12 * 60 + minute + (720 if part["half"].lower() == "p" else 0)
        return asked, _rounding(minute, exact=bool(part["minute"])), _DAY
    if part["h24"]:
        hour, minute = int(part["h24"]), int(part["m24"])
        cycle = _DAY if hour > 12 or part["h24"].startswith("0") else 720
        return hour * 60 + minute, _rounding(minute, exact=True), cycle
    word = (part["clock"] or part["word"]).lower()
    said = int(word) if word.isdecimal() else NUMBERS.get(word, 0)
    if part["clock"] and word.isdecimal() and not 1 <= said <= 12:
        return said * 60, 30, _DAY  # "15 o'clock"
    if not 1 <= said <= 12:
        return None
    if part["clock"]:
        return said % 12 * 60, 30, 720
    later = part["part"].lower() != "morning"
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


def _part(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    words = reading.words
    found = _PART_TREE.after(words, number)
    if found is None:
        # "early weekday morning", "late Friday night"
        second = number + 2
        if second >= len(words) or words[number + 1].canonical not in _BETWEEN_PART:
            return None
        end, part = second + 1, f"{words[number].canonical} {words[second].canonical}"
        if part not in _PARTS:
            return None
    else:
        end, part = found
    if _is_another(reading, number, end) or (
        end < len(words) and words[end].canonical in _NO_PART_AFTER
    ):
        return None
    clock = evidence.clock
    fits = None
    if clock is not None:
        begins, ends = _PARTS[part]
        lasts = evidence.trip.meta.duration_s / 60
        fits = (clock.minute + lasts - begins) % _DAY <= ends - begins + lasts
        fits = None if part == "rush hour" and fits else fits
    return _judged((reading.starts[number], reading.end(end - 1)), "part_of_day", clock, fits)


def _day(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    words = reading.words
    word, end = words[number].canonical.removesuffix("s"), number + 1
    if word in {"week", "work"}:  # "week-end"
        if end == len(words) or reading.gap(end) != "-":
            return None
        word, end = word + words[end].canonical.removesuffix("s"), end + 1
    if _is_another(reading, number, end) or (word not in _KINDS_OF_DAY and word not in WEEKDAYS):
        return None
    clock = evidence.clock
    fits = None
    if clock is not None:
        days = {clock.weekday}
        if clock.minute < 360 and any(other.canonical == "night" for other in words):
            days.add((clock.weekday - 1) % 7)  # "Saturday night" at two on Sunday
        asked = _KINDS_OF_DAY.get(word) or (WEEKDAYS.index(word),)
        friday_evening = word == "weekend" and clock.weekday == 4 and clock.minute >= 1020
        fits = friday_evening or not days.isdisjoint(asked)
    return _judged((reading.starts[number], reading.end(end - 1)), "day", clock, fits, phase=0)


def _year(reading: Reading, number: int, evidence: Evidence, *, asks: bool) -> Stated | None:
    """Return what a text states of a season or a named day."""
    clock = evidence.clock
    dated = calendar_claim(reading, number, clock, evidence, asks=asks)
    if dated is None or _is_another(reading, number, dated.end):
        return None
    span = reading.starts[number], reading.end(dated.end - 1)
    return _judged(span, "date", clock, dated.fits, phase=0)


def _is_another(reading: Reading, number: int, end: int) -> bool:
    """Tell whether a day or a part of it is not the trip's: "tomorrow morning", "Good evening"."""
    if _OTHER.before(reading.words, number, max(0, number - 3)):
        return True
    greets = number == 0 and end == 1 and reading.gap(end)[:1] in {",", "!"}
    return greets and reading.words[0].canonical in {"morning", "afternoon", "evening"}


def _date(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    match = _DATE.match(reading.text, reading.starts[number])
    if match is None:
        return None
    part = match.groupdict()
    month = (part["m1"] or part["m2"]).lower()
    day, year = part["d1"] or part["d2"], part["y1"] or part["y2"] or part["y3"]
    if month not in _MONTH_NAMES:
        return None
    if part["m1"] and not reading.words[number].flags & CAPITAL:
        return None  # "may 3 of us"
    if day and not 1 <= int(day) <= _DAYS[month[:3]]:
        if part["d2"] and int(day) > _MOST_DAYS:
            return None  # "45 March Street"
        return Stated(*match.span(), "date", CONTRADICTED, "a day of that month", IMPOSSIBLE)
    clock = evidence.clock
    fits = clock is not None and (
        MONTHS.index(month[:3]) + 1 == clock.month
        and (day is None or int(day) == clock.day)
        and (year is None or int(year) == clock.year)
    )
    return _judged(match.span(), "date", clock, fits, phase=0)
