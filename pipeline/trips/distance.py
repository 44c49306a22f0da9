"""Distances between positions in metres, fast enough for every step of every trace.

distance_m(-8.61, 41.15, -8.60, 41.15) -> 839.2
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_EQUATORIAL_RADIUS_M = 6378137.0
_ECCENTRICITY_SQUARED = 6.69437999014e-3  # WGS84


def distance_m(
    lon_a: npt.ArrayLike, lat_a: npt.ArrayLike, lon_b: npt.ArrayLike, lat_b: npt.ArrayLike
) -> Floats:
    """Return the distances between positions a and b, element by element.

    The two radii of the WGS84 ellipsoid at the middle latitude make it agree with the geodesic to
    a few parts in a million within a city; between continents it is only a very large number,
    which is all a rule about impossible speed needs.

    Args:
        lon_a: Longitudes in degrees.
        lat_a: Latitudes in degrees.
        lon_b: Longitudes in degrees.
        lat_b: Latitudes in degrees.
    """
    lon_1, lat_1, lon_2, lat_2 = (
        np.radians(np.asarray(x, dtype=np.float64)) for x in (lon_a, lat_a, lon_b, lat_b)
    )
    middle = (lat_1 + lat_2) / 2
    curve = 1 - _ECCENTRICITY_SQUARED * np.sin(middle) ** 2
    east_radius_m = _EQUATORIAL_RADIUS_M / np.sqrt(curve)
    north_radius_m = east_radius_m * (1 - _ECCENTRICITY_SQUARED) / curve
    turn = lon_2 - lon_1
    turn = turn - 2 * np.pi * np.rint(turn / (2 * np.pi))  # the short way over the date line
    east_m: Floats = turn * np.cos(middle) * east_radius_m
    north_m: Floats = (lat_2 - lat_1) * north_radius_m
    return np.sqrt(east_m * east_m + north_m * north_m)
