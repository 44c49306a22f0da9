"""The words of the language chapter, from prompts/vocabulary.yaml, as frozen types.

    words = vocabulary()
    words.scenario("2.2").name                 ->  "Flexible / Feature"
    words.style("chatty").forms[0].words       ->  "question"
    words.feature_words("green+north")         ->  ("the parks and gardens", "north")

A feature is what a target may be about when it has no proper name: a zone, a kind of place, a
heading, turns, a pace, a part of the day. Its code is ASCII; two codes joined by `+` mean both.
Paper: Table 10 (scenarios), Figure 11 (personas), Table 11 (styles).
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pipeline.errors import ParameterError
from pipeline.keys import Text
from pipeline.params import document_of
from pipeline.records import Intents

VOCABULARY_FILE = Path(__file__).resolve().parent.parent.parent / "prompts" / "vocabulary.yaml"
# What code knows by name; the file may word these anew, but not add to them or leave one out.
SCENARIOS = ("1.1", "1.2", "2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "4.1", "4.2")
DIMENSIONS = (1, 2, 3, 4)
STYLES = ("literal", "concise", "chatty")
HEADINGS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
TURNS = ("few_turns", "many_turns")
PACES = ("slow", "steady", "brisk")
DAYS = ("weekday", "weekend")
JOINT = "+"  # joins the codes of two features that hold together

StyleCode = Literal["literal", "concise", "chatty"]
Code = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$", max_length=40)]


class Dimension(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the four dimensions of Table 10."""

    code: int
    name: Text


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the ten scenarios of Table 10, and what it says of a trip in one sentence."""

    code: str
    dimension: int
    name: Text
    sentence: Text


class Persona(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A speaker of Figure 11, and how such a one talks."""

    code: Code
    name: Text
    voice: Text


class Feature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A code of the data and the words that say it."""

    code: Code
    words: Text


class Style(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction style with its pools of sentence forms and lengths (Table 11)."""

    code: StyleCode
    sentence: Text
    forms: Annotated[list[Feature], Meta(min_length=1)]
    lengths: Annotated[list[Feature], Meta(min_length=1)]

    def form_words(self, code: str) -> str:
        """Return the words of one of this style's sentence forms; KeyError for another code."""
        return {form.code: form.words for form in self.forms}[code]

    def length_words(self, code: str) -> str:
        """Return the words of one of this style's lengths; KeyError for another code."""
        return {length.code: length.words for length in self.lengths}[code]


class Zone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of surroundings, and how area descriptions show it.

    Attributes:
        code: Its code.
        words: A noun phrase with article, fit for "through ..." and "away from ...".
        wanted: Whether people ask for it, as a destination or for the way.
        geo_tags: An area with one of these tags lies in the zone.
        natural: So does one with one of these natural words.
        commercial: And one with all of these groups at once.
        touches: Words of any of the three kinds that forbid to say that the area is no such zone.
    """

    code: Code
    words: Text
    wanted: bool
    geo_tags: list[Text]
    natural: list[Text]
    commercial: list[Text]
    touches: list[Text]

    def __post_init__(self) -> None:
        if not (self.geo_tags or self.natural or self.commercial):
            raise ValueError("geo_tags: expected one here, in natural or commercial, found none")


class Facility(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of place people drive to.

    Attributes:
        code: Its code.
        words: A noun with article.
        stop: Whether people also ask for it on the way to something else.
        categories: Place categories that are one, as area descriptions word them.
    """

    code: Code
    words: Text
    stop: bool
    categories: Annotated[list[Text], Meta(min_length=1)]


class PartOfDay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the day in local time: from its hour to that of the next part."""

    code: Code
    words: Text
    from_hour: Annotated[int, Meta(ge=0, le=23)]


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The whole of prompts/vocabulary.yaml."""

    dimensions: list[Dimension]
    scenarios: list[Scenario]
    personas: Annotated[list[Persona], Meta(min_length=1)]
    styles: list[Style]
    zones: list[Zone]
    facilities: list[Facility]
    headings: list[Feature]
    turns: list[Feature]
    paces: list[Feature]
    days: list[Feature]
    parts_of_day: Annotated[list[PartOfDay], Meta(min_length=1)]

    def __post_init__(self) -> None:
        _expect("dimensions", [dimension.code for dimension in self.dimensions], DIMENSIONS)
        _expect("scenarios", [scenario.code for scenario in self.scenarios], SCENARIOS)
        for scenario in self.scenarios:
            if scenario.code[0] != str(scenario.dimension):
                found = f"{scenario.code} in dimension {scenario.dimension}"
                raise ValueError(f"scenarios: expected the dimension its code names, found {found}")
        _expect("styles", [style.code for style in self.styles], STYLES)
        for style in self.styles:
            _each_once("styles", (form.code for form in style.forms))
            _each_once("styles", (length.code for length in style.lengths))
        _expect("headings", [heading.code for heading in self.headings], HEADINGS)
        _expect("turns", [turns.code for turns in self.turns], TURNS)
        _expect("paces", [pace.code for pace in self.paces], PACES)
        _expect("days", [day.code for day in self.days], DAYS)
        _each_once("personas", (persona.code for persona in self.personas))
        _each_once("facilities", (c for facility in self.facilities for c in facility.categories))
        _each_once("zones", (code for code, _ in self._coded_words()))
        hours = [part.from_hour for part in self.parts_of_day]
        if hours[0] != 0 or hours != sorted(set(hours)):
            raise ValueError(f"parts_of_day: expected rising hours from 0 on, found {hours}")

    def _coded_words(self) -> list[tuple[str, str]]:
        kinds = (self.zones, self.facilities, self.headings, self.turns, self.paces, self.days,
                 self.parts_of_day)  # fmt: skip
        return [(feature.code, feature.words) for kind in kinds for feature in kind]

    @cached_property
    def _words(self) -> dict[str, str]:
        return dict(self._coded_words())

    def scenario(self, code: str) -> Scenario:
        """Return a scenario; KeyError for a code that is none."""
        return {scenario.code: scenario for scenario in self.scenarios}[code]

    def persona(self, code: str) -> Persona:
        """Return a persona; KeyError for a code that is none."""
        return {persona.code: persona for persona in self.personas}[code]

    def style(self, code: str) -> Style:
        """Return a style; KeyError for a code that is none."""
        by_code: dict[str, Style] = {style.code: style for style in self.styles}
        return by_code[code]

    def feature_words(self, feature: str) -> tuple[str, ...]:
        """Return the words of each code of a target's feature; () for "".

        Raises:
            KeyError: A code is none of this vocabulary.
        """
        return tuple(self._words[code] for code in feature.split(JOINT)) if feature else ()

    def expect_codes(self, intents: Intents, where: str, *, remedy: str) -> None:
        """Refuse a plan with a code that this vocabulary has not: it was made with another one.

        Args:
            intents: The plan.
            where: Whose plan it is, for the message.
            remedy: What to do about it, for the message.

        Raises:
            ParameterError: Names the first such code.
        """
        queried = [target for query in intents.queries for target in query.targets]
        targets = [*intents.targets, *queried, *([intents.waypoint] if intents.waypoint else [])]
        features = [code for t in targets if t.feature for code in t.feature.split(JOINT)]
        unknown = [code for code in features if code not in self._words]
        unknown += {intents.persona} - {persona.code for persona in self.personas}
        for plan in intents.styles:
            style = self.style(plan.style)
            unknown += {plan.form} - {form.code for form in style.forms}
            unknown += {plan.length} - {length.code for length in style.lengths}
        if unknown:
            raise ParameterError(
                f"{where}: expected codes of prompts/vocabulary.yaml, found {unknown[0]!r}, unknown"
                f" there; {remedy}"
            )

    def part_of_day(self, hour: int) -> PartOfDay:
        """Return the part of the day that an hour (0-23, local time) lies in."""
        return [part for part in self.parts_of_day if part.from_hour <= hour][-1]


def read_vocabulary(file: Path) -> Vocabulary:
    """Read a vocabulary and check it.

    Raises:
        ParameterError: A key is missing or unknown, a fixed code is missing, a code occurs twice.
    """
    try:
        found: Vocabulary = document_of(file, Vocabulary)
    except ParameterError as fault:
        message = str(fault).removeprefix(f"{file.parent}/")
        raise ParameterError(f"prompts/{message}") from fault
    return found


@cache
def vocabulary() -> Vocabulary:
    """Return the project's vocabulary, read once."""
    return read_vocabulary(VOCABULARY_FILE)


def _expect(key: str, found: Sequence[object], codes: tuple[object, ...]) -> None:
    if tuple(found) != codes:
        wanted = ", ".join(map(str, codes))
        raise ValueError(f"{key}: expected the codes {wanted}, found {', '.join(map(str, found))}")


def _each_once(key: str, codes: Iterable[str]) -> None:
    seen: set[str] = set()
    for code in codes:
        if code in seen:
            raise ValueError(f"{key}: expected each code or category once, found {code} twice")
        seen.add(code)
