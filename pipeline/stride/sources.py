"""Where trajectories of scenarios come from: an .npz with a key each, a folder each, or memory.

    with open_source(Path("states.npz"), settings=settings) as source:
        source.ids             ->  ("0000", "0001", ...)
        source.read("0000")    ->  StatesRead(walk, traps)

Ids are compared in one form of Unicode, so that a folder `Châtelet` is found whoever wrote it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Bools, Floats, Ints
from pipeline.stride.benchmark import folded
from pipeline.stride.importers.states import (
    BESIDES,
    COLUMNS,
    KEY,
    Absent,
    StatesFile,
    StatesRead,
    trajectory_of_states,
)
from pipeline.stride.trajectories import Trajectory, check_dt, resampled, with_derived_velocity
from pipeline.stride.traps import Trap, traps_of

Mode = Literal["reference", "strict"]
MODES: tuple[Mode, ...] = ("reference", "strict")
# The names a scenario's file may have in its folder; the first that is there counts.
FILE_NAMES = ("sim.npz", "subsample_sim.npz")


class Settings(NamedTuple):
    """How states are read.

    Attributes:
        mode: `reference` reads them as the published scorer does and takes no other settings but
            dt_s.
        dt_s: Seconds from one frame to the next, instead of what a file says; None = the file's.
        absent: How the absent are marked; None = by x = y = 0, doubtful rows being a trap.
        velocity: Whether velocities are those of the columns or derived from positions.
        resample_dt_s: Seconds between frames to resample to; None = as they are.
    """

    mode: Mode
    dt_s: float | None = None
    absent: Absent | None = None
    velocity: Literal["columns", "positions"] = "columns"
    resample_dt_s: float | None = None


class Source(Protocol):
    """Trajectories by scenario id."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids there are trajectories of, in their one form of Unicode."""

    def read(self, scenario_id: str) -> StatesRead:
        """Read one trajectory.

        Raises:
            SourceError: It is not there or cannot be read.
        """


class MemorySource:
    """Trajectories that are there already, such as a generator's."""

    def __init__(self, walks: Mapping[str, Trajectory]) -> None:
        self._walks = {folded(name): walk for name, walk in walks.items()}
        self.ids = tuple(self._walks)

    def read(self, scenario_id: str) -> StatesRead:
        """Return one trajectory and what is suspicious about it."""
        walk = self._walks[folded(scenario_id)]
        return StatesRead(walk, traps_of(walk))


class NpzSource:
    """An .npz with an array of states under each scenario's id, or one of a scenario that is named.

    Raises:
        SourceError: One id is there twice, or there are several arrays for the one scenario.
    """

    def __init__(self, file: StatesFile, settings: Settings, *, only: str | None) -> None:
        self._file, self._settings = file, settings
        keys = [key for key in file.keys if key not in BESIDES]
        self._alone = len(keys) == 1
        self._keys = _by_id(keys, where=str(file.path))
        if only is not None:
            self._keys = {folded(only): only_key(file)}
        self.ids = tuple(self._keys)

    def read(self, scenario_id: str) -> StatesRead:
        """Read the array of a scenario; `present` of the file is not for several arrays."""
        key = self._keys[folded(scenario_id)]
        if self._alone:
            return read_file(self._file, key, settings=self._settings)
        where = f"{self._file.path}: {key}"
        dt_s = self._file.dt_s()
        return read_states(self._file.array(key), dt_s, settings=self._settings, where=where)


def only_key(file: StatesFile) -> str:
    """Return the key of the only array of states, or of the one that has the usual name.

    Raises:
        SourceError: There is none, or several.
    """
    keys = [key for key in file.keys if key not in BESIDES]
    if KEY in keys:
        return KEY
    if len(keys) != 1:
        raise SourceError(
            f"{file.path}: expected one array or one named {KEY!r}, found {len(keys)}:"
            f" {', '.join(keys[:10])}; choose one with --key"
        )
    return keys[0]


class FolderSource:
    """A folder with a folder for each scenario, named by its id, with sim.npz in it.

    Raises:
        SourceError: There is none, or one twice in two forms of Unicode.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._settings = settings
        found = {
            path.name: path / name
            for path in sorted(folder.iterdir())
            for name in reversed(FILE_NAMES)
            if (path / name).is_file()
        }
        if not found:
            raise SourceError(
                f"{folder}: expected folders ID/{FILE_NAMES[0]}, found none; name the folder that"
                " holds them"
            )
        self._files = {
            name: found[own] for name, own in _by_id(list(found), where=str(folder)).items()
        }
        self.ids = tuple(self._files)

    def read(self, scenario_id: str) -> StatesRead:
        """Read the file of a scenario."""
        with StatesFile(self._files[folded(scenario_id)]) as file:
            return read_file(file, KEY, settings=self._settings)


def _by_id(names: list[str], *, where: str) -> dict[str, str]:
    by_id: dict[str, str] = {}
    for name in names:
        if folded(name) in by_id:
            raise SourceError(
                f"{where}: expected each scenario once, found {name!r} again in another form of"
                " Unicode; rename one of them"
            )
        by_id[folded(name)] = name
    return by_id


@contextmanager
def open_source(path: Path, *, settings: Settings, only: str | None = None) -> Iterator[Source]:
    """Open an .npz or a folder of trajectories.

    Args:
        path: The file or folder.
        settings: How to read.
        only: The scenario that the file's only array is of, whatever its key; None = keys are ids.

    Raises:
        SourceError: It is neither, or the settings do not go with the mode, or a folder or several
            arrays are said to be of one scenario.
    """
    check_settings(settings)
    if path.is_dir() and only is not None:
        raise SourceError(
            f"{path}: expected one file of states with --id, found a folder; its folders name the"
            " scenarios, leave --id out"
        )
    if path.is_dir():
        yield FolderSource(path, settings)
    elif path.is_file():
        with StatesFile(path) as file:
            yield NpzSource(file, settings, only=only)
    else:
        raise SourceError(
            f"{path}: expected an .npz of states, or a folder of ID/sim.npz, found nothing; name"
            " one with --states"
        )


def check_settings(settings: Settings) -> None:
    """Raise SourceError for times that are none, and for what reference mode does not do."""
    check_dt(settings.dt_s, "--dt")
    check_dt(settings.resample_dt_s, "--resample")
    asked = settings._replace(mode="strict", dt_s=None)
    if settings.mode == "reference" and asked != Settings(mode="strict"):
        raise SourceError(
            "--mode reference: expected no --absent, --velocity or --resample, found one of them;"
            " the published scorer takes states as they are, use --mode strict"
        )


def read_file(file: StatesFile, key: str, *, settings: Settings) -> StatesRead:
    """Read one array of states with what the file itself says of presence, time and groups.

    Raises:
        SourceError: The array or what belongs to it is not there or not of the right shape.
    """
    own = settings.mode == "strict"
    states = file.array(key)
    shape = states.shape
    read = read_states(
        states,
        file.dt_s(),
        settings=settings,
        present=file.present(shape[:2]) if own and settings.absent is None else None,
        group=file.group(shape[1:2]) if own else None,
        where=f"{file.path}: {key}",
    )
    if file.holds_pickled_scene():
        words = "scene: a pickled object, passed over: reading it could run somebody's program"
        return read._replace(traps=[*read.traps, Trap("pickled", words)])
    return read


def read_states(
    states: Floats,
    dt_s: float | None,
    *,
    settings: Settings,
    present: Bools | None = None,
    group: Ints | None = None,
    where: str = "states",
) -> StatesRead:
    """Read an array of states as the settings say.

    Args:
        states: (T, N, 7); in reference mode also fewer or more columns.
        dt_s: What the file says; the settings have the last word.
        settings: How to read.
        present: (T, N), who is there, if the file says so itself.
        group: (N,), if the file has it.
        where: Where the array lies, for messages.

    Raises:
        SourceError: The array is not of the right shape.
    """
    if settings.mode == "strict" and (states.ndim != 3 or states.shape[2] != COLUMNS):
        raise SourceError(
            f"{where}: expected the shape (T, N, {COLUMNS}), found {states.shape}; put frames"
            " first, then agents, then x, y, vx, vy, goal x, goal y, radius"
        )
    absent: Absent | None = "zero" if settings.mode == "reference" else settings.absent
    walk, traps = trajectory_of_states(
        states,
        dt_s=settings.dt_s or dt_s,
        absent=absent,
        present=present,
        group=group,
        where=where,
    )
    with np.errstate(all="ignore"):  # what is not finite is a trap below
        if settings.velocity == "positions":
            walk = walk._replace(velocity=None)
        if settings.resample_dt_s is not None:
            walk = resampled(walk, dt_s=settings.resample_dt_s)
        if settings.velocity == "positions":
            walk = with_derived_velocity(walk)
    return StatesRead(walk, [*traps, *traps_of(walk)])
