"""Find what a text names: names of the city, and what looks like a name and is none of them.

    "Head to Café Ceuta, then past Zanzibar Plaza"
    ->  Found(2, 4, [Candidate(EXACT, Café Ceuta)]), Found(6, 8, [])

Names the city has are found word by word, however they are written. What else looks like a name is
told by its capitals: words with a capital that the start of a sentence does not explain, with their
connectors ("Rua do Vento"). Of a word that begins a sentence it takes a list of ordinary words and
what follows. Where neither tells, the words are `doubtful`: a verifier may judge them, no rule
does. So are words of other scripts that the city does not have: such a script shows no capitals.
"""

from collections.abc import Set
from typing import Literal

import msgspec

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import fold, word_set
from pipeline.quality.gazetteer import EXACT, Candidate, Gazetteer, Match
from pipeline.quality.reading import (
    CAPITAL,
    CASELESS,
    COMMON,
    CONNECTOR,
    DIGIT,
    FOREIGN,
    FUNCTION,
    GENERIC,
    HEAD,
    HINT_TERM,
    NO_NAME,
    SHOUTED,
    Reading,
)
from pipeline.quality.tables import WordTables

How = Literal["exact", "short", "glossed", "unknown", "doubtful"]
# What follows a lone word at the start of a sentence if it is a name ("Zanzibar, please.").
_AFTER_A_NAME = word_set("please pls now first then via asap quickly fast thanks")
# Joiners that English also uses between two names.
_NOT_INSIDE = frozenset({"a", "the", "e", "y", "et", "und", "ja", "och", "en", "al", "s"})
_DETERMINERS = word_set("the a an my your our his her their this that some any every no")
# "Main Street" may be meant for what it is; "Station Road" is a name.
_MAIN = frozenset({"main", "side", "ring", "inner", "outer", "old", "new"})
_SHOUTED_SHARE = 0.6
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_LONGEST_SHORT_FORM = 5
_MAY_STAND_ALONE = CAPITAL | CASELESS
_NO_SUSPECT = NO_NAME | HINT_TERM
_ORDINARY = COMMON | CONNECTOR | DIGIT | NO_NAME


class Found(msgspec.Struct, frozen=True, gc=False):
    """Some words of a text that name something, or seem to.

    Attributes:
        first: Number of the first word.
        end: Number of the word after the last.
        candidates: Names of the city they may be; none for an unknown name.
        how: How they were found.
    """

    first: int
    end: int
    candidates: list[Candidate]
    how: How


class NameFinder:
    """Finds names in the texts of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names and what tells a name from other words."""
        self._names = names
        self._types = tables.types
        self._name_places = tables.markers.root.keys() | tables.attaching.root.keys()

    def find(self, reading: Reading, evidence: Evidence) -> list[Found]:
        """Return what a text names, in the order of the text.

        Args:
            reading: The text.
            evidence: The trip's own record; its names may be short or in small letters.
        """
        if not reading.names and not reading.flags & FOREIGN:
            return []
        found: list[Found] = []
        suspects: list[int] = []
        tree, words, begins = self._names.tree, reading.words, reading.begins
        count, done = len(words), 0
        for here in reading.names:
            if here < done:
                continue
            flags = words[here].flags
            if flags & HEAD:
                node = tree[words[here].canonical]
                # Most heads are ordinary words: look no further unless a name may follow.
                if ("" in node and (flags & _MAY_STAND_ALONE or not flags & COMMON)) or (
                    here + 1 < count
                    and (words[here + 1].canonical in node or words[here + 1].flags & CONNECTOR)
                ):
                    match = self._names.longest(reading, here)
                    if match is not None and _is_meant(reading, here, match, evidence):
                        done, candidates = match
                        how: How = "exact" if candidates[0].level == EXACT else "short"
                        found.append(Found(here, done, candidates, how))
                        continue
            if (
                flags & CAPITAL
                and not flags & _NO_SUSPECT
                and not (flags & COMMON and here in begins)
            ):
                suspects.append(here)
        if suspects:
            found = _Unknown(reading, found, self._types, self._name_places).judge(suspects)
        return _with_foreign(reading, found) if reading.flags & FOREIGN else found


def _is_meant(reading: Reading, first: int, match: Match, evidence: Evidence) -> bool:
    """Tell whether words that could be a name are meant as one.

    Many names of a city are ordinary words ("Stop", "Day", "Fashion"), so these need a capital.
    """
    end, candidates = match
    lead = reading.words[first]
    if end == first + 1 and len(lead.canonical) <= _LONGEST_SHORT_FORM:
        # A name such as "BR" is no "Bridge", though names are compared by their short words.
        surface = fold(reading.surface(first, end))
        if all(surface not in fold(candidate.name.text) for candidate in candidates):
            return False
    if lead.flags & CAPITAL and not lead.flags & _ORDINARY:
        return True
    words = reading.words[first:end]
    own = any(candidate.name.text in evidence.spots for candidate in candidates)
    if len(words) == 1 and lead.flags & (NO_NAME | DIGIT):
        return own and bool(lead.flags & DIGIT) and not lead.canonical.isdigit()
    for number, word in enumerate(words, first):
        if word.flags & CASELESS or (word.flags & CAPITAL and number not in reading.begins):
            return True
    begins = first in reading.begins and bool(lead.flags & CAPITAL)
    as_held = own and any(
        reading.surface(first, end) == candidate.name.text for candidate in candidates
    )
    if all(word.flags & _ORDINARY for word in words):
        alone = begins and candidates[0].level == EXACT and _stands_alone(reading, end)
        return own and (alone or (as_held and len(words) > 1))
    # In small letters the name of a place may be a word that no list of ordinary words has.
    no_place = any(candidate.name.sites.keys() - {"place"} for candidate in candidates)
    return begins or len(words) > 1 or as_held or no_place


def _stands_alone(reading: Reading, end: int) -> bool:
    """Tell whether what ends before a word is followed by nothing that makes it a mere word."""
    if end == len(reading.words):
        return True
    marked = end in reading.begins or bool(reading.breaks(end))
    return marked or reading.words[end].canonical in _AFTER_A_NAME


class _Unknown:
    """The capitals of one text that known names do not explain."""

    def __init__(
        self,
        reading: Reading,
        known: list[Found],
        types: dict[str, frozenset[str]],
        name_places: Set[str],
    ) -> None:
        self._reading, self._types, self._name_places = reading, types, name_places
        self._owner = {word: found for found in known for word in range(found.first, found.end)}
        self._found = {found.first: found for found in known}
        self._mere_style = _is_shouted(reading) or self._is_title()

    def judge(self, suspects: list[int]) -> list[Found]:
        """Return the known names and what the suspects make of them, in the order of the text."""
        done = -1
        for suspect in suspects:
            if suspect >= done and self._belongs(suspect):
                first, done = self._run_around(suspect)
                self._judge_run(first, done)
        return [self._found[first] for first in sorted(self._found)]

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
        return not reading.breaks(number) and number not in reading.begins

    def _run_around(self, suspect: int) -> tuple[int, int]:
        words = self._reading.words
        first, end = suspect, suspect + 1
        while first > 0 and self._joined(first):
            before = first - 1
            if self._belongs(before):
                first = before
            elif self._is_ordinal(before):
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

    def _is_ordinal(self, number: int) -> bool:
        word = self._reading.words[number]
        return bool(word.flags & DIGIT) and word.canonical[-2:] in _ORDINAL

    def _is_joiner(self, number: int) -> bool:
        word = self._reading.words[number]
        return (
            bool(word.flags & CONNECTOR)
            and not word.flags & CAPITAL
            and word.canonical not in _NOT_INSIDE
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
                return True
            if "district" in kinds and beside <= self._types["district"]:
                return True
            if "place" in kinds and beside <= candidate.name.category_words:
                return True
        return False

    def _judge_single(self, first: int, end: int, number: int) -> None:
        reading, word = self._reading, self._reading.words[number]
        if self._is_ordinal(first) and word.canonical in self._types["road"]:
            self._add(first, end, doubtful=False)  # "16th Street"
        elif number in reading.begins:  # and no ordinary word, or it would be no suspect
            surface = reading.surface(number, number + 1)
            alone = end - first > 1 or _stands_alone(reading, end) or not surface.isascii()
            self._add(first, end, doubtful=not alone)
        elif not word.flags & COMMON:
            self._add(first, end, doubtful=False)
        elif not self._mere_style:
            before = reading.words[number - 1].canonical
            in_place = before in self._name_places and before not in _DETERMINERS
            self._add(first, end, doubtful=bool(word.flags & GENERIC) or not in_place)

    def _add(self, first: int, end: int, *, doubtful: bool) -> None:
        self._found[first] = Found(first, end, [], "doubtful" if doubtful else "unknown")


def _with_foreign(reading: Reading, found: list[Found]) -> list[Found]:
    """Return names and, in the order of the text, words of other scripts that are in none of them.

    Such a script may have no capitals to tell by, so whether they name something stays open.
    """
    owned = {number for one in found for number in range(one.first, one.end)}
    runs: list[Found] = []
    for number, word in enumerate(reading.words):
        if number in owned or not word.flags & FOREIGN:
            continue
        first = number
        if runs and runs[-1].end == number and not reading.breaks(number):
            first = runs.pop().first
        runs.append(Found(first, number + 1, [], "doubtful"))
    return sorted([*found, *runs], key=lambda one: one.first)


def _is_shouted(reading: Reading) -> bool:
    """Tell whether a text is written in capitals."""
    words = [word for word in reading.words if len(word.canonical) > 1 and not word.flags & DIGIT]
    shouted = sum(bool(word.flags & SHOUTED) for word in words)
    return shouted > 1 and shouted > _SHOUTED_SHARE * len(words)
