"""Let a model write more seed examples, for prompts/annotate/seeds/.

    python -m pipeline seed monaco -n 20
    ->  20 planned trips that are no seed yet, their nine fields asked for as `annotate` asks,
        those that keep schemas/seed.schema.json added to prompts/annotate/seeds/monaco.jsonl

Which trips come next is drawn from the data set's seed, so the same ones come again until they are
seeds. Answers lie in the response ledger like all others. Paper A.3.6: few-shot examples.
"""

import heapq
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.keys import Seed as DataSeed
from pipeline.language.annotate import AnnotateSettings, AnnotationRequests, trips_in
from pipeline.language.asked import ask_all
from pipeline.language.asking import results
from pipeline.language.engines.settings import TemplateSettings
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, json_in
from pipeline.language.prompts import json_text, nfc
from pipeline.language.requests import Request
from pipeline.language.shots import SEEDS, Seed, Written, read_seeds
from pipeline.params import Parameters
from pipeline.records import PlannedTrip
from pipeline.replacing import replace_text
from pipeline.runner import ledger_folder, stage_named
from pipeline.schemas import check_record
from pipeline.seeds import rng_for
from pipeline.store import StageIO

SECTION = "seeding"


class Seeding(NamedTuple):
    """What came of it: the new seeds, and for each trip without one what was wrong."""

    seeds: list[Seed]
    refused: dict[str, str]


def more_seeds(root: Path, city: str, *, n: int, dry_run: bool) -> Seeding:
    """Ask for the texts of some planned trips and keep them as seed examples.

    Args:
        root: Root of the project.
        city: Key of the city.
        n: How many trips to ask about.
        dry_run: Leave the file as it is; answers are kept in the ledger all the same.

    Raises:
        ParameterError: The section `seeding` is wrong, or names the template engine.
        SourceError: The city has no planned trips yet.
        ModelError: The model cannot answer.
    """
    parameters = Parameters(root)
    parameters.city(city)
    settings: AnnotateSettings = parameters.section(SECTION, AnnotateSettings)
    if isinstance(settings.engine, TemplateSettings):
        raise ParameterError(
            "params.yaml: seeding.engine: expected a model to write examples, found the template"
            " engine; name kind vllm or openai"
        )
    folder = root / "prompts/annotate" / SEEDS
    known = read_seeds(folder)
    io = StageIO(stage_named("annotate"), city=city, root=root)
    if not io.has("planned"):
        raise SourceError(
            f"data/{city}/planned: expected planned trips to write examples for, found none; run"
            f" `dvc repro plan_intents@{city}`"
        )
    drawn = drawn_trips(
        (trip for frame in io.shards("planned") for trip in trips_in(frame)),
        known,
        n=n,
        seed=parameters.section("seed", DataSeed),
    )
    asker = AnnotationRequests(root / "prompts", settings)
    requests = [asker.request(trip)[0] for trip in drawn]
    with Ledger(ledger_folder(root, parameters)) as ledger:
        ask_all(
            lambda: iter(requests),
            total=len(requests),
            ledger=ledger,
            settings=settings,
            desc=f"seed {city}",
            replay=False,
        )
        seeding = _written(requests, drawn, ledger, city, known)
    if seeding.seeds and not dry_run:
        _append(folder / f"{city}.jsonl", seeding.seeds)
    return seeding


def drawn_trips(
    trips: Iterator[PlannedTrip], known: Sequence[Seed], *, n: int, seed: int
) -> list[PlannedTrip]:
    """Draw trips that are no seed yet: those with the lowest random number of their own.

    Args:
        trips: Planned trips.
        known: Seeds there are.
        n: How many; fewer only where there are no more.
        seed: The data set's seed.
    """
    taken = {one.trip.trip_id for one in known}
    free = (trip for trip in trips if trip.trip_id not in taken)
    return heapq.nsmallest(
        n, free, key=lambda trip: (rng_for(seed, SECTION, trip.trip_id).random(), trip.trip_id)
    )


def _written(
    requests: Sequence[Request],
    trips: Sequence[PlannedTrip],
    ledger: Ledger,
    city: str,
    known: Sequence[Seed],
) -> Seeding:
    """Make seeds of the answers; those that break the schema are refused."""
    numbers = [one.seed_id.rpartition("-")[2] for one in known if one.city == city]
    number = max((int(digits) for digits in numbers if digits.isdigit()), default=0)
    seeding = Seeding([], {})
    for trip, (_, attempts) in zip(trips, results(requests, ledger), strict=True):
        answer = first_ok(attempts)
        if answer is None:
            seeding.refused[trip.trip_id] = f"{attempts[-1].status}: {attempts[-1].reason}"
            continue
        seed = Seed(
            seed_id=f"{city}-{number + 1:02d}",
            city=city,
            trip=trip,
            answer=msgspec.json.decode(nfc(json_in(answer.text)), type=Written),
        )
        try:
            check_record("seed", json.loads(json_text(seed)), where=trip.trip_id)
        except ContractError as fault:
            seeding.refused[trip.trip_id] = str(fault)
            continue
        number += 1
        seeding.seeds.append(seed)
    return seeding


def _append(file: Path, seeds: Sequence[Seed]) -> None:
    """Add seeds to a file; whatever ends the process, the file is the old one or the new one."""
    before = file.read_text("utf-8") if file.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    replace_text(file, before + "".join(f"{json_text(seed)}\n" for seed in seeds))


def print_seeding(seeding: Seeding, *, dry_run: bool) -> None:
    """Print what came of it: the seeds themselves in a dry run, else their ids."""
    for seed in seeding.seeds:
        print(json_text(seed) if dry_run else f"{seed.seed_id}  trip {seed.trip.trip_id}")
    for trip_id, fault in seeding.refused.items():
        print(f"trip {trip_id} refused: {fault}", file=sys.stderr)
    verb = "would be added" if dry_run else f"added to prompts/annotate/{SEEDS}"
    print(f"{len(seeding.seeds)} examples {verb}, {len(seeding.refused)} refused", file=sys.stderr)
