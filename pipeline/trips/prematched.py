"""Adopt trips that come already matched: check that their segments exist and touch.

    rid_list "12,14,15", time_list of three instants  ->  the same path table the matcher writes

The input's own segment ids and times are kept; where two neighbours do not touch, the drive breaks
there, as it would in matching.
"""

import polars as pl

UNKNOWN_SEGMENT = "unknown_segment"
NOT_ADJACENT = "not_adjacent"


def adopt(cleaned: pl.DataFrame, roads: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the path and trip tables of pre-matched trips, as the matcher would give them.

    Args:
        cleaned: Rows of `cleaned_trip` whose `edge_ids` hold one road id per point.
        roads: Columns edge_id, u, v, length_m.

    Returns:
        path: trace_id, part, seq, edge_id, t_enter_s, t_exit_s, evidence, off_from_m, off_to_m;
        trips: trace_id, confidence, matched_share, route_length_m, gps_length_m, reasons. A segment
        that is no road of the city is left out and breaks the drive. Empty for an empty input.
    """
    rows = cleaned.select(trace_id="trip_id", edge_id="edge_ids", t_enter_s="t")
    rows = rows.explode("edge_id", "t_enter_s").join(
        roads.select("edge_id", "u", "v", "length_m"),
        on="edge_id",
        how="left",
        maintain_order="left",
    )
    same_trip = pl.col("trace_id") == pl.col("trace_id").shift()
    known = pl.col("length_m").is_not_null()
    touches = (pl.col("u") == pl.col("v").shift()).fill_null(value=False)
    rows = rows.with_columns(
        known=known,
        fault=pl.when(~known)
        .then(pl.lit(UNKNOWN_SEGMENT))
        .when(same_trip & known.shift() & ~touches)
        .then(pl.lit(NOT_ADJACENT)),
        starts=~same_trip.fill_null(value=False) | ~touches | ~known,
    )
    return _path(rows), _trips(rows)


def _path(rows: pl.DataFrame) -> pl.DataFrame:
    path = rows.with_columns(part=pl.col("starts").cum_sum().over("trace_id")).filter("known")
    following = pl.col("t_enter_s").shift(-1).over("trace_id", "part")
    return path.with_columns(
        part=pl.col("part").rank("dense").over("trace_id") - 1,
        seq=pl.int_range(pl.len()).over("trace_id", "part"),
        t_exit_s=pl.coalesce(following, "t_enter_s"),
        evidence=pl.lit(1),
        off_from_m=pl.lit(0.0),
        off_to_m="length_m",
    ).select(
        "trace_id", "part", "seq", "edge_id", "t_enter_s", "t_exit_s", "evidence", "off_from_m",
        "off_to_m",
    )  # fmt: skip


def _trips(rows: pl.DataFrame) -> pl.DataFrame:
    # The input states no GPS line, so the route is compared with itself: a ratio of 1.
    length = pl.col("length_m").fill_null(0.0).sum()
    return rows.group_by("trace_id", maintain_order=True).agg(
        confidence=pl.lit(1.0),
        matched_share=pl.col("known").mean(),
        route_length_m=length,
        gps_length_m=length,
        reasons=pl.col("fault").drop_nulls().unique(maintain_order=True),
    )
