"""Survey the ground near a trip for its map, from a city's roads, cells and places.

    ground_of(root, "monaco", life)  ->  Ground(412 streets, 9 cells, 120 places)

Only what is near the trip is taken, nearest first: at most `MOST_STREETS` streets with
`MOST_COORDINATES` numbers, and `MOST_PLACES` places. What the caps leave out is counted.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pipeline.city.hexgrid import cell_number, outline
from pipeline.city.projection import Floats, LocalPlane
from pipeline.show.context import attributions, named_places
from pipeline.show.ground import Cell, Ground, Leg, Place, Street
from pipeline.show.life import DriveLife, TripLife
from pipeline.show.shards import CityTables

MARGIN_M = 400.0
MARGIN_SHARE = 0.4  # of the trip's extent: a long trip is looked at from further away
MOST_STREETS = 3000
MOST_PLACES = 400
MOST_COORDINATES = 60_000
SIMPLIFY_M = 1.0
METRES_PER_DEGREE = 111_000.0
KEPT = "kept"

Box = tuple[float, float, float, float]


def ground_of(root: Path, city: str, life: TripLife) -> Ground:
    """Return the ground near a trip; around (0, 0) and empty for a trip without a single point.

    Args:
        root: Root of the project.
        city: Key of the city.
        life: The trip.

    Raises:
        SourceError: The city's roads are not there; names the stage to run.
    """
    tables = CityTables(root, city)
    tables.require("roads")
    anchors = _anchors(tables, life)
    if not len(anchors):
        return Ground((0.0, 0.0), 0.0, [], 0, [], [], [], 0, attributions(tables))
    west, south = anchors.min(axis=0)
    east, north = anchors.max(axis=0)
    plane = LocalPlane((float(west + east) / 2, float(south + north) / 2))
    extent = plane.metres(np.array([[west, south], [east, north]]))
    margin_m = max(MARGIN_M, MARGIN_SHARE * float(np.max(extent[1] - extent[0])))
    legs = [leg for drive in life.drives for leg in legs_of(tables, drive, plane)]
    path = _path(legs, plane.metres(anchors))
    near = streets_near(tables, box_around(anchors, margin_m), path, plane, margin_m)
    streets = _capped(near)
    cells = outlines(_visited(life), plane)
    places, places_left_out = _places(tables, cells, path, plane)
    return Ground(
        centre=(float(west + east) / 2, float(south + north) / 2),
        margin_m=margin_m,
        streets=streets,
        streets_left_out=len(near) - len(streets),
        legs=legs,
        cells=cells,
        places=places,
        places_left_out=places_left_out,
        attributions=attributions(tables),
    )


def _anchors(tables: CityTables, life: TripLife) -> Floats:
    """Return the (lon, lat) points the map must hold: driven segments, else points kept, else all.

    Points that cleaning dropped do not count: a spike in the ocean must not widen the map.
    """
    corners = corners_of(tables, {edge for one in life.drives for edge in one.trip.edge_ids})
    if len(corners) or life.raw is None:
        return corners
    points = np.column_stack((life.raw.lon, life.raw.lat)).reshape(-1, 2)
    kept = np.array([decision == KEPT for decision in life.raw.decisions], dtype=bool)
    return points[kept] if kept.any() else points


def corners_of(tables: CityTables, edge_ids: set[str]) -> Floats:
    """Return the (lon, lat) of both ends of segments, as rows; none for none."""
    own = tables.scan("roads").filter(pl.col("edge_id").is_in(sorted(edge_ids)))
    found = tables.collect(own.select("u_lon", "u_lat", "v_lon", "v_lat"), "roads")
    return found.to_numpy().reshape(-1, 2)


def box_around(anchors: Floats, margin_m: float) -> Box:
    """Return west, south, east, north of (lon, lat) points, at least one, widened by a margin."""
    west, south = anchors.min(axis=0)
    east, north = anchors.max(axis=0)
    dy = margin_m / METRES_PER_DEGREE
    dx = dy / max(0.01, float(np.cos(np.radians(south))), float(np.cos(np.radians(north))))
    return float(west - dx), float(south - dy), float(east + dx), float(north + dy)


def _flat(line: Any) -> list[float]:
    """Return a shapely line or an (N, 2) array as x, y, x, y, ... rounded to decimetres."""
    points = np.asarray(getattr(line, "coords", line))[:, :2]
    return [float(number) for number in np.round(points, 1).reshape(-1)]


def legs_of(tables: CityTables, drive: DriveLife, plane: LocalPlane) -> Iterator[Leg]:
    """Return a drive's path cut where its phases change; ends cut to where it was driven."""
    import shapely  # noqa: PLC0415 - slow import
    from shapely.ops import substring  # noqa: PLC0415

    trip = drive.trip
    wanted = tables.scan("roads").filter(pl.col("edge_id").is_in(trip.edge_ids))
    rows = tables.collect(wanted.select("edge_id", "geometry", "length_m"), "roads")
    shapes = plane.shapes(shapely.from_wkb(rows["geometry"].to_list()))
    known = dict(zip(rows["edge_id"], zip(shapes, rows["length_m"], strict=True), strict=True))
    lines = [known.get(edge, (None, 0.0)) for edge in trip.edge_ids]
    last = len(lines) - 1
    for phase, begin, end in _spans(drive):
        points: list[tuple[float, ...]] = []
        for seq in range(begin, end):
            line, length_m = lines[seq]
            if line is None:
                continue
            start = trip.off_from_m / length_m if seq == 0 and length_m else 0.0
            stop = trip.off_to_m / length_m if seq == last and length_m else 1.0
            points += substring(line, min(start, 1.0), min(stop, 1.0), normalized=True).coords
        if len(points) > 1:
            yield Leg(trip.trip_id, phase, _flat(points))


def _spans(drive: DriveLife) -> list[tuple[int | None, int, int]]:
    """Return (phase, first segment, segment after the last) of a drive's phases."""
    if drive.phased is None:
        return [(None, 0, len(drive.trip.edge_ids))]
    bounds = accumulate((one.n for one in drive.phased.phases), initial=0)
    numbers = (one.p for one in drive.phased.phases)
    return [(p, begin, end) for p, (begin, end) in zip(numbers, pairwise(bounds), strict=True)]


def _path(legs: list[Leg], anchors: Floats) -> Any:
    """Return the geometry that nearness is measured from: the path, else the anchor points."""
    import shapely  # noqa: PLC0415 - slow import

    lines = [np.reshape(leg.line, (-1, 2)) for leg in legs]
    return shapely.MultiLineString(lines) if lines else shapely.MultiPoint(anchors)


def streets_near(
    tables: CityTables, box: Box, path: Any, plane: LocalPlane, margin_m: float
) -> list[Street]:
    """Return the streets up to a margin from a path, nearest first.

    Args:
        tables: The city.
        box: Degrees that hold the path and its margin, from `box_around`.
        path: Shapely geometry in metres of the plane.
        plane: Where lines are laid out.
        margin_m: Greatest distance to the path, metres.
    """
    import shapely  # noqa: PLC0415 - slow import

    west, south, east, north = box
    near = tables.scan("roads").filter(
        (pl.min_horizontal("u_lon", "v_lon") <= east)
        & (pl.max_horizontal("u_lon", "v_lon") >= west)
        & (pl.min_horizontal("u_lat", "v_lat") <= north)
        & (pl.max_horizontal("u_lat", "v_lat") >= south)
    )
    lower, upper = pl.min_horizontal("u", "v"), pl.max_horizontal("u", "v")
    # The two directions of a street are one line on the map.
    street = near.with_columns(lower=lower, upper=upper, whole_m=pl.col("length_m").round())
    once = street.unique(["way_id", "lower", "upper", "whole_m"], keep="first", maintain_order=True)
    rows = tables.collect(once, "roads")
    lines = plane.shapes(shapely.from_wkb(rows["geometry"].to_list()))
    distance_m = shapely.distance(lines, path) if rows.height else np.empty(0)
    lines = [_flat(line) for line in shapely.simplify(lines, SIMPLIFY_M)]
    facts = rows.select("name", "highway", "oneway").to_dicts()
    order = np.argsort(distance_m, kind="stable").tolist()
    return [Street(line=lines[i], **facts[i]) for i in order if distance_m[i] <= margin_m]


def _capped(streets: list[Street]) -> list[Street]:
    """Return the first streets that bound a page's size."""
    sizes = accumulate(len(street.line) for street in streets)
    kept = zip(streets[:MOST_STREETS], sizes, strict=False)
    return [street for street, size in kept if size <= MOST_COORDINATES]


def _visited(life: TripLife) -> list[str]:
    """Return the cells the phases lie in, each once, in order."""
    phased = [drive.phased for drive in life.drives if drive.phased]
    return list(dict.fromkeys(phase.cell for trip in phased for phase in trip.phases))


def outlines(cells: list[str], plane: LocalPlane) -> list[Cell]:
    """Return the outlines of H3 cells, given as 15 hexadecimal digits."""
    return [Cell(name, _flat(plane.shapes(outline(cell_number(name))).exterior)) for name in cells]


def _places(
    tables: CityTables, cells: list[Cell], path: Any, plane: LocalPlane
) -> tuple[list[Place], int]:
    """Return the named places of the cells, nearest first, and how many the cap left out."""
    import shapely  # noqa: PLC0415 - slow import

    rows = named_places(tables, [one.cell for one in cells])
    points = plane.metres(rows.select("lon", "lat").to_numpy())
    order = np.argsort(shapely.distance(shapely.points(points), path), kind="stable").tolist()
    names, categories = rows["name"].to_list(), rows["category"].to_list()
    kept = [
        Place(names[i], categories[i], *(float(n) for n in np.round(points[i], 1)))
        for i in order[:MOST_PLACES]
    ]
    return kept, len(order) - len(kept)
