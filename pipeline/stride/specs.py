"""Compile every scenario's text into questions that a program can answer: its specification.

    0204 "Shots are fired at Esplanadinpuisto, and the crowd scatters in panic. ..."
    ->  Q1 V: Do people run?                        mean_speed 1.5 to 2.7, delta 0.03
        Q5 S: Do people move away from the place?   dispersal_score 0.3 to 1.0, delta 0.02  ...

The writer sees text, place and number of people, and what measures mean. It never sees a
trajectory, of whatever origin. Scoring asks no model any more: it reads what was compiled here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from pipeline.language.asked import Asking, provenance_of
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, responses_frame
from pipeline.language.requests import Answer, Request
from pipeline.store import StageIO
from pipeline.stride.maps import StrideMap, maps_of
from pipeline.stride.patterns import FOLDER, PatternBank, patterns
from pipeline.stride.patterns import patterns_revision as revision
from pipeline.stride.scenario_records import StrideScenario, scenarios_of
from pipeline.stride.spec_prompt import (
    TASK,
    SpecAsk,
    SpecRequests,
    fault_of,
    shown_map,
    specification_of,
)
from pipeline.stride.spec_records import StrideSpec, spec_of, specs_frame
from pipeline.stride.trajfacts import read_trajfacts
from pipeline.stride.writers import WriterSettings, ask_writer, unanswered_rows, writer_id

STAGE = "stride_specs"


class SpecSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `stride_specs` of params.yaml.

    Attributes:
        writer: Who writes.
    """

    writer: WriterSettings


def run(io: StageIO, *, stride_specs: SpecSettings) -> None:
    """Compile the specification of every scenario."""
    settings, bank = stride_specs.writer, patterns()
    asker = _asker(FOLDER, settings)
    with Ledger(io.ledger_folder) as ledger:
        answered = ask_writer(
            list(_requests(io, asker)),
            settings=settings,
            bank=lambda request: compiled(request, bank),
            fault=fault_of,
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
    io.reject(unanswered_rows(STAGE, failed))


def asking(io: StageIO, *, prompts: Path, stride_specs: SpecSettings) -> Iterator[Asking]:
    """Yield what the stage asks: the writer, about every scenario."""
    writer, asker = stride_specs.writer, _asker(prompts / FOLDER.name, stride_specs.writer)
    yield Asking(TASK, asker.model, writer, lambda: _requests(io, asker))


def _asker(folder: Path, writer: WriterSettings) -> SpecRequests:
    model = writer_id(writer, bank_revision=revision())
    facts = read_trajfacts(folder / "trajfacts.yaml")
    return SpecRequests(folder, model, writer.sampling, facts=facts)


def _requests(io: StageIO, asker: SpecRequests) -> Iterator[Request]:
    maps = {one.map_id: one for one in maps_of(io.read("stride_maps"))}
    for scenario in scenarios_of(io.read("stride_scenarios")):
        yield asker.request(ask_of(scenario, maps[scenario.map_id]))


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
    pattern, reading = bank.pattern_for(ask.description, ask.pattern)
    return msgspec.to_builtins(bank.specification(pattern, reading))
