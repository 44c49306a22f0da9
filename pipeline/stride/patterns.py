"""Questions without a model: each way a crowd moves has its own, with ranges from TrajFacts.

    bank = read_patterns(PROMPTS / "stride")
    bank.pattern_of("A school class follows its teacher across the square.")   ->  "pack"
    bank.specification("pack")
    ->  Specification(questions=[Asked(axis="V", question="Does the group walk at an easy pace?",
                                       measurements=[Bound("mean_speed", 0.85, 1.38, ...)]), ...])

The bank knows the text and the way of moving it tells. It never sees a trajectory.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pipeline.errors import ParameterError
from pipeline.keys import Text
from pipeline.language.prompts import PROMPTS, files_hash
from pipeline.params import document_of
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.spec_records import Asked, Bound, Specification
from pipeline.stride.trajfacts import Range, TrajFacts, read_trajfacts

FOLDER = PROMPTS / "stride"
LEAST_QUESTIONS = 5
# Raise it when the code below makes other questions of the same bank.
_VERSION = 1


class _Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    function: Text
    why: Text
    band: Text | None = None
    range: Range | None = None

    def __post_init__(self) -> None:
        if self.function not in MEASURES:
            raise ValueError(f"function: expected a measure, found {self.function!r}")
        if (self.band is None) == (self.range is None):
            raise ValueError("band: expected either a band or a range")


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    axis: Literal["V", "R", "D", "S", "T"]
    ask: Text
    checks: Annotated[list[_Check], Meta(min_length=1, max_length=3)]


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way a crowd can move.

    Attributes:
        id: As stories name it.
        title: In words.
        words: Parts of a text that point to it.
        questions: What is asked.
    """

    id: Text
    title: Text
    words: Annotated[list[Text], Meta(min_length=1)]
    questions: Annotated[list[_Question], Meta(min_length=LEAST_QUESTIONS)]


class _Patterns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patterns: Annotated[list[Pattern], Meta(min_length=1)]


class PatternBank:
    """All patterns, with the table their bands are in."""

    def __init__(self, patterns: list[Pattern], facts: TrajFacts) -> None:
        self.patterns = {pattern.id: pattern for pattern in patterns}
        self.facts = facts
        for pattern in self.patterns:
            self.specification(pattern)  # a band that is not there is found now

    def pattern_of(self, text: str) -> str:
        """Return the pattern most of whose words stand in a text.

        Raises:
            ParameterError: No pattern has a word in it.
        """
        folded = text.casefold()
        found = {
            pattern.id: sum(len(word) for word in pattern.words if word.casefold() in folded)
            for pattern in self.patterns.values()
        }
        best = max(found, key=lambda name: found[name])
        if not found[best]:
            raise ParameterError(
                "stride compile: expected a text that tells how people move in words the phrase"
                " bank knows (prompts/stride/patterns.yaml), found none of them; name the way with"
                f" --pattern ({', '.join(self.patterns)}), or name a model in params.yaml:"
                " stride_specs.engine"
            )
        return best

    def specification(self, name: str) -> Specification:
        """Return the questions of a pattern.

        Raises:
            ParameterError: There is no such pattern, or one of its bands is not there.
        """
        if name not in self.patterns:
            raise ParameterError(
                f"patterns.yaml: expected one of {', '.join(self.patterns)}, found {name!r}; mend"
                " the story or --pattern"
            )
        pattern = self.patterns[name]
        return Specification(
            f"The text tells that {pattern.title}; ranges are those of TrajFacts where a situation"
            " fits, and stated by the story's own words elsewhere.",
            [
                Asked(one.axis, one.ask, [self._bound(check) for check in one.checks])
                for one in pattern.questions
            ],
        )

    def _bound(self, check: _Check) -> Bound:
        if check.band is not None:
            low, high = self.facts.band(check.function, check.band)
            why = f"TrajFacts, {check.band}: {check.why}"
        else:
            low, high = check.range or (0.0, 0.0)
            why = check.why
        return Bound(check.function, low, high, self.facts.tolerance[check.function], why)


def read_patterns(folder: Path) -> PatternBank:
    """Read patterns and TrajFacts.

    Raises:
        ParameterError: A file is missing or broken, or a band is not there.
    """
    patterns: list[Pattern] = document_of(folder / "patterns.yaml", _Patterns).patterns
    return PatternBank(patterns, read_trajfacts(folder / "trajfacts.yaml"))


@cache
def patterns() -> PatternBank:
    """Return the project's own bank, read once."""
    return read_patterns(FOLDER)


def pattern_files(folder: Path = FOLDER) -> Sequence[Path]:
    """Return the files that decide what the bank asks."""
    return folder / "patterns.yaml", folder / "trajfacts.yaml"


@cache
def patterns_revision() -> str:
    """Return the version of bank and code that decides what is asked."""
    return f"{_VERSION}+banks={files_hash(pattern_files())[:12]}"
