"""Tracker output (MOTChallenge text) put on the ground by a homography.

    12, 3, 401.0, 220.5, 38.0, 96.0, 0.91, -1, -1, -1    frame, id, left, top, width, height, conf
    ->  feet at pixel (420.0, 316.5)  ->  H . (420.0, 316.5, 1)  ->  metres

The matrix maps pixels to metres. Those of ETH and HOTEL take (row, column), most others (x, y):
which it is must be said, for both give plausible numbers.
"""

import math
from pathlib import Path
from typing import Literal

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats
from pipeline.stride.importers.rows import Clock, Recording, Rows
from pipeline.stride.importers.texts import number_rows, whole

PixelOrder = Literal["xy", "row_column"]


def read_mot(path: Path, *, homography: Path, pixel_order: PixelOrder, fps: float) -> Recording:
    """Read tracks of boxes and put their feet (the middle of the lower edge) on the ground.

    Rows whose confidence is 0 are marked as not to be considered, and are left out.

    Args:
        path: The tracks.
        homography: Text of a 3 x 3 matrix from pixels to metres.
        pixel_order: Whether the matrix takes (x, y) or (row, column).
        fps: Frames a second.

    Raises:
        SourceError: One of the files is not of its format.
    """
    table, _ = number_rows(path, fewest=7, most=math.inf)
    considered = table[:, 6] != 0
    if len(table) and not considered.any():
        raise SourceError(
            f"{path}: expected boxes to consider, found confidence 0 (column 7) in all {len(table)}"
        )
    table = table[considered]
    feet = np.column_stack((table[:, 2] + table[:, 4] / 2, table[:, 3] + table[:, 5]))
    ground = on_ground(feet, read_homography(homography), pixel_order=pixel_order)
    rows = Rows(
        whole(table[:, 0], "frame", path),
        whole(table[:, 1], "id", path),
        ground[:, 0],
        ground[:, 1],
    )
    left_out = int((~considered).sum())
    return Recording(
        rows,
        Clock(fps=fps),
        f"ground of {homography.name}, metres",
        (f"{left_out} boxes of confidence 0 left out",) if left_out else (),
    )


def read_homography(path: Path) -> Floats:
    """Read a 3 x 3 matrix of numbers.

    Raises:
        SourceError: It is none, or has no inverse.
    """
    matrix, _ = number_rows(path, fewest=3, most=math.inf)
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0:
        raise SourceError(
            f"{path}: expected a 3 x 3 matrix that has an inverse, found {matrix.shape}"
        )
    return matrix


def on_ground(pixels: Floats, matrix: Floats, *, pixel_order: PixelOrder) -> Floats:
    """Return (M, 2) metres of (M, 2) pixels (x, y); NaN on the line of the horizon."""
    ordered = pixels if pixel_order == "xy" else pixels[:, ::-1]
    mapped = np.column_stack((ordered, np.ones(len(ordered)))) @ matrix.T
    depth = mapped[:, 2:]
    return np.where(depth != 0, mapped[:, :2] / np.where(depth == 0, 1.0, depth), np.nan)
