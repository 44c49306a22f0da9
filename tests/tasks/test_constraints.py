"""Constraints met by a route: a trip meets its own, and each kind is lost where it should be."""

from typing import Any

import msgspec
import polars as pl
import pytest

from pipeline.language.areas import CityAreas
from pipeline.language.eligibility import evidence_of
from pipeline.language.places import CityPlaces
from pipeline.language.route import drives_of, segments_of
from pipeline.language.vocabulary import vocabulary
from pipeline.params import Parameters
from pipeline.records import Phase, Place, Target, TripMeta
from pipeline.release.definitions import Definitions, definitions_record
from pipeline.tasks.constraints import CityRules, share_met
from pipeline.trips.phases import CompressSettings, compress_trips, ground_of
from tests.language.test_default_trips import LOOPS, PLACES, ROOT, drives_in
from tests.language.towns import SETTINGS, block, drive, matched, poi, town


def defined(settings: Any, zone: str = "Europe/Lisbon") -> Definitions:
    record = definitions_record(
        settings, city="town", time_zone=zone, h3_resolution=10, near_jaccard=0.8
    )
    return msgspec.convert(record, Definitions)


def routes_of(drives: pl.DataFrame, *, timed: bool = True) -> pl.DataFrame:
    spent = pl.col("t_exit_s").list.last() - pl.col("t_enter_s").list.first()
    times = [pl.col("t_enter_s"), spent.alias("time_spent_s")]
    if not timed:
        times = [
            pl.lit(None, dtype=pl.List(pl.Float64)).alias("t_enter_s"),
            pl.lit(None, dtype=pl.Float64).alias("time_spent_s"),
        ]
    return drives.select("edge_ids", *times, route_id="trip_id")


class Told(msgspec.Struct):
    trip_id: str
    meta: TripMeta
    phases: list[Phase]
    places: list[Place]


@pytest.mark.parametrize("place", PLACES)
def test_a_trip_meets_whatever_could_be_asked_of_it(place):
    on, drives, zone = drives_in(place)
    drives = drives.sort("trip_id").head(200)
    settings = SETTINGS if place == LOOPS else Parameters(ROOT).section("intents", type(SETTINGS))
    phased, _ = compress_trips(
        drives, ground_of(*on), time_zone=zone, settings=CompressSettings(min_phases=2)
    )
    segments = segments_of(phased, drives, roads=on.roads.select("edge_id", "name", "length_m"))
    through = drives_of(segments, on.road_cells.select("edge_id", "cells"))
    near = CityPlaces(on.roads, on.cells, beside_m=settings.beside_m, anchor_m=settings.anchor_m)
    beside = near.beside(segments, drives, places_per_phase=settings.places_per_phase)
    told = phased.join(beside, on="trip_id", how="left").with_columns(
        pl.col("places").fill_null([])
    )
    areas = CityAreas(on.cells, vocabulary())
    city = CityRules(*on, defined(settings, zone))
    facts = city.facts(routes_of(drives))
    asked = 0
    for line in told.write_ndjson().splitlines():
        trip = msgspec.json.decode(line, type=Told)
        found = evidence_of(
            trip, places=trip.places, drive=through[trip.trip_id], areas=areas, settings=settings
        )
        for options in found.targets.values():
            for target in options:
                asked += 1
                assert city.is_met(target, facts[trip.trip_id]), (trip.trip_id, target)
    assert asked > 1000


@pytest.fixture(scope="module")
def avenue() -> tuple[CityRules, dict[str, Any]]:
    """Ten blocks: Rua A to Rua J; a park on 2 to 6, a cafe by block 4 and a bank by block 9."""
    blocks = [
        block(
            f"Rua {chr(65 + n)}",
            natural=["park"] if 2 <= n <= 6 else [],
            district="Baixa" if 3 <= n <= 4 else "Alta",
            pois=[poi("Café Azul", 450, 20)] if n == 4 else
                 [poi("Banco", 950, 55, category="bank")] if n == 9 else [],
        )
        for n in range(10)
    ]  # fmt: skip
    on = town(blocks)
    drives = matched(
        [drive("all", range(10)), drive("short", range(4)), drive("one", [0]),
         drive("park", range(3, 7)), drive("back", [2, 1, 0])]
    )  # fmt: skip
    city = CityRules(*on, defined(SETTINGS))
    return city, city.facts(routes_of(drives))


def target(scenario: str, kind: str, **about: Any) -> Target:
    empty = {"phases": [], "names": [], "ids": [], "feature": "", "polarity": ""}
    return Target(scenario=scenario, kind=kind, **(empty | about))


@pytest.mark.parametrize(
    ("wish", "met"),
    [
        (target("1.1", "place", names=["Banco"], ids=["Banco"]), {"all"}),
        (target("1.1", "road", names=["Rua D"]), {"short"}),
        (target("1.2", "zone", feature="green"), {"short", "park"}),
        (target("1.2", "facility", feature="bank"), {"all"}),
        (target("2.1", "roads", names=["Rua B", "Rua D"]), {"all", "short"}),
        (target("2.1", "roads", names=["Rua D", "Rua B"]), set()),
        (target("2.2", "facility", feature="cafe"), {"all", "park"}),
        (target("2.3", "zone", feature="green"), {"all"}),
        (target("2.3", "district", names=["Baixa"]), {"all"}),
        (target("3.1", "zone", feature="green", polarity="prefer"), {"all", "short", "park"}),
        (target("3.1", "zone", feature="green", polarity="avoid"), {"one"}),
        (target("3.2", "stay_on", names=["Rua A"]), {"one"}),
        (target("3.2", "heading", feature="east"), {"all", "short", "one", "park", "back"}),
        (target("3.2", "turns", feature="many_turns"), set()),
        (target("3.3", "zone_and_heading", feature="green+east", polarity="prefer"),
         {"all", "short", "park"}),
        (target("3.3", "zone_and_road", names=["Rua A"], feature="green", polarity="prefer"),
         set()),
        (target("4.1", "clock", feature="weekday+early_morning"),
         {"all", "short", "one", "park", "back"}),
        (target("4.1", "clock", feature="weekend+early_morning"), set()),
        (target("4.2", "pace", feature="brisk"), {"all"}),
    ],
)  # fmt: skip
def test_each_kind_is_met_where_the_route_shows_it(avenue, wish, met):
    city, facts = avenue
    assert {route for route, seen in facts.items() if city.is_met(wish, seen)} == met


def test_a_place_is_reached_near_the_last_segment_and_no_further(avenue):
    city, facts = avenue
    cafe = target("1.1", "place", names=["Café Azul"], ids=["Café Azul"])
    # 54 m from the last block of one, 150 m and more from that of the others.
    assert {route for route, seen in facts.items() if city.is_met(cafe, seen)} == {"short"}


def test_without_times_clock_and_pace_are_left_open():
    on, drives, _ = drives_in(LOOPS)
    city = CityRules(*on, defined(SETTINGS))
    facts = city.facts(routes_of(drives.head(1), timed=False))
    (seen,) = facts.values()
    assert city.is_met(target("4.1", "clock", feature="weekday+early_morning"), seen) is None
    assert city.is_met(target("4.2", "pace", feature="slow"), seen) is None


def test_no_routes_have_no_facts():
    on, drives, _ = drives_in(LOOPS)
    assert CityRules(*on, defined(SETTINGS)).facts(routes_of(drives.clear())) == {}


def test_the_share_leaves_out_what_nobody_can_tell():
    assert share_met([True, False, None]) == 0.5
    assert share_met([None]) is None
    assert share_met([]) is None
