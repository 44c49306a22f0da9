"""ETH and UCY: the 8-column `obsmat.txt` with velocities, and the 4-column text without.

    read_obsmat(Path("seq_eth/obsmat.txt"), fps=15.0)      # 6 frames = 0.4 s
    read_four_columns(Path("zara01.txt"), fps=25.0)        # 10 frames = 0.4 s

obsmat: frame, id, x, z, y, vx, vz, vy. Four columns: frame, id, x, y; `?` hides a coordinate. The
widespread `biwi_eth.txt` has ETH's 6-frame data under 10-frame numbers: at 25 fps people seem to
walk at 2.3 m/s, and `traps_of` warns. The two forms of one scene often lie in different frames of
reference: a homography of the one does not fit the other.
"""

from pathlib import Path

import numpy as np

from pipeline.stride.importers.rows import Clock, Recording, Rows
from pipeline.stride.importers.texts import number_rows, whole


def read_obsmat(path: Path, *, fps: float) -> Recording:
    """Read an `obsmat.txt`.

    Args:
        path: The file; metres and m/s.
        fps: Frame numbers a second.

    Raises:
        SourceError: It is not of this format.
    """
    table, _ = number_rows(path, fewest=8, most=8)
    rows = Rows(
        whole(table[:, 0], "frame", path),
        whole(table[:, 1], "id", path),
        table[:, 2],
        table[:, 4],
        np.column_stack((table[:, 5], table[:, 7])),
    )
    return Recording(rows, Clock(fps=fps), "obsmat world, metres")


def read_four_columns(path: Path, *, fps: float) -> Recording:
    """Read a text of frame, id, x, y.

    Args:
        path: The file; metres.
        fps: Frame numbers a second.

    Raises:
        SourceError: It is not of this format.
    """
    table, _ = number_rows(path, fewest=4, most=4)
    rows = Rows(
        whole(table[:, 0], "frame", path), whole(table[:, 1], "id", path), table[:, 2], table[:, 3]
    )
    return Recording(rows, Clock(fps=fps), "four-column world, metres")
