"""Zones and kinds of places in words: what a text asks for, and how area descriptions say it.

words = FeatureWords(vocabulary())
words.find(reading)[0]           ->  Told(first=3, end=5, code="nightlife")
words.described("hairdresser")   ->  ("hair salon", "barber", "barber shop")
words.lies("green", cell)        of a cell of the release, whether it lies there
"""

from pathlib import Path
from typing import Any, NamedTuple

from pipeline.language.areas import lies_in, read_area
from pipeline.language.vocabulary import Facility, Vocabulary, Zone
from pipeline.params import document_of
from pipeline.quality.claims_nouns import read_nouns
from pipeline.quality.folding import fold, folded_words
from pipeline.quality.phrases import PhraseTree
from pipeline.quality.reading import Reading
from pipeline.quality.tables import TABLES

WORDS_FILE = Path(__file__).with_name("feature_words.yaml")
_ARTICLES = frozenset({"a", "an", "the"})


class Told(NamedTuple):
    """A feature in a text: number of its first word, of the word after it, and its code."""

    first: int
    end: int
    code: str


class _Folded(NamedTuple):
    """A word as it is written: by its short form "drive" would be a doctor."""

    canonical: str


class FeatureWords:
    """The words for features."""

    def __init__(self, words: Vocabulary) -> None:
        """Read the tables.

        Raises:
            ParameterError: A table is missing or broken.
        """
        self._zones: dict[str, Zone] = {zone.code: zone for zone in words.zones}
        self._kinds: dict[str, Facility] = {kind.code: kind for kind in words.facilities}
        self._tree: PhraseTree[str] = PhraseTree()
        for code, zone in self._zones.items():
            self._add(zone.words, code)
        for code, kind in self._kinds.items():
            for phrase in (kind.words, *kind.categories):
                self._add(phrase, code)
        for noun in read_nouns(TABLES / "nouns.yaml", words).nouns:
            codes = [*noun.facilities, *noun.zones]
            for phrase in noun.words if codes else ():
                self._add(phrase, codes[0])
        said: dict[str, list[str]] = document_of(WORDS_FILE, dict[str, list[str]])
        for code, phrases in said.items():
            for phrase in phrases:
                self._add(phrase, code)

    def _add(self, phrase: str, code: str) -> None:
        words = folded_words(phrase)
        if words[0] in _ARTICLES and len(words) > 1:
            words = words[1:]
        self._tree.add(words, code)
        self._tree.add([*words[:-1], f"{words[-1]}s"], code)

    def find(self, reading: Reading) -> list[Told]:
        """Return the features a text speaks of, in its order, none within another."""
        words = [_Folded(fold(reading.surface(k, k + 1))) for k in range(len(reading.words))]
        found, here = [], 0
        while here < len(words):
            match = self._tree.after(words, here)
            if match is None or any(reading.breaks(k) for k in range(here + 1, match[0])):
                here += 1
                continue
            found.append(Told(here, match[0], match[1]))
            here = match[0]
        return found

    def is_zone(self, code: str) -> bool:
        """Tell whether a feature is a zone, not a kind of place."""
        return code in self._zones

    def described(self, code: str) -> tuple[str, ...]:
        """Return the words by which area descriptions show a feature."""
        if code in self._kinds:
            return tuple(self._kinds[code].categories)
        zone = self._zones[code]
        return (*zone.geo_tags, *zone.natural, *zone.commercial)

    def lies(self, code: str, cell: dict[str, Any]) -> bool:
        """Tell whether a cell lies in a zone, or holds a place of a kind.

        Args:
            code: The feature.
            cell: Its `description` and `pois`.
        """
        if code in self._zones:
            return lies_in(read_area(cell["description"]), self._zones[code])
        return any(self.is_kind(code, poi["category"]) for poi in cell["pois"])

    def is_kind(self, code: str, category: str | None) -> bool:
        """Tell whether a place of a category (null for none) is one of a kind."""
        return str(category).replace("_", " ") in self._kinds[code].categories
