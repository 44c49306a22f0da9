"""What a name that breaks a rule in its role may be after all, by more of the words around it.

    "From A it turns onto B"        ->  A is left for B on the way, no start
    "to A, please, and then to B"   ->  A is passed, no end

`roles.py` reads the words next to a name; only where the record denies what they tell are those
farther off looked at. Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence
from typing import Literal

from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found
from pipeline.quality.reading import Reading
from pipeline.quality.roles import FROM, POLITE, TOWARD, WINDOW, NameRole
from pipeline.quality.tables import Role

# Words on the way from a road that is left to the next one, where no drive is told in order.
_TURNING = word_set("onto into turn turning take taking swing swinging switch follow")
_FARTHEST_NEXT = 8
_TURNED = word_set("turn turning turns swing swings swinging bend bends veer veers branch off")
# "To a halt on A" is no end where one of these follows.
_HALT = word_set("halt stop standstill rest")
_AFTER_A_HALT = word_set("for before briefly until while then and again twice")
_PREFERRING = word_set("prefer prefers preferring")
# Roles of a name that a text may go on to after "to A and", what it goes on with, and the words on
# the way there.
_STAGES = frozenset({None, "stop", "stay"})
_GOES_ON_WITH = frozenset({"and", "then"})
_ONWARD = (
    _GOES_ON_WITH
    | _TURNING
    | POLITE
    | word_set(
        "from there on to at in the a stop stopping continue carry keep go pick up along down left "
        "right straight ahead next finally"
    )
)
# Words before a thing without a name.
_AT_A_THING = frozenset({"at", "by", "near", "to", "beside"})


def role_meant(
    reading: Reading,
    found: Sequence[Found],
    number: int,
    roles: Sequence[NameRole],
    *,
    caption: bool,
    query: bool,
) -> Role | Literal["stretch"] | None:
    """Look again at the role of a name that breaks a rule in it.

    "From A it turns onto B" leaves A for B on the way, "turn off A into B" takes B, "I prefer A to
    B" goes to neither, "to A, please, and then B" to B; "via A and B, C" and "via A, B and C" may
    end in C. In a caption "From A it ..." goes on from A but for its first sentence. In a query
    "past the shops from A to B" may be a stretch of the way.

    Args:
        reading: The text.
        found: Its names in order.
        number: Which of them is meant.
        roles: Their roles so far.
        caption: Whether the text tells a drive in order, where any words may lie between A and B.
        query: Whether it asks for trips.
    """
    role = roles[number].role
    if query and _is_stretch(found, number, roles):
        return "stretch"
    if role == "destination":
        return _led_to(reading, found, number, roles)
    if role == "way" and number and number + 1 == len(found):
        return "stop" if _ends_list(reading, found[: number + 1]) else role
    if caption and role in FROM and _goes_on_from(reading, found, number, roles):
        return "stay"
    return _left(reading, found[number:], caption=caption) if role == "leaves" else role


def _led_to(
    reading: Reading, found: Sequence[Found], number: int, roles: Sequence[NameRole]
) -> Role:
    """Return the role of a name that a text leads to: the end, or a road that it goes on from."""
    if _goes_on(reading, found[number:], roles[number + 1 :]):
        return "pass"
    if number + 1 == len(found) and found[number].is_road() and _then(reading, found[number]):
        return "stay"
    return _no_end(reading, found[max(number - 1, 0) : number + 1])


def _then(reading: Reading, one: Found) -> bool:
    """Tell whether a sentence goes on from its last name to a thing: "to A, then to a bar"."""
    words = [word.canonical for word in reading.words[one.end : one.end + WINDOW]]
    if words[:1] == ["and"]:
        words.pop(0)
    return words[:1] == ["then"] and not _AT_A_THING.isdisjoint(words)


def _left(reading: Reading, found: Sequence[Found], *, caption: bool) -> Role:
    """Return the role of a name that is left, given with those after it."""
    if len(found) < 2:
        return "leaves"
    end, following = found[0].end, found[1].first
    if following - end > _FARTHEST_NEXT or reading.sentence(following) >= end:
        return "origin"
    turns = any(word.canonical in _TURNING for word in reading.words[end:following])
    return "leaves" if caption or turns else "origin"


def _is_stretch(found: Sequence[Found], number: int, roles: Sequence[NameRole]) -> bool:
    """Tell whether a road is an end of "from A to B", without a word of trips before it."""
    if not found[number].is_road():
        return False
    ends = [one.role for one in roles]
    if ends[number] == "leaves":
        return "destination" in ends[number + 1 :]
    return ends[number] == "destination" and "leaves" in ends[:number]


def _goes_on_from(
    reading: Reading, found: Sequence[Found], number: int, roles: Sequence[NameRole]
) -> bool:
    """Tell whether a sentence after the first begins with "From" and a name, or what it lies in."""
    while roles[number].shared:
        number -= 1
    before = found[number].first - 1
    return before in reading.sentences[1:] and reading.words[before].canonical == "from"


def _goes_on(reading: Reading, found: Sequence[Found], following: Sequence[NameRole]) -> bool:
    """Tell whether a text goes on from a road that it leads to: "to A, please, and then B".

    Args:
        reading: The text.
        found: The road and the names after it.
        following: The roles of these.
    """
    if not following or following[0].role not in _STAGES or not found[0].is_road():
        return False
    one, other = found[:2]
    toward = one.first and reading.words[one.first - 1].canonical in TOWARD
    if not toward or reading.sentence(other.first) >= one.end:
        return False
    between = [word.canonical for word in reading.words[one.end : other.first]]
    while between and between[0] in POLITE:
        between.pop(0)
    if not between or not ("then" in between or _ONWARD.issuperset(between)):
        return False
    return (
        "then" in between
        or between[0] in _GOES_ON_WITH
        or ("," in reading.gap(one.end) and between[0] in _TURNING)
    )


def _ends_list(reading: Reading, found: Sequence[Found]) -> bool:
    """Tell whether the last name ends a list, by a comma or, of three or more, by "and"."""
    one, before = found[-1], found[-2]
    if before.end == one.first:
        return "," in reading.gap(one.first)
    joined = before.end + 1 == one.first and reading.words[before.end].canonical == "and"
    long = len(found) > 2 and found[-3].end == before.first and "," in reading.gap(before.first)
    return joined and long


def _no_end(reading: Reading, found: Sequence[Found]) -> Role:
    """Return the role of a name that seems to be the end, given with the name before if any."""
    words, one, last = reading.words, found[0], found[-1].first
    if words[last - 1].canonical == "into":
        before = words[max(last - WINDOW, reading.sentence(last)) : last]
        turned = any(word.canonical in _TURNED for word in before)
        return "stay" if turned else "destination"
    end = found[-1].end
    if last > 1 and words[last - 2].canonical in _HALT and end < len(words):
        return "stay" if words[end].canonical in _AFTER_A_HALT else "destination"
    before_one = words[one.first - 1].canonical if one.first else ""
    to = last == one.end + 1 and words[one.end].canonical == "to"
    return "aside" if to and before_one in _PREFERRING else "destination"
