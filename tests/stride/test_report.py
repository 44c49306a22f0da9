"""The report: figures by hand, edges of bins, tables, comparison; it keeps its schema."""

import json
import statistics

import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.schemas import check_record
from pipeline.stride.report import Scored, plain, read_report, report_of, write_report
from pipeline.stride.scoring import score_benchmark
from pipeline.stride.sources import MemorySource, Settings
from pipeline.stride.summary import agents_bin, duration_bin, summary_of
from pipeline.stride.tables import CHECK_COLUMNS, check_rows, comparison, csv_text, table_lines
from tests.stride.crowds import absent, benchmark, measurement, scenario, strolling, walkers

PASSES = measurement("mean_speed", {"min": 1.0, "max": 1.4})
FAILS = measurement("path_linearity", {"max": 0.5})
ODD = measurement("speed", {"min": 1.0})
ASKED = benchmark(
    scenario([PASSES], [FAILS], name="0001"),
    scenario([PASSES], name="0002", category="Dense"),
    scenario([PASSES, FAILS], [ODD], name="0003", category="Dense"),
)


@pytest.fixture
def make(tmp_path):
    def report(mode="strict", walks=None, generator="ours", asked=ASKED):
        file = tmp_path / "bench.json"
        file.write_text("{}")
        source = MemorySource(
            {"0001": strolling(), "0002": strolling()} if walks is None else walks
        )
        scores = list(score_benchmark(asked, source, mode=mode))
        return report_of(Scored(generator, file, asked, Settings(mode), source.ids, scores))

    return report


def test_a_report_keeps_its_schema_and_is_read_back(make, tmp_path):
    for mode in ("strict", "reference"):
        report = make(mode)
        write_report(report, tmp_path / "out" / "r.json")
        assert read_report(tmp_path / "out" / "r.json") == report
    with pytest.raises(ContractError):
        write_report({**report, "mode": "lenient"}, tmp_path / "r.json")
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(SourceError, match="expected a report"):
        read_report(tmp_path / "no.json")
    with pytest.raises(SourceError, match="another"):
        write_report(report, tmp_path)


def test_macro_is_over_scenarios_and_micro_over_questions_and_checks(make):
    report = make(walks={name: strolling() for name in ("0001", "0002", "0003")})
    scores = [0.5, 1.0, (0.5 + 0.0) / 2]
    assert [one["score"] for one in report["scenarios"]] == scores
    assert report["mean_scene_score"] == pytest.approx(statistics.mean(scores))
    assert report["score"]["std"] == pytest.approx(statistics.stdev(scores))
    assert report["score"]["median"] == 0.5
    assert report["overall_accuracy_by_expected_result"] == pytest.approx((1 + 0 + 1 + 0.5) / 5)
    assert report["checks_passed"] == pytest.approx(3 / 6)


def test_the_missing_pull_the_strict_mean_down_and_stand_beside_the_covered_one(make):
    strict, published = make("strict"), make("reference")
    assert strict["mean_scene_score"] == pytest.approx(0.5)
    assert published["mean_scene_score"] == 0.75
    for report in (strict, published):
        assert report["covered"]["mean"] == pytest.approx(0.75)
        assert report["zero_filled"]["mean"] == pytest.approx(0.5)
        assert report["coverage"]["missing"] == ["0003"]
        assert report["coverage"]["share"] == pytest.approx(2 / 3)
    assert strict["counts"]["causes"] == {"missing": 3}
    assert (strict["counts"]["checks"], strict["counts"]["questions"]) == (6, 5)


def test_trajectories_without_a_scenario_are_listed(make):
    assert make(walks={"0009": strolling()})["coverage"]["not_in_benchmark"] == ["0009"]


def test_what_no_measure_sees_stands_beside_the_score(make):
    stretched = strolling()._replace(positions=strolling().positions * 1.01)
    report = make(walks={"0001": strolling(), "0002": stretched, "0003": strolling()})
    assert [one["copy_of"] for one in report["scenarios"]] == [None, None, "0001"]
    assert report["plausibility"]["copies"] == 1
    assert report["scenarios"][0]["plausible"]["stays"] == 1.0
    assert make()["scenarios"][2]["plausible"] is None
    (row,) = comparison([report])
    assert (row["copies"], row["present"], row["in_walls"]) == (1, 1.0, None)


def test_fewer_people_than_asked_for_are_told_and_cost_nothing(make):
    asked = benchmark(ASKED.scenarios[1]._replace(n_agents=36))
    whole = make(walks={"0002": strolling()}, asked=asked)
    assert (whole["mean_scene_score"], whole["counts"]["traps"]["people_differ"]) == (1.0, 1)
    assert "people: 3 ever present, 36 asked for" in whole["scenarios"][0]["warnings"]
    assert whole["plausibility"]["people"] == pytest.approx(3 / 36)


def test_unknown_functions_are_counted_in_both_modes(make):
    walks = {"0003": strolling()}
    for mode, key in (("strict", "failed"), ("reference", "uncounted")):
        counts = make(mode, walks)["counts"]
        assert counts["causes"]["unknown_function"] == 1
        assert counts[key] >= 1


def test_axes_and_groups_have_their_own_means(make):
    report = make(walks={name: strolling() for name in ("0001", "0002", "0003")})
    by_axis = {row["axis"]: row for row in report["by_axis"]}
    assert (by_axis["V"]["checks"], by_axis["V"]["passed"], by_axis["V"]["share"]) == (3, 3, 1.0)
    assert (by_axis["D"]["passed"], by_axis["D"]["score"]["mean"]) == (0, 0.0)
    assert by_axis["T"]["share"] is None
    ambulatory, dense = report["by_category"]
    assert (ambulatory["name"], dense["name"], dense["scenarios"]) == ("Ambulatory", "Dense", 2)
    assert dense["score"]["mean"] == pytest.approx((1.0 + 0.25) / 2)
    assert dense["axes"] == {"V": 1.0, "R": None, "D": 0.0, "S": None, "T": None}
    assert dense["axis_mean"] == 0.5
    assert sum(row["scenarios"] for row in report["by_agents"]) == 3


@pytest.mark.parametrize(
    ("agents", "name"),
    [(1, "1-25"), (25, "1-25"), (26, "26-100"), (100, "26-100"), (101, "101-300"),
     (300, "101-300"), (301, "301 and more"), (None, "unknown"), (0, "unknown")],
)  # fmt: skip
def test_agents_are_binned_by_those_ever_present(agents, name):
    (score,) = score_benchmark(benchmark(ASKED.scenarios[0]), MemorySource({}), mode="strict")
    assert agents_bin(score._replace(agents=agents)) == name


@pytest.mark.parametrize(
    ("frames", "name"),
    [(299, "0-30 s"), (300, "30-120 s"), (1199, "30-120 s"), (1200, "120 s and more"),
     (None, "unknown")],
)  # fmt: skip
def test_durations_are_binned_half_open(frames, name):
    (score,) = score_benchmark(benchmark(ASKED.scenarios[0]), MemorySource({}), mode="strict")
    assert duration_bin(score._replace(frames=frames, dt_s=0.1)) == name


def test_the_bins_in_a_report_are_of_the_trajectory_and_not_of_the_benchmark(make):
    many = walkers([(k, k) for k in range(1, 41)], [(1.2, 0)] * 40)
    walk = absent(many, (slice(None), slice(30, None)))
    report = make(walks={"0001": walk})
    assert report["scenarios"][0]["agents"] == 30
    assert [row["name"] for row in report["by_agents"]] == ["26-100", "unknown"]
    assert [row["name"] for row in report["by_duration"]] == ["0-30 s", "unknown"]


def test_sensitivity_tells_how_much_hangs_on_tolerances(make):
    asked = benchmark(
        scenario([measurement("mean_speed", {"min": 1.25}, delta=0.03)], name="0001"),
        scenario([measurement("mean_speed", {"min": 1.22}, delta=0.03)], name="0002"),
    )
    report = make(asked=asked)
    assert [row["mean"] for row in report["tolerance"]] == [0.0, 0.5, 1.0]
    assert [row["factor"] for row in report["tolerance"]] == [0, 1, 2]


def test_the_interval_holds_the_mean_and_is_the_same_in_every_run():
    scores = [0.1 * k for k in range(11)]
    one = summary_of(scores, name="all", mode="strict")
    assert one["mean"] == pytest.approx(0.5)
    assert one["low"] < one["mean"] < one["high"]
    assert one == summary_of(scores, name="all", mode="strict")
    # Middle 95 % of means of 11 draws: about 1.96 standard errors to each side.
    assert one["high"] - one["low"] == pytest.approx(2 * 1.96 * one["std"] / 11**0.5, rel=0.12)


def test_summaries_of_one_and_of_none_have_no_spread():
    assert summary_of([], name="x", mode="strict")["mean"] is None
    single = summary_of([0.4], name="x", mode="strict")
    assert (single["mean"], single["std"], single["low"]) == (0.4, None, None)
    assert summary_of([1 / 3, 1 / 3], name="x", mode="reference")["mean"] == 0.3333


def test_a_check_has_a_row_in_the_table(make):
    rows = list(check_rows(make(walks={"0001": strolling()})))
    assert len(rows) == 6
    text = csv_text(rows, CHECK_COLUMNS)
    head, first, second = text.splitlines()[:3]
    assert head == ",".join(CHECK_COLUMNS)
    assert first.startswith("0001,square,Ambulatory,scored,Q1,V: question 1?,mean_speed,V,{},1.")
    assert second.endswith("False,,1 is above 0.55")


def test_generators_stand_side_by_side_the_best_first(make):
    worse = make(walks={"0001": strolling()}, generator="worse")
    rows = comparison([worse, make()])
    assert [row["generator"] for row in rows] == ["ours", "worse"]
    assert rows[0]["mean"] == pytest.approx(0.5)
    assert rows[1]["zero_filled_mean"] == pytest.approx(0.5 / 3)
    assert rows[0]["V"] == pytest.approx(2 / 3)
    lines = table_lines(rows)
    assert len(lines) == 4
    assert lines[2].startswith("| ours | strict | 3 | 2 | 0.500 |")


def test_reports_of_different_modes_or_benchmarks_do_not_compare(make):
    with pytest.raises(SourceError, match="one mode"):
        comparison([make("strict"), make("reference")])
    other = make()
    other["benchmark"] = {**other["benchmark"], "sha256": "0" * 64}
    with pytest.raises(SourceError, match="one benchmark"):
        comparison([make(), other])


def test_numbers_that_json_has_not_become_null(make):
    assert plain({"a": float("nan"), "b": [float("inf"), 1.0, "x"]}) == {
        "a": None, "b": [None, 1.0, "x"],
    }  # fmt: skip
    row = measurement("mean_speed", {"min": float("nan")})
    report = make(asked=benchmark(scenario([row], name="0001")), walks={"0001": strolling()})
    check_record("stride_report", report, where="r")
    json.dumps(report, allow_nan=False)
