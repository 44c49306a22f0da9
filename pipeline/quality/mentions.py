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

from pipeline.quality.addresses import house_numbers
from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import fold, word_set
from pipeline.quality.gazetteer import EXACT, Found, Gazetteer, How, Match
from pipeline.quality.no_places import NoPlaces
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
from pipeline.quality.second_look import SecondLook
from pipeline.quality.tables import WordTables

# What follows a lone word at the start of a sentence if it is a name ("Zanzibar, please.").
_AFTER_A_NAME = word_set("please pls now first then via asap quickly fast thanks")
# Joiners that English also uses between two names.
_NOT_INSIDE = frozenset({"a", "the", "e", "y", "et", "und", "ja", "och", "en", "al", "s"})
_DETERMINERS = word_set("the a an my your our his her their this that some any every no")
_AFTER_INITIAL = frozenset({".", ". ", ".-", "-"})
# What a kind of place in small letters may not have after it as its own part.
_NO_OWN_PART = COMMON | CONNECTOR | DIGIT | NO_NAME | GENERIC | CAPITAL
_SHORTEST_OWN = 3
# "Main Street" may be meant for what it is; "Station Road" is a name.
_MAIN = frozenset({"main", "side", "ring", "inner", "outer", "old", "new"})
_SHOUTED_SHARE = 0.6
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_LONGEST_SHORT_FORM = 5
_MAY_STAND_ALONE = CAPITAL | CASELESS
_NO_SUSPECT = NO_NAME | HINT_TERM
_DATE = CAPITAL | NO_NAME
_ORDINARY = COMMON | CONNECTOR | DIGIT | NO_NAME


class NameFinder:
    """Finds names in the texts of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names and what tells a name from other words."""
        self._names, self._tables = names, tables
        self._look = SecondLook(names, tables)
        self._kinds = tables.foreign_place_types | tables.shared_place_types
        self._sayings = tables.sayings & names.tree.keys()
        self._name_places = tables.markers.root.keys() | tables.attaching.root.keys()

    def find(self, reading: Reading, evidence: Evidence) -> list[Found]:
        """Return what a text names, in the order of the text.

        Args:
            reading: The text.
            evidence: The trip's own record; its names may be short or in small letters.
        """
        if not reading.names and not reading.flags & FOREIGN:
            return []
        found, suspects = self._known(reading, evidence)
        if suspects:
            unknown = _Unknown(reading, found, self._tables, self._look, self._name_places)
            found = unknown.judge(suspects, evidence)
        if found and reading.flags & DIGIT:
            numbers = house_numbers(reading, found, types=self._tables.types["road"])
            if numbers:
                found = sorted([*found, *numbers], key=_first)
        return _with_foreign(reading, found) if reading.flags & FOREIGN else found

    def _known(self, reading: Reading, evidence: Evidence) -> tuple[list[Found], list[int]]:
        """Return the names of the city in a text, and the capitals that may be other names."""
        found: list[Found] = []
        suspects: list[int] = []
        tree, sayings = self._names.tree, self._sayings
        words, begins = reading.words, reading.begins
        count, done = len(words), 0
        for here in reading.names:
            if here < done:
                continue
            word = words[here]
            flags = word.flags
            if flags & HEAD:
                node = tree[word.canonical]
                # Most heads are ordinary words: look no further unless a name may follow.
                if ("" in node and (flags & _MAY_STAND_ALONE or not flags & COMMON)) or (
                    here + 1 < count
                    and (words[here + 1].canonical in node or words[here + 1].flags & CONNECTOR)
                ):
                    match = self._names.longest(reading, here)
                    if match is not None and _is_meant(reading, here, match, evidence):
                        end, candidates = match
                        if word.canonical not in sayings or not self._is_saying(
                            reading, here, match, evidence
                        ):
                            how: How = "exact" if candidates[0].level == EXACT else "short"
                            found.append(Found(here, end, candidates, how))
                            done = end
                            continue
                if not flags & CAPITAL:
                    if word.canonical in self._kinds:
                        found += self._in_small_letters(reading, here)
                    continue
            if not flags & _NO_SUSPECT and not (flags & COMMON and here in begins):
                suspects.append(here)
        return found, suspects

    def _is_saying(self, reading: Reading, first: int, match: Match, evidence: Evidence) -> bool:
        """Tell whether a place is meant that some other is called after: "Miami it ain't"."""
        end, candidates = match
        if end > first + 1 or any(
            one.name.text in evidence.spots or "city" in one.name.sites for one in candidates
        ):
            return False
        before = reading.words[first - 1].canonical if first else ""
        return before not in self._name_places and not _is_order(reading, end)

    def _in_small_letters(self, reading: Reading, first: int) -> list[Found]:
        """Return the name that a kind of place in small letters begins: "boulangerie moreau".

        Only one word is looked at, and only where nothing follows that it could belong to. Of
        kinds that English shares ("hotel aurora") it stays open.
        """
        words, end = reading.words, first + 2
        if end > len(words) or reading.gap(first + 1) != " ":
            return []
        word = words[first + 1]
        if word.flags & _NO_OWN_PART or word.size < _SHORTEST_OWN or word.after.startswith("'"):
            return []
        if not (_stands_alone(reading, end) or words[end].flags & FUNCTION):
            return []
        foreign = words[first].canonical in self._tables.foreign_place_types
        shared = words[first].canonical in self._tables.shared_place_types
        return [Found(first, end, [], "unknown" if foreign and not shared else "doubtful")]


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


def _first(found: Found) -> int:
    return found.first


def _is_order(reading: Reading, end: int) -> bool:
    """Tell whether what ends before a word is all that a passenger says: "Miami, please."."""
    if end == len(reading.words) or end in reading.begins:
        return "!" not in reading.gap(end)
    return reading.words[end].canonical in _AFTER_A_NAME


class _Unknown:
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
        elif word.flags & FOREIGN and number in reading.begins:
            return  # its script may give every sentence a capital, too
        elif word.canonical in self._tables.sayings and not (
            _is_order(reading, end) or self._is_in_place(number)
        ):
            return
        elif number in reading.begins:  # and no ordinary word, or it would be no suspect
            surface = reading.surface(number, number + 1)
            alone = end - first > 1 or _stands_alone(reading, end) or not surface.isascii()
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
        return before in self._name_places and before not in _DETERMINERS

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
