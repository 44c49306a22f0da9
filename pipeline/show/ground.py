"""The ground near a trip, as its map draws it: streets, the driven path, H3 cells, places.

    Ground(centre=(7.42, 43.73), streets=[Street("Rue Grimaldi", "tertiary", line=[x, y, ...])],
           legs=[Leg("17", phase=0, line=[x, y, ...])], cells=[...], places=[...])

Lines are flat lists of x, y: metres east and north of `centre`, from its UTM zone.
"""

import msgspec
import numpy as np

from pipeline.city.projection import Floats, LocalPlane


class Street(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One street between two junctions, drawn once whatever its directions."""

    name: str | None
    highway: str
    oneway: bool
    line: list[float]


class Leg(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a drive's path that one phase tells; `phase` is null for a drive without."""

    drive_id: str
    phase: int | None
    line: list[float]


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outline of an H3 cell that a phase lies in."""

    cell: str
    ring: list[float]


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named place (POI)."""

    name: str
    category: str
    x: float
    y: float


class Ground(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a trip's map shows around it, in metres from `centre` (lon, lat)."""

    centre: tuple[float, float]
    margin_m: float
    streets: list[Street]
    streets_left_out: int
    legs: list[Leg]
    cells: list[Cell]
    places: list[Place]
    places_left_out: int
    attributions: list[str]

    def metres(self, lon: list[float], lat: list[float]) -> Floats:
        """Return points as (N, 2) metres east and north of the centre."""
        return LocalPlane(self.centre).metres(np.column_stack((lon, lat)))
