"""One trip's texts through the stages that need no other trip: 1 grounding, 2 terminology, 5 marks.

    inspector = Inspector(names, policies, wording=limits)
    inspector.inspect(trip)
    ->  Inspected(texts mended, mentions, claims, repairs, findings), the words of each text

A text is mended first, rule by rule, and each repair is checked: every known name must still be
there, as it was, or the repair is taken back and the text refused. What is judged and put on record
is the mended text. Stage 3 settles what stays `unverified`, stage 4 looks at all trips together.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from pipeline.language.prompts import nfc
from pipeline.language.vocabulary import vocabulary
from pipeline.quality.claims import ClaimChecker
from pipeline.quality.claims_nouns import NounClaims, read_nouns
from pipeline.quality.evidence import Evidence, EvidenceReader
from pipeline.quality.gazetteer import Gazetteer
from pipeline.quality.grounding import Grounded, Grounder
from pipeline.quality.order import ORDER_WORDS
from pipeline.quality.punctuation import PUNCTUATION_RULES, faults, may_be_at_fault, mend
from pipeline.quality.reading import (
    FOREIGN,
    HINT_ORDER,
    HINT_TERM,
    LETTERS,
    STREET,
    Lexicon,
    Reading,
)
from pipeline.quality.rules import STAGE_OF, STAGES, Hit, Policies, Rule
from pipeline.quality.spans import Span, is_free, spans_of
from pipeline.quality.tables import TABLES, word_tables
from pipeline.quality.terminology import Terminology, read_terms
from pipeline.quality.unrecorded import unrecorded
from pipeline.quality.wording import Wording, whole_text
from pipeline.records import (
    AnnotatedTrip,
    Claim,
    Finding,
    Mention,
    PlannedTrip,
    Repair,
    Texts,
)

FIELDS = Texts.__struct_fields__
# A rule is applied again while it changes something; a text that needs more is refused.
_MOST_ROUNDS = 8
# A text with words, all of them in Latin letters, has the second of these flags and not the first.
_PLAIN = FOREIGN | LETTERS

_Finder = Callable[[str, Reading, Sequence[Span]], list[Hit]]
_Mender = Callable[[str, Sequence[Span]], str]


class InspectedText(msgspec.Struct, frozen=True, gc=False):
    """One text as it is after repairs, and what was found in it."""

    reading: Reading
    mentions: list[Mention]
    claims: list[Claim]
    repairs: list[Repair]
    findings: list[Finding]


class Inspected(msgspec.Struct, frozen=True):
    """A trip's texts after repairs, and what was found in them.

    Attributes:
        trip_id: The trip.
        texts: The seven texts, mended.
        mentions: Every name in them.
        claims: Every statement on direction, time, length and things.
        repairs: What was mended, in order.
        findings: What rules found.
    """

    trip_id: str
    texts: Texts
    mentions: list[Mention]
    claims: list[Claim]
    repairs: list[Repair]
    findings: list[Finding]

    @property
    def rejected(self) -> bool:
        """Tell whether some finding refuses the trip."""
        return any(finding.action == "reject" for finding in self.findings)


class Inspector:
    """Inspects the texts of one city's trips.

    Attributes:
        names: The city's names.
        lexicon: Every word met so far.
    """

    def __init__(self, names: Gazetteer, policies: Policies, *, wording: Wording) -> None:
        """Read the tables and prepare the city.

        Args:
            names: The city's names.
            policies: What follows from each rule.
            wording: Limits of texts as a whole.

        Raises:
            ParameterError: A table is missing or broken.
        """
        tables, words = word_tables(), vocabulary()
        nouns = NounClaims(read_nouns(TABLES / "nouns.yaml", words), tables, words)
        self.names, self._policies = names, policies
        self._terms = Terminology(read_terms(TABLES / "terms.yaml"), tables)
        self._claims = ClaimChecker(nouns)
        self._grounder = Grounder(names, tables)
        self._unrecorded = unrecorded()
        self._longest = {field: wording.longest.of(field) for field in FIELDS}
        self._most_foreign_share = wording.most_foreign_share
        self._reader = EvidenceReader(names)
        hints = dict(self._claims.hints)
        for word, flag in (
            *self._terms.hints.items(),
            *dict.fromkeys(ORDER_WORDS, HINT_ORDER).items(),
            *dict.fromkeys(self._grounder.finder.street_words, STREET).items(),
        ):
            hints[word] = hints.get(word, 0) | flag
        endings = self._grounder.finder.street_endings
        self.lexicon = Lexicon(tables, heads=names.heads, hints=hints, street_endings=endings)

    def evidence(self, trip: PlannedTrip | AnnotatedTrip) -> Evidence:
        """Return what a trip's own record shows.

        Raises:
            ContractError: It has a name that the city's tables have not.
        """
        return self._reader.read(trip)

    def inspect(self, trip: AnnotatedTrip) -> tuple[Inspected, list[Reading]]:
        """Inspect the seven texts of a trip.

        Returns:
            What was found, and the words of each text as it is after repairs.

        Raises:
            ContractError: Its record has a name that the city's tables have not.
        """
        evidence = self._reader.read(trip)
        readings: list[Reading] = []
        mentions: list[Mention] = []
        claims: list[Claim] = []
        repairs: list[Repair] = []
        findings: list[Finding] = []
        for field in FIELDS:
            found = self.inspect_text(field, getattr(trip.texts, field), evidence)
            readings.append(found.reading)
            mentions += found.mentions
            claims += found.claims
            repairs += found.repairs
            findings += found.findings
        texts = Texts(*(reading.text for reading in readings))
        findings = in_stage_order(findings) if findings else findings
        return Inspected(trip.trip_id, texts, mentions, claims, repairs, findings), readings

    def inspect_text(self, field: str, text: str, evidence: Evidence) -> InspectedText:
        """Inspect one text of a trip.

        Args:
            field: Which of the seven texts it is.
            text: The text.
            evidence: The trip's own record.
        """
        text = text if text.isascii() else nfc(text)
        reading = self.lexicon.read(text)
        grounded = self._grounder.ground(reading, evidence, field=field)
        repairs: list[Repair] = []
        findings: list[Finding] = []
        if reading.flags & HINT_TERM or may_be_at_fault(reading, grounded.mentions):
            mending = _Mending(self, field, evidence, reading, grounded)
            mending.run(self._policies)
            reading, grounded = mending.reading, mending.grounded
            repairs, findings = mending.repairs, mending.findings
        claimed = self._claims.check(reading, evidence, grounded.mentions, field=field)
        claims = claimed.claims
        if grounded.doubtful:
            claims = [
                *claims,
                *(_doubtful(field, reading.text, span) for span in grounded.doubtful),
            ]
        hits = [
            *grounded.hits,
            *claimed.hits,
            *self._unrecorded.hits(reading, grounded.mentions, field=field),
        ]
        longest = self._longest[field]
        if reading.flags & _PLAIN != LETTERS or len(reading.text) > longest:
            hits += whole_text(
                reading,
                grounded.mentions,
                longest=longest,
                most_foreign_share=self._most_foreign_share,
            )
        if hits:
            findings = [*(self.finding(field, hit) for hit in hits), *findings]
        return InspectedText(reading, grounded.mentions, claims, repairs, findings)

    def finding(self, field: str, hit: Hit) -> Finding:
        """Return a hit as a finding; what was to be mended and could not be is refused."""
        action = self._policies.action(hit.rule)
        action = "reject" if action == "repair" else action
        return Finding(
            field, STAGE_OF[hit.rule], hit.rule.value, hit.start, hit.end, hit.detail, action
        )

    def ground(self, text: str, field: str, evidence: Evidence) -> tuple[Reading, Grounded]:
        """Read a text and ground its names."""
        reading = self.lexicon.read(text)
        return reading, self._grounder.ground(reading, evidence, field=field)

    def menders(self) -> list[tuple[Rule, _Finder, _Mender | None]]:
        """Return the rules on words and marks: what finds faults, and what mends them if it can."""
        terms = self._terms
        return [
            (Rule.LABEL, lambda text, _, names: terms.labels(text, names), terms.mend_labels),
            (Rule.PIPELINE_WORD, lambda _, read, names: terms.pipeline_words(read, names), None),
            *((rule, _finder(rule), partial(mend, rule)) for rule in PUNCTUATION_RULES),
        ]


def _finder(rule: Rule) -> _Finder:
    return lambda text, _, names: faults(rule, text, names)


class _Mending:
    """The repair of one text: as it stands by now, and what was done to it."""

    def __init__(
        self,
        inspector: Inspector,
        field: str,
        evidence: Evidence,
        reading: Reading,
        grounded: Grounded,
    ) -> None:
        self._inspector, self._field, self._evidence = inspector, field, evidence
        self.reading, self.grounded = reading, grounded
        self.repairs: list[Repair] = []
        self.findings: list[Finding] = []

    def run(self, policies: Policies) -> None:
        """Mend what may be mended until nothing changes, then tell what is left."""
        menders = self._inspector.menders()
        taken_back: set[Rule] = set()
        for _ in range(_MOST_ROUNDS):
            before = self.reading.text
            for rule, find, mender in menders:
                if mender is None or policies.action(rule) != "repair" or rule in taken_back:
                    continue
                hits = self._hits(find)
                if hits and not self._repair(rule, hits, mender):
                    taken_back.add(rule)
                    self._tell_unsafe(rule, hits[0], policies)
            if self.reading.text == before:
                break
        for rule, find, _ in menders:
            hits = self._hits(find)
            self.findings += [self._inspector.finding(self._field, hit) for hit in hits]
            if hits and rule is Rule.LABEL:
                self._forget_names([(hit.start, hit.end) for hit in hits])

    def _hits(self, find: _Finder) -> list[Hit]:
        return find(self.reading.text, self.reading, spans_of(self.grounded.mentions))

    def _repair(self, rule: Rule, hits: list[Hit], mender: _Mender) -> bool:
        """Apply a rule as often as it changes something; tell whether all names are as before."""
        before, kept = self.reading.text, (self.reading, self.grounded)
        for _ in range(_MOST_ROUNDS):
            mended = mender(self.reading.text, spans_of(self.grounded.mentions))
            if mended == self.reading.text:
                break
            self.reading, self.grounded = self._inspector.ground(
                mended, self._field, self._evidence
            )
        after, stage = self.reading.text, STAGE_OF[rule]
        gained = rule is Rule.INVISIBLE
        if not after or not _are_kept(kept[1], self.grounded, may_gain=gained):
            self.reading, self.grounded = kept
            return False
        if after != before:
            self.repairs.append(Repair(self._field, stage, rule.value, before, after))
            self.findings += [
                Finding(self._field, stage, rule.value, hit.start, hit.end, hit.detail, "repair")
                for hit in hits
            ]
        return True

    def _tell_unsafe(self, rule: Rule, hit: Hit, policies: Policies) -> None:
        unsafe = Rule.UNSAFE_REPAIR
        detail = f"{rule.value}: mending it would change a name or leave nothing"
        self.findings.append(
            Finding(
                self._field,
                STAGE_OF[rule],
                unsafe.value,
                hit.start,
                hit.end,
                detail,
                policies.action(unsafe),
            )
        )

    def _forget_names(self, labels: list[Span]) -> None:
        """Leave out unknown names that are labels: they are refused or flagged as such."""
        found = self.grounded
        mentions = [
            one
            for one in found.mentions
            if one.verdict != "invented" or is_free((one.start, one.end), labels)
        ]
        hits = [hit for hit in found.hits if is_free((hit.start, hit.end), labels)]
        doubtful = [span for span in found.doubtful if is_free(span, labels)]
        self.grounded = Grounded(mentions, hits, doubtful)


def _names(grounded: Grounded) -> list[tuple[str, str, str]]:
    """Return the known names of a text as they stand, with their verdicts."""
    return [
        (one.text, one.name, one.verdict) for one in grounded.mentions if one.verdict != "invented"
    ]


def _are_kept(before: Grounded, after: Grounded, *, may_gain: bool) -> bool:
    """Tell whether a repair leaves every known name of a text as it was, in the same order.

    Args:
        before: The text as it was.
        after: The text mended.
        may_gain: Whether names of the trip may show that a character nobody sees had parted.
    """
    old, new = _names(before), _names(after)
    if old == new or not may_gain:
        return old == new
    left = iter(old)
    following = next(left, None)
    for one in new:
        if one == following:
            following = next(left, None)
        elif one[2] != "grounded":
            return False
    return following is None


def _doubtful(field: str, text: str, span: Span) -> Claim:
    start, end = span
    first = text[start]
    method = "number" if first.isdigit() else ("capital" if first.isupper() else "script")
    return Claim(field, start, end, text[start:end], "name", "unverified", None, "", method)


_STAGE_NUMBER = {stage: number for number, stage in enumerate(STAGES)}
_FIELD_NUMBER = {field: number for number, field in enumerate(FIELDS)}


def in_stage_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by stage, then text, then place; the first that refuses is the reason."""
    return sorted(
        findings,
        key=lambda one: (_STAGE_NUMBER[one.stage], _FIELD_NUMBER[one.field], one.start, one.rule),
    )
