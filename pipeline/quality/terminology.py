"""Stage 2: labels of the data become plain words, words of the pipeline are refused.

    "Through the WATERFRONT area"     ->  "Through the waterside area"     (label, mended)
    "Commercial: dining, shopping"    ->  "restaurants and shops"          (label, mended)
    "Commercial: the usual places"    ->  hit `label`: no words that the data has there
    "The trip covers 12 phases"       ->  hit `pipeline_word`: no plain word takes its place
    "It's just a phase"               ->  nothing: said so, it is an everyday word

Tables: tables/terms.yaml. A name that holds such a word ("Waterfront Hotel") is left alone. The
published caption of Figure 16 says "for several phases" and "covers 12 phases". Paper: 3.3, A.3.6.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from pipeline.language.vocabulary import vocabulary
from pipeline.params import document_of
from pipeline.quality.folding import fold, folded_words
from pipeline.quality.phrases import PhraseTree
from pipeline.quality.reading import HINT_TERM, Reading, Word, is_identifier
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.spans import Span, is_free
from pipeline.quality.tables import WordTables

# How phrases have numbers and identifiers.
_ANY_NUMBER, _ID = "0", "#"


class _Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    noun: str
    bare: str


class _Heading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    heading: str
    holds: Literal["words", "facilities", "labels", "name"]
    words: dict[str, str] = {}


class _Everyday(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    word: str
    after: list[str]
    before: list[str]


class TermTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of terms.yaml."""

    labels: list[_Label]
    headings: list[_Heading]
    articles: list[str]
    nouns_after: list[str]
    after_list: list[str]
    pipeline_words: list[str]
    everyday: list[_Everyday]


def read_terms(file: Path) -> TermTable:
    """Read the table of terms.

    Raises:
        ParameterError: It is missing or broken.
    """
    table: TermTable = document_of(file, TermTable)
    return table


class Terminology:
    """Finds and mends labels, finds words of the pipeline."""

    def __init__(self, table: TermTable, tables: WordTables) -> None:
        """Compile the table; a phrase is looked for where its least common word stands."""
        self._labels = {"".join(folded_words(one.label)): one for one in table.labels}
        alternatives = "|".join(
            r"\s*/\s*".join(map(re.escape, one.label.split("/"))) for one in table.labels
        )
        self._label = re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)
        names = "|".join(re.escape(one.heading) for one in table.headings)
        self._heading = re.compile(rf"\b(?P<heading>{names}):")
        self._headings = [_Headed(one, table) for one in table.headings]
        self._articles = frozenset(table.articles)
        self._nouns_after = frozenset(table.nouns_after)
        self._words: PhraseTree[bool] = PhraseTree()
        for phrase in table.pipeline_words:
            *before, last = folded_words(phrase)
            for form in (last, f"{last}s"):
                self._words.add([*before, form], meaning=True)
        self._words.add([_ID], meaning=True)
        self._everyday: dict[str, tuple[PhraseTree[bool], PhraseTree[bool]]] = {}
        for everyday in table.everyday:
            around = PhraseTree[bool](), PhraseTree[bool]()
            for phrase in everyday.after:
                around[0].add(reversed(folded_words(phrase)), meaning=True)
            for phrase in everyday.before:
                around[1].add(folded_words(phrase), meaning=True)
            word = " ".join(folded_words(everyday.word))
            self._everyday |= {word: around, f"{word}s": around}
        # Labels of two words have a stroke, which the rules on marks stop at anyway.
        telling = {fold(one.label) for one in table.labels if "/" not in one.label}
        telling |= {fold(one.heading) for one in table.headings}
        for phrase in table.pipeline_words:
            words = [word for word in folded_words(phrase) if word != _ANY_NUMBER]
            word = next((word for word in words if not tables.is_common(word)), words[-1])
            telling |= {word, f"{word}s"}
        self.hints = dict.fromkeys(telling, HINT_TERM)

    def labels(self, text: str, names: Sequence[Span]) -> list[Hit]:
        """Return the labels in a text, outside its names."""
        found = [match.span() for match in self._label.finditer(text)]
        found += [match.span("heading") for match in self._heading.finditer(text)]
        return [
            Hit(Rule.LABEL, *span, f"{text[span[0] : span[1]]!r} is a label of the data")
            for span in sorted(found)
            if is_free(span, names)
        ]

    def mend_labels(self, text: str, names: Sequence[Span]) -> str:
        """Put plain words in the place of labels, outside names; the same text where none are."""

        def labelled(match: re.Match[str]) -> str:
            if not is_free(match.span(), names):
                return match.group()
            return self._plain(match, text)

        mended = self._label.sub(labelled, text)
        # Names lie elsewhere once something is mended, so headings are mended one by one.
        for heading in self._headings:
            if mended != text:
                break
            mended = self._without(heading, text, names)
        return mended

    def _without(self, heading: "_Headed", text: str, names: Sequence[Span]) -> str:
        """Return a text without the first heading of a kind whose list can be told in words."""
        for match in heading.pattern.finditer(text):
            start, end = match.span()
            before = folded_words(text[:start])[-1:]
            if not is_free((start, match.end("list")), names) or (
                before and before[0] in self._articles
            ):
                continue  # "the Commercial: dining"
            if heading.is_name and is_free((end, end + 1), names):
                continue
            said = heading.said(match["list"])
            if not text[:start].strip() or text[:start].rstrip()[-1] in ".!?":
                said = said[:1].upper() + said[1:]
            bar = ", " if match["bar"] and end < len(text) else ""
            return f"{text[:start]}{said}{bar}{text[end:]}"
        return text

    def _plain(self, match: re.Match[str], text: str) -> str:
        label = self._labels["".join(folded_words(match.group()))]
        before = folded_words(text[: match.start()])[-1:]
        after = folded_words(text[match.end() :])[:1]
        close = text[match.end() : match.end() + 1] == " "
        bare = bool(before) and before[0] in self._articles
        bare = bare or (close and bool(after) and after[0] in self._nouns_after)
        words = label.bare if bare else label.noun
        begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".!?"
        return words[0].upper() + words[1:] if begins else words

    def pipeline_words(self, reading: Reading, names: Sequence[Span]) -> list[Hit]:
        """Return the words of the pipeline in a text, outside its names."""
        hits = []
        number = 0
        folded = [Word(_said_of(word), 0, 0) for word in _raw_words(reading)]
        while number < len(folded):
            found = self._words.after(folded, number)
            if found is None:
                number += 1
                continue
            end = found[0]
            span = reading.starts[number], reading.end(end - 1)
            if is_free(span, names) and not self._is_everyday(folded, number, end):
                word = reading.text[span[0] : span[1]]
                hits.append(Hit(Rule.PIPELINE_WORD, *span, f"{word!r} is a word of the pipeline"))
            number = end
        return hits

    def _is_everyday(self, words: Sequence[Word], first: int, end: int) -> bool:
        """Tell whether the words around make an everyday one of a word of the pipeline."""
        said = " ".join(word.canonical for word in words[first:end])
        if said not in self._everyday:
            return False
        before, after = self._everyday[said]
        if end < len(words) and words[end].canonical[0].isdigit():
            return False  # "just a phase 3 stretch"
        if before.before(words, first, 0):
            return True
        return end < len(words) and after.after(words, end) is not None


def _said_of(word: str) -> str:
    """Return a word as phrases have it: any number is "0", any identifier "id"."""
    folded = fold(word) or word
    return _ID if is_identifier(folded) else _ANY_NUMBER if folded.isdecimal() else folded


def _raw_words(reading: Reading) -> list[str]:
    return [reading.surface(number, number + 1) for number in range(len(reading.words))]


class _Headed:
    """A heading and the words that the data has after it; where others follow, nobody can mend it.

    Attributes:
        pattern: The heading, its `list`, and the `bar` that parts it from the next heading.
        is_name: Whether a name follows, which stays as it is.
    """

    def __init__(self, heading: _Heading, table: TermTable) -> None:
        self.is_name = heading.holds == "name"
        self._words = dict(heading.words)
        if heading.holds == "facilities":
            categories = [one for kind in vocabulary().facilities for one in kind.categories]
            self._words |= {one: _with_article(one) for one in categories}
        elif heading.holds == "labels":
            plain = [words for one in table.labels for words in (one.noun, one.bare)]
            self._words |= {words: words for words in plain}
        item = "|".join(map(re.escape, sorted(self._words, key=len, reverse=True)))
        # A list is as long as it can be, and what follows it goes on with the sentence.
        items = rf"(?>(?:{item})\b(?:\s*,\s*(?:{item})\b)*(?:,?\s+and\s+(?:{item})\b)?)"
        following = "|".join(map(re.escape, table.after_list))
        ends = rf"(?=\s*(?:$|[.,;:!?)\]|])|\s+(?:{following})\b)"
        goes_on = rf"{'' if heading.holds == 'labels' else ends}(?P<bar>\s*\|\s*)?"
        self.pattern = re.compile(
            rf"\b{re.escape(heading.heading)}:\s*(?P<list>)(?P<bar>(?!))?"
            if self.is_name
            else rf"\b{re.escape(heading.heading)}:\s*(?P<list>{items}){goes_on}",
            re.IGNORECASE if heading.holds == "labels" else 0,
        )

    def said(self, listed: str) -> str:
        """Word a list: "dining, shopping" -> "restaurants and shops"."""
        parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed) if listed else []
        said = [self._words.get(part, part) for part in parts]
        return (
            said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}" if said else ""
        )


def _with_article(item: str) -> str:
    return f"{'an' if item[0] in 'aeiou' else 'a'} {item}"
