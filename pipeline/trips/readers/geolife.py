"""Read GeoLife PLT files with their labels: six header lines, then lat,lon,0,feet,days,date,time.

Data/010/Trajectory/20070804033032.plt -> raw_trip_id "010/20070804033032" (unlabelled), or
"010/20070804033032-1186198232" for the stretch a label of a kept mode covers (its start time)
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch, line_blocks, raw_files, unpacked_name, unread_rows
from pipeline.trips.readers.point_rows import gather_trips, numbers, point_reason
from pipeline.trips.readers.settings import GeolifeTraces
from pipeline.trips.readers.times import epoch_seconds
from pipeline.trips.readers.trip_ids import of_vehicle

PATTERN = "*.plt"
LABELS = "labels.txt"
FILES = (PATTERN, LABELS)
HEADER_LINES = 6
FIELDS = ("lat_text", "lon_text", "zero", "feet", "days", "date", "time")


def read_geolife(traces: GeolifeTraces, folder: Path) -> Iterator[Batch]:
    """Yield one batch per PLT file; times are GMT, positions lat first.

    Points of other modes are excluded (`other_mode`), as are points of a labelled user under no
    label and all of a user without labels when those are skipped (`unlabelled`).

    Raises:
        SourceError: No file, an empty or binary one, or one that does not begin as a PLT file.
    """
    for path in raw_files(folder, PATTERN):
        lines = pl.concat(list(line_blocks(path, traces.block_bytes)))
        if not lines["text"][0].startswith("Geolife trajectory"):
            raise SourceError(
                f"{path}: expected `Geolife trajectory` in the first line, found"
                f" {lines['text'][0][:80]!r}; check `traces.format` in the city's config"
            )
        rows = _rows(lines.filter(pl.col("line") > HEADER_LINES))
        points = rows.filter(pl.col("reason").is_null()).sort("t", "lon", "lat")
        home = path.parent.parent if path.parent.name.lower() == "trajectory" else path.parent
        user = home.name
        labels = sorted(file for file in home.iterdir() if unpacked_name(file).lower() == LABELS)
        name = pl.select(of_vehicle(pl.lit(user), pl.lit(unpacked_name(path)[:-4]))).item()
        if labels:
            kept, excluded = _labelled(points, _labels(labels[0]), traces.modes, name)
        elif traces.unlabelled == "keep":
            kept, excluded = points.with_columns(raw_trip_id=pl.lit(name)), {}
        else:
            kept = points.clear().with_columns(raw_trip_id=pl.lit(name))
            excluded = {"unlabelled": points.height}
        trips = gather_trips(kept.with_columns(vehicle_id=pl.lit(user)))
        unread = unread_rows(rows, path.relative_to(folder).as_posix())
        yield Batch(trips, unread, rows.height, excluded)


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    split = pl.col("text").str.strip_chars().str.splitn(",", 7).struct.rename_fields(list(FIELDS))
    rows = lines.with_columns(split.struct.unnest())
    written = rows.select(pl.concat_str("date", "time", separator=" ")).to_series()
    rows = rows.with_columns(numbers({"lon": "lon_text", "lat": "lat_text"})).with_columns(
        epoch_seconds(written, "UTC").alias("t")
    )
    return rows.with_columns(reason=point_reason(pl.col("time")))


def _labels(path: Path) -> pl.DataFrame:
    lines = pl.concat(list(line_blocks(path, 1 << 20)))
    split = pl.col("text").str.strip_chars().str.splitn("\t", 3)
    table = lines.slice(1).select(
        split.struct.rename_fields(["from", "to", "mode"]).struct.unnest()
    )
    labels = table.select(
        "mode",
        *(
            epoch_seconds(table[name].str.replace_all("/", "-", literal=True), "UTC").alias(name)
            for name in ("from", "to")
        ),
    )
    if labels["from"].null_count() or labels["to"].null_count():
        raise SourceError(
            f"{path}: expected lines `start<tab>end<tab>mode` after a header, found others; mend it"
        )
    return labels


def _labelled(
    points: pl.DataFrame, labels: pl.DataFrame, modes: list[str], name: str
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Keep the points under a label of one of the modes; count the others.

    Where labels overlap, the one that starts last holds, of those the one that ends first.
    """
    ranked = labels.sort("from", "to", "mode", descending=[False, True, False])
    label = np.full(points.height, -1)
    begins = np.searchsorted(points["t"], ranked["from"])
    ends = np.searchsorted(points["t"], ranked["to"], side="right")
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        label[begin:end] = number
    marked = points.with_columns(pl.Series("label", label, dtype=pl.Int64)).join(
        ranked.select("mode", label_start="from").with_row_index("label").cast({"label": pl.Int64}),
        on="label",
        how="left",
        maintain_order="left",
    )
    covered = pl.col("label") >= 0
    wanted = covered & pl.col("mode").is_in(modes)
    kept = marked.filter(wanted).with_columns(
        raw_trip_id=pl.format("{}-{}", pl.lit(name), pl.col("label_start").cast(pl.Int64))
    )
    excluded = {
        "other_mode": marked.filter(covered & ~pl.col("mode").is_in(modes)).height,
        "unlabelled": marked.filter(~covered).height,
    }
    return kept, excluded
