"""One trajectory made ready for all measures: what several of them need is worked out once.

clip = Clip(walk)
mean_local_density(clip, radius_mult=1.5); density_trend(clip, radius_mult=1.5, n_bins=5)
-> the neighbours of each frame both look at are counted once
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.trajectories import Trajectory

MOVING_MPS = 0.05  # strictly faster than this is moving
HEADING_BINS = 36


class Clip:
    """A trajectory and, on demand, what measures derive from it.

    Attributes:
        walk: The trajectory.
        obstacles: Rows x0, x1, y0, y1 in metres, (n, 4): each a wall between two points. None = not
            known.
        present: (T, N), the trajectory's own.
        x, y: (T, N), metres.
        counts: (T,), agents present in each frame.
    """

    def __init__(self, walk: Trajectory, *, obstacles: Floats | None = None) -> None:
        self.walk, self.obstacles = walk, obstacles
        self.present: Bools = walk.present
        self.x: Floats = np.ascontiguousarray(walk.positions[:, :, 0])
        self.y: Floats = np.ascontiguousarray(walk.positions[:, :, 1])
        self.counts: Ints = self.present.sum(axis=1)
        self._by_frame: dict[object, tuple[Bools, Floats]] = {}

    @property
    def frames(self) -> int:
        """Return T."""
        return self.walk.frames

    @property
    def agents(self) -> int:
        """Return N."""
        return self.walk.agents

    @cached_property
    def velocity(self) -> tuple[Floats, Floats]:
        """Return vx and vy, each (T, N), m/s.

        Raises:
            UndefinedError: The trajectory has no velocities.
        """
        velocity = self.walk.velocity
        if velocity is None:
            raise UndefinedError("no velocities (columns 2 and 3 of the states)")
        return np.ascontiguousarray(velocity[:, :, 0]), np.ascontiguousarray(velocity[:, :, 1])

    @property
    def radius(self) -> Floats:
        """Return (T, N), metres.

        Raises:
            UndefinedError: The trajectory has no radii.
        """
        if self.walk.radius is None:
            raise UndefinedError("no radii (column 6 of the states)")
        return self.walk.radius

    @property
    def dt_s(self) -> float:
        """Return the seconds from one frame to the next.

        Raises:
            UndefinedError: They are not known.
        """
        if self.walk.dt_s is None:
            raise UndefinedError("no dt_s: the seconds from one frame to the next are not known")
        return self.walk.dt_s

    @cached_property
    def speed(self) -> Floats:
        """Return (T, N), m/s, from the velocities and never from positions; 0 where absent."""
        return np.where(self.present, np.hypot(*self.velocity), 0.0)

    @cached_property
    def moving(self) -> Bools:
        """Return (T, N), whether an agent is present and faster than 0.05 m/s."""
        return self.present & (self.speed > MOVING_MPS)

    @cached_property
    def speed_sums(self) -> Floats:
        """Return (T,), the summed speed of everybody present in a frame."""
        return np.asarray(self.speed.sum(axis=1))

    @cached_property
    def heading_counts(self) -> Floats:
        """Return (T, 36), how many moving agents head into each tenth of a right angle.

        Bins run from -pi to pi and hold their lower edge; the last holds pi too.
        """
        vx, vy = self.velocity
        frame, agent = np.nonzero(self.moving)
        heading = np.arctan2(vy[frame, agent], vx[frame, agent])
        edges = np.linspace(-np.pi, np.pi, HEADING_BINS + 1)
        index = ((heading + np.pi) * (HEADING_BINS / (2 * np.pi))).astype(np.int64)
        index = np.clip(index, 0, HEADING_BINS - 1)
        # The quick division may miss an edge by one rounding; the edges themselves decide.
        index -= heading < edges[index]
        index += (heading >= edges[index + 1]) & (index < HEADING_BINS - 1)
        counts = np.bincount(frame * HEADING_BINS + index, minlength=self.frames * HEADING_BINS)
        return counts.reshape(self.frames, HEADING_BINS).astype(np.float64)

    @cached_property
    def tracks(self) -> "Tracks":
        """Return the agents' own paths."""
        return Tracks(self)

    def by_frame(
        self, name: object, frames: Ints, compute: Callable[[Ints], Floats], *, width: int
    ) -> Floats:
        """Return what `compute` says of frames, and ask it only for those not asked before.

        Args:
            name: What is computed, with the parameters it depends on.
            frames: Numbers of frames, each at most once.
            compute: From frame numbers (F,) to values (F, width).
            width: Values of one frame.

        Returns:
            (F, width).
        """
        if name not in self._by_frame:
            self._by_frame[name] = (
                np.zeros(self.frames, np.bool_),
                np.zeros((self.frames, width)),
            )
        known, values = self._by_frame[name]
        new = frames[~known[frames]]
        if len(new):
            values[new] = compute(new)
            known[new] = True
        return values[frames]


class Tracks:
    """Each agent's path over its present frames, gaps bridged straight.

    Attributes:
        shown: (N,), frames each agent is present in.
        start, end: (N, 2), first and last present position, metres; 0 for the never present.
        length: (N,), summed step lengths, metres.
    """

    def __init__(self, clip: Clip) -> None:
        there = clip.present
        self.shown: Ints = there.sum(axis=0)
        comes, goes = there.copy(), there.copy()
        comes[1:] &= ~there[:-1]
        goes[:-1] &= ~there[1:]
        steps = np.hypot(np.diff(clip.x, axis=0), np.diff(clip.y, axis=0))
        self.length: Floats = np.where(there[1:] & there[:-1], steps, 0.0).sum(axis=0)
        # The stays of each agent in order: where each begins and where each ends.
        agent, first = np.nonzero(comes.T)
        _, last = np.nonzero(goes.T)
        begin = np.column_stack((clip.x[first, agent], clip.y[first, agent]))
        end = np.column_stack((clip.x[last, agent], clip.y[last, agent]))
        bridged = agent[1:] == agent[:-1]
        gap = np.hypot(*(begin[1:] - end[:-1])[bridged].T)
        self.length += np.bincount(agent[1:][bridged], weights=gap, minlength=clip.agents)
        self.start: Floats = np.zeros((clip.agents, 2))
        self.end: Floats = np.zeros((clip.agents, 2))
        self.start[agent[::-1]] = begin[::-1]  # of several the first stays, being written last
        self.end[agent] = end
