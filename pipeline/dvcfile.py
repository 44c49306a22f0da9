"""Render dvc.yaml from the stage table.

    python -m pipeline dvc          ->  dvc.yaml, one `foreach` stage per row of the table; rows of
                                        scope `project` become plain stages

What a stage depends on is computed: its own module and everything of `pipeline` that module
imports (DVC does not follow imports), the schemas it writes, the artifacts it reads, and only the
parameter keys it is given. Kernel files that move bytes but decide no value are left out, so that
mending a message does not rerun a city.

DVC cannot list the cities in the dependencies of a plain stage. Such a stage depends on a folder
into which each city writes one record, and on the list of cities: `dvc repro` alone does what is
needed after a city was added or removed. The records lie in git, so a fresh clone is up to date.
"""

import ast
import difflib
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.artifacts import ARTIFACTS, Artifact
from pipeline.errors import ContractError
from pipeline.params import Parameters
from pipeline.replacing import replace_text
from pipeline.runner import frozen_stages
from pipeline.schemas import SCHEMA_DIR
from pipeline.stages import STAGES, Stage

ROOT = Path(__file__).resolve().parent.parent
KERNEL = frozenset(
    f"pipeline/{name}.py"
    for name in (
        "__init__", "__main__", "artifacts", "dvcfile", "errors", "hashes", "keys", "lock",
        "lockfile", "params", "progress", "replacing", "runner", "schemas", "seals", "stages",
        "store", "tables", "written",
    )
)  # fmt: skip
HEADER = "# Rendered from pipeline/stages.py by `python -m pipeline dvc`; do not edit by hand.\n"


def render(frozen: frozenset[str] = frozenset()) -> str:
    """Return the text of dvc.yaml for the stage table.

    Args:
        frozen: Stages whose outputs are taken as they are, whatever changed (`frozen:` in
            params.yaml); DVC itself cannot freeze a stage of several cities.
    """
    import yaml  # noqa: PLC0415 - slow to import, rarely needed

    document = {"stages": {stage.name: _entry(stage, frozen) for stage in STAGES}}
    document["artifacts"] = ARTIFACT_ENTRIES
    return HEADER + yaml.safe_dump(document, sort_keys=False, width=100, allow_unicode=True)


def write_dvcfile(root: Path) -> None:
    """Write dvc.yaml at the root of the project."""
    replace_text(root / "dvc.yaml", render(frozen_stages(Parameters(root))))


def check_dvcfile(root: Path) -> None:
    """Raise ContractError with the difference when the committed dvc.yaml is stale."""
    file = root / "dvc.yaml"
    committed = file.read_text("utf-8") if file.exists() else ""
    expected = render(frozen_stages(Parameters(root)))
    if committed != expected:
        difference = "\n".join(
            difflib.unified_diff(
                committed.splitlines(),
                expected.splitlines(),
                "dvc.yaml",
                "stage table",
                "",
                "",
                1,
                "",
            )
        )
        raise ContractError(
            "dvc.yaml: expected what pipeline/stages.py renders, found another text; run"
            " `python -m pipeline dvc`",
            more=difference,
        )


# What others ask for by name and version: `dvc artifacts get REPOSITORY release --rev v1.0.0`.
ARTIFACT_ENTRIES = {
    "release": {
        "path": "data/release",
        "type": "dataset",
        "desc": "The benchmark: task instances of every city, its ground, card and checksums.",
        "labels": ["trajectories", "language", "benchmark"],
    }
}


def _entry(stage: Stage, frozen: frozenset[str]) -> dict[str, Any]:
    outputs = [ARTIFACTS[name] for name in stage.writes]
    rejected = [stage.rejections()] if stage.rejects else []
    of_city = " ${key}" if stage.scope == "city" else ""
    notes = [{_path(a): {"cache": False}} for a in outputs if a.kind == "note"]
    body: dict[str, Any] = {
        "desc": stage.desc,
        "cmd": f"python -m pipeline run {stage.name}{of_city}",
        "deps": _dependencies(stage),
        "params": _parameters(stage),
        "outs": [*(_path(a) for a in [*outputs, *rejected] if a.kind == "data"), *notes],
    }
    metrics = [{_path(a): {"cache": False}} for a in outputs if a.kind == "metric"]
    plots = [{_path(a): {"cache": False, **PLOTS[a.name]}} for a in outputs if a.kind == "plot"]
    body |= {"metrics": metrics} if metrics else {}
    body |= {"plots": plots} if plots else {}
    body |= {"frozen": True} if stage.name in frozen else {}
    body = {key: value for key, value in body.items() if value}
    return {"foreach": "${cities}", "do": body} if stage.scope == "city" else body


PLOTS: dict[str, dict[str, Any]] = {
    "phases_plot": {
        "x": "n_phases",
        "y": "trips",
        "x_label": "phases of a trip",
        "title": "Phases per trip",
        "template": "linear",
    },
    "loss_plot": {
        "x": "pieces",
        "y": "reason",
        "title": "What was rejected, and why",
        "template": "bar_horizontal",
    },
    "outcome_plot": {
        "x": "pieces",
        "y": "outcome",
        "title": "What became of every trip and piece of a trip",
        "template": "bar_horizontal",
    },
    "outcome_picture": {},
    "stride_picture": {},
    "scenarios_plot": {
        "x": "share",
        "y": "scenario",
        "title": "Scenarios within their dimension (Figure 10; the paper prints no values: even)",
        "template": "shares",
    },
    "scenario_counts_plot": {
        "x": "share",
        "y": "scenarios",
        "title": "Trips by number of scenarios (Figure 12)",
        "template": "shares",
    },
    "personas_plot": {
        "x": "share",
        "y": "persona",
        "title": "Trips by persona (Figure 11)",
        "template": "shares",
    },
    "judge_scores_plot": {
        "x": "share",
        "y": "criterion",
        "title": "Scores of the judge, by criterion (Table 12)",
        "template": "scores",
    },
    "ratings_plot": {
        "x": "share",
        "y": "criterion",
        "title": "Scores of models and people on the same trips (Table 13)",
        "template": "scores",
    },
    "agreement_plot": {
        "x": "share",
        "y": "criterion",
        "title": "Scores that differ by at most 1, beside chance (Table 14)",
        "template": "shares",
    },
    "words_plot": {
        "x": "words",
        "y": "texts",
        "title": "Words of an instruction, by style (Figure 13)",
        "template": "styles",
    },
    "check_rules_plot": {
        "x": "trips",
        "y": "rule",
        "title": "Quality control: trips in which each rule found something",
        "template": "bar_horizontal",
    },
    "check_names_plot": {
        "x": "names",
        "y": "field",
        "title": "Quality control: names in each text, by what they rest on",
        "template": "verdicts",
    },
    "questions_plot": {
        "x": "share",
        "y": "style",
        "title": "Instructions that ask, by style (Figure 13)",
        "template": "shares",
    },
}


def _dependencies(stage: Stage) -> list[str]:
    module = stage.function.partition(":")[0]
    code = sorted(import_closure(module) - KERNEL)
    written = [ARTIFACTS[name] for name in stage.writes]
    written += [stage.rejections()] if stage.rejects else []
    schemas = sorted({s for a in written if a.schema for s in _schema_files(a.schema)})
    read = [ARTIFACTS[name] for name in stage.reads]
    if stage.scope == "project":  # the records name the cities' other files by hash
        read = [artifact for artifact in read if artifact.scope == "project"]
        inputs = [artifact.place.partition("/{city}")[0] for artifact in read]
    else:
        inputs = [_path(artifact) for artifact in read]
    return [*code, *stage.files, *schemas, *inputs]


def _parameters(stage: Stage) -> list[Any]:
    shared: list[Any] = list(stage.params)
    return shared + ([{"configs/${key}.yaml": list(stage.config)}] if stage.config else [])


def _path(artifact: Artifact) -> str:
    return artifact.place.format(city="${key}", traces="${item.traces}")


def _schema_files(name: str) -> set[str]:
    """Return the schema's file and those it refers to."""
    text = (SCHEMA_DIR / f"{name}.schema.json").read_text("utf-8")
    files = {f"schemas/{name}.schema.json"}
    for other in SCHEMA_DIR.glob("*.schema.json"):
        if f'"{other.name}#' in text:
            files.add(f"schemas/{other.name}")
    return files


@lru_cache(maxsize=256)
def import_closure(module: str) -> frozenset[str]:
    """Return the files of `pipeline` that a module needs, itself included, as paths from the root.

    Imports inside functions count; packages bring their `__init__.py`.
    """
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        file = _file_of(name)
        if file is None or str(file) in seen:
            continue
        seen.add(str(file))
        todo += _imports(ROOT / file)
        parent = name.rpartition(".")[0]
        todo += [parent] if parent else []
    return frozenset(seen)


def _file_of(module: str) -> Path | None:
    base = Path(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if module.startswith("pipeline") and (ROOT / candidate).is_file():
            return candidate
    return None


def _imports(file: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"), filename=str(file))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in names if name.startswith("pipeline")]
