"""Common nouns that claim something of the way: a pharmacy, the river, a bridge.

    "past the river to a pharmacy" on a trip with water in phase 2 and no pharmacy
    ->  Stated("river", noun, supported), Stated("pharmacy", noun, unverified)
    "ends beside a church" where only phase 0 has one  ->  Stated("church", noun, unverified)

The annotator saw a few words on each area and the nearest places, so what they show is supported.
What they do not show no rule decides here: the words may mean something else, and the verifier
reads them. Nothing is claimed by what is kept off ("avoid the parks"). Paper: A.3.6, "Data
Grounding".
"""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from pipeline.errors import ParameterError
from pipeline.language.areas import lies_in, read_area, touches
from pipeline.language.vocabulary import Vocabulary
from pipeline.params import document_of
from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import fold, folded_words, word_set
from pipeline.quality.phrases import PhraseTree
from pipeline.quality.reading import CAPITAL, DIGIT, HINT_REFUSAL, Reading
from pipeline.quality.stated import SUPPORTED, UNVERIFIED, Stated
from pipeline.quality.tables import WordTables
from pipeline.records import Mention, Phase, Place

# Words before a noun that are looked at for a refusal.
_REFUSAL_WINDOW = 9
# Before "out" these keep off; other words go there: "where people go out".
_KEEPING_OUT = word_set("leave leaving left keep keeps keeping stay stays staying kept stayed")
# Words that say where a thing is that follows them, the end or the start of the trip, and words on
# the way to it. A phase is so short that its neighbour will do.
_AT_END = word_set("end ends ending finish finishes finishing terminates terminating")
_AT_START = word_set(
    "start starts starting begin begins beginning leave leaves leaving depart departs departing"
)
_TO_PLACE = word_set(
    "a an the at on by in beside near next to close right just opposite from out outside front of "
    "across up down off its it drive trip ride journey route day with there"
)
_MOST_TO_PLACE, _PHASES_AT_END = 12, 2
# Names, categories and descriptions remembered; a city has some ten thousand.
_KEPT = 1 << 20


class Noun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of nouns.yaml: words, and what bears them out."""

    words: list[str]
    zones: list[str] = []
    facilities: list[str] = []
    parts: list[Annotated[str, Meta(pattern=r"^\S+$")]] = []


class NounTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of nouns.yaml."""

    nouns: list[Noun]
    also_verbs: list[str]
    before_nouns: list[str]
    keeping_off: list[str]


def read_nouns(file: Path, words: Vocabulary) -> NounTable:
    """Read the table of nouns.

    Raises:
        ParameterError: It is broken, or names a zone or kind that the vocabulary has not.
    """
    table: NounTable = document_of(file, NounTable)
    known = {zone.code for zone in words.zones} | {kind.code for kind in words.facilities}
    for noun in table.nouns:
        unknown = {*noun.zones, *noun.facilities} - known
        if unknown:
            raise ParameterError(
                f"{file.name}: nouns: {noun.words[0]}: expected codes of prompts/vocabulary.yaml,"
                f" found {', '.join(sorted(unknown))}; mend the file"
            )
    return table


class NounClaims:
    """Finds the nouns of texts and what bears them out."""

    def __init__(self, table: NounTable, tables: WordTables, words: Vocabulary) -> None:
        """Plant the nouns in a tree, singular and plural, with the numbers of their lines."""
        self.tree: PhraseTree[int] = PhraseTree()
        self._nouns = table.nouns
        for number, noun in enumerate(table.nouns):
            for phrase in noun.words:
                *before, last = folded_words(phrase)
                start = [tables.canonical(word) for word in before]
                self.tree.add([*start, tables.canonical(last)], number)
                self.tree.add([*start, tables.canonical(f"{last}s")], number)
        # The bit that says that places were looked at too.
        self._complete = 2 << len(table.nouns)
        self._shown_by = [_shown_by(noun) for noun in table.nouns]
        self._also_verbs = {tables.canonical(word) for word in table.also_verbs}
        # Words that are a noun by themselves, begin no longer one and are no verb.
        self._plain: dict[str, int] = {
            word: node[""]
            for word, node in self.tree.root.items()
            if node.keys() == {""} and word not in self._also_verbs
        }
        self._before = {fold(word) for word in table.before_nouns}
        self.refusing = frozenset(map(fold, table.keeping_off))
        self._words = words
        self._kinds = {c: kind.code for kind in words.facilities for c in kind.categories}
        self._shown: dict[str, int] = {}
        self._places: dict[str, int] = {}

    def noun_claim(
        self, reading: Reading, number: int, evidence: Evidence, mentions: Sequence[Mention]
    ) -> Stated | None:
        """Return what a noun claims that begins with a word; None where it claims nothing."""
        word = reading.words[number]
        plain = self._plain.get(word.canonical)
        if plain is not None and not reading.flags & HINT_REFUSAL:
            noun, start = plain, reading.starts[number]
            end = start + word.size
        else:
            found = self.tree.after(reading.words, number)
            if found is None or not self._is_claimed(reading, number, found[0]):
                return None
            noun, start = found[1], reading.starts[number]
            end = reading.end(found[0] - 1)
        expected = self._shown_by[noun]
        if not self._is_of_trip(evidence, noun):
            return Stated(start, end, "noun", UNVERIFIED, expected, "record")
        before = reading.words[number - 1].canonical if number else ""
        phases = _phases_told(reading, number, evidence, mentions) if before in _TO_PLACE else []
        if phases and not self._of_phases(evidence, phases) >> noun & 1:
            told = " or ".join(str(phase.p) for phase in phases)
            expected = f"{expected}, in phase {told}"
            return Stated(start, end, "noun", UNVERIFIED, expected, "record")
        return Stated(start, end, "noun", SUPPORTED, expected, "record")

    def _is_claimed(self, reading: Reading, first: int, end: int) -> bool:
        words = reading.words
        if reading.flags & HINT_REFUSAL and _is_refused(reading, first):
            return False
        if end - first > 1 or words[first].canonical not in self._also_verbs:
            return True
        if first in reading.begins:
            return end == len(words) or end in reading.begins or bool(reading.breaks(end))
        return words[first - 1].canonical in self._before

    def _is_of_trip(self, evidence: Evidence, noun: int) -> bool:
        """Tell whether a trip's record bears a noun out; places are looked at last."""
        shown = evidence.nouns
        if shown is None:
            shown = evidence.nouns = self._of(evidence.trip.phases, ())
        if shown >> noun & 1:
            return True
        if not shown & self._complete:
            places = self._of((), evidence.trip.places)
            shown = evidence.nouns = shown | places | self._complete
        return bool(shown >> noun & 1)

    def _of_phases(self, evidence: Evidence, phases: Sequence[Phase]) -> int:
        """Return which nouns some phases bear out."""
        numbers = {phase.p for phase in phases}
        return self._of(phases, [one for one in evidence.trip.places if one.phase in numbers])

    def _of(self, phases: Sequence[Phase], places: Sequence[Place]) -> int:
        shown, of_places = self._shown, self._places
        found = 0
        for phase in phases:
            found |= shown.get(phase.desc) or self._look(phase.desc, is_area=True)
            for road in phase.road_names:
                found |= shown.get(road) or self._look(road)
        for place in places:
            found |= of_places.get(place.id) or self._look_at_place(place)
        return found

    def _look_at_place(self, place: Place) -> int:
        if len(self._places) >= _KEPT:
            self._places.clear()
        found = self._look(place.name) | (self._look(place.category) if place.category else 0)
        self._places[place.id] = found
        return found

    def _look(self, text: str, *, is_area: bool = False) -> int:
        """Return which nouns a name, a category or an area description bears out.

        The lowest bit beyond the nouns is set, so that "none" is remembered as well.
        """
        if len(self._shown) >= _KEPT:
            self._shown.clear()
        zones: set[str] = set()
        facilities = {self._kinds[text]} if text in self._kinds else set()
        words = folded_words(text)
        if is_area:
            area = read_area(text)
            zones = {z.code for z in self._words.zones if lies_in(area, z) or touches(area, z)}
            facilities = {self._kinds[word] for word in area.facilities if word in self._kinds}
            told = (*area.natural, *area.commercial, *area.facilities, area.district or "")
            words = [word for part in told for word in folded_words(part)]
        found = 1 << len(self._nouns)
        written = " ".join(words)  # no part holds a blank, so none is found across two words
        for number, noun in enumerate(self._nouns):
            if (
                not zones.isdisjoint(noun.zones)
                or not facilities.isdisjoint(noun.facilities)
                or any(part in written for part in noun.parts)
            ):
                found |= 1 << number
        self._shown[text] = found
        return found


def _is_refused(reading: Reading, noun: int) -> bool:
    """Tell whether words before a noun say that it is kept off or not there: "past no museum"."""
    words, here = reading.words, noun
    lowest = max(0, noun - _REFUSAL_WINDOW)
    while here > lowest and here not in reading.sentences:
        here -= 1
        word = words[here].canonical
        if word == "then":
            return False  # "without a stop and then to a museum"
        if words[here].flags & HINT_REFUSAL:
            before = words[here - 1].canonical if here else ""
            if (word != "out" or before in _KEEPING_OUT) and (word, before) != ("not", "why"):
                return True
    return False


def _phases_told(
    reading: Reading, number: int, evidence: Evidence, mentions: Sequence[Mention]
) -> list[Phase]:
    """Return the phases in which a text says a noun is, at the start or end; none if it is open."""
    words, here = reading.words, number
    lowest = max(0, number - _MOST_TO_PLACE)
    while here > lowest and here not in reading.begins:
        word = words[here - 1]
        if word.after != " " and reading.breaks(here):
            break
        here -= 1
        if word.canonical in _TO_PLACE:
            continue
        if word.canonical in _AT_END:
            return evidence.trip.phases[-_PHASES_AT_END:]
        if word.canonical in _AT_START:
            return evidence.trip.phases[:_PHASES_AT_END]
        if not word.flags & (CAPITAL | DIGIT):
            break
        start = reading.starts[here]
        name = next((one for one in mentions if one.start <= start < one.end), None)
        if name is None:
            break
        here = bisect_left(reading.starts, name.start)
    return []


def _shown_by(noun: Noun) -> str:
    """Return what of a record bears a noun out, in words."""
    told = ", ".join([*noun.zones, *noun.facilities, *noun.parts][:4])
    return f"in the record: {told or 'nothing can show it'}"
