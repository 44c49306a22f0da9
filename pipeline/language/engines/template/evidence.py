"""A planned trip as the realiser needs it: its wishes as mentions, its start, its end, its clock.

    trip from Rua A in Cedofeita to the cafe "Central" on Rua Z, via Rua B and Rua C
    -> Evidence(destination=<Central>, wishes=[<Rua B, Rua C>], origins=[("Rua A", "on"), ...], ...)

Everything that is ever said of a trip passes through here: the start from phase 0 alone, the end
from the last phase alone, the rest from the targets and the phases between.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipeline.language.areas import lies_in, read_area
from pipeline.language.eligibility import CLOCK_FROM_S, day_and_hour
from pipeline.language.ends import end_street, start_street
from pipeline.language.engines.template.banks import Banks
from pipeline.language.engines.template.mentions import Mention, Mentions
from pipeline.language.engines.template.skeletons import WAY
from pipeline.language.engines.template.wording import Clock, clock_of, ends_in_mark, sayable
from pipeline.language.vocabulary import DAYS, JOINT, Vocabulary
from pipeline.records import PlannedTrip, Target

# A place this near to the very end or start may be named with it, metres.
NEAR_M = 60.0
# Descriptions remembered; a city has a few thousand.
_AREAS_KEPT = 1 << 16


class AreaWords(NamedTuple):
    """Zones and district of an area; a district that cannot be said is None."""

    zones: tuple[str, ...]
    district: str | None


class Start(NamedTuple):
    """A name for where the trip starts, and the preposition that fits it."""

    name: str
    preposition: str


class Told(NamedTuple):
    """What one text has to say.

    Attributes:
        destination: Where the trip goes.
        wishes: What else: way first and in the order driven, then course, pace, time.
        starts: Names the start may have; may be empty.
    """

    destination: Mention
    wishes: Sequence[Mention]
    starts: Sequence[Start]


class Evidence(NamedTuple):
    """What may be said of a trip.

    Attributes:
        trip: The planned trip.
        told: What its instructions have to say.
        extras: Street and time that may be named besides; said where there is room.
        queries: What each retrieval query has to say.
        starts: Names of its start, the likeliest first; may be empty.
        end_road: Name of the last road, if it has one.
        near_end: Name of the place nearest to the end, if one is near.
        first: Zones and district of the first phase.
        last: Zones and district of the last phase.
        clock: When it starts, if it has a clock.
        marked: Names in the trip that bring their own full stop.
    """

    trip: PlannedTrip
    told: Told
    extras: Sequence[Mention]
    queries: Sequence[Told]
    starts: Sequence[Start]
    end_road: str | None
    near_end: str | None
    first: AreaWords
    last: AreaWords
    clock: Clock | None
    marked: Sequence[str]


class Reader:
    """Reads planned trips; one for all."""

    def __init__(self, banks: Banks, words: Vocabulary) -> None:
        self._words = words
        self._mentions = Mentions(banks)
        self.area = lru_cache(_AREAS_KEPT)(self._area)

    def _area(self, desc: str) -> AreaWords:
        area = read_area(desc)
        zones = tuple(zone.code for zone in self._words.zones if lies_in(area, zone))
        district = area.district if area.district and sayable(area.district) else None
        return AreaWords(zones, district)

    def read(self, trip: PlannedTrip) -> Evidence:
        """Return what may be said of a trip."""
        first, last = trip.phases[0], trip.phases[-1]
        first_area, last_area = self.area(first.desc), self.area(last.desc)
        end_road = end_street(trip.meta)
        end_road = end_road if end_road and sayable(end_road) else None
        has_clock = trip.meta.t_start_s >= CLOCK_FROM_S
        clock = clock_of(trip.meta.start_time) if has_clock else None
        beside = {"district": last_area.district}
        if end_road != start_street(trip.meta):
            beside["road"] = end_road
        known = {slot: name for slot, name in beside.items() if name}

        end = Target("1.1", "road", [last.p], [end_road], [], "", "") if end_road else None

        def mention(target: Target) -> Mention | None:
            if end and target.scenario == "1.1" and not any(map(sayable, target.names)):
                target = end
            return self._mentions.of(
                target, clock=clock, duration_s=trip.meta.time_spent_s, beside=known
            )

        starts = _starts(trip, first_area)
        told = _told([mention(target) for target in trip.intents.targets], None, starts)
        unnamed = mention(end) if end and not told.destination.names else None
        extras = [
            mention(target)
            for target in _extras(trip, told.wishes, self._words, has_clock=clock is not None)
        ]
        return Evidence(
            trip=trip,
            told=told,
            extras=[extra for extra in extras if extra],
            queries=[
                _told([mention(t) for t in query.targets], unnamed or told.destination, starts)
                for query in trip.intents.queries
            ],
            starts=starts,
            end_road=end_road,
            near_end=_near_end(trip),
            first=first_area,
            last=last_area,
            clock=clock,
            marked=_marked(trip, first_area, last_area),
        )


def in_order(wishes: Iterable[Mention]) -> list[Mention]:
    """Return wishes in the order they are said: way as driven, course, pace, time."""
    return sorted(
        wishes, key=lambda wish: (wish.group, wish.target.phases[:1] if wish.group == WAY else [])
    )


def _told(
    mentions: Iterable[Mention | None], otherwise: Mention | None, starts: Sequence[Start]
) -> Told:
    """Sort mentions into a destination (`otherwise` where there is none) and wishes."""
    said = [mention for mention in mentions if mention]
    ends = [mention for mention in said if mention.target.scenario[0] == "1"]
    destination = ends[0] if ends else otherwise
    if destination is None:
        raise LookupError("expected a trip with a destination among its targets, found none")
    wishes = _each_once([mention for mention in said if mention not in ends])
    return Told(destination, in_order(wishes), starts)


def _each_once(wishes: Sequence[Mention]) -> list[Mention]:
    """Leave out a wish that another holds: what keeps to a road while it seeks the parks."""
    both = [wish.target for wish in wishes if wish.target.scenario == "3.3"]
    held = {(name,) for target in both for name in target.names}
    held |= {(code,) for target in both for code in target.feature.split(JOINT)}
    return [
        wish
        for wish in wishes
        if wish.target.scenario not in {"3.1", "3.2"}
        or tuple(wish.target.names or [wish.target.feature]) not in held
    ]


def _extras(
    trip: PlannedTrip, wishes: Sequence[Mention], words: Vocabulary, *, has_clock: bool
) -> list[Target]:
    """Return street and time as targets, where no wish says them and there are wishes at all."""
    if len(trip.intents.targets) < 2:
        return []
    found = []
    street = trip.intents.street
    if street is not None and not any(wish.kind in {"roads", "stay_on"} for wish in wishes):
        on_it = [phase.p for phase in trip.phases[1:-1] if street in phase.road_names]
        found.append(Target("2.1", "roads", on_it, [street], [], "", ""))
    timed = any(wish.kind == "clock" for wish in wishes)
    if trip.intents.time_context is not None and not timed and has_clock:
        day, hour = day_and_hour(trip.meta.start_time)
        kind = DAYS[day in {"Saturday", "Sunday"}]
        part = words.part_of_day(hour).code
        found.append(Target("4.1", "clock", [], [], [], f"{kind}{JOINT}{part}", ""))
    return found


def _starts(trip: PlannedTrip, area: AreaWords) -> list[Start]:
    road = start_street(trip.meta)
    starts = [Start(road, "on")] if road and sayable(road) else []
    near = [place for place in trip.places if place.phase == 0 and place.distance_m <= NEAR_M]
    starts += [Start(place.name, "near") for place in near[:1] if sayable(place.name)]
    if area.district is not None:
        starts.append(Start(area.district, "in"))
    return starts


def _near_end(trip: PlannedTrip) -> str | None:
    destination = trip.intents.targets[0]
    if destination.kind == "place" and sayable(destination.names[0]):
        return destination.names[0]
    last = trip.phases[-1].p
    for place in trip.places:
        if place.phase == last and place.distance_m <= NEAR_M and sayable(place.name):
            return place.name
    return None


def _marked(trip: PlannedTrip, first: AreaWords, last: AreaWords) -> list[str]:
    names = {name for phase in trip.phases for name in phase.road_names}
    names.update(place.name for place in trip.places)
    names.update(name for target in trip.intents.targets for name in target.names)
    names.update(name for name in (first.district, last.district) if name)
    return sorted(name for name in names if ends_in_mark(name))
