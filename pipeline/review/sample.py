"""Which trips people rate, read from what quality control let pass.

trips_of(tables, named=Path("ids.txt"), drawn=None)  ->  the trips of that file, one id a line
trips_of(tables, named=None, drawn=20)               ->  twenty, by a hash of the id
trips_of(tables, named=None, drawn=None)             ->  those the stage `select` chose for people
"""

from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.records import CheckedTrip
from pipeline.review.assignment import by_hash
from pipeline.show.shards import CityTables, close_ids, rows_where

NEAR_IDS = 3


def trips_of(tables: CityTables, *, named: Path | None, drawn: int | None) -> list[CheckedTrip]:
    """Return the trips to rate, sorted by id.

    Args:
        tables: The city.
        named: File with one trip id a line; None = not given.
        drawn: Trips to draw among all checked ones; None = not given.

    Raises:
        SourceError: The trips are not there yet, an id is unknown, there is none to rate, or the
            choice for people is older than the check.
    """
    tables.require("checked")
    _expect_checked_trips(tables)
    if named is not None:
        ids = _ids_in(named)
    elif drawn is not None:
        if drawn < 1:
            raise SourceError(f"-n: expected 1 or more trips, found {drawn}")
        ids = by_hash(_all_ids(tables), "draw")[:drawn]
    else:
        ids = _chosen_for_people(tables)
    found = rows_where(tables, "checked", pl.col("trip_id").is_in(ids), CheckedTrip)
    missing = sorted(set(ids) - {trip.trip_id for trip in found})
    if missing and named is None:
        raise SourceError(
            f"data/{tables.city}/sampled.parquet: expected checked trips only, found {len(missing)}"
            f" not checked, such as {missing[0]}: it is older than the check; run"
            f" `{tables.maker_command('sampled')}`"
        )
    if missing:
        near = close_ids(tables, missing[0], columns={"checked": "trip_id"}, limit=NEAR_IDS)
        raise SourceError(
            f"{missing[0]}: expected the id of a checked trip of {tables.city}, found none"
            f" ({len(missing)} such); near ones are {', '.join(near)}"
        )
    return sorted(found, key=lambda trip: trip.trip_id)


def _ids_in(file: Path) -> list[str]:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(
            f"{file}: expected a file with one trip id a line, found {fault}; give --trips another"
        ) from fault
    ids = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if not ids:
        raise SourceError(f"{file}: expected one trip id a line, found none; give --trips another")
    return ids


def _expect_checked_trips(tables: CityTables) -> None:
    """Raise SourceError where quality control refused every trip: none can be selected or drawn."""
    if not _number(tables, "checked"):
        raise SourceError(
            f"data/{tables.city}/checked: expected checked trips, found none, so no trip is"
            f" selected or can be drawn; data/{tables.city}/metrics/check.json counts what refused"
            f" them: change `check` in params.yaml and run `{tables.maker_command('sampled')}`"
        )


def _number(tables: CityTables, name: str) -> int:
    return int(tables.collect(tables.scan(name).select(pl.len()), name).item())


def _all_ids(tables: CityTables) -> list[str]:
    ids = tables.collect(tables.scan("checked").select("trip_id"), "checked")
    return list(ids["trip_id"])


def _chosen_for_people(tables: CityTables) -> list[str]:
    tables.require("sampled")
    chosen = tables.scan("sampled").filter(pl.col("why").list.contains("people"))
    ids = list(tables.collect(chosen.select("trip_id"), "sampled")["trip_id"])
    if ids:
        return ids
    tables.require("selected")
    if not _number(tables, "selected"):
        raise SourceError(
            f"data/{tables.city}/selected.parquet: expected selected trips, found none;"
            f" data/{tables.city}/metrics/selection.json counts what refused them: change `select`"
            f" in params.yaml and run `{tables.maker_command('selected')}`, or take checked trips"
            " with --trips or -n"
        )
    raise SourceError(
        f"data/{tables.city}/sampled.parquet: expected trips that `select` chose for people, found"
        " none; raise `select.samples.people` in params.yaml and run"
        f" `{tables.maker_command('sampled')}`, or name some with --trips or -n"
    )
