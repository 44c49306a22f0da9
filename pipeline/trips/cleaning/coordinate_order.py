"""Judge whether longitude and latitude are where the format has them, before anything is cleaned.

Porto's points against bbox (-8.70, 41.12, -8.52, 41.20): 97 % fit as read, 0 % swapped -> go on;
a file saved as (lat, lon): 0 % as read, 97 % swapped -> SourceError that says so
"""

from collections import Counter

import numpy as np

from pipeline.errors import SourceError
from pipeline.trips.cleaning.track_points import Bools
from pipeline.trips.distance import Floats

Bbox = tuple[float, float, float, float]


def inside(lon: Floats, lat: Floats, bbox: Bbox) -> Bools:
    """Tell which positions lie in a bbox (west, south, east, north), edges included."""
    west, south, east, north = bbox
    return (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)


def is_decidable(bbox: Bbox) -> bool:
    """Tell whether a bbox and its mirror (lat, lon) have no position in common."""
    west, south, east, north = bbox
    return max(west, south) > min(east, north)


def wrong_sign(lon: Floats, lat: Floats, bbox: Bbox) -> Bools:
    """Tell which positions lie outside the bbox and would lie in it with a sign changed."""
    flipped = inside(-lon, lat, bbox) | inside(lon, -lat, bbox) | inside(-lon, -lat, bbox)
    return flipped & ~inside(lon, lat, bbox)


def count_orders(lon: Floats, lat: Floats, bbox: Bbox) -> Counter[str]:
    """Count how many points fit the bbox as read, swapped, and with a sign changed."""
    return Counter(
        {
            "points": int(lon.size),
            "as_read": int(np.count_nonzero(inside(lon, lat, bbox))),
            "swapped": int(np.count_nonzero(inside(lat, lon, bbox))),
            "sign_changed": int(np.count_nonzero(wrong_sign(lon, lat, bbox))),
        }
    )


def check_order(counts: Counter[str], bbox: Bbox, least_share: float) -> None:
    """Refuse an input of which too few points lie in the city; never turn it round silently.

    Where the bbox overlaps its own mirror (longitude near latitude) the order cannot be told from
    the points and only the share in the bbox is held to.

    Raises:
        SourceError: Fewer than `least_share` of the points fit as read.
    """
    points = counts["points"]
    if not points or counts["as_read"] >= least_share * points:
        return
    shares = {name: counts[name] / points for name in ("as_read", "swapped", "sign_changed")}
    if is_decidable(bbox) and shares["swapped"] >= least_share:
        remedy = "the file has latitude first: set `traces.coordinate_order: swapped`"
    elif shares["sign_changed"] >= least_share:
        remedy = "a minus sign is lost: mend the file, or the signs of `bbox`"
    else:
        remedy = "check `bbox` and `traces.format`, or lower `cleaning.least_share_in_bbox`"
    raise SourceError(
        f"raw traces: expected at least {least_share:.0%} of {points} points in the bbox"
        f" {list(bbox)} as (lon, lat), found {shares['as_read']:.1%} as read,"
        f" {shares['swapped']:.1%} swapped, {shares['sign_changed']:.1%} with a sign changed;"
        f" {remedy}"
    )
