"""A town made up around one trip: its own names, and some that lie elsewhere.

town = town_of(planned_trip(...), roads=["Rua do Sul"], places=["Café Sul"], districts=["Foz"])
town.verdicts("Via Rua do Sul to Café Central.")  ->  {"Rua do Sul": "off_route", ...}
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from pipeline.language.areas import read_area
from pipeline.quality.check_texts import city_names
from pipeline.quality.evidence import Evidence
from pipeline.quality.inspection import InspectedText, Inspector
from pipeline.records import Mention, Place, PlannedTrip
from pipeline.schemas import arrow_schema
from tests.language.trips import area, cell_of, phased_trip, place, planned_trip, step
from tests.quality.real_towns import settings

LITERAL, QUERY, CAPTION = "instruction_literal", "retrieval_query_1", "trajectory_caption"


class SmallTown(NamedTuple):
    """A town and its one trip."""

    inspector: Inspector
    evidence: Evidence

    def inspect(self, text: str, field: str = LITERAL) -> InspectedText:
        """Return what the rules find in a text of the trip."""
        return self.inspector.inspect_text(field, text, self.evidence)

    def mentions(self, text: str, field: str = LITERAL) -> list[Mention]:
        return self.inspect(text, field).mentions

    def verdicts(self, text: str, field: str = LITERAL) -> dict[str, str]:
        """Return the verdict of each name as the text writes it."""
        return {one.text: one.verdict for one in self.mentions(text, field)}

    def rules(self, text: str, field: str = LITERAL) -> list[str]:
        """Return the rules that find something in a text."""
        return sorted({finding.rule for finding in self.inspect(text, field).findings})

    def claims(self, text: str, field: str = LITERAL) -> dict[str, str]:
        """Return the verdict of each statement."""
        return {one.text: one.verdict for one in self.inspect(text, field).claims}


def _poi(one: Place) -> dict[str, object]:
    return {
        "id": one.id, "name": one.name, "category": one.category, "group": one.group,
        "lon": one.lon, "lat": one.lat,
    }  # fmt: skip


class Tables(NamedTuple):
    """Rows of the tables a city's names come from, with the columns that matter to them."""

    roads: list[dict[str, object]]
    road_cells: list[dict[str, object]]
    cells: list[dict[str, object]]
    names: list[dict[str, object]]


def tables_of(
    trip: PlannedTrip,
    *,
    roads: Iterable[str] = (),
    places: Iterable[str] = (),
    districts: Iterable[str] = (),
    listed: Iterable[tuple[str, str]] = (),
) -> Tables:
    """Return the tables of a town that has the names of a trip and others that lie elsewhere.

    Args:
        trip: The trip.
        roads: Roads that trips can pass.
        places: Places in cells that trips can pass.
        districts: Districts of such cells.
        listed: Names, with kinds, that only the list of all names holds.
    """
    of_trip = [(name, phase.cell) for phase in trip.phases for name in phase.road_names]
    segments = [*of_trip, *((name, cell_of(900)) for name in roads)]
    at = {"u_lon": -8.6, "v_lon": -8.6, "u_lat": 41.1, "v_lat": 41.1}
    pois = [_poi(one) for one in trip.places] + [_poi(place(0, name)) for name in places]
    in_order = [None, *(read_area(phase.desc).district for phase in trip.phases), *districts]
    return Tables(
        [{"edge_id": f"{n}:1:2", "name": name, **at} for n, (name, _) in enumerate(segments)],
        [{"edge_id": f"{n}:1:2", "cell": cell} for n, (_, cell) in enumerate(segments)],
        [
            {"cell": cell_of(100 + n), "lon": -8.6, "lat": 41.1, "district": name,
             "pois": pois if n == 0 else []}
            for n, name in enumerate(in_order)
        ],
        [
            {"name": name, "kind": kind, "id": f"w{n}", "lon": -8.6, "lat": 41.1}
            for n, (name, kind) in enumerate(listed)
        ],
    )  # fmt: skip


def town_of(
    trip: PlannedTrip,
    *,
    roads: Iterable[str] = (),
    places: Iterable[str] = (),
    districts: Iterable[str] = (),
    listed: Iterable[tuple[str, str]] = (),
    city: str = "Porto",
) -> SmallTown:
    """Build a town that has the names of a trip and others that lie elsewhere."""
    tables = tables_of(trip, roads=roads, places=places, districts=districts, listed=listed)
    road = dict.fromkeys(("edge_id", "name"), pl.String)
    road |= dict.fromkeys(("u_lon", "v_lon", "u_lat", "v_lat"), pl.Float64)
    poi = pl.Struct({"id": pl.String, "name": pl.String, "category": pl.String,
                     "group": pl.String, "lon": pl.Float64, "lat": pl.Float64})  # fmt: skip
    cell = {"cell": pl.String, "lon": pl.Float64, "lat": pl.Float64, "district": pl.String,
            "pois": pl.List(poi)}  # fmt: skip
    names = city_names(
        city,
        roads=pl.DataFrame(tables.roads, schema=road),
        road_cells=pl.DataFrame(
            tables.road_cells, schema=dict.fromkeys(("edge_id", "cell"), pl.String)
        ),
        cells=pl.DataFrame(tables.cells, schema=cell),
        names=pl.DataFrame(tables.names, schema=pl.Schema(arrow_schema("city_name"))),
    )
    inspector = Inspector(names, settings().rules, wording=settings().wording)
    return SmallTown(inspector, inspector.evidence(trip))


def porto_trip() -> PlannedTrip:
    """Return a trip of five phases: north, north, east, east, south; 10 minutes, 2 km."""
    steps = (
        step(["Rua Prof. Vicente José de Carvalho"], area(district="Cedofeita"), heading_deg=0,
             length_m=400),
        step(["Rua de Santa Catarina"], area(facilities=["pharmacy"]), heading_deg=0, length_m=500),
        step(["Avenida da Boavista"], area("WATERFRONT", natural=["water"]), heading_deg=90,
             length_m=500),
        step(["Rua do Campo Alegre"], area(), heading_deg=90, length_m=400),
        step(["Rua Direita"], area("GREEN/PARK", natural=["park"], district="Foz"),
             heading_deg=180, length_m=200),
    )  # fmt: skip
    trip = phased_trip(*steps, duration_s=600)
    places = [place(0, "Café Norte"), place(2, "Hotel Dom Pedro", category="hotel"),
              place(4, "Café Central")]  # fmt: skip
    return planned_trip(trip, places=places)


ELSEWHERE = {
    "roads": ["Rua da Boavista", "Rua do Campo", "Rua do Sul", "3rd Street", "23rd Street"],
    "places": ["Café Sul", "Stop", "Day", "Coffee Bar", "hey poke"],
    "districts": ["Ramalde"],
    "listed": [("Rua Pedonal", "road"), ("Jardim do Morro", "place")],
}


def porto() -> SmallTown:
    """Return Porto around that trip, with a few names elsewhere."""
    return town_of(porto_trip(), **ELSEWHERE)
