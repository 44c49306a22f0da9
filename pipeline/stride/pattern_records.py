"""What prompts/stride/patterns.yaml holds: ways of moving, and what is asked of each.

Check(function="mean_speed", bands=["walking"], why="People walk.")   a measurement and its range
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pipeline.keys import Text
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.trajfacts import Range

LEAST_QUESTIONS, MOST_QUESTIONS = 5, 8


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One measurement: bands of TrajFacts, perhaps open to one side, or a range and its source."""

    function: Text
    why: Text
    bands: list[Text] = []
    open: Literal["up", "down"] | None = None
    range: Range | None = None
    source: Text | None = None

    def __post_init__(self) -> None:
        if self.function not in BINDABLE:
            raise ValueError(f"function: expected a measure, found {self.function!r}")
        if bool(self.bands) == (self.range is not None):
            raise ValueError("bands: expected either bands or a range")
        if (self.range is None) != (self.source is None):
            raise ValueError("source: expected where a range comes from, and none beside bands")
        if self.open is not None and not self.bands:
            raise ValueError("open: expected bands beside it")


class PatternQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of a way of moving, and by which measurements."""

    axis: Literal["V", "R", "D", "S", "T"]
    ask: Text
    checks: Annotated[list[Check], Meta(min_length=1, max_length=3)]


class More(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question more where a text says a thing beyond its way of moving.

    Attributes:
        cue: The thing, of cues.yaml.
        axis: Of the first check.
        ask: The question.
        checks: Those whose measure the pattern binds already are left out.
        instead: Whether they take the place of what the pattern says of the same measure.
    """

    cue: Text
    axis: Literal["V", "R", "D", "S", "T"]
    ask: Text
    checks: Annotated[list[Check], Meta(min_length=1, max_length=3)]
    instead: bool = False


class Denied(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a crowd looks like of which a thing is denied.

    Attributes:
        cues: The things, of cues.yaml; one is enough.
        ask: The question that a check of `instead` belongs to.
        checks: Where its measures lie. A pattern that asks for values apart from these is not told.
        instead: Takes the place of a check that asks for more than these; `checks` if empty.
    """

    cues: Annotated[list[Text], Meta(min_length=1)]
    ask: Text
    checks: Annotated[list[Check], Meta(min_length=1)]
    instead: list[Check] = []


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way a crowd can move.

    Attributes:
        id: As stories name it.
        title: In words.
        signs: Cues of cues.yaml that speak for it, and how strongly; 3 is enough.
        needs: Cues without which a text does not tell it: one of these lists in full.
        against: Cues that rule it out; `not CUE` is one that the text denies.
        questions: What is asked.
        pauses: Whether people walk and stand in turn: a pace that a text states is then that of
            those who walk.
    """

    id: Text
    title: Text
    signs: Annotated[dict[Text, Annotated[float, Meta(gt=0, le=3)]], Meta(min_length=1)]
    needs: Annotated[list[Annotated[list[Text], Meta(min_length=1)]], Meta(min_length=1)]
    against: list[Text]
    questions: Annotated[
        list[PatternQuestion], Meta(min_length=LEAST_QUESTIONS, max_length=MOST_QUESTIONS)
    ]
    pauses: bool = False


class PatternSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of patterns.yaml."""

    patterns: Annotated[list[Pattern], Meta(min_length=1)]
    dense: PatternQuestion
    more: list[More]
    denied: list[Denied]
