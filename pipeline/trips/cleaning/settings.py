"""The thresholds of the cleaning contract (key `cleaning` of configs/<city>.yaml) and its reasons.

{most_speed_mps: 38.9, lasting_jump: split, outside: clip, ...} -> CleaningSettings(...)
"""

from datetime import UTC, date, datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

Above0 = Annotated[float, Meta(gt=0)]
From0 = Annotated[float, Meta(ge=0)]

# In the order of the contract; a point's code is its place here (0 is `kept`).
REASONS = (
    "missing_data",
    "invalid_coordinate",
    "wrong_sign",
    "swapped_coordinates",
    "time_not_believable",
    "mixed_vehicles",
    "times_not_rising",
    "equal_time",
    "thinned",
    "duplicate_trip_id",
    "duplicate_vehicle_time",
    "vehicle_overlap",
    "spike",
    "standing",
    "out_of_bbox",
    "too_few_points",
    "too_short",
    "too_long",
    "too_brief",
    "too_lasting",
    "detour",
    "empty_trip",
)
DECISIONS = ("kept", *REASONS)
CODE = {name: code for code, name in enumerate(DECISIONS)}

# What may have happened to a cleaned trip; bit k of a point's notes stands for NOTES[k].
NOTES = ("jump_marked", "jump_retimed", "jump_split", "gap_split", "inner_dwell", "clipped")
NOTE_BIT = {name: 1 << k for k, name in enumerate(NOTES)}


class CleaningSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Thresholds of the one cleaning contract, in the order its rules are applied.

    Attributes:
        least_share_in_bbox: Share of all points (0..1) that must lie in the city's bbox as the
            format orders longitude and latitude; below it the whole input is refused.
        earliest: First UTC date of a believable time, 1900-01-01 or later.
        latest: UTC date before which a believable time lies, 2200-01-01 or earlier. A point
            outside the two is dropped: a broken row, or times of another unit.
        thin_to_s: At most one point per so many seconds is kept; 0 keeps all.
        most_speed_mps: A faster step, in m/s, is impossible (38.9 is 140 km/h).
        lasting_jump: What to do where a step is impossible and the trace stays there: `split` the
            trip, `mark` it, or `retime`: give the missing samples time by distance (only for
            times that are a nominal grid).
        retime_speed_mps: Speed the missing stretch is taken to be driven at, in m/s.
        retime_grid_s: The added time is a whole multiple of this, in seconds.
        most_gap_s: A longer pause between two points, in seconds, splits the trip.
        standing_radius_m: Points this near the first (last) one, in metres, count as standing.
        standing_least_s: Standing at an end is trimmed when it lasts so many seconds or more.
        standing_away_s: Points farther off do not end standing at an end if the trip is back near
            the first (last) one within so many seconds: GPS outliers. 0 = any of them ends it.
        dwell_least_s: Standing inside a trip for so long, in seconds, is a dwell.
        long_dwell: `note` a dwell or `split` the trip there.
        outside: Points outside the city's bbox: `clip` them off (the trip is split where it was
            away) or `drop` the whole trip.
        fewest_points: Fewest points of a cleaned trip.
        shortest_m: Shortest way along the points, in metres.
        longest_m: Longest way along the points, in metres.
        shortest_s: Shortest duration, in seconds.
        longest_s: Longest duration, in seconds.
        most_detour: Largest ratio of the way along the points to the straight line between ends.
    """

    least_share_in_bbox: Annotated[float, Meta(ge=0, le=1)]
    earliest: date
    latest: date
    thin_to_s: From0
    most_speed_mps: Above0
    lasting_jump: Literal["split", "mark", "retime"]
    retime_speed_mps: Above0
    retime_grid_s: Above0
    most_gap_s: Above0
    standing_radius_m: Above0
    standing_least_s: From0
    standing_away_s: From0
    dwell_least_s: Above0
    long_dwell: Literal["note", "split"]
    outside: Literal["clip", "drop"]
    fewest_points: Annotated[int, Meta(ge=2)]
    shortest_m: From0
    longest_m: Above0
    shortest_s: From0
    longest_s: Above0
    most_detour: Annotated[float, Meta(ge=1)]

    def __post_init__(self) -> None:
        """Hold the believable dates in order and where calendars can word them."""
        if not date(1900, 1, 1) <= self.earliest < self.latest <= date(2200, 1, 1):
            raise ValueError(
                "expected 1900-01-01 <= earliest < latest <= 2200-01-01, found"
                f" {self.earliest} and {self.latest}"
            )

    def believable_s(self) -> tuple[float, float]:
        """Return the first believable time and the first later one that is not, epoch seconds."""
        days = (self.earliest, self.latest)
        first, end = (datetime(d.year, d.month, d.day, tzinfo=UTC).timestamp() for d in days)
        return first, end
