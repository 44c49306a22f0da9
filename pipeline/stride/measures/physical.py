"""Measures that the published ones stand in for: people per square metre, alignment at any N, ...

    A square lattice of 1 m: physical_density with 4 neighbours 4 / pi = 1.27 people/m2 inside
    Random headings: flow_alignment 0.54 for 3 agents and 0.05 for 300, n_corrected 0.26 and 0.02

They have names of their own and change no published measure.
"""

import numpy as np

from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.direction import ALIGNMENT_FRAMES, frame_alignment
from pipeline.stride.measures.neighbours import contacts, kth_distances
from pipeline.stride.measures.realism import COLLISION_FRAMES
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.spatial import DENSITY_FRAMES, radial_cosine
from pipeline.stride.measures.undefined import UndefinedError, real_number, whole_number

_MOST_NEIGHBOURS = 1000


def physical_density(clip: Clip, *, neighbours: object) -> float | None:
    """Return how crowded it is around people, in people per square metre.

    Formula: median of k / (pi * d_k^2), d_k the distance to the k-th nearest other (k =
    `neighbours`), over the agent-frames of sample(T, 100) with more than k present. Unit:
    people/m2. Range: from 0; infinite where k others stand on one spot. None if no frame has
    k + 1 people. Twice the size of a layout is a quarter of the density. People at the rim of a
    crowd, seen from whom one side is empty, look less crowded than they are.
    """
    k = whole_number("neighbours", neighbours, most=_MOST_NEIGHBOURS)
    if k < 1:
        raise UndefinedError(f"neighbours: expected 1 or more, found {k}")
    distance = kth_distances(clip, k, sample(clip.frames, DENSITY_FRAMES))
    if not len(distance):
        return None
    middle = float(np.median(distance))
    return k / (np.pi * middle**2) if middle > 0 else float("inf")


def contact_rate_per_agent(clip: Clip) -> float | None:
    """Return how many others a person touches at a moment.

    Formula: 2 * overlapping pairs / present agent-frames, over sample(T, 100). Unit: people. Range:
    0 to N - 1 (about 6 for discs of one size that do not overlap deeply). Nobody present: None.
    Unlike collision_fraction it does not fall with the size of the crowd. Does not see depth.
    """
    frames = sample(clip.frames, COLLISION_FRAMES)
    shown = clip.counts[frames].sum()
    return float(2 * contacts(clip, frames).sum() / shown) if shown else None


def flow_alignment_n_corrected(clip: Clip) -> float | None:
    """Return how much movers share one direction, whatever their number.

    Formula: sqrt(max(0, (N * R^2 - 1) / (N - 1))) with R the resultant length and N the movers of a
    frame, mean over the frames of sample(T, 100) with at least 2. No unit. Range: 0 to 1. No frame
    with 2 movers: 0.0; none with 2 present: None. The square of random headings is 0 on average;
    the cut at 0 leaves a surplus of half of what flow_alignment has. Does not see two opposite
    streams.
    """
    frames = sample(clip.frames, ALIGNMENT_FRAMES)
    if not (clip.counts[frames] >= 2).any():
        return None
    movers, resultant = frame_alignment(clip, frames)
    usable = movers >= 2
    if not usable.any():
        return 0.0
    n, r = movers[usable], resultant[usable]
    return float(np.sqrt(np.maximum(0.0, (n * r**2 - 1) / (n - 1))).mean())


def dispersal_windowed(clip: Clip, *, window_s: object) -> float | None:
    """Return whether people move out from the middle, window by window.

    Formula: `dispersal_score` of those present through a whole window of window_s seconds, with
    their places at its start and end; mean over windows (one after the other) with at least 3 such
    people. No unit. Range: -1 to 1. No such window: None. Entering and leaving the picture does not
    count as movement; a slow drift within jitter is not seen.
    """
    return _windowed(clip, window_s, towards_end=False)


def convergence_windowed(clip: Clip, *, window_s: object) -> float | None:
    """Return whether people move in on a middle, window by window; see `dispersal_windowed`."""
    return _windowed(clip, window_s, towards_end=True)


def _windowed(clip: Clip, window_s: object, *, towards_end: bool) -> float | None:
    seconds = real_number("window_s", window_s)
    if not 0 < seconds < np.inf:
        raise UndefinedError(f"window_s: expected seconds above 0, found {seconds}")
    length = max(1, round(min(seconds / clip.dt_s, clip.frames)))
    places = clip.walk.positions
    scores = []
    for start in range(0, clip.frames - length, length):
        there = np.all(clip.present[start : start + length + 1], axis=0)
        if there.sum() >= 3:
            ends = places[start, there], places[start + length, there]
            scores.append(radial_cosine(*ends, towards_end=towards_end))
    return float(np.mean(scores)) if scores else None
