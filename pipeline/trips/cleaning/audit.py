"""The audit of the cleaning contract: what came in, what each rule took, and that it adds up.

points: {"in": 46945, "kept": 37811, "dropped": {"standing": 2757, ...}} with in = kept + dropped
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from pipeline.errors import ContractError
from pipeline.trips.cleaning.contract import Tally
from pipeline.trips.cleaning.settings import NOTES, REASONS
from pipeline.trips.readers.batch import UNREAD_REASONS, Batch
from pipeline.trips.readers.settings import TracesSettings

EVENTS = ("resorted", "lasting_jump", "gap", "dwell")


@dataclass
class Reading:
    """What the readers saw, summed over batches.

    Attributes:
        row: What one row of the format is, a trip or a point.
        rows: Rows seen.
        fragments: Trips, or parts of trips, read.
        points: Points read.
        unread: Rows that could not be read, by reason.
        excluded: Rows read well but not asked for, by reason.
    """

    row: Literal["trip", "point"]
    rows: int = 0
    fragments: int = 0
    points: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)

    def add(self, batch: Batch) -> None:
        """Add one batch."""
        self.rows += batch.rows
        self.fragments += batch.trips.height
        self.points += int(batch.trips.select(pl.col("t").list.len().sum()).item() or 0)
        self.unread.update(batch.unread["reason"].to_list())
        self.excluded.update(batch.excluded)


def cleaning_audit(
    city: str, traces: TracesSettings, reading: Reading, orders: Counter[str], tally: Tally
) -> dict[str, Any]:
    """Return the audit record of a city.

    Raises:
        ContractError: The counts do not add up, which is a fault of the program.
    """
    audit = {
        "city": city,
        "format": type(traces).__struct_config__.tag,
        "simulated": traces.kind == "simulated",
        "reading": {
            "row": reading.row,
            "rows": reading.rows,
            "trips": reading.fragments,
            "points": reading.points,
            "unread": _counts(reading.unread, UNREAD_REASONS),
            "excluded": [
                {"reason": name, "rows": reading.excluded[name]}
                for name in sorted(reading.excluded)
            ],
        },
        "coordinate_order": {
            name: orders[name] for name in ("points", "as_read", "swapped", "sign_changed")
        },
        "points": _split(tally, "points", "kept", "dropped"),
        "trips": _split(tally, "trips", "cleaned", "rejected"),
        "pieces": _split(tally, "pieces", "kept", "rejected"),
        "trips_touched": {name: tally["touched", name] for name in REASONS},
        "events": {name: tally["events", name] for name in EVENTS},
        "notes": {name: tally["notes", name] for name in NOTES},
    }
    _check_reading(audit)
    return audit


def _counts(counter: Counter[str], names: tuple[str, ...]) -> dict[str, int]:
    return {name: counter[name] for name in names}


def _split(tally: Tally, unit: str, good: str, bad: str) -> dict[str, Any]:
    lost = {name: tally[unit, name] for name in REASONS}
    return {"in": sum(lost.values()) + tally[unit, good], good: tally[unit, good], bad: lost}


def _check_reading(audit: dict[str, Any]) -> None:
    reading = audit["reading"]
    read = reading["trips"] if reading["row"] == "trip" else reading["points"]
    lost = sum(reading["unread"].values())
    left_out = sum(x["rows"] for x in reading["excluded"] if x["reason"] != "empty_file")
    sums = (
        ("rows", reading["rows"], read + lost + left_out),
        ("points", reading["points"], audit["points"]["in"]),
    )
    for unit, came_in, accounted in sums:
        if came_in != accounted:
            raise ContractError(
                f"ingest: expected {came_in} {unit} read to be kept, dropped, unread or left out,"
                f" found {accounted}; this is a fault of the program, please report it"
            )
