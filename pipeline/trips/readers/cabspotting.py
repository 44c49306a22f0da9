"""Read cabspotting files: `lat lon occupancy unix_time`, newest first; occupied runs are trips.

new_abboip.txt with `37.75 -122.39 1 1213084687` ... -> raw_trip_id "abboip-1213083011" (cab and
start of the run), vehicle_id "abboip", times rising
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch, line_blocks, raw_files, unpacked_name, unread_rows
from pipeline.trips.readers.point_rows import gather_trips, numbers, point_reason
from pipeline.trips.readers.settings import CabspottingTraces

PATTERN = "new_*.txt"
FILES = (PATTERN, "_cabs.txt")  # the list of cabs lies beside them
FIELDS = ("lat_text", "lon_text", "occupied", "t_text")


def read_cabspotting(traces: CabspottingTraces, folder: Path) -> Iterator[Batch]:
    """Yield one batch per new_<cab>.txt; a file holds one cab (about 21,000 rows).

    Raises:
        SourceError: No file, an empty or binary one, or one with no row of the format.
    """
    for path in raw_files(folder, PATTERN):
        shown = path.relative_to(folder).as_posix()
        lines = pl.concat(list(line_blocks(path, traces.block_bytes)))
        rows = _rows(lines)
        points = rows.filter(pl.col("reason").is_null())
        if points.is_empty():
            raise SourceError(
                f"{path}: expected lines `lat lon occupancy unix_time`, found"
                f" {rows['text'][0][:80]!r}; check `traces.format` in the city's config"
            )
        cab = unpacked_name(path)[:-4].removeprefix("new_")
        occupied = _runs(points, traces).with_columns(
            raw_trip_id=pl.format("{}-{}", pl.lit(cab), _second(pl.col("start"))),
            vehicle_id=pl.lit(cab),
        )
        excluded = {"unoccupied": points.height - occupied.height}
        yield Batch(gather_trips(occupied), unread_rows(rows, shown), rows.height, excluded)


def _second(start: pl.Expr) -> pl.Expr:
    """Return a time in whole seconds as text, one beyond all integers as it is."""
    return pl.coalesce(start.cast(pl.Int64, strict=False).cast(pl.String), start.cast(pl.String))


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    split = pl.col("text").str.strip_chars().str.splitn(" ", 4).struct.rename_fields(list(FIELDS))
    rows = lines.with_columns(split.struct.unnest()).with_columns(
        numbers({"t": "t_text", "lon": "lon_text", "lat": "lat_text"})
    )
    reason = pl.coalesce(
        point_reason(pl.col("t_text")),
        pl.when(~pl.col("occupied").is_in(["0", "1"])).then(pl.lit("row_unparsable")),
    )
    return rows.with_columns(reason=reason)


def _runs(points: pl.DataFrame, traces: CabspottingTraces) -> pl.DataFrame:
    """Return the occupied points with `start`, the first time of their run."""
    ordered = points.sort("t", "lon", "lat").with_columns(busy=pl.col("occupied") == "1")
    run = pl.col("busy").rle_id()
    ordered = ordered.with_columns(run=run)
    inner = (pl.col("run") > 0) & (pl.col("run") < pl.col("run").max())
    noise = inner & (pl.len().over("run") <= traces.flip_reports)
    ordered = ordered.with_columns(noise=noise)
    # Two short runs side by side would each take the other's value: only lone ones are noise.
    alone = ordered.group_by("run", maintain_order=True).agg(pl.col("noise").first())
    near = pl.col("noise").shift(1, fill_value=False) | pl.col("noise").shift(-1, fill_value=False)
    alone = alone.with_columns(flip=pl.col("noise") & ~near)
    ordered = ordered.join(alone.select("run", "flip"), on="run", maintain_order="left")
    ordered = ordered.with_columns(busy=pl.col("busy") ^ pl.col("flip"))
    pause = pl.col("t").diff().fill_null(0) > traces.run_gap_s
    breaks = pl.col("busy").ne(pl.col("busy").shift(1)).fill_null(value=True) | pause
    ordered = ordered.with_columns(run=breaks.cum_sum())
    return ordered.filter("busy").with_columns(start=pl.col("t").min().over("run"))
