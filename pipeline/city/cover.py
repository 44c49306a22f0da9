"""Lay road segments over the H3 grid: which cells a segment passes, and how far in each.

    a straight 58.7 m segment that leaves its first cell after 47.5 m
    -> cells [8a39..97, 8a39..87], cell_length_m [47.5, 11.2], dominant 8a39..97, share 0.81

A step of the line whose ends lie in one cell lies in it whole (cells are convex). Other steps are
halved until their cells agree or the rest is shorter than the tolerance, so lengths are exact to
that tolerance per crossing, and no cell crossed for longer than it is missed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.city.hexgrid import Cells, cell_name, cells_at
from pipeline.city.projection import Floats, geodesic

Ints = npt.NDArray[np.int64]


class _Steps(NamedTuple):
    """Straight steps between vertices: owner segment, ends (lon, lat degrees), length, metres."""

    owner: Ints
    start: Floats
    end: Floats
    length_m: Floats


def cover_segments(roads: pl.DataFrame, *, resolution: int, tolerance_m: float) -> pl.DataFrame:
    """Return the cells of each segment, one row per segment and cell.

    Args:
        roads: Columns edge_id, geometry (WKB LineString, lon/lat), length_m.
        resolution: H3 resolution.
        tolerance_m: Longest stretch that may be put into the wrong one of two neighbouring cells.

    Returns:
        Columns edge_id, cell (uint64), length_m, in the order of `roads` and, within a segment,
        of first entry; the lengths of a segment add up to its length_m.
    """
    pieces = _pieces(_steps(roads), resolution, tolerance_m)
    segments = roads.select("edge_id", whole="length_m").with_row_index("owner")
    total = pl.col("part_m").sum().over("owner")
    return (
        pieces.group_by("owner", "cell")
        .agg(pl.col("part_m").sort_by("order").sum(), pl.col("order").min())
        .join(segments.with_columns(pl.col("owner").cast(pl.Int64)), on="owner")
        .sort("owner", "order")
        .select("edge_id", "cell", length_m=pl.col("part_m") * pl.col("whole") / total)
    )


def road_cells(covered: pl.DataFrame, *, tolerance_m: float) -> pl.DataFrame:
    """Return the rows of road_cell.schema.json, sorted by edge_id.

    The dominant cell holds most of the length; of cells within the tolerance of the most, the one
    with the lowest index, so that both directions of a street have the same.
    """
    names = {cell: cell_name(cell) for cell in covered["cell"].unique().to_list()}
    most = pl.col("length_m").max().over("edge_id")
    chosen = (
        covered.filter(pl.col("length_m") >= most - tolerance_m)
        .sort("edge_id", "cell")
        .group_by("edge_id", maintain_order=True)
        .first()
        .rename({"length_m": "held_m"})
    )
    lists = covered.group_by("edge_id", maintain_order=True).agg(
        cells=pl.col("cell"), cell_length_m=pl.col("length_m"), whole=pl.col("length_m").sum()
    )
    named = pl.col("cell").replace_strict(names, return_dtype=pl.String)
    return (
        lists.join(chosen, on="edge_id")
        .sort("edge_id")
        .select(
            "edge_id",
            cell=named,
            share=(pl.col("held_m") / pl.col("whole")).clip(upper_bound=1.0),
            cells=pl.col("cells").list.eval(
                pl.element().replace_strict(names, return_dtype=pl.String)
            ),
            cell_length_m="cell_length_m",
        )
    )


def _steps(roads: pl.DataFrame) -> _Steps:
    """Take the lines apart into steps between neighbouring vertices."""
    import shapely  # noqa: PLC0415 - slow import

    lines = shapely.from_wkb(roads["geometry"].to_numpy())
    points, owner = shapely.get_coordinates(lines, return_index=True)
    inner = owner[1:] == owner[:-1]
    start, end = points[:-1][inner], points[1:][inner]
    _, length = geodesic(start[:, 0], start[:, 1], end[:, 0], end[:, 1])
    return _Steps(owner[:-1][inner].astype(np.int64), start, end, length)


def _cells_of_points(points: Floats, resolution: int) -> Cells:
    """Return the cells of (N, 2) points, asking once for points that repeat."""
    # One complex number per point: sorting those is far quicker than sorting rows.
    unique, inverse = np.unique(points[:, 0] + 1j * points[:, 1], return_inverse=True)
    cells: Cells = cells_at(unique.real, unique.imag, resolution)[inverse]
    return cells


def _pieces(steps: _Steps, resolution: int, tolerance_m: float) -> pl.DataFrame:
    """Cut every step where its cell changes: owner, order along the segment, cell, part_m."""
    count = len(steps.owner)
    both = _cells_of_points(np.concatenate((steps.start, steps.end)), resolution)
    step = np.arange(count)
    low, high = np.zeros(count), np.ones(count)
    cell_low, cell_high = both[:count], both[count:]
    done: list[tuple[Ints, Floats, Floats, Cells]] = []
    while True:
        same = cell_low == cell_high
        done.append((step[same], low[same], high[same], cell_low[same]))
        step, low, high = step[~same], low[~same], high[~same]
        cell_low, cell_high = cell_low[~same], cell_high[~same]
        middle = (low + high) / 2
        short = (high - low) * steps.length_m[step] <= tolerance_m
        done.append((step[short], low[short], middle[short], cell_low[short]))
        done.append((step[short], middle[short], high[short], cell_high[short]))
        if short.all():
            break
        step, low, middle, high = (a[~short] for a in (step, low, middle, high))
        cell_low, cell_high = cell_low[~short], cell_high[~short]
        at = steps.start[step] + middle[:, None] * (steps.end[step] - steps.start[step])
        cell_middle = cells_at(at[:, 0], at[:, 1], resolution)
        step, low, high = np.tile(step, 2), np.append(low, middle), np.append(middle, high)
        cell_low = np.append(cell_low, cell_middle)
        cell_high = np.append(cell_middle, cell_high)
    step, low, high, cell = (np.concatenate(parts) for parts in zip(*done, strict=True))
    return pl.DataFrame(
        {
            "owner": steps.owner[step],
            "order": step + low,
            "cell": cell,
            "part_m": (high - low) * steps.length_m[step],
        }
    )
