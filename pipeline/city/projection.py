"""Metres for a city: its UTM zone, and geodesic lengths and bearings on the WGS84 ellipsoid.

    UtmPlane.around((24.92, 60.16, 24.96, 60.18)).epsg   ->  32635
    geodesic([24.94], [60.17], [24.95], [60.17])         ->  bearing 90.0 deg, length 555.1 m

Coordinates are (lon, lat) in degrees, WGS84; the plane's are (east, north) in metres.
"""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class UtmPlane:
    """The UTM zone of a point: one flat plane for areas and lengths of a whole city."""

    def __init__(self, lon: float, lat: float) -> None:
        zone = int((lon + 180) % 360 // 6) + 1
        self.epsg = (32600 if lat >= 0 else 32700) + zone

    @classmethod
    def around(cls, bbox: tuple[float, float, float, float]) -> "UtmPlane":
        """Return the plane of a bbox's centre; bbox is west, south, east, north."""
        west, south, east, north = bbox
        return cls((west + east) / 2, (south + north) / 2)

    @cached_property
    def _transformer(self) -> Any:
        import pyproj  # noqa: PLC0415 - slow import

        return pyproj.Transformer.from_crs(4326, self.epsg, always_xy=True)

    def to_metres(self, coordinates: Floats) -> Floats:
        """Project (N, 2) lon/lat degrees to (N, 2) east/north metres."""
        east, north = self._transformer.transform(*map(_plain, coordinates.T))
        return np.column_stack((east, north))

    def to_degrees(self, coordinates: Floats) -> Floats:
        """Project (N, 2) east/north metres back to (N, 2) lon/lat degrees."""
        lon, lat = self._transformer.transform(*map(_plain, coordinates.T), direction="INVERSE")
        return np.column_stack((lon, lat))

    def geometries(self, shapes: Any) -> Any:
        """Project an array of shapely geometries from lon/lat degrees to metres."""
        import shapely  # noqa: PLC0415 - slow import

        return shapely.transform(shapes, self.to_metres)


class LocalPlane:
    """Metres east and north of a (lon, lat) centre: its UTM zone, turned so that north is up."""

    def __init__(self, centre: tuple[float, float]) -> None:
        self._plane = UtmPlane(*centre)
        # UTM's north leans away from true north by up to some degrees at the rim of a zone.
        lon, lat = centre
        origin, northward = self._plane.to_metres(np.array([centre, (lon, lat + 1e-4)]))
        east, north = (northward - origin) / np.hypot(*(northward - origin))
        self._origin = origin
        self._turn = np.array([[north, east], [-east, north]])

    def metres(self, coordinates: Floats) -> Floats:
        """Project (N, 2) lon/lat degrees to (N, 2) metres; empty in, empty out."""
        metres: Floats = (self._plane.to_metres(coordinates) - self._origin) @ self._turn
        return metres

    def shapes(self, shapes: Any) -> Any:
        """Project an array of shapely geometries."""
        import shapely  # noqa: PLC0415 - slow import

        return shapely.transform(shapes, self.metres)


def geodesic(lon_a: Floats, lat_a: Floats, lon_b: Floats, lat_b: Floats) -> tuple[Floats, Floats]:
    """Return the initial bearings (degrees, [0, 360)) and lengths (metres) from points a to b.

    A length of zero has bearing 180, as the ellipsoid library words it; callers drop such steps.
    """
    import pyproj  # noqa: PLC0415 - slow import

    ends = map(_plain, (lon_a, lat_a, lon_b, lat_b))
    azimuth, _, length = pyproj.Geod(ellps="WGS84").inv(*ends)
    bearing = np.mod(azimuth, 360.0)
    return np.where(bearing >= 360.0, 0.0, bearing), np.asarray(length, dtype=np.float64)


def _plain(values: Floats) -> Any:
    """Return a single value as a list: pyproj mistakes an array of one for a number."""
    return values.tolist() if len(values) == 1 else values
