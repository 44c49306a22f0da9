"""Ask for a few sentences on each cell: the narrative of paper Table 9.

    cell 8a3969a40047fff: GREEN/PARK, cliff, forest, garden, 3 named places, Jardin Exotique
    ->  "The Jardin Exotique lies here among cliffs and trees, with gift shops beside it."

Narratives are for readers. The annotator never sees them (A.3.6: it is told to ignore them).
Which cells are told stands in the city's file: none, those that trips visit, or all.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.language.annotation_report import AskingTally
from pipeline.language.asked import Asking, ask_all, provenance_of, rejection_rows, run_figures
from pipeline.language.asking import results
from pipeline.language.engines.settings import EngineSettings, ExecutorSettings, model_id
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok, json_in, responses_frame
from pipeline.language.prompts import PROMPTS, Prompt, files_hash, json_text, nfc
from pipeline.language.requests import Answer, Request, Sampling, new_request
from pipeline.language.vocabulary import read_vocabulary
from pipeline.schemas import arrow_schema
from pipeline.store import StageIO

TASK = "narrate"
NarrateCells = Literal["none", "visited", "all"]


class NarrateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `narrate` of params.yaml.

    Attributes:
        engine: Which model answers, and how it is reached.
        executor: Who runs it.
        sampling: How it samples.
        places: Most named places shown of a cell.
        attempts: Most attempts of one request; a later one samples with another seed.
        most_failed_share: Largest share of cells without a narrative that is borne.
    """

    engine: EngineSettings
    executor: ExecutorSettings
    sampling: Sampling
    places: Annotated[int, Meta(ge=0, le=1000)]
    attempts: Annotated[int, Meta(ge=1, le=20)]
    most_failed_share: Annotated[float, Meta(ge=0, le=1)]


class ShownCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cell as its prompt shows it: Table 9's fields in words, no id and no coordinate."""

    kind: str
    natural: list[str]
    commercial: list[str]
    public_facilities: list[str]
    residential: str
    district: str | None
    places: list[dict[str, str | None]]
    road_metres: dict[str, int]


class NarrationRequests:
    """Makes the request for a cell; what all requests share is read once."""

    def __init__(self, prompts: Path, settings: NarrateSettings) -> None:
        """Read the prompt files.

        Args:
            prompts: The folder prompts/ of a project.
            settings: Section `narrate`.
        """
        vocabulary_file = prompts / "vocabulary.yaml"
        words = read_vocabulary(vocabulary_file)
        self._prompt = Prompt(prompts / TASK, shared={"words": words})
        self.hash = files_hash([*self._prompt.files, vocabulary_file])
        self.model, self._sampling = model_id(settings.engine), settings.sampling
        self._places = settings.places

    def request(self, cell: dict[str, Any]) -> Request:
        """Return the request for a row of `cell`."""
        shown = shown_cell(cell, places=self._places)
        asked = self._prompt.user(cell["cell"], {"record_json": json_text(shown)})
        return new_request(
            cell["cell"],
            task=TASK,
            messages=(self._prompt.system, asked),
            schema=self._prompt.schema,
            model=self.model,
            sampling=self._sampling,
            facts=shown,
        )


def shown_cell(cell: dict[str, Any], *, places: int) -> ShownCell:
    """Return what a prompt shows of a cell; its named places in the order of the table."""
    named = [place for place in cell["pois"] if place["name"]]
    return ShownCell(
        kind=cell["geo_tag"],
        natural=cell["natural"],
        commercial=cell["commercial"],
        public_facilities=cell["public_facilities"],
        residential=cell["residential"],
        district=cell["district"],
        places=[
            {"name": place["name"], "kind": (place["category"] or "").replace("_", " ") or None}
            for place in named[:places]
        ],
        road_metres={one["highway"]: round(one["length_m"]) for one in cell["class_lengths_m"]},
    )


def wanted_cells(io: StageIO, which: NarrateCells) -> pl.DataFrame:
    """Return the rows of `cell` that are told, in the order of the table."""
    cells = io.read("cells")
    if which == "all":
        return cells
    if which == "none":
        return cells.clear()
    cell = pl.element().struct.field("cell")
    visited = [
        frame.select(pl.col("phases").list.eval(cell).explode().unique())["phases"]
        for frame in io.batches("phased")
    ]
    return cells.filter(pl.col("cell").is_in(pl.concat(visited).unique().implode()))


def asking(
    io: StageIO, *, prompts: Path, narrate: NarrateSettings, narrate_cells: NarrateCells
) -> Iterator[Asking]:
    """Yield what the stage asks: the writer, about every wanted cell."""
    asker = NarrationRequests(prompts, narrate)
    yield Asking(
        TASK, asker.model, narrate, lambda: _requests(wanted_cells(io, narrate_cells), asker)
    )


def _requests(cells: pl.DataFrame, asker: NarrationRequests) -> Iterator[Request]:
    return (asker.request(cell) for cell in cells.iter_rows(named=True))


def run(io: StageIO, *, narrate: NarrateSettings, narrate_cells: NarrateCells, city: str) -> None:
    """Narrate the wanted cells of a city."""
    asker = NarrationRequests(PROMPTS, narrate)
    cells = wanted_cells(io, narrate_cells)
    asked, told, failed = AskingTally(), list[dict[str, Any]](), list[tuple[str, list[Answer]]]()
    every: dict[tuple[str, int], Answer] = {}  # cells alike share one request
    with Ledger(io.ledger_folder) as ledger:
        summary = ask_all(
            lambda: _requests(cells, asker),
            total=cells.height,
            ledger=ledger,
            settings=narrate,
            desc=f"{TASK} {city}",
            replay=io.replay,
        )
        for request, attempts in results(_requests(cells, asker), ledger):
            answer = first_ok(attempts)
            asked.add(attempts, answer, shared=(request.key, 1) in every)
            every |= {(one.key, one.attempt): one for one in attempts}
            if answer is None:
                failed.append((request.item_id, attempts))
            else:
                told.append(_row(request.item_id, answer, asker.hash))
    io.write("narrated", pl.DataFrame(told, schema=pl.Schema(arrow_schema("narrative"))))
    io.write("narration_responses", responses_frame(list(every.values())))
    io.reject(rejection_rows(TASK, failed))
    io.write_json("narration_run", run_figures(city, TASK, asker.model, summary))
    words = [len(row["narrative"].split()) for row in told]
    figures = {
        "city": city,
        "engine": asker.model.engine,
        "model": asker.model.model,
        "revision": asker.model.revision,
        "prompt_hash": asker.hash,
        "cells_wanted": narrate_cells,
        "cells": io.rows("cells"),
        **asked.figures(),
        "words_mean": round(sum(words) / len(words), 4) if words else None,
    }
    io.write_json("narration_metrics", figures)


def _row(cell: str, answer: Answer, prompt_hash: str) -> dict[str, Any]:
    text = msgspec.json.decode(json_in(answer.text), type=dict[str, str])["narrative"]
    provenance = provenance_of(answer, prompt_hash, [])
    return {
        "cell": cell,
        "narrative": nfc(text),
        "provenance": msgspec.structs.asdict(provenance),
    }
