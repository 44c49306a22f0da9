"""STRIDE's own form, `states` of shape (T, N, 7) in an .npz: x, y, vx, vy, goal x, goal y, radius.

    with StatesFile(Path("0001/sim.npz")) as file:
        walk, traps = trajectory_of_states(file.array("states"), dt_s=0.4, absent="zero")

Whoever is at x = y = 0 is absent. Nothing pickled is ever read. Our own files also hold `present`,
`dt_s` and `group`, which other readers of the form pass over.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from pipeline.errors import SourceError
from pipeline.replacing import replaced
from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.importers.npz import NpzFile
from pipeline.stride.trajectories import Trajectory, check_dt, trajectory
from pipeline.stride.traps import FARTHEST, Trap

KEY = "states"
COLUMNS = 7
# Members of our own and of other writers that are no states.
BESIDES = frozenset({"dt_s", "present", "group", "scene", "obstacles"})
# Who is absent: at (0, 0); only where the whole row is 0; where x and y are NaN.
Absent = Literal["zero", "zero_row", "nan"]


class StatesFile(NpzFile):
    """An .npz of states; use as a context manager.

    Raises:
        SourceError: It is no .npz, or holds a member twice.
    """

    def dt_s(self) -> float | None:
        """Return the member `dt_s`; None if there is none.

        Raises:
            SourceError: It is no number of seconds above 0.
        """
        if "dt_s" not in self.keys:
            return None
        values = self.array("dt_s")
        if values.size != 1:
            raise SourceError(f"{self.path}: dt_s: expected one number, found {values.shape}")
        dt_s = float(values.reshape(()))
        check_dt(dt_s, str(self.path))
        return dt_s

    def present(self, shape: tuple[int, ...]) -> Bools | None:
        """Return the member `present` as booleans; None if there is none.

        Raises:
            SourceError: It is not of this shape, or has other numbers than 0 and 1.
        """
        told = self._besides("present", shape)
        if told is None:
            return None
        if not np.isin(told, (0, 1)).all():
            raise SourceError(f"{self.path}: present: expected 0 and 1, found other numbers")
        return np.asarray(told != 0)

    def group(self, shape: tuple[int, ...]) -> Ints | None:
        """Return the member `group`, group numbers; None if there is none.

        Raises:
            SourceError: It is not of this shape, or has numbers that are not whole.
        """
        told = self._besides("group", shape)
        if told is None:
            return None
        if not ((told == np.rint(told)) & (np.abs(told) < FARTHEST)).all():
            raise SourceError(f"{self.path}: group: expected whole numbers, found others")
        return told.astype(np.int64)

    def _besides(self, name: str, shape: tuple[int, ...]) -> Floats | None:
        if name not in self.keys:
            return None
        told = self.array(name)
        if told.shape != shape:
            raise SourceError(
                f"{self.path}: {name}: expected the shape {shape}, found {told.shape}"
            )
        return told

    def holds_pickled_scene(self) -> bool:
        """Tell whether there is a `scene` of pickled objects, as one simulator writes it."""
        return self.holds_pickled("scene")


class StatesRead(NamedTuple):
    """A trajectory and what was suspicious about the way its states say who is absent."""

    walk: Trajectory
    traps: list[Trap]


def trajectory_of_states(
    states: Floats,
    *,
    dt_s: float | None,
    absent: Absent | None,
    present: Bools | None = None,
    group: Ints | None = None,
    where: str = "states",
) -> StatesRead:
    """Read an array of states.

    Args:
        states: (T, N, K): x, y, vx, vy, goal x, goal y, radius. With K below 7 there is no radius,
            below 6 no goal, below 4 no velocity; columns after the seventh are passed over.
        dt_s: Seconds from one frame to the next; None = not known.
        absent: How the absent are marked; None = by x = y = 0, but rows that have something else
            in them are a trap that spoils the positions: they may be people on the origin.
        present: (T, N), who is there, if the file says so itself; then `absent` does not count.
        group: (N,), if the file has it.
        where: Where the array lies, for messages.

    Raises:
        SourceError: The array has no frames, agents and columns, or less than 2 columns.
    """
    if states.ndim != 3 or states.shape[2] < 2:
        raise SourceError(
            f"{where}: expected the shape (T, N, {COLUMNS}), found {states.shape}; put frames"
            " first, then agents, then x, y, vx, vy, goal x, goal y, radius"
        )
    at_origin = (states[:, :, 0] == 0) & (states[:, :, 1] == 0)
    traps = []
    if present is None:
        present = ~_absent(states, at_origin, absent or "zero")
        if absent is None:
            traps = _ambiguous(states, at_origin)
    columns = states.shape[2]
    walk = trajectory(
        states[:, :, :2],
        present,
        dt_s=dt_s,
        velocity=states[:, :, 2:4] if columns >= 4 else None,
        goal=states[:, :, 4:6] if columns >= 6 else None,
        radius=states[:, :, 6] if columns >= COLUMNS else None,
        group=group,
    )
    return StatesRead(walk._replace(frame_of_reference="as the states have it"), traps)


def _absent(states: Floats, at_origin: Bools, absent: Absent) -> Bools:
    match absent:
        case "zero":
            return at_origin
        case "zero_row":
            return np.asarray((states == 0).all(axis=2))
        case "nan":
            return np.asarray(np.isnan(states[:, :, :2]).all(axis=2))


def _ambiguous(states: Floats, at_origin: Bools) -> list[Trap]:
    odd = at_origin & (states[:, :, 2:] != 0).any(axis=2)
    if not odd.any():
        return []
    frame, agent = np.argwhere(odd)[0]
    return [
        Trap(
            "on_the_origin",
            f"positions: x = y = 0 with other columns set in {odd.sum()} agent-frames, the first in"
            f" frame {frame} of agent {agent}: absent, or on the origin? Say which with --absent"
            " zero or --absent zero_row",
            frozenset({"positions"}),
        )
    ]


def states_of_trajectory(walk: Trajectory) -> Floats:
    """Return the (T, N, 7) states of a trajectory, all 0 where absent.

    Raises:
        SourceError: The trajectory has no velocities, goals or radii.
    """
    if walk.velocity is None or walk.goal is None or walk.radius is None:
        missing = [name for name in ("velocity", "goal", "radius") if getattr(walk, name) is None]
        raise SourceError(
            f"states: expected velocity, goal and radius, found no {', '.join(missing)}; derive"
            " velocities from positions, and say where agents head and how wide they are"
        )
    states = np.concatenate(
        (walk.positions, walk.velocity, walk.goal, walk.radius[:, :, None]), axis=2
    )
    return np.where(walk.present[:, :, None], states, 0.0)


def write_states(walk: Trajectory, path: Path, *, key: str = KEY) -> None:
    """Write a trajectory as `states` that any reader of the form reads, and what that form lacks.

    With a scenario's id as key the file is scored as that scenario's.

    `present` tells those on the origin from the absent, `dt_s` the seconds between frames, `group`
    who walks together. The same trajectory gives the same bytes.

    Raises:
        SourceError: As `states_of_trajectory`, or it cannot be written there or under that key.
    """
    if key in BESIDES or key == "file" or "/" in key:
        raise SourceError(
            f"{path}: expected the id of a scenario, found {key!r}, which has a meaning of its own"
            " in such files; give another --id"
        )
    members: dict[str, Any] = {key: states_of_trajectory(walk), "present": walk.present}
    if walk.dt_s is not None:
        members["dt_s"] = np.float64(walk.dt_s)
    if walk.group is not None:
        members["group"] = walk.group
    packed = BytesIO()
    np.savez_compressed(packed, **members)
    with replaced(path) as aside:
        aside.write_bytes(packed.getbuffer())


def read_obstacles(path: Path) -> Floats:
    """Return the walls of a `map.npz`: rows x0, x1, y0, y1 in metres, (n, 4).

    Raises:
        SourceError: There is no such file, or `obstacles` is not of that shape or not finite.
    """
    with StatesFile(path) as file:
        obstacles = file.array("obstacles")
    if obstacles.ndim != 2 or obstacles.shape[1] != 4 or not np.isfinite(obstacles).all():
        raise SourceError(
            f"{path}: obstacles: expected finite rows x0, x1, y0, y1, found {obstacles.shape}"
        )
    return obstacles
