"""The door to H3: the one place where (lon, lat) becomes H3's (lat, lng).

    cells_at([24.94], [60.17], 10)     ->  array([621798483779518463], dtype=uint64)
    cell_name(621798483779518463)      ->  "8a1126d338dffff"

Cells are 64-bit integers inside the ground stages (fast) and H3's hexadecimal text in tables.
"""

from itertools import repeat
from typing import Any

import h3
import numpy as np
import numpy.typing as npt
from h3.api import basic_int

from pipeline.city.projection import Floats

Cells = npt.NDArray[np.uint64]


def cells_at(lon: Floats, lat: Floats, resolution: int) -> Cells:
    """Return the cell of each point as uint64; empty in, empty out."""
    found = map(basic_int.latlng_to_cell, lat.tolist(), lon.tolist(), repeat(resolution))
    return np.fromiter(found, dtype=np.uint64, count=len(lon))


def cell_name(cell: int) -> str:
    """Return a cell's text form."""
    return str(h3.int_to_str(cell))


def cell_number(name: str) -> int:
    """Return the integer of a cell's text form."""
    return int(h3.str_to_int(name))


def centre(cell: int) -> tuple[float, float]:
    """Return the (lon, lat) of a cell's centre."""
    lat, lng = basic_int.cell_to_latlng(cell)
    return lng, lat


def neighbours(cell: int) -> list[int]:
    """Return the cells that share an edge with `cell` (six, or five at a pentagon), ascending."""
    return sorted(set(basic_int.grid_disk(cell, 1)) - {cell})


def outline(cell: int) -> Any:
    """Return a cell's boundary as a shapely Polygon in lon/lat degrees."""
    import shapely  # noqa: PLC0415 - slow import

    return shapely.Polygon([(lng, lat) for lat, lng in basic_int.cell_to_boundary(cell)])
