"""Hold what a release is made of against what dvc.lock records of the stages before it.

hold_inputs(io, city="monaco").recorded
->  [{"path": "data/monaco/checked", "stage": "check", "md5": "15ec4e8a903463d4....dir"}, ...]

DVC writes the entry of each stage before it runs the next one, so in `dvc repro` these are hashes
of the data at hand. No more of the entries is stated than the hashes of what the release reads:
DVC makes it anew whenever one of them changes, but not for each change of code and parameters
before it. So what DVC makes is always the same bytes: under DVC an entry that is missing is an
error, and only a stage that was started by hand may do without. Paper: 4.2.
"""

import os
from typing import NamedTuple

from pipeline.errors import SourceError
from pipeline.hashes import dvc_hash
from pipeline.lockfile import LOCK, read_lock
from pipeline.stages import STAGES, Stage
from pipeline.store import StageIO

_RELEASE = next(stage for stage in STAGES if stage.name == "release")


class Held(NamedTuple):
    """What a release is made of.

    Attributes:
        hashes: Hash of each artifact the release reads, as DVC computes it, by name.
        recorded: The same by path, sorted, with the stage whose entry in dvc.lock records it; None
            where dvc.lock does not record all of them.
    """

    hashes: dict[str, str]
    recorded: list[dict[str, str]] | None


def hold_inputs(io: StageIO, *, city: str) -> Held:
    """Hash what the release of a city reads, and hold it against dvc.lock as far as that goes.

    Raises:
        SourceError: An input is missing, or another than dvc.lock records; or DVC runs the stage
            and has no entry of one before it.
        ParameterError: dvc.lock is no YAML.
    """
    lock = read_lock(io.root)
    hashes, recorded, unknown = {}, [], []
    for name in _RELEASE.reads:
        found = hashes[name] = dvc_hash(io.path(name))
        path, stage = os.path.relpath(io.path(name), io.root), _recorder(name)
        entry = lock.get(f"{stage.name}@{city}")
        remedy = f"run `dvc repro {stage.name}@{city} release@{city}`"
        wanted = entry and _hash_at(path, entry.outs if name in stage.writes else entry.deps)
        if not wanted:
            unknown.append(
                f"{LOCK}: expected {path} in the entry of {stage.name}@{city}, found none; {remedy}"
            )
        elif wanted != found:
            verb = "wrote" if name in stage.writes else "read"
            raise SourceError(
                f"{path}: expected md5 {wanted}, which {LOCK} says that {stage.name}@{city} {verb},"
                f" found {found}; {remedy}"
            )
        recorded.append({"path": path, "stage": stage.name, "md5": found})
    if unknown and "DVC_STAGE" in os.environ:  # DVC sets it for every command of a stage
        raise SourceError(unknown[0])
    return Held(hashes, None if unknown else sorted(recorded, key=lambda one: one["path"]))


def _recorder(name: str) -> Stage:
    """Return the stage that makes an artifact; of traces the first that reads them."""
    makers = [stage for stage in STAGES if name in stage.writes]
    return next(iter(makers), None) or next(stage for stage in STAGES if name in stage.reads)


def _hash_at(path: str, hashes: dict[str, str]) -> str | None:
    """Return the hash of a path that DVC may record as the user wrote it, `./data/x/`."""
    return {os.path.normpath(one): md5 for one, md5 in hashes.items()}.get(path)
