"""Measure how many trips a second quality control looks at, on one core, without a model.

    python bench/quality.py                          # annotated trips of helsinki and monaco
    python bench/quality.py --city porto --rounds 9
    python bench/quality.py --sources                # the rules as they are without compiling
    ->  1,469 trips, rules compiled: 3,700 per CPU second in all stages, 4,300 in those that ...
    python bench/quality.py --automaton              # needs ahocorasick-rs==1.0.3

CPU seconds of the process, records in to findings out; reading trips and tables is apart. The best
of the rounds counts: what else the machine does only makes it slower. `--automaton` also times the
search for names alone, against an Aho-Corasick automaton over the same names.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pipeline.quality

if "--sources" in sys.argv:  # before any rule is imported
    pipeline.quality.__path__ = pipeline.quality.__path__[-1:]

from bench.built import ROOT, built
from pipeline.keys import Text
from pipeline.params import Parameters
from pipeline.quality import grounding
from pipeline.quality.check_texts import (
    NAME_TABLES,
    TRIPS_AT_A_TIME,
    CheckSettings,
    city_names,
)
from pipeline.quality.diversity import Survey
from pipeline.quality.examiner import RULES
from pipeline.quality.folding import fold
from pipeline.quality.inspection import FIELDS, Inspected, Inspector
from pipeline.quality.mentions import NameFinder
from pipeline.quality.tables import word_tables
from pipeline.quality.verification import open_claims, rules_verdict, settled
from pipeline.records import AnnotatedTrip


class City(NamedTuple):
    """What the stage has at hand when it looks at the first trip."""

    inspector: Inspector
    settings: CheckSettings
    trips: list[AnnotatedTrip]
    names: list[str]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--city", nargs="+", default=["helsinki", "monaco"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--automaton", action="store_true")
    arguments = parser.parse_args()
    keys = built(arguments.city, "annotated", *NAME_TABLES)
    cities = [city_of(key) for key in keys]
    trips = sum(len(city.trips) for city in cities)
    single = best(lambda: [checked(city, compare=False) for city in cities], arguments.rounds)
    whole = best(lambda: [checked(city, compare=True) for city in cities], arguments.rounds)
    how = "from their sources" if grounding.__file__.endswith(".py") else "compiled"
    print(
        f"{trips:,} trips, rules {how}: {trips / whole:,.0f} per CPU second in all stages,"
        f" {trips / single:,.0f} in those that need no other trip (1, 2, 3 by rule, 5)"
    )
    if arguments.automaton:
        for key, city in zip(keys, cities, strict=True):
            compare_search(key, city, arguments.rounds)


def city_of(key: str) -> City:
    """Read a city's tables and annotated trips."""
    parameters, data = Parameters(ROOT), ROOT / "data" / key
    settings: CheckSettings = parameters.section("check", CheckSettings)
    tables = {name: pl.read_parquet(data / f"{name}.parquet") for name in NAME_TABLES}
    names = city_names(parameters.config(key, "name", Text), **tables)
    lines = pl.read_parquet(data / "annotated/*.parquet").write_ndjson()
    trips = msgspec.json.Decoder(AnnotatedTrip).decode_lines(lines)
    cells = tables["cells"]
    every = pl.concat(
        [
            tables["roads"]["name"],
            cells["district"],
            cells["pois"].explode().struct.field("name"),
            tables["names"]["name"],
        ]
    )
    return City(
        Inspector(names, settings.rules, wording=settings.wording),
        settings,
        trips,
        every.drop_nulls().unique().to_list(),
    )


def checked(city: City, *, compare: bool) -> None:
    """Take all trips through quality control, a batch at a time as the stage does."""
    survey, passing = Survey(city.settings.diversity, seed=1), set[str]()
    for start in range(0, len(city.trips), TRIPS_AT_A_TIME):
        batch = city.trips[start : start + TRIPS_AT_A_TIME]
        for trip in batch:
            found, readings = city.inspector.inspect(trip)
            if not settled_by_rule(city, found).rejected:
                passing.add(found.trip_id)
            if compare:
                survey.add(found, readings)
    if compare:
        survey.excess(passing)


def settled_by_rule(city: City, found: Inspected) -> Inspected:
    """Take a trip through the third stage."""
    waiting = open_claims(found.claims)
    if not waiting or found.rejected:
        return found
    verdicts = [rules_verdict(claim) for claim in waiting]
    return settled(found, verdicts, by=RULES, policies=city.settings.rules)


def best(work: Callable[[], object], rounds: int) -> float:
    """Return the least CPU seconds some work took."""
    taken = []
    for _ in range(rounds + 1):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken[1:])


def compare_search(key: str, city: City, rounds: int) -> None:
    """Time the search for names alone: ours on read texts, an automaton on folded ones.

    The automaton needs no words and knows no short forms, no accents between letters and no ends of
    words; what it finds must still be looked at. Our words are read for the other rules anyway.
    """
    import ahocorasick_rs  # noqa: PLC0415 - a peer; nothing else needs it

    inspector = city.inspector
    texts = [(trip, getattr(trip.texts, field)) for trip in city.trips for field in FIELDS]
    finder = NameFinder(inspector.names, word_tables())
    evidences = {trip.trip_id: inspector.evidence(trip) for trip in city.trips}
    read = [(inspector.lexicon.read(text), evidences[trip.trip_id]) for trip, text in texts]
    patterns = sorted({folded for name in city.names if (folded := fold(name))})
    automaton = ahocorasick_rs.AhoCorasick(
        patterns, matchkind=ahocorasick_rs.MatchKind.LeftmostLongest
    )

    def by_automaton() -> int:
        found = 0
        for _, text in texts:
            folded = fold(text)
            for _, start, end in automaton.find_matches_as_indexes(folded):
                before, after = folded[start - 1 : start], folded[end : end + 1]
                found += not (before.isalnum() or after.isalnum())
        return found

    reading = best(lambda: [inspector.lexicon.read(text) for _, text in texts], rounds)
    ours = best(lambda: [finder.find(*one) for one in read], rounds)
    theirs = best(by_automaton, rounds)
    each = 1e6 / len(texts)
    print(
        f"{key}, {len(patterns):,} names, us per text: reading {reading * each:.1f}, names"
        f" {ours * each:.1f} ({sum(len(finder.find(*one)) for one in read):,} found);"
        f" automaton {theirs * each:.1f} ({by_automaton():,} found)"
    )


if __name__ == "__main__":
    main()
