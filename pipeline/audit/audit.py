"""Compare two versions of the texts: what differs in the inputs, in the rows, and what got worse.

    audit(root, "v1", "workspace", options=Options(cities=[], prompts=2, worse=20))
    ->  AuditReport(before=Side("v1", "revision", "9de97aa..."), after=Side("workspace", ...),
                    cities=[CityAudit("monaco", ...)], overall=None)

Nothing is written but temporary files; the working tree stays as it is.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline.audit.answers import Answers, holds_answers, read_answers
from pipeline.audit.causes import Asked, Evidence, attribution, causes
from pipeline.audit.inputs import AUDITED, Input, differing_inputs
from pipeline.audit.measures import adjusted, text_measures
from pipeline.audit.outcomes import outcome_measures, with_outcomes, without_outcomes
from pipeline.audit.reasons import rejected, with_reasons
from pipeline.audit.rendered import prompt_changes
from pipeline.audit.report import (
    ALL,
    Absent,
    AuditReport,
    Cause,
    CityAudit,
    PromptChange,
    Rows,
    Side,
    Writer,
)
from pipeline.audit.rows import BRING_ANEW, paired_rows, read_texts
from pipeline.audit.stale import stale_notes
from pipeline.audit.tally import asked_of, counted_rows, writers_of
from pipeline.audit.versions import WORKSPACE, Missing, Version, check_known, open_version
from pipeline.audit.worse import worse_trips
from pipeline.errors import SourceError
from pipeline.seals import sound_files

LEDGERS = "answers"


class Options(NamedTuple):
    """How much of it is told.

    Attributes:
        cities: Keys of cities; none means all that both versions have.
        prompts: Trips whose rendered prompts are compared.
        worse: Trips that got worse to show, of each city.
    """

    cities: Sequence[str]
    prompts: int
    worse: int


class _City(NamedTuple):
    """What is known of one city before its rows are put into figures."""

    city: str
    trips: pl.DataFrame
    inputs: list[Input] | None
    recorded: frozenset[str]
    absent: list[Absent]
    prompts: list[PromptChange]
    notes: list[str]


def audit(root: Path, first: str, second: str, *, options: Options) -> AuditReport:
    """Compare two versions.

    Args:
        root: Root of the project.
        first: The version before: `workspace`, a git revision, a folder with a copy of the data;
            or a ledger of answers, an export of one, a folder of responses.
        second: The version after, of the same kind.
        options: How much of it is told.

    Raises:
        SourceError: A version, or its texts, cannot be had; names the command that brings them.
    """
    for given in (first, second):
        check_known(root, given)
    ledgers = [given != WORKSPACE and holds_answers(Path(given)) for given in (first, second)]
    if all(ledgers):
        return _of_answers(Path(first), Path(second), options)
    if any(ledgers):
        raise SourceError(
            f"{first} and {second}: expected two versions of the data or two ledgers of answers,"
            " found one of each; name two of a kind"
        )
    with ExitStack() as stack:
        before, after = (stack.enter_context(open_version(root, one)) for one in (first, second))
        keys, notes = _cities(before, after, options.cities)
        cities = [_city(before, after, key, options.prompts) for key in keys]
        sides = [Side(one.given, one.kind, one.commit) for one in (before, after)]
    return _report(sides, cities, notes, options)


def _cities(before: Version, after: Version, asked: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the cities to compare, and what is to be said of others."""
    known = [city for city in before.cities if city in after.cities]
    for city in asked:
        for version in (before, after):
            if city not in version.cities:
                raise SourceError(
                    f"{city}: expected one of {', '.join(known) or 'no city'}, which both versions"
                    f" have, found none of this name in {version.given}:"
                    f" {version.why_without(city)}; name another"
                )
    notes = []
    if not asked:
        for version, other in ((before, after), (after, before)):
            notes += [
                f"{city}: only in {version.given}, not compared: {other.why_without(city)}"
                for city in sorted({*version.cities} - {*known})
            ]
    found = []
    for city in asked or known:
        folders = [version.artifact(city, "annotated") for version in (before, after)]
        missing = [one for one in folders if isinstance(one, Missing)]
        if missing and asked:
            raise SourceError(missing[0].why)
        notes += [f"{city}: not compared: {one.why}" for one in missing]
        found += [] if missing else [city]
    if not found and len(notes) == 1:
        raise SourceError(notes[0])
    if not found:
        nothing = f"{before.given} and {after.given}: expected a city that both have, found none"
        raise SourceError(f"{nothing}; name other versions", more="\n".join(notes))
    return found, notes


def _city(before: Version, after: Version, city: str, prompts: int) -> _City:
    folders = [_there(version.artifact(city, "annotated")) for version in (before, after)]
    trips = paired_rows(*read_texts(*folders))
    trips = with_reasons(trips, rejected(before, city), rejected(after, city))
    trips = trips.with_columns(city=pl.lit(city))
    trips, absent, notes = with_outcomes(trips, before, after, city)
    told = before.files is not None and after.files is not None
    changes: list[PromptChange] = []
    why_not = ""
    if prompts:
        changes, why_not = prompt_changes(before, after, _some_rows(folders, trips, prompts))
    if why_not:
        absent.append(Absent("rendered prompts", why_not))
    for version, suffix in ((before, ""), (after, "_after")):
        notes += stale_notes(version, city, writers_of(trips, suffix))
    return _City(
        city=city,
        trips=trips,
        inputs=differing_inputs(before, after, city) if told else None,
        recorded=frozenset(
            stage
            for stage in AUDITED
            if all(f"{stage}@{city}" in version.lock for version in (before, after))
        ),
        absent=absent,
        prompts=changes,
        notes=notes,
    )


def _there(path: Path | Missing) -> Path:
    if isinstance(path, Missing):
        raise SourceError(path.why)
    return path


def _some_rows(
    folders: Sequence[Path], trips: pl.DataFrame, most: int
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return whole rows of a few trips, those asked for by another request first."""
    request = pl.col("response_key") != pl.col("response_key_after")
    paired = trips.filter("paired").sort(request, "trip_id", descending=[True, False])
    ids = paired["trip_id"].head(most)
    sides = [
        pl.scan_parquet(sound_files(folder, remedy=BRING_ANEW))
        .filter(pl.col("trip_id").is_in(ids.implode()))
        .collect()
        .rows_by_key("trip_id", named=True, unique=True, include_key=True)
        for folder in folders
    ]
    return [(sides[0][one], sides[1][one]) for one in ids]


def _of_answers(first: Path, second: Path, options: Options) -> AuditReport:
    sides: list[Answers] = [read_answers(path) for path in (first, second)]
    trips = paired_rows(sides[0].texts, sides[1].texts)
    trips = with_reasons(trips, sides[0].refused, sides[1].refused)
    trips, absent = without_outcomes(trips.with_columns(city=pl.lit(LEDGERS)))
    notes = [
        f"{path}: trips left out: {side.ambiguous:,}; several requests are about each"
        for path, side in zip((first, second), sides, strict=True)
        if side.ambiguous
    ]
    city = _City(LEDGERS, trips, None, frozenset(), absent, [], notes)
    named = [Side(str(path), "answers", "") for path in (first, second)]
    return _report(named, [city], [], options)


def _report(
    sides: Sequence[Side], cities: Sequence[_City], notes: list[str], options: Options
) -> AuditReport:
    audits = [_audited(city, options) for city in cities]
    overall = None
    if len(cities) > 1:
        together = _City(
            city=ALL,
            trips=pl.concat([city.trips for city in cities], how="diagonal_relaxed"),
            inputs=_union(city.inputs for city in cities),
            recorded=frozenset.intersection(*(city.recorded for city in cities)),
            absent=_together(cities),
            prompts=[],
            notes=[],
        )
        overall = _audited(together, options)
    return AuditReport(sides[0], sides[1], notes, audits, overall)


def _together(cities: Sequence[_City]) -> list[Absent]:
    """Return the parts that some cities lack, with the names of these cities."""
    lacking: dict[str, list[str]] = {}
    for city in cities:
        for one in city.absent:
            lacking.setdefault(one.part, []).append(city.city)
    return [Absent(part, f"see {', '.join(names)}") for part, names in lacking.items()]


def _union(inputs: Iterable[list[Input] | None]) -> list[Input] | None:
    """Return what differs in any city, each input once."""
    found: dict[tuple[str, str], Input] = {}
    for some in inputs:
        if some is None:
            return None
        for one in some:
            found.setdefault((one.kind, one.name), one)
    return list(found.values())


def _audited(city: _City, options: Options) -> CityAudit:
    trips = city.trips
    rows = counted_rows(trips)
    writers = [writers_of(trips, suffix) for suffix in ("", "_after")]
    asked = asked_of(trips)
    found = _causes(city, rows, writers, asked)
    pairs = trips.filter("paired")
    measured = adjusted(
        [*text_measures(pairs, name=city.city), *outcome_measures(pairs, name=city.city)]
    )
    count, worst = worse_trips(trips, most=options.worse)
    known = count > 0 or any(one.family in {"check", "judge"} for one in measured)
    return CityAudit(
        city=city.city,
        inputs=city.inputs,
        causes=found,
        attribution=attribution(found, asked),
        writers_before=writers[0],
        writers_after=writers[1],
        rows=rows,
        measures=measured,
        absent=city.absent,
        worse_trips=count if known else None,
        worse=worst,
        prompts=city.prompts,
        notes=city.notes,
    )


def _causes(city: _City, rows: Rows, writers: Sequence[list[Writer]], asked: Asked) -> list[Cause]:
    evidence = Evidence(
        before=writers[0],
        after=writers[1],
        other_trip=rows.other_trip,
        other_draws=rows.other_draws,
        recorded=city.recorded,
        asked=asked,
    )
    return causes(city.inputs, evidence)
