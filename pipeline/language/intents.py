"""Draw what shall be said of each trip, and keep what its own evidence supports.

    drawn    1.2 Fuzzy Semantic, 2.2 Flexible / Feature, 3.2 Topological / Direct.
    planned  1.1 (the last area has nothing to ask for, so 1.2 gives way), 2.2 (a pharmacy in
             phase 6), 3.2 (heading north); a persona, three styles, three queries

Every draw has its own random number by seed, trip and purpose. Scenarios are taken from two random
orders, of the two destinations and of the eight others: an ineligible one is passed over for the
next of its order, and nothing else changes. Paper: A.3.3, A.3.4.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

import msgspec
import polars as pl
import pyarrow as pa

from pipeline.errors import ContractError
from pipeline.keys import Seed
from pipeline.language.areas import CityAreas
from pipeline.language.draws import Draws, pick, pick_weighted, weighted_order
from pipeline.language.eligibility import Evidence, Targets, evidence_of, time_words
from pipeline.language.intent_report import IntentCounts, write_report
from pipeline.language.intent_settings import DESTINATIONS, OTHERS, IntentsSettings
from pipeline.language.places import CityPlaces
from pipeline.language.route import Drive, drives_of, segments_of
from pipeline.language.vocabulary import DIMENSIONS, Vocabulary, vocabulary
from pipeline.records import (
    Intents,
    Phase,
    PhasedTrip,
    Place,
    QueryPlan,
    StylePlan,
    Target,
    TripMeta,
)
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO

STAGE = "plan_intents"
QUERIES = 3
# Trips in memory as records at a time.
_TRIPS_AT_A_TIME = 64


class _ToldTrip(msgspec.Struct, frozen=True):
    """A phased trip with its places, as the draws need it."""

    trip_id: str
    meta: TripMeta
    phases: list[Phase]
    places: list[Place]


class Planned(NamedTuple):
    """Some trips, planned.

    Attributes:
        trips: Rows of `planned_trip`, in the order they came.
        intents: Their plans, as records.
        lost: Ids of the trips without a destination.
    """

    trips: pl.DataFrame
    intents: list[Intents]
    lost: list[str]


class IntentReason(StrEnum):
    """Why a phased trip has no plan."""

    NO_DESTINATION = "no_destination"


def plan_intents(
    trip: PhasedTrip, evidence: Evidence, *, words: Vocabulary, settings: IntentsSettings, seed: int
) -> Intents | None:
    """Draw the intents of one trip.

    Args:
        trip: The trip.
        evidence: What may be said of it.
        words: The vocabulary that is drawn from.
        settings: Section `intents`.
        seed: The data set's seed; with the trip's id it decides every draw.

    Returns:
        The plan; None where no destination scenario is eligible.
    """
    draws = Draws(seed, STAGE, trip.trip_id)
    targets = evidence.targets
    count = 1 + pick_weighted(settings.counts, draws.number("count"))
    destinations = _order(DESTINATIONS, settings, draws, "destinations")
    others = _order(OTHERS, settings, draws, "others")
    drawn = [destinations[0], *others[: count - 1]]
    ends = [code for code in destinations if code in targets]
    if not ends:
        return None
    kept = [ends[0], *[code for code in others if code in targets][: count - 1]]
    chosen = [pick_target(targets[code], draws.number(f"target/{code}")) for code in kept]
    return Intents(
        drawn=drawn,
        scenarios=kept,
        targets=chosen,
        persona=pick(words.personas, draws.number("persona")).code,
        styles=_styles(words, draws),
        queries=_queries(targets, draws),
        waypoint=next((target for target in chosen if target.scenario[0] == "2"), None),
        street=_street(evidence.middle_roads, settings.street_share, draws),
        time_context=_time_context(trip.meta, kept, words, settings.time_share, draws),
    )


def _order(
    codes: Sequence[str], settings: IntentsSettings, draws: Draws, purpose: str
) -> list[str]:
    weights = {code: settings.weights[code] for code in codes}
    return weighted_order(weights, draws.numbers(purpose, len(codes)))


def pick_target(options: Sequence[Target], number: float) -> Target:
    """Return one of several targets: kinds are equally likely, then features, then the rest.

    So one cafe among many restaurants is drawn as often as a restaurant.
    """
    levels: tuple[Callable[[Target], tuple[str, ...]], ...] = (
        lambda target: (target.kind, target.polarity),
        lambda target: (target.feature,),
    )
    for level in levels:
        if len(options) == 1:
            break
        groups = list(dict.fromkeys(map(level, options)))
        group = pick(groups, number)
        number = number * len(groups) - groups.index(group)
        options = [target for target in options if level(target) == group]
    return pick(options, number)


def _styles(words: Vocabulary, draws: Draws) -> list[StylePlan]:
    plans = []
    for style in words.styles:
        form, length = draws.numbers(f"style/{style.code}", 2)
        plans.append(
            StylePlan(style.code, pick(style.forms, form).code, pick(style.lengths, length).code)
        )
    return plans


def _queries(targets: Targets, draws: Draws) -> list[QueryPlan]:
    """Deal the dimensions that have evidence to three queries: all of them, each query one or two.

    With four, one query takes two; with fewer than three, a dimension is asked for again, about
    what its own draw says.
    """
    *places, extra = draws.numbers("queries", len(DIMENSIONS) + 1)
    order = [dimension for _, dimension in sorted(zip(places, DIMENSIONS, strict=True))]
    by_dimension = {d: [code for code in targets if code[0] == str(d)] for d in order}
    covered = [dimension for dimension in order if by_dimension[dimension]]
    dealt = [[covered[query % len(covered)]] for query in range(QUERIES)]
    for dimension in covered[QUERIES:]:
        pick(dealt, extra).append(dimension)
    plans = []
    for query, dimensions in enumerate(dealt):
        chosen = []
        for dimension in sorted(dimensions):
            which, what = draws.numbers(f"query/{query}/{dimension}", 2)
            code = pick(by_dimension[dimension], which)
            chosen.append(pick_target(targets[code], what))
        plans.append(QueryPlan(dimensions=sorted(dimensions), targets=chosen))
    return plans


def _street(roads: Sequence[str], share: float, draws: Draws) -> str | None:
    whether, which = draws.numbers("street", 2)
    return pick(roads, which) if roads and whether < share else None


def _time_context(
    meta: TripMeta, kept: Sequence[str], words: Vocabulary, share: float, draws: Draws
) -> str | None:
    wanted = "4.1" in kept or draws.number("time") < share
    return time_words(meta, words) if wanted else None


class CityPlanner:
    """Plans the trips of one city, some thousands at a time."""

    def __init__(
        self,
        roads: pl.DataFrame,
        road_cells: pl.DataFrame,
        cells: pl.DataFrame,
        *,
        settings: IntentsSettings,
        seed: int,
    ) -> None:
        self._words = vocabulary()
        self._areas = CityAreas(cells, self._words)
        self._places = CityPlaces(
            roads, cells, beside_m=settings.beside_m, anchor_m=settings.anchor_m
        )
        self._roads = roads.select("edge_id", "name", "length_m")
        self._road_cells = road_cells.select("edge_id", "cells")
        self._settings, self._seed = settings, seed

    def plan(self, phased: pl.DataFrame, matched: pl.DataFrame) -> Planned:
        """Plan trips.

        Args:
            phased: Rows of `phased_trip`; may be empty.
            matched: Rows of `matched_trip`, those trips among them.

        Raises:
            ContractError: phased, matched and roads do not belong together.
        """
        segments = segments_of(phased, matched, roads=self._roads)
        drives = drives_of(segments, self._road_cells)
        beside = self._places.beside(
            segments, matched, places_per_phase=self._settings.places_per_phase
        )
        trips = phased.join(beside, on="trip_id", how="left", maintain_order="left")
        trips = trips.with_columns(pl.col("places").fill_null([]))
        plans = [self._plan_one(trip, drives[trip.trip_id]) for trip in _told(trips)]
        lost = pl.Series([plan is None for plan in plans], dtype=pl.Boolean)
        kept = [plan for plan in plans if plan is not None]
        return Planned(
            trips=trips.filter(~lost).with_columns(_intents_column(kept)),
            intents=kept,
            lost=trips.filter(lost)["trip_id"].to_list(),
        )

    def _plan_one(self, told: _ToldTrip, drive: Drive) -> Intents | None:
        trip = PhasedTrip(told.trip_id, told.meta, told.phases)
        evidence = evidence_of(
            trip, places=told.places, drive=drive, areas=self._areas, settings=self._settings
        )
        return plan_intents(
            trip, evidence, words=self._words, settings=self._settings, seed=self._seed
        )


def _told(trips: pl.DataFrame) -> Iterator[_ToldTrip]:
    """Yield trips as records, by way of JSON lines: half the time of Python dictionaries."""
    decoder = msgspec.json.Decoder(_ToldTrip)
    for part in trips.iter_slices(_TRIPS_AT_A_TIME):
        yield from decoder.decode_lines(part.write_ndjson())


def _intents_column(intents: Sequence[Intents]) -> pl.Series:
    kind = arrow_schema("planned_trip").field("intents").type
    values = pa.array(msgspec.to_builtins(intents), type=kind)
    return pl.Series("intents", pl.from_arrow(values))


def _rejections(trip_ids: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({"item_id": trip_ids}, schema={"item_id": pl.String}).with_columns(
        stage=pl.lit(STAGE),
        reason=pl.lit(IntentReason.NO_DESTINATION.value),
        detail=pl.lit("expected a named road or place at the end, or an area to ask for"),
    )


def run(io: StageIO, *, seed: Seed, intents: IntentsSettings) -> None:
    """Plan every phased trip of a city."""
    planner = CityPlanner(
        io.read("roads"), io.read("road_cells"), io.read("cells"), settings=intents, seed=seed
    )
    counts = IntentCounts()
    with io.open_shards("planned") as planned, _collector_paused():
        for shard in io.progress(_shards(io), None, "shard", STAGE):
            with planned.open() as trips:
                for phased, matched in shard:
                    part = planner.plan(phased, matched)
                    counts.add(part.trips["places"], part.intents, rejected=len(part.lost))
                    io.reject(_rejections(part.lost))
                    trips.write(part.trips)
    write_report(io, counts)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the search for cycles: records form none, and it takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _shards(io: StageIO) -> Iterator[Iterator[tuple[pl.DataFrame, pl.DataFrame]]]:
    """Give each shard of phased trips with the shard of matched trips it came from."""
    for phased, matched in zip_longest(io.parts("phased"), io.parts("matched")):
        if phased is None or matched is None:
            raise ContractError(
                "phased and matched: expected as many shards of one as of the other, found a"
                " different number; rerun `dvc repro` for match and compress"
            )
        yield _with_drives(phased, matched)


def _with_drives(
    phased: Iterator[pl.DataFrame], matched: Iterator[pl.DataFrame]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Give the phased trips of a shard, some at a time, with the matched trips they came from.

    Both come in one order; some of the matched ones may have no phases.
    """
    waiting = next(matched)
    for trips in phased:
        last = trips["trip_id"].last()
        while (at := waiting["trip_id"].index_of(last)) is None:
            more = next(matched, None)
            if more is None:
                break
            waiting = pl.concat([waiting, more])
        yield trips, waiting
        waiting = waiting[(at or 0) + 1 :]
