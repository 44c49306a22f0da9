"""What the stages wrote last, and whether it is still that, to the byte.

    Written(root).hold(root / "data/stride/benchmark.json")
    ->  SourceError: data/stride/benchmark.json: expected md5 5f2c..., which dvc.lock says that
        stride_lint wrote, found 81d0...: it is damaged or was changed by hand; rebuild it with
        `dvc repro -sf stride_lint`, or keep it with `dvc commit stride_lint`

Parquet files have checksums of their own (`seals`). All else is held to two records: dvc.lock,
which comes with a checkout, and data/.written/<run>.json, which each run leaves, as DVC does not
hear of those started by hand. What either says is sound, and so is a text that differs in the ends
of its lines alone, as git may leave it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import SourceError
from pipeline.hashes import dvc_hash, hash_of_list, hashes_in, same_text
from pipeline.lockfile import LOCK, read_lock
from pipeline.replacing import replace_text

FOLDER = ".written"


class _Recorded(NamedTuple):
    """What one record says of a path: which run wrote it, and its hash.

    `files` has the hash of each file of a folder by its path from there, of a file its own as "".
    It is empty where a folder's list is not known.
    """

    record: str
    run: str
    md5: str
    files: Mapping[str, str]


def note_written(root: Path, run: str, paths: Iterable[Path]) -> None:
    """Record what a run has just written: the hash of each file, or of each file of a folder."""
    found = {os.path.relpath(path, root): _hashes_at(path) for path in paths}
    if found:
        text = json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True)
        replace_text(root / "data" / FOLDER / f"{run}.json", text + "\n")


class Written:
    """What the records of a project say; each is read when it is first needed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sound: set[Path] = set()

    @cached_property
    def _noted(self) -> dict[str, _Recorded]:
        found = {}
        for file in sorted((self._root / "data" / FOLDER).glob("*.json")):
            record, run = os.path.relpath(file, self._root), file.stem
            try:
                for path, files in json.loads(file.read_text("utf-8")).items():
                    md5 = files[""] if "" in files else hash_of_list(files)
                    found[path] = _Recorded(record, run, md5, files)
            except (OSError, ValueError, TypeError, AttributeError) as fault:
                raise SourceError(
                    f"{record}: expected the hashes that a run wrote, found {fault}; remove it"
                ) from fault
        return found

    @cached_property
    def _locked(self) -> dict[str, _Recorded]:
        return {
            os.path.normpath(path): _Recorded(
                LOCK, run, md5, {} if md5.endswith(".dir") else {"": md5}
            )
            for run, stage in read_lock(self._root).items()
            for path, md5 in stage.outs.items()
            if md5
        }

    def _records_of(self, shown: str) -> Iterator[_Recorded]:
        if shown in self._noted:
            yield self._noted[shown]
        if shown in self._locked:  # a long file: it is read when it must be
            yield self._locked[shown]

    def paths(self) -> list[Path]:
        """Return what is recorded and lies there, but for Parquet files and folders of them."""
        places = [self._root / path for path in sorted({*self._noted, *self._locked})]
        return [place for place in places if place.exists() and not _is_sealed(place)]

    def hold(self, path: Path) -> None:
        """Compare a file or folder with its records; one that no record names passes.

        Raises:
            SourceError: It is another than each of them says; names the files of a folder.
            ParameterError: dvc.lock is no YAML.
        """
        faults = list(self.faults(path).values())
        if faults:
            raise SourceError(faults[0], more="\n".join(faults[1:]))

    def faults(self, path: Path) -> dict[Path, str]:
        """Return a message on each file that is another than recorded; of a folder, on each in it.

        Raises:
            SourceError: A record of a run is damaged itself.
            ParameterError: dvc.lock is no YAML.
        """
        if path in self._sound:
            return {}
        now: dict[str, str] = {}
        others = []
        for said in self._records_of(os.path.relpath(path, self._root)):
            now = now or _hashes_at(path)
            if said.md5 == (now.get("") or hash_of_list(now)) or same_text(path, said.md5):
                self._sound.add(path)
                return {}
            others.append(self._differences(path, now, said))
        # What differs least was damaged; the other record is of another run.
        return min(others, key=lambda found: (path in found, len(found)), default={})

    def _differences(self, path: Path, now: Mapping[str, str], said: _Recorded) -> dict[Path, str]:
        files = said.files or _list_in_cache(self._root, said.md5)
        if not files:
            files, now = {"": said.md5}, {"": hash_of_list(now)}
        return {
            path / name: _fault(
                os.path.relpath(path / name, self._root), said, files.get(name), now.get(name)
            )
            for name in sorted({*files, *now})
            if files.get(name) != now.get(name)
        }


def _hashes_at(path: Path) -> dict[str, str]:
    return hashes_in(path) if path.is_dir() else {"": dvc_hash(path)}


def _fault(shown: str, said: _Recorded, wanted: str | None, found: str | None) -> str:
    expected = f"md5 {wanted}" if wanted else "no such file"
    what = f"{found}: it is damaged or was changed by hand" if found else "nothing"
    return (
        f"{shown}: expected {expected}, which {said.record} says that {said.run} wrote, found"
        f" {what}; rebuild it with `dvc repro -sf {said.run}`, or keep it with `dvc commit"
        f" {said.run}`"
    )


def _is_sealed(place: Path) -> bool:
    files: Iterator[Path] = place.rglob("*") if place.is_dir() else iter([place])
    return all(file.suffix == ".parquet" for file in files if file.is_file())


def _list_in_cache(root: Path, md5: str) -> dict[str, str]:
    """Return the files of a folder that DVC's cache lists under a hash; none where it does not."""
    command = [sys.executable, "-m", "dvc", "cache", "dir"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    file = Path(root, done.stdout.strip() or ".dvc/cache", "files", "md5", md5[:2], md5[2:])
    try:
        files = {one["relpath"]: one["md5"] for one in json.loads(file.read_text("utf-8"))}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return files if hash_of_list(files) == md5 else {}
