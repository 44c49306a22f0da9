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

from pipeline.quality.claims_calendar import (
    CALENDAR_WORDS,
    calendar_claim,
    date_in_figures,
    year_claim,
)
from pipeline.quality.claims_times import (
    OPENERS,
    PART_TREE,
    PARTS,
    ROUND,
    Moment,
    Window,
    time_at,
    window_at,
)
from pipeline.quality.evidence import MONTHS, WEEKDAYS, Clock, Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.phrases import phrase_tree
from pipeline.quality.reading import CAPITAL, HINT_DAY, HINT_MONTH, HINT_PART, NUMERIC, Reading
from pipeline.quality.stated import (
    CONTRADICTED,
    SUPPORTED,
    UNVERIFIED,
    Stated,
)
from pipeline.quality.tables import word_tables

_DAY, _LAST_MINUTE = 1440, 59
_MOST_DAYS = 31
_DAYS = dict.fromkeys(MONTHS, _MOST_DAYS) | {"feb": 29, "apr": 30, "jun": 30, "sep": 30, "nov": 30}
# How a time is judged that no clock or calendar shows.
IMPOSSIBLE = "impossible"
_YEAR = r"(?:,?\s+(?P<{0}>(?:19|20)\d\d)\b)"
_DATE = re.compile(
    rf"(?P<m1>[A-Za-z]{{3,9}})\.?(?:\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR.format('y1')}?"
    rf"|,?\s+(?P<y3>(?:19|20)\d\d)\b)"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>[A-Za-z]{{3,9}})\b{_YEAR.format('y2')}?",
)
_MONTH_NAMES = word_set(
    "january february march april may june july august september october november december sept"
) | frozenset(MONTHS)
# Short forms of the days. "Sun" and "sat" are words as well.
_SHORT_DAYS = {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "thur": 3, "fri": 4, "sat": 5, "sun": 6}
_NUMBER_OF = _SHORT_DAYS | {day: number for number, day in enumerate(WEEKDAYS)}
_ON = frozenset({"on", "this", "late", "early", "a"})
# "A Sunday driver", "the weekend bag": no day is told.
_NO_DAY_AFTER = word_set(
    "driver drivers driving best roast blues paper papers school clothes feeling mood bag warrior "
    "house home cottage times club market"
)
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
               "rather than", "not on a", "instead of", "happy", "merry", "like", "black", "not on",
               "casual", "cyber", "ash", "palm"]
    },
    short_form=_SHORT,
    reverse=True,
)  # fmt: skip
_BEFORE_WINDOW = OPENERS | ROUND
_LENGTHS = frozenset(
    map(
        word_tables().canonical,
        word_set(
            "minute minutes min mins hour hours km kilometre kilometres kilometer kilometers "
            "metre metres meter meters mile miles second seconds sec secs streets roads"
        ),
    )
)
_SIDES = frozenset({"past", "after", "to", "before"})
_OF_FIGURES = NUMERIC | HINT_MONTH
_DASHES = frozenset({"-", "\u2013", " - "})
_WITHIN_WINDOW = frozenset({"to", "until", "till"})
_IN_DATES = frozenset(".-/")
_NO_PART_AFTER = frozenset({"club", "clubs", "life", "bus", "shift", "out", "person", "market"})
_BETWEEN_PART = frozenset({"weekday", "weekend", "on", "of", *WEEKDAYS})
# Minutes: how far off a bound may be and still say something, and what rounding it bears.
_FURTHEST_BOUND, _BOUND_SLACK = 180, 5


class ClockWords(NamedTuple):
    """Words that hint at a claim on the clock."""

    parts: frozenset[str]
    days: frozenset[str]
    months: frozenset[str]


CLOCK_WORDS = ClockWords(
    parts=frozenset(PART_TREE.root),
    days=frozenset(f"{day}{s}" for day in (*WEEKDAYS, *_KINDS_OF_DAY, *_SHORT_DAYS, "week", "work")
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
    if flags & _OF_FIGURES and not _is_length(reading, number):
        found = _time(reading, number, evidence) or _date(reading, number, evidence, asks=asks)
        if found is not None:
            return found
    if flags & HINT_PART:
        if number and reading.words[number - 1].canonical in OPENERS:
            window = window_at(reading, number)
            if window is not None:
                return _in_window(window, evidence)
        found = _part(reading, number, evidence)
        if found is not None:
            return found
    if not flags & HINT_DAY:
        return None
    return _day(reading, number, evidence) or _year(reading, number, evidence, asks=asks)


def _is_length(reading: Reading, number: int) -> bool:
    """Tell quickly whether a number is one of a length, not of "ten minutes to nine"."""
    words, unit = reading.words, number + 1
    if unit == len(words) or words[unit].canonical not in _LENGTHS:
        return False
    return unit + 1 == len(words) or words[unit + 1].canonical not in _SIDES


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
    moment = time_at(reading, number)
    window = _window(reading, number, moment)
    if window is not None:
        return _in_window(window, evidence)
    if moment is None:
        return None
    span, minute = (moment.start, moment.end), moment.minute
    if not moment.is_possible:
        return Stated(*span, "clock", CONTRADICTED, "a time of some day", IMPOSSIBLE)
    tolerance, cycle = moment.rounding, moment.cycle
    phase: int | None = None
    clock = evidence.clock
    if clock is None:
        return _judged(span, "clock", None, None)
    start, lasts = clock.minute, evidence.trip.meta.time_spent_s / 60
    end = number
    while end and reading.words[end - 1].canonical in ROUND:
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
    return _judged(span, "clock", clock, fits, phase=phase)


def _window(reading: Reading, number: int, moment: Moment | None) -> Window | None:
    """Return the stretch of time that begins at a word, given the time that does."""
    words = reading.words
    if number and words[number - 1].canonical in _BEFORE_WINDOW:
        return window_at(reading, number)
    if moment is None and words[number].after not in _DASHES:
        return None
    # "4 AM to 5 AM", "4-5 AM"
    end = number + 1 if moment is None else bisect_left(reading.starts, moment.end)
    if end >= len(words):
        return None
    joined = reading.gap(end) in _DASHES or words[end].canonical in _WITHIN_WINDOW
    return window_at(reading, number) if joined else None


def _in_window(window: Window, evidence: Evidence) -> Stated:
    """Hold a stretch of time against the trip: some of it must lie within."""
    clock, lasts = evidence.clock, evidence.trip.meta.time_spent_s / 60
    fits = None
    if clock is not None:
        after = clock.minute + lasts - window.first + _BOUND_SLACK
        fits = after % window.cycle <= window.last - window.first + lasts + 2 * _BOUND_SLACK
    return _judged((window.start, window.end), "clock", clock, fits)


def _part(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    words = reading.words
    found = PART_TREE.after(words, number)
    if found is None:
        # "early weekday morning", "late Friday night"
        second = number + 2
        if second >= len(words) or words[number + 1].canonical not in _BETWEEN_PART:
            return None
        end, part = second + 1, f"{words[number].canonical} {words[second].canonical}"
        if part not in PARTS:
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
        begins, ends = PARTS[part]
        lasts = evidence.trip.meta.time_spent_s / 60
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
    if word not in _KINDS_OF_DAY and word not in WEEKDAYS and not _is_short(reading, number, word):
        return None
    follows = end < len(words) and not reading.breaks(end)
    if _is_another(reading, number, end) or (follows and words[end].canonical in _NO_DAY_AFTER):
        return None
    clock = evidence.clock
    fits = None
    if clock is not None:
        days = {clock.weekday}
        if clock.minute < 360 and any(other.canonical == "night" for other in words):
            days.add((clock.weekday - 1) % 7)  # "Saturday night" at two on Sunday
        asked = _KINDS_OF_DAY.get(word) or (_NUMBER_OF[word],)
        friday_evening = word == "weekend" and clock.weekday == 4 and clock.minute >= 1020
        fits = friday_evening or not days.isdisjoint(asked)
    return _judged((reading.starts[number], reading.end(end - 1)), "day", clock, fits, phase=0)


def _is_short(reading: Reading, number: int, word: str) -> bool:
    """Tell whether a word is short for a day: "on Fri", "Sat night", "Thu, Feb 8"."""
    words, end = reading.words, number + 1
    if word not in _SHORT_DAYS or not words[number].flags & CAPITAL:
        return False
    following = words[end].flags if end < len(words) else 0
    if following & (HINT_PART | HINT_MONTH):
        return True
    on = number > 0 and words[number - 1].canonical in _ON and not reading.breaks(number)
    name = following & CAPITAL and not reading.breaks(end)
    return on and not name


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


def _date(reading: Reading, number: int, evidence: Evidence, *, asks: bool) -> Stated | None:
    match = _DATE.match(reading.text, reading.starts[number])
    if match is None:
        return _figures(reading, number, evidence, asks=asks)
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


def _figures(reading: Reading, number: int, evidence: Evidence, *, asks: bool) -> Stated | None:
    """Return what figures alone state of the date: "30.1.2024", "in 2019"."""
    clock, start = evidence.clock, reading.starts[number]
    if reading.words[number].after in _IN_DATES:
        figures = date_in_figures(reading, number, clock)
        if figures is None:
            return None
        if not figures.is_possible:
            return Stated(start, figures.end, "date", CONTRADICTED, "a day of a month", IMPOSSIBLE)
        return _judged((start, figures.end), "date", clock, figures.fits, phase=0)
    year = year_claim(reading, number, clock, asks=asks)
    if year is None or _is_another(reading, number - 1, year.end):
        return None
    return _judged((start, reading.end(number)), "date", clock, year.fits, phase=0)
