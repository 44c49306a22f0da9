"""Speeds in a text, held against the mean speed of the trip and of its fastest phase.

    trip of 3.1 km in 8 min 15 sec, at most 31 km/h over one phase
    "at 90 km/h"            ->  contradicted (expected 23 km/h on average, 31 in a phase)
    "averages 22 km/h"      ->  supported
    "a 30 km/h zone"        ->  unverified: the record knows no limits

A phase's mean is a bound from below on how fast it was driven for a moment, so only a speed well
above that of the fastest phase is wrong. What an instruction wishes for claims nothing.
"""

import re

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.reading import Reading
from pipeline.quality.stated import (
    CONTRADICTED,
    NUMBER,
    SUPPORTED,
    UNVERIFIED,
    Stated,
    number_of,
)

_SPEED = re.compile(
    rf"(?P<number>{NUMBER})[\s-]*(?:(?P<km>km\s?/\s?hr?|kmh|kph|k(?:ilo)?m(?:et(?:er|re)s?)?\s+(?:per|an)\s+hour)"
    r"|(?P<mile>mph|miles?\s+(?:per|an)\s+hour)|(?P<m>m\s?/\s?s|met(?:er|re)s\s+(?:per|a)\s+second))\b",
    re.IGNORECASE,
)
_KMH = {"km": 1.0, "mile": 1.609344, "m": 3.6}
_UNITS = word_set(
    "km kmh kph kilometre kilometres kilometer kilometers mph mile miles m metres meters"
)
_MEAN = word_set("average averages averaging averaged mean")
_LIMIT = word_set("limit limits limited zone zones area street streets sign signs speeding")
_AT_MOST = word_set("under below never max maximum than most exceeding exceeds to")
_AROUND = 4
# Kilometres an hour, or share, that a speed may be off; and how much faster than a phase's mean
# somebody may drive for a moment.
_SLACK_KMH, _SLACK_SHARE = 5.0, 0.25
_MOMENT_KMH, _MOMENT = 20.0, 1.6
# Seconds below which a phase's mean says little.
_LEAST_S = 5.0


def speed_claim(reading: Reading, number: int, evidence: Evidence, *, asks: bool) -> Stated | None:
    """Return what a text states of the speed at a number; None where it tells none.

    Args:
        reading: The text.
        number: The word.
        evidence: The trip's own record.
        asks: Whether it is an instruction, whose speeds are wishes.
    """
    words = reading.words
    unit = number + 1
    while unit < len(words) and unit < number + _AROUND and words[unit].canonical not in _UNITS:
        unit += 1
    if asks or unit == len(words) or words[unit].canonical not in _UNITS:
        return None
    match = _SPEED.match(reading.text, reading.starts[number])
    if match is None:
        return None
    said = number_of(match["number"]) * next(_KMH[one] for one in _KMH if match[one])
    meta = evidence.trip.meta
    if meta.time_spent_s <= 0:
        return None
    mean = 3.6 * meta.length_m / meta.time_spent_s
    in_phases = [
        3.6 * phase.length_m / phase.time_spent_s
        for phase in evidence.trip.phases
        if phase.time_spent_s >= _LEAST_S
    ]
    fastest = max([mean, *in_phases])
    expected = f"{mean:.0f} km/h on average, {fastest:.0f} in a phase"
    before = {word.canonical for word in words[max(0, number - _AROUND) : number]}
    around = before | {word.canonical for word in words[unit : unit + _AROUND]}
    near = abs(said - mean) <= max(_SLACK_KMH, _SLACK_SHARE * mean)
    if not _LIMIT.isdisjoint(around):
        verdict = UNVERIFIED
    elif not _MEAN.isdisjoint(around):
        verdict = SUPPORTED if near else CONTRADICTED
    elif not _AT_MOST.isdisjoint(before):
        fits = fastest <= said + max(_SLACK_KMH, _SLACK_SHARE * said)
        verdict = UNVERIFIED if fits else CONTRADICTED
    elif said > max(fastest + _MOMENT_KMH, fastest * _MOMENT):
        verdict = CONTRADICTED
    else:
        verdict = SUPPORTED if near else UNVERIFIED
    return Stated(*match.span(), "distance", verdict, expected, "speed")
