"""A project on disk whose planned trips and cells wait for a model: params, configs, artifacts.

project = AskedProject(tmp_path, [[planned_trip(...)], [...]])     # two shards
project.record({"t1": [nine(1)], "t2": ["no JSON", nine(2)]})      # what the engine will answer
project.run("annotate")
project.rows("annotated")
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import yaml

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.language.annotate import AnnotateSettings, AnnotationRequests
from pipeline.language.narrate import NarrateSettings, NarrationRequests
from pipeline.language.outcome import judge_text
from pipeline.language.prompts import PROMPTS
from pipeline.language.requests import Answer, ModelId, Request
from pipeline.params import Parameters
from pipeline.records import PlannedTrip, Texts
from pipeline.runner import run_stage
from pipeline.schemas import arrow_schema
from pipeline.tables import read_table, write_table
from tests.language.trips import phased_trip, planned_trip, step

CITY = "toy"
RECORDED = {"kind": "recorded", "file": "recorded.jsonl", "model": "toy", "revision": "1"}
TEMPLATE = {"kind": "template"}
# A model that is nowhere: whoever starts it fails. Its answers have the keys of RECORDED's.
ABSENT = {
    "kind": "vllm", "model": "toy", "revision": "1", "dtype": "auto", "max_model_len": 4096,
    "max_num_seqs": 4, "tensor_parallel_size": 1, "quantization": None,
    "gpu_memory_utilization": 0.5, "enforce_eager": True, "chat_template": None,
    "chat_template_kwargs": {}, "window": 8,
}  # fmt: skip
_SAMPLING = {"temperature": 0.5, "top_p": 1.0, "max_tokens": 900}


def trip_called(trip_id: str) -> PlannedTrip:
    """Return a trip over three roads that bear its name."""
    return planned_trip(
        phased_trip(*(step([f"Rua {trip_id} {letter}"]) for letter in "ABC"), trip_id=trip_id)
    )


def nine(mark: object, **changes: str) -> str:
    """Return a good answer; each text tells the mark, the three instructions begin differently."""
    fields = {"_intent_planning": f"plan {mark}", "_retrieval_planning": f"deal {mark}"}
    fields |= {name: f"{name} tells {mark}" for name in Texts.__struct_fields__}
    return json.dumps(fields | changes, ensure_ascii=False)


def good_answer(request: Request, *, engine: Any = "vllm") -> Answer:
    """Return a good answer as a ledger keeps it; its texts tell the item."""
    return Answer(
        key=request.key, attempt=1, item_id=request.item_id, task=request.task, status="ok",
        reason="", text=nine(request.item_id), finish_reason="stop",
        model=ModelId(engine, request.model.model, request.model.revision),
        prompt_tokens=10, output_tokens=5,
    )  # fmt: skip


class AskedProject:
    """A project of one city, `toy`."""

    def __init__(self, root: Path, shards: Sequence[Iterable[PlannedTrip]] = ()) -> None:
        self.root = root
        section = {
            "engine": RECORDED | {"file": str(root / RECORDED["file"])},
            "executor": {"kind": "local"},
            "sampling": _SAMPLING,
            "attempts": 2,
            "most_failed_share": 1.0,
        }
        self.params: dict[str, Any] = {
            "seed": 7,
            "cities": {CITY: {"traces": f"data/{CITY}/raw/traces"}},
            "frozen": [],
            "ledger": {"folder": "store"},
            "annotate": section | {"shots": 0},
            "narrate": section | {"places": 3},
            "seeding": section | {"shots": 0},
        }
        self.config: dict[str, Any] = {"name": "Toy", "language": "pt", "narrate_cells": "all"}
        (root / "configs").mkdir()
        self.save()
        self.trips = [list(shard) for shard in shards]
        for number, shard in enumerate(self.trips):
            self.put("planned", msgspec.to_builtins(shard), f"part-{number:05d}.parquet")

    def save(self) -> None:
        """Write params.yaml and the city's config as they are set now."""
        for file, content in (("params.yaml", self.params), (f"configs/{CITY}.yaml", self.config)):
            (self.root / file).write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")

    def set(self, section: str, **changes: Any) -> None:
        """Change keys of a section of params.yaml."""
        self.params[section] = self.params[section] | changes
        self.save()

    # ---- artifacts ------------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        return artifact_path(ARTIFACTS[name], root=self.root, city=CITY)

    def put(self, name: str, rows: Any, shard: str | None = None) -> None:
        """Write rows of an artifact, or of one of its shards."""
        artifact = ARTIFACTS[name]
        frame = pl.DataFrame(rows, schema=pl.Schema(arrow_schema(str(artifact.schema))))
        file = self.path(name) / shard if shard else self.path(name)
        write_table(frame, file, artifact, shown=file.name)

    def shards(self, name: str) -> list[list[dict[str, Any]]]:
        """Return the rows of an artifact, one list a shard."""
        path = self.path(name)
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        return [read_table(file, ARTIFACTS[name]).to_dicts() for file in files]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [row for shard in self.shards(name) for row in shard]

    def record_of(self, name: str) -> dict[str, Any]:
        """Return a JSON artifact."""
        return dict(json.loads(self.path(name).read_text("utf-8")))

    def bytes_of(self, *names: str) -> dict[str, bytes]:
        """Return the contents of artifacts by file, to compare runs."""
        found = {}
        for name in names:
            path = self.path(name)
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                found[str(file.relative_to(self.root))] = file.read_bytes()
        return found

    # ---- asking ---------------------------------------------------------------------------------

    def annotation_requests(self) -> dict[str, Request]:
        """Return the request of each trip, by its id."""
        settings = Parameters(self.root).section("annotate", AnnotateSettings)
        asker = AnnotationRequests(PROMPTS, settings)
        return {trip.trip_id: asker.request(trip)[0] for part in self.trips for trip in part}

    def narration_requests(self, cells: Iterable[dict[str, Any]]) -> dict[str, Request]:
        """Return the request of each cell, by its id."""
        settings = Parameters(self.root).section("narrate", NarrateSettings)
        asker = NarrationRequests(PROMPTS, settings)
        return {cell["cell"]: asker.request(cell) for cell in cells}

    def record(
        self, requests: dict[str, Request], answers: dict[str, Sequence[str]], *, tokens: int = 5
    ) -> None:
        """Write what the recorded engine answers: the texts of each item's attempts."""
        lines = []
        for item, texts in answers.items():
            for attempt, text in enumerate(texts, start=1):
                reason = "length" if text.endswith("CUT") else "stop"
                row = {"key": requests[item].key, "attempt": attempt, "text": text}
                row |= {"finish_reason": reason, "prompt_tokens": 10, "output_tokens": tokens}
                row["status"], row["reason"] = judge_text(text, reason, requests[item].schema)
                lines.append(json.dumps(row) + "\n")
        (self.root / str(RECORDED["file"])).write_text("".join(lines), "utf-8")

    def run(self, stage: str, *, replay: bool = False) -> None:
        run_stage(stage, CITY, root=self.root, replay=replay)
