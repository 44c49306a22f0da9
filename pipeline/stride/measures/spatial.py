"""Axis Spatial (S): how the crowd is spread, and whether it gathers or scatters.

    Everybody in one of 25 cells: spatial_concentration 1 - 1/25 = 0.96
    Four people walking out of a square's middle: dispersal_score 1.0

Densities are counts of neighbours within a multiple of the crowd's own spacing, not people per
square metre: the same layout at ten times the size has the same density.
"""

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.neighbours import median_spacing, neighbour_counts
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.undefined import UndefinedError, real_number, whole_number

CONCENTRATION_FRAMES = 50
DENSITY_FRAMES, PEAK_FRAMES = 100, 150
_MOST_CELLS = 2000  # along one side
_NO_WAY_M = 1e-3
_NO_DENSITY = 1e-8


def spatial_concentration(clip: Clip, *, n_grid: object) -> float | None:
    """Return how unevenly positions fill a grid over their own bounding box.

    Formula: Gini coefficient of the counts c (ascending, k = 1 ... n) of n = n_grid^2 cells,
    2 * sum(k * c_k) / (n * sum(c)) - (n + 1) / n, clipped to [0, 1]; present positions of
    sample(T, 50), pooled. A point on an inner edge belongs to the lower cell. No unit. Range: 0 to
    1 - 1/n. No frames: None. One outlier changes the box and so everything. Does not see when.

    Raises:
        UndefinedError: Nobody is present in the sampled frames, or n_grid is no size of a grid.
    """
    size = whole_number("n_grid", n_grid, most=_MOST_CELLS)
    if clip.frames == 0:
        return None
    frames = sample(clip.frames, CONCENTRATION_FRAMES)
    there = clip.present[frames]
    if not there.any():
        raise UndefinedError("nobody is present in the sampled frames")
    if size < 1:
        raise UndefinedError(f"n_grid: expected 1 or more, found {size}")
    column = _cells(clip.x[frames][there], size)
    row = _cells(clip.y[frames][there], size)
    return gini(np.bincount(column * size + row, minlength=size * size))


def _cells(values: Floats, size: int) -> Ints:
    """Return the cell of each value along one side of the box."""
    edges = np.linspace(values.min(), values.max(), size + 1)
    return np.clip(np.searchsorted(edges, values) - 1, 0, size - 1)


def gini(counts: Ints) -> float:
    """Return the Gini coefficient of counts, clipped to [0, 1]."""
    ascending = np.sort(counts).astype(np.float64)
    n = len(ascending)
    weighted = (np.arange(1, n + 1) * ascending).sum()
    return float(np.clip(2 * weighted / (n * ascending.sum()) - (n + 1) / n, 0.0, 1.0))


def local_radius(clip: Clip, radius_mult: object) -> float:
    """Return the radius that densities count within: radius_mult * median spacing, metres."""
    return real_number("radius_mult", radius_mult) * clip_spacing(clip)


def clip_spacing(clip: Clip) -> float:
    """Return the clip's median spacing, metres; worked out once."""
    frames = np.zeros(min(clip.frames, 1), np.int64)
    if not len(frames):
        return 1.0
    spacing = clip.by_frame(
        "spacing", frames, lambda _: np.array([[median_spacing(clip)]]), width=1
    )
    return float(spacing[0, 0])


def mean_local_density(clip: Clip, *, radius_mult: object) -> float | None:
    """Return how many others an agent has near it, by the crowd's own spacing.

    Formula: number of other present agents at most radius_mult * spacing away (inclusive), mean
    over the agent-frames of sample(T, 100) with at least 2 present; spacing is the median distance
    to the nearest other. Unit: people. Range: from 0. No such frame: None. The same layout at ten
    times the size gives the same value, so it does not see crowding at all, only pattern.
    """
    return mean_neighbours(
        clip, local_radius(clip, radius_mult), sample(clip.frames, DENSITY_FRAMES)
    )


def peak_local_density(clip: Clip, *, radius_mult: object) -> float | None:
    """Return how far the densest spot stands out.

    Formula: largest / mean of the neighbour counts of `mean_local_density`, over sample(T, 150). No
    unit. Range: from 1; 1.0 also if the mean is below 1e-8. No frame with 2 present: None. One
    agent in one frame decides it.
    """
    frames = _with_pairs(clip, sample(clip.frames, PEAK_FRAMES))
    radius = local_radius(clip, radius_mult)
    if not len(frames):
        return None
    counts = neighbour_counts(clip, radius, frames)
    mean = counts.sum() / clip.counts[frames].sum()
    return float(counts.max() / mean) if mean >= _NO_DENSITY else 1.0


def mean_neighbours(clip: Clip, radius: float, frames: Ints) -> float | None:
    """Return the mean neighbour count over agent-frames; None if no frame has 2 present."""
    frames = _with_pairs(clip, frames)
    if not len(frames):
        return None
    counts = neighbour_counts(clip, radius, frames)
    return float(counts.sum() / clip.counts[frames].sum())


def _with_pairs(clip: Clip, frames: Ints) -> Ints:
    return frames[clip.counts[frames] >= 2]


def dispersal_score(clip: Clip) -> float | None:
    """Return whether people move out from the middle of their starts.

    Formula: mean cosine of (s - c) and (e - s), where s and e are the first and last present
    position of an agent with at least 2 present frames, and c the mean of all such s; over agents
    where both are longer than 1e-3 m. No unit. Range: -1 (inwards) to 1 (outwards). Fewer than 3
    agents with 2 frames: None; fewer than 3 that moved: 0.0. Each agent's own first and last frame
    count, so in a recording that people enter and leave it measures crossing the picture.
    """
    return _radial(clip, towards_end=False)


def convergence_score(clip: Clip) -> float | None:
    """Return whether people move in on the middle of their ends.

    Formula: mean cosine of (c - s) and (e - s) with c the mean of all e; otherwise as
    `dispersal_score`, whose near mirror image it is. No unit. Range: -1 to 1 (gathering).
    """
    return _radial(clip, towards_end=True)


def _radial(clip: Clip, *, towards_end: bool) -> float | None:
    tracks = clip.tracks
    usable: Bools = tracks.shown >= 2
    if usable.sum() < 3:
        return None
    return radial_cosine(tracks.start[usable], tracks.end[usable], towards_end=towards_end)


def radial_cosine(start: Floats, end: Floats, *, towards_end: bool) -> float:
    """Return the mean cosine between the way walked and the way out of (or in to) the middle.

    Args:
        start: (N, 2), metres.
        end: (N, 2), metres.
        towards_end: Whether the middle is that of the ends, and in is positive.

    Returns:
        -1 to 1; 0.0 for fewer than 3 agents that moved and were off the middle.
    """
    ray = end.mean(axis=0) - start if towards_end else start - start.mean(axis=0)
    way = end - start
    ray_m, way_m = np.hypot(*ray.T), np.hypot(*way.T)
    usable = (ray_m > _NO_WAY_M) & (way_m > _NO_WAY_M)
    if usable.sum() < 3:
        return 0.0
    dot = (ray * way).sum(axis=1)[usable]
    return float((dot / (ray_m[usable] * way_m[usable])).mean())
