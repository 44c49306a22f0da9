"""The choices of one text, drawn from one large number that each choice divides by its options.

    choices = Choices("1626278", "literal")
    choices.pick(("drive", "go", "head"))     ->  always the same for this trip and this text

What is chosen depends on the trip and on what it is for, never on a prompt, a batch or an order.
One hash gives a whole text its choices: a generator for each (`pipeline.seeds.rng_for`) would cost
more than the text itself.
"""

import hashlib
from collections.abc import Container, Sequence
from typing import Protocol, TypeVar

# Some 300 choices among ten; a text makes up to 100.
_BYTES = 128
_T = TypeVar("_T")


class _Slotted(Protocol):
    @property
    def slots(self) -> Sequence[str]: ...


_S = TypeVar("_S", bound=_Slotted)


class Choices:
    """A stream of choices."""

    __slots__ = ("_left",)

    def __init__(self, trip_id: str, purpose: str) -> None:
        drawn = hashlib.shake_256(f"template\x1f{trip_id}\x1f{purpose}".encode()).digest(_BYTES)
        self._left = int.from_bytes(drawn, "little")

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        self._left, chosen = divmod(self._left, n)
        return chosen

    def pick(self, options: Sequence[_T]) -> _T:
        """Return one of the options; there must be one."""
        self._left, chosen = divmod(self._left, len(options))
        return options[chosen]

    def chance(self, percent: int) -> bool:
        """Return True in `percent` of 100 cases."""
        return self.below(100) < percent

    def pick_fitting(self, phrases: Sequence[_S], available: Container[str]) -> _S:
        """Return one of the phrases all of whose slots are available.

        Raises:
            LookupError: There is none.
        """
        count = len(phrases)
        first = self.below(count)
        for step in range(count):
            phrase = phrases[(first + step) % count]
            if all(slot in available for slot in phrase.slots):
                return phrase
        raise LookupError(f"none of {count} phrases can be filled")
