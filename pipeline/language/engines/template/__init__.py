"""The `template` engine: a trip's texts from its plan and its phases, by grammar and no model.

    with TemplateEngine() as engine:
        for answers in engine.answers(requests): ...
    ->  Answer(status="ok", text='{"_intent_planning":"1.1 place ...","instruction_literal": ...}')

It reads the facts of a request, never its prompt, so the wording of prompts changes no text. The
same trip gets the same bytes on every machine and in any order. Its texts say nothing that the
trip's own record does not hold. It is the default where there is no GPU and a control beside models
elsewhere, and its model is named `template` everywhere. Paper: A.3.3-A.3.6.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from pipeline.language.engines.template.banks import Banks
from pipeline.language.engines.template.caption import Captioner
from pipeline.language.engines.template.evidence import Reader
from pipeline.language.engines.template.instructions import instructions
from pipeline.language.engines.template.narrative import Narrator
from pipeline.language.engines.template.planning import intent_planning, retrieval_planning
from pipeline.language.engines.template.queries import queries
from pipeline.language.engines.template.reading import read_banks, revision_of
from pipeline.language.requests import Answer, ModelId, Request
from pipeline.language.vocabulary import Vocabulary, vocabulary
from pipeline.records import PlannedTrip

BANKS = Path(__file__).resolve().parents[4] / "prompts" / "template"
# Requests answered at a time.
WINDOW = 256


class AnnotationFields(msgspec.Struct, frozen=True):
    """The nine fields of an answer to `annotate`, in the paper's order."""

    intent_planning: str = msgspec.field(name="_intent_planning")
    retrieval_planning: str = msgspec.field(name="_retrieval_planning")
    instruction_literal: str
    instruction_concise: str
    instruction_chatty: str
    retrieval_query_1: str
    retrieval_query_2: str
    retrieval_query_3: str
    trajectory_caption: str


class Realiser:
    """Puts planned trips and cells into words."""

    def __init__(self, banks: Banks, words: Vocabulary) -> None:
        self._banks = banks
        self._reader = Reader(banks, words)
        self._captioner = Captioner(banks, self._reader)
        self._narrator = Narrator(banks.narrative, words)

    def annotate(self, trip: PlannedTrip) -> AnnotationFields:
        """Return the nine fields of a trip."""
        evidence = self._reader.read(trip)
        spoken = instructions(evidence, self._banks)
        asked = queries(evidence, self._banks)
        caption = self._captioner.write(evidence)
        return AnnotationFields(
            intent_planning(evidence, caption.told),
            retrieval_planning(evidence),
            spoken["literal"],
            spoken["concise"],
            spoken["chatty"],
            asked[0],
            asked[1],
            asked[2],
            caption.text,
        )

    def narrate(self, cell: Mapping[str, Any], *, item_id: str) -> str:
        """Return two or three sentences on a cell; see `Narrator.narrate`."""
        return self._narrator.narrate(cell, item_id=item_id)


@cache
def realiser() -> Realiser:
    """Return the realiser of the project's own banks, read once.

    Raises:
        ParameterError: A phrase bank is missing or broken.
    """
    words = vocabulary()
    return Realiser(read_banks(BANKS, words), words)


@cache
def template_revision() -> str:
    """Return the version of banks and code that decides what the engine says."""
    return revision_of(BANKS)


class TemplateEngine:
    """An `Engine` without a model."""

    def __enter__(self) -> Self:
        self._realiser = realiser()
        self._model = ModelId("template", "template", template_revision())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says, in the order given."""
        source = iter(requests)
        while some := list(islice(source, WINDOW)):
            yield [self._answer(request) for request in some]

    def _answer(self, request: Request) -> Answer:
        value: AnnotationFields | dict[str, str]
        if request.task == "annotate":
            value = self._realiser.annotate(request.facts)
        else:
            cell = msgspec.to_builtins(request.facts)
            value = {"narrative": self._realiser.narrate(cell, item_id=request.item_id)}
        return Answer(
            key=request.key,
            attempt=request.attempt,
            item_id=request.item_id,
            task=request.task,
            status="ok",
            reason="",
            text=msgspec.json.encode(value).decode("utf-8"),
            finish_reason="stop",
            model=self._model,
            prompt_tokens=None,
            output_tokens=None,
        )
