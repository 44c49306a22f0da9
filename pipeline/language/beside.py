"""Answers that lie beside a city's texts and not in the response ledger, where a run looks.

    beside = Beside(root, stage, "monaco")
    for request, state in beside.counting(sorted_out(requests, ledger, attempts=3)): ...
    beside.found   ->  722 requests that would be sent though monaco's responses have an answer
    beside.shown   ->  "data/monaco/responses"

Pulled data have them: `python -m pipeline ledger import` brings them in.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import PipelineError
from pipeline.language.asked import State
from pipeline.language.requests import Request
from pipeline.stages import Stage
from pipeline.tables import files_of, read_table


class Beside:
    """Counts the new requests that have a good answer among what a stage has written.

    Attributes:
        shown: Where its responses lie, from the project's root; "" where it writes none.
        found: Requests counted so far.
    """

    def __init__(self, root: Path, stage: Stage, city: str | None) -> None:
        """Find the place; it is read when the first new request comes."""
        names = [name for name in stage.writes if ARTIFACTS[name].schema == "response"]
        self._artifact = ARTIFACTS[names[0]] if names else None
        self.shown, self.found = "", 0
        if self._artifact is not None:
            self._place = artifact_path(self._artifact, root=root, city=city)
            self.shown = str(self._place.relative_to(root))

    def counting(
        self, sorted_requests: Iterable[tuple[Request, State]]
    ) -> Iterator[tuple[Request, State]]:
        """Yield requests as they come, and count them."""
        for request, state in sorted_requests:
            self.found += state == "due" and request.key in self._keys
            yield request, state

    @cached_property
    def _keys(self) -> frozenset[str]:
        if self._artifact is None or not self._place.exists():
            return frozenset()
        columns = ["key", "status"]
        try:
            files = files_of(self._place, self._artifact)
            tables = [read_table(one, self._artifact, columns=columns) for one in files]
        except PipelineError:  # of another version, or broken: there is nothing to bring in
            return frozenset()
        return frozenset(key for one in tables for key in one.filter(status="ok")["key"])
