"""Axis Temporal (T): whether a quantity rises or falls over the clip.

Mean speeds 1.0, 1.1, 1.2, 1.3, 1.4 in five bins: speed_trend 0.1 / 1.2 = 0.083

All eight are trends (`series.trend`): the slope over n_bins equal spans of frames as a fraction of
the mean, within +-6 / (n_bins + 1) for what cannot be negative. A bin without data counts as 0.0,
so a crowd that leaves has a falling trend in everything; `observed.py` has trends that skip it.
They go by frame numbers and know no seconds.
"""

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.direction import entropy_of, mean_alignment
from pipeline.stride.measures.neighbours import FARTHEST_M, distances_within
from pipeline.stride.measures.realism import pooled_collisions, slow_share
from pipeline.stride.measures.series import bins, sampled_bins, trend_of_bins
from pipeline.stride.measures.spatial import clip_spacing, local_radius, mean_neighbours
from pipeline.stride.measures.undefined import UndefinedError, real_number

BIN_FRAMES = 20
_CORE = 3  # neighbours that make a cluster, itself counted


def speed_by_bin(clip: Clip, *, n_bins: object) -> list[float | None]:
    """Return the mean speed of each bin (m/s), pooled over its present agent-frames."""
    values: list[float | None] = []
    for start, end in bins(clip.frames, n_bins):
        shown = clip.counts[start:end].sum()
        values.append(float(clip.speed_sums[start:end].sum() / shown) if shown else None)
    return values


def density_by_bin(clip: Clip, *, radius_mult: object, n_bins: object) -> list[float | None]:
    """Return the mean neighbour count of each bin, within one radius for the whole clip."""
    frames = sampled_bins(clip.frames, n_bins, BIN_FRAMES)
    radius = local_radius(clip, radius_mult)
    return [mean_neighbours(clip, radius, one) for one in frames]


def alignment_by_bin(clip: Clip, *, n_bins: object) -> list[float | None]:
    """Return the mean resultant length of each bin's frames with at least 2 movers."""
    return [mean_alignment(clip, one) for one in sampled_bins(clip.frames, n_bins, BIN_FRAMES)]


def spread_by_bin(clip: Clip, *, n_bins: object) -> list[float | None]:
    """Return the mean distance to the centroid of the moment (m), over frames with 2 present."""
    values: list[float | None] = []
    for frames in sampled_bins(clip.frames, n_bins, BIN_FRAMES):
        apart, shown = _spread(clip, frames[clip.counts[frames] >= 2])
        values.append(float(apart.sum() / shown.sum()) if len(shown) else None)
    return values


def _spread(clip: Clip, frames: Ints) -> tuple[Floats, Ints]:
    """Return of each frame the summed distance to its centroid (m), and who is present."""
    there, shown = clip.present[frames], clip.counts[frames]
    x, y = clip.x[frames], clip.y[frames]
    off_x = x - (x.sum(axis=1) / shown)[:, None]
    off_y = y - (y.sum(axis=1) / shown)[:, None]
    return np.where(there, np.hypot(off_x, off_y), 0.0).sum(axis=1), shown


def clustered_by_bin(clip: Clip, *, eps_mult: object, n_bins: object) -> list[float | None]:
    """Return the share of each bin's agents that belong to a cluster, by their mean positions.

    DBSCAN: an agent with 3 within eps = eps_mult * spacing (itself counted, inclusive) is core, and
    who is within eps of a core belongs.

    Raises:
        UndefinedError: eps is 0 or NaN, or a mean position is not finite, and 3 are present.
    """
    eps = real_number("eps_mult", eps_mult) * clip_spacing(clip)
    return [_clustered(_mean_places(clip, a, b), eps) for a, b in bins(clip.frames, n_bins)]


def _mean_places(clip: Clip, start: int, end: int) -> Floats:
    """Return (M, 2), the mean position in some frames of everybody present in one of them."""
    shown = clip.present[start:end].sum(axis=0)
    there = shown > 0
    sums = np.column_stack((clip.x[start:end].sum(axis=0), clip.y[start:end].sum(axis=0)))
    return np.asarray(sums[there] / shown[there][:, None])


def _clustered(places: Floats, eps: float) -> float | None:
    if len(places) < _CORE:
        return None
    if not eps > 0:
        raise UndefinedError(f"eps: expected metres above 0, found {eps}: most agents coincide")
    if not (np.abs(places) < FARTHEST_M).all():
        raise UndefinedError("a mean position is not finite")
    if eps > FARTHEST_M:
        return 1.0
    one, other, distance = distances_within(places, eps)
    one, other = one[distance <= eps], other[distance <= eps]
    near = np.bincount(np.concatenate((one, other)), minlength=len(places)) + 1
    core: Bools = near >= _CORE
    belongs = core.copy()
    belongs[other[core[one]]] = True
    belongs[one[core[other]]] = True
    return float(belongs.mean())


def collisions_by_bin(clip: Clip, *, n_bins: object) -> list[float | None]:
    """Return the pooled collision_fraction of each bin."""
    return [pooled_collisions(clip, one) for one in sampled_bins(clip.frames, n_bins, BIN_FRAMES)]


def lingering_by_bin(clip: Clip, *, speed_threshold: object, n_bins: object) -> list[float | None]:
    """Return the share of each bin's agents whose mean speed in it is below speed_threshold."""
    threshold = real_number("speed_threshold", speed_threshold)
    return [
        slow_share(clip.speed[a:b].sum(axis=0), clip.present[a:b].sum(axis=0), threshold=threshold)
        for a, b in bins(clip.frames, n_bins)
    ]


def entropy_by_bin(clip: Clip, *, n_bins: object) -> list[float | None]:
    """Return the normalised heading entropy of each bin, over all its frames."""
    return [entropy_of(clip.heading_counts[a:b].sum(axis=0)) for a, b in bins(clip.frames, n_bins)]


def speed_trend(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the bins' mean speed. Blind to a rise and fall that cancel."""
    return trend_of_bins(speed_by_bin(clip, n_bins=n_bins))


def density_trend(clip: Clip, *, radius_mult: object, n_bins: object) -> float | None:
    """Return the trend of the bins' neighbour counts, one radius for the whole clip."""
    return trend_of_bins(density_by_bin(clip, radius_mult=radius_mult, n_bins=n_bins))


def flow_alignment_trend(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the bins' alignment. Moves with the number of movers as well."""
    return _trend_of_movers(clip, alignment_by_bin(clip, n_bins=n_bins))


def spread_trend(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the bins' distance to the centroid: above 0 the crowd widens."""
    return trend_of_bins(spread_by_bin(clip, n_bins=n_bins))


def clustering_trend(clip: Clip, *, eps_mult: object, n_bins: object) -> float | None:
    """Return the trend of the share in clusters. Of positions averaged over a bin, not moments."""
    return trend_of_bins(clustered_by_bin(clip, eps_mult=eps_mult, n_bins=n_bins))


def collision_trend(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the bins' collision_fraction. One contact in a long clip gives +-1."""
    return trend_of_bins(collisions_by_bin(clip, n_bins=n_bins))


def lingering_trend(clip: Clip, *, speed_threshold: object, n_bins: object) -> float | None:
    """Return the trend of the share of slow agents, each bin by itself."""
    values = lingering_by_bin(clip, speed_threshold=speed_threshold, n_bins=n_bins)
    return trend_of_bins(values)


def entropy_trend(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the bins' heading entropy. Falls where fewer people move, too."""
    return _trend_of_movers(clip, entropy_by_bin(clip, n_bins=n_bins))


def _trend_of_movers(clip: Clip, values: list[float | None]) -> float | None:
    """Return the trend of what only movers have: 0.0, as of a crowd that stands, is data."""
    if not clip.counts.any():
        return None
    return trend_of_bins([0.0 if value is None else value for value in values])
