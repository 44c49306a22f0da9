"""The drive behind the phases: which segments each phase has, and what its roads are called.

phases n = [4, 1], edge_ids = [a, b, c, d, e]  ->  a, b, c, d in phase 0, e in phase 1
-> Drive(main_road="Rua do Campo Alegre", main_share=0.62, cells=...)
"""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from pipeline.errors import ContractError


class Drive(NamedTuple):
    """What the segments tell of a trip beyond its phases.

    Attributes:
        main_road: The name that holds most of the trip's length; None where no segment has one.
        main_share: Share of the length it holds, 0-1.
        cells: All cells its segments pass, not only those that are dominant somewhere.
    """

    main_road: str | None
    main_share: float
    cells: Sequence[str]


def segments_of(
    phased: pl.DataFrame, matched: pl.DataFrame, *, roads: pl.DataFrame
) -> pl.DataFrame:
    """Lay the driven segments under the phases.

    Args:
        phased: Rows of `phased_trip`; may be empty.
        matched: Rows of `matched_trip`, those trips among them.
        roads: Columns edge_id, name, length_m.

    Returns:
        One row per driven segment, in the order of `phased` and as driven: trip_id, p, last (number
        of the last phase), cell, edge_id, name, length_m.

    Raises:
        ContractError: A phased trip was not matched, or with another number of segments, or over
            a segment that is no road of the city.
    """
    drives = phased.select("trip_id").join(
        matched.select("trip_id", "edge_ids"), on="trip_id", how="left", maintain_order="left"
    )
    told = phased.select("trip_id", n=pl.col("phases").list.eval(_field("n")).list.sum())
    same = drives["edge_ids"].list.len().fill_null(-1) == told["n"]
    if not same.all():
        at = int(same.not_().arg_max() or 0)
        found = drives["edge_ids"].list.len()[at]
        raise ContractError(
            f"phased trip {told['trip_id'][at]}: expected the {told['n'][at]} segments of its"
            f" phases in matched, found {'no such trip' if found is None else found}; rerun"
            " `dvc repro` for compress"
        )
    phases = (
        phased.select("trip_id", "phases")
        .explode("phases")
        .select("trip_id", *(pl.col("phases").struct.field(name) for name in ("p", "n", "cell")))
    )
    phases = phases.with_columns(last=pl.col("p").max().over("trip_id"))
    rows = phases.select(pl.col("trip_id", "p", "last", "cell").repeat_by("n").explode())
    rows = rows.with_columns(drives["edge_ids"].explode().alias("edge_id"))
    rows = rows.join(
        roads.select("edge_id", "name", "length_m"),
        on="edge_id",
        how="left",
        maintain_order="left",
    )
    lost = rows.filter(pl.col("length_m").is_null())
    if lost.height:
        raise ContractError(
            f"matched trip {lost['trip_id'][0]}: expected segments of roads, found"
            f" {lost['edge_id'][0]!r}; rerun `dvc repro` for roads and match"
        )
    return rows


def _field(name: str) -> pl.Expr:
    return pl.element().struct.field(name)


def drives_of(segments: pl.DataFrame, road_cells: pl.DataFrame) -> dict[str, Drive]:
    """Sum up the segments of each trip, by its id; of roads equally long the first by name.

    Args:
        segments: Rows of `segments_of`; may be empty.
        road_cells: Columns edge_id, cells: all cells of each segment.
    """
    trips = segments.select(pl.col("trip_id").unique(maintain_order=True))
    named = segments.filter(pl.col("name").is_not_null())
    totals = segments.group_by("trip_id", maintain_order=True).agg(total_m=pl.col("length_m").sum())
    main = (
        named.group_by("trip_id", "name", maintain_order=True)
        .agg(pl.col("length_m").sum())
        .join(totals.filter(pl.col("total_m") > 0), on="trip_id")
        .select("trip_id", "name", share=(pl.col("length_m") / pl.col("total_m")).round(6))
        .sort("share", "name", descending=[True, False])
        .unique("trip_id", keep="first", maintain_order=True)
    )
    cells = (
        segments.select("trip_id", "edge_id")
        .unique()
        .join(road_cells, on="edge_id")
        .group_by("trip_id")
        .agg(pl.col("cells").explode().unique())
    )
    summed = trips
    for part in (main, cells):
        summed = summed.join(part, on="trip_id", how="left")
    return {
        trip: Drive(main_road, share or 0.0, through or ())
        for trip, main_road, share, through in summed.iter_rows()
    }
