"""METEOR: aligned words of two texts, by form, stem and synonym (Banerjee and Lavie, 2005).

    meteor = Meteor.with_wordnet(folder)     meteor.name  ->  "meteor"
    meteor = Meteor.without_wordnet()        meteor.name  ->  "meteor_exact_stem": another measure
    meteor.score(["the", "car", "turns"], ["an", "automobile", "turned"])

Scores are those of NLTK; stems and synonyms of a word are looked up once. Synonyms come from
WordNet, which `pipeline.tasks.wordnet` brings; without it a score is lower and not to be compared.
"""

import functools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class _Lemma(NamedTuple):
    text: str

    def name(self) -> str:
        return self.text


class _Synonyms(NamedTuple):
    """All synonyms of one word, in the shape in which NLTK asks a set of them."""

    found: list[_Lemma]

    def lemmas(self) -> list[_Lemma]:
        return self.found


class Meteor:
    """Scores captions.

    Attributes:
        name: Of the measure.
        wordnet: NLTK's reader of WordNet; None without synonyms.
    """

    def __init__(self, wordnet: Any | None) -> None:
        """Prepare NLTK.

        Args:
            wordnet: NLTK's reader of WordNet; None to do without synonyms.
        """
        from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - slow import
        from nltk.translate.meteor_score import single_meteor_score  # noqa: PLC0415

        self.name = "meteor_exact_stem" if wordnet is None else "meteor"
        self._score, self.wordnet = single_meteor_score, wordnet
        self.stem = functools.cache(PorterStemmer().stem)
        self._synonyms = functools.cache(self._look_up)
        self._asked: frozenset[str] = frozenset()

    @classmethod
    def without_wordnet(cls) -> "Meteor":
        """Return a scorer that knows no synonyms."""
        return cls(None)

    @classmethod
    def with_wordnet(cls, folder: Path) -> "Meteor":
        """Return a scorer that knows the synonyms of a WordNet.

        Args:
            folder: Data of NLTK, as `pipeline.tasks.wordnet` lays them.
        """
        import nltk  # noqa: PLC0415 - slow import

        # Found there and nowhere else, whatever other versions the machine has.
        nltk.data.path.insert(0, str(folder))
        with warnings.catch_warnings():
            # Other languages, which are not asked for, need more files.
            warnings.filterwarnings("ignore", "The multilingual functions")
            nltk.corpus.wordnet.ensure_loaded()
        return cls(nltk.corpus.wordnet)

    def score(self, reference: Sequence[str], caption: Sequence[str]) -> float:
        """Return the score of a caption, 0 to below 1; 0 where no word is alike.

        Args:
            reference: Its words, without case.
            caption: Likewise.
        """
        # What is neither form nor stem of the other text need not be looked through.
        self._asked = frozenset([*reference, *map(self.stem, reference)])
        scored: float = self._score(reference, caption, stemmer=self, wordnet=self)
        return scored

    def synsets(self, word: str) -> list[_Synonyms]:
        """Return the synonyms of a word, so far as the reference may have them."""
        return [_Synonyms([_Lemma(name) for name in self._synonyms(word) & self._asked])]

    def _look_up(self, word: str) -> frozenset[str]:
        if self.wordnet is None:
            return frozenset()
        return frozenset(
            lemma.name() for synset in self.wordnet.synsets(word) for lemma in synset.lemmas()
        )
