"""What a release diff finds, as one record: `python -m pipeline diff A B --json` prints it.

    ReleaseDiff(before=Side("v1", ...), after=Side("v2", ...), cities=[CityDiff("monaco", ...)])

Counts add up: before = same + changed + removed, after = same + changed + added, in each city and
task, and the causes of a state add up to the records of that state.
"""

from typing import Literal

import msgspec

from pipeline.audit.report import Side

State = Literal["same", "changed", "added", "removed"]


class TaskDiff(msgspec.Struct, frozen=True):
    """The records of one task, counted."""

    task: str
    before: int
    after: int
    same: int
    changed: int
    added: int
    removed: int


class CauseCount(msgspec.Struct, frozen=True):
    """Records of one state that have the same causes.

    Attributes:
        state: What became of the records.
        causes: Why, each a word; several where they cannot be told apart.
        detail: Where the trip ended on the side that has it not; "" for changed records.
        records: How many.
        texts: How many of them have another text; null for those on one side only.
    """

    state: Literal["changed", "added", "removed"]
    causes: list[str]
    detail: str
    records: int
    texts: int | None


class AspectCount(msgspec.Struct, frozen=True):
    """How many of the changed records differ in an aspect."""

    aspect: str
    records: int


class Field(msgspec.Struct, frozen=True):
    """A field that differs between the schemas: added, removed, or of another type."""

    task: str
    field: str
    change: Literal["added", "removed", "type"]


class CityDiff(msgspec.Struct, frozen=True):
    """What became of the records of one city.

    Attributes:
        city: Its key.
        tasks: Records by task.
        trips_before: Trips released before.
        trips_after: Trips released after.
        causes: Changed, added and removed records by cause, the most frequent first.
        aspects: In what the changed ones differ; one record may differ in several.
        fields: Fields that differ between the schemas.
        files: Files beside the records that differ, are new or gone.
        notes: What to keep in mind.
    """

    city: str
    tasks: list[TaskDiff]
    trips_before: int
    trips_after: int
    causes: list[CauseCount]
    aspects: list[AspectCount]
    fields: list[Field]
    files: list[str]
    notes: list[str]


class ReleaseDiff(msgspec.Struct, frozen=True):
    """Two releases compared, city by city; `notes` tells of cities that could not be."""

    before: Side
    after: Side
    notes: list[str]
    cities: list[CityDiff]
