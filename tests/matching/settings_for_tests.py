"""The matcher's settings of params.yaml; a test changes what it is about.

settings(break_cost=60.0)  ->  MatchSettings with one value changed
"""

from pathlib import Path

import msgspec

from pipeline.params import section_of
from pipeline.trips.matching.settings import MatchSettings

PARAMS = Path(__file__).resolve().parent.parent.parent / "params.yaml"
VALUES = msgspec.to_builtins(section_of(PARAMS, "match", MatchSettings))


def settings(**changed: float) -> MatchSettings:
    return msgspec.convert({**VALUES, **changed}, MatchSettings)
