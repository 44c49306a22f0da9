"""Frames that change phase, steps that are uneven, and the rate that velocities are derived at."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.seeds import rng_for
from pipeline.stride.importers.formats import ImportOptions, read_recording
from pipeline.stride.importers.grid import changes_of, grid_of, step_of
from pipeline.stride.importers.states import StatesFile, write_states
from pipeline.stride.sources import Settings, read_file
from tests.stride.crowds import value

OPTIONS = ImportOptions(radius_m=0.2)
FPS = 15.0


def read(path, form, **options):
    return read_recording(path, form, options=OPTIONS._replace(**options))


def written(path, rows):
    path.write_text("\n".join(" ".join(f"{cell:.6g}" for cell in row) for row in rows), "utf-8")
    return path


def track(person, frames, *, speed_mps=1.2, y=1.0):
    """Return rows (frame, id, x, y) of somebody who walks east, seen in these frames."""
    return [(frame, person, 1 + speed_mps * (frame - frames[0]) / FPS, y) for frame in frames]


def obsmat(path, rows):
    """Write rows as an obsmat.txt: frame, id, x, z, y, vx, vz, vy."""
    return written(path, [(f, who, x, 0, y, 1.2, 0, 0) for f, who, x, y in rows])


# A recording cut twice, as ETH's: steps of 6 throughout, in three phases that share no frame.
CUT = [
    *track(1, range(780, 900, 6)),
    *track(2, range(786, 870, 6), y=2.0),
    *track(3, range(1001, 1121, 6)),
    *track(4, range(1304, 1400, 6)),
    *track(5, range(1310, 1352, 6), y=2.0),
]
# A recording of this kind, where somebody has it.
SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases" / "stride" / "obsmat_phases.txt"
# Tracks of a phase each that overlap in time, as those of PETS.
OWN_PHASES = [*track(1, range(0, 120, 6)), *track(2, range(23, 143, 6), y=2.0)]


@pytest.mark.parametrize("rows", [CUT, OWN_PHASES])
@pytest.mark.parametrize("form", ["eth_obsmat", "four_columns"])
def test_frames_that_change_phase_are_snapped_and_it_is_said(tmp_path, rows, form):
    file = (obsmat if form == "eth_obsmat" else written)(tmp_path / "r.txt", rows)
    imported = read(file, form, fps=FPS)
    walk = imported.walk
    assert walk.dt_s == pytest.approx(0.4)
    assert imported.agents == tuple(sorted({str(row[1]) for row in rows}))
    assert int(walk.present.sum()) == len(rows)
    assert value(walk, "mean_speed") == pytest.approx(1.2)
    told = next(note for note in imported.notes if "phase" in note)
    assert "snapped to a common grid" in told
    assert "positions are as recorded" in told


@pytest.mark.parametrize("rows", [CUT, OWN_PHASES])
def test_snapping_moves_no_position_and_no_row_by_half_a_step_or_more_in_time(tmp_path, rows):
    imported = read(written(tmp_path / "r.txt", rows), "four_columns", fps=FPS)
    walk, first = imported.walk, imported.first_frame
    recorded = {(str(who), round(x, 6), round(y, 6)): frame for frame, who, x, y in rows}
    for number, agent in np.argwhere(walk.present):
        x, y = walk.positions[number, agent].round(6).tolist()
        own = next(
            frame
            for (who, px, py), frame in recorded.items()
            if who == imported.agents[agent] and abs(px - x) < 1e-4 and abs(py - y) < 1e-4
        )
        assert abs(first + 6 * number - own) <= 3


def test_most_rows_stay_in_time_and_the_note_counts_the_others(tmp_path):
    rows = [*track(1, range(0, 240, 6)), *track(2, range(302, 320, 6))]
    imported = read(written(tmp_path / "r.txt", rows), "four_columns", fps=FPS)
    assert imported.first_frame == 0
    assert imported.notes[0] == (
        "steps of 0.4 s change phase: 3 of 43 rows snapped to a common grid, by at most 0.133 s;"
        " positions are as recorded"
    )


def test_two_rows_of_one_person_on_one_step_are_one_and_counted(tmp_path):
    rows = [*track(1, range(0, 120, 6)), *track(1, [116, *range(122, 242, 6)])]
    imported = read(written(tmp_path / "r.txt", rows), "four_columns", fps=FPS)
    assert "1 further rows of an agent on the same step of the grid left out" in imported.notes
    assert int(imported.walk.present.sum()) == len(rows) - 1


def test_a_track_that_becomes_one_step_is_left_out_and_counted(tmp_path):
    rows = [*track(1, range(0, 120, 6)), *track(2, [35, 37])]
    imported = read(written(tmp_path / "r.txt", rows), "four_columns", fps=FPS)
    assert imported.agents == ("1",)
    assert "1 tracks of one point left out" in imported.notes


def test_frames_on_one_grid_are_not_snapped_gaps_or_not(tmp_path):
    rows = [*track(1, [0, 6, 12, 30, 36]), *track(2, [600, 606, 618])]
    imported = read(written(tmp_path / "r.txt", rows), "four_columns", fps=FPS)
    assert not any("phase" in note for note in imported.notes)
    assert imported.walk.frames == 104


@pytest.mark.parametrize("step", [1, 2, 3, 6, 7, 10, 12, 25])
@pytest.mark.parametrize("phase", [0, 1, 5, 24])
def test_rows_of_one_phase_move_alike_and_by_half_a_step_at_most(step, phase):
    frame = np.array(
        [*range(0, 40 * step, step), *range(50 * step + phase, 90 * step + phase, step)]
    )
    agent = np.repeat([0, 1], [40, len(frame) - 40])
    found = step_of(changes_of(frame, agent), jitter=0.0)
    grid = grid_of(frame, found.frames, jitter=0.0)
    assert (found.frames, found.uneven) == (step, False)
    assert (np.abs(grid.offset) <= step / 2).all()
    assert (grid.offset[:40] == 0).all()
    assert len(set(grid.offset[40:].tolist())) == 1
    assert (np.diff(grid.number[:40]) == 1).all()


# ---- steps that are uneven


def walking(path, seconds, *, speed_mps=1.5, people=2, separator=","):
    """Write a table of people who walk east, seen at these seconds."""
    table = pl.DataFrame(
        {
            "t": np.tile(seconds, people),
            "who": np.repeat(np.arange(people), len(seconds)),
            "x": np.tile(1 + speed_mps * np.asarray(seconds), people),
            "y": np.repeat(np.arange(people) + 1.0, len(seconds)),
        }
    )
    table.write_csv(path, separator=separator)
    return path


COLUMNS = {"time": "t", "id": "who", "x": "x", "y": "y"}
UNEVEN = np.cumsum([0.0, *rng_for(4, "test_stride", "uneven").uniform(0.1, 0.5, 80).round(3)])


def test_uneven_times_are_refused_with_the_option_that_helps(tmp_path):
    with pytest.raises(SourceError, match=r"even steps, found steps of .* give --resample S"):
        read(walking(tmp_path / "w.csv", UNEVEN), "table", columns=COLUMNS)


def test_uneven_times_lie_on_straight_lines_at_the_steps_that_are_wanted(tmp_path):
    file = walking(tmp_path / "w.csv", UNEVEN)
    imported = read(file, "table", columns=COLUMNS, resample_dt_s=0.4)
    walk = imported.walk
    assert walk.dt_s == 0.4
    assert walk.frames == int(UNEVEN[-1] / 0.4) + 1
    assert walk.present.all()
    moments = np.arange(walk.frames) * 0.4
    assert walk.positions[:, 0, 0] == pytest.approx(1 + 1.5 * moments, abs=1e-5)
    assert value(walk, "mean_speed") == pytest.approx(1.5, abs=1e-4)
    assert imported.notes[0].startswith("rows at uneven moments brought to steps of 0.4 s")


def test_over_a_gap_of_uneven_times_nobody_is_made_up(tmp_path):
    seconds = np.concatenate((UNEVEN, UNEVEN + UNEVEN[-1] + 5.0))
    imported = read(
        walking(tmp_path / "w.csv", seconds), "table", columns=COLUMNS, resample_dt_s=0.4
    )
    moments = np.arange(imported.walk.frames) * 0.4
    gone = (moments > UNEVEN[-1] + 1e-6) & (moments < UNEVEN[-1] + 5.0 - 1e-6)
    assert not imported.walk.present[gone].any()
    assert imported.walk.present[~gone].all()
    assert "2 gaps above" in imported.notes[0]


def test_phases_that_are_resampled_keep_their_own_times(tmp_path):
    imported = read(
        written(tmp_path / "r.txt", OWN_PHASES), "four_columns", fps=FPS, resample_dt_s=0.4
    )
    walk = imported.walk
    moments = np.arange(walk.frames) * 0.4
    shown = walk.present[:, 1]
    assert walk.positions[shown, 1, 0] == pytest.approx(
        1 + 1.2 * (moments[shown] - 23 / FPS), abs=1e-4
    )


def test_times_of_a_clock_that_ticks_thirty_times_a_second_are_even(tmp_path):
    seconds = np.round(np.arange(3000) / 30, 3)
    imported = read(walking(tmp_path / "w.csv", seconds), "table", columns=COLUMNS)
    assert imported.walk.dt_s == pytest.approx(1 / 30, rel=1e-5)
    assert imported.walk.frames == 3000
    assert imported.walk.present.all()
    assert not any("phase" in note for note in imported.notes)


# ---- the rate of velocities


def test_velocities_are_derived_from_the_positions_at_the_new_rate(tmp_path):
    rng = rng_for(5, "test_stride", "standing")
    places = rng.uniform(0, 9, (6, 2)) + rng.normal(0, 0.02, (250, 6, 2))
    rows = [(f, who, *places[f, who]) for f in range(250) for who in range(6)]
    file = tmp_path / "r.txt"
    file.write_text("\n".join(f"{f} {who} {float(x)!r} {float(y)!r}" for f, who, x, y in rows))
    slow = read(file, "four_columns", fps=25.0, resample_dt_s=0.4).walk
    expected = np.linalg.norm(np.gradient(places[::10], 0.4, axis=0), axis=2)
    assert value(slow, "mean_speed") == pytest.approx(expected.mean())
    assert value(read(file, "four_columns", fps=25.0).walk, "mean_speed") > 5 * expected.mean()


def test_resampled_on_import_or_when_it_is_read_speeds_are_the_same(tmp_path):
    rng = rng_for(6, "test_stride", "either way")
    places = rng.uniform(0, 9, (6, 2)) + rng.normal(0, 0.02, (250, 6, 2)).cumsum(axis=0)
    rows = [(f, who, *places[f, who]) for f in range(250) for who in range(6) if f >= 20 * who]
    file = written(tmp_path / "r.txt", rows)
    at_once = read(file, "four_columns", fps=25.0, resample_dt_s=0.4).walk
    write_states(read(file, "four_columns", fps=25.0).walk, tmp_path / "s.npz")
    with StatesFile(tmp_path / "s.npz") as states:
        later = read_file(states, "states", settings=Settings("strict", resample_dt_s=0.4)).walk
    for name in ("mean_speed", "flow_alignment", "directional_entropy_normalized"):
        assert value(later, name) == pytest.approx(value(at_once, name), abs=1e-9)


def test_trajnetpp_of_several_phases_keeps_its_steps(tmp_path):
    lines = [json.dumps({"scene": {"id": 0, "p": 1, "s": 0, "e": 90, "fps": 2.5}})]
    for person, first in ((1, 0), (2, 10), (3, 204)):
        lines += [
            json.dumps({"track": {"f": first + 10 * k, "p": person, "x": 0.4 * k, "y": person}})
            for k in range(9)
        ]
    file = tmp_path / "t.ndjson"
    file.write_text("\n".join(lines), "utf-8")
    imported = read(file, "trajnetpp")
    assert imported.walk.dt_s == pytest.approx(0.4)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.0)
    assert "9 of 27 rows snapped" in imported.notes[0]


def test_who_is_seen_each_tenth_frame_is_there_after_resampling(tmp_path):
    rows = [*track(1, range(100)), *track(2, range(0, 100, 10), y=2.0)]
    file = written(tmp_path / "r.txt", rows)
    slow = read(file, "four_columns", fps=FPS, resample_dt_s=10 / FPS).walk
    assert slow.present.all()
    assert value(slow, "mean_speed") == pytest.approx(1.2, abs=1e-4)
    fast = read(file, "four_columns", fps=FPS)
    assert fast.walk.present[:, 1].sum() == 0
    assert "10 positions seen for a single frame have no velocity and are left out" in fast.notes


@pytest.mark.parametrize(("file", "people"), [(None, 5), *([(SHARED, 42)] * SHARED.exists())])
def test_a_recording_of_three_phases_gives_all_its_people(tmp_path, file, people):
    imported = read(file or obsmat(tmp_path / "obsmat.txt", CUT), "eth_obsmat", fps=FPS)
    assert (imported.walk.dt_s, imported.walk.agents) == (pytest.approx(0.4), people)
    assert any("phase" in note for note in imported.notes)
    assert value(imported.walk, "mean_speed") == pytest.approx(1.3, abs=0.15)
