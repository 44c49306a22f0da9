"""Compare two releases record by record: what is new, gone or changed, and why.

    diff(root, "v1", "v2", cities=[])
    ->  ReleaseDiff(cities=[CityDiff("monaco", tasks=[TaskDiff("generation", before=1953, ...)],
                                     causes=[CauseCount("changed", ["prompt"], "", 41), ...])]),
        and every record that is not the same, as a table

A version is named as for an audit; a folder may also be a published release, or the folder of one
city, which says nothing of other cities.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import polars as pl

from pipeline.audit.diff_report import (
    AspectCount,
    CauseCount,
    CityDiff,
    Field,
    ReleaseDiff,
    TaskDiff,
)
from pipeline.audit.instances import TASKS, FieldChange, read_instances
from pipeline.audit.record_causes import UNKNOWN, compared, with_cause, with_causes
from pipeline.audit.refused import with_refusals
from pipeline.audit.report import Side
from pipeline.audit.rows import BRING_ANEW
from pipeline.audit.stale import stale_release
from pipeline.audit.versions import Missing, Version, open_version
from pipeline.errors import SourceError
from pipeline.hashes import dvc_hash
from pipeline.seals import sound_files

# Beside the records: what they refer to.
_GROUND = ("roads", "road_cells", "cells", "names")
_FILES = ("candidates", *(f"released_{name}" for name in _GROUND))
RECORD_COLUMNS = (
    "instance_id", "city", "trip_id", "task", "state", "causes", "detail", "aspects", "text_before",
    "text_after",
)  # fmt: skip


class Compared(NamedTuple):
    """The diff, and its records: RECORD_COLUMNS, lists joined by ` + `.

    A new or gone record has a text of the other side, too, where one was written and refused there.
    """

    report: ReleaseDiff
    records: pl.DataFrame


def diff(root: Path, first: str, second: str, *, cities: list[str]) -> Compared:
    """Compare two releases.

    Args:
        root: Root of the project.
        first: The version before.
        second: The version after.
        cities: Keys of cities; none means all that either version has, or the one city of a
            version that is a city's own folder.

    Raises:
        SourceError: A version has no release, or it cannot be had; names the command that brings
            it.
    """
    with ExitStack() as stack:
        before, after = (stack.enter_context(open_version(root, one)) for one in (first, second))
        keys, notes = _cities(before, after, cities)
        found = []
        records = [pl.DataFrame(schema=dict.fromkeys(RECORD_COLUMNS, pl.String))]
        for city in keys:
            folders = [_release(version, city) for version in (before, after)]
            missing = [one.why for one in folders if isinstance(one, Missing)]
            if missing and cities:
                raise SourceError(missing[0])
            notes += [f"{city}: not compared: {why}" for why in missing]
            if not missing:
                told, rows = _city(before, after, city)
                found.append(told)
                records.append(rows)
        if not found and len(notes) == 1:
            raise SourceError(notes[0])
        if not found:
            nothing = f"{first} and {second}: expected a city that both have, found none"
            raise SourceError(f"{nothing}; name other versions", more="\n".join(notes))
        sides = [Side(one.given, one.kind, one.commit) for one in (before, after)]
    return Compared(ReleaseDiff(sides[0], sides[1], notes, found), pl.concat(records))


def _cities(before: Version, after: Version, asked: list[str]) -> tuple[list[str], list[str]]:
    """Return the cities to compare, and what is to be said of others."""
    both = [city for city in before.cities if city in after.cities]
    either = list(dict.fromkeys([*before.cities, *after.cities]))
    if not (before.alone or after.alone):
        return asked or either, []
    wrong = [city for city in asked or both or either if city not in both]
    if wrong:
        side = before if wrong[0] not in before.cities else after
        raise SourceError(
            f"{wrong[0]}: expected a city that both versions have, found none of this name in"
            f" {side.given}; name another version"
        )
    if asked:
        return asked, []
    return both, [
        f"{city}: only in one version, not compared" for city in either if city not in both
    ]


def _release(version: Version, city: str) -> dict[str, Path] | Missing | None:
    """Return the folder of each task; None for a city that the version has not at all."""
    if city not in version.cities:
        return None
    folders = {}
    for task in TASKS:
        place = _artifact(version, city, task)
        if isinstance(place, Missing):
            return place
        folders[task] = place
    return folders


def _artifact(version: Version, city: str, name: str) -> Path | Missing:
    """Return where a part of a release lies; a published one has no folder `release`."""
    place = version.artifact(city, name)
    published = version.folder(city) / _PUBLISHED.get(name, name)
    return published if isinstance(place, Missing) and published.exists() else place


_PUBLISHED = {f"released_{name}": f"ground/{name}.parquet" for name in _GROUND}


def _city(before: Version, after: Version, city: str) -> tuple[CityDiff, pl.DataFrame]:
    old, new, fields = _instances(before, after, city)
    ended = [_ended(version, city) for version in (before, after)]
    records = with_causes(
        compared(old, new), ended[0], ended[1], other_fields={one.task for one in fields}
    )
    unknown: list[str] = []
    if old.is_empty() or new.is_empty():
        records = with_cause(records, "city")
    else:
        records, unknown = with_refusals(records, before, after, city)
    found = CityDiff(
        city=city,
        tasks=[_task(records, task) for task in TASKS],
        trips_before=old["trip_id"].n_unique(),
        trips_after=new["trip_id"].n_unique(),
        causes=_causes(records),
        aspects=_aspects(records),
        fields=[Field(*one) for one in fields],
        files=_files(before, after, city),
        notes=[
            *(note for version in (before, after) for note in stale_release(version, city)),
            *_notes(records, before, after, ended),
            *unknown,
        ],
    )
    return found, _table(records, city)


def _instances(
    before: Version, after: Version, city: str
) -> tuple[pl.DataFrame, pl.DataFrame, list[FieldChange]]:
    """Read both sides; a city that only one version has is empty on the other."""
    first, second = (_there(_release(version, city)) for version in (before, after))
    one = first or second
    if one is None:
        raise SourceError(f"{city}: expected a city of either version, found none; name another")
    old, new, fields = read_instances(first or one, second or one)
    return old if first else old.clear(), new if second else new.clear(), fields


def _there(place: dict[str, Path] | Missing | None) -> dict[str, Path] | None:
    if isinstance(place, Missing):
        raise SourceError(place.why)
    return place


def _notes(
    records: pl.DataFrame, before: Version, after: Version, ended: Sequence[pl.DataFrame | None]
) -> Iterator[str]:
    """Say why the cause of some records is unknown."""
    for version, ends, state in zip((before, after), ended, ("added", "removed"), strict=True):
        unknown = records.filter(pl.col("causes").list.contains(UNKNOWN), state=state)
        if ends is None and not unknown.is_empty():
            yield (
                f"{version.given}: no loss.parquet, so it is not known why {state} records are not"
                " there"
            )


def _ended(version: Version, city: str) -> pl.DataFrame | None:
    """Return where each trip ended: trip_id, stage, reason; None where that is not known."""
    place = version.artifact(city, "loss")
    if isinstance(place, Missing):
        return None
    (file,) = sound_files(place, remedy=BRING_ANEW)
    return pl.read_parquet(file, columns=["item_id", "stage", "reason"]).rename(
        {"item_id": "trip_id"}
    )


def _task(records: pl.DataFrame, task: str) -> TaskDiff:
    states = records.filter(task=task)["state"]
    same, changed, added, removed = (
        int((states == state).sum()) for state in ("same", "changed", "added", "removed")
    )
    return TaskDiff(
        task=task,
        before=same + changed + removed,
        after=same + changed + added,
        same=same,
        changed=changed,
        added=added,
        removed=removed,
    )


def _causes(records: pl.DataFrame) -> list[CauseCount]:
    counts = (
        records.filter(pl.col("state") != "same")
        .group_by("state", "causes", "detail")
        .agg(len=pl.len(), texts=pl.col("aspects").list.contains("text").sum())
        .with_columns(joined=pl.col("causes").list.join(" + "))
        .sort("len", "state", "joined", "detail", descending=[True, False, False, False])
    )
    columns = ("state", "causes", "detail", "len", "texts")
    return [
        CauseCount(state, causes, detail, records, texts if state == "changed" else None)
        for state, causes, detail, records, texts in counts.select(columns).iter_rows()
    ]


def _aspects(records: pl.DataFrame) -> list[AspectCount]:
    counts = (
        records.filter(state="changed")
        .select(pl.col("aspects").explode())
        .drop_nulls()
        .group_by("aspects")
        .len()
        .sort("len", "aspects", descending=[True, False])
    )
    return [AspectCount(*row) for row in counts.iter_rows()]


def _files(before: Version, after: Version, city: str) -> list[str]:
    found = []
    for name in _FILES:
        places = [_artifact(version, city, name) for version in (before, after)]
        hashes = [None if isinstance(one, Missing) else dvc_hash(one) for one in places]
        if hashes[0] != hashes[1]:
            change = "new" if hashes[0] is None else "gone" if hashes[1] is None else "differs"
            found.append(f"{_PUBLISHED.get(name, name)} {change}")
    return found


def _table(records: pl.DataFrame, city: str) -> pl.DataFrame:
    """Return the records that are not the same, for a table of text."""
    return (
        records.filter(pl.col("state") != "same")
        .with_columns(
            pl.col("causes").list.join(" + "),
            pl.col("aspects").list.join(" + "),
            city=pl.lit(city),
        )
        .rename({"text": "text_before"})
        .select(RECORD_COLUMNS)
    )
