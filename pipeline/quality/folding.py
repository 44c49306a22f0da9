"""Fold words for comparison: no case, no accents; the text itself is never changed.

    fold("François")                    ->  "francois"
    fold("Łódź"), fold("Đà"), fold("ß") ->  "lodz", "da", "ss"
    split_words("Rua Prof. D'Ávila.")
    ->  (["Rua", "Prof", "D", "Ávila"], ["", " ", ". ", "'", "."])

A text is compared word by word, so a name never ends inside a word ("3rd Street" is not in "23rd
Street") and dots, hyphens and apostrophes between words do not count. Letters of scripts written
without blanks are words by themselves.
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
_ACCENTS = "\u0300-\u036f"
# Scripts written without blanks: each letter is a word, and a name may begin anywhere.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_GAP = re.compile(rf"([^\w{_ACCENTS}]+)")
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")
_BESIDE_UNSPACED = re.compile(
    rf"(?<=[{_UNSPACED}])(?=[\w{_ACCENTS}])|(?<=[\w{_ACCENTS}])(?=[{_UNSPACED}])"
)


def fold(word: str) -> str:
    """Return a word as it is compared; "" for "" and for accents alone."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFKD", folded).translate(_LETTERS)
    return "".join(part for part in parts if not unicodedata.combining(part))


def split_words(text: str) -> tuple[list[str], list[str]]:
    """Split a text into its words and what stands around them.

    Returns:
        The words, and one gap more: before each word and after the last; "" where nothing stands.
        Put together again they are the text.
    """
    parts = _GAP.split(text)
    words, gaps = parts[::2], parts[1::2]
    if words[0]:
        gaps.insert(0, "")
    else:
        del words[0]
    if words and not words[-1]:
        words.pop()
    else:
        gaps.append("")
    if not text.isascii() and _ANY_UNSPACED.search(text):
        return _letter_by_letter(words, gaps)
    return words, gaps


def _letter_by_letter(words: list[str], gaps: list[str]) -> tuple[list[str], list[str]]:
    split, around = [], []
    for word, gap in zip(words, gaps, strict=False):
        letters = _BESIDE_UNSPACED.split(word)
        split += letters
        around += [gap, *[""] * (len(letters) - 1)]
    return split, [*around, gaps[-1]]


def folded_words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return [fold(word) for word in split_words(text)[0]]


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, folded, as a set."""
    return frozenset(folded_words(words))
