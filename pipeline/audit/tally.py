"""Count the trips of both sides: who wrote their texts, which pair, which texts differ.

writers_of(trips, "_after")  ->  [Writer("template", "template", "1", "3f3f...", trips=651)]
counted_rows(trips)          ->  Rows(before=651, after=650, both=650, paired=650, changed=12, ...)
asked_of(trips)              ->  Asked(other_request=12, shots=((2,), (2,)), other_shots=0, ...)
"""

import polars as pl

from pipeline.audit.causes import Asked
from pipeline.audit.reasons import counted_reasons
from pipeline.audit.report import Rows, Writer
from pipeline.audit.rows import FIELDS


def writers_of(trips: pl.DataFrame, suffix: str) -> list[Writer]:
    """Return who wrote the texts of a side, those of most trips first.

    Args:
        trips: As `paired_rows` lays them out.
        suffix: "" for the side before, "_after" for the other.
    """
    columns = [name + suffix for name in ("engine", "model", "revision", "prompt_hash")]
    there = trips.filter("in_after" if suffix else "in_before")
    counts = there.group_by(columns).len().sort("len", *columns, descending=[True, *[False] * 4])
    return [Writer(*row) for row in counts.iter_rows()]


def counted_rows(trips: pl.DataFrame) -> Rows:
    """Count trips by what may be compared of them; takes what `with_reasons` gives."""

    def count(condition: pl.Expr) -> int:
        return trips.filter(condition).height

    def differ(name: str) -> pl.Expr:
        return pl.col("paired") & (pl.col(name) != pl.col(f"{name}_after"))

    before, after, same_trip = pl.col("in_before"), pl.col("in_after"), pl.col("same_trip")
    unknown = count(before & after & pl.col("same_draws").is_null()) > 0
    return Rows(
        before=count(before),
        after=count(after),
        both=count(before & after),
        only_before=count(before & ~after),
        only_after=count(after & ~before),
        why_only_before=counted_reasons(trips, "gone"),
        why_only_after=counted_reasons(trips, "new"),
        other_trip=None if unknown else count(~same_trip),
        other_draws=None if unknown else count(same_trip & ~pl.col("same_draws")),
        paired=count(pl.col("paired")),
        other_request=count(differ("response_key")),
        changed=count(pl.col("paired") & pl.col("changed")),
        changed_texts={field: count(differ(field)) for field in FIELDS},
    )


def asked_of(trips: pl.DataFrame) -> Asked:
    """Tell from the rows how the paired trips were asked for.

    Args:
        trips: As `paired_rows` lays them out.
    """
    pairs = trips.filter("paired")
    before, after = (_shots(pairs[f"shots{suffix}"]) for suffix in ("", "_after"))
    request = pl.col("response_key") != pl.col("response_key_after")
    same = [
        pl.col(name) == pl.col(f"{name}_after")
        for name in ("trip", "draws", "engine", "model", "revision", "prompt_hash", "shots")
    ]
    others = pl.col("shots") != pl.col("shots_after")
    return Asked(
        other_request=pairs.filter(request).height,
        shots=(_numbers(before), _numbers(after)),
        other_shots=pairs.filter(others & (before == after)).height,
        all_else_equal=pairs.filter(request, *same).height,
    )


def _shots(shots: pl.Series) -> pl.Series:
    """Count the ids that are joined by spaces; null where they are unknown."""
    return shots.cast(pl.String).str.extract_all(r"\S+").list.len()


def _numbers(counts: pl.Series) -> tuple[int, ...]:
    return tuple(counts.drop_nulls().unique().sort().to_list())
