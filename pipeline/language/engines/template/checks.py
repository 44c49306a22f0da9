"""What every entry of a phrase bank is held to, each fault one ParameterError with file and entry.

phrases_of(["stop at {shop}"], {"stop"}, "targets.yaml: targets.stop.do")
->  ParameterError: targets.yaml: targets.stop.do: entry 1: expected slots out of stop, found {shop}
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.errors import ParameterError
from pipeline.language.engines.template.kinds import NAME_SLOTS
from pipeline.language.engines.template.phrase import Phrase, Phrases

_VOCABULARY = "prompts/vocabulary.yaml"
# What no text may hold: marks, and words of maps and pipelines that no person says.
_MARKS = ("\N{EM DASH}", ";", "  ")
_LABELS = re.compile(
    r"\b(waterfront|coastal|inland|urban|commercial|facilit(y|ies)|gnn|h3|geo-?tag|poi|hexagon|cells?"
    r"|phases?|segments?|trajector(y|ies)|waypoints?)\b",
    re.IGNORECASE,
)
_SLOT = re.compile(r"\{[A-Za-z_]+\}")
_MARK_AT_END = re.compile(r"[.!?](\{[a-z_]+\})*$")


def refuse_labels(value: Any, where: str) -> None:
    """Refuse what no text may hold: an em-dash, a semicolon, a double space, a label of the maps.

    A brace that is no part of a slot is refused too.

    Args:
        value: The bank as it lies in its file: mappings, lists and texts.
        where: File and key, for the message.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            refuse_labels(inner, f"{where}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            refuse_labels(inner, f"{where}: entry {number}")
    else:
        label = _LABELS.search(value)
        found = label[0] if label else next((mark for mark in _MARKS if mark in value), None)
        if found:
            raise ParameterError(
                f"{where}: expected words that people say, with no em-dash, semicolon or double"
                f" space, found {found!r}; mend the entry"
            )
        if set("{}") & set(_SLOT.sub("", value)):
            raise ParameterError(
                f"{where}: expected braces only around slots, as in {{name}}, found {value!r}; mend"
                " the entry"
            )


def expect_sentences(entries: Iterable[str], where: str) -> None:
    """Refuse an entry that does not end as a sentence does, before slots with more sentences."""
    for number, entry in enumerate(entries, 1):
        if not _MARK_AT_END.search(entry):
            raise ParameterError(
                f"{where}: entry {number}: expected a sentence with its mark at the end, found"
                f" {entry!r}; mend the entry"
            )


def expect_fragments(entries: Iterable[str], where: str) -> None:
    """Refuse an entry that brings a full stop: it is joined with others, and ended there."""
    for number, entry in enumerate(entries, 1):
        if entry.endswith((".", "!", "?")):
            raise ParameterError(
                f"{where}: entry {number}: expected a fragment without a mark at the end, found"
                f" {entry!r}; mend the entry"
            )


def phrases_of(
    entries: Sequence[str],
    slots: Iterable[str],
    where: str,
    *,
    always: Iterable[str] | None = None,
) -> Phrases:
    """Compile the entries of a list.

    Args:
        entries: The entries.
        slots: The slots they may use.
        where: File and key, for messages.
        always: Where given, one entry at least must do with these slots.

    Raises:
        ParameterError: An entry uses another slot, or none does with those of `always`.
    """
    known = set(slots)
    phrases = tuple(Phrase(entry, names=NAME_SLOTS) for entry in entries)
    for number, phrase in enumerate(phrases, 1):
        unknown = [slot for slot in phrase.slots if slot not in known]
        if unknown:
            raise ParameterError(
                f"{where}: entry {number}: expected slots out of {', '.join(sorted(known))}, found"
                f" {{{unknown[0]}}}; mend the entry"
            )
    if always is not None:
        expect_one(phrases, always, where)
    return phrases


def expect_one(phrases: Phrases, slots: Iterable[str], where: str) -> None:
    """Refuse a list without an entry that needs no other slots than these."""
    enough = set(slots)
    if not any(enough.issuperset(phrase.slots) for phrase in phrases):
        wanted = ", ".join(f"{{{slot}}}" for slot in sorted(enough)) or "none"
        raise ParameterError(
            f"{where}: expected an entry with no slots but {wanted}, found none; add one"
        )


def expect_keys(
    where: str,
    found: Iterable[str],
    known: Iterable[str],
    *,
    all_of_them: bool = True,
    of_vocabulary: bool = False,
) -> None:
    """Refuse a mapping with a key that is not known, or (unless told) without one that is.

    Args:
        where: File and key, for messages.
        found: Its keys.
        known: The keys it may have.
        all_of_them: Whether it must have them all.
        of_vocabulary: Whether the keys are codes of the vocabulary, for messages.
    """
    have, want = list(found), list(known)
    unknown = [key for key in have if key not in want]
    missing = [key for key in want if key not in have]
    if unknown:
        raise ParameterError(
            f"{where}: expected keys out of {', '.join(want)}, found {unknown[0]!r}"
            + (f", which is missing from {_VOCABULARY}" if of_vocabulary else "")
            + "; mend the file"
        )
    if missing and all_of_them:
        raise ParameterError(
            f"{where}: expected an entry for {missing[0]!r}"
            + (f", a code of {_VOCABULARY}" if of_vocabulary else "")
            + f", found only {', '.join(have)}; add it"
        )
