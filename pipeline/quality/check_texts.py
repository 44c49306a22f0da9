"""Check the texts of every annotated trip: the five stages of quality control (paper 3.3).

    annotated trip 1626278, seven texts
    ->  checked trip 1626278: texts mended, every name and claim with its evidence, findings
        or the rejection `off_route_name`: retrieval_query_2 "Café Sul": in the city, not on ...

1 grounding, 2 terminology, 3 verification, 4 diversity, 5 punctuation. A trip is refused if a
finding of any stage says `reject`, for the first of them in the order of stages. Each trip is
looked at twice, which costs less than keeping what was found: once for what is compared among all
trips, once to write. Diversity counts only trips that no other stage refuses.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from pipeline.keys import Seed, Text
from pipeline.language.asked import Asking
from pipeline.language.outcome import responses_frame
from pipeline.language.prompts import PROMPTS
from pipeline.quality.check_report import CheckTally, refusal
from pipeline.quality.diversity import DiversitySettings, Excess, Survey
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.gazetteer import Gazetteer, gazetteer_of
from pipeline.quality.inspection import Inspected, Inspector, in_stage_order
from pipeline.quality.rule_labels import LABELS, read_labels
from pipeline.quality.rules import Policies
from pipeline.quality.tables import word_tables
from pipeline.quality.verifying import Pair, Verifier, verifier_for
from pipeline.quality.wording import Wording
from pipeline.records import AnnotatedTrip
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO

STAGE = "check"
# Trips in memory as records at a time; more make them slow, as the collector walks over them all.
TRIPS_AT_A_TIME = 64
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
    verify: ExaminerSettings


def city_names(
    name: str, *, roads: pl.DataFrame, road_cells: pl.DataFrame, cells: pl.DataFrame
) -> Gazetteer:
    """Return the names of a city as its tables hold them; see `gazetteer_of`."""
    return gazetteer_of(name, roads=roads, road_cells=road_cells, cells=cells, tables=word_tables())


def run(io: StageIO, *, check: CheckSettings, seed: Seed, name: Text, city: str) -> None:
    """Check every annotated trip of a city."""
    inspector = _inspector(io, name, check)
    with verifier_for(check.verify, io, check.rules, prompts=PROMPTS) as verifier:
        verifier.ask(lambda: _pairs(io, inspector), desc=f"verify {city}")
        excess = _surveyed(io, inspector, verifier, Survey(check.diversity, seed=seed))
        verifier.figures()  # counted once more while writing
        tally = CheckTally(check.rules, read_labels(LABELS / f"{city}.jsonl"))
        with io.open_shards("checked") as checked, io.open_shards("verify_responses") as responses:
            checking = _Checking(io, excess, check.rules, tally)
            for shard in io.parts("annotated"):
                with checked.open() as passed, responses.open() as attempts:
                    for frame in shard:
                        for part in frame.iter_slices(TRIPS_AT_A_TIME):
                            good, every = checking.checked(part, verifier, inspector)
                            passed.write(good)
                            attempts.write(every)
        figures = {"city": city, "verifier": verifier.figures(), **tally.figures()}
    io.write_json("check_metrics", figures | {"styles": excess.figures})
    tally.rules_plot().write_csv(io.path("check_rules_plot"))
    tally.names_plot().write_csv(io.path("check_names_plot"))


def asking(io: StageIO, *, prompts: Path, check: CheckSettings, name: Text) -> Iterator[Asking]:
    """Yield what the stage asks: a verifier, about what no rule can settle."""
    verifier = verifier_for(check.verify, io, check.rules, prompts=prompts)
    yield verifier.asking(lambda: _pairs(io, _inspector(io, name, check)))


def _inspector(io: StageIO, name: Text, check: CheckSettings) -> Inspector:
    names = city_names(
        name, roads=io.read("roads"), road_cells=io.read("road_cells"), cells=io.read("cells")
    )
    return Inspector(names, check.rules, wording=check.wording)


def _pairs(io: StageIO, inspector: Inspector) -> Iterator[Pair]:
    """Yield every annotated trip with what the rules find in it."""
    for frame in io.batches("annotated"):
        for part in frame.iter_slices(TRIPS_AT_A_TIME):
            yield from inspected(part, inspector)


def inspected(part: pl.DataFrame, inspector: Inspector) -> list[Pair]:
    """Return the trips of some rows of `annotated_trip`, each with what the rules find in it.

    Raises:
        ContractError: A trip has a name that the city's tables have not.
    """
    # By way of JSON: twice as fast as by Python's own values.
    trips = msgspec.json.Decoder(AnnotatedTrip).decode_lines(part.write_ndjson())
    return [(trip, inspector.inspect(trip)) for trip in trips]


def _surveyed(io: StageIO, inspector: Inspector, verifier: Verifier, survey: Survey) -> Excess:
    """Return what lies beyond the quotas, among the trips that nothing else refuses."""
    for frame in io.progress(io.batches("annotated"), None, "batch", "compare"):
        for part in frame.iter_slices(TRIPS_AT_A_TIME):
            found, _ = verifier.settle(inspected(part, inspector))
            for one in found:
                if not one.rejected:
                    survey.add(one)
    return survey.excess()


class _Checking:
    """Checks trips with what is known of all, rejects those that do not pass, and counts."""

    def __init__(self, io: StageIO, excess: Excess, policies: Policies, tally: CheckTally) -> None:
        self._io, self._excess, self._policies, self._tally = io, excess, policies, tally

    def checked(
        self, part: pl.DataFrame, verifier: Verifier, inspector: Inspector
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Check some annotated trips.

        Returns:
            Those that no finding refuses, and every attempt made for any of them, in the order
            given.
        """
        settled, attempts = verifier.settle(inspected(part, inspector))
        found = [self._complete(one) for one in settled]
        for one in found:
            self._tally.add(one)
        passed = [refusal(one) is None for one in found]
        made = pl.DataFrame(
            msgspec.to_builtins(
                [{name: getattr(one, name) for name in _MADE_HERE} for one in found]
            ),
            schema={name: _SCHEMA[name] for name in _MADE_HERE},
        )
        self._io.reject(_rejections(found))
        good = part.with_columns(made).filter(pl.Series(passed, dtype=pl.Boolean))
        return good, responses_frame(attempts)

    def _complete(self, found: Inspected) -> Inspected:
        if found.trip_id in self._excess.by_trip:
            added = self._excess.findings(found, self._policies)
            return found._replace(findings=in_stage_order([*found.findings, *added]))
        return found


_SCHEMA = pl.Schema(arrow_schema("checked_trip"))


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
