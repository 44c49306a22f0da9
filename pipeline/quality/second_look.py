"""Look again at what no name of the city explains: is it one of them, spelled or cut otherwise?

    "Loennrotinkatu"        ->  Lönnrotinkatu, exact       "Kaivok."     ->  Kaivokatu, exact
    "Belgique, Boulevard de"  ->  Boulevard de Belgique, exact
    "Makasiinikatu"         ->  Pohjoinen Makasiinikatu, short, where one name of the trip has it

Another spelling counts only where it leaves no choice, a part of a name only where exactly one name
of the trip has it; that one is flagged. Nothing here goes by likeness of letters. Few words come
this far, so it may take its time. Paper: A.3.6 (names a person would take for the same).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import all_words, fold
from pipeline.quality.gazetteer import (
    EXACT,
    SHORT,
    Candidate,
    Found,
    Gazetteer,
    How,
    Name,
    is_telling,
)
from pipeline.quality.reading import COMMON, CONNECTOR, SHOUTED, Reading
from pipeline.quality.tables import WordTables

# Two letters that stand for one with dots, a ring or a stroke.
_DIGRAPHS = {"oe": "o", "ae": "a", "ue": "u", "aa": "a"}
_UNSEEN = re.compile(r"[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]+")
_SOFT = frozenset(" -'’.&/")
_LONGEST_NAME = 12
_SHORTEST_OWN = 3
_SHORTEST_STREET = 7
_ROADS_FOR_AN_ENDING = 2


class SecondLook:
    """Looks again at words that seem to be no name of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names, and the ends that its streets bear."""
        self._names, self._tables = names, tables
        kinds = tables.types
        self._types = kinds["road"] | kinds["place"] | kinds["district"] | tables.connectors
        self._words: dict[str, tuple[str, ...]] = {}
        self._shorts = {
            ending: shorts
            for ending, shorts in tables.street_endings.items()
            if _bearing(ending, names.roads()) >= _ROADS_FOR_AN_ENDING
        }
        self.endings = tuple(self._shorts)
        firsts = Counter(tables.canonical(road.partition(" ")[0]) for road in names.roads())
        # Words for streets that its names begin with, canonical: "rua", "rue".
        self.leading = frozenset(
            word for word in kinds["road"] if firsts[word] >= _ROADS_FOR_AN_ENDING
        )

    def is_street(self, word: str) -> bool:
        """Tell whether a folded word ends as streets of this city do: "siltasarenkatu"."""
        return word.endswith(self.endings) and any(
            word.endswith(ending) and len(word) >= _SHORTEST_STREET for ending in self.endings
        )

    def at(self, reading: Reading, first: int, end: int, evidence: Evidence) -> Found | None:
        """Return the name that some words are after all; None for none.

        Args:
            reading: The text.
            first: Number of the first word.
            end: Number of the word after the last.
            evidence: The trip's own record.
        """
        words = [word.canonical for word in reading.words[first:end]]
        candidates = self._spelled_otherwise(reading, words, end)
        if candidates:
            how: How = "exact" if candidates[0].level == EXACT else "short"
            return Found(first, end, candidates, how)
        part = self._part(reading, first, end, evidence)
        return Found(first, end, [Candidate(SHORT, part)], "short") if part else None

    def turned(self, reading: Reading, found: list[Found]) -> list[Found]:
        """Put names together again that a text turns round: "Belgique, Boulevard de"."""
        kept: list[Found] = []
        for one in found:
            before = kept[-1] if kept else None
            if before and not one.candidates and reading.gap(one.first) == ", ":
                end = one.end
                while end < len(reading.words) and (
                    reading.words[end].flags & CONNECTOR and not reading.breaks(end)
                ):
                    end += 1
                named = self._turned(reading, before, one.first, end)
                if named:
                    kept[-1] = Found(before.first, end, named, "exact")
                    continue
            kept.append(one)
        return kept

    def _turned(self, reading: Reading, before: Found, first: int, end: int) -> list[Candidate]:
        if before.end != first:
            return []
        words = [*reading.words[first:end], *reading.words[before.first : before.end]]
        named = self._names.spelled(word.canonical for word in words)
        return [one for one in named if one.level == EXACT]

    def hidden(self, reading: Reading, first: int) -> int:
        """Return where the longest name ends that characters nobody sees part; `first` for none.

        The rule on such characters refuses or mends the text, so the name is neither known nor not.
        """
        if reading.text.isascii() or not _UNSEEN.search(reading.text, reading.starts[first]):
            return first
        best = first
        words: list[str] = []
        raw, here, hidden = "", first, False
        while here < min(len(reading.words), first + _LONGEST_NAME):
            raw += reading.surface(here, here + 1)
            here += 1
            gap = reading.gap(here)
            seen = _UNSEEN.sub("", gap)
            if gap and not seen and here < len(reading.words):
                hidden = True
                continue
            words.append(self._tables.canonical(raw))
            raw = ""
            named = self._names.spelled(words)
            if named and hidden and named[0].level == EXACT:
                best = here
            hidden = hidden or seen != gap
            if not _SOFT.issuperset(seen):
                break
        return best

    def _spelled_otherwise(self, reading: Reading, words: list[str], end: int) -> list[Candidate]:
        """Return the names that words are in another spelling; [] where it leaves a choice."""
        plain = [_plain(word) for word in words]
        if plain != words:
            named = [one for one in self._names.spelled(plain) if not one.name.text.isascii()]
            if named:
                return named
        last = words[-1]
        if reading.gap(end).startswith("."):
            stems = (
                f"{last.removesuffix(short)}{ending}"
                for ending, shorts in self._shorts.items()
                for short in shorts
                if last.endswith(short) and len(last) - len(short) >= _SHORTEST_OWN
            )
            written = [self._names.spelled([*words[:-1], stem]) for stem in stems]
            written = [named for named in written if named]
            if len(written) == 1:
                return written[0]
        if len(words) == 1 and reading.words[end - 1].flags & SHOUTED:
            return [one for one in self._names.spelled(words) if one.level == SHORT]  # "JFK"
        return []

    def _part(self, reading: Reading, first: int, end: int, evidence: Evidence) -> Name | None:
        """Return the only name of the trip that has words as its own part or its first."""
        written = reading.words[first:end]
        words = self._own(word.canonical for word in written)
        if not is_telling(words, self._tables) or all(w.flags & COMMON for w in written):
            return None
        named = {text for text in evidence.spots if self._is_part(words, text)}
        return self._names.of(named.pop()) if len(named) == 1 else None

    def _is_part(self, words: tuple[str, ...], text: str) -> bool:
        whole = self._words.get(text)
        if whole is None:
            whole = self._words[text] = self._own(map(self._tables.canonical, all_words(text)))
        if len(words) >= len(whole):
            return False
        for start in range(len(whole) - len(words) + 1):
            end = start + len(words)
            if whole[start:end] == words:
                return self._may_drop(whole[:start], words, whole[end:], self._names.of(text))
        return False

    def _may_drop(
        self, before: tuple[str, ...], words: tuple[str, ...], after: tuple[str, ...], name: Name
    ) -> bool:
        """Tell whether people leave out what stands before and after some words of a name."""
        directions = self._tables.directions
        if not directions.isdisjoint(after):
            return False
        if before and directions.issuperset(before):
            return len(words) == 1 and self.is_street(words[0])
        if not directions.isdisjoint(before):
            return False
        if self._types.issuperset(before):
            return True
        # "Kennedy" for Avenue John F. Kennedy; but Charlotte is no Boulevard Princesse Charlotte.
        given = [word for word in before if word not in self._types]
        return "road" in name.sites and not after and len(given) > 1

    def _own(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(word for word in words if word and word not in self._tables.connectors)


def _bearing(ending: str, roads: Iterator[str]) -> int:
    """Return how many roads have a last word that ends so, with a part of its own before it."""
    lasts = (fold(road.rpartition(" ")[2]) for road in roads)
    return sum(last.endswith(ending) and len(last) > len(ending) for last in lasts)


def _plain(word: str) -> str:
    """Return a word with one letter for two that stand for it."""
    for pair, letter in _DIGRAPHS.items():
        word = word.replace(pair, letter)
    return word
