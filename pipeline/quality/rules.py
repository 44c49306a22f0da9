"""The rules of quality control: the stage each belongs to, and what follows from it.

    STAGE_OF[Rule.OFF_ROUTE_NAME]           ->  "grounding"
    policies.action(Rule.OFF_ROUTE_NAME)    ->  "reject", as params.yaml says
    Hit(Rule.DASH, 12, 13, "an em-dash")

A rule only says what it found; what follows (flag, repair, reject) stands in params.yaml.
"""

from enum import StrEnum
from typing import Literal

import msgspec

STAGES = ("grounding", "terminology", "verification", "diversity", "punctuation")
Action = Literal["flag", "repair", "reject"]
Mendable = Action
Final = Literal["flag", "reject"]


class Rule(StrEnum):
    """A reason code of quality control."""

    # 1 grounding
    INVENTED_NAME = "invented_name"
    OFF_ROUTE_NAME = "off_route_name"
    WRONG_PHASE = "wrong_phase"
    SHORT_NAME = "short_name"
    GLOSSED_NAME = "glossed_name"
    NEAR_NAME = "near_name"
    DRIVEN_NAME = "driven_name"
    WRONG_DIRECTION = "wrong_direction"
    WRONG_TIME = "wrong_time"
    WRONG_DURATION = "wrong_duration"
    WRONG_DISTANCE = "wrong_distance"
    WRONG_COUNT = "wrong_count"
    IMPOSSIBLE_TIME = "impossible_time"
    UNRECORDED = "unrecorded"
    # 2 terminology
    LABEL = "label"
    PIPELINE_WORD = "pipeline_word"
    NOT_ENGLISH = "not_english"
    TOO_LONG = "too_long"
    NO_WORDS = "no_words"
    # 3 verification
    NOT_BORNE_OUT = "not_borne_out"
    UNSUPPORTED = "unsupported"
    UNVERIFIED = "unverified"
    # 4 diversity
    EXACT_COPY = "exact_copy"
    TEMPLATE = "template"
    OPENER = "opener"
    NEAR_DUPLICATE = "near_duplicate"
    # 5 punctuation
    DASH = "dash"
    SEMICOLON = "semicolon"
    QUOTES = "quotes"
    SPACING = "spacing"
    BRACKETS = "brackets"
    MARKUP = "markup"
    INVISIBLE = "invisible"
    UNREADABLE = "unreadable"
    # of repairs themselves
    UNSAFE_REPAIR = "unsafe_repair"


class Hit(msgspec.Struct, frozen=True, gc=False):
    """Where a text breaks a rule.

    Attributes:
        rule: Which.
        start: First character.
        end: Character after the last.
        detail: What was expected and found.
    """

    rule: Rule
    start: int
    end: int
    detail: str


class Policies(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What follows from each rule: key `rules` of section `check`.

    `flag` keeps the trip and says what was found, `repair` mends the text (and refuses it where it
    cannot), `reject` refuses the trip.
    """

    invented_name: Final
    off_route_name: Final
    wrong_phase: Final
    short_name: Final
    glossed_name: Final
    near_name: Final
    driven_name: Final
    wrong_direction: Final
    wrong_time: Final
    wrong_duration: Final
    wrong_distance: Final
    wrong_count: Final
    impossible_time: Final
    unrecorded: Final
    label: Mendable
    pipeline_word: Final
    not_english: Final
    too_long: Final
    no_words: Final
    not_borne_out: Final
    unsupported: Final
    unverified: Final
    exact_copy: Final
    template: Final
    opener: Final
    near_duplicate: Final
    dash: Mendable
    semicolon: Mendable
    quotes: Mendable
    markup: Mendable
    invisible: Mendable
    unreadable: Final
    spacing: Mendable
    brackets: Final
    unsafe_repair: Final

    def action(self, rule: Rule) -> Action:
        """Return what follows from a rule."""
        found: Action = getattr(self, rule.value)
        return found


_FIRST_OF_STAGE = {
    Rule.INVENTED_NAME: "grounding",
    Rule.LABEL: "terminology",
    Rule.NOT_BORNE_OUT: "verification",
    Rule.EXACT_COPY: "diversity",
    Rule.DASH: "punctuation",
}


def _stages() -> dict[Rule, str]:
    found, stage = {}, ""
    for rule in Rule:
        stage = _FIRST_OF_STAGE.get(rule, stage)
        found[rule] = stage
    return found


STAGE_OF = _stages()
