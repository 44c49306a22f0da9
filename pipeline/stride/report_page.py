"""One self-contained HTML page: a scenario's movement over its map, and why its checks failed.

    write_page(PageParts(report, scenario, walk, obstacles, rows), Path("page.html"))

It opens from disk without a network. All data goes through one JSON block whose `<` are escaped, so
no text of a benchmark can become markup.
"""

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline.sheet import Sheet
from pipeline.stride.arrays import Floats
from pipeline.stride.trajectories import Trajectory

# Places (frames times agents) a page holds at most; of longer clips every n-th frame is drawn.
MOST_PLACES = 200_000
_CENTIMETRES = 100
_FALLBACK_DT_S = 0.4


class PageParts(NamedTuple):
    """What a page shows.

    Attributes:
        report: The report, as `report_of` gives it.
        scenario: Its entry of the scenario that is shown.
        walk: The scenario's trajectory.
        obstacles: (n, 4), walls: x0, x1, y0, y1 in metres; None = not known.
        comparison: Rows of `tables.comparison`; empty = none.
    """

    report: Mapping[str, Any]
    scenario: Mapping[str, Any]
    walk: Trajectory
    obstacles: Floats | None
    comparison: Sequence[Mapping[str, Any]]


def write_page(parts: PageParts, path: Path) -> None:
    """Write the page; its folder is made, a file of that name is replaced.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    package = files("pipeline.stride")
    Sheet(
        html=package / "report_page.html",
        styles=[package / "report_page.css"],
        scripts=[package / "report_page.js"],
        title=f"{parts.scenario['id']} - {parts.report['generator']}",
        data=page_data(parts),
    ).write(path)


def page_data(parts: PageParts) -> dict[str, Any]:
    """Return what the page embeds: plain JSON values."""
    report = {
        key: parts.report[key]
        for key in (
            "mode", "generator", "benchmark", "coverage", "counts", "score", "covered",
            "zero_filled", "by_axis", "tolerance", "plausibility",
        )
    }  # fmt: skip
    return {
        "report": report,
        "scenario": dict(parts.scenario),
        "movement": movement_of(parts.walk),
        "walls": [] if parts.obstacles is None else parts.obstacles.round(2).tolist(),
        "comparison": [dict(row) for row in parts.comparison],
    }


def movement_of(walk: Trajectory) -> dict[str, Any]:
    """Return the movement in whole centimetres: x, y, x, y, ... of each frame, None if absent."""
    step = max(1, math.ceil(walk.frames * max(walk.agents, 1) / MOST_PLACES))
    places = walk.positions[::step]
    there = walk.present[::step] & np.isfinite(places).all(axis=2)
    drawn = np.where(there[:, :, None], places, 0.0) * _CENTIMETRES
    whole = np.clip(np.rint(drawn), -(2**52), 2**52).astype(np.int64)
    frames = [
        [value if shown else None for value, shown in zip(row, known, strict=True)]
        for row, known in zip(
            whole.reshape(len(whole), -1).tolist(), there.repeat(2, axis=1).tolist(), strict=True
        )
    ]
    return {
        "frames": frames,
        "radii": _radii(walk),
        "dt_s": (walk.dt_s or _FALLBACK_DT_S) * step,
        "dt_known": walk.dt_s is not None,
        "every": step,
    }


def _radii(walk: Trajectory) -> list[float]:
    """Return one radius per agent for drawing, metres: its largest, within what a body can be."""
    if walk.radius is None or not walk.frames:
        return [0.2] * walk.agents
    known = np.where(np.isfinite(walk.radius) & walk.present, walk.radius, 0.0)
    largest = np.max(known, axis=0)
    return [float(value) for value in np.clip(largest, 0.1, 1.0).round(2)]
