"""Look a city's raw traces over before heavy work: right format, right place, how much, how long?

a folder with train.csv whose points are (lat, lon)
-> error  coordinate order: expected 50 % of points in the bbox as (lon, lat), found 0 % as read and
          97 % swapped; set `traces.coordinate_order: swapped`
"""

import gzip
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane
from pipeline.errors import PipelineError
from pipeline.findings import Finding
from pipeline.trips.cleaning.coordinate_order import Bbox, count_orders, inside, is_decidable
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.cleaning.track_points import Bools
from pipeline.trips.diagnose_ids import EXAMPLES, diagnose_ids, when_of
from pipeline.trips.ingest import join_fragments
from pipeline.trips.readers.batch import (
    RAW_COLUMNS,
    check_text,
    data_files,
    empty_unread,
    fits,
    open_raw,
    unpacked_name,
)
from pipeline.trips.readers.formats import read_batches, reader_of
from pipeline.trips.readers.remedies import remedy_for
from pipeline.trips.readers.settings import TableTraces, TracesSettings

SAMPLE_POINTS = 300_000
ROAD_POINTS = 20_000
LEAST_NEAR_30_M = 0.85
MOST_UNREAD, MOST_UNREAD_AT_ALL = 0.01, 0.5
FEWEST_POINTS = 5
LONGEST_INTERVAL_S = 120.0
# The whole stage `ingest`, measured on 4.7 million points with two shared cores.
INGEST_POINTS_PER_S = 120_000
MOST_UNBELIEVABLE = 0.05
_NO_TEXT = (".parquet", ".gpx")  # XML states its own encoding


class _Sample(NamedTuple):
    """The first trips of the raw files: at least `SAMPLE_POINTS` points, or all there are."""

    trips: pl.DataFrame
    rows: int
    unread: pl.DataFrame
    excluded: Counter[str]


def diagnose_traces(
    folder: Path,
    *,
    traces: TracesSettings,
    cleaning: CleaningSettings,
    bbox: Bbox,
    roads: pl.DataFrame | None,
) -> list[Finding]:
    """Check a sample of a city's raw traces against its settings.

    Args:
        folder: The city's raw trace files.
        traces: The key `traces` of its config.
        cleaning: The key `cleaning`; states which times are believable.
        bbox: West, south, east, north in degrees.
        roads: Columns edge_id, bearing_deg, geometry once the roads are built, else None.

    Returns:
        Findings, worst first; an error about the files alone where they cannot be read.
    """
    try:
        sample = _read_sample(folder, traces)
        for path in _data_files(folder, traces):
            if not _is_no_text(path):  # to the end: an ä may first come there
                check_text(path, traces.block_bytes)
    except PipelineError as fault:
        expected = f"readable files of the format `{_format(traces)}`"
        return [Finding("error", "raw traces", expected, str(fault))]
    lon, lat = (
        sample.trips[name].explode(empty_as_null=False).to_numpy().astype(np.float64)
        for name in ("lon", "lat")
    )
    time = _time_that_reads(folder, traces, sample)
    findings = [_files(folder, traces, sample, time), _unread(sample, traces, time)]
    if lon.size:
        points = sample.trips.select("raw_trip_id", "t", "lon", "lat").explode(
            "t", "lon", "lat", empty_as_null=False
        )
        findings.append(_order(count_orders(lon, lat, bbox), bbox, points))
        findings += _rhythm(sample.trips, traces, cleaning)
        findings += diagnose_ids(sample.trips, traces=traces, cleaning=cleaning)
        findings.append(_time_span(points, cleaning))
        if roads is not None:
            findings.append(_near_roads(points, bbox, roads))
    rank = {"error": 0, "warning": 1, "info": 2}
    return sorted(findings, key=lambda finding: rank[finding.level])


def _data_files(folder: Path, traces: TracesSettings) -> list[Path]:
    """Return the files of the folder that are of the city's format."""
    patterns = reader_of(traces).files(traces)
    return [
        path
        for path in data_files(folder)
        if any(fits(path.relative_to(folder), pattern) for pattern in patterns)
    ]


def _is_no_text(path: Path) -> bool:
    return Path(unpacked_name(path)).suffix.lower() in _NO_TEXT


def _format(traces: TracesSettings) -> str:
    return str(type(traces).__struct_config__.tag)


def _read_sample(folder: Path, traces: TracesSettings) -> _Sample:
    trips = [pl.DataFrame(schema=RAW_COLUMNS)]
    unread = [empty_unread()]
    rows = points = 0
    excluded: Counter[str] = Counter()
    for batch in read_batches(traces, folder):
        trips.append(batch.trips)
        rows += batch.rows
        unread.append(batch.unread)
        excluded.update(batch.excluded)
        points += int(batch.trips["t"].list.len().sum())
        if points >= SAMPLE_POINTS:
            break
    found = pl.concat(trips)
    if reader_of(traces).fragments:
        found = join_fragments(found)
    return _Sample(found.sort("raw_trip_id"), rows, pl.concat(unread), excluded)


def _time_that_reads(folder: Path, traces: TracesSettings, sample: _Sample) -> str | None:
    """Return a `traces.time` by which a table of unread times is read nearly all; None for none.

    Tried are the pattern with day and month changed over, and ISO.
    """
    if not isinstance(traces, TableTraces) or "time_unparsable" not in set(sample.unread["reason"]):
        return None
    if _share_unread(sample) <= MOST_UNREAD:
        return None
    changed = re.sub("%[dm]", lambda found: "%m" if found[0] == "%d" else "%d", traces.time)
    for time in (changed, "iso"):
        if time == traces.time:
            continue
        try:
            other = _read_sample(folder, msgspec.structs.replace(traces, time=time))
        except PipelineError:
            continue
        if _share_unread(other) <= MOST_UNREAD:
            return time
    return None


def _share_unread(sample: _Sample) -> float:
    return sample.unread.height / max(sample.rows, 1)


def _files(folder: Path, traces: TracesSettings, sample: _Sample, time: str | None) -> Finding:
    """Say how much there is, and how long reading and cleaning all of it will take."""
    reader = reader_of(traces)
    files = _data_files(folder, traces)
    total = sum(path.stat().st_size for path in files)
    points = int(sample.trips["t"].list.len().sum())
    with_rows = [path for path in files if fits(path.relative_to(folder), reader.files(traces)[0])]
    rows = _rows_in(with_rows, reader.header_lines)
    points_per_row = points / max(sample.rows, 1)
    many = "1 file" if len(files) == 1 else f"{len(files)} files"
    found = f"{many}, {total / 1e6:.1f} MB, format {_format(traces)}"
    if not points:
        lost = Counter(sample.unread["reason"].to_list()) + sample.excluded
        most = max(sorted(lost), key=lost.__getitem__, default=None)
        remedy = remedy_for(most, traces) if most else "check the folder and `traces.format`"
        remedy = _set_time(time) if time else remedy
        found += f", none in {sample.rows:,} rows"
        return Finding("error", "raw traces", "at least one point", found, remedy)
    if rows is not None:
        seconds = rows * points_per_row / INGEST_POINTS_PER_S
        found += (
            f", about {rows:,} rows ({reader.row}s) and"
            f" {int(rows * points_per_row):,} points; `ingest` takes about {seconds / 60:.1f} min"
        )
    return Finding("info", "raw traces", "", found)


def _rows_in(files: list[Path], header_lines: int) -> int | None:
    """Estimate the rows of text files from the first lines of each of a few; None for others."""
    if any(_is_no_text(path) for path in files):
        return None
    lines = taken = 0
    for path in sorted(files, key=lambda p: -p.stat().st_size)[:5]:
        with open_raw(path) as file:
            head = file.read(1 << 20)
            whole = not file.read(1)
        lines += len(head.splitlines())  # the last one need not end
        packed = len(gzip.compress(head)) if unpacked_name(path) != path.name else len(head)
        taken += path.stat().st_size if whole else packed
    total = sum(path.stat().st_size for path in files)
    return max(round(total * lines / taken) - header_lines * len(files), 0) if taken else 0


def _set_time(time: str) -> str:
    return f"set `traces.time: {time!r}`, which reads nearly all of them"


def _unread(sample: _Sample, traces: TracesSettings, time: str | None) -> Finding:
    """Say how many rows cannot be read, why, and which key to change; show three of each kind.

    It is an error where most are lost, or where another pattern of times reads nearly all: those
    that this one does read have wrong times.
    """
    counts = Counter(sample.unread["reason"].to_list())
    share = _share_unread(sample)
    kinds = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    found = f"{share:.2%} of {sample.rows:,}" + (f" ({kinds})" if kinds else "")
    left_out = [f"{name} {count:,}" for name, count in sorted(sample.excluded.items()) if count]
    found += f"; left out: {', '.join(left_out)}" if left_out else ""
    level: Literal["error", "warning", "info"] = "warning" if share > MOST_UNREAD else "info"
    if share > MOST_UNREAD_AT_ALL or time:
        level = "error"
    by_count = sorted(counts, key=lambda name: (-counts[name], name))
    some = [sample.unread.filter(reason=name).head(EXAMPLES) for name in by_count]
    return Finding(
        level,
        "rows",
        f"at most {MOST_UNREAD:.0%} unreadable",
        found,
        _set_time(time)
        if time
        else "; ".join(dict.fromkeys(remedy_for(name, traces) for name in by_count)),
        tuple(f"{item} {reason} {text!r}" for rows in some for item, reason, text in rows.rows()),
    )


def _order(counts: Counter[str], bbox: Bbox, points: pl.DataFrame) -> Finding:
    total = counts["points"]
    share = {name: counts[name] / total for name in ("as_read", "swapped", "sign_changed")}
    found = f"{share['as_read']:.1%} as read"
    expected = "most points in the bbox as (lon, lat)"
    outside = ~inside(points["lon"].to_numpy(), points["lat"].to_numpy(), bbox)
    some = _examples(points, outside)
    if share["as_read"] >= 0.9:
        return Finding("info", "points in bbox", expected, found)
    if share["as_read"] >= 0.5:
        remedy = "the rest is clipped or dropped; check `bbox`"
        return Finding("warning", "points in bbox", expected, found, remedy, some)
    if share["swapped"] >= 0.5 and is_decidable(bbox):
        west, south, east, north = bbox
        remedy = (
            "set `traces.coordinate_order: swapped`, or, if it is `bbox` that has latitude first,"
            f" write `bbox: {[south, west, north, east]}`"
        )
        swapped = f"{found} and {share['swapped']:.1%} swapped"
        return Finding("error", "coordinate order", expected, swapped, remedy, some)
    if share["sign_changed"] >= 0.5:
        changed = f"{found} and {share['sign_changed']:.1%} with a sign changed"
        remedy = "mend the files or `bbox`"
        return Finding("error", "sign of coordinates", expected, changed, remedy, some)
    remedy = "check `bbox` and `traces.format`"
    return Finding("error", "points in bbox", expected, found, remedy, some)


def _examples(points: pl.DataFrame, wanted: Bools) -> tuple[str, ...]:
    """Show the first points (raw_trip_id, t, lon, lat) of those that are wanted."""
    some = points[np.flatnonzero(wanted)[:EXAMPLES]]
    return tuple(
        f"trip {name}: lon {lon:.6f}, lat {lat:.6f}, {when_of(t)}"
        for name, t, lon, lat in some.iter_rows()
    )


def _rhythm(
    trips: pl.DataFrame, traces: TracesSettings, cleaning: CleaningSettings
) -> list[Finding]:
    """Look at points per trip, the time between points and the span of time."""
    sizes = trips["t"].list.len()
    size = float(np.median(sizes.to_numpy()))
    steps = trips["t"].list.eval(pl.element().sort().diff().drop_nulls())
    steps_s = steps.explode(empty_as_null=False).to_numpy()
    interval_s = float(np.median(steps_s)) if steps_s.size else 0.0
    fair_size, fair_steps = size >= FEWEST_POINTS, 0 < interval_s <= LONGEST_INTERVAL_S
    few = trips.filter(sizes < FEWEST_POINTS).head(EXAMPLES)
    medians = trips.select("raw_trip_id", s=steps.list.median()).drop_nulls()
    far = medians.filter(~pl.col("s").is_between(1, LONGEST_INTERVAL_S)).head(EXAMPLES)
    table = isinstance(traces, TableTraces)
    cut = "`traces.columns.trip`" if table else "`traces.format`, which says what a trip is,"
    unit = " and `traces.time`, the unit of the times" if table else ""
    return [
        Finding(
            "info" if fair_size else "warning",
            "points per trip",
            f"a median of {FEWEST_POINTS} or more",
            f"a median of {size:.0f}",
            ""
            if fair_size
            else f"check {cut} and `cleaning.fewest_points` (now {cleaning.fewest_points})",
            ()
            if fair_size
            else tuple(
                f"trip {row['raw_trip_id']}: {len(row['t'])} points" for row in few.to_dicts()
            ),
        ),
        Finding(
            "info" if fair_steps else "warning",
            "time between points",
            f"a median of 1 to {LONGEST_INTERVAL_S:.0f} s",
            f"a median of {interval_s:.0f} s",
            ""
            if fair_steps
            else f"expect long inferred stretches; check `cleaning.most_gap_s` (now"
            f" {cleaning.most_gap_s:g}), which splits trips at longer pauses{unit}",
            ()
            if fair_steps
            else tuple(f"trip {name}: a median of {s:g} s" for name, s in far.iter_rows()),
        ),
    ]


def _time_span(points: pl.DataFrame, cleaning: CleaningSettings) -> Finding:
    """Compare the times with the dates that `cleaning` believes."""
    times = points["t"].to_numpy()
    first, end = cleaning.believable_s()
    believable = (times >= first) & (times < end)
    believed = times[believable]
    expected = f"times between {cleaning.earliest} and {cleaning.latest}"
    if believed.size < (1 - MOST_UNBELIEVABLE) * times.size:
        found = f"{1 - believed.size / times.size:.1%} outside"
        remedy = "check the unit (`traces.time` of a table), or `cleaning.earliest` and `.latest`"
        some = _examples(points, ~believable)
        return Finding("error", "time span", expected, found, remedy, some)
    days = [f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d}" for t in (believed.min(), believed.max())]
    return Finding("info", "time span", expected, " to ".join(days))


def _near_roads(points: pl.DataFrame, bbox: Bbox, roads: pl.DataFrame) -> Finding:
    import shapely  # noqa: PLC0415 - slow import

    lon, lat = points["lon"].to_numpy(), points["lat"].to_numpy()
    within = np.flatnonzero(inside(lon, lat, bbox))
    expected = f"{LEAST_NEAR_30_M:.0%} of the points in the bbox within 30 m of a road"
    if not within.size or roads.is_empty():
        return Finding("warning", "distance to roads", expected, "no point or no road to compare")
    some = within[:: max(within.size // ROAD_POINTS, 1)]
    plane = UtmPlane.around(bbox)
    lines = plane.geometries(shapely.from_wkb(roads["geometry"].to_numpy()))
    places = shapely.points(plane.to_metres(np.column_stack([lon[some], lat[some]])))
    tree = shapely.STRtree(lines)
    _, apart = tree.query_nearest(places, return_distance=True, all_matches=False)
    near_30, near_100 = float((apart <= 30).mean()), float((apart <= 100).mean())
    found = f"{near_30:.1%} (within 100 m: {near_100:.1%}, median {np.median(apart):.1f} m)"
    if near_30 >= LEAST_NEAR_30_M:
        return Finding("info", "distance to roads", expected, found)
    remedy = "check `bbox`, the age of the extract, and `network.service_roads`"
    far = _examples(points[some], apart > 30)
    return Finding("warning", "distance to roads", expected, found, remedy, far)
