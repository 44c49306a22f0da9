"""What released files show of a trip: phases, places beside it, and which names a caption tells.

    city = CityEvidence(release)
    trips = city.trips(instances)                  phases and places, from the path and the ground
    city.inspect("Past Café Ceuta.", trips[0])     its mentions and claims, judged as by `check`

A trip's record is made anew from its path by the functions that made it, so that a caption of any
model is held to what the texts of the data set were held to. Two things differ. A place counts as
on the trip wherever it lies beside the road, while the data's annotator was shown the nearest few
of a phase; and no text is mended first.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane
from pipeline.errors import ContractError
from pipeline.language.places import named_places
from pipeline.quality.check_texts import city_names
from pipeline.quality.inspection import InspectedText, Inspector
from pipeline.quality.rules import Policies
from pipeline.quality.wording import Longest, Wording
from pipeline.records import Intents, Phase, Place, PlannedTrip, TripMeta
from pipeline.tasks.released import Release
from pipeline.tasks.view import ModelView
from pipeline.trips.phases import CompressSettings, compress_trips, ground_of

CAPTION = "trajectory_caption"
# What was planned of a trip is not released, and judges no caption.
_NOT_PLANNED = Intents([], [], [], "", [], [], None, None, None)
# Rules only say what they find: what a model writes is scored, neither mended nor refused.
_POLICIES = msgspec.convert(dict.fromkeys(Policies.__struct_fields__, "flag"), Policies)
_NO_LIMIT = Wording(Longest(**dict.fromkeys(Longest.__struct_fields__, 1 << 62)), 1.0)
# The fewest phases of a trip, an origin and a destination.
_PHASES = CompressSettings(min_phases=2)
# More than the places of any city.
_PLACES = 1 << 32
# Trips in memory as records at a time.
_AT_A_TIME = 1024


class _Phased(msgspec.Struct):
    trip_id: str
    meta: TripMeta
    phases: list[Phase]


class CityEvidence:
    """The names of a released city, and what its trips show."""

    def __init__(self, release: Release | ModelView) -> None:
        """Read the ground.

        Args:
            release: The release; what a model may see of it is enough for its trips.

        Raises:
            SourceError: A table of the ground, or the city's contents, is missing.
        """
        self._release, self._definitions = release, release.definitions
        self._roads, self._cells = release.roads, release.cells
        self._ground = ground_of(self._roads, release.road_cells, self._cells)

    @cached_property
    def _inspector(self) -> Inspector:
        release = self._release
        assert isinstance(release, Release)  # noqa: S101 - names are judged by scorers alone
        names = city_names(
            release.name,
            roads=self._roads,
            road_cells=release.road_cells,
            cells=self._cells,
            names=release.names,
        )
        return Inspector(names, _POLICIES, wording=_NO_LIMIT)

    def inspect(self, caption: str, trip: PlannedTrip) -> InspectedText:
        """Return the names and claims of a caption, held against a trip."""
        return self._inspector.inspect_text(CAPTION, caption, self._inspector.evidence(trip))

    def trips(self, instances: pl.DataFrame) -> Iterator[PlannedTrip]:
        """Yield the trips of instances of captioning, in their order.

        Args:
            instances: trip_id, simulated, input.

        Raises:
            ContractError: A path is not one of this ground: a segment is unknown, or its phases
                lie in other cells.
        """
        for some in instances.iter_slices(_AT_A_TIME):
            paths = some.select("trip_id", "simulated", "input").unnest("input")
            phased = self._phased(paths)
            records = msgspec.json.Decoder(_Phased).decode_lines(phased.write_ndjson())
            for one, places in zip(records, self._places(phased, paths["edge_ids"]), strict=True):
                yield PlannedTrip(one.trip_id, one.meta, one.phases, places, _NOT_PLANNED)

    def _phased(self, paths: pl.DataFrame) -> pl.DataFrame:
        """Return rows of `phased_trip`, made of paths as the data set's were made."""
        enters = pl.col("t_enter_s").list
        leaves = enters.slice(1).list.concat(enters.first() + pl.col("time_spent_s"))
        matched = paths.with_columns(t_exit_s=leaves)
        phased, _ = compress_trips(matched, self._ground, time_zone="UTC", settings=_PHASES)
        cells = phased.select(
            "trip_id", found=pl.col("phases").list.eval(pl.element().struct.field("cell"))
        )
        told = paths.join(cells, on="trip_id", how="left", maintain_order="left")
        other = told.filter(pl.col("found").ne_missing(pl.col("cells")))
        if other.height:
            raise ContractError(
                f"trip {other['trip_id'][0]}: expected phases in the cells of its instance, found"
                " others by ground/road_cells.parquet; take all tables of one release"
            )
        # Worded in the city's own time.
        start_time = pl.lit(paths["start_time"])
        return phased.with_columns(pl.col("meta").struct.with_fields(start_time=start_time))

    def _places(self, phased: pl.DataFrame, edge_ids: pl.Series) -> Iterator[list[Place]]:
        """Yield the places of each trip, by phase, distance and id."""
        phase = pl.element().struct
        segments = phased.select(
            last=pl.col("phases").list.len() - 1,
            p=pl.col("phases").list.eval(phase.field("p").repeat_by(phase.field("n")).explode()),
        )
        segments = segments.with_row_index("trip").with_columns(edge_id=edge_ids)
        at_ends = (pl.col("p") == 0) | (pl.col("p") == pl.col("last"))
        reach = (
            pl.when(at_ends).then(self._definitions.anchor_m).otherwise(self._definitions.beside_m)
        )
        found = (
            segments.explode("edge_id", "p")
            .join(self._beside, on="edge_id")
            .filter(pl.col("near") // _PLACES <= reach * 100)
            # Of places with one name in a phase the nearest, as in the data.
            .group_by("trip", "p", "name")
            .agg(pl.col("near").min())
            .sort("trip", "p", "near")
            .with_columns(
                place=pl.col("near") % _PLACES, distance_m=(pl.col("near") // _PLACES) / 100
            )
        )
        cuts = np.searchsorted(found["trip"].to_numpy(), np.arange(phased.height + 1)).tolist()
        columns = [found[column].to_list() for column in ("p", "place", "distance_m")]
        for first, end in pairwise(cuts):
            rows = zip(*(column[first:end] for column in columns), strict=True)
            yield [Place(p, *self._held[int(place)], distance_m) for p, place, distance_m in rows]

    @cached_property
    def _named(self) -> pl.DataFrame:
        """The named places of the city, by id."""
        return named_places(self._cells).sort("id")

    @cached_property
    def _held(self) -> list[tuple[str, str, str | None, str, float, float]]:
        """What a record tells of each place beside phase and distance."""
        return self._named.select("id", "name", "category", "group", "lon", "lat").rows()

    @cached_property
    def _beside(self) -> pl.DataFrame:
        """The places within reach of each segment: edge_id, name (its number), near.

        `near` orders them: the distance in whole centimetres, then the number of the place.
        """
        import shapely  # noqa: PLC0415 - slow import

        spots = self._named.select("lon", "lat").to_numpy()
        plane = UtmPlane(*spots.mean(0)) if len(spots) else UtmPlane(0.0, 0.0)
        points: Any = np.asarray(shapely.points(plane.to_metres(spots)))
        lines: Any = plane.geometries(shapely.from_wkb(self._roads["geometry"].to_numpy()))
        reach = max(self._definitions.beside_m, self._definitions.anchor_m)
        line, place = shapely.STRtree(points).query(lines, predicate="dwithin", distance=reach)
        metres = shapely.distance(lines[line], points[place])
        return pl.DataFrame(
            {
                "edge_id": self._roads["edge_id"].gather(line),
                "name": self._named["name"].rank("dense").gather(place),
                "near": (metres * 100).round().astype(np.int64) * _PLACES + place,
            }
        )
