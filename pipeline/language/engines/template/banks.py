"""The phrase banks, compiled: what the realiser can say, by style, kind, role and persona.

    banks.targets["stop"]["with"]    ->  phrases such as "with a stop at {stop} on the way"
    banks.literal.forms["imperative"]["brief"].fitting(WAY, origin=True)  ->  skeletons

`reading.read_banks` makes them from the files of prompts/template/.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline.language.engines.template.phrase import Phrases
from pipeline.language.engines.template.skeletons import SkeletonTable

Tables = Mapping[str, Mapping[str, SkeletonTable]]


class Pair(NamedTuple):
    """Entries for trips without a pace of their own, and for those with one."""

    unpaced: tuple[str, ...]
    paced: tuple[str, ...]


class LiteralVoice(NamedTuple):
    """What a persona adds to literal texts."""

    suffix: Pair
    sentence: Pair


class ChattyVoice(NamedTuple):
    """How a persona chats; `paces` is what it says of each pace."""

    lead: Sequence[str]
    ask: Sequence[str]
    gripe: Sequence[str]
    gripe_comma: Sequence[str]
    story: Sequence[str]
    story_comma: Sequence[str]
    mood: Pair
    wrap: Phrases
    close: Pair
    trail: Sequence[str]
    paces: Mapping[str, Phrases]


class LiteralBank(NamedTuple):
    """Literal instructions."""

    forms: Tables
    route_notes: Phrases
    time_notes: Phrases
    voices: Mapping[str, LiteralVoice]


class ConciseBank(NamedTuple):
    """Concise instructions; a voice is a word or two."""

    forms: Tables
    voices: Mapping[str, Pair]


class ChattyBank(NamedTuple):
    """Chatty instructions."""

    forms: Tables
    voices: Mapping[str, ChattyVoice]


class QueryBank(NamedTuple):
    """Retrieval queries."""

    records: Sequence[str]
    nouns: Sequence[str]
    taken: Phrases
    before_records: Phrases
    skeletons: SkeletonTable


class NarrativeBank(NamedTuple):
    """Sentences on cells; words by zone, by natural word, by group of places."""

    openings: Phrases
    plain_openings: Phrases
    things: Phrases
    one_name: Phrases
    two_names: Phrases
    kinds: Mapping[str, Sequence[str]]
    nature: Mapping[str, str]
    groups: Mapping[str, str]


class Banks(NamedTuple):
    """All that the realiser can say.

    Attributes:
        targets: Phrases by kind of target and role.
        zones: Words by zone and slot.
        facilities: Nouns with article by kind of place, the vocabulary's first.
        headings: Slots by heading.
        clock: Slots by part of the day and day.
        literal: Literal instructions.
        concise: Concise instructions.
        chatty: Chatty instructions.
        queries: Retrieval queries.
        subjects: What captions call the trip.
        caption: Phrases of captions by list.
        narrative: Sentences on cells.
    """

    targets: Mapping[str, Mapping[str, Phrases]]
    zones: Mapping[str, Mapping[str, tuple[str, ...]]]
    facilities: Mapping[str, tuple[str, ...]]
    headings: Mapping[str, Mapping[str, str]]
    clock: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]
    literal: LiteralBank
    concise: ConciseBank
    chatty: ChattyBank
    queries: QueryBank
    subjects: Sequence[str]
    caption: Mapping[str, Phrases]
    narrative: NarrativeBank
