"""Ranges of one-sided words are one-sided, and perfect crowds of a kind pass its questions."""

import json
import re

import numpy as np
import pytest

from pipeline.__main__ import main
from pipeline.stride.importers.states import StatesRead, write_states
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.patterns import patterns
from pipeline.stride.trajectories import Trajectory, trajectory
from pipeline.stride.validation import Recording, record_of
from tests.stride.crowds import DT_S, walkers

# Words of a question that have no limit on one side, by the measure that they are bound to.
UNLIMITED = {
    "path_linearity": (r"straight|direct\b|without turning back", "max"),
    "flow_alignment": (r"(?:same|one) (?:way|direction|place)", "max"),
    "convergence_score": (
        r"close in on|converge on|end (?:at|together)|towards one|as one|same place",
        "max",
    ),
    "speed_variation_coeff": (r"same pace|one pace|nearly one|even\b", "min"),
    "directional_entropy_normalized": (r"same way|one way|narrow range", "min"),
    "spatial_concentration": (r"one cluster|concentrated|clustered|piled up", "max"),
}
TOO = {
    "path_linearity": "above", "flow_alignment": "above", "convergence_score": "above",
    "spatial_concentration": "above", "speed_variation_coeff": "below",
    "directional_entropy_normalized": "below",
}  # fmt: skip


def asked():
    """Return (pattern, question, bound) for everything that any pattern asks."""
    bank = patterns()
    return [
        (name, question, bound)
        for name in bank.patterns
        for question in bank.specification(name).questions
        for bound in question.measurements
    ]


@pytest.mark.parametrize("function", UNLIMITED)
def test_words_without_a_limit_have_no_bound_on_that_side(function):
    words, side = UNLIMITED[function]
    found = [
        (name, bound)
        for name, question, bound in asked()
        if bound.function == function and re.search(words, question.question)
    ]
    assert found
    measure = MEASURES[function]
    utmost = measure.bounds(measure.parameters)[0 if side == "min" else 1]
    for name, bound in found:
        assert getattr(bound, side) in {None, utmost}, (name, bound)


def test_a_range_that_ends_with_a_one_sided_band_is_open_there():
    bank = patterns()
    seen = 0
    for pattern in bank.patterns.values():
        made = bank.specification(pattern.id)
        for question, mine in zip(pattern.questions, made.questions, strict=True):
            for check, bound in zip(question.checks, mine.measurements, strict=True):
                sides = bank.facts.one_sided.get(check.function, {})
                bands = [bank.facts.band(check.function, name) for name in check.bands]
                for name in check.bands:
                    low, high = bank.facts.band(check.function, name)
                    if sides.get(name) == "up" and high == max(one[1] for one in bands):
                        assert bound.max is None, (pattern.id, bound)
                        seen += 1
                    if sides.get(name) == "down" and low == min(one[0] for one in bands):
                        assert bound.min is None, (pattern.id, bound)
                        seen += 1
    assert seen > 50


# ---- idealised crowds: all alike, nobody errs


def lane(speed_mps: float) -> Trajectory:
    """Return 40 people four abreast, in step, for a minute."""
    starts = [(1.0 + 0.9 * row, 20.0 + 0.8 * file) for row in range(10) for file in range(4)]
    return walkers(starts, [(speed_mps, 0.0)] * 40, frames=150)


def to_places(starts: np.ndarray, places: np.ndarray, speed_mps: float, frames: int) -> Trajectory:
    """Return people who walk straight to places, all at one speed, and stand there."""
    way = places - starts
    length = np.hypot(*way.T)
    done = np.arange(frames)[:, None] * DT_S * speed_mps / length
    positions = starts + np.minimum(done, 1.0)[:, :, None] * way
    velocity = np.where((done < 1.0)[:, :, None], way / length[:, None] * speed_mps, 0.0)
    return trajectory(
        positions, np.ones(positions.shape[:2], bool), dt_s=DT_S, velocity=velocity,
        goal=positions[-1], radius=np.full(len(starts), 0.2),
    )  # fmt: skip


def ring(radius_m: float, count: int = 40) -> np.ndarray:
    angle = 2 * np.pi * np.arange(count) / count
    return np.array([50.0, 50.0]) + radius_m * np.column_stack((np.cos(angle), np.sin(angle)))


def queue() -> Trajectory:
    """Return people who come from all sides and line up one behind the other, evenly."""
    line = np.array([[50.0 + 0.8 * place, 50.0] for place in range(40)])
    return to_places(ring(25.0), line, 1.2, 100)


PERFECT = {
    "stream": lane(1.2),
    "pack": lane(1.2),
    "assisted": lane(0.8),
    "march": lane(0.9),
    "evacuate": lane(1.6),
    "dash": lane(2.0),
    "queue": queue(),
    "gather": to_places(ring(20.0), ring(2.5), 1.2, 100),
    "rush": to_places(ring(20.0), ring(2.5), 2.2, 40),
    "flee": walkers(ring(2.0), (ring(3.0) - ring(1.0)), frames=30),
}


def record(kind: str, walk: Trajectory) -> dict:
    return record_of(patterns(), kind, [Recording("perfect", kind, StatesRead(walk, []))])


@pytest.mark.parametrize("kind", PERFECT)
def test_no_perfect_crowd_is_too_aligned_too_straight_or_too_uniform(kind):
    for check in record(kind, PERFECT[kind])["checks"]:
        (found,) = check["found"]
        too = TOO.get(check["function"])
        assert too is None or found["side"] != too, check


@pytest.mark.parametrize("kind", ["stream", "pack", "march", "evacuate", "dash"])
def test_a_perfect_lane_passes_all_that_is_asked_of_one(kind):
    made = record(kind, PERFECT[kind])
    assert made["recordings"][0]["score"] == 1, [
        one for one in made["checks"] if not one["found"][0]["passed"]
    ]


def through_a_view(angles_rad: np.ndarray, *, frames: int = 400) -> Trajectory:
    """Return people at 1.1 m/s along chords of a view of 20 m, each there only while inside."""
    rng = np.random.default_rng(5)
    heading = np.column_stack((np.cos(angles_rad), np.sin(angles_rad)))
    side = rng.uniform(-7.0, 7.0, len(angles_rad))
    middle = np.array([50.0, 50.0]) + side[:, None] * heading[:, ::-1] * (-1.0, 1.0)
    at_s = rng.uniform(0.0, frames * DT_S, len(angles_rad))
    way = 1.1 * (np.arange(frames)[:, None] * DT_S - at_s)
    positions = middle + way[:, :, None] * heading
    present = np.hypot(*(positions - 50.0).transpose(2, 0, 1)) < 10.0
    return trajectory(
        positions, present, dt_s=DT_S,
        velocity=np.broadcast_to(1.1 * heading, positions.shape).copy(),
        goal=positions[-1], radius=np.full(len(angles_rad), 0.2),
    )  # fmt: skip


def test_who_crosses_a_view_each_in_an_own_direction_passes_all_that_is_asked_of_it():
    walk = through_a_view(np.random.default_rng(3).uniform(-np.pi, np.pi, 120))
    made = record("crossing", walk)
    assert made["recordings"][0]["score"] == 1, made["checks"]


def test_entering_and_leaving_a_view_is_no_gathering():
    """From edge to edge of a view everybody comes nearer to the middle of all ends."""
    seen = 0
    for kind, angles in (
        ("crossing", np.linspace(-np.pi, np.pi, 121)[:-1]),
        ("stroll", np.linspace(-np.pi, np.pi, 121)[:-1]),
        ("counterflow", np.repeat([0.0, np.pi], 60)),
        ("stream", np.zeros(60)),
    ):
        for check in record(kind, through_a_view(angles))["checks"]:
            if check["function"] == "convergence_score":
                seen += 1
                assert check["found"][0]["value"] > 0.6
                assert check["found"][0]["passed"], (kind, check)
    assert seen == 3  # stroll asks no such thing


# ---- the command


def test_recordings_are_printed_side_by_side_with_what_their_kind_misses(tmp_path, capsys):
    write_states(PERFECT["stream"], tmp_path / "corridor.npz")
    write_states(PERFECT["gather"], tmp_path / "square.npz")
    named = [f"stream={tmp_path / 'corridor.npz'}", str(tmp_path / "square.npz")]
    assert main(["stride", "validate", *named]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"pattern stream: most go one way +corridor\* +square *", lines[0])
    (aligned,) = [line for line in lines if "flow_alignment" in line]
    assert re.fullmatch(r"  D flow_alignment +1\.000 +0\.\d+ < +0\.55 and above", aligned)
    assert "  corridor, of its kind: 1.000 of 1, passes all" in lines
    assert not any("pattern gather" in line for line in lines)


def test_json_holds_values_bounds_and_sides(tmp_path, capsys):
    write_states(lane(3.0), tmp_path / "fast.npz")
    file = tmp_path / "fast.npz"
    assert main(["stride", "validate", str(file), "--pattern", "march", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    speed = found["checks"][0]
    assert (speed["function"], speed["min"], speed["max"]) == ("mean_speed", 0.4, 1.3)
    assert speed["found"] == [{"value": pytest.approx(3.0), "passed": False, "side": "above"}]


def test_a_pattern_that_is_none_is_one_line_with_those_there_are(tmp_path, capsys):
    write_states(lane(1.0), tmp_path / "a.npz")
    assert main(["stride", "validate", f"waltz={tmp_path / 'a.npz'}"]) == 1
    assert "expected one of crossing, stream" in capsys.readouterr().err
