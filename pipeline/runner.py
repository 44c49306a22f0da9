"""Run one stage: check its parameters, open its doors, call its function.

run_stage("match", "monaco", root=Path.cwd())
run_stage("publish", None, root=Path.cwd())
"""

import gc
import importlib
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from pipeline.errors import ParameterError
from pipeline.keys import Text
from pipeline.params import Parameters
from pipeline.stages import STAGES, Stage
from pipeline.store import StageIO

# Keys of a city's file that no stage needs by itself: they describe the city to readers.
DESCRIPTIVE_KEYS = frozenset({"name", "language"})
# Keys of params.yaml that no stage is given: they decide no value of the data.
SHARED_KEYS = frozenset(
    {"cities", "frozen", "ledger", "seeding", "score_captioning", "score_generation"}
)
_NEW_VALUES_BEFORE_COLLECTING = 50_000


class LedgerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `ledger` of params.yaml, which no stage is given: it decides no value.

    Attributes:
        folder: Where answers of models are kept, from the project's root or absolute.
    """

    folder: Text


def ledger_folder(root: Path, parameters: Parameters) -> Path:
    """Return the folder of the response ledger.

    Raises:
        ParameterError: `ledger:` is missing from params.yaml or wrong.
    """
    settings: LedgerSettings = parameters.section("ledger", LedgerSettings)
    return root / settings.folder


def stage_named(name: str) -> Stage:
    """Return a row of the stage table; an unknown name is an error that lists the known ones."""
    for stage in STAGES:
        if stage.name == name:
            return stage
    raise ParameterError(
        f"stage {name!r}: expected one of {', '.join(s.name for s in STAGES)}; run"
        " `python -m pipeline stages` to see what each does"
    )


def stage_function(stage: Stage) -> Callable[..., None]:
    """Import the function of a stage."""
    module, _, function = stage.function.partition(":")
    return typing.cast("Callable[..., None]", getattr(importlib.import_module(module), function))


def stage_arguments(stage: Stage, city: str | None, parameters: Parameters) -> dict[str, Any]:
    """Return what a stage is given by keyword: its typed sections, and `city` if it asks for it.

    `city` is None for a stage of the whole project, which is given no city's configuration.

    Raises:
        ParameterError: A section or key is missing, unknown or out of range.
    """
    hints = typing.get_type_hints(stage_function(stage), include_extras=True)
    arguments: dict[str, Any] = {"city": city} if "city" in hints else {}
    for name in stage.params:
        arguments[name] = parameters.section(name, hints[name])
    if city is not None:
        for name in stage.config:
            arguments[name] = parameters.config(city, name, hints[name])
    return arguments


def check_keys(city: str, parameters: Parameters) -> None:
    """Check the keys no stage is given, and refuse those nobody knows: they may be misspelt."""
    frozen_stages(parameters)
    parameters.section("ledger", LedgerSettings)
    for key in sorted(DESCRIPTIVE_KEYS):
        parameters.config(city, key, Text)
    known = {*SHARED_KEYS, *(name for stage in STAGES for name in stage.params)}
    _refuse_unknown("params.yaml", parameters.shared_keys - known, known)
    known = {*DESCRIPTIVE_KEYS, *(name for stage in STAGES for name in stage.config)}
    _refuse_unknown(f"configs/{city}.yaml", parameters.config_keys(city) - known, known)


def _refuse_unknown(file: str, unknown: set[str], known: set[str]) -> None:
    if unknown:
        raise ParameterError(
            f"{file}: {', '.join(sorted(unknown))}: no stage knows this key, expected one of"
            f" {', '.join(sorted(known))}; mend the spelling or remove it"
        )


def frozen_stages(parameters: Parameters) -> frozenset[str]:
    """Return the stages under `frozen:` in params.yaml.

    Raises:
        ParameterError: One of them is no stage.
    """
    names: frozenset[str] = parameters.section("frozen", frozenset[str])
    unknown = names - {stage.name for stage in STAGES}
    if unknown:
        raise ParameterError(
            f"params.yaml: frozen: {', '.join(sorted(unknown))}: expected names of stages; run"
            " `python -m pipeline stages` to see them"
        )
    return names


def run_stage(name: str, city: str | None, *, root: Path, replay: bool = False) -> None:
    """Run one stage for one city, or for all, and print what came of it in one line.

    Nothing is written unless it ends well.

    Args:
        name: A stage of the table.
        city: Key of the city; None for a stage of the whole project.
        root: Root of the project.
        replay: Start no model: every answer must be in the response ledger.

    Raises:
        ParameterError: Unknown stage or city, or a fault in its parameters.
        SourceError: An input is missing or unreadable.
        ContractError: The stage wrote something that breaks a schema.
        ModelError: A model cannot answer, or an answer to be replayed is missing.
    """
    # Stages make millions of plain values, which hold no cycles; looking for some after every few
    # hundred, as is the default, takes up to a fifth of their time.
    gc.set_threshold(_NEW_VALUES_BEFORE_COLLECTING)
    stage = stage_named(name)
    if replay and not stage.asks:
        asking = ", ".join(one.name for one in STAGES if one.asks)
        raise ParameterError(
            f"--replay: expected a stage that asks a model ({asking}), found {name}; leave it out"
        )
    if (city is None) != (stage.scope == "project"):
        wanted = "no city, it is run once for all" if city else "a city"
        raise ParameterError(
            f"stage {name}: expected {wanted}, found {city or 'none'}; run"
            f" `python -m pipeline run {name}{'' if city else ' CITY'}`"
        )
    parameters = Parameters(root)
    entry = parameters.city(city) if city else None
    for one in [city] if city else parameters.cities:
        check_keys(one, parameters)
    arguments = stage_arguments(stage, city, parameters)
    ledger = ledger_folder(root, parameters) if stage.asks else None
    with StageIO(
        stage,
        city=city,
        root=root,
        traces=entry.traces if entry else None,
        ledger=ledger,
        replay=replay,
    ) as io:
        stage_function(stage)(io, **arguments)
    print(io.outcome())


def declared_arguments(stage: Stage) -> list[str]:
    """Return the sections a stage's function asks for, in the order of its signature."""
    names = inspect.signature(stage_function(stage)).parameters
    return [name for name in names if name not in {"io", "city"}]
