"""The rubric all judges share, from prompts/judge/rubric.yaml: three tasks, ten criteria, 1 to 5.

    rubric().hash                           ->  "4f0c..." 16 hexadecimal digits of its words
    rubric().criterion("caption_accuracy").anchor(5)
                                            ->  "Order, directions and progress are all true."
    CRITERIA[:2]                            ->  ("instructions_correctness",
                                                 "instructions_no_hallucination")

Paper: Table 12. Models read it in the prompt, people on the review page, and every rating names the
criterion by its code.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from pipeline.keys import Text
from pipeline.language.prompts import PROMPTS
from pipeline.params import document_of
from pipeline.records import Texts

RUBRIC_FILE = PROMPTS / "judge" / "rubric.yaml"
SCORES = (1, 2, 3, 4, 5)
TASKS = ("instructions", "queries", "caption")
# What code, schemas and columns know by name, in the order of Table 12; the file words them.
CRITERIA = (
    "instructions_correctness",
    "instructions_no_hallucination",
    "instructions_persona_fidelity",
    "instructions_style_distinctness",
    "queries_specificity",
    "queries_accuracy",
    "queries_no_hallucination",
    "caption_comprehensiveness",
    "caption_accuracy",
    "caption_objectivity",
)
# From 5 down to 1.
Marks = tuple[Text, Text, Text, Text, Text]


def task_of(criterion: str) -> str:
    """Return the task a criterion belongs to, given its code."""
    return criterion.partition("_")[0]


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that is scored.

    Attributes:
        key: Its name within its task; the code is <task>_<key>.
        name: As the paper names it.
        question: What is asked.
        anchors: What each score means, from 5 down to 1.
    """

    key: Annotated[str, Meta(pattern="^[a-z][a-z_]*$")]
    name: Text
    question: Text
    anchors: Marks

    def anchor(self, score: int) -> str:
        """Return what a score from 1 to 5 means."""
        return self.anchors[5 - score]

    @property
    def marks(self) -> list[tuple[int, str]]:
        """Return every score with its meaning, the best first."""
        return _numbered(self.anchors)


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is judged at once: texts, shown together, and their criteria."""

    code: Text
    name: Text
    texts: list[Text]
    criteria: Annotated[list[Criterion], Meta(min_length=1)]


class Rubric(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of prompts/judge/rubric.yaml.

    Attributes:
        scale: What the scores mean for all criteria, from 5 down to 1.
        tasks: The three tasks.
    """

    scale: Marks
    tasks: list[Task]

    def __post_init__(self) -> None:
        _expect("tasks", [task.code for task in self.tasks], TASKS)
        _expect("tasks", [f"{task.code}_{one.key}" for task in self.tasks for one in task.criteria],
                CRITERIA)  # fmt: skip
        _expect("tasks", [text for task in self.tasks for text in task.texts],
                Texts.__struct_fields__)  # fmt: skip

    @property
    def hash(self) -> str:
        """Return a hash of all its words, 16 hexadecimal digits; it stands in every rating."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:16]

    @property
    def marks(self) -> list[tuple[int, str]]:
        """Return every score with its meaning, the best first."""
        return _numbered(self.scale)

    def criterion(self, code: str) -> Criterion:
        """Return a criterion by its code; KeyError for a code that is none."""
        return {f"{t.code}_{one.key}": one for t in self.tasks for one in t.criteria}[code]


def read_rubric(file: Path) -> Rubric:
    """Read a rubric.

    Raises:
        ParameterError: A key is missing or unknown, or a task, criterion or text is not the known.
    """
    found: Rubric = document_of(file, Rubric)
    return found


@cache
def rubric() -> Rubric:
    """Return the project's rubric, read once."""
    return read_rubric(RUBRIC_FILE)


def _numbered(marks: Marks) -> list[tuple[int, str]]:
    return list(zip(reversed(SCORES), marks, strict=True))


def _expect(key: str, found: Sequence[str], known: tuple[str, ...]) -> None:
    if tuple(found) != known:
        raise ValueError(f"{key}: expected {', '.join(known)}, found {', '.join(found)}")
