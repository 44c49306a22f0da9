"""The messages that ask for a verdict: the rubric, then a trip with its seven texts.

    prompt = JudgePrompt(PROMPTS)
    shown = shown_order(7, "1626278")    ->  ["instruction_chatty", "instruction_literal", ...]
    prompt.messages(trip, shown)         ->  (system, user)
    verdict_of(answer)                   ->  Scores(instructions_correctness=4, ...), Rationales(..)

One request asks for all ten criteria: the rubric and the trip are nine tenths of its tokens, so a
request for each task would cost three times as much. Texts judged together stand in an order drawn
for the trip. The judge sees the trip, the speaker and the texts; it does not see what was planned,
nor what quality control found. Paper: A.3.5, Table 12.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from pipeline.errors import ContractError
from pipeline.language.outcome import json_in
from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, Message
from pipeline.language.shown import shown_trip
from pipeline.language.vocabulary import read_vocabulary
from pipeline.quality.rubric import TASKS, Rubric, read_rubric
from pipeline.records import CheckedTrip, PlannedTrip, Rationales, Scores, Texts
from pipeline.seeds import rng_for

TASK = "judge"
_JOINT = (Texts.__struct_fields__[:3], Texts.__struct_fields__[3:6])


def shown_order(seed: int, trip_id: str) -> list[str]:
    """Return the texts that are judged together in the order they are shown: three, then three."""
    rng = rng_for(seed, TASK, trip_id)
    return [texts[place] for texts in _JOINT for place in rng.permutation(len(texts))]


class JudgePrompt:
    """The prompt files of the task `judge`, read once.

    Attributes:
        rubric: The rubric.
        schema: Generation schema of the verdict.
        hash: Hash over templates, answer schema, rubric and vocabulary.
    """

    def __init__(self, prompts: Path) -> None:
        """Read the files.

        Args:
            prompts: The folder prompts/ of a project.

        Raises:
            PromptError: A file is missing or broken.
            ParameterError: The rubric or the vocabulary is.
        """
        vocabulary_file, rubric_file = prompts / "vocabulary.yaml", prompts / "judge/rubric.yaml"
        self._words = read_vocabulary(vocabulary_file)
        self.rubric: Rubric = read_rubric(rubric_file)
        self._prompt = Prompt(prompts / "judge", shared={"rubric": self.rubric})
        self.schema = self._prompt.schema
        self.hash = files_hash([*self._prompt.files, vocabulary_file, rubric_file])

    def messages(self, trip: CheckedTrip, shown: Sequence[str]) -> tuple[Message, ...]:
        """Return the messages that ask for a verdict on a trip.

        Args:
            trip: The trip and its texts.
            shown: Names of the six texts that are judged together, in the order to show them.

        Raises:
            PromptError: A template cannot show the trip; names template, line and trip.
            ParameterError: The trip was planned with a code that the vocabulary has no more.
        """
        self._words.expect_codes(
            trip.intents,
            f"checked trip {trip.trip_id}",
            remedy="make the texts anew, `dvc repro check@CITY`, or bring the code back",
        )
        texts: dict[str, str] = msgspec.structs.asdict(trip.texts)
        values: dict[str, Any] = {
            "persona": self._words.persona(trip.intents.persona),
            "record_json": json_text(shown_trip(_planned(trip))),
            "instructions": [
                (name.removeprefix("instruction_"), texts[name]) for name in shown[:3]
            ],
            "queries": [texts[name] for name in shown[3:]],
            "caption": trip.texts.trajectory_caption,
        }
        return self._prompt.system, self._prompt.user(trip.trip_id, values)


def verdict_of(answer: Answer) -> tuple[Scores, Rationales]:
    """Return what a good answer says, letters composed.

    Raises:
        ContractError: The answer has not the ten criteria; the generation schema lets it pass.
    """
    try:
        told = json.loads(json_in(answer.text))
        scores = {
            f"{task}_{key}": int(value)
            for task in TASKS
            for key, value in told[task].items()
            if key != "rationale"
        }
        rationales = {task: nfc(told[task]["rationale"]) for task in TASKS}
        return msgspec.convert(scores, Scores), msgspec.convert(rationales, Rationales)
    except (KeyError, TypeError, ValueError) as fault:
        raise ContractError(
            f"answer to {answer.item_id}: expected ten scores and three rationales, found: {fault};"
            " mend prompts/judge/answer.schema.json"
        ) from fault


def _planned(trip: CheckedTrip) -> PlannedTrip:
    return PlannedTrip(trip.trip_id, trip.meta, trip.phases, trip.places, trip.intents)
