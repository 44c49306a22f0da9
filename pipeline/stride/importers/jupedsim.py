"""JuPedSim: an sqlite file with the tables `trajectory_data` and `metadata`.

read_jupedsim(Path("run.sqlite"), fps=None).clock.fps  ->  10.0, as metadata say
"""

import sqlite3
from pathlib import Path

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Ints
from pipeline.stride.importers.rows import Clock, Recording, Rows

_POINTS = "SELECT frame, id, pos_x, pos_y FROM trajectory_data ORDER BY frame, id"
_FPS = "SELECT value FROM metadata WHERE key = 'fps'"


def read_jupedsim(path: Path, *, fps: float | None) -> Recording:
    """Read a simulation.

    Args:
        path: The file; metres.
        fps: Frame numbers a second; None = what its metadata say.

    Raises:
        SourceError: It is not of this format.
    """
    if not path.is_file():
        raise SourceError(f"{path}: expected a JuPedSim file, found no such file")
    try:
        # Read-only: sqlite would make a file that is not there, and a journal beside one that is.
        base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            points = base.execute(_POINTS).fetchall()
            told = base.execute(_FPS).fetchone()
        finally:
            base.close()
        frame, agent = (_whole([row[place] for row in points]) for place in (0, 1))
        x, y = np.array([row[2:] for row in points], dtype=np.float64).reshape(-1, 2).T
        fps = float(told[0]) if fps is None and told else fps
    except (sqlite3.Error, ValueError, TypeError) as fault:
        raise SourceError(
            f"{path}: expected JuPedSim's tables trajectory_data and metadata, found {fault}"
        ) from fault
    return Recording(Rows(frame, agent, x, y), Clock(fps=fps), "JuPedSim plan, metres")


def _whole(values: list[object]) -> Ints:
    """Return numbers of frames or agents as they are: doubles would make one of two large ones."""
    for value in values:
        if not isinstance(value, int):
            raise TypeError(f"a frame or id {value!r}, which is no whole number")
    return np.array(values, dtype=np.int64)
