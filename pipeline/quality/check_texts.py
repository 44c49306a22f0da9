"""Check the texts of every annotated trip: the five stages of quality control (paper 3.3).

    annotated trip 1626278, seven texts
    ->  checked trip 1626278: texts mended, every name and claim with its evidence, findings
        or the rejection `off_route_name`: retrieval_query_2 "Café Sul": in the city, not on ...

1 grounding, 2 terminology, 3 verification, 4 diversity, 5 punctuation. A trip is refused if a
finding of any stage says `reject`, for the first of them in the order of stages. Diversity counts
only trips that no other stage refuses, so the trips are gone through three times: to inspect each
by itself, to settle what the rules left open, and to write what stays. What was found is kept on
disk in between.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec
import polars as pl
from msgspec.structs import replace

from pipeline.keys import Seed, Text
from pipeline.language.asked import Asking
from pipeline.language.outcome import responses_frame
from pipeline.language.prompts import PROMPTS
from pipeline.quality.check_report import CheckTally, refusal
from pipeline.quality.diversity import DiversitySettings, Excess, Survey
from pipeline.quality.examiner import VerifierSettings
from pipeline.quality.found_file import keeping, read_found
from pipeline.quality.gazetteer import Gazetteer, gazetteer_of
from pipeline.quality.inspection import Inspected, Inspector, in_stage_order
from pipeline.quality.rule_labels import LABELS, read_labels
from pipeline.quality.rules import Policies
from pipeline.quality.tables import word_tables
from pipeline.quality.verifying import Batch, Verifier, trips_of, verifier_for
from pipeline.quality.wording import Wording
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO

STAGE = "check"
# Trips in memory as records at a time.
TRIPS_AT_A_TIME = 128
_MADE_HERE = ("texts", "mentions", "claims", "repairs", "findings")


class CheckSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `check` of params.yaml.

    Attributes:
        rules: What follows from each rule.
        wording: The limits of stage 2.
        diversity: The quotas of stage 4.
        verify: Who settles what no rule can.
    """

    rules: Policies
    wording: Wording
    diversity: DiversitySettings
    verify: VerifierSettings


# The tables that hold a city's names.
NAME_TABLES = ("roads", "road_cells", "cells", "names")


def city_names(
    name: str,
    *,
    roads: pl.DataFrame,
    road_cells: pl.DataFrame,
    cells: pl.DataFrame,
    names: pl.DataFrame,
) -> Gazetteer:
    """Return the names of a city as its tables hold them; see `gazetteer_of`."""
    return gazetteer_of(
        name, roads=roads, road_cells=road_cells, cells=cells, names=names, tables=word_tables()
    )


def run(io: StageIO, *, check: CheckSettings, seed: Seed, name: Text, city: str) -> None:
    """Check every annotated trip of a city."""
    inspected, settled = io.scratch() / "inspected", io.scratch() / "settled"
    survey = Survey(check.diversity, seed=seed)
    _inspect(io, _inspector(io, name, check), survey, into=inspected)
    with verifier_for(check.verify, io, check.rules, prompts=PROMPTS) as verifier:
        verifier.ask(
            lambda: zip(_trips(io), read_found(inspected), strict=True), desc=f"verify {city}"
        )
        passing = _settle(io, verifier, inspected, into=settled)
    excess = survey.excess(passing)
    tally = CheckTally(check.rules, read_labels(LABELS / f"{city}.jsonl"))
    _write(io, _completed(settled, excess, check.rules), tally)
    figures = {"city": city, "verifier": verifier.figures(), **tally.figures()}
    io.write_json("check_metrics", figures | {"styles": excess.figures})
    io.write_csv("check_rules_plot", tally.rules_plot())
    io.write_csv("check_names_plot", tally.names_plot())


def asking(io: StageIO, *, prompts: Path, check: CheckSettings, name: Text) -> Iterator[Asking]:
    """Yield what the stage asks: a verifier, about what no rule can settle."""
    verifier = verifier_for(check.verify, io, check.rules, prompts=prompts)
    yield verifier.asking(lambda: _batches(io, name, check))


def _batches(io: StageIO, name: Text, check: CheckSettings) -> Iterator[Batch]:
    """Yield every annotated trip with what the rules find in it."""
    inspector = _inspector(io, name, check)
    for rows in _trips(io):
        yield rows, [inspector.inspect(trip)[0] for trip in trips_of(rows)]


def _inspector(io: StageIO, name: Text, check: CheckSettings) -> Inspector:
    names = city_names(name, **{table: io.read(table) for table in NAME_TABLES})
    return Inspector(names, check.rules, wording=check.wording)


def _trips(io: StageIO) -> Iterator[pl.DataFrame]:
    """Yield the annotated trips, some rows at a time."""
    return chain.from_iterable(map(_slices, io.parts("annotated")))


def _slices(shard: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    return chain.from_iterable(frame.iter_slices(TRIPS_AT_A_TIME) for frame in shard)


def _inspect(io: StageIO, inspector: Inspector, survey: Survey, *, into: Path) -> None:
    """Look at each trip by itself."""
    with keeping(into) as keep:
        for rows in io.progress(_trips(io), None, "batch", "inspect"):
            found = []
            for trip in trips_of(rows):
                one, readings = inspector.inspect(trip)
                found.append(one)
                survey.add(one, readings)
            keep(found)


def _settle(io: StageIO, verifier: Verifier, found: Path, *, into: Path) -> set[str]:
    """Settle what the rules left open, and return the trips that nothing refuses by now."""
    passing: set[str] = set()
    batches = read_found(found)
    with keeping(into) as keep, io.open_shards("verify_responses") as responses:
        for shard in io.parts("annotated"):
            with responses.open() as writer:
                for rows in _slices(shard):
                    settled, attempts = verifier.settle((rows, next(batches)))
                    keep(settled)
                    writer.write(responses_frame(attempts))
                    passing.update(one.trip_id for one in settled if not one.rejected)
    return passing


def _completed(found: Path, excess: Excess, policies: Policies) -> Iterator[list[Inspected]]:
    """Yield what was found, what lies beyond the quotas included."""
    for batch in read_found(found):
        yield [
            replace(one, findings=in_stage_order([*one.findings, *excess.findings(one, policies)]))
            if one.trip_id in excess.by_trip
            else one
            for one in batch
        ]


def _write(io: StageIO, found: Iterator[list[Inspected]], tally: CheckTally) -> None:
    """Write the trips that pass, reject the others, and count all."""
    with io.open_shards("checked") as checked:
        for shard in io.parts("annotated"):
            with checked.open() as writer:
                for frame in shard:
                    passed = []
                    for rows in _slices([frame]):
                        batch = next(found)
                        for one in batch:
                            tally.add(one)
                        io.reject(_rejections(batch))
                        passed.append(_passed(rows, batch))
                    # At once: a slice is written as slowly as all it was cut from.
                    if passed:
                        writer.write(pl.concat(passed))


def _passed(rows: pl.DataFrame, found: list[Inspected]) -> pl.DataFrame:
    """Return rows of `annotated_trip` as `checked_trip`, without those that a finding refuses."""
    lines = msgspec.json.Encoder().encode_lines(found)
    made = pl.read_ndjson(lines, schema=_FOUND_SCHEMA)
    passed = [refusal(one) is None for one in found]
    return rows.with_columns(made.select(_MADE_HERE)).filter(pl.Series(passed, dtype=pl.Boolean))


_SCHEMA = pl.Schema(arrow_schema("checked_trip"))
_FOUND_SCHEMA = {name: _SCHEMA[name] for name in ("trip_id", *_MADE_HERE)}


def _rejections(found: list[Inspected]) -> pl.DataFrame:
    """Return the rejections among some trips: the rule, and all that speaks against the trip."""
    rows = []
    for one in found:
        reason = refusal(one)
        if reason is None:
            continue
        against = [
            f"{finding.field}: {finding.rule}: {finding.detail}"
            for finding in one.findings
            if finding.action == "reject"
        ]
        rows.append((one.trip_id, STAGE, reason.rule, "; ".join(against)))
    columns = ("item_id", "stage", "reason", "detail")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
