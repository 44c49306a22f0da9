"""The 20 measures of STRIDE written plainly: one at a time, full distance matrices, loops.

plain_measures(states)["mean_speed"]  ->  1.2

What the fast ones are measured against (`bench/stride.py`) and held to (`tests/stride`). Nothing is
shared between measures and nothing is clever; an undefined one is None.
"""

import itertools
import math

import numpy as np
from scipy.spatial.distance import cdist

DEFAULTS = {"n_bins": 5, "radius_mult": 1.5, "speed_threshold": 0.3, "eps_mult": 1.5, "n_grid": 5}


def sample(frames, wanted):
    """Return frames 0, step, 2 * step, ..."""
    return range(0, frames, max(1, frames // wanted))


def bins(frames, n_bins):
    """Return half-open bins; empty ones are left out."""
    edges = [int(k * (frames / n_bins)) for k in range(n_bins)] + [frames]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def present(states):
    """Return (T, N), who is not at x = y = 0."""
    return ~((states[:, :, 0] == 0) & (states[:, :, 1] == 0))


def speeds(states):
    """Return (T, N), m/s."""
    return np.sqrt(states[:, :, 2] ** 2 + states[:, :, 3] ** 2)


def trend(values):
    """Return the slope over the mean size."""
    if len(values) < 2:
        return 0.0
    x = np.arange(len(values))
    slope = np.polyfit(x, values, 1)[0]
    return slope / (np.mean(np.abs(values)) + 1e-8)


def mean_speed(states):
    """As the measure of this name."""
    return speeds(states)[present(states)].mean() if present(states).any() else 0.0


def speed_variation_coeff(states):
    """As the measure of this name."""
    pooled = speeds(states)[present(states)]
    return pooled.std() / pooled.mean() if len(pooled) and pooled.mean() >= 1e-8 else 0.0


def collisions(states, frames):
    """Return overlapping pairs over all pairs of some frames."""
    touching = pairs = 0
    there = present(states)
    for frame in frames:
        rows = states[frame][there[frame]]
        if len(rows) < 2:
            continue
        apart = cdist(rows[:, :2], rows[:, :2])
        reach = rows[:, 6][:, None] + rows[:, 6][None, :]
        upper = np.triu_indices(len(rows), 1)
        touching += (apart[upper] < reach[upper]).sum()
        pairs += len(upper[0])
    return touching / pairs if pairs else 0.0


def collision_fraction(states):
    """As the measure of this name."""
    return collisions(states, sample(len(states), 100))


def lingering(states, first, last, threshold):
    """Return the share of agents that are slow in some frames."""
    there, speed = present(states)[first:last], speeds(states)[first:last]
    slow = [
        speed[there[:, agent], agent].mean() < threshold
        for agent in range(states.shape[1])
        if there[:, agent].any()
    ]
    return np.mean(slow) if slow else 0.0


def lingering_fraction(states, speed_threshold=0.3):
    """As the measure of this name."""
    return lingering(states, 0, len(states), speed_threshold)


def alignment(states, frames):
    """Return the mean resultant length of some frames."""
    there, speed = present(states), speeds(states)
    lengths = []
    for frame in frames:
        moving = there[frame] & (speed[frame] > 0.05)
        if moving.sum() >= 2:
            units = states[frame, moving, 2:4] / speed[frame, moving][:, None]
            lengths.append(np.linalg.norm(units.mean(axis=0)))
    return np.mean(lengths) if lengths else 0.0


def flow_alignment(states):
    """As the measure of this name."""
    return alignment(states, sample(len(states), 100))


def entropy(states, first, last):
    """Return the heading entropy of some frames."""
    moving = (present(states) & (speeds(states) > 0.05))[first:last]
    rows = states[first:last][moving]
    if not len(rows):
        return 0.0
    counts, _ = np.histogram(np.arctan2(rows[:, 3], rows[:, 2]), bins=36, range=(-np.pi, np.pi))
    shares = counts[counts > 0] / counts.sum()
    return -(shares * np.log2(shares)).sum() / math.log2(36)


def directional_entropy_normalized(states):
    """As the measure of this name."""
    return entropy(states, 0, len(states))


def tracks(states):
    """Yield the positions of each agent that is present twice."""
    there = present(states)
    for agent in range(states.shape[1]):
        track = states[there[:, agent], agent, :2]
        if len(track) >= 2:
            yield track


def path_linearity(states):
    """As the measure of this name."""
    ratios = []
    for track in tracks(states):
        length = np.linalg.norm(np.diff(track, axis=0), axis=1).sum()
        if length >= 1e-6:
            ratios.append(np.linalg.norm(track[-1] - track[0]) / length)
    return np.mean(ratios) if ratios else 0.0


def spatial_concentration(states, n_grid=5):
    """As the measure of this name."""
    there = present(states)
    frames = list(sample(len(states), 50))
    points = states[frames][there[frames]][:, :2]
    if not len(points):
        return None if len(states) else 0.0
    edges = [np.linspace(points[:, k].min(), points[:, k].max(), n_grid + 1) for k in (0, 1)]
    cells = [np.digitize(points[:, k], edges[k], right=True) - 1 for k in (0, 1)]
    counts = np.zeros((n_grid, n_grid))
    np.add.at(counts, tuple(np.clip(cells, 0, n_grid - 1)), 1)
    ascending = np.sort(counts.ravel())
    n = len(ascending)
    weighted = sum(k * c for k, c in enumerate(ascending, start=1))
    return min(max(2 * weighted / (n * ascending.sum()) - (n + 1) / n, 0.0), 1.0)


def spacing(states):
    """Return the median distance to the nearest other."""
    there = present(states)
    nearest = []
    for frame in sample(len(states), 30):
        points = states[frame, there[frame], :2]
        if len(points) >= 2:
            apart = cdist(points, points)
            np.fill_diagonal(apart, np.inf)
            nearest += list(apart.min(axis=1))
    return np.median(nearest) if nearest else 1.0


def neighbours(states, frames, radius):
    """Return the neighbour counts of some frames."""
    there = present(states)
    counts = []
    for frame in frames:
        points = states[frame, there[frame], :2]
        if len(points) >= 2:
            counts += list((cdist(points, points) <= radius).sum(axis=1) - 1)
    return counts


def mean_local_density(states, radius_mult=1.5):
    """As the measure of this name."""
    counts = neighbours(states, sample(len(states), 100), radius_mult * spacing(states))
    return np.mean(counts) if counts else 0.0


def peak_local_density(states, radius_mult=1.5):
    """As the measure of this name."""
    counts = neighbours(states, sample(len(states), 150), radius_mult * spacing(states))
    return max(counts) / np.mean(counts) if counts and np.mean(counts) >= 1e-8 else 1.0


def radial(states, towards_end):
    """Return the mean cosine of the way and the ray."""
    ends = [(track[0], track[-1]) for track in tracks(states)]
    if len(ends) < 3:
        return 0.0
    middle = np.mean([end if towards_end else start for start, end in ends], axis=0)
    cosines = []
    for start, end in ends:
        ray, way = (middle - start if towards_end else start - middle), end - start
        lengths = np.linalg.norm(ray), np.linalg.norm(way)
        if min(lengths) > 1e-3:
            cosines.append(ray @ way / (lengths[0] * lengths[1]))
    return np.mean(cosines) if len(cosines) >= 3 else 0.0


def dispersal_score(states):
    """As the measure of this name."""
    return radial(states, towards_end=False)


def convergence_score(states):
    """As the measure of this name."""
    return radial(states, towards_end=True)


def speed_trend(states, n_bins=5):
    """As the measure of this name."""
    return trend([mean_speed(states[a:b]) for a, b in bins(len(states), n_bins)])


def density_trend(states, radius_mult=1.5, n_bins=5):
    """As the measure of this name."""
    radius = radius_mult * spacing(states)
    values = []
    for a, b in bins(len(states), n_bins):
        counts = neighbours(states[a:b], sample(b - a, 20), radius)
        values.append(np.mean(counts) if counts else 0.0)
    return trend(values)


def flow_alignment_trend(states, n_bins=5):
    """As the measure of this name."""
    parts = bins(len(states), n_bins)
    return trend([alignment(states[a:b], sample(b - a, 20)) for a, b in parts])


def spread_trend(states, n_bins=5):
    """As the measure of this name."""
    there = present(states)
    values = []
    for a, b in bins(len(states), n_bins):
        apart = []
        for frame in sample(b - a, 20):
            points = states[a + frame, there[a + frame], :2]
            if len(points) >= 2:
                apart += list(np.linalg.norm(points - points.mean(axis=0), axis=1))
        values.append(np.mean(apart) if apart else 0.0)
    return trend(values)


def clustering_trend(states, eps_mult=1.5, n_bins=5):
    """As the measure of this name."""
    eps = eps_mult * spacing(states)
    there = present(states)
    values = []
    for a, b in bins(len(states), n_bins):
        places = np.array(
            [
                states[a:b, agent, :2][there[a:b, agent]].mean(axis=0)
                for agent in range(states.shape[1])
                if there[a:b, agent].any()
            ]
        )
        if len(places) < 3:
            values.append(0.0)
            continue
        if not eps > 0:
            return None
        near = cdist(places, places) <= eps
        core = near.sum(axis=1) >= 3
        values.append((core | near[:, core].any(axis=1)).mean())
    return trend(values)


def collision_trend(states, n_bins=5):
    """As the measure of this name."""
    parts = bins(len(states), n_bins)
    return trend([collisions(states[a:b], sample(b - a, 20)) for a, b in parts])


def lingering_trend(states, speed_threshold=0.3, n_bins=5):
    """As the measure of this name."""
    parts = bins(len(states), n_bins)
    return trend([lingering(states, a, b, speed_threshold) for a, b in parts])


def entropy_trend(states, n_bins=5):
    """As the measure of this name."""
    return trend([entropy(states, a, b) for a, b in bins(len(states), n_bins)])


PLAIN = {
    one.__name__: one
    for one in (
        mean_speed, speed_variation_coeff, collision_fraction, lingering_fraction, flow_alignment,
        directional_entropy_normalized, path_linearity, spatial_concentration, mean_local_density,
        peak_local_density, dispersal_score, convergence_score, speed_trend, density_trend,
        flow_alignment_trend, spread_trend, clustering_trend, collision_trend, lingering_trend,
        entropy_trend,
    )
}  # fmt: skip


def plain_measures(states):
    """Return all 20 by name; None = undefined."""
    return {name: one(states) for name, one in PLAIN.items()}
