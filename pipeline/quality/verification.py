"""Stage 3: what no rule could settle goes to a verifier, a model or the stated rules.

    open claims of a trip: "dentist" (noun), "the Park" (name)
    ->  model: one request, two verdicts     rules: contradicted, unclear
    ->  settled(...): claims with verdicts; findings `not_borne_out` and `unverified`

    asked about whole texts, a model also lists what no pattern saw: "at 90 km/h", "past palm trees"
    ->  with_listed(...): claims of kind `statement`; findings `not_borne_out` and `unsupported`

A model is asked once a trip, through the same engines and ledger as the annotator. An answer that
is none, that does not give one verdict for each statement, or that lists words which do not stand
in the text it names, settles nothing: the claims stay `unverified` and are counted, neither passed
nor failed. The rules are no model and say `rules`: of a thing the record does not show they hold
that it is not there; of all else they say nothing.
Paper: 3.3 (LLM-based hallucination verification).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from pipeline.language.engines.settings import AskedModel, EngineSettings, model_id
from pipeline.language.outcome import first_ok, json_in
from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, Request, new_request
from pipeline.language.shown import shown_trip
from pipeline.quality.examiner import Asks
from pipeline.quality.folding import folded_words
from pipeline.quality.inspection import FIELDS, Inspected, in_stage_order
from pipeline.quality.rules import STAGE_OF, Policies, Rule
from pipeline.records import AnnotatedTrip, Claim, Finding, Mention, PlannedTrip

TASK = "verify"
# Raise it when `rules_verdict` changes what it says.
RULES_REVISION = "1"
# More statements of one trip are not asked about; they stay unverified.
MOST_STATEMENTS = 60
# Kind of a claim that a model listed.
STATEMENT = "statement"
# Folder below prompts/.
_FOLDER: dict[Asks, str] = {"open_claims": "verify", "whole_texts": "verify_texts"}
# Words that make no other statement of what stands beside them: "past a dentist", "dentist".
_SMALL = frozenset(folded_words("a an the at by from in near of on past through to via with"))
Verdict = Literal["supported", "contradicted", "unclear"]


class _Statement(NamedTuple):
    """A statement as the prompt shows it."""

    id: int
    kind: str
    field: str
    words: str
    text: str


class _Told(msgspec.Struct, frozen=True):
    """One verdict of an answer."""

    id: int
    verdict: Verdict
    reason: str


class _Listed(msgspec.Struct, frozen=True):
    """A statement that an answer lists on its own account."""

    field: str
    words: str
    reason: str
    verdict: Literal["contradicted", "unsupported"]


class _Answered(msgspec.Struct, frozen=True):
    """An answer; `further` is there where whole texts were asked about."""

    verdicts: list[_Told]
    further: list[_Listed] = []


class Said(NamedTuple):
    """What an answer says of a trip.

    Attributes:
        verdicts: One for each open claim, in their order.
        listed: Further statements, as claims: false ones `contradicted`, and those that the record
            does not show `unverified`.
    """

    verdicts: list[Verdict]
    listed: list[Claim]


def open_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims no rule settled, as many as one request may ask about."""
    return [claim for claim in claims if claim.verdict == "unverified"][:MOST_STATEMENTS]


class VerifyRequests:
    """Makes the request for a trip; what all requests share is read once."""

    def __init__(self, prompts: Path, asked: AskedModel[EngineSettings], *, asks: Asks) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/ of a project.
            asked: Who is asked.
            asks: What about.

        Raises:
            PromptError: A file is missing or broken.
        """
        self.asks = asks
        self._prompt = Prompt(prompts / _FOLDER[asks], shared={})
        self.hash = files_hash(self._prompt.files)
        self.model, self._sampling = model_id(asked.engine), asked.sampling

    def concerns(self, found: Inspected) -> bool:
        """Tell whether a trip is asked about: none that a rule refuses already."""
        if found.rejected:
            return False
        return self.asks == "whole_texts" or bool(open_claims(found.claims))

    def request(self, trip: AnnotatedTrip, found: Inspected) -> Request:
        """Return the request about a trip that it `concerns`."""
        texts: dict[str, str] = msgspec.structs.asdict(found.texts)
        statements = [
            _Statement(number, claim.kind, claim.field, claim.text, texts[claim.field])
            for number, claim in enumerate(open_claims(found.claims), 1)
        ]
        shown = shown_trip(
            PlannedTrip(trip.trip_id, trip.meta, trip.phases, trip.places, trip.intents)
        )
        values = {"record_json": json_text(shown), "statements": statements, "texts": texts}
        messages = (self._prompt.system, self._prompt.user(trip.trip_id, values))
        return new_request(
            trip.trip_id,
            task=TASK,
            messages=messages,
            schema=self._prompt.schema,
            model=self.model,
            sampling=self._sampling,
        )


def said_of(found: Inspected, attempts: Sequence[Answer], *, by: str) -> Said | None:
    """Return what the answer to a request says of a trip.

    None where there is no answer, it does not give the number of each open claim exactly once, or
    words it lists do not stand in the text it names. What only repeats a claim or a known name is
    left out: that is settled elsewhere, with better means.

    Args:
        found: The trip as the rules left it.
        attempts: The attempts of its request.
        by: The model's name, for the record.
    """
    answer = first_ok(attempts)
    if answer is None:
        return None
    # JSON Schema takes 1.0 for a whole number, hence not strict.
    told = msgspec.json.decode(json_in(answer.text), type=_Answered, strict=False)
    by_number = {one.id: one.verdict for one in told.verdicts}
    count = len(open_claims(found.claims))
    if len(told.verdicts) != count or by_number.keys() != set(range(1, count + 1)):
        return None
    listed: dict[tuple[str, int, int], Claim] = {}
    for one in told.further:
        claim = _claim_of(one, getattr(found.texts, one.field), by)
        if claim is None:
            return None
        if not _repeats(claim, found):
            listed.setdefault((claim.field, claim.start, claim.end), claim)
    return Said([by_number[number] for number in range(1, count + 1)], list(listed.values()))


def _claim_of(listed: _Listed, text: str, by: str) -> Claim | None:
    words = nfc(listed.words).strip()
    start = _place_of(words, text)
    if start is None:
        return None
    verdict: Literal["contradicted", "unverified"] = (
        "contradicted" if listed.verdict == "contradicted" else "unverified"
    )
    end = start + len(words)
    method, reason = f"verifier {by}", nfc(listed.reason)
    return Claim(listed.field, start, end, words, STATEMENT, verdict, None, reason, method)


def _place_of(words: str, text: str) -> int | None:
    """Return where words first stand in a text, beginning and ending no word within; else None."""
    start = text.find(words) if words else -1
    while start >= 0:
        before, after = text[:start][-1:], text[start + len(words) :][:1]
        if not (_joined(before, words[0]) or _joined(words[-1], after)):
            return start
        start = text.find(words, start + 1)
    return None


def _joined(one: str, other: str) -> bool:
    return one.isalnum() and other.isalnum()


def _repeats(claim: Claim, found: Inspected) -> bool:
    """Tell whether a statement is a claim or a known name of the text, or a part of one."""
    known: list[Claim | Mention] = [
        *found.claims,
        *(mention for mention in found.mentions if mention.verdict != "invented"),
    ]
    text: str = getattr(found.texts, claim.field)
    for one in known:
        if one.field != claim.field or one.end <= claim.start or claim.end <= one.start:
            continue
        beyond = f"{text[claim.start : one.start]} {text[one.end : claim.end]}"
        if _SMALL.issuperset(folded_words(beyond)):
            return True
    return False


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


def with_listed(
    found: Inspected, listed: Sequence[Claim], *, by: str, policies: Policies
) -> Inspected:
    """Return a trip with the statements that a model listed.

    Args:
        found: The trip, its open claims settled.
        listed: As `said_of` gives them.
        by: The model's name.
        policies: What follows from each rule.
    """
    ordered = sorted(listed, key=_place)
    findings = [
        _finding(
            claim,
            Rule.NOT_BORNE_OUT if claim.verdict == "contradicted" else Rule.UNSUPPORTED,
            f"{STATEMENT} {claim.text!r}; {by}: {claim.expected}",
            policies,
        )
        for claim in ordered
    ]
    findings = [*found.findings, *findings]
    claims = sorted([*found.claims, *ordered], key=_place)
    return replace(found, claims=claims, findings=in_stage_order(findings))


def _place(claim: Claim) -> tuple[int, int, int]:
    return FIELDS.index(claim.field), claim.start, claim.end


def _finding(claim: Claim, rule: Rule, detail: str, policies: Policies) -> Finding:
    stage, action = STAGE_OF[rule], policies.action(rule)
    return Finding(claim.field, stage, rule.value, claim.start, claim.end, detail, action)
