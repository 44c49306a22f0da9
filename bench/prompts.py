"""How fast prompts are rendered: trips a second on one core, and what each step of it takes.

    python bench/prompts.py --city helsinki --shots 2
    helsinki, 747 trips, 2 shots, prompts of 30,084 characters
    rows to records         4,034 trips/s
    messages                9,259 trips/s
    messages and key        4,327 trips/s

Reads data/<city>/planned, which `dvc repro plan_intents@<city>` makes. CPU seconds of this process,
the best of some rounds.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.built import ROOT, built
from pipeline.language.annotate import AnnotateSettings, AnnotationRequests, trips_in
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.prompts import PROMPTS, json_text
from pipeline.language.shots import SEEDS, Shots, read_seeds
from pipeline.language.shown import shown_trip
from pipeline.params import Parameters


def best_seconds(work: Callable[[], object], *, rounds: int) -> float:
    """Return the CPU seconds of the quickest of some rounds."""
    took = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return min(took)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--city", default="helsinki")
    parser.add_argument("--shots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    built([arguments.city], "planned")
    frame = pl.read_parquet(ROOT / "data" / arguments.city / "planned/*.parquet")
    trips = list(trips_in(frame))
    settings = Parameters(ROOT).section("annotate", AnnotateSettings)
    settings = msgspec.structs.replace(settings, shots=arguments.shots)
    prompt = AnnotationPrompt(PROMPTS, shots=arguments.shots)
    asker = AnnotationRequests(PROMPTS, settings)
    seeds = read_seeds(PROMPTS / "annotate" / SEEDS)
    characters = sum(len(m.content) for trip in trips for m in prompt.messages(trip)[0])
    print(
        f"{arguments.city}, {len(trips):,} trips, {arguments.shots} shots, prompts of"
        f" {characters // len(trips):,} characters"
    )
    steps = {
        "rows to records": lambda: list(trips_in(frame)),
        "record as JSON": lambda: [json_text(shown_trip(trip)) for trip in trips],
        "shots chosen": lambda: [
            shots.chosen(trip.trip_id, trip.intents, arguments.shots)
            for shots in [Shots(seeds)]
            for trip in trips
        ],
        "messages": lambda: [prompt.messages(trip) for trip in trips],
        "messages and key": lambda: [asker.request(trip) for trip in trips],
    }
    for name, work in steps.items():
        seconds = best_seconds(work, rounds=arguments.rounds)
        print(f"{name:<18} {len(trips) / seconds:>10,.0f} trips/s")


if __name__ == "__main__":
    main()
