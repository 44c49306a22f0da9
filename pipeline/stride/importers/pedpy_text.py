"""PedPy and the Juelich archive: id, frame, x, y (and z) as text, with comments above.

    # framerate: 25.00
    # id  frame  x/m  y/m  z/m
    1  0  2.31  -0.42  1.76

Some corridor files are in centimetres: the unit is read from the head (`x/cm`) or given.
"""

import math
import re
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.stride.importers.rows import Clock, Recording, Rows
from pipeline.stride.importers.texts import number_rows, whole
from pipeline.stride.importers.units import LENGTHS, Unit

_FRAMERATE = re.compile(r"fram(?:e\s*)?rate\s*[:=]?\s*([0-9]+(?:[.,][0-9]+)?)", re.IGNORECASE)
_UNIT = re.compile(r"\bx\s*[/\[(]\s*(?:in\s+)?(mm|cm|m|ft)\b", re.IGNORECASE)


def read_pedpy_text(path: Path, *, fps: float | None, unit: Unit | None) -> Recording:
    """Read a trajectory text.

    Args:
        path: The file.
        fps: Frames a second; None = what its head says.
        unit: Of x and y; None = what its head says.

    Raises:
        SourceError: It is not of this format, or neither it nor the caller says fps or unit.
    """
    table, comments = number_rows(path, fewest=4, most=math.inf)
    head = "\n".join(comments)
    rate, told = _FRAMERATE.search(head), _UNIT.search(head)
    fps = fps if fps is not None else float(rate[1].replace(",", ".")) if rate else None
    unit_word = unit or (told[1].lower() if told else None)
    if fps is None or unit_word is None:
        missing = "fps" if fps is None else "unit"
        raise SourceError(f"{path}: expected its head to say the {missing}; give --{missing}")
    metres = LENGTHS[unit_word]
    rows = Rows(
        whole(table[:, 1], "frame", path),
        whole(table[:, 0], "id", path),
        table[:, 2] * metres,
        table[:, 3] * metres,
    )
    return Recording(rows, Clock(fps=fps), "experiment, metres")
