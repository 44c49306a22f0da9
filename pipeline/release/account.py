"""Settle the account of a city: where every input ended, and which split each released trip is in.

data/<city>/loss.parquet         one row a piece, with its one end
data/<city>/metrics/loss.json    counts by stage and reason, at the level of raw trips and of pieces
data/<city>/plots/outcome.csv    what `dvc plots show` draws; outcome.svg is a picture of the same
"""

from typing import Any

import msgspec
import polars as pl

from pipeline.keys import Seed
from pipeline.release.loss import DRIVE_STAGES, LIFE, Passed, loss_entries, loss_figures
from pipeline.release.sankey import sankey
from pipeline.release.splits import SplitShares, assign_splits
from pipeline.store import StageIO
from pipeline.trips.readers.settings import TracesSettings


class AccountSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `account` of params.yaml.

    Attributes:
        splits: How the released trips are split.
    """

    splits: SplitShares


def with_splits(entries: pl.DataFrame, *, shares: SplitShares, seed: int) -> pl.DataFrame:
    """Add the column split: that of the raw trip where a piece is released, else null."""
    split = assign_splits(entries["raw_trip_id"], shares=shares, seed=seed)
    return entries.with_columns(split=pl.when(state="released").then(split))


def outcome_rows(figures: dict[str, Any]) -> pl.DataFrame:
    """Return the plot's rows, outcome and pieces, in the order of the journey."""
    rows = [
        (f"{stage}: {reason}", count)
        for stage, step in figures["flow"].items()
        for reason, count in step["reasons"].items()
    ]
    rows.append(("released", figures["released"]["trips"]))
    return pl.DataFrame(rows, schema={"outcome": pl.String, "pieces": pl.Int64}, orient="row")


def run(
    io: StageIO, *, city: str, seed: Seed, account: AccountSettings, traces: TracesSettings
) -> None:
    """Follow every input of a city to its end."""
    passed = Passed(
        raw_trips=io.columns("raw_trips", ["raw_trip_id"]),
        cleaned=io.columns("cleaned", ["trip_id", "raw_trip_id"]),
        matched=io.columns("matched", ["trip_id", "cleaned_trip_id"]),
        drives={stage: io.columns(LIFE[stage], ["trip_id"])["trip_id"] for stage in DRIVE_STAGES},
    )
    rejected = pl.concat([io.read(f"{stage}_rejected") for stage in LIFE])
    entries = with_splits(loss_entries(passed, rejected), shares=account.splits, seed=seed)
    io.write("loss", entries)
    figures = loss_figures(entries, passed)
    io.write_json("loss_metrics", {"city": city, "traces": traces.kind, **figures})
    arrived = figures["raw_trips"]["arrived"]
    title = f"{city}, {traces.kind} traces: what became of {arrived:,} raw trips"
    io.path("outcome_picture").write_text(sankey(figures, title=title), "utf-8")
    io.write_csv("outcome_plot", outcome_rows(figures))
