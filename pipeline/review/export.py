"""What `python -m pipeline review export CITY` does: an assignment, and the page that goes with it.

export(root, "helsinki", ExportWish(raters=["H1", "H2"], drawn=20, ...))
->  data/reviews/helsinki/assignment.json, out/review-helsinki.html
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from pipeline.errors import ContractError, SourceError
from pipeline.params import Parameters
from pipeline.quality.ratings import item_hash
from pipeline.quality.rubric import rubric
from pipeline.records import CheckedTrip, JudgedTrip, MatchedTrip
from pipeline.replacing import replace_text
from pipeline.review.assignment import (
    FILE,
    Assignment,
    assign,
    assignment_text,
    check_raters,
    read_assignment,
    reviews_folder,
    withdrawn,
)
from pipeline.review.ground import SharedGround, survey
from pipeline.review.page import ReviewItem, Setting, write_page
from pipeline.review.sample import trips_of
from pipeline.show.shards import CityTables, rows_where

JUDGES = ("judged", "rejudged")
LARGE_PAGE_MB = 10.0


class ExportWish(NamedTuple):
    """What the user asked for.

    Attributes:
        raters: Codes of the raters.
        overlap: Trips that all of them rate; None = all.
        named: File with the ids of the trips; None = not given.
        drawn: Trips to draw by hash; None = not given.
        page: HTML file to write; None = out/review-<city>.html.
        replace: Whether trips that were asked for before may be withdrawn, and an assignment that
            nobody can read may be replaced.
    """

    raters: Sequence[str]
    overlap: int | None
    named: Path | None
    drawn: int | None
    page: Path | None
    replace: bool


def export(root: Path, city: str, wish: ExportWish) -> Iterator[str]:
    """Write the assignment and the page; yield what was done, as lines.

    Raises:
        ParameterError: Unknown city, or a rater's code is none.
        SourceError: Trips are missing; or an assignment is there that asks for more, and `replace`
            was not asked for.
        ContractError: An artifact is of another version; or the assignment that is there cannot be
            read, and `replace` was not asked for.
    """
    parameters = Parameters(root)
    parameters.city(city)
    check_raters(wish.raters)
    setting = Setting(
        name=parameters.config(city, "name", str),
        time_zone=parameters.config(city, "time_zone", str),
        rubric=rubric(),
    )
    tables = CityTables(root, city)
    items = _items(tables, trips_of(tables, named=wish.named, drawn=wish.drawn))
    assignment = assign(
        city,
        {item.trip.trip_id: item_hash(item.trip) for item in items},
        raters=wish.raters,
        overlap=wish.overlap,
        rubric=setting.rubric,
    )
    folder = reviews_folder(root, city)
    old, broken = _standing(folder, replace=wish.replace)
    gone = withdrawn(old, assignment) if old else []
    if gone and not wish.replace:
        raise SourceError(
            f"data/reviews/{city}/{FILE}: expected an assignment that asks for all it asked for"
            f" before, found {len(gone)} less, with other texts or by another rubric"
            f" ({', '.join(gone[:3])});"
            " scores of these would count no more: export with --replace if that is meant"
        )
    page = wish.page or root / "out" / f"review-{city}.html"
    write_page(page, assignment, items, ground_of(tables, items), setting)
    if broken:
        yield _kept(folder / FILE)
    replace_text(folder / FILE, assignment_text(assignment))
    yield from _told(assignment, page, root, gone)


def _items(tables: CityTables, trips: list[CheckedTrip]) -> list[ReviewItem]:
    own = pl.col("trip_id").is_in([trip.trip_id for trip in trips])
    matched = {one.trip_id: one for one in rows_where(tables, "matched", own, MatchedTrip)}
    judged = [one for name in JUDGES for one in rows_where(tables, name, own, JudgedTrip)]
    missing = [trip.trip_id for trip in trips if trip.trip_id not in matched]
    if missing:
        raise ContractError(
            f"data/{tables.city}/matched: expected the drive of {missing[0]}, found none"
            f" ({len(missing)} such); rebuild with `{tables.maker_command('checked')}`"
        )
    return [
        ReviewItem(
            trip,
            matched[trip.trip_id],
            [one for one in judged if one.trip_id == trip.trip_id and one.status == "ok"],
        )
        for trip in trips
    ]


def ground_of(tables: CityTables, items: Sequence[ReviewItem]) -> SharedGround:
    """Return the ground of some trips, with streets around every place their texts name."""
    spots = [
        (mention.lon, mention.lat)
        for item in items
        for mention in item.trip.mentions
        if mention.lon is not None and mention.lat is not None
    ]
    return survey(tables, [item.drive for item in items], spots)


def _standing(folder: Path, *, replace: bool) -> tuple[Assignment | None, bool]:
    """Return the assignment that is there, if any, and whether it is one nobody can read."""
    if not (folder / FILE).is_file():
        return None, False
    try:
        return read_assignment(folder), False
    except ContractError:
        if not replace:
            raise
        return None, True


def _kept(file: Path) -> str:
    """Move a broken assignment aside, under a name of its content; return what was done."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    kept = file.rename(file.with_name(f"{file.stem}.broken-{digest}{file.suffix}"))
    return f"the assignment that was there cannot be read; kept as {kept.name}"


def _told(assignment: Assignment, page: Path, root: Path, gone: list[str]) -> Iterator[str]:
    shown = page.relative_to(root) if page.is_relative_to(root) else page
    megabytes = page.stat().st_size / 1e6
    for share in assignment.raters:
        yield f"{share.rater}: {len(share.trip_ids):,} trips"
    if gone:
        yield f"withdrawn or changed since the last export: {len(gone):,}"
    if megabytes > LARGE_PAGE_MB:
        yield f"the page is large ({megabytes:.0f} MB); fewer trips at a time load faster"
    yield f"wrote data/reviews/{assignment.city}/{FILE} and {shown} ({megabytes:.1f} MB)"
    yield (
        "next: give each rater the page; bring back what they export with"
        " `python -m pipeline review import FILE...`"
    )
