"""Look a city's ground over before heavy work: is the bbox right, are roads named, cells filled?

bbox [60.16, 24.92, 60.18, 24.96] with zone Europe/Helsinki
-> error  bbox: expected west, south, east, north, found latitude before longitude; write
          bbox: [24.92, 60.16, 24.96, 60.18]
"""

import datetime as dt
import zoneinfo
from typing import Literal

import numpy as np
import polars as pl

from pipeline.city.sources import BBox
from pipeline.findings import Finding
from pipeline.keys import is_time_zone

DEGREES_PER_HOUR = 15.0
# Zones are wide: China keeps one for 62 degrees, Spain lives 19 degrees west of its own.
ODD_OFFSET_DEG = 30.0
WRONG_OFFSET_DEG = 60.0
LARGEST_CITY_DEG = 3.0
MOST_UNNAMED = 0.40
MOST_REJECTED = 0.20
MOST_EMPTY_CELLS = 0.50
LEAST_INSIDE = 0.99
LEAST_EXTENT = 0.05


def diagnose_place(*, bbox: BBox, time_zone: str) -> list[Finding]:
    """Check the bbox and the time zone against each other; needs no data.

    Args:
        bbox: West, south, east, north, degrees.
        time_zone: IANA name.
    """
    west, south, east, north = bbox
    if not is_time_zone(time_zone):
        return [
            Finding("error", "time_zone", "an IANA name such as Europe/Lisbon", repr(time_zone),
                    "mend `time_zone`")
        ]  # fmt: skip
    zone_lon = _zone_longitude(time_zone)
    if _looks_swapped(bbox, zone_lon):
        found = f"latitude before longitude in {list(bbox)}"
        remedy = f"write `bbox: {list(_mirrored(bbox))}`"
        return [Finding("error", "bbox", "west, south, east, north", found, remedy)]
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        order = "west < east within 180, south < north within 90 degrees"
        return [Finding("error", "bbox", order, str(list(bbox)), "mend `bbox`")]
    findings = []
    if max(east - west, north - south) > LARGEST_CITY_DEG:
        findings.append(
            Finding("warning", "bbox size", f"at most {LARGEST_CITY_DEG:g} degrees a side",
                    f"{east - west:.2f} x {north - south:.2f}", "a city needs less; mend `bbox`")
        )  # fmt: skip
    off = _apart((west + east) / 2, zone_lon)
    level: Literal["error", "warning", "info"] = "info"
    if off > ODD_OFFSET_DEG:
        level = "error" if off > WRONG_OFFSET_DEG else "warning"
    findings.append(
        Finding(
            level,
            "time zone",
            f"a bbox near longitude {zone_lon:.0f}, where {time_zone} is solar time",
            f"longitude {(west + east) / 2:.1f}, {off:.0f} degrees away",
            "" if level == "info" else "check `time_zone` and `bbox`",
        )
    )
    return findings


def bbox_in_order(bbox: BBox, time_zone: str) -> BBox:
    """Return a bbox in order: west, south, east, north; see `diagnose_place`."""
    swapped = is_time_zone(time_zone) and _looks_swapped(bbox, _zone_longitude(time_zone))
    return _mirrored(bbox) if swapped else bbox


def _mirrored(bbox: BBox) -> BBox:
    first, second, third, fourth = bbox
    return second, first, fourth, third


def diagnose_ground(
    *, bbox: BBox, roads: pl.DataFrame, rejected_segments: int, cells: pl.DataFrame
) -> list[Finding]:
    """Check built roads and cells.

    Args:
        bbox: West, south, east, north, degrees.
        roads: Rows of road.schema.json.
        rejected_segments: Segments the road stage left out.
        cells: Rows of cell.schema.json.
    """
    if roads.is_empty() or cells.is_empty():
        return [Finding("error", "roads", "at least one segment and cell", "none", "check `bbox`")]
    return [*_road_findings(bbox, roads, rejected_segments), *_cell_findings(cells)]


def _zone_longitude(time_zone: str) -> float:
    """Return the longitude whose solar time is the zone's standard time (the smaller offset)."""
    zone = zoneinfo.ZoneInfo(time_zone)
    offsets = [
        dt.datetime(2024, month, 1, 12, tzinfo=zone).utcoffset() or dt.timedelta()
        for month in (1, 7)
    ]
    return min(offsets).total_seconds() / 3600 * DEGREES_PER_HOUR


def _apart(a: float, b: float) -> float:
    """Return how far two longitudes are apart, 0-180 degrees."""
    return abs((a - b + 180) % 360 - 180)


def _looks_swapped(bbox: BBox, zone_lon: float) -> bool:
    """Tell whether the bbox is [south, west, north, east].

    It is when a "latitude" beyond 90 gives it away, or when the zone fits the swapped order well
    (within 20 degrees) and the given order clearly worse (by 20 degrees more).
    """
    first, second, third, fourth = bbox
    given, other = _apart((first + third) / 2, zone_lon), _apart((second + fourth) / 2, zone_lon)
    possible = max(abs(first), abs(third)) <= 90 and first < third and second < fourth
    beyond = max(abs(second), abs(fourth)) > 90
    return possible and (beyond or (other <= 20 and given > other + 20))


def _road_findings(bbox: BBox, roads: pl.DataFrame, rejected: int) -> list[Finding]:
    west, south, east, north = bbox
    lon, lat = roads["u_lon"].to_numpy(), roads["u_lat"].to_numpy()
    within = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)
    inside = float(within.mean())
    extent = float(np.ptp(lon) * np.ptp(lat)) / ((east - west) * (north - south))
    unnamed = roads["name"].null_count() / roads.height
    dropped = rejected / (rejected + roads.height)
    return [
        _share("roads inside the bbox", inside, least=LEAST_INSIDE, remedy="check `bbox`"),
        _share("part of the bbox that roads span", extent, least=LEAST_EXTENT,
               remedy="the bbox is far larger than the extract; check both"),
        _share("unnamed roads", unnamed, most=MOST_UNNAMED,
               remedy="texts will name few streets; try `network.service_roads: false`, or check"
               " `name_tag`"),
        _share("segments outside the connected network", dropped, most=MOST_REJECTED,
               remedy="the extract may be cut badly; see rejected/roads.parquet"),
    ]  # fmt: skip


def _cell_findings(cells: pl.DataFrame) -> list[Finding]:
    places = cells["pois"].list.len().to_numpy()
    bare = (places == 0) & (cells["natural"].list.len().to_numpy() == 0)
    empty = float(bare.mean())
    no_district = cells["district"].null_count() / cells.height
    mean = f"{places.mean():.1f} a cell, median {np.median(places):g}, {cells.height} cells"
    return [
        Finding("info" if places.sum() else "warning", "places", "at least one", mean,
                "" if places.sum() else "descriptions will be nearly empty; use a context source"
                " with places"),
        _share("cells without any context", empty, most=MOST_EMPTY_CELLS,
               remedy="use an extract with POIs and land use, or Overture"),
        _share("cells without a district", no_district, most=MOST_EMPTY_CELLS,
               remedy="raise `context.source.district_reach_m`, or use Overture's divisions"),
    ]  # fmt: skip


def _share(
    what: str, found: float, *, remedy: str, least: float = 0.0, most: float = 1.0
) -> Finding:
    """Judge a share that should lie between two bounds."""
    expected = f"at least {least:.0%}" if least else f"at most {most:.0%}"
    fine = least <= found <= most
    return Finding(
        "info" if fine else "warning", what, expected, f"{found:.1%}", "" if fine else remedy
    )
