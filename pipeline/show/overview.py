"""A city on one screen: how many trips ended where, with a few ids of each to look at.

phased                          738  1704397475620000023  1704525128620000006  ...
rejected ingest: too_few_points  12  1704567634620000041  ...
"""

from pathlib import Path

import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import SourceError
from pipeline.store import read_table

IDS_SHOWN = 4


def overview_of(root: Path, city: str) -> list[str]:
    """Return one line per way to end, the most common first.

    Args:
        root: Root of the project.
        city: Key of the city.

    Raises:
        SourceError: The city has no ledger yet.
    """
    file = artifact_path(ARTIFACTS["ledger"], root=root, city=city)
    if not file.exists():
        raise SourceError(
            f"data/{city}/{ARTIFACTS['ledger'].path}: expected the city's ledger, found none; run"
            f" `dvc repro report@{city}`"
        )
    ends = (
        read_table(file, ARTIFACTS["ledger"])
        .group_by("state", "stage", "reason")
        .agg(pl.len(), ids=pl.col("raw_trip_id").sort().head(IDS_SHOWN))
        .sort("len", "reason", descending=[True, False])
    )
    names = [
        row["state"] if row["reason"] is None else f"rejected by {row['stage']}: {row['reason']}"
        for row in ends.to_dicts()
    ]
    width = max((len(name) for name in names), default=0)
    return [
        f"{name:<{width}}  {count:>7,}  {'  '.join(ids)}{' ...' if count > len(ids) else ''}"
        for name, count, ids in zip(names, ends["len"], ends["ids"].to_list(), strict=True)
    ]
