"""Questions without a model: each way a crowd moves has its own, with ranges that have a source.

    bank = read_patterns(PROMPTS / "stride")
    bank.pattern_of("A school class follows its teacher across the square.")   ->  "pack"
    bank.specification("pack")
    ->  Specification(questions=[Asked(axis="V", question="Does the group walk at an easy pace?",
                                       measurements=[Bound("mean_speed", 0.8, 1.5, ...)]), ...])

Ranges are hulls of TrajFacts bands, or rest on a publication or on arithmetic that stands beside
them. The bank knows the text and the way of moving it tells. It never sees a trajectory.
"""

import re
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
_VERSION = 2


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One measurement: bands of TrajFacts, perhaps open to one side, or a range and its source."""

    function: Text
    why: Text
    bands: list[Text] = []
    open: Literal["up", "down"] | None = None
    range: Range | None = None
    source: Text | None = None

    def __post_init__(self) -> None:
        if self.function not in MEASURES:
            raise ValueError(f"function: expected a measure, found {self.function!r}")
        if bool(self.bands) == (self.range is not None):
            raise ValueError("bands: expected either bands or a range")
        if (self.range is None) != (self.source is None):
            raise ValueError("source: expected where a range comes from, and none beside bands")
        if self.open is not None and not self.bands:
            raise ValueError("open: expected bands beside it")


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    axis: Literal["V", "R", "D", "S", "T"]
    ask: Text
    checks: Annotated[list[Check], Meta(min_length=1, max_length=3)]


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way a crowd can move.

    Attributes:
        id: As stories name it.
        title: In words.
        words: Words that point to it, in any form; one cut off in -at stands for -ate, -ation.
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
        self._forms = {
            pattern.id: [(len(word), _forms_of(word.casefold())) for word in pattern.words]
            for pattern in patterns
        }
        for pattern in self.patterns:
            self.specification(pattern)  # a band that is not there is found now

    def pattern_of(self, text: str) -> str:
        """Return the pattern most of whose words stand in a text.

        Raises:
            ParameterError: No pattern has a word in it.
        """
        folded = text.casefold()
        found = {
            name: sum(length for length, forms in words if forms.search(folded))
            for name, words in self._forms.items()
        }
        best = max(found, key=lambda name: found[name])
        if not found[best]:
            raise ParameterError(
                "stride compile: expected a text that tells how people move in words the phrase"
                " bank knows (prompts/stride/patterns.yaml), found none of them; name the way with"
                f" --pattern ({', '.join(self.patterns)}), or name a model in params.yaml:"
                " stride_specs.writer.engine"
            )
        return best

    def specification(self, name: str) -> Specification:
        """Return the questions of a pattern.

        Raises:
            ParameterError: There is no such pattern, or one of its bands is not there.
        """
        if name not in self.patterns:
            raise ParameterError(
                f"pattern: expected one of {', '.join(self.patterns)}, found {name!r}; mend the"
                " story"
            )
        pattern = self.patterns[name]
        return Specification(
            f"The text tells that {pattern.title}. Each reason names where its range comes from:"
            " bands of TrajFacts, a publication, or arithmetic.",
            [
                Asked(one.axis, one.ask, [self._bound(check) for check in one.checks])
                for one in pattern.questions
            ],
        )

    def _bound(self, check: Check) -> Bound:
        low: float | None
        high: float | None
        if check.range is not None:
            (low, high), source = check.range, str(check.source)
        else:
            low, high = self.facts.hull(check.function, check.bands)
            source = f"TrajFacts, {' to '.join(check.bands)}"
        low = None if check.open == "down" else low
        high = None if check.open == "up" else high
        beyond = " and above" if high is None else " and below" if low is None else ""
        return Bound(
            check.function,
            low,
            high,
            self.facts.tolerance[check.function],
            f"{check.why} ({source}{beyond})",
        )


def _forms_of(word: str) -> re.Pattern[str]:
    """Return what finds a word, its plural and the usual forms of a verb, as whole words."""
    if word.endswith("at"):
        stem, endings = word, "|e|es|ed|ing|ion|ions"
    elif word.endswith("e"):
        stem, endings = word[:-1], "e|es|ed|ers?|e?ings?"
    elif word.endswith("y"):
        stem, endings = word[:-1], "y|ys|ies|ied|yed|yings?"
    else:
        stem, endings = word, f"|e?s|{re.escape(word[-1])}?(?:ed|ers?|ings?)"
    return re.compile(rf"(?<!\w){re.escape(stem)}(?:{endings})(?!\w)")


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
