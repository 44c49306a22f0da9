"""The figures of the cities stand side by side, and what is missing is told."""

import json

import pytest

from pipeline.errors import ParameterError, SourceError
from pipeline.show.figures import figures_of


@pytest.fixture
def root(tmp_path):
    (tmp_path / "params.yaml").write_text("cities:\n  a: {traces: x}\n  bergen: {traces: y}\n")
    put(tmp_path, "a", "roads", {"segments": 1200, "named_share": 0.5, "classes": [1, 2]})
    put(tmp_path, "bergen", "roads", {"segments": 7, "dropped": {"ways": None}})
    put(tmp_path, "bergen", "check", {"city": "bergen", "passed": 3})
    return tmp_path


def put(root, city, name, record):
    file = root / f"data/{city}/metrics/{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))


def test_a_figure_is_a_line_and_a_city_a_column(root):
    assert figures_of(root, [], only=[]) == [
        "roads.json           a  bergen",
        "  segments       1,200       7",
        "  dropped.ways               -",
        "  named_share      0.5",
        "  classes       2 rows",
        "check.json  a  bergen",
        "  passed            3",
    ]


def test_one_city_and_one_file_may_be_asked_for(root):
    assert figures_of(root, ["bergen"], only=["check"]) == [
        "check.json  bergen",
        "  passed         3",
    ]


def test_a_sentence_stands_below_the_figures_once(root):
    limit = "Measured on simulated traces, which flatter it."
    for city in ("a", "bergen"):
        put(root, city, "accuracy", {"limit": limit, "trips": 3})
    assert figures_of(root, [], only=["accuracy"]) == [
        "accuracy.json  a  bergen", "  trips        3       3", f"  limit: {limit}",
    ]  # fmt: skip


def test_agreement_is_told_in_tables_and_not_by_how_many_rows_it_has(root):
    figure = {"value": 4.5, "low": 4.25, "high": 4.75}
    mean = {"panel": "sample", "rater": "org/judge", "kind": "model",
            "criterion": "queries_accuracy", "items": 9, "mean": figure}  # fmt: skip
    told = {"confidence": 0.95, "trips": {"sample": 9}, "means": [mean], "pairs": [], "groups": []}
    put(root, "a", "agreement", told)
    put(root, "bergen", "agreement", {"means": [1, 2]})  # of another time
    lines = figures_of(root, [], only=["agreement"])
    assert lines[:4] == [
        "agreement.json     a  bergen",
        "  means               2 rows",
        "  confidence    0.95",
        "  trips.sample     9",
    ]
    assert "a: Mean scores, 1 to 5, with intervals of 95 %: sample of 9 trips" in lines
    assert "    accuracy            4.50 [4.25, 4.75]" in lines
    assert "  Mean                               4.50" in lines
    assert "a: A = org/judge" in lines
    assert lines[-1] == "a: no two judges scored the same trips: no agreement to tell"


def test_an_unknown_city_or_file_is_an_error_that_lists_the_known(root):
    with pytest.raises(ParameterError, match="bergen"):
        figures_of(root, ["oslo"], only=[])
    with pytest.raises(ParameterError, match=r"expected names among roads, .*found 'speed'"):
        figures_of(root, [], only=["speed"])


def test_no_metrics_at_all_say_what_to_run(root):
    with pytest.raises(SourceError, match="dvc repro"):
        figures_of(root, ["a"], only=["check"])
