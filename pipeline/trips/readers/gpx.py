"""Read GPX 1.0 and 1.1 files: each track segment is a trip; routes and waypoints are none.

drive.gpx with <trkpt lat="60.17" lon="24.94"><time>2024-05-01T07:00:00Z</time></trkpt> ...
-> raw_trip_id "drive-1-1" (file, track, segment), vehicle_id None, t [1714546800.0, ...]
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET  # expat >= 2.4.1 bounds entity expansion itself

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import (
    Batch,
    open_raw,
    raw_files,
    unpacked_name,
    unread_rows,
)
from pipeline.trips.readers.point_rows import gather_trips, numbers, point_reason
from pipeline.trips.readers.settings import GpxTraces
from pipeline.trips.readers.times import check_zone, epoch_seconds

PATTERN = "*.gpx"
# Points that nobody was recorded at: of a planned route, and places marked on the map.
_LEFT_OUT = {"rtept": "route_point", "wpt": "waypoint"}
_COLUMNS = ("raw_trip_id", "line", "lat_text", "lon_text", "time")


def read_gpx(traces: GpxTraces, folder: Path) -> Iterator[Batch]:
    """Yield one batch per *.gpx; a point without place or time is unread, named by its number.

    Points of routes and waypoints are excluded (`route_point`, `waypoint`), as is a file without
    any point (`empty_file`).

    Raises:
        SourceError: No file, or one that is not GPX.
        ParameterError: Times state no zone and `traces.time_zone` is null.
    """
    if traces.time_zone is not None:
        check_zone(traces.time_zone)
    for path in raw_files(folder, PATTERN):
        shown = path.relative_to(folder)
        name = shown.with_name(unpacked_name(shown)).as_posix().removesuffix(".gpx")
        excluded: Counter[str] = Counter()
        points = list(_points(path, name, excluded))
        rows = pl.DataFrame(
            points, schema=dict.fromkeys(_COLUMNS, pl.String) | {"line": pl.Int64}, orient="row"
        )
        rows = rows.with_columns(numbers({"lon": "lon_text", "lat": "lat_text"})).with_columns(
            epoch_seconds(rows["time"], traces.time_zone).alias("t")
        )
        rows = rows.with_columns(
            reason=point_reason(pl.col("time")),
            text=pl.concat_str("lat_text", "lon_text", "time", separator=" ", ignore_nulls=True),
        )
        good = rows.filter(pl.col("reason").is_null())
        trips = gather_trips(good.with_columns(vehicle_id=pl.lit(None, dtype=pl.String)))
        seen = rows.height + excluded.total()
        left_out = dict(excluded) if seen else {"empty_file": 1}
        yield Batch(trips, unread_rows(rows, shown.as_posix()), seen, left_out)


def _points(
    path: Path, name: str, excluded: Counter[str]
) -> Iterator[tuple[str, int, str | None, str | None, str | None]]:
    """Yield trip id, number of the point in the file, latitude, longitude and time as written.

    Points of no track are counted in `excluded`.
    """
    track, segment, number = 0, 0, 0
    root: str | None = None
    try:
        for event, element in _events(path):
            tag = element.tag.rpartition("}")[2]
            root = root or tag
            if event == "start" and tag == "trk":
                track, segment = track + 1, 0
            elif event == "start" and tag == "trkseg":
                segment += 1
            elif event == "end" and tag in _LEFT_OUT:
                excluded[_LEFT_OUT[tag]] += 1
                element.clear()
            elif event == "end" and tag == "trkpt":
                number += 1
                time = next((c.text for c in element if c.tag.rpartition("}")[2] == "time"), None)
                place = element.get("lat"), element.get("lon")
                yield f"{name}-{track}-{segment}", number, *place, time
                element.clear()
    except ET.ParseError as fault:
        raise SourceError(f"{path}: expected GPX, found {fault}; replace the file") from fault
    except (LookupError, ValueError) as fault:  # an encoding that expat does not know
        raise SourceError(f"{path}: expected GPX, found {fault}; save it as UTF-8") from fault
    if root != "gpx":
        raise SourceError(f"{path}: expected a <gpx> document, found <{root}>; replace the file")


def _events(path: Path) -> Iterator[tuple[str, ET.Element]]:
    with open_raw(path) as file:
        yield from ET.iterparse(file, events=("start", "end"))  # noqa: S314
