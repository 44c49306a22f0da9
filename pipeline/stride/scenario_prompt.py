"""Requests for scenarios: one place and one kind of crowd each, and the answer as a draft.

asker = ScenarioRequests(prompts, model, sampling, total={"Violent": 9, ...})
asker.request(ask)      ->  Request(item_id="0204", facts=ask, ...)
draft_of(answer)        ->  Draft(description="...", roles=[...])

The generation schema of a request holds the anchors of its place, so that a model that is guided by
it can name no other.
"""

import copy
from pathlib import Path
from typing import Any

import msgspec

from pipeline.language.outcome import json_in
from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, ModelId, Request, Sampling, new_request
from pipeline.stride.filters import fault_of_told
from pipeline.stride.map_hash import map_hash
from pipeline.stride.maps import StrideMap
from pipeline.stride.roles import ANYWHERE, EXITS, Draft
from pipeline.stride.states import Fault
from pipeline.stride.stories import Ask, Category
from pipeline.stride.writers import TEMPLATE

TASK = "stride_scenario"
_MOST_NAMES = 15


class ScenarioRequests:
    """Makes the request for a scenario; what all requests share is read once."""

    def __init__(
        self,
        prompts: Path,
        model: ModelId,
        sampling: Sampling,
        *,
        categories: list[Category],
        total: dict[str, int],
    ) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/stride of a project.
            model: Who is asked.
            sampling: How it samples.
            categories: All kinds of crowd.
            total: Scenarios wanted of each.
        """
        self._prompt = Prompt(prompts / "scenario", shared={"categories": categories})
        self.hash = files_hash([*self._prompt.files, prompts / "categories.yaml"])
        self.model, self._sampling, self._total = model, sampling, total

    def request(self, ask: Ask) -> Request:
        """Return the request for a scenario."""
        values = {
            "category": ask.category.code,
            "number": ask.slot + 1,
            "total": self._total[ask.category.code],
            "place_json": json_text(self._shown(ask)),
        }
        messages = (self._prompt.system, self._prompt.user(ask.scene_id, values))
        return new_request(
            ask.scene_id,
            task=TASK,
            messages=messages,
            schema=answer_schema(self._prompt.schema, ask.place),
            model=self.model,
            sampling=self._sampling,
            facts=ask,
        )

    def _shown(self, ask: Ask) -> dict[str, Any]:
        """Return what is shown of the place; for the phrase bank also all else that decides.

        It draws by the scenario's id, and reads more of the map than a model is shown.
        """
        shown = shown_place(ask.place)
        if self.model.engine == TEMPLATE:
            shown |= {"scene_id": ask.scene_id, "sha256": map_hash(ask.place)}
        return shown


def answer_schema(schema: dict[str, Any], place: StrideMap) -> dict[str, Any]:
    """Return the generation schema of a scenario with the anchors of its place put in."""
    anchors = [anchor.id for anchor in place.anchors]
    mine = copy.deepcopy(schema)
    mine["properties"]["event"] = {"enum": [None, *anchors]}
    role = mine["properties"]["roles"]["items"]["properties"]
    role["start"] = {"enum": [ANYWHERE, *anchors]}
    role["to"]["items"] = {"enum": [EXITS, *anchors]}
    role["near"] = {"enum": [None, *anchors]}
    return mine


def shown_place(place: StrideMap) -> dict[str, Any]:
    """Return what a prompt shows of a map."""
    return {
        "name": place.name,
        "kind": place.kind,
        "roads": place.roads,
        "width_m": place.width_m,
        "height_m": place.height_m,
        "walkable_m2": place.walkable_m2,
        "streets": place.streets[:_MOST_NAMES],
        "landmarks": place.landmarks[:_MOST_NAMES],
        "anchors": [
            {
                "id": anchor.id,
                "name": anchor.name,
                "east_m": round(anchor.x_m),
                "north_m": round(anchor.y_m),
                "open_m": round(anchor.clearance_m),
            }
            for anchor in place.anchors
        ],
    }


def draft_of(answer: Answer) -> Draft | Fault:
    """Return the draft of an answer that keeps its schema, or why it is none."""
    try:
        draft = msgspec.json.decode(json_in(answer.text), type=Draft)
    except msgspec.ValidationError as fault:  # such as 20.0 people, an integer to JSON Schema
        return Fault("implausible", str(fault))
    return msgspec.structs.replace(draft, description=nfc(draft.description.strip()))


def fault_of(request: Request, answer: Answer) -> str:
    """Say what the writer could have known to be wrong, as "code: words"; "" if nothing is.

    What depends on the ground, on chance or on other texts is no fault of the answer: asking again
    would not mend it, and another map would make another of it. It is found later.
    """
    ask: Ask = request.facts
    draft = draft_of(answer)
    fault = draft if isinstance(draft, Fault) else fault_of_told(draft, ask.category, ask.place)
    return f"{fault.reason}: {fault.detail}" if fault else ""
