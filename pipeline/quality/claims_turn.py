"""Turns in a text, held against the headings before and after the road turned into.

    Rua A runs southeast in phase 3, Rua B northeast in phase 4
    "turn left onto Rua B"              ->  supported, by phase 4
    "turns right from Rua A onto Rua B" ->  contradicted

Only a turn into a named road is held against anything. A phase of several roads has no heading of
its own; where it is the one in which the trip turns, its heading lies between the two.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import fold, word_set
from pipeline.quality.reading import Reading
from pipeline.quality.stated import CONTRADICTED, SUPPORTED, UNVERIFIED, ClaimVerdict, Stated
from pipeline.records import Mention, Phase

TURN_WORDS = frozenset({"left", "right"})
_TURNING = word_set(
    "turn turns turning hang hangs hanging make makes making take takes taking swing swings "
    "bear bears veer veers bend bends go goes going"
)
# Words that may stand between "turn" and "left", and between "left" and the road.
_HOW = word_set("a the sharp slight quick hard then first next")
_FROM = frozenset({"from", "off"})
_INTO = frozenset({"onto", "on", "into", "to", "along", "down", "up"})
# Degrees: a bend of less is none, and what is near about-face is to neither side.
_LEAST_DEG, _MOST_DEG = 30.0, 150.0
_PHASE_STRAIGHT = 0.5
# Of a phase of several roads: above this strength all of them run one way; and degrees from which
# on it shows to which side the trip turns within it.
_ALL_STRAIGHT, _LEAST_WITHIN_DEG = 0.94, 20.0

_ROUNDABOUTS = ("rond-point", "giratoire", "rotunda", "roundabout", "circle", "kiertoliitty")


class Turned(NamedTuple):
    """What the record makes of a turn, what it shows, and in which phase."""

    verdict: ClaimVerdict
    expected: str
    phase: int | None


_NO_TURN = Turned(UNVERIFIED, "no turn that the phases show", None)


def turn_claim(
    reading: Reading, number: int, evidence: Evidence, mentions: Sequence[Mention]
) -> Stated | None:
    """Return what a text states of a turn at a word; None where it turns into no named road."""
    words = reading.words
    verb = number - 1
    while verb >= 0 and words[verb].canonical in _HOW:
        verb -= 1
    into = number + 1
    if verb < 0 or into >= len(words) or words[verb].canonical not in _TURNING:
        return None
    left = None
    if words[into].canonical in _FROM and not reading.breaks(into):
        left = _road_at(reading, into + 1, mentions)
        if left is None:
            return None
        into = bisect_left(reading.starts, left.end)
    if into >= len(words) or words[into].canonical not in _INTO or reading.breaks(into):
        return None
    road = _road_at(reading, into + 1, mentions)
    if road is None:
        return None
    held = _judged(words[number].canonical, left.name if left else None, road.name, evidence)
    span = reading.starts[verb], reading.end(number)
    return Stated(*span, "direction", held.verdict, held.expected, "turn", held.phase)


def _road_at(reading: Reading, number: int, mentions: Sequence[Mention]) -> Mention | None:
    """Return the road whose name begins with a word."""
    if number >= len(reading.words):
        return None
    start = reading.starts[number]
    return next((one for one in mentions if one.start == start and one.kind == "road"), None)


def _judged(side: str, left: str | None, road: str, evidence: Evidence) -> Turned:
    """Return what the record makes of a turn to one side from a road, if told, into another."""
    phases = evidence.trip.phases
    entries = [
        number
        for number, phase in enumerate(phases)
        if road in phase.road_names and not (number and road in phases[number - 1].road_names)
    ]
    if not entries:
        return Turned(UNVERIFIED, "a road of the trip", None)
    if left is None:
        entries = entries[:1]
    found = [_turned(side, left, road, number, phases) for number in entries]
    told = [one for one in found if one is not None]
    for verdict in (SUPPORTED, UNVERIFIED, CONTRADICTED):
        for one in told:
            if one.verdict == verdict:
                return one
    return _NO_TURN


def _turned(
    side: str, left: str | None, road: str, entry: int, phases: Sequence[Phase]
) -> Turned | None:
    """Hold a turn against the phase in which a road is first driven and those beside it.

    None where another road leads there than the one that is told to be left.
    """
    here = phases[entry]
    place = here.road_names.index(road)
    roads = here.road_names[:place] or (phases[entry - 1].road_names if entry else [])
    if not roads or (left is not None and roads[-1] != left):
        return None
    if any(_is_roundabout(name) for name in (roads[-1], road)):
        return _NO_TURN
    before = _before(roads[-1], entry, phases, within=place > 0)
    after = _after(road, roads[-1], entry, phases)
    least = _LEAST_DEG
    if before is None or after is None:
        # The trip turns within this phase, so its heading lies between that of the two roads.
        is_corner = (
            here.road_names == [roads[-1], road] and here.heading_strength >= _PHASE_STRAIGHT
        )
        ends = entry + 1 == len(phases) or roads[-1] not in phases[entry + 1].road_names
        if not is_corner or not ends or (before is None and after is None):
            return _NO_TURN
        before, after = before or here, after or here
        least = _LEAST_WITHIN_DEG
    angle = (after.heading_deg - before.heading_deg + 180.0) % 360.0 - 180.0
    expected = f"{before.dir} in phase {before.p}, {after.dir} in phase {after.p}"
    if not least <= abs(angle) <= _MOST_DEG:
        return Turned(UNVERIFIED, expected, after.p)
    fits = (angle > 0) == (side == "right")
    return Turned(SUPPORTED if fits else CONTRADICTED, expected, after.p)


@lru_cache(maxsize=4096)
def _is_roundabout(name: str) -> bool:
    """Tell whether a road goes round, so that it is left to any side."""
    return any(part in fold(name) for part in _ROUNDABOUTS)


def _before(road: str, entry: int, phases: Sequence[Phase], *, within: bool) -> Phase | None:
    """Return the phase that shows how a road runs from which the trip turns.

    Args:
        road: The road.
        entry: The phase in which it turns into the next road.
        phases: All phases.
        within: Whether it still drives the road in that phase.
    """
    last = phases[entry - 1] if entry else None
    if last is None or road not in last.road_names:
        return None
    if _is_straight(last):
        return last
    strong = last.heading_strength >= _ALL_STRAIGHT and last.road_names[-1] == road
    return last if strong or (within and _is_all_straight(last)) else None


def _after(road: str, left: str, entry: int, phases: Sequence[Phase]) -> Phase | None:
    """Return the phase that shows how a road runs once the trip has turned into it."""
    if _is_straight(phases[entry]) and phases[entry].road_names == [road]:
        return phases[entry]
    if entry + 1 == len(phases):
        return None
    following = phases[entry + 1]
    if road not in following.road_names or left in following.road_names:
        return None
    return following if _is_straight(following) or _is_all_straight(following) else None


def _is_all_straight(phase: Phase) -> bool:
    return phase.heading_strength >= _ALL_STRAIGHT


def _is_straight(phase: Phase) -> bool:
    return len(phase.road_names) == 1 and phase.heading_strength >= _PHASE_STRAIGHT
