"""Rules 1 to 7 of the cleaning contract, each over the flat arrays of all points at once.

drop_spikes(points, settings): 0 m, 15 s | 900 m, 30 s | 20 m, 45 s -> the middle point is a spike
"""

import numpy as np

from pipeline.trips.cleaning.coordinate_order import Bbox, inside, is_decidable, wrong_sign
from pipeline.trips.cleaning.settings import CODE, NOTE_BIT, CleaningSettings
from pipeline.trips.cleaning.track_points import Bools, Ints, TrackPoints
from pipeline.trips.distance import distance_m


def drop_bad_coordinates(points: TrackPoints, bbox: Bbox) -> None:
    """Rule 1: drop positions that cannot be, that lost a sign, or that have the order swapped.

    A prematched trip with such a point goes as a whole: its middle cannot be taken out.
    """
    lon, lat = points.lon, points.lat
    impossible = (np.abs(lon) > 180) | (np.abs(lat) > 90) | ((lon == 0) & (lat == 0))
    swapped = inside(lat, lon, bbox) & ~inside(lon, lat, bbox)
    if not is_decidable(bbox):
        swapped[:] = False
    faults = (
        (swapped, "swapped_coordinates"),
        (impossible & ~swapped, "invalid_coordinate"),
        (wrong_sign(lon, lat, bbox) & ~swapped & ~impossible, "wrong_sign"),
    )
    for fault, name in faults:
        _drop_faulty(points, fault, CODE[name])


def drop_unbelievable_times(points: TrackPoints, settings: CleaningSettings) -> None:
    """Rule 2: drop times outside the believable dates; a prematched trip goes as a whole."""
    first, end = settings.believable_s()
    believable = (points.t >= first) & (points.t < end)
    _drop_faulty(points, ~believable, CODE["time_not_believable"])


def _drop_faulty(points: TrackPoints, fault: Bools, reason: int) -> None:
    """Drop the kept points with a fault, of a prematched trip all points."""
    live = points.live()
    found = live[fault[live]]
    whole = points.prematched[found]
    points.drop(found[~whole], reason)
    points.drop_trips(np.unique(points.trip[found[whole]]), reason)


def drop_equal_times(points: TrackPoints) -> None:
    """Rule 2a: of points with equal times keep the first; a prematched trip may not fall back."""
    a, b = points.steps()
    equal = (points.t[a] == points.t[b]) & ~points.prematched[b]
    points.drop(b[equal], CODE["equal_time"])
    falls = (points.t[b] < points.t[a]) & points.prematched[b]
    points.drop_trips(np.unique(points.trip[b[falls]]), CODE["times_not_rising"])


def thin(points: TrackPoints, settings: CleaningSettings) -> None:
    """Rule 2b: keep the first point of every `thin_to_s` seconds since the trip's first point."""
    if settings.thin_to_s == 0:
        return
    live = points.live()
    live = live[~points.prematched[live]]
    starts = points.piece_starts(live)
    first = np.repeat(live[starts], np.diff(np.append(starts, live.size)))
    slot = np.floor((points.t[live] - points.t[first]) / settings.thin_to_s)
    again = (slot[1:] == slot[:-1]) & (first[1:] == first[:-1])
    points.drop(live[1:][again], CODE["thinned"])


def drop_spikes(points: TrackPoints, settings: CleaningSettings) -> None:
    """Rule 4a: drop a point reached and left at an impossible speed while its neighbours agree.

    Where two spikes stand side by side the first goes first, and the rest is judged again.
    """
    while True:
        a, b = points.steps()
        fast = points.step_length_m(a, b) > settings.most_speed_mps * (points.t[b] - points.t[a])
        fast &= ~points.prematched[b]
        meets = b[:-1] == a[1:]
        before, spike, after = a[:-1][meets], b[:-1][meets], b[1:][meets]
        candidate = fast[:-1][meets] & fast[1:][meets]
        before, spike, after = before[candidate], spike[candidate], after[candidate]
        bridge = points.step_length_m(before, after)
        agree = bridge <= settings.most_speed_mps * (points.t[after] - points.t[before])
        before, spike = before[agree], spike[agree]
        if not spike.size:
            return
        points.drop(spike[~np.isin(before, spike)], CODE["spike"])


def treat_jumps(points: TrackPoints, settings: CleaningSettings) -> int:
    """Rule 4b: split, mark or retime at every impossible step that is left; return how many.

    Retiming moves all later points of the trip by the time the missing stretch takes.
    """
    a, b = points.steps()
    length_m = points.step_length_m(a, b)
    took_s = points.t[b] - points.t[a]
    jump = (length_m > settings.most_speed_mps * took_s) & ~points.prematched[b]
    begins = b[jump]
    if settings.lasting_jump == "split":
        points.notes[begins] |= NOTE_BIT["jump_split"]
        points.notes[a[jump]] |= NOTE_BIT["jump_split"]
        points.cut(begins)
        return int(begins.size)
    if settings.lasting_jump == "mark":
        points.notes[begins] |= NOTE_BIT["jump_marked"]
        return int(begins.size)
    points.notes[begins] |= NOTE_BIT["jump_retimed"]
    missing_s = length_m[jump] / settings.retime_speed_mps - took_s[jump]
    added = np.zeros(points.trip.size)
    added[begins] = np.ceil(missing_s / settings.retime_grid_s) * settings.retime_grid_s
    total = np.cumsum(added)
    first = np.searchsorted(points.trip, points.trip)  # first point of each point's trip
    points.t = points.t + total - (total[first] - added[first])
    return int(begins.size)


def split_gaps(points: TrackPoints, settings: CleaningSettings) -> int:
    """Rule 5: split where no point came for longer than `most_gap_s`; return how often."""
    a, b = points.steps()
    gap = points.t[b] - points.t[a] > settings.most_gap_s
    points.notes[a[gap]] |= NOTE_BIT["gap_split"]
    points.notes[b[gap]] |= NOTE_BIT["gap_split"]
    points.cut(b[gap])
    return int(np.count_nonzero(gap))


def trim_standing(points: TrackPoints, settings: CleaningSettings) -> None:
    """Rule 6a: trim standing at the start, then at the end; the point nearest the drive stays.

    Points farther off do not end the standing if the next ones are back in time: GPS outliers. A
    piece that never leaves the radius goes as a whole.
    """
    for order in (1, -1):
        live = points.live()[::order]
        starts = points.piece_starts(live)
        if not starts.size:
            return
        sizes = np.diff(np.append(starts, live.size))
        first = np.repeat(live[starts], sizes)
        away = points.step_length_m(first, live) > settings.standing_radius_m
        away &= ~_back_in_time(points, live, away, settings.standing_away_s)
        place = np.arange(live.size)
        left = np.minimum.reduceat(np.where(away, place, live.size), starts)
        whole = left == live.size
        last = np.where(whole, starts + sizes, left) - 1  # last point within the radius
        lasted_s = np.abs(points.t[live[last]] - points.t[live[starts]])
        stop = np.where(whole, last + 1, last)
        stop = np.where(lasted_s >= settings.standing_least_s, stop, starts)
        points.drop(live[place < np.repeat(stop, sizes)], CODE["standing"])


def _back_in_time(points: TrackPoints, live: Ints, away: Bools, most_s: float) -> Bools:
    """Tell of each point that is away whether the piece is back at most `most_s` after it left.

    The first point of a piece is never away, so the nearest one before is of the same piece.
    """
    place = np.arange(live.size)
    before = np.maximum.accumulate(np.where(away, 0, place))
    after = np.minimum.accumulate(np.where(away, live.size, place)[::-1])[::-1]
    within = np.minimum(after, live.size - 1)
    back = (after < live.size) & (points.piece[live[within]] == points.piece[live])
    lasted_s = np.abs(points.t[live[within]] - points.t[live[before]])
    return np.asarray(back & (lasted_s <= most_s))


def treat_dwells(points: TrackPoints, settings: CleaningSettings) -> int:
    """Rule 6b: note standing of `dwell_least_s` or more inside a piece, or split there.

    Returns the number of dwells. When split, the points between the first and the last of the
    dwell are dropped as standing.
    """
    live = points.live()
    covered = _covered_by_dwell(points, live, settings)
    starts = points.piece_starts(live)
    fresh = np.zeros(live.size, dtype=bool)
    fresh[starts] = True
    begins = covered & (fresh | ~np.concatenate([[False], covered[:-1]]))
    ends = covered & ~np.concatenate([covered[1:] & ~fresh[1:], [False]])
    if settings.long_dwell == "note":
        points.notes[live[covered]] |= NOTE_BIT["inner_dwell"]
        return int(np.count_nonzero(begins))
    points.notes[live[begins | ends]] |= NOTE_BIT["inner_dwell"]
    points.cut(live[ends & ~begins & ~points.prematched[live]])
    inner = covered & ~begins & ~ends & ~points.prematched[live]
    points.drop(live[inner], CODE["standing"])
    return int(np.count_nonzero(begins))


def _covered_by_dwell(points: TrackPoints, live: Ints, settings: CleaningSettings) -> np.ndarray:
    """Tell which kept points lie in a stretch that stays within the radius for long enough.

    A stretch is a point and all that follow until `dwell_least_s` has passed, none of them farther
    than the radius from it. Loops over the length of a stretch, not over points.
    """
    covered = np.zeros(live.size, dtype=bool)
    starts = points.piece_starts(live)
    if not starts.size:
        return covered
    sizes = np.diff(np.append(starts, live.size))
    ordinal = np.repeat(np.arange(starts.size), sizes)
    since_s = points.t[live] - np.repeat(points.t[live[starts]], sizes)
    stride_s = float(since_s.max()) + settings.dwell_least_s + 1.0
    clock = since_s + ordinal * stride_s
    until = np.searchsorted(clock, clock + settings.dwell_least_s)
    at = np.flatnonzero(until < live.size)
    at = at[ordinal[at] == ordinal[until[at]]]
    lon, lat = points.lon[live], points.lat[live]
    end = until[at]
    near = distance_m(lon[at], lat[at], lon[end], lat[end]) <= settings.standing_radius_m
    at, end = at[near], end[near]
    for offset in range(1, int((end - at).max()) if at.size else 0):
        there = np.minimum(at + offset, end)
        near = distance_m(lon[at], lat[at], lon[there], lat[there]) <= settings.standing_radius_m
        at, end = at[near], end[near]
        if not at.size:
            break
    change = np.zeros(live.size + 1, dtype=np.int64)
    np.add.at(change, at, 1)
    np.add.at(change, end + 1, -1)
    return np.cumsum(change[:-1]) > 0


def treat_outside(points: TrackPoints, settings: CleaningSettings, bbox: Bbox) -> None:
    """Rule 7: clip points outside the bbox, splitting where the trip was away, or drop the trip."""
    within = inside(points.lon, points.lat, bbox)
    live = points.live()
    out = live[~within[live]]
    if settings.outside == "drop":
        points.drop_trips(np.unique(points.trip[out]), CODE["out_of_bbox"])
        return
    a, b = points.steps()
    entered, left = within[b] & ~within[a], within[a] & ~within[b]
    points.notes[b[entered]] |= NOTE_BIT["clipped"]
    points.notes[a[left]] |= NOTE_BIT["clipped"]
    points.cut(b[entered])
    points.drop(out, CODE["out_of_bbox"])
