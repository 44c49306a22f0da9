"""A project on disk whose annotated trips wait to be checked: tables of the city and texts.

project = CheckedProject(tmp_path, [[annotated("t1", instruction_literal="Via Rua do Sul.")]])
project.run("check")
project.rows("checked"), project.rows("check_rejected"), project.record_of("check_metrics")
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.language.prompts import PROMPTS
from pipeline.language.requests import Request
from pipeline.params import Parameters, section_of
from pipeline.quality.check_texts import CheckSettings
from pipeline.quality.examiner import model_of
from pipeline.quality.inspection import Inspector
from pipeline.quality.verification import VerifyRequests
from pipeline.records import AnnotatedTrip, Provenance, Texts
from pipeline.schemas import binary_columns, schema_document
from tests.language.asked_project import AskedProject
from tests.quality.small_town import ELSEWHERE, porto, porto_trip, tables_of

HASH = "3f" * 32
WRITER = Provenance("template", "template", "1", HASH, [], HASH, 1)
ROOT = Path(__file__).resolve().parent.parent.parent
# Sound texts of the trip of `porto`; {} takes something of the trip's own, so that none is a copy.
SOUND = {
    "instruction_literal": "Take Avenida da Boavista and finish on Rua Direita, {}.",
    "instruction_concise": "Rua Direita, {}.",
    "instruction_chatty": "Could we {} go to Café Central?",
    "retrieval_query_1": "Trips {} from Cedofeita to Foz",
    "retrieval_query_2": "Drives along Rua do Campo Alegre {}",
    "retrieval_query_3": "Routes {} past a pharmacy",
    "trajectory_caption": "The drive leaves Cedofeita, goes {} along Rua de Santa Catarina and"
    " ends in Foz.",
}


def annotated(trip_id: str, word: str = "", **texts: str) -> AnnotatedTrip:
    """Return the trip of `porto` under an id, with sound texts but for those given."""
    trip = porto_trip()
    said = {
        field: text.format(word).replace("  ", " ").replace(", .", ".")
        for field, text in SOUND.items()
    }
    return AnnotatedTrip(
        trip_id, trip.meta, trip.phases, trip.places, trip.intents, Texts(**(said | texts)), WRITER
    )


class CheckedProject(AskedProject):
    """A project of one city, `toy`, that has the names of `porto`."""

    def __init__(self, root: Path, shards: Sequence[Iterable[AnnotatedTrip]]) -> None:
        super().__init__(root)
        self.params["check"] = msgspec.to_builtins(
            section_of(ROOT / "params.yaml", "check", CheckSettings)
        )
        self.config["name"] = "Porto"
        self.save()
        self.annotated = [list(shard) for shard in shards]
        for number, shard in enumerate(self.annotated):
            self.put("annotated", msgspec.to_builtins(shard), f"part-{number:05d}.parquet")
        self._put_city()

    def _put_city(self) -> None:
        """Write the tables that `porto` is made of, filled up from the schemas' own examples."""
        for name, rows in tables_of(porto_trip(), **ELSEWHERE)._asdict().items():
            schema = str(ARTIFACTS[name].schema)
            example = schema_document(schema)["examples"][0]
            frame = pl.DataFrame([example | row for row in rows], infer_schema_length=None)
            for column in binary_columns(schema):
                frame = frame.with_columns(pl.col(column).str.decode("hex"))
            self.put(name, frame.to_dicts())


def verified_by(project: CheckedProject, engine: dict[str, Any], **keys: Any) -> None:
    """Set who verifies and further keys of `check.verify`."""
    verify = project.params["check"]["verify"] | {"engine": engine} | keys
    project.set("check", verify=verify)


def verify_requests(project: CheckedProject) -> dict[str, Request]:
    """Return the request about each trip that a verifier is asked about, by its id."""
    settings: CheckSettings = Parameters(project.root).section("check", CheckSettings)
    asked = model_of(settings.verify)
    assert asked is not None
    asker = VerifyRequests(PROMPTS, asked, asks=settings.verify.asks)
    inspector = Inspector(porto().inspector.names, settings.rules, wording=settings.wording)
    found = [(trip, inspector.inspect(trip)[0]) for shard in project.annotated for trip in shard]
    return {trip.trip_id: asker.request(trip, one) for trip, one in found if asker.concerns(one)}
