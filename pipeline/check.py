"""Look a city over before any heavy work: what is missing, what is suspicious, how long it takes.

    warning  unnamed roads: expected at most 40 %, found 63 %; set `network.service_roads: false`
    info     raw traces: found 999 rows, 47,280 points in 1 file; about 2 s to ingest

The ground (extract, context, roads, cells) is rehearsed in a scratch folder when it has not been
built yet and its source is at hand; nothing is written into the project.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.city.context import OvertureSource
from pipeline.city.diagnose import bbox_in_order, diagnose_ground, diagnose_place
from pipeline.city.sources import FileSource, OverpassSource, RoadmapSource, pinned_file
from pipeline.errors import ParameterError, PipelineError
from pipeline.findings import Finding
from pipeline.params import Parameters
from pipeline.runner import check_keys, stage_arguments, stage_function, stage_named
from pipeline.stages import STAGES
from pipeline.store import StageIO
from pipeline.tables import read_table
from pipeline.trips.diagnose import diagnose_traces
from pipeline.trips.provenance import check_credit, check_folder, simulated_folder

# Roads before context: a context that is missing, or to be downloaded, hides nothing of the roads.
GROUND = ("pull_osm", "roads", "pull_context", "cells")
_ORDER = {"error": 0, "warning": 1, "info": 2}


def check_city(city: str, *, root: Path) -> list[Finding]:
    """Return what is missing or suspicious about a city, worst first.

    Args:
        city: Name of configs/<city>.yaml; it need not stand under `cities:` yet.
        root: Root of the project.

    Raises:
        ParameterError: There is no readable params.yaml or configs/<city>.yaml at all.
    """
    parameters = Parameters(root)
    parameters.config_keys(city)  # without its file there is nothing to look at
    findings = _parameter_findings(city, parameters)
    if any(finding.level == "error" for finding in findings):
        return findings
    stated = parameters.config(city, "bbox", tuple[float, float, float, float])
    time_zone = parameters.config(city, "time_zone", str)
    findings += diagnose_place(bbox=stated, time_zone=time_zone)
    bbox = bbox_in_order(stated, time_zone)
    if (
        bbox != stated
    ):  # what else is found would come of it: the traces are held against the mended one
        remedy = "mend `bbox`, then run this check again"
        findings.append(Finding("info", "ground", "", "a bbox that no road lies in", remedy))
        findings += _trace_findings(city, parameters, root, bbox=bbox, roads=None)
        return _worst_first(findings)
    with tempfile.TemporaryDirectory(prefix="check-") as scratch:
        ground = _rehearse_ground(city, parameters, root, Path(scratch), findings)
        roads = _table(ground, city, "roads")
        if roads is None:  # built, though the cells are not and the source is no longer at hand
            roads = _table(root, city, "roads")
        cells = _table(ground, city, "cells")
        if roads is not None and cells is not None:
            refused = _table(ground, city, "roads_rejected")
            findings += diagnose_ground(
                bbox=bbox,
                roads=roads,
                rejected_segments=0 if refused is None else refused.height,
                cells=cells,
            )
        findings += _trace_findings(city, parameters, root, bbox=bbox, roads=roads)
        if roads is None:
            remedy = f"`dvc repro roads@{city}` makes them, then run this check again"
            findings.append(Finding("info", "distance to roads", "", "no roads yet", remedy))
    return _worst_first(findings)


def _worst_first(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _ORDER[finding.level])


def print_findings(findings: list[Finding], *, as_json: bool) -> None:
    """Print findings with their examples, or as a JSON list; a closing count on standard error."""
    if as_json:
        print(json.dumps(msgspec.to_builtins(findings), ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            print(finding.text())
    counts = {level: sum(f.level == level for f in findings) for level in ("error", "warning")}
    said = [f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items()]
    print(", ".join(said), file=sys.stderr)


def _parameter_findings(city: str, parameters: Parameters) -> list[Finding]:
    """Try every section that a stage will ask for; each fault is a finding of its own."""
    faults: dict[str, None] = {}
    for stage in STAGES:
        try:
            stage_arguments(stage, city, parameters)
        except ParameterError as fault:
            faults[str(fault)] = None
    try:
        check_keys(city, parameters)
    except ParameterError as fault:
        faults[str(fault)] = None
    findings = [Finding("error", "parameters", "", fault) for fault in faults]
    if not findings and city not in parameters.cities:
        simulated = parameters.config(city, "traces", dict[str, Any]).get("kind") == "simulated"
        folder = f"data/{city}/{'simulated' if simulated else 'raw'}/traces"
        remedy = f"add `{city}: {{traces: {folder}}}` when this check is content"
        findings.append(
            Finding("warning", "cities", f"an entry for {city} in params.yaml", "none", remedy)
        )
    return findings


def _rehearse_ground(
    city: str, parameters: Parameters, root: Path, scratch: Path, findings: list[Finding]
) -> Path:
    """Return the root under which the city's ground lies; build it in `scratch` if need be."""
    if _table(root, city, "cells") is not None:
        findings += _extract_findings(city, parameters)
        return root
    for name in GROUND:
        stage = stage_named(name)
        arguments = stage_arguments(stage, city, parameters)
        sources = [getattr(arguments.get(key), "source", None) for key in ("network", "context")]
        if any(isinstance(source, OverpassSource | OvertureSource) for source in sources):
            remedy = f"run `dvc repro cells@{city}` (it downloads), then this check again"
            findings.append(Finding("info", "ground", "", "a source that is downloaded", remedy))
            break
        try:
            with StageIO(stage, city=city, root=scratch) as io:
                stage_function(stage)(io, **arguments)
        except PipelineError as fault:
            findings.append(Finding("error", name, "", str(fault)))
            break
    return scratch


def _extract_findings(city: str, parameters: Parameters) -> list[Finding]:
    """Look whether the user's own extract is still the pinned one the ground was built from."""
    source = stage_arguments(stage_named("pull_osm"), city, parameters)["network"].source
    if isinstance(source, FileSource):
        pins = [(source.path, source.sha256, "sha256")]
    elif isinstance(source, RoadmapSource):
        pins = [(source.geo, source.geo_sha256, "geo_sha256")]
        pins += [(source.rel, source.rel_sha256, "rel_sha256")]
        pins += [(source.osm, source.osm_sha256, "osm_sha256")] if source.osm else []
    else:
        return []
    findings = []
    for path, sha256, key in pins:
        try:
            pinned_file(Path(path), sha256, key=f"network.source.{key}")
        except PipelineError as fault:
            findings.append(Finding("error", "pull_osm", "", str(fault)))
    return findings


def _trace_findings(
    city: str,
    parameters: Parameters,
    root: Path,
    *,
    bbox: tuple[float, float, float, float],
    roads: pl.DataFrame | None,
) -> list[Finding]:
    arguments = stage_arguments(stage_named("ingest"), city, parameters)
    entry = parameters.cities.get(city)
    traces = arguments["traces"]
    simulated = simulated_folder(city)
    raw = simulated if traces.kind == "simulated" else f"data/{city}/raw/traces"
    raw = entry.traces if entry else raw
    faults = []
    for check in (check_credit, partial(check_folder, folder=raw)):
        try:
            check(city, traces)
        except ParameterError as fault:
            faults.append(Finding("error", "source of traces", "", str(fault)))
    folder = root / raw
    if traces.kind == "simulated" and not folder.exists():
        if faults:
            return faults
        remedy = f"`dvc repro ingest@{city}` makes them"
        return [Finding("info", "raw traces", "", "simulated, not made yet", remedy)]
    return faults + diagnose_traces(
        folder, traces=traces, cleaning=arguments["cleaning"], bbox=bbox, roads=roads
    )


def _table(root: Path, city: str, name: str) -> pl.DataFrame | None:
    artifact = ARTIFACTS[name]
    file = artifact_path(artifact, root=root, city=city)
    return read_table(file, artifact) if file.exists() else None
