"""Small grammar: lists, articles, sentences, clock times and durations as people round them.

in_a_row(["take A", "head west", "stop"])      ->  "take A, head west and stop"
rounded_duration(495.0)                        ->  "8 minutes"
rounded_clock("Saturday, Jun 14, 2014 at 4:11 AM")  ->  "4:10 AM"
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# A longer name would not fit the texts' limits; nobody says one that long either.
LONGEST_NAME = 80
_NEVER_IN_TEXT = ("\N{EM DASH}", "\N{HORIZONTAL BAR}", ";", "  ", "(", "[")
_CLOCK = re.compile(r" at (\d{1,2}):(\d{2}) ([AP])M$")
_ENDS = (".", "!", "?")


@lru_cache(1 << 16)  # the same names come in thousands of trips
def sayable(name: str) -> bool:
    """Tell whether a proper name can stand in a text as it is spelt.

    Not where it holds what no text may hold (an em-dash, a semicolon, a double space, a line break
    or another control character) or nobody says (brackets), is blank at an end, or is longer than
    people say.
    """
    if name.isascii() and name.isprintable():
        plain = not any(mark in name for mark in (";", "  ", "(", "["))
    else:
        plain = not any(mark in name for mark in _NEVER_IN_TEXT) and not any(
            unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in name
        )
    return plain and bool(name) and name == name.strip() and len(name) <= LONGEST_NAME


def in_a_row(parts: Sequence[str], word: str = "and") -> str:
    """Join parts as a list; parts that hold "and" or a comma themselves get commas between."""
    if len(parts) < 2:
        return "".join(parts)
    inner = any(f" {word} " in part or ", " in part for part in parts)
    comma = "," if inner else ""
    return f"{', '.join(parts[:-1])}{comma} {word} {parts[-1]}"


def roads_in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Return ways to say roads in the order driven; the first one fits inside any sentence."""
    if len(names) == 1:
        return (names[0],)
    if len(names) == 2:
        first, second = names
        return (f"{first} and then {second}", f"{first} and {second}", f"{first}, then {second}")
    before, last = ", ".join(names[:-1]), names[-1]
    return (
        f"{before} and then {last}",
        f"{before} and {last}",
        f"{before}, then {last}",
        ", then ".join(names),
    )


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it."""
    starts = noun.casefold()
    vowel = starts.startswith(("a", "e", "i", "o", "u", "hour", "honest"))
    vowel = vowel and not starts.startswith(("uni", "use", "eu", "one"))
    return f"{'an' if vowel else 'a'} {noun}"


def without_article(phrase: str) -> str:
    """Return a noun phrase without a leading "a", "an" or "the"."""
    first, _, rest = phrase.partition(" ")
    return rest if rest and first in {"a", "an", "the"} else phrase


def capital(text: str) -> str:
    """Return text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def ended(text: str, names: Sequence[str]) -> str:
    """Return text with one mark at each end of a sentence: a name that brings its own keeps it.

    Args:
        text: A finished text.
        names: The proper names in it that end in a full stop or another such mark.
    """
    for name in names:
        text = text.replace(f"{name}...", f"{name}\0").replace(f"{name}.", name)
        text = text.replace(f"{name}\0", f"{name}...")
    return text


def ends_in_mark(name: str) -> bool:
    """Tell whether a name brings its own full stop ("Main Str.")."""
    return name.endswith(_ENDS)


class Clock(NamedTuple):
    """When a trip starts: `exact` "4:11 AM", `rounded` "4:10 AM", `day` "Saturday"."""

    exact: str
    rounded: str
    day: str
    date: str


def clock_of(start_time: str) -> Clock | None:
    """Return the clock of a start time worded as in Listing 1; None where it is no such text."""
    found = _CLOCK.search(start_time)
    day, comma, date = start_time[: found.start() if found else 0].partition(", ")
    if not found or not comma:
        return None
    hour, minute, half = int(found[1]) % 12, int(found[2]), 12 * (found[3] == "P")
    minutes = 60 * (hour + half) + 5 * round(minute / 5)
    return Clock(f"{found[1]}:{found[2]} {found[3]}M", _clock_words(minutes), day, date)


def _clock_words(minutes: int) -> str:
    hour, minute = divmod(minutes % 1440, 60)
    past = f":{minute:02d}" if minute else ""
    return f"{hour % 12 or 12}{past} {'PM' if hour >= 12 else 'AM'}"


def rounded_duration(seconds: float) -> str:
    """Return a duration as people round it: to ten seconds, minutes, five minutes, or hours."""
    if seconds < 55:
        return f"{max(10, 10 * round(seconds / 10))} seconds"
    minutes = round(seconds / 60)
    if minutes > 20:
        minutes = 5 * round(seconds / 300)
    hours, minutes = divmod(max(minutes, 1), 60)
    parts = [_counted(hours, "hour")] if hours else []
    parts += [_counted(minutes, "minute")] if minutes else []
    return " and ".join(parts)


def rounded_distance(metres: float) -> str:
    """Return a distance as people round it: to fifty metres, to half kilometres, to kilometres."""
    if metres < 975:
        return f"{max(50, 50 * round(metres / 50))} metres"
    halves = round(metres / 500)
    if halves >= 20 or halves % 2 == 0:
        return _counted(round(metres / 1000) if halves >= 20 else halves // 2, "kilometre")
    return f"{halves // 2}.5 kilometres"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
