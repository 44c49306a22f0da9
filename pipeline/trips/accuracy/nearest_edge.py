"""The baseline every matcher must beat: each point on the nearest street, taken by itself.

a point 8 m from Rue Grimaldi, moving north -> the segment of Rue Grimaldi that runs north
"""

import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane


def nearest_edges(points: pl.DataFrame, roads: pl.DataFrame) -> pl.Series:
    """Return the edge id of the nearest segment of each point.

    Of the two directions of a street the one nearer to the way the trip is moving is taken: the
    straight line from the point before to the point after.

    Args:
        points: Columns trip_id, lon, lat, in order of time within each trip.
        roads: Columns edge_id, bearing_deg, geometry (WKB, lon/lat).
    """
    import shapely  # noqa: PLC0415 - slow import

    if points.is_empty():
        return pl.Series("edge_id", [], dtype=pl.String)
    roads = roads.sort("edge_id")
    degrees = points.select("lon", "lat").to_numpy()
    plane = UtmPlane(float(np.median(degrees[:, 0])), float(np.median(degrees[:, 1])))
    lines = plane.geometries(shapely.from_wkb(roads["geometry"].to_numpy()))
    xy = plane.to_metres(degrees)
    tree = shapely.STRtree(lines)
    pairs, apart = tree.query_nearest(shapely.points(xy), return_distance=True, all_matches=True)
    trip = points["trip_id"].to_numpy()
    last = np.arange(len(trip))
    before = np.where(np.concatenate([[False], trip[1:] == trip[:-1]]), last - 1, last)
    after = np.where(np.concatenate([trip[1:] == trip[:-1], [False]]), last + 1, last)
    moving = xy[after] - xy[before]
    heading = np.degrees(np.arctan2(moving[:, 0], moving[:, 1]))
    bearing = roads["bearing_deg"].to_numpy()
    turn = np.abs((bearing[pairs[1]] - heading[pairs[0]] + 180) % 360 - 180)
    order = np.lexsort((pairs[1], turn, np.round(apart, 3), pairs[0]))
    first = np.unique(pairs[0][order], return_index=True)[1]
    return roads["edge_id"].gather(pairs[1][order][first]).alias("edge_id")
