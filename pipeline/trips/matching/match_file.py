"""Match a file of points of any size: the body of the command `match-file`.

    python -m pipeline match-file --network net.parquet --points points.parquet --out matched
        ->  matched/path.parquet, matched/points.parquet, matched/trips.parquet

The rows of a trace may lie anywhere in the file. The ids are counted first; then ranges of ids with
about a million points each are read, matched and written, one range at a time. Row-group statistics
make this one pass over a file sorted by id; memory is bounded either way.
"""

from __future__ import annotations

import shutil
import uuid
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.trips.matching.frames import check_columns
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline.trips.matching.frames import MatchResult
    from pipeline.trips.matching.network import LocalMetres
    from pipeline.trips.matching.settings import MatchSettings

BATCH_POINTS = 1_000_000
FILES = ("path", "points", "trips")


class FileCounts(NamedTuple):
    """What was matched."""

    traces: int
    points: int
    placed: int  # points with a road
    parts: int


def match_file(
    network_path: Path,
    points_path: Path,
    out_dir: Path,
    *,
    settings: MatchSettings,
    workers: int = 0,
    batch_points: int = BATCH_POINTS,
) -> FileCounts:
    """Match all traces of a Parquet file and write three Parquet files, sorted by trace_id.

    Args:
        network_path: Edges, see `Network.from_frame`.
        points_path: Columns `trace_id`, `t`, `lon`, `lat`, rows in any order.
        out_dir: Folder for `path.parquet`, `points.parquet`, `trips.parquet`. It appears only once
            all of it is written; an earlier result is replaced.
        settings: The section `match:` of params.yaml.
        workers: Threads; 0 = one for each CPU. No effect on the result.
        batch_points: Points held in memory at a time, more only for a single longer trace.

    Raises:
        SourceError: A file is missing or is no Parquet file.
        ContractError: Wrong columns, no rows, null ids, or no point near any road.
    """
    edges = _readable(network_path, "network").collect()
    points = _readable(points_path, "points")
    with _named(points_path):
        check_columns(points.collect_schema())
    with _named(network_path):
        network = Network.from_frame(edges)
    _check_place(points, network, points_path, settings.wide_radius_m)
    table = PathTable.build(
        network,
        bound_m=settings.table_bound_m,
        max_mb=settings.table_max_mb,
        workers=workers,
    )
    matcher = Matcher(network, settings, table)
    unfinished = out_dir.parent / f".{out_dir.name}.{uuid.uuid4().hex[:8]}"
    unfinished.mkdir(parents=True)
    try:
        with _named(points_path):
            counts = _write_all(
                (matcher.match(batch, workers) for batch in _batches(points, batch_points)),
                unfinished,
            )
        if counts.placed == 0:
            raise ContractError(
                f"{points_path}: none of {counts.points} points is within "
                f"{settings.wide_radius_m:.0f} m of a road of {network_path}; is it the network of "
                "another place?"
            )
        _replace(unfinished, out_dir)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return counts


class _named:  # noqa: N801 - reads as a statement
    """Put the name of a file in front of what is wrong with it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, fault: object, trace: object) -> None:
        if isinstance(fault, ContractError):
            raise ContractError(f"{self._path}: {fault}") from fault


def _readable(path: Path, what: str) -> pl.LazyFrame:
    if not path.is_file():
        raise SourceError(f"{path}: no such file, expected the {what} as Parquet")
    try:
        frame = pl.scan_parquet(path)
        frame.collect_schema()
    except (pl.exceptions.ComputeError, OSError) as fault:
        raise SourceError(f"{path}: cannot be read as Parquet: {fault}") from fault
    return frame


def _check_place(points: pl.LazyFrame, network: Network, path: Path, margin_m: float) -> None:
    """Refuse a file whose points cannot lie on this network, before anything is matched."""
    lon = pl.col("lon").cast(pl.Float64).fill_nan(None)
    lat = pl.col("lat").cast(pl.Float64).fill_nan(None)
    found = points.select(
        pl.len().alias("rows"),
        pl.col("trace_id").null_count().alias("nameless"),
        lon.min().alias("west"),
        lon.max().alias("east"),
        lat.min().alias("south"),
        lat.max().alias("north"),
    ).collect(engine="streaming")
    rows, nameless, west, east, south, north = found.row(0)
    if rows == 0:
        raise ContractError(f"{path}: no rows, expected at least one point")
    if nameless:
        raise ContractError(f"{path}: {nameless} of {rows} rows have no trace_id")
    if west is None or south is None:
        raise ContractError(f"{path}: all {rows} rows have no lon or no lat")
    box = network.projection
    if _overlap((west, south, east, north), box, margin_m):
        return
    where = f"lon {west:.4f}..{east:.4f}, lat {south:.4f}..{north:.4f}"
    roads = f"lon {box.west:.4f}..{box.east:.4f}, lat {box.south:.4f}..{box.north:.4f}"
    hint = "is it the network of another place?"
    if abs(west) > 180 or abs(east) > 180 or abs(south) > 90 or abs(north) > 90:
        hint = "expected degrees, are these metres?"
    if _overlap((south, west, north, east), box, margin_m):
        hint = "lon and lat are swapped"
    raise ContractError(f"{path}: no point is near any road: points {where}, roads {roads}; {hint}")


def _overlap(bounds: tuple[float, float, float, float], box: LocalMetres, margin_m: float) -> bool:
    """Tell whether a box of west, south, east, north touches that of the network."""
    lon = np.clip((box.west + box.east) / 2, bounds[0], bounds[2])
    lat = np.clip((box.south + box.north) / 2, bounds[1], bounds[3])
    return bool(box.near_box(np.array([lon]), np.array([lat]), margin_m)[0])


def _batches(points: pl.LazyFrame, batch_points: int) -> Iterator[pl.DataFrame]:
    """Yield whole traces in order of id, about `batch_points` rows at a time."""
    counts = points.group_by("trace_id").len().sort("trace_id").collect(engine="streaming")
    group = (counts["len"].cum_sum() - 1) // batch_points
    begins = np.flatnonzero(np.diff(group.to_numpy(), prepend=-1))
    ends = np.append(begins[1:], counts.height) - 1
    for begin, end in zip(begins, ends, strict=True):
        first, last = counts["trace_id"][int(begin)], counts["trace_id"][int(end)]
        yield (
            points.filter(pl.col("trace_id").is_between(pl.lit(first), pl.lit(last)))
            .select("trace_id", "t", "lon", "lat")
            .collect(engine="streaming")
        )


def _write_all(results: Iterator[MatchResult], folder: Path) -> FileCounts:
    """Append the tables of each batch to their files."""
    from pyarrow import parquet  # noqa: PLC0415

    writers: dict[str, parquet.ParquetWriter] = {}
    traces = points = placed = parts = 0
    try:
        for result in results:
            for name in FILES:
                rows = getattr(result, name).to_arrow()
                if name not in writers:
                    writers[name] = parquet.ParquetWriter(folder / f"{name}.parquet", rows.schema)
                writers[name].write_table(rows)
            traces += result.trips.height
            points += result.points.height
            placed += result.points["edge_id"].count()
            parts += int(result.trips["parts"].sum())
    finally:
        for writer in writers.values():
            writer.close()
    return FileCounts(traces, points, placed, parts)


def _replace(finished: Path, out_dir: Path) -> None:
    """Let the finished folder take the place of an earlier result."""
    strange = [file for file in out_dir.glob("*") if file.stem not in FILES]
    if strange:
        raise SourceError(
            f"{out_dir}: holds {strange[0].name}, expected nothing but an earlier result; choose "
            "another folder"
        )
    if out_dir.exists():
        shutil.rmtree(out_dir)
    finished.rename(out_dir)
