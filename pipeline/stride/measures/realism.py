"""Axis Realism (R): whether bodies overlap, and how many people hardly move.

Three discs of 0.3 m, two of them 0.5 m apart: collision_fraction 1 / 3

Blind to walls, goals, groups, jumps and accelerations; see `corrected.py` for those.
"""

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.neighbours import contacts, pair_counts
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.undefined import real_number

COLLISION_FRAMES = 100


def collision_fraction(clip: Clip) -> float | None:
    """Return the share of pairs that overlap.

    Formula: pairs i < j of present agents nearer than r_i + r_j (strict) / all pairs of present
    agents, both summed over the frames of sample(T, 100). No unit. Range: 0 to 1. No pair: None.
    Falls as 1 / N at the same crowding, since the pairs grow as N^2: contacts of one person are the
    fraction times N - 1. Does not see how deep an overlap is or how long it lasts.
    """
    return pooled_collisions(clip, sample(clip.frames, COLLISION_FRAMES))


def pooled_collisions(clip: Clip, frames: Ints) -> float | None:
    """Return overlapping pairs over all pairs, summed over the frames; None without a pair."""
    pairs = pair_counts(clip, frames).sum()
    touching = contacts(clip, frames).sum()
    return float(touching / pairs) if pairs else None


def lingering_fraction(clip: Clip, *, speed_threshold: object) -> float | None:
    """Return the share of agents that are slow on the whole.

    Formula: agents whose mean speed over their present frames is below speed_threshold (m/s,
    strict) / agents present at least once. No unit. Range: 0 to 1. Nobody present: None. Does not
    tell who walks and then waits from who strolls.
    """
    return slow_share(
        clip.speed.sum(axis=0),
        clip.present.sum(axis=0),
        threshold=real_number("speed_threshold", speed_threshold),
    )


def slow_share(speed_sums: Floats, shown: Ints, *, threshold: float) -> float | None:
    """Return the share of agents shown whose mean speed is below the threshold; None if none is.

    Args:
        speed_sums: (N,), summed speed over the frames looked at, m/s.
        shown: (N,), how many of these frames each agent is present in.
        threshold: m/s.
    """
    there: Bools = shown > 0
    if not there.any():
        return None
    return float((speed_sums[there] / shown[there] < threshold).mean())
