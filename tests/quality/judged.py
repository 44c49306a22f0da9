"""Checked trips in memory, verdicts in words of ten scores, and a project whose trips wait for one.

checked_trip("t1", mentions=[mention("trajectory_caption", "Rua A", kind="road")])
project = judged_project(tmp_path, [[checked_trip("t1")], [checked_trip("t2")]])
project.record(judge_requests(project), {"t1": [answer(4)], "t2": ["Sure!"]})
project.run("judge")
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pipeline.language.prompts import PROMPTS
from pipeline.language.requests import Request
from pipeline.params import Parameters
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.judging import ModelPanel, judge_for
from pipeline.quality.ratings import checksum
from pipeline.quality.rubric import CRITERIA, TASKS, rubric, task_of
from pipeline.records import (
    CheckedTrip,
    Claim,
    JudgedTrip,
    Mention,
    PlannedTrip,
    Provenance,
    Rating,
    Rationales,
    Scores,
    Texts,
)
from tests.language.asked_project import RECORDED, AskedProject
from tests.language.trips import phased_trip, planned_trip, step

TEXTS = Texts(
    instruction_literal="Drive to Rua C.",
    instruction_concise="Rua C.",
    instruction_chatty="Could we go to Rua C?",
    retrieval_query_1="Trips to Rua C",
    retrieval_query_2="Drives along Rua B",
    retrieval_query_3="Routes from Rua A",
    trajectory_caption="The drive leaves Rua A, follows Rua B and ends on Rua C.",
)
FAMILIES = {"gpt": "openai", "qwen": "qwen"}
RULES = {"kind": "rules"}
SAMPLES = {"sample": 2, "near_cut": 10, "near_cut_margin": 0.1, "sound_score": 4,
           "judge_milder": 10, "judge_stricter": 10, "people": 1}  # fmt: skip
HASH = "3f" * 32


def mention(
    field: str,
    name: str,
    *,
    kind: Any = "road",
    verdict: Any = "grounded",
    phase: int | None = None,
    texts: Texts = TEXTS,
) -> Mention:
    """Find a name in a text; where it is not, as an invention is not, it stands at the end."""
    text = getattr(texts, field)
    start = max(text.find(name), 0)
    return Mention(field, start, start + len(name), name, kind, verdict, name, phase, "", None,
                   None, "exact")  # fmt: skip


def claim(field: str, text: str, verdict: Any, *, kind: str = "direction") -> Claim:
    """Make a claim; where it stands plays no part."""
    return Claim(field, 0, 1, text, kind, verdict, None, "", "phases")


def checked_trip(
    trip_id: str = "t1",
    planned: PlannedTrip | None = None,
    *,
    texts: Texts = TEXTS,
    mentions: Iterable[Mention] = (),
    claims: Iterable[Claim] = (),
    writer: tuple[str, str] = ("template", "template"),
) -> CheckedTrip:
    """Build a checked trip over Rua A, Rua B and Rua C."""
    roads = (step(["Rua A"]), step(["Rua B"]), step(["Rua C"]))
    planned = planned or planned_trip(phased_trip(*roads, trip_id=trip_id))
    return CheckedTrip(
        trip_id=trip_id,
        meta=planned.meta,
        phases=planned.phases,
        places=planned.places,
        intents=planned.intents,
        texts=texts,
        provenance=Provenance(*writer, "1", HASH, [], HASH, 1),
        mentions=list(mentions),
        claims=list(claims),
        repairs=[],
        findings=[],
    )


def scores(default: int | None = 4, **changes: int | None) -> Scores:
    """Return ten scores, all alike but for those named."""
    return Scores(**(dict.fromkeys(CRITERIA, default) | changes))


def answer(default: int = 4, *, rationale: str = "No fault found.", **changes: Any) -> str:
    """Return a judge's answer as text, all scores alike but for those named by their code."""
    given = dict.fromkeys(CRITERIA, default) | changes
    told: dict[str, dict[str, Any]] = {task: {"rationale": rationale} for task in TASKS}
    for code, score in given.items():
        told[task_of(code)][code.partition("_")[2]] = score
    return json.dumps(told)


def verdict(trip_id: str, given: Scores, *, model: str = "rules", status: str = "ok") -> JudgedTrip:
    """Return a verdict of the rules, or of a model of another name."""
    rules = model == "rules"
    return JudgedTrip(
        trip_id=trip_id,
        engine="rules" if rules else "vllm",
        model=model,
        revision="1",
        prompt_hash=None if rules else HASH,
        shown=[] if rules else list(Texts.__struct_fields__[:6]),
        scores=given,
        rationales=Rationales("", "", ""),
        status=status,
        reason="" if status == "ok" else "no JSON",
        attempts=0 if rules else 1,
        response_key=None if rules else HASH,
    )


def rating(trip_id: str, rater: str, criterion: str, score: int, **changes: Any) -> dict[str, Any]:
    """Return a rating as the review page writes it; the hash is that of no trip unless told."""
    made = Rating(trip_id, rater, criterion, score, revealed=False, revised=None, comment="",
                  seconds=30.0, rubric_hash=rubric().hash, item_hash=HASH, checksum="")  # fmt: skip
    return sealed(msgspec.to_builtins(made), **changes)


def sealed(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a rating with some fields changed, and the checksum the page would give it."""
    changed = row | changes
    return changed | {"checksum": checksum(msgspec.convert(changed, Rating))}


def judged_project(root: Path, shards: Sequence[Iterable[CheckedTrip]]) -> AskedProject:
    """Return a project with checked trips, judged by the rules unless told otherwise."""
    project = AskedProject(root)
    settings = {"executor": {"kind": "local"}, "attempts": 2, "most_failed_share": 1.0,
                "sampling": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 900}}  # fmt: skip
    project.params |= {
        "families": FAMILIES,
        "judge": settings | {"engine": RULES},
        "select": {"least_scored": 7, "least_score": 2.0, "top": 100, "samples": SAMPLES},
        "rejudge": {"judges": []},
        "agree": {"resamples": 100, "confidence": 0.95},
    }
    project.save()
    (root / "data/reviews").mkdir(parents=True)
    for number, shard in enumerate(shards):
        put_shard(project, "checked", list(shard), number)
    return project


def put_shard(project: AskedProject, name: str, rows: Sequence[Any], number: int = 0) -> None:
    """Write records as one shard of an artifact."""
    project.put(name, msgspec.to_builtins(rows), f"part-{number:05d}.parquet")


def recorded(project: AskedProject, model: str = "toy", **changes: Any) -> dict[str, Any]:
    """Return the settings of a judge whose answers are recorded."""
    engine = RECORDED | {"file": str(project.root / RECORDED["file"]), "model": model}
    return project.params["judge"] | {"engine": engine} | changes


def judge_requests(project: AskedProject, trips: Iterable[CheckedTrip]) -> dict[str, Request]:
    """Return the request for each trip by section `judge`, by its id."""
    settings = Parameters(project.root).section("judge", ExaminerSettings)
    return {trip.trip_id: request_of(trip, settings) for trip in trips}


def request_of(trip: CheckedTrip, settings: ExaminerSettings) -> Request:
    """Return what a model is asked about a trip."""
    panel = judge_for(settings, seed=7, prompts=PROMPTS)
    assert isinstance(panel, ModelPanel)
    return panel.request(trip)
