"""Distances between sequences of points, exact and compiled: DTW, Hausdorff, EDR; Jaccard of sets.

    points = positions([[24.94, 60.17], [24.95, 60.17]])        one row per point
    point_distances(points, starts, others, other_starts, edr_m=100.0)
    ->  one row per pair of sequences: dtw_m, hausdorff_m, edr

Between two points the distance is that of the WGS84 radii at their middle latitude, as in
`pipeline.trips.distance`: within a city it agrees with the geodesic to a few parts in a million.

Sources: Keogh and Ratanamahatana 2005 (DTW); Chen, Özsu and Oria 2005 (EDR).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.trips.matching.compiled import cached_kernel, kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Ints = npt.NDArray[Any]

_EQUATORIAL_RADIUS_M = 6378137.0
_ECCENTRICITY_SQUARED = 6.69437999014e-3  # WGS84


class PointDistances(NamedTuple):
    """Distances of pairs of sequences, parallel arrays.

    Attributes:
        dtw_m: Least sum of point distances over all monotone alignments, without a window, metres.
        hausdorff_m: Greatest distance from a point of one to the nearest point of the other.
        edr: Edits that turn one into the other over the length of the longer, 0 to 1.
    """

    dtw_m: F64
    hausdorff_m: F64
    edr: F64


def positions(lonlat: npt.ArrayLike) -> F64:
    """Prepare points for `point_distances`.

    Args:
        lonlat: (points, 2) longitude and latitude, degrees.

    Returns:
        (points, 4): longitude and latitude in radians, the former counted from the first point so
        that the date line cuts no city, and the metres of a radian east and north there.
    """
    degrees = np.asarray(lonlat, dtype=np.float64).reshape(-1, 2)
    first = degrees[0, 0] if len(degrees) else 0.0
    turn = np.radians(np.mod(degrees[:, 0] - first + 180.0, 360.0) - 180.0)
    lat = np.radians(degrees[:, 1])
    curve = 1 - _ECCENTRICITY_SQUARED * np.sin(lat) ** 2
    east = _EQUATORIAL_RADIUS_M / np.sqrt(curve)
    north = east * (1 - _ECCENTRICITY_SQUARED) / curve
    return np.column_stack((turn, lat, east * np.cos(lat), north))


def point_distances(
    points: F64, starts: I64, others: F64, other_starts: I64, *, edr_m: float
) -> PointDistances:
    """Compare sequence i of one list with sequence i of the other.

    Args:
        points: Result of `positions` for the points of all sequences, of one call with `others`
            (longitudes count from the same point).
        starts: Sequence i is `points[starts[i] : starts[i + 1]]`; none is empty.
        others: The other list's points.
        other_starts: The other list's starts, as many.
        edr_m: Two points match where they differ by at most this east-west and north-south each.

    Raises:
        ValueError: A sequence is empty, or there are more of one list than of the other.
    """
    if len(starts) != len(other_starts):
        raise ValueError(
            f"expected {len(starts) - 1} other sequences, found {len(other_starts) - 1}"
        )
    if (np.diff(starts) < 1).any() or (np.diff(other_starts) < 1).any():
        raise ValueError("expected sequences of at least one point, found an empty one")
    found = _all_distances(points, starts, others, other_starts, edr_m)
    return PointDistances(found[:, 0], found[:, 1], found[:, 2])


@kernel
def _distances(a: F64, b: F64, edr_m: float) -> tuple[float, float, float]:
    """Compare two sequences in one pass over their matrix of distances."""
    n, m = len(a), len(b)
    dtw = np.empty(m)  # cheapest alignment of a[:i + 1] with b[: j + 1]
    edits = np.arange(m + 1)  # edits from a[:i] to b[:j]
    nearest = np.full(m, np.inf)  # of b[j], to a point of a
    hausdorff = 0.0
    for i in range(n):
        near_a = np.inf
        above_left = edits[0]
        edits[0] = i + 1
        corner = np.inf
        for j in range(m):
            east = abs(b[j, 0] - a[i, 0]) * (a[i, 2] + b[j, 2]) / 2
            north = abs(b[j, 1] - a[i, 1]) * (a[i, 3] + b[j, 3]) / 2
            apart = np.sqrt(east * east + north * north)
            near_a = min(near_a, apart)
            nearest[j] = min(nearest[j], apart)

            before = corner
            if i > 0:
                before = min(before, dtw[j])
                corner = dtw[j]
            if j > 0:
                before = min(before, dtw[j - 1])
            dtw[j] = apart if i == 0 and j == 0 else before + apart

            changed = above_left + (0 if east <= edr_m and north <= edr_m else 1)
            above_left = edits[j + 1]
            edits[j + 1] = min(changed, min(above_left, edits[j]) + 1)
        hausdorff = max(hausdorff, near_a)
    for j in range(m):
        hausdorff = max(hausdorff, nearest[j])
    return dtw[m - 1], hausdorff, edits[m] / max(n, m)


@cached_kernel
def _all_distances(points: F64, starts: I64, others: F64, other_starts: I64, edr_m: float) -> F64:
    found = np.empty((len(starts) - 1, 3))
    for k in range(len(starts) - 1):
        a = points[starts[k] : starts[k + 1]]
        b = others[other_starts[k] : other_starts[k + 1]]
        found[k, 0], found[k, 1], found[k, 2] = _distances(a, b, edr_m)
    return found


@cached_kernel
def jaccard_of_lists(values: Ints, starts: I64, others: Ints, other_starts: I64) -> F64:
    """Return the Jaccard similarity of list i with other list i, as sets; 1 for two empty ones."""
    found = np.empty(len(starts) - 1)
    for k in range(len(starts) - 1):
        a = np.unique(values[starts[k] : starts[k + 1]])
        b = np.unique(others[other_starts[k] : other_starts[k + 1]])
        i, j, common = 0, 0, 0
        while i < len(a) and j < len(b):
            if a[i] == b[j]:
                i, j, common = i + 1, j + 1, common + 1
            elif a[i] < b[j]:
                i += 1
            else:
                j += 1
        union = len(a) + len(b) - common
        found[k] = common / union if union else 1.0
    return found
