"""The road network as a graph to route on and as lines to drive along.

roads.parquet with 947 directed segments -> RoadGraph; graph.position(408, 12.5) -> the point 12.5 m
into segment 408, in metres of the city's UTM zone
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.city.projection import UtmPlane
from pipeline.errors import SourceError
from pipeline.trips.distance import Floats

Ints = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """The segments' geometry, end to end.

    `begin` is where each segment's vertices begin in `xy` (metres); `place_m` is the distance of a
    vertex from the start of its segment, plus `stride_m` times the segment's number, so that one
    sorted search finds a place on any segment.
    """

    xy: Floats
    begin: Ints
    place_m: Floats
    stride_m: float


class Links(NamedTuple):
    """Node pairs that segments join, in CSR form.

    `order` is the segments sorted by pair, `first` where each pair's segments begin in it, `pair`
    the rising number of each pair, which is from node * nodes + to node.
    """

    order: Ints
    first: Ints
    pair: Ints
    indices: Ints
    indptr: Ints


class RoadGraph:
    """Directed segments between numbered nodes; segments are in the order of their edge ids.

    Attributes:
        edge_ids: Ids of the segments.
        u: Node each segment starts at.
        v: Node each segment ends at.
        length_m: Length of each segment.
        speed_mps: Speed of each segment.
        is_junction: Whether three streets or more meet at a node.
        twin: The segment back along the same street, or -1.
        plane: The city's UTM zone.
    """

    def __init__(self, roads: pl.DataFrame) -> None:
        """Build from columns edge_id, u, v, length_m, speed_kph, geometry (WKB, lon/lat).

        Raises:
            SourceError: There are no roads.
        """
        import shapely  # noqa: PLC0415 - slow import

        if roads.is_empty():
            raise SourceError("simulate: expected roads to drive on, found none; run `dvc repro`")
        roads = roads.sort("edge_id")
        self.edge_ids = roads["edge_id"]
        nodes = np.unique(np.concatenate([roads["u"].to_numpy(), roads["v"].to_numpy()]))
        self.u: Ints = np.searchsorted(nodes, roads["u"].to_numpy())
        self.v: Ints = np.searchsorted(nodes, roads["v"].to_numpy())
        self.nodes = int(nodes.size)
        self.length_m: Floats = np.maximum(roads["length_m"].to_numpy(), 0.01)
        self.speed_mps: Floats = roads["speed_kph"].to_numpy() / 3.6
        degrees, segment = shapely.get_coordinates(
            shapely.from_wkb(roads["geometry"].to_numpy()), return_index=True
        )
        west, south = degrees.min(axis=0)
        east, north = degrees.max(axis=0)
        self.plane = UtmPlane.around((west, south, east, north))
        self._lines = self._lay_lines(self.plane.to_metres(degrees), segment)
        self.twin = self._find_twins()
        self.links = self._link()
        ends = np.concatenate([self.u * self.nodes + self.v, self.v * self.nodes + self.u])
        self.is_junction = np.bincount(np.unique(ends) // self.nodes, minlength=self.nodes) >= 3

    def _lay_lines(self, xy: Floats, segment: Ints) -> Lines:
        begin = np.searchsorted(segment, np.arange(self.edge_ids.len() + 1))
        steps = np.concatenate([[0.0], np.hypot(*np.diff(xy, axis=0).T)])
        steps[begin[:-1]] = 0.0
        total = np.cumsum(steps)
        along = total - total[begin[segment]]
        drawn = along[begin[1:] - 1]  # length on the plane, a few parts in 10,000 off length_m
        scale = self.length_m / np.where(drawn > 0, drawn, 1.0)
        stride_m = float(self.length_m.max()) + 1.0
        return Lines(xy, begin, along * scale[segment] + segment * stride_m, stride_m)

    def _find_twins(self) -> Ints:
        """Pair the segments of two-way streets: ends exchanged, and the nearest in length."""
        by_ends: dict[tuple[int, int], list[int]] = {}
        for edge, ends in enumerate(zip(self.u.tolist(), self.v.tolist(), strict=True)):
            by_ends.setdefault(ends, []).append(edge)
        twin = np.full(self.u.size, -1, dtype=np.int64)
        for (u, v), edges in by_ends.items():
            for edge in edges:
                back = [b for b in by_ends.get((v, u), []) if b != edge]
                if back:
                    apart = np.abs(self.length_m[back] - self.length_m[edge])
                    near = back[int(np.argmin(apart))]
                    twin[edge] = near if apart.min() < 0.5 else -1
        return twin

    def _link(self) -> Links:
        order = np.lexsort((self.v, self.u))
        pair = self.u[order] * self.nodes + self.v[order]
        first = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
        indices = self.v[order][first]
        indptr = np.searchsorted(self.u[order][first], np.arange(self.nodes + 1))
        return Links(order, first, pair[first], indices, indptr)

    def position(self, edges: Ints, offsets_m: Floats) -> Floats:
        """Return the (N, 2) metres of places `offsets_m` into the segments `edges`."""
        lines = self._lines
        wanted = np.clip(offsets_m, 0.0, self.length_m[edges]) + edges * lines.stride_m
        after = np.searchsorted(lines.place_m, wanted, side="right")
        after = np.clip(after, lines.begin[edges] + 1, lines.begin[edges + 1] - 1)
        span = lines.place_m[after] - lines.place_m[after - 1]
        part = (wanted - lines.place_m[after - 1]) / np.where(span > 0, span, 1.0)
        part = np.clip(part, 0.0, 1.0)[:, None]
        between: Floats = lines.xy[after - 1] * (1 - part) + lines.xy[after] * part
        return between
