"""The knobs of the matcher, as one frozen section without defaults.

    MatchSettings(radius_m=100.0, segments=16, ...)  <-  the section `match:` of params.yaml

The constants follow Newson and Krumm (2009) with route distances; the reasons for each are in the
comments of params.yaml.
"""

from typing import Annotated, Any

import msgspec
import numpy as np

Positive = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Radius = Annotated[float, msgspec.Meta(gt=0, le=10_000)]


class MatchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings of one matching run; every cost is a negative log likelihood (nats)."""

    radius_m: Radius
    """Roads up to this far from a fix are its candidates (metres)."""
    wide_radius_m: Radius
    """Where there is none, roads up to this far are (metres)."""
    segments: Annotated[int, msgspec.Meta(ge=1, le=64)]
    """Nearest streets kept for each fix; a two-way street counts once and gives two candidates."""
    sigma_factor: Positive
    """GPS noise of a trace = this x the median distance of its fixes to the nearest road."""
    sigma_min_m: Positive
    """Lower bound of the noise of a trace (metres)."""
    sigma_max_m: Positive
    """Upper bound of the noise of a trace (metres)."""
    sigma_few_m: Positive
    """Noise taken for a trace with fewer than five fixes near a road (metres)."""
    beta_min_m: Positive
    """Smallest scale of the cost |route - straight line| / beta (metres)."""
    beta_mps: NotNegative
    """Beta grows by this many metres for each second between two fixes."""
    theta: NotNegative
    """Weight in that cost of a metre lost on roads slower than those of both fixes."""
    time_cost: NotNegative
    """Cost of each second more than the straight line takes on the fastest road near its ends."""
    bend_cost: NotNegative
    """Cost of a change of heading by one radian at a junction."""
    end_cost: NotNegative
    """Cost of leaving out one fix at an end of the trace, where that also saves its step."""
    end_s: Positive
    """Where the next fix is further away in time than this, that costs as many times more."""
    against_m: NotNegative
    """Driving against a one-way street, which ends a part, costs as much as a detour this long."""
    against_cost: NotNegative
    """The least that costs."""
    against_run_m: Positive
    """A drive against it longer than this (metres) costs as many times more as it is longer."""
    u_turn_cost: NotNegative
    """Cost of turning round on the spot, at a node or within a street."""
    turn_again_s: NotNegative
    """Turning round once more within less time than this costs as many times more (seconds)."""
    back_m: NotNegative
    """A step back along one road up to this long counts as standing (metres)."""
    standing_m: NotNegative
    """Fixes closer than this to the last kept fix are no evidence of their own (metres)."""
    stay_m: NotNegative
    """Fixes that lie around their mean within this (metres),"""
    stay_sigmas: NotNegative
    """or within this x the noise of the trace, may be a stay."""
    stay_mps: Positive
    """They are one if crossing that circle in the time would be slower than this."""
    stay_weight: Annotated[float, msgspec.Meta(ge=1)]
    """Leaving out a stay costs as much as leaving out its points, up to so many."""
    speed_mps: Positive
    """Routes longer than this speed allows cost extra (metres per second)."""
    speed_slack_m: Positive
    """Length of excess route that costs one unit (metres)."""
    jump_mps: Positive
    """Two fixes further apart than this speed allows are never joined (metres per second)."""
    gap_s: Positive
    """Two fixes further apart in time than this are never joined (seconds)."""
    detour_factor: Annotated[float, msgspec.Meta(ge=1)]
    """A route longer than this x straight line + detour_m is never taken."""
    detour_m: NotNegative
    """See detour_factor (metres)."""
    skip_cost: NotNegative
    """Cost of leaving one fix out as an outlier."""
    skip_run: Annotated[int, msgspec.Meta(ge=0, le=8)]
    """Longest run of neighbouring fixes that may be left out."""
    break_cost: NotNegative
    """Cost of ending a part and starting another."""
    beam: Positive
    """States dearer than the best by more than this are not extended."""
    part_fixes: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    """Parts with fewer fixes than this are left out (reason `too_short`)."""
    part_cost: Positive
    """Parts with a mean cost per fix above this are left out (reason `low_likelihood`)."""
    table_bound_m: NotNegative
    """Reach of the shortest-path table (metres at 30 km/h); 0 = no table."""
    table_max_mb: Annotated[float, msgspec.Meta(gt=0, le=1e6)]
    """Memory the table may take; a larger one is built with a smaller reach (MiB)."""
    search_sources: Annotated[int, msgspec.Meta(ge=0, le=10_000)]
    """Searches beyond the table for each step between two fixes."""
    search_max_m: Positive
    """No search beyond the table reaches further than this (metres at 30 km/h)."""
    chunk_points: Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]
    """Points that one thread takes at a time; no effect on the result."""


_WHOLE = ("segments", "skip_run", "part_fixes", "search_sources")
_NOT_COMPILED = ("table_bound_m", "table_max_mb", "chunk_points")
COSTS = np.dtype(
    [
        (name, "i8" if name in _WHOLE else "f8")
        for name in MatchSettings.__struct_fields__
        if name not in _NOT_COMPILED
    ]
)


def costs_of(settings: MatchSettings) -> Any:
    """Return the settings as the record of fixed types that the compiled code reads."""
    record = np.zeros(1, COSTS)
    for name in COSTS.names or ():
        record[name] = getattr(settings, name)
    return record[0]
