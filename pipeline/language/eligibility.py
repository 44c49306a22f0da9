"""Which of the ten scenarios a trip's own evidence supports, and what each could be about.

    16 phases, "Café de Paris" 12 m from the end, three roads in the middle, no park anywhere
    ->  {"1.1": [place Café de Paris, road Rua X], "2.1": [roads A > B, roads B > C, ...],
         "3.1": [avoid green], "3.2": [heading north], "4.1": [weekday+morning], ...}

Middle phases are all but the first and the last. A scenario without evidence has no entry, so
nothing is ever said that the trip does not show. Paper: Table 10.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import atan2, cos, degrees, hypot, radians, sin
from typing import Literal, NamedTuple

from pipeline.language.areas import AreaFacts, CityAreas
from pipeline.language.ends import end_street
from pipeline.language.intent_settings import IntentsSettings
from pipeline.language.route import Drive
from pipeline.language.vocabulary import DAYS, HEADINGS, JOINT, PACES, TURNS, Vocabulary
from pipeline.records import Phase, PhasedTrip, Place, Target, TripMeta

# Some pre-matched data counts seconds from 0: before 1971 there is no clock.
CLOCK_FROM_S = 31_536_000.0
SHORTEST_PACE_S = 60.0
MOST_ROADS = 4
FEW_TURNS, MANY_TURNS = TURNS
SLOW, STEADY, BRISK = PACES
WEEKDAY, WEEKEND = DAYS

Targets = dict[str, list[Target]]


class Evidence(NamedTuple):
    """All that may be said of a trip.

    Attributes:
        targets: Eligible scenarios, each with what it could be about; at least one each.
        middle_roads: Named roads of the middle phases in the order driven, each once, without
            those that name the destination.
    """

    targets: Targets
    middle_roads: list[str]


class _Seen(NamedTuple):
    """A trip with what its descriptions say and the kinds of places it passes, phase by phase."""

    phases: list[Phase]
    facts: list[AreaFacts]
    kinds: list[dict[str, None]]
    places: Sequence[Place]
    meta: TripMeta
    drive: Drive

    @property
    def last(self) -> int:
        return len(self.phases) - 1


def evidence_of(
    trip: PhasedTrip,
    *,
    places: Sequence[Place],
    drive: Drive,
    areas: CityAreas,
    settings: IntentsSettings,
) -> Evidence:
    """Find out what may be said of a trip.

    Args:
        trip: The trip; two phases at least.
        places: Its named places.
        drive: What its segments tell beyond the phases.
        areas: The city's zones.
        settings: Section `intents`.
    """
    facts = [areas.facts(phase.desc) for phase in trip.phases]
    kinds = [dict.fromkeys(fact.facilities) for fact in facts]
    for place in places:
        kind = areas.kind_of(place.category)
        if kind is not None:
            kinds[place.phase][kind] = None
    seen = _Seen(trip.phases, facts, kinds, places, trip.meta, drive)
    anchors = list(_anchors(seen, settings.anchor_m))
    taken = {name for anchor in anchors for name in anchor.names}
    middle = _middle_roads(seen, taken)
    prefer = list(_preferred_zones(seen, areas, settings.prefer_share))
    course = _course(seen, settings)
    found = {
        "1.1": anchors,
        "1.2": list(_fuzzy_ends(seen, areas)),
        "2.1": list(_sequences(middle)),
        "2.2": list(_stops(seen, areas)),
        "2.3": list(_crossings(seen)),
        "3.1": [*prefer, *_avoided_zones(seen, areas)],
        "3.2": [course],
        "3.3": [_both(zone, course) for zone in prefer],
        "4.1": _clock(seen, areas),
        "4.2": _pace(seen, settings),
    }
    targets = {scenario: options for scenario, options in found.items() if options}
    return Evidence(targets, list(middle))


def time_words(meta: TripMeta, words: Vocabulary) -> str | None:
    """Return when a trip starts, as "Tuesday morning"; None where it has no clock."""
    if meta.t_start_s < CLOCK_FROM_S:
        return None
    day, hour = day_and_hour(meta.start_time)
    return f"{day} {words.part_of_day(hour).words}"


def day_and_hour(start_time: str) -> tuple[str, int]:
    """Return weekday and hour (0-23): "Saturday, Jun 14, 2014 at 4:11 PM" is Saturday, 16."""
    day, _, _ = start_time.partition(",")
    _, _, clock = start_time.rpartition(" at ")
    hour, _, minutes = clock.partition(":")
    return day, int(hour) % 12 + (12 if minutes.endswith("PM") else 0)


# ---- 1: destination ------------------------------------------------------------------------------


def _anchors(seen: _Seen, anchor_m: float) -> Iterator[Target]:
    for place in seen.places:
        if place.phase == seen.last and place.distance_m <= anchor_m:
            yield _target("1.1", "place", [seen.last], names=[place.name], ids=[place.id])
    street = end_street(seen.meta)
    if street is not None:
        yield _target("1.1", "road", [seen.last], names=[street])


def _fuzzy_ends(seen: _Seen, areas: CityAreas) -> Iterator[Target]:
    for zone in seen.facts[seen.last].zones:
        if areas.wanted(zone):
            yield _target("1.2", "zone", [seen.last], feature=zone)
    for kind in seen.kinds[seen.last]:
        yield _target("1.2", "facility", [seen.last], feature=kind)


# ---- 2: waypoints --------------------------------------------------------------------------------


def _middle_roads(seen: _Seen, taken: set[str]) -> dict[str, int]:
    """Return the roads of the middle phases in the order first driven, with that phase."""
    first: dict[str, int] = {}
    for phase in seen.phases[1:-1]:
        for name in phase.road_names:
            if name not in taken:
                first.setdefault(name, phase.p)
    return first


def _sequences(middle: dict[str, int]) -> Iterator[Target]:
    """Give every run of two to four roads that follow each other."""
    names = list(middle)
    for length in range(2, MOST_ROADS + 1):
        for start in range(len(names) - length + 1):
            run = names[start : start + length]
            yield _target("2.1", "roads", [middle[name] for name in run], names=run)


def _stops(seen: _Seen, areas: CityAreas) -> Iterator[Target]:
    for number in range(1, seen.last):
        for kind in seen.kinds[number]:
            if areas.is_stop(kind):
                yield _target("2.2", "facility", [number], feature=kind)


def _crossings(seen: _Seen) -> Iterator[Target]:
    """Give each zone and district that is entered and left between the first and last phase."""
    for zone in dict.fromkeys(zone for facts in seen.facts for zone in facts.zones):
        for run in inner_runs([zone in facts.zones for facts in seen.facts]):
            yield _target("2.3", "zone", run, feature=zone)
    districts = [facts.district for facts in seen.facts]
    for district in dict.fromkeys(name for name in districts if name):
        for run in inner_runs([name == district for name in districts]):
            yield _target("2.3", "district", run, names=[district])


def inner_runs(inside: list[bool]) -> Iterator[list[int]]:
    """Give the runs of True that reach neither end, each as its positions."""
    run: list[int] = []
    for number, here in enumerate(inside):
        if here:
            run.append(number)
        else:
            if run and run[0] > 0:
                yield run
            run = []


# ---- 3: route preferences ------------------------------------------------------------------------


def _preferred_zones(seen: _Seen, areas: CityAreas, share: float) -> Iterator[Target]:
    middle = range(1, seen.last)
    whole = sum(seen.phases[p].length_m for p in middle)
    for zone in dict.fromkeys(zone for p in middle for zone in seen.facts[p].zones):
        inside = [p for p in middle if zone in seen.facts[p].zones]
        length = sum(seen.phases[p].length_m for p in inside)
        if areas.wanted(zone) and length > 0 and length >= share * whole:
            yield _target("3.1", "zone", inside, feature=zone, polarity="prefer")


def _avoided_zones(seen: _Seen, areas: CityAreas) -> Iterator[Target]:
    in_words = {zone for facts in seen.facts for zone in facts.zones}
    for zone in areas.avoided({*seen.drive.cells, *(phase.cell for phase in seen.phases)}):
        if zone not in in_words:
            yield _target("3.1", "zone", [], feature=zone, polarity="avoid")


def _course(seen: _Seen, settings: IntentsSettings) -> Target:
    """Return the one thing that tells the trip's course best: a road, a heading, or its turns.

    A trip that ends on its main road is not told to go there by it.
    """
    road = seen.drive.main_road
    stays = seen.drive.main_share >= settings.stay_share
    if road is not None and stays and road != end_street(seen.meta):
        on_it = [phase.p for phase in seen.phases if road in phase.road_names]
        return _target("3.2", "stay_on", on_it, names=[road])
    heading = main_heading(seen.phases, settings.heading_strength)
    if heading is not None:
        return _target("3.2", "heading", [], feature=heading)
    turns = turns_of(seen.phases, settings.turn_deg)
    few = turns <= settings.few_turns_per_km * seen.meta.length_m / 1000
    return _target("3.2", "turns", [], feature=FEW_TURNS if few else MANY_TURNS)


def main_heading(phases: Iterable[Phase], strength: float) -> str | None:
    """Return the direction of eight a trip keeps, or None.

    The phases' mean bearing vectors are averaged by length; where they add up to a vector of at
    least `strength` (1 is straight on, 0 out and back) its direction is the trip's.
    """
    east = north = whole = 0.0
    for phase in phases:
        weight = phase.length_m * phase.heading_strength
        east += weight * sin(radians(phase.heading_deg))
        north += weight * cos(radians(phase.heading_deg))
        whole += phase.length_m
    if whole == 0 or hypot(east, north) < strength * whole:
        return None
    return HEADINGS[int((degrees(atan2(east, north)) + 382.5) // 45) % 8]


def turns_of(phases: Iterable[Phase], turn_deg: float) -> int:
    """Count neighbouring phases whose headings differ by `turn_deg` or more."""
    bends = (abs(b.heading_deg - a.heading_deg) % 360 for a, b in pairwise(phases))
    return sum(min(bend, 360 - bend) >= turn_deg for bend in bends)


def _both(zone: Target, course: Target) -> Target:
    """Join a preferred zone and a course."""
    by_road = course.kind == "stay_on"
    return _target(
        "3.3",
        "zone_and_road" if by_road else f"zone_and_{course.kind}",
        sorted({*zone.phases, *course.phases}),
        names=course.names,
        feature=zone.feature if by_road else f"{zone.feature}{JOINT}{course.feature}",
        polarity="prefer",
    )


# ---- 4: time and pace ----------------------------------------------------------------------------


def _clock(seen: _Seen, areas: CityAreas) -> list[Target]:
    if seen.meta.t_start_s < CLOCK_FROM_S:
        return []
    day, hour = day_and_hour(seen.meta.start_time)
    kind = WEEKEND if day in {"Saturday", "Sunday"} else WEEKDAY
    part = areas.words.part_of_day(hour).code
    return [_target("4.1", "clock", [], feature=f"{kind}{JOINT}{part}")]


def _pace(seen: _Seen, settings: IntentsSettings) -> list[Target]:
    length_m, duration_s = seen.meta.length_m, seen.meta.time_spent_s
    if duration_s < SHORTEST_PACE_S or length_m <= 0:
        return []
    kph = 3.6 * length_m / duration_s
    brisk_or_steady = BRISK if kph >= settings.brisk_kph else STEADY
    pace = SLOW if kph < settings.slow_kph else brisk_or_steady
    return [_target("4.2", "pace", [], feature=pace)]


def _target(
    scenario: str,
    kind: str,
    phases: list[int],
    *,
    names: Sequence[str] = (),
    ids: Sequence[str] = (),
    feature: str = "",
    polarity: Literal["", "prefer", "avoid"] = "",
) -> Target:
    return Target(scenario, kind, phases, list(names), list(ids), feature, polarity)
