"""Read trips that are already matched, as HOSER and LibCity publish them.

0,20000589,1626278,"4,17","2014-06-14T03:11:00Z,2014-06-14T03:11:09Z" with roadmap.geo beside it
-> raw_trip_id "20000589/0" (entity and mm_id), vehicle_id "20000589", edge_ids ["4", "17"], t =
   when each road was entered, lon and lat = the middles of the roads
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import (
    RAW_COLUMNS,
    Batch,
    check_header,
    check_text,
    line_blocks,
    raw_files,
    unread_rows,
)
from pipeline.trips.readers.csv_rows import split_row
from pipeline.trips.readers.settings import HoserTraces
from pipeline.trips.readers.times import check_zone, epoch_seconds
from pipeline.trips.readers.trip_ids import of_vehicle

COLUMNS = ("mm_id", "entity_id", "traj_id", "rid_list", "time_list")


class _Roads(NamedTuple):
    """Ids, middles, and the pairs of roads that join (origin << 32 | destination, sorted)."""

    middles: pl.DataFrame
    joins: npt.NDArray[np.int64]


def read_hoser(traces: HoserTraces, folder: Path) -> Iterator[Batch]:
    """Yield the trajectory tables in batches.

    A row is not read when its two lists differ in length (`lists_unequal`), name a road that
    roadmap.geo lacks (`unknown_edge`) or follow two roads that roadmap.rel does not join
    (`edges_not_adjacent`).

    Raises:
        SourceError: A file is missing, empty, binary or has other columns.
        ParameterError: Times state no zone and `traces.time_zone` is null.
    """
    if traces.time_zone is not None:
        check_zone(traces.time_zone)
    roads = _read_roads(folder / traces.roadmap)
    for path in raw_files(folder, traces.trajectories):
        shown = path.relative_to(folder).as_posix()
        for number, lines in enumerate(line_blocks(path, traces.block_bytes)):
            rows = lines
            if number == 0:
                check_header(path, split_row(lines["text"][0], ",") or [], COLUMNS)
                rows = lines.slice(1)
            yield _batch(rows, shown, roads, traces.time_zone)


def _batch(lines: pl.DataFrame, shown: str, roads: _Roads, time_zone: str | None) -> Batch:
    cells = [_cells(text) for text in lines["text"]]
    table = pl.DataFrame(cells, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    rows = lines.hstack(table).with_columns(
        pl.col("rid_list", "time_list").str.split(",").list.eval(pl.element().str.strip_chars())
    )
    rows = rows.with_row_index("row")
    unequal = pl.col("rid_list").list.len() != pl.col("time_list").list.len()
    equal = rows.filter((~unequal).fill_null(value=False))
    steps = equal.select("row", "rid_list", "time_list").explode("rid_list", "time_list")
    steps = steps.with_columns(
        epoch_seconds(steps["time_list"], time_zone).alias("t"),
        edge=pl.col("rid_list").cast(pl.Int64, strict=False),
    ).join(roads.middles, on="edge", how="left", maintain_order="left")
    faults = _step_faults(steps, roads.joins)
    rows = rows.join(faults, on="row", how="left", maintain_order="left").with_columns(
        reason=pl.when(pl.col("mm_id").is_null())
        .then(pl.lit("row_truncated"))
        .when(pl.col("mm_id").str.strip_chars() == "")
        .then(pl.lit("row_unparsable"))
        .when(unequal)
        .then(pl.lit("lists_unequal"))
        .otherwise("reason")
    )
    good = rows.filter(pl.col("reason").is_null())
    entity = pl.col("entity_id").str.strip_chars().replace("", None)
    edge_ids = pl.col("edge").cast(pl.String)  # "04" and "4" are one road
    points = steps.group_by("row", maintain_order=True).agg("t", "lon", "lat", edge_ids=edge_ids)
    trips = good.join(points, on="row", maintain_order="left").select(
        raw_trip_id=of_vehicle(entity, pl.col("mm_id").str.strip_chars()),
        vehicle_id=entity,
        flag=pl.lit(None, dtype=pl.String),
        t="t",
        lon="lon",
        lat="lat",
        edge_ids="edge_ids",
    )
    return Batch(trips.cast(RAW_COLUMNS), unread_rows(rows, shown), lines.height, {})


def _cells(text: str) -> list[str] | list[None]:
    row = split_row(text, ",")
    return row if row is not None and len(row) == len(COLUMNS) else [None] * len(COLUMNS)


def _step_faults(steps: pl.DataFrame, joins: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Return row and reason of the trips with a fault in one of their steps."""
    edge = steps["edge"].fill_null(-1).to_numpy()
    same = steps["row"].to_numpy()[1:] == steps["row"].to_numpy()[:-1]
    joined = np.isin(edge[:-1] << 32 | edge[1:], joins, assume_unique=False)
    apart = np.concatenate([[False], same & ~joined]) if edge.size else np.zeros(0, dtype=bool)
    flagged = steps.with_columns(pl.Series("apart", apart)).with_columns(
        reason=pl.when(pl.col("t").is_null())
        .then(pl.lit("time_unparsable"))
        .when(pl.col("edge").is_null())
        .then(pl.lit("row_unparsable"))
        .when(pl.col("lon").is_null())
        .then(pl.lit("unknown_edge"))
        .when("apart")
        .then(pl.lit("edges_not_adjacent"))
    )
    worst = pl.Enum(["time_unparsable", "row_unparsable", "unknown_edge", "edges_not_adjacent"])
    found = flagged.filter(pl.col("reason").is_not_null())
    first = found.group_by("row").agg(pl.col("reason").cast(worst).min())
    return first.with_columns(pl.col("reason").cast(pl.String))


def _read_roads(path: Path) -> _Roads:
    geo = _columns(path, ("geo_id", "coordinates"), ids=("geo_id",))
    again = geo.filter(pl.col("geo_id").is_duplicated())
    if again.height:
        raise SourceError(
            f"{path}: expected every geo_id once, found {again['geo_id'][0]} again; mend the file"
        )
    middles = [_middle(path, text) for text in geo["coordinates"]]
    frame = pl.DataFrame(
        {"edge": geo["geo_id"], "lon": [m[0] for m in middles], "lat": [m[1] for m in middles]}
    ).cast({"lon": pl.Float64, "lat": pl.Float64})
    names = ("origin_id", "destination_id")
    pairs = _columns(path.with_suffix(".rel"), names, ids=names)
    joins = pairs["origin_id"].to_numpy() << 32 | pairs["destination_id"].to_numpy()
    return _Roads(frame, np.unique(joins))


def _columns(path: Path, names: tuple[str, ...], *, ids: tuple[str, ...]) -> pl.DataFrame:
    """Read columns of a CSV table as text, those of ids as numbers from 0 to 2^31 - 1."""
    try:
        check_text(path, 1 << 20)
        table = pl.read_csv(path, infer_schema=False).select(names)
    except (OSError, pl.exceptions.PolarsError) as fault:
        found = " ".join(str(fault).split())[:200]
        raise SourceError(
            f"{path}: expected a CSV table with the columns {', '.join(names)}, found {found};"
            " see `traces.roadmap` in the city's config"
        ) from fault
    numbers = table.with_columns(pl.col(ids).cast(pl.Int64, strict=False))
    for name in ids:
        wrong = table.filter(~numbers[name].is_between(0, 2**31 - 1).fill_null(value=False))
        if wrong.height:
            raise SourceError(
                f"{path}: expected whole numbers from 0 in {name}, found {wrong[name][0]!r};"
                " mend the file"
            )
    return numbers


def _middle(path: Path, text: str | None) -> tuple[float, float]:
    """Return longitude and latitude halfway along a road given as JSON [[lon,lat],...]."""
    try:
        line = np.asarray(json.loads(text or "null"), dtype=np.float64)
    except (ValueError, TypeError, RecursionError):
        line = np.zeros(0)
    if line.ndim != 2 or len(line) < 2 or line.shape[1] != 2 or not np.isfinite(line).all():
        raise SourceError(
            f"{path}: expected coordinates [[lon,lat],[lon,lat],...], found"
            f" {(text or 'none')[:80]!r}; mend the file"
        )
    scale = np.cos(np.radians(line[:, 1].mean()))
    legs = np.hypot(np.diff(line[:, 0]) * scale, np.diff(line[:, 1]))
    along = np.concatenate([[0.0], np.cumsum(legs)])
    half = along[-1] / 2
    return float(np.interp(half, along, line[:, 0])), float(np.interp(half, along, line[:, 1]))
