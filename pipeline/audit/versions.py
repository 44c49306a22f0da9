"""The two versions that are compared: a git revision, the working tree, or a folder with a copy.

    with open_version(root, "HEAD~1") as before:
        before.artifact("monaco", "annotated")  ->  a folder that lives as long as the block
        before.artifact("monaco", "judged")     ->  Missing("dvc.lock of HEAD~1 records no ...")

The data of a revision are the outputs its dvc.lock records. DVC brings them from the repository's
own cache or its remote to a temporary folder; nothing in the working tree changes.
"""

import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.lockfile import LOCK, Locked, read_lock
from pipeline.params import Parameters

WORKSPACE: Final = "workspace"
# What decides data and stands in git.
_IN_GIT = ("prompts", "params.yaml", "configs", "schemas", LOCK)

# What tells a folder to be a city's: its texts, its release, or, in a published one, the latter's.
_OF_CITY = ("annotated", "release", "generation")
# The same of a city's own folder; a folder of cities may hold `release`, the published one, too.
_OWN = ("annotated", "release/generation")
# A published city that stands alone says here whose it is.
_CONTENTS = "contents.json"

Kind = Literal["revision", "workspace", "folder"]


# Brings a path of the project, as a revision has it, to a place; tells whether that went well.
Fetch = Callable[[str, Path], bool]


class Missing(NamedTuple):
    """Why a version has not what was asked for, and the command that brings it if there is one."""

    why: str


class Version:
    """One side of a comparison.

    Attributes:
        given: As the user named it.
        kind: What that is.
        commit: The commit of a revision; "" else.
        files: Folder with prompts/, params.yaml, configs/, schemas/ and dvc.lock, as far as the
            version has them; None where only data were kept.
        data: Folder with a folder for each city; a revision's fills as its data are asked for.
        alone: The one city whose own folder `data` is; "" where it holds a folder for each.
    """

    def __init__(
        self,
        given: str,
        kind: Kind,
        *,
        files: Path | None,
        data: Path,
        commit: str = "",
        fetch: Fetch | None = None,
        alone: str = "",
    ) -> None:
        """Keep where things lie.

        Args:
            given: As the user named it.
            kind: What that is.
            files: See the attribute.
            data: See the attribute.
            commit: See the attribute.
            fetch: Brings what `data` has not; None where nothing can be brought.
            alone: See the attribute.
        """
        self.given, self.kind, self.files, self.commit = given, kind, files, commit
        self.data, self._fetch, self.alone = data, fetch, alone
        self._missing: dict[Path, Missing] = {}

    @cached_property
    def lock(self) -> dict[str, Locked]:
        """Return what its dvc.lock records; nothing where it has none."""
        return {} if self.files is None else read_lock(self.files)

    @property
    def cities(self) -> list[str]:
        """Return its cities: those of params.yaml, else the folders with texts or a release."""
        if self.alone:
            return [self.alone]
        if self.files is not None and (self.files / "params.yaml").is_file():
            return list(Parameters(self.files).cities)
        held = {file.parent.name for name in _OF_CITY for file in self.data.glob(f"*/{name}")}
        return sorted(held)

    def why_without(self, city: str) -> str:
        """Tell where one of its cities would stand, for a message on a city it has not."""
        if not self.alone and self.files is not None and (self.files / "params.yaml").is_file():
            return f"`cities:` in params.yaml of {self.given} names no {city}"
        return f"{self.given} has no texts or release of it"

    def folder(self, city: str) -> Path:
        """Return where the data of a city lie."""
        return self.data if city == self.alone else self.data / city

    def artifact(self, city: str, name: str) -> Path | Missing:
        """Return where an artifact of a city lies, or why it does not."""
        path = self.folder(city) / ARTIFACTS[name].path
        if not path.exists() and path not in self._missing:
            missing = self._bring(f"data/{city}/{ARTIFACTS[name].path}", path)
            if missing is not None:
                self._missing[path] = missing
        return self._missing.get(path, path)

    def _bring(self, shown: str, target: Path) -> Missing | None:
        """Fetch what lies elsewhere; return why it cannot be had."""
        if self._fetch is None:
            how = f"; run `dvc pull {shown}` or `dvc repro`" if self.kind == WORKSPACE else ""
            return Missing(f"{self.given} has no {shown}{how}")
        if not any(shown in stage.outs for stage in self.lock.values()):
            return Missing(f"{LOCK} of {self.given} records no {shown}")
        if self._fetch(shown, target):
            return None
        return Missing(
            f"{shown} of {self.given} is neither in DVC's cache nor in its remote; run"
            f" `dvc fetch --all-commits {shown}`"
        )


@contextmanager
def open_version(root: Path, given: str) -> Iterator[Version]:
    """Find a version by its name; what is fetched for it lives as long as the block.

    Args:
        root: Root of the project.
        given: `workspace`, a git revision, or a folder: a project, its data/, a copy of it with
            <city>/annotated, a published release, or the folder of one city in any of these.

    Raises:
        SourceError: There is no such version, or the name means two things, or the folder holds no
            city.
    """
    check_known(root, given)
    commit, path = _commit(root, given), Path(given)
    if given == WORKSPACE:
        yield Version(given, WORKSPACE, files=root, data=root / "data")
    elif commit and path.exists() and not given.startswith((".", "/")):
        raise SourceError(
            f"{given}: expected one version, found a git revision and a file or folder of this"
            f" name; write refs/tags/{given} or refs/heads/{given}, or ./{given}"
        )
    elif commit:
        with tempfile.TemporaryDirectory(prefix="revision-") as scratch:
            _extract(root, commit, Path(scratch, "files"))
            yield Version(
                given,
                "revision",
                files=Path(scratch, "files"),
                data=Path(scratch, "data"),
                commit=commit,
                fetch=_from_dvc(root, commit),
            )
    elif path.is_dir():
        yield _folder(given, path)
    else:
        raise _none_of_these(given)


def check_known(root: Path, given: str) -> None:
    """Raise SourceError for a name that is neither a version nor a path."""
    there = given and (given == WORKSPACE or Path(given).exists() or _commit(root, given))
    if not there:
        raise _none_of_these(given or "''")


def _none_of_these(given: str) -> SourceError:
    return SourceError(
        f"{given}: expected `workspace`, a git revision or a folder with a copy of the data,"
        " found none of these; name one that `git log` shows, or a path that is there"
    )


def _from_dvc(root: Path, commit: str) -> Fetch:
    """Return what brings the data that a commit records, from DVC's cache or remote."""

    @cache
    def recorded() -> Any:
        from dvc.api import DVCFileSystem  # noqa: PLC0415 - slow import

        return DVCFileSystem(str(root), rev=commit)  # reads all of dvc.yaml and dvc.lock

    def fetch(path: str, target: Path) -> bool:
        from dvc.exceptions import DvcException  # noqa: PLC0415
        from dvc_data.index import DataIndexError  # noqa: PLC0415

        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            recorded().get(path, str(target), recursive=True)
        except (OSError, DataIndexError, DvcException):
            return False
        return target.exists()

    return fetch


def _folder(given: str, path: Path) -> Version:
    """Tell a project, its data/, a folder of cities, and the folder of one city apart."""
    inside = path / "data"
    if inside.is_dir():
        # A copy of data/ alone says nothing of prompts and parameters: they are not known.
        known = any((path / name).exists() for name in _IN_GIT)
        return Version(given, "folder", files=path if known else None, data=inside)
    if (path / _CONTENTS).is_file():
        return Version(given, "folder", files=None, data=path, alone=_city_in(path / _CONTENTS))
    place = path.resolve()
    if place.name == "release" and (place / "generation").is_dir():
        place = place.parent
    if any((place / name).is_dir() for name in _OWN):
        files = _project_of(place.parent)
        return Version(given, "folder", files=files, data=place, alone=place.name)
    found = Version(given, "folder", files=_project_of(place), data=path)
    if not found.cities:
        raise SourceError(
            f"{given}: expected a project, its data/, a copy of data/, a published release, or the"
            " folder of one city in one of these, found a folder without any city; name another"
        )
    return found


def _project_of(data: Path) -> Path | None:
    """Return the project that a folder is the data/ of; None where it is no such folder."""
    beside = data.name == "data" and (data.parent / "params.yaml").is_file()
    return data.parent if beside else None


def _city_in(contents: Path) -> str:
    """Return the city that a published folder says it is of."""
    try:
        record = json.loads(contents.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SourceError(f"{contents}: expected JSON, found {fault}; copy it again") from fault
    city = record.get("city") if isinstance(record, dict) else None
    if not isinstance(city, str) or not city:
        raise SourceError(f"{contents}: city: expected the key of a city, found {city!r}")
    return city


def _commit(root: Path, given: str) -> str:
    """Return the commit a name stands for; "" for none."""
    if given.startswith("-"):
        return ""
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{given}^{{commit}}")
    return "" if found is None else found.decode().strip()


def _extract(root: Path, commit: str, folder: Path) -> None:
    """Write what a commit holds of `_IN_GIT` to a folder."""
    folder.mkdir()
    listed = _git(root, "ls-tree", "-z", "--name-only", commit, "--", *_IN_GIT) or b""
    paths = [path for path in listed.decode().split("\0") if path]
    archive = _git(root, "archive", "--format=tar", commit, "--", *paths) if paths else None
    if archive is not None:
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(folder, filter="data")


def _git(root: Path, *arguments: str) -> bytes | None:
    """Return what git prints; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
