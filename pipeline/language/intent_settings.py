"""Section `intents` of params.yaml: how near a place must lie, what counts as evidence, the odds.

IntentsSettings(beside_m=40.0, counts=[0.15, 0.35, 0.3, 0.15, 0.05], ...)
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from pipeline.language.vocabulary import SCENARIOS

Metres = Annotated[float, Meta(ge=0, le=1000)]
Share = Annotated[float, Meta(ge=0, le=1)]
DESTINATIONS = tuple(code for code in SCENARIOS if code[0] == "1")
OTHERS = tuple(code for code in SCENARIOS if code[0] != "1")


class IntentsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `intents` of params.yaml.

    Attributes:
        beside_m: A place this near to the road driven lies beside the route, metres.
        anchor_m: A place this near to the start or end of the drive may name it, metres.
        places_per_phase: Most places kept of one phase, the nearest first.
        prefer_share: A zone is preferred when it holds this share of the length between the first
            and the last phase.
        stay_share: A trip stays on a road that holds this share of its length.
        heading_strength: It keeps a heading when the mean vector of its phases is this long, 0-1.
        turn_deg: Two neighbouring phases whose headings differ this much make a turn, degrees.
        few_turns_per_km: Up to so many turns per kilometre are few.
        slow_kph: Mean speed below which a trip is slow, km/h.
        brisk_kph: Mean speed from which on it is brisk, km/h.
        counts: Odds of one to five scenarios; any scale.
        weights: Odds of each scenario within its draw; 0 leaves it out.
        street_share: Share of trips, of those with a road in the middle, that name one.
        time_share: Share of trips without scenario 4.1 that name their time.
    """

    beside_m: Metres
    anchor_m: Metres
    places_per_phase: Annotated[int, Meta(ge=1, le=100)]
    prefer_share: Annotated[float, Meta(gt=0, le=1)]
    stay_share: Annotated[float, Meta(gt=0, le=1)]
    heading_strength: Annotated[float, Meta(gt=0, le=1)]
    turn_deg: Annotated[float, Meta(gt=0, le=180)]
    few_turns_per_km: Annotated[float, Meta(ge=0, le=1000)]
    slow_kph: Annotated[float, Meta(ge=0, le=300)]
    brisk_kph: Annotated[float, Meta(ge=0, le=300)]
    counts: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=5, max_length=5)]
    weights: dict[str, Annotated[float, Meta(ge=0)]]
    street_share: Share
    time_share: Share

    def __post_init__(self) -> None:
        if self.slow_kph > self.brisk_kph:
            expected = f"at most brisk_kph, {self.brisk_kph:g}"
            raise ValueError(f"slow_kph: expected {expected}, found {self.slow_kph:g}")
        if not sum(self.counts) > 0:
            raise ValueError(f"counts: expected one above 0, found {self.counts}")
        if tuple(self.weights) != SCENARIOS:
            codes = ", ".join(self.weights)
            raise ValueError(f"weights: expected {', '.join(SCENARIOS)} in order, found {codes}")
        if not any(self.weights[code] for code in DESTINATIONS):
            raise ValueError("weights: expected 1.1 or 1.2 above 0, found neither")
        wanted = max(k for k, odds in enumerate(self.counts) if odds > 0)
        drawable = sum(self.weights[code] > 0 for code in OTHERS)
        if drawable < wanted:
            raise ValueError(
                f"weights: expected {wanted} of 2.1 to 4.2 above 0, as many as counts may draw"
                f" beside the destination, found {drawable}"
            )
