"""Durations, distances and numbers of streets in a text, held against the trip's own measures.

    trip of 8 min 15 sec and 3.1 km over 7 named roads
    "about 8 minutes" supported, "under five minutes" contradicted, "3 km" supported

People round: a minute or a fifth either way, a quarter of the way. What is said of one stretch is
held against single phases; what is said of a wait or a meeting claims nothing of the trip.
"""

import re
from itertools import pairwise
from typing import Literal

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.phrases import PhraseTree, phrase_tree
from pipeline.quality.reading import CAPITAL, Reading
from pipeline.quality.stated import (
    CONTRADICTED,
    NUMBER,
    SUPPORTED,
    UNVERIFIED,
    Stated,
    number_of,
)
from pipeline.quality.tables import word_tables

_HALF = r"(?P<half>\s+and\s+a\s+half)?"
_LENGTH = re.compile(
    rf"(?:(?P<number>{NUMBER}){_HALF}[\s-]*(?:"
    r"(?P<time>minutes?|mins?|hours?|hrs?|seconds?|secs?)"
    rf"(?:\s+(?:and\s+)?(?P<more>{NUMBER})\s*(?P<finer>minutes?|mins?|seconds?|secs?))?"
    r"|(?P<way>kms?|kilomet(?:er|re)s?|met(?:er|re)s?|m|miles?)(?!\s*/|\s*per\b|\s+an\s+hour)"
    r"|(?:(?:different|named|separate|main)\s+)*(?P<count>streets|roads|districts|neighbou?rhoods)"
    r")|(?P<fraction>half|three\s+quarters|quarter)\s+(?:of\s+)?an\s+hour)\b",
    re.IGNORECASE,
)
_FRACTIONS = {"half": 1800.0, "quarter": 900.0, "three": 2700.0}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_METRES = {"k": 1000.0, "m": 1.0, "mile": 1609.344}
_Bound = Literal["upper", "lower", "near", "another"]
_BOUNDS: PhraseTree[_Bound] = phrase_tree(
    {
        "upper": ["less than", "under", "within", "at most", "no more than", "no longer than",
                  "not more than", "not longer than", "max", "maximum", "up to", "fewer than",
                  "shorter than", "not even", "inside"],
        "lower": ["more than", "over", "at least", "upwards of", "longer than", "no less than"],
        "near": ["a little over", "a bit over", "just over", "a little under", "just under",
                 "a little more than", "a little less than", "nearly", "almost", "close to",
                 "just short of", "a touch over"],
        "another": ["every", "each", "per", "wait", "waiting", "waited", "waiting for",
                    "waited for", "been here for", "stop for", "pause for", "pause of",
                    "for the past", "in the past", "for the last", "the last", "the next",
                    "late by", "meeting in", "appointment in", "train in", "flight in",
                    "starts in", "leaves in", "closes in", "opens in", "another", "sleep for",
                    "lose", "losing", "lost", "save", "saves"],
    },
    short_form=word_tables().short_form,
    reverse=True,
)  # fmt: skip
_ROUND = frozenset(
    {"about", "around", "approximately", "approx", "roughly", "only", "just", "some"}
)
# What a length is of when it is not of the trip.
_ANOTHER_AFTER = word_set(
    "late early ago away behind walk stop break pause wait spare ahead further"
)
_AT_MOST_AFTER = frozenset({"tops", "max", "maximum"})
_PART_AFTER = frozenset({"on", "along", "stretch", "section", "part"})
_SLACK_S, _SLACK_SHARE = 60.0, 0.2
_SLACK_M, _SLACK_WAY = 120.0, 0.25
# A bound may be missed by rounding.
_BOUND_SHARE = 0.1


def length_claim(reading: Reading, number: int, evidence: Evidence) -> Stated | None:
    """Return what a text states of how long the trip is from a word on, if anything."""
    match = _LENGTH.match(reading.text, reading.starts[number])
    if match is None:
        return None
    end = number
    while end < len(reading.words) and reading.starts[end] < match.end():
        end += 1
    after = [word.canonical for word in reading.words[end : end + 4]]
    if after[1:] and after[0] == "from" and not reading.words[end + 1].flags & CAPITAL:
        after[0] = "away"  # "two minutes from the harbour"
    begin = number
    while begin and reading.words[begin - 1].canonical in _ROUND:
        begin -= 1
    bound = _BOUNDS.before(reading.words, begin, max(0, begin - 4))
    if bound is None and begin != number:
        bound = _BOUNDS.before(reading.words, number, max(0, number - 4))
    if after and after[0] in _AT_MOST_AFTER:
        bound = "upper"
    if after and after[0] in _ANOTHER_AFTER:
        bound = "another"
    if match["way"]:
        return _distance(match, bound, after, evidence)
    if match["count"]:
        return _count(match, evidence)
    return _duration(match, bound, after, evidence)


def _stated(
    match: re.Match[str],
    kind: str,
    fits: bool | None,
    expected: str,
    *,
    phase: int | None = None,
) -> Stated:
    if fits is None:
        return Stated(*match.span(), kind, UNVERIFIED, "", "of something else")
    verdict = SUPPORTED if fits else CONTRADICTED
    return Stated(*match.span(), kind, verdict, expected, "measure", phase)


def _seconds(match: re.Match[str]) -> float:
    if match["fraction"]:
        return _FRACTIONS[match["fraction"].split()[0].lower()]
    seconds = _number(match) * _SECONDS[match["time"][0].lower()]
    if match["more"]:
        seconds += number_of(match["more"]) * _SECONDS[match["finer"][0].lower()]
    return seconds


def _number(match: re.Match[str]) -> float:
    return number_of(match["number"]) + (0.5 if match["half"] else 0.0)


def _duration(
    match: re.Match[str], bound: _Bound | None, after: list[str], evidence: Evidence
) -> Stated:
    meta = evidence.trip.meta
    said, true = _seconds(match), meta.duration_s
    expected = f"about {meta.total_duration}"
    if bound == "another":
        return _stated(match, "duration", None, expected)
    slack = max(_SLACK_S, _SLACK_SHARE * true)
    fits = _fits(said, true, slack, bound)
    if not fits and not _PART_AFTER.isdisjoint(after):
        for phase, following in pairwise(evidence.trip.phases):
            if abs(said - (following.t_enter_s - phase.t_enter_s)) <= slack:
                return _stated(match, "duration", True, expected, phase=phase.p)
    return _stated(match, "duration", fits, expected)


def _fits(said: float, true: float, slack: float, bound: _Bound | None) -> bool:
    if bound == "upper":
        return true <= said + max(slack / 2, _BOUND_SHARE * said)
    if bound == "lower":
        return true >= said - max(slack / 2, _BOUND_SHARE * said)
    return abs(said - true) <= slack


def _distance(
    match: re.Match[str], bound: _Bound | None, after: list[str], evidence: Evidence
) -> Stated:
    unit = match["way"].lower()
    said = _number(match) * _METRES["mile" if unit.startswith("mile") else unit[0]]
    true = evidence.trip.meta.length_m
    expected = f"about {true / 1000:.1f} km"
    if bound == "another":
        return _stated(match, "distance", None, expected)
    fits = _fits(said, true, max(_SLACK_M, _SLACK_WAY * true), bound)
    if not fits and not _PART_AFTER.isdisjoint(after) and said <= true:
        return _stated(match, "distance", None, expected)
    return _stated(match, "distance", fits, expected)


def _count(match: re.Match[str], evidence: Evidence) -> Stated:
    roads = match["count"].lower() in {"streets", "roads"}
    count = evidence.named("road" if roads else "district")
    return _stated(match, "count", number_of(match["number"]) == count, f"{count} by name")
