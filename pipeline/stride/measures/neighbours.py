"""Who is near whom, frame by frame, by one tree over many frames.

    median_spacing(clip)                         ->  0.62 m to the nearest other
    neighbour_counts(clip, radius=0.93, frames)  ->  (F, N), others within 0.93 m

Frames are laid apart along a third axis, so that one k-d tree serves a whole block of them. The
tree only proposes pairs; sqrt(dx^2 + dy^2) decides, as a full distance matrix would. Frames with
values that are not finite go to that matrix: what NaN does is part of the published behaviour.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.undefined import UndefinedError

SPACING_FRAMES = 30
# Points of one tree: few enough for the processor's cache, or one frame.
_TREE_POINTS = 1000
# Pairs looked at together: bounds memory, not results.
_MOST_PAIRS = 1_000_000
_SLACK = 1 + 1e-9
# Beyond it squares overflow, and no tree can be made.
FARTHEST_M = 1e150


def median_spacing(clip: Clip) -> float:
    """Return the median distance to the nearest other agent, metres.

    Over everybody in the frames of sample(T, 30) with at least 2 agents; 1.0 if there is none, 0 if
    most coincide, NaN if most are near a position that is NaN.
    """
    frames = sample(clip.frames, SPACING_FRAMES)
    frames = frames[clip.counts[frames] >= 2]
    if not len(frames):
        return 1.0
    odd = _odd(clip, frames)
    nearest = [] if odd.all() else [_kth_by_tree(clip, frames[~odd], 1)]
    nearest += [_nearest_by_matrix(clip, frame) for frame in frames[odd]]
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
    if _odd(clip, frames).any():
        raise UndefinedError("a position is not finite")
    return _kth_by_tree(clip, frames, k)


def neighbour_counts(clip: Clip, radius: float, frames: Ints) -> Floats:
    """Return (F, N), how many other present agents are within `radius` metres (inclusive) of each.

    0 for the absent, and for all where the radius is NaN or negative.
    """

    def compute(new: Ints) -> Floats:
        counts = np.zeros((len(new), clip.agents))
        if not radius >= 0:
            return counts
        odd = _odd(clip, new) | (radius > FARTHEST_M)
        flat = np.flatnonzero(~odd)
        for one, other, distance in _close_pairs(clip, new[flat], radius):
            close = distance <= radius
            cells = len(flat) * clip.agents
            found = np.bincount(one[close], minlength=cells)
            found += np.bincount(other[close], minlength=cells)
            counts[flat] += found.reshape(len(flat), clip.agents)
        for row in np.flatnonzero(odd):
            near = _matrix(clip, new[row]) <= radius
            np.fill_diagonal(near, val=False)
            counts[row, clip.present[new[row]]] = near.sum(axis=1)
        return counts

    return clip.by_frame(("neighbours", radius), frames, compute, width=clip.agents)


def contacts(clip: Clip, frames: Ints) -> Floats:
    """Return (F,), the pairs of present agents nearer than the sum of their radii (strict)."""

    def compute(new: Ints) -> Floats:
        touching = np.zeros(len(new))
        radius = np.where(clip.present[new], clip.radius[new], 0.0)
        reach = 2 * float(np.fmax.reduce(radius, axis=None, initial=0.0))
        odd = _odd(clip, new) | (reach > FARTHEST_M)
        flat = np.flatnonzero(~odd)
        own = radius[flat].ravel()
        for one, other, distance in _close_pairs(clip, new[flat], reach):
            close = distance < own[one] + own[other]
            touching[flat] += np.bincount(one[close] // clip.agents, minlength=len(flat))
        for row in np.flatnonzero(odd):
            wide = radius[row][clip.present[new[row]]]
            close = _matrix(clip, new[row]) < wide[:, None] + wide[None, :]
            touching[row] = np.triu(close, 1).sum()
        return touching[:, None]

    return clip.by_frame("contacts", frames, compute, width=1)[:, 0]


def pair_counts(clip: Clip, frames: Ints) -> Ints:
    """Return (F,), the pairs of present agents."""
    counts = clip.counts[frames]
    return counts * (counts - 1) // 2


def distances_within(points: Floats, reach: float) -> tuple[Ints, Ints, Floats]:
    """Return every pair of points at most `reach` apart (or a hair more), once, with its distance.

    Args:
        points: (M, 2), metres, finite.
        reach: Metres, finite.
    """
    pairs = _tree(points).query_pairs(reach * _SLACK, output_type="ndarray")
    one, other = pairs[:, 0], pairs[:, 1]
    return one, other, _apart(points, one, other)


def _tree(points: Floats) -> cKDTree:
    return cKDTree(points, balanced_tree=False, compact_nodes=False)


def _apart(points: Floats, one: Ints, other: Ints) -> Floats:
    x, y = np.ascontiguousarray(points[:, 0]), np.ascontiguousarray(points[:, 1])
    return np.sqrt((x[one] - x[other]) ** 2 + (y[one] - y[other]) ** 2)


def _close_pairs(clip: Clip, frames: Ints, reach: float) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield of the pairs within reach the cells of both agents and their distance.

    The cell is the place in an array (F, N), laid flat.
    """
    row, agent, points = _laid_apart(clip, frames, gap=2 * reach + 1)
    cell = row * clip.agents + agent
    found: list[Ints] = []
    for start, end in _slices(clip.counts[frames]):
        pairs = _tree(points[start:end]).query_pairs(reach * _SLACK, output_type="ndarray")
        found.append(pairs + start)
        if end == len(points) or sum(map(len, found)) > _MOST_PAIRS:
            one, other = np.concatenate(found).T
            yield cell[one], cell[other], _apart(points, one, other)
            found = []


def _slices(counts: Ints) -> list[tuple[int, int]]:
    """Return where the points of successive trees begin and end: whole frames, few points."""
    ends = np.cumsum(counts)
    if not len(ends) or not ends[-1]:
        return []
    last = np.append(np.diff(ends // _TREE_POINTS) > 0, True)
    edges = [0, *np.unique(ends[last]).tolist()]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def _laid_apart(clip: Clip, frames: Ints, *, gap: float) -> tuple[Ints, Ints, Floats]:
    """Return row, agent and (M, 3) point of everybody present, rows `gap` apart in the third."""
    row, agent = np.nonzero(clip.present[frames])
    points = np.empty((len(row), 3))
    points[:, 0] = clip.x[frames[row], agent]
    points[:, 1] = clip.y[frames[row], agent]
    points[:, 2] = row * gap
    return row, agent, points


def _odd(clip: Clip, frames: Ints) -> Bools:
    """Return (F,), whether a frame has a position that is not finite, which no tree can take."""
    far = ~((np.abs(clip.x[frames]) < FARTHEST_M) & (np.abs(clip.y[frames]) < FARTHEST_M))
    return np.asarray((far & clip.present[frames]).any(axis=1))


def _kth_by_tree(clip: Clip, frames: Ints, k: int) -> Floats:
    """Return the distance to the k-th nearest other of everybody in the frames."""
    there = clip.present[frames]
    wide = np.ptp(clip.x[frames][there]) + np.ptp(clip.y[frames][there])
    _, _, points = _laid_apart(clip, frames, gap=2 * wide + 1)
    return np.concatenate(
        [
            np.asarray(_tree(points[start:end]).query(points[start:end], k=k + 1)[0])[:, k]
            for start, end in _slices(clip.counts[frames])
        ]
    )


def _matrix(clip: Clip, frame: int | np.int64) -> Floats:
    """Return all distances between those present in a frame."""
    there = clip.present[frame]
    x, y = clip.x[frame][there], clip.y[frame][there]
    return np.asarray(np.hypot(x[:, None] - x[None, :], y[:, None] - y[None, :]))


def _nearest_by_matrix(clip: Clip, frame: int | np.int64) -> Floats:
    distance = _matrix(clip, frame)
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance.min(axis=1))
