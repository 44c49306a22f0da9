"""Releases of one small city as folders, and what a diff of two of them finds.

before, after = release(tmp_path / "before"), release(tmp_path / "after", change)
causes(before, after)  ->  [("changed", "prompt", "", 7)]
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.diff import Compared, diff
from pipeline.release.instances import (
    candidates,
    caption_instances,
    generation_instances,
    released_trips,
    retrieval_instances,
)
from pipeline.schemas import check_record
from pipeline.tables import write_table
from tests.release.trips import town, with_twins

MAKERS = {
    "generation": generation_instances,
    "retrieval": retrieval_instances,
    "captioning": caption_instances,
    "candidates": candidates,
}
SPLITS = ("train", "val", "test")
NUMBERS = [1, 2, 3, 4]
PARTS = ["train", "train", "val", "test"]

Change = Callable[[dict[str, pl.DataFrame]], None]


def release(folder: Path, change: Change = lambda _: None, numbers=NUMBERS, splits=PARTS) -> Path:
    """Write a project's data with one city's release and its loss ledger."""
    tables = town(numbers, splits)
    change(tables)
    trips = released_trips(*tables.values())
    city = folder / "toy"
    for name, make in MAKERS.items():
        artifact = ARTIFACTS[name]
        for split in SPLITS:
            rows = make(with_twins(trips.filter(split=split)), city="toy")
            write_table(rows, city / artifact.path / f"{split}.parquet", artifact, shown=name)
    city.mkdir(exist_ok=True)
    tables["entries"].write_parquet(city / "loss.parquet")
    return folder


def found(before: Path, after: Path) -> Compared:
    compared = diff(before, str(before), str(after), cities=[])
    check_record("release_diff", msgspec.to_builtins(compared.report), where="diff")
    (city,) = compared.report.cities
    for task in city.tasks:
        assert task.before == task.same + task.changed + task.removed
        assert task.after == task.same + task.changed + task.added
    for state in ("changed", "added", "removed"):
        total = sum(getattr(task, state) for task in city.tasks)
        assert total == sum(one.records for one in city.causes if one.state == state)
        assert total == compared.records.filter(state=state).height
    return compared


def causes(before: Path, after: Path) -> list[tuple[str, str, str, int]]:
    (city,) = found(before, after).report.cities
    return [(one.state, " + ".join(one.causes), one.detail, one.records) for one in city.causes]
