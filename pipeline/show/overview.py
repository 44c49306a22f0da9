"""A city on one screen: how many trips ended where, with a few ids of each to look at.

released, split train           590  1704397475620000023  1704525128620000006  ...
rejected ingest: too_few_points  12  1704567634620000041  ...

Where the loss ledger is not made yet, the ledger of the stages up to the phases is told.
"""

from pathlib import Path
from typing import Any

import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import SourceError
from pipeline.params import Parameters
from pipeline.tables import read_table

IDS_SHOWN = 4


def overview_of(root: Path, city: str) -> list[str]:
    """Return one line per way to end, the most common first; each raw trip counts once.

    Args:
        root: Root of the project.
        city: Key of the city.

    Raises:
        ParameterError: Unknown city.
        SourceError: The city has no ledger yet.
    """
    ends = (
        _ends(root, city)
        .group_by("state", "stage", "reason", "split")
        .agg(pl.len(), ids=pl.col("raw_trip_id").sort().head(IDS_SHOWN))
        .sort("len", "stage", "reason", "split", descending=[True, False, False, False])
    )
    names = [_name(row) for row in ends.to_dicts()]
    width = max((len(name) for name in names), default=0)
    return [
        f"{name:<{width}}  {count:>7,}  {'  '.join(ids)}{' ...' if count > len(ids) else ''}"
        for name, count, ids in zip(names, ends["len"], ends["ids"].to_list(), strict=True)
    ]


def _ends(root: Path, city: str) -> pl.DataFrame:
    """Return how each raw trip ended: raw_trip_id, state, stage, reason, split."""
    columns = ("raw_trip_id", "state", "stage", "reason", "split")
    for name in ("loss", "ledger"):
        file = artifact_path(ARTIFACTS[name], root=root, city=city)
        if file.exists():
            entries = read_table(file, ARTIFACTS[name])
            if name == "loss":
                return entries.filter("decides").select(columns)
            return entries.with_columns(split=pl.lit(None, dtype=pl.String)).select(columns)
    Parameters(root).city(city)
    raise SourceError(
        f"data/{city}/{ARTIFACTS['ledger'].path}: expected the city's ledger, found none; run"
        f" `dvc repro report@{city}`"
    )


def _name(row: dict[str, Any]) -> str:
    if row["split"] is not None:
        return f"{row['state']}, split {row['split']}"
    if row["reason"] is None:
        return str(row["state"])
    return f"rejected by {row['stage']}: {row['reason']}"
