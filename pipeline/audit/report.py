"""What an audit finds, as one record: `python -m pipeline audit A B --json` prints it.

    AuditReport(before=Side("v1", ...), after=Side("workspace", ...), cities=[CityAudit(...), ...],
                overall=CityAudit("all cities", ...))

Null means "not known" or "not there", never zero. schemas/audit_report.schema.json says the same in
full.
"""

from typing import Literal

import msgspec

from pipeline.audit.inputs import Input

ALL = "all cities"
Family = Literal["length", "questions", "word_pairs", "openers", "grounding", "check", "judge"]


class Side(msgspec.Struct, frozen=True):
    """One version: as it was named, what that is, and the commit of a revision (else "")."""

    given: str
    kind: str
    commit: str


class Writer(msgspec.Struct, frozen=True):
    """Who wrote the texts of how many trips, with which prompt files (null where unknown)."""

    engine: str
    model: str
    revision: str
    prompt_hash: str | None
    trips: int


class Cause(msgspec.Struct, frozen=True):
    """Something that may have changed texts, checks or scores.

    Attributes:
        cause: What.
        differs: Whether it differs; null where the versions do not tell.
        what: Where it shows.
    """

    cause: str
    differs: bool | None
    what: list[str]


class Reason(msgspec.Struct, frozen=True):
    """Why trips are on one side only: stage and reason of their rejection on the other."""

    stage: str
    reason: str
    trips: int


class Rows(msgspec.Struct, frozen=True):
    """The trips of both sides, counted.

    Attributes:
        before: Trips with texts before.
        after: Trips with texts after.
        both: Trips with texts on both sides.
        only_before: Trips that have lost their texts.
        only_after: Trips that have gained some.
        why_only_before: Why they have none after.
        why_only_after: Why they had none before.
        other_trip: In both, but the trip the writer saw is another; null where unknown.
        other_draws: The same trip, but what was drawn for it differs; null where unknown.
        paired: In both, and neither is known to differ: these are compared.
        other_request: Paired, but asked by another request (prompt, schema, model or sampling).
        changed: Paired, with a text that differs.
        changed_texts: How many differ, by text.
    """

    before: int
    after: int
    both: int
    only_before: int
    only_after: int
    why_only_before: list[Reason]
    why_only_after: list[Reason]
    other_trip: int | None
    other_draws: int | None
    paired: int
    other_request: int
    changed: int
    changed_texts: dict[str, int]


class Measure(msgspec.Struct, frozen=True):
    """A figure before and after over paired trips; see `pipeline.paired.Comparison`."""

    family: Family
    name: str
    unit: str
    test: Literal["swap", "mcnemar"]
    n: int
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    lost: int | None
    gained: int | None


class Absent(msgspec.Struct, frozen=True):
    """A part of the report that cannot be had, and why."""

    part: str
    why: str


class TextPair(msgspec.Struct, frozen=True):
    """A text before and after; null where there is none."""

    field: str
    before: str | None
    after: str | None


class Worse(msgspec.Struct, frozen=True):
    """A trip that fares worse than before, in which ways, and its texts that differ."""

    city: str
    trip_id: str
    why: list[str]
    texts: list[TextPair]


class PromptChange(msgspec.Struct, frozen=True):
    """A rendered message whose text differs, as `diff -u` shows it."""

    of: str
    difference: str


class CityAudit(msgspec.Struct, frozen=True):
    """What a change did in one city, or in all of them.

    Attributes:
        city: Key of the city.
        inputs: What differs among the inputs; null where only rows tell (folders, ledgers).
        causes: What may have changed the texts, and whether it differs.
        attribution: What follows from that, in a sentence.
        writers_before: Who wrote the texts before.
        writers_after: Who wrote them after.
        rows: Trips, counted.
        measures: Figures over paired trips.
        absent: Parts that cannot be had.
        worse_trips: How many trips fare worse; null where nothing tells.
        worse: The first of them, the worst first.
        prompts: Rendered prompts of a few trips that differ.
        notes: What to keep in mind.
    """

    city: str
    inputs: list[Input] | None
    causes: list[Cause]
    attribution: str
    writers_before: list[Writer]
    writers_after: list[Writer]
    rows: Rows
    measures: list[Measure]
    absent: list[Absent]
    worse_trips: int | None
    worse: list[Worse]
    prompts: list[PromptChange]
    notes: list[str]


class AuditReport(msgspec.Struct, frozen=True):
    """Two versions compared: each city, and all of them where there are several.

    Attributes:
        before: The one.
        after: The other.
        notes: Cities that could not be compared, and why.
        cities: Those that could.
        overall: All of them together; null for a single one.
    """

    before: Side
    after: Side
    notes: list[str]
    cities: list[CityAudit]
    overall: CityAudit | None
