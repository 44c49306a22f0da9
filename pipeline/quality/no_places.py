"""Tell capitals that name no place: somebody spoken to or of, somebody's belongings, a cry.

"my friend Marta", "aunt Liisa", "I'm meeting Zoe", "my Volvo can wait", "I love Finland", "TGIF!"
        ->  no place
"to my Hilton", "Hello, Zanzibar please", "past Anna", "meeting at Zoe", "drive to Finland"
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
# Right before a name, these make it that of somebody.
_SPOKEN_TO = word_set(
    "meeting meet met ask asking asks tell tells telling says said asked told marry"
)
# So does "with" after one of these: "lunch with Zoe", "I'm with Zoe".
_TOGETHER = word_set("breakfast brunch lunch dinner supper coffee tea drink drinks date chat"
                     " meeting appointment m re am are here living work working along")  # fmt: skip
# After a first name that a sentence begins with and a comma, these speak to that person.
_ASKED = word_set("take bring drive get let lets can could would will i we it hurry step don do"
                  " you turn head my this make put show")  # fmt: skip
# Before "to", these say that somebody came to a country, not that the trip goes there.
_CAME = word_set("welcome moved move moving new came come coming flew fly flying back used visit"
                 " flight visitor trip close love get")  # fmt: skip
_INTO = _NEAR | word_set("through across along over into")
_CALLED = frozenset({("call", "me"), ("name", "is"), ("name", "s")})
# Words of a person that have a capital with the name.
_TITLES = word_set("uncle aunt auntie cousin grandma grandpa granny mister madame monsieur")
_LONGEST_CRY = 5


class NoPlaces:
    """Knows the words beside which a capital names no place."""

    def __init__(self, tables: WordTables) -> None:
        """Keep the words for people and greetings, and those for kinds of places."""
        self._people, self._greetings = tables.people, tables.greetings
        self._given, self._countries = tables.given_names, tables.countries
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
        alone = words[first].canonical if end == first + 1 else ""
        if first in reading.sentences:
            return self._begins(reading, alone, end)
        second = words[first - 2].canonical if first > 1 else ""
        before = words[first - 1].canonical
        if before in self._greetings:
            gap = reading.gap(first)
            return gap == " " or (gap == ", " and _ends(reading, end))
        if alone in self._countries:
            return before not in _INTO or (before == "to" and second in _CAME)
        given = alone in self._given and (before not in _ABOUT or second in self._greetings)
        return given or (
            reading.gap(first) == " " and self._is_of_person(before, second, kind=kind)
        )

    def _begins(self, reading: Reading, alone: str, end: int) -> bool:
        """Tell whether a lone word that begins a sentence is a country or somebody."""
        after = "" if _ends(reading, end) else reading.words[end].canonical
        if alone in self._countries:
            return after in _DOING
        spoken_to = after in _ASKED and "," in reading.gap(end)
        return alone in self._given and (after in _DOING or spoken_to)

    def _is_of_person(self, before: str, second: str, *, kind: bool) -> bool:
        """Tell whether the two words before make what follows somebody's, or somebody."""
        if before in self._people or (second, before) in _CALLED:
            return True
        owned = before in _POSSESSIVE and second not in _NEAR
        together = before == "with" and second in _TOGETHER
        return not kind and (owned or together or before in _SPOKEN_TO)


def _ends(reading: Reading, end: int) -> bool:
    return end == len(reading.words) or end in reading.begins


def _is_cry(reading: Reading, first: int, end: int) -> bool:
    """Tell whether a word is a sentence by itself, in capitals: "TGIF!"."""
    word = reading.words[first]
    cried = end == first + 1 and word.after.startswith("!") and bool(word.flags & SHOUTED)
    return cried and _ends(reading, end) and word.size <= _LONGEST_CRY
