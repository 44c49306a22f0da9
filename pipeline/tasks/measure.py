"""What every task gives the report: its measures, a row per instance, and the coverage.

    Measure("dest_hit", "share", "higher", "Share of routes that end in the true last H3 cell.")
    coverage_of(pl.Series(["ok", "missing", "unknown_segment"]), other=2)
    ->  Coverage(instances=3, predicted=2, missing=1, invalid={"unknown_segment": 1}, other=2)

A row is never left out: what is missing or invalid has the worst values, which each task states.
"""

from typing import Any, Literal, NamedTuple

import polars as pl

OK = "ok"
MISSING = "missing"


class Measure(NamedTuple):
    """One measure of a task.

    Attributes:
        name: Column in `Scored.rows`, with its unit where it has one: `dest_hit`, `dtw_km`.
        unit: `share`, `km`, `count`, ...
        better: Which direction is better; "" where neither is.
        sentence: Its definition in one sentence, shown in reports.
    """

    name: str
    unit: str
    better: Literal["higher", "lower", ""]
    sentence: str


class Coverage(NamedTuple):
    """How many instances of the split were predicted.

    Attributes:
        instances: Instances of the split.
        predicted: Those the file has a row for, valid or not.
        missing: Those it has none for; `predicted + missing == instances`.
        invalid: Predicted instances that are scored as wrong, by reason.
        other: Rows of the file about instances of other splits; they are left out.
    """

    instances: int
    predicted: int
    missing: int
    invalid: dict[str, int]
    other: int


class Scored(NamedTuple):
    """The scores of one prediction file on one split.

    Attributes:
        rows: One row per instance of the split: instance_id, trip_id, status (`ok`, `missing` or
            the reason why it is invalid), the columns of `groups`, and a Float64 column for each
            measure, null only where the measure is undefined for the instance.
        measures: The measures, in the order they are shown.
        groups: Name of a breakdown -> column of `rows`, a String or a list of Strings.
        coverage: How many instances were predicted.
        options: The options in force, by name.
    """

    rows: pl.DataFrame
    measures: tuple[Measure, ...]
    groups: dict[str, str]
    coverage: Coverage
    options: dict[str, Any]


class Reference(NamedTuple):
    """Predictions that no model made, scored as those of a model are.

    Attributes:
        name: How reports call it.
        kind: `floor`: what one scores without reading; `ceiling`: the best possible; `guide`: what
            part of the answer alone would give.
        sentence: What it predicts, shown in reports.
        scored: Its scores on the same instances.
    """

    name: str
    kind: Literal["floor", "guide", "ceiling"]
    sentence: str
    scored: Scored


def coverage_of(status: pl.Series, *, other: int) -> Coverage:
    """Count the statuses of a split's instances.

    Args:
        status: `ok`, `missing` or a reason, one per instance.
        other: Rows of the prediction file about other splits.
    """
    missing = int((status == MISSING).sum())
    reasons = status.filter(~status.is_in([OK, MISSING])).to_list()
    invalid = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
    return Coverage(status.len(), status.len() - missing, missing, invalid, other)
