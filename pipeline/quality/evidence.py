"""What a trip's own record shows: its names and where they lie, its areas, its course, its clock.

    seen = EvidenceReader(names, words).read(trip)
    seen.spots[names.of("Rua do Campo Alegre")]  ->  [Spot(phase=7, kind="road", ...), ...]
    seen.clock                                   ->  Clock(weekday=5, minute=251, day=14, ...)
    seen.zones                                   ->  {"green", "waterside"}

This is all that a text may rest on: the annotator saw nothing else (paper A.3.6, "ONLY use features
in the data").
"""

from functools import cached_property
from math import cos, hypot, radians, sin
from typing import NamedTuple

from pipeline.language.areas import lies_in, read_area, touches
from pipeline.language.vocabulary import Vocabulary
from pipeline.quality.folding import folded_words
from pipeline.quality.gazetteer import Gazetteer, Name, NameKind, Site
from pipeline.records import AnnotatedTrip, Phase, Place, PlannedTrip

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Start times before 1971 are times of a trace without a clock (as in `eligibility`).
_CLOCK_FROM_S = 31_536_000.0
_AREAS_KEPT = 1 << 16


class Spot(NamedTuple):
    """One thing of a trip that has a name.

    Attributes:
        phase: The phase it lies in.
        kind: What it is.
        cell: The phase's cell.
        place: The place, if it is one.
    """

    phase: int
    kind: NameKind
    cell: str
    place: Place | None

    def site(self, name: Name) -> Site:
        """Return where it lies: of a road its segment in the phase's cell."""
        if self.place is not None:
            return Site(self.place.id, self.place.lon, self.place.lat)
        return name.in_cells.get(self.cell) or name.sites[self.kind]


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


class _Area(NamedTuple):
    """What an area description shows, read once per description."""

    district: Name | None
    zones: frozenset[str]
    facilities: frozenset[str]
    words: frozenset[str]


class Evidence:
    """One trip's evidence.

    Attributes:
        trip: The trip.
        last: Number of its last phase.
        spots: Its names, each with the things so named in the order of their phases.
        areas: The area of each phase.
    """

    def __init__(
        self, trip: PlannedTrip | AnnotatedTrip, spots: dict[Name, list[Spot]], areas: list[_Area]
    ) -> None:
        self.trip, self.spots, self.areas = trip, spots, areas
        self.last = len(trip.phases) - 1

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
    def zones(self) -> frozenset[str]:
        """Return the zones that some phase lies in or touches."""
        return frozenset(zone for area in self.areas for zone in area.zones)

    @cached_property
    def facilities(self) -> frozenset[str]:
        """Return the kinds of places in its areas and beside its road, codes of the vocabulary."""
        return frozenset(kind for area in self.areas for kind in area.facilities)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the folded words its areas, places and roads are told with."""
        found = {word for area in self.areas for word in area.words}
        for place in self.trip.places:
            found.update(folded_words(place.category or ""), folded_words(place.name))
        for phase in self.trip.phases:
            for road in phase.road_names:
                found.update(folded_words(road))
        return frozenset(found)

    @cached_property
    def place_categories(self) -> frozenset[str]:
        """Return the categories of its named places."""
        return frozenset(place.category for place in self.trip.places if place.category)

    def phases_of(self, name: Name) -> list[int]:
        """Return the phases in which something has this name."""
        return [spot.phase for spot in self.spots.get(name, ())]


class EvidenceReader:
    """Reads trips of one city."""

    def __init__(self, names: Gazetteer, words: Vocabulary) -> None:
        """Keep the city's names and the vocabulary of zones and kinds of places."""
        self._names, self._words = names, words
        self._areas: dict[str, _Area] = {}
        self._kinds = {c: kind.code for kind in words.facilities for c in kind.categories}

    def read(self, trip: PlannedTrip | AnnotatedTrip) -> Evidence:
        """Return what a trip's record shows.

        Raises:
            ContractError: It has a name that the city's tables have not.
        """
        of = self._names.of
        spots: dict[Name, list[Spot]] = {}
        areas = []
        for phase in trip.phases:
            for road in phase.road_names:
                spots.setdefault(of(road), []).append(Spot(phase.p, "road", phase.cell, None))
            area = self._areas.get(phase.desc) or self._read_area(phase.desc)
            areas.append(area)
            if area.district is not None:
                spot = Spot(phase.p, "district", phase.cell, None)
                spots.setdefault(area.district, []).append(spot)
        for place in trip.places:
            spots.setdefault(of(place.name), []).append(Spot(place.phase, "place", "", place))
        return Evidence(trip, spots, areas)

    def kind_of(self, category: str) -> str | None:
        """Return the kind of place that a category is, a code of the vocabulary."""
        return self._kinds.get(category)

    def _read_area(self, desc: str) -> _Area:
        if len(self._areas) >= _AREAS_KEPT:
            self._areas.clear()
        parts = read_area(desc)
        area = _Area(
            district=self._names.of(parts.district) if parts.district else None,
            zones=frozenset(
                zone.code
                for zone in self._words.zones
                if lies_in(parts, zone) or touches(parts, zone)
            ),
            facilities=frozenset(filter(None, map(self._kinds.get, parts.facilities))),
            words=frozenset(
                word
                for part in (*parts.natural, *parts.commercial, *parts.facilities)
                for word in folded_words(part)
            ),
        )
        self._areas[desc] = area
        return area


def clock_of(start_time: str) -> Clock | None:
    """Read a start time back, as phases word it: "Saturday, Jun 14, 2014 at 4:11 AM".

    None for a text of another form.
    """
    words = start_time.replace(",", "").replace(":", " ").split()
    try:
        weekday, month, day, year, _, hour, minute, half = words
        return Clock(
            _WEEKDAYS.index(weekday.lower()),
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


def straightness(phases: list[Phase]) -> float:
    """Return how straight some phases run together: 1 straight on, 0 round in a circle."""
    length = sum(phase.length_m for phase in phases)
    return hypot(*course_of(phases)) / length if length else 0.0
