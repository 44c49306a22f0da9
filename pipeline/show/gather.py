"""Gather one trip's whole life from the artifacts of a city.

    life_of(root, "monaco", "1372636858620000589_p2")
    ->  TripLife(raw=RawTrip(41 points), cleaned=[CleanedLife(35 points, drives=[...])],
                 rejections=[], endings=[Ending("1372636858620000589", state="phased"), ...])

Any id of the trip will do: as its file had it, after cleaning, or of one of its drives.
"""

import re
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.options import argument
from pipeline.params import Parameters
from pipeline.records import (
    AnnotatedTrip,
    CheckedTrip,
    CleanedTrip,
    JudgedTrip,
    MatchedPoints,
    MatchedTrip,
    PhasedTrip,
    PlannedTrip,
    RawTrip,
    Rejection,
    SelectedTrip,
)
from pipeline.show.endings import DEPTH, endings_of, final_of
from pipeline.show.life import CleanedLife, DriveLife, DrivenRoad, Examined, Said, TripLife
from pipeline.show.shards import CityTables, close_ids, rejections_where, rows_where

LATER_PART = re.compile(r"_p[0-9]+$")
NEAR_IDS = 5


def life_of(root: Path, city: str, trip_id: str) -> TripLife:
    """Find a trip by any of its ids and gather what every stage made of it.

    Args:
        root: Root of the project, where params.yaml lies.
        city: Key of the city under `cities:`.
        trip_id: Id of the raw trip, of a cleaned trip, or of a matched drive.

    Raises:
        ParameterError: Unknown city.
        SourceError: Nothing was ingested yet, or no trip has this id; names the nearest ids.
        ContractError: An artifact was written by another version of the code.
    """
    parameters = Parameters(root)
    parameters.city(city)
    tables = CityTables(root, city)
    for name in ("raw_trips", "cleaned"):
        tables.require(name)
    raw = _raw_trip(tables, trip_id)
    cleaned = _cleaned_lives(tables, raw) if raw else []
    rejections = _rejections(tables, trip_id, raw, cleaned)
    if raw is None and not rejections:
        raise _unknown(tables, trip_id)
    endings = endings_of(tables, raw, cleaned, rejections)
    return TripLife(
        city=city,
        asked_id=trip_id,
        time_zone=parameters.config(city, "time_zone", str),
        raw=raw,
        cleaned=cleaned,
        rejections=rejections,
        endings=endings,
        final=final_of(endings),
    )


def _raw_trip(tables: CityTables, trip_id: str) -> RawTrip | None:
    """Find the raw trip behind any id, or None."""
    by_raw_id = rows_where(tables, "raw_trips", pl.col("raw_trip_id") == trip_id, RawTrip)
    if by_raw_id:
        return by_raw_id[0]
    cleaned_id = _cleaned_id(tables, trip_id)
    cleaned = rows_where(tables, "cleaned", pl.col("trip_id") == cleaned_id, CleanedTrip)
    if not cleaned:
        return None
    raw_id = cleaned[0].raw_trip_id
    return next(
        iter(rows_where(tables, "raw_trips", pl.col("raw_trip_id") == raw_id, RawTrip)), None
    )


def _cleaned_id(tables: CityTables, trip_id: str) -> str:
    """Return the cleaned trip a drive was made from; an id that is no drive's is returned as is."""
    drives = rows_where(tables, "matched", pl.col("trip_id") == trip_id, MatchedTrip)
    if drives:
        return drives[0].cleaned_trip_id
    # A later drive that matching refused stands only among the rejections.
    if LATER_PART.search(trip_id) and rejections_where(
        tables, (pl.col("stage") == "match") & (pl.col("item_id") == trip_id), Rejection
    ):
        return LATER_PART.sub("", trip_id)
    return trip_id


def _cleaned_lives(tables: CityTables, raw: RawTrip) -> list[CleanedLife]:
    trips = rows_where(tables, "cleaned", pl.col("raw_trip_id") == raw.raw_trip_id, CleanedTrip)
    ids = [trip.trip_id for trip in trips]
    if not ids:
        return []
    points = {
        one.trip_id: one
        for one in rows_where(tables, "matched_points", pl.col("trip_id").is_in(ids), MatchedPoints)
    }
    drives = _drive_lives(tables, ids)
    in_time = sorted(trips, key=lambda trip: (trip.raw_index[:1], trip.trip_id))
    return [
        CleanedLife(
            trip=trip,
            points=points.get(trip.trip_id),
            drives=[one for one in drives if one.trip.cleaned_trip_id == trip.trip_id],
        )
        for trip in in_time
    ]


def _drive_lives(tables: CityTables, cleaned_ids: list[str]) -> list[DriveLife]:
    trips = rows_where(tables, "matched", pl.col("cleaned_trip_id").is_in(cleaned_ids), MatchedTrip)
    ids = [trip.trip_id for trip in trips]
    if not ids:
        return []
    phased = {
        one.trip_id: one
        for one in rows_where(tables, "phased", pl.col("trip_id").is_in(ids), PhasedTrip)
    }
    said, examined = _said(tables, ids), _examined(tables, ids)
    roads = _roads(tables, {edge for trip in trips for edge in trip.edge_ids})
    return [
        DriveLife(
            trip=trip,
            roads=[roads.get(e, DrivenRoad(e, None, None, None)) for e in trip.edge_ids],
            phased=phased.get(trip.trip_id),
            said=said.get(trip.trip_id),
            examined=examined.get(trip.trip_id),
        )
        for trip in sorted(trips, key=lambda trip: trip.t_enter_s[0])
    ]


def _said(tables: CityTables, ids: list[str]) -> dict[str, Said]:
    """Return what is said of drives; those that were never planned are left out."""
    own = pl.col("trip_id").is_in(ids)
    annotated = {one.trip_id: one for one in rows_where(tables, "annotated", own, AnnotatedTrip)}
    said = {}
    for planned in rows_where(tables, "planned", own, PlannedTrip):
        told = annotated.get(planned.trip_id)
        said[planned.trip_id] = Said(
            intents=planned.intents,
            texts=told.texts if told else None,
            provenance=told.provenance if told else None,
        )
    return said


def _examined(tables: CityTables, ids: list[str]) -> dict[str, Examined]:
    """Return what checks, judges and selection made of drives; none for those not checked."""
    own = pl.col("trip_id").is_in(ids)
    judged = [
        one for name in ("judged", "rejudged") for one in rows_where(tables, name, own, JudgedTrip)
    ]
    selected = {one.trip_id: one for one in rows_where(tables, "selected", own, SelectedTrip)}
    return {
        one.trip_id: Examined(
            names=len(one.mentions),
            grounded=sum(mention.verdict == "grounded" for mention in one.mentions),
            claims=len(one.claims),
            supported=sum(claim.verdict == "supported" for claim in one.claims),
            findings=one.findings,
            repairs=one.repairs,
            judged=[verdict for verdict in judged if verdict.trip_id == one.trip_id],
            selected=selected.get(one.trip_id),
        )
        for one in rows_where(tables, "checked", own, CheckedTrip)
    }


def _roads(tables: CityTables, edge_ids: set[str]) -> dict[str, DrivenRoad]:
    if not tables.files("roads"):
        return {}
    columns = ("edge_id", "name", "highway", "length_m")
    rows = tables.scan("roads").filter(pl.col("edge_id").is_in(sorted(edge_ids))).select(columns)
    return {row["edge_id"]: DrivenRoad(**row) for row in tables.collect(rows, "roads").to_dicts()}


def _rejections(
    tables: CityTables, asked: str, raw: RawTrip | None, cleaned: list[CleanedLife]
) -> list[Rejection]:
    """Return the rejections of the trip under any of its ids, in the order of its life.

    What is no trip, such as a row that could not be read, is rejected under its own id alone.
    """
    if raw is None:
        return rejections_where(tables, pl.col("item_id") == asked, Rejection)
    ids = sorted({raw.raw_trip_id, *raw.trip_ids, *(one.trip.trip_id for one in cleaned)})
    base = pl.col("item_id").str.replace(LATER_PART.pattern, "")
    own = pl.col("item_id").is_in(ids) | base.is_in(ids)
    found = rejections_where(tables, own, Rejection)
    return sorted(found, key=lambda one: (DEPTH.get(one.stage, len(DEPTH)), one.item_id))


def _unknown(tables: CityTables, trip_id: str) -> SourceError:
    columns = {"raw_trips": "raw_trip_id", "cleaned": "trip_id", "matched": "trip_id"}
    near = close_ids(tables, trip_id, columns=columns, limit=NEAR_IDS)
    if not near:
        return SourceError(
            f"data/{tables.city}/raw_trips: expected trip {trip_id!r}, found no trip at all; run"
            f" `{tables.maker_command('raw_trips')}` with trace files in place"
        )
    return SourceError(
        f"data/{tables.city}: expected trip {trip_id!r}, found no raw, cleaned or matched trip of"
        f" that id; nearest: {', '.join(near)}; run"
        f" `python -m pipeline show {tables.city} {argument(near[0])}`"
    )
