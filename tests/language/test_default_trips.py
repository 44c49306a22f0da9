"""Every text of every trip at hand: a town driven in loops, and the default cities where they lie.

The texts are made anew from the drives, so what is held here is the present code, whatever data is
checked out.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl
import pytest

from pipeline.language.annotate import trips_in
from pipeline.language.engines.template import realiser
from pipeline.language.engines.template.wording import without_article
from pipeline.language.intents import CityPlanner
from pipeline.language.vocabulary import vocabulary
from pipeline.params import Parameters
from pipeline.records import PlannedTrip
from pipeline.trips.phases import CompressSettings, compress_trips, ground_of
from tests.language.towns import SETTINGS, Town, block, drive, matched, town

ROOT = Path(__file__).resolve().parents[2]
LOOPS = "loops"
PLACES = [LOOPS, *(c for c in ("helsinki", "monaco") if (ROOT / "data" / c / "matched").exists())]
INSTRUCTIONS = ("instruction_literal", "instruction_concise", "instruction_chatty")
ON_RECORD = (*(f"retrieval_query_{n}" for n in (1, 2, 3)), "trajectory_caption")
# Words before the street a trip starts or ends on.
STARTS = r"(?:starts?|starting|begins?|under way|start|begin) on|leaves|leaving|departs from"
ENDS = (
    r"(?:ends?|ending|finish(?:es)?|concludes|stops?|to an? (?:end|stop)|its end|arriving|out) on"
)
LINKS = re.compile(r"(?:^|[.!?] )(From there|After that|Next|Then|Further on)\b")


class Told(NamedTuple):
    """A trip, the names of its first and last segment, and its texts."""

    trip: PlannedTrip
    first: str | None
    last: str | None
    texts: dict[str, str]


def loops() -> tuple[Town, pl.DataFrame]:
    """Return an avenue of three segments a cell, some without a name, and drives to and fro."""
    names = [None if n % 7 == 3 else f"Rua {chr(65 + n % 11)}" for n in range(30)]
    on = town([block(name, district=f"Bairro {n // 9}") for n, name in enumerate(names)])
    cells = on.road_cells["cell"].gather([n // 3 * 3 for n in range(30)])
    on = on._replace(road_cells=on.road_cells.with_columns(cell=cells))
    drives = []
    for number in range(300):
        pick = random.Random(number)
        at, way = pick.randrange(30), []
        for _ in range(pick.randint(8, 40)):
            way.append(at)
            at = min(max(at + pick.choice((-1, -1, 1, 1, 1)), 0), 29)
        drives.append(drive(f"loop-{number}", way))
    return on, matched(drives)


def drives_in(place: str) -> tuple[Town, pl.DataFrame, str]:
    """Return the roads and drives of a town or default city, and its time zone."""
    if place == LOOPS:
        return *loops(), "Europe/Lisbon"
    folder = ROOT / "data" / place
    on = Town(*(pl.read_parquet(folder / f"{t}.parquet") for t in ("roads", "road_cells", "cells")))
    config = (ROOT / "configs" / f"{place}.yaml").read_text("utf-8")
    (zone,) = re.findall(r"^time_zone: (\S+)", config, re.MULTILINE)
    return on, pl.read_parquet(folder / "matched" / "*.parquet"), zone


@cache
def told(place: str) -> list[Told]:
    """Return every trip of a town with its texts."""
    on, drives, zone = drives_in(place)
    settings = CompressSettings(min_phases=2)
    phased, _ = compress_trips(drives, ground_of(*on), time_zone=zone, settings=settings)
    intents = SETTINGS
    if place != LOOPS:
        intents = Parameters(ROOT).section("intents", type(SETTINGS))
    planned = CityPlanner(*on, settings=intents, seed=7).plan(phased, drives).trips
    name = dict(on.roads.select("edge_id", "name").iter_rows())
    ends = {
        trip: (name[edges[0]], name[edges[-1]])
        for trip, edges in drives.select("trip_id", "edge_ids").iter_rows()
    }
    return [
        Told(trip, *ends[trip.trip_id], msgspec.to_builtins(realiser().annotate(trip)))
        for trip in trips_in(planned)
    ]


def streets_after(words: str, one: Told) -> Iterator[tuple[str, str]]:
    """Yield each text that puts some words before a road of the trip, and that road."""
    names = {name for phase in one.trip.phases for name in phase.road_names}
    said = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    for text in one.texts.values():
        for road in re.findall(rf"\b(?:{words}) ({said})(?!\w)", text) if names else []:
            yield text, road


@pytest.fixture(params=PLACES)
def trips(request: pytest.FixtureRequest) -> list[Told]:
    return told(request.param)


def test_the_record_names_the_road_of_the_first_and_the_last_segment(trips):
    assert len(trips) > 200
    for one in trips:
        assert (one.trip.meta.start_road, one.trip.meta.end_road) == (one.first, one.last)


def test_the_end_a_text_states_is_the_name_of_the_last_segment(trips):
    found = [(road, text, one.last) for one in trips for text, road in streets_after(ENDS, one)]
    assert len(found) > 100
    assert [(text, end) for road, text, end in found if road != end] == []


def test_the_start_a_text_states_is_the_name_of_the_first_segment(trips):
    found = [(road, text, one.first) for one in trips for text, road in streets_after(STARTS, one)]
    assert len(found) > 100
    assert [(text, start) for road, text, start in found if road != start] == []


def test_a_road_that_is_a_destination_is_that_of_the_last_segment(trips):
    for one in trips:
        plans = one.trip.intents
        targets = [*plans.targets, *(each for query in plans.queries for each in query.targets)]
        roads = [t.names for t in targets if (t.scenario, t.kind) == ("1.1", "road")]
        assert all(names == [one.last] for names in roads)


def test_no_trip_is_told_to_reach_its_street_by_that_street(trips):
    for one in trips:
        for target in one.trip.intents.targets:
            if target.kind in {"roads", "stay_on", "zone_and_road"}:
                assert one.last not in target.names


def test_the_times_spent_in_the_phases_add_up_to_that_of_the_trip(trips):
    for one in trips:
        spent = sum(phase.time_spent_s for phase in one.trip.phases)
        assert spent == pytest.approx(one.trip.meta.time_spent_s, abs=1e-3)


def test_a_concise_instruction_has_at_most_25_words(trips):
    long = [t for one in trips if len((t := one.texts["instruction_concise"]).split()) > 25]
    assert long == []


def test_a_caption_has_at_most_four_sentences_and_no_connective_twice(trips):
    for one in trips:
        text = one.texts["trajectory_caption"]
        links = LINKS.findall(text)
        assert len(links) == len(set(links)), text
        assert len(re.findall(r"[a-z0-9]\.(?= [A-Z]|$)", text)) <= 4 + text.count(" etc."), text


def test_no_query_and_no_caption_tells_a_stop_that_nobody_knows_of(trips):
    claims = re.compile(
        r"\b(?:with|including|make|making) (?:a|one|no) (?:quick )?stop|\bwithout (?:a )?stop"
        r"|\bno stop|\b(?:stopp|call|pull)ing\b|\bstops? (?:at|by|for|off)\b",
        re.IGNORECASE,
    )
    said = [one.texts[field] for one in trips for field in ON_RECORD]
    # A caption may end "stops at A after 3 minutes".
    assert [t for t in said if claims.search(re.sub(r"\bstops? at .* after", "ends", t))] == []


def test_one_in_the_morning_is_night(trips):
    for one in trips:
        if re.search(r" at (?:12|1|2|3):\d\d AM$", one.trip.meta.start_time):
            said = " ".join(one.texts.values())
            assert not re.search(r"\bearly\b(?! (?:tell|to|or))|\bmorning\b", said.casefold()), said


def test_a_kind_of_place_has_its_article_where_it_is_the_destination(trips):
    words = vocabulary()
    for one in trips:
        target = one.trip.intents.targets[0]
        if target.kind == "facility":
            noun = without_article(words.feature_words(target.feature)[0])
            bare = re.compile(
                rf"(?:^|[.,:!?] |(?:[Jj]ust|[Oo]nly|[Ss]imply|that|end) ){noun}[.,]", re.IGNORECASE
            )
            assert not [t for t in one.texts.values() if bare.search(t)]
