"""The report: means over trips, groups, references, and the command that writes it."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline.__main__ import main
from pipeline.errors import ContractError, SourceError
from pipeline.tasks.measure import Coverage, Measure, Reference, Scored
from pipeline.tasks.report import Source, read_report, report_of, table_lines, write_report
from tests.tasks.town import Trip, route, write_release

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Source("generation", "toy", "test", "model", "a" * 64, "b" * 64, 7)
HIT = Measure("hit", "share", "higher", "Hit.")
POI = Measure("poi", "share", "higher", "Share of places, where there are any.")


def scored(hits, pois=None, trips=None):
    n = len(hits)
    rows = pl.DataFrame(
        {
            "instance_id": [f"i{k}" for k in range(n)],
            "trip_id": trips or [f"t{k // 3}" for k in range(n)],
            "status": ["ok"] * n,
            "style": [("literal", "concise", "chatty")[k % 3] for k in range(n)],
            "scenario": [["1.1", "4.1"] if k % 2 else ["1.1"] for k in range(n)],
            "hit": pl.Series(hits, dtype=pl.Float64),
            "poi": pl.Series(pois or [None] * n, dtype=pl.Float64),
        }
    )
    groups = {"style": "style", "scenario": "scenario"}
    return Scored(rows, (HIT, POI), groups, Coverage(n, n, 0, {}, 0), {"gaps": "cut"})


def means_of(report, name):
    return next(one for one in report["measures"] if one["name"] == name)


def test_a_mean_is_over_instances_and_its_interval_over_trips():
    hits = [1.0] * 3 + [0.0] * 3
    found = means_of(report_of(scored(hits), (), SOURCE), "hit")
    assert (found["mean"], found["instances"], found["trips"]) == (0.5, 6, 2)
    # Of two trips drawn with replacement both are the first in a quarter of the draws.
    assert (found["low"], found["high"]) == (0.0, 1.0)
    apart = means_of(report_of(scored(hits, trips=[*"abcdef"]), (), SOURCE), "hit")
    assert 0.0 < apart["low"] < apart["high"] < 1.0


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.Generator(np.random.Philox(3))
    inside = 0
    for k in range(100):
        hits = np.repeat(rng.integers(2, size=40), 3).astype(float).tolist()  # a trip's are alike
        source = SOURCE._replace(seed=k)
        found = means_of(report_of(scored(hits), (), source), "hit")
        inside += found["low"] <= 0.5 <= found["high"]
    assert 86 <= inside <= 100


def test_a_value_that_is_undefined_is_left_out_of_its_own_mean_alone():
    report = report_of(scored([1.0] * 6, [0.5, None, None, 1.0, None, None]), (), SOURCE)
    assert means_of(report, "poi")["mean"] == 0.75
    assert means_of(report, "poi")["instances"] == 2
    assert means_of(report, "hit")["instances"] == 6
    nothing = means_of(report_of(scored([1.0] * 6), (), SOURCE), "poi")
    assert (nothing["mean"], nothing["low"], nothing["instances"]) == (None, None, 0)
    assert report["instances"]["values"]["poi"] == [0.5, None, None, 1.0, None, None]


def test_groups_count_an_instance_in_each_of_its_scenarios():
    report = report_of(scored([1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), (), SOURCE)
    found = {(one["group"], one["value"]): one for one in report["groups"]}
    assert [one["instances"] for one in found.values()] == [2, 2, 2, 6, 3]
    assert found["scenario", "4.1"]["means"]["hit"]["mean"] == 0.0
    assert found["style", "literal"]["means"]["hit"]["mean"] == 0.5
    assert found["style", "literal"]["trips"] == 2


def reference(name, kind, hits):
    return Reference(name, kind, "What it does.", scored(hits))


def test_a_measure_that_does_not_separate_says_so():
    top = reference("truth", "ceiling", [1.0] * 6)
    low, middle = reference("none", "floor", [0.0] * 6), [1.0] * 3 + [0.0] * 3
    report = report_of(scored([1.0] * 6), (low, top), SOURCE)
    assert (means_of(report, "hit")["separates"], means_of(report, "hit")["overlaps"]) == (True, [])
    guide = reference("guide", "guide", middle)
    found = means_of(report_of(scored([1.0] * 6), (low, guide, top), SOURCE), "hit")
    assert (found["separates"], found["overlaps"]) == (True, ["guide"])
    chance = reference("chance", "floor", middle)
    report = report_of(scored([1.0] * 6), (low, chance, top), SOURCE)
    assert means_of(report, "hit")["separates"] is False
    assert means_of(report, "poi")["separates"] is None
    assert any("does not separate" in line for line in table_lines(report))
    assert means_of(report_of(scored([1.0] * 6), (low,), SOURCE), "hit")["separates"] is None


def test_a_report_is_written_whole_and_read_back(tmp_path):
    report = report_of(scored([1.0] * 6), (reference("truth", "ceiling", [1.0] * 6),), SOURCE)
    write_report(report, tmp_path / "report.json")
    assert read_report(tmp_path / "report.json") == json.loads(json.dumps(report))
    again = report_of(scored([1.0] * 6), (reference("truth", "ceiling", [1.0] * 6),), SOURCE)
    write_report(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "report.json").read_bytes()


def test_what_is_no_report_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(SourceError, match="expected a report of `tasks score`"):
        read_report(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ContractError, match="is a required property"):
        read_report(tmp_path / "x.json")
    report = report_of(scored([1.0] * 6), (), SOURCE) | {"split": "all"}
    with pytest.raises(ContractError, match=r"\$\.split"):
        write_report(report, tmp_path / "y.json")
    assert not (tmp_path / "y.json").exists()


TRIPS = [
    Trip("a", "train", [0, 1, 2, 12]),
    Trip("c", "test", [0, 1, 2, 3, 13]),
    Trip("d", "test", [20, 21, 22, 23, 24]),
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a folder with parameters, a release and predictions, as a user has them."""
    shutil.copy(ROOT / "params.yaml", tmp_path / "params.yaml")
    write_release(tmp_path / "toy", TRIPS)
    rows = [
        {"instance_id": f"toy/{trip}/generation/literal", "edge_ids": route(*nodes)}
        for trip, nodes in (("c", [0, 1, 2, 3, 13]), ("d", [20, 21, 22]), ("a", [0, 1]))
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "routes.jsonl").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more, pred="routes.jsonl"):
    return main(
        ["tasks", "score", "generation", "--release", "toy", "--pred", pred,
         "--out", "report.json", *more]
    )  # fmt: skip


def test_the_command_scores_writes_and_prints(project, capsys):
    assert run("--name", "mine") == 0
    report = read_report(project / "report.json")
    assert report["coverage"] == {
        "instances": 6, "predicted": 2, "missing": 4, "invalid": {}, "other": 1
    }  # fmt: skip
    assert report["name"] == "mine"
    assert report["instances"]["status"].count("missing") == 4
    assert means_of(report, "hit_at_1")["mean"] == pytest.approx(1 / 6, abs=1e-6)
    assert {one["group"] for one in report["groups"]} == {"style", "scenario", "known_route"}
    printed = capsys.readouterr().out
    assert "generation of toy, test: mine" in printed
    assert "2 of 6 instances predicted (4 missing)" in printed
    assert "shortest_to_truth" in printed
    one = (project / "report.json").read_bytes()
    assert run("--name", "mine") == 0
    assert (project / "report.json").read_bytes() == one


def test_floors_of_the_oracle_are_there_where_the_model_has_candidates(project):
    row = {"instance_id": "toy/c/generation/literal", "edge_ids": route(0, 1)}
    row["candidates"] = [route(0, 1, 2)]
    (project / "routes.jsonl").write_text(json.dumps(row) + "\n")
    assert run() == 0
    report = read_report(project / "report.json")
    assert means_of(report, "oracle_dest_hit")["separates"] is not None
    assert all("oracle_edr" in one["means"] for one in report["references"])


def test_options_are_taken_and_reported(project):
    assert run("--option", "points=densified", "--option", "edr_m=50") == 0
    options = read_report(project / "report.json")["options"]
    assert (options["points"], options["edr_m"], options["gaps"]) == ("densified", 50.0, "cut")


def test_the_model_of_the_chapters_page_runs(project):
    page = (ROOT / "pipeline/tasks/README.md").read_text("utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    assert len(example.strip().splitlines()) <= 10
    exec(example.replace("data/release/helsinki", "toy"), {})  # noqa: S102 - it is our own page
    assert run(pred="routes.parquet") == 0
    report = read_report(project / "report.json")
    assert report["coverage"]["predicted"] == report["coverage"]["instances"]
    assert means_of(report, "start_kept")["mean"] == 1.0


@pytest.mark.parametrize(
    ("more", "pred", "says"),
    [
        (["--option", "points=every"], "routes.jsonl", "--option: expected values"),
        (["--option", "speed=1"], "routes.jsonl", "--option speed=1: expected KEY=VALUE"),
        (["--option", "edr_m=nan"], "routes.jsonl", "--option: expected values"),
        (["--option", "edr_m=inf"], "routes.jsonl", "--option: expected values"),
        (["--split", "val"], "routes.jsonl", "val.parquet: expected instances"),
        ([], "nothing.jsonl", "nothing.jsonl: expected a JSONL file"),
    ],
)
def test_a_faulty_order_is_one_line_and_writes_nothing(project, capsys, more, pred, says):
    assert run(*more, pred=pred) == 1
    assert says in capsys.readouterr().err
    assert not (project / "report.json").exists()


def test_rankings_are_scored_and_two_reports_compared(project, capsys):
    for name, trips in (("one", ["d", "c"]), ("other", ["c", "d"])):
        rows = [
            {"instance_id": f"toy/{trip}/retrieval/{number}", "trip_ids": trips}
            for trip in "cd"
            for number in "123"
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (project / f"{name}.jsonl").write_text(text)
        assert main(
            ["tasks", "score", "retrieval", "--release", "toy", "--pred", f"{name}.jsonl",
             "--out", f"{name}.json"]
        ) == 0  # fmt: skip
    report = read_report(project / "one.json")
    assert means_of(report, "recall_at_1")["mean"] == 0.5
    assert [one["name"] for one in report["references"]] == ["chance", "other_text", "truth_first"]
    assert means_of(report, "mrr")["separates"] is False  # two trips: any ranking may be right
    capsys.readouterr()
    files = ["one.json", "other.json"]
    assert main(["tasks", "compare", *files, "--out", "both.json", "--by", "known_route"]) == 0
    printed = capsys.readouterr().out
    assert "A: one, 6 of 6 instances predicted" in printed
    assert "known_route new: 6 instances of 2 trips" in printed
    found = json.loads((project / "both.json").read_text("utf-8"))
    mrr = next(one for one in found["slices"][0]["measures"] if one["name"] == "mrr")
    assert (mrr["a"], mrr["b"], mrr["difference"], mrr["winner"]) == (0.75, 0.75, 0.0, "")
    assert main(["tasks", "compare", *files, "--by", "style"]) == 1
    assert "--by style: expected a group" in capsys.readouterr().err


def test_retrieval_has_no_options(project, capsys):
    (project / "ranks.jsonl").write_text('{"instance_id": "toy/c/retrieval/1", "trip_ids": []}\n')
    order = ["tasks", "score", "retrieval", "--release", "toy", "--pred", "ranks.jsonl"]
    assert main([*order, "--out", "x.json", "--option", "k=1"]) == 1
    assert "retrieval has none" in capsys.readouterr().err


def test_reports_of_two_splits_are_not_compared(project, capsys):
    assert run() == 0
    (project / "other.json").write_text(
        (project / "report.json").read_text("utf-8").replace('"split": "test"', '"split": "val"')
    )
    assert main(["tasks", "compare", "report.json", "other.json", "--out", "both.json"]) == 1
    assert "split: test and val; score both on one split" in capsys.readouterr().err
    assert not (project / "both.json").exists()
