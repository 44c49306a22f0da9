"""Read a map for crowds out of a picture of a map, by its colours.

    stride_maps.images: [{id: palais, file: configs/maps/palais.png, metres_per_px: 0.25,
                          palette: [{what: building, rgb: [150, 146, 141], within: 30}, ...]}]
    ->  StrideMap("image_palais", obstacles=[31 polygons], anchors=[exit_1, ...], ...), and one free
        of cars where a colour paints carriageways

Each pixel takes the class of the nearest colour of the palette. Lettering, symbols and soft edges
match none and take the class around them. Outlines of the classes become polygons, and the mask is
made from these polygons, so that both say the same.
"""

import math
import struct
import zlib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from scipy import ndimage

from pipeline.errors import ParameterError, SourceError
from pipeline.keys import Text
from pipeline.stride.anchors import Named, Signs, anchors_of
from pipeline.stride.arrays import Bools, Floats, Ints
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
    rings_of,
)
from pipeline.stride.raster import Grid, outlines

_MOST_PIXELS = 50_000_000
# What a damaged picture makes its decoder raise, whatever its form.
_PICTURE_FAULTS = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, OverflowError, MemoryError,
    struct.error, zlib.error,
)  # fmt: skip
_SIDE_M = (40.0, 600.0)  # of a map, as of places cut out of an extract
_LEAST_ALIKE = 0.5  # share of a picture's pixels that are like a colour of its palette
_AREA_M = 20.0  # a name of an area holds so far around its point
_ROWS_AT_A_TIME = 64  # colours are compared in bands, which bounds memory

Byte = Annotated[int, Meta(ge=0, le=255)]


class ColourSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One colour of a picture.

    Attributes:
        what: `walkable`, or the kind of obstacle it paints.
        rgb: Red, green and blue, 0 to 255.
        within: A pixel further than this from every colour is lettering or a soft edge.
    """

    what: ObstacleKind | Literal["walkable"]
    rgb: tuple[Byte, Byte, Byte]
    within: Annotated[float, Meta(ge=0, le=442)]


class SignSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name on a picture: colours tell no names.

    Attributes:
        what: What it names.
        name: The name.
        x_px: Pixels from the left.
        y_px: Pixels from the top.
    """

    what: Literal["entrance", "stop", "street", "area"]
    name: Text
    x_px: Annotated[float, Meta(ge=0)]
    y_px: Annotated[float, Meta(ge=0)]


class ImageSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One picture.

    Attributes:
        id: Unique among pictures; the maps' ids are `image_<id>` and, where a colour paints
            carriageways, `image_<id>_carfree`.
        name: What the place is called, in texts.
        kind: What sort of place it is.
        file: The picture, from the project's root; anything Pillow reads.
        metres_per_px: Side of one of its pixels.
        palette: Its colours.
        outline_m: How far an outline may lie from the pixels' own.
        least_m2: Smaller patches of one colour are lettering or symbols.
        signs: Names.
        source: For credit.
    """

    id: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    name: Text
    kind: PlaceKind
    file: Text
    metres_per_px: Annotated[float, Meta(gt=0, le=10)]
    palette: Annotated[list[ColourSettings], Meta(min_length=2)]
    outline_m: Annotated[float, Meta(ge=0, le=10)]
    least_m2: Annotated[float, Meta(ge=0)]
    signs: list[SignSettings]
    source: MapSource

    def __post_init__(self) -> None:
        if all(colour.what != "walkable" for colour in self.palette):
            raise ValueError("palette: expected a colour that is walkable, found none")


def read_picture(path: Path) -> Floats:
    """Return a picture as (rows, columns, 3), 0 to 255, the top row first.

    Raises:
        SourceError: It is no picture.
    """
    from PIL import Image  # noqa: PLC0415 - needed for pictures alone

    try:
        with Image.open(path) as image:
            if math.prod(image.size) > _MOST_PIXELS:
                raise OSError(f"{image.width} x {image.height} pixels")
            return np.asarray(image.convert("RGB"), dtype=np.float64)
    except (*_PICTURE_FAULTS, Image.DecompressionBombError) as fault:
        raise SourceError(
            f"{path}: expected a picture, found {fault}; name another in params.yaml (stride_maps)"
        ) from fault


def classes_of(picture: Floats, palette: list[ColourSettings], *, least_px: float) -> Ints:
    """Return the number of each pixel's palette colour, (rows, columns).

    Pixels like no colour, and patches of fewer than `least_px` pixels, take the class of the
    nearest other one. Then each takes the class most pixels around it have, so that rims of soft
    edges vanish.

    Raises:
        ValueError: Most pixels are like no colour of the palette.
    """
    colours = np.array([colour.rgb for colour in palette], dtype=np.float64)
    within = np.array([colour.within for colour in palette])
    found = np.full(picture.shape[:2], -1, np.int64)
    for top in range(0, len(picture), _ROWS_AT_A_TIME):
        band = picture[top : top + _ROWS_AT_A_TIME, :, None, :]
        apart = np.sqrt(((band - colours) ** 2).sum(axis=-1))
        nearest = apart.argmin(axis=-1)
        alike = apart.min(axis=-1) <= within[nearest]
        found[top : top + _ROWS_AT_A_TIME] = np.where(alike, nearest, -1)
    alike_share = float((found >= 0).mean())
    for number in range(len(palette)):
        found[_small_patches(found == number, least_px)] = -1
    if alike_share < _LEAST_ALIKE or (found < 0).all():
        raise ValueError(f"{alike_share:.0%} of its pixels like a colour of the palette")
    row, column = ndimage.distance_transform_edt(
        found < 0, return_distances=False, return_indices=True
    )
    found = found[row, column]
    votes = [
        ndimage.uniform_filter((found == number).astype(np.float64), 3)
        for number in range(len(palette))
    ]
    return np.asarray(np.argmax(votes, axis=0))


def _small_patches(mask: Bools, least_px: float) -> Bools:
    """Return the pixels of patches with fewer pixels, corners joining them."""
    labels, count = ndimage.label(mask, structure=np.ones((3, 3)))
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    return np.asarray(mask & (sizes[labels] < least_px))


def maps_of_image(settings: ImageSettings, *, root: Path, metres_per_px: float) -> list[StrideMap]:
    """Return the maps of a picture: with traffic and free of cars; one where no vehicle runs.

    Args:
        settings: The picture and how it is read.
        root: The project's root.
        metres_per_px: Side of a pixel of the map's own mask.

    Raises:
        SourceError: The file is no picture.
        ParameterError: Nobody can walk there, it is too small or large, or of other colours.
    """
    import shapely  # noqa: PLC0415 - slow import

    scale = settings.metres_per_px
    picture = read_picture(root / settings.file)
    for side in picture.shape[:2]:
        if not _SIDE_M[0] <= side * scale <= _SIDE_M[1]:
            raise _refuse(
                settings,
                f"a picture {_SIDE_M[0]:g} to {_SIDE_M[1]:g} m wide and high, found"
                f" {side * scale:g} m; mend metres_per_px",
            )
    try:
        classes = classes_of(
            picture, settings.palette, least_px=settings.least_m2 / settings.metres_per_px**2
        )
    except ValueError as fault:
        raise _refuse(
            settings, f"the palette's colours on most of it, found {fault}; mend the palette"
        ) from fault
    classes, (rows, columns) = np.flipud(classes), classes.shape
    grid = Grid(
        round(columns * scale / metres_per_px) * metres_per_px,
        round(rows * scale / metres_per_px) * metres_per_px,
        metres_per_px,
    )
    drawn, frame = Grid(columns * scale, rows * scale, scale), shapely.box(0, 0, *grid[:2])
    found: list[tuple[ObstacleKind, Any]] = []
    for number, colour in enumerate(settings.palette):
        if colour.what == "walkable":
            continue
        polygons = outlines(
            classes == number, drawn, tolerance_m=settings.outline_m, least_m2=settings.least_m2
        )
        clipped = shapely.get_parts(shapely.intersection(shapely.union_all(polygons), frame))
        found += [(colour.what, p) for p in clipped if p.geom_type == "Polygon"]
    signs = _signs(settings, rows, columns)
    if all(kind != "roadway" for kind, _ in found):
        return [_map(settings, grid, found, signs, roads="none")]
    carfree = [one for one in found if one[0] != "roadway"]
    return [
        _map(settings, grid, found, signs, roads="driven"),
        _map(settings, grid, carfree, signs, roads="walked"),
    ]


def _map(
    settings: ImageSettings,
    grid: Grid,
    found: list[tuple[ObstacleKind, Any]],
    signs: Signs,
    *,
    roads: Roads,
) -> StrideMap:
    import shapely  # noqa: PLC0415 - slow import

    polygons = [polygon for _, polygon in found]
    walkable = reachable(free_of(shapely.union_all(polygons), grid), grid, f"images.{settings.id}")
    return StrideMap(
        map_id=f"image_{settings.id}{CARFREE if roads == 'walked' else ''}",
        name=settings.name,
        kind=settings.kind,
        roads=roads,
        origin="image",
        city=None,
        lon=None,
        lat=None,
        width_m=grid.width_m,
        height_m=grid.height_m,
        metres_per_px=grid.metres_per_px,
        obstacles=[Obstacle(kind, rings_of(polygon)) for kind, polygon in found],
        segments=edges(polygons, grid),
        anchors=anchors_of(walkable, grid, signs),
        landmarks=sorted({s.name for s in settings.signs if s.what in {"entrance", "area"}}),
        streets=sorted({s.name for s in settings.signs if s.what == "street"}),
        walkable=packed(walkable),
        walkable_m2=round(float(walkable.sum()) * grid.metres_per_px**2, 1),
        source=settings.source,
    )


def _refuse(settings: ImageSettings, why: str) -> ParameterError:
    return ParameterError(
        f"params.yaml: stride_maps.images: {settings.id} ({settings.file}): expected {why}"
    )


def _signs(settings: ImageSettings, rows: int, columns: int) -> Signs:
    import shapely  # noqa: PLC0415 - slow import

    scale = settings.metres_per_px
    by_kind: dict[str, list[Named]] = {"entrance": [], "stop": [], "street": [], "area": []}
    for sign in settings.signs:
        if sign.x_px > columns or sign.y_px > rows:
            raise _refuse(
                settings, f"its signs on the picture, found {sign.name!r} outside; mend x_px, y_px"
            )
        point = shapely.Point(sign.x_px * scale, (rows - sign.y_px) * scale)
        shape = point.buffer(_AREA_M) if sign.what == "area" else point
        by_kind[sign.what].append(Named(sign.name, shape))
    return Signs(
        streets=by_kind["street"],
        areas=by_kind["area"],
        landmarks=[],
        doors=by_kind["entrance"],
        stops=by_kind["stop"],
    )
