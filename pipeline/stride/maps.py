"""A place where a crowd can be: what stands in the way, where one can walk, where one comes from.

record = StrideMap("helsinki_senaatintori", name="Senaatintori", width_m=180.0, ...)
crowd_map = CrowdMap(record)
crowd_map.walkable              ->  (360, 360) mask, row 0 at the south edge
crowd_map.anchor("exit_1")      ->  Anchor(id="exit_1", kind="exit", name="Aleksanterinkatu", ...)
crowd_map.walls                 ->  obstacles as straight pieces, found by place

Metres are local: x runs east, y north, from the south-west corner. Obstacles are exact polygons,
`segments` their edges in the form of released STRIDE maps, the mask is made from the polygons.
"""

from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from pipeline.errors import ParameterError
from pipeline.schemas import arrow_schema
from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.raster import Grid, clearance_m, connected
from pipeline.stride.walls import Walls

PlaceKind = Literal["square", "station", "market", "park", "street", "waterfront"]
AnchorKind = Literal["exit", "entrance", "stop", "centre"]
ObstacleKind = Literal["building", "water", "barrier", "rail", "closed", "roadway"]
# driven: vehicles run, carriageways are obstacles but for crossings; walked: people have them too;
# none: there is no carriageway.
Roads = Literal["driven", "walked", "none"]
CARFREE = "_carfree"  # ends the id of a map whose carriageways are walked
# A way needs so much room to each side of its middle, metres.
ROOM_M = 0.5
# The middle of a map: this share of its width and height.
_MIDDLE_SHARE = 0.5


class Anchor(msgspec.Struct, frozen=True):
    """A point a crowd can come from, go to or gather around.

    Attributes:
        id: Unique within the map: its kind and a number.
        kind: `exit` at the map's edge, `entrance` of a building, `stop` of bus or tram, `centre` of
            an open area (an event can take place there).
        name: What it is called on the map; null where it has no name.
        x_m: Metres east of the south-west corner.
        y_m: Metres north of it.
        clearance_m: Distance to the next obstacle, metres.
    """

    id: str
    kind: AnchorKind
    name: str | None
    x_m: float
    y_m: float
    clearance_m: float


class Obstacle(msgspec.Struct, frozen=True):
    """A polygon nobody can walk through: outer ring first, then holes; [x, y] in metres."""

    kind: ObstacleKind
    rings: list[list[list[float]]]


class MapSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a map comes from, for credit."""

    name: str
    licence: str
    attribution: str
    date: str


class StrideMap(msgspec.Struct, frozen=True):
    """One map; schemas/stride_map.schema.json says more.

    Attributes:
        map_id: Unique.
        name: What the place is called.
        kind: What sort of place it is.
        roads: Who has the carriageways: vehicles (`driven`) or people (`walked`); or `none`.
        origin: `osm` or `image`.
        city: City of params.yaml it was cut from; null for an image.
        lon: Longitude of its middle, degrees; null for an image.
        lat: Latitude of its middle, degrees; null for an image.
        width_m: Metres from west to east.
        height_m: Metres from south to north.
        metres_per_px: Side of a pixel of the mask.
        obstacles: Polygons.
        segments: Edges of the obstacles, [x0, x1, y0, y1].
        anchors: Points, exits first.
        landmarks: Names that stand on the map, of buildings and areas.
        streets: Names of streets on the map.
        walkable: Mask, one bit a pixel, row by row from the south-west corner.
        walkable_m2: Its area.
        source: For credit.
    """

    map_id: str
    name: str
    kind: PlaceKind
    roads: Roads
    origin: Literal["osm", "image"]
    city: str | None
    lon: float | None
    lat: float | None
    width_m: float
    height_m: float
    metres_per_px: float
    obstacles: list[Obstacle]
    segments: list[list[float]]
    anchors: list[Anchor]
    landmarks: list[str]
    streets: list[str]
    walkable: bytes
    walkable_m2: float
    source: MapSource

    @property
    def grid(self) -> Grid:
        """Return the pixels of the mask."""
        return Grid(self.width_m, self.height_m, self.metres_per_px)


class CrowdMap:
    """A map ready for work: what its record means as arrays."""

    def __init__(self, record: StrideMap) -> None:
        self.record, self.grid = record, record.grid
        self._anchors = {anchor.id: anchor for anchor in record.anchors}

    @cached_property
    def walkable(self) -> Bools:
        """Return the mask of pixels whose middle is on no obstacle and can be walked to."""
        return unpacked(self.record.walkable, self.grid)

    @cached_property
    def clearance(self) -> Floats:
        """Return how far each walkable pixel lies from what is not walkable, metres."""
        return clearance_m(self.walkable, self.grid)

    @cached_property
    def middle(self) -> tuple[float, float]:
        """Return the widest spot, x and y in metres; all ways hang together with it."""
        row, column = np.unravel_index(int(self.clearance.argmax()), self.clearance.shape)
        x, y = self.grid.centres(np.array(row), np.array(column)).tolist()
        return x, y

    @cached_property
    def walls(self) -> Walls:
        """Return the edges of obstacles and of the map itself."""
        return Walls(np.concatenate((self.segments, self._border)))

    @property
    def segments(self) -> Floats:
        """Return the edges of obstacles, (n, 4): x0, x1, y0, y1."""
        return np.asarray(self.record.segments, dtype=np.float64).reshape(-1, 4)

    @property
    def _border(self) -> Floats:
        east, north = self.record.width_m, self.record.height_m
        return np.array(
            [
                [0.0, east, 0.0, 0.0],
                [east, east, 0.0, north],
                [east, 0.0, north, north],
                [0.0, 0.0, north, 0.0],
            ]
        )

    def anchor(self, anchor_id: str) -> Anchor:
        """Return an anchor.

        Raises:
            KeyError: There is none of that id.
        """
        return self._anchors[anchor_id]

    def has(self, anchor_id: str) -> bool:
        """Tell whether there is an anchor of that id."""
        return anchor_id in self._anchors

    def of_kind(self, *kinds: AnchorKind) -> list[Anchor]:
        """Return the anchors of some kinds, in the record's order."""
        return [anchor for anchor in self.record.anchors if anchor.kind in kinds]


def packed(mask: Bools) -> bytes:
    """Return a mask as bytes, one bit a pixel."""
    return np.packbits(mask).tobytes()


def unpacked(bits: bytes, grid: Grid) -> Bools:
    """Return the mask that `packed` made bytes of."""
    rows, columns = grid.shape
    flat = np.unpackbits(np.frombuffer(bits, np.uint8), count=rows * columns)
    return flat.reshape(rows, columns).astype(np.bool_)


def edges(polygons: list[Any], grid: Grid) -> list[list[float]]:
    """Return the edges of polygons as [x0, x1, y0, y1], without those along the map's own edge."""
    import shapely  # noqa: PLC0415 - slow import

    found: list[list[float]] = []
    for polygon in polygons:
        for ring in (polygon.exterior, *polygon.interiors):
            points = np.round(shapely.get_coordinates(ring), 2)
            for (x0, y0), (x1, y1) in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
                west_or_east = x0 == x1 and x0 in {0.0, grid.width_m}
                south_or_north = y0 == y1 and y0 in {0.0, grid.height_m}
                if (x0, y0) != (x1, y1) and not west_or_east and not south_or_north:
                    found.append([x0, x1, y0, y1])
    return found


def rings_of(polygon: Any) -> list[list[list[float]]]:
    """Return a polygon's rings, outer first, to the centimetre."""
    import shapely  # noqa: PLC0415 - slow import

    return [
        np.round(shapely.get_coordinates(ring), 2).tolist()
        for ring in (polygon.exterior, *polygon.interiors)
    ]


def maps_frame(maps: list[StrideMap]) -> pl.DataFrame:
    """Return maps as rows of the schema `stride_map`, by id."""
    rows = [msgspec.to_builtins(one, builtin_types=(bytes,)) for one in maps]
    rows.sort(key=lambda row: row["map_id"])
    return pl.DataFrame(rows, schema=pl.Schema(arrow_schema("stride_map")))


def maps_of(frame: pl.DataFrame) -> list[StrideMap]:
    """Return the maps that `maps_frame` made rows of."""
    return [
        msgspec.convert(row, StrideMap, builtin_types=(bytes,))
        for row in frame.iter_rows(named=True)
    ]


def free_of(solid: Any, grid: Grid) -> Bools:
    """Return the pixels whose middle is clear of obstacles, by enough for no wall to leak.

    Args:
        solid: All obstacles as one shape.
        grid: The map's pixels.
    """
    import shapely  # noqa: PLC0415 - slow import

    # However thin and however slanted, a wall then takes pixels that hang together by their sides.
    return ~grid.filled(shapely.buffer(solid, grid.metres_per_px * 0.5**0.5))


def reachable(free: Bools, grid: Grid, name: str) -> Bools:
    """Return the free pixels that hang together with the widest spot near the middle of a map.

    Raises:
        ParameterError: There is no free pixel near the middle.
    """
    rows, columns = grid.shape
    room = clearance_m(free, grid)
    top, left = round(rows * (1 - _MIDDLE_SHARE) / 2), round(columns * (1 - _MIDDLE_SHARE) / 2)
    central = np.zeros_like(room)
    central[top : rows - top, left : columns - left] = room[top : rows - top, left : columns - left]
    if central.max() <= 0:
        raise refuse_unplaced(
            name, "obstacles only", mend="move its centre, make it larger, or mend its palette"
        )
    row, column = np.unravel_index(int(central.argmax()), central.shape)
    return connected(free, row=int(row), column=int(column))


def refuse_unplaced(name: str, why: str, *, mend: str) -> ParameterError:
    """Return the error of a place that makes no map."""
    return ParameterError(
        f"params.yaml: stride_maps: {name}: expected a place where people can walk, found {why};"
        f" {mend}"
    )
