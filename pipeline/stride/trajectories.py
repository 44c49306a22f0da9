"""Trajectories of a crowd: where everybody is, who is there, and how long a frame lasts.

    trajectory(positions, present, dt_s=0.4)   ->  Trajectory of T frames and N agents
    resampled(walk, dt_s=0.4)                  ->  the same walk, a frame each 0.4 s

Presence is stated and never read out of a position, so that somebody may stand on the origin
(STRIDE marks the absent by x = y = 0; `importers/states.py` reads and writes that form).
"""

from typing import NamedTuple

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Bools, Floats, Ints

# Measures depend on the sampling rate; figures compare at this one, 2.5 frames a second.
CANONICAL_DT_S = 0.4
# No frame is shorter or longer, s; beyond it squares overflow.
SHORTEST_DT_S, LONGEST_DT_S = 1e-6, 1e6
# Places (frames times agents) of a trajectory made here; more would fill the memory.
MOST_PLACES = 100_000_000


# Velocities no further apart are the same: what single precision leaves at 25 frames a second.
_SAME_MPS = 1e-3


class Trajectory(NamedTuple):
    """The movement of N agents over T frames, in metres and seconds.

    Attributes:
        positions: (T, N, 2), x and y in metres; 0 where absent.
        present: (T, N), whether the agent is there.
        dt_s: Seconds from one frame to the next; None = not known.
        velocity: (T, N, 2), x and y in m/s; 0 where absent. None = not known.
        goal: (T, N, 2), where each agent heads, metres. None = not known.
        radius: (T, N), metres. None = not known.
        group: (N,), number of the group each agent belongs to; -1 = alone. None = not known.
        frame_of_reference: What x and y are measured from, in words.
    """

    positions: Floats
    present: Bools
    dt_s: float | None
    velocity: Floats | None
    goal: Floats | None
    radius: Floats | None
    group: Ints | None
    frame_of_reference: str

    @property
    def frames(self) -> int:
        """Return T."""
        return len(self.positions)

    @property
    def agents(self) -> int:
        """Return N, the ones that are never present among them."""
        return int(self.positions.shape[1])

    @property
    def ever_present(self) -> int:
        """Return how many agents are present at least once."""
        return int(self.present.any(axis=0).sum())

    @property
    def duration_s(self) -> float | None:
        """Return T * dt_s; None when dt_s is not known."""
        return None if self.dt_s is None else self.frames * self.dt_s


def trajectory(
    positions: Floats,
    present: Bools,
    *,
    dt_s: float | None,
    velocity: Floats | None = None,
    goal: Floats | None = None,
    radius: Floats | None = None,
    group: Ints | None = None,
) -> Trajectory:
    """Build a trajectory; what is said of absent agents becomes 0.

    Args:
        positions: (T, N, 2), metres.
        present: (T, N).
        dt_s: Seconds from one frame to the next, above 0; None = not known.
        velocity: (T, N, 2), m/s.
        goal: (T, N, 2), or (N, 2) for goals that stay; metres.
        radius: (T, N), or (N,) for radii that stay; metres.
        group: (N,); -1 = alone.

    Raises:
        SourceError: A shape does not fit, or dt_s is not above 0.
    """
    if positions.ndim != 3 or positions.shape[2] != 2:
        raise SourceError(
            f"trajectory: positions: expected the shape (T, N, 2), found {positions.shape}; put"
            " frames first, then agents, then x and y"
        )
    check_dt(dt_s, "trajectory")
    shape = positions.shape[:2]
    _check_shape("present", present.shape, shape)
    if velocity is not None:
        _check_shape("velocity", velocity.shape, (*shape, 2))
        velocity = _where_present(velocity, present)
    if goal is not None:
        goal = goal if goal.ndim == 3 else np.broadcast_to(goal, (len(positions), *goal.shape))
        _check_shape("goal", goal.shape, (*shape, 2))
    if radius is not None:
        radius = (
            radius if radius.ndim == 2 else np.broadcast_to(radius, (len(positions), *radius.shape))
        )
        _check_shape("radius", radius.shape, shape)
    if group is not None:
        _check_shape("group", group.shape, shape[1:])
    return Trajectory(
        _where_present(positions, present), present, dt_s, velocity, goal, radius, group, ""
    )


def check_dt(dt_s: float | None, where: str) -> None:
    """Raise SourceError unless dt_s is a number of seconds above 0, or not known."""
    if dt_s is not None and not SHORTEST_DT_S <= dt_s <= LONGEST_DT_S:
        raise SourceError(
            f"{where}: dt_s: expected the seconds from one frame to the next, above 0 (1e-6 to"
            f" 1e6), found {dt_s}; give the recording's own"
        )


def _check_shape(name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise SourceError(
            f"trajectory: {name}: expected the shape {expected}, found {found}; give one value for"
            " each frame and agent of `positions`"
        )


def _where_present(values: Floats, present: Bools) -> Floats:
    return values if present.all() else np.where(present[:, :, None], values, 0.0)


def with_derived_velocity(walk: Trajectory) -> Trajectory:
    """Replace velocities by what the positions say: central differences, one-sided at ends.

    Ends are those of each unbroken stay; nothing is carried over a gap. An agent that is there for
    a single frame has no velocity and counts as absent in it.

    Raises:
        SourceError: dt_s is not known.
    """
    if walk.dt_s is None:
        raise SourceError(
            "trajectory: expected dt_s to derive velocities from positions, found none; give the"
            " seconds from one frame to the next (--dt)"
        )
    before, after = stays_before(walk.present), stays_after(walk.present)
    earlier = np.concatenate((walk.positions[:1], walk.positions[:-1]))
    later = np.concatenate((walk.positions[1:], walk.positions[-1:]))
    start = np.where(before[:, :, None], earlier, walk.positions)
    end = np.where(after[:, :, None], later, walk.positions)
    steps = before.astype(np.int64) + after
    present = walk.present & (steps > 0)
    velocity = (end - start) / (np.maximum(steps, 1) * walk.dt_s)[:, :, None]
    return walk._replace(
        positions=_where_present(walk.positions, present),
        present=present,
        velocity=_where_present(velocity, present),
    )


def stays_before(present: Bools) -> Bools:
    """Return (T, N), whether an agent is present here and one frame earlier."""
    stays = np.zeros_like(present)
    stays[1:] = present[1:] & present[:-1]
    return stays


def stays_after(present: Bools) -> Bools:
    """Return (T, N), whether an agent is present here and one frame later."""
    stays = np.zeros_like(present)
    stays[:-1] = present[1:] & present[:-1]
    return stays


def resampled(walk: Trajectory, *, dt_s: float) -> Trajectory:
    """Return the same movement with a frame each dt_s seconds, from the first frame on.

    Positions lie on the straight line between the two frames around a new one, and the agent is
    there if it is in both (in the one, where a new frame falls on an old). So do velocities, unless
    they are nothing but differences of the positions: those are derived anew from the new
    positions, for the jitter of a fast camera would stay in them. Goals and radii are those of the
    earlier frame. Nothing is made up over a gap.

    Raises:
        SourceError: dt_s is not above 0, the trajectory's own is not known, or the frames would be
            more than memory holds.
    """
    check_dt(dt_s, "resampled")
    if walk.dt_s is None:
        raise SourceError(
            "trajectory: expected dt_s to resample it, found none; give the seconds from one frame"
            " to the next (--dt)"
        )
    if walk.frames == 0 or dt_s == walk.dt_s:
        return walk
    ratio = dt_s / walk.dt_s
    # The small surplus keeps the last frame where 0.1 * 3 / 0.1 is a hair below 3.
    count = int((walk.frames - 1) / ratio + 1e-9) + 1
    if count * max(walk.agents, 1) > MOST_PLACES:
        raise SourceError(
            f"resampled: dt_s: expected one that gives at most {MOST_PLACES} places, found {dt_s}"
            f" that makes {count} frames of {walk.agents} agents; choose a longer one"
        )
    place = np.minimum(np.arange(count) * ratio, walk.frames - 1)
    place = np.where(np.abs(place - np.rint(place)) < 1e-9, np.rint(place), place)
    first = np.floor(place).astype(np.int64)
    second = np.ceil(place).astype(np.int64)
    share = (place - first)[:, None, None]
    present = walk.present[first] & walk.present[second]

    def between(values: Floats) -> Floats:
        return _where_present(values[first] * (1 - share) + values[second] * share, present)

    made = walk._replace(
        positions=between(walk.positions),
        present=present,
        dt_s=dt_s,
        velocity=None if walk.velocity is None else between(walk.velocity),
        goal=None if walk.goal is None else walk.goal[first],
        radius=None if walk.radius is None else walk.radius[first],
    )
    if made.velocity is None or not has_derived_velocity(walk):
        return made
    anew = with_derived_velocity(made)
    # Who is there for a single new frame keeps what the old ones say.
    kept = (made.present & ~anew.present)[:, :, None]
    return anew._replace(
        positions=made.positions,
        present=made.present,
        velocity=np.where(kept, made.velocity, 0.0) + anew.velocity,
    )


def has_derived_velocity(walk: Trajectory) -> bool:
    """Return whether velocities are what `with_derived_velocity` makes of positions.

    They tell nothing then that positions do not. Without velocities or any step: False.

    Raises:
        SourceError: dt_s is not known.
    """
    derived = None if walk.velocity is None else with_derived_velocity(walk)
    if derived is None or derived.velocity is None or walk.velocity is None:
        return False
    there = derived.present
    return bool(there.any()) and bool(
        np.allclose(walk.velocity[there], derived.velocity[there], rtol=1e-4, atol=_SAME_MPS)
    )
