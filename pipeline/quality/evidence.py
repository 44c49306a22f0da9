"""What a trip's own record shows: its names and where they lie, its course, its clock.

    seen = EvidenceReader(names).read(trip)
    seen.spots["Rua do Campo Alegre"]  ->  [(7, "road", Phase(7, ...)), ...]
    seen.clock                         ->  Clock(weekday=5, minute=251, day=14, ...)

This is all that a text may rest on: the annotator saw nothing else (paper A.3.6, "ONLY use features
in the data").
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from math import cos, hypot, radians, sin
from typing import NamedTuple, cast

from pipeline.language.areas import read_area
from pipeline.quality.gazetteer import Gazetteer, Name, NameKind, Site
from pipeline.records import AnnotatedTrip, Phase, Place, PlannedTrip

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Start times before 1971 are times of a trace without a clock (as in `eligibility`).
_CLOCK_FROM_S = 31_536_000.0
_AREAS_KEPT = 1 << 16


# One thing of a trip that has a name: number of its phase, kind, and the phase it is told in or, of
# a place, the place. Plain, as every trip makes some fifty.
Spot = tuple[int, NameKind, Phase | Place]


def site_of(spot: Spot, name: Name) -> Site | Place:
    """Return where a thing of a trip lies: a road by its segment in the phase's cell."""
    _, kind, thing = spot
    if isinstance(thing, Place):
        return thing
    return name.in_cells.get(thing.cell) or name.sites[kind]


class Clock(NamedTuple):
    """When a trip starts, local time.

    Attributes:
        weekday: 0 Monday to 6 Sunday.
        minute: Of the day, 0-1439.
        day: Of the month.
        month: 1-12.
        year: Year.
    """

    weekday: int
    minute: int
    day: int
    month: int
    year: int


class Evidence:
    """One trip's evidence.

    Attributes:
        trip: The trip.
        last: Number of its last phase.
        spots: Its names as the data writes them, each with the things so named in the order of
            their phases, roads and districts before places.
        nouns: Nouns it bears out, as far as `claims_nouns` looked; None before it did.
    """

    def __init__(self, trip: PlannedTrip | AnnotatedTrip, spots: dict[str, list[Spot]]) -> None:
        self.trip, self.spots = trip, spots
        self.last = len(trip.phases) - 1
        self.nouns: int | None = None

    @cached_property
    def clock(self) -> Clock | None:
        """Return when it starts; None where its trace has no clock."""
        meta = self.trip.meta
        return clock_of(meta.start_time) if meta.t_start_s >= _CLOCK_FROM_S else None

    @cached_property
    def course(self) -> tuple[float, float]:
        """Return how far it goes overall, metres east and north, by its phases' headings."""
        return course_of(self.trip.phases)

    @cached_property
    def straightness(self) -> float:
        """Return how straight it goes: 1 straight on, 0 round in a circle."""
        length = sum(phase.length_m for phase in self.trip.phases)
        return hypot(*self.course) / length if length else 0.0

    def phases_of(self, name: Name) -> list[int]:
        """Return the phases in which something has this name."""
        return list(dict.fromkeys([spot[0] for spot in self.spots.get(name.text, ())]))

    def end_road(self, phase: int) -> str | None:
        """Return the road that a trip starts on in phase 0, or ends on in its last.

        None for another phase, and where the first or last segment has no name: any road that the
        phase lists may then be meant.
        """
        meta = self.trip.meta
        if phase == 0:
            return meta.start_road
        return meta.end_road if phase == self.last else None

    def named(self, kind: NameKind) -> int:
        """Return how many different names of a kind it has."""
        return sum(any(spot[1] == kind for spot in spots) for spots in self.spots.values())

    def along(self, roads: Iterable[str]) -> list[Phase]:
        """Return the phases of some roads, those with no other road if there are any."""
        told = {
            spot[0]: spot[2]
            for road in roads
            for spot in self.spots.get(road, ())
            if spot[1] == "road"
        }
        # What is driven is a phase, never a place.
        phases = cast("list[Phase]", [told[number] for number in sorted(told)])
        return [one for one in phases if len(one.road_names) == 1] or phases


class EvidenceReader:
    """Reads trips of one city."""

    def __init__(self, names: Gazetteer) -> None:
        """Keep the city's names."""
        self._names = names
        self._districts: dict[str, str | None] = {}

    def read(self, trip: PlannedTrip | AnnotatedTrip) -> Evidence:
        """Return what a trip's record shows.

        Raises:
            ContractError: It has a name that the city's tables have not.
        """
        spots: dict[str, list[Spot]] = defaultdict(list)
        for phase in trip.phases:
            number, desc = phase.p, phase.desc
            for road in phase.road_names:
                spots[road].append((number, "road", phase))
            district = self._districts[desc] if desc in self._districts else self._district(desc)
            if district is not None:
                spots[district].append((number, "district", phase))
        for place in trip.places:
            spots[place.name].append((place.phase, "place", place))
        self._names.check(spots.keys())
        return Evidence(trip, dict(spots))

    def _district(self, desc: str) -> str | None:
        if len(self._districts) >= _AREAS_KEPT:
            self._districts.clear()
        self._districts[desc] = read_area(desc).district or None
        return self._districts[desc]


def clock_of(start_time: str) -> Clock | None:
    """Read a start time back, as phases word it: "Saturday, Jun 14, 2014 at 4:11 AM".

    None for a text of another form.
    """
    words = start_time.replace(",", "").replace(":", " ").split()
    try:
        weekday, month, day, year, _, hour, minute, half = words
        return Clock(
            WEEKDAYS.index(weekday.lower()),
            int(hour) % 12 * 60 + 720 * (half == "PM") + int(minute),
            int(day),
            MONTHS.index(month.lower()) + 1,
            int(year),
        )
    except ValueError:
        return None


def course_of(phases: list[Phase]) -> tuple[float, float]:
    """Return the vector sum of some phases' ways, metres east and north; (0, 0) for none."""
    east = north = 0.0
    for phase in phases:
        straight = phase.length_m * phase.heading_strength
        east += straight * sin(radians(phase.heading_deg))
        north += straight * cos(radians(phase.heading_deg))
    return east, north
