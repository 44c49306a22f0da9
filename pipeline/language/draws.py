"""Even random numbers by purpose: quick, and none depends on another.

    Draws(7, "plan_intents", "trip-12").numbers("persona", 1)  ->  [0.8125...], always
    pick(["a", "b", "c"], 0.5)                                 ->  "b"

Each number comes from a hash of seed, stage, item and purpose. So a purpose that needs more or
fewer numbers, or a new purpose, moves no other draw; and a number costs a microsecond, where a
generator of its own (`pipeline.seeds.rng_for`) for each purpose would cost twenty.
"""

import hashlib
import math
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """The random numbers of one item in one stage."""

    def __init__(self, seed: int, stage: str, item_id: str) -> None:
        self._head = f"{seed}\x1f{stage}\x1f{item_id}\x1f"

    def numbers(self, purpose: str, count: int) -> list[float]:
        """Return even numbers between 0 and 1, both excluded.

        Args:
            purpose: What they decide; each purpose has a stream of its own.
            count: How many, 1 to 8: a hash gives eight numbers of 64 bits, of which 53 are used.
        """
        digest = hashlib.blake2b((self._head + purpose).encode(), digest_size=8 * count).digest()
        return [((bits >> 11) + 0.5) / 2.0**53 for bits in struct.unpack(f"<{count}Q", digest)]

    def number(self, purpose: str) -> float:
        """Return the one number of a purpose."""
        return self.numbers(purpose, 1)[0]


def pick(options: Sequence[T], number: float) -> T:
    """Return the option a number between 0 and 1 falls on, all equally likely.

    Raises:
        IndexError: There is no option.
    """
    return options[min(int(number * len(options)), len(options) - 1)]


def pick_weighted(weights: Sequence[float], number: float) -> int:
    """Return the index that a number between 0 and 1 falls on, likely by its weight."""
    sums = list(accumulate(weights))
    return next(index for index, upper in enumerate(sums) if number * sums[-1] < upper)


def weighted_order(weights: Mapping[str, float], numbers: Sequence[float]) -> list[str]:
    """Return a random order: each next one is drawn from the rest, likely by its weight.

    The smallest of exponential times with the weights as rates comes first (Efraimidis and
    Spirakis), so leaving out one that cannot be had leaves the order of the others as it is.

    Args:
        weights: By item; those of weight 0 are left out.
        numbers: One per item, between 0 and 1.
    """
    times = {
        item: -math.log(number) / weight
        for (item, weight), number in zip(weights.items(), numbers, strict=True)
        if weight > 0
    }
    return sorted(times, key=lambda item: times[item])
