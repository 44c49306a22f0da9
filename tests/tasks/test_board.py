"""The board: which reports stand together, what is marked, and the page in a browser."""

import copy
import json
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.tasks.board import Boarded, board_data, write_board
from pipeline.tasks.measure import Coverage, Measure, Reference, Scored
from pipeline.tasks.report import Source, read_report, report_of, write_report

MEASURES = (
    Measure("dest_hit", "share", "higher", "Hit."),
    Measure("dist_km", "km", "lower", "Distance."),
    Measure("start_kept", "share", "", "Kept."),
)
SOURCE = Source("generation", "toy", "test", "model", "a" * 64, "b" * 64, 7)
STYLES = ("literal", "concise", "chatty")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">&amp;${title}\u202e\ud800"


def scored(values, groups=True, measures=MEASURES):
    """Return scores of three instances of each trip: all measures have the values of the trips."""
    values = [value for value in values for _ in STYLES]
    n = len(values)
    rows = pl.DataFrame(
        {
            "instance_id": [f"i{k}" for k in range(n)],
            "trip_id": [f"t{k // 3}" for k in range(n)],
            "status": ["ok"] * n,
            "style": [STYLES[k % 3] for k in range(n)],
            "scenario": [["1.1", "4.1"] if k % 2 else ["1.1"] for k in range(n)],
            **{one.name: pl.Series(values, dtype=pl.Float64) for one in measures},
        }
    )
    named = {"style": "style", "scenario": "scenario"} if groups else {}
    return Scored(rows, measures, named, Coverage(n, n, 0, {}, 0), {"gaps": "cut"})


def reference(name, kind, values):
    return Reference(name, kind, "What it does.", scored(values))


REFERENCES = (
    reference("none", "floor", [0.0, 0.0]),
    reference("hint", "guide", [0.5, 0.5]),
    reference("truth", "ceiling", [1.0, 1.0]),
)


def boarded(name, values=(1.0, 0.0), references=REFERENCES, groups=True, **source):
    found = scored(list(values), groups)
    report = report_of(found, references, SOURCE._replace(name=name, **source))
    return Boarded(Path(f"{name}.json"), json.loads(json.dumps(report)))


def only(data):
    (section,) = data["sections"]
    return section


def rows_of(data):
    return {row["name"]: row for row in only(data)["rows"]}


def test_each_task_city_and_split_is_a_section_of_its_own():
    data = board_data(
        [
            boarded("a"),
            boarded("a", city="other", release_hash="c" * 64),
            boarded("b"),
            boarded("a", split="val"),
        ]
    )
    assert [one["title"] for one in data["sections"]] == [
        "generation of toy, test", "generation of other, test", "generation of toy, val"
    ]  # fmt: skip
    models = [
        [row["name"] for row in one["rows"] if row["kind"] == "model"] for one in data["sections"]
    ]
    assert models == [["a", "b"], ["a"], ["a"]]
    assert data["cited"] is None


def test_another_release_or_other_options_of_one_city_are_refused():
    with pytest.raises(SourceError, match=r"a\.json and b\.json: .* release"):
        board_data([boarded("a"), boarded("b", release_hash="c" * 64)])
    other = boarded("b")
    other.report["options"]["gaps"] = "score_whole"
    with pytest.raises(SourceError, match="score both with the same options"):
        board_data([boarded("a"), other])
    with pytest.raises(SourceError, match="the same instances"):
        board_data([boarded("a"), boarded("b", [1.0, 0.0, 0.0])])


def test_two_models_of_one_name_are_refused():
    with pytest.raises(SourceError, match="models of different names, found 'a' in both"):
        board_data([boarded("a"), boarded("b"), boarded("a", [0.0, 0.0])])


def test_one_measure_has_one_definition():
    other = boarded("b")
    other.report["measures"][0]["sentence"] = "Another hit."
    with pytest.raises(ContractError, match=r"expected dest_hit as in a\.json"):
        board_data([boarded("a"), other])


def test_best_and_second_best_follow_the_direction_and_ties_share_a_mark():
    some = [boarded("a", [1, 1]), boarded("b", [1, 0]), boarded("c", [0, 0]), boarded("d", [1, 1])]
    marks = {name: row["marks"] for name, row in rows_of(board_data(some)).items()}
    assert marks["a"] == marks["d"] == {"dest_hit": "best"}
    assert marks["b"] == {"dest_hit": "second", "dist_km": "second"}
    assert marks["c"] == {"dist_km": "best"}
    assert marks["truth"] == marks["none"] == {}  # references compete with nobody


def test_nothing_is_best_of_one_nor_second_of_two():
    assert rows_of(board_data([boarded("a")]))["a"]["marks"] == {}
    found = rows_of(board_data([boarded("a", [1, 1]), boarded("b", [1, 0])]))
    assert found["a"]["marks"] == {"dest_hit": "best"}
    assert found["b"]["marks"] == {"dist_km": "best"}


def test_a_measure_that_does_not_separate_names_its_models():
    chance = (reference("chance", "floor", [1.0, 0.0]), REFERENCES[2])
    section = only(board_data([boarded("a"), boarded("b", references=chance)]))
    assert section["measures"][0]["overlapping"] == [[1, ["chance"]]]
    assert section["rows"][0]["coverage"]["instances"] == 6


def test_references_are_one_row_where_they_agree_and_one_per_model_where_not():
    own = reference("other_text", "floor", [1.0, 0.0])
    data = board_data([boarded("a"), boarded("b", references=(*REFERENCES, own))])
    assert [(row["name"], row["kind"]) for row in only(data)["rows"]] == [
        ("a", "model"), ("b", "model"), ("none", "floor"), ("other_text", "floor"),
        ("hint", "guide"), ("truth", "ceiling"),
    ]  # fmt: skip
    less = copy.deepcopy(boarded("a", references=(own,)))
    del less.report["references"][0]["means"]["dist_km"]  # where a model has fewer measures
    both = board_data([less, boarded("b", references=(own,))])
    assert rows_of(both)["other_text"]["figures"].keys() == {"dest_hit", "dist_km", "start_kept"}
    differing = reference("other_text", "floor", [0.0, 0.0])
    both = board_data([boarded("a", references=(own,)), boarded("b", references=(differing,))])
    assert rows_of(both).keys() == {"a", "b", "other_text of a", "other_text of b"}
    assert rows_of(both)["other_text of a"]["figures"]["dest_hit"][0] == 0.5


def test_groups_stand_in_their_order_with_a_figure_per_model():
    groups = only(board_data([boarded("a"), boarded("b", [1.0, 1.0])]))["groups"]
    assert [one["name"] for one in groups] == ["style", "scenario"]
    assert [value["label"] for value in groups[0]["values"]] == list(STYLES)
    assert groups[1]["values"][0]["label"] == "1.1 Exact Anchor"
    assert [value["instances"] for value in groups[1]["values"]] == [6, 3]
    means = [[figure[0] for figure in row] for row in groups[0]["figures"]["dest_hit"]]
    assert means == [[0.5] * 3, [1.0] * 3]


def test_a_model_without_a_group_or_measure_has_none_there():
    bare = boarded("b", groups=False)
    bare.report["measures"] = bare.report["measures"][:1]
    section = only(board_data([boarded("a"), bare]))
    assert section["groups"][0]["figures"]["dest_hit"][1] == [None] * 3
    assert "dist_km" not in section["rows"][1]["figures"]
    assert only(board_data([bare]))["groups"] == []


def test_main_measures_come_first_and_all_are_main_where_none_is():
    section = only(board_data([boarded("a")]))
    assert [(one["name"], one["main"]) for one in section["measures"]] == [
        ("dest_hit", True), ("dist_km", True), ("start_kept", False)
    ]  # fmt: skip
    assert section["charted"] == "dest_hit"  # the first, where that of the paper's figure is not
    strange = boarded("a")
    for one in strange.report["measures"]:
        one["name"] = f"my_{one['name']}"
    assert all(one["main"] for one in only(board_data([strange]))["measures"])


def test_citations_are_of_the_tasks_that_are_shown():
    found = board_data([boarded("a")], citations=True)["cited"]
    assert [one["title"][:7] for one in found["tables"]] == ["Table 3", "Table 6", "Table 7"]
    first = found["tables"][0]
    assert first["rows"][0] == [
        "Porto", "DestSP (BM25)", 0.0823, 0.1357, 2.4099, 0.2454, 55.2871, 2.08, 0.7814
    ]  # fmt: skip


@pytest.mark.parametrize("written", ["NaN", "Infinity", "1e999"])
def test_a_report_with_a_number_that_is_none_is_refused(tmp_path, written):
    file = tmp_path / "report.json"
    write_report(boarded("a").report, file)
    file.write_text(file.read_text("utf-8").replace('"mean": 0.5', f'"mean": {written}', 1))
    with pytest.raises(SourceError, match="found the number"):
        read_report(file)


@pytest.mark.parametrize("column", ["trip_id", "status", "dest_hit", "style"])
def test_a_report_with_columns_of_different_lengths_is_refused(tmp_path, column):
    report = boarded("a").report
    columns = report["instances"]
    for part in (columns, columns["groups"], columns["values"]):
        if column in part:
            part[column] = part[column][:-1]
    write_report(report, tmp_path / "report.json")
    with pytest.raises(ContractError, match=f"instances.{column}: expected 6 values"):
        read_report(tmp_path / "report.json")


# ---- in a browser --------------------------------------------------------------------------------


@pytest.fixture
def looked_at(chromium, tmp_path):
    """Return a function that writes a board and opens it; nothing may be asked for or complain."""
    page = tmp_path / "board.html"

    def look(*some, width=1200, **more):
        write_board(some, page, **more)
        chromium.look(width=width, height=800, scheme="light")
        chromium.open(page)
        return chromium

    chromium.complaints.clear()
    chromium.requests.clear()
    yield look
    assert chromium.complaints == []
    assert set(chromium.requests) <= {page.as_uri()}


NAMES = "[...document.querySelectorAll('.scores tbody.{} .name')].map((one) => one.textContent)"
MODELS, BELOW = NAMES.format("models"), NAMES.format("references")


def head(place):
    return f"document.querySelectorAll('.scores thead button')[{place}]"


def sorting(place):
    return f"{head(place)}.closest('th').getAttribute('aria-sort')"


def test_columns_sort_best_first_and_references_stay_below(looked_at):
    browser = looked_at(boarded("b", [1, 0]), boarded("c", [1, 1]), boarded("a", [0, 0]))
    assert browser.run(MODELS) == ["b", "c", "a"]  # as given
    browser.run(f"{head(1)}.click()")  # dest_hit: higher is better
    assert (browser.run(MODELS), browser.run(sorting(1))) == (["c", "b", "a"], "descending")
    assert browser.run(BELOW) == ["truth", "hint", "none"]
    browser.run(f"{head(1)}.click()")
    assert (browser.run(MODELS), browser.run(sorting(1))) == (["a", "b", "c"], "ascending")
    browser.run(f"{head(2)}.click()")  # dist_km: lower is better
    assert (browser.run(MODELS), browser.run(sorting(2))) == (["a", "b", "c"], "ascending")
    assert browser.run(sorting(1)) is None
    browser.run(f"{head(0)}.focus()")
    browser.press("Enter")
    browser.press("Enter")
    assert browser.run(MODELS) == ["c", "b", "a"]
    first = "document.querySelector('.scores tbody.references tr').className"
    assert browser.run(first) == "kind"


def test_what_has_no_value_stays_at_the_bottom(looked_at):
    bare = boarded("b", [1, 0])
    bare.report["measures"] = bare.report["measures"][1:]
    browser = looked_at(bare, boarded("a", [1, 1]), boarded("c", [0, 0]))
    place = browser.run(
        "[...document.querySelectorAll('.scores thead button')]"
        ".findIndex((one) => one.textContent.startsWith('dest_hit'))"
    )
    for expected in (["a", "c", "b"], ["c", "a", "b"]):
        browser.run(f"{head(place)}.click()")
        assert browser.run(MODELS) == expected


def test_hostile_names_and_texts_remain_text(looked_at):
    report = boarded(HOSTILE).report
    report["measures"][0]["sentence"] = HOSTILE
    report["options"]["gaps"] = HOSTILE
    report["city"] = HOSTILE
    for one in report["references"]:
        one["name"], one["sentence"] = HOSTILE + one["name"], HOSTILE
    for one in report["groups"]:
        one["value"] += HOSTILE
    browser = looked_at(Boarded(Path("x.json"), report), citations=True)
    expected = HOSTILE.replace("\ud800", "?")
    assert browser.run(MODELS) == [expected]
    assert browser.run("document.title").endswith(f"{expected}, test")
    assert browser.run("document.querySelectorAll('img, main script, iframe').length") == 0


def test_more_measures_wait_behind_a_box(looked_at):
    browser = looked_at(boarded("a"))
    heads = "[...document.querySelectorAll('.scores thead th')]"
    shown = f"{heads}.filter((one) => one.offsetWidth).length"
    assert browser.run(shown) == 3
    assert "All 3 measures" in browser.run("document.body.innerText")
    browser.run("document.querySelector('input[type=checkbox]').click()")
    assert browser.run(shown) == 4


def test_coverage_intervals_and_flags_are_shown(looked_at):
    chance = (reference("chance", "floor", [1.0, 0.0]), REFERENCES[2])
    one = boarded("a", references=chance)
    one.report["coverage"] |= {"predicted": 5, "missing": 1, "invalid": {"empty": 2}, "other": 4}
    browser = looked_at(one)
    row = browser.run("document.querySelector('.scores tbody.models tr').innerText")
    for words in ("5 of 6 predicted", "1 missing", "invalid: 2 empty", "4 of other splits",
                  "0.500", "0.000 – 1.000"):  # fmt: skip
        assert words in row
    assert "does not separate" in browser.run("document.querySelector('.scores thead').innerText")


def test_breakdowns_follow_the_measure_and_draw_each_figure(looked_at):
    browser = looked_at(boarded("a"), boarded("b", [1.0, 1.0]))
    titles = "[...document.querySelectorAll('h3')].map((one) => one.textContent)"
    assert browser.run(titles) == ["Breakdowns", "dest_hit by style", "dest_hit by scenario"]
    marks = "document.querySelectorAll('.chart circle, .chart rect.series').length"
    assert browser.run(marks) == 2 * 3 + 2 * 2
    browser.run(
        "(() => { const choice = document.querySelector('select');"
        " choice.value = 'dist_km'; choice.dispatchEvent(new Event('change')); })()"
    )
    assert browser.run(titles)[1] == "dist_km by style"
    assert browser.run("document.querySelector('.chart svg').getAttribute('aria-label')")


def test_one_report_without_groups_and_without_values_is_a_page(looked_at):
    bare = boarded("a", groups=False)
    browser = looked_at(bare)
    assert "no groups" in browser.run("document.body.innerText")
    assert browser.run("document.querySelectorAll('nav').length") == 0
    undefined = boarded("a")
    for one in (*undefined.report["measures"], *(
        figure for group in undefined.report["groups"] for figure in group["means"].values()
    )):  # fmt: skip
        one["mean"] = one["low"] = one["high"] = None
    browser = looked_at(undefined)
    assert "No value of this measure in any group" in browser.run("document.body.innerText")


def test_a_phone_scrolls_tables_and_never_the_page(looked_at):
    many = [boarded(f"model {'long ' * 9}{k}", [k % 2, 0.5]) for k in range(5)]
    browser = looked_at(*many, width=360, citations=True)
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    tables = "[...document.querySelectorAll('.wide')]"
    assert browser.run(f"{tables}.some((one) => one.scrollWidth > one.clientWidth)")
    assert browser.run(f"{tables}.every((one) => one.tabIndex === 0)")  # keys scroll them


def test_the_same_reports_give_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        write_board([boarded("a"), boarded("b")], tmp_path / f"{name}.html", citations=True)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()
