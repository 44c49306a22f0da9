"""A small project in git and DVC whose versions differ by design: `v1`, `v2` and the working tree.

project = Project(tmp_path)
project.write("monaco", [told(trip), ...])     # annotated trips as they would have been made
project.keep("v1")                             # dvc commit, git commit, tag
"""

import copy
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import yaml

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.prompts import PROMPTS
from pipeline.records import PlannedTrip, Texts
from pipeline.schemas import arrow_schema
from pipeline.tables import write_table
from tests.language.asked_project import TEMPLATE, trip_called

FIELDS = Texts.__struct_fields__
SECTION = {
    "engine": TEMPLATE,
    "executor": {"kind": "local"},
    "sampling": {"temperature": 0.5, "top_p": 1.0, "max_tokens": 900},
    "shots": 0,
    "attempts": 2,
    "most_failed_share": 1.0,
}
CODE = "pipeline/language/prompts.py"
# What DVC keeps of a city, by the stage that makes it.
OUTS = {
    "plan_intents": ["planned", "plan_intents_rejected"],
    "annotate": ["annotated", "annotate_rejected"],
    "check": ["checked", "check_rejected"],
    "judge": ["judged"],
}
READS = {"check": ["annotated"], "judge": ["checked"]}


def told(
    trip: PlannedTrip | str,
    mark: object = "",
    /,
    *,
    texts: Mapping[str, str] | None = None,
    **provenance: Any,
) -> dict[str, Any]:
    """Return an annotated trip; each text tells field, trip and mark, but for those given."""
    planned = trip_called(trip) if isinstance(trip, str) else trip
    written = {field: f"{field} of {planned.trip_id} {mark}".strip() for field in FIELDS}
    source = {
        "engine": "vllm", "model": "toy", "revision": "1", "prompt_hash": "a" * 64, "shots": [],
        "response_key": "b" * 64, "attempt": 1,
    }  # fmt: skip
    return msgspec.to_builtins(planned) | {
        "texts": written | dict(texts or {}),
        "provenance": source | provenance,
    }


def refused(
    trip_id: str, reason: str, stage: str = "annotate", detail: str = "d"
) -> dict[str, str]:
    return {"item_id": trip_id, "stage": stage, "reason": reason, "detail": detail}


def checked(row: Mapping[str, Any], *, names: int = 0, rules: Iterable[tuple[str, str]] = ()):
    """Return a checked trip: so many grounded names in its caption, and findings (field, rule)."""
    mention = {
        "start": 0, "end": 1, "text": "x", "kind": "road", "verdict": "grounded", "name": "x",
        "phase": 0, "id": "", "lon": None, "lat": None, "method": "exact",
    }  # fmt: skip
    finding = {"stage": "grounding", "start": 0, "end": 1, "detail": "d", "action": "flag"}
    return dict(row) | {
        "mentions": [mention | {"field": "trajectory_caption"}] * names,
        "claims": [],
        "repairs": [],
        "findings": [finding | {"field": field, "rule": rule} for field, rule in rules],
    }


def judged(trip_id: str, score: int | None, **changes: Any) -> dict[str, Any]:
    """Return a verdict that gives one score to every criterion."""
    names = schema_properties("judged_trip", "scores")
    return {
        "trip_id": trip_id, "engine": "rules", "model": "rules", "revision": "1",
        "prompt_hash": None, "shown": [], "scores": dict.fromkeys(names, score),
        "rationales": dict.fromkeys(("instructions", "queries", "caption"), ""),
        "status": "ok", "reason": "", "attempts": 1, "response_key": None,
    } | changes  # fmt: skip


def schema_properties(name: str, key: str) -> list[str]:
    return [field.name for field in arrow_schema(name).field(key).type]


class Project:
    """A project with prompts, parameters, two cities and their texts."""

    def __init__(self, root: Path, cities: Iterable[str] = ("monaco",)) -> None:
        self.root = root
        self.params: dict[str, Any] = {
            "seed": 7,
            "cities": {city: {"traces": f"data/{city}/raw/traces"} for city in cities},
            "frozen": [],
            "ledger": {"folder": "store"},
            "annotate": SECTION,
        }
        shutil.copytree(PROMPTS, root / "prompts")
        (root / "configs").mkdir()
        for city in cities:
            (root / f"configs/{city}.yaml").write_text(f"name: {city}\n", "utf-8")
        (root / CODE).parent.mkdir(parents=True)
        (root / CODE).write_text("# the program\n", "utf-8")
        (root / ".gitignore").write_text("/data/\n/store/\n", "utf-8")
        self.save()
        self._environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        }
        self.git("init", "-q")
        self.run("dvc", "init", "-q")

    def copied(self, root: Path) -> "Project":
        """Return a copy of the project in another folder."""
        shutil.copytree(self.root, root, symlinks=True)
        other = copy.copy(self)
        other.root = root
        return other

    def save(self) -> None:
        (self.root / "params.yaml").write_text(
            yaml.safe_dump(self.params, sort_keys=False), "utf-8"
        )

    def set(self, section: str, **changes: Any) -> None:
        self.params[section] = self.params[section] | changes
        self.save()

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    @property
    def prompt_hash(self) -> str:
        return AnnotationPrompt(self.root / "prompts", shots=0).hash

    # ---- artifacts -----------------------------------------------------------------------------

    def path(self, city: str, name: str) -> Path:
        return artifact_path(ARTIFACTS[name], root=self.root, city=city)

    def put(self, city: str, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rows of an artifact; shards go to one file."""
        artifact = ARTIFACTS[name]
        frame = pl.DataFrame(list(rows), schema=pl.Schema(arrow_schema(str(artifact.schema))))
        path = self.path(city, name)
        file = path / "part-00000.parquet" if artifact.form == "shards" else path
        write_table(frame, file, artifact, shown=file.name)

    def write(
        self, city: str, rows: Iterable[Mapping[str, Any]], rejected: Iterable[Any] = ()
    ) -> None:
        """Write annotated trips, and those without texts."""
        self.put(city, "annotated", rows)
        self.put(city, "annotate_rejected", rejected)

    # ---- git and DVC ---------------------------------------------------------------------------

    def keep(self, tag: str) -> None:
        """Record everything as the pipeline would have: DVC's cache and lock, a commit, a tag."""
        cities = self.params["cities"]
        stages = {}
        for stage, names in OUTS.items():
            there = [name for name in names if self._all_have(name)]
            read = [
                f"data/${{key}}/{ARTIFACTS[name].path}"
                for name in READS.get(stage, [])
                if self._all_have(name)
            ]
            if there:
                body = {
                    "cmd": f"python -m pipeline run {stage} ${{key}}",
                    "deps": ["prompts/annotate", "prompts/vocabulary.yaml", CODE, *read],
                    "params": ["annotate"],
                    "outs": [f"data/${{key}}/{ARTIFACTS[name].path}" for name in there],
                }
                stages[stage] = {"foreach": {city: {} for city in cities}, "do": body}
        document = {"stages": stages}
        (self.root / "dvc.yaml").write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        self.run("dvc", "commit", "-q", "-f")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", tag)
        self.git("tag", tag)

    def _all_have(self, name: str) -> bool:
        return name in ARTIFACTS and all(
            self.path(city, name).exists() for city in self.params["cities"]
        )

    def run(self, *command: str, expect: int = 0) -> str:
        done = subprocess.run(
            command, cwd=self.root, env=self._environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert done.returncode == expect, done.stdout[-3000:]
        return done.stdout

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]
        return self.run("git", *who, *arguments)

    def state(self) -> dict[str, bytes]:
        """Return every file of the working tree, without what git and DVC keep for themselves."""
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and not {".git", ".dvc"} & set(file.relative_to(self.root).parts)
        }
