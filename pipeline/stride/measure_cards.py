"""Measure cards: what a writer of questions must know of each measure, taken from its own words.

cards()[0]
->  Card(name="mean_speed", axis="V", unit="m/s", parameters={}, least=0.0, most=None,
         text="Return the mean speed ... Formula: ... Range: ... Not comparable ...")

A card is the docstring of the function that computes the measure, with parameters and range from
the table of measures, so that it cannot say anything else than the code does.
"""

import hashlib
import inspect
import json
import math
from functools import cache

import msgspec

from pipeline.stride.corrected import BINDABLE
from pipeline.stride.measures.registry import Measure


class Card(msgspec.Struct, frozen=True):
    """One measure, in words.

    Attributes:
        name: As specifications bind it.
        axis: V, R, D, S or T.
        unit: Of the value; `1` = none.
        parameters: With the values they have unless a specification says otherwise.
        least: The least possible value.
        most: The largest; null where there is none.
        text: What it computes, over what, and what it depends on.
    """

    name: str
    axis: str
    unit: str
    parameters: dict[str, float]
    least: float
    most: float | None
    text: str


@cache
def cards() -> tuple[Card, ...]:
    """Return the cards of all measures a question may bind, the published 20 first."""
    return tuple(_card(measure) for measure in BINDABLE.values())


@cache
def cards_version() -> str:
    """Return the version of the cards: changes with any word, parameter or range of them."""
    text = json.dumps([msgspec.to_builtins(card) for card in cards()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _card(measure: Measure) -> Card:
    least, most = measure.bounds(measure.parameters)
    # What makes a value impossible is for who calls the function.
    words = (inspect.getdoc(measure.function) or "").partition("Raises:")[0]
    return Card(
        name=measure.name,
        axis=measure.axis,
        unit=measure.unit,
        parameters=measure.parameters,
        least=least,
        most=most if math.isfinite(most) else None,
        text=" ".join(words.split()),
    )
