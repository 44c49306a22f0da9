"""States in an .npz: read without pickles, written so that others read them, absence made plain."""

import pickle
import warnings
import zipfile

import numpy as np
import pytest

from pipeline.errors import SourceError
from pipeline.stride.importers.states import (
    StatesFile,
    read_obstacles,
    states_of_trajectory,
    trajectory_of_states,
    write_states,
)
from pipeline.stride.sources import (
    FolderSource,
    MemorySource,
    Settings,
    check_settings,
    open_source,
    read_file,
    read_states,
)
from tests.stride.crowds import absent, states, strolling, walkers

STRICT, REFERENCE = Settings("strict"), Settings("reference")


class Trick:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_who_is_at_0_0_is_absent():
    walk = absent(strolling(), (slice(0, 4), 1))
    read, traps = trajectory_of_states(states(walk), dt_s=0.4, absent=None)
    assert (read.present == walk.present).all()
    assert read.positions == pytest.approx(walk.positions)
    assert traps == []


def test_somebody_on_the_origin_is_a_trap_until_it_is_said_who_is_absent():
    rows = states(strolling())
    rows[:, 1, :2] = 0.0  # with velocity, goal and radius still there
    _, traps = trajectory_of_states(rows, dt_s=0.4, absent=None)
    assert [(trap.code, trap.spoils) for trap in traps] == [("on_the_origin", {"positions"})]
    for absent_as, present in (("zero", False), ("zero_row", True), ("nan", True)):
        read, traps = trajectory_of_states(rows, dt_s=0.4, absent=absent_as)
        assert (read.present[:, 1] == present).all()
        assert traps == []


def test_nan_marks_the_absent_where_that_is_said():
    rows = states(strolling())
    rows[5:, 2] = np.nan
    read, _ = trajectory_of_states(rows, dt_s=0.4, absent="nan")
    assert read.present[:, 2].tolist() == [True] * 5 + [False] * 15
    assert np.isfinite(read.positions).all()


@pytest.mark.parametrize("shape", [(4, 7), (4, 3, 1), (4,), (2, 2, 2, 2)])
def test_an_array_of_another_shape_is_refused(shape):
    with pytest.raises(SourceError, match=r"\(T, N, 7\)"):
        trajectory_of_states(np.zeros(shape), dt_s=None, absent="zero")


@pytest.mark.parametrize("columns", [6, 8])
def test_strict_mode_wants_seven_columns_and_reference_mode_takes_what_there_is(columns):
    rows = np.ones((4, 3, columns))
    with pytest.raises(SourceError, match="7"):
        read_states(rows, None, settings=STRICT)
    walk = read_states(rows, None, settings=REFERENCE).walk
    assert (walk.radius is None) == (columns == 6)


def test_what_was_written_is_read_back_with_presence_time_and_groups(tmp_path):
    walk = absent(walkers([(0, 0), (1, 1), (2, 2)], [(0, 0)] * 3), (slice(3, 6), 1))
    walk = walk._replace(group=np.array([0, 0, -1]))
    write_states(walk, tmp_path / "a" / "sim.npz")
    with StatesFile(tmp_path / "a" / "sim.npz") as file:
        read = read_file(file, "states", settings=STRICT).walk
    assert (read.present == walk.present).all()  # somebody stands on the origin
    assert read.dt_s == walk.dt_s
    assert read.group.tolist() == [0, 0, -1]
    assert states_of_trajectory(read) == pytest.approx(states_of_trajectory(walk))


def test_the_published_reader_of_what_we_wrote_sees_our_states(tmp_path):
    walk = absent(strolling(), (slice(3, 6), 1))
    write_states(walk, tmp_path / "sim.npz")
    array = np.load(tmp_path / "sim.npz")["states"]
    assert array.shape == (20, 3, 7)
    assert ((array[..., 0] == 0) & (array[..., 1] == 0) == ~walk.present).all()


def test_the_same_trajectory_gives_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_states(strolling(), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_states_need_velocity_goal_and_radius():
    with pytest.raises(SourceError, match="velocity, radius"):
        states_of_trajectory(strolling()._replace(velocity=None, radius=None))


def test_pickled_states_are_refused_and_never_read(tmp_path):
    np.savez(tmp_path / "p.npz", states=np.array([Trick()], dtype=object))
    with StatesFile(tmp_path / "p.npz") as file, pytest.raises(SourceError, match="pickled"):
        file.array("states")


def test_a_pickled_scene_beside_states_is_passed_over_with_a_warning(tmp_path):
    np.savez(tmp_path / "p.npz", states=states(strolling()), scene=np.array(Trick(), dtype=object))
    with StatesFile(tmp_path / "p.npz") as file:
        read = read_file(file, "states", settings=STRICT)
    assert [trap.code for trap in read.traps] == ["pickled", "dt_unknown"][::-1]
    assert read.walk.frames == 20


def test_a_file_that_is_a_pickle_or_nothing_is_refused(tmp_path):
    (tmp_path / "p.npz").write_bytes(pickle.dumps(Trick()))
    (tmp_path / "t.npz").write_bytes(b"PK\x03\x04 cut short")
    np.save(tmp_path / "a.npy", np.zeros((2, 2, 7)))
    for name in ("p.npz", "t.npz", "a.npy", "missing.npz"):
        with pytest.raises(SourceError, match=r"expected an \.npz"):
            StatesFile(tmp_path / name)


def test_a_broken_member_is_refused(tmp_path):
    np.savez(tmp_path / "b.npz", states=states(strolling()))
    data = bytearray((tmp_path / "b.npz").read_bytes())
    middle = len(data) // 2
    data[middle : middle + 8] = b"\xff" * 8
    (tmp_path / "b.npz").write_bytes(data)
    with StatesFile(tmp_path / "b.npz") as file, pytest.raises(SourceError, match="states"):
        file.array("states")


def test_a_file_that_holds_a_member_twice_is_refused(tmp_path):
    np.savez(tmp_path / "twice.npz", **{"0001": states(strolling())})
    with zipfile.ZipFile(tmp_path / "twice.npz", "a") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that of zipfile on the second name
        file.writestr("0001.npy", file.read("0001.npy"))
    with pytest.raises(SourceError, match="'0001' again"):
        StatesFile(tmp_path / "twice.npz")


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([1j]), np.array([b"x"])])
def test_an_array_of_no_numbers_is_refused(tmp_path, array):
    np.savez(tmp_path / "x.npz", states=array)
    with StatesFile(tmp_path / "x.npz") as file, pytest.raises(SourceError, match="real numbers"):
        file.array("states")


@pytest.mark.parametrize("dt_s", [0.0, -1.0, np.nan, [0.4, 0.4]])
def test_a_time_of_a_file_that_is_none_is_refused(tmp_path, dt_s):
    np.savez(tmp_path / "x.npz", states=states(strolling()), dt_s=dt_s)
    with StatesFile(tmp_path / "x.npz") as file, pytest.raises(SourceError, match="dt_s"):
        file.dt_s()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("present", np.ones((3, 20))),
        ("present", np.full((20, 3), np.nan)),
        ("present", np.full((20, 3), 0.5)),
        ("group", np.zeros(4)),
        ("group", [0, 1, np.nan]),
        ("group", [0, 1, 1.5]),
    ],
)
def test_presence_and_groups_of_another_form_are_refused(tmp_path, name, values):
    np.savez(tmp_path / "x.npz", states=states(strolling()), **{name: values})
    with StatesFile(tmp_path / "x.npz") as file, pytest.raises(SourceError, match=rf"npz: {name}:"):
        read_file(file, "states", settings=STRICT)


def test_an_array_of_another_shape_is_named_with_its_file(tmp_path):
    np.savez(tmp_path / "x.npz", **{"0001": states(strolling())[0]})
    with (
        open_source(tmp_path / "x.npz", settings=STRICT) as source,
        pytest.raises(SourceError, match=r"x\.npz: 0001: expected the shape"),
    ):
        source.read("0001")
    with (
        StatesFile(tmp_path / "x.npz") as file,
        pytest.raises(SourceError, match=r"x\.npz: 0001: expected the shape"),
    ):
        read_file(file, "0001", settings=REFERENCE)


def test_the_map_of_walls_is_read_and_held_to_its_shape(tmp_path):
    np.savez(tmp_path / "map.npz", obstacles=np.array([[0, 1, 0, 0]]))
    assert read_obstacles(tmp_path / "map.npz").tolist() == [[0.0, 1.0, 0.0, 0.0]]
    np.savez(tmp_path / "bad.npz", obstacles=np.zeros((3, 2)))
    with pytest.raises(SourceError, match="x0, x1, y0, y1"):
        read_obstacles(tmp_path / "bad.npz")


def test_a_folder_has_a_scenario_in_each_folder(tmp_path):
    write_states(strolling(), tmp_path / "lyon-0001" / "sim.npz")
    write_states(strolling(), tmp_path / "0002" / "subsample_sim.npz")
    write_states(walkers([(1, 1), (2, 2)], [(0, 0)] * 2), tmp_path / "0002" / "sim.npz")
    (tmp_path / "empty").mkdir()
    source = FolderSource(tmp_path, STRICT)
    assert source.ids == ("0002", "lyon-0001")
    assert source.read("0002").walk.agents == 2


def test_a_folder_without_a_scenario_is_the_wrong_folder(tmp_path):
    write_states(strolling(), tmp_path / "0001.npz")
    with (
        pytest.raises(SourceError, match=r"expected folders ID/sim\.npz, found none"),
        open_source(tmp_path, settings=STRICT),
    ):
        pass


@pytest.mark.parametrize("form", ["npz", "folder"])
def test_an_id_is_found_in_either_form_of_unicode(tmp_path, form):
    composed, decomposed = "Ch\u00e2telet-01", "Cha\u0302telet-01"
    if form == "npz":
        np.savez(tmp_path / "s.npz", **{decomposed: states(strolling())})
    else:
        write_states(strolling(), tmp_path / "s.npz" / decomposed / "sim.npz")
    with open_source(tmp_path / "s.npz", settings=STRICT) as source:
        assert source.ids == (composed,)
        assert source.read(composed).walk.agents == 3


def test_two_names_of_one_scenario_are_refused(tmp_path):
    both = {"Ch\u00e2telet": states(strolling()), "Cha\u0302telet": states(strolling())}
    np.savez(tmp_path / "s.npz", **both)
    with (
        pytest.raises(SourceError, match="another form of Unicode"),
        open_source(tmp_path / "s.npz", settings=STRICT),
    ):
        pass


def test_a_source_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(SourceError, match="found nothing"),
        open_source(tmp_path / "none", settings=STRICT),
    ):
        pass


def test_trajectories_in_memory_are_a_source():
    source = MemorySource({"0001": strolling()})
    assert source.ids == ("0001",)
    assert source.read("0001").traps == []


@pytest.mark.parametrize(
    "change", [{"absent": "nan"}, {"velocity": "positions"}, {"resample_dt_s": 0.4}]
)
def test_reference_mode_takes_states_as_they_are(change):
    with pytest.raises(SourceError, match="reference"):
        check_settings(REFERENCE._replace(**change))
    check_settings(STRICT._replace(**change))
    check_settings(REFERENCE._replace(dt_s=0.4))


@pytest.mark.parametrize("change", [{}, {"velocity": "positions"}, {"resample_dt_s": 0.3}])
@pytest.mark.parametrize("huge", [1e308, 1e160])
def test_huge_numbers_are_a_trap_and_no_warning(huge, change):
    rows = states(strolling())
    rows[3, 1, 0] = huge
    settings = Settings("strict", dt_s=0.4, **change)
    traps = read_states(rows, None, settings=settings).traps
    assert "positions_not_finite" in [trap.code for trap in traps]


def test_velocities_may_be_derived_and_frames_resampled_while_reading():
    rows = states(strolling())
    rows[:, :, 2:4] = 0.0
    settings = Settings("strict", dt_s=0.4, velocity="positions", resample_dt_s=0.8)
    walk, traps = read_states(rows, None, settings=settings)
    assert walk.velocity[..., 0] == pytest.approx(np.full((10, 3), 1.2))
    assert walk.dt_s == 0.8
    assert "velocity_contradicts" not in [trap.code for trap in traps]
