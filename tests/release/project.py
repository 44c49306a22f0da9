"""A project whose cities have come as far as selection: account, release and publish run on it.

Raw trip t<k> drives k + 3 segments (see trips.py); what a stage refuses is in its rejections.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.release.loss import LIFE
from pipeline.runner import run_stage
from pipeline.schemas import arrow_schema, schema_document
from tests.release.trips import SCORES, START_S, checked_row, edges_of

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = schema_document("manifest")["examples"][0]


def make_project(root: Path, **cities: Iterable[int]) -> Path:
    """Write a project with these cities and the numbers of their trips; return its root."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    (root / "configs").mkdir(parents=True)
    write_params(root, params, list(cities))
    for city, numbers in cities.items():
        shutil.copy(ROOT / "configs/monaco.yaml", root / f"configs/{city}.yaml")
        lay_city(root, city, list(numbers))
    return root


def write_params(root: Path, params: dict[str, Any], cities: list[str]) -> None:
    """Write params.yaml with these cities, in this order."""
    params["cities"] = {city: {"traces": f"data/{city}/simulated/traces"} for city in cities}
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")


def set_cities(root: Path, cities: list[str]) -> None:
    """Change the cities of a project, and nothing else."""
    write_params(root, yaml.safe_load((root / "params.yaml").read_text("utf-8")), cities)


def lay_city(
    root: Path, city: str, numbers: list[int], refused: dict[str, list[int]] | None = None
) -> None:
    """Write what the stages before the release write.

    Args:
        root: Root of the project.
        city: Key of the city.
        numbers: The raw trips.
        refused: Those that a stage refused, by stage; later stages do not see them.
    """
    left, ids = list(numbers), {}
    rejected = {stage: (refused or {}).get(stage, []) for stage in LIFE}
    for stage in LIFE:
        left = [k for k in left if k not in rejected[stage]]
        ids[stage] = left
        rows = [
            {"item_id": f"t{k}", "stage": stage, "reason": "because", "detail": f"trip {k}"}
            for k in rejected[stage]
        ]
        put(root, city, f"{stage}_rejected", rows)
    checked = {k: checked_row(k) for k in numbers}
    put(root, city, "raw_trips", [{"raw_trip_id": f"t{k}"} for k in numbers])
    put(root, city, "cleaned", [_cleaned(k) for k in ids["ingest"]])
    put(root, city, "matched", [_matched(k) for k in ids["match"]])
    for stage in ("compress", "plan_intents", "annotate", "check"):
        put(root, city, LIFE[stage], [checked[k] for k in ids[stage]])
    put(root, city, "judged", [_judged(k) for k in ids["check"]])
    put(root, city, "selected", [{"trip_id": f"t{k}", "score": 4.5} for k in ids["select"]])
    for name in ("roads", "road_cells", "cells", "names"):
        put(root, city, name, schema_document(str(ARTIFACTS[name].schema))["examples"])
    traces = root / f"data/{city}/simulated/traces/trips.csv"
    traces.parent.mkdir(parents=True, exist_ok=True)
    traces.write_text("".join(f"t{k}\n" for k in numbers), "utf-8")
    for name in ("osm_manifest", "context_manifest"):
        put_json(root, city, name, MANIFEST)
    for name in ("annotation_metrics", "check_metrics", "selection_metrics", "agreement"):
        example = schema_document(str(ARTIFACTS[name].schema))["examples"][0]
        put_json(root, city, name, example | {"city": city})


def put_json(root: Path, city: str, name: str, record: dict[str, Any]) -> None:
    """Write a record of a city."""
    file = place(root, city, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record), "utf-8")


def release(root: Path, *cities: str) -> Path:
    """Run account and release of cities, then publish; return the published folder."""
    for city in cities:
        run_stage("account", city, root=root)
        run_stage("release", city, root=root)
    run_stage("publish", None, root=root)
    return root / "data/release"


def place(root: Path, city: str, name: str) -> Path:
    return artifact_path(ARTIFACTS[name], root=root, city=city)


def put(root: Path, city: str, name: str, rows: list[dict[str, Any]]) -> None:
    """Write a table; columns that no test asks about are filled in."""
    schema = arrow_schema(str(ARTIFACTS[name].schema))
    filled = [{f.name: row.get(f.name, _nothing(f.type)) for f in schema} for row in rows]
    for row in filled:
        for field in schema:
            if pa.types.is_binary(field.type):
                row[field.name] = bytes.fromhex(row[field.name])
    path = place(root, city, name)
    file = path / "part-00000.parquet" if ARTIFACTS[name].form == "shards" else path
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(filled, schema=schema), file)


def read(folder: Path, task: str) -> pl.DataFrame:
    """Read a task of a published city, all splits."""
    return pl.concat([pl.read_parquet(file) for file in sorted((folder / task).glob("*.parquet"))])


def _nothing(kind: pa.DataType) -> Any:
    if pa.types.is_list(kind):
        return []
    if pa.types.is_struct(kind):
        return {field.name: _nothing(field.type) for field in kind}
    if pa.types.is_boolean(kind):
        return False
    return "" if pa.types.is_string(kind) else 0


def _cleaned(k: int) -> dict[str, Any]:
    return {"trip_id": f"t{k}", "raw_trip_id": f"t{k}", "simulated": True}


def _matched(k: int) -> dict[str, Any]:
    times = [START_S + n for n in range(k + 3)]
    edges = edges_of(k)
    return {
        "trip_id": f"t{k}", "cleaned_trip_id": f"t{k}", "edge_ids": edges, "t_enter_s": times,
        "off_from_m": 12.5, "off_to_m": 40.0,
    }  # fmt: skip


def _judged(k: int) -> dict[str, Any]:
    rules = {"engine": "rules", "model": "rules", "revision": "1", "prompt_hash": None}
    return {"trip_id": f"t{k}", **rules, "scores": SCORES}
