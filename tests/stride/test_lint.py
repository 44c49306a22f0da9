"""The linter: one test per rule, figures of the released sample, and what keeps a scenario out."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from pipeline import __main__ as command_line
from pipeline.schemas import check_record
from pipeline.stride.benchmark import benchmark_of, read_benchmark, write_benchmark
from pipeline.stride.importers.states import write_states
from pipeline.stride.lint import lint, released
from pipeline.stride.lint_rules import OPPOSED, findings_of, tag_of, times_first
from pipeline.stride.lint_states import crowd_findings
from pipeline.stride.sources import MemorySource
from pipeline.stride.trajectories import Trajectory, trajectory

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "stride" / "benchmark_sample.json"
OURS = Path(__file__).parent / "vectors" / "benchmark.json"
SAMPLES = [SHARED] if SHARED.exists() else []


def check(function: str, expected: object, *, delta: object = 0.01, **params: object) -> dict:
    return {
        "function": function, "params": params, "expected_result": expected,
        "expected_result_reasoning": "", "delta_value": delta,
    }  # fmt: skip


def question(*checks: dict, name: str = "Q1", text: str = "Do they?") -> dict:
    return {"id": name, "question": text, "measurements": list(checks)}


def bench(*questions: dict, agents: int | None = 40):
    scene = {
        "source_scene_id": "0000", "scenario_id": "map", "description": "d", "category": "Dense",
        "location": "l", "n_agents": agents, "decomposition_reasoning": "",
        "questions": list(questions),
    }  # fmt: skip
    return benchmark_of({"model": "m", "n_scenes": 1, "scenes": [scene]}, where="test")


def codes(*questions: dict, agents: int | None = 40) -> list[tuple[str, str]]:
    return [(one.level, one.code) for one in findings_of(bench(*questions, agents=agents))]


SPEED = check("mean_speed", {"min": 0.8, "max": 1.3})


def test_a_sound_question_has_no_finding():
    assert codes(question(SPEED, text="V: Do they walk?")) == []


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (check("happiness", {"min": 0.1}), "unknown_function"),
        (check("mean_speed", {"min": 0.1}, n_bins=5), "unknown_parameter"),
        (check("speed_trend", {"min": 0.1}, n_bins=5.0), "bad_parameter"),
        (check("speed_trend", {"min": 0.1}, n_bins=1), "bad_parameter"),
        (check("lingering_fraction", {"max": 0.1}, speed_threshold="0.3"), "bad_parameter"),
        (check("mean_speed", {"min": None}), "bad_bounds"),
        (check("mean_speed", {"min": 2.0, "max": 1.0}), "bad_bounds"),
        (check("mean_speed", {}), "bad_bounds"),
        (check("mean_speed", None), "bad_bounds"),
        (check("mean_speed", {"min": 1.0, "about": 2}), "bad_bounds"),
        (check("mean_speed", {"min": 1.0}, delta=-0.1), "bad_bounds"),
        (check("mean_speed", {"max": -0.5}), "out_of_range"),
        (check("flow_alignment", {"min": 1.2}), "out_of_range"),
        (check("peak_local_density", {"max": 0.9}), "out_of_range"),
        (check("spatial_concentration", {"min": 0.98}, n_grid=5), "out_of_range"),
        (check("speed_trend", {"min": 1.05}, n_bins=5), "out_of_range"),
        (check("collision_fraction", {"min": 0.16}), "impossible_contacts"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_or_met_is_an_error(bad, code):
    assert ("error", code) in codes(question(bad))


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        (check("Mean-Speed", {"min": 0.8, "max": 1.3}), "odd_name"),
        (check("physical_density", {"min": 0.5}), "not_published"),
        (check("flow_alignment", {"min": 0.8, "max": 1.1}), "beyond_range"),
        (check("dispersal_score", {"min": -1.0, "max": 1.0}), "vacuous"),
        (check("flow_alignment", {"max": 0.99}), "vacuous"),
        (check("collision_fraction", {"min": 0.001, "max": 0.01}, delta=0.002), "emptied_bound"),
        (check("collision_fraction", {"min": 0.005, "max": 0.02}, delta=0.001),
         "floor_empties_bound"),
    ],
)  # fmt: skip
def test_what_weakens_a_check_is_a_warning(odd, code):
    assert ("warn", code) in codes(question(odd))


def test_contacts_are_possible_up_to_six_a_person():
    six = check("collision_fraction", {"min": 0.15})  # of 40 people: 5.85 a person
    assert ("error", "impossible_contacts") not in codes(question(six))
    assert ("error", "impossible_contacts") in codes(question(six), agents=50)
    assert ("error", "impossible_contacts") not in codes(question(six), agents=None)


def test_ranges_of_one_measure_that_do_not_meet_are_unsatisfiable():
    low = question(check("dispersal_score", {"max": 0.1}, delta=0.03), name="Q1")
    high = question(check("dispersal_score", {"min": 0.2}, delta=0.03), name="Q2")
    found = [one for one in findings_of(bench(low, high)) if one.code == "unsatisfiable"]
    assert [one.level for one in found] == ["error"]
    assert found[0].detail == "Q1 wants at most 0.1, this at least 0.2: no value fits both"


def test_ranges_that_only_tolerance_joins_are_unsatisfiable_and_say_so():
    low = question(check("dispersal_score", {"max": 0.1}, delta=0.03), name="Q1")
    high = question(check("dispersal_score", {"min": 0.15}, delta=0.03), name="Q2")
    found = [one for one in findings_of(bench(low, high)) if one.code == "unsatisfiable"]
    assert "only by tolerance one can pass" in found[0].detail


def test_other_parameters_are_another_measure():
    one = question(check("speed_trend", {"max": -0.1}, n_bins=5), name="Q1")
    other = question(check("speed_trend", {"min": 0.1}, n_bins=10), name="Q2")
    assert codes(one, other) == []


@pytest.mark.parametrize("pair", OPPOSED, ids=lambda pair: pair[2])
def test_opposites_are_a_warning(pair):
    (first, least), (second, least_of_second), why = pair
    one = question(check(first, {"min": float(least), "max": 0.9}), name="Q1")
    other = question(check(second, {"min": float(least_of_second), "max": 0.9}), name="Q2")
    found = [one for one in findings_of(bench(one, other)) if one.code == "opposed"]
    assert len(found) == 1
    assert found[0].detail.endswith(why)
    less = question(check(second, {"min": float(least_of_second) - 0.2, "max": 0.9}), name="Q2")
    assert ("warn", "opposed") not in codes(one, less)


def test_a_check_asked_twice_is_a_warning():
    assert codes(question(SPEED, name="Q1"), question(SPEED, name="Q2")) == [("warn", "twin_check")]


def test_a_question_of_trends_that_may_be_0_is_a_warning():
    steady = check("speed_trend", {"min": -0.05, "max": 0.05}, n_bins=5)
    assert ("warn", "lone_steady_trend") in codes(question(steady))
    assert ("warn", "lone_steady_trend") not in codes(question(steady, SPEED))


def test_a_tag_that_no_measure_has_is_a_warning():
    assert codes(question(SPEED, text="D: Do they walk?")) == [("warn", "tag_against_axis")]
    assert codes(question(SPEED, text="V/D: Do they walk?")) == []
    assert codes(question(SPEED, text="Do they walk?")) == []


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("V: fast?", "V"), ("R/S: near?", "RS"), ("D — one way?", "D"), ("[V/T/R] so?", ""),
        ("[V/T/R]: so?", "RTV"), ("T+S/D: then?", "DST"), ("Very fast?", ""), ("Do they?", ""),
    ],
)  # fmt: skip
def test_tags_of_questions_come_in_many_forms(text, axes):
    assert "".join(sorted(tag_of(text))) == axes


def test_without_questions_or_checks_there_is_nothing_to_score():
    assert codes() == [("error", "no_questions")]
    assert codes(question()) == [("error", "no_checks")]
    assert ("error", "twin_question") in codes(question(SPEED), question(SPEED))


def test_trends_are_told_as_multiples_of_the_first_bin():
    assert times_first(Decimal("0.1"), bins=5) == 1.5
    assert times_first(Decimal("0.25"), bins=5) == 3.0
    assert times_first(Decimal("0.4"), bins=5) == 9.0
    assert times_first(Decimal("-0.1"), bins=5) == pytest.approx(0.667)
    assert times_first(Decimal("0.5"), bins=5) is None
    assert times_first(None, bins=5) is None


# ---- walkers


def test_walkers_pass_what_their_motion_gives():
    still = question(check("lingering_fraction", {"min": 0.9}, speed_threshold=0.3), name="Q1")
    fast = question(check("mean_speed", {"min": 3.5, "max": 4.5}), name="Q2")
    line = question(check("path_linearity", {"min": 0.999}), name="Q3")
    rows = lint(bench(still, fast, line))["walkers"]
    assert [(row["stop"], row["random"], row["straight"]) for row in rows] == [
        (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0),
    ]  # fmt: skip


def test_walkers_are_not_endless_where_a_scenario_says_so():
    (row,) = lint(bench(question(check("mean_speed", {"max": 0.1})), agents=10**30))["walkers"]
    assert (row["stop"], row["random"], row["straight"]) == (1.0, 0.0, 0.0)


def test_a_question_all_walkers_pass_is_toothless():
    soft = question(check("mean_speed", {"max": 9.0}))
    assert [one["code"] for one in lint(bench(soft))["findings"]] == ["toothless"]


def test_the_same_benchmark_gives_the_same_record():
    assert lint(bench(question(SPEED))) == lint(bench(question(SPEED)))


def test_a_record_keeps_its_schema():
    check_record("stride_lint", lint(bench(question(SPEED))), where="test")


def test_errors_keep_a_scenario_out_and_warnings_do_not():
    bad = bench(question(check("happiness", {"min": 0.1})))
    assert released(bad, lint(bad)).scenarios == ()
    odd = bench(question(SPEED, text="D: Do they?"))
    assert released(odd, lint(odd)) == odd


def test_a_whole_benchmark_has_the_defects_that_are_known_of_it():
    record = lint(read_benchmark(OURS))
    assert {one["code"]: one["count"] for one in record["by_code"]} == {
        "unknown_function": 5, "emptied_bound": 5, "lone_steady_trend": 5, "odd_name": 5,
        "tag_against_axis": 15, "toothless": 5,
    }  # fmt: skip
    assert record["walker_means"]["stop"] == pytest.approx(0.5)
    for file in SAMPLES:  # the released sample, where it lies beside the project
        record = lint(read_benchmark(file))
        found = {(one["code"], one["scene"]) for one in record["findings"]}
        assert ("unsatisfiable", "1449") in found
        assert ("impossible_contacts", "1017") in found
        opposed = {scene for code, scene in found if code == "opposed"}
        assert opposed == {
            "0082", "0240", "1449", "0353", "0501", "0751", "0867", "0869", "1241", "1245",
        }  # fmt: skip
        assert sum(one["code"] == "twin_check" for one in record["findings"]) == 55
        means = record["walker_means"]
        assert means["stop"] == pytest.approx(0.235, abs=0.02)
        assert means["random"] == pytest.approx(0.352, abs=0.02)
        assert means["straight"] == pytest.approx(0.694, abs=0.02)


# ---- the command


def written(tmp_path, *questions: dict) -> str:
    scene = {
        "source_scene_id": "0000", "scenario_id": "map", "n_agents": 40,
        "questions": list(questions),
    }  # fmt: skip
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"model": "m", "n_scenes": 1, "scenes": [scene]}), "utf-8")
    return str(path)


def test_the_command_prints_json_and_ends_with_1_on_an_error(tmp_path, capsys):
    bad = written(tmp_path, question(check("happiness", {"min": 0.1})))
    assert command_line.main(["stride", "lint", bad, "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["by_code"] == [{"level": "error", "code": "unknown_function", "count": 1}]


def test_the_command_tells_counts_and_the_first_findings(tmp_path, capsys):
    good = written(tmp_path, question(SPEED, text="D: Do they?"))
    assert command_line.main(["stride", "lint", good]) == 0
    told = capsys.readouterr().out
    assert "1 scenario, 1 question, 1 check: 0 errors, 1 warning" in told
    assert "warn: 0000 Q1: tagged D, measures V (tag_against_axis)" in told


@pytest.mark.parametrize(
    ("text", "low", "found"),
    [
        ("R: Do they avoid collisions?", 0.001, True),
        ("Do they move without physical contact?", 0.001, True),
        ("Is there no pushing?", 0.001, True),
        ("R: Do they avoid collisions?", 0.0, False),
        ("R: Do bodies touch?", 0.001, False),
        ("Do they touch more than in normal avoidance?", 0.03, False),
        ("Is there no common goal, with collisions here and there?", 0.001, False),
    ],
)
def test_a_question_for_no_contact_that_wants_contacts_is_told(text, low, found):
    asked = question(check("collision_fraction", {"min": low, "max": 0.02}, delta=0), text=text)
    assert (("warn", "contact_against_words") in codes(asked)) is found


# ---- arrays beside it -------------------------------------------------------------------------


def crowd(people: int) -> Trajectory:
    """Return somebody who is never there and so many who are, for 3 frames."""
    present = np.ones((3, people + 1), np.bool_)
    present[:, 0] = False
    places, still = np.full((3, people + 1, 2), 5.0), np.zeros((3, people + 1, 2))
    radius = np.full((3, people + 1), 0.2)
    return trajectory(places, present, dt_s=0.4, velocity=still, goal=places, radius=radius)


@pytest.mark.parametrize(
    ("people", "expected"),
    [(40, []), (39, [("agents_mismatch", "40 people in the benchmark, 39 in the array")])],
)
def test_people_of_an_array_are_counted_and_compared(people, expected):
    found = crowd_findings(bench(question(SPEED)), MemorySource({"0000": crowd(people)}))
    assert [(one.code, one.detail) for one in found] == expected


def test_a_scenario_without_an_array_or_a_number_is_passed_over():
    walks = MemorySource({"0001": crowd(3)})
    assert list(crowd_findings(bench(question(SPEED)), walks)) == []
    unknown = bench(question(SPEED), agents=None)
    assert list(crowd_findings(unknown, MemorySource({"0000": crowd(3)}))) == []


def test_the_command_looks_at_arrays_and_says_which_cannot_be_read(tmp_path, capsys):
    write_benchmark(bench(question(SPEED, text="V: Do they walk?")), tmp_path / "bench.json")
    write_states(crowd(7), tmp_path / "walks" / "0000" / "sim.npz")
    command = ["stride", "lint", str(tmp_path / "bench.json"), "--states", str(tmp_path / "walks")]
    assert command_line.main(command) == 0
    assert "40 people in the benchmark, 7 in the array" in capsys.readouterr().out
    (tmp_path / "walks" / "0000" / "sim.npz").write_bytes(b"no array")
    assert command_line.main(command) == 0
    assert "(unreadable_states)" in capsys.readouterr().out
