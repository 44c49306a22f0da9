"""Which constraints of a trip another route meets: the same destination, roads, zones, course.

    city = CityRules(roads, road_cells, cells, definitions)
    facts = city.facts(routes)                        one `RouteFacts` a route
    city.is_met(target, facts["r1"])                  True, False, or None: nobody can tell

Many routes satisfy an instruction, and only one of them was driven. A constraint is a target of a
text's evidence; what made it true of its own trip (`pipeline.language.eligibility`) is asked of the
other route, so a trip meets its own constraints. Two questions are asked more mildly, since a route
has no exact end: a place is reached when it lies near the last segment, not near the point where
the drive ended; roads are followed when they come in this order, whatever lies between.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane
from pipeline.language.areas import AreaFacts, CityAreas
from pipeline.language.eligibility import (
    BRISK,
    CLOCK_FROM_S,
    FEW_TURNS,
    MANY_TURNS,
    SHORTEST_PACE_S,
    SLOW,
    STEADY,
    WEEKDAY,
    WEEKEND,
    day_and_hour,
    inner_runs,
    main_heading,
    turns_of,
)
from pipeline.language.ends import end_street
from pipeline.language.places import named_places
from pipeline.language.route import segments_of
from pipeline.language.vocabulary import JOINT
from pipeline.records import Phase, Target, TripMeta
from pipeline.release.definitions import Definitions
from pipeline.trips.phases import CompressSettings, compress_trips, ground_of

# A route of one cell is a route as well.
_ANY_LENGTH = CompressSettings(min_phases=1)


class RouteFacts(NamedTuple):
    """What a route shows.

    Attributes:
        meta: Its head; its times are 0 where the route has none.
        phases: Its phases.
        areas: What the description of each phase says.
        roads: Names of its roads in the order driven; a road it returns to stands again.
        road_shares: Share of its length on each named road.
        places: Ids of the named places near its last segment.
        kinds: Kinds of places there, by code.
        passed: Kinds of places beside its middle phases.
        untouched: Zones the city has and none of its cells touches.
    """

    meta: TripMeta
    phases: list[Phase]
    areas: list[AreaFacts]
    roads: list[str]
    road_shares: dict[str, float]
    places: frozenset[str]
    kinds: frozenset[str]
    passed: frozenset[str]
    untouched: frozenset[str]


class _Told(msgspec.Struct, frozen=True):
    trip_id: str
    meta: TripMeta
    phases: list[Phase]


class CityRules:
    """The ground of a release, ready to look at any route over it."""

    def __init__(
        self,
        roads: pl.DataFrame,
        road_cells: pl.DataFrame,
        cells: pl.DataFrame,
        definitions: Definitions,
    ) -> None:
        """Measure every named place against every road, once for the city.

        Args:
            roads: Rows of `road`, all segments of the city.
            road_cells: Rows of `road_cell`, of the same segments.
            cells: Rows of `cell`.
            definitions: What the words mean.
        """
        self.definitions = definitions
        self._ground = ground_of(roads, road_cells, cells)
        self._roads = roads.select("edge_id", "name", "length_m")
        self._through = road_cells.select("edge_id", "cells")
        self._areas = CityAreas(cells, definitions.vocabulary)
        self._near = self._places_near(roads, cells)

    def _places_near(self, roads: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
        """Return the named places near each segment: edge_id, id, kind (or null), distance_m."""
        import shapely  # noqa: PLC0415 - slow import

        places = named_places(cells).unique("id", keep="first", maintain_order=True).sort("id")
        kinds = [self._areas.kind_of(category) for category in places["category"]]
        empty = {"edge_id": pl.String, "id": pl.String, "kind": pl.String, "distance_m": pl.Float64}
        if places.is_empty() or roads.is_empty():
            return pl.DataFrame(schema=empty)
        spots = places.select("lon", "lat").to_numpy()
        plane = UtmPlane(*spots.mean(axis=0))
        points: Any = shapely.points(plane.to_metres(spots))
        lines = plane.geometries(np.asarray(shapely.from_wkb(roads["geometry"].to_numpy())))
        within_m = max(self.definitions.anchor_m, self.definitions.beside_m)
        line, place = shapely.STRtree(points).query(lines, predicate="dwithin", distance=within_m)
        return pl.DataFrame(
            {
                "edge_id": roads["edge_id"].gather(line),
                "id": places["id"].gather(place),
                "kind": pl.Series(kinds, dtype=pl.String).gather(place),
                "distance_m": shapely.distance(lines[line], points[place]),
            }
        )

    def facts(self, routes: pl.DataFrame) -> dict[str, RouteFacts]:
        """Look at routes.

        Args:
            routes: route_id (each once), edge_ids (segments of the city, one at least), and
                t_enter_s and time_spent_s, both null where the route has no times. May be empty.

        Returns:
            The facts by route_id.
        """
        timeless = pl.col("t_enter_s").is_null() | pl.col("time_spent_s").is_null()
        zeros = pl.col("edge_ids").list.eval(pl.element().str.len_bytes() * 0.0)
        enters = pl.when(timeless).then(zeros).otherwise(pl.col("t_enter_s"))
        left = pl.when(timeless).then(0.0).otherwise(enters.list.first() + pl.col("time_spent_s"))
        matched = routes.select(
            "edge_ids",
            trip_id="route_id",
            t_enter_s=enters,
            t_exit_s=pl.concat_list(enters.list.slice(1), left),
            simulated=pl.lit(value=False),
        )
        zone = self.definitions.time_zone
        phased, _ = compress_trips(matched, self._ground, time_zone=zone, settings=_ANY_LENGTH)
        segments = segments_of(phased, matched, roads=self._roads)
        ends, passed = self._places_of(segments)
        roads, cells = self._roads_of(segments), self._cells_of(segments)
        decoder = msgspec.json.Decoder(_Told)
        return {
            told.trip_id: self._seen(
                told,
                roads=roads[told.trip_id],
                ends=ends.get(told.trip_id, []),
                passed=passed.get(told.trip_id, []),
                cells=cells[told.trip_id],
            )
            for part in phased.iter_slices(1024)
            for told in decoder.decode_lines(part.write_ndjson())
        }

    def _seen(
        self,
        told: _Told,
        *,
        roads: list[dict[str, Any]],
        ends: list[dict[str, Any]],
        passed: list[str],
        cells: list[str],
    ) -> RouteFacts:
        areas = [self._areas.facts(phase.desc) for phase in told.phases]
        shares: dict[str, float] = {}
        for road in roads:
            if road["name"] is not None:
                part = road["length_m"] / max(told.meta.length_m, 1e-9)
                shares[road["name"]] = shares.get(road["name"], 0.0) + part
        names = [name for name, _ in groupby(road["name"] for road in roads) if name is not None]
        shown = {zone for area in areas for zone in area.zones}
        through = {*cells, *(phase.cell for phase in told.phases)}
        return RouteFacts(
            meta=told.meta,
            phases=told.phases,
            areas=areas,
            roads=names,
            road_shares={name: round(share, 6) for name, share in shares.items()},
            places=frozenset(place["id"] for place in ends),
            kinds=frozenset(areas[-1].facilities)
            | {place["kind"] for place in ends if place["kind"] is not None},
            passed=frozenset(passed).union(*(area.facilities for area in areas[1:-1])),
            untouched=frozenset(self._areas.avoided(through)) - shown,
        )

    def _places_of(
        self, segments: pl.DataFrame
    ) -> tuple[dict[str, list[dict[str, Any]]], dict[str, list[str]]]:
        """Return the places near each route's last segment, and the kinds beside its middle."""
        ends = segments.group_by("trip_id", maintain_order=True).agg(pl.col("edge_id").last())
        near = ends.join(
            self._near.filter(pl.col("distance_m") <= self.definitions.anchor_m), on="edge_id"
        )
        middle = segments.filter((pl.col("p") > 0) & (pl.col("p") < pl.col("last")))
        beside = self._near.filter(
            pl.col("kind").is_not_null() & (pl.col("distance_m") <= self.definitions.beside_m)
        )
        passed = (
            middle.select("trip_id", "edge_id").join(beside.select("edge_id", "kind"), on="edge_id")
        ).unique(["trip_id", "kind"])
        grouped = near.group_by("trip_id").agg(place=pl.struct("id", "kind"))
        kinds = passed.group_by("trip_id").agg("kind")
        return dict(grouped.iter_rows()), dict(kinds.iter_rows())

    @staticmethod
    def _roads_of(segments: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
        road = pl.struct("name", "length_m")
        return dict(segments.group_by("trip_id").agg(road=road).iter_rows())

    def _cells_of(self, segments: pl.DataFrame) -> dict[str, list[str]]:
        through = segments.select("trip_id", "edge_id").join(self._through, on="edge_id")
        cells = through.group_by("trip_id").agg(pl.col("cells").explode().unique())
        return dict(cells.iter_rows())

    def is_met(self, target: Target, facts: RouteFacts) -> bool | None:
        """Tell whether a route meets a constraint; None where its times would decide and lack.

        Raises:
            KeyError: The target is of no kind that is known.
        """
        return _KINDS[target.kind](self, target, facts)

    # ---- one function a kind of target -----------------------------------------------------------

    def _place(self, target: Target, facts: RouteFacts) -> bool:
        return not facts.places.isdisjoint(target.ids)

    def _road(self, target: Target, facts: RouteFacts) -> bool:
        return end_street(facts.meta) in target.names

    def _roads_in_order(self, target: Target, facts: RouteFacts) -> bool:
        driven = iter(facts.roads)
        return all(name in driven for name in target.names)

    def _facility(self, target: Target, facts: RouteFacts) -> bool:
        return target.feature in (facts.kinds if target.scenario == "1.2" else facts.passed)

    def _district(self, target: Target, facts: RouteFacts) -> bool:
        inside = [area.district in target.names for area in facts.areas]
        return any(True for _ in inner_runs(inside))

    def _zone(self, target: Target, facts: RouteFacts) -> bool:
        inside = [target.feature in area.zones for area in facts.areas]
        if target.polarity == "avoid":
            return target.feature in facts.untouched
        if target.polarity == "prefer":
            return self._prefers(inside, facts)
        if target.scenario == "1.2":
            return inside[-1]
        return any(True for _ in inner_runs(inside))

    def _prefers(self, inside: Sequence[bool], facts: RouteFacts) -> bool:
        middle = range(1, len(facts.phases) - 1)
        whole = sum(facts.phases[p].length_m for p in middle)
        length = sum(facts.phases[p].length_m for p in middle if inside[p])
        return length > 0 and length >= self.definitions.prefer_share * whole

    def _stay_on(self, target: Target, facts: RouteFacts) -> bool:
        share = max(facts.road_shares.get(name, 0.0) for name in target.names)
        return share >= self.definitions.stay_share

    def _heading(self, target: Target, facts: RouteFacts) -> bool:
        return main_heading(facts.phases, self.definitions.heading_strength) in _codes(target)

    def _turns(self, target: Target, facts: RouteFacts) -> bool:
        turns = turns_of(facts.phases, self.definitions.turn_deg)
        few = turns <= self.definitions.few_turns_per_km * facts.meta.length_m / 1000
        return (FEW_TURNS if few else MANY_TURNS) in _codes(target)

    def _zone_and(self, target: Target, facts: RouteFacts) -> bool:
        zone = msgspec.structs.replace(target, feature=_codes(target)[0])
        course = _KINDS[_COURSES[target.kind]]
        return self._zone(zone, facts) and bool(course(self, target, facts))

    def _clock(self, target: Target, facts: RouteFacts) -> bool | None:
        if facts.meta.t_start_s < CLOCK_FROM_S:
            return None
        day, hour = day_and_hour(facts.meta.start_time)
        kind = WEEKEND if day in {"Saturday", "Sunday"} else WEEKDAY
        part = self.definitions.vocabulary.part_of_day(hour).code
        return set(_codes(target)) <= {kind, part}

    def _pace(self, target: Target, facts: RouteFacts) -> bool | None:
        length_m, duration_s = facts.meta.length_m, facts.meta.time_spent_s
        if duration_s < SHORTEST_PACE_S or length_m <= 0:
            return None
        kph = 3.6 * length_m / duration_s
        brisk_or_steady = BRISK if kph >= self.definitions.brisk_kph else STEADY
        return target.feature == (SLOW if kph < self.definitions.slow_kph else brisk_or_steady)


def _codes(target: Target) -> list[str]:
    return target.feature.split(JOINT)


_COURSES = {"zone_and_road": "stay_on", "zone_and_heading": "heading", "zone_and_turns": "turns"}
_KINDS: Mapping[str, Callable[[CityRules, Target, RouteFacts], bool | None]] = {
    "place": CityRules._place,
    "road": CityRules._road,
    "roads": CityRules._roads_in_order,
    "facility": CityRules._facility,
    "district": CityRules._district,
    "zone": CityRules._zone,
    "stay_on": CityRules._stay_on,
    "heading": CityRules._heading,
    "turns": CityRules._turns,
    "zone_and_road": CityRules._zone_and,
    "zone_and_heading": CityRules._zone_and,
    "zone_and_turns": CityRules._zone_and,
    "clock": CityRules._clock,
    "pace": CityRules._pace,
}


def share_met(verdicts: Iterable[bool | None]) -> float | None:
    """Return the share of the decidable constraints that are met; None where none is decidable."""
    decided = [verdict for verdict in verdicts if verdict is not None]
    return sum(decided) / len(decided) if decided else None
