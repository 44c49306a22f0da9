"""The ground of all trips of a page: one plane, each street once, whatever trips pass by it.

    survey(tables, drives, spots)
    ->  SharedGround(streets near any path, legs by trip, outlines of cells, places)

Lines are metres east and north of the middle of all paths.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pipeline.city.projection import LocalPlane
from pipeline.show.context import attributions, named_places
from pipeline.show.ground import Cell, Leg, Place, Street
from pipeline.show.life import DriveLife
from pipeline.show.shards import CityTables
from pipeline.show.survey import box_around, corners_of, legs_of, outlines, streets_near

MARGIN_M = 400.0

Spots = Sequence[tuple[float, float]]


class SharedGround(NamedTuple):
    """What the maps of a page draw from.

    Attributes:
        plane: Where all lines are laid out.
        streets: Those up to `MARGIN_M` from a path or a spot.
        legs: The path of each trip, by its id, cut at its phases.
        cells: Outlines of the cells of each trip, by its id.
        places: Named places of all these cells.
        credit: What the sources ask to be said.
    """

    plane: LocalPlane
    streets: list[Street]
    legs: dict[str, list[Leg]]
    cells: dict[str, list[Cell]]
    places: list[Place]
    credit: str


def survey(tables: CityTables, drives: Sequence[DriveLife], spots: Spots) -> SharedGround:
    """Return the ground of some drives, at least one.

    Args:
        tables: The city.
        drives: Drives with their phases.
        spots: Further places that shall have streets around them, (lon, lat) degrees.
    """
    import shapely  # noqa: PLC0415 - slow import

    corners = corners_of(tables, {edge for drive in drives for edge in drive.trip.edge_ids})
    around = np.concatenate([corners, np.reshape(list(spots), (-1, 2))])
    west, south = around.min(axis=0)
    east, north = around.max(axis=0)
    plane = LocalPlane((float(west + east) / 2, float(south + north) / 2))
    legs = {drive.trip.trip_id: list(legs_of(tables, drive, plane)) for drive in drives}
    paths = [np.reshape(leg.line, (-1, 2)) for own in legs.values() for leg in own]
    points = plane.metres(np.reshape(list(spots), (-1, 2)))
    near = shapely.GeometryCollection(
        [shapely.MultiLineString(paths), shapely.MultiPoint(points)] if spots else
        [shapely.MultiLineString(paths)]
    )  # fmt: skip
    visited = {
        drive.trip.trip_id: list(dict.fromkeys(phase.cell for phase in drive.phased.phases))
        for drive in drives
        if drive.phased
    }
    return SharedGround(
        plane=plane,
        streets=streets_near(tables, box_around(around, MARGIN_M), near, plane, MARGIN_M),
        legs=legs,
        cells={trip_id: outlines(cells, plane) for trip_id, cells in visited.items()},
        places=_places(tables, sorted({c for cells in visited.values() for c in cells}), plane),
        credit=" · ".join(attributions(tables)),
    )


def _places(tables: CityTables, cells: list[str], plane: LocalPlane) -> list[Place]:
    rows = named_places(tables, cells)
    metres = np.round(plane.metres(rows.select("lon", "lat").to_numpy()), 1).tolist()
    words = zip(rows["name"], rows["category"], metres, strict=True)
    return [Place(name, category, *place) for name, category, place in words]
