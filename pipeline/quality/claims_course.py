"""Directions in a text, held against the headings of the trip's phases.

    Rua B runs northwest in phase 3; the trip as a whole goes west
    "heads north along Rua B"  ->  supported by Rua B's phases
    "keep going east"          ->  contradicted by the whole way

A direction said with a road is held against that road's phases, said at the start against the first
ones, said alone against the whole way or, in a caption, against any phase. "Mostly north" is held
against the whole way in every text, or against the whole of the road it is said with. It is
supported within a sector and a half of the eight, contradicted from a right angle on, and open
between.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import atan2, degrees

import msgspec

from pipeline.quality.evidence import Evidence
from pipeline.quality.folding import word_set
from pipeline.quality.reading import CAPITAL, SHOUTED, Reading
from pipeline.quality.stated import CONTRADICTED, SUPPORTED, UNVERIFIED, ClaimVerdict, Stated
from pipeline.records import Mention, Phase

_POINTS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
_LETTERS = {"n": 0, "ne": 1, "e": 2, "se": 3, "s": 4, "sw": 5, "w": 6, "nw": 7}
_ENDINGS = ("bound", "ward", "wards", "erly")
_BARE = {point: number for number, point in enumerate(_POINTS)}
_TURNED = {f"{point}{ending}": number for point, number in _BARE.items() for ending in _ENDINGS}
_SECOND = frozenset({*_BARE, *_TURNED})
_JOINTS = frozenset({" ", "-"})
COURSE_WORDS = frozenset({*_BARE, *_TURNED, *_LETTERS})
# Where a bare point is no direction driven: "the north side", "west of", "in the south".
_PLACE_AFTER = word_set(
    "of side end bank shore coast stn entrance exit part corner edge pier tower wing gate "
    "quarter suburb suburbs central ern"
)
_THE = frozenset({"the", "a", "an", "far", "deep"})
_TO = frozenset({"to", "toward", "towards", "for"})
_ON = frozenset({"on", "along", "down", "up", "via", "through", "over", "onto", "into"})
_LETTERS_BEFORE = word_set(
    "hdg heading head heads going go goes mostly mainly gen dir direction always keep "
    "course bearing for"
)
_LETTERS_AFTER = frozenset({"via", "on", "along", "past", "through"})
_OVERALL = word_set(
    "mostly mainly largely chiefly primarily predominantly main general generally overall "
    "throughout all whole always still direction course bearing straight most"
)
# These tell of the whole way in a caption too, where "still" and "straight" tell of a stretch.
_MOSTLY = word_set(
    "mostly mainly largely chiefly primarily predominantly generally general overall throughout "
    "whole most"
)
_LEFT = frozenset({"from", "leave", "leaves", "leaving", "off"})
_AT_FIRST = word_set(
    "first initially start starts starting sets set leave leaves leaving depart departs "
    "begin begins"
)
# A direction of one turn is not that of the whole way.
_TURNS = word_set("turn turns turning bend bends bending swing swings swinging")
_DENYING = frozenset({"without", "not", "never"})
# Words and marks that part what is said of one road from what is said of the next.
_PARTING = frozenset({"and", "then", "before"})
_OPENING_WORDS = 8
_NEAR_DEG, _FAR_DEG = 67.5, 90.0
# Shares of a way: from the first on it counts as all of it, from the other on it is mostly so.
_MOST_OF_WAY, _HALF_OF_WAY = 0.75, 0.5
# Below this the way winds, and so may its directions.
_STRAIGHT, _PHASE_STRAIGHT = 0.4, 0.5


class _Held(msgspec.Struct, frozen=True, gc=False):
    """A direction held against some phases: what they make of it, show, and which one decides."""

    verdict: ClaimVerdict
    expected: str
    phase: int | None = None


def course_claim(
    reading: Reading,
    number: int,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    caption: bool,
) -> Stated | None:
    """Return what a text states of the direction driven at a word; None where it is none."""
    found = _point(reading, number)
    if found is None:
        return None
    end, point = found
    held, method = _judged(reading, number, end, point, evidence, mentions, caption)
    span = reading.starts[number], reading.end(end - 1)
    return Stated(*span, "direction", held.verdict, held.expected, method, held.phase)


def _point(reading: Reading, number: int) -> tuple[int, int] | None:
    """Return the word after a direction and its number among the eight."""
    word = reading.words[number].canonical
    if word in _LETTERS:
        return _lettered(reading, number)
    if word in _TURNED:
        return number + 1, _TURNED[word]
    end, words = number + 1, reading.words
    if end < len(words) and words[number].after in _JOINTS:
        following = words[end].canonical
        if word in {"north", "south"} and following in _SECOND:
            both = f"{word}{following}"  # "north-west"
            if both in _TURNED:
                return end + 1, _TURNED[both]
            if both in _BARE:
                word, end = both, end + 1
                following = words[end].canonical if _joined(reading, end) else ""
        if following == "bound":
            return end + 1, _BARE[word]
    return (end, _BARE[word]) if _is_driven(reading, number, end) else None


def _joined(reading: Reading, number: int) -> bool:
    return number < len(reading.words) and reading.gap(number) in _JOINTS


def _is_driven(reading: Reading, number: int, end: int) -> bool:
    """Tell whether a bare point is a direction driven, not a side: "the north side", "West End"."""
    words = reading.words
    if _joined(reading, end) and words[end].canonical in _PLACE_AFTER:
        return False
    before = words[number - 1].canonical if number else ""
    if before in _THE and not (number > 1 and words[number - 2].canonical in _TO):
        return False
    return not words[number].flags & CAPITAL or number in reading.begins


def _lettered(reading: Reading, number: int) -> tuple[int, int] | None:
    """Return a direction of one or two capitals: "hdg NW", "SE-bound", "NE via ..."."""
    words, end = reading.words, number + 1
    word = words[number].canonical
    if not words[number].flags & (SHOUTED | CAPITAL):
        return None
    following = words[end].canonical if end < len(words) else ""
    if following == "bound" and reading.gap(end) == "-":
        return end + 1, _LETTERS[word]
    before = words[number - 1].canonical if number else ""
    told = before in _LETTERS_BEFORE or (len(word) > 1 and following in _LETTERS_AFTER)
    return (end, _LETTERS[word]) if told else None


def _judged(
    reading: Reading,
    number: int,
    end: int,
    point: int,
    evidence: Evidence,
    mentions: Sequence[Mention],
    caption: bool,
) -> tuple[_Held, str]:
    """Return what the record makes of a direction, and what it was held against."""
    said = 45.0 * point
    first, last = _clause(reading, number, end)
    phases = evidence.trip.phases
    words = [word.canonical for word in reading.words[first:last]]
    overall = not (_MOSTLY if caption else _OVERALL).isdisjoint(words)
    if overall and not _MOSTLY.isdisjoint(words):
        roads = _roads_beside(reading, first, last, mentions)
        if roads and _mostly(said, evidence.along(roads)) == SUPPORTED:
            return _Held(SUPPORTED, f"most of {' and '.join(roads)}"), "road"
    if not overall:
        found = _by_road(said, reading, number, end, evidence, mentions, caption=caption)
        if found is not None:
            return found
        if _tells_start(reading, first, last) or (caption and _is_opening(reading, first)):
            return _against(said, phases[:3]), "start"
    if (caption and not overall) or not _TURNS.isdisjoint(words):
        return _against(said, phases), "any phase"
    heading = degrees(atan2(*evidence.course))
    expected = f"{_POINTS[int((heading % 360.0 + 22.5) // 45.0) % 8]} overall"
    verdict, how = _by_angle(_apart(said, heading)), "whole way"
    if evidence.straightness < _STRAIGHT:
        verdict, how = _mostly(said, phases) if overall else UNVERIFIED, "winding"
    part = None
    if verdict != SUPPORTED and not overall:
        part = _of_a_part(said, reading, number, evidence)
    return part or (_Held(verdict, expected), how)


def _of_a_part(
    said: float, reading: Reading, number: int, evidence: Evidence
) -> tuple[_Held, str] | None:
    """Return what supports a direction that is not that of the whole way; None where nothing does.

    "From Rua A head north", "Start on Rua A and go north" tell of the start, "north, then west" of
    one phase after another.
    """
    first = reading.sentence(number)
    last = next((one for one in reading.sentences if one > number), len(reading.words))
    words = [word.canonical for word in reading.words[first:last]]
    phases = evidence.trip.phases
    if sum(word in _SECOND for word in words) > 1:
        held, how = _against(said, phases), "any phase"
    elif "from" in words or _tells_start(reading, first, last):
        held, how = _against(said, phases[:3]), "start"
    else:
        return None
    return (held, how) if held.verdict == SUPPORTED else None


def _by_road(
    said: float,
    reading: Reading,
    number: int,
    end: int,
    evidence: Evidence,
    mentions: Sequence[Mention],
    *,
    caption: bool,
) -> tuple[_Held, str] | None:
    """Return what the road makes of a direction that a text says of it; None where of none.

    In a caption the clause tells of its road; elsewhere "trips from A that head north".
    """
    first, last = _clause(reading, number, end)
    own = _road_after(reading, end, mentions)
    own = own or _roads(reading, first if caption else number, last, mentions)
    own = own or _road_before(reading, number, mentions)
    if not own and caption and reading.words[first - 1].canonical == "and" and first:
        # "turns onto Rua B and heads north": Rua B goes north.
        before, _ = _clause(reading, first - 2, first - 1)
        own = _roads(reading, before, first - 1, mentions)
        if any(word.canonical == "it" for word in reading.words[first:number]):
            own = _road_so_far(reading, number, mentions)  # "to Rua B and follows it north"
        begins = not own or any(phase.p == 0 for phase in evidence.along(own))
        if begins and _tells_start(reading, before, first):
            # "starts on Rua A and heads north"
            return _against(said, evidence.trip.phases[:3]), "start"
    if own:
        return _along(said, own, evidence), "road"
    if caption:
        held = _against(said, evidence.along(_road_so_far(reading, number, mentions)))
        if held.verdict == SUPPORTED:
            return held, "road"  # "takes Rua B, first north and then east"
    return None


def _along(said: float, roads: Sequence[str], evidence: Evidence) -> _Held:
    """Return what the phases of some roads make of a direction, those of other roads too at last.

    Where a road is one of several of a phase it may go as the phase does.
    """
    held = _against(said, evidence.along(roads), share=_MOST_OF_WAY)
    if held.verdict != CONTRADICTED:
        return held
    shared = [
        phase for phase in evidence.trip.phases if not set(roads).isdisjoint(phase.road_names)
    ]
    may_go = _against(said, shared).verdict == SUPPORTED
    return _Held(UNVERIFIED, held.expected) if may_go else held


def _is_opening(reading: Reading, first: int) -> bool:
    """Tell whether a clause follows the start in its sentence: "leaves Rua A, heading north"."""
    begin = first
    while begin and begin not in reading.sentences and first - begin < _OPENING_WORDS:
        begin -= 1
    return _tells_start(reading, begin, first)


def _tells_start(reading: Reading, first: int, end: int) -> bool:
    """Tell whether some words speak of the start: "leaving Rua A", not "without leaving Rua A"."""
    words = reading.words
    return any(
        words[number].canonical in _AT_FIRST
        and not (number and words[number - 1].canonical in _DENYING)
        for number in range(first, end)
    )


def _roads_beside(
    reading: Reading, first: int, last: int, mentions: Sequence[Mention]
) -> list[str]:
    """Return the roads of a clause and the one right before it, but for those left or driven to.

    "follows Rua B, mostly north", "runs mostly north along Rua B", not "from Rua A mostly north".
    """
    begin, stop = reading.starts[first], reading.starts[last]
    beside = [one for one in mentions if begin - one.end <= len(", ") and one.start < stop]
    return [
        one.name
        for one in beside
        if one.kind == "road"
        and not _is_driven_to(reading, one)
        and _word_before(reading, one) not in _LEFT
    ]


def _word_before(reading: Reading, mention: Mention) -> str:
    before = bisect_left(reading.starts, mention.start) - 1
    return reading.words[before].canonical if before >= 0 else ""


def _mostly(said: float, phases: Sequence[Phase]) -> ClaimVerdict:
    """Return what the lengths of some phases make of a direction that is that of most of them."""
    way_m = sum(phase.length_m for phase in phases)
    straight = [phase for phase in phases if phase.heading_strength >= _PHASE_STRAIGHT]
    apart = [(_apart(said, phase.heading_deg), phase.length_m) for phase in straight]
    if sum(length for angle, length in apart if angle <= _NEAR_DEG) > _HALF_OF_WAY * way_m:
        return SUPPORTED
    elsewhere_m = sum(length for angle, length in apart if angle >= _FAR_DEG)
    return CONTRADICTED if elsewhere_m > _HALF_OF_WAY * way_m else UNVERIFIED


def _road_after(reading: Reading, end: int, mentions: Sequence[Mention]) -> list[str]:
    """Return the road right after some words and a preposition: "heads north along Rua B"."""
    if end + 1 >= len(reading.words) or reading.words[end].canonical not in _ON:
        return []
    start = reading.starts[end + 1]
    return [one.name for one in mentions if one.kind == "road" and one.start == start]


def _road_before(reading: Reading, number: int, mentions: Sequence[Mention]) -> list[str]:
    """Return the road right before a word: "take Rua B north"."""
    start = reading.starts[number]
    return [one.name for one in mentions if one.kind == "road" and 0 <= start - one.end <= 1]


def _road_so_far(reading: Reading, number: int, mentions: Sequence[Mention]) -> list[str]:
    """Return the last road that the sentence of a word names before it."""
    begin, end = reading.starts[reading.sentence(number)], reading.starts[number]
    roads = [one.name for one in mentions if one.kind == "road" and begin <= one.start < end]
    return roads[-1:]


def _roads(reading: Reading, first: int, last: int, mentions: Sequence[Mention]) -> list[str]:
    """Return the roads that some words of a text name, but for those only driven to."""
    if not mentions:
        return []
    starts = reading.starts
    begin, stop = starts[first], starts[last]
    roads = []
    for one in mentions:
        start = one.start
        if start >= stop:
            break  # they stand in the order of the text
        if begin <= start and one.kind == "road" and not _is_driven_to(reading, one):
            roads.append(one.name)
    return roads


def _is_driven_to(reading: Reading, mention: Mention) -> bool:
    before = bisect_left(reading.starts, mention.start) - 1
    if before < 0:
        return False
    words = reading.words
    far = before > 1 and words[before - 1].canonical == "far"  # "as far as Rua B"
    return words[before].canonical in _TO or (far and words[before].canonical == "as")


def _clause(reading: Reading, number: int, end: int) -> tuple[int, int]:
    """Return the first word of the clause a direction stands in, and the word after its last."""
    words = reading.words
    first = number
    for before in reversed(words[:number]):
        if before.canonical in _PARTING or (before.after != " " and _parts(reading, first)):
            break
        first -= 1
    last, after = end, words[end - 1].after
    for word in words[end:]:
        if word.canonical in _PARTING or (after != " " and _parts(reading, last)):
            break
        after = word.after
        last += 1
    return first, last


def _parts(reading: Reading, number: int) -> bool:
    """Tell whether the marks before a word part clauses."""
    return bool(reading.breaks(number)) or number in reading.sentences


def _against(said: float, phases: Sequence[Phase], *, share: float = 1.0) -> _Held:
    """Return what some phases make of a direction: one that fits will do, a winding one is open.

    It is contradicted where none of their way goes there, and the given share of it elsewhere. A
    road that is not driven has no phases, and its direction stays open.
    """
    if not phases:
        return _Held(UNVERIFIED, "a road of the trip")
    way_m = elsewhere_m = 0.0
    for phase in phases:
        way_m += phase.length_m
        if phase.heading_strength < _PHASE_STRAIGHT:
            continue
        apart = _apart(said, phase.heading_deg)
        if apart <= _NEAR_DEG:
            return _Held(SUPPORTED, f"{phase.dir} in phase {phase.p}", phase.p)
        if apart >= _FAR_DEG:
            elsewhere_m += phase.length_m
    verdict = CONTRADICTED if elsewhere_m >= share * way_m else UNVERIFIED
    expected = f"one of {', '.join(dict.fromkeys(phase.dir for phase in phases))}"
    return _Held(verdict, expected, phases[0].p if len(phases) == 1 else None)


def _apart(one: float, other: float) -> float:
    return abs((one - other + 180.0) % 360.0 - 180.0)


def _by_angle(apart: float) -> ClaimVerdict:
    if apart <= _NEAR_DEG:
        return SUPPORTED
    return CONTRADICTED if apart >= _FAR_DEG else UNVERIFIED
