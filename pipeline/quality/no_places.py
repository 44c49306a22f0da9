"""Tell capitals that name no place: somebody spoken to or of, somebody's belongings, a cry.

"Hey Siri", "my friend Marta", "aunt Liisa", "my Volvo can wait", "TGIF!"
        ->  no place
"to my Hilton", "Hello, Zanzibar please", "past Anna"
        ->  may be one
"""

from pipeline.quality.folding import word_set
from pipeline.quality.reading import SHOUTED, Reading
from pipeline.quality.tables import WordTables

_POSSESSIVE = word_set("my your our his her their")
# Before "my", these make what follows a place one can go to.
_NEAR = word_set("to at near past by via toward towards reach outside behind opposite")
# After a first name at the start of a sentence, these make it somebody's.
_DOING = word_set("is was has will would can wants needs says said waits lives s and")
_ABOUT = _NEAR | word_set("from through along over across on in into onto")
_CALLED = frozenset({("call", "me"), ("name", "is"), ("name", "s")})
# Words of a person that have a capital with the name.
_TITLES = word_set("uncle aunt auntie cousin grandma grandpa granny mister madame monsieur")
_LONGEST_CRY = 5


class NoPlaces:
    """Knows the words beside which a capital names no place."""

    def __init__(self, tables: WordTables) -> None:
        """Keep the words for people and greetings, and those for kinds of places."""
        self._people, self._greetings = tables.people, tables.greetings
        self._given = tables.given_names
        self._kinds = tables.types["road"] | tables.types["place"]

    def has(self, reading: Reading, first: int, end: int, *, cries: bool) -> bool:
        """Tell whether some words with capitals, none of them of a known name, are no place.

        Args:
            reading: The text.
            first: Number of the first word.
            end: Number of the word after the last.
            cries: Whether a word in capitals stands out in this text.
        """
        words = reading.words
        if first in reading.begins and cries and _is_cry(reading, first, end):
            return True
        kind = any(word.canonical in self._kinds for word in words[first:end])
        if end > first + 1 and words[first].canonical in _TITLES:
            return not kind
        person = end == first + 1 and words[first].canonical in self._given
        if first in reading.sentences:
            return person and end < len(words) and words[end].canonical in _DOING
        before, gap = words[first - 1].canonical, reading.gap(first)
        ends = end == len(words) or end in reading.begins
        if before in self._greetings:
            return gap == " " or (gap == ", " and ends)
        second = words[first - 2].canonical if first > 1 else ""
        if person and (before not in _ABOUT or second in self._greetings):
            return True
        owned = before in _POSSESSIVE and second not in _NEAR and not kind
        return gap == " " and (owned or before in self._people or (second, before) in _CALLED)


def _is_cry(reading: Reading, first: int, end: int) -> bool:
    """Tell whether a word is a sentence by itself, in capitals: "TGIF!"."""
    word = reading.words[first]
    cried = end == first + 1 and word.after.startswith("!") and bool(word.flags & SHOUTED)
    alone = end == len(reading.words) or end in reading.begins
    return cried and alone and word.size <= _LONGEST_CRY
