"""The names of Helsinki and Monaco and seven real trips of each, as the default cities have them.

town = real_town("monaco")
town.inspect("sim0044-1708981911", "instruction_concise", "Route de la Piscine.")
  ->  InspectedText(..., mentions=[Mention("Route de la Piscine", "grounded", phase 9), ...])

Cut from the tables of the default cities (roads, cells, planned trips): one segment of each road in
each cell, every named place. (c) OpenStreetMap contributors, ODbL; the trips are simulated.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from pipeline.params import section_of
from pipeline.quality.check_texts import CheckSettings, city_names
from pipeline.quality.evidence import Evidence
from pipeline.quality.gazetteer import Gazetteer
from pipeline.quality.inspection import FIELDS, Inspected, InspectedText, Inspector
from pipeline.quality.verification import open_claims, rules_verdict, settled
from pipeline.records import AnnotatedTrip, PlannedTrip, Provenance, Texts
from pipeline.schemas import arrow_schema

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAMES = {"helsinki": "Helsinki", "monaco": "Monaco"}
PROVENANCE = Provenance("template", "template", "1", "3f" * 32, [], "3f" * 32, 1)
# The list of all names of a city, empty: the texts were labelled by what roads and cells hold.
NO_NAMES = pl.DataFrame(schema=pl.Schema(arrow_schema("city_name")))
POI = ("id", "name", "category", "group", "lon", "lat")


@cache
def settings() -> CheckSettings:
    """Return the section `check` as params.yaml has it."""
    found: CheckSettings = section_of(ROOT / "params.yaml", "check", CheckSettings)
    return found


class Town(NamedTuple):
    """A city ready for its texts."""

    names: Gazetteer
    inspector: Inspector
    trips: dict[str, PlannedTrip]

    def evidence(self, trip_id: str) -> Evidence:
        """Return what a trip's own record shows."""
        return self.inspector.evidence(self.trips[trip_id])

    def inspect(self, trip_id: str, field: str, text: str) -> InspectedText:
        """Return what the rules find in one text of a trip."""
        return self.inspector.inspect_text(field, text, self.evidence(trip_id))

    def rules(self, trip_id: str, field: str, text: str) -> list[str]:
        """Return the rules that find something in one text, the verifier's among them."""
        found = self.inspect(trip_id, field, text)
        texts = Texts(*(found.reading.text if name == field else "-" for name in FIELDS))
        whole = Inspected(trip_id, texts, found.mentions, found.claims, found.repairs,
                          found.findings)  # fmt: skip
        verdicts = [rules_verdict(claim) for claim in open_claims(whole.claims)]
        whole = settled(whole, verdicts, by="rules", policies=settings().rules)
        return sorted({finding.rule for finding in whole.findings})

    def annotated(self, trip_id: str, **texts: str) -> AnnotatedTrip:
        """Return a trip with texts; those not given say nothing."""
        trip = self.trips[trip_id]
        said = Texts(*(texts.get(name, "Go.") for name in FIELDS))
        return AnnotatedTrip(trip.trip_id, trip.meta, trip.phases, trip.places, trip.intents, said,
                             PROVENANCE)  # fmt: skip


@cache
def real_town(city: str) -> Town:
    """Return a default city."""
    told: dict[str, Any] = json.loads((HERE / "towns" / f"{city}.json").read_text("utf-8"))
    roads = pl.DataFrame(
        [
            {
                "name": name,
                "edge_id": edge_id,
                "u_lon": lon,
                "v_lon": lon,
                "u_lat": lat,
                "v_lat": lat,
            }
            for name, edge_id, _, lon, lat in told["roads"]
        ]
    )
    road_cells = pl.DataFrame(
        [{"edge_id": edge_id, "cell": cell} for _, edge_id, cell, _, _ in told["roads"]]
    )
    cells = pl.DataFrame(
        [
            {"cell": cell, "lon": lon, "lat": lat, "district": district,
             "pois": [dict(zip(POI, poi, strict=True)) for poi in pois]}
            for cell, lon, lat, district, pois in told["cells"]
        ],
        infer_schema_length=None,
    )  # fmt: skip
    names = city_names(NAMES[city], roads=roads, road_cells=road_cells, cells=cells, names=NO_NAMES)
    trips = msgspec.convert(told["trips"], list[PlannedTrip])
    return Town(
        names,
        Inspector(names, settings().rules, wording=settings().wording),
        {trip.trip_id: trip for trip in trips},
    )


@cache
def town_of(folder: str, city: str) -> Town:
    """Return a default city with the trips of a folder of labelled texts."""
    lines = (HERE / folder / f"trips_{city}.jsonl").read_bytes().splitlines()
    trips = [msgspec.json.decode(line, type=PlannedTrip) for line in lines]
    return real_town(city)._replace(trips={trip.trip_id: trip for trip in trips})
