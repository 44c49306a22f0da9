"""The seed examples pass quality control, each text as it is: refused, mended or doubted none.

What names a city has is taken from the records of its examples, so that any other name is invented.
"""

from collections.abc import Sequence
from functools import cache

import msgspec
import polars as pl
import pytest

from pipeline.language.areas import read_area
from pipeline.language.prompts import PROMPTS
from pipeline.language.shots import SEEDS, Seed, read_seeds
from pipeline.quality.check_texts import city_names
from pipeline.quality.diversity import Quota, Shares, Survey
from pipeline.quality.inspection import FIELDS, Inspected, Inspector
from pipeline.quality.reading import Reading
from pipeline.quality.rules import Rule
from pipeline.quality.verification import open_claims, rules_verdict, settled
from pipeline.records import AnnotatedTrip, Texts
from pipeline.schemas import arrow_schema
from tests.quality.real_towns import NO_NAMES, PROVENANCE, settings

EXAMPLES = read_seeds(PROMPTS / "annotate" / SEEDS)
# What no rule can tell from a record is no fault of an example.
BORNE = {Rule.UNVERIFIED.value}


def names_of_records(city: str, seeds: Sequence[Seed]) -> dict[str, pl.DataFrame]:
    """Return the tables of a city as far as some records tell them."""
    roads: dict[str, dict[str, object]] = {}
    road_cells, districts = {}, {}
    pois: dict[str, dict[str, dict[str, object]]] = {}
    for seed in seeds:
        for phase in seed.trip.phases:
            districts[phase.cell] = read_area(phase.desc).district
            for name in phase.road_names:
                edge = f"{phase.cell}/{name}"
                place = dict.fromkeys(("u_lon", "v_lon", "u_lat", "v_lat"), 0.0)
                roads[edge] = {"edge_id": edge, "name": name, **place}
                road_cells[edge] = {"edge_id": edge, "cell": phase.cell}
        for one in seed.trip.places:
            poi = {
                key: getattr(one, key) for key in ("id", "name", "category", "group", "lon", "lat")
            }
            pois.setdefault(seed.trip.phases[one.phase].cell, {})[one.id] = poi
    kind = pl.Schema(arrow_schema("cell"))
    cells = [
        {"cell": cell, "lon": 0.0, "lat": 0.0, "district": districts[cell],
         "pois": [*pois.get(cell, {}).values()]}
        for cell in sorted(districts)
    ]  # fmt: skip
    return {
        "roads": pl.DataFrame([*roads.values()]),
        "road_cells": pl.DataFrame([*road_cells.values()]),
        "cells": pl.DataFrame(cells, schema={name: kind[name] for name in cells[0]}),
        "names": NO_NAMES,
    }


@cache
def inspector(city: str) -> Inspector:
    """Return what inspects the examples of a city."""
    tables = names_of_records(city, [seed for seed in EXAMPLES if seed.city == city])
    names = city_names(city.capitalize(), **tables)
    return Inspector(names, settings().rules, wording=settings().wording)


@cache
def inspected(seed_id: str) -> tuple[Inspected, list[Reading]]:
    """Return what quality control finds in an example, the stated verifier's verdicts included."""
    seed = next(seed for seed in EXAMPLES if seed.seed_id == seed_id)
    trip = seed.trip
    texts = Texts(*(getattr(seed.answer, field) for field in FIELDS))
    found, readings = inspector(seed.city).inspect(
        AnnotatedTrip(trip.trip_id, trip.meta, trip.phases, trip.places, trip.intents, texts,
                      PROVENANCE)
    )  # fmt: skip
    verdicts = [rules_verdict(claim) for claim in open_claims(found.claims)]
    return settled(found, verdicts, by="rules", policies=settings().rules), readings


@pytest.mark.parametrize("seed", EXAMPLES, ids=lambda seed: seed.seed_id)
def test_an_example_passes_quality_control_as_it_is(seed):
    found, _ = inspected(seed.seed_id)
    assert [one for one in found.findings if one.rule not in BORNE] == []
    assert found.repairs == []
    assert found.texts == Texts(*(getattr(seed.answer, field) for field in FIELDS))


def test_no_two_examples_are_alike_but_for_names():
    """Of each style no template, no near copy and no short text twice: quotas of one."""
    one = Quota(1, Shares(0, 0, 0, 0, 0))
    strict = msgspec.structs.replace(
        settings().diversity, exact_copy=one, template=one, near_duplicate=one
    )
    survey = Survey(strict, seed=7)
    for seed in EXAMPLES:
        survey.add(*inspected(seed.seed_id))
    excess = survey.excess({seed.trip.trip_id for seed in EXAMPLES})
    assert excess.by_trip == {}
