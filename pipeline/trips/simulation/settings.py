"""Settings of the simulator: `simulation` of configs/<city>.yaml and `simulate` of params.yaml.

{trips: 720, format: porto, sampling: {kind: fixed, interval_s: 15}, ...} -> CitySimulation(...)
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Above0 = Annotated[float, Meta(gt=0)]
From0 = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[int, Meta(ge=1)]


class FixedSampling(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="fixed"):
    """A fix every `interval_s` seconds exactly, as Porto's taxis."""

    interval_s: Seconds


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
    intervals_s: list[Above0]


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

    trips: Annotated[int, Meta(ge=1)]
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
    missing_samples: tuple[Seconds, Seconds]
    dwell: Share
    dwell_s: tuple[Above0, Above0]
    short: Share
    spike: Share
    spike_m: tuple[Above0, Above0]
    leaving: Share
    leaving_samples: tuple[Seconds, Seconds]
    copied: Share


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

    shortest_route_m: Above0
    weekday_weights: Annotated[list[From0], Meta(min_length=7, max_length=7)]
    hour_weights: Annotated[list[From0], Meta(min_length=24, max_length=24)]
    cost_sigma: From0
    via_detour: tuple[Annotated[float, Meta(ge=1)], Annotated[float, Meta(ge=1)]]
    speed_factor: Above0
    speed_sigma: From0
    stop_share: Share
    stop_mean_s: Above0
    error_sigma_m: Above0
    error_rho: Annotated[float, Meta(ge=0, lt=1)]
    outlier_share: Share
    outlier_sigma_m: Above0
    defects: DefectShares
