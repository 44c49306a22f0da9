"""Whether a crowd is on its map, the right way round, at its starts: both sides of each limit."""

import json

import numpy as np
import pytest

from pipeline import __main__ as command_line
from pipeline.errors import SourceError
from pipeline.schemas import check_record, schema_document
from pipeline.seeds import rng_for
from pipeline.stride.benchmark import document_of
from pipeline.stride.importers.states import write_states
from pipeline.stride.patterns import patterns
from pipeline.stride.placement import Ground, Place, doubts_of_place, place_of, read_map_ground
from pipeline.stride.report import Scored, report_of
from pipeline.stride.scoring import score_benchmark
from pipeline.stride.sources import MemorySource, Settings
from pipeline.stride.spec_records import benchmark_of_specs, spec_of
from tests.stride.crowds import absent, benchmark, measurement, scenario, walkers
from tests.stride.places import PROVENANCE, person, square
from tests.stride.places import scenario as story

SIZE = np.array([120.0, 100.0])
MIDDLE = SIZE / 2


def crowd(people=20, *, around=(30.0, 20.0), reach=8.0):
    """Return people around a place who all walk north-east, and where they start."""
    rng = rng_for(2, "test_stride", "placement")
    starts = np.array(around) + rng.uniform(-reach, reach, (people, 2))
    return walkers(starts, [(0.7, 0.5)] * people), starts


def moved(walk, place):
    """Return a walk with each position changed by a function."""
    return walk._replace(positions=np.where(walk.present[:, :, None], place(walk.positions), 0.0))


def codes(walk, starts=None, *, size=SIZE, ground=None):
    return [doubt.code for doubt in doubts_of_place(walk, Place(starts, size), ground or Ground())]


def test_who_is_at_the_start_and_on_the_map_is_in_no_doubt():
    walk, starts = crowd()
    assert codes(walk, starts) == []
    assert codes(walk, starts[rng_for(1, "test", "order").permutation(20)]) == []
    assert codes(walk) == codes(walk, size=None) == []


FLIPS = {
    "mirrored north to south": lambda at: np.stack((at[..., 0], SIZE[1] - at[..., 1]), -1),
    "mirrored east to west": lambda at: np.stack((SIZE[0] - at[..., 0], at[..., 1]), -1),
    "turned by 180 degrees": lambda at: SIZE - at,
    "with x and y swapped": lambda at: at[..., ::-1],
    "with the sign of y turned": lambda at: at * [1, -1],
    "with the sign of x turned": lambda at: at * [-1, 1],
    "with both signs turned": lambda at: -at,
}


@pytest.mark.parametrize("turn", FLIPS)
@pytest.mark.parametrize("around", [(30.0, 20.0), (90.0, 55.0)])
def test_a_crowd_in_a_mirror_image_is_flipped_and_it_is_said_how(turn, around):
    walk, starts = crowd(around=around)
    (doubt,) = [
        one
        for one in doubts_of_place(moved(walk, FLIPS[turn]), Place(starts, SIZE), Ground())
        if one.code != "off_map"
    ]
    assert doubt.code == "flipped"
    assert turn in doubt.text


def test_a_dense_crowd_in_the_middle_of_the_map_is_seen_to_be_flipped():
    walk, starts = crowd(300, around=MIDDLE)
    assert codes(walk, starts) == []
    assert codes(moved(walk, FLIPS["mirrored north to south"]), starts) == ["flipped"]


@pytest.mark.parametrize(("metres", "found"), [(1.9, []), (2.1, ["far_from_starts"])])
def test_two_metres_from_the_start_are_no_matter(metres, found):
    starts = np.array([[10.0 * n, 20.0] for n in range(1, 10)])
    walk = walkers(starts, [(0.7, 0.5)] * 9)
    assert codes(moved(walk, lambda at: at + np.array([metres, 0.0])), starts) == found


@pytest.mark.parametrize(("strayed", "found"), [(2, []), (3, ["far_from_starts"])])
def test_one_in_ten_may_start_elsewhere(strayed, found):
    walk, starts = crowd()
    away = np.arange(20) < strayed
    assert codes(moved(walk, lambda at: at + 40.0 * away[:, None]), starts) == found


def test_people_who_are_missing_leave_the_others_at_their_starts():
    walk, starts = crowd()
    assert codes(absent(walk, (slice(None), [0, 1, 2, 3, 4])), starts) == []
    assert codes(absent(walk, (slice(None), list(range(20)))), starts) == []


@pytest.mark.parametrize(("share", "found"), [(0.05, []), (0.1, ["off_map"])])
def test_one_in_twenty_may_be_off_the_map(share, found):
    walk, _ = crowd()
    away = np.arange(20) < share * 20
    assert codes(moved(walk, lambda at: at + 900.0 * away[:, None])) == found


@pytest.mark.parametrize(("metres", "found"), [(4.9, []), (5.1, ["off_map"])])
def test_a_few_steps_beyond_the_edge_are_no_matter(metres, found):
    still = walkers([(SIZE[0] + metres, 5), (-metres, 9)], [(0, 0)] * 2)
    assert codes(still) == found


def test_without_a_size_the_walls_say_where_the_map_is():
    walls = np.array([[0.0, 120.0, 0.0, 0.0], [0.0, 0.0, 0.0, 100.0]])
    walk, _ = crowd()
    assert codes(walk, size=None, ground=Ground(walls)) == []
    shifted = moved(walk, lambda at: at + 500)
    assert codes(shifted, size=None, ground=Ground(walls)) == ["off_map"]
    assert codes(shifted, size=None) == []


def test_people_where_nobody_can_walk_are_off_the_ground_and_a_mirror_image_is_hinted_at():
    walkable = np.zeros((200, 240), bool)
    walkable[:100] = True  # the southern half, pixels of 0.5 m
    ground = Ground(None, walkable, 0.5)
    walk, _ = crowd()
    assert codes(walk, ground=ground) == []
    (doubt,) = doubts_of_place(
        moved(walk, FLIPS["mirrored north to south"]), Place(None, SIZE), ground
    )
    assert (doubt.code, "0% mirrored north to south" in doubt.text) == ("off_ground", True)


@pytest.mark.parametrize(("off", "found"), [(2, []), (3, ["off_ground"])])
def test_one_in_ten_may_touch_what_is_no_ground(off, found):
    walkable = np.ones((100, 120), bool)
    walkable[60:] = False
    still = walkers([(5 + n, 70 if n < off else 30) for n in range(20)], [(0, 0)] * 20)
    assert codes(still, ground=Ground(None, walkable, 1.0)) == found


def test_of_positions_that_are_not_finite_nothing_is_said():
    walk, starts = crowd()
    assert codes(moved(walk, lambda at: at * np.nan), starts) == []


def test_of_very_many_people_each_start_has_its_nearest():
    walk, starts = crowd(2100, around=MIDDLE, reach=45.0)
    assert codes(walk, starts) == []
    assert codes(moved(walk, lambda at: at + 300.0), starts) == ["off_map", "far_from_starts"]


# ---- what a benchmark states, and what a report says


@pytest.mark.parametrize(
    "extra",
    [{"starts_m": [[1.0]]}, {"starts_m": "x"}, {"starts_m": [[1, None]]}, {"map_size_m": [1]},
     {"map_size_m": [0, 5]}, {"starts_m": [[1, 2], [3]]}],
)  # fmt: skip
def test_a_place_that_is_not_of_its_form_is_refused(extra):
    with pytest.raises(SourceError, match="scenario 0001: expected starts_m a list"):
        place_of(scenario()._replace(extra=extra))


def test_a_scenario_that_states_no_place_has_none():
    assert place_of(scenario()) == (None, None)


def test_our_benchmark_states_starts_and_size_of_each_scenario():
    told, record = story([person(3.0, 4.0), person(7.0, 9.0)]), square().record
    questions = spec_of("0000", patterns().specification("pack"), PROVENANCE)
    made = benchmark_of_specs([questions], {"0000": told}, {record.map_id: record})
    check_record("stride_benchmark", document_of(made), where="b.json")
    place = place_of(made.scenarios[0])
    assert place.starts.tolist() == [[3.0, 4.0], [7.0, 9.0]]
    assert place.size.tolist() == [record.width_m, record.height_m]


def placed(starts, n_agents=20):
    asked = scenario([measurement("mean_speed", {"min": 0.5})], n_agents=n_agents)
    return asked._replace(extra={"starts_m": starts.tolist(), "map_size_m": SIZE.tolist()})


@pytest.mark.parametrize("mode", ["strict", "reference"])
def test_every_report_says_what_is_off_and_its_score_is_the_same(tmp_path, mode):
    walk, starts = crowd()
    asked = benchmark(placed(starts))
    file = tmp_path / "b.json"
    file.write_text("{}")
    found = {}
    for name, one in {
        "honest": walk,
        "flipped": moved(walk, FLIPS["mirrored north to south"])._replace(
            velocity=walk.velocity * [1, -1]
        ),
        "off_map": moved(walk, lambda at: at + 500),
        "velocity_scaled": walk._replace(velocity=walk.velocity * 0.8),
        "people_differ": absent(walk, (slice(None), 7)),
    }.items():
        source = MemorySource({"0001": one})
        scores = list(score_benchmark(asked, source, mode=mode))
        report = report_of(Scored(name, file, asked, Settings(mode), source.ids, scores))
        check_record("stride_report", report, where=name)
        assert report["mean_scene_score"] == 1.0
        assert (name in report["counts"]["traps"]) == (name != "honest")
        found[name] = report["scenarios"][0]["warnings"]
    assert found["honest"] == []
    assert "people: 19 ever present, 20 asked for" in found["people_differ"]


def test_the_command_line_flags_a_flipped_crowd_without_being_asked(tmp_path, capsys):
    walk, starts = crowd(3)
    document = schema_document("stride_benchmark")["examples"][0]
    scene = document["scenes"][0] | {"starts_m": starts.tolist(), "map_size_m": SIZE.tolist()}
    check_record("stride_benchmark", document | {"scenes": [scene]}, where="b.json")
    (tmp_path / "b.json").write_text(json.dumps(document | {"scenes": [scene]}), "utf-8")
    write_states(moved(walk, FLIPS["mirrored north to south"]), tmp_path / "s.npz", key="0001")
    (tmp_path / "maps" / "square").mkdir(parents=True)
    np.savez(
        tmp_path / "maps" / "square" / "map.npz", obstacles=np.array([[0.0, 9.0, 0.0, 0.0]]),
        walkable=np.arange(100)[:, None] < np.full(120, 50), metres_per_px=1.0,
    )  # fmt: skip
    words = ("score", "--benchmark", tmp_path / "b.json", "--states", tmp_path / "s.npz")
    words = (*words, "--out", tmp_path / "r.json", "--maps", tmp_path / "maps")
    assert command_line.main(["stride", *map(str, words)]) == 0
    warnings = capsys.readouterr().out.splitlines()[-1]
    assert "flipped 1" in warnings
    assert "off_ground 1" in warnings


def test_a_map_without_a_mask_has_its_walls_alone_and_a_broken_one_is_named(tmp_path):
    np.savez(tmp_path / "m.npz", obstacles=np.zeros((2, 4)))
    assert read_map_ground(tmp_path / "m.npz").walkable is None
    np.savez(tmp_path / "m.npz", obstacles=np.zeros((2, 4)), walkable=np.ones(3), metres_per_px=1)
    with pytest.raises(SourceError, match="walkable of two dimensions"):
        read_map_ground(tmp_path / "m.npz")
