"""Seasons, months, years and named days in a text, held against the date on which the trip starts.

    trip on Tuesday, Jan 30, 2024 in Helsinki
    "Summer evening trips"  ->  contradicted,  "a winter's night"  ->  supported
    "New Year's Eve trips"  ->  contradicted,  "one evening in July"  ->  contradicted
    "30.1.2024"             ->  supported,     "a trip of 2019"       ->  contradicted

South of the equator the seasons are half a year apart, and near it nobody can tell them. Around the
days on which a season begins both may be meant, and of feasts that move only their window is known:
there a claim stays open.
"""

import re
from datetime import date, timedelta
from typing import NamedTuple

from pipeline.quality.evidence import WEEKDAYS, Clock, Evidence
from pipeline.quality.folding import folded_words, word_set
from pipeline.quality.phrases import phrase_tree
from pipeline.quality.reading import CAPITAL, Reading
from pipeline.quality.tables import word_tables

# Days as 100 times the month and the day of the month.
_Days = tuple[int, int]


class _Time(NamedTuple):
    """A time of the year.

    Attributes:
        sure: First and last day that are of it, whoever speaks.
        open: First and last day that may be.
        kind: `day` says a day wherever it stands, `feast` only before a word of time ("Easter
            trips"), `month` too, `season` and `solstice` too, and they depend on the hemisphere.
    """

    sure: _Days
    open: _Days
    kind: str


def _day(day: int) -> _Time:
    return _Time((day, day), (day, day), "day")


def _month(month: int) -> _Time:
    days = 100 * month + 1, 100 * month + 31
    return _Time(days, days, "month")


_NAMED = {
    _Time((301, 531), (215, 621), "season"): ["spring", "springtime"],
    _Time((601, 831), (520, 922), "season"): ["summer", "summertime"],
    _Time((901, 1130), (820, 1221), "season"): ["autumn", "fall"],
    _Time((1201, 229), (1115, 321), "season"): ["winter", "wintertime"],
    _Time((619, 626), (617, 628), "solstice"): ["midsummer", "midsummer eve", "midsummer s eve",
                                             "midsummer day", "midsummer night"],
    _Time((1224, 1226), (1215, 106), "feast"): ["christmas", "xmas"],
    _Time((0, 0), (320, 430), "feast"): ["easter"],
    _Time((1231, 101), (1231, 101), "feast"): ["new year", "new year s"],
    _day(1231): ["new year s eve", "new years eve", "new year eve"],
    _day(101): ["new year s day", "new years day"],
    _day(106): ["epiphany"],
    _day(214): ["valentine s day", "valentine s", "valentines day", "valentine s night",
                "valentine s evening"],
    _day(308): ["international women s day", "women s day"],
    _day(317): ["st patrick s day"],
    _day(401): ["april fools day", "april fool s day"],
    _day(430): ["walpurgis night", "may day eve", "may eve"],
    _day(501): ["may day"],
    _day(714): ["bastille day"],
    _day(1031): ["halloween", "hallowe en"],
    _day(1224): ["christmas eve", "xmas eve"],
    _day(1225): ["christmas day", "xmas day"],
    _day(1226): ["boxing day", "st stephen s day"],
}  # fmt: skip
_MONTHS = folded_words(
    "january february march april may june july august september october november december"
)
_NAMED |= {_month(number): [name, name[:3]] for number, name in enumerate(_MONTHS, 1)}
_TREE = phrase_tree(_NAMED, short_form=word_tables().short_form, reverse=False)
CALENDAR_WORDS = frozenset(_TREE.root)
# Words before which a season or a feast is the time of something.
_TIMES = word_set(
    "morning mornings afternoon afternoons evening evenings night nights day days weekend weekends "
    "weekday weekdays week weeks month months trip trips drive drives ride rides journey journeys "
    "outing outings departure departures"
) | frozenset((*WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)))
_WHEN = frozenset({"in", "during", "this", "since"})
_BETWEEN = word_set("the early late mid high deep")
_GOING_ON = word_set("and or but from to with that which on at by along via through the a it")
_IS = frozenset({"s", "is", "was"})
# Days of the year in figures: "30.1.2024", "2024-01-30", "1/30/24".
_FIGURES = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{2,4})(?![\d./-]*\d)")
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHORT_YEAR, _YEAR, _CENTURY = 2, 4, 2000
# Degrees of latitude between which seasons are not those of the calendar.
_TROPICS = 23.5
_SMALL_HOURS = 360


class Dated(NamedTuple):
    """A time of the year in a text: the word after it, and whether the trip fits; None: open."""

    end: int
    fits: bool | None


def calendar_claim(
    reading: Reading, number: int, clock: Clock | None, evidence: Evidence, *, asks: bool
) -> Dated | None:
    """Return what a text states of the time of the year at a word, if anything.

    Args:
        reading: The text.
        number: The word.
        clock: When the trip starts; None where nobody knows.
        evidence: The trip's own record.
        asks: Whether it is an instruction, in which "nice in summer" says nothing of today.
    """
    found = _TREE.after(reading.words, number)
    if found is None:
        return None
    end, time = found
    if time.kind == "month" and not reading.words[number].flags & CAPITAL:
        return None  # "may", "march"
    sure = _is_time_of_trip(reading, end)
    if time.kind != "day" and not sure and not _is_when(reading, number, end):
        return None
    fits = None if clock is None else _fits(time, clock, evidence)
    if fits is False and asks and not sure and time.kind != "day":
        fits = None
    return Dated(end, fits)


def year_claim(reading: Reading, number: int, clock: Clock | None, *, asks: bool) -> Dated | None:
    """Return what a text states of the year: "in 2019", "the summer of 2019"; None for nothing.

    Arguments as in `calendar_claim`.
    """
    words = reading.words
    said = words[number].canonical
    if len(said) != _YEAR or said[:2] not in _CENTURIES or not said.isdecimal() or not number:
        return None
    before, end = words[number - 1].canonical, number + 1
    if before == "of":
        if number < 2 or words[number - 2].canonical not in _OF_YEAR:
            return None
    elif before == "year" and number > 1:
        before = words[number - 3].canonical if number > 2 else ""
    if before not in _IN_YEAR or reading.breaks(number):
        return None
    if end < len(words) and not reading.breaks(end) and words[end].canonical not in _GOING_ON:
        return None  # "in 2019 metres"
    fits = None if clock is None else clock.year == int(said)
    return Dated(end, None if asks and fits is False else fits)


_CENTURIES, _IN_YEAR = frozenset({"19", "20"}), frozenset({"in", "during", "of"})
_OF_YEAR = CALENDAR_WORDS | {"year"}


class Figures(NamedTuple):
    """A date in figures: the character after it, and whether the trip is on it.

    Attributes:
        end: Character after it.
        is_possible: Whether there is such a day.
        fits: Whether the trip starts on it, whichever of its figures is the month.
    """

    end: int
    is_possible: bool
    fits: bool


def date_in_figures(reading: Reading, number: int, clock: Clock | None) -> Figures | None:
    """Return the date that figures tell from a word on; None for other figures."""
    match = _FIGURES.match(reading.text, reading.starts[number])
    if match is None:
        return None
    first, mark, second, last = match.groups()
    if len(first) == _YEAR:
        first, last = last, first
        orders = [(int(second), int(first))]
    else:
        orders = [(int(second), int(first))]
        if mark != ".":
            orders.append((int(first), int(second)))
    is_full = len(last) == _YEAR and last[:2] in _CENTURIES
    if len(first) > 2 or not (is_full or (len(last) == _SHORT_YEAR and mark != "-")):
        return None
    days = [
        (month, day)
        for month, day in orders
        if 1 <= month <= len(_MOST_DAYS) and 1 <= day <= _MOST_DAYS[month - 1]
    ]
    if not days and not is_full:
        return None
    year = int(last) if is_full else _CENTURY + int(last)
    fits = clock is not None and clock.year == year and (clock.month, clock.day) in days
    return Figures(match.end(), bool(days), fits)


def _is_time_of_trip(reading: Reading, end: int) -> bool:
    """Tell whether a word of time follows: "summer evening trips", "a winter's night"."""
    words, count = reading.words, len(reading.words)
    if end < count and words[end].canonical == "s" and reading.gap(end) in {"'", "’"}:
        end += 1
    return end < count and not reading.breaks(end) and words[end].canonical in _TIMES


def _is_when(reading: Reading, number: int, end: int) -> bool:
    """Tell whether a season is when something is: "in early summer", "it's winter", "is here"."""
    words = reading.words
    after = [word.canonical for word in words[end : end + 2]]
    if len(after) == 2 and after[0] in _IS and after[1] == "here":
        return True
    first = number
    while first and words[first - 1].canonical in _BETWEEN:
        first -= 1
    if not first or reading.breaks(first):
        return False
    # "In the fall of the road", "in winter tyres": a noun that follows is what is spoken of.
    ends = end == len(words) or bool(reading.breaks(end)) or words[end].canonical in _GOING_ON
    return words[first - 1].canonical in _WHEN | _IS and ends


def _fits(time: _Time, clock: Clock, evidence: Evidence) -> bool | None:
    """Tell whether a trip is at a time of the year; None where nobody can tell."""
    today = date(clock.year, clock.month, clock.day)
    days = [today, today - timedelta(days=1)] if clock.minute < _SMALL_HOURS else [today]
    told = [_held(time, 100 * day.month + day.day) for day in days]
    if time.kind in {"season", "solstice"}:
        places = evidence.trip.places
        if not places or abs(places[0].lat) < _TROPICS:
            other = _held(time, 100 * ((clock.month + 5) % 12 + 1) + clock.day)
            return True if True in told else False if {other, told[0]} == {False} else None
        if places[0].lat < 0:
            told = [_held(time, 100 * ((clock.month + 5) % 12 + 1) + clock.day)]
    return True if True in told else None if None in told else False


def _held(time: _Time, day: int) -> bool | None:
    if _within(day, time.sure):
        return True
    return None if _within(day, time.open) else False


def _within(day: int, days: _Days) -> bool:
    first, last = days
    return first <= day <= last if first <= last else day >= first or day <= last
