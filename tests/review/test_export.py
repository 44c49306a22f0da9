"""`review export` picks trips, says who rates them, writes the page; nothing goes unasked."""

import json
from pathlib import Path

import msgspec
import pytest

from pipeline.__main__ import main
from pipeline.errors import ContractError, ParameterError, SourceError
from pipeline.quality.ratings import item_hash
from pipeline.quality.rubric import rubric
from pipeline.review.assignment import by_hash, read_assignment
from pipeline.review.export import ExportWish, export
from tests.review.trips import HINTED, IDS, checked_trip, judged_trip, matched_trip, rows_of
from tests.show.project import CITY, put, write_project

WISH = ExportWish(
    raters=["H1", "H2"], overlap=None, named=None, drawn=None, page=None, replace=False
)
PAGE = "out/review-tiny.html"


@pytest.fixture
def root(tmp_path):
    write_project(tmp_path)
    with (tmp_path / "configs/tiny.yaml").open("a", encoding="utf-8") as config:
        config.write("name: Tiny town\n")
    put(tmp_path, "matched", rows(matched_trip(one) for one in IDS))
    put(tmp_path, "checked", rows(checked_trip(one) for one in IDS))
    return tmp_path


def rows(records):
    return [msgspec.to_builtins(record) for record in records]


def sample_people(root, trips):
    every = {"selected": True, "score": 4.5, "judge_milder": [], "judge_stricter": []}
    put(
        root,
        "sampled",
        [every | {"trip_id": t, "why": ["people"] if t in trips else ["sample"]} for t in IDS],
    )


def ask(root, **wish):
    return list(export(root, CITY, WISH._replace(**wish)))


def asked(root):
    return read_assignment(root / "data/reviews/tiny")


def embedded(root, page=PAGE):
    text = (root / page).read_text("utf-8")
    block = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    return json.loads(block)


def test_all_that_select_chose_for_people_is_asked_of_everybody(root):
    sample_people(root, IDS[1:4])
    told = ask(root)
    assert [item.trip_id for item in asked(root).items] == IDS[1:4]
    assert [share.trip_ids for share in asked(root).raters] == [
        by_hash(IDS[1:4], "H1"),
        by_hash(IDS[1:4], "H2"),
    ]
    assert told[:2] == ["H1: 3 trips", "H2: 3 trips"]
    assert told[2].startswith(f"wrote data/reviews/tiny/assignment.json and {PAGE} (")
    assert [item["trip_id"] for item in embedded(root)["items"]] == IDS[1:4]


def test_the_hashes_are_those_the_ratings_are_held_to(root):
    ask(root, drawn=5)
    assert asked(root).hashes == {one: item_hash(checked_trip(one)) for one in IDS}


def test_some_are_drawn_by_a_hash_of_the_id(root):
    ask(root, drawn=2)
    assert {item.trip_id for item in asked(root).items} == set(by_hash(IDS, "draw")[:2])


def test_some_are_named_in_a_file(root):
    (root / "ids.txt").write_text("173\n\n170\r\n173\n", "utf-8")
    ask(root, named=root / "ids.txt", overlap=1, page=root / "mine.html")
    assert [item.trip_id for item in asked(root).items] == ["170", "173"]
    assert sorted(len(share.trip_ids) for share in asked(root).raters) == [1, 2]
    assert len(embedded(root, "mine.html")["items"]) == 2


def test_scores_of_all_models_that_judged_go_with_a_trip(root):
    put(root, "judged", rows([judged_trip(HINTED, "judge-one", 2)]))
    put(root, "rejudged", rows([judged_trip(HINTED, "judge-two", 4)]))
    ask(root, drawn=5)
    found = {item["trip_id"]: item["models"] for item in embedded(root)["items"]}
    assert [model["judge"] for model in found[HINTED]] == ["vllm judge-one", "vllm judge-two"]


def test_the_same_call_writes_the_same_bytes(root):
    ask(root, drawn=3)
    before = [(root / name).read_bytes() for name in (PAGE, "data/reviews/tiny/assignment.json")]
    ask(root, drawn=3)
    after = [(root / name).read_bytes() for name in (PAGE, "data/reviews/tiny/assignment.json")]
    assert after == before


@pytest.mark.parametrize("change", [{"drawn": 2}, {"raters": ["H1"]}, {"overlap": 0}])
def test_nothing_is_withdrawn_unless_that_is_meant(root, change):
    ask(root, drawn=5)
    before = asked(root)
    with pytest.raises(SourceError, match="export with --replace if that is meant"):
        ask(root, **{"drawn": 5} | change)
    assert asked(root) == before
    told = ask(root, **{"drawn": 5, "replace": True} | change)
    assert any(line.startswith("withdrawn or changed") for line in told)


def test_texts_that_changed_count_as_withdrawn(root):
    ask(root, drawn=5)
    trips = [checked_trip(one) for one in IDS]
    trips[0] = checked_trip(IDS[0], retrieval_query_2="Drives by day")
    put(root, "checked", rows(trips))
    with pytest.raises(
        SourceError, match=rf"found 1 less, with other texts or by another rubric \({IDS[0]}\)"
    ):
        ask(root, drawn=5)


def test_a_rubric_that_changed_counts_as_withdrawing_all(root):
    ask(root, drawn=5)
    file = root / "data/reviews/tiny/assignment.json"
    file.write_text(file.read_text("utf-8").replace(rubric().hash, "0" * 16), "utf-8")
    with pytest.raises(SourceError, match="found 5 less, with other texts or by another rubric"):
        ask(root, drawn=5)
    assert "withdrawn or changed since the last export: 5" in ask(root, drawn=5, replace=True)


def test_more_trips_and_raters_are_added_without_a_word(root):
    ask(root, drawn=2, raters=["H1"])
    ask(root, drawn=4)
    assert len(asked(root).items) == 4


@pytest.mark.parametrize(
    ("wish", "error", "words"),
    [
        ({}, SourceError, "dvc repro select@tiny"),
        ({"drawn": 0}, SourceError, "-n: expected 1 or more trips"),
        ({"named": Path("nowhere.txt")}, SourceError, "one trip id a line"),
        ({"drawn": 1, "raters": ["H 1"]}, ParameterError, "--raters"),
        ({"raters": ["H1", "h1"]}, ParameterError, "each rater once, found H1, h1 more than once"),
    ],
)
def test_what_cannot_be_is_one_clear_error(root, wish, error, words):
    with pytest.raises(error, match=words):
        ask(root, **wish)
    assert not (root / "data/reviews").exists()
    assert not (root / PAGE).exists()


def test_an_unknown_trip_is_named_with_near_ones(root):
    (root / "ids.txt").write_text("170\n1799\n", "utf-8")
    with pytest.raises(SourceError, match=r"1799: expected .* found none \(1 such\); near ones"):
        ask(root, named=root / "ids.txt")


def test_a_choice_for_people_older_than_the_check_says_what_to_run(root):
    sample_people(root, IDS[:3])
    put(root, "checked", rows(checked_trip(one) for one in IDS[2:]))
    message = (
        rf"^data/tiny/sampled\.parquet: .* found 2 not checked, such as {IDS[0]}: it is older than"
        r" the check; run `dvc repro select@tiny`$"
    )
    with pytest.raises(SourceError, match=message):
        ask(root)


def test_without_trips_for_people_the_ways_to_name_some_are_told(root):
    sample_people(root, [])
    put(root, "selected", [{"trip_id": IDS[0], "score": 4.5, "scored": 10, "at_cut": False}])
    with pytest.raises(SourceError, match=r"raise `select\.samples\.people` .* --trips or -n$"):
        ask(root)


def test_where_nothing_is_selected_nobody_is_told_to_ask_for_more(root):
    put(root, "sampled", [])
    put(root, "selected", [])
    message = (
        r"^data/tiny/selected\.parquet: expected selected trips, found none; .*/selection\.json"
        r" counts .*: change `select` in params\.yaml and run `dvc repro select@tiny`, or take"
    )
    with pytest.raises(SourceError, match=message):
        ask(root)


@pytest.mark.parametrize("wish", [{}, {"drawn": 3}, {"named": "ids.txt"}])
def test_where_quality_control_refused_every_trip_one_line_says_so(root, wish):
    for name in ("checked", "sampled", "selected"):
        put(root, name, [])
    (root / "ids.txt").write_text(f"{IDS[0]}\n", "utf-8")
    if "named" in wish:
        wish = {"named": root / wish["named"]}
    message = (
        r"^data/tiny/checked: expected checked trips, found none, so no trip is selected or can be"
        r" drawn; .*/check\.json counts .*: change `check` .* run `dvc repro select@tiny`$"
    )
    with pytest.raises(SourceError, match=message):
        ask(root, **wish, replace=True)


def test_from_the_command_line_there_and_back(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert main(["review", "export", CITY, "--raters", "H1, H2", "-n", "3"]) == 0
    assert "H2: 3 trips" in capsys.readouterr().out
    sent = rows_of(asked(root), "H1")
    (root / "sent.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sent), "utf-8")
    assert main(["review", "import", "sent.jsonl", "--dry-run"]) == 0
    assert main(["review", "import", "sent.jsonl"]) == 0
    assert "H1  30 of 30 scores, 3 of 3 trips" in capsys.readouterr().out
    bad = [sent[0] | {"score": 7}]
    (root / "bad.jsonl").write_text(json.dumps(bad[0]) + "\n", "utf-8")
    assert main(["review", "import", "bad.jsonl", "--dry-run"]) == 1
    assert main(["review", "import", "bad.jsonl"]) == 1
    assert capsys.readouterr().err.startswith("error: bad.jsonl:1: $.score: 7")


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_broken_assignment_is_replaced_on_demand_and_kept(root, text):
    folder = root / "data/reviews/tiny"
    folder.mkdir(parents=True)
    (folder / "assignment.json").write_text(text, "utf-8")
    with pytest.raises(ContractError):
        ask(root, drawn=2)
    assert (folder / "assignment.json").read_text("utf-8") == text
    told = ask(root, drawn=2, replace=True)
    (kept,) = folder.glob("assignment.broken-*.json")
    assert kept.read_text("utf-8") == text
    assert told[0] == f"the assignment that was there cannot be read; kept as {kept.name}"
    assert len(asked(root).items) == 2
