"""A road network as immutable arrays in local metres.

    Network.from_frame(edges)  <-  edge_id | u | v | length_m | speed_kph | geometry (WKB, lon/lat)
    network.edges, network.nodes  ->  36956, 18553

Each row is one driving direction; a two-way street is two rows with mirrored geometry, and a
street stored once is a one-way street. Nodes are renumbered along a space-filling curve, so that
nodes near each other on the ground are near each other in memory.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import ContractError
from pipeline.trips.matching.candidates import PIECE, Grid, compile_fill_cells
from pipeline.trips.matching.search import EDGE, F64, I32, REFERENCE_KPH, Graph, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

CELL_M = 50.0
BEARING_M = 15.0
_MOST_CELLS = 4_000_000
COLUMNS = ("edge_id", "u", "v", "length_m", "speed_kph", "geometry")
U64 = npt.NDArray[np.uint64]


class Network:
    """The roads a trace can be matched to; read-only and shared by all threads."""

    def __init__(
        self, edge_ids: pl.Series, graph: Graph, grid: Grid, projection: LocalMetres
    ) -> None:
        """Wrap built arrays; use `from_frame`."""
        self.edge_ids = edge_ids
        self.graph = graph
        self.grid = grid
        self.projection = projection
        self.content_hash = _digest((*graph, *grid))

    @property
    def edges(self) -> int:
        """Number of directed edges."""
        return len(self.graph.edges)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.graph.out_start) - 1

    @classmethod
    def from_frame(cls, edges: pl.DataFrame) -> Network:
        """Build the network of a table of directed edges.

        Args:
            edges: Columns `edge_id` (any type, unique), `u`, `v` (node ids), `length_m` (null =
                from the geometry), `speed_kph` (null = REFERENCE_KPH) and `geometry` (WKB
                line strings, lon/lat, in driving direction).

        Raises:
            ContractError: A column is missing or has the wrong type, an id is null or twice there,
                a geometry is no line in lon/lat, or a length or speed is not a positive number.
        """
        _check_columns(edges)
        lonlat, of_edge = _coordinates(edges)
        projection = LocalMetres(lonlat)
        x, y = projection.to_metres(lonlat[:, 0], lonlat[:, 1])
        u, v, place = _node_indices(edges, x, y, of_edge)
        drawn, pieces = _pieces(x, y, of_edge, edges.height)
        length = _lengths(edges, drawn)
        table = np.zeros(edges.height, EDGE)
        table["u"], table["v"] = u, v
        table["length"], table["weight"] = length, _weights(edges, length)
        table["sets_out"], table["arrives"] = _bearings(x, y, of_edge)
        table["twin"] = _twins(u, v, lonlat, of_edge)
        table["forks"] = np.bincount(u, minlength=len(place))[v] - (table["twin"] >= 0) > 1
        graph, order = _by_source(table, place)
        pieces["edge"] = np.argsort(order)[pieces["edge"]]
        grid = _grid(graph, drawn[order], pieces)
        return cls(edges["edge_id"].gather(order), graph, grid, projection)


class LocalMetres:
    """UTM metres of the zone at the centre of the network, and the box in which they hold."""

    def __init__(self, lonlat: F64) -> None:
        """Choose the zone from the centre of the coordinates (n, 2) in degrees."""
        from pyproj import Transformer  # noqa: PLC0415

        self.west, self.south = (float(c) for c in lonlat.min(axis=0))
        self.east, self.north = (float(c) for c in lonlat.max(axis=0))
        lon, lat = (self.west + self.east) / 2, (self.south + self.north) / 2
        zone = min(60, max(1, int((lon + 180) // 6) + 1))
        self.epsg = (32600 if lat >= 0 else 32700) + zone
        self._transformer = Transformer.from_crs(4326, self.epsg, always_xy=True)

    def to_metres(self, lon: F64, lat: F64) -> tuple[F64, F64]:
        """Return easting and northing in metres."""
        # Never a single element, which pyproj would take for a number.
        pad = (0, 1)
        x, y = self._transformer.transform(np.pad(lon, pad, "edge"), np.pad(lat, pad, "edge"))
        return np.asarray(x, np.float64)[:-1], np.asarray(y, np.float64)[:-1]

    def near_metres(self, lon: F64, lat: F64, margin_m: float) -> tuple[F64, F64]:
        """Return metres, infinite for points outside the network's box widened by a margin.

        Beyond the box a projection may fold the globe back onto the network.
        """
        inside = self.near_box(lon, lat, 2 * margin_m)
        x = np.full(len(lon), np.inf)
        y = np.full(len(lon), np.inf)
        if inside.any():
            x[inside], y[inside] = self.to_metres(lon[inside], lat[inside])
        return x, y

    def near_box(self, lon: F64, lat: F64, margin_m: float) -> npt.NDArray[np.bool_]:
        """Tell which points lie in the network's box widened by a margin (False for NaN)."""
        up = margin_m / 110_000
        side = up / max(0.01, float(np.cos(np.radians(max(abs(self.south), abs(self.north))))))
        return np.asarray(
            (lon >= self.west - side)
            & (lon <= self.east + side)
            & (lat >= self.south - up)
            & (lat <= self.north + up)
        )


def _check_columns(edges: pl.DataFrame) -> None:
    missing = [name for name in COLUMNS if name not in edges.columns]
    if missing:
        raise ContractError(
            f"network: columns {missing} are missing, expected {list(COLUMNS)}, "
            f"found {edges.columns}"
        )
    if edges.height == 0:
        raise ContractError("network: no edges, expected at least one row")
    for name in ("length_m", "speed_kph"):
        if not (edges[name].dtype.is_numeric() or edges[name].dtype == pl.Null):
            raise ContractError(f"network: {name} is {edges[name].dtype}, expected numbers")
    if edges["geometry"].dtype != pl.Binary:
        raise ContractError(f"network: geometry is {edges['geometry'].dtype}, expected WKB bytes")
    for name in ("edge_id", "u", "v", "geometry"):
        if edges[name].null_count():
            raise ContractError(f"network: {edges[name].null_count()} rows have no {name}")
    if edges["edge_id"].n_unique() != edges.height:
        twice = edges["edge_id"].filter(edges["edge_id"].is_duplicated())[0]
        raise ContractError(f"network: edge_id {twice!r} is there more than once, expected unique")
    if edges["u"].dtype != edges["v"].dtype:
        raise ContractError(
            f"network: u is {edges['u'].dtype} and v is {edges['v'].dtype}, expected one type"
        )


def _coordinates(edges: pl.DataFrame) -> tuple[F64, npt.NDArray[np.int64]]:
    """Return all vertices (n, 2) in degrees and the row each belongs to."""
    import shapely  # noqa: PLC0415

    try:
        lines: Any = shapely.from_wkb(edges["geometry"].to_numpy())
    except shapely.errors.GEOSException as fault:
        raise ContractError(f"network: geometry is not WKB: {fault}") from fault
    wrong = np.flatnonzero(shapely.get_type_id(lines) != 1)
    if len(wrong):
        raise ContractError(
            f"network: geometry of edge {edges['edge_id'][int(wrong[0])]!r} is a "
            f"{lines[wrong[0]].geom_type}, expected LineString"
        )
    lonlat, of_edge = shapely.get_coordinates(lines, return_index=True)
    count = np.bincount(of_edge, minlength=edges.height)
    if (count < 2).any():
        raise ContractError(
            f"network: geometry of edge {edges['edge_id'][int(np.argmin(count))]!r} has "
            f"{count.min()} points, expected at least 2"
        )
    sound = np.isfinite(lonlat).all(axis=1) & (abs(lonlat) <= (180, 90)).all(axis=1)
    if not sound.all():
        found = lonlat[np.argmin(sound)].tolist()
        raise ContractError(
            f"network: coordinate {found} is not lon/lat in degrees; is the network in metres, or "
            "are lon and lat swapped? Expected lon -180..180, lat -90..90"
        )
    return lonlat, of_edge


def _node_indices(
    edges: pl.DataFrame, x: F64, y: F64, of_edge: npt.NDArray[np.int64]
) -> tuple[I32, I32, F64]:
    """Return u and v as indices of nodes along a space-filling curve, and the nodes' x and y."""
    ids = pl.concat([edges["u"], edges["v"].alias("u")])
    rank = ids.rank("dense").to_numpy().astype(np.int64) - 1
    begins = np.searchsorted(of_edge, np.arange(edges.height))
    ends = np.searchsorted(of_edge, np.arange(edges.height), side="right") - 1
    ends_of_edges = np.concatenate([begins, ends])
    where = np.zeros(rank.max() + 1, np.int64)
    where[rank[::-1]] = ends_of_edges[::-1]
    code = _morton(x[where], y[where])
    along = np.argsort(code, kind="stable")
    index = np.empty(len(where), np.int32)
    index[along] = np.arange(len(where), dtype=np.int32)
    place = np.column_stack([x[where], y[where]])[along]
    return index[rank[: edges.height]], index[rank[edges.height :]], place


def _morton(x: F64, y: F64) -> U64:
    """Interleave the bits of the numbers of 50 m cells.

    The cells are those of the whole zone, so that far roads leave the order of the others as it is.
    """

    def spread(value: F64) -> U64:
        bits = np.clip(value / 50 + 2**20, 0, 2**32 - 1).astype(np.uint64)
        for shift in (16, 8, 4, 2, 1):
            mask = np.uint64((2**64 - 1) // (2**shift + 1))
            bits = (bits | (bits << np.uint64(shift))) & mask
        return bits

    return spread(x) | (spread(y) << np.uint64(1))


def _pieces(x: F64, y: F64, of_edge: npt.NDArray[np.int64], edges: int) -> tuple[F64, Rows]:
    """Return the drawn length of each edge and the straight pieces of all edges."""
    inner = np.flatnonzero(of_edge[1:] == of_edge[:-1])
    pieces = np.zeros(len(inner), PIECE)
    pieces["ax"], pieces["ay"] = x[inner], y[inner]
    pieces["bx"], pieces["by"] = x[inner + 1], y[inner + 1]
    pieces["edge"] = of_edge[inner]
    span = np.hypot(pieces["bx"] - pieces["ax"], pieces["by"] - pieces["ay"])
    before = np.concatenate([[0.0], np.cumsum(span)[:-1]])
    first = np.searchsorted(pieces["edge"], np.arange(edges))
    pieces["along"] = before - before[first][pieces["edge"]]
    drawn: F64 = np.bincount(pieces["edge"], weights=span, minlength=edges).astype(np.float64)
    return drawn, pieces


def _lengths(edges: pl.DataFrame, drawn: F64) -> F64:
    given = edges["length_m"].cast(pl.Float64).to_numpy()
    missing = edges["length_m"].is_null().to_numpy()
    wrong = np.flatnonzero(~missing & ~(np.isfinite(given) & (given >= 0)))
    if len(wrong):
        at = int(wrong[0])
        raise ContractError(
            f"network: length_m of edge {edges['edge_id'][at]!r} is {given[at]}, "
            "expected metres >= 0 or null"
        )
    return np.where(missing, drawn, given)


def _weights(edges: pl.DataFrame, length: F64) -> F64:
    """Return travel time as metres at REFERENCE_KPH, which keeps bounds in familiar units.

    A speed of the network's own, such as its mean, would let a road far away change a result.
    """
    speed = edges["speed_kph"].cast(pl.Float64).to_numpy()
    known = edges["speed_kph"].is_not_null().to_numpy()
    wrong = np.flatnonzero(known & ~(np.isfinite(speed) & (speed > 0)))
    if len(wrong):
        at = int(wrong[0])
        raise ContractError(
            f"network: speed_kph of edge {edges['edge_id'][at]!r} is {speed[at]}, "
            "expected a speed > 0 or null"
        )
    return np.asarray(length * np.where(known, REFERENCE_KPH / np.where(known, speed, 1.0), 1.0))


def _bearings(x: F64, y: F64, of_edge: npt.NDArray[np.int64]) -> tuple[F64, F64]:
    """Return the bearings at the start and end of each line (radians, anticlockwise of east).

    Taken over the first and last metres, since the last vertices before a junction are often drawn
    askew.
    """
    import shapely  # noqa: PLC0415

    lines = shapely.linestrings(np.column_stack([x, y]), indices=of_edge)

    def bearing(begin: Any, end: Any) -> F64:
        step = shapely.get_coordinates(end) - shapely.get_coordinates(begin)
        return np.asarray(np.arctan2(step[:, 1], step[:, 0]))

    ahead = shapely.line_interpolate_point(lines, BEARING_M)
    before = shapely.line_interpolate_point(lines, -BEARING_M)
    return bearing(shapely.get_point(lines, 0), ahead), bearing(
        before, shapely.get_point(lines, -1)
    )


def _twins(u: I32, v: I32, lonlat: F64, of_edge: npt.NDArray[np.int64]) -> I32:
    """Return for each edge the one with mirrored geometry, -1 for none.

    Geometry decides, not the node pair: the two carriageways of a dual road that share both ends
    are different streets.
    """
    ahead, backward = _line_hashes(lonlat, of_edge)
    twin = np.full(len(u), -1, np.int32)
    waiting: dict[tuple[int, int, int, int], list[int]] = {}
    keys = zip(u.tolist(), v.tolist(), ahead.tolist(), backward.tolist(), strict=True)
    for edge, (tail, head, there, back) in enumerate(keys):
        partners = waiting.get((head, tail, back, there))
        if partners:
            other = partners.pop()
            twin[edge] = other
            twin[other] = edge
        else:
            waiting.setdefault((tail, head, there, back), []).append(edge)
    return twin


def _line_hashes(lonlat: F64, of_edge: npt.NDArray[np.int64]) -> tuple[U64, U64]:
    """Return a hash of each line's vertices (to 1e-7 degrees) in order and in reverse order."""
    grid = np.round(lonlat * 1e7).astype(np.int64).view(np.uint64)
    mixed = grid[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ grid[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    first = np.searchsorted(of_edge, np.arange(of_edge[-1] + 1))
    count = np.bincount(of_edge)
    place = np.arange(len(of_edge)) - first[of_edge]
    powers = np.cumprod(np.full(count.max(), 0xD6E8FEB86659FD93, np.uint64))
    ahead = np.add.reduceat(mixed * powers[place], first)
    backward = np.add.reduceat(mixed * powers[count[of_edge] - 1 - place], first)
    return ahead, backward


def _by_source(table: Rows, place: F64) -> tuple[Graph, npt.NDArray[np.int64]]:
    """Return the graph with edges in order of the node they leave, and the old number of each."""
    order = np.argsort(table["u"], kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    edges = table[order]
    edges["twin"] = np.where(edges["twin"] >= 0, number[edges["twin"]], -1)
    nodes = int(max(table["u"].max(), table["v"].max())) + 1
    starts = np.zeros(nodes + 1, np.int32)
    np.cumsum(np.bincount(table["u"], minlength=nodes), out=starts[1:])
    return Graph(edges, starts, place, _stretch(edges, place)), order


def _stretch(edges: Rows, place: F64) -> float:
    """Return the least length of an edge over the straight line between its nodes, at most 1."""
    ends = place[edges["u"]] - place[edges["v"]]
    straight = np.hypot(ends[:, 0], ends[:, 1])
    apart = straight > 1.0
    return float(min(1.0, (edges["length"][apart] / straight[apart]).min(initial=1.0)))


def _grid(graph: Graph, drawn: F64, pieces: Rows) -> Grid:
    """Put the pieces of one direction of each street into square cells."""
    edges = len(graph.edges)
    owner = (graph.edges["twin"] < 0) | (graph.edges["twin"] > np.arange(edges))
    pieces = pieces[owner[pieces["edge"]]]
    pieces = pieces[np.argsort(pieces["edge"], kind="stable")]
    x0 = float(min(pieces["ax"].min(), pieces["bx"].min()))
    y0 = float(min(pieces["ay"].min(), pieces["by"].min()))
    east = float(max(pieces["ax"].max(), pieces["bx"].max()))
    north = float(max(pieces["ay"].max(), pieces["by"].max()))
    # A country has larger cells, so that the grid never outgrows the roads.
    cell = max(CELL_M, float(np.sqrt((east - x0) * (north - y0) / _MOST_CELLS)))
    # Cells of the zone, so that far roads leave the order of the others as it is.
    x0, y0 = np.floor(x0 / cell) * cell, np.floor(y0 / cell) * cell
    width, height = east - x0, north - y0
    columns, rows = int(width / cell) + 1, int(height / cell) + 1
    starts, flat = compile_fill_cells()(pieces, x0, y0, cell, columns, rows)
    piece_start = np.searchsorted(pieces["edge"], np.arange(edges + 1)).astype(np.int32)
    scale = graph.edges["length"] / np.where(drawn > 0, drawn, 1.0)
    return Grid(
        pieces, piece_start, np.where(drawn > 0, scale, 0.0), starts, flat,
        x0, y0, cell, columns, rows,
    )  # fmt: skip


def _digest(parts: Sequence[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
