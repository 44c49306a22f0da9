"""What is stale in a version: results that were not made with what lies beside them.

    stale_notes(version, "monaco", writers)
    ->  ["workspace: its scores are of another check; run `dvc repro judge@monaco`"]
    stale_release(version, "monaco")
    ->  ["workspace: its release is older than its check; run `dvc repro release@monaco`"]

What lies in the working tree is held to what dvc.lock records of the runs that read it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.inputs import flat
from pipeline.audit.report import Writer
from pipeline.audit.versions import WORKSPACE, Missing, Version
from pipeline.errors import PipelineError
from pipeline.hashes import dvc_hash
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.lockfile import Locked
from pipeline.params import Parameters
from pipeline.stages import STAGES

_STAGE = "annotate"
# Stages behind the texts: what each reads and writes, and what an audit says where that is another.
_AFTER_TEXTS = (
    ("check", "annotated", "checked", "checks are of other texts"),
    ("judge", "checked", "judged", "scores are of another check"),
)
# From the texts to the release, in the order in which they run.
_TO_RELEASE = ("check", "judge", "select", "account", "release")


def stale_notes(version: Version, city: str, writers: Sequence[Writer]) -> list[str]:
    """Return warnings that a version's results were not made with what lies beside them."""
    lock = version.lock.get(f"{_STAGE}@{city}")
    elsewhere = lock is not None and _differs(version, city, "annotated", lock.outs)
    # What dvc.lock says of a run tells nothing of texts that another run made.
    known = None if elsewhere else lock
    behind = _behind(version, known) if known else _other_prompts(version, writers)
    remedy = f"; run `dvc repro {_STAGE}@{city}`" if version.kind == WORKSPACE else ""
    notes = []
    if behind:
        notes.append(
            f"{version.given}: its texts were not made with the {', '.join(behind)} it holds"
            f"{remedy}"
        )
    if elsewhere:
        notes.append(
            f"{version.given}: its texts are not those that dvc.lock records, so what it records"
            f" of code and data may be of another run{remedy}"
        )
    for stage, reads, writes, results in _AFTER_TEXTS:
        run = version.lock.get(f"{stage}@{city}")
        # Results that dvc.lock does not record may well be of these texts.
        recorded = run is not None and not _differs(version, city, writes, run.outs)
        if run and recorded and _differs(version, city, reads, run.deps):
            notes.append(f"{version.given}: its {results}; run `dvc repro {stage}@{city}`")
    return notes


def stale_release(version: Version, city: str) -> list[str]:
    """Return a warning where the working tree's release was not made of what lies beside it."""
    older = next(_read_otherwise(version, city), "") if version.kind == WORKSPACE else ""
    if not older:
        return []
    return [
        f"{version.given}: its release is older than its {older}; run `dvc repro release@{city}`"
    ]


def _read_otherwise(version: Version, city: str) -> Iterator[str]:
    """Yield the maker of each artifact that a stage of the release read as another one."""
    makers = {
        name: stage.name
        for stage in STAGES
        if stage.name in (_STAGE, *_TO_RELEASE)
        for name in (*stage.writes, f"{stage.name}_rejected")
    }

    @cache
    def now(name: str) -> str:
        """Return the hash of an artifact as it lies there; "" for none."""
        place = version.artifact(city, name)
        return "" if isinstance(place, Missing) else dvc_hash(place)

    def changed(name: str, recorded: Mapping[str, str]) -> bool:
        wanted = recorded.get(f"data/{city}/{ARTIFACTS[name].path}")
        return wanted is not None and now(name) not in ("", wanted)

    for stage in STAGES:
        run = version.lock.get(f"{stage.name}@{city}")
        if stage.name not in _TO_RELEASE or run is None:
            continue
        # Results that dvc.lock does not record may well be of what lies there.
        if not any(changed(name, run.outs) for name in stage.writes):
            yield from (
                makers[name] for name in stage.reads if name in makers and changed(name, run.deps)
            )


def _behind(version: Version, lock: Locked) -> list[str]:
    """Return the prompts and parameters that are not those dvc.lock records for the texts."""
    if version.files is None:
        return []
    found = [
        path
        for path, recorded in lock.deps.items()
        if path.startswith("prompts/")
        and not ((file := version.files / path).exists() and dvc_hash(file) == recorded)
    ]
    parameters = Parameters(version.files)
    for section, value in lock.params.get("params.yaml", {}).items():
        now = parameters.section(section, Any) if section in parameters.shared_keys else None
        found += [f"`{section}` of params.yaml"] if flat(now) != flat(value) else []
    return found


def _other_prompts(version: Version, writers: Sequence[Writer]) -> list[str]:
    """Tell by the hash in the rows whether the prompt files are others; without a dvc.lock."""
    hashes = {one.prompt_hash for one in writers}
    if version.files is None or not (version.files / "prompts" / _STAGE).is_dir():
        return []
    try:
        now = AnnotationPrompt(version.files / "prompts", shots=0).hash
    except PipelineError:
        return []
    return ["prompt files"] if hashes and hashes != {now} else []


def _differs(version: Version, city: str, name: str, recorded: Mapping[str, str]) -> bool:
    """Tell whether an artifact of the workspace is there and is not the recorded one."""
    wanted = recorded.get(f"data/{city}/{ARTIFACTS[name].path}")
    if version.kind != WORKSPACE or wanted is None:
        return False
    found = version.artifact(city, name)
    return not isinstance(found, Missing) and dvc_hash(found) != wanted
