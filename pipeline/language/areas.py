"""Read the area descriptions of phases back into parts, and into zones and kinds of places.

    "GNN: WATERFRONT | Natural: park | Commercial: dining | Facilities: cafe | District: Cedofeita"
    ->  Area(geo_tag="WATERFRONT", natural=("park",), ..., district="Cedofeita")
    ->  zones ("waterside", "green"), facilities ("cafe",)

What a trip has is read from its phases' descriptions, as the annotator sees them. What it has not
is asked of the full cells, since a description keeps only the commonest words.
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from pipeline.language.vocabulary import Vocabulary, Zone

SEPARATOR = " | "
_DISTRICT = f"{SEPARATOR}District: "


class Area(NamedTuple):
    """The parts of an area description; empty where it has none."""

    geo_tag: str
    natural: tuple[str, ...]
    commercial: tuple[str, ...]
    facilities: tuple[str, ...]
    district: str | None


class AreaFacts(NamedTuple):
    """What an area's description says in codes of the vocabulary.

    Attributes:
        zones: Zones it lies in, in the vocabulary's order.
        facilities: Kinds of places in it, in the order named; others are left out.
        district: Its district.
    """

    zones: tuple[str, ...]
    facilities: tuple[str, ...]
    district: str | None


def read_area(desc: str) -> Area:
    """Return the parts of a description; the inverse of `pipeline.city.description`.

    The district comes last, so its name may hold anything, separators too. A part with another
    name is left out; "" gives an empty area.
    """
    before, _, district = (SEPARATOR + desc).partition(_DISTRICT)
    parts = dict(part.partition(": ")[::2] for part in before.split(SEPARATOR))
    return Area(
        geo_tag=parts.get("GNN", ""),
        natural=_words(parts, "Natural"),
        commercial=_words(parts, "Commercial"),
        facilities=_words(parts, "Facilities"),
        district=district or None,
    )


def _words(parts: dict[str, str], name: str) -> tuple[str, ...]:
    return tuple(parts[name].split(", ")) if parts.get(name) else ()


def lies_in(area: Area, zone: Zone) -> bool:
    """Tell whether an area lies in a zone."""
    return (
        area.geo_tag in zone.geo_tags
        or any(word in zone.natural for word in area.natural)
        or (bool(zone.commercial) and set(zone.commercial) <= set(area.commercial))
    )


def touches(area: Area, zone: Zone) -> bool:
    """Tell whether an area lies in a zone or shows anything of it: nobody avoids the zone there."""
    shown = {area.geo_tag, *area.natural, *area.commercial}
    return lies_in(area, zone) or not shown.isdisjoint(zone.touches)


class CityAreas:
    """The zones of one city's cells and descriptions.

    Attributes:
        words: The vocabulary.
        zones_present: Zones in which at least one cell of the city lies, in the vocabulary's order.
    """

    def __init__(self, cells: pl.DataFrame, words: Vocabulary) -> None:
        """Look at every cell once.

        Args:
            cells: Rows of `cell` (schemas/cell.schema.json); may be empty.
            words: The vocabulary.
        """
        self.words = words
        rows = cells.select("cell", "geo_tag", "natural", "commercial").iter_rows()
        full = {
            cell: Area(geo_tag, tuple(natural), tuple(commercial), (), None)
            for cell, geo_tag, natural, commercial in rows
        }
        self._touched = {
            cell: frozenset(zone.code for zone in words.zones if touches(area, zone))
            for cell, area in full.items()
        }
        self.zones_present = tuple(
            zone.code for zone in words.zones if any(lies_in(a, zone) for a in full.values())
        )
        self._facts: dict[str, AreaFacts] = {}
        self._kinds = {c: kind.code for kind in words.facilities for c in kind.categories}
        self._wanted = {zone.code for zone in words.zones if zone.wanted}
        self._stops = {kind.code for kind in words.facilities if kind.stop}

    def wanted(self, zone: str) -> bool:
        """Tell whether people ask for a zone, given its code."""
        return zone in self._wanted

    def is_stop(self, kind: str) -> bool:
        """Tell whether people ask for a kind of place on their way, given its code."""
        return kind in self._stops

    def facts(self, desc: str) -> AreaFacts:
        """Return what a phase's description says; each description is read once."""
        if desc not in self._facts:
            area = read_area(desc)
            self._facts[desc] = AreaFacts(
                zones=tuple(zone.code for zone in self.words.zones if lies_in(area, zone)),
                facilities=tuple(dict.fromkeys(filter(None, map(self.kind_of, area.facilities)))),
                district=area.district,
            )
        return self._facts[desc]

    def kind_of(self, category: str | None) -> str | None:
        """Return the code of the kind of place that a category is; None where it is none."""
        return self._kinds.get(category) if category is not None else None

    def avoided(self, cells: Iterable[str]) -> list[str]:
        """Return the zones that the city has and none of these cells touches.

        A cell the city does not have touches all zones: nothing is known of it.
        """
        touched: set[str] = set()
        for cell in cells:
            touched |= self._touched.get(cell, frozenset(self.zones_present))
        return [zone for zone in self.zones_present if zone not in touched]
