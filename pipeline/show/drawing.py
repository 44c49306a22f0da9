"""What the map's script draws, as plain JSON values: streets, their lettering, path, ends, cells.

leg_rows(drives, legs)  ->  {"key": "0:3", "line": [x, y, x, y, ...]}: drive 0, phase 3, metres
"""

from collections.abc import Iterator
from typing import Any

from pipeline.show.ground import Cell, Leg, Street
from pipeline.show.life import DriveLife

KINDS = {
    "main": ("motorway", "trunk", "primary"),
    "middle": ("secondary", "tertiary"),
    "minor": ("residential", "unclassified", "living_street", "road"),
}
KIND_ORDER = ("main", "middle", "minor", "service")


def kind_of(highway: str) -> str:
    """Return how a street is drawn: main, middle, minor or service."""
    base = highway.removesuffix("_link")
    return next((kind for kind, classes in KINDS.items() if base in classes), "service")


def street_rows(streets: list[Street]) -> Iterator[dict[str, Any]]:
    """Yield streets with the kind they are drawn as."""
    for one in streets:
        yield {
            "name": one.name,
            "highway": one.highway,
            "oneway": one.oneway,
            "kind": kind_of(one.highway),
            "line": one.line,
        }


def lettering(streets: list[Street], driven: set[str | None]) -> list[dict[str, Any]]:
    """Return one line per stretch of a named street for lettering: driven ones first, then greater.

    Pieces between junctions are joined: only the whole street has room for its name.
    """
    import shapely  # noqa: PLC0415 - slow import

    pieces: dict[tuple[str, str], list[Any]] = {}
    for street in streets:
        if street.name:
            line = shapely.LineString(list(zip(street.line[::2], street.line[1::2], strict=True)))
            pieces.setdefault((street.name, kind_of(street.highway)), []).append(line)
    named = []
    for (name, kind), lines in pieces.items():
        merged = shapely.line_merge(shapely.MultiLineString(lines))
        for part in shapely.get_parts(merged):
            flat = [round(number, 1) for point in part.coords for number in point]
            named.append(
                {
                    "name": name,
                    "kind": kind,
                    "driven": name in driven,
                    "line": flat,
                    "length": round(part.length),
                }
            )
    named.sort(
        key=lambda one: (
            not one["driven"],
            KIND_ORDER.index(one["kind"]),
            -one["length"],
            one["name"],
        )
    )
    return named


def leg_rows(drives: list[DriveLife], legs: list[Leg]) -> Iterator[dict[str, Any]]:
    """Yield the path's parts, each with the key of its phase; null for a drive without phases."""
    numbers = {drive.trip.trip_id: number for number, drive in enumerate(drives)}
    for leg in legs:
        key = None if leg.phase is None else f"{numbers[leg.drive_id]}:{leg.phase}"
        yield {"key": key, "line": leg.line}


def end_rows(drives: list[DriveLife], legs: list[Leg]) -> Iterator[dict[str, Any]]:
    """Yield where each drive begins (O) and ends (D)."""
    for drive in drives:
        lines = [leg.line for leg in legs if leg.drive_id == drive.trip.trip_id]
        if lines:
            yield {"role": "O", "x": lines[0][0], "y": lines[0][1]}
            yield {"role": "D", "x": lines[-1][-2], "y": lines[-1][-1]}


def cell_rows(drives: list[DriveLife], cells: list[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the cells with the phases in each; a cell driven through twice lists both."""
    phases: dict[str, list[tuple[str, int, str]]] = {}
    for number, drive in enumerate(drives):
        for one in drive.phased.phases if drive.phased else []:
            phases.setdefault(one.cell, []).append((f"{number}:{one.p}", one.p, one.role))
    for cell in cells:
        own = phases[cell.cell]
        roles = [role for _, _, role in own]
        north = cell.ring[1::2]
        yield {
            "cell": cell.cell,
            "ring": cell.ring,
            "radius": round((max(north) - min(north)) / 2, 1),
            "keys": [key for key, _, _ in own],
            "role": next((role for role in "OD" if role in roles), "T"),
            "labels": [
                ", ".join(f"{p} {role}" for _, p, role in own),
                ", ".join(str(p) for _, p, _ in own),
                f"{own[0][1]}" if len(own) == 1 else f"{own[0][1]}…",
            ],
        }
