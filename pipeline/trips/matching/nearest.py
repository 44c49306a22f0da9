"""The baseline any matcher must beat: each point on the road nearest to it.

    nearest_edge(network, points, radius_m=100.0)  ->  trace_id | edge_id | offset_m | distance_m

Of a two-way street it takes the direction that comes first in the network: a point alone says
nothing of where the car was going.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from pipeline.trips.matching.candidates import STATE, Grid, near
from pipeline.trips.matching.compiled import cached_kernel, entry_point
from pipeline.trips.matching.frames import checked

if TYPE_CHECKING:
    from pipeline.trips.matching.network import Network
    from pipeline.trips.matching.search import F64, Graph, Rows


@entry_point
def _compile_nearest(sources: str) -> Any:
    @cached_kernel
    def nearest(graph: Graph, grid: Grid, x: F64, y: F64, radius: float) -> Rows:
        _ = sources
        found = np.empty(len(x), STATE)
        states = np.empty(2, STATE)
        for i in range(len(x)):
            found[i].edge = -1
            if near(graph, grid, (x[i], y[i]), radius, 1, states, 0) > 0:
                found[i] = states[0]
        return found

    return nearest


def nearest_edge(network: Network, points: pl.DataFrame, *, radius_m: float) -> pl.DataFrame:
    """Return the nearest edge of each point, in the order of the input.

    Args:
        network: The road network.
        points: Columns `trace_id`, `t`, `lon`, `lat` as for `Matcher.match`.
        radius_m: Roads further away than this count as none (metres).

    Returns:
        Columns `trace_id`, `edge_id`, `offset_m`, `distance_m`; the last three null without a road.

    Raises:
        ContractError: As `Matcher.match`.
    """
    points = checked(points)
    x, y = network.projection.near_metres(
        points["lon"].to_numpy(), points["lat"].to_numpy(), radius_m
    )
    found = _compile_nearest()(network.graph, network.grid, x, y, float(radius_m))
    away = found["edge"] < 0
    edge = pl.Series(found["edge"].copy()).set(pl.Series(away), None)
    return pl.DataFrame(
        {
            "trace_id": points["trace_id"],
            "edge_id": network.edge_ids.gather(edge),
            "offset_m": np.where(away, np.nan, found["offset"]),
            "distance_m": np.where(away, np.nan, found["distance"]),
        }
    ).with_columns(pl.col("offset_m", "distance_m").fill_nan(None))
