"""Cut maps for crowds out of a city's OSM extract: a real map for any place in it.

    stride_maps.places: {helsinki: [{id: senaatintori, kind: square, lon: 24.9523, lat: 60.1695,
                                     name: Senaatintori, size_m: 180}]}
    ->  StrideMap("helsinki_senaatintori", obstacles=[23 polygons], anchors=[exit_1, ...], ...)

Everything that is no obstacle can be walked on, roadways too: crowds close streets. Courtyards that
cannot be reached from the open ground in the middle are left out of the mask.
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
    MapSource,
    Obstacle,
    ObstacleKind,
    PlaceKind,
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

_BUFFERS_M = {"barrier": 0.2, "rail": 1.5}  # lines become so wide, to each side
_MONUMENT_M = 1.0  # radius of a monument or fountain that is only a point
_PASSAGE_M = 1.5  # half the width of a way through a building
_SIMPLER_M = 0.2
_LEAST_M2 = 1.0
_BEYOND_M = 10.0  # so much of a map may lie outside the extract


class PlaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One map to be cut out of a city's extract.

    Attributes:
        id: Unique in its city; the map's id is `<city>_<id>`.
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
    """Shapes of the ground in the plane's metres, with what they are."""

    what: list[str | None]
    shapes: Any


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


def _projected(things: Sequence[Thing], plane: UtmPlane) -> Ready:
    import shapely  # noqa: PLC0415 - slow import

    shapes = shapely.make_valid(shapely.from_wkb([thing.wkb for thing in things]))
    shapes = plane.geometries(shapes) if things else np.array([], dtype=object)
    return Ready([thing.what for thing in things], shapes)


def cut_map(
    plane: Plane, place: PlaceSettings, *, city: str, metres_per_px: float, source: MapSource
) -> StrideMap:
    """Return the map of one place.

    Raises:
        ParameterError: Nobody can walk there.
    """
    import shapely  # noqa: PLC0415 - slow import

    size = round(place.size_m / metres_per_px) * metres_per_px
    middle = plane.utm.to_metres(np.array([[place.lon, place.lat]]))[0]
    corner = middle - size / 2
    box = shapely.box(*corner, *(corner + size))
    if plane.beyond_m(box) > _BEYOND_M:
        raise refuse_unplaced(
            f"{city}.{place.id}", f"{plane.beyond_m(box):.0f} m of it outside the extract"
        )
    grid = Grid(size, size, metres_per_px)
    frame = shapely.box(0, 0, size, size)
    obstacles = _obstacles(plane, box, corner, frame)
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
        map_id=f"{city}_{place.id}",
        name=place.name,
        kind=place.kind,
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
    plane: Plane, box: Any, corner: Floats, frame: Any
) -> list[tuple[ObstacleKind, Any]]:
    """Return obstacle polygons clipped to the map, none overlapping another of its kind."""
    import shapely  # noqa: PLC0415 - slow import

    by_kind: dict[ObstacleKind, list[Any]] = {
        "building": [], "water": [], "barrier": [], "rail": [], "closed": [],
    }  # fmt: skip
    for kind, shape in plane.within("obstacles", box, corner):
        by_kind[kind].append(_as_area(shape, kind))  # type: ignore[index]
    by_kind["water"] += _sea([s for _, s in plane.within("coast", box, corner)], frame)
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


def _sea(coast: list[Any], frame: Any) -> list[Any]:
    """Return the parts of the map on the right of its coast lines, where OSM has the water."""
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
        nearest = int(np.argmin(shapely.distance(segments, inside)))
        along, to = end[nearest] - begin[nearest], np.array(inside.coords[0]) - begin[nearest]
        if frame.contains(inside) and along[0] * to[1] - along[1] * to[0] < 0:
            sea.append(face)
    return sea
