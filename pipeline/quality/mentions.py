"""Find what a text names: names of the city, and what looks like a name and is none of them.

    "Head to Café Ceuta, then past Zanzibar Plaza"
    ->  Found(2, 4, [Candidate(EXACT, Café Ceuta)]), Found(6, 8, [])

Names the city has are found word by word, however they are written. What else looks like a name is
told by its capitals: words with a capital that the start of a sentence does not explain, with their
connectors ("Rua do Vento"); in small letters by a word for a street, as this city's streets have it
("rua do vento"), or by an English one after a word that is no English ("along vento street"). Of a
word that begins a sentence it takes a list of ordinary words and what follows. Where neither tells,
the words are `doubtful`: a verifier may judge them, no rule does. So are words of other scripts
that the city does not have: such a script shows no capitals.
"""

import re

from pipeline.quality.addresses import house_numbers
from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import fold, word_set
from pipeline.quality.gazetteer import EXACT, Found, Gazetteer, How, Match
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
    HINT_MONTH,
    HINT_TERM,
    NO_NAME,
    STREET,
    Reading,
)
from pipeline.quality.second_look import SecondLook
from pipeline.quality.tables import WordTables
from pipeline.quality.unknown_names import (
    DETERMINERS,
    NOT_INSIDE,
    UnknownNames,
    is_order,
    is_ordinal,
    stands_alone,
)

# What a kind of place in small letters may not have after it as its own part.
_NO_OWN_PART = COMMON | CONNECTOR | DIGIT | NO_NAME | GENERIC | CAPITAL
_SHORTEST_OWN = 3
# Joiners of a street's name in other languages than English: "rue du lac".
_NO_JOINERS = NOT_INSIDE | {"of"}
# Before a known road or place these make it another: "North Kaivokatu". Not after a word of going.
_PARTS_OF_ROADS = word_set(
    "north south east west northeast northwest southeast southwest upper lower"
)
_GOING = word_set("head heads heading go goes going turn turns turning keep keeps keeping due drive"
                  " drives driving bound facing run runs running continue continues continuing"
                  " bend bends bending lead leads leading")  # fmt: skip
# English words for streets, canonical; before them stands a street's own part.
STREETS = frozenset({"st", "rd", "ave", "ln", "blvd"})
_EXTENDING = CAPITAL | DIGIT
_JOINING_SIGN = re.compile(r"[&+]| (?:and|ja|och|et|und|e|y|n|en) |'n'", re.IGNORECASE)
_LONGEST_SHORT_FORM = 5
_MAY_STAND_ALONE = CAPITAL | CASELESS
_NO_SUSPECT = NO_NAME | HINT_TERM
_ORDINARY = COMMON | CONNECTOR | DIGIT | NO_NAME


class NameFinder:
    """Finds names in the texts of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names and what tells a name from other words."""
        self._names, self._tables = names, tables
        self._look = SecondLook(names, tables)
        self._kinds = tables.foreign_place_types | tables.shared_place_types
        self._sayings = tables.sayings.intersection(names.tree)
        # What shows that a word in small letters may be of a street.
        self.street_words = self._look.leading | STREETS
        self.street_endings = self._look.endings
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
            unknown = UnknownNames(reading, found, self._tables, self._look, self._name_places)
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
                    if (
                        match is not None
                        and _is_meant(reading, here, match, evidence)
                        and not (
                            word.canonical in sayings
                            and self._is_saying(reading, here, match, evidence)
                        )
                    ):
                        end, candidates = match
                        level, name = candidates[0].level, candidates[0].name
                        how: How = "exact" if level == EXACT else "short"
                        one = Found(here, end, candidates, how)
                        if name.joined or (here > done and words[here - 1].flags & _EXTENDING):
                            one = _looked_at(reading, one, done)
                        found.append(one)
                        done = end
                        continue
            if not flags & CAPITAL:
                small = self._in_small_letters(reading, here, done, evidence)
                found += small
                done = small[0].end if small else done
            elif not flags & _NO_SUSPECT and not (flags & COMMON and here in begins):
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
        return before not in self._name_places and not is_order(reading, end)

    def _small_street(
        self, reading: Reading, here: int, done: int, evidence: Evidence
    ) -> list[Found]:
        """Return a street in small letters that a word tells of: "rue du lac", "via vento street".

        Args:
            reading: The text.
            here: A word for streets, or one that ends as this city's streets do.
            done: Number of the word after the name before.
            evidence: The trip's own record.
        """
        words, street = reading.words, reading.words[here].canonical
        first, end = here, here + 1
        if street in self._look.leading:
            end = _own_end(reading, here)
        elif street in STREETS and here > max(done, 1) and not reading.breaks(here):
            own, before = words[here - 1], words[here - 2].canonical
            named = not own.flags & _NO_OWN_PART and own.size >= _SHORTEST_OWN
            first = here - 1 if named and before in self._name_places else here
        known = self._names.longest(reading, first)
        if known is not None and known[0] >= end:
            return []  # words that a name of the city has, meant as mere words
        alone = end - first == 1 and (
            words[here].flags & COMMON or not self._look.is_street(street)
        )
        if alone or (first and words[first - 1].canonical in DETERMINERS):
            return []
        found = self._look.at(reading, first, end, evidence)
        return [found or Found(first, end, [], "unknown")]

    def _in_small_letters(
        self, reading: Reading, here: int, done: int, evidence: Evidence
    ) -> list[Found]:
        """Return the name in small letters that a kind of place or street shows; [] for none."""
        word = reading.words[here]
        if word.canonical in self._kinds:
            return self._small_place(reading, here)
        return self._small_street(reading, here, done, evidence) if word.flags & STREET else []

    def _small_place(self, reading: Reading, first: int) -> list[Found]:
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
        if not (stands_alone(reading, end) or words[end].flags & FUNCTION):
            return []
        foreign = words[first].canonical in self._tables.foreign_place_types
        shared = words[first].canonical in self._tables.shared_place_types
        return [Found(first, end, [], "unknown" if foreign and not shared else "doubtful")]


def _own_end(reading: Reading, first: int) -> int:
    """Return where the name ends that a word for streets begins; right after it where none does.

    Its own part is no English word, but for one after "du", "de la" and the like.
    """
    words, end = reading.words, first + 1
    joined, own = False, first + 1
    while end < len(words) and not reading.breaks(end) and end not in reading.begins:
        word = words[end]
        if word.flags & CONNECTOR and word.canonical not in _NO_JOINERS:
            joined = True
        elif word.flags & (FUNCTION | DIGIT | CAPITAL) or (word.flags & COMMON and not joined):
            break
        elif words[first].flags & COMMON and own == first + 1 and not joined:
            break  # "the avenue winds"
        else:
            own, joined = end + 1, False
        end += 1
    return own


def _looked_at(reading: Reading, one: Found, done: int) -> Found:
    """Return a name as it was found, or the other name that the words of the text make it.

    Args:
        reading: The text.
        one: The name.
        done: Number of the word after the name before; 0 for none.
    """
    name = one.candidates[0].name
    if one.first > done and _is_extended(reading, one.first):
        of_town = name.sites.keys() <= {"city", "district"}
        if not of_town:
            return Found(one.first - 1, one.end, [], "unknown")
    if name.joined and not _JOINING_SIGN.search(reading.surface(one.first, one.end)):
        return Found(one.first, one.end, one.candidates, "short")  # "Ben Jerry's"
    return one


def _is_extended(reading: Reading, first: int) -> bool:
    """Tell whether the word before a name makes it another: "North Kaivokatu", "12th Kaivokatu"."""
    before = reading.words[first - 1]
    if before.after != " ":
        return False
    second = reading.words[first - 2] if first > 1 and first - 1 not in reading.begins else None
    if before.canonical in _PARTS_OF_ROADS:
        return second is None or second.canonical not in _GOING
    a_day = second and (second.canonical == "the" or second.flags & HINT_MONTH)  # "on June 12th"
    return is_ordinal(before) and not a_day


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
        alone = begins and candidates[0].level == EXACT and stands_alone(reading, end)
        return own and (alone or (as_held and len(words) > 1))
    # In small letters the name of a place may be a word that no list of ordinary words has.
    no_place = any(candidate.name.sites.keys() - {"place"} for candidate in candidates)
    return begins or len(words) > 1 or as_held or no_place


def _first(found: Found) -> int:
    return found.first


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
