"""Reference generators: walkers that read nothing, goal walkers, and the door for others."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.seeds import rng_for
from pipeline.stride.generators.crowds import Pace, goal_walkers
from pipeline.stride.generators.external import adopt, read_table_walk, scene_record, write_inputs
from pipeline.stride.generators.jupedsim import jupedsim_walkers
from pipeline.stride.generators.trivial import (
    CANVAS_M,
    Start,
    canvas_start,
    random_walk,
    stop,
    straight,
)
from pipeline.stride.importers.states import read_obstacles
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.sources import Settings, open_source
from pipeline.stride.traps import traps_of
from tests.stride.places import FORCE, person, role, scenario, square, square_ways


def rng(name: str = "walkers"):
    return rng_for(7, "test", name)


def start(agents: int = 50) -> Start:
    return canvas_start(agents, rng=rng("start"))


def value(walk, name: str) -> float:
    return MEASURES[name].value(Clip(walk), {})


WALKS = {
    "stop": lambda: stop(start(), frames=60, dt_s=0.4),
    "random": lambda: random_walk(start(), frames=400, dt_s=0.2, rng=rng()),
    "straight": lambda: straight(start(), frames=150, dt_s=0.4, rng=rng()),
}


@pytest.mark.parametrize("name", WALKS)
def test_velocities_are_what_positions_do(name):
    assert not [trap for trap in traps_of(WALKS[name]()) if trap.spoils]


@pytest.mark.parametrize("name", WALKS)
def test_the_same_stream_gives_the_same_walk(name):
    assert WALKS[name]().positions.tobytes() == WALKS[name]().positions.tobytes()


def test_who_stops_reads_as_trajfacts_has_it():
    walk = WALKS["stop"]()
    assert value(walk, "mean_speed") == 0
    assert value(walk, "lingering_fraction") == 1


def test_who_walks_at_random_reads_as_trajfacts_has_it():
    walk = WALKS["random"]()
    assert value(walk, "mean_speed") == pytest.approx(4.0, abs=0.05)
    assert value(walk, "speed_variation_coeff") == pytest.approx(0.577, abs=0.01)
    assert value(walk, "directional_entropy_normalized") > 0.999


def test_who_walks_straight_keeps_speed_and_heading():
    walk = WALKS["straight"]()
    assert value(walk, "path_linearity") == pytest.approx(1.0)
    assert value(walk, "speed_trend") == pytest.approx(0.0, abs=1e-9)
    assert walk.velocity is not None
    speed = np.hypot(*np.moveaxis(walk.velocity, -1, 0))
    assert speed.min() >= 0.3 - 1e-12
    assert np.ptp(speed, axis=0).max() < 1e-12


def test_a_canvas_start_lies_in_the_middle_of_the_released_maps():
    at = start(500).positions / np.array(CANVAS_M)
    assert at.min() >= 0.3
    assert at.max() <= 0.7


def test_goals_are_those_of_the_start():
    goals = np.array([[5.0, 6.0], [7.0, 8.0]])
    walk = stop(Start(np.zeros((2, 2)) + 1, np.full(2, 0.2), goals), frames=3, dt_s=0.4)
    assert walk.goal is not None
    assert walk.goal[2].tolist() == goals.tolist()


def test_goal_walkers_forget_their_roles():
    waiting = person(45.0, 30.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0, begin_s=30.0)
    still = person(47.0, 30.0)
    walk = goal_walkers(
        [waiting, still], square_ways(), FORCE, pace=Pace(20.0, 0.4, 0.0), speed_mps=(1.3, 0.0),
        rng=rng("goals"),
    )  # fmt: skip
    moved = np.hypot(*(walk.positions[-1] - walk.positions[0]).T)
    assert moved[0] > 10
    assert moved[1] < 1


# ---- JuPedSim


def by_jupedsim(people, least_present=0.0):
    return jupedsim_walkers(
        people, square_ways(), pace=Pace(20.0, 0.4, least_present), speed_mps=(1.3, 0.0),
        rng=rng("jupedsim"),
    )  # fmt: skip


def test_jupedsim_walks_people_to_their_goals_and_leaves_the_others_where_they_are():
    leaving = person(60.0, 80.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0, begin_s=30.0)
    walk = by_jupedsim([leaving, person(47.0, 30.0)])
    assert walk.positions[0].tolist() == [[60.0, 80.0], [47.0, 30.0]]
    assert walk.positions[10, 0, 1] == pytest.approx(80.0 + 4.0 * 1.3, abs=0.7)
    assert not walk.present[-1, 0]  # 18 m at 1.3 m/s take 14 s
    assert walk.present[:, 1].all()
    assert np.hypot(*(walk.positions[-1, 1] - walk.positions[0, 1])) < 0.5
    assert not [trap for trap in traps_of(walk) if trap.spoils]


def test_jupedsim_gives_the_same_bytes_again():
    people = [person(40.0 + n, 30.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0) for n in range(9)]
    assert by_jupedsim(people).positions.tobytes() == by_jupedsim(people).positions.tobytes()


def test_who_starts_at_a_wall_is_slim_enough_for_jupedsim():
    walk = by_jupedsim([person(0.0, 30.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0)])
    assert walk.positions[0, 0] == pytest.approx([0.1, 30.0])
    assert walk.present[0, 0]


def test_jupedsim_that_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupedsim", None)
    with pytest.raises(SourceError, match=r"^jupedsim: expected the package, found none"):
        by_jupedsim([person(47.0, 30.0)])


# ---- the door for others

PEOPLE = [
    person(45.0, 30.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0, group=0),
    person(46.0, 30.0, goal="exit_1", goal_x_m=60.5, goal_y_m=98.0, group=0),
]
SCENE = scenario(PEOPLE, role("walk", to=["exit_1"]))


def test_a_generator_is_given_text_people_and_walls_and_no_question(tmp_path):
    maps = {square().record.map_id: square()}
    assert write_inputs([SCENE], maps, tmp_path) == 1
    given = json.loads((tmp_path / "0000" / "scene.json").read_text("utf-8"))
    assert given["scenario"] == SCENE.description
    assert given["initial_state"][0]["goal"] == [60.0, 98.0]
    assert given["groups"] == [[0, 1]]
    assert not {"questions", "pattern", "roles"} & set(given)
    assert read_obstacles(tmp_path / "0000" / "map.npz").shape[1] == 4


def test_the_event_is_given_where_there_is_one():
    assert scene_record(SCENE)["event_center_m"] is None


def table(**changes: object) -> pl.DataFrame:
    columns: dict = {
        "frame": [0, 1, 2, 0, 1], "agent": [0, 0, 0, 1, 1],
        "x_m": [1.0, 2.0, 3.0, 5.0, 5.0], "y_m": [1.0, 1.0, 1.0, 5.0, 6.0],
    }  # fmt: skip
    return pl.DataFrame(columns | changes)


def test_a_table_becomes_a_walk_with_derived_speeds_and_last_places_as_goals(tmp_path):
    table().write_parquet(tmp_path / "0000.parquet")
    walk = read_table_walk(tmp_path / "0000.parquet", dt_s=0.5)
    assert walk.present.tolist() == [[True, True], [True, True], [True, False]]
    assert walk.velocity is not None
    assert walk.velocity[0].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert walk.goal is not None
    assert walk.goal[0].tolist() == [[3.0, 1.0], [5.0, 6.0]]
    assert walk.radius is not None
    assert walk.radius[0].tolist() == [0.2, 0.2]


def test_adopted_walks_are_read_by_the_scorer(tmp_path):
    (tmp_path / "walks").mkdir()
    table().write_parquet(tmp_path / "walks" / "0000.parquet")
    assert adopt(tmp_path / "walks", tmp_path / "states", dt_s=0.5) == 1
    with open_source(tmp_path / "states", settings=Settings("strict")) as source:
        walk = source.read("0000").walk
    assert walk.dt_s == 0.5
    assert walk.positions[2, 0].tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x_m": ["a", "b", "c", "d", "e"]}, "x_m: expected numbers"),
        ({"frame": [0.0, 1.0, 2.0, 0.0, 1.0]}, "frame: expected whole numbers"),
        ({"frame": [0, 0, 2, 0, 1]}, "each frame and agent once"),
        ({"agent": [0, 0, 0, -1, -1]}, "expected numbers from 0, found -1"),
        ({"frame": [0, 1, 2, 0, 9_999_999]}, "with few gaps, found 20,000,000 frames times agents"),
        ({"y_m": [1.0, None, 1.0, 5.0, 6.0]}, "y_m: expected a value in each row"),
    ],
)
def test_a_broken_table_is_refused(tmp_path, changes, words):
    table(**changes).write_parquet(tmp_path / "0000.parquet")
    with pytest.raises(SourceError, match=words):
        read_table_walk(tmp_path / "0000.parquet", dt_s=0.4)


def test_a_missing_column_and_a_folder_without_tables_are_refused(tmp_path):
    table().drop("y_m").write_parquet(tmp_path / "0000.parquet")
    with pytest.raises(SourceError, match="found no y_m"):
        read_table_walk(tmp_path / "0000.parquet", dt_s=0.4)
    with pytest.raises(SourceError, match=r"expected tables <scene_id>\.parquet, found none"):
        adopt(tmp_path / "nowhere", tmp_path / "out", dt_s=0.4)
