"""Write the page that people rate on: all trips of an assignment in one HTML file.

    write_page(path, assignment, items, ground)   ->  a file that opens from disk, without network

Whoever opens it says which rater they are and gets their own trips in their own order. Streets are
laid down once and shared; lines are steps of decimetres and words are numbers of a list: a third of
the size. Paper: A.3.5.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from pipeline.language.vocabulary import vocabulary
from pipeline.quality.rubric import Rubric
from pipeline.records import CheckedTrip, JudgedTrip, MatchedTrip, PhasedTrip
from pipeline.review.assignment import Assignment
from pipeline.review.evidence import claim_words, mention_words
from pipeline.review.ground import SharedGround
from pipeline.sheet import Sheet
from pipeline.show.clock import length_words, local_clock
from pipeline.show.drawing import cell_rows, end_rows, leg_rows, lettering, street_rows
from pipeline.show.life import DriveLife
from pipeline.show.said import LABELS

SCRIPTS = ("ground.js", "memory.js", "keeping.js", "texts.js", "marks.js", "scoring.js", "desk.js")
MAP_SCRIPTS = ("map.js", "lettering.js", "hand.js", "parts.js")


class ReviewItem(NamedTuple):
    """A trip with all a rater is shown of it, and what models scored, which comes last."""

    trip: CheckedTrip
    matched: MatchedTrip
    judged: list[JudgedTrip]

    @property
    def drive(self) -> DriveLife:
        """Return the trip as the map draws it."""
        phased = PhasedTrip(self.trip.trip_id, self.trip.meta, self.trip.phases)
        return DriveLife(trip=self.matched, roads=[], phased=phased, said=None, examined=None)


class Setting(NamedTuple):
    """What stands above the single trip: name and time zone of the city, the rubric."""

    name: str
    time_zone: str
    rubric: Rubric


def write_page(
    path: Path,
    assignment: Assignment,
    items: Sequence[ReviewItem],
    ground: SharedGround,
    setting: Setting,
) -> None:
    """Write the page of an assignment; a file of that name is replaced.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    show, review = files("pipeline.show"), files("pipeline.review")
    Sheet(
        html=review / "page.html",
        styles=[show / "page.css", review / "page.css"],
        scripts=[*(show / name for name in MAP_SCRIPTS), *(review / name for name in SCRIPTS)],
        title=f"Review of {setting.name}",
        data=page_data(assignment, items, ground, setting),
    ).write(path)


def page_data(
    assignment: Assignment, items: Sequence[ReviewItem], ground: SharedGround, setting: Setting
) -> dict[str, Any]:
    """Return what the page embeds: plain JSON values."""
    number = {item.trip.trip_id: i for i, item in enumerate(items)}
    hashes = assignment.hashes
    return {
        "city": assignment.city,
        "name": setting.name,
        "page_id": assignment.page_id,
        "rubric_hash": assignment.rubric_hash,
        "raters": [
            {"rater": share.rater, "items": [number[trip] for trip in share.trip_ids]}
            for share in assignment.raters
        ],
        "rubric": _rubric(setting.rubric),
        "items": [
            {"hash": hashes[item.trip.trip_id], **item_row(item, ground, setting.time_zone)}
            for item in items
        ],
        **_streets(ground),
        "places": [[one.name, one.category, one.x, one.y] for one in ground.places],
        "credit": ground.credit,
    }


def _streets(ground: SharedGround) -> dict[str, list[Any]]:
    """Return streets and their lettering as short rows; words are numbers of the list `words`."""
    words: dict[str | None, int] = {None: 0}

    def number(word: str | None) -> int:
        return words.setdefault(word, len(words))

    streets = [
        [number(row["name"]), number(row["highway"]), int(row["oneway"]), number(row["kind"]),
         *steps(row["line"])]
        for row in street_rows(ground.streets)
    ]  # fmt: skip
    named = [
        [number(row["name"]), number(row["kind"]), row["length"], *steps(row["line"])]
        for row in lettering(ground.streets, set())
    ]
    return {"words": list(words), "streets": streets, "named": named}


def item_row(item: ReviewItem, ground: SharedGround, time_zone: str) -> dict[str, Any]:
    """Return what the page embeds of one trip; nothing in it tells which model wrote the texts.

    Raises:
        ParameterError: The trip was planned with a code that the vocabulary has no more.
    """
    trip, words = item.trip, vocabulary()
    words.expect_codes(
        trip.intents,
        f"checked trip {trip.trip_id}",
        remedy="make the texts anew, `dvc repro check@CITY`, or bring the code back",
    )
    drives, legs = [item.drive], ground.legs[trip.trip_id]
    persona = words.persona(trip.intents.persona)
    facts = [trip.meta.start_time, trip.meta.time_spent, length_words(trip.meta.length_m)]
    return {
        "trip_id": trip.trip_id,
        "facts": facts,
        "simulated": trip.meta.simulated,
        "persona": {"name": persona.name, "voice": persona.voice},
        "texts": msgspec.to_builtins(trip.texts),
        "evidence": list(_evidence(trip, ground)),
        "phases": list(_phases(trip, time_zone)),
        "places": list(_places(trip, ground)),
        "legs": [row | {"line": steps(row["line"])} for row in leg_rows(drives, legs)],
        "ends": list(end_rows(drives, legs)),
        "cells": list(cell_rows(drives, ground.cells[trip.trip_id])),
        "models": [_model(judged) for judged in item.judged],
    }


def steps(line: Sequence[float]) -> list[int]:
    """Return a line x, y, x, y, ... in decimetres: its first point, then the way to each next."""
    whole = [round(10 * number) for number in line]
    return whole[:2] + [b - a for a, b in zip(whole, whole[2:], strict=False)]


def _rubric(rubric: Rubric) -> dict[str, Any]:
    return {
        "scale": rubric.scale,
        "tasks": [
            {
                "code": task.code,
                "name": task.name,
                "texts": [{"field": field, "label": LABELS[field]} for field in task.texts],
                "criteria": [
                    {
                        "code": f"{task.code}_{one.key}",
                        "name": one.name,
                        "question": one.question,
                        "marks": one.marks,
                    }
                    for one in task.criteria
                ],
            }
            for task in rubric.tasks
        ],
    }


def _evidence(trip: CheckedTrip, ground: SharedGround) -> Iterator[dict[str, Any]]:
    """Yield the names and claims of the texts: where they stand, what they rest on, where it lies.

    `start` and `end` count code points; `phase` is null and `x`, `y` are missing where nothing is
    known.
    """
    for one in trip.mentions:
        row: dict[str, Any] = {
            "field": one.field,
            "start": one.start,
            "end": one.end,
            "what": "name",
            "verdict": one.verdict,
            "words": mention_words(one),
            "phase": one.phase,
            "road": one.name if one.kind == "road" and one.verdict != "invented" else None,
        }
        if one.lon is not None and one.lat is not None:
            row["x"], row["y"] = _metres(ground, one.lon, one.lat)
        yield row
    for claim in trip.claims:
        yield {
            "field": claim.field,
            "start": claim.start,
            "end": claim.end,
            "what": "claim",
            "verdict": claim.verdict,
            "words": claim_words(claim),
            "phase": claim.phase,
            "road": None,
        }


def _phases(trip: CheckedTrip, time_zone: str) -> Iterator[dict[str, Any]]:
    for one in trip.phases:
        beside = [place for place in trip.places if place.phase == one.p]
        yield {
            "key": f"0:{one.p}",
            "p": one.p,
            "role": one.role,
            "dir": one.dir,
            "heading": one.heading_deg,
            "when": local_clock(one.t_enter_s, time_zone),
            "time_spent": one.time_spent,
            "length": length_words(one.length_m),
            "roads": one.road_names,
            "about": one.desc.split(" | ") if one.desc else [],
            "places": [[place.name, _category(place.category)] for place in beside],
        }


def _places(trip: CheckedTrip, ground: SharedGround) -> Iterator[dict[str, Any]]:
    for place in trip.places:
        x, y = _metres(ground, place.lon, place.lat)
        category = _category(place.category)
        yield {"name": place.name, "category": category, "x": x, "y": y, "phase": place.phase}


def _category(word: str | None) -> str:
    return (word or "").replace("_", " ")


def _model(judged: JudgedTrip) -> dict[str, Any]:
    return {
        "judge": " ".join(dict.fromkeys([judged.engine, judged.model])),
        "scores": msgspec.to_builtins(judged.scores),
        "rationales": msgspec.to_builtins(judged.rationales),
    }


def _metres(ground: SharedGround, lon: float, lat: float) -> tuple[float, float]:
    x, y = ground.plane.metres(np.array([[lon, lat]]))[0]
    return round(float(x), 1), round(float(y), 1)
