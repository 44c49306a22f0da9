"""The judge without a model: scores from what quality control found, by stated rules.

    judge = RulesJudge()
    judge.verdict(trip)
    ->  Scores(instructions_correctness=4, instructions_persona_fidelity=None, ...),
        Rationales(instructions="3 of 3 planned names said, 0 of 5 statements wrong, ...", ...)

It counts names, claims and shared words; it understands nothing. Where counting cannot tell (the
persona, texts that state nothing) a criterion stays unscored. Whatever it judges says `rules`,
never the name of a model. Bounds: judge_rules.yaml beside this file. Paper: Table 12.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from pipeline.keys import Text
from pipeline.language.areas import read_area
from pipeline.language.prompts import files_hash
from pipeline.params import document_of
from pipeline.records import CheckedTrip, Claim, Mention, Phase, Rationales, Scores, Target, Texts

TABLE = Path(__file__).with_suffix(".yaml")
# Raise it when the rules below change what they count.
RULES_VERSION = 1
_FIELDS = Texts.__struct_fields__
_INSTRUCTIONS, _QUERIES, _CAPTION = _FIELDS[:3], _FIELDS[3:6], _FIELDS[6]
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_DESTINATION = "1."  # the scenarios of the first dimension
_BEST, _WORST = 5, 1
_LONGEST = 500  # characters of a rationale, as for a model

Bounds = tuple[float, float, float, float]


class _Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rising bounds of each criterion that has a measure."""

    instructions_correctness: Bounds
    instructions_style_distinctness: Bounds
    queries_specificity: Bounds
    queries_accuracy: Bounds
    caption_comprehensiveness: Bounds
    caption_accuracy: Bounds

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            bounds = getattr(self, name)
            if list(bounds) != sorted(bounds):
                raise ValueError(f"{name}: expected rising bounds, found {list(bounds)}")


class _Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each fault takes from 5."""

    invented: Annotated[int, Meta(ge=0, le=4)]
    off_route: Annotated[int, Meta(ge=0, le=4)]
    contradicted: Annotated[int, Meta(ge=0, le=4)]
    subjective: Annotated[int, Meta(ge=0, le=4)]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of judge_rules.yaml."""

    bounds: _Bounds
    faults: _Faults
    subjective_words: list[Text]


class _Said:
    """What some texts state, and how much of it the evidence bears out or refutes.

    Attributes:
        names: The true names.
        facts: True names and supported claims, each once.
        right: Number of statements that are borne out.
        invented: Number of names that are nowhere in the city.
        off_route: Number of names that lie elsewhere in it.
        contradicted: Number of claims the phases refute.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.facts: set[tuple[str, str]] = set()
        self.right = self.invented = self.off_route = self.contradicted = 0

    def add_mention(self, mention: Mention) -> None:
        """Count a name."""
        if mention.verdict == "grounded":
            self.right += 1
            self.names.add(mention.name)
            self.facts.add(("name", mention.name))
        elif mention.verdict == "invented":
            self.invented += 1
        else:
            self.off_route += 1

    def add_claim(self, claim: Claim) -> None:
        """Count a claim; one that is unverified counts for nothing."""
        if claim.verdict == "supported":
            self.right += 1
            self.facts.add((claim.kind, claim.text.casefold()))
        elif claim.verdict == "contradicted":
            self.contradicted += 1

    def add(self, other: "_Said") -> None:
        """Count what another text states."""
        self.names |= other.names
        self.facts |= other.facts
        self.right += other.right
        self.invented += other.invented
        self.off_route += other.off_route
        self.contradicted += other.contradicted

    @property
    def wrong(self) -> int:
        """Return the number of statements that are refuted."""
        return self.invented + self.off_route + self.contradicted

    @property
    def checked(self) -> int:
        """Return the number of statements the evidence decides."""
        return self.right + self.wrong

    @property
    def truth(self) -> float:
        """Return the share of them that is right; 1 without any."""
        return self.right / self.checked if self.checked else 1.0

    def faults(self, weights: _Faults) -> int:
        """Return what the faults take from 5."""
        return (
            self.invented * weights.invented
            + self.off_route * weights.off_route
            + self.contradicted * weights.contradicted
        )


class _Measure(NamedTuple):
    """A score, if there is one, and why."""

    score: int | None
    why: str


class RulesJudge:
    """The rules with their table, read once.

    Attributes:
        revision: Version of rules and table together.
    """

    def __init__(self, table: Path = TABLE) -> None:
        """Read the table.

        Raises:
            ParameterError: A key is missing or unknown, or bounds do not rise.
        """
        read: _Table = document_of(table, _Table)
        self._bounds, self._faults = read.bounds, read.faults
        self._subjective = frozenset(read.subjective_words)
        self.revision = f"{RULES_VERSION}+table={files_hash([table])[:12]}"

    def verdict(self, trip: CheckedTrip) -> tuple[Scores, Rationales]:
        """Score a trip; criteria that counting cannot tell are null."""
        said = _said_by_text(trip)
        instructions = self._instructions(trip, [said[field] for field in _INSTRUCTIONS])
        queries = self._queries(trip, [said[field] for field in _QUERIES])
        caption = self._caption(trip, said[_CAPTION])
        given = [*instructions, *queries, *caption]
        return Scores(*(one.score for one in given)), Rationales(
            _sentence(instructions), _sentence(queries), _sentence(caption)
        )

    # ---- the three tasks ------------------------------------------------------------------------

    def _instructions(self, trip: CheckedTrip, each: Sequence[_Said]) -> tuple[_Measure, ...]:
        together = _together(each)
        named = [target for target in trip.intents.targets if target.names]
        shares = [_share_named(target, each) for target in named]
        distinct = 1 - _shared_words(trip)
        return (
            self._true_and_told(self._bounds.instructions_correctness, shares, together),
            self._nothing_invented(together),
            _Measure(None, "no rule hears a voice"),
            _Measure(
                _reached(self._bounds.instructions_style_distinctness, distinct),
                f"{distinct:.0%} of the words are an instruction's own",
            ),
        )

    def _queries(self, trip: CheckedTrip, each: Sequence[_Said]) -> tuple[_Measure, ...]:
        together = _together(each)
        facts = len(together.facts)
        shares = [
            _share_named(target, [said])
            for said, plan in zip(each, trip.intents.queries, strict=True)
            for target in plan.targets
            if target.names
        ]
        return (
            _Measure(
                _reached(self._bounds.queries_specificity, facts), f"{facts} different true facts"
            ),
            self._true_and_told(self._bounds.queries_accuracy, shares, together),
            self._nothing_invented(together),
        )

    def _caption(self, trip: CheckedTrip, said: _Said) -> tuple[_Measure, ...]:
        told = _share_told(trip, said)
        return (
            _Measure(
                _reached(self._bounds.caption_comprehensiveness, told),
                f"{told:.0%} of start, end and way told",
            ),
            self._true_and_in_order(trip, said),
            self._facts_alone(_words(_without_names(trip, _CAPTION))),
        )

    # ---- rules of more than one task ------------------------------------------------------------

    def _true_and_told(self, bounds: Bounds, shares: Sequence[float], said: _Said) -> _Measure:
        """Score what was planned and told, times what of all statements is true."""
        if not shares and not said.checked:
            return _Measure(None, "no name planned and nothing stated that can be checked")
        coverage = sum(shares) / len(shares) if shares else 1.0
        why = f"{said.wrong} of {said.checked} statements wrong"
        if shares:
            why = f"{coverage:.0%} of {len(shares)} planned names told, {why}"
        return _Measure(_reached(bounds, coverage * said.truth), why)

    def _true_and_in_order(self, trip: CheckedTrip, said: _Said) -> _Measure:
        """Score what of all statements is true, times what of the roads is in order."""
        if not said.checked:
            return _Measure(None, "nothing stated that can be checked")
        order = _share_in_order(trip)
        why = f"{said.wrong} of {said.checked} statements wrong, {order:.0%} of the roads in order"
        return _Measure(_reached(self._bounds.caption_accuracy, said.truth * order), why)

    def _facts_alone(self, words: Iterable[str]) -> _Measure:
        """Score the absence of words that facts do not need."""
        found = [word for word in words if word in self._subjective]
        why = f"subjective: {', '.join(found)}" if found else "no subjective word"
        return _Measure(max(_WORST, _BEST - len(found) * self._faults.subjective), why)

    def _nothing_invented(self, said: _Said) -> _Measure:
        """Score the absence of false names and refuted claims."""
        if not said.checked:
            return _Measure(None, "nothing stated that can be checked")
        faults = said.faults(self._faults)
        return _Measure(max(_WORST, _BEST - faults), f"faults that weigh {faults}")


def _reached(bounds: Bounds, value: float) -> int:
    """Return 1 and 1 more for each bound that is reached."""
    return _WORST + sum(value >= bound for bound in bounds)


def _sentence(measures: Iterable[_Measure]) -> str:
    return "; ".join(one.why for one in measures)[:_LONGEST]


def _said_by_text(trip: CheckedTrip) -> dict[str, _Said]:
    """Return what each of the seven texts states."""
    said = {field: _Said() for field in _FIELDS}
    for mention in trip.mentions:
        said[mention.field].add_mention(mention)
    for claim in trip.claims:
        said[claim.field].add_claim(claim)
    return said


def _together(each: Sequence[_Said]) -> _Said:
    """Return what several texts state together."""
    together = _Said()
    for one in each:
        together.add(one)
    return together


def _share_named(target: Target, texts: Sequence[_Said]) -> float:
    """Return how much of a target's names is told.

    The destination belongs into every text: the mean over the texts. Any other wish is told when
    one text tells it: the best of them.
    """
    shares = [sum(name in said.names for name in target.names) / len(target.names)
              for said in texts]  # fmt: skip
    return sum(shares) / len(shares) if target.scenario.startswith(_DESTINATION) else max(shares)


def _shared_words(trip: CheckedTrip) -> float:
    """Return the mean over the three pairs of instructions of the words they share.

    Of two texts, the number of shared words over that of the one with fewer: a text that is another
    one cut short shares all. Names are left out, as all three must hold them.
    """
    words = [set(_words(_without_names(trip, field))) for field in _INSTRUCTIONS]
    shares = [
        len(one & other) / min(len(one), len(other)) if one and other else 0.0
        for one, other in combinations(words, 2)
    ]
    return sum(shares) / len(shares)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _without_names(trip: CheckedTrip, field: str) -> str:
    """Return a text with each mention replaced by a space; mentions do not overlap."""
    text: str = getattr(trip.texts, field)
    parts, end = [], 0
    for start, after in sorted((one.start, one.end) for one in trip.mentions if one.field == field):
        parts.append(text[end:start])
        end = after
    return " ".join([*parts, text[end:]])


def _share_told(trip: CheckedTrip, said: _Said) -> float:
    """Return the mean of: start told, end told, share of the length on named roads that is told."""
    names = said.names
    numbers = {
        one.phase for one in trip.mentions if one.field == _CAPTION and one.verdict == "grounded"
    }

    def is_told(phase: Phase) -> bool:
        return phase.p in numbers or not names.isdisjoint(phase.road_names)

    def end_is_told(phase: Phase) -> bool:
        return is_told(phase) or read_area(phase.desc).district in names

    length = told = 0.0
    for phase in trip.phases:
        if phase.road_names:
            length += phase.length_m
            told += phase.length_m * is_told(phase)
    ends = [float(end_is_told(trip.phases[0])), float(end_is_told(trip.phases[-1]))]
    parts = [*ends, told / length] if length else ends
    return sum(parts) / len(parts)


def _share_in_order(trip: CheckedTrip) -> float:
    """Return the share of the caption's true roads that come in the order driven; 1 without any.

    Each road is placed at its first phase that is not before the road told last; where there is
    none, it is out of order.
    """
    roads = sorted(
        (one.start, one.name)
        for one in trip.mentions
        if one.field == _CAPTION and one.kind == "road" and one.verdict == "grounded"
    )
    last, in_order = 0, 0
    for _, road in roads:
        later = next((p.p for p in trip.phases if p.p >= last and road in p.road_names), None)
        if later is not None:
            last, in_order = later, in_order + 1
    return in_order / len(roads) if roads else 1.0
