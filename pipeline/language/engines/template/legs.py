"""The roads of a trip's middle phases as legs of its way, and which of them a caption tells.

    phases 1-6 over Rua A, Rua A, Rua B, Rua B and C, Rua C, Rua D
    -> [Leg("Rua A", phases=[1, 2], heading_deg=312.0, ...), Leg("Rua B", ...), ...]

A road's length in a phase is shared evenly among the phase's roads; its heading is known where it
is the only road of a phase, and runs straight enough.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, degrees, hypot, radians, sin

from pipeline.language.engines.template.wording import sayable
from pipeline.language.vocabulary import HEADINGS
from pipeline.records import Phase

# Mean vector of a leg below which its heading means little, 0-1.
STRAIGHT = 0.8


@dataclass
class Leg:
    """One road, driven once without a break.

    Attributes:
        road: Its name.
        number: Its place in the order of all legs.
        phases: The phases it lies in.
        length_m: Its length, an estimate.
    """

    road: str
    number: int
    phases: list[int] = field(default_factory=list)
    length_m: float = 0.0
    _east: float = 0.0
    _north: float = 0.0
    _measured_m: float = 0.0

    def add(self, phase: Phase, *, roads: int) -> None:
        """Add a phase that has so many roads, this one among them."""
        self.phases.append(phase.p)
        self.length_m += phase.length_m / roads
        if roads == 1:
            weight = phase.length_m * phase.heading_strength
            self._east += weight * sin(radians(phase.heading_deg))
            self._north += weight * cos(radians(phase.heading_deg))
            self._measured_m += phase.length_m

    @property
    def heading_deg(self) -> float | None:
        """Return its direction, degrees clockwise from north; None where it is not known."""
        if hypot(self._east, self._north) < STRAIGHT * self._measured_m or not self._measured_m:
            return None
        return degrees(atan2(self._east, self._north)) % 360.0


def legs_of(phases: Sequence[Phase], *, without: Collection[str]) -> list[Leg]:
    """Return the legs of the middle phases in the order driven.

    Args:
        phases: All phases of the trip.
        without: Roads that are told elsewhere.

    Returns:
        Of a road driven more than once only the longest leg.
    """
    legs: list[Leg] = []
    running: dict[str, Leg] = {}
    for phase in phases[1:-1]:
        here: dict[str, Leg] = {}
        for name in phase.road_names:
            leg = running.get(name)
            if leg is None:
                leg = Leg(name, len(legs))
                legs.append(leg)
            leg.add(phase, roads=len(phase.road_names))
            here[name] = leg
        running = here
    longest: dict[str, Leg] = {}
    for leg in legs:
        if leg.road not in without and sayable(leg.road):
            known = longest.get(leg.road)
            if known is None or leg.length_m > known.length_m:
                longest[leg.road] = leg
    return sorted(longest.values(), key=lambda leg: leg.number)


def chosen_legs(legs: Sequence[Leg], most: int) -> list[Leg]:
    """Return the longest legs, at most so many, in the order driven."""
    longest = sorted(legs, key=lambda leg: (-leg.length_m, leg.number))[:most]
    return sorted(longest, key=lambda leg: leg.number)


def compass_word(heading_deg: float) -> str:
    """Return the nearest of the eight directions as its code, which is its English word."""
    return HEADINGS[int((heading_deg + 22.5) // 45.0) % 8]


def turned_deg(before: float, after: float) -> float:
    """Return the angle between two headings, 0-180 degrees."""
    return abs((after - before + 180.0) % 360.0 - 180.0)
