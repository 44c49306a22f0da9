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
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.seals import check_seal, seal
from pipeline.tables import sealed_writer, swap
from pipeline.trips.matching.frames import WIDE, check_columns, empty_result
from pipeline.trips.matching.matcher import Matcher, compilation_announced
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyarrow.parquet import ParquetWriter

    from pipeline.trips.matching.frames import MatchResult
    from pipeline.trips.matching.network import LocalMetres
    from pipeline.trips.matching.settings import MatchSettings

BATCH_POINTS = 1_000_000
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
FILES = ("path", "points", "trips")
# What a file of points that got no road at all most likely suffers from, and what to do.
REMEDIES = {
    "invalid": "their t, lon or lat is missing or no number; mend the points",
    "no_road_near": "no road is within {radius:.0f} m of them; is it the network of another place?",
    "outlier": "nobody drives from one to the next in that time; is t in seconds?",
    "too_short": "traces of too few points in a row; is t in seconds, and trace_id that of a trip?",
    "low_likelihood": "no drive explains them; is it the network of another place?",
    "stale": "they lie where the vehicle was before; is t in seconds, and trace_id that of a trip?",
    "no_route": "no road joins them; does the network have both directions of its streets?",
    "against_one_way": "they go against one-way streets; does the network have both directions?",
}


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
            all of it is written. An earlier result is replaced; a folder that holds anything
            else, or an input, is refused before anything is read.
        settings: The section `match:` of params.yaml.
        workers: Threads; 0 = one for each CPU. No effect on the result.
        batch_points: Points held in memory at a time, more only for a single longer trace.

    Raises:
        SourceError: A file is missing or is no Parquet file, or `out_dir` is not free to take.
        ContractError: Wrong columns, no rows, null ids, or no point near any road.
    """
    out_dir = _free_folder(out_dir, (network_path, points_path))
    edges = _collected(_readable(network_path, "network"), network_path)
    points = _readable(points_path, "points")
    with _named(points_path, "points"):
        check_columns(points.collect_schema())
    # What is no number is refused in words just after; numpy need not warn as well.
    with _named(network_path, "network"), np.errstate(invalid="ignore"):
        network = Network.from_frame(edges)
        if network.edge_ids.dtype in WIDE:
            raise ContractError(
                f"network: edge_id is {network.edge_ids.dtype}, expected at most 64 bits"
            )
    _check_place(points, network, points_path, settings.wide_radius_m)
    unfinished = out_dir.parent / f".{out_dir.name}.{uuid.uuid4().hex[:8]}"
    (unfinished / "new").mkdir(parents=True)
    try:
        with _named(points_path, "points"), compilation_announced():
            table = PathTable.build(
                network,
                bound_m=settings.table_bound_m,
                max_mb=settings.table_max_mb,
                workers=workers,
            )
            matcher = Matcher(network, settings, table)
            batches = _batches(points, points_path, batch_points)
            results = (matcher.match(batch, workers) for batch in batches)
            counts, statuses = _write_all(results, unfinished / "new")
        if counts.placed == 0:
            remedy = REMEDIES[statuses.most_common(1)[0][0]].format(radius=settings.wide_radius_m)
            told = ", ".join(f"{status} {count}" for status, count in statuses.most_common())
            raise ContractError(
                f"{points_path}: none of {counts.points} points was matched to a road of"
                f" {network_path} ({told}): {remedy}"
            )
        swap(
            unfinished / "new",
            _free_folder(out_dir, (network_path, points_path)),
            old=unfinished / "old",
        )
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return counts


def _free_folder(out_dir: Path, inputs: tuple[Path, ...]) -> Path:
    """Return where the result may go: nothing is there, or only an earlier result.

    Raises:
        SourceError: Something else is there, which replacing would destroy.
    """
    if out_dir.is_symlink():
        raise SourceError(f"{out_dir}: expected a folder, found a link; give the folder itself")
    folder = out_dir.resolve()
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise SourceError(f"{place}: expected a folder, found a file; choose another --out")
    for file in inputs:
        if file.resolve().is_relative_to(folder):
            raise SourceError(
                f"{out_dir}: holds the input {file.name}, which the result would replace; choose"
                " another --out"
            )
    if not folder.exists():
        return folder
    found = sorted(file.name for file in folder.iterdir())
    expected = sorted(f"{name}.parquet" for name in FILES)
    strange = [name for name in found if name not in expected]
    strange += [name for name in found if name in expected and not _is_result(folder / name)]
    if strange or found not in ([], expected):
        what = strange[0] if strange else f"only {', '.join(found)}"
        raise SourceError(
            f"{out_dir}: holds {what}, expected an empty folder or an earlier result"
            f" ({', '.join(expected)} as written by match-file); choose another --out"
        )
    return folder


def _is_result(file: Path) -> bool:
    """Tell whether a file of a result's name has a result's columns; ids may be of any type."""
    if file.is_symlink() or not file.is_file():
        return False
    try:
        found = dict(pl.read_parquet_schema(file))
    except _UNREADABLE:
        return False
    expected = dict(getattr(empty_result(), file.stem).schema)
    given = {"trace_id", "edge_id"}
    return list(found) == list(expected) and all(
        found[name] == expected[name] for name in expected.keys() - given
    )


class _named:  # noqa: N801 - reads as a statement
    """Put the name of a file, instead of what it is, in front of what is wrong with it."""

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what = path, what

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, fault: object, trace: object) -> None:
        if isinstance(fault, ContractError):
            what = str(fault).removeprefix(f"{self._what}: ")
            raise ContractError(f"{self._path}: {what}") from fault


def _readable(path: Path, what: str) -> pl.LazyFrame:
    if not path.is_file():
        found = "a folder is no file" if path.is_dir() else "no such file"
        raise SourceError(f"{path}: {found}, expected the {what} as Parquet; check --{what}")
    check_seal(path, remedy=f"check --{what}, or make it anew")
    frame = pl.scan_parquet(path)
    try:
        frame.collect_schema()
    except _UNREADABLE as fault:
        raise _unreadable(path, fault) from fault
    return frame


def _collected(frame: pl.LazyFrame, path: Path) -> pl.DataFrame:
    try:
        return frame.collect(engine="streaming")
    except _UNREADABLE as fault:
        raise _unreadable(path, fault) from fault


def _unreadable(path: Path, fault: Exception) -> SourceError:
    return SourceError(f"{path}: cannot be read as Parquet: {fault}; write the file anew")


def _check_place(points: pl.LazyFrame, network: Network, path: Path, margin_m: float) -> None:
    """Refuse a file whose points cannot lie on this network, before anything is matched."""
    lon = pl.col("lon").cast(pl.Float64).fill_nan(None)
    lat = pl.col("lat").cast(pl.Float64).fill_nan(None)
    extent = points.select(
        pl.len().alias("rows"),
        pl.col("trace_id").null_count().alias("nameless"),
        lon.min().alias("west"),
        lon.max().alias("east"),
        lat.min().alias("south"),
        lat.max().alias("north"),
    )
    rows, nameless, west, east, south, north = _collected(extent, path).row(0)
    if rows == 0:
        raise ContractError(f"{path}: no rows, expected at least one point; write the file anew")
    if nameless:
        raise ContractError(f"{path}: {nameless} of {rows} rows have no trace_id; drop them")
    if west is None or south is None:
        raise ContractError(f"{path}: all {rows} rows have no lon or no lat; write the file anew")
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


def _batches(points: pl.LazyFrame, path: Path, batch_points: int) -> Iterator[pl.DataFrame]:
    """Yield whole traces in order of id, about `batch_points` rows at a time."""
    counts = _collected(points.group_by("trace_id").len().sort("trace_id"), path)
    group = (counts["len"].cum_sum() - 1) // batch_points
    begins = np.flatnonzero(np.diff(group.to_numpy(), prepend=-1))
    ends = np.append(begins[1:], counts.height) - 1
    for begin, end in zip(begins, ends, strict=True):
        first, last = counts["trace_id"][int(begin)], counts["trace_id"][int(end)]
        rows = points.filter(pl.col("trace_id").is_between(pl.lit(first), pl.lit(last)))
        yield _collected(rows.select("trace_id", "t", "lon", "lat"), path)


def _write_all(results: Iterator[MatchResult], folder: Path) -> tuple[FileCounts, Counter[str]]:
    """Append the tables of each batch to their files; count them, and points by status."""
    writers: dict[str, ParquetWriter] = {}
    traces = points = placed = parts = 0
    statuses: Counter[str] = Counter()
    try:
        for result in results:
            for name in FILES:
                rows = getattr(result, name).to_arrow()
                if name not in writers:
                    writers[name] = sealed_writer(folder / f"{name}.parquet", rows.schema)
                writers[name].write_table(rows)
            traces += result.trips.height
            points += result.points.height
            placed += result.points["edge_id"].count()
            parts += int(result.trips["parts"].sum())
            statuses.update(dict(result.points["status"].value_counts().iter_rows()))
    finally:
        for writer in writers.values():
            writer.close()
    for name in writers:
        seal(folder / f"{name}.parquet")
    return FileCounts(traces, points, placed, parts), statuses
