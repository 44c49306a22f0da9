"""Compile every scenario's text into questions that a program can answer: its specification.

    0204 "Shots are fired at Esplanadinpuisto, and the crowd scatters in panic. ..."
    ->  Q1 V: Do people run?                        mean_speed 1.5 to 2.7, delta 0.03
        Q5 S: Do people move away from the place?   dispersal_score 0.3 to 1.0, delta 0.02  ...

The writer sees text, place and number of people, and what measures mean. It never sees a
trajectory, of whatever origin. Scoring asks no model any more: it reads what was compiled here.
"""

from typing import Any

import msgspec
import polars as pl

from pipeline.language.asked import provenance_of, rejection_rows
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, responses_frame
from pipeline.language.requests import Answer, Request
from pipeline.records import Provenance
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO
from pipeline.stride.benchmark import Benchmark, Measurement, Question, Scenario
from pipeline.stride.maps import StrideMap, maps_of
from pipeline.stride.measures.registry import MEASURES, Axis
from pipeline.stride.patterns import FOLDER, Bound, PatternBank, Specification, patterns
from pipeline.stride.patterns import patterns_revision as revision
from pipeline.stride.scenarios import StrideScenario, scenarios_of
from pipeline.stride.spec_prompt import SpecAsk, SpecRequests, shown_map, specification_of
from pipeline.stride.writers import WriterSettings, ask_writer, writer_id

STAGE = "stride_specs"


class SpecSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `stride_specs` of params.yaml.

    Attributes:
        writer: Who writes.
    """

    writer: WriterSettings


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


def run(io: StageIO, *, stride_specs: SpecSettings) -> None:
    """Compile the specification of every scenario."""
    settings, bank = stride_specs.writer, patterns()
    maps = {one.map_id: one for one in maps_of(io.read("stride_maps"))}
    scenarios = scenarios_of(io.read("stride_scenarios"))
    model = writer_id(settings, bank_revision=revision())
    asker = SpecRequests(FOLDER, model, settings.sampling, facts=bank.facts)
    requests = [asker.request(ask_of(one, maps[one.map_id])) for one in scenarios]
    with Ledger(io.ledger_folder) as ledger:
        answered = ask_writer(
            requests,
            settings=settings,
            bank=lambda request: compiled(request, bank),
            ledger=ledger,
            desc=STAGE,
            replay=io.replay,
        )
    specs, failed, every = list[StrideSpec](), list[tuple[str, list[Answer]]](), list[Answer]()
    for request, attempts in answered:
        answer = first_ok(attempts)
        every += attempts
        if answer is None:
            failed.append((request.item_id, attempts))
            continue
        provenance = provenance_of(answer, asker.hash, [])
        specs.append(spec_of(request.item_id, specification_of(answer), provenance))
    io.write("stride_specs", specs_frame(specs))
    # Scenarios alike share one request: every attempt stands once.
    unique = list({(one.key, one.attempt): one for one in every}.values())
    io.write("stride_spec_responses", responses_frame(unique))
    io.reject(rejection_rows(STAGE, failed))


def ask_of(scenario: StrideScenario, place: StrideMap) -> SpecAsk:
    """Return what is asked about a scenario."""
    event = None
    if scenario.event is not None:
        anchor = next(one for one in place.anchors if one.id == scenario.event.anchor)
        event = anchor.name or anchor.kind
    return SpecAsk(
        scene_id=scenario.scene_id,
        description=scenario.description,
        category=scenario.category,
        n_agents=scenario.n_agents,
        duration_s=scenario.duration_s,
        place=shown_map(place),
        event=event,
        pattern=scenario.pattern,
    )


def compiled(request: Request, bank: PatternBank) -> Any:
    """Return the answer of the phrase bank, as plain JSON values."""
    ask: SpecAsk = request.facts
    pattern = ask.pattern or bank.pattern_of(ask.description)
    return msgspec.to_builtins(bank.specification(pattern))


def spec_of(scene_id: str, found: Specification, provenance: Provenance) -> StrideSpec:
    """Return a specification whose questions are numbered."""
    questions = [
        SpecQuestion(f"Q{number}", one.axis, one.question, one.measurements)
        for number, one in enumerate(found.questions, start=1)
    ]
    return StrideSpec(scene_id, found.decomposition_reasoning, questions, provenance)


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
        questions=tuple(
            Question(
                id=one.id,
                text=f"{one.axis}: {one.question}",
                measurements=tuple(map(measurement_of, one.measurements)),
                extra={},
            )
            for one in spec.questions
        ),
        extra={},
    )


def measurement_of(bound: Bound) -> Measurement:
    """Return a bound as a measurement of a benchmark file, its usual parameters spelt out."""
    expected = {
        name: value for name, value in (("min", bound.min), ("max", bound.max)) if value is not None
    }
    return Measurement(
        function=bound.function,
        params=dict(MEASURES[bound.function].parameters),
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
            )
        )
    return Benchmark(", ".join(writers), tuple(scenes), "released", {})
