"""Judge the capitals of a text that no name of the city explains.

    "past Zanzibar Plaza", "to Mikonkatu Bridge"  ->  Found(1, 3, [], "unknown")
    "Mikonkatu Street"  ->  Found(0, 2, [Candidate(EXACT, Mikonkatu)], "glossed")
    "Old Town"          ->  Found(0, 2, [], "doubtful")

What stands together is judged together, known names among it. Paper: A.3.6 (names not in the data).
"""

from collections.abc import Set

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found, Name
from pipeline.quality.no_places import NoPlaces
from pipeline.quality.reading import (
    CAPITAL,
    COMMON,
    CONNECTOR,
    DIGIT,
    FOREIGN,
    FUNCTION,
    GENERIC,
    NO_NAME,
    SHOUTED,
    Reading,
    Word,
)
from pipeline.quality.second_look import SecondLook
from pipeline.quality.tables import WordTables

# What follows a lone word at the start of a sentence if it is a name ("Zanzibar, please.").
_AFTER_A_NAME = word_set("please pls now first then via asap quickly fast thanks")
# Joiners that English also uses between two names.
NOT_INSIDE = frozenset({"a", "the", "e", "y", "et", "und", "ja", "och", "en", "al", "s"})
DETERMINERS = word_set("the a an my your our his her their this that some any every no")
_AFTER_INITIAL = frozenset({".", ". ", ".-", "-"})
# "Main Street" may be meant for what it is; "Station Road" is a name.
_MAIN = frozenset({"main", "side", "ring", "inner", "outer", "old", "new"})
# Things of their own that have a road's name: "Mikonkatu Bridge", unless the name says so itself.
_OF_ITS_OWN = {
    "br": ("silta", "ponte", "pont", "bron", "brucke", "brug", "qiao", "br"),
    "tunnel": ("tunneli", "tunnel", "tunel"),
    "sq": ("tori", "aukio", "torget", "platz", "plein", "piazza", "pl", "pc", "lg", "sq"),
    "quay": ("ranta", "laituri", "qu", "kaj", "kajen", "cais"),
    "pier": ("laituri", "pier", "kajen"),
    "roundabout": ("giratoire", "rond", "rotunda"),
}
# With one of these, or a kind of place, a town's name names a thing in it: "Porto City Hall".
_BUILT = word_set("terminal mall hall airport palace castle cathedral gate tower")
_SHOUTED_SHARE = 0.6
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_DATE = CAPITAL | NO_NAME


class UnknownNames:
    """The capitals of one text that known names do not explain."""

    def __init__(
        self,
        reading: Reading,
        known: list[Found],
        tables: WordTables,
        look: SecondLook,
        name_places: Set[str],
    ) -> None:
        self._reading, self._name_places = reading, name_places
        self._tables, self._look = tables, look
        self._no_places = NoPlaces(tables)
        self._types = tables.types
        self._owner = {word: found for found in known for word in range(found.first, found.end)}
        self._found = {found.first: found for found in known}
        self._mere_style = _is_shouted(reading) or self._is_title()

    def judge(self, suspects: list[int], evidence: Evidence) -> list[Found]:
        """Return the known names and what the suspects make of them, in the order of the text."""
        done, cries = -1, not self._mere_style
        for suspect in suspects:
            if suspect >= done and self._belongs(suspect):
                first, done = self._run_around(suspect)
                known = any(number in self._owner for number in range(first, done))
                if known or not self._no_places.has(self._reading, first, done, cries=cries):
                    self._judge_run(first, done)
        for one in [one for one in self._found.values() if not one.candidates]:
            self._look_again(one, evidence)
        found = [self._found[first] for first in sorted(self._found)]
        return self._look.turned(self._reading, found) if len(found) > 1 else found

    def _look_again(self, one: Found, evidence: Evidence) -> None:
        """Put the name that unknown words are after all in their place, and in that of others."""
        hidden = self._look.hidden(self._reading, one.first)
        named = None
        if hidden == one.first:
            named = self._look.at(self._reading, one.first, one.end, evidence)
            if named is None:
                return
        end = max(hidden, one.end)
        self._found = {
            first: other
            for first, other in self._found.items()
            if other.end <= one.first or end <= first
        }
        if named is not None:
            self._found[named.first] = named

    def _is_title(self) -> bool:
        """Tell whether a text writes every word with a capital: "Drive To The Harbour"."""
        words = self._reading.words
        return any(
            words[number].flags & CAPITAL
            and words[number].flags & FUNCTION
            and not words[number].flags & NO_NAME
            and len(words[number].canonical) > 1
            and number not in self._owner
            and number not in self._reading.begins
            for number in range(1, len(words))
        )

    def _belongs(self, number: int) -> bool:
        """Tell whether a word may be part of a name: known, or with a capital of its own."""
        if number in self._owner:
            return True
        flags = self._reading.words[number].flags
        if not flags & CAPITAL or flags & NO_NAME:
            return False
        if flags & COMMON and (self._mere_style or number in self._reading.begins):
            return False
        return not (flags & FUNCTION and not flags & CONNECTOR)

    def _joined(self, number: int) -> bool:
        """Tell whether a word stands right after the one before it, as within a name."""
        reading = self._reading
        if reading.breaks(number):
            return False
        before = reading.words[number - 1]
        initial = before.size == 1 and before.flags & CAPITAL and before.after in _AFTER_INITIAL
        return number not in reading.begins or bool(initial)  # "J.F. Kennedy"

    def _run_around(self, suspect: int) -> tuple[int, int]:
        words = self._reading.words
        first, end = suspect, suspect + 1
        while first > 0 and self._joined(first):
            before = first - 1
            if self._belongs(before):
                first = before
            elif is_ordinal(words[before]):
                first = before
                break
            elif (
                self._is_joiner(before)
                and before > 0
                and self._joined(before)
                and self._belongs(before - 1)
            ):
                first = before - 1
            else:
                break
        while end < len(words) and self._joined(end):
            flags = words[end].flags
            if self._belongs(end) or (flags & DIGIT and end - 1 not in self._owner):
                end += 1
            elif (
                self._is_joiner(end)
                and end + 1 < len(words)
                and self._joined(end + 1)
                and self._belongs(end + 1)
            ):
                end += 2
            else:
                break
        return first, end

    def _is_joiner(self, number: int) -> bool:
        word = self._reading.words[number]
        return (
            bool(word.flags & CONNECTOR)
            and not word.flags & CAPITAL
            and word.canonical not in NOT_INSIDE
        )

    def _judge_run(self, first: int, end: int) -> None:
        words = self._reading.words
        loose = [
            number
            for number in range(first, end)
            if number not in self._owner and words[number].flags & CAPITAL
        ]
        owners = {
            self._owner[number].first for number in range(first, end) if number in self._owner
        }
        lengths = [len(self._reading.surface(number, number + 1)) for number in loose]
        if lengths == [1] * len(loose) and (owners or len(loose) == 1):
            return  # "point A", "Mikonkatu B"
        if owners:
            self._judge_mixed(first, end, loose, owners)
        elif len(loose) > 1:
            flags = [words[number].flags for number in loose]
            parts_of_any_town = all(flag & GENERIC for flag in flags) and len(loose) == 2
            named = (
                words[loose[-1]].canonical in self._types["road"]
                and words[loose[0]].canonical not in _MAIN
            )
            doubtful = parts_of_any_town and not named
            self._add(first, end, doubtful=doubtful)
        else:
            self._judge_single(first, end, loose[0])

    def _judge_mixed(self, first: int, end: int, loose: list[int], owners: set[int]) -> None:
        """Judge a known name with more capitals beside it: another name, or the same explained."""
        words = self._reading.words
        founds = [self._found[one] for one in owners]
        kinds = {kind for found in founds for c in found.candidates for kind in c.name.sites}
        if all(words[n].flags & GENERIC for n in loose) and kinds & {"city", "district"}:
            built = self._types["road"] | self._types["place"] | _BUILT
            if all(words[n].canonical not in built for n in loose):
                return  # "Downtown Helsinki"
        if len(founds) == 1 and self._explains(loose, founds[0]):
            one = founds[0]
            del self._found[one.first]
            merged = Found(min(first, one.first), max(end, one.end), one.candidates, "glossed")
            self._found[merged.first] = merged
            return
        for found in founds:
            del self._found[found.first]
            first, end = min(first, found.first), max(end, found.end)
        self._add(first, end, doubtful=False)

    def _explains(self, loose: list[int], found: Found) -> bool:
        """Tell whether words only say what kind of thing the name names: "Kaivokatu Street"."""
        if found.how != "exact":
            return False
        beside = {self._reading.words[number].canonical for number in loose}
        for candidate in found.candidates:
            kinds = candidate.name.sites
            if "road" in kinds and beside <= self._types["road"]:
                return all(self._is_of_kind(candidate.name, word) for word in beside)
            if "district" in kinds and beside <= self._types["district"]:
                return True
            if "place" in kinds and beside <= candidate.name.category_words:
                return True
        return False

    def _is_of_kind(self, name: Name, kind: str) -> bool:
        """Tell whether a road may be of a kind: any is a street, not any a bridge."""
        affixes = _OF_ITS_OWN.get(kind)
        words = map(self._tables.canonical, name.text.split())
        return affixes is None or any(word.endswith(affixes) or word in affixes for word in words)

    def _judge_single(self, first: int, end: int, number: int) -> None:
        reading, word = self._reading, self._reading.words[number]
        if is_ordinal(reading.words[first]) and word.canonical in self._types["road"]:
            self._add(first, end, doubtful=False)  # "16th Street"
        elif word.flags & FOREIGN and number in reading.begins:
            return  # its script may give every sentence a capital, too
        elif word.canonical in self._tables.sayings and not (
            is_order(reading, end) or self._is_in_place(number)
        ):
            return
        elif number in reading.begins:  # and no ordinary word, or it would be no suspect
            surface = reading.surface(number, number + 1)
            alone = end - first > 1 or stands_alone(reading, end) or not surface.isascii()
            street = self._look.is_street(word.canonical)
            self._add(first, end, doubtful=not alone and not street)
        elif not word.flags & COMMON:
            self._add(first, end, doubtful=False)
        elif not self._mere_style and not self._is_date(end):
            generic = bool(word.flags & GENERIC)
            self._add(first, end, doubtful=generic or not self._is_in_place(number))

    def _is_date(self, end: int) -> bool:
        """Tell whether a word with a capital that is no name follows: "New Year"."""
        words = self._reading.words
        return end < len(words) and self._joined(end) and words[end].flags & _DATE == _DATE

    def _is_in_place(self, number: int) -> bool:
        before = self._reading.words[number - 1].canonical if number else ""
        return before in self._name_places and before not in DETERMINERS

    def _add(self, first: int, end: int, *, doubtful: bool) -> None:
        self._found[first] = Found(first, end, [], "doubtful" if doubtful else "unknown")


def _is_shouted(reading: Reading) -> bool:
    """Tell whether a text is written in capitals."""
    words = [word for word in reading.words if len(word.canonical) > 1 and not word.flags & DIGIT]
    shouted = sum(bool(word.flags & SHOUTED) for word in words)
    return shouted > 1 and shouted > _SHOUTED_SHARE * len(words)


def is_ordinal(word: Word) -> bool:
    """Tell whether a word is a number that counts off: "12th"."""
    return bool(word.flags & DIGIT) and word.canonical[-2:] in _ORDINAL


def stands_alone(reading: Reading, end: int) -> bool:
    """Tell whether what ends before a word is followed by nothing that makes it a mere word."""
    if end == len(reading.words):
        return True
    marked = end in reading.begins or bool(reading.breaks(end))
    return marked or reading.words[end].canonical in _AFTER_A_NAME


def is_order(reading: Reading, end: int) -> bool:
    """Tell whether what ends before a word is all that a passenger says: "Miami, please."."""
    if end == len(reading.words) or end in reading.begins:
        return "!" not in reading.gap(end)
    return reading.words[end].canonical in _AFTER_A_NAME
