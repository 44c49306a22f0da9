"""The streets a trip starts and ends on, as far as a text may tell them.

    meta.end_road = "Rua Direita", meta.end_class = "residential"  ->  "Rua Direita"
    meta.end_road = "A1", meta.end_class = "motorway_link"         ->  None

A name is told only of the very segment a trip starts or ends with. Nobody gets in or out on a
motorway or its ramp: there a trip has no named start or end (an extract's edge cuts it).
"""

from pipeline.records import TripMeta

_NO_STREETS = frozenset({"motorway", "motorway_link"})


def start_street(meta: TripMeta) -> str | None:
    """Return the name of the street a trip starts on; None where it has none to tell."""
    return None if meta.start_class in _NO_STREETS else meta.start_road


def end_street(meta: TripMeta) -> str | None:
    """Return the name of the street a trip ends on; None where it has none to tell."""
    return None if meta.end_class in _NO_STREETS else meta.end_road
