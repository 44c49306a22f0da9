"""Cut maps for crowds out of a city's OSM extract: a real map for any place in it.

    stride_maps.places: {helsinki: [{id: senaatintori, kind: square, lon: 24.9523, lat: 60.1695,
                                     name: Senaatintori, size_m: 180}]}
    ->  StrideMap("helsinki_senaatintori", roads="driven", obstacles=[31 polygons], ...)
        StrideMap("helsinki_senaatintori_carfree", roads="walked", obstacles=[23 polygons], ...)

Each place is cut twice: with traffic, where carriageways are obstacles but for crossings, and free
of cars, as a crowd that fills the street has it; a place without a carriageway once. All that is no
obstacle can be walked on; courtyards that cannot be reached from the open ground in the middle are
left out of the mask.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from pipeline.city.projection import UtmPlane
from pipeline.keys import Text
from pipeline.stride.anchors import Named, Signs, anchors_of
from pipeline.stride.arrays import Floats
from pipeline.stride.maps import (
    CARFREE,
    MapSource,
    Obstacle,
    ObstacleKind,
    PlaceKind,
    Roads,
    StrideMap,
    edges,
    free_of,
    packed,
    reachable,
    refuse_unplaced,
    rings_of,
)
from pipeline.stride.osm_ground import Ground, Thing
from pipeline.stride.raster import Grid
from pipeline.stride.roadways import carriageway

_BUFFERS_M = {"barrier": 0.2, "rail": 1.5}  # lines become so wide, to each side
_MONUMENT_M = 1.0  # radius of a monument or fountain that is only a point
_PASSAGE_M = 1.5  # half the width of a way through a building
_SIMPLER_M = 0.2
_LEAST_M2 = 1.0
_BEYOND_M = 10.0  # so much of a map may lie outside the extract
_COAST_M = 5_000.0  # a map on the sea may be so far from any coast line
_TIED_M = 1e-6  # as far away as the nearest piece of coast
_ROUND_M = 20.0  # roads so far around a map reach into it by their width


class PlaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place to be cut out of a city's extract.

    Attributes:
        id: Unique in its city; the maps' ids are `<city>_<id>` and `<city>_<id>_carfree`.
        name: What the place is called, in texts.
        kind: What sort of place it is.
        lon: Longitude of its middle, degrees.
        lat: Latitude of its middle, degrees.
        size_m: Side of the square that is cut out, metres.
    """

    id: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    name: Text
    kind: PlaceKind
    lon: Annotated[float, Meta(ge=-180, le=180)]
    lat: Annotated[float, Meta(ge=-90, le=90)]
    size_m: Annotated[float, Meta(ge=40, le=600)]


class Ready(NamedTuple):
    """Shapes of the ground in the plane's metres, with what they are and half their widths."""

    what: list[str | None]
    shapes: Any
    half_m: list[float]


class Plane:
    """A city's ground, projected once for all its maps."""

    def __init__(self, ground: Ground, plane: UtmPlane) -> None:
        self.utm = plane
        self._ready = {name: _projected(things, plane) for name, things in ground._asdict().items()}

    def beyond_m(self, box: Any) -> float:
        """Return how far a box reaches out of what the extract tells of, metres."""
        import shapely  # noqa: PLC0415 - slow import

        shapes = [shape for ready in self._ready.values() for shape in ready.shapes]
        known = shapely.total_bounds([s for s in shapes if s.geom_type == "Point"])
        west, south, east, north = box.bounds
        return float(max(known[0] - west, known[1] - south, east - known[2], north - known[3], 0))

    def within(self, kind: str, box: Any, corner: Floats) -> Iterator[tuple[str | None, Any]]:
        """Yield what lies in a box, moved so that the box's south-west corner is the origin."""
        import shapely  # noqa: PLC0415 - slow import

        ready = self._ready[kind]
        for number in np.flatnonzero(shapely.intersects(ready.shapes, box)):
            moved = shapely.transform(ready.shapes[number], lambda xy: xy - corner)
            yield ready.what[number], moved

    def carriageway(self, box: Any, corner: Floats) -> Any:
        """Return where vehicles run in a box, moved like what lies `within` it; it may be empty."""
        import shapely  # noqa: PLC0415 - slow import

        around = box.buffer(_ROUND_M)

        def lines(kind: str) -> list[tuple[float, Any]]:
            ready = self._ready[kind]
            found = np.flatnonzero(shapely.intersects(ready.shapes, around))
            return [
                (ready.half_m[n], shapely.transform(ready.shapes[n], lambda xy: xy - corner))
                for n in found
            ]

        return carriageway(
            lines("roads"),
            on_foot=[s.buffer(half) if half else s for half, s in lines("on_foot")],
            crossings=[point for _, point in lines("crossings")],
        )


def _projected(things: Sequence[Thing], plane: UtmPlane) -> Ready:
    import shapely  # noqa: PLC0415 - slow import

    shapes = shapely.make_valid(shapely.from_wkb([thing.wkb for thing in things]))
    shapes = plane.geometries(shapes) if things else np.array([], dtype=object)
    return Ready([one.what for one in things], shapes, [one.half_m for one in things])


def cut_maps(
    plane: Plane, place: PlaceSettings, *, city: str, metres_per_px: float, source: MapSource
) -> list[StrideMap]:
    """Return the maps of one place: with traffic and free of cars; one where no vehicle runs.

    Raises:
        ParameterError: Nobody can walk there, or too much of it lies outside the extract.
    """
    import shapely  # noqa: PLC0415 - slow import

    size = round(place.size_m / metres_per_px) * metres_per_px
    middle = plane.utm.to_metres(np.array([[place.lon, place.lat]]))[0]
    corner = middle - size / 2
    box = shapely.box(*corner, *(corner + size))
    if plane.beyond_m(box) > _BEYOND_M:
        raise refuse_unplaced(
            f"{city}.{place.id}",
            f"{plane.beyond_m(box):.0f} m of it outside the extract",
            mend="move its centre or make it smaller",
        )
    cut = _Cut(place, city, box, corner, Grid(size, size, metres_per_px), source)
    driven = shapely.intersection(plane.carriageway(box, corner), shapely.box(0, 0, size, size))
    if driven.is_empty:
        return [_map(plane, cut, roads="none", driven=driven)]
    return [
        _map(plane, cut, roads="driven", driven=driven),
        _map(plane, cut, roads="walked", driven=shapely.Polygon()),
    ]


class _Cut(NamedTuple):
    """What is cut out, where, and whom to credit."""

    place: PlaceSettings
    city: str
    box: Any
    corner: Floats
    grid: Grid
    source: MapSource


def _map(plane: Plane, cut: _Cut, *, roads: Roads, driven: Any) -> StrideMap:
    """Return a map on which nobody walks where vehicles are `driven`."""
    import shapely  # noqa: PLC0415 - slow import

    place, city, box, corner, grid, source = cut
    size, metres_per_px = grid.width_m, grid.metres_per_px
    frame = shapely.box(0, 0, size, size)
    obstacles = _obstacles(plane, box, corner, frame, driven)
    polygons = [polygon for _, polygon in obstacles]
    solid = shapely.union_all(polygons) if polygons else shapely.Polygon()
    walkable = reachable(free_of(solid, grid), grid, f"{city}.{place.id}")
    areas = [Named(name, shape) for name, shape in plane.within("open_areas", box, corner)]
    streets = [Named(name, shape) for name, shape in plane.within("streets", box, corner)]
    signs = Signs(
        streets=streets,
        areas=areas,
        # Shops and stops that are called like their street would name nothing.
        landmarks=[
            Named(name, shape)
            for name, shape in plane.within("landmarks", box, corner)
            if name not in {street.name for street in streets}
        ],
        doors=[Named(n, s) for n, s in plane.within("doors", box, corner)],
        stops=[Named(n, s) for n, s in plane.within("stops", box, corner)],
    )
    named = [*signs.landmarks, *areas]
    return StrideMap(
        map_id=f"{city}_{place.id}{CARFREE if roads == 'walked' else ''}",
        name=place.name,
        kind=place.kind,
        roads=roads,
        origin="osm",
        city=city,
        lon=place.lon,
        lat=place.lat,
        width_m=size,
        height_m=size,
        metres_per_px=metres_per_px,
        obstacles=[Obstacle(kind, rings_of(polygon)) for kind, polygon in obstacles],
        segments=edges(polygons, grid),
        anchors=anchors_of(walkable, grid, signs),
        landmarks=sorted({one.name for one in named if one.name}),
        streets=sorted({one.name for one in signs.streets if one.name}),
        walkable=packed(walkable),
        walkable_m2=round(float(walkable.sum()) * metres_per_px**2, 1),
        source=source,
    )


def _obstacles(
    plane: Plane, box: Any, corner: Floats, frame: Any, driven: Any
) -> list[tuple[ObstacleKind, Any]]:
    """Return obstacle polygons clipped to the map, none overlapping another of its kind."""
    import shapely  # noqa: PLC0415 - slow import

    by_kind: dict[ObstacleKind, list[Any]] = {
        "building": [], "water": [], "barrier": [], "rail": [], "closed": [], "roadway": [],
    }  # fmt: skip
    for kind, shape in plane.within("obstacles", box, corner):
        by_kind[kind].append(_as_area(shape, kind))  # type: ignore[index]
    by_kind["roadway"] += [] if driven.is_empty else [driven]
    coast = [s for _, s in plane.within("coast", box.buffer(_COAST_M), corner)]
    by_kind["water"] += sea_of(coast, frame)
    passages = [
        s.buffer(_PASSAGE_M, cap_style="flat") for _, s in plane.within("passages", box, corner)
    ]
    found: list[tuple[ObstacleKind, Any]] = []
    before = shapely.union_all(passages) if passages else shapely.Polygon()
    for kind, shapes in by_kind.items():
        if not shapes:
            continue
        whole = shapely.intersection(shapely.union_all(shapes), frame)
        whole = shapely.simplify(shapely.difference(whole, before), _SIMPLER_M)
        before = shapely.union(before, whole)
        parts = shapely.get_parts(shapely.make_valid(whole))
        found += [(kind, part) for part in parts
                  if part.geom_type == "Polygon" and part.area >= _LEAST_M2]  # fmt: skip
    return found


def _as_area(shape: Any, kind: str | None) -> Any:
    if shape.geom_type in {"Point", "MultiPoint"}:
        return shape.buffer(_MONUMENT_M, quad_segs=2)
    if shape.geom_type in {"LineString", "MultiLineString"}:
        return shape.buffer(_BUFFERS_M[kind or "barrier"], cap_style="flat", join_style="mitre")
    return shape


def sea_of(coast: list[Any], frame: Any) -> list[Any]:
    """Return the parts of the map on the right of the nearest coast, where OSM has the water.

    Args:
        coast: Coast lines in and around the map.
        frame: The map's own square.
    """
    import shapely  # noqa: PLC0415 - slow import

    if not coast:
        return []
    lines = shapely.union_all([frame.boundary, *coast])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    pieces = [
        np.array([begin, end])
        for line in coast
        for part in shapely.get_parts(line)
        for begin, end in zip(part.coords[:-1], part.coords[1:], strict=True)
    ]
    begin, end = np.array(pieces).transpose(1, 0, 2)
    segments = shapely.linestrings(np.stack((begin, end), axis=1))
    sea = []
    for face in faces:
        inside = face.representative_point()
        distance = shapely.distance(segments, inside)
        tied = np.flatnonzero(distance <= distance.min() + _TIED_M)
        along, to = end[tied] - begin[tied], np.array(inside.coords[0]) - begin[tied]
        side = (along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0]) / np.hypot(*along.T)
        # At a bend two pieces are nearest; the one seen more squarely tells the side.
        if frame.contains(inside) and side[np.abs(side).argmax()] < 0:
            sea.append(face)
    return sea
