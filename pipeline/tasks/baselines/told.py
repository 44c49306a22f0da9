"""Tell a path in words, from the ground alone: what a model may know of a trip without its texts.

    teller = Teller(roads, road_cells, cells, definitions)
    trips = teller.trips(paths)         phases, names and places of each path, for prompts
    teller.course(trip)   ->  "from Rua A in Cedofeita", "north", "Rua A", "east", "Rua B", ...
    teller.areas(trip)    ->  "Cedofeita", "the parks and gardens", "a cafe", ...
    teller.texts(paths)   ->  one text per path, everything in it

The course is what a map without places tells: roads, headings, duration, time. The areas are what
lies in its cells. Phases and places are found by the code that made the data set, in the ground
of the release; no text, evidence or plan of a trip is read.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from pipeline.language.areas import CityAreas, read_area
from pipeline.language.eligibility import CLOCK_FROM_S, day_and_hour
from pipeline.language.places import CityPlaces
from pipeline.language.route import segments_of
from pipeline.language.vocabulary import HEADINGS
from pipeline.release.definitions import Definitions
from pipeline.trips.phases import COMPASS, ground_of, phase_sequences

# Most places told of a phase, the nearest first.
MOST_PLACES = 20
_HEADINGS = dict(zip(COMPASS, HEADINGS, strict=True))
_WEEKEND = ("Saturday", "Sunday")


class Teller:
    """The ground of a city, ready to tell any number of paths."""

    def __init__(
        self,
        roads: pl.DataFrame,
        road_cells: pl.DataFrame,
        cells: pl.DataFrame,
        definitions: Definitions,
    ) -> None:
        """Look at the ground once.

        Args:
            roads: Rows of schema road.
            road_cells: Rows of schema road_cell.
            cells: Rows of schema cell; may be empty: then areas tell nothing.
            definitions: What lies beside a road and at an end, what is slow and brisk, and words.
        """
        self._roads = roads
        self._segments = ground_of(roads, road_cells, cells)
        self._defined = definitions
        self._areas = CityAreas(cells, definitions.vocabulary)
        self._places = CityPlaces(
            roads, cells, beside_m=definitions.beside_m, anchor_m=definitions.anchor_m
        )

    def trips(self, paths: pl.DataFrame) -> list[dict[str, Any]]:
        """Find out what there is to tell of some paths.

        Args:
            paths: trip_id (each once), edge_ids, t_enter_s (UTC epoch seconds), off_from_m,
                off_to_m (metres), start_time, time_spent_s (seconds): columns of candidates and of
                the input of captioning.

        Returns:
            A record of each path, in their order: trip_id, start_time, t_start_s, time_spent_s,
            time_spent (words), length_m, start_road, end_road (None where the road has no name),
            phases (as in schema phased_trip), places (phase, name, category, distance_m (metres),
            ...; by phase, the nearest first). No records for no paths.

        Raises:
            ContractError: A segment of a path is no segment of the roads, or has no cell.
        """
        if paths.is_empty():
            return []
        left = pl.col("t_enter_s").list.first() + pl.col("time_spent_s")
        matched = paths.select(
            "trip_id",
            "edge_ids",
            "t_enter_s",
            t_exit_s=pl.concat_list(pl.col("t_enter_s").list.slice(1), left),
            simulated=pl.lit(None, pl.Boolean),
        )
        # In no zone: the release words the local start time itself.
        phased = phase_sequences(matched, self._segments, time_zone="UTC")
        driven = segments_of(phased, matched, roads=self._roads)
        beside = self._places.beside(driven, paths, places_per_phase=MOST_PLACES)
        return (
            paths.select("trip_id", "start_time")
            .hstack(phased.select("meta", "phases"))
            .with_columns(pl.col("meta").struct.field(
                "t_start_s", "time_spent_s", "time_spent", "length_m", "start_road", "end_road"
            ))
            .drop("meta")
            .join(beside, on="trip_id", how="left", maintain_order="left")
            .with_columns(pl.col("places").fill_null([]))
            .to_dicts()
        )  # fmt: skip

    def texts(self, paths: pl.DataFrame) -> list[str]:
        """Return one text for each path, course and areas, in their order; see `trips`."""
        return [". ".join([*self.course(trip), *self.areas(trip)]) for trip in self.trips(paths)]

    def course(self, trip: dict[str, Any]) -> list[str]:
        """Tell ends, roads, headings, duration, pace and time of a record of `trips`."""
        return [
            *_end("from", [trip["start_road"]], _district(trip["phases"][0])),
            *(word for phase in trip["phases"] for word in _driven(phase)),
            *_end("to", [trip["end_road"]], _district(trip["phases"][-1])),
            *self._times(trip),
        ]

    def areas(self, trip: dict[str, Any]) -> list[str]:
        """Tell the surroundings of a record of `trips`: ends, districts, zones, kinds of places.

        Places are named at the ends of the drive; in between the kinds of its areas are told.
        """
        words: list[str] = []
        phases = trip["phases"]
        for preposition, number in (("from", 0), ("to", phases[-1]["p"])):
            names = [place["name"] for place in trip["places"] if place["phase"] == number]
            words += _end(preposition, names, None)
            words += [f"{preposition} {kind}" for kind in self._kinds(phases[number])]
        for phase in phases:
            area = read_area(phase["desc"])
            words += [area.district] if area.district else []
            words += self._kinds(phase)
            words += [*area.natural, *area.commercial, *area.facilities]
        return words

    def _kinds(self, phase: dict[str, Any]) -> list[str]:
        """Return the words of the zones and kinds of places of a phase's area."""
        facts = self._areas.facts(phase["desc"])
        codes = (*facts.zones, *facts.facilities)
        return [word for code in codes for word in self._areas.words.feature_words(code)]

    def _times(self, trip: dict[str, Any]) -> Iterator[str]:
        seconds = trip["time_spent_s"]
        if seconds > 0:
            minutes = max(1, round(seconds / 60))
            yield f"{minutes} minute{'s' if minutes > 1 else ''}"
            kph = trip["length_m"] / seconds * 3.6
            fast = "brisk" if kph >= self._defined.brisk_kph else "steady"
            yield "slow" if kph < self._defined.slow_kph else fast
        if trip["t_start_s"] >= CLOCK_FROM_S:
            day, hour = day_and_hour(trip["start_time"])
            yield f"{day} {self._defined.vocabulary.part_of_day(hour).words}"
            yield "weekend" if day in _WEEKEND else "weekday"
            yield trip["start_time"].rpartition(" at ")[2]


def _end(preposition: str, names: Sequence[str | None], district: str | None) -> Iterator[str]:
    within = f" in {district}" if district else ""
    for name in filter(None, names):
        yield f"{preposition} {name}{within}"
    if district:
        yield f"{preposition} {district}"


def _district(phase: dict[str, Any]) -> str | None:
    return read_area(phase["desc"]).district


def _driven(phase: dict[str, Any]) -> Iterator[str]:
    yield _HEADINGS[phase["dir"]]
    yield from phase["road_names"]
