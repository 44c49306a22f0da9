"""Stage 3: what no rule could settle goes to a verifier, a model or the stated rules.

    open claims of a trip: "dentist" (noun), "the Park" (name)
    ->  model: one request, two verdicts     rules: contradicted, unclear
    ->  settled(...): claims with verdicts; findings `not_borne_out` and `unverified`

A model is asked once a trip, through the same engines and ledger as the annotator. An answer that
is none, or that does not give one verdict for each statement, settles nothing: the claims stay
`unverified` and are counted, neither passed nor failed. The rules are no model and say `rules`: of
a thing the record does not show they hold that it is not there; of all else they say nothing.
Paper: 3.3 (LLM-based hallucination verification).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from pipeline.language.engines.settings import AskedModel, EngineSettings, model_id
from pipeline.language.outcome import first_ok
from pipeline.language.prompts import Prompt, files_hash, json_text
from pipeline.language.requests import Answer, Request, new_request
from pipeline.language.shown import shown_trip
from pipeline.quality.inspection import Inspected, in_stage_order
from pipeline.quality.rules import STAGE_OF, Policies, Rule
from pipeline.records import AnnotatedTrip, Claim, Finding, PlannedTrip

TASK = "verify"
# Raise it when `rules_verdict` changes what it says.
RULES_REVISION = "1"
# More statements of one trip are not asked about; they stay unverified.
MOST_STATEMENTS = 60
Verdict = Literal["supported", "contradicted", "unclear"]


class _Statement(NamedTuple):
    """A statement as the prompt shows it."""

    id: int
    kind: str
    words: str
    text: str


class _Told(msgspec.Struct, frozen=True):
    """One verdict of an answer."""

    id: int
    verdict: Verdict
    reason: str


def open_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims no rule settled, as many as one request may ask about."""
    return [claim for claim in claims if claim.verdict == "unverified"][:MOST_STATEMENTS]


class VerifyRequests:
    """Makes the request for a trip; what all requests share is read once."""

    def __init__(self, prompts: Path, asked: AskedModel[EngineSettings]) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/ of a project.
            asked: Who is asked.

        Raises:
            PromptError: A file is missing or broken.
        """
        self._prompt = Prompt(prompts / TASK, shared={})
        self.hash = files_hash(self._prompt.files)
        self.model, self._sampling = model_id(asked.engine), asked.sampling

    def request(self, trip: AnnotatedTrip, found: Inspected) -> Request:
        """Return the request about a trip's open claims; it must have some."""
        texts: dict[str, str] = msgspec.structs.asdict(found.texts)
        statements = [
            _Statement(number, claim.kind, claim.text, texts[claim.field])
            for number, claim in enumerate(open_claims(found.claims), 1)
        ]
        shown = shown_trip(
            PlannedTrip(trip.trip_id, trip.meta, trip.phases, trip.places, trip.intents)
        )
        values = {"record_json": json_text(shown), "statements": statements}
        messages = (self._prompt.system, self._prompt.user(trip.trip_id, values))
        return new_request(
            trip.trip_id,
            task=TASK,
            messages=messages,
            schema=self._prompt.schema,
            model=self.model,
            sampling=self._sampling,
        )


def verdicts_of(attempts: Sequence[Answer], count: int) -> list[Verdict] | None:
    """Return the verdicts of a request's answer, one for each statement, in their order.

    None where there is no answer, or it does not give each number exactly once.
    """
    answer = first_ok(attempts)
    if answer is None:
        return None
    told = msgspec.convert(json.loads(answer.text)["verdicts"], list[_Told])
    by_number = {one.id: one.verdict for one in told}
    if len(told) != count or by_number.keys() != set(range(1, count + 1)):
        return None
    return [by_number[number] for number in range(1, count + 1)]


def rules_verdict(claim: Claim) -> Verdict:
    """Return what the rules make of an open claim.

    The record is all that is true: a thing it does not show is not there. What may be of something
    else (a wait, a meeting), winds, or only has a capital stays unclear.
    """
    return "contradicted" if claim.kind == "noun" else "unclear"


def settled(
    found: Inspected, verdicts: Sequence[Verdict] | None, *, by: str, policies: Policies
) -> Inspected:
    """Return a trip with its open claims settled as far as the verdicts go.

    Args:
        found: The trip as the rules left it.
        verdicts: One for each of its open claims; None where there is no answer.
        by: Who gave them, for the record: `rules` or a model's name.
        policies: What follows from each rule.
    """
    waiting: Iterator[Verdict] = iter(verdicts or ())
    claims, findings = [], []
    for claim in found.claims:
        if claim.verdict != "unverified":
            claims.append(claim)
            continue
        verdict = next(waiting, None)
        settles = verdict is not None and verdict != "unclear"
        now = replace(claim, verdict=verdict, method=f"verifier {by}") if settles else claim
        claims.append(now)
        if verdict != "supported":
            rule = Rule.NOT_BORNE_OUT if settles else Rule.UNVERIFIED
            detail = f"{by}: {(claim.expected if settles else verdict) or 'no answer'}"
            detail = f"{claim.kind} {claim.text!r}; {detail}"
            findings.append(_finding(claim, rule, detail, policies))
    findings = [*found.findings, *findings]
    return replace(found, claims=claims, findings=in_stage_order(findings))


def _finding(claim: Claim, rule: Rule, detail: str, policies: Policies) -> Finding:
    stage, action = STAGE_OF[rule], policies.action(rule)
    return Finding(claim.field, stage, rule.value, claim.start, claim.end, detail, action)
