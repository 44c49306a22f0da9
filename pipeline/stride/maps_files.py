"""A map as files for other programs and for the eye.

    write_map(crowd_map, Path("data/stride/maps/monaco_port-hercule"))   ->  map.npz, map.png

`map.npz` holds `obstacles` as released STRIDE maps do, rows x0, x1, y0, y1 in metres, and besides
`walkable` (row 0 at the south edge) and `metres_per_px`. The same map gives the same bytes.
"""

from io import BytesIO
from pathlib import Path

import numpy as np

from pipeline.replacing import replaced
from pipeline.stride.maps import CrowdMap
from pipeline.stride.pictures import draw_map, signs_of, with_legend


def write_map(crowd_map: CrowdMap, folder: Path) -> None:
    """Write map.npz and map.png of a map."""
    packed, picture = BytesIO(), BytesIO()
    np.savez_compressed(
        packed,
        obstacles=crowd_map.segments,
        walkable=crowd_map.walkable,
        metres_per_px=np.float64(crowd_map.grid.metres_per_px),
    )
    with_legend(draw_map(crowd_map), signs_of(crowd_map)).save(picture, format="png")
    for name, content in (("map.npz", packed), ("map.png", picture)):
        with replaced(folder / name) as aside:
            aside.write_bytes(content.getbuffer())
