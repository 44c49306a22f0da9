"""A phrase with slots, compiled once; filled thousands of times a second.

    phrase = Phrase("stop at {stop} on the way")
    phrase.fill({"stop": "a bakery"})                   ->  "stop at a bakery on the way"
    phrase.fill_capital({"stop": "a bakery"})           ->  "Stop at a bakery on the way"

A slot is `{word}`; `{Word}` is the same slot at the start of a sentence. What is filled in is never
read for slots again, so a name may hold braces or per cent signs. A name is never capitalised: it
stands as it is spelt.
"""

import re
from collections.abc import Container, Iterable, Mapping
from operator import itemgetter
from typing import Any

_SLOT = re.compile(r"\{([A-Za-z_]+)\}")
_SENTENCE_END = (". ", "! ", "? ", "... ")


class Phrase:
    """One entry of a phrase bank.

    Attributes:
        text: The entry as the bank holds it.
        slots: Its slots in order, as written.
    """

    __slots__ = ("_filler", "_opens_with_name", "_pattern", "slots", "text")

    def __init__(self, text: str, *, names: Iterable[str] = ()) -> None:
        """Compile a phrase.

        Args:
            text: The entry.
            names: Slots that hold a proper name first.
        """
        self.text = text
        self.slots: tuple[str, ...] = tuple(_SLOT.findall(text))
        self._pattern = _SLOT.sub("%s", text.replace("%", "%%"))
        self._filler: Any = itemgetter(*self.slots) if self.slots else None
        opening = _SLOT.match(text)
        self._opens_with_name = opening is not None and opening[1] in set(names)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the phrase with its slots filled; KeyError for a slot without a value."""
        if self._filler is None:
            return self.text
        return str(self._pattern % self._filler(values))

    def fill_capital(self, values: Mapping[str, str]) -> str:
        """Return the filled phrase with a first capital, unless a proper name opens it."""
        filled = self.fill(values)
        return filled if self._opens_with_name else filled[:1].upper() + filled[1:]

    def misplaced_capital(self, sentences: Container[str] = ()) -> str | None:
        """Return a slot whose first letter does not fit its place in the sentence, or None.

        At the start of a sentence a slot is written `{Dest}`, anywhere else `{dest}`.

        Args:
            sentences: Slots that hold whole sentences: after them another begins.
        """
        after_sentence = True
        for found in _SLOT.finditer(self.text):
            before = self.text[: found.start()]
            opens = before.endswith(_SENTENCE_END) or (before[-2:] in {"", "} "} and after_sentence)
            if opens != found[1][0].isupper():
                return found[1]
            after_sentence = found[1] in sentences
        return None


Phrases = tuple[Phrase, ...]
