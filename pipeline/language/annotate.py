"""Ask for the seven texts of every planned trip and keep what came back.

    planned trip 1626278, 16 phases, scenarios 1.1 + 2.2 + 3.2
    ->  annotated trip 1626278 with seven texts and their provenance
        responses: every attempt, raw, with what was wrong with it
        or the rejection `length`: no answer in 3 attempts, the last: cut off at the token limit

Answers lie in the response ledger before anything is written, so a run that ends early loses only
what was on its way. Paper: A.3.4, A.3.6.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.errors import ContractError
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.annotation_report import AskingTally, TextTally
from pipeline.language.asked import Asking, ask_all, provenance_of, rejection_rows, run_figures
from pipeline.language.asking import results
from pipeline.language.engines.settings import EngineSettings, ExecutorSettings, model_id
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, json_in, responses_frame
from pipeline.language.prompts import PROMPTS, nfc
from pipeline.language.requests import NO_MODEL, Answer, Request, Sampling, new_request
from pipeline.language.shots import Written
from pipeline.records import PlannedTrip, Texts
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO

TASK = "annotate"
# Trips in memory as records at a time; more are slower, as Python looks through all that live.
TRIPS_AT_A_TIME = 64


class AnnotateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `annotate` of params.yaml.

    Attributes:
        engine: Which model answers, and how it is reached.
        executor: Who runs it.
        sampling: How it samples.
        shots: Seed examples in each prompt.
        attempts: Most attempts of one request; a later one samples with another seed.
        most_failed_share: Largest share of trips without texts that is borne.
    """

    engine: EngineSettings
    executor: ExecutorSettings
    sampling: Sampling
    shots: Annotated[int, Meta(ge=0, le=20)]
    attempts: Annotated[int, Meta(ge=1, le=20)]
    most_failed_share: Annotated[float, Meta(ge=0, le=1)]


class AnnotationRequests:
    """Makes the request for a trip; what all requests share is read once."""

    def __init__(self, prompts: Path, settings: AnnotateSettings) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/ of a project.
            settings: Section `annotate`.
        """
        self.prompt = AnnotationPrompt(prompts, shots=settings.shots)
        self.model, self._sampling = model_id(settings.engine), settings.sampling
        # The grammar reads no examples and samples nothing.
        grammar = self.model.engine in NO_MODEL
        self.shots = None if grammar else settings.shots
        self.sampling = None if grammar else msgspec.to_builtins(settings.sampling)

    def request(self, trip: PlannedTrip) -> tuple[Request, list[str]]:
        """Return the request for a trip's texts, and the ids of the shots in its prompt."""
        messages, shots = self.prompt.messages(trip)
        request = new_request(
            trip.trip_id,
            task=TASK,
            messages=messages,
            schema=self.prompt.schema,
            model=self.model,
            sampling=self._sampling,
            facts=trip,
        )
        return request, shots


def trips_in(frame: pl.DataFrame) -> Iterator[PlannedTrip]:
    """Yield the trips of a table of planned trips."""
    decoder = msgspec.json.Decoder(PlannedTrip)
    for part in frame.iter_slices(TRIPS_AT_A_TIME):
        # By way of JSON: twice as fast as by Python's own values.
        yield from decoder.decode_lines(part.write_ndjson())


def asking(io: StageIO, *, prompts: Path, annotate: AnnotateSettings) -> Iterator[Asking]:
    """Yield what the stage asks: the writer, about every planned trip."""
    asker = AnnotationRequests(prompts, annotate)
    yield Asking(TASK, asker.model, annotate, lambda: _requests(io, asker))


def _requests(io: StageIO, asker: AnnotationRequests) -> Iterator[Request]:
    for frame in io.batches("planned"):
        for trip in trips_in(frame):
            yield asker.request(trip)[0]


def texts_of(answer: Answer) -> Texts:
    """Return the seven texts of a good answer, letters composed; what was planned stays behind.

    Raises:
        ContractError: The answer has not the nine fields; the generation schema lets it pass.
    """
    try:
        written = msgspec.json.decode(json_in(answer.text), type=Written)
    except msgspec.DecodeError as fault:
        raise ContractError(
            f"answer to {answer.item_id}: expected the nine fields of an answer, found: {fault};"
            " mend prompts/annotate/answer.schema.json"
        ) from fault
    return Texts(*(nfc(getattr(written, field)) for field in Texts.__struct_fields__))


def run(io: StageIO, *, annotate: AnnotateSettings, city: str) -> None:
    """Annotate every planned trip of a city."""
    asker = AnnotationRequests(PROMPTS, annotate)
    with Ledger(io.ledger_folder) as ledger:
        summary = ask_all(
            lambda: _requests(io, asker),
            total=io.rows("planned"),
            ledger=ledger,
            settings=annotate,
            desc=f"{TASK} {city}",
            replay=io.replay,
        )
        asked, texts = AskingTally(), TextTally()
        with io.open_shards("annotated") as annotated, io.open_shards("responses") as responses:
            joining = _Joining(io, asker, asked, texts)
            for shard in io.parts("planned"):
                with annotated.open() as trips, responses.open() as attempts:
                    for planned in shard:
                        told, every = joining.joined(planned, ledger)
                        trips.write(told)
                        attempts.write(every)
    io.write_json("annotation_run", run_figures(city, TASK, asker.model, summary))
    io.write_json("annotation_metrics", _metrics(city, asker, asked, texts))
    io.write_csv("words_plot", texts.words_plot())
    io.write_csv("questions_plot", texts.questions_plot())


class _Joining:
    """Joins trips with their answers, rejects those without one, and counts."""

    def __init__(
        self, io: StageIO, asker: AnnotationRequests, asked: AskingTally, texts: TextTally
    ) -> None:
        self._io, self._asker, self._asked, self._texts = io, asker, asked, texts

    def joined(self, part: pl.DataFrame, ledger: Ledger) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Look up the answers for some planned trips.

        Returns:
            Those that have texts, and every attempt made for any of them, in the order given.
        """
        shots_of: dict[str, list[str]] = {}

        def requests() -> Iterator[Request]:
            for trip in trips_in(part):
                request, shots_of[trip.trip_id] = self._asker.request(trip)
                yield request

        failed: list[tuple[str, list[Answer]]] = []
        every: list[Answer] = []
        texts: list[dict[str, Any] | None] = []
        provenances: list[dict[str, Any] | None] = []
        for request, attempts in results(requests(), ledger):
            answer = first_ok(attempts)
            self._asked.add(attempts, answer, shared=False)
            every += attempts
            if answer is None:
                failed.append((request.item_id, attempts))
                texts.append(None)
                provenances.append(None)
                continue
            written = texts_of(answer)
            self._texts.add(written)
            texts.append(msgspec.structs.asdict(written))
            provenances.append(
                msgspec.structs.asdict(
                    provenance_of(answer, self._asker.prompt.hash, shots_of[request.item_id])
                )
            )
        told = part.with_columns(_column("texts", texts), _column("provenance", provenances))
        self._io.reject(rejection_rows(TASK, failed))
        has_texts = pl.Series([one is not None for one in texts], dtype=pl.Boolean)
        return told.filter(has_texts), responses_frame(every)


def _column(name: str, values: list[dict[str, Any] | None]) -> pl.Series:
    kind = pl.Schema(arrow_schema("annotated_trip"))[name]
    return pl.Series(name, values, dtype=kind)


def _metrics(
    city: str, asker: AnnotationRequests, asked: AskingTally, texts: TextTally
) -> dict[str, Any]:
    return {
        "city": city,
        "engine": asker.model.engine,
        "model": asker.model.model,
        "revision": asker.model.revision,
        "prompt_hash": asker.prompt.hash,
        "shots": asker.shots,
        "sampling": asker.sampling,
        **asked.figures(),
        "different_openers_share": texts.different_openers_share(),
        "texts": texts.figures(),
    }
