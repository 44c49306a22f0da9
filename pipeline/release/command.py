"""What `python -m pipeline loss` prints: the loss table of the cities, from their metrics.

data/<city>/metrics/loss.json lies in git, so the table is there before any data is pulled.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import SourceError
from pipeline.metrics import read_metrics
from pipeline.params import Parameters
from pipeline.release.loss_table import markdown_table, plain_table
from pipeline.schemas import check_record

Form = Literal["plain", "markdown", "json"]


def losses_of(root: Path, cities: Sequence[str]) -> list[dict[str, Any]]:
    """Return the loss metrics of cities.

    Args:
        root: Root of the project.
        cities: Keys under `cities:` of params.yaml; empty = all of them.

    Raises:
        ParameterError: A city is not in params.yaml.
        SourceError: A city that is named has no account yet, or none has where none is named.
        ContractError: Its file holds no JSON record, or one that breaks the schema.
    """
    parameters = Parameters(root)
    asked = list(cities or parameters.cities)
    there = [city for city in asked if parameters.city(city) and _is_there(root, city)]
    return [_record(root, city) for city in (asked if cities or not there else there)]


def _is_there(root: Path, city: str) -> bool:
    return (root / ARTIFACTS["loss_metrics"].place.format(city=city)).exists()


def _record(root: Path, city: str) -> dict[str, Any]:
    shown = ARTIFACTS["loss_metrics"].place.format(city=city)
    record = read_metrics(root, city, "loss_metrics")
    if record is None:
        raise SourceError(
            f"{shown}: expected the account of {city}, found none; run `dvc repro account@{city}`"
        )
    check_record("loss_metrics", record, where=shown)
    return record


def loss_text(root: Path, cities: Sequence[str], *, form: Form) -> str:
    """Return the loss table of cities as text."""
    records = losses_of(root, cities)
    if form == "json":
        return json.dumps(records, ensure_ascii=False, indent=2)
    return (markdown_table if form == "markdown" else plain_table)(records)
