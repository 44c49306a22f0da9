"""Turns in a text, held against the headings of the phases before and after the road turned into.

    Rua A runs southeast in phase 3, Rua B northeast in phase 4
    "turn left onto Rua B"   ->  supported, by phase 4
    "turn right onto Rua B"  ->  contradicted

Only a turn into a named road is held against anything, and only where one phase is all of that road
and the one or two before it none of it: a phase of several roads has no heading of its own.
"""

from collections.abc import Sequence

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
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
_INTO = frozenset({"onto", "on", "into", "to", "along", "down", "up"})
# Degrees: a bend of less is none, and what is near about-face is to neither side.
_LEAST_DEG, _MOST_DEG = 30.0, 150.0
_PHASE_STRAIGHT = 0.5
# Phases of several roads that may lie between the two.
_MOST_BETWEEN = 1


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
    if words[into].canonical not in _INTO or reading.breaks(into):
        return None
    start = reading.starts[into + 1] if into + 1 < len(words) else len(reading.text)
    road = next((one for one in mentions if one.start == start and one.kind == "road"), None)
    if road is None:
        return None
    verdict, expected, phase = _judged(words[number].canonical, road.name, evidence)
    span = reading.starts[verb], reading.end(number)
    return Stated(*span, "direction", verdict, expected, "turn", phase)


def _judged(side: str, road: str, evidence: Evidence) -> tuple[ClaimVerdict, str, int | None]:
    """Return what the record makes of a turn to one side into a road, shows, and in which phase."""
    phases = evidence.trip.phases
    told = [number for number, phase in enumerate(phases) if road in phase.road_names]
    if not told:
        return UNVERIFIED, "a road of the trip", None
    after = next((n for n in told if _is_straight(phases[n])), None)
    before = next((n for n in range(told[0] - 1, -1, -1) if _is_straight(phases[n])), None)
    if after is None or before is None or after - before > 1 + _MOST_BETWEEN:
        return UNVERIFIED, "no turn that the phases show", None
    one, other = phases[before], phases[after]
    angle = (other.heading_deg - one.heading_deg + 180.0) % 360.0 - 180.0
    expected = f"{one.dir} in phase {one.p}, {other.dir} in phase {other.p}"
    if not _LEAST_DEG <= abs(angle) <= _MOST_DEG:
        return UNVERIFIED, expected, other.p
    fits = (angle > 0) == (side == "right")
    return SUPPORTED if fits else CONTRADICTED, expected, other.p


def _is_straight(phase: Phase) -> bool:
    return len(phase.road_names) == 1 and phase.heading_strength >= _PHASE_STRAIGHT
