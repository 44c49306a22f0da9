"""Scores of routes: arithmetic on two or three segments, and a town driven end to end."""

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
import yaml

from pipeline.schemas import check_record
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.trips.accuracy import assessment
from pipeline.trips.accuracy.assessment import assess, run, simulated_traces, true_states
from pipeline.trips.accuracy.nearest_edge import nearest_edges
from pipeline.trips.accuracy.route_scores import ROUTE_COLUMNS, RouteScores, quantiles
from pipeline.trips.ingest import ingest_folder
from pipeline.trips.matching.settings import MatchSettings
from pipeline.trips.readers.settings import CabspottingTraces, PortoTraces
from pipeline.trips.simulation.simulate import simulate_trip, trip_ids, write_trips
from tests.trips.builders import cleaning, lon_lat, traces
from tests.trips.towns import BBOX, JITTERED, SIMULATE, defects, grid_roads, plan, town

ROOT = Path(__file__).resolve().parents[2]
MATCH = msgspec.convert(
    yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))["match"], MatchSettings
)


def route(*visits: tuple[str, float, float], trip: str = "T") -> pl.DataFrame:
    rows = [(trip, edge, t, length) for edge, t, length in visits]
    return pl.DataFrame(rows, schema=ROUTE_COLUMNS, orient="row")


def scores_of(*routes: tuple[pl.DataFrame, pl.DataFrame]) -> dict:
    """Score pairs of true and found routes, each of other trips."""
    scores = RouteScores({})
    for true, found in routes:
        scores.add_routes(true, found)
    return scores.figures()


def length_scores(true: pl.DataFrame, found: pl.DataFrame) -> dict:
    return scores_of((true, found))["routes"]


def entry_time_error(true: pl.DataFrame, found: pl.DataFrame) -> dict:
    return scores_of((true, found))["entry_times"]


def point_accuracy(points: pl.DataFrame, twins: dict[str, str]) -> dict:
    scores = RouteScores(twins)
    scores.add_points(points)
    return scores.figures()["points"]


def test_trips_that_come_one_by_one_score_as_they_do_together():
    pairs = [
        (route(("a", 0, 100), ("b", 9, 50), trip=trip), route(("a", 0, length), trip=trip))
        for trip, length in (("T", 100.0), ("U", 25.0), ("V", 0.0))
    ]
    together = tuple(pl.concat(frames) for frames in zip(*pairs, strict=True))
    assert scores_of(*pairs) == scores_of(together)


def test_length_scores_count_added_and_missed_metres():
    true = route(("a", 0, 100), ("b", 9, 50))
    found = route(("a", 0, 100), ("c", 9, 20))
    scores = length_scores(true, found)
    assert scores["route_mismatch"] == round((20 + 50) / 150, 4)
    assert scores["length_precision"] == round(100 / 120, 4)
    assert scores["length_recall"] == round(100 / 150, 4)
    assert scores["length_f1"] == round(2 * 100 / (150 + 120), 4)
    assert (scores["trips"], scores["true_length_m"]) == (1, 150.0)


def test_the_true_route_scores_full_marks():
    true = pl.concat([route(("a", 0, 100)), route(("a", 0, 30), ("b", 5, 60), trip="U")])
    scores = length_scores(true, true)
    assert scores["route_mismatch"] == scores["route_mismatch_median"] == 0.0
    assert scores["length_precision"] == scores["length_recall"] == scores["length_f1"] == 1.0


def test_a_trip_without_a_route_is_missed_whole():
    scores = length_scores(route(("a", 0, 100)), route())
    assert scores["route_mismatch"] == 1.0
    assert scores["length_recall"] == 0.0
    assert scores["length_precision"] is None


def test_a_segment_driven_twice_counts_twice():
    scores = length_scores(route(("a", 0, 100), ("b", 1, 10), ("a", 2, 100)), route(("a", 0, 100)))
    assert scores["route_mismatch"] == round(110 / 210, 4)


def test_entry_times_are_compared_visit_by_visit_without_the_first_segment():
    true = route(("a", 0, 1), ("b", 10, 1), ("a", 20, 1), ("c", 30, 1))
    found = route(("a", 5, 1), ("b", 12, 1), ("a", 26, 1))
    error = entry_time_error(true, found)
    assert error["entries"] == 3
    assert error["entries_found_share"] == round(2 / 3, 4)
    assert error["error_median_s"] == 4.0
    assert error["error_p90_s"] == 2 + 0.9 * 4


def test_points_are_right_on_their_segment_or_at_least_its_street():
    points = pl.DataFrame(
        {"true_edge": ["a", "a", "a", "b"], "found_edge": ["a", "a_back", None, "b"]}
    )
    scores = point_accuracy(points, {"a": "a_back", "a_back": "a"})
    assert scores == {"points": 4, "edge_share": 0.5, "street_share": 0.75}


def test_scores_of_nothing_are_null():
    nothing = route()
    assert length_scores(nothing, nothing)["route_mismatch"] is None
    assert entry_time_error(nothing, nothing)["error_median_s"] is None
    empty = pl.DataFrame(schema={"true_edge": pl.String, "found_edge": pl.String})
    assert point_accuracy(empty, {})["edge_share"] is None
    assert set(quantiles(np.zeros(0)).values()) == {None}


def test_the_nearest_edge_goes_the_way_the_trip_moves():
    # 5 m north of the street from (0, 120) to (120, 120), driven east, then west.
    y = 125.0
    for xs, expected in (([20.0, 60.0, 100.0], "7:1:13"), ([100.0, 60.0, 20.0], "7:13:1")):
        places = [lon_lat(x, y) for x in xs]
        frame = pl.DataFrame(
            {"trip_id": ["T"] * 3, "lon": [p[0] for p in places], "lat": [p[1] for p in places]}
        )
        assert nearest_edges(frame, grid_roads()).to_list() == [expected] * 3
    assert nearest_edges(frame.clear(), grid_roads()).is_empty()


def simulated(folder: Path, settings=SIMULATE, count=40, **changes):
    world = town()
    trips = [simulate_trip(n, world, settings, plan(**changes), 7) for n in trip_ids(count)]
    return write_trips(trips, world, plan(**changes), folder)


def clean_folder(folder: Path, simulation) -> pl.DataFrame:
    files = simulated_traces(simulation, traces("gpx"))
    return ingest_folder(
        folder, traces=files, cleaning=cleaning(most_detour=1e9), bbox=BBOX
    ).cleaned


def test_true_states_follow_the_clock_of_the_file(tmp_path):
    truth = simulated(tmp_path, defects(missing=1.0), count=8)
    cleaned = clean_folder(tmp_path, plan())
    points, routes = true_states(cleaned, truth, grid_roads())
    assert points.height == cleaned["t"].list.len().sum()
    for row in cleaned.iter_rows(named=True):
        entries = routes.filter(pl.col("trip_id") == row["trip_id"])["t_enter_s"].to_numpy()
        assert (np.diff(entries) >= 0).all()
        assert row["t"][0] <= entries[0]
        assert entries[-1] <= row["t"][-1]


def test_true_routes_are_as_long_as_what_was_driven_between_the_samples(tmp_path):
    truth = simulated(tmp_path, defects(), count=8)
    cleaned = clean_folder(tmp_path, plan())
    _, routes = true_states(cleaned, truth, grid_roads())
    length_m = dict(routes.group_by("trip_id").agg(pl.col("length_m").sum()).iter_rows())
    for row in truth.iter_rows(named=True):
        # The last sample lies up to one interval before the arrival, at 40 km/h x e^(3 sigma).
        missing = row["route_length_m"] - length_m[row["raw_trip_id"]]
        assert missing + 1e-6 >= 0
        assert missing <= 15 * 40 / 3.6 * math.exp(3 * 0.25)


@pytest.mark.parametrize("form", ["porto", "cabspotting"])
def test_a_town_is_assessed_and_the_matcher_beats_the_nearest_edge(tmp_path, form):
    changes = {"format": form} | ({"sampling": JITTERED} if form == "cabspotting" else {})
    truth = simulated(tmp_path, **changes)
    cleaned = clean_folder(tmp_path, plan(**changes))
    found = assess(cleaned, truth, grid_roads(), MATCH)
    check_record("assessment", {"city": "toy"} | found, where="assessment")
    matcher, baseline = found["matcher"], found["nearest_edge"]
    assert matcher["routes"]["route_mismatch"] < 0.5 * baseline["routes"]["route_mismatch"]
    assert matcher["points"]["edge_share"] > baseline["points"]["edge_share"]
    assert matcher["points"]["points"] == baseline["points"]["points"]
    assert found["trips"]["simulated"] == 40
    left = {d["defect"]: d["trips"] for d in found["simulation"]["defects"]}
    assert found["trips"]["assessed"] <= found["trips"]["cleaned"]
    assert left == dict(truth["defects"].list.explode().drop_nulls().value_counts().iter_rows())


def test_how_many_trips_are_held_at_a_time_changes_no_figure(tmp_path, monkeypatch):
    truth = simulated(tmp_path, count=12)
    cleaned = clean_folder(tmp_path, plan())
    whole = assess(cleaned, truth, grid_roads(), MATCH)
    monkeypatch.setattr(assessment, "_TRIPS_AT_A_TIME", 5)
    assert assess(cleaned, truth, grid_roads(), MATCH) == whole


def test_a_city_without_cleaned_trips_has_no_scores(tmp_path):
    truth = simulated(tmp_path, count=2)
    cleaned = clean_folder(tmp_path, plan()).clear()
    found = assess(cleaned, truth, grid_roads(), MATCH)
    check_record("assessment", {"city": "toy"} | found, where="assessment")
    assert found["trips"] == {"simulated": 2, "cleaned": 0, "assessed": 0}
    assert found["matcher"]["points"] == {"points": 0, "edge_share": None, "street_share": None}


def test_simulated_files_are_read_as_the_city_reads_its_own_of_that_format():
    own = traces("cabspotting", flip_reports=3, run_gap_s=99.0)
    cab = simulated_traces(plan(format="cabspotting", sampling=JITTERED), own)
    assert isinstance(cab, CabspottingTraces)
    assert (cab.flip_reports, cab.run_gap_s, cab.kind) == (3, 99.0, "simulated")
    porto = simulated_traces(plan(), own)
    assert isinstance(porto, PortoTraces)
    assert (porto.interval_s, porto.kind, porto.shards) == (15, "simulated", own.shards)


STAGE = Stage(
    "assess",
    "pipeline.trips.accuracy.assessment:run",
    "test",
    reads=("simulated_traces", "simulated_truth", "roads"),
    writes=("assessment",),
)


class ToyIO(StageIO):
    """A store whose inputs are the town's, so that only the output is a file."""

    folder: Path
    truth: pl.DataFrame

    def read(self, name: str) -> pl.DataFrame:
        return {"roads": grid_roads(), "simulated_truth": self.truth}[name]

    def path(self, _: str) -> Path:
        return self.folder


def test_the_stage_writes_one_record_of_the_city(tmp_path):
    truth = simulated(tmp_path / "traces", count=6)
    settings: dict = {"match": MATCH, "simulation": plan(), "traces": traces("gpx")}
    with ToyIO(STAGE, city="toy", root=tmp_path) as io:
        io.folder, io.truth = tmp_path / "traces", truth
        run(io, city="toy", cleaning=cleaning(most_detour=1e9), bbox=BBOX, **settings)
    record = json.loads((tmp_path / "data/toy/metrics/accuracy.json").read_text("utf-8"))
    assert record["city"] == "toy"
    assert record["simulated"] is True
    assert "optimistic" in record["limit"]
