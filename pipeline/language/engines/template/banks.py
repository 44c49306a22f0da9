"""The phrase banks of prompts/template/, read once, checked, compiled.

    banks = read_banks(PROMPTS / "template", vocabulary())
    banks.targets["stop"]["with"]    ->  phrases such as "with a stop at {stop} on the way"
    banks.literal.forms["imperative"]["brief"].fitting(WAY, origin=True)  ->  skeletons

What the vocabulary lists (personas, sentence forms, lengths, zones, parts of the day) needs its
entries here, and nothing else may have any: a missing or unknown key, an unknown slot or a kind of
trip that nothing could be said of is one ParameterError that names file and entry.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import ParameterError
from pipeline.language.engines.template.kinds import (
    BARE,
    CAPTION_CORE,
    CAPTION_SLOTS,
    END_ROLES,
    KINDS,
    NAME_SLOTS,
    PLAIN_SLOTS,
    WAY_ROLES,
    ZONE_SLOTS,
)
from pipeline.language.engines.template.phrase import Phrase
from pipeline.language.engines.template.shapes import (
    CaptionShape,
    ChattyPersona,
    ChattyShape,
    ConciseShape,
    Entries,
    Forms,
    LiteralShape,
    NarrativeShape,
    PartOfDayShape,
    QueriesShape,
)
from pipeline.language.engines.template.skeletons import SkeletonTable
from pipeline.language.vocabulary import PACES, Vocabulary
from pipeline.params import section_of

# Raise it when code changes what the same banks say.
CODE_VERSION = 1
FILES = ("caption", "chatty", "clock", "concise", "facilities", "literal", "narrative",
         "queries", "targets", "zones")  # fmt: skip
DAYS_IN_FULL = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Roles whose phrases add to those of a plainer one.
_ADDED_TO = {"do": "do_chatty", "with": "with_chatty", "bit": "order"}

Phrases = tuple[Phrase, ...]
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


def revision_of(folder: Path) -> str:
    """Return a short hash of the banks in a folder and of the code's version."""
    digest = hashlib.sha256(f"{CODE_VERSION}\n".encode())
    for name in FILES:
        digest.update(hashlib.sha256((folder / f"{name}.yaml").read_bytes()).digest())
    return digest.hexdigest()[:12]


def read_banks(folder: Path, words: Vocabulary) -> Banks:
    """Read, check and compile the banks.

    Args:
        folder: The folder prompts/template.
        words: The vocabulary that the banks put into words.

    Raises:
        ParameterError: A bank is missing or does not fit the vocabulary or the code.
    """

    def section(name: str, kind: Any) -> Any:
        return section_of(folder / f"{name}.yaml", name, kind)

    caption = section("caption", CaptionShape)
    return Banks(
        targets=_targets(section("targets", dict[str, dict[str, Entries]])),
        zones=_zones(section("zones", dict[str, dict[str, Entries]]), words),
        facilities=_facilities(section("facilities", dict[str, Entries]), words),
        headings={
            heading.code: {
                "heading": heading.words,
                "heading_ly": f"{heading.words}erly",
                "heading_letters": _letters(heading.code),
            }
            for heading in words.headings
        },
        clock=_clock(section("clock", dict[str, PartOfDayShape]), words),
        literal=_literal(section("literal", LiteralShape), words),
        concise=_concise(section("concise", ConciseShape), words),
        chatty=_chatty(section("chatty", ChattyShape), words),
        queries=_queries(section("queries", QueriesShape)),
        subjects=tuple(caption.subjects),
        caption=_caption(caption),
        narrative=_narrative(section("narrative", NarrativeShape), words),
    )


def _letters(heading: str) -> str:
    return "".join(
        part[0].upper() for part in ("north", "south", "east", "west") if part in heading
    )


# ---- one file after the other --------------------------------------------------------------------


def _targets(found: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, Phrases]]:
    where = "targets.yaml: targets"
    _expect_keys(where, found, KINDS)
    compiled: dict[str, dict[str, Phrases]] = {}
    for name, roles in found.items():
        kind = KINDS[name]
        _expect_keys(f"{where}.{name}", roles, kind.roles)
        phrases = {
            role: _phrases(
                entries, kind.slots | kind.optional, f"{where}.{name}.{role}", always=kind.slots
            )
            for role, entries in roles.items()
        }
        if kind.roles == WAY_ROLES:
            for plain, more in _ADDED_TO.items():
                phrases[more] = phrases[plain] + phrases[more]
        else:
            bare = BARE & kind.slots or kind.slots
            for role in END_ROLES:
                _expect_one(phrases[role], bare, f"{where}.{name}.{role}")
        compiled[name] = phrases
    return compiled


def _zones(
    found: dict[str, dict[str, list[str]]], words: Vocabulary
) -> dict[str, dict[str, tuple[str, ...]]]:
    where = "zones.yaml: zones"
    _expect_keys(where, found, [zone.code for zone in words.zones])
    for zone, slots in found.items():
        _expect_keys(f"{where}.{zone}", slots, ZONE_SLOTS)
    return {zone: {slot: tuple(e) for slot, e in slots.items()} for zone, slots in found.items()}


def _facilities(found: dict[str, list[str]], words: Vocabulary) -> dict[str, tuple[str, ...]]:
    known = {facility.code: facility.words for facility in words.facilities}
    _expect_keys("facilities.yaml: facilities", found, known, all_of_them=False)
    return {code: (noun, *found.get(code, ())) for code, noun in known.items()}


def _clock(
    found: dict[str, PartOfDayShape], words: Vocabulary
) -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    where = "clock.yaml: clock"
    _expect_keys(where, found, [part.code for part in words.parts_of_day])
    days = {day.code: day.words for day in words.days} | {day: day for day in DAYS_IN_FULL}
    slots = {
        "on_when": "on",
        "on_day": "on_day",
        "when": "noun",
        "when_adj": "adjective",
        "when_short": "short",
        "when_abbr": "abbr",
    }
    phrases = {
        (part, slot): _phrases(getattr(shape, key), {"day"}, f"{where}.{part}.{key}")
        for part, shape in found.items()
        for slot, key in slots.items()
    }
    return {
        (part, code): {
            slot: tuple(phrase.fill({"day": day}) for phrase in phrases[part, slot])
            for slot in slots
        }
        for part, (code, day) in product(found, days.items())
    }


def _literal(found: LiteralShape, words: Vocabulary) -> LiteralBank:
    where = "literal.yaml: literal"
    _expect_keys(f"{where}.personas", found.personas, [one.code for one in words.personas])
    notes = {"list", "List"}
    return LiteralBank(
        forms=_forms(found.forms, words, "literal"),
        route_notes=_phrases(found.route_notes, notes, f"{where}.route_notes"),
        time_notes=_phrases(found.time_notes, notes, f"{where}.time_notes"),
        voices={
            code: LiteralVoice(
                suffix=Pair((*v.suffix, *v.haste.suffix), tuple(v.suffix)),
                sentence=Pair((*v.sentence, *v.haste.sentence), tuple(v.sentence)),
            )
            for code, v in found.personas.items()
        },
    )


def _concise(found: ConciseShape, words: Vocabulary) -> ConciseBank:
    where = "concise.yaml: concise.personas"
    _expect_keys(where, found.personas, [one.code for one in words.personas])
    voices = {c: Pair((*v.word, *v.haste), tuple(v.word)) for c, v in found.personas.items()}
    return ConciseBank(forms=_forms(found.forms, words, "concise"), voices=voices)


def _chatty(found: ChattyShape, words: Vocabulary) -> ChattyBank:
    where = "chatty.yaml: chatty"
    personas = [one.code for one in words.personas]
    _expect_keys(f"{where}.personas", found.personas, personas)
    _expect_keys(f"{where}.paces", found.paces, PACES)
    for pace, voices in found.paces.items():
        _expect_keys(f"{where}.paces.{pace}", voices, personas)
    return ChattyBank(
        forms=_forms(found.forms, words, "chatty"),
        voices={
            code: _chatty_voice(voice, code, {p: found.paces[p][code] for p in PACES}, where)
            for code, voice in found.personas.items()
        },
    )


def _chatty_voice(
    voice: ChattyPersona, code: str, paces: Mapping[str, Sequence[str]], where: str
) -> ChattyVoice:
    said = {
        pace: _phrases(e, {"minutes"}, f"{where}.paces.{pace}.{code}", always=())
        for pace, e in paces.items()
    }
    return ChattyVoice(
        lead=voice.lead,
        ask=voice.ask,
        gripe=voice.gripe,
        gripe_comma=_with_comma(voice.gripe, f"{where}.personas.{code}.gripe"),
        story=voice.story,
        story_comma=_with_comma(voice.story, f"{where}.personas.{code}.story"),
        mood=Pair((*voice.mood, *voice.haste.mood), tuple(voice.mood)),
        wrap=_phrases(voice.wrap, {"do", "Do"}, f"{where}.personas.{code}.wrap"),
        close=Pair((*voice.close, *voice.haste.close), tuple(voice.close)),
        trail=voice.trail,
        paces=said,
    )


def _with_comma(sentences: Sequence[str], where: str) -> list[str]:
    """Return the sentences that end in a full stop, with a comma instead."""
    found = [f"{s[:-1]}," for s in sentences if s.endswith(".") and not s.endswith("..")]
    if not found:
        raise ParameterError(
            f"{where}: expected a sentence with a full stop, found none; add one and rerun"
        )
    return found


def _queries(found: QueriesShape) -> QueryBank:
    where = "queries.yaml: queries"
    clock = KINDS["clock"]
    return QueryBank(
        records=found.records,
        nouns=found.nouns,
        taken=_phrases(
            found.taken, clock.slots | clock.optional, f"{where}.taken", always=clock.slots
        ),
        before_records=(Phrase("{when_adj}"),),
        skeletons=SkeletonTable(
            found.skeletons, plain=PLAIN_SLOTS["queries"], where=f"{where}.skeletons"
        ),
    )


def _caption(found: CaptionShape) -> dict[str, Phrases]:
    lists = {name: getattr(found, name) for name in CAPTION_SLOTS if hasattr(found, name)}
    lists |= {name: getattr(found.legs, name) for name in found.legs.__struct_fields__}
    compiled = {}
    for name, entries in lists.items():
        where = f"caption.yaml: caption.{name}"
        core = CAPTION_CORE.get(name)
        compiled[name] = _phrases(entries, CAPTION_SLOTS[name], where, always=core)
    return compiled


def _narrative(found: NarrativeShape, words: Vocabulary) -> NarrativeBank:
    where = "narrative.yaml: narrative"
    _expect_keys(f"{where}.kinds", found.kinds, [zone.code for zone in words.zones])
    return NarrativeBank(
        openings=_phrases(found.openings, {"area", "kind"}, f"{where}.openings", always={"kind"}),
        plain_openings=_phrases(
            found.plain_openings, {"area"}, f"{where}.plain_openings", always=()
        ),
        things=_phrases(found.things, {"things"}, f"{where}.things"),
        one_name=_phrases(found.one_name, {"names"}, f"{where}.one_name"),
        two_names=_phrases(found.two_names, {"names"}, f"{where}.two_names"),
        kinds=found.kinds,
        nature=found.nature,
        groups=found.groups,
    )


# ---- checks --------------------------------------------------------------------------------------


def _forms(found: Forms, words: Vocabulary, style: str) -> Tables:
    where = f"{style}.yaml: {style}.forms"
    plan = words.style(style)
    _expect_keys(where, found, [form.code for form in plan.forms])
    for form, lengths in found.items():
        _expect_keys(f"{where}.{form}", lengths, [length.code for length in plan.lengths])
    return {
        form: {
            length: SkeletonTable(
                entries, plain=PLAIN_SLOTS[style], where=f"{where}.{form}.{length}"
            )
            for length, entries in lengths.items()
        }
        for form, lengths in found.items()
    }


def _phrases(
    entries: Sequence[str],
    slots: Iterable[str],
    where: str,
    *,
    always: Iterable[str] | None = None,
) -> Phrases:
    """Compile entries; where `always` is given, one at least must do with these slots."""
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
        _expect_one(phrases, always, where)
    return phrases


def _expect_one(phrases: Phrases, slots: Iterable[str], where: str) -> None:
    enough = set(slots)
    if not any(enough.issuperset(phrase.slots) for phrase in phrases):
        wanted = ", ".join(f"{{{slot}}}" for slot in sorted(enough)) or "none"
        raise ParameterError(
            f"{where}: expected an entry with no slots but {wanted}, found none; add one"
        )


def _expect_keys(
    where: str, found: Iterable[str], known: Iterable[str], *, all_of_them: bool = True
) -> None:
    have, want = list(found), list(known)
    unknown = [key for key in have if key not in want]
    missing = [key for key in want if key not in have]
    if unknown:
        raise ParameterError(
            f"{where}: expected keys out of {', '.join(want)}, found {unknown[0]!r}; mend the file"
        )
    if missing and all_of_them:
        raise ParameterError(
            f"{where}: expected an entry for {missing[0]!r}, found only {', '.join(have)}; add it"
        )
