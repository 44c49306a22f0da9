"""Named places beside the route, phase by phase.

    phase 3 over Rua A, a cafe 12 m from it, its cell's other places further off
    -> {"phase": 3, "id": "n17", "name": "Café Central", "category": "cafe", "distance_m": 12.3, ..}

In the first and the last phase the distance is measured to the point where the drive begins or
ends, in the others to the road driven there. Paper: Table 9, "Named POIs".
"""

import unicodedata
from typing import Any, Literal

import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane

# Fields of a place as a planned trip holds them.
FIELDS = ("phase", "id", "name", "category", "group", "lon", "lat", "distance_m")


class CityPlaces:
    """The named places of a city, and which of them lie beside which road."""

    def __init__(
        self, roads: pl.DataFrame, cells: pl.DataFrame, *, beside_m: float, anchor_m: float
    ) -> None:
        """Measure every named place against every road near it, once for the city.

        Args:
            roads: Rows of `road`: edge_id, length_m, geometry (WKB, lon/lat).
            cells: Rows of `cell`; their places are the city's.
            beside_m: Longest distance from a place to a road it lies beside, metres.
            anchor_m: Longest distance from a place to the start or end of a drive, metres.
        """
        import shapely  # noqa: PLC0415 - slow import

        self._anchor_m = anchor_m
        # Sorted by id, so that of equals the smaller number is the earlier id.
        self._places = named_places(cells).sort("id")
        self._name_numbers = self._places["name"].rank("dense")
        lon, lat = cells["lon"].to_numpy(), cells["lat"].to_numpy()
        at = (lon.min(), lat.min(), lon.max(), lat.max()) if cells.height else (0.0, 0.0, 0.0, 0.0)
        plane = UtmPlane.around(at)
        spots = self._places.select("lon", "lat").to_numpy()
        metres = plane.to_metres(spots) if len(spots) else spots
        self._points: Any = np.asarray(shapely.points(metres))
        self._tree = shapely.STRtree(self._points)
        lines = np.asarray(shapely.from_wkb(roads["geometry"].to_numpy()))
        self._lines = plane.geometries(lines) if len(lines) else lines
        self._roads = roads.select("edge_id", edge_length_m="length_m").with_row_index("line")
        line, place = self._near(self._lines, beside_m)
        self._beside = self._pairs(self._lines[line], place).with_columns(
            roads["edge_id"].gather(line)
        )

    def _near(self, shapes: Any, within_m: float) -> Any:
        """Return the pairs of shape and place within a distance, as two arrays of indices."""
        found = self._tree.query(shapes, predicate="dwithin", distance=within_m)
        return np.asarray(found, dtype=np.int64).reshape(2, -1)

    def _pairs(self, shapes: Any, place: Any) -> pl.DataFrame:
        """Return place (its number), its cell, and its distance to the shape, metres to the cm."""
        import shapely  # noqa: PLC0415 - slow import

        metres: Any = shapely.distance(shapes, self._points[place])
        return pl.DataFrame(
            {
                "place": pl.Series(place, dtype=pl.Int64),
                "cell": self._places["cell"].gather(place),
                "distance_m": pl.Series(metres, dtype=pl.Float64).round(2),
            }
        )

    def beside(
        self, segments: pl.DataFrame, drives: pl.DataFrame, *, places_per_phase: int
    ) -> pl.DataFrame:
        """Find the places of each phase, in the phase's own cell.

        Args:
            segments: Driven segments by trip and phase, as `route.segments_of` lists them.
            drives: Rows of `matched_trip`: trip_id, off_from_m, off_to_m; these trips among them.
            places_per_phase: Most places of a phase: the nearest, of equals the earlier id.

        Returns:
            One row per trip that has any: trip_id, places (list of `FIELDS`, by phase, distance,
            id). Of places with one name in a phase the nearest is kept.
        """
        numbered = segments.with_columns(trip=pl.col("trip_id").rle_id())
        middle = numbered.filter((pl.col("p") > 0) & (pl.col("p") < pl.col("last")))
        along = middle.join(self._beside, on=["edge_id", "cell"])
        keys = ["trip", "p", "place", "distance_m"]
        found = pl.concat([along.select(keys), self._at_ends(numbered, drives).select(keys)])
        found = found.group_by("trip", "p", "place").agg(pl.col("distance_m").min())
        told = (
            found.with_columns(name=self._name_numbers[found["place"]])
            .sort("trip", "p", "distance_m", "place")
            .unique(["trip", "p", "name"], keep="first", maintain_order=True)
            .filter(pl.int_range(pl.len()).over("trip", "p") < places_per_phase)
            .select("trip", "place", "distance_m", phase="p")
        )
        told = told.with_columns(self._places.drop("cell")[told["place"]])
        trips = numbered.select("trip", "trip_id").unique("trip", maintain_order=True)
        return (
            told.group_by("trip", maintain_order=True)
            .agg(places=pl.struct(FIELDS))
            .join(trips, on="trip", maintain_order="left")
            .select("trip_id", "places")
        )

    def _at_ends(self, segments: pl.DataFrame, drives: pl.DataFrame) -> pl.DataFrame:
        """Return the places near the start and the end of each drive, in that phase's cell."""
        import shapely  # noqa: PLC0415 - slow import

        sides: dict[Literal["first", "last"], str] = {"first": "off_from_m", "last": "off_to_m"}
        ends = pl.concat(
            segments.unique("trip", keep=side, maintain_order=True)
            .join(drives.select("trip_id", off_m=offset), on="trip_id", maintain_order="left")
            .select("trip", "p", "edge_id", "off_m", at="cell")
            for side, offset in sides.items()
        ).join(self._roads, on="edge_id", how="left", maintain_order="left")
        # Offsets are geodesic metres along the segment; on the plane it is a little longer.
        share = (ends["off_m"] / ends["edge_length_m"]).fill_nan(0.0).clip(0.0, 1.0).to_numpy()
        lines = self._lines[ends["line"].to_numpy()]
        spots: Any = shapely.line_interpolate_point(lines, share, normalized=True)
        end, place = self._near(spots, self._anchor_m)
        pairs: pl.DataFrame = ends.select("trip", "p", "at")[end].hstack(
            self._pairs(spots[end], place)
        )
        return pairs.filter(pl.col("cell") == pl.col("at"))


def named_places(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the places that have a name, one row each: cell, id, name, category, group, lon, lat.

    Names are NFC without outer blanks, of several (OSM writes "one;two") the first; categories are
    worded as in area descriptions.
    """
    places = cells.select("cell", "pois").explode("pois").drop_nulls("pois")
    places = places.unnest("pois").with_columns(
        name=pl.col("name").map_elements(_tidy, return_dtype=pl.String),
        category=pl.col("category").str.replace_all("_", " "),
    )
    return places.filter(pl.col("name") != "").select(
        "cell", "id", "name", "category", "group", "lon", "lat"
    )


def _tidy(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.partition(";")[0].split()))
