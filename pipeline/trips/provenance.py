"""Say where a city's traces come from, and refuse a credit that is not theirs.

kind: real, source {city: porto, name: Taxi Service Trajectory, ...} in configs/porto.yaml
-> {name: Taxi Service Trajectory, licence: CC BY 4.0, attribution: Moreira-Matias, ...}
the same source in configs/lisbon.yaml -> ParameterError: it credits porto's traces
kind: simulated -> {name: simulated traces on a real network, licence and credit of the network}
"""

import os
from typing import Any

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ParameterError
from pipeline.trips.readers.settings import SIMULATED_NAME, TracesSettings


def check_credit(city: str, traces: TracesSettings) -> None:
    """Refuse a source that was written for another city: a copied file must state its own.

    Raises:
        ParameterError: `traces.source.city` is not this city.
    """
    source = traces.source
    if source is not None and source.city != city:
        raise ParameterError(
            f"configs/{city}.yaml: traces.source: expected the source of this city's own traces,"
            f" found that of {source.city} ({source.name}); write where these traces come from,"
            f" their licence and credit, then `city: {city}`"
        )


def simulated_folder(city: str) -> str:
    """Return where the stage `simulate` writes a city's traces, from the project's root."""
    return f"data/{city}/{ARTIFACTS['simulated_traces'].path}"


def check_folder(city: str, traces: TracesSettings, folder: str) -> None:
    """Refuse simulated traces that are called real, and real ones that are called simulated.

    Args:
        city: Key of the city.
        traces: Its `traces`.
        folder: Where its traces lie, from the project's root: `cities.<city>.traces`.

    Raises:
        ParameterError: The kind and the folder disagree.
    """
    folder, simulated = os.path.normpath(folder), simulated_folder(city)
    if traces.kind == "simulated" and folder != simulated:
        raise ParameterError(
            f"params.yaml: cities.{city}.traces: expected {simulated}, which the stage `simulate`"
            f" writes, for traces of kind simulated, found {folder}, where no stage writes; set it"
            f" to {simulated}, or `traces.kind: real` and `traces.source` in configs/{city}.yaml"
        )
    if traces.kind == "real" and folder == simulated:
        raise ParameterError(
            f"configs/{city}.yaml: traces.kind: expected simulated for {folder}, which the stage"
            " `simulate` writes, found real; set `kind: simulated` and `source: null`, or"
            f" `cities.{city}.traces` in params.yaml to the folder of the real ones"
        )


def source_of(city: str, traces: TracesSettings, network: dict[str, Any]) -> dict[str, str]:
    """Return name, licence and attribution of a city's traces, as its release credits them.

    Simulated traces are made of the network alone, so they have its licence and its credit line.

    Args:
        city: Key of the city.
        traces: Its `traces`.
        network: Manifest of its extract: licence, attribution.

    Raises:
        ParameterError: As `check_credit`.
    """
    check_credit(city, traces)
    source = traces.source
    if source is None:
        return {
            "name": SIMULATED_NAME,
            "licence": f"{network['licence']} (derived from the network)",
            "attribution": network["attribution"],
        }
    return {"name": source.name, "licence": source.licence, "attribution": source.attribution}
