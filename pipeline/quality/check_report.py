"""Put a city's quality control into numbers: names, claims, repairs and the table of rules.

    tally = CheckTally(policies, labels)
    tally.add(inspected)              # each trip, refused or not
    tally.figures()["rules"]          ->  [{"rule": "invented_name", "trips": 12, ...}, ...]
    precision_and_recall(found, expected)  ->  {"invented_name": Score(38, 1, 0), ...}

The table follows the habit of weak supervision: how many trips a rule speaks of (coverage), how
many of those another rule speaks of too (overlap), and how often two rules want different things of
the same words (conflict). Precision stands where people have labelled findings.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from pipeline.quality.inspection import Inspected
from pipeline.quality.rule_labels import Labels
from pipeline.quality.rules import STAGE_OF, Policies, Rule
from pipeline.records import Finding

_VERDICTS = ("grounded", "off_route", "invented")
_CLAIM_VERDICTS = ("supported", "contradicted", "unverified")


class CheckTally:
    """Counts over checked and refused trips; holds counts, no texts."""

    def __init__(self, policies: Policies, labels: Labels) -> None:
        """Begin with no trips.

        Args:
            policies: What follows from each rule.
            labels: What people say of findings.
        """
        self._policies, self._labels = policies, labels
        self._judged: Counter[tuple[str, bool]] = Counter()
        self._trips = self._refused = 0
        self._refused_by: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._names: Counter[tuple[str, str]] = Counter()
        self._methods: Counter[str] = Counter()
        self._claims: Counter[tuple[str, str]] = Counter()
        self._findings: Counter[str] = Counter()
        self._hit: Counter[str] = Counter()
        self._overlaps: Counter[str] = Counter()
        self._conflicts: Counter[str] = Counter()

    def add(self, found: Inspected) -> None:
        """Count one trip."""
        self._trips += 1
        reason = refusal(found)
        if reason is not None:
            self._refused += 1
            self._refused_by[reason.rule] += 1
        self._repairs.update(repair.rule for repair in found.repairs)
        for mention in found.mentions:
            self._names[mention.field, mention.verdict] += 1
            self._methods[mention.method] += 1
        self._claims.update((claim.kind, claim.verdict) for claim in found.claims)
        if found.findings:
            self._count_rules(found.findings)
            for field, rule in {(finding.field, finding.rule) for finding in found.findings}:
                right = self._labels.get((found.trip_id, field, rule))
                if right is not None:
                    self._judged[rule, right] += 1

    def _count_rules(self, findings: list[Finding]) -> None:
        self._findings.update(finding.rule for finding in findings)
        rules = {finding.rule for finding in findings}
        self._hit.update(rules)
        if len(rules) > 1:
            self._overlaps.update(rules)
        self._conflicts.update(_conflicting(findings))

    def figures(self) -> dict[str, Any]:
        """Return the counts; shares are null where there is nothing to share."""
        names = Counter[str]()
        for (_, verdict), count in self._names.items():
            names[verdict] += count
        return {
            "trips": self._trips,
            "passed": self._trips - self._refused,
            "rejected": self._refused,
            "rejected_by_rule": dict(sorted(self._refused_by.items())),
            "repairs": dict(sorted(self._repairs.items())),
            "names": {verdict: names[verdict] for verdict in _VERDICTS},
            "names_grounded_share": _share(names["grounded"], names.total()),
            "names_by_method": dict(sorted(self._methods.items())),
            "claims": [
                {"kind": kind, **{v: self._claims[kind, v] for v in _CLAIM_VERDICTS}}
                for kind in sorted({kind for kind, _ in self._claims})
            ],
            "rules": [self._rule(rule) for rule in Rule],
        }

    def _rule(self, rule: Rule) -> dict[str, Any]:
        trips = self._hit[rule]
        judged = self._judged[rule, True] + self._judged[rule, False]
        return {
            "rule": rule.value,
            "stage": STAGE_OF[rule],
            "action": self._policies.action(rule),
            "findings": self._findings[rule],
            "trips": trips,
            "coverage": _share(trips, self._trips),
            "overlap": _share(self._overlaps[rule], trips),
            "conflict": _share(self._conflicts[rule], trips),
            "labelled": judged,
            "precision": _share(self._judged[rule, True], judged),
        }

    def rules_plot(self) -> pl.DataFrame:
        """Return how many trips each rule found something in: rule, trips; without the zeros."""
        rows = [(rule.value, self._hit[rule]) for rule in Rule if self._hit[rule]]
        return pl.DataFrame(rows, schema={"rule": pl.String, "trips": pl.Int64}, orient="row")

    def names_plot(self) -> pl.DataFrame:
        """Return how many names of each text have which verdict: field, verdict, names."""
        rows = [
            (field, verdict, self._names[field, verdict])
            for field in dict.fromkeys(field for field, _ in self._names)
            for verdict in _VERDICTS
        ]
        schema = {"field": pl.String, "verdict": pl.String, "names": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")


def refusal(found: Inspected) -> Finding | None:
    """Return the finding a trip is refused for, the first by stage; None where it passes."""
    return next((finding for finding in found.findings if finding.action == "reject"), None)


def _conflicting(findings: list[Finding]) -> set[str]:
    """Return the rules that want something else of some words than another rule."""
    conflicting = set()
    for number, one in enumerate(findings):
        for other in findings[number + 1 :]:
            if (
                one.action != other.action
                and one.rule != other.rule
                and one.field == other.field
                and one.start < other.end
                and other.start < one.end
            ):
                conflicting |= {one.rule, other.rule}
    return conflicting


class Score(NamedTuple):
    """How a rule did against labels.

    Attributes:
        right: Texts it was labelled for and found in.
        wrong: Texts it was found in without a label.
        missed: Texts it was labelled for and not found in.
    """

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Return the share of its findings that are right; None without any."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Return the share of labels it found; None without any."""
        return _share(self.right, self.right + self.missed)


def precision_and_recall(
    found: Mapping[str, Iterable[str]], labelled: Mapping[str, Iterable[str]]
) -> dict[str, Score]:
    """Hold the rules found in some texts against what people say should be found.

    Args:
        found: Rules by text.
        labelled: Rules by text, for the same texts.

    Returns:
        One score for each rule that was found or labelled anywhere.
    """
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for text, labels in labelled.items():
        rules, wanted = set(found[text]), set(labels)
        right.update(rules & wanted)
        wrong.update(rules - wanted)
        missed.update(wanted - rules)
    return {
        rule: Score(right[rule], wrong[rule], missed[rule])
        for rule in sorted(right.keys() | wrong.keys() | missed.keys())
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
