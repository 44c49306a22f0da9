"""Settings of the simulator: `simulation` of configs/<city>.yaml and `simulate` of params.yaml.

{trips: 720, format: porto, sampling: {kind: fixed, interval_s: 15}, ...} -> CitySimulation(...)
"""

from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta, Struct

# Upper bounds are far beyond sense; they keep nonsense from overflowing in the draws.
Metres = Annotated[float, Meta(gt=0, le=1e6)]
Seconds = Annotated[float, Meta(ge=1, le=86_400)]
WholeSeconds = Annotated[int, Meta(ge=1, le=86_400)]
Samples = Annotated[int, Meta(ge=1, le=10_000)]
Weight = Annotated[float, Meta(ge=0, le=1e6)]
Spread = Annotated[float, Meta(ge=0, le=5)]
Share = Annotated[float, Meta(ge=0, le=1)]
Detour = Annotated[float, Meta(ge=1, le=100)]


class FixedSampling(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="fixed"):
    """A fix every `interval_s` seconds exactly, as Porto's taxis."""

    interval_s: WholeSeconds


class JitteredSampling(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="jittered"
):
    """Intervals drawn from a quantile function, straight between its points.

    Attributes:
        shares: Rising shares from 0 to 1.
        intervals_s: The interval below which that share of intervals lies, in seconds. San
            Francisco: [0, .1, .5, .9, .99, 1] and [10, 32, 60, 72, 263, 500]; Beijing: [0, 1] and
            [60, 300].
    """

    shares: list[Share]
    intervals_s: list[Seconds]

    def __post_init__(self) -> None:
        shares, intervals_s = self.shares, self.intervals_s
        if not (shares[:1] == [0] and shares[-1:] == [1] and _rises(shares, strictly=True)):
            raise ValueError(f"shares: expected to rise from 0 to 1, found {shares}")
        if len(intervals_s) != len(shares):
            expected = f"one interval for each of {len(shares)} shares"
            raise ValueError(f"intervals_s: expected {expected}, found {len(intervals_s)}")
        if not _rises(intervals_s, strictly=False):
            raise ValueError(f"intervals_s: expected never to fall, found {intervals_s}")


class CitySimulation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is simulated for one city.

    Attributes:
        trips: How many trips; the first n are the same whatever follows.
        format: Raw format the files are written in, `porto` (needs fixed sampling) or
            `cabspotting`.
        sampling: When the recorder takes a fix.
        year: Year of the departures, in the city's local time.
        fleet: Number of vehicles the trips are spread over.
        via_share: Share of trips that pass a point off their best way; set so that the median of
            route over shortest way is 1.05 to 1.10 (`assessment.json` tells what came out).
    """

    trips: Annotated[int, Meta(ge=1, le=999_999)]
    format: Literal["porto", "cabspotting"]
    sampling: FixedSampling | JitteredSampling
    year: Annotated[int, Meta(ge=1990, le=2100)]
    fleet: Annotated[int, Meta(ge=1, le=9999)]
    via_share: Share


class DefectShares(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Shares of trips that get a defect on purpose (0..1), and how large it is.

    Attributes:
        missing: Trips that lose a run of samples without a flag.
        missing_samples: Fewest and most samples lost.
        dwell: Trips that stand for long at one junction.
        dwell_s: Shortest and longest dwell, in seconds.
        short: Trips cut to 0, 1, 2 or 3 samples.
        spike: Trips with one sample thrown far off.
        spike_m: Nearest and farthest throw, in metres.
        leaving: Trips that drive on straight out of the area.
        leaving_samples: Fewest and most samples outside.
        copied: Trips whose id (Porto) or rows (cabspotting) occur twice.
    """

    missing: Share
    missing_samples: tuple[Samples, Samples]
    dwell: Share
    dwell_s: tuple[Seconds, Seconds]
    short: Share
    spike: Share
    spike_m: tuple[Metres, Metres]
    leaving: Share
    leaving_samples: tuple[Samples, Samples]
    copied: Share

    def __post_init__(self) -> None:
        for key in ("missing_samples", "dwell_s", "spike_m", "leaving_samples"):
            _check_span(key, getattr(self, key))


class SimulateSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How trips are driven and recorded, for all cities (section 5 of the city-data notes).

    Attributes:
        shortest_route_m: Shortest route of a trip, in metres.
        weekday_weights: Weights of departures from Monday to Sunday, local time.
        hour_weights: Weights of departures from hour 0 to 23, local time.
        cost_sigma: A driver takes a road's travel time for exp(N(0, sigma)) times what it is.
        via_detour: A via point makes the way at least and at most so many times as costly.
        speed_factor: Typical driven speed as a share of the road's speed.
        speed_sigma: The speed on each road is exp(N(0, sigma)) times that.
        stop_share: Share of junctions (three streets or more) at which a trip stops.
        stop_mean_s: Mean stop, in seconds (exponential).
        error_sigma_m: Standard deviation of the position error per axis, in metres.
        error_rho: Correlation of the errors of neighbouring samples, per axis.
        outlier_share: Share of samples with an error of `outlier_sigma_m` instead.
        outlier_sigma_m: Standard deviation of outliers per axis, in metres.
        defects: Defects on purpose.
    """

    shortest_route_m: Metres
    weekday_weights: Annotated[list[Weight], Meta(min_length=7, max_length=7)]
    hour_weights: Annotated[list[Weight], Meta(min_length=24, max_length=24)]
    cost_sigma: Spread
    via_detour: tuple[Detour, Detour]
    speed_factor: Annotated[float, Meta(ge=0.01, le=100)]
    speed_sigma: Spread
    stop_share: Share
    stop_mean_s: Annotated[float, Meta(gt=0, le=86_400)]
    error_sigma_m: Metres
    error_rho: Annotated[float, Meta(ge=0, lt=1)]
    outlier_share: Share
    outlier_sigma_m: Metres
    defects: DefectShares

    def __post_init__(self) -> None:
        _check_span("via_detour", self.via_detour)
        for key in ("weekday_weights", "hour_weights"):
            if not any(getattr(self, key)):
                raise ValueError(f"{key}: expected at least one weight above 0, found none")


def _check_span(key: str, span: tuple[float, float]) -> None:
    if span[0] > span[1]:
        raise ValueError(f"{key}: expected the smaller value first, found {list(span)}")


def _rises(values: list[float], *, strictly: bool) -> bool:
    return all(a < b or (a == b and not strictly) for a, b in pairwise(values))
