"""The eight trends without their empty bins: a crowd that leaves does not slow down.

Mean speeds 1.2, 1.2, 1.2, nobody, nobody: speed_trend -0.5, speed_trend_observed 0.0

Each takes the values of the published trend's bins, leaves out those without data, and puts the
slope through the others where they lie. None for fewer than 2 bins with data.
"""

from pipeline.stride.measures import temporal
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.series import trend


def _observed(values: list[float | None]) -> float | None:
    places = [place for place, value in enumerate(values) if value is not None]
    if len(places) < 2:
        return None
    return trend([value for value in values if value is not None], places)


def speed_trend_observed(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of mean speed over bins with somebody present."""
    return _observed(temporal.speed_by_bin(clip, n_bins=n_bins))


def density_trend_observed(clip: Clip, *, radius_mult: object, n_bins: object) -> float | None:
    """Return the trend of neighbour counts over bins with 2 present."""
    return _observed(temporal.density_by_bin(clip, radius_mult=radius_mult, n_bins=n_bins))


def flow_alignment_trend_observed(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of alignment over bins with 2 movers."""
    return _observed(temporal.alignment_by_bin(clip, n_bins=n_bins))


def spread_trend_observed(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of the distance to the centroid over bins with 2 present."""
    return _observed(temporal.spread_by_bin(clip, n_bins=n_bins))


def clustering_trend_observed(clip: Clip, *, eps_mult: object, n_bins: object) -> float | None:
    """Return the trend of the share in clusters over bins with 3 present."""
    return _observed(temporal.clustered_by_bin(clip, eps_mult=eps_mult, n_bins=n_bins))


def collision_trend_observed(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of collision_fraction over bins with a pair."""
    return _observed(temporal.collisions_by_bin(clip, n_bins=n_bins))


def lingering_trend_observed(
    clip: Clip, *, speed_threshold: object, n_bins: object
) -> float | None:
    """Return the trend of the share of slow agents over bins with somebody present."""
    values = temporal.lingering_by_bin(clip, speed_threshold=speed_threshold, n_bins=n_bins)
    return _observed(values)


def entropy_trend_observed(clip: Clip, *, n_bins: object) -> float | None:
    """Return the trend of heading entropy over bins with a mover."""
    return _observed(temporal.entropy_by_bin(clip, n_bins=n_bins))
