"""Find ids under which several vehicles drive at once: no one trip, whatever is cut out of it.

0 m at 0 s | 3,000 m at 7 s | 100 m at 15 s | 3,100 m at 22 s | ... -> two vehicles under one id

A trace that leaps away and back is taken apart into tracks that a vehicle can have driven. GPS has
leaps too, so it takes two tracks that both move on and both keep coming back in turn: an outlier, a
shifted stretch, a mast's position reported between fixes, or a jump that lasts is not that.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.cleaning.track_points import Ints, TrackPoints

# Two positions this near may be one vehicle's at any speed: errors of GPS reach so far.
NEAR_M = 200.0
FEWEST_LEAPS = 4
FEWEST_POINTS = 5  # of a track that counts
MOST_IN_TURN = 3.0  # points a track has on average before the other one's turn
_TRACKS = 8  # followed at a time
_DEGREE_M = 111_195.0  # of a great circle: near enough for what is 200 m apart


@dataclass(slots=True)
class _Track:
    """What is known of a track: where it ended, its points, how far and how often it moved."""

    t: float
    east_m: float
    north_m: float
    points: int = 1
    moved_m: float = 0.0
    moves: int = 0

    def extend(self, t: float, east_m: float, north_m: float, step_m: float) -> None:
        """Add the point that comes next, so far from the one before."""
        self.t, self.east_m, self.north_m = t, east_m, north_m
        self.points += 1
        self.moved_m += step_m
        self.moves += step_m > 0

    def counts(self) -> bool:
        """Tell whether a vehicle drove it: one that stands, or a fixed place, has not."""
        return (
            self.points >= FEWEST_POINTS
            and self.moved_m >= NEAR_M
            and self.moves >= (self.points - 1) / 2
        )


def mixed_trips(points: TrackPoints, settings: CleaningSettings) -> Ints:
    """Return the trips (rows) whose kept points several vehicles drove at once, sorted.

    Only stretches without a longer pause than `most_gap_s` are looked at: over a pause a vehicle
    can get anywhere. Prematched trips are roads in one order, of one vehicle.
    """
    live = points.live()
    live = live[~points.prematched[live]]
    a, b = live[:-1], live[1:]
    took_s = points.t[b] - points.t[a]
    follows = (points.piece[a] == points.piece[b]) & (took_s <= settings.most_gap_s)
    leap = follows & (
        points.step_length_m(a, b) > np.maximum(settings.most_speed_mps * took_s, NEAR_M)
    )
    stretch = np.concatenate([[0], np.cumsum(~follows)]) if live.size else live
    leaps = np.bincount(stretch[1:][leap], minlength=1)
    found = {
        int(points.trip[live[first]])
        for first, end in _stretches(stretch, np.flatnonzero(leaps >= FEWEST_LEAPS))
        if _is_mixed(points, live[first:end], settings.most_speed_mps)
    }
    return np.array(sorted(found), dtype=np.int64)


def _stretches(stretch: Ints, wanted: Ints) -> Iterator[tuple[int, int]]:
    """Yield where the wanted stretches begin and end."""
    firsts = np.searchsorted(stretch, wanted)
    ends = np.searchsorted(stretch, wanted, side="right")
    yield from zip(firsts.tolist(), ends.tolist(), strict=True)


def _is_mixed(points: TrackPoints, stretch: Ints, most_speed_mps: float) -> bool:
    tracks, of_point = _tracks(points, stretch, most_speed_mps)
    driven = [number for number, track in enumerate(tracks) if track.counts()]
    two = sorted(driven, key=lambda number: -tracks[number].points)[:2]
    if len(two) < 2:
        return False
    places = [[i for i, number in enumerate(of_point) if number == one] for one in two]
    first, last = max(one[0] for one in places), min(one[-1] for one in places)
    turns = [number for number in of_point[first : last + 1] if number in two]
    changes = sum(one != other for one, other in pairwise(turns))
    return changes >= FEWEST_LEAPS and len(turns) <= MOST_IN_TURN * (changes + 1)


def _tracks(
    points: TrackPoints, stretch: Ints, most_speed_mps: float
) -> tuple[list[_Track], list[int]]:
    """Give each point to the nearest track from whose end a vehicle can have come, or a new one.

    Returns:
        The tracks, and for each point of the stretch the number of its track.
    """
    tracks: list[_Track] = []
    of_point: list[int] = []
    followed: list[int] = []  # the track left longest ago first
    for t, east_m, north_m in _places(points, stretch):
        near_m, nearest = math.inf, -1
        for place, number in enumerate(followed):
            track = tracks[number]
            apart_m = math.hypot(east_m - track.east_m, north_m - track.north_m)
            if apart_m < near_m and apart_m <= max(most_speed_mps * (t - track.t), NEAR_M):
                near_m, nearest = apart_m, place
        if nearest < 0:
            number = len(tracks)
            tracks.append(_Track(t, east_m, north_m))
        else:
            number = followed.pop(nearest)
            tracks[number].extend(t, east_m, north_m, near_m)
        followed = [*followed, number][-_TRACKS:]
        of_point.append(number)
    return tracks, of_point


def _places(points: TrackPoints, stretch: Ints) -> Iterator[tuple[float, float, float]]:
    """Yield time, metres east and metres north of the first point, of each point of a stretch."""
    lon, lat = points.lon[stretch], points.lat[stretch]
    turn = (lon - lon[0] + 180) % 360 - 180  # the short way over the date line
    east_m = turn * _DEGREE_M * np.cos(np.radians(lat[0]))
    north_m = (lat - lat[0]) * _DEGREE_M
    yield from zip(points.t[stretch].tolist(), east_m.tolist(), north_m.tolist(), strict=True)
