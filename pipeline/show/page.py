"""Write a trip's life as one self-contained HTML page with a vector map.

    write_page(life, ground, Path("trip.html"))  ->  a file that opens from disk without a network

The page holds its style, its script and its data, which reach it as text nodes only, so no name can
become markup.
"""

import math
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from pipeline.sheet import Sheet
from pipeline.show.clock import duration_words, length_words, local_clock, local_day
from pipeline.show.drawing import cell_rows, end_rows, leg_rows, lettering, street_rows
from pipeline.show.examined import examined_rows
from pipeline.show.ground import Ground
from pipeline.show.life import CleanedLife, DriveLife, TripLife
from pipeline.show.said import said_rows
from pipeline.show.screen import KEPT, ending_words

SCRIPTS = ("map.js", "lettering.js", "hand.js", "parts.js", "panel.js")
MOST_POINTS = 5000
COLOURS = 7  # of reasons, in page.css; more reasons share them in turn


def write_page(life: TripLife, ground: Ground, path: Path) -> None:
    """Write the page of a trip.

    Args:
        life: The trip.
        ground: What lies near it, from `ground_of`.
        path: File to write; its folder is made, a file of that name is replaced.

    Raises:
        SourceError: A folder lies there, or a file where its folder should be.
    """
    package = files("pipeline.show")
    Sheet(
        html=package / "page.html",
        styles=[package / "page.css"],
        scripts=[package / name for name in SCRIPTS],
        title=f"Trip {_title(life)} - {life.city}",
        data=page_data(life, ground),
    ).write(path)


def page_data(life: TripLife, ground: Ground) -> dict[str, Any]:
    """Return what the page embeds: plain JSON values, metres from the ground's centre."""
    decisions, points = _points(life, ground)
    driven = {road.name for drive in life.drives for road in drive.roads}
    return {
        "title": _title(life),
        "city": life.city,
        "state": life.final.state,
        "simulated": life.simulated,
        "facts": list(_facts(life)),
        "drives": [_drive(number, drive) for number, drive in enumerate(life.drives)],
        "endings": [f"{one.kind} {one.item_id}: {ending_words(one)}" for one in life.endings],
        "decisions": decisions,
        "points": points,
        "legs": list(leg_rows(life.drives, ground.legs)),
        "ends": list(end_rows(life.drives, ground.legs)),
        "cells": list(cell_rows(life.drives, ground.cells)),
        "streets": list(street_rows(ground.streets)),
        "named": lettering(ground.streets, driven),
        "places": [
            {"name": one.name, "category": one.category, "x": one.x, "y": one.y}
            for one in ground.places
        ],
        "notes": list(_notes(life, ground)),
        "credit": " · ".join(ground.attributions),
    }


def _title(life: TripLife) -> str:
    return life.raw.raw_trip_id if life.raw else life.asked_id


def _facts(life: TripLife) -> Iterator[tuple[str, str]]:
    raw = life.raw
    if raw is None or not raw.t:
        return
    kept = raw.decisions.count(KEPT)
    first, last = min(raw.t), max(raw.t)
    start, end = local_clock(first, life.time_zone), local_clock(last, life.time_zone)
    yield "Day", local_day(first, life.time_zone)
    yield "Local time", f"{start} to {end} ({life.time_zone})"
    yield "Lasted", duration_words(last - first)
    yield "GPS points", f"{len(raw.t)}, of which {kept} kept"
    if life.drives:
        segments = sum(len(drive.trip.edge_ids) for drive in life.drives)
        length_m = sum(drive.trip.route_length_m for drive in life.drives)
        yield "Driven", f"{length_words(length_m)} over {segments} segments"
    if raw.vehicle_id:
        yield "Vehicle", raw.vehicle_id


def _drive(number: int, drive: DriveLife) -> dict[str, Any]:
    title = f"Phases of {drive.trip.trip_id}"
    if drive.phased is None:
        without = "This drive has no phases; see below."
        return {"title": title, "phases": [], "without": without, "said": []}
    return {
        "title": title,
        "said": [
            *(said_rows(drive.said) if drive.said else ()),
            *(examined_rows(drive.examined) if drive.examined else ()),
        ],
        "without": "",
        "phases": [
            {
                "key": f"{number}:{one.p}",
                "p": one.p,
                "role": one.role,
                "dir": one.dir,
                "heading": one.heading_deg,
                "time_spent": one.time_spent,
                "length": length_words(one.length_m),
                "segments": f"{one.n} segment" if one.n == 1 else f"{one.n} segments",
                "roads": ", ".join(one.road_names),
                "about": one.desc.replace(" | ", " · "),
            }
            for one in drive.phased.phases
        ],
    }


def _points(life: TripLife, ground: Ground) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the kinds of points for the key, and the points, each with the number of its kind."""
    raw = life.raw
    if raw is None:
        return [], []
    located = _located(life.cleaned)
    words = [located.get(i, word) if word == KEPT else word for i, word in enumerate(raw.decisions)]
    counts = Counter(words)
    names = sorted(counts, key=lambda word: (word != KEPT, word))
    metres = ground.metres(raw.lon, raw.lat)
    number = {name: i for i, name in enumerate(names)}
    points = [
        {
            "x": round(float(metres[i][0]), 1),
            "y": round(float(metres[i][1]), 1),
            "index": i,
            "when": local_clock(raw.t[i], life.time_zone),
            "words": words[i],
            "decision": number[words[i]],
            "anchors": raw.decisions[i] == KEPT or KEPT not in raw.decisions,
        }
        for i in range(0, len(words), _stride(len(words)))
    ]
    kinds = [
        {"name": name, "count": counts[name], "kept": name == KEPT, "colour": (i - 1) % COLOURS}
        for i, name in enumerate(names)
    ]
    return kinds, points


def _located(cleaned: list[CleanedLife]) -> dict[int, str]:
    """Return, for raw points that cleaning kept but matching did not place, why."""
    return {
        index: f"kept, not matched: {status}"
        for life in cleaned
        if life.points
        for index, status, edge in zip(
            life.trip.raw_index, life.points.status, life.points.edge_id, strict=True
        )
        if edge is None
    }


def _stride(points: int) -> int:
    return max(1, math.ceil(points / MOST_POINTS))


def _notes(life: TripLife, ground: Ground) -> Iterator[str]:
    yield (
        f"Drawn are the streets within {ground.margin_m:.0f} m of the trip and the named places in"
        " its cells; metres are of the local UTM zone."
    )
    if ground.streets_left_out:
        yield f"Left out to bound the page: {ground.streets_left_out} streets further away."
    if ground.places_left_out:
        yield f"Left out to bound the page: {ground.places_left_out} places further away."
    stride = _stride(len(life.raw.t)) if life.raw else 1
    if stride > 1:
        yield f"Of the {len(life.raw.t) if life.raw else 0} GPS points every {stride}th is drawn."
