"""The simulated set keeps its own promises, on a town of 21 x 21 junctions."""

import numpy as np
import polars as pl
import pytest
import shapely

from bench.network import metric_projection
from bench.simulate import PLANS, Plan, Simulation, simulate
from tests.bench.towns import square_town

TOWN = square_town(21, 200.0)
CLEAN = Plan(interval_s=15.0, sigma_m=(0.001,), outlier_share=0.0, gap_share=0.0)
DIRTY = Plan(interval_s=15.0, sigma_m=(5.0, 10.0, 20.0), outlier_share=1.0, gap_share=1.0)


@pytest.fixture(scope="module")
def clean() -> Simulation:
    return simulate(TOWN, CLEAN, trips=6, seed=1)


@pytest.fixture(scope="module")
def dirty() -> Simulation:
    return simulate(TOWN, DIRTY, trips=6, seed=1)


def distance_to_true_edge_m(simulation: Simulation) -> np.ndarray:
    lines = shapely.from_wkb(TOWN["geometry"].to_numpy())
    projection = metric_projection(*shapely.get_coordinates(lines).T)
    metric = shapely.transform(lines, projection.transform, interleaved=False)
    line_of = dict(zip(TOWN["edge_id"], metric, strict=True))
    xy = projection.transform(*(simulation.points[c].to_numpy() for c in ("lon", "lat")))
    true_lines = [line_of[edge] for edge in simulation.fixes["edge_id"]]
    return shapely.distance(shapely.points(*xy), true_lines)


def test_a_trip_is_the_same_whatever_the_number_of_trips() -> None:
    few, more = (simulate(TOWN, DIRTY, trips=n, seed=1) for n in (2, 3))
    for a, b in zip(few, more, strict=True):
        assert a.equals(b.filter(pl.col("trace_id") < 2))


def test_another_seed_gives_other_trips(clean: Simulation) -> None:
    other = simulate(TOWN, CLEAN, trips=6, seed=2)
    assert not clean.path.equals(other.path)


def test_the_true_path_is_connected(clean: Simulation) -> None:
    joints = clean.path.join(TOWN.select("edge_id", "u", "v"), on="edge_id", how="left")
    same = joints["trace_id"][1:] == joints["trace_id"][:-1]
    assert (joints["v"][:-1] == joints["u"][1:]).filter(same).all()


def test_times_never_decrease_and_trips_last_as_planned(clean: Simulation) -> None:
    assert (clean.path["t_exit_s"] >= clean.path["t_enter_s"]).all()
    lasting = clean.path.group_by("trace_id").agg(
        s=pl.col("t_exit_s").max() - pl.col("t_enter_s").min()
    )
    assert lasting["s"].is_between(210, 1650).all()


def test_without_noise_every_fix_lies_on_its_true_edge(clean: Simulation) -> None:
    assert distance_to_true_edge_m(clean).max() < 0.1


def test_truth_begins_and_ends_with_the_edges_of_the_first_and_last_fix(clean: Simulation) -> None:
    ends = clean.path.group_by("trace_id", maintain_order=True).agg(
        first=pl.col("edge_id").first(), last=pl.col("edge_id").last()
    )
    fixes = clean.fixes.group_by("trace_id", maintain_order=True).agg(
        first=pl.col("edge_id").first(), last=pl.col("edge_id").last()
    )
    assert ends.equals(fixes)


def test_outliers_are_marked_inner_and_far_off(dirty: Simulation) -> None:
    counted = dirty.fixes.group_by("trace_id", maintain_order=True).agg(
        pl.col("outlier").sum().cast(pl.Int64), first=pl.col("outlier").first()
    )
    assert counted["outlier"].equals(dirty.trips["outliers"].rename("outlier"))
    assert (counted["outlier"] >= 1).all()
    assert not counted["first"].any()
    off = distance_to_true_edge_m(dirty)[~dirty.fixes["outlier"].to_numpy()]
    assert off.max() < 100


def test_a_gap_loses_4_to_12_neighbouring_points(dirty: Simulation) -> None:
    for (trace_id,), points in dirty.points.group_by("trace_id"):
        lost = dirty.trips.filter(pl.col("trace_id") == trace_id)["lost"].item()
        steps = np.diff(points["t"].to_numpy()) / 15
        assert steps.max() == pytest.approx(lost + 1)
        assert (steps > 1.5).sum() == 1
        assert 4 <= lost <= 12


def test_noise_grows_with_its_class() -> None:
    wide = simulate(TOWN, PLANS["sim15"]._replace(outlier_share=0, gap_share=0), trips=9, seed=3)
    off = pl.DataFrame({
        "trace_id": wide.points["trace_id"], "m": distance_to_true_edge_m(wide)
    }).join(wide.trips, on="trace_id")  # fmt: skip
    typical = off.group_by("sigma_m").agg(pl.col("m").median()).sort("sigma_m")
    # The distance across a long straight road is |N(0, sigma)|, whose median is 0.67 sigma.
    assert typical["m"].to_list() == pytest.approx([3.4, 6.7, 13.5], rel=0.35)
