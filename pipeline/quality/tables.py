"""The word tables of quality control, pipeline/quality/tables/*.yaml, as frozen types.

    word_tables().short_form["boulevard"]   ->  "blvd"
    word_tables().is_common("heading")      ->  True (from "head")
    word_tables().markers.before(words, 4, 0)  ->  "destination" (from "bound for")

Every word of the files is folded as the texts are, so the files may hold accents and capitals.
"""

from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

import msgspec

from pipeline.city.spelling import NameWords, name_words
from pipeline.params import document_of
from pipeline.quality.folding import fold, folded_words
from pipeline.quality.phrases import PhraseTree

TABLES = Path(__file__).resolve().parent / "tables"
Role = Literal[
    "leaves", "origin", "destination", "way", "pass", "stop", "ends", "stay", "avoid", "aside",
    "no_origin", "no_destination",
]  # fmt: skip
# What a name is whose role is denied: "does not start on X", "never passes X".
_DENIED: dict[Role, Role] = {
    "leaves": "no_origin", "origin": "no_origin", "destination": "no_destination",
    "stop": "no_destination", "way": "avoid", "pass": "avoid",
}  # fmt: skip
# Endings that make another form of an ordinary word, and what the word then ends in.
_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", ""),
    ("ing", "e"), ("er", ""), ("er", "e"), ("ier", "y"), ("est", ""), ("est", "e"), ("iest", "y"),
    ("ly", ""), ("ily", "y"), ("ally", ""), ("ness", ""), ("ish", ""), ("able", ""), ("less", ""),
    ("ers", ""), ("ers", "e"), ("ings", ""), ("y", ""), ("bound", ""), ("ward", ""), ("wards", ""),
    ("ier", ""), ("n", ""), ("en", ""),
)  # fmt: skip
_SHORTEST_STEM = 3


class _KindsOfWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """kinds_of_words.yaml: what kinds of words names are made of, and which grew into them."""

    road_types: list[str]
    place_types: list[str]
    district_types: list[str]
    directions: list[str]
    street_endings: dict[str, dict[str, list[str]]]
    foreign_place_types: dict[str, list[str]]
    shared_place_types: list[str]


class _NoNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """no_names.yaml: words with a capital that name no place."""

    calendar: list[str]
    clock: list[str]
    compass: list[str]
    speech: list[str]
    peoples: list[str]
    generic: list[str]
    people: list[str]
    greetings: list[str]
    given_names: list[str]
    sayings: list[str]
    countries: list[str]
    assistants: list[str]


class _Refused(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of the phrases that refuse a name, or keep to it."""

    refusals: list[str]
    proposals: list[str]
    goings: list[str]
    ways: list[str]
    uses: list[str]
    keeping_off: list[str]


class _ToldAfter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of the phrases after a name that say what it is."""

    beings: list[str]
    whose: list[str]
    things: dict[Role, list[str]]
    wheres: dict[Role, list[str]]
    shut: list[str]


class _Roles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """roles.yaml: the words before a name that say what it is to the trip."""

    markers: dict[Role, list[str]]
    refused: _Refused
    refused_after: list[str]
    told_after: _ToldAfter
    attaching: list[str]
    filling: list[str]
    joining: list[str]


class UnrecordedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """unrecorded.yaml: the phrases that claim what no record of a drive can bear."""

    phrases: dict[str, list[str]]
    groups: dict[str, list[str]]
    between: list[str]
    denying: list[str]
    drives: list[str]
    driven: list[str]
    told: list[str]


class WordTables(msgspec.Struct, frozen=True, dict=True):
    """All tables that decide what is a name and what it is to a trip."""

    name_words: NameWords
    kinds: _KindsOfWords
    no_names: _NoNames
    common_words: dict[str, str]
    roles: _Roles

    @cached_property
    def short_form(self) -> dict[str, str]:
        """Return the short form of each word that has one, and of each short form itself."""
        found: dict[str, str] = {}
        for language in self.name_words.abbreviations.values():
            for short, longs in language.items():
                for long in longs:
                    found.setdefault(fold(long), fold(short))
        return found

    def canonical(self, word: str) -> str:
        """Return a word as names are compared: folded, and short where it has a short form."""
        folded = fold(word)
        return self.short_form.get(folded, folded)

    def _canonical_set(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(self.canonical(word) for word in words)

    @cached_property
    def dotted(self) -> frozenset[str]:
        """Return the folded short forms, which are written with a full stop."""
        return frozenset(self.short_form.values())

    @cached_property
    def connectors(self) -> frozenset[str]:
        """Return the words that join the parts of a name."""
        return frozenset(map(fold, self.name_words.connectors))

    @cached_property
    def types(self) -> dict[str, frozenset[str]]:
        """Return the words that say what kind of thing a name names, by kind, canonical."""
        kinds = self.kinds
        return {
            "road": self._canonical_set(kinds.road_types),
            "place": self._canonical_set(kinds.place_types),
            "district": self._canonical_set(kinds.district_types),
        }

    @cached_property
    def directions(self) -> frozenset[str]:
        """Return the direction words of names, canonical."""
        return self._canonical_set(self.kinds.directions)

    @cached_property
    def never_names(self) -> frozenset[str]:
        """Return folded words that are no name, whatever their capital."""
        one = self.no_names
        kinds = (
            one.calendar, one.clock, one.compass, one.speech, one.peoples, one.assistants,
        )  # fmt: skip
        return frozenset(fold(word) for kind in kinds for word in kind)

    @cached_property
    def people(self) -> frozenset[str]:
        """Return canonical words after which a capital names a person."""
        return self._canonical_set(self.no_names.people)

    @cached_property
    def greetings(self) -> frozenset[str]:
        """Return canonical words by which somebody is spoken to."""
        return self._canonical_set(self.no_names.greetings)

    @cached_property
    def given_names(self) -> frozenset[str]:
        """Return canonical first names of people."""
        return self._canonical_set(self.no_names.given_names)

    @cached_property
    def sayings(self) -> frozenset[str]:
        """Return canonical words that sayings have for places."""
        return self._canonical_set(self.no_names.sayings)

    @cached_property
    def countries(self) -> frozenset[str]:
        """Return canonical names of countries and the like."""
        return self._canonical_set(self.no_names.countries)

    @cached_property
    def street_endings(self) -> dict[str, frozenset[str]]:
        """Return the ends of street names, folded, each with its short forms."""
        found: dict[str, frozenset[str]] = {}
        for endings in self.kinds.street_endings.values():
            for ending, shorts in endings.items():
                found[fold(ending)] = found.get(fold(ending), frozenset()) | set(map(fold, shorts))
        return found

    @cached_property
    def foreign_place_types(self) -> frozenset[str]:
        """Return the words for kinds of places that no English text has, canonical."""
        kinds = self.kinds.foreign_place_types.values()
        return self._canonical_set(word for some in kinds for word in some)

    @cached_property
    def shared_place_types(self) -> frozenset[str]:
        """Return the words for kinds of places that English has too, canonical."""
        return self._canonical_set(self.kinds.shared_place_types)

    @cached_property
    def generic(self) -> frozenset[str]:
        """Return folded words for parts of any town."""
        return frozenset(map(fold, self.no_names.generic))

    @cached_property
    def _common(self) -> frozenset[str]:
        roles = self.roles
        refused = msgspec.structs.astuple(roles.refused)
        phrases = (
            *self.common_words.values(),
            *roles.attaching,
            *roles.filling,
            *roles.joining,
            *(phrase for some in (*roles.markers.values(), *refused) for phrase in some),
        )
        return frozenset(word for phrase in phrases for word in folded_words(phrase))

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Return folded words that stand in no name unless the name is known."""
        return frozenset(folded_words(self.common_words["function"]))

    def is_common(self, folded: str) -> bool:
        """Tell whether a folded word is an ordinary one, or made from one by an ending."""
        if folded in self._common:
            return True
        for ending, then in _ENDINGS:
            if folded.endswith(ending) and len(folded) - len(ending) >= _SHORTEST_STEM:
                stem = folded[: -len(ending)] + then
                if stem in self._common:
                    return True
                if (
                    len(stem) > _SHORTEST_STEM
                    and stem[-1] == stem[-2]
                    and stem[:-1] in self._common
                ):
                    return True  # stop, stopping
        return False

    @cached_property
    def markers(self) -> PhraseTree[Role]:
        """Return the role that words before a name give it, by those words from the last one."""
        tree: PhraseTree[Role] = PhraseTree()
        for role, phrases in self.roles.markers.items():
            for phrase in phrases:
                tree.add(reversed(self._phrase(phrase)), role)
        for words, role in self._refused():
            tree.add(reversed(words), role)
        return tree

    def _refused(self) -> Iterator[tuple[tuple[str, ...], Role]]:
        """Yield the phrases that refuse a name or keep to it, put together from their parts."""
        parts = self.roles.refused
        refusals, proposals, ways, uses, goings, keeping_off = (
            [self._phrase(phrase) for phrase in phrases]
            for phrases in (parts.refusals, parts.proposals, parts.ways, parts.uses, parts.goings,
                            parts.keeping_off)
        )  # fmt: skip
        used = [*uses, *ways, *(go + way for go in goings for way in ways)]
        for refusal in refusals:
            yield from ((refusal + words, "avoid") for words in used)
            yield from ((refusal + words, "stay") for words in keeping_off)
        for proposal in proposals:
            yield from ((proposal + words, "stay") for words in used)
        for role, denied in _DENIED.items():
            for words in map(self._phrase, self.roles.markers[role]):
                # "No, to X" denies nothing.
                yield from ((one + words, denied) for one in refusals if one != ("no",))
                yield from ((proposal + words, role) for proposal in proposals)

    @cached_property
    def refused_after(self) -> PhraseTree[bool]:
        """Return the phrases that keep off a name that stands before them."""
        tree: PhraseTree[bool] = PhraseTree()
        for phrase in self.roles.refused_after:
            tree.add(self._phrase(phrase), meaning=True)
        return tree

    @cached_property
    def told_after(self) -> PhraseTree[Role]:
        """Return the role of a name that words after it tell: "X is my destination"."""
        parts, tree = self.roles.told_after, PhraseTree[Role]()
        for being in parts.beings:
            owners = [*parts.whose, ""] if being == "as" else parts.whose  # "as destination"
            for role, things in parts.things.items():
                for phrase in (f"{whose} {thing}" for whose in owners for thing in things):
                    tree.add(self._phrase(f"{being} {phrase}"), role)
            for role, wheres in parts.wheres.items():
                for where in wheres:
                    tree.add(self._phrase(f"{being} where {where}"), role)
        for phrase in parts.shut:
            tree.add(self._phrase(phrase), "avoid")
        return tree

    def _phrase(self, phrase: str) -> tuple[str, ...]:
        return tuple(self.canonical(word) for word in folded_words(phrase))

    @cached_property
    def attaching(self) -> PhraseTree[int]:
        """Return the lengths of phrases of place that leave the role open, from the last word."""
        tree: PhraseTree[int] = PhraseTree()
        for phrase in map(self._phrase, self.roles.attaching):
            tree.add(reversed(phrase), len(phrase))
        return tree

    @cached_property
    def filling(self) -> frozenset[str]:
        """Return words between a marker and its name, canonical."""
        return self._canonical_set(self.roles.filling)

    @cached_property
    def joining(self) -> frozenset[str]:
        """Return words that join the names of a list, canonical."""
        return self._canonical_set(self.roles.joining)


@cache
def word_tables() -> WordTables:
    """Return the project's tables, read once.

    Raises:
        ParameterError: A table is missing or broken.
    """
    return WordTables(
        name_words=name_words(),
        kinds=document_of(TABLES / "kinds_of_words.yaml", _KindsOfWords),
        no_names=document_of(TABLES / "no_names.yaml", _NoNames),
        common_words=document_of(TABLES / "common_words.yaml", dict[str, str]),
        roles=document_of(TABLES / "roles.yaml", _Roles),
    )


@cache
def unrecorded_table() -> UnrecordedTable:
    """Return the phrases that no record of a drive can bear, read once.

    Raises:
        ParameterError: The table is missing or broken.
    """
    table: UnrecordedTable = document_of(TABLES / "unrecorded.yaml", UnrecordedTable)
    return table
