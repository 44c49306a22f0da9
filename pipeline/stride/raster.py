"""Between outlines and pixels: a map's grid, its masks, and the polygons of a mask.

grid = Grid(width_m=160.0, height_m=160.0, metres_per_px=0.5)
grid.filled(shapely.box(0, 0, 10, 5))         ->  (320, 320) mask, true in 20 x 10 pixels
outlines(mask, grid, tolerance_m=0.4)         ->  [<POLYGON ((0 0, 10 0, 10 5, 0 5, 0 0))>]

Metres are local: x runs east and y north from the map's south-west corner. A mask has row 0 at the
south edge; a pixel belongs to what covers its centre.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from pipeline.stride.arrays import Bools, Floats, Ints


class Grid(NamedTuple):
    """The pixels of a map.

    Attributes:
        width_m: From the west to the east edge.
        height_m: From the south to the north edge.
        metres_per_px: Side of a pixel.
    """

    width_m: float
    height_m: float
    metres_per_px: float

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns."""
        return (
            round(self.height_m / self.metres_per_px),
            round(self.width_m / self.metres_per_px),
        )

    def pixels(self, points: Floats) -> tuple[Ints, Ints]:
        """Return row and column of points (..., 2); those outside get the nearest pixel."""
        rows, columns = self.shape
        place = (points / self.metres_per_px).astype(np.int64)
        column = np.minimum(np.maximum(place[..., 0], 0), columns - 1)
        row = np.minimum(np.maximum(place[..., 1], 0), rows - 1)
        return row, column

    def centres(self, row: Ints, column: Ints) -> Floats:
        """Return the middle of pixels as (..., 2), metres."""
        place = np.stack((column, row), axis=-1).astype(np.float64)
        return (place + 0.5) * self.metres_per_px

    def filled(self, shape: Any) -> Bools:
        """Return the mask of a shapely geometry; an empty one fills nothing."""
        import shapely  # noqa: PLC0415 - slow import

        rows, columns = self.shape
        row, column = np.indices((rows, columns))
        centres = self.centres(row, column)
        shapely.prepare(shape)
        return np.asarray(shapely.contains_xy(shape, centres[..., 0], centres[..., 1]))


def connected(mask: Bools, *, row: int, column: int) -> Bools:
    """Return the part of a mask that hangs together with one of its pixels by their sides.

    Empty where that pixel is not of the mask.
    """
    labels, _ = ndimage.label(mask)
    chosen = labels[row, column]
    return np.asarray((labels == chosen) & mask)


def clearance_m(mask: Bools, grid: Grid) -> Floats:
    """Return how far each pixel of a mask lies from the nearest one outside it, metres.

    The map's edge is no outside. A mask without an outside is as far away as the map is large.
    """
    if mask.all():
        return np.full(mask.shape, max(grid.width_m, grid.height_m))
    distance = ndimage.distance_transform_edt(mask, sampling=grid.metres_per_px)
    return np.asarray(distance, dtype=np.float64)


def outlines(mask: Bools, grid: Grid, *, tolerance_m: float, least_m2: float) -> list[Any]:
    """Return the polygons of a mask: exact outlines of its pixels, then made simpler.

    Args:
        mask: What is outlined.
        grid: Its pixels.
        tolerance_m: How far a simpler outline may lie from the exact one (Douglas-Peucker).
        least_m2: Smaller polygons are left out, smaller holes are filled.
    """
    import shapely  # noqa: PLC0415 - slow import

    size = grid.metres_per_px
    framed = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    framed[:, 1:-1] = mask
    change = np.diff(framed, axis=1)
    row, begin = np.nonzero(change == 1)
    end = np.nonzero(change == -1)[1]  # row by row, so each ends the run of the same place
    runs = shapely.box(begin * size, row * size, end * size, (row + 1) * size)
    parts = shapely.get_parts(shapely.union_all(runs))
    simple = shapely.get_parts(shapely.simplify(parts, tolerance_m))
    return [
        shapely.Polygon(
            part.exterior,
            [hole for hole in part.interiors if shapely.Polygon(hole).area >= least_m2],
        )
        for part in simple
        if part.area >= least_m2
    ]
