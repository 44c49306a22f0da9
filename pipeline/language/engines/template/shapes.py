"""The files of prompts/template/ as they lie there; `banks` checks and compiles them.

section_of(PROMPTS / "template/concise.yaml", "concise", ConciseShape).personas["tired"].word
->  ["Whatever.", "That's it.", ...]
"""

from typing import Annotated

import msgspec

from pipeline.keys import Text

Entries = Annotated[list[Text], msgspec.Meta(min_length=1)]
Forms = dict[str, dict[str, Entries]]


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping of known keys."""


class Additions(_Shape, frozen=True):
    """What a persona adds to literal texts; may be nothing."""

    suffix: list[Text]
    sentence: list[Text]


class LiteralPersona(Additions, frozen=True):
    """The same, with what speaks of haste apart."""

    haste: Additions


class LiteralShape(_Shape, frozen=True):
    """literal.yaml."""

    forms: Forms
    route_notes: Entries
    time_notes: Entries
    personas: dict[str, LiteralPersona]


class ConcisePersona(_Shape, frozen=True):
    """What a persona adds to concise texts."""

    word: Entries
    haste: list[Text]


class ConciseShape(_Shape, frozen=True):
    """concise.yaml."""

    forms: Forms
    personas: dict[str, ConcisePersona]


class ChattyHaste(_Shape, frozen=True):
    """What a persona says of haste; may be nothing."""

    mood: list[Text]
    close: list[Text]


class ChattyPersona(_Shape, frozen=True):
    """How a persona chats."""

    lead: Entries
    ask: Entries
    gripe: Entries
    story: Entries
    mood: Entries
    wrap: Entries
    close: Entries
    trail: Entries
    haste: ChattyHaste


class ChattyShape(_Shape, frozen=True):
    """chatty.yaml; paces by pace and persona."""

    forms: Forms
    personas: dict[str, ChattyPersona]
    paces: dict[str, dict[str, Entries]]


class PartOfDayShape(_Shape, frozen=True):
    """One part of the day in clock.yaml."""

    on: Entries
    on_day: Entries
    noun: Entries
    adjective: Entries
    short: Entries
    abbr: Entries


class QueriesShape(_Shape, frozen=True):
    """queries.yaml."""

    records: Entries
    nouns: Entries
    taken: Entries
    skeletons: Entries


class LegsShape(_Shape, frozen=True):
    """Legs of a caption by what is known of their direction."""

    along: Entries
    straight: Entries
    turn: Entries
    later: Entries
    nameless: Entries
    scene_only: Entries


class CaptionShape(_Shape, frozen=True):
    """caption.yaml."""

    subjects: Entries
    times: Entries
    openings: Entries
    first_headings: Entries
    legs: LegsShape
    districts: Entries
    links: Entries
    endings: Entries
    bare_endings: Entries
    road_ends: Entries
    other_ends: Entries
    totals: Entries


class NarrativeShape(_Shape, frozen=True):
    """narrative.yaml."""

    openings: Entries
    plain_openings: Entries
    things: Entries
    one_name: Entries
    two_names: Entries
    kinds: dict[str, Entries]
    nature: dict[str, Text]
    groups: dict[str, Text]
