"""Write scenarios: for every kind of crowd its share of texts, each on a real map, with people.

    Violent, slot 4, map helsinki_esplanadi
    ->  0204: "Shots are fired at Esplanadinpuisto, and the crowd scatters in panic. ...",
        61 people with places, speeds, goals and groups; event at centre_1; 30 s
        or a rejection: implausible, unknown_anchor, unreachable, density, obstacle_conflict,
        near_duplicate, manual (people said so), over_quota (enough others were good)

A few more are written than are wanted, so that those kept out are replaced. Ids depend on kind and
slot alone: more of one kind moves no other.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.errors import ParameterError
from pipeline.keys import Seed
from pipeline.language.asked import Asking, provenance_of
from pipeline.language.engines.settings import TemplateSettings
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, responses_frame
from pipeline.language.requests import Answer, Request
from pipeline.records import Provenance
from pipeline.seeds import rng_for
from pipeline.store import StageIO
from pipeline.stride.filters import TextFilter, fault_of_draft, fault_of_people
from pipeline.stride.maps import CrowdMap, StrideMap, maps_of
from pipeline.stride.review import Verdicts, read_verdicts
from pipeline.stride.roles import Draft
from pipeline.stride.scenario_prompt import TASK, ScenarioRequests, draft_of, fault_of
from pipeline.stride.scenario_records import Event, Person, StrideScenario, scenarios_frame
from pipeline.stride.states import Fault, initial_state
from pipeline.stride.stories import FOLDER, Ask, Bank, bank, bank_revision, read_bank
from pipeline.stride.ways import Ways
from pipeline.stride.writers import WriterSettings, ask_writer, unanswered_rows, writer_id

STAGE = "stride_scenarios"
# So many ids are kept for each kind of crowd.
_IDS_PER_CATEGORY = 200
# Neighbouring kinds of crowd begin on maps so far apart.
_MAP_STEP = 5


class ScenarioSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `stride_scenarios` of params.yaml.

    Attributes:
        writer: Who writes.
        total: Scenarios wanted of all kinds together.
        quotas: Weight of each kind of crowd; the total is dealt out by them.
        spare_share: So many more are written, as a share of those wanted.
        radius_m: Least and largest half width of a body.
        most_alike: Largest share of word pairs that two texts may have in common.
    """

    writer: WriterSettings
    total: Annotated[int, Meta(ge=1, le=1000)]
    quotas: dict[str, Annotated[float, Meta(ge=0)]]
    spare_share: Annotated[float, Meta(ge=0, le=2)]
    radius_m: tuple[Annotated[float, Meta(gt=0, le=0.5)], Annotated[float, Meta(gt=0, le=0.5)]]
    most_alike: Annotated[float, Meta(ge=0, le=1)]

    def __post_init__(self) -> None:
        if self.radius_m[0] > self.radius_m[1]:
            raise ValueError("radius_m: expected the least before the largest")


def run(io: StageIO, *, seed: Seed, stride_scenarios: ScenarioSettings) -> None:
    """Write the scenarios of the benchmark."""
    settings, stories = stride_scenarios, bank()
    quotas = dealt(settings.total, settings.quotas, list(stories.categories))
    asker, asks = _asked(io, FOLDER, settings, stories)
    with Ledger(io.ledger_folder) as ledger:
        answered = ask_writer(
            [asker.request(ask) for ask in asks],
            settings=settings.writer,
            bank=lambda request: stories.tell(request.facts).draft,
            fault=fault_of,
            ledger=ledger,
            desc=STAGE,
            replay=io.replay,
        )
    judge = _Judge(settings, stories, seed=seed, verdicts=read_verdicts())
    rows, kept = list[dict[str, Any]](), list[StrideScenario]()
    failed, every = list[tuple[str, list[Answer]]](), list[Answer]()
    for request, attempts in answered:
        answer = first_ok(attempts)
        every += attempts
        if answer is None:
            failed.append((request.item_id, attempts))
            continue
        found = judge.scenario(request, answer, prompt_hash=asker.hash)
        if isinstance(found, Fault):
            rows.append(_rejection(request.item_id, found))
        elif sum(one.category == found.category for one in kept) >= quotas[found.category]:
            rows.append(_rejection(request.item_id, Fault("over_quota", "enough others are good")))
        else:
            kept.append(found)
    if len(kept) < settings.total:
        print(
            f"{STAGE}: {len(kept)} of {settings.total} scenarios are good; see"
            " data/stride/rejected/, or raise stride_scenarios.spare_share",
            file=sys.stderr,
        )
    io.write("stride_scenarios", scenarios_frame(kept))
    io.write("stride_scenario_responses", responses_frame(every))
    rejected = pl.concat([unanswered_rows(STAGE, failed), pl.DataFrame(rows, schema=_REJECTION)])
    io.reject(rejected)
    figures = {
        "engine": asker.model.engine,
        "model": asker.model.model,
        "revision": asker.model.revision,
        "asked": len(asks),
        "unanswered": len(failed),
        **figures_of(kept, rejected["reason"]),
    }
    io.write_json("stride_scenario_metrics", figures)


def asking(io: StageIO, *, prompts: Path, stride_scenarios: ScenarioSettings) -> Iterator[Asking]:
    """Yield what the stage asks: the writer, for every slot of every kind of crowd."""
    folder, writer = prompts / FOLDER.name, stride_scenarios.writer

    def requests() -> Iterator[Request]:
        asker, asks = _asked(io, folder, stride_scenarios, read_bank(folder))
        return map(asker.request, asks)

    yield Asking(TASK, writer_id(writer, bank_revision=bank_revision()), writer, requests)


def _asked(
    io: StageIO, folder: Path, settings: ScenarioSettings, stories: Bank
) -> tuple[ScenarioRequests, list[Ask]]:
    """Return what makes the requests, and what is asked for."""
    quotas = dealt(settings.total, settings.quotas, list(stories.categories))
    asks = list(wanted(quotas, maps_of(io.read("stride_maps")), stories, settings))
    asker = ScenarioRequests(
        folder,
        writer_id(settings.writer, bank_revision=bank_revision()),
        settings.writer.sampling,
        categories=list(stories.categories.values()),
        total=dict(Counter(ask.category.code for ask in asks)),
    )
    return asker, asks


_REJECTION = dict.fromkeys(("item_id", "stage", "reason", "detail"), pl.String)


def _rejection(scene_id: str, fault: Fault) -> dict[str, Any]:
    return {"item_id": scene_id, "stage": STAGE, **fault._asdict()}


class _Judge:
    """Makes a scenario of a draft, or says why not; maps are made ready once."""

    def __init__(
        self, settings: ScenarioSettings, stories: Bank, *, seed: int, verdicts: Verdicts
    ) -> None:
        self._settings, self._stories, self._seed = settings, stories, seed
        self._verdicts = verdicts
        self._ways: dict[str, Ways] = {}
        self._texts = TextFilter(settings.most_alike)

    def scenario(
        self, request: Request, answer: Answer, *, prompt_hash: str
    ) -> StrideScenario | Fault:
        """Return the scenario of an answer, or the first thing that is wrong with it."""
        ask: Ask = request.facts
        draft = draft_of(answer)
        if isinstance(draft, Fault):
            return draft
        ways = self._ways_of(ask.place)
        fault = fault_of_draft(draft, ask.category, ways)
        if fault:
            return fault
        rng = rng_for(self._seed, STAGE, ask.scene_id)
        people = initial_state(draft, ways, rng=rng, radius_m=self._settings.radius_m)
        if isinstance(people, Fault):
            return people
        fault = (
            fault_of_people(people, ways)
            or self._verdicts.fault(ask.scene_id, draft.description)
            or self._texts.seen(ask.scene_id, draft.description, ways.crowd_map)
        )
        if fault:
            return fault
        return self._made(ask, draft, people, ways, provenance_of(answer, prompt_hash, []))

    def _made(
        self, ask: Ask, draft: Draft, people: list[Person], ways: Ways, provenance: Provenance
    ) -> StrideScenario:
        template = isinstance(self._settings.writer.engine, TemplateSettings)
        told = self._stories.tell(ask) if template else None
        event = None
        if draft.event is not None:
            anchor = ways.crowd_map.anchor(draft.event)
            event = Event(anchor.id, anchor.x_m, anchor.y_m)
        return StrideScenario(
            scene_id=ask.scene_id,
            map_id=ask.place.map_id,
            category=ask.category.code,
            description=draft.description,
            story=told.story if told else None,
            pattern=told.pattern if told else None,
            n_agents=len(people),
            duration_s=draft.duration_s,
            event=event,
            apart=draft.apart,
            roles=draft.roles,
            people=people,
            provenance=provenance,
        )

    def _ways_of(self, place: StrideMap) -> Ways:
        if place.map_id not in self._ways:
            self._ways[place.map_id] = Ways(CrowdMap(place))
        return self._ways[place.map_id]


# ---- how many, and where ------------------------------------------------------------------------


def dealt(total: int, weights: dict[str, float], codes: list[str]) -> dict[str, int]:
    """Deal a total out by weights, largest remainders up.

    Raises:
        ParameterError: A kind of crowd is unknown or missing, or all weights are 0.
    """
    if sorted(weights) != sorted(codes):
        raise ParameterError(
            f"params.yaml: stride_scenarios.quotas: expected {', '.join(codes)}, found"
            f" {', '.join(weights)}; name each kind of crowd once, with 0 to leave it out"
        )
    whole = sum(weights.values())
    if whole <= 0:
        raise ParameterError(
            "params.yaml: stride_scenarios.quotas: expected a weight above 0, found none; raise one"
        )
    exact = {code: total * weights[code] / whole for code in codes}
    counts = {code: int(exact[code]) for code in codes}
    order = sorted(codes, key=lambda code: (counts[code] - exact[code], code))
    for code in order[: total - sum(counts.values())]:
        counts[code] += 1
    return counts


def wanted(
    quotas: dict[str, int], maps: list[StrideMap], stories: Bank, settings: ScenarioSettings
) -> Iterator[Ask]:
    """Yield what is asked for: every slot of every kind of crowd on a map, spare ones included.

    Raises:
        ParameterError: No map suits a kind of crowd, or there are more of one than there are ids.
    """
    template = isinstance(settings.writer.engine, TemplateSettings)
    for number, (code, category) in enumerate(stories.categories.items()):
        suited = [m for m in maps if not template or stories.suits(code, m)]
        count = quotas[code] + math.ceil(quotas[code] * settings.spare_share)
        if count and not suited:
            raise ParameterError(
                f"params.yaml: stride_maps: expected a map on which a story of {code} can happen,"
                " found none; add a place of another kind, or set its quota to 0"
            )
        if count > _IDS_PER_CATEGORY:
            raise ParameterError(
                f"params.yaml: stride_scenarios: expected at most {_IDS_PER_CATEGORY} scenarios of"
                f" one kind of crowd, spare ones included, found {count} of {code}; lower the total"
            )
        for slot in range(count):
            place = suited[(number * _MAP_STEP + slot) % len(suited)]
            yield Ask(f"{number * _IDS_PER_CATEGORY + slot:04d}", category, slot, place)


# ---- tables -------------------------------------------------------------------------------------


def figures_of(scenarios: list[StrideScenario], reasons: Iterable[str]) -> dict[str, Any]:
    """Return the counts that stand in the metrics; a reason for each that was kept out."""
    people = sorted(one.n_agents for one in scenarios)
    return {
        "scenarios": len(scenarios),
        "people": sum(people),
        "people_median": people[len(people) // 2] if people else None,
        "by_category": dict(sorted(Counter(one.category for one in scenarios).items())),
        "by_map": dict(sorted(Counter(one.map_id for one in scenarios).items())),
        "by_pattern": dict(sorted(Counter(one.pattern or "-" for one in scenarios).items())),
        "rejected_by_reason": dict(sorted(Counter(reasons).items())),
    }
