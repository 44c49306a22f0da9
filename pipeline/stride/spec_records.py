"""A specification as it is kept: questions, each bound to measures with the values expected.

Bound("mean_speed", 1.5, 2.7, delta_value=0.03, reasoning="Rushing: nobody walks.")
benchmark_of_specs(specs, scenarios, maps)   ->  Benchmark, in the released shape
"""

from typing import Any

import msgspec
import polars as pl

from pipeline.records import Provenance
from pipeline.schemas import arrow_schema
from pipeline.stride.benchmark import Benchmark, Measurement, Question, Scenario
from pipeline.stride.corrected import BINDABLE
from pipeline.stride.maps import StrideMap
from pipeline.stride.measures.registry import Axis
from pipeline.stride.scenario_records import StrideScenario


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One measurement of a question: the values expected, and why.

    Attributes:
        function: Name of the measure; its parameters are the usual ones.
        min: Least value; null for none.
        max: Largest value; null for none.
        delta_value: Tolerance beyond both.
        reasoning: Why.
    """

    function: str
    min: float | None
    max: float | None
    delta_value: float
    reasoning: str


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question and what it binds."""

    axis: Axis
    question: str
    measurements: list[Bound]


class Specification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of the movement in one scenario; the answer of a writer."""

    decomposition_reasoning: str
    questions: list[Asked]


class SpecQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of a specification, with its id."""

    id: str
    axis: Axis
    question: str
    measurements: list[Bound]


class StrideSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One specification; schemas/stride_spec.schema.json says more."""

    scene_id: str
    decomposition_reasoning: str
    questions: list[SpecQuestion]
    provenance: Provenance


def spec_of(scene_id: str, found: Specification, provenance: Provenance) -> StrideSpec:
    """Return a specification whose questions are numbered."""
    questions = numbered(found)
    return StrideSpec(scene_id, found.decomposition_reasoning, questions, provenance)


def numbered(found: Specification) -> list[SpecQuestion]:
    """Return the questions of an answer with their ids: Q1, Q2, ..."""
    return [
        SpecQuestion(f"Q{number}", one.axis, one.question, one.measurements)
        for number, one in enumerate(found.questions, start=1)
    ]


def specs_frame(specs: list[StrideSpec]) -> pl.DataFrame:
    """Return specifications as rows of the schema `stride_spec`, by scenario."""
    rows = [msgspec.to_builtins(one) for one in sorted(specs, key=lambda one: one.scene_id)]
    return pl.DataFrame(rows, schema=pl.Schema(arrow_schema("stride_spec")))


def specs_of(frame: pl.DataFrame) -> list[StrideSpec]:
    """Return the specifications that `specs_frame` made rows of."""
    return [msgspec.convert(row, StrideSpec) for row in frame.iter_rows(named=True)]


# ---- the released shape -------------------------------------------------------------------------


def scene_of(
    spec: StrideSpec,
    *,
    description: str,
    category: str,
    map_id: str,
    location: str,
    n_agents: int | None,
) -> Scenario:
    """Return a specification as a scenario of a benchmark file."""
    return Scenario(
        id=spec.scene_id,
        map_name=map_id,
        description=description,
        category=category,
        location=location,
        n_agents=n_agents,
        reasoning=spec.decomposition_reasoning,
        questions=tuple(map(question_of, spec.questions)),
        extra={},
    )


def question_of(asked: SpecQuestion) -> Question:
    """Return a question as a benchmark file has it, tagged with its axis."""
    return Question(
        id=asked.id,
        text=f"{asked.axis}: {asked.question}",
        measurements=tuple(map(measurement_of, asked.measurements)),
        extra={},
    )


def measurement_of(bound: Bound) -> Measurement:
    """Return a bound as a measurement of a benchmark file, its usual parameters spelt out."""
    expected = {
        name: value for name, value in (("min", bound.min), ("max", bound.max)) if value is not None
    }
    return Measurement(
        function=bound.function,
        params=dict(BINDABLE[bound.function].parameters),
        expected=expected,
        delta=bound.delta_value,
        reasoning=bound.reasoning,
        extra={},
    )


def benchmark_of_specs(
    specs: list[StrideSpec],
    scenarios: dict[str, StrideScenario],
    maps: dict[str, StrideMap],
) -> Benchmark:
    """Return a whole benchmark; `model` names who wrote the questions."""
    writers = sorted({f"{one.provenance.engine}/{one.provenance.model}" for one in specs})
    scenes = []
    for spec in specs:
        scenario = scenarios[spec.scene_id]
        place = maps[scenario.map_id]
        scenes.append(
            scene_of(
                spec,
                description=scenario.description,
                category=scenario.category,
                map_id=scenario.map_id,
                location=place.name,
                n_agents=scenario.n_agents,
            )._replace(extra=_placed(scenario, place))
        )
    return Benchmark(", ".join(writers), tuple(scenes), "released", {})


def _placed(scenario: StrideScenario, place: StrideMap) -> dict[str, Any]:
    """Return where people start and how large the map is, which reports hold walks against."""
    return {
        "map_size_m": [place.width_m, place.height_m],
        "starts_m": [[one.x_m, one.y_m] for one in scenario.people],
    }
