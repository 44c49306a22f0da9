"""Which constraints of a trip's plan one text states: a text of four words does not carry them all.

    "Bars via a bookshop, steady."   of five targets  ->  nightlife, bookshop, steady

A name is stated where quality control found it in the text; a feature where one of its words
stands outside of names (`feature_words.yaml`). Of a chain of roads those named are stated, of a
zone with a course the part that is said, of day and hour the one that is told.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import polars as pl

from pipeline.language.vocabulary import JOINT, Vocabulary, vocabulary
from pipeline.params import document_of
from pipeline.records import Target

WORDS_FILE = Path(__file__).with_name("feature_words.yaml")
_COURSES = {"zone_and_road": "stay_on", "zone_and_heading": "heading", "zone_and_turns": "turns"}
_ARTICLE = re.compile(r"^(?:an?|the) ")


class Name(msgspec.Struct, frozen=True):
    """A name in a text: where it stands, and what the map calls it."""

    start: int
    end: int
    name: str
    id: str


class _Told(msgspec.Struct, frozen=True):
    text: str
    mentions: list[Name]
    targets: list[Target]


class FeatureWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of feature_words.yaml: regular expressions by code."""

    zones: dict[str, list[str]]
    facilities: dict[str, list[str]]
    turns: dict[str, list[str]]
    paces: dict[str, list[str]]
    days: dict[str, list[str]]
    time_of_day: list[str]


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Return what states each feature, by its code."""
    words: Vocabulary = vocabulary()
    said: FeatureWords = document_of(WORDS_FILE, FeatureWords)
    own = {zone.code: [zone.words] for zone in words.zones}
    own |= {kind.code: [kind.words, *kind.categories] for kind in words.facilities}
    forms = {code: [re.escape(_ARTICLE.sub("", one)) for one in ones] for code, ones in own.items()}
    for table in (said.zones, said.facilities, said.turns, said.paces, said.days):
        for code, more in table.items():
            forms[code] = [*forms.get(code, []), *more]
    forms |= {
        heading.code: [f"{heading.words}(?:ern|erly|bound|wards?)?"] for heading in words.headings
    }
    forms |= {part.code: said.time_of_day for part in words.parts_of_day}
    return {code: re.compile(rf"\b(?:{'|'.join(ones)})\b") for code, ones in forms.items()}


def stated_targets(text: str, mentions: Iterable[Name], targets: Iterable[Target]) -> list[Target]:
    """Return the targets a text states, each cut down to what it states of it.

    Args:
        text: The text.
        mentions: Names found in it: start, end, name, id.
        targets: What its plan is about, in order; may be empty.
    """
    names, ids, plain = set(), set(), list(text.lower())
    for mention in mentions:
        names.add(mention.name)
        ids.add(mention.id)
        plain[mention.start : mention.end] = "·" * (mention.end - mention.start)
    rest = "".join(plain)
    found = (_stated(target, names, ids, rest) for target in targets)
    return [target for target in found if target is not None]


def stated_column(told: pl.DataFrame) -> pl.Series:
    """Return the stated targets of many texts.

    Args:
        told: Columns text, mentions (start, end, name, id, ...) and targets; may be empty.

    Returns:
        Column `constraints`, of the type of `targets`.
    """
    rows = msgspec.json.Decoder(_Told).decode_lines(told.write_ndjson())
    found = [stated_targets(row.text, row.mentions, row.targets) for row in rows]
    return pl.Series("constraints", msgspec.to_builtins(found), dtype=told.schema["targets"])


def _stated(target: Target, names: set[str], ids: set[str], rest: str) -> Target | None:
    if target.kind in _COURSES:
        return _parts(target, names, rest)
    if target.ids:  # of places with one name the trip's own counts
        kept = [k for k, one in enumerate(target.ids) if one in ids or target.names[k] in names]
        both = {"ids": [target.ids[k] for k in kept], "names": [target.names[k] for k in kept]}
        return msgspec.structs.replace(target, **both) if kept else None
    if target.names:
        told = [name for name in target.names if name in names]
        return msgspec.structs.replace(target, names=told) if told else None
    codes = _said(target.feature.split(JOINT), rest)
    return msgspec.structs.replace(target, feature=JOINT.join(codes)) if codes else None


def _parts(target: Target, names: set[str], rest: str) -> Target | None:
    """Return the zone, the course, or both."""
    zone, *course = target.feature.split(JOINT)
    in_zone = bool(_said([zone], rest))
    on_course = bool(_said(course, rest)) or any(name in names for name in target.names)
    if in_zone and on_course:
        return target
    if in_zone:
        return msgspec.structs.replace(target, kind="zone", names=[], feature=zone)
    if on_course:
        kind, feature = _COURSES[target.kind], JOINT.join(course)
        return msgspec.structs.replace(target, kind=kind, feature=feature, polarity="")
    return None


def _said(codes: Sequence[str], rest: str) -> list[str]:
    return [code for code in codes if _patterns()[code].search(rest)]
