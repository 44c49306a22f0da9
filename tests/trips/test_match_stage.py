"""The stage `match` takes some trips at a time; what it writes does not depend on how many."""

import polars as pl
import pytest

from pipeline import tables
from pipeline.artifacts import ARTIFACTS
from pipeline.schemas import arrow_schema, schema_document
from pipeline.stages import STAGES
from pipeline.store import StageIO
from pipeline.tables import write_table
from pipeline.trips.drives import DriveSettings
from pipeline.trips.match import run
from tests.matching.settings_for_tests import settings
from tests.trips.builders import START, cleaning
from tests.trips.towns import grid_roads

STAGE = next(stage for stage in STAGES if stage.name == "match")
DRIVES = DriveSettings(
    on_break="split", min_length_m=100.0, min_segments=1, min_matched_share=0.5,
    max_detour_ratio=2.0,
)  # fmt: skip
WHOLE = ["7:0:1", "7:1:2", "7:2:3"]
BROKEN = ["7:0:1", "7:1:2", "7:14:15", "7:15:16"]  # from 2 nobody gets to 14 at once


def cleaned(**edges: list[str]) -> pl.DataFrame:
    """Return trips that come matched already, one point a segment."""
    rows = [
        {"trip_id": name, "raw_trip_id": name, "vehicle_id": None, "edge_ids": ids, "notes": [],
         "t": [START + 10.0 * i for i in range(len(ids))], "lon": [-8.6] * len(ids),
         "lat": [41.15] * len(ids), "raw_index": list(range(len(ids))), "simulated": False}
        for name, ids in edges.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=pl.Schema(arrow_schema("cleaned_trip")))


def matched(root, trips: pl.DataFrame) -> dict[str, bytes]:
    """Run the stage; return the bytes of what it wrote."""
    base = root / "data/toy"
    example = schema_document("road")["examples"][0]
    roads = grid_roads()
    missing = {name: value for name, value in example.items() if name not in roads.columns}
    roads = roads.with_columns(pl.lit(value).alias(name) for name, value in missing.items())
    write_table(roads, base / "roads.parquet", ARTIFACTS["roads"], shown="roads")
    write_table(trips, base / "cleaned/part-00000.parquet", ARTIFACTS["cleaned"], shown="cleaned")
    with StageIO(STAGE, city="toy", root=root) as io:
        run(io, match=settings(), drives=DRIVES, cleaning=cleaning(shortest_s=10.0))
    made = [*(base / "matched").iterdir(), *(base / "matched_points").iterdir()]
    return {str(file.relative_to(base)): file.read_bytes() for file in sorted(made)}


@pytest.mark.parametrize("held", [1, 2, 3])
def test_a_second_drive_stands_in_its_place_however_many_trips_are_held(
    tmp_path, monkeypatch, held
):
    trips = cleaned(a=BROKEN, a_0=WHOLE, a_q=WHOLE, b=BROKEN)
    whole = matched(tmp_path / "whole", trips)
    monkeypatch.setattr(tables, "_ROWS_AT_A_TIME", held)
    assert matched(tmp_path / "held", trips) == whole
    found = pl.read_parquet(tmp_path / "held/data/toy/matched/*.parquet")
    assert found["trip_id"].to_list() == ["a", "a_0", "a_p2", "a_q", "b", "b_p2"]


def test_a_city_without_trips_gives_tables_without_rows(tmp_path):
    matched(tmp_path, cleaned())
    for name in ("matched", "matched_points"):
        assert pl.read_parquet(tmp_path / f"data/toy/{name}/part-00000.parquet").is_empty()
