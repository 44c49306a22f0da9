"""What an instruction asks for, read by rules from its text alone.

    "Via Bulevardi to a bar, past the park, avoiding the sea, heading north."
    ->  Wishes(destination="bar", roads=["Bulevardi"], through=["park"], avoid=["sea"], ...)

Names are those of the city's map, features those of the vocabulary; what each is to the trip the
words before it tell, as quality control reads them (`pipeline.quality.roles`). Where they leave it
open, a text comes to its destination last. The rules know neither plan nor route. Paper: 4.1, step
2.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from pipeline.language.vocabulary import vocabulary
from pipeline.quality.folding import fold, word_set
from pipeline.quality.gazetteer import Found, Gazetteer
from pipeline.quality.reading import CAPITAL, COMMON, HEAD, NO_NAME, Lexicon, Reading
from pipeline.quality.roles import POLITE, NameRole, RoleReader
from pipeline.quality.tables import word_tables
from pipeline.tasks.baselines.features import FeatureWords, Told

# A feature is told by a whole phrase: "a place among the going-out streets".
_SPOTS = word_set("place places spot somewhere anywhere where wherever")
_WAYS = word_set("street streets road roads route side stretch bit")
_ARTICLES = word_set("a an the some any")
_MOST_BEFORE, _MOST_TO_ARTICLE = 5, 3
# Words before something that the trip halts at and goes on from, how far before, and after it.
_STOPPING = word_set(
    "stop stops stopping call pull pulling hop nip pop quick grab pause detour dash into"
)
_MOST_AFTER_STOPPING = 6
_GOING_ON = re.compile(
    r"(?:(?:spot|place|shop) )?(?:on|along) (?:the|our|my) way|en route|first\b"
    r"|stop\b|before (?:it|that)\b|in and out\b"
    r"|to (?:nip|hop|pop|run) |for (?:a|one|half a|two|three|five|a few) "
    r"(?:second|moment|while|minute|bit|heartbeat)"
)
_IN_THE_END = re.compile(r"(?:in|at) the end\b|to finish\b|(?:it is|will do|is fine)\b")
_WANTING = word_set("need want wants like love fancy find reach")
_MOST_AFTER_WANTING = 4
_LEADING_TO = word_set("and till until")
_LASTLY = word_set("then finally lastly afterwards")
_BY_WAY_OF = word_set("by via along over")
_KEPT_OFF = word_set("away from off no not nowhere")
_PLACED = word_set("on at in by near along")
_EITHER_WAY = re.compile(r"or (?:not|no)\b")
_KEEPING = word_set("keep keeping stay staying stick sticking hold holding mainly mostly all max")
_PASSING = word_set("through past across pass passing cross crossing thru cut cutting")
_TOLD = 5
_FROM = frozenset({"leaves", "origin"})
_AWAY = frozenset({"avoid", "aside"})
_BY = frozenset({"way", "pass"})
_HEADINGS = {
    "n": "north", "ne": "northeast", "e": "east", "se": "southeast", "s": "south",
    "sw": "southwest", "w": "west", "nw": "northwest",
}  # fmt: skip
_HEADING = re.compile(
    r"\b(?:(north|south)[ -]?(east|west)|(north|south|east|west))(?:ern|erly|bound|wards?)?\b"
    r"|\b(?:heading|hdg|dir|direction|always|due)\.? (NE|NW|SE|SW|N|E|S|W)\b",
    re.IGNORECASE,
)


class Wishes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an instruction asks for; every reader, of whatever kind, gives one.

    Attributes:
        destination: Words for where it goes: a name, or a description; "" where none is read.
        beside: Name of what the destination lies in or near; "".
        roads: Named roads and places on the way, in order.
        stops: Kinds of places to stop at, anywhere on the way.
        through: Districts and surroundings to pass.
        stay_on: Roads to keep to.
        prefer: Surroundings that are liked.
        avoid: Surroundings, roads and places to keep off.
        heading: A heading of the vocabulary; "".
    """

    destination: str = ""
    beside: str = ""
    roads: list[str] = []
    stops: list[str] = []
    through: list[str] = []
    stay_on: list[str] = []
    prefer: list[str] = []
    avoid: list[str] = []
    heading: str = ""


class _Item(NamedTuple):
    """A name or a feature of a text and what it is to the trip."""

    found: Found
    told: Told | None
    role: NameRole
    words: str
    strength: int  # how clearly it is the destination; 0 for what it cannot be

    @property
    def is_road(self) -> bool:
        return self.told is None and self.found.is_road()

    def is_district(self) -> bool:
        return self.told is None and all(
            one.name.sites.keys() <= {"district", "city"} for one in self.found.candidates
        )


class RuleReader:
    """Reads the instructions of one city."""

    def __init__(self, names: Gazetteer) -> None:
        """Prepare the city's names.

        Args:
            names: They are all it knows of the city.
        """
        tables = word_tables()
        self.features = FeatureWords(vocabulary())
        self._names = names
        self._lexicon = Lexicon(tables, heads=names.heads, hints={})
        self._roles = RoleReader(tables)

    def read(self, text: str) -> Wishes:
        """Return what a text asks for; empty wishes for an empty text."""
        reading = self._lexicon.read(text)
        if not reading.words:
            return Wishes()
        items = self._items(reading)
        end = _destination(reading, items)
        target = None if end is None else items[end]
        rest = [one for number, one in enumerate(items) if number != end]
        beside = [one for one in rest if one.role.shared and one.told is None]
        asked = [
            one for one in rest
            if one not in beside and one.role.role not in _FROM and one.role.role not in _AWAY
        ]  # fmt: skip
        named = [one for one in asked if one.told is None]
        zones = [one for one in asked if one.told and self.features.is_zone(one.told.code)]
        passed = [one for one in zones if one.role.role in _BY or _is_passed(reading, one)]
        return Wishes(
            destination=target.words if target else "",
            beside=beside[0].words if target and beside else "",
            roads=[one.words for one in named if not one.is_district()],
            stops=[
                one.words for one in asked if one.told and not self.features.is_zone(one.told.code)
            ],
            through=[one.words for one in [*named, *passed] if one.told or one.is_district()],
            stay_on=[one.words for one in named if one.is_road and _is_kept(reading, one)],
            prefer=[one.words for one in zones if one not in passed],
            avoid=[one.words for one in rest if one.role.role in _AWAY],
            heading=_heading(reading, items),
        )

    def features_of(self, phrase: str) -> list[str]:
        """Return the codes of the features that a phrase tells, each once."""
        told = self.features.find(self._lexicon.read(phrase))
        return list(dict.fromkeys(one.code for one in told))

    def _items(self, reading: Reading) -> list[_Item]:
        named = self._named(reading)
        taken = {number for one in named for number in range(one.first, one.end)}
        told: dict[int, Told] = {}
        for feature in self.features.find(reading):
            if taken.isdisjoint(range(feature.first, feature.end)):
                told[_first_of(reading, feature, taken)] = feature
                taken.update(range(feature.first, feature.end))
        spans = [Found(first, one.end, [], "doubtful") for first, one in told.items()]
        found = sorted([*named, *spans], key=lambda one: one.first)
        roles = self._roles.roles(reading, found, caption=False)
        items = []
        for number, (one, role) in enumerate(zip(found, roles, strict=True)):
            of = None if one.candidates else told[one.first]
            words = reading.surface((of or one).first, one.end)
            name = one.candidates[0].name.text if one.candidates else words
            item = _Item(one, of, role, name, 0)
            before = found[number - 1].end if number else 0
            is_zone = of is not None and self.features.is_zone(of.code)
            strength = _strength(reading, item, before, is_zone=is_zone)
            items.append(item._replace(strength=strength))
        return items

    def _named(self, reading: Reading) -> list[Found]:
        """Return the names of the city in a text; words that could be others need a capital."""
        found: list[Found] = []
        done = 0
        for here in reading.names:
            if here < done or not reading.words[here].flags & HEAD:
                continue
            match = self._names.longest(reading, here)
            if match is None or not _is_name(reading, here, match[0]):
                continue
            end, candidates = match
            ours = [one for one in candidates if one.name.sites.keys() - {"city"}]
            if ours:
                found.append(Found(here, end, ours, "exact"))
                done = end
        return found


def _words(reading: Reading, first: int, end: int) -> list[str]:
    """Return words as they are written: quality control knows "place" by a short form."""
    return [fold(reading.surface(number, number + 1)) for number in range(first, end)]


def _word(reading: Reading, number: int) -> str:
    return fold(reading.surface(number, number + 1))


def _is_name(reading: Reading, first: int, end: int) -> bool:
    words = reading.words[first:end]
    alone = first in reading.begins and (end == len(reading.words) or bool(reading.breaks(end)))
    if alone and words[0].flags & CAPITAL:
        return not words[0].flags & NO_NAME
    if any(w.flags & CAPITAL and k not in reading.begins for k, w in enumerate(words, first)):
        return len(words) > 1 or not words[0].flags & NO_NAME
    ordinary = all(word.flags & (COMMON | NO_NAME) for word in words)
    return not ordinary or (len(words) > 1 and bool(words[0].flags & CAPITAL))


def _first_of(reading: Reading, one: Told, taken: set[int]) -> int:
    """Return the word at which the phrase for a feature begins: "[a place among] the shops"."""
    lowest = max(reading.sentence(one.first), one.first - _MOST_BEFORE)
    first = here = one.first
    while here > lowest and here - 1 not in taken and not reading.breaks(here):
        here -= 1
        word = _word(reading, here)
        if word in _KEPT_OFF:
            break
        if word in _SPOTS or word in _WAYS:
            first = here
    for here in range(first, max(first - _MOST_TO_ARTICLE, lowest) - 1, -1):
        if _word(reading, here) in _ARTICLES:
            return here
        if here - 1 in taken or reading.breaks(here):
            break
    return first


def _strength(reading: Reading, one: _Item, before: int, *, is_zone: bool) -> int:
    """Return how clearly the words around an item make it the destination.

    Args:
        reading: The text.
        one: The item.
        before: Number of the word after the item before; 0 for none.
        is_zone: Whether it is a zone.

    Returns:
        5 told so, 4 wanted, 3 a thing people go to, 2 a zone, 1 passed or halted at, 0 left or
        avoided.
    """
    first, end, role = one.found.first, one.found.end, one.role.role
    words = _words(reading, _clause(reading, first, before), first)
    rest = reading.text[reading.starts[end] :]
    if role in _FROM or role == "avoid" or one.role.shared or _EITHER_WAY.match(rest):
        return 0
    is_named = one.told is None and not one.is_district()
    if role in _BY or _is_halt(reading, one, words, rest):
        return 1
    if (
        role == "destination"
        or _IN_THE_END.match(rest)
        or (is_named and words[-2:] == ["on", "to"])
    ):
        return _TOLD
    return _unmarked(one, words, is_zone=is_zone, is_spot=_is_spot(reading, one.found))


def _unmarked(one: _Item, words: list[str], *, is_zone: bool, is_spot: bool) -> int:
    """Return the strength, as above, of what no marker and no halt tells."""
    lately = words[-_MOST_AFTER_WANTING:]
    is_last = not _LASTLY.isdisjoint(lately) or words[:2] == ["after", "that"]
    if one.is_road or one.is_district():
        along = one.role.role == "stay" or (words and words[-1] in _PLACED)
        return 1 if along else 4 if not _WANTING.isdisjoint(lately) else 3
    if not _WANTING.isdisjoint(lately) or (is_last and not is_zone):
        return 4
    is_goal = is_spot or is_last or (words and words[-1] in _LEADING_TO)
    return 2 if is_zone and not is_goal else 3


def _clause(reading: Reading, first: int, before: int) -> int:
    """Return the first word of the clause of a word, none before the item before.

    A word of courtesy between commas parts nothing: "one stop, please, at a bank".
    """
    lowest = max(before, reading.sentence(first))
    here = first
    while here > lowest and (
        not reading.breaks(here) or not POLITE.isdisjoint(_words(reading, here - 1, here + 1))
    ):
        here -= 1
    return here


def _is_spot(reading: Reading, one: Found) -> bool:
    return not _SPOTS.isdisjoint(_words(reading, one.first, one.end))


def _is_halt(reading: Reading, one: _Item, words: list[str], rest: str) -> bool:
    """Tell whether the words around say that the trip halts there and goes on."""
    first, end = one.found.first, one.found.end
    if words[-1:] == ["after"] or not _STOPPING.isdisjoint(words[-_MOST_AFTER_STOPPING:]):
        return True
    if first and "+" in reading.gap(first):
        return True
    return end < len(reading.words) and not reading.breaks(end) and bool(_GOING_ON.match(rest))


def _is_kept(reading: Reading, one: _Item) -> bool:
    first = one.found.first
    return not _KEEPING.isdisjoint(_words(reading, max(first - 4, reading.sentence(first)), first))


def _is_passed(reading: Reading, one: _Item) -> bool:
    first = one.found.first
    return not _PASSING.isdisjoint(_words(reading, max(first - 3, reading.sentence(first)), first))


def _destination(reading: Reading, items: Sequence[_Item]) -> int | None:
    """Return the number of the item that the trip goes to: the last of the clearest."""
    most = max((one.strength for one in items), default=0)
    if most == 0:
        return None
    if most < _TOLD and len(items) > 1 and items[0].strength:
        between = _words(reading, items[0].found.end, items[1].found.first)
        by = items[1].role.role == "way" or not _BY_WAY_OF.isdisjoint(between[-1:])
        if by and (items[0].found.first == 0 or all(one.is_road for one in items[1:])):
            return 0  # "A, by B, C and D"
    last = items[-1]
    clause = _words(reading, _clause(reading, last.found.first, 0), last.found.first)
    if most < _TOLD and last.strength > 1 and not _LASTLY.isdisjoint(clause):
        return len(items) - 1  # "..., and then A"
    return next(n for n in reversed(range(len(items))) if items[n].strength == most)


def _heading(reading: Reading, items: Sequence[_Item]) -> str:
    plain = list(reading.text)
    for one in items:
        if one.told is None:
            start, end = reading.starts[one.found.first], reading.end(one.found.end - 1)
            plain[start:end] = "·" * (end - start)
    match = _HEADING.search("".join(plain))
    if match is None:
        return ""
    north, east, alone, short = match.groups()
    return _HEADINGS[short.lower()] if short else (alone or f"{north}{east}").lower()
