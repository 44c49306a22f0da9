"""What Realism leaves out: walls, goals, jumps, accelerations, groups.

    One of 100 agent-frames inside a wall: obstacle_penetration 0.01
    A walk that jumps 30 m in one of its 59 steps of 0.4 s: teleport_fraction 1 / 59

All work on positions and seconds, not on the velocity columns.
"""

from typing import Any

import numpy as np

from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.undefined import UndefinedError, real_number
from pipeline.stride.trajectories import stays_after


def obstacle_penetration(clip: Clip) -> float | None:
    """Return how much of the time people are in or through a wall.

    Formula: present agent-frames whose disc overlaps a wall, or whose step from the frame before
    crosses one / present agent-frames. No unit. Range: 0 to 1. Nobody present: None. Walls are the
    map's straight pieces; the inside of a building is no wall.

    Raises:
        UndefinedError: No map is given, or no radii are known.
    """
    import shapely  # noqa: PLC0415 - only this measure needs it

    if clip.obstacles is None:
        raise UndefinedError("no map: obstacles are not known")
    shown = int(clip.present.sum())
    if not shown:
        return None
    x0, x1, y0, y1 = clip.obstacles.T
    walls: Any = shapely.linestrings(
        np.stack((np.column_stack((x0, y0)), np.column_stack((x1, y1))), 1)
    )
    tree = shapely.STRtree(walls)
    inside = np.zeros_like(clip.present)
    frame, agent = np.nonzero(clip.present)
    places = shapely.points(clip.x[frame, agent], clip.y[frame, agent])
    hit, _ = tree.query(places, predicate="dwithin", distance=clip.radius[frame, agent])
    inside[frame[hit], agent[hit]] = True
    frame, agent = np.nonzero(stays_after(clip.present))
    ends = clip.walk.positions[frame, agent], clip.walk.positions[frame + 1, agent]
    hit, _ = tree.query(shapely.linestrings(np.stack(ends, 1)), predicate="intersects")
    inside[frame[hit] + 1, agent[hit]] = True
    return float(inside.sum() / shown)


def goal_reaching(clip: Clip, *, within_m: object) -> float | None:
    """Return the share of people who get to their goal.

    Formula: agents at most within_m from their goal in some present frame / agents ever present. No
    unit. Range: 0 to 1. Nobody present: None. Says nothing where goals were made from the last
    positions, as importers of recordings do.

    Raises:
        UndefinedError: No goals are known.
    """
    if clip.walk.goal is None:
        raise UndefinedError("no goals (columns 4 and 5 of the states)")
    within = real_number("within_m", within_m)
    there = clip.present.any(axis=0)
    if not there.any():
        return None
    off = clip.walk.positions - clip.walk.goal
    near = (np.hypot(off[:, :, 0], off[:, :, 1]) <= within) & clip.present
    return float(near[:, there].any(axis=0).mean())


def teleport_fraction(clip: Clip, *, max_speed_mps: object) -> float | None:
    """Return the share of steps that nobody could take.

    Formula: steps between successive frames faster than max_speed_mps / all such steps. No unit.
    Range: 0 to 1. No step: None. A jump over a gap in presence is not seen.

    Raises:
        UndefinedError: dt_s is not known.
    """
    speed = _step_speeds(clip)
    if not len(speed):
        return None
    return float((speed > real_number("max_speed_mps", max_speed_mps)).mean())


def _step_speeds(clip: Clip) -> Floats:
    both = stays_after(clip.present)[:-1]
    step = np.diff(clip.walk.positions, axis=0)[both]
    return np.asarray(np.hypot(step[:, 0], step[:, 1]) / clip.dt_s)


def plausible_acceleration_fraction(clip: Clip, *, max_acceleration_mps2: object) -> float | None:
    """Return the share of moments at which people speed up, brake and turn as people can.

    Formula: agent-frames, present in the frames before and after too, where |x(t+1) - 2 x(t) +
    x(t-1)| / dt^2 is at most max_acceleration_mps2 / all such agent-frames. No unit. Range: 0 to 1,
    higher is better. No such agent-frame: None. Jitter of positions counts as acceleration, the
    more the shorter dt is.

    Raises:
        UndefinedError: dt_s is not known.
    """
    most = real_number("max_acceleration_mps2", max_acceleration_mps2)
    dt_s = clip.dt_s
    if clip.frames < 3:
        return None
    inner: Bools = clip.present[2:] & clip.present[1:-1] & clip.present[:-2]
    if not inner.any():
        return None
    change = np.diff(clip.walk.positions, n=2, axis=0)[inner]
    return float((np.hypot(change[:, 0], change[:, 1]) / dt_s**2 <= most).mean())


def group_cohesion(clip: Clip) -> float | None:
    """Return how far people are from the middle of their group.

    Formula: distance to the mean position of the present members of the own group, mean over
    agent-frames in which at least 2 of the group are present. Unit: m. Range: from 0, lower is
    closer. No such agent-frame: None.

    Raises:
        UndefinedError: No groups are known.
    """
    group = clip.walk.group
    if group is None:
        raise UndefinedError("no groups")
    apart, shown = 0.0, 0
    for number in np.unique(group[group >= 0]):
        members = group == number
        there = clip.present[:, members]
        count = there.sum(axis=1)
        together = there & (count >= 2)[:, None]
        middle = clip.walk.positions[:, members].sum(axis=1) / np.maximum(count, 1)[:, None]
        off = clip.walk.positions[:, members] - middle[:, None]
        apart += float(np.hypot(off[:, :, 0], off[:, :, 1])[together].sum())
        shown += int(together.sum())
    return apart / shown if shown else None
