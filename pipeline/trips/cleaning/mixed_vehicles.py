"""Find ids under which several vehicles drive at once: no one trip, whatever is cut out of it.

0 m at 0 s | 3,000 m at 7 s | 100 m at 15 s | 3,100 m at 22 s | ... -> two vehicles under one id

A trace that leaps away and back is taken apart into tracks that a vehicle can have driven. GPS has
leaps too, so it takes two tracks that both move on and both keep coming back in turn: an outlier, a
shifted stretch, a mast's position reported between fixes, or a jump that lasts is not that.
"""

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


@dataclass(slots=True)
class _Track:
    """What is known of a track: where it ended, its points, how far and how often it moved."""

    point: int
    points: int = 1
    moved_m: float = 0.0
    moves: int = 0

    def extend(self, point: int, step_m: float) -> None:
        """Add the point that comes next, so far from the one before."""
        self.point = point
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
    for point in stretch.tolist():
        ends = np.array([tracks[n].point for n in followed], dtype=np.int64)
        apart_m = points.step_length_m(ends, np.full(ends.size, point))
        reach_m = np.maximum(most_speed_mps * (points.t[point] - points.t[ends]), NEAR_M)
        apart_m[apart_m > reach_m] = np.inf
        if not ends.size or np.isinf(apart_m.min()):
            number = len(tracks)
            tracks.append(_Track(point))
        else:
            nearest = int(np.argmin(apart_m))
            number = followed.pop(nearest)
            tracks[number].extend(point, float(apart_m[nearest]))
        followed = [*followed, number][-_TRACKS:]
        of_point.append(number)
    return tracks, of_point
