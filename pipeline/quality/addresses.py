"""Find house numbers beside the roads a text names: no record of a trip bears one out.

    "Simonkatu 8 B, please."                    ->  "8 B"
    "12 Boulevard Charles III", "Rue Plati, number 27"  ->  "12", "27"
    "Simonkatu 8 minutes on", "Simonkatu at 8"  ->  none

They stay open, for the verifier to judge. Paper: A.3.6 (only what is in the data).
"""

from collections.abc import Iterator, Sequence

from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found
from pipeline.quality.reading import CAPITAL, COMMON, DIGIT, FUNCTION, Reading

_NUMBER = word_set("number no nr num nro")
# Before a number these make it a time, a count or another thing's number.
_OTHER_BEFORE = word_set(
    "before after until till around about than exit gate line bus tram platform terminal within"
    " under almost nearly roughly some level floor between route phone plate room flat pier"
)
_OF_ROAD = word_set("on of along in")
_MOST_DIGITS = 3
# Words from a name at which its number may stand: "number 5 on Kaivokatu".
_REACH = 2


def house_numbers(
    reading: Reading, found: Sequence[Found], *, types: frozenset[str]
) -> list[Found]:
    """Return the house numbers beside the names of a text, as words that stay open.

    Args:
        reading: The text.
        found: Its names.
        types: Words for kinds of roads. A number goes before a name that begins with one.
    """
    numbers: list[tuple[int, int]] = []
    for digit in reading.claims:
        if reading.words[digit].flags & DIGIT:
            for one in found:
                if one.first - _REACH <= digit < one.end + _REACH and _is_road(one):
                    numbers += (*_after(reading, one), *_before(reading, one, types))
    return [Found(first, end, [], "doubtful") for first, end in dict.fromkeys(numbers)]


def _is_road(one: Found) -> bool:
    return any("road" in candidate.name.sites for candidate in one.candidates)


def _after(reading: Reading, one: Found) -> Iterator[tuple[int, int]]:
    words, here = reading.words, one.end
    if here == len(words) or here in reading.sentences:
        return
    gap = reading.gap(here)
    marked = words[here].canonical in _NUMBER and gap in {" ", ", "}
    if marked and here + 1 < len(words) and reading.gap(here + 1) in {" ", ". ", ".", " #"}:
        here += 1
    elif gap not in {" ", " #"}:
        return
    if not _is_number(reading, here):
        return
    end = here + 1
    if end < len(words) and reading.gap(end) == " " and _is_door(reading, end):
        end += 1
    if marked or _ends_there(reading, end):
        yield here, end


def _before(reading: Reading, one: Found, types: frozenset[str]) -> Iterator[tuple[int, int]]:
    here = one.first - 1
    if here > 0 and reading.words[here].canonical in _OF_ROAD and _marked(reading, here - 1):
        yield here - 1, here  # "number 5 on Kaivokatu"
        return
    if here < 0 or reading.gap(one.first) not in {" ", ", "} or not _is_number(reading, here):
        return
    before = reading.words[here - 1].canonical if here and here not in reading.sentences else ""
    leads = reading.gap(one.first) == " " and reading.words[one.first].canonical in types
    if _marked(reading, here) or (leads and before not in _OTHER_BEFORE):
        yield here, here + 1


def _marked(reading: Reading, number: int) -> bool:
    return (
        number > 0
        and reading.words[number - 1].canonical in _NUMBER
        and (number == 1 or reading.words[number - 2].canonical not in _OTHER_BEFORE)
        and _is_number(reading, number)
    )


def _is_number(reading: Reading, number: int) -> bool:
    """Tell whether a word is a number as doors have it: "8", "27", "8B"."""
    word = reading.words[number]
    if not word.flags & DIGIT:
        return False
    digits = word.canonical.rstrip("abcdefgh")
    return (
        digits.isdigit()
        and len(digits) <= _MOST_DIGITS
        and len(word.canonical) - len(digits) <= 1
        and digits[0] != "0"
        and word.after[:1] not in {":", "%"}
    )


def _is_door(reading: Reading, number: int) -> bool:
    word = reading.words[number]
    return bool(word.flags & CAPITAL) and word.size == 1


def _ends_there(reading: Reading, end: int) -> bool:
    """Tell whether a number is followed by nothing that it counts: no unit, no noun."""
    if end == len(reading.words):
        return True
    gap, word = reading.gap(end), reading.words[end]
    if gap != " ":
        return not gap.startswith((".", ",")) or not word.flags & DIGIT or " " in gap
    return bool(word.flags & FUNCTION and word.flags & COMMON) and not word.flags & CAPITAL
