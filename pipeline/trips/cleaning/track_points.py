"""All points of many trips as flat arrays, with the three moves every cleaning rule is made of.

Two trips of 3 and 2 points -> trip [0,0,0,1,1]; drop(point 1) leaves it with a reason, cut(point 4)
begins a new piece there; nothing is ever removed, so each point keeps its fate.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.trips.distance import Floats, distance_m

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

KEPT = 0


@dataclass(slots=True)
class TrackPoints:
    """Points ordered by trip and time; arrays of one length.

    Attributes:
        trip: Row of the trip in its table.
        raw_index: Position of the point in the trip as read.
        t: UTC epoch seconds.
        lon: Longitudes in degrees.
        lat: Latitudes in degrees.
        piece: Number of the piece the point belongs to, rising along the arrays.
        reason: Code of the rule that dropped the point, `KEPT` where none did.
        notes: Bits of what happened to the point and is worth telling.
        prematched: Whether the trip came as a road sequence: its points are roads, so none may be
            taken out of its middle.
    """

    trip: Ints
    raw_index: Ints
    t: Floats
    lon: Floats
    lat: Floats
    piece: Ints
    reason: npt.NDArray[np.uint8]
    notes: npt.NDArray[np.uint8]
    prematched: Bools

    def live(self) -> Ints:
        """Return the indices of the points still kept, in order."""
        return np.flatnonzero(self.reason == KEPT)

    def steps(self) -> tuple[Ints, Ints]:
        """Return the indices of neighbouring kept points within one piece: from, to."""
        live = self.live()
        a, b = live[:-1], live[1:]
        same = self.piece[a] == self.piece[b]
        return a[same], b[same]

    def step_length_m(self, a: Ints, b: Ints) -> Floats:
        """Return the distances between the points `a` and `b`."""
        return distance_m(self.lon[a], self.lat[a], self.lon[b], self.lat[b])

    def drop(self, points: Ints, reason: int) -> None:
        """Give kept points the reason for which they go."""
        self.reason[points] = reason

    def drop_trips(self, trips: Ints, reason: int) -> None:
        """Drop every kept point of the trips with these rows."""
        live = self.live()
        self.drop(live[np.isin(self.trip[live], trips)], reason)

    def cut(self, begins: Ints) -> None:
        """Let a new piece begin at each of these kept points."""
        live = self.live()
        fresh = np.zeros(self.trip.size, dtype=bool)
        fresh[begins] = True
        change = np.concatenate([[False], self.piece[live[1:]] != self.piece[live[:-1]]])
        self.piece[live] = np.cumsum(change[: live.size] | fresh[live])

    def piece_starts(self, live: Ints) -> Ints:
        """Return where in `live` each piece begins."""
        if not live.size:
            return np.zeros(0, dtype=np.int64)
        change = self.piece[live[1:]] != self.piece[live[:-1]]
        return np.concatenate([[0], np.flatnonzero(change) + 1])


def explode_trips(raw: pl.DataFrame) -> TrackPoints:
    """Lay the points of raw trips (columns t, lon, lat, edge_ids) out in flat arrays.

    Each trip is put in order of time, equal times in order of longitude and latitude, so that the
    order of the rows in a file decides nothing; a prematched trip keeps its order.
    """
    sizes = raw["t"].list.len().to_numpy().astype(np.int64)
    trip = np.repeat(np.arange(raw.height, dtype=np.int64), sizes)
    begins = np.cumsum(sizes) - sizes
    raw_index = np.arange(trip.size, dtype=np.int64) - np.repeat(begins, sizes)
    t, lon, lat = (_flat(raw[name]) for name in ("t", "lon", "lat"))
    prematched = (raw["edge_ids"].list.len() > 0).to_numpy()[trip]
    written = np.where(prematched, raw_index, 0)
    by_time = np.where(prematched, 0.0, t)
    order = np.lexsort((raw_index, lat, lon, by_time, written, trip))
    return TrackPoints(
        trip=trip,
        raw_index=raw_index[order],
        t=t[order],
        lon=lon[order],
        lat=lat[order],
        piece=trip.copy(),
        reason=np.zeros(trip.size, dtype=np.uint8),
        notes=np.zeros(trip.size, dtype=np.uint8),
        prematched=prematched,
    )


def _flat(lists: pl.Series) -> Floats:
    """Return the numbers of a list column one after the other; empty lists leave no trace."""
    return lists.explode(empty_as_null=False).to_numpy().astype(np.float64)
