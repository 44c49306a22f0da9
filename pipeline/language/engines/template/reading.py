"""Read the files of prompts/template/, check them against the vocabulary, compile them.

    banks = read_banks(PROMPTS / "template", vocabulary())

What the vocabulary lists (personas, sentence forms, lengths, zones, parts of the day) needs its
entries here, and nothing else may have any: a missing or unknown key, an unknown slot or a kind of
trip that nothing could be said of is one ParameterError that names file and entry.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from pipeline.errors import ParameterError
from pipeline.language.engines.template.banks import (
    Banks,
    ChattyBank,
    ChattyVoice,
    ConciseBank,
    LiteralBank,
    LiteralVoice,
    NarrativeBank,
    Pair,
    QueryBank,
    Tables,
)
from pipeline.language.engines.template.checks import (
    expect_fragments,
    expect_keys,
    expect_one,
    expect_sentences,
    phrases_of,
    refuse_labels,
)
from pipeline.language.engines.template.kinds import (
    BARE,
    CAPTION_CORE,
    CAPTION_SLOTS,
    END_ROLES,
    FRAGMENT_ROLES,
    KINDS,
    PLAIN_SLOTS,
    SENTENCE_ROLES,
    ZONE_SLOTS,
)
from pipeline.language.engines.template.phrase import Phrase, Phrases
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
from pipeline.language.engines.template.wording import with_article
from pipeline.language.vocabulary import PACES, Vocabulary
from pipeline.params import section_of

# Raise it when code changes what the same banks say.
CODE_VERSION = 3
FILES = ("caption", "chatty", "clock", "concise", "facilities", "literal", "narrative",
         "queries", "targets", "zones")  # fmt: skip
DAYS_IN_FULL = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Roles whose phrases add to those of a plainer one.
_ADDED_TO = {"do": "do_chatty", "with": "with_chatty", "bit": "order"}


def revision_of(folder: Path) -> str:
    """Return a short hash of the banks, the vocabulary beside their folder and the version of code.

    Raises:
        ParameterError: A file cannot be read.
    """
    digest = hashlib.sha256(f"{CODE_VERSION}\n".encode())
    files = [folder / f"{name}.yaml" for name in FILES]
    for file in (*files, folder.parent / "vocabulary.yaml"):
        try:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        except OSError as fault:
            raise ParameterError(
                f"prompts/{file.relative_to(folder.parent)}: expected this file, found"
                f" '{fault.strerror}';"
                " restore it from the repository"
            ) from fault
    return digest.hexdigest()[:12]


def read_banks(folder: Path, words: Vocabulary) -> Banks:
    """Read, check and compile the banks.

    Args:
        folder: The folder prompts/template.
        words: The vocabulary that the banks put into words.

    Raises:
        ParameterError: A bank is missing or does not fit the vocabulary or the code.
    """
    try:
        return _compiled(folder, words)
    except ParameterError as fault:
        # What is raised below begins with the file's name, or its whole path.
        message = str(fault).removeprefix(f"{folder}/")
        raise ParameterError(f"prompts/template/{message}") from fault


def _compiled(folder: Path, words: Vocabulary) -> Banks:
    def section(name: str, kind: Any) -> Any:
        found = section_of(folder / f"{name}.yaml", name, kind)
        refuse_labels(msgspec.to_builtins(found), f"{name}.yaml: {name}")
        return found

    caption = section("caption", CaptionShape)
    return Banks(
        targets=_targets(section("targets", dict[str, dict[str, Entries]])),
        zones=_zones(section("zones", dict[str, dict[str, Entries]]), words),
        facilities=_facilities(section("facilities", dict[str, Entries]), words),
        headings={
            heading.code: {
                "heading": heading.words,
                "heading_ly": f"{heading.words}erly",
                "a_heading_ly": with_article(f"{heading.words}erly"),
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


def _expect_codes(
    where: str, found: Iterable[str], known: Iterable[str], *, all_of_them: bool = True
) -> None:
    expect_keys(where, found, known, all_of_them=all_of_them, of_vocabulary=True)


def _letters(heading: str) -> str:
    return "".join(
        part[0].upper() for part in ("north", "south", "east", "west") if part in heading
    )


# ---- one file after the other --------------------------------------------------------------------


def _targets(found: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, Phrases]]:
    where = "targets.yaml: targets"
    expect_keys(where, found, KINDS)
    compiled: dict[str, dict[str, Phrases]] = {}
    for name, roles in found.items():
        kind = KINDS[name]
        expect_keys(f"{where}.{name}", roles, kind.roles)
        phrases = {
            role: phrases_of(
                entries, kind.slots | kind.optional, f"{where}.{name}.{role}", always=kind.slots
            )
            for role, entries in roles.items()
        }
        for role, entries in roles.items():
            if role in SENTENCE_ROLES:
                expect_sentences(entries, f"{where}.{name}.{role}")
            elif role in FRAGMENT_ROLES:
                expect_fragments(entries, f"{where}.{name}.{role}")
        if kind.roles != END_ROLES:
            phrases.setdefault("passing", phrases["with"])
            for plain, more in _ADDED_TO.items():
                phrases[more] = phrases[plain] + phrases[more]
        else:
            bare = BARE & kind.slots or kind.slots
            for role in END_ROLES:
                expect_one(phrases[role], bare, f"{where}.{name}.{role}")
        compiled[name] = phrases
    return compiled


def _zones(
    found: dict[str, dict[str, list[str]]], words: Vocabulary
) -> dict[str, dict[str, tuple[str, ...]]]:
    where = "zones.yaml: zones"
    _expect_codes(where, found, [zone.code for zone in words.zones])
    for zone, slots in found.items():
        expect_keys(f"{where}.{zone}", slots, ZONE_SLOTS)
    return {zone: {slot: tuple(e) for slot, e in slots.items()} for zone, slots in found.items()}


def _facilities(found: dict[str, list[str]], words: Vocabulary) -> dict[str, tuple[str, ...]]:
    known = {facility.code: facility.words for facility in words.facilities}
    _expect_codes("facilities.yaml: facilities", found, known, all_of_them=False)
    return {code: (noun, *found.get(code, ())) for code, noun in known.items()}


def _clock(
    found: dict[str, PartOfDayShape], words: Vocabulary
) -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    where = "clock.yaml: clock"
    _expect_codes(where, found, [part.code for part in words.parts_of_day])
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
        (part, slot): phrases_of(getattr(shape, key), {"day"}, f"{where}.{part}.{key}")
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
    _expect_codes(f"{where}.personas", found.personas, [one.code for one in words.personas])
    for code, voice in found.personas.items():
        sentences = (*voice.sentence, *voice.haste.sentence)
        expect_sentences(sentences, f"{where}.personas.{code}.sentence")
    notes = {"list", "List"}
    return LiteralBank(
        forms=_forms(found.forms, words, "literal"),
        route_notes=phrases_of(found.route_notes, notes, f"{where}.route_notes"),
        time_notes=phrases_of(found.time_notes, notes, f"{where}.time_notes"),
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
    _expect_codes(where, found.personas, [one.code for one in words.personas])
    for code, voice in found.personas.items():
        expect_sentences((*voice.word, *voice.haste), f"{where}.{code}")
    voices = {c: Pair((*v.word, *v.haste), tuple(v.word)) for c, v in found.personas.items()}
    return ConciseBank(forms=_forms(found.forms, words, "concise"), voices=voices)


def _chatty(found: ChattyShape, words: Vocabulary) -> ChattyBank:
    where = "chatty.yaml: chatty"
    personas = [one.code for one in words.personas]
    _expect_codes(f"{where}.personas", found.personas, personas)
    expect_keys(f"{where}.paces", found.paces, PACES)
    for pace, voices in found.paces.items():
        _expect_codes(f"{where}.paces.{pace}", voices, personas)
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
    for name in ("gripe", "story", "mood", "wrap", "close", "trail"):
        expect_sentences(getattr(voice, name), f"{where}.personas.{code}.{name}")
    expect_sentences((*voice.haste.mood, *voice.haste.close), f"{where}.personas.{code}.haste")
    said = {
        pace: phrases_of(e, {"minutes"}, f"{where}.paces.{pace}.{code}", always=())
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
        wrap=phrases_of(voice.wrap, {"do", "Do"}, f"{where}.personas.{code}.wrap"),
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
        taken=phrases_of(
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
        compiled[name] = phrases_of(entries, CAPTION_SLOTS[name], where, always=core)
    return compiled


def _narrative(found: NarrativeShape, words: Vocabulary) -> NarrativeBank:
    where = "narrative.yaml: narrative"
    _expect_codes(f"{where}.kinds", found.kinds, [zone.code for zone in words.zones])
    return NarrativeBank(
        openings=phrases_of(found.openings, {"area", "kind"}, f"{where}.openings", always={"kind"}),
        plain_openings=phrases_of(
            found.plain_openings, {"area"}, f"{where}.plain_openings", always=()
        ),
        things=phrases_of(found.things, {"things"}, f"{where}.things"),
        one_name=phrases_of(found.one_name, {"names"}, f"{where}.one_name"),
        two_names=phrases_of(found.two_names, {"names"}, f"{where}.two_names"),
        kinds=found.kinds,
        nature=found.nature,
        groups=found.groups,
    )


def _forms(found: Forms, words: Vocabulary, style: str) -> Tables:
    where = f"{style}.yaml: {style}.forms"
    plan = words.style(style)
    _expect_codes(where, found, [form.code for form in plan.forms])
    for form, lengths in found.items():
        _expect_codes(f"{where}.{form}", lengths, [length.code for length in plan.lengths])
    return {
        form: {
            length: SkeletonTable(
                entries, plain=PLAIN_SLOTS[style], where=f"{where}.{form}.{length}"
            )
            for length, entries in lengths.items()
        }
        for form, lengths in found.items()
    }
