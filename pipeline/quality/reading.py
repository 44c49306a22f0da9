"""A text as quality control reads it: its words, where they lie, and what kind of word each is.

    reading = Lexicon(tables, heads).read("Head to Café Ceuta by 4 AM.")
    reading.words[2]   ->  Word(canonical="cafe", flags=CAPITAL | COMMON | HEAD, code=...)
    reading.starts[2]  ->  8

What is known of a word does not depend on where it stands, so each different word of a city's texts
is looked at once. All rules then work on words and on the flags of a whole text.
"""

import zlib
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pipeline.quality.folding import fold, words_in
from pipeline.quality.tables import WordTables

# What a word is; bits, so that the flags of a text are those of its words.
CAPITAL = 1 << 0  # begins with a capital letter
SHOUTED = 1 << 1  # two letters or more, all capitals
COMMON = 1 << 2  # an ordinary English word
CONNECTOR = 1 << 3  # joins the parts of a name
NO_NAME = 1 << 4  # has a capital for another reason: Monday, AM, I
GENERIC = 1 << 5  # part of any town: Station, Old
FUNCTION = 1 << 6  # stands in no name unless the name is known
DIGIT = 1 << 7  # begins with a digit
CASELESS = 1 << 8  # of a script without capitals
HEAD = 1 << 9  # a name of the city may begin with it
ABBREVIATION = 1 << 10  # a full stop after it ends no sentence: "St.", "F."
HINT = 1 << 11  # a claim, a label or a noun may begin with it

# Between two words of one name; anything else ends the name unless the name holds it too.
_SOFT = frozenset(" -'’.&/\u00a0`´‘•+@")
_ENDS_SENTENCE = frozenset(".!?…:;\n\"“”«»(—>")
# Different words remembered; a city's texts hold far fewer.
_WORDS_KEPT = 1 << 20


class Word(NamedTuple):
    """What is known of a word wherever it stands.

    Attributes:
        canonical: Folded and brought to its short form; what names are compared by.
        flags: Bits, see above.
        code: Hash of the folded word, the same on every machine.
    """

    canonical: str
    flags: int
    code: int


class Reading(NamedTuple):
    """A text and its words.

    Attributes:
        text: As it stands.
        words: Its words in order.
        starts: Where each begins, in characters.
        ends: Where each ends.
        flags: Flags of all words together.
    """

    text: str
    words: list[Word]
    starts: list[int]
    ends: list[int]
    flags: int

    def between(self, word: int) -> str:
        """Return what stands between a word and the one before it; before the first, all of it."""
        return self.text[self.ends[word - 1] if word else 0 : self.starts[word]]

    def surface(self, first: int, end: int) -> str:
        """Return the text from a word up to, not including, another."""
        return self.text[self.starts[first] : self.ends[end - 1]]

    def begins_sentence(self, word: int) -> bool:
        """Tell whether a capital is due here anyway: at the start, after a full stop or a colon.

        The full stop of an abbreviation ("St. George", "John F. Kennedy") ends no sentence.
        """
        if word == 0:
            return True
        gap = self.between(word)
        if gap in {" ", "-", "'", "’", ", "}:
            return False
        if gap == ". " and self.words[word - 1].flags & ABBREVIATION:
            return bool(self.words[word].flags & COMMON)
        return not _ENDS_SENTENCE.isdisjoint(gap)

    def breaks(self, word: int) -> str:
        """Return the marks before a word that may not stand within a name: "," but not "-"."""
        gap = self.between(word)
        if gap == " ":
            return ""
        if gap == " - ":
            return "-"
        return "".join(mark for mark in gap if mark not in _SOFT)


class Lexicon(dict[str, Word]):
    """Every word met so far; asking for a new one looks at it."""

    def __init__(
        self, tables: WordTables, *, heads: Collection[str], hints: Mapping[str, int]
    ) -> None:
        """Begin an empty lexicon.

        Args:
            tables: What decides what kind of word it is.
            heads: Canonical words that begin a name of the city.
            hints: Further flags by canonical word.
        """
        super().__init__()
        self._tables, self._heads, self._hints = tables, heads, hints

    def __missing__(self, raw: str) -> Word:
        if len(self) >= _WORDS_KEPT:
            self.clear()
        word = self._look(raw)
        self[raw] = word
        return word

    def _look(self, raw: str) -> Word:
        tables = self._tables
        folded = fold(raw)
        canonical = tables.short_form.get(folded, folded)
        first = raw[0]
        flags = self._hints.get(canonical, 0) | self._hints.get(folded, 0)
        if first.isdigit():
            flags |= DIGIT
        elif first.isupper() or first.istitle():
            flags |= CAPITAL
            flags |= SHOUTED if len(raw) > 1 and raw.isupper() else 0
        elif not first.islower():
            flags |= CASELESS
        flags |= COMMON if tables.is_common(folded) else 0
        flags |= CONNECTOR if folded in tables.connectors else 0
        flags |= NO_NAME if folded in tables.never_names else 0
        flags |= GENERIC if folded in tables.generic else 0
        flags |= FUNCTION if folded in tables.function_words else 0
        flags |= HEAD if canonical in self._heads else 0
        flags |= ABBREVIATION if folded in tables.dotted or len(folded) == 1 else 0
        return Word(canonical, flags, zlib.crc32(folded.encode()))

    def read(self, text: str) -> Reading:
        """Return a text's words; none for a text without."""
        words: list[Word] = []
        starts: list[int] = []
        ends: list[int] = []
        flags = 0
        for match in words_in(text).finditer(text):
            start, end = match.span()
            word = self[match.group()]
            flags |= word[1]
            words.append(word)
            starts.append(start)
            ends.append(end)
        return Reading(text, words, starts, ends, flags)
