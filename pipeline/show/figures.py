"""The metrics of all cities on one screen: a figure a line, a city a column.

accuracy.json            helsinki   monaco
  trips.assessed              741      716
  matcher.routes.f1         0.984    0.970

Agreement is told in tables like the paper's, below. `dvc metrics show` has the same figures with a
column each, some hundreds; `dvc metrics diff` says which of them a change has moved.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifacts import ARTIFACTS, Artifact
from pipeline.errors import ParameterError, SourceError
from pipeline.metrics import read_metrics
from pipeline.params import Parameters
from pipeline.quality.agreement_tables import agreement_tables, names_of
from pipeline.show.text_table import text_table

# What the tables of agreement tell.
_IN_TABLES = {"means", "pairs", "groups"}
LONGEST_FIGURE = 40  # letters; what is longer is a sentence, such as a caveat


def figures_of(root: Path, cities: Sequence[str], *, only: Sequence[str]) -> list[str]:
    """Return the lines of the table.

    Args:
        root: Root of the project.
        cities: Keys under `cities:` of params.yaml; empty = all of them.
        only: Metrics files wanted, such as `check`; empty = all of them.

    Raises:
        ParameterError: A city is not in params.yaml, or no metrics file has such a name.
        SourceError: None of the cities has any such metrics yet.
        ContractError: A metrics file holds no JSON record.
    """
    parameters = Parameters(root)
    names = [city for city in cities or parameters.cities if parameters.city(city)]
    known = {Path(one.path).stem: one for one in ARTIFACTS.values() if _is_metric(one)}
    for name in only:
        if name not in known:
            raise ParameterError(
                f"--only: expected names among {', '.join(known)}, found {name!r}; leave it out to"
                " see them all"
            )
    lines: list[str] = []
    for artifact in [known[name] for name in only] or list(known.values()):
        read = [read_metrics(root, city, artifact.name) or {} for city in names]
        told = [artifact.name == "agreement" and one.keys() >= _IN_TABLES for one in read]
        records = [
            dict(_figures({key: one[key] for key in one if not (tables and key in _IN_TABLES)}))
            for one, tables in zip(read, told, strict=True)
        ]
        if any(records):
            lines += _table(Path(artifact.path).name, names, records)
        for city, record, tables in zip(names, read, told, strict=True):
            lines += _agreement(city, record) if tables else []
    if not lines:
        raise SourceError(
            f"data/{names[0] if names else 'CITY'}/metrics: expected metrics, found none; run"
            " `dvc repro`, or `git checkout` them"
        )
    return lines


def _is_metric(artifact: Artifact) -> bool:
    return artifact.kind == "metric" and artifact.scope == "city" and artifact.form == "json"


def _agreement(city: str, record: dict[str, Any]) -> Iterator[str]:
    """Yield whom letters stand for, and the tables of a city's agreement under their titles."""
    names = names_of(record)
    if names:
        yield from ("", f"{city}: {', '.join(f'{one} = {name}' for one, name in names.items())}")
    for title, heads, rows in agreement_tables(record):
        yield from ("", f"{city}: {title}")
        yield from text_table(heads, rows, right=range(1, len(heads)), all_rows=True)
    if not record["groups"]:
        yield from ("", f"{city}: no two judges scored the same trips: no agreement to tell")


def _figures(record: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _figures(value, f"{above}{key}.")
        elif above + key != "city":
            yield above + key, _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} rows"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "-" if value is None else str(value)


def _table(title: str, cities: Sequence[str], records: Sequence[dict[str, str]]) -> list[str]:
    """Lay out one file's figures, then its sentences; a city without one has an empty place."""
    figures: list[str] = []
    for record in records:
        after = 0  # a figure that only this city has stands where its record has it
        for figure in record:
            if figure not in figures:
                figures.insert(after, figure)
            after = figures.index(figure) + 1
    said = {name: [record.get(name, "") for record in records] for name in figures}
    long = [name for name, values in said.items() if max(map(len, values)) > LONGEST_FIGURE]
    rows = [(title, *cities)]
    rows += [(f"  {name}", *values) for name, values in said.items() if name not in long]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    return lines + [f"  {name}: {text}" for name in long for text in dict.fromkeys(said[name])]
