"""The rules of quality control by name: the stage each belongs to, and what may follow from it.

    Rule.OFF_ROUTE_NAME.stage  ->  "grounding"
    Hit(Rule.DASH, 12, 13, "an em-dash")

A rule only says what it found; what follows (flag, repair, reject) stands in params.yaml.
"""

from enum import StrEnum
from typing import NamedTuple


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
    # 2 terminology
    LABEL = "label"
    PIPELINE_WORD = "pipeline_word"
    # 3 verification
    NOT_BORNE_OUT = "not_borne_out"
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
    # of repairs themselves
    UNSAFE_REPAIR = "unsafe_repair"


class Hit(NamedTuple):
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
