"""A text as quality control reads it: its words, where they lie, and what kind of word each is.

    reading = Lexicon(tables, heads).read("Head to Café Ceuta by 4 AM.")
    reading.words[2]   ->  Word(canonical="cafe", flags=CAPITAL | COMMON | HEAD, code=...)
    reading.starts[2]  ->  8,  reading.end(2)  ->  12

What is known of a word does not depend on where it stands, so each different word of a city's texts
is looked at once. So is each different piece between two blanks ("Ceuta,"): it is taken apart into
words and marks, and a text is put together from its pieces. All rules then work on words and on the
flags of a whole text.
"""

import zlib
from collections.abc import Collection, Mapping
from functools import lru_cache, reduce
from operator import attrgetter, or_

import msgspec

from pipeline.quality.folding import fold, split_letters, split_words
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
NUMERIC = 1 << 11  # says a number
HINT_COURSE = 1 << 12  # a direction
HINT_PART = 1 << 13  # begins a part of the day
HINT_DAY = 1 << 14  # a day of the week or a kind of day
HINT_MONTH = 1 << 15  # a month
HINT_NOUN = 1 << 16  # begins a noun that claims something of the way
HINT_TERM = 1 << 17  # begins a label or a word of the pipeline
HINT_REFUSAL = 1 << 18  # says that something is kept off or not there
ANY_CLAIM = NUMERIC | HINT_COURSE | HINT_PART | HINT_DAY | HINT_MONTH | HINT_NOUN

# Between two words of one name; anything else ends the name unless the name holds it too.
_SOFT = frozenset(" -'’.&/\u00a0`´‘•+@")
_ENDS_SENTENCE = frozenset('.!?…:;\n"“”«»(—>')
# After these a capital is due though the sentence goes on: "From: A", "A > B".
_GOES_ON = frozenset(':>("“«')
_CLAUSE, _SENTENCE = 1, 2
# Different words and pieces remembered; a city's texts hold far fewer.
_WORDS_KEPT = 1 << 20
# Of a piece that cannot be told by itself, as it begins with a mark or has no word.
_ODD = 1 << 19
_WHOLE = _ODD | CASELESS


# Codes of words that begin with a digit lie above those of all others.
NUMBERS_FROM = 1 << 32
_FLAGS_OF = attrgetter("flags")


class Word(msgspec.Struct, frozen=True, gc=False):
    """What is known of a word wherever it stands.

    Attributes:
        canonical: Folded and brought to its short form; what names are compared by.
        flags: Bits, see above.
        code: Hash of the folded word, the same on every machine; of a number from NUMBERS_FROM on.
    """

    canonical: str
    flags: int
    code: int


# A word of a piece, the marks and the blank after it, and how long both are together.
_Part = tuple[Word, str, int]
_ODD_PART: _Part = (Word("", _ODD, 0), " ", 0)


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A text and its words.

    Attributes:
        text: As it stands.
        words: Its words in order.
        gaps: What stands before each word, and after the last.
        starts: Where each word begins, in characters.
        flags: Flags of all words together.
        begins: Words at which a capital is due anyway: the first, those after a full stop or a
            colon. The full stop of an abbreviation ("St. George", "John F. Kennedy") is none.
        sentences: Those of them at which a sentence begins; after "From:" none does.
    """

    text: str
    words: list[Word]
    gaps: list[str]
    starts: list[int]
    flags: int
    begins: set[int]
    sentences: set[int]

    def end(self, word: int) -> int:
        """Return where a word ends, in characters."""
        return self.starts[word + 1] - len(self.gaps[word + 1])

    def surface(self, first: int, end: int) -> str:
        """Return the text from a word up to, not including, another."""
        return self.text[self.starts[first] : self.end(end - 1)]

    def breaks(self, word: int) -> str:
        """Return the marks before a word that may not stand within a name: "," but not "-"."""
        gap = self.gaps[word]
        return "" if gap == " " else _marks(gap)


@lru_cache(maxsize=4096)
def _ending(gap: str) -> int:
    """Return what a gap ends: nothing, a clause that a capital follows, or a sentence."""
    if _ENDS_SENTENCE.isdisjoint(gap):
        return 0
    return _SENTENCE if _GOES_ON.isdisjoint(gap) else _CLAUSE


@lru_cache(maxsize=4096)
def _marks(gap: str) -> str:
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
            hints: Further flags by folded or canonical word.
        """
        super().__init__()
        self._tables, self._heads, self._hints = tables, heads, hints
        self._pieces: dict[str, tuple[_Part, ...]] = {}

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
            flags |= DIGIT | NUMERIC
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
        # "the" and "on" begin a name only where they have a capital; without, the name is found
        # from its next word on.
        mere = first.islower() and flags & FUNCTION and (folded == "the" or not flags & CONNECTOR)
        flags |= HEAD if canonical in self._heads and not mere else 0
        flags |= ABBREVIATION if folded in tables.dotted or len(folded) == 1 else 0
        code = zlib.crc32(folded.encode()) + (NUMBERS_FROM if flags & DIGIT else 0)
        return Word(canonical, flags, code)

    def read(self, text: str) -> Reading:
        """Return a text's words; none for a text without."""
        words: list[Word] = []
        gaps, starts, here, flags = [""], [], 0, 0
        pieces = self._pieces
        for piece in text.split(" "):
            for word, gap, length in pieces.get(piece) or self._taken_apart(piece):
                words.append(word)
                gaps.append(gap)
                starts.append(here)
                here += length
                flags |= word.flags
        gaps[-1] = gaps[-1][:-1]  # no blank follows the last piece
        starts.append(len(text))
        if flags & _WHOLE:
            words, gaps, starts = self._read_whole(text)
            flags = reduce(or_, map(_FLAGS_OF, words), 0)
        return Reading(text, words, gaps, starts, flags, *_begins(words, gaps))

    def _taken_apart(self, piece: str) -> tuple[_Part, ...]:
        """Return the words of a piece that has not been met, with the marks after them."""
        if len(self._pieces) >= _WORDS_KEPT:
            self._pieces.clear()
        raw, (before, *gaps), _ = split_words(piece)
        parts: tuple[_Part, ...] = (_ODD_PART,)
        if raw and not before:
            gaps[-1] += " "
            parts = tuple(
                (self[word], gap, len(word) + len(gap)) for word, gap in zip(raw, gaps, strict=True)
            )
        self._pieces[piece] = parts
        return parts

    def _read_whole(self, text: str) -> tuple[list[Word], list[str], list[int]]:
        """Return the words, gaps and starts of a text that its pieces alone do not tell."""
        raw, gaps, starts = split_words(text)
        words = [self[word] for word in raw]
        if any(word.flags & CASELESS for word in words):
            raw, gaps, starts = split_letters(raw, gaps)
            words = [self[word] for word in raw]
        return words, gaps, starts


def _begins(words: list[Word], gaps: list[str]) -> tuple[set[int], set[int]]:
    """Return the words at which a capital is due anyway, and those at which a sentence begins."""
    begins, sentences = {0}, {0}
    for number in [number for number, gap in enumerate(gaps) if gap != " "]:
        ends = _ending(gaps[number])
        if not ends or not 0 < number < len(words):
            continue
        before = words[number - 1].flags
        if before & ABBREVIATION and gaps[number] == ". " and not words[number].flags & COMMON:
            continue
        begins.add(number)
        if ends == _SENTENCE:
            sentences.add(number)
    return begins, sentences
