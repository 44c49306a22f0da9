"""How predictions are scored: sections `score_*` of params.yaml; the command may override them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0)]


class GenerationSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `score_generation` of params.yaml.

    Attributes:
        points: Points of a route: `ends` of its segments, or `densified` along them.
        step_m: Greatest distance of densified points, metres.
        gaps: A route with a gap is `cut` there, or scored whole (`score_whole`).
        edr_m: Points match in EDR within so many metres east-west and north-south.
        over_length: A route longer than this times the true one is over-routed.
        under_length: A route shorter than this times the true one is under-routed.
    """

    points: Literal["ends", "densified"]
    step_m: Positive
    gaps: Literal["cut", "score_whole"]
    edr_m: Positive
    over_length: Annotated[float, Meta(gt=1)]
    under_length: Annotated[float, Meta(gt=0, lt=1)]


class CaptioningSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `score_captioning` of params.yaml.

    Attributes:
        bertscore: Whether BERTScore is measured; it takes most of the time.
    """

    bertscore: bool
