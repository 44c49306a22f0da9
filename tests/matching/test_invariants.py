"""What holds for any trace, and what no result depends on."""

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.trace import compile_match_chunk
from tests.matching import settings_for_tests
from tests.matching.towns import chequerboard, joints_hold, points

TOWN = chequerboard(4)
SPOT = st.tuples(st.floats(-150, 750), st.floats(-150, 750), st.floats(0, 600, allow_nan=False))
TRACE = st.lists(SPOT, max_size=14)
WALK = st.lists(st.tuples(st.floats(-60, 60), st.floats(-60, 60)), min_size=1, max_size=14)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_one_signature_is_compiled_whatever_the_frame_looks_like():
    frame = points(wander([(50, 0)] * 8))
    TOWN.matcher.match(frame)
    TOWN.matcher.match(pl.concat([frame[:3], frame[3:]], rechunk=False))
    TOWN.matcher.match(frame.cast({"lon": pl.Float64, "t": pl.Int64, "trace_id": pl.Int8}))
    assert len(compile_match_chunk().signatures) == 1


def wander(steps):
    x, y, trace = 300.0, 300.0, []
    for k, (dx, dy) in enumerate(steps):
        x, y = x + dx, y + dy
        trace.append((x, y, 15.0 * k))
    return trace


@QUICK
@given(st.lists(st.one_of(TRACE, WALK.map(wander)), min_size=1, max_size=4))
def test_paths_are_connected_times_rise_and_every_point_comes_once(traces):
    frame = points(*traces)
    path, fixes, trips = TOWN.match(*traces)
    assert joints_hold(path, TOWN.frame)
    lengths = dict(zip(TOWN.network.edge_ids, TOWN.network.graph.edges["length"], strict=True))
    assert fixes.height == frame.height
    assert fixes.select("trace_id", "i").is_unique().all()
    assert sorted(trips["trace_id"]) == sorted(set(frame["trace_id"]))
    assert (fixes["edge_id"].is_not_null() == fixes["status"].is_in(["matched", "standing"])).all()
    assert (path["t_exit_s"] >= path["t_enter_s"]).all()
    assert (path["off_to_m"] >= path["off_from_m"]).all()
    for row in path.iter_rows(named=True):
        assert row["off_from_m"] >= 0
        assert row["off_to_m"] <= lengths[row["edge_id"]] + 0.01
    same = (path["trace_id"] == path["trace_id"].shift(1)) & (path["part"] == path["part"].shift(1))
    together = path.filter(same.fill_null(value=False))
    before = path.filter(same.shift(-1).fill_null(value=False))
    assert (together["t_enter_s"] == before["t_exit_s"]).all()
    unplaced = trips.filter((pl.col("matched_share") < 1) | (pl.col("parts") != 1))
    assert (unplaced["reasons"].list.len() > 0).all()
    driven = path.group_by("trace_id").agg((pl.col("off_to_m") - pl.col("off_from_m")).sum())
    joined = driven.join(trips, on="trace_id")
    assert ((joined["off_to_m"] - joined["route_length_m"]).abs() < 0.1).all()


@QUICK
@given(st.lists(WALK.map(wander), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_a_trace_does_not_see_batch_order_workers_or_chunks(traces, random):
    frame = points(*traces)
    whole = TOWN.match(*traces)
    order = list(range(frame.height))
    random.shuffle(order)
    cut = Matcher(TOWN.network, settings_for_tests.settings(chunk_points=3), TOWN.table)
    again = cut.match(frame[order], workers=3)
    assert all(a.equals(b) for a, b in zip(whole, again, strict=True))
    alone = [TOWN.matcher.match(frame.filter(pl.col("trace_id") == k)) for k in range(len(traces))]
    for table in range(3):
        assert whole[table].equals(pl.concat([result[table] for result in alone]))
