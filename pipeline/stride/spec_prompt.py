"""Requests for specifications: a text, its place and its people; never a trajectory.

    asker = SpecRequests(prompts, model, sampling)
    asker.request(SpecAsk(scene_id="0812", description="A sing-along starts ...", ...))

A request's key is the hash of everything that decides the answer: text, map (by hash), protocol and
rules, measure cards, TrajFacts, model and sampling. So the response ledger is the cache of
specifications: what was compiled once is not compiled again, and a change of any of these compiles
anew.
"""

import hashlib
from pathlib import Path

import msgspec

from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, ModelId, Request, Sampling, request_key
from pipeline.stride.maps import StrideMap
from pipeline.stride.measure_cards import cards, cards_version
from pipeline.stride.spec_records import Specification
from pipeline.stride.trajectories import CANONICAL_DT_S
from pipeline.stride.trajfacts import TrajFacts

TASK = "stride_spec"


class ShownMap(msgspec.Struct, frozen=True):
    """What a prompt shows of the place; `sha256` stands for all the rest of it."""

    name: str
    kind: str
    width_m: float
    height_m: float
    walkable_m2: float
    sha256: str


class SpecAsk(msgspec.Struct, frozen=True):
    """What a specification is wanted for.

    Attributes:
        scene_id: Item.
        description: The context text.
        category: Kind of crowd; null where none is stated.
        n_agents: People; null where not stated.
        duration_s: Seconds; null where not stated.
        place: Where; null where no map is known.
        event: Name of the anchor it happens at, or its kind; null where there is none.
        pattern: Way of moving, for the engine without a model; a model is not shown it.
    """

    scene_id: str
    description: str
    category: str | None
    n_agents: int | None
    duration_s: float | None
    place: ShownMap | None
    event: str | None
    pattern: str | None


class SpecRequests:
    """Makes the request for a specification; what all requests share is read once."""

    def __init__(
        self, prompts: Path, model: ModelId, sampling: Sampling, *, facts: TrajFacts
    ) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/stride of a project.
            model: Who is asked.
            sampling: How it samples.
            facts: Shown to the writer.
        """
        shared = {"cards": cards(), "facts": facts, "fps": f"{1 / CANONICAL_DT_S:g}"}
        self._prompt = Prompt(prompts / "spec", shared=shared)
        self.hash = files_hash([*self._prompt.files, prompts / "trajfacts.yaml"])
        self.model, self._sampling = model, sampling
        self._versions = {"measure_cards": cards_version(), "trajfacts": facts.version}

    def request(self, ask: SpecAsk) -> Request:
        """Return the request for a specification."""
        shown = {
            "text": ask.description,
            "category": ask.category,
            "people": ask.n_agents,
            "seconds": ask.duration_s,
            "place": msgspec.to_builtins(ask.place),
            "event_at": ask.event,
            "versions": self._versions,
        }
        asked = self._prompt.user(ask.scene_id, {"record_json": json_text(shown)})
        messages = (self._prompt.system, asked)
        key = request_key(
            task=TASK,
            messages=messages,
            schema=self._prompt.schema,
            model=self.model,
            sampling=self._sampling,
        )
        return Request(
            ask.scene_id, TASK, messages, self._prompt.schema, self.model, self._sampling, ask, key
        )


def shown_map(place: StrideMap) -> ShownMap:
    """Return what a prompt shows of a map."""
    return ShownMap(
        place.name, place.kind, place.width_m, place.height_m, place.walkable_m2, map_hash(place)
    )


def map_hash(place: StrideMap) -> str:
    """Return a hash of all that a map is: obstacles, mask, anchors and names."""
    content = msgspec.json.encode(msgspec.to_builtins(place))
    return hashlib.sha256(content).hexdigest()


def specification_of(answer: Answer) -> Specification:
    """Return the specification of an answer that keeps its schema."""
    return msgspec.json.decode(nfc(answer.text), type=Specification)
