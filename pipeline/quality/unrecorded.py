"""What a text claims that no record of a drive can bear: a stop, a purchase, the weather.

    a caption  "pauses for coffee near A"   ->  Hit(unrecorded) on "pauses"
    a query    "rainy drives along B"       ->  Hit(unrecorded) on "rainy"
    an instruction "pull over for coffee"   ->  []: a wish; "the trip stopped at a bank" claims it

Nothing is claimed by what is denied ("without a stop at a bakery"), by a name, or by a standstill
that tells its length, which `wrong_duration` holds against the record. Words:
tables/unrecorded.yaml. Paper: A.3.6, "Data Grounding".
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import Any

from pipeline.quality.folding import folded_words
from pipeline.quality.phrases import PhraseTree
from pipeline.quality.reading import NUMERIC, Reading
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.tables import UnrecordedTable, WordTables, unrecorded_table, word_tables
from pipeline.records import Mention

_BETWEEN, _NAME = "*", "NAME"
# What the phrases claim that only look like others.
_NOTHING = "nothing"
# Words before that may deny something, and words around a standstill that may tell its length.
_DENIED_WITHIN, _LENGTH_WITHIN = 3, 3


class Unrecorded:
    """Finds the phrases of the table in texts."""

    def __init__(self, table: UnrecordedTable, tables: WordTables) -> None:
        """Plant the phrases in a tree, each with what it claims."""
        self._tree: PhraseTree[str] = PhraseTree()
        for claimed, phrases in table.phrases.items():
            for phrase in phrases:
                for words in _phrases(phrase, table, tables):
                    self._tree.add(words, claimed)
        self._told: PhraseTree[bool] = PhraseTree()
        for told in product(table.drives, table.driven, table.told):
            self._told.add(map(tables.canonical, told), meaning=True)
        self._between = frozenset(map(tables.canonical, table.between))
        self._denying = frozenset(map(tables.canonical, table.denying))

    def hits(self, reading: Reading, mentions: Sequence[Mention], *, field: str) -> list[Hit]:
        """Return what a text claims beyond any record; [] for none.

        Args:
            reading: The text.
            mentions: Its names.
            field: Which of the seven texts it is.
        """
        if field.startswith("instruction") and not self._tells_past(reading):
            return []
        root, words = self._tree.root, reading.words
        names = {
            bisect_left(reading.starts, one.start): bisect_left(reading.starts, one.end)
            for one in mentions
        }
        hits: list[Hit] = []
        here = 0
        while here < len(words):
            if here in names:
                here = max(names[here], here + 1)
                continue
            node = root.get(words[here].canonical)
            found = self._longest(node, reading, here + 1, names) if node else None
            end, claimed = found or (here + 1, _NOTHING)
            if claimed != _NOTHING and self._is_claimed(reading, here, end, claimed):
                start, stop = reading.starts[here], reading.end(end - 1)
                said = f"{claimed} {reading.text[start:stop]!r}"
                hits.append(
                    Hit(Rule.UNRECORDED, start, stop, f"{said}: no record of a drive can bear it")
                )
            here = end
        return hits

    def _tells_past(self, reading: Reading) -> bool:
        words = reading.words
        return any(self._told.after(words, here) for here in range(len(words)))

    def _longest(
        self, node: dict[str, Any], reading: Reading, here: int, names: dict[int, int]
    ) -> tuple[int, str] | None:
        """Return where the longest phrase ends that goes on from a node, and what it claims."""
        claimed: str | None = node.get("")
        best = None if claimed is None else (here, claimed)
        words = reading.words
        if here >= len(words) or reading.breaks(here) or here in reading.begins:
            return best
        ways: list[tuple[dict[str, Any] | None, int]] = [
            (node.get(words[here].canonical), here + 1)
        ]
        loose: dict[str, Any] | None = node.get(_BETWEEN)
        if here in names:
            ways = [(node.get(_NAME), names[here])]
        elif loose is not None:
            if words[here].canonical in self._between:
                ways.append(({_BETWEEN: loose}, here + 1))
            ways.append((loose.get(words[here].canonical), here + 1))
        for following, end in ways:
            found = self._longest(following, reading, end, names) if following else None
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        return best

    def _is_claimed(self, reading: Reading, first: int, end: int, claimed: str) -> bool:
        """Tell whether a phrase is neither denied nor a standstill that tells its length."""
        words = reading.words
        lowest = max(first - _DENIED_WITHIN, reading.sentence(first))
        if any(word.canonical in self._denying for word in words[lowest:first]):
            return False
        around = (*words[lowest:first], *words[end : end + _LENGTH_WITHIN])
        return claimed != "stop" or not any(word.flags & NUMERIC for word in around)


def _phrases(phrase: str, table: UnrecordedTable, tables: WordTables) -> Iterator[tuple[str, ...]]:
    """Yield the phrases, canonical words, that one with groups stands for."""
    ways = [
        [
            (word,) if word in {_BETWEEN, _NAME} else tuple(map(tables.canonical, words))
            for word in table.groups.get(part, [part])
            for words in [folded_words(word)]
        ]
        for part in phrase.split()
    ]
    return (tuple(chain.from_iterable(parts)) for parts in product(*ways))


@cache
def unrecorded() -> Unrecorded:
    """Return what finds the phrases of the project's table, made once.

    Raises:
        ParameterError: The table is missing or broken.
    """
    return Unrecorded(unrecorded_table(), word_tables())
