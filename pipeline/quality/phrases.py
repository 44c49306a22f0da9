"""Phrases kept word by word, so that the longest one at a word of a text is found in a few steps.

tree = phrase_tree({"upper": ["less than", "under"]}, reverse=True)
tree.before(words, 4, 0)  ->  "upper" where the words before the fourth are "... less than"
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from pipeline.quality.folding import folded_words

_T = TypeVar("_T")


class _Canonical(Protocol):
    """A word of a text, as `reading.Word`."""

    @property
    def canonical(self) -> str: ...


class PhraseTree(Generic[_T]):
    """Phrases word by word, and what each one means."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}

    def add(self, words: Iterable[str], meaning: _T) -> None:
        """Add a phrase, canonical words; of equal ones the first counts."""
        node = self.root
        for word in words:
            node = node.setdefault(word, {})
        node.setdefault("", meaning)

    def before(self, words: Sequence[_Canonical], end: int, first: int) -> _T | None:
        """Return what the longest phrase means that ends before a word and was added reversed.

        Args:
            words: Words of a text.
            end: Number of the word after the phrase.
            first: Number of the first word it may reach.
        """
        node, best = self.root, None
        while end > first:
            end -= 1
            following: dict[str, Any] | None = node.get(words[end].canonical)
            if following is None:
                break
            node = following
            best = node.get("", best)
        return best

    def after(self, words: Sequence[_Canonical], first: int) -> tuple[int, _T] | None:
        """Return where the longest phrase ends that begins with a word, and what it means."""
        node: dict[str, Any] | None = self.root.get(words[first].canonical)
        best: tuple[int, _T] | None = None
        while node is not None:
            first += 1
            meaning = node.get("")
            if meaning is not None:
                best = first, meaning
            # Where the node holds a meaning alone, no longer phrase begins so.
            if first == len(words) or (meaning is not None and len(node) == 1):
                break
            node = node.get(words[first].canonical)
        return best


def phrase_tree(
    meanings: Mapping[_T, Iterable[str]], *, short_form: Mapping[str, str], reverse: bool
) -> PhraseTree[_T]:
    """Return a tree of phrases by what they mean.

    Args:
        meanings: Phrases by meaning.
        short_form: Short forms of words (`WordTables.short_form`).
        reverse: Whether they are looked for before a word, not from it on.
    """
    tree: PhraseTree[_T] = PhraseTree()
    for meaning, phrases in meanings.items():
        for phrase in phrases:
            words = [short_form.get(word, word) for word in folded_words(phrase)]
            tree.add(reversed(words) if reverse else words, meaning)
    return tree
