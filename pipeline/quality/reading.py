"""A text as quality control reads it: its words, where they lie, and what kind of word each is.

    reading = Lexicon(tables, heads).read("Head to Café Ceuta by 4 AM.")
    reading.words[2]   ->  Word(canonical="cafe", flags=CAPITAL | COMMON | HEAD, after=" ", ...)
    reading.starts[2]  ->  8,  reading.end(2)  ->  12

What is known of a word does not depend on where it stands, so each different piece between two
blanks ("Ceuta,") of a city's texts is looked at once, and a text is put together from its pieces.
All rules then work on words, each with the marks after it, and on the flags of a whole text.
"""

import re
import zlib
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache

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
UNTIDY = 1 << 19  # has marks after it, or before a text, that a rule on marks may mind
LETTERS = 1 << 20  # has a letter
FOREIGN = 1 << 21  # has a letter that is not Latin
HINT_TURN = 1 << 22  # a side to turn to
HINT_ORDER = 1 << 23  # tells two things one after the other
_ENDS_CLAUSE = 1 << 24  # a capital is due after it
_ENDS_SENTENCE = 1 << 25  # and a sentence begins there
STREET = 1 << 27  # a word for streets, or one that ends as the city's streets do
_ODD = 1 << 26  # no word, but a piece that begins with a mark or is none but marks
ANY_CLAIM = NUMERIC | HINT_COURSE | HINT_PART | HINT_DAY | HINT_MONTH | HINT_NOUN | HINT_TURN
_NAME = HEAD | CAPITAL | STREET
_ENDS = _ENDS_CLAUSE | _ENDS_SENTENCE
_NOTED = _NAME | ANY_CLAIM | _ENDS

# Between two words of one name; anything else ends the name unless the name holds it too.
_SOFT = frozenset(" -'’.&/\u00a0`´‘•+@")
_ENDING = frozenset('.!?…:;\n"“”«»(—>')
# After these a capital is due though the sentence goes on: "From: A", "A > B".
_GOES_ON = frozenset(':>("“«')
# Marks that no rule on marks or labels minds; nearly all texts have no other. A stroke is none:
# labels have one. A full stop without a blank is sound before a number only.
_TIDY = frozenset({"", " ", ", ", ". ", ".", "'", "-", ": ", ":", "! ", "? ", "... ", " > ", " + ",
                   " & ", "&", "+", "% "})  # fmt: skip
_TIDY_END = frozenset({"", ".", "!", "?", "..."})
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(
    r"[^\W\d_A-Za-z\u00aa\u00ba\u00c0-\u02ff\u1d00-\u1dbf\u1e00-\u1eff"
    r"\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a]"
)
# Numbers of cells, trips, places and nodes: longer than any that people write.
_IDENTIFIER = re.compile(r"(?=[a-f]*\d)(?=.*\d{2})[0-9a-f]{12,}")
# Different words and pieces remembered; a city's texts hold far fewer.
_WORDS_KEPT = 1 << 20
# Codes of words that begin with a digit lie above those of all others.
NUMBERS_FROM = 1 << 32
_FIRST = (0,)
_ONLY_FIRST = frozenset(_FIRST)


class Word(msgspec.Struct, frozen=True, gc=False):
    """What is known of a word and the marks after it, wherever they stand.

    Attributes:
        canonical: Folded and brought to its short form; what names are compared by.
        flags: Bits, see above.
        code: Hash of the folded word, the same on every machine; of a number from NUMBERS_FROM on.
        after: What stands between it and the next word, or the end of the text.
        size: Characters of the word.
        length: Characters of the word and of what stands after it.
    """

    canonical: str
    flags: int
    code: int
    after: str = ""
    size: int = 0
    length: int = 0


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A text and its words.

    Attributes:
        text: As it stands.
        words: Its words in order.
        starts: Where each word begins, in characters; then the length of the text.
        flags: Flags of all words together.
        names: Words that a name may begin with: one of the city, or any that has a capital.
        claims: Words that a claim may begin with.
        begins: Words at which a capital is due anyway: the first, those after a full stop or a
            colon. The full stop of an abbreviation ("St. George", "John F. Kennedy") is none.
        sentences: Those of them at which a sentence begins; after "From:" none does.
    """

    text: str
    words: Sequence[Word]
    starts: list[int]
    flags: int
    names: list[int]
    claims: list[int]
    begins: Set[int]
    sentences: Sequence[int]

    def sentence(self, word: int) -> int:
        """Return the word at which the sentence of a word begins."""
        return self.sentences[bisect_right(self.sentences, word) - 1]

    def gap(self, word: int) -> str:
        """Return what stands between a word and the one before it."""
        return self.words[word - 1].after

    def end(self, word: int) -> int:
        """Return where a word ends, in characters."""
        return self.starts[word] + self.words[word].size

    def surface(self, first: int, end: int) -> str:
        """Return the text from a word up to, not including, another."""
        return self.text[self.starts[first] : self.end(end - 1)]

    def breaks(self, word: int) -> str:
        """Return the marks before a word that may not stand within a name: "," but not "-"."""
        gap = self.words[word - 1].after
        return "" if gap == " " else _marks(gap)


@lru_cache(maxsize=4096)
def _marks(gap: str) -> str:
    if gap == " - ":
        return "-"
    return "".join(mark for mark in gap if mark not in _SOFT)


def is_identifier(folded: str) -> bool:
    """Tell whether a word, folded, is a number by which data knows a thing: "8a1126d33067fff"."""
    return _IDENTIFIER.fullmatch(folded) is not None


def is_tidy(after: str, following: str, *, last: bool) -> bool:
    """Tell whether no rule on marks or labels minds what stands after a word.

    Args:
        after: Marks and blanks.
        following: The next word; "" where it is not at hand or there is none.
        last: Whether the text ends there.
    """
    if last:
        return after in _TIDY_END
    return after in _TIDY and (after != "." or following[:1].isdigit())


def _of_marks(after: str, following: str, *, last: bool) -> int:
    """Return the flags a word has by what stands after it; arguments as in `is_tidy`."""
    flags = 0 if is_tidy(after, following, last=last) else UNTIDY
    if not _ENDING.isdisjoint(after):
        flags |= _ENDS_SENTENCE if _GOES_ON.isdisjoint(after) else _ENDS_CLAUSE
    return flags


class Lexicon:
    """Every word and every piece of text met so far; what is new is looked at."""

    def __init__(
        self,
        tables: WordTables,
        *,
        heads: Collection[str],
        hints: Mapping[str, int],
        street_endings: tuple[str, ...] = (),
    ) -> None:
        """Begin an empty lexicon.

        Args:
            tables: What decides what kind of word it is.
            heads: Canonical words that begin a name of the city.
            hints: Further flags by folded or canonical word.
            street_endings: Ends of the city's street names, folded.
        """
        self._street_endings = street_endings
        self._tables, self._heads, self._hints = tables, heads, hints
        self._known: dict[str, tuple[str, int, int]] = {}
        # Pieces that a blank follows, and those at the end of a text.
        self._pieces: dict[str, tuple[Word, ...]] = {}
        self._last: dict[str, tuple[Word, ...]] = {}

    def _looked_up(self, raw: str) -> tuple[str, int, int]:
        """Return the canonical form, flags and code of a word by itself."""
        known = self._known.get(raw)
        if known is None:
            if len(self._known) >= _WORDS_KEPT:
                self._known.clear()
            known = self._known[raw] = self._look(raw)
        return known

    def _look(self, raw: str) -> tuple[str, int, int]:
        tables = self._tables
        folded = fold(raw)
        # An accent without a letter folds to nothing, which no tree of words may be asked for.
        canonical = tables.short_form.get(folded, folded) or raw
        first = raw[0]
        flags = self._hints.get(canonical, 0) | self._hints.get(folded, 0)
        if first.isdigit():
            flags |= DIGIT | NUMERIC
        elif first.isupper() or first.istitle():
            flags |= CAPITAL
            flags |= SHOUTED if len(raw) > 1 and raw.isupper() else 0
        elif not first.islower():
            flags |= CASELESS
        flags |= STREET if folded.endswith(self._street_endings) else 0
        flags |= HINT_TERM if is_identifier(folded) else 0
        flags |= LETTERS if _LETTER.search(raw) else 0
        flags |= FOREIGN if not raw.isascii() and _NOT_LATIN.search(raw) else 0
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
        return canonical, flags, code

    def read(self, text: str) -> Reading:
        """Return a text's words; none for a text without."""
        *pieces, last = text.split(" ")
        words: list[Word] = []
        known = self._pieces
        for piece in pieces:
            words += known.get(piece) or self._taken_apart(piece, blank=" ")
        words += self._last.get(last) or self._taken_apart(last, blank="")
        reading = _reading(text, words)
        return self._read_whole(text) if reading.flags & (_ODD | CASELESS) else reading

    def _taken_apart(self, piece: str, *, blank: str) -> tuple[Word, ...]:
        """Return the words of a piece that is met for the first time."""
        known = self._pieces if blank else self._last
        if len(known) >= _WORDS_KEPT:
            known.clear()
        raw, (before, *after), _ = split_words(f"{piece}{blank}")
        odd = bool(before) or not raw
        known[piece] = (_ODD_WORD,) if odd else self._words(raw, after, last=not blank)
        return known[piece]

    def _words(self, raw: Sequence[str], after: Sequence[str], *, last: bool) -> tuple[Word, ...]:
        words = []
        for number, (word, marks) in enumerate(zip(raw, after, strict=True), 1):
            canonical, flags, code = self._looked_up(word)
            following = raw[number] if number < len(raw) else ""
            flags |= _of_marks(marks, following, last=last and not following)
            size = len(word)
            words.append(Word(canonical, flags, code, marks, size, size + len(marks)))
        return tuple(words)

    def _read_whole(self, text: str) -> Reading:
        """Return the words of a text with a piece that begins with a mark or knows no blanks."""
        raw, gaps, _ = split_words(text)
        if any(self._looked_up(word)[1] & CASELESS for word in raw):
            raw, gaps, _ = split_letters(raw, gaps)
        return _reading(text, self._words(raw, gaps[1:], last=True), before=gaps[0])


def _reading(text: str, words: Sequence[Word], *, before: str = "") -> Reading:
    """Return what is known of a text, given its words and the marks before them."""
    starts: list[int] = []
    names: list[int] = []
    claims: list[int] = []
    ends: list[int] = []
    here, flags = len(before), UNTIDY if before and (words or before not in _TIDY_END) else 0
    for number, word in enumerate(words):
        starts.append(here)
        here += word.length
        of_word = word.flags
        flags |= of_word
        if of_word & _NOTED:
            if of_word & _NAME:
                names.append(number)
            if of_word & ANY_CLAIM:
                claims.append(number)
            if of_word & _ENDS:
                ends.append(number)
    starts.append(here)
    if ends and ends[-1] == len(words) - 1:
        ends.pop()
    begins, sentences = _beginnings(words, ends) if ends else (_ONLY_FIRST, _FIRST)
    return Reading(text, words, starts, flags, names, claims, begins, sentences)


def _beginnings(words: Sequence[Word], ends: Sequence[int]) -> tuple[Set[int], Sequence[int]]:
    """Return the words at which a capital is due anyway, and those at which a sentence begins."""
    begins, sentences = {0}, [0]
    for number in ends:
        word, following = words[number], words[number + 1]
        if word.flags & ABBREVIATION and word.after == ". " and not following.flags & COMMON:
            continue
        begins.add(number + 1)
        if word.flags & _ENDS_SENTENCE:
            sentences.append(number + 1)
    return begins, sentences


_ODD_WORD = Word("", _ODD, 0)
