"""The simulator: truth is what was driven, noise is what is said, each trip is its own."""

from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import polars as pl
import pytest
from scipy.sparse.csgraph import dijkstra

from pipeline.errors import ParameterError, SourceError
from pipeline.schemas import check_record
from pipeline.seeds import rng_for
from pipeline.stages import Stage
from pipeline.store import StageIO
from pipeline.trips.ingest import ingest_folder
from pipeline.trips.simulation.demand import departure_s, end_weights
from pipeline.trips.simulation.driving import STOP_LINE_M, fix_times_s
from pipeline.trips.simulation.raw_files import Fleet
from pipeline.trips.simulation.recording import DEFECTS, position_error
from pipeline.trips.simulation.road_graph import RoadGraph
from pipeline.trips.simulation.routes import Perceived
from pipeline.trips.simulation.simulate import (
    make_world,
    run,
    simulate_trip,
    trip_ids,
    write_trips,
)
from pipeline.trips.simulation.truth import with_parameters
from tests.trips.builders import CLEANING, cleaning, traces
from tests.trips.towns import (
    BBOX,
    JITTERED,
    SIMULATE,
    defects,
    grid_roads,
    plan,
    simulate,
    town,
)

WORLD = town()
GRAPH = WORLD.graph


def drive(count=60, settings=SIMULATE, seed=7, **changes):
    return [simulate_trip(n, WORLD, settings, plan(**changes), seed) for n in trip_ids(count)]


def written(tmp_path, trips, **changes):
    return write_trips(trips, WORLD, plan(**changes), tmp_path / "traces")


def bytes_of(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


# ---- the graph ----------------------------------------------------------------------------------


def test_places_on_segments_run_from_end_to_end():
    everyone = np.arange(GRAPH.u.size)
    starts = GRAPH.position(everyone, np.zeros(everyone.size))
    ends = GRAPH.position(everyone, GRAPH.length_m)
    middles = GRAPH.position(everyone, GRAPH.length_m / 2)
    at_node = {int(n): xy for n, xy in zip(GRAPH.u, starts, strict=True)}
    apart = [np.hypot(*(xy - at_node[int(n)])) for n, xy in zip(GRAPH.v, ends, strict=True)]
    assert max(apart) < 1e-6
    assert np.hypot(*(middles - starts).T) == pytest.approx(GRAPH.length_m / 2, rel=2e-3)


def test_twins_are_the_two_directions_of_a_street():
    two_way = np.flatnonzero(GRAPH.twin >= 0)
    assert 0 < two_way.size < GRAPH.u.size
    assert (GRAPH.twin[GRAPH.twin[two_way]] == two_way).all()
    assert (GRAPH.u[GRAPH.twin[two_way]] == GRAPH.v[two_way]).all()


def test_a_town_without_roads_is_refused():
    with pytest.raises(SourceError, match="expected roads to drive on"):
        RoadGraph(grid_roads().clear())


def test_a_network_too_small_for_a_route_is_refused():
    with pytest.raises(SourceError, match="shortest_route_m"):
        simulate_trip("sim-000001", WORLD, simulate(shortest_route_m=9e5), plan(), 7)


# ---- routes -------------------------------------------------------------------------------------


def test_a_route_is_connected_long_enough_and_never_turns_on_the_spot():
    for trip in drive(80):
        edges = trip.route.edges
        assert (GRAPH.v[edges[:-1]] == GRAPH.u[edges[1:]]).all()
        assert (GRAPH.twin[edges[:-1]] != edges[1:]).all()
        full = GRAPH.length_m[edges].sum()
        cut = trip.route.off_from_m + GRAPH.length_m[edges[-1]] - trip.route.off_to_m
        assert trip.route.length_m == pytest.approx(full - cut)
        assert trip.route.length_m >= 800
        assert trip.route.shortest_m <= trip.route.length_m + 1e-9


def test_without_spread_and_via_a_route_is_the_fastest():
    settings = simulate(cost_sigma=0.0)
    cost = GRAPH.length_m / GRAPH.speed_mps
    matrix = np.full((GRAPH.nodes, GRAPH.nodes), np.inf)
    np.minimum.at(matrix, (GRAPH.u, GRAPH.v), cost)
    best = dijkstra(np.where(np.isfinite(matrix), matrix, 0.0))
    for trip in drive(20, settings, via_share=0.0):
        middle = trip.route.edges[1:-1]
        start, goal = GRAPH.v[trip.route.edges[0]], GRAPH.u[trip.route.edges[-1]]
        assert cost[middle].sum() == pytest.approx(best[start, goal])


def test_a_via_point_costs_within_its_bounds():
    settings = simulate(cost_sigma=0.0, via_detour=[1.1, 1.3])
    by_time = Perceived(GRAPH, GRAPH.length_m / GRAPH.speed_mps)
    via = [t.route for t in drive(40, settings, via_share=1.0) if t.route.via]
    assert len(via) > 20
    for route in via:
        cost, _ = by_time.from_node(int(GRAPH.v[route.edges[0]]))
        best = cost[GRAPH.u[route.edges[-1]]]
        driven = (GRAPH.length_m / GRAPH.speed_mps)[route.edges[1:-1]].sum()
        assert 1 - 1e-9 <= driven / best < 1.45


# ---- demand -------------------------------------------------------------------------------------


def test_a_cells_places_are_shared_out_over_its_road_by_length():
    roads = pl.DataFrame({"edge_id": ["a", "b", "c"], "length_m": [100.0, 300.0, 50.0]})
    cells = pl.DataFrame({"edge_id": ["a", "b", "c"], "cell": ["x", "x", "y"]})
    places = pl.DataFrame({"cell": ["x"], "count": [40]})
    assert end_weights(roads, cells, places).tolist() == [10.0, 30.0, 0.0]


def test_where_there_are_no_places_length_is_the_weight():
    roads = pl.DataFrame({"edge_id": ["a", "b"], "length_m": [100.0, 300.0]})
    cells = pl.DataFrame({"edge_id": ["a", "b"], "cell": ["x", "x"]})
    none = pl.DataFrame({"cell": ["x"], "count": [0]})
    assert end_weights(roads, cells, none).tolist() == [100.0, 300.0]


def test_departures_follow_weekday_and_hour_in_local_time():
    weekdays, hours = [0.0] * 7, [0.0] * 24
    weekdays[2], hours[3] = 1.0, 1.0
    settings = simulate(weekday_weights=weekdays, hour_weights=hours)
    zone = ZoneInfo("Europe/Helsinki")
    for i in range(50):
        second = departure_s(2024, "Europe/Helsinki", settings, rng_for(1, "t", str(i)))
        local = datetime.fromtimestamp(second, zone)
        assert (local.year, local.weekday(), local.hour) == (2024, 2, 3)


# ---- driving ------------------------------------------------------------------------------------


def test_truth_lies_on_the_route_and_moves_forward():
    for trip in drive(40, defects(dwell=0.3)):
        step, offset = trip.recording.step, trip.recording.offset_m
        along = np.concatenate([[0.0], np.cumsum(GRAPH.length_m[trip.route.edges])])
        way = along[step] + offset
        assert (np.diff(way) >= -1e-9).all()
        assert way[0] == pytest.approx(trip.route.off_from_m)
        assert (offset <= GRAPH.length_m[trip.route.edges[step]] + 1e-9).all()
        inside = trip.drive.t_enter_s[step] <= trip.recording.true_s
        assert inside.all()
        assert (trip.recording.true_s <= trip.drive.t_leave_s[step]).all()


def test_vehicles_wait_short_of_the_junction():
    settings = simulate(stop_share=1.0, stop_mean_s=60.0)
    for trip in drive(10, settings):
        step = trip.recording.step[1:]
        still = (np.diff(trip.recording.offset_m) == 0) & (step > 0)
        step = step[still]
        rest = GRAPH.length_m[trip.route.edges[step]] - trip.recording.offset_m[1:][still]
        assert (rest >= STOP_LINE_M - 1e-6).all()


def test_a_drive_without_spread_or_stops_has_the_roads_speed():
    settings = msgspec.structs.replace(defects(), speed_sigma=0.0, stop_share=0.0)
    for trip in drive(10, settings):
        driven_m = trip.route.length_m
        assert driven_m / trip.drive.lasting_s == pytest.approx(40 / 3.6)


def test_a_dwell_lasts_as_long_as_stated():
    quiet, dwelling = drive(20, defects()), drive(20, defects(dwell=1.0))
    for before, after in zip(quiet, dwelling, strict=True):
        added = after.drive.lasting_s - before.drive.lasting_s
        assert 300 <= added <= 900
        assert after.recording.defects == ["dwell"]
        assert (after.route.edges == before.route.edges).all()


def test_jittered_intervals_have_the_quantiles_asked_for():
    sampling = plan(format="cabspotting", sampling=JITTERED).sampling
    times = fix_times_s(sampling, 400_000.0, rng_for(3, "t", "x"))
    steps = np.diff(times)
    assert np.quantile(steps, [0.1, 0.5, 0.9]) == pytest.approx([11, 20, 24], abs=1.0)
    assert (steps > 88).mean() == pytest.approx(0.01, abs=0.003)
    assert (times == np.rint(times)).all()


def test_porto_files_need_fixed_sampling():
    with pytest.raises(ParameterError, match="kind `fixed`"):
        simulate_trip("sim-000001", WORLD, SIMULATE, plan(sampling=JITTERED), 7)


# ---- error and defects --------------------------------------------------------------------------


def test_the_error_has_the_size_correlation_and_outliers_it_states():
    clean = position_error(40_000, simulate(outlier_share=0.0), rng_for(1, "t", "a"))
    assert clean.std(axis=0) == pytest.approx([4.5, 4.5], rel=0.03)
    neighbours = np.corrcoef(clean[:-1, 0], clean[1:, 0])[0, 1]
    assert neighbours == pytest.approx(0.6, abs=0.02)
    # Rayleigh: half of the distances are below sigma x sqrt(2 ln 2).
    assert np.median(np.hypot(*clean.T)) == pytest.approx(4.5 * 1.17741, rel=0.03)
    dirty = position_error(40_000, simulate(outlier_share=0.055), rng_for(1, "t", "a"))
    far = np.hypot(*dirty.T) > 25.0
    # exp(-25^2 / (2 x 30^2)) of the outliers lie beyond 25 m, and none of the rest.
    assert far.mean() == pytest.approx(0.055 * np.exp(-(25**2) / (2 * 30**2)), rel=0.1)


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_comes_as_often_as_its_share(name):
    settings = defects(**{name: 0.25})
    found = [trip.recording.defects for trip in drive(300, settings)]
    assert set(map(tuple, found)) <= {(), (name,)}
    # Three standard deviations of a share of 0.25 in 300 trips.
    assert np.mean([bool(d) for d in found]) == pytest.approx(0.25, abs=0.075)


def test_missing_samples_leave_portos_clock_behind(tmp_path):
    trips = drive(20, defects(missing=1.0))
    truth = written(tmp_path, trips)
    for row in truth.iter_rows(named=True):
        assert np.diff(row["sample_written_s"]).tolist() == [15.0] * (
            len(row["sample_written_s"]) - 1
        )
        gaps = np.diff(row["sample_true_s"])
        assert gaps.min() == 15.0
        assert (gaps > 15).sum() == 1


def test_a_trip_that_leaves_ends_outside_the_bbox_without_truth(tmp_path):
    truth = written(tmp_path, drive(10, defects(leaving=1.0)))
    assert truth["sample_edge_id"].list.get(-1).null_count() == truth.height
    result = ingest_folder(
        tmp_path / "traces",
        traces=traces("porto", interval_s=15),
        cleaning=cleaning(most_detour=1e9),
        bbox=BBOX,
    )
    assert result.tally["touched", "out_of_bbox"] == truth.height


def test_a_copied_trip_is_found_as_a_duplicate(tmp_path):
    truth = written(tmp_path, drive(8, defects(copied=1.0)))
    result = ingest_folder(
        tmp_path / "traces", traces=traces("porto", interval_s=15), cleaning=CLEANING, bbox=BBOX
    )
    assert result.tally["trips", "duplicate_trip_id"] == truth.height


def test_a_short_trip_has_at_most_three_samples():
    assert {t.recording.true_s.size for t in drive(40, defects(short=1.0))} == {0, 1, 2, 3}


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["porto", "cabspotting"])
def test_a_reader_finds_what_truth_says_was_written(tmp_path, form):
    changes = {"format": form} | ({"sampling": JITTERED} if form == "cabspotting" else {})
    truth = written(tmp_path, drive(60, **changes), **changes)
    settings = (
        traces("porto", interval_s=15)
        if form == "porto"
        else traces("cabspotting", flip_reports=0, run_gap_s=1e9)
    )
    result = ingest_folder(
        tmp_path / "traces", traces=settings, cleaning=cleaning(standing_least_s=1e9), bbox=BBOX
    )
    both = result.raw_trips.join(truth, on="raw_trip_id")
    empty = truth.filter(pl.col("sample_true_s").list.len() == 0).height
    assert both.height == truth.height - (empty if form == "cabspotting" else 0)
    assert both["t"].equals(both["sample_written_s"].alias("t"))


def test_cab_files_run_backwards_and_say_that_they_are_simulated(tmp_path):
    changes = {"format": "cabspotting", "sampling": JITTERED}
    written(tmp_path, drive(30, **changes), **changes)
    files = sorted((tmp_path / "traces").glob("new_sim*.txt"))
    assert files
    for file in files:
        times = [int(line.split()[3]) for line in file.read_text("utf-8").splitlines()]
        assert times == sorted(times, reverse=True)


def test_the_same_trips_give_the_same_bytes_twice(tmp_path):
    first, second = (written(tmp_path / name, drive(30)) for name in "ab")
    assert first.equals(second)
    assert bytes_of(tmp_path / "a" / "traces") == bytes_of(tmp_path / "b" / "traces")


def test_a_trip_does_not_depend_on_how_many_there_are(tmp_path):
    few, many = written(tmp_path / "few", drive(10)), written(tmp_path / "many", drive(40))
    assert few.equals(many.filter(pl.col("raw_trip_id").is_in(few["raw_trip_id"].to_list())))


def test_another_seed_gives_other_trips():
    assert drive(1)[0].departure_s != drive(1, seed=8)[0].departure_s


def test_more_defects_redraw_no_route():
    for plain, spoilt in zip(drive(10, defects()), drive(10, defects(missing=1.0)), strict=True):
        assert (plain.route.edges == spoilt.route.edges).all()
        assert (plain.drive.t_enter_s == spoilt.drive.t_enter_s).all()


def test_a_busy_vehicle_passes_its_trip_to_the_next():
    spans = [(0.0, 100.0), (50.0, 80.0), (300.0, 400.0), (60.0, 70.0)]
    fleet = Fleet(2, 10.0)
    assert [fleet.vehicle(0, *span) for span in spans] == [0, 1, 0, 0]


STAGE = Stage(
    "simulate",
    "pipeline.trips.simulation.simulate:run",
    "test",
    reads=("roads", "road_cells", "cells"),
    writes=("simulated_traces", "simulated_truth"),
)


class ToyIO(StageIO):
    """A store whose inputs are the town's, so that only the outputs are files."""

    def read(self, name: str) -> pl.DataFrame:
        roads = grid_roads()
        tables = {
            "roads": roads,
            "road_cells": roads.select("edge_id", cell=pl.lit("x")),
            "cells": pl.DataFrame({"cell": ["x"], "pois": [[{"id": "n1"}, {"id": "n2"}]]}),
        }
        return tables[name]


def test_the_stage_writes_raw_files_and_a_valid_truth(tmp_path):
    settings = {"simulate": SIMULATE, "simulation": plan(trips=12), "bbox": BBOX}
    with ToyIO(STAGE, city="toy", root=tmp_path) as io:
        run(io, city="toy", seed=7, time_zone="Europe/Lisbon", **settings)
    truth = pl.read_parquet(tmp_path / "data/toy/simulated/truth.parquet")
    assert truth.height == 12
    assert truth["simulated"].all()
    assert '"city": "toy"' in truth["parameters"][0]
    for row in truth.iter_rows(named=True):
        check_record("simulated_truth", row, where=row["raw_trip_id"])
    assert (tmp_path / "data/toy/simulated/traces/simulated_train.csv").is_file()


def test_parameters_are_kept_with_the_truth(tmp_path):
    truth = with_parameters(written(tmp_path, drive(2)), "toy", 7, SIMULATE, plan())
    assert truth["seed"].to_list() == [7, 7]


def test_no_weights_but_length_need_no_cells():
    world = make_world(grid_roads(), np.ones(GRAPH.u.size), BBOX, "Europe/Lisbon")
    assert simulate_trip("sim-000001", world, SIMULATE, plan(), 7).route.length_m >= 800
