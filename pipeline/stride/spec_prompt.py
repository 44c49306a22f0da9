"""Requests for specifications: a text, its place and its people; never a trajectory.

    asker = SpecRequests(prompts, model, sampling)
    asker.request(SpecAsk(scene_id="0812", description="A sing-along starts ...", ...))

A request's key is the hash of everything that decides the answer: text, map (by hash), protocol and
rules, measure cards, TrajFacts, model and sampling; without a model also the pattern named, and, as
the model's revision, the files and the version of the phrase bank. So the response ledger is the
cache of specifications: what was compiled once is not compiled again, and a change of any of these
compiles anew. The generation schema has a branch for each axis and each measure with the values it
can have.
"""

import copy
import math
from pathlib import Path
from typing import Any

import msgspec

from pipeline.language.outcome import json_in
from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, ModelId, Request, Sampling, new_request
from pipeline.stride.benchmark import Benchmark, Scenario
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.lint_rules import findings_of
from pipeline.stride.map_hash import map_hash
from pipeline.stride.maps import StrideMap
from pipeline.stride.measure_cards import cards, cards_version
from pipeline.stride.measures.registry import AXES, Measure
from pipeline.stride.spec_records import Specification, numbered, question_of
from pipeline.stride.trajectories import CANONICAL_DT_S
from pipeline.stride.trajfacts import TrajFacts
from pipeline.stride.writers import TEMPLATE

TASK = "stride_spec"
# Raise it when `fault_of` refuses other answers: those it passed before are not reused then.
RULES_VERSION = 1
# A warning of the linter that makes an answer none: what every walk passes gives a score away.
_VACUOUS = "vacuous"
# So large a share of checks that repeat another is no oversight but a model that goes in circles.
_MOST_TWINS = 0.25


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
        self._schema = answer_schema(self._prompt.schema)
        self.hash = files_hash([*self._prompt.files, prompts / "trajfacts.yaml"])
        self.model, self._sampling = model, sampling
        self._versions = {
            "measure_cards": cards_version(),
            "trajfacts": facts.version,
            "rules": RULES_VERSION,
        }

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
        if self.model.engine == TEMPLATE:
            shown["pattern"] = ask.pattern
        asked = self._prompt.user(ask.scene_id, {"record_json": json_text(shown)})
        messages = (self._prompt.system, asked)
        return new_request(
            ask.scene_id,
            task=TASK,
            messages=messages,
            schema=self._schema,
            model=self.model,
            sampling=self._sampling,
            facts=ask,
        )


def answer_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the generation schema with a branch for each axis and each measure put in.

    A question's first measurement is on its axis. A measurement binds a measure by name, keeps
    bounds within its range, and has at least one of them. That the lower one comes first no schema
    can say: `fault_of` does.
    """
    mine = copy.deepcopy(schema)
    question = mine["properties"]["questions"]["items"]
    measurement = question["properties"]["measurements"]["items"]
    mine["$defs"] = {
        axis: {
            "anyOf": [
                _branch(measurement, measure, stated=stated)
                for measure in BINDABLE.values()
                if measure.axis == axis
                for stated in ("min", "max")
            ]
        }
        for axis in AXES
    }
    any_axis = {"anyOf": [{"$ref": f"#/$defs/{axis}"} for axis in AXES]}
    branches = [copy.deepcopy(question) for _ in AXES]
    for axis, branch in zip(AXES, branches, strict=True):
        branch["properties"]["axis"] = {"const": axis}
        branch["properties"]["measurements"] |= {
            "prefixItems": [{"$ref": f"#/$defs/{axis}"}],
            "items": any_axis,
        }
    mine["properties"]["questions"]["items"] = {"anyOf": branches}
    return mine


def _branch(item: dict[str, Any], measure: Measure, *, stated: str) -> dict[str, Any]:
    """Return the schema of a measurement of one measure; with `max` stated, there is no `min`."""
    least, most = measure.bounds(measure.parameters)
    number = {"type": "number", "minimum": least}
    if math.isfinite(most):
        number["maximum"] = most
    branch = copy.deepcopy(item)
    branch["properties"]["function"] = {"const": measure.name}
    if stated == "min":
        branch["properties"]["min"] = number
        branch["properties"]["max"] = number | {"type": ["number", "null"]}
    else:
        branch["properties"]["min"] = {"type": "null"}
        branch["properties"]["max"] = number
    return branch


def shown_map(place: StrideMap) -> ShownMap:
    """Return what a prompt shows of a map."""
    return ShownMap(
        place.name, place.kind, place.width_m, place.height_m, place.walkable_m2, map_hash(place)
    )


def specification_of(answer: Answer) -> Specification:
    """Return the specification of an answer that keeps its schema."""
    return msgspec.json.decode(nfc(json_in(answer.text)), type=Specification)


def fault_of(request: Request, answer: Answer) -> str:
    """Say what is wrong with an answer that keeps its schema, as "code: words"; "" if nothing is.

    Codes are those of the linter: everything it calls an error, `vacuous`, and `twin_check` where
    many stand twice; and `twin_question` for a question in the words of another.
    """
    ask: SpecAsk = request.facts
    found = specification_of(answer)
    texts = [" ".join(one.question.casefold().split()) for one in found.questions]
    for number, text in enumerate(texts):
        if text in texts[:number]:
            return f"twin_question: Q{number + 1}: the words of Q{texts.index(text) + 1}"
    scene = Scenario(
        id=ask.scene_id,
        map_name="",
        description=ask.description,
        category=ask.category or "",
        location="",
        n_agents=ask.n_agents,
        reasoning="",
        questions=tuple(map(question_of, numbered(found))),
        extra={},
    )
    findings = list(findings_of(Benchmark("", (scene,), "released", {})))
    for one in findings:
        if one.level == "error" or one.code == _VACUOUS:
            where = " ".join(part for part in (one.question, one.function) if part)
            return f"{one.code}: {where}: {one.detail}"
    checks = sum(len(one.measurements) for one in found.questions)
    twins = sum(one.code == "twin_check" for one in findings)
    if twins > _MOST_TWINS * checks:
        return f"twin_check: {twins} of {checks} checks repeat another, measure and bounds"
    return ""
