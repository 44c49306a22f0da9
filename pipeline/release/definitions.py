"""What the constraints of a release mean: thresholds, zones, kinds of places, parts of the day.

release/ground/definitions.json  ->  Definitions(anchor_m=60.0, prefer_share=0.5, vocabulary=...)

A target such as "prefer the parks" was true of a trip by these very numbers and word lists, so
whoever asks the same of another route reads them from the release and not from a later project.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pipeline.keys import H3Resolution
from pipeline.language.intent_settings import IntentsSettings, Metres
from pipeline.language.vocabulary import Vocabulary, vocabulary

Share = Annotated[float, Meta(gt=0, le=1)]


class Definitions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One city's `ground/definitions.json`.

    Attributes:
        city: Key of the city.
        time_zone: Its IANA zone; parts of the day are in its local time.
        h3_resolution: Resolution of its cells.
        near_jaccard: From this share of common segments on a route counts as known from train.
        beside_m: A place this near to the road driven lies beside the route, metres.
        anchor_m: A place this near to the end of the drive may name it, metres.
        prefer_share: A zone is preferred when it holds this share of the length between the first
            and the last phase.
        stay_share: A route stays on a road that holds this share of its length.
        heading_strength: It keeps a heading when the mean vector of its phases is this long, 0-1.
        turn_deg: Two neighbouring phases whose headings differ this much make a turn, degrees.
        few_turns_per_km: Up to so many turns per kilometre are few.
        slow_kph: Mean speed below which a trip is slow, km/h.
        brisk_kph: Mean speed from which on it is brisk, km/h.
        vocabulary: Zones, kinds of places and all other codes of the data.
    """

    city: str
    time_zone: str
    h3_resolution: H3Resolution
    near_jaccard: Share
    beside_m: Metres
    anchor_m: Metres
    prefer_share: Share
    stay_share: Share
    heading_strength: Share
    turn_deg: float
    few_turns_per_km: float
    slow_kph: float
    brisk_kph: float
    vocabulary: Vocabulary


def definitions_record(
    intents: IntentsSettings,
    *,
    city: str,
    time_zone: str,
    h3_resolution: int,
    near_jaccard: float,
) -> dict[str, Any]:
    """Return the record of a city's definitions, as its schema has it."""
    taken = {
        field: getattr(intents, field)
        for field in Definitions.__struct_fields__
        if field in IntentsSettings.__struct_fields__
    }
    found = Definitions(
        city=city,
        time_zone=time_zone,
        h3_resolution=h3_resolution,
        near_jaccard=near_jaccard,
        vocabulary=vocabulary(),
        **taken,
    )
    record: dict[str, Any] = msgspec.to_builtins(found)
    return record
