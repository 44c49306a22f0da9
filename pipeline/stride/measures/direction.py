"""Axis Direction (D): whether the crowd heads the same way, and how straight it walks.

Two walkers eastward and one westward: flow_alignment |1 + 1 - 1| / 3 = 0.333
Three metres east and four north: path_linearity 5 / 7 = 0.714
"""

import numpy as np

from pipeline.stride.arrays import Floats, Ints
from pipeline.stride.measures.clip import HEADING_BINS, Clip
from pipeline.stride.measures.series import sample

ALIGNMENT_FRAMES = 100
_NO_PATH_M = 1e-6


def flow_alignment(clip: Clip) -> float | None:
    """Return how much movers share one direction.

    Formula: |sum of v/|v|| / movers in a frame, mean over the frames of sample(T, 100) with at
    least 2 movers (faster than 0.05 m/s). No unit. Range: 0 (all ways) to 1 (one way). 0.0 if no
    frame has 2 movers, None if none has 2 agents. Not comparable between crowd sizes: with random
    headings about 0.886 / sqrt(N). Does not see two opposite streams, which cancel.
    """
    frames = sample(clip.frames, ALIGNMENT_FRAMES)
    if not (clip.counts[frames] >= 2).any():
        return None
    value = mean_alignment(clip, frames)
    return 0.0 if value is None else value


def mean_alignment(clip: Clip, frames: Ints) -> float | None:
    """Return the mean resultant length over those of the frames with 2 movers; None if none has."""
    movers, resultant = frame_alignment(clip, frames)
    usable = movers >= 2
    return float(resultant[usable].mean()) if usable.any() else None


def frame_alignment(clip: Clip, frames: Ints) -> tuple[Floats, Floats]:
    """Return movers and resultant length of each frame, both (F,); 0 and 0 without movers."""

    def compute(new: Ints) -> Floats:
        vx, vy = clip.velocity
        moving = clip.moving[new]
        speed = np.where(moving, clip.speed[new], 1.0)
        movers = moving.sum(axis=1)
        east = (np.where(moving, vx[new], 0.0) / speed).sum(axis=1)
        north = (np.where(moving, vy[new], 0.0) / speed).sum(axis=1)
        return np.column_stack((movers, np.hypot(east, north) / np.maximum(movers, 1)))

    values = clip.by_frame("alignment", frames, compute, width=2)
    return values[:, 0], values[:, 1]


def directional_entropy_normalized(clip: Clip) -> float | None:
    """Return how evenly movers head in all directions.

    Formula: Shannon entropy (base 2) of the headings of all moving agent-frames in 36 equal bins,
    over log2 36. No unit. Range: 0 (one bin) to 1 (all alike). Nobody moves: 0.0; nobody present:
    None. Needs many headings: n of them reach at most log(n) / log(36). Does not see when anybody
    heads where.
    """
    if not clip.counts.any():
        return None
    value = entropy_of(clip.heading_counts.sum(axis=0))
    return 0.0 if value is None else value


def entropy_of(counts: Floats) -> float | None:
    """Return the entropy of counts in 36 bins over log2 36; None if all are 0."""
    total = counts.sum()
    if total == 0:
        return None
    shares = counts[counts > 0] / total
    return float(-(shares * np.log2(shares)).sum() / np.log2(HEADING_BINS))


def path_linearity(clip: Clip) -> float | None:
    """Return how straight the agents walk.

    Formula: |last - first position| / summed steps between successive present frames (gaps bridged
    straight), mean over agents with at least 2 present frames and a path of 1e-6 m or more. No
    unit. Range: 0 to 1. All stand: 0.0; no agent has 2 frames: None. Depends on the sampling rate:
    jitter adds length. Does not see speed, nor that standing people with jitter look bent.
    """
    tracks = clip.tracks
    twice = tracks.shown >= 2
    if not twice.any():
        return None
    usable = twice & ~(tracks.length < _NO_PATH_M)
    if not usable.any():
        return 0.0
    way = tracks.end[usable] - tracks.start[usable]
    return float((np.hypot(way[:, 0], way[:, 1]) / tracks.length[usable]).mean())
