"""ROUGE-L: how much of two texts is one sequence of words (Lin, 2004).

    rouge_l(words("On Åkatu."), words("On Äkatu."))              ->  0.5, one word of two
    rouge_l(ascii_words("On Åkatu."), ascii_words("On Äkatu."))  ->  1.0: both are "on", "katu"

The usual tokenizer (that of the package rouge-score) keeps a-z and 0-9 alone: it takes letters with
an accent for gaps, and names in other scripts away altogether. So words are split in two ways, and
a report has both under names of their own.
"""

import re
import unicodedata
from collections.abc import Sequence

from pipeline.quality.folding import all_words

_ASCII_WORDS = re.compile("[a-z0-9]+")


def words(text: str) -> list[str]:
    """Return the words of a text in any script, without case, accents kept.

    Letters of scripts that are written without blanks are words by themselves.
    """
    return [word.casefold() for word in all_words(unicodedata.normalize("NFC", text))]


def ascii_words(text: str) -> list[str]:
    """Return the runs of a-z and 0-9 of a text, as the package rouge-score splits it."""
    return _ASCII_WORDS.findall(text.lower())


def rouge_l(reference: Sequence[str], caption: Sequence[str]) -> float:
    """Return the F1 of the longest common subsequence, 0-1; 0 where a text has no word."""
    if not reference or not caption:
        return 0.0
    return 2 * longest_common(reference, caption) / (len(reference) + len(caption))


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence; 0 for an empty one.

    A row of the usual table is one whole number: a bit that is 0 where the length grows by one
    (Crochemore et al., 2001).
    """
    places: dict[str, int] = {}
    for number, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << number
    every = row = (1 << len(one)) - 1
    for word in other:
        here = row & places.get(word, 0)
        row = (row + here | row - here) & every
    return len(one) - row.bit_count()
