"""TrajFacts: ranges that measures have on real crowds, and what walkers reach that read nothing.

facts = read_trajfacts(PROMPTS / "stride" / "trajfacts.yaml")
facts.band("mean_speed", "urban transit")     ->  (0.8, 1.3)
facts.tolerance["mean_speed"]                 ->  0.03

They help whoever writes a question to choose bounds. They are references by situation, not measured
truth for any one scenario.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pipeline.errors import ParameterError
from pipeline.keys import Text
from pipeline.params import document_of
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.spec_records import Bound

Range = tuple[float, float]
Side = Literal["up", "down"]
_BEYOND: dict[Side | None, str] = {"up": " and above", "down": " and below", None: ""}


class TrajFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """prompts/stride/trajfacts.yaml.

    Attributes:
        version: Part of every specification's key.
        tolerance: `delta_value` by measure where a question states none.
        bands: By measure and situation.
        one_sided: Of the bands, those of words without a limit on one side, and which side.
        anti_references: By walker that reads nothing, and measure.
    """

    version: Annotated[int, Meta(ge=1)]
    tolerance: dict[str, Annotated[float, Meta(ge=0, le=1)]]
    bands: dict[str, dict[Text, Range]]
    one_sided: dict[str, dict[Text, Side]]
    anti_references: dict[Text, dict[str, Range]]

    def __post_init__(self) -> None:
        for measure in {*self.tolerance, *self.bands}:
            if measure not in BINDABLE:
                raise ValueError(f"bands: expected names of measures, found {measure!r}")
        missing = sorted(set(BINDABLE) - set(self.tolerance))
        if missing:
            raise ValueError(f"tolerance: expected every measure, found none for {missing[0]}")
        for measure, bands in self.bands.items():
            for name, (low, high) in bands.items():
                if low > high:
                    raise ValueError(f"bands: {measure}: {name}: expected low before high")
        for measure, sides in self.one_sided.items():
            for name in sides:
                if name not in self.bands.get(measure, {}):
                    raise ValueError(f"one_sided: {measure}: expected a band, found {name!r}")

    def band(self, measure: str, name: str) -> Range:
        """Return a range by name.

        Raises:
            ParameterError: There is none of that name for the measure.
        """
        bands = self.bands.get(measure, {})
        if name not in bands:
            raise ParameterError(
                f"trajfacts.yaml: {measure}: expected one of {', '.join(bands) or 'no band'},"
                f" found {name!r}; mend the pattern that names it"
            )
        return bands[name]

    def hull(self, measure: str, names: Sequence[str]) -> tuple[float | None, float | None]:
        """Return the range from the least to the largest value of bands; None where it is open.

        Raises:
            ParameterError: There is none of a name for the measure.
        """
        bands = {name: self.band(measure, name) for name in names}
        low, high = min(one[0] for one in bands.values()), max(one[1] for one in bands.values())
        sides = self.one_sided.get(measure, {})
        down = any(sides.get(name) == "down" for name, one in bands.items() if one[0] == low)
        up = any(sides.get(name) == "up" for name, one in bands.items() if one[1] == high)
        return None if down else low, None if up else high

    def passing(self, bound: Bound) -> list[str]:
        """Return which walkers that read nothing pass a bound; what is not listed of them is 0."""
        low = -math.inf if bound.min is None else bound.min - bound.delta_value
        high = math.inf if bound.max is None else bound.max + bound.delta_value
        found = {
            name: values.get(bound.function, (0.0, 0.0))
            for name, values in self.anti_references.items()
        }
        return [name for name, (least, most) in found.items() if low <= least and most <= high]

    def idle(self, bound: Bound) -> bool:
        """Tell whether all walkers that read nothing pass a bound."""
        return len(self.passing(bound)) == len(self.anti_references)

    def beyond(self, measure: str, name: str) -> str:
        """Return what to add to a band in words: " and above", " and below", or nothing."""
        return _BEYOND[self.one_sided.get(measure, {}).get(name)]


def read_trajfacts(path: Path) -> TrajFacts:
    """Read the table.

    Raises:
        ParameterError: It is missing or broken, or names an unknown measure.
    """
    facts: TrajFacts = document_of(path, TrajFacts)
    return facts
