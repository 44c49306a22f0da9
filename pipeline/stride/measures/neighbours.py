"""Who is near whom, frame by frame, by one tree over many frames.

    median_spacing(clip)                         ->  0.62 m to the nearest other
    neighbour_counts(clip, radius=0.93, frames)  ->  (F, N), others within 0.93 m

Frames are laid apart along a third axis, so that one k-d tree serves a whole block of them. The
tree only proposes pairs; sqrt(dx^2 + dy^2) decides, as a full distance matrix would. Frames with
values that are not finite go to that matrix: what NaN does is part of the published behaviour.
"""

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.undefined import UndefinedError

SPACING_FRAMES = 30
# Pairs that one block of frames may at most have: bounds memory, not results.
_MOST_PAIRS = 20_000_000
_SLACK = 1 + 1e-9
# Beyond it squares overflow.
_FARTHEST_M = 1e150


def median_spacing(clip: Clip) -> float:
    """Return the median distance to the nearest other agent, metres.

    Over everybody in the frames of sample(T, 30) with at least 2 agents; 1.0 if there is none, 0 if
    most coincide, NaN if most are near a position that is NaN.
    """
    frames = sample(clip.frames, SPACING_FRAMES)
    frames = frames[clip.counts[frames] >= 2]
    if not len(frames):
        return 1.0
    flat, odd = _split(clip, frames)
    nearest = [_kth_by_tree(clip, flat, 1)] if len(flat) else []
    nearest += [_nearest_by_matrix(clip, frame) for frame in odd]
    return float(np.median(np.concatenate(nearest)))


def kth_distances(clip: Clip, k: int, frames: Ints) -> Floats:
    """Return the distance (m) to the k-th nearest other of everybody in those frames that have one.

    Empty if no frame has more than k agents.

    Raises:
        UndefinedError: A position is not finite.
    """
    frames = frames[clip.counts[frames] > k]
    if not len(frames):
        return np.zeros(0)
    flat, odd = _split(clip, frames)
    if len(odd):
        raise UndefinedError("a position is not finite")
    return _kth_by_tree(clip, flat, k)


def neighbour_counts(clip: Clip, radius: float, frames: Ints) -> Floats:
    """Return (F, N), how many other present agents are within `radius` metres (inclusive) of each.

    0 for the absent, and for all where the radius is NaN or negative.
    """

    def compute(new: Ints) -> Floats:
        counts = np.zeros((clip.frames, clip.agents))
        if not radius >= 0:
            return counts[new]
        flat, odd = _split(clip, new) if np.isfinite(radius) else (new[:0], new)
        for block, row, one, other, distance in _close_pairs(clip, flat, radius):
            close = distance <= radius
            cell = np.concatenate((one[close], other[close])) + clip.agents * np.tile(row[close], 2)
            found = np.bincount(cell, minlength=len(block) * clip.agents)
            counts[block] = found.reshape(len(block), clip.agents)
        for frame in odd:
            near = _matrix(clip, frame) <= radius
            np.fill_diagonal(near, val=False)
            counts[frame, clip.present[frame]] = near.sum(axis=1)
        return counts[new]

    return clip.by_frame(("neighbours", radius), frames, compute, width=clip.agents)


def contacts(clip: Clip, frames: Ints) -> Floats:
    """Return (F,), the pairs of present agents nearer than the sum of their radii (strict)."""

    def compute(new: Ints) -> Floats:
        touching = np.zeros(clip.frames)
        radius = np.where(clip.present[new], clip.radius[new], 0.0)
        reach = 2 * float(np.fmax.reduce(radius, axis=None, initial=0.0))
        flat, odd = _split(clip, new) if np.isfinite(reach) else (new[:0], new)
        for block, row, one, other, distance in _close_pairs(clip, flat, reach):
            frame = block[row]
            close = distance < clip.radius[frame, one] + clip.radius[frame, other]
            touching[block] = np.bincount(row[close], minlength=len(block))
        for frame in odd:
            own = clip.radius[frame][clip.present[frame]]
            close = _matrix(clip, frame) < own[:, None] + own[None, :]
            touching[frame] = np.triu(close, 1).sum()
        return touching[new][:, None]

    return clip.by_frame("contacts", frames, compute, width=1)[:, 0]


def pair_counts(clip: Clip, frames: Ints) -> Ints:
    """Return (F,), the pairs of present agents."""
    counts = clip.counts[frames]
    return counts * (counts - 1) // 2


def distances_within(points: Floats, reach: float) -> tuple[Ints, Ints, Floats]:
    """Return every pair of points at most `reach` apart (or a hair more), once, with its distance.

    Args:
        points: (M, 2) or (M, 3), finite; only the first two axes count for the distance.
        reach: Metres, finite.
    """
    tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
    pairs = tree.query_pairs(reach * _SLACK, output_type="ndarray")
    one, other = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    off = points[one, :2] - points[other, :2]
    return one, other, np.sqrt(off[:, 0] ** 2 + off[:, 1] ** 2)


def _close_pairs(
    clip: Clip, frames: Ints, reach: float
) -> Iterator[tuple[Ints, Ints, Ints, Ints, Floats]]:
    """Yield, block by block, its frames and of each pair within reach row, agents and distance.

    The row is the frame's place in the block.
    """
    for block in _blocks(clip, frames):
        row, agent, points = _laid_apart(clip, block, gap=2 * reach + 1)
        one, other, distance = distances_within(points, reach)
        yield block, row[one], agent[one], agent[other], distance


def _blocks(clip: Clip, frames: Ints) -> Iterator[Ints]:
    weight = np.cumsum(clip.counts[frames] ** 2) // _MOST_PAIRS
    for number in np.unique(weight):
        yield frames[weight == number]


def _laid_apart(clip: Clip, frames: Ints, *, gap: float) -> tuple[Ints, Ints, Floats]:
    """Return row, agent and (M, 3) point of everybody present, rows `gap` apart in the third."""
    row, agent = np.nonzero(clip.present[frames])
    points = np.empty((len(row), 3))
    points[:, 0] = clip.x[frames[row], agent]
    points[:, 1] = clip.y[frames[row], agent]
    points[:, 2] = row * gap
    return row, agent, points


def _split(clip: Clip, frames: Ints) -> tuple[Ints, Ints]:
    """Split frames into those a tree can take and those with a position that is not finite."""
    far: Bools = ~((np.abs(clip.x[frames]) < _FARTHEST_M) & (np.abs(clip.y[frames]) < _FARTHEST_M))
    odd = (far & clip.present[frames]).any(axis=1)
    return frames[~odd], frames[odd]


def _kth_by_tree(clip: Clip, frames: Ints, k: int) -> Floats:
    """Return the distance to the k-th nearest other of everybody in the frames."""
    x, y = clip.x[frames], clip.y[frames]
    there = clip.present[frames]
    wide = np.ptp(x[there]) + np.ptp(y[there])
    _, _, points = _laid_apart(clip, frames, gap=2 * wide + 1)
    distance, _ = cKDTree(points, balanced_tree=False).query(points, k=k + 1)
    return np.asarray(distance, dtype=np.float64)[:, k]


def _matrix(clip: Clip, frame: int | np.int64) -> Floats:
    """Return all distances between those present in a frame."""
    there = clip.present[frame]
    x, y = clip.x[frame][there], clip.y[frame][there]
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.hypot(x[:, None] - x[None, :], y[:, None] - y[None, :]))


def _nearest_by_matrix(clip: Clip, frame: int | np.int64) -> Floats:
    distance = _matrix(clip, frame)
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance.min(axis=1))
