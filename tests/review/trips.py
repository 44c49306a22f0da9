"""Checked trips of the tiny project, with names that would be markup and texts in two directions.

Every text holds its evidence where `mention` and `claim` find the words in it.
"""

from typing import Any

import msgspec

from pipeline.quality.ratings import item_hash
from pipeline.quality.rubric import CRITERIA, rubric
from pipeline.records import CheckedTrip, Claim, JudgedTrip, MatchedTrip, Mention
from pipeline.review.assignment import Assignment, assign
from pipeline.review.page import ReviewItem
from tests.language.trips import planned_trip
from tests.quality.judged import sealed
from tests.show.project import CITY, LAT, LON, NASTY, NODES, PLACE, matched_trips, phased_trip

SOURCE = {
    "engine": "vllm", "model": "secret-writer", "revision": "7", "prompt_hash": "3f" * 32,
    "shots": [], "response_key": "9f" * 32, "attempt": 1,
}  # fmt: skip
ARABIC = "تبدأ الرحلة في Itäkatu"
TEXTS = {
    "instruction_literal": f"😀 Take Itäkatu heading east to {PLACE}, not Kaukotie or Zorgstraat.",
    "instruction_concise": NASTY,
    "instruction_chatty": "Could you be there by \"3 PM\", 'please' & thanks? ${x} `y` \\u003c",
    "retrieval_query_1": "Trips on Itäkatu",
    "retrieval_query_2": "Drives at night",
    "retrieval_query_3": "Routes heading east",
    "trajectory_caption": ARABIC,
}
IDS = [str(number) for number in range(170, 175)]
HINTED = "170"  # the only trip models have judged


def mention(field: str, words: str, kind: Any, verdict: Any, **where: Any) -> Mention:
    """Build a mention of words that stand in a text."""
    start = TEXTS[field].index(words)
    empty: dict[str, Any] = {"phase": None, "id": "", "lon": None, "lat": None, "method": "none"}
    known = {"name": words, **empty, **where}
    return Mention(
        field=field, start=start, end=start + len(words), text=words, kind=kind, verdict=verdict,
        **known,
    )  # fmt: skip


def claim(
    field: str, words: str, kind: str, verdict: Any, expected: str, *, phase: int | None = None
) -> Claim:
    """Build a claim that stands in a text."""
    start = TEXTS[field].index(words)
    return Claim(
        field=field, start=start, end=start + len(words), text=words, kind=kind, verdict=verdict,
        phase=phase, expected=expected, method="rule",
    )  # fmt: skip


def checked_trip(trip_id: str, **texts: str) -> CheckedTrip:
    """Build a checked trip; the evidence stays that of `TEXTS`."""
    literal = "instruction_literal"
    far = dict(zip(("lon", "lat"), NODES[90], strict=True))
    record = phased_trip() | {
        "trip_id": trip_id,
        "places": [
            {
                "phase": 2, "id": "n1", "name": PLACE, "category": "coffee_shop",
                "group": "dining", "lon": NODES[3][0], "lat": NODES[3][1], "distance_m": 12.0,
            }
        ],
        "intents": msgspec.to_builtins(planned_trip(persona="picky").intents),
        "texts": TEXTS | texts,
        "provenance": SOURCE,
        "mentions": [
            mention(literal, "Itäkatu", "road", "grounded", phase=0, lon=LON, lat=LAT),
            mention(literal, PLACE, "place", "grounded", phase=2, lon=NODES[3][0], lat=NODES[3][1]),
            mention(literal, "Kaukotie", "road", "off_route", **far),
            mention(literal, "Zorgstraat", "unknown", "invented"),
            mention("trajectory_caption", "Itäkatu", "road", "grounded", phase=0),
        ],
        "claims": [
            claim(literal, "heading east", "direction", "supported", "E in phase 1", phase=1),
            claim("instruction_chatty", "3 PM", "clock", "contradicted", "3 AM"),
        ],
        "repairs": [],
        "findings": [],
    }  # fmt: skip
    return msgspec.convert(msgspec.to_builtins(record), CheckedTrip)


def judged_trip(trip_id: str, model: str, score: int) -> JudgedTrip:
    """Build a judge's verdict: the same score everywhere."""
    record = {
        "trip_id": trip_id, "engine": "vllm", "model": model, "revision": "1",
        "prompt_hash": "5c" * 32, "shown": list(TEXTS)[:6],
        "scores": dict.fromkeys(CRITERIA, score),
        "rationales": dict.fromkeys(("instructions", "queries", "caption"), f"{model} says <why>"),
        "status": "ok", "reason": "", "attempts": 1, "response_key": "ab" * 32,
    }  # fmt: skip
    return msgspec.convert(record, JudgedTrip)


def matched_trip(trip_id: str) -> MatchedTrip:
    """Build the drive of a trip."""
    return msgspec.convert(matched_trips()[0] | {"trip_id": trip_id}, MatchedTrip)


def review_items() -> list[ReviewItem]:
    """Return the five trips, one of them with the scores of two models."""
    judges = [judged_trip(HINTED, "judge-one", 2), judged_trip(HINTED, "judge-two", 4)]
    return [
        ReviewItem(checked_trip(one), matched_trip(one), judges if one == HINTED else [])
        for one in IDS
    ]


def assignment_of(items: list[ReviewItem], raters: str = "H1,H2") -> Assignment:
    """Return an assignment in which everybody rates everything."""
    hashes = {item.trip.trip_id: item_hash(item.trip) for item in items}
    return assign(CITY, hashes, raters=raters.split(","), overlap=None, rubric=rubric())


def rows_of(assignment: Assignment, rater: str, score: int = 4, **change: Any) -> list[dict]:
    """Return a rater's export: every criterion of every trip, the same score."""
    return [
        sealed({
            "trip_id": item.trip_id, "rater": rater, "criterion": criterion, "score": score,
            "revealed": False, "revised": None, "comment": "", "seconds": 12.5,
            "rubric_hash": assignment.rubric_hash, "item_hash": item.item_hash, "checksum": "",
        }, **change)
        for item in assignment.items
        for criterion in CRITERIA
    ]  # fmt: skip
