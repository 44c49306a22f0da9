"""Fold words for comparison: no case, no accents; the text itself is never changed.

    fold("François")                    ->  "francois"
    fold("Łódź"), fold("Đà"), fold("ß") ->  "lodz", "da", "ss"
    split_words("Rua Prof. D'Ávila.")
    ->  (["Rua", "Prof", "D", "Ávila"], ["", " ", ". ", "'", "."], [0, 4, 10, 12, 18])

A text is compared word by word, so a name never ends inside a word ("3rd Street" is not in "23rd
Street") and dots, hyphens and apostrophes between words do not count. Letters of scripts written
without blanks are words by themselves.
"""

import re
import unicodedata
from itertools import accumulate

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
_HAS_ACCENT = re.compile(f"[{_ACCENTS}]")
_GAP = re.compile(r"([\W_]+)")
_GAP_BESIDE_ACCENTS = re.compile(rf"((?:[^\w{_ACCENTS}]|_)+)")
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


def split_words(text: str) -> tuple[list[str], list[str], list[int]]:
    """Split a text into its words and what stands around them.

    Returns:
        The words; one gap more: before each word and after the last, "" where nothing stands; and
        where each word begins, then the length of the text. Put together again, gaps and words are
        the text. Scripts without blanks are left to `split_letters`.
    """
    # An accent apart from its letter is no gap; the pattern that knows takes twice as long.
    accents = not text.isascii() and _HAS_ACCENT.search(text)
    parts = (_GAP_BESIDE_ACCENTS if accents else _GAP).split(text)
    ends = list(accumulate(map(len, parts)))
    words, gaps, starts = parts[::2], parts[1::2], ends[1::2]
    if words[0]:
        gaps.insert(0, "")
        starts.insert(0, 0)
    else:
        del words[0]
    if words and not words[-1]:
        words.pop()
    else:
        gaps.append("")
        starts.append(len(text))
    return words, gaps, starts


def split_letters(words: list[str], gaps: list[str]) -> tuple[list[str], list[str], list[int]]:
    """Split the words of scripts without blanks into letters; otherwise as `split_words`."""
    split, around = [], []
    for word, gap in zip(words, gaps, strict=False):
        letters = _BESIDE_UNSPACED.split(word)
        split += letters
        around += [gap, *[""] * (len(letters) - 1)]
    around.append(gaps[-1])
    lengths = [len(part) for pair in zip(around, split, strict=False) for part in pair]
    ends = list(accumulate(lengths))
    return split, around, [*ends[::2], sum(lengths) + len(gaps[-1])]


def all_words(text: str) -> list[str]:
    """Return the words of a text, letters of scripts without blanks one by one."""
    words, gaps, _ = split_words(text)
    return words if text.isascii() else split_letters(words, gaps)[0]


def folded_words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return [fold(word) for word in all_words(text)]


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, folded, as a set."""
    return frozenset(folded_words(words))
