"""Axis Velocity (V): how fast the crowd is, and how differently.

Two walkers at 1.0 and 1.4 m/s: mean_speed 1.2, speed_variation_coeff 0.2 / 1.2 = 0.167

Speeds come from the velocity columns alone; both are blind to positions that say otherwise.
"""

import numpy as np

from pipeline.stride.measures.clip import Clip

_NO_SPEED = 1e-8


def mean_speed(clip: Clip) -> float | None:
    """Return the mean speed over all present agent-frames.

    Formula: sum of |v| / present agent-frames. Unit: m/s. Denominator: present agent-frames, so an
    agent that stays longer weighs more. Range: from 0. Nobody present: None. Does not see where
    anybody goes, nor standing beside running.
    """
    shown = clip.counts.sum()
    return float(clip.speed_sums.sum() / shown) if shown else None


def speed_variation_coeff(clip: Clip) -> float | None:
    """Return the spread of speeds over their mean.

    Formula: population standard deviation / mean of the speeds of all present agent-frames. No
    unit. Range: from 0; 0 also when the mean is below 1e-8 m/s. Nobody present: None. Does not tell
    one agent that changes its pace from two that differ.
    """
    mean = mean_speed(clip)
    if mean is None:
        return None
    if mean < _NO_SPEED:
        return 0.0
    off = np.where(clip.present, clip.speed - mean, 0.0)
    variance = float((off * off).sum() / clip.counts.sum())
    return float(np.sqrt(variance)) / mean
