"""Fold words for comparison: no case, no accents, no abbreviation; the text itself is never changed.

    fold("François")                 ->  "francois"
    fold("Vĩnh"), fold("Łódź")       ->  "vinh", "lodz"
    tokens_of("Rua Prof. D'Ávila")   ->  [("Rua", 0, 3), ("Prof", 4, 8), ("D", 10, 11), ...]

A text is compared word by word, so a name never ends inside a word ("3rd Street" is not in "23rd
Street") and dots, hyphens and apostrophes between words do not count. Letters of scripts written
without blanks are words by themselves. Paper: A.3.5 leaves the comparison open; see README.
"""

import re
import unicodedata

# NFKD leaves these as they are: they are letters of their own, not letters with an accent.
_LETTERS = str.maketrans(
    {
        "đ": "d", "ð": "d", "ł": "l", "ø": "o", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n", "ĸ": "k",
        "æ": "ae", "œ": "oe", "þ": "th", "ƒ": "f", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ŀ": "l",
    }
)  # fmt: skip
# Scripts written without blanks: each letter is a word, and a name may begin anywhere.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_WORD_OR_LETTER = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[\w\u0300-\u036f])+")
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")


def fold(word: str) -> str:
    """Return a word as it is compared; "" for "" and for accents alone."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFKD", folded).translate(_LETTERS)
    return "".join(part for part in parts if not unicodedata.combining(part))


def words_in(text: str) -> "re.Pattern[str]":
    """Return the pattern whose matches are the words of a text."""
    if text.isascii() or not _ANY_UNSPACED.search(text):
        return _WORD
    return _WORD_OR_LETTER


def folded_words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return [fold(word) for word in words_in(text).findall(text)]
