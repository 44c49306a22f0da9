"""TrajNet++: one JSON object a line, scenes and track points.

    {"scene": {"id": 0, "p": 1, "s": 10, "e": 210, "fps": 2.5, "tag": 1}}
    {"track": {"f": 10, "p": 1, "x": 3.2, "y": -0.4}}

The whole file becomes one trajectory. `fps` counts steps of the frame numbers, whatever their size
(10, 20, ... at 2.5 fps are 0.4 s apart). Of several predictions only the first is read, the others
are counted.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.importers.rows import Clock, Recording, Rows
from pipeline.stride.importers.texts import MOST_WHOLE, text_of


def read_trajnetpp(path: Path, *, fps: float | None) -> Recording:
    """Read an .ndjson file.

    Args:
        path: The file; metres.
        fps: Steps a second; None = what its scenes say.

    Raises:
        SourceError: A line is none of the two, or scenes say no fps or several.
    """
    points: list[tuple[int, int, float, float]] = []
    further, given = 0, fps is not None
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if not line.strip():
            continue
        record = _record(line, f"{path} line {number}")
        if "scene" in record and not given:
            told = _number(record["scene"], "fps", f"{path} line {number}")
            if fps not in (None, told):
                raise SourceError(
                    f"{path} line {number}: fps: expected {fps:g} as in the scenes before, found"
                    f" {told:g}; give --fps"
                )
            fps = told
        if "track" in record:
            if record["track"].get("prediction_number"):
                further += 1
            else:
                points.append(_point(record["track"], f"{path} line {number}"))
    if fps is None or not 0 < fps < math.inf:
        raise SourceError(f"{path}: expected a scene with fps above 0, found {fps}; give --fps")
    who = np.array([point[:2] for point in points], dtype=np.int64).reshape(-1, 2)
    place = np.array([point[2:] for point in points], dtype=np.float64).reshape(-1, 2)
    rows = Rows(who[:, 0], who[:, 1], place[:, 0], place[:, 1])
    return Recording(
        rows,
        Clock(step_s=1 / fps),
        "TrajNet++ world, metres",
        (f"{further} points of further predictions left out",) if further else (),
    )


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise SourceError(f"{where}: expected JSON, found {fault}") from fault
    parts = list(record.values()) if isinstance(record, dict) else [None]
    known = isinstance(record, dict) and not {"scene", "track"}.isdisjoint(record)
    if not known or not all(isinstance(part, dict) for part in parts):
        raise SourceError(f"{where}: expected a scene or a track, found {line[:60]}")
    return dict(record)


def _point(track: dict[str, Any], where: str) -> tuple[int, int, float, float]:
    return (
        _whole(track, "f", where),
        _whole(track, "p", where),
        _number(track, "x", where) if track.get("x") is not None else math.nan,
        _number(track, "y", where) if track.get("y") is not None else math.nan,
    )


def _number(record: dict[str, Any], key: str, where: str) -> float:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SourceError(f"{where}: {key}: expected a number, found {value!r}")
    try:
        return float(value)
    except OverflowError as fault:
        raise SourceError(f"{where}: {key}: expected a number, found one too large") from fault


def _whole(record: dict[str, Any], key: str, where: str) -> int:
    number = _number(record, key, where)
    if not abs(number) < MOST_WHOLE or number != round(number):
        raise SourceError(
            f"{where}: {key}: expected a whole number below 2^53, found {record[key]}"
        )
    return int(number)
