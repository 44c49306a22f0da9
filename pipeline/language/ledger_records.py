"""What the ledger says of its answers: how far a key has come, what runs took, what is held.

state_of({1: "malformed", 2: "ok"})  ->  State(attempts=2, ok=2, last="ok", next=3)
"""

from collections.abc import Mapping
from itertools import count
from typing import NamedTuple

from pipeline.language.requests import FINAL, ModelId, Status


class State(NamedTuple):
    """What the ledger knows of a key.

    Attributes:
        attempts: How many there were; 0 when it was never asked.
        ok: Number of the lowest attempt with status ok, the key's answer; None without one.
        last: Status of the highest attempt; None when it was never asked.
        next: Number of the attempt that comes next: the lowest that was not made.
    """

    attempts: int
    ok: int | None
    last: Status | None
    next: int

    def has_ended(self, most_attempts: int) -> bool:
        """Tell whether nothing more is asked: answered, beyond help, or asked often enough."""
        return self.ok is not None or self.last in FINAL or self.attempts >= most_attempts


UNKNOWN = State(0, None, None, 1)


class Run(NamedTuple):
    """What one run asked a model for and how long that took: measured speed, for a plan.

    Attributes:
        task: `annotate`, `narrate`, ...
        model: Who was asked.
        sent: Requests sent, repeated attempts included.
        ok: Answers that were good.
        failed: Answers that were not.
        prompt_tokens: Tokens read; None where the engine counts none.
        output_tokens: Tokens written; None where the engine counts none.
        seconds: From the first request to the last answer, without loading the model.
    """

    task: str
    model: ModelId
    sent: int
    ok: int
    failed: int
    prompt_tokens: int | None
    output_tokens: int | None
    seconds: float


class Forgotten(NamedTuple):
    """How many rows were removed, and the bytes of their raw texts."""

    attempts: int
    text_bytes: int


class Held(NamedTuple):
    """What the ledger holds of one task and model.

    Attributes:
        task: `annotate`, `narrate`, ...
        engine: What ran the model.
        model: Its name.
        revision: Its version.
        requests: Keys, each asked once or more often.
        attempts: Rows.
        prompt_tokens: Tokens read; null where the engine counts none.
        output_tokens: Tokens written; null where the engine counts none.
        text_bytes: Size of the raw texts.
        ok: Rows that are good.
        failed: Rows that are not, by status.
    """

    task: str
    engine: str
    model: str
    revision: str
    requests: int
    attempts: int
    prompt_tokens: int | None
    output_tokens: int | None
    text_bytes: int
    ok: int
    failed: dict[str, int]


def state_of(made: Mapping[int, Status]) -> State:
    """Return how far a key has come, from the status of each of its attempts."""
    if not made:
        return UNKNOWN
    last = max(made)
    ok = min((number for number, status in made.items() if status == "ok"), default=None)
    # A ledger that once counted a server's failures as attempts has gaps where these were.
    following = next(number for number in count(1) if number not in made)
    return State(len(made), ok, made[last], following)
