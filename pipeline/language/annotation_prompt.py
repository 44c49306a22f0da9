"""The messages that ask for the seven texts of a trip: rules, shots, then the trip itself.

    prompt = AnnotationPrompt(PROMPTS, shots=2)
    messages, shots = prompt.messages(trip)
    ->  (system, user, assistant, user, assistant, user), ["monaco-04", "helsinki-11"]

Paper A.3.6. The shots are turns of the chat: a seed's trip asked as any other, and its answer.
"""

from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import PromptError
from pipeline.language.prompts import Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Message
from pipeline.language.shots import SEEDS, Seed, Shots, read_seeds, seed_files
from pipeline.language.shown import shown_trip
from pipeline.language.vocabulary import read_vocabulary
from pipeline.records import PlannedTrip, Target


class ShownTarget(NamedTuple):
    """A target as user.j2 words it; names, words and phases are joined, "" where there are none."""

    code: str
    name: str
    kind: str
    names: str
    words: str
    polarity: str
    phases: str


class AnnotationPrompt:
    """The prompt files of the task `annotate`, read once.

    Attributes:
        schema: Generation schema of the nine fields.
        hash: Hash over templates, answer schema, vocabulary and seeds.
    """

    def __init__(self, prompts: Path, *, shots: int) -> None:
        """Read the files.

        Args:
            prompts: The folder prompts/ of a project.
            shots: How many seed examples stand in each prompt.

        Raises:
            PromptError: A file is missing or broken, or there are fewer seeds than shots.
            ParameterError: The vocabulary is broken, or lacks a code that a seed uses.
        """
        vocabulary_file, seeds = prompts / "vocabulary.yaml", prompts / "annotate" / SEEDS
        self._words = read_vocabulary(vocabulary_file)
        self._prompt = Prompt(prompts / "annotate", shared={"words": self._words})
        self._scenarios = {one.code: one.name for one in self._words.scenarios}
        self._n = shots
        examples = read_seeds(seeds)
        if len(examples) < shots:
            raise PromptError(
                f"prompts/annotate/{SEEDS}: expected at least {shots} seeds, as many as `shots` in"
                f" params.yaml, found {len(examples)}; restore them with `git checkout`, or lower"
                " `shots`"
            )
        self._shots = Shots(examples)
        self._turns = {seed.seed_id: self._turn(seed) for seed in examples} if shots else {}
        self.schema = self._prompt.schema
        self.hash = files_hash([*self._prompt.files, vocabulary_file, *seed_files(seeds)])

    def messages(self, trip: PlannedTrip) -> tuple[tuple[Message, ...], list[str]]:
        """Return the messages for a trip, and the ids of the shots among them.

        Raises:
            PromptError: A template cannot show the trip; names template, line and trip.
            ParameterError: The trip was planned with a code that the vocabulary has no more.
        """
        self._words.expect_codes(
            trip.intents,
            f"planned trip {trip.trip_id}",
            remedy="plan the trips anew, `dvc repro plan_intents@CITY`, or bring the code back",
        )
        shots = self._shots.chosen(trip.trip_id, trip.intents, self._n)
        turns = [message for seed in shots for message in self._turns[seed.seed_id]]
        return (self._prompt.system, *turns, self._user(trip)), [seed.seed_id for seed in shots]

    def _turn(self, seed: Seed) -> tuple[Message, Message]:
        self._words.expect_codes(
            seed.trip.intents,
            f"prompts/annotate/{SEEDS}/{seed.city}.jsonl: seed {seed.seed_id}",
            remedy="mend the seed, or bring the code back",
        )
        answer = Message("assistant", nfc(json_text(seed.answer)))
        return self._user(seed.trip), answer

    def _user(self, trip: PlannedTrip) -> Message:
        return self._prompt.user(trip.trip_id, self._values(trip))

    def _values(self, trip: PlannedTrip) -> dict[str, Any]:
        """Return what user.j2 is given."""
        intents = trip.intents
        return {
            "codes": " + ".join(intents.scenarios),
            "targets": [self._shown(target) for target in intents.targets],
            "queries": [
                {
                    "dimensions": _counted("dimension", query.dimensions),
                    "targets": [self._shown(target) for target in query.targets],
                }
                for query in intents.queries
            ],
            "persona": self._words.persona(intents.persona),
            "styles": [
                {
                    "code": plan.style,
                    "form": self._words.style(plan.style).form_words(plan.form),
                    "length": self._words.style(plan.style).length_words(plan.length),
                }
                for plan in intents.styles
            ],
            "waypoint": self._shown(intents.waypoint) if intents.waypoint else None,
            "street": intents.street,
            "time_context": intents.time_context,
            "record_json": json_text(shown_trip(trip)),
        }

    def _shown(self, target: Target) -> ShownTarget:
        return ShownTarget(
            code=target.scenario,
            name=self._scenarios[target.scenario],
            kind=target.kind,
            names=", ".join(map(json_text, target.names)),
            words=", ".join(self._words.feature_words(target.feature)),
            polarity=target.polarity,
            phases=_counted("phase", target.phases),
        )


def _counted(noun: str, numbers: list[int]) -> str:
    """Return "phase 3", "phases 3, 5" or ""."""
    if not numbers:
        return ""
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
