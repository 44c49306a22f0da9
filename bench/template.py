"""Measure how many trips a second the template engine puts into words, on one core.

    python -m bench.template                          # planned trips of helsinki and monaco
    python -m bench.template --city porto --rounds 9
    ->  1,469 trips, all nine fields as JSON: median 4,100 trips per CPU second (3,900-4,200)

CPU seconds of the process, requests in to answers out; reading the trips and the phrase banks is
apart. The first round only warms up.
"""

import argparse
import statistics
import time

import msgspec
import polars as pl

from bench.built import ROOT, built
from pipeline.language.engines.template import TemplateEngine, realiser, template_revision
from pipeline.language.requests import ModelId, Request, Sampling
from pipeline.records import PlannedTrip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--city", nargs="+", default=["helsinki", "monaco"])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    begin = time.process_time()
    realiser()
    print(f"phrase banks read in {time.process_time() - begin:.2f} CPU s")
    requests = requests_of(built(arguments.city, "planned"))
    rates = [rate(requests) for _ in range(arguments.rounds + 1)][1:]
    print(
        f"{len(requests):,} trips, all nine fields as JSON: median {statistics.median(rates):,.0f}"
        f" trips per CPU second ({min(rates):,.0f}-{max(rates):,.0f})"
    )


def requests_of(cities: list[str]) -> list[Request]:
    """Return one request for each planned trip of some cities."""
    model = ModelId("template", "template", template_revision())
    sampling = Sampling(temperature=0.0, top_p=1.0, max_tokens=1)
    trips = [
        trip
        for city in cities
        for file in sorted((ROOT / "data" / city / "planned").glob("*.parquet"))
        for trip in msgspec.convert(pl.read_parquet(file).to_dicts(), list[PlannedTrip])
    ]
    return [
        Request(
            item_id=trip.trip_id,
            task="annotate",
            messages=(),
            schema={},
            model=model,
            sampling=sampling,
            facts=trip,
            key=trip.trip_id,
        )
        for trip in trips
    ]


def rate(requests: list[Request]) -> float:
    """Return trips per CPU second of one round over all requests."""
    with TemplateEngine() as engine:
        begin = time.process_time()
        answered = sum(len(answers) for answers in engine.answers(requests))
        return answered / (time.process_time() - begin)


if __name__ == "__main__":
    main()
