"""How the requests of one round of asking stand, and which are on their way.

tally = RoundTally()
tally.add(request, State(1, 1, "ok", 2), copies=1, ended=True)
tally.ended  ->  1
"""

import time
from collections import Counter

from pipeline.language.ledger_records import State
from pipeline.language.requests import Request

_EXAMPLES = 3


class RoundTally:
    """How the requests of one round stand; a round goes through all of them."""

    def __init__(self) -> None:
        self.ok = 0
        self.cached = 0  # those of `ok` that were not sent in this round
        self.failed: Counter[str] = Counter()  # have come to their end, by the last status
        self.again: Counter[str] = Counter()  # may be asked again in the next round
        self.unanswered = 0  # the same, as the server or the model's program failed
        self.elsewhere: set[str] = set()  # keys that another run is to ask
        self.examples: dict[str, str] = {}  # key -> item of the first that failed

    @property
    def ended(self) -> int:
        """Return how many have come to their end."""
        return self.ok + self.failed.total()

    def add(self, request: Request, state: State, *, copies: int, ended: bool) -> None:
        """Count a request, as often as the stream holds it."""
        if state.ok is not None:
            self.ok += copies
            return
        (self.failed if ended else self.again)[str(state.last)] += copies
        if len(self.examples) < _EXAMPLES:
            self.examples[request.key] = request.item_id


class OnItsWay:
    """A request that was handed to the engine."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.copies = 1  # of the same key in the stream: one answer serves them all
        self.since_s = time.monotonic()
