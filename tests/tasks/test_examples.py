"""Examples of the board: which are picked, what their maps draw, which files belong together."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from pipeline.__main__ import main
from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.tasks.examples import board_examples
from pipeline.tasks.measure import Measure, Scored, coverage_of
from pipeline.tasks.released import open_release
from pipeline.tasks.report import Source, read_report, report_of, write_report
from tests.tasks.town import Trip, route, write_release

ROOT = Path(__file__).resolve().parents[2]
TRIPS = [
    Trip("a", "train", [0, 1, 2, 12]),
    Trip("c", "test", [0, 1, 2, 3, 13]),
    Trip("d", "test", [20, 21, 22, 23, 24]),
    Trip("e", "test", [0, 10, 20, 30]),
]
ROUTES = {
    "toy/c/generation/literal": route(0, 1, 2, 3, 13),  # the truth
    "toy/c/generation/concise": [],  # invalid
    "toy/d/generation/literal": route(20, 21, 22),
    "toy/e/generation/literal": route(0, 1, 2, 3, 4),
}


def written(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def project(tmp_path, monkeypatch):
    shutil.copy(ROOT / "params.yaml", tmp_path / "params.yaml")
    write_release(tmp_path / "toy", TRIPS, one_way=[1])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generated(project, routes, name="routes"):
    rows = [{"instance_id": key, "edge_ids": edges} for key, edges in routes.items()]
    written(project / f"{name}.jsonl", rows)
    order = ["tasks", "score", "generation", "--release", "toy", "--pred", f"{name}.jsonl"]
    assert main([*order, "--out", f"{name}.json"]) == 0
    return read_report(project / f"{name}.json")


def examples(project, report, name="routes"):
    (found,) = board_examples([report], [project / "toy"], [project / f"{name}.jsonl"])
    return found


def near(line, expected, within=2):
    """Tell whether a line is as expected but for where its middle lies."""
    moved = [(line[k] - line[k % 2], expected[k] - expected[k % 2]) for k in range(len(line))]
    return len(line) == len(expected) and all(abs(a - b) <= within for a, b in moved)


def test_best_middling_and_worst_of_the_valid(project):
    found = examples(project, generated(project, ROUTES))
    assert (found["scored"], found["instances"], found["by"]) == (3, 9, ["jaccard", "dtw_km"])
    assert [(one["rank"], one["instance_id"]) for one in found["examples"]] == [
        ("best", "toy/c/generation/literal"),
        ("middling", "toy/d/generation/literal"),
        ("worst", "toy/e/generation/literal"),
    ]
    best = found["examples"][0]
    assert best["figures"] == [1.0, 0.0]
    assert best["map"]["true"] == best["map"]["predicted"]
    assert "Streets: ground/roads" in found["credit"]


def test_of_one_valid_prediction_it_is_the_best_and_of_none_nothing_is_drawn(project):
    one = examples(project, generated(project, {"toy/c/generation/literal": route(0, 1)}))
    assert [example["rank"] for example in one["examples"]] == ["best"]
    none = examples(project, generated(project, {"toy/c/generation/literal": []}))
    assert (none["examples"], none["scored"]) == ([], 0)


def test_a_route_is_drawn_as_it_was_driven(project):
    """Blocks are 100 m; the true route goes 300 m east and 100 m north, which is up."""
    found = examples(project, generated(project, ROUTES))["examples"][0]["map"]
    (line,) = found["true"]
    assert near(line, [0, 0, 100, 0, 200, 0, 300, 0, 300, -100])
    assert max(abs(x) for x in line[::2]) <= found["width"] / 2
    assert max(abs(y) for y in line[1::2]) <= found["height"] / 2
    assert found["width"] / found["height"] == pytest.approx(4 / 3, abs=0.01)


def test_the_streets_around_are_drawn_once_and_cut_at_the_rim(project):
    found = examples(project, generated(project, ROUTES))["examples"][0]["map"]
    ends = [tuple(sorted(zip(one[::2], one[1::2], strict=True))) for one in found["streets"]]
    assert len(set(ends)) == len(ends)
    for line in found["streets"]:
        assert max(abs(x) for x in line[::2]) <= found["width"] / 2 + 1
        assert max(abs(y) for y in line[1::2]) <= found["height"] / 2 + 1
    length = sum(abs(one[0] - one[-2]) + abs(one[1] - one[-1]) for one in found["streets"])
    # Centred on (150 m, 50 m): 200 m further east and west, 150 m + 50 m up and down.
    assert found["height"] == pytest.approx(450, abs=3)
    east_west = 3 * 400  # three streets at 0, 100 and 200 m, from 0 to 400 m: the town's width
    north_south = 5 * 275  # five, from 0 m to 50 + 225 m
    assert length == pytest.approx(east_west + north_south, rel=0.02)


def test_a_one_way_driven_backwards_runs_backwards(project):
    report = generated(project, {"toy/c/generation/literal": ["1:2:1", "1:1:0"]})
    (line,) = examples(project, report)["examples"][0]["map"]["predicted"]
    assert near(line, [0, 0, -100, 0, -200, 0])


def test_a_route_is_cut_at_its_gap_as_it_is_scored(project):
    broken = {"toy/c/generation/literal": route(0, 1, 2) + route(20, 21)}
    example = examples(project, generated(project, broken))["examples"][0]
    assert len(example["map"]["predicted"]) == 1
    assert "segments neither scored nor drawn: 1" in example["note"]
    text = (ROOT / "params.yaml").read_text("utf-8").replace("gaps: cut", "gaps: score_whole")
    (project / "params.yaml").write_text(text)
    whole = examples(project, generated(project, broken))["examples"][0]
    assert len(whole["map"]["predicted"]) == 2
    assert whole["note"] == ""


def ranked(project, trips, scores=None):
    row = {"instance_id": "toy/c/retrieval/1", "trip_ids": trips}
    written(project / "ranks.jsonl", [row | ({"scores": scores} if scores else {})])
    order = ["tasks", "score", "retrieval", "--release", "toy", "--pred", "ranks.jsonl"]
    assert main([*order, "--out", "ranks.json"]) == 0
    (example,) = examples(project, read_report(project / "ranks.json"), "ranks")["examples"]
    return example


@pytest.mark.parametrize(
    ("trips", "scores", "first", "drawn"),
    [
        (["d", "c"], None, "trip d", [0, 0, 100, 0, 200, 0, 300, 0, 400, 0]),
        (["d", "e"], [0.1, 0.2], "trip e", [0, 0, 0, -100, 0, -200, 0, -300]),
        (["e", "d"], [0.2, 0.2], "trip d", [0, 0, 100, 0, 200, 0, 300, 0, 400, 0]),
    ],
)
def test_the_first_retrieved_trip_is_drawn(project, trips, scores, first, drawn):
    example = ranked(project, trips, scores)
    assert example["note"] == f"The first of the ranking is {first}."
    (line,) = example["map"]["predicted"]
    assert near(line, drawn)


def captioned(project, caption):
    """Return the report of a caption; the values do not matter here."""
    written(project / "captions.jsonl", [{"instance_id": "toy/c/captioning/1", "caption": caption}])
    release = open_release(project / "toy")
    rows = release.instances("captioning", "test").select("instance_id", "trip_id")
    status = pl.Series("status", ["ok", "missing", "missing"])
    rows = rows.with_columns(status, rouge_l=pl.Series([0.5, 0.0, 0.0]))
    measure = Measure("rouge_l", "share", "higher", "Overlap.")
    found = Scored(rows, (measure,), {}, coverage_of(status, other=0), {})
    hashed = sha256_of(project / "captions.jsonl")
    source = Source("captioning", "toy", "test", "mine", release.hash(), hashed, 7)
    write_report(report_of(found, (), source), project / "captions.json")
    return read_report(project / "captions.json")


def test_captions_stand_beside_the_reference(project):
    (example,) = examples(project, captioned(project, "A short drive."), "captions")["examples"]
    assert example["given"] == "A short drive."
    release = open_release(project / "toy")
    targets = release.instances("captioning", "test")["target"].struct.field("caption")
    assert example["wanted"] == targets[0]
    assert example["map"]["predicted"] == []


def board(project, *more):
    return main(["tasks", "board", "routes.json", "--page", "board.html", *more])


def test_the_command_writes_the_page(project, capsys):
    generated(project, ROUTES)
    capsys.readouterr()
    assert board(project) == 0
    assert "wrote board.html" in capsys.readouterr().out
    assert board(project, "--release", "toy", "--pred", "routes.jsonl", "--citations") == 0
    one = (project / "board.html").read_bytes()
    assert board(project, "--release", "toy", "--pred", "routes.jsonl", "--citations") == 0
    assert (project / "board.html").read_bytes() == one


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--release", "toy"], "expected both or neither"),
        (["--pred", "routes.jsonl"], "expected both or neither"),
        (["--release", "toy", "--pred", "nothing.jsonl"], "expected a file of predictions"),
        (["--release", "toy", "--pred", "other.jsonl"], "other.jsonl: expected predictions"),
        (["--release", "else", "--pred", "routes.jsonl"], "else: expected a release"),
        (["--release", "nowhere", "--pred", "routes.jsonl"], "nowhere: expected the folder"),
    ],
)
def test_files_that_do_not_belong_to_a_report_are_refused(project, capsys, more, says):
    generated(project, ROUTES)
    written(project / "other.jsonl", [{"instance_id": "toy/c/generation/literal", "edge_ids": []}])
    write_release(project / "else", TRIPS[:3], city="else")
    assert board(project, *more) == 1
    assert says in capsys.readouterr().err
    assert not (project / "board.html").exists()


def test_predictions_need_the_release_they_were_scored_on(project):
    here = generated(project, ROUTES)
    other = write_release(project / "else", TRIPS[:3], city="else")
    about = here | {"release": open_release(other).hash(), "predictions": "0" * 64}
    with pytest.raises(SourceError, match=r"routes\.jsonl: expected the release of toy"):
        board_examples([here, about], [other], [project / "routes.jsonl"])


def test_maps_and_texts_reach_the_page_as_text(project, chromium):
    hostile = "</script><img src=x onerror=\"document.title='owned'\"> Lönnrotinkatu & <b>"
    captioned(project, hostile)
    generated(project, ROUTES)
    order = ["tasks", "board", "routes.json", "captions.json", "--page", "board.html"]
    more = ["--release", "toy", "--pred", "routes.jsonl", "--pred", "captions.jsonl"]
    assert main([*order, *more]) == 0
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(width=390, height=800, scheme="dark")
    chromium.open(project / "board.html")
    assert chromium.run("document.querySelectorAll('svg.map').length") == 4
    assert chromium.run("document.querySelectorAll('svg.map .route.predicted').length") == 3
    texts = "[...document.querySelectorAll('blockquote')].map((one) => one.textContent)"
    assert hostile in chromium.run(texts)
    assert chromium.run("document.querySelectorAll('img').length") == 0
    assert chromium.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert chromium.complaints == []
    assert set(chromium.requests) == {(project / "board.html").as_uri()}
