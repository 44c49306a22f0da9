"""Two reports compared: paired by instance, drawn by trip, refused where they are of two kinds."""

import json
from typing import Any

import polars as pl
import pytest

from pipeline.errors import SourceError
from pipeline.schemas import check_record
from pipeline.tasks.compare import compare_reports, comparison_lines, write_comparison
from pipeline.tasks.measure import Coverage, Measure, Scored
from pipeline.tasks.report import Source, report_of

SOURCE = Source("retrieval", "toy", "test", "model", "a" * 64, "b" * 64, 7)
MRR = Measure("mrr", "share", "higher", "Reciprocal rank.")
DTW = Measure("dtw_km", "km", "lower", "Distance.")
COUNT = Measure("names", "count", "", "Names.")
FILES = ("one.json", "other.json")


def report(
    values: list[float | None],
    *,
    measures: tuple[Measure, ...] = (MRR,),
    trips: list[str] | None = None,
    scenarios: list[list[str]] | None = None,
    **source: Any,
) -> dict[str, Any]:
    """Return a report in which all measures have these values; three instances a trip."""
    n = len(values)
    rows = pl.DataFrame(
        {
            "instance_id": [f"i{k}" for k in range(n)],
            "trip_id": trips or [f"t{k // 3}" for k in range(n)],
            "status": ["ok"] * n,
            "scenario": scenarios or [["1.1"]] * n,
            "known_route": ["new", "near"] * (n // 2) + ["new"] * (n % 2),
            **{one.name: pl.Series(values, dtype=pl.Float64) for one in measures},
        }
    )
    scored = Scored(
        rows, measures, {"scenario": "scenario", "known_route": "known_route"},
        Coverage(n, n, 0, {}, 0), {"pool": 9},
    )  # fmt: skip
    return report_of(scored, (), SOURCE._replace(**source))


def compared(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    found = compare_reports(first, second, shown=FILES)
    check_record("task_comparison", found, where="comparison")
    return found


def figure(comparison: dict[str, Any], group: str = "all", value: str = "", name: str = "mrr"):
    (part,) = [o for o in comparison["slices"] if (o["group"], o["value"]) == (group, value)]
    return next(one for one in part["measures"] if one["name"] == name)


def test_two_trips_by_hand():
    """Trip 0 gains 1 in all three, trip 1 nothing: drawn twice in a quarter of the draws each."""
    found = figure(compared(report([0.0] * 6), report([1.0] * 3 + [0.0] * 3)))
    assert (found["a"], found["b"], found["difference"]) == (0.0, 0.5, 0.5)
    assert (found["low"], found["high"]) == (0.0, 1.0)
    assert (found["instances"], found["trips"]) == (6, 2)
    assert found["p"] == 1.0  # exchanging trip 0 turns the sign, trip 1 nothing
    assert found["winner"] == ""


def test_the_texts_of_a_trip_are_one_draw():
    """Eight trips that all gain: exchanged alike in 2 of 2^8 cases, whatever texts they have."""
    texts = compared(report([0.0] * 24), report([0.5] * 24))
    trips = [f"t{k}" for k in range(24)]
    apart = compared(report([0.0] * 24, trips=trips), report([0.5] * 24, trips=trips))
    assert figure(texts)["p"] == pytest.approx(2 / 2**8, abs=0.005)
    assert figure(apart)["p"] == pytest.approx(1 / 2001, abs=1e-6)
    assert figure(texts)["winner"] == "b"


def test_a_trip_counts_by_its_instances():
    """Means are over instances, as in the reports: one trip has four of five."""
    trips = ["t0", "t0", "t0", "t0", "t1"]
    a, b = report([0.0] * 5, trips=trips), report([1.0, 1.0, 1.0, 1.0, 0.0], trips=trips)
    assert figure(compared(a, b))["b"] == 0.8 == b["measures"][0]["mean"]


def test_the_lower_is_better_where_the_measure_says_so_and_neither_where_it_does_not():
    measures = (MRR, DTW, COUNT)
    low, high = report([0.0] * 48, measures=measures), report([1.0] * 48, measures=measures)
    there = compared(low, high)
    assert [figure(there, name=one.name)["winner"] for one in measures] == ["b", "a", ""]
    back = compared(high, low)
    assert [figure(back, name=one.name)["winner"] for one in measures] == ["a", "b", ""]
    assert figure(back)["difference"] == -figure(there)["difference"]
    assert figure(back)["p"] == figure(there)["p"]


def test_measures_of_a_slice_are_one_family():
    """Three equal p-values are each tripled by Holm."""
    measures = (MRR, DTW, COUNT)
    a, b = report([0.0] * 18, measures=measures), report([0.5] * 18, measures=measures)
    found = [figure(compared(a, b), name=one.name) for one in measures]
    assert all(0.01 < one["p"] < 0.06 for one in found)
    assert [one["p_holm"] for one in found] == pytest.approx([3 * found[0]["p"]] * 3, abs=2e-6)


def test_equal_reports_do_not_differ():
    found = figure(compared(report([0.2, 0.4] * 3), report([0.2, 0.4] * 3, name="again")))
    assert (found["difference"], found["low"], found["high"], found["p"]) == (0.0, 0.0, 0.0, 1.0)


def test_an_instance_that_one_side_has_no_value_for_is_left_out_of_both():
    a, b = report([0.0, 1.0, None, 1.0]), report([0.5, None, 0.5, 1.0])
    found = figure(compared(a, b))
    assert (found["instances"], found["trips"]) == (2, 2)
    assert (found["a"], found["b"]) == (0.5, 0.75)
    half = figure(compared(report([0.0] * 6), report([1.0] * 3 + [None] * 3)))
    assert (half["instances"], half["trips"], half["low"]) == (3, 1, None)
    nothing = figure(compared(report([None] * 4), report([1.0] * 4)))
    assert (nothing["instances"], nothing["trips"], nothing["p_holm"]) == (0, 0, None)


def test_groups_are_compared_by_value_and_an_instance_counts_in_each_of_its_scenarios():
    scenarios = [["1.1", "2.1"], ["1.1"], [], ["2.1"]]
    a = report([0.0] * 4, scenarios=scenarios)
    b = report([0.1, 0.2, 0.3, 0.4], scenarios=scenarios)
    found = compared(a, b)
    assert [(one["group"], one["value"], one["instances"]) for one in found["slices"]] == [
        ("all", "", 4), ("scenario", "1.1", 2), ("scenario", "2.1", 2),
        ("known_route", "near", 2), ("known_route", "new", 2),
    ]  # fmt: skip
    assert figure(found, "scenario", "1.1")["b"] == pytest.approx(0.15)
    assert figure(found, "scenario", "2.1")["b"] == pytest.approx(0.25)


def test_a_measure_of_one_report_alone_is_named():
    found = compared(
        report([0.0] * 6, measures=(MRR, DTW)), report([0.0] * 6, measures=(COUNT, MRR))
    )
    assert [one["name"] for one in found["slices"][0]["measures"]] == ["mrr"]
    assert (found["a"]["not_compared"], found["b"]["not_compared"]) == (["dtw_km"], ["names"])
    assert "not compared: dtw_km" in comparison_lines(found)[1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"task": "generation"}, "task: retrieval and generation; compare reports of one task"),
        ({"city": "porto"}, "city: toy and porto; compare reports of one city"),
        ({"split": "val"}, "split: test and val; score both on one split"),
        ({"release": "c" * 64}, f"release: {'a' * 60}... and {'c' * 60}...; score both on one"),
        (
            {"options": {"pool": 8}},
            'options: {"pool": 9} and {"pool": 8}; score both with the same',
        ),
        ({"split": "val", "options": {}}, 'split: test and val; options: {"pool": 9} and'),
    ],
)
def test_reports_of_two_kinds_are_refused_by_what_differs(change, says):
    with pytest.raises(SourceError) as fault:
        compare_reports(report([0.0] * 3), report([0.0] * 3) | change, shown=FILES)
    assert "one.json and other.json: expected the same task" in str(fault.value)
    assert says in str(fault.value)


def test_other_instances_are_refused():
    with pytest.raises(SourceError, match="expected values of the same instances"):
        compare_reports(report([0.0] * 3), report([0.0] * 4), shown=FILES)


def test_what_is_printed_names_both_and_what_is_clear(tmp_path):
    scenarios = [["1.1"]] * 24 + [["2.1"]] * 24
    a = report([0.0] * 48, scenarios=scenarios, name="bm25")
    b = report([0.5] * 24 + [0.0] * 24, scenarios=scenarios, name="minilm")
    found = compared(a, b)
    lines = comparison_lines(found)
    assert lines[1].startswith("A: bm25, 48 of 48 instances predicted, 0 invalid")
    assert any(line.split()[:4] == ["mrr", "0.000", "0.250", "+0.250"] for line in lines)
    won = [line.split() for line in lines if line.startswith("scenario ")]
    assert won == [
        ["scenario", "1.1", "24", "8", "0", "1"],
        ["scenario", "2.1", "24", "8", "0", "0"],
    ]
    by = comparison_lines(found, by="scenario")
    assert [line for line in by if line.startswith("scenario ")] == [
        "scenario 1.1: 24 instances of 8 trips", "scenario 2.1: 24 instances of 8 trips",
    ]  # fmt: skip
    with pytest.raises(SourceError, match=r"--by style: expected a group .*scenario, known_route"):
        comparison_lines(found, by="style")
    for file in ("one.json", "again.json"):
        write_comparison(compared(a, b), tmp_path / file)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text("utf-8")) == found
